//! Empties functions and methods in Go source, which is parsed by its brackets.

use super::{Function, HollowLimits, Hollowed, NotHollow, empty_changed};

/// Start of an emptied body; the condition keeps the rest reachable for the compiler.
const THROWN: &str = " if true { panic(\"hollowed by omo\") }; ";

/// Text of a Go file with emptied functions, or the reason why they stay.
pub(super) fn hollow(
    base: Option<&str>,
    now: &str,
    limits: HollowLimits,
) -> Result<Hollowed, NotHollow> {
    let before = find_functions(base.unwrap_or_default()).ok_or(NotHollow::NotParsed)?;
    let functions = find_functions(now).ok_or(NotHollow::NotParsed)?;
    empty_changed(now, &before, functions, THROWN, limits)
}

#[derive(Clone, Copy)]
struct Token<'a> {
    text: &'a str,
    begin: usize,
    /// `true` for the first token of its line.
    begins_line: bool,
}

/// Top-level functions of a text; `None` for an open bracket, string or comment.
fn find_functions(text: &str) -> Option<Vec<Function>> {
    let tokens = tokens(text)?;
    let mut functions = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at = match token.text {
            "func" if token.begins_line => read_function(&tokens, at, &mut functions)?,
            _ => behind(&tokens, at)?,
        };
    }
    Some(functions)
}

fn read_function(tokens: &[Token], at: usize, functions: &mut Vec<Function>) -> Option<usize> {
    let mut next = at + 1;
    let mut receiver = String::new();
    if tokens.get(next)?.text == "(" {
        let end = behind(tokens, next)?;
        // `(c *Cart[T])`: the last word outside of brackets.
        let words = tokens
            .get(next..end)?
            .iter()
            .take_while(|token| token.text != "[");
        receiver = words
            .filter(|token| {
                token
                    .text
                    .starts_with(|char: char| char.is_alphabetic() || char == '_')
            })
            .last()
            .map(|word| format!("{}.", word.text))
            .unwrap_or_default();
        next = end;
    }
    let name = tokens.get(next)?.text;
    next += 1;
    // Type parameters, parameters and results.
    let mut is_type = false;
    while let Some(token) = tokens.get(next) {
        if token.text == "{" && !is_type {
            break;
        }
        if token.begins_line {
            // No body here.
            return Some(next);
        }
        is_type = matches!(token.text, "interface" | "struct");
        next = behind(tokens, next)?;
    }
    let Some(open) = tokens.get(next) else {
        return Some(next);
    };
    let end = behind(tokens, next)?;
    let body: Vec<&str> = tokens
        .get(next + 1..end - 1)?
        .iter()
        .map(|token| token.text)
        .collect();
    // `init` runs as the package is loaded and would fail each test.
    if !body.is_empty() && name != "init" {
        functions.push(Function {
            name: format!("{receiver}{name}"),
            body: body.join(" "),
            begin: open.begin + 1,
        });
    }
    Some(end)
}

/// Index behind a token, or behind the bracket that closes it.
fn behind(tokens: &[Token], at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (place, token) in tokens.iter().enumerate().skip(at) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(place + 1);
        }
    }
    None
}

fn tokens(text: &str) -> Option<Vec<Token<'_>>> {
    let mut tokens = Vec::new();
    let (mut at, mut begins_line) = (0, true);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let first = rest.chars().next()?;
        let is_comment = rest.starts_with("//") || rest.starts_with("/*");
        let length = match first {
            _ if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            _ if rest.starts_with("/*") => rest.find("*/")? + 2,
            '`' => rest.get(1..)?.find('`')? + 2,
            '"' | '\'' => quoted_length(rest, first)?,
            _ if first.is_alphanumeric() || first == '_' => rest
                .find(|char: char| !char.is_alphanumeric() && char != '_')
                .unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let piece = rest.get(..length)?;
        if is_comment || first.is_whitespace() {
            begins_line |= piece.contains('\n');
        } else {
            tokens.push(Token {
                text: piece,
                begin: at,
                begins_line: std::mem::take(&mut begins_line),
            });
        }
        at += length;
    }
    Some(tokens)
}

fn quoted_length(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (at, char) in text.char_indices().skip(1) {
        match char {
            '\n' => return None,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if char == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: HollowLimits = HollowLimits {
        max_functions: 9,
        only_new: false,
    };

    #[test]
    fn functions_that_differ_are_emptied() {
        let base = "package shop\n\nfunc Same(a int) int { return a }\n\nfunc Sum(a, b int) int {\n\treturn a - b\n}\n";
        let now = "package shop\n\n// func Old() {\nfunc Same(a int) int {\n\treturn a // the same\n}\n\n\
                   func Sum(a, b int) int {\n\treturn a + b\n}\n\
                   func (c *Cart[T]) Price(f func() struct{ a int }) (r interface{}, e error) { return '}', nil }\n\
                   func Any[T interface{ ~int | ~string }](t T) struct{ v any } {\n\ts := `{`\n\treturn f(s, \"{\\\"\")\n}\n\
                   func init() { a() }\nfunc asm(a int) int\nvar f = func() int { return 1 }\nfunc Empty() {}\n";
        let hollowed = hollow(Some(base), now, LIMITS).unwrap();
        assert_eq!(hollowed.functions, ["Sum", "Cart.Price", "Any"]);
        assert_eq!(hollowed.text.matches(THROWN).count(), 3);
        for line in [
            "func Sum(a, b int) int { if true",
            "(r interface{}, e error) { if true",
            "struct{ v any } { if true",
        ] {
            assert!(hollowed.text.contains(line), "{line}: {}", hollowed.text);
        }
        let only_new = hollow(
            Some(base),
            now,
            HollowLimits {
                only_new: true,
                max_functions: 1,
            },
        )
        .unwrap();
        assert_eq!(
            (only_new.functions, only_new.left_out),
            (vec!["Cart.Price".to_owned()], 1)
        );
        assert_eq!(hollow(Some(base), base, LIMITS), Err(NotHollow::NoFunction));
        for text in [
            "func Sum() {",
            "func Sum() { `",
            "/* func",
            "func Sum() { \"\n\" }",
            ")",
        ] {
            assert_eq!(
                hollow(None, text, LIMITS),
                Err(NotHollow::NotParsed),
                "{text}"
            );
        }
    }
}
