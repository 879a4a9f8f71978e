//! Hollow run of Rust: changed functions and methods, found by the parser `syn`, get an error as first statement.

use proc_macro2::TokenStream;
use syn::spanned::Spanned;
use syn::{AttrStyle, Attribute, Block, ImplItem, Item, Signature, TraitItem, Type};

use super::{Function, HollowLimits, Hollowed, NotHollow, empty_changed};
use crate::rust_tests::{is_for_tests, parse_apart};

/// Text put before the first statement; `if true` leaves the rest reachable, so that it builds without warnings.
const THROWN: &str = " if true { unimplemented!(\"hollowed by omo\") } ";

pub(super) fn hollow(
    base: Option<&str>,
    now: &str,
    limits: HollowLimits,
) -> Result<Hollowed, NotHollow> {
    parse_apart(base.unwrap_or_default(), now, move |base, now| {
        empty_changed(
            now,
            &find_functions(base)?,
            find_functions(now)?,
            THROWN,
            limits,
        )
    })
}

fn find_functions(text: &str) -> Result<Vec<Function>, NotHollow> {
    let file = syn::parse_file(text).map_err(|_| NotHollow::NotParsed)?;
    let mut functions = Vec::new();
    add_items(&file.items, "", text, &mut functions);
    Ok(functions)
}

fn add_items(items: &[Item], within: &str, text: &str, functions: &mut Vec<Function>) {
    for item in items {
        match item {
            Item::Fn(item) => add(within, &item.attrs, &item.sig, &item.block, text, functions),
            Item::Mod(module) if !is_for_tests(&module.attrs) => {
                let inner = module.content.as_ref().map_or(&[][..], |(_, items)| items);
                add_items(
                    inner,
                    &format!("{within}{}::", module.ident),
                    text,
                    functions,
                );
            }
            Item::Impl(block) if !is_for_tests(&block.attrs) => {
                let within = format!("{within}{}::", type_name(&block.self_ty));
                for inner in &block.items {
                    if let ImplItem::Fn(method) = inner {
                        add(
                            &within,
                            &method.attrs,
                            &method.sig,
                            &method.block,
                            text,
                            functions,
                        );
                    }
                }
            }
            Item::Trait(item) if !is_for_tests(&item.attrs) => {
                let within = format!("{within}{}::", item.ident);
                for inner in &item.items {
                    if let TraitItem::Fn(method) = inner
                        && let Some(body) = &method.default
                    {
                        add(&within, &method.attrs, &method.sig, body, text, functions);
                    }
                }
            }
            _ => {}
        }
    }
}

fn add(
    within: &str,
    attrs: &[Attribute],
    sig: &Signature,
    body: &Block,
    text: &str,
    functions: &mut Vec<Function>,
) {
    // A constant function may be evaluated by the compiler, whose build the error would break.
    if sig.constness.is_some() || is_for_tests(attrs) || body.stmts.is_empty() {
        return;
    }
    let body_range = body.span().byte_range();
    // Inner attributes, such as `#![allow(..)]`, stay before the first statement.
    let inner = attrs
        .iter()
        .filter(|attribute| matches!(attribute.style, AttrStyle::Inner(_)));
    let begin = inner
        .map(|attribute| attribute.span().byte_range().end)
        .max()
        .unwrap_or(body_range.start + 1);
    let tokens = text
        .get(body_range)
        .and_then(|body| body.parse::<TokenStream>().ok());
    let Some(tokens) = tokens else { return };
    functions.push(Function {
        name: format!("{within}{}", sig.ident),
        body: tokens.to_string(),
        begin,
    });
}

fn type_name(self_type: &Type) -> String {
    match self_type {
        Type::Path(path) => path
            .path
            .segments
            .last()
            .map(|last| last.ident.to_string())
            .unwrap_or_default(),
        Type::Reference(reference) => type_name(&reference.elem),
        _ => String::new(),
    }
}
