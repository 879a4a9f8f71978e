//! Parser of callgrind's output, which shares instructions out among the parts of a hook.
//!
//! Most instructions are spent in other crates and in the standard library, which says nothing about their purpose. So
//! each is charged to the part whose file called last; with several callers, in the proportion of their own
//! instructions. Inlined code is charged to the part whose instructions stand before.

use std::collections::HashMap;

use anyhow::{Context, Result};

use crate::parts;

/// Rounds of handing on shares to callees: more than any chain of calls is long.
const ROUNDS: usize = 100;

/// Shares of all parts; the last one is the start of the process.
type Shares = [f64; parts::PARTS.len() + 1];

/// Instructions of a function and below, by the part of each line.
#[derive(Default)]
struct Function {
    own: Vec<(Option<usize>, f64)>,
    calls: Vec<(Option<usize>, u32, f64)>,
}

pub(crate) fn by_part(profile: &str) -> Result<Vec<(&'static str, f64)>> {
    let functions = parse(profile)?;
    let inherited = inherited(&functions);
    let mut spent: Shares = Default::default();
    for (id, function) in &functions {
        for (part, cost) in &function.own {
            add(&mut spent, &shares(*part, inherited.get(id)), *cost);
        }
    }
    let names = parts::PARTS
        .iter()
        .map(|(name, _)| *name)
        .chain([parts::START]);
    Ok(names.zip(spent).collect())
}

/// Shares of each function whose own lines name no part.
fn inherited(functions: &HashMap<u32, Function>) -> HashMap<u32, Shares> {
    let mut known: HashMap<u32, Shares> = HashMap::new();
    for _ in 0..ROUNDS {
        let mut next: HashMap<u32, Shares> = HashMap::new();
        for (id, function) in functions {
            for (part, callee, cost) in &function.calls {
                add(
                    next.entry(*callee).or_default(),
                    &shares(*part, known.get(id)),
                    *cost,
                );
            }
        }
        for shares in next.values_mut() {
            let all: f64 = shares.iter().sum();
            for share in shares.iter_mut() {
                *share /= all.max(1.0);
            }
        }
        known = next;
    }
    known
}

/// Shares of a line: its own part, else the callers of its function.
fn shares(part: Option<usize>, inherited: Option<&Shares>) -> Shares {
    if let (None, Some(inherited)) = (part, inherited) {
        return *inherited;
    }
    std::array::from_fn(|index| f64::from(u8::from(index == part.unwrap_or(parts::PARTS.len()))))
}

fn add(sum: &mut Shares, shares: &Shares, cost: f64) {
    sum.iter_mut()
        .zip(shares)
        .for_each(|(sum, share)| *sum += share * cost);
}

/// Parses a profile. A name is written out once and a number after that.
fn parse(profile: &str) -> Result<HashMap<u32, Function>> {
    let mut functions: HashMap<u32, Function> = HashMap::new();
    let mut files: HashMap<u32, Option<usize>> = HashMap::new();
    let (mut home, mut here, mut function, mut callee) = (None, None, None, None);
    let mut is_call = false;
    for line in profile.lines() {
        if let Some((key, name)) = line.split_once('=') {
            let mut part = || {
                Some(
                    *files
                        .entry(number(name)?)
                        .or_insert_with(|| parts::of(name)),
                )
            };
            match key {
                "fl" => home = part().context(line.to_owned())?,
                "fi" | "fe" => here = part().context(line.to_owned())?.or(here),
                // A name may be written out here and be a number from then on.
                "cfi" | "cfl" => _ = part().context(line.to_owned())?,
                "fn" => {
                    function = number(name);
                    here = home;
                    functions
                        .entry(function.context(line.to_owned())?)
                        .or_default();
                }
                "cfn" => callee = number(name),
                "calls" => is_call = true,
                _ => {}
            }
        } else if line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first)) {
            let cost = line
                .split(' ')
                .nth(1)
                .and_then(|cost| cost.parse().ok())
                .context(line.to_owned())?;
            let function = functions
                .entry(function.context("a cost before any function")?)
                .or_default();
            if std::mem::take(&mut is_call) {
                function
                    .calls
                    .push((here, callee.context("a call of nothing")?, cost));
            } else {
                function.own.push((here, cost));
            }
        }
    }
    Ok(functions)
}

/// `(12) name`, or `(12)`.
fn number(name: &str) -> Option<u32> {
    name.strip_prefix('(')?.split_once(')')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `main` calls the library from two parts, three times as much from the one.
    const PROFILE: &str = "positions: line
events: Ir
fl=(1) /libc/start.c
fn=(1) _start
10 50
cfi=(2) crates/omo-hooks/src/stop.rs
cfn=(2) main
calls=1 5
+1 1000
fl=(2)
fn=(2)
5 100
fi=(3) crates/omo-state/src/state.rs
cfi=(4) /library/memcpy.rs
cfn=(3) memcpy
calls=3 1
* 600
fe=(2)
cfn=(3)
calls=1 1
7 200
fi=(5) /library/inlined.rs
8 100
fl=(4)
fn=(3)
1 800
totals: 1050
";

    #[test]
    fn a_library_is_charged_to_whoever_called_it() {
        let spent: HashMap<_, _> = by_part(PROFILE).unwrap().into_iter().collect();
        assert!((spent["state"] - 600.0).abs() < 0.01, "{spent:?}");
        assert!((spent["deciding"] - 400.0).abs() < 0.01, "{spent:?}");
        assert!((spent[parts::START] - 50.0).abs() < 0.01, "{spent:?}");
        assert!(
            (spent.values().sum::<f64>() - 1_050.0).abs() < 0.01,
            "{spent:?}"
        );
    }

    #[test]
    fn what_is_no_profile_is_an_error() {
        assert!(by_part("1 2\n").is_err());
        assert!(by_part("fl=x\n").is_err());
    }
}
