//! Every vector of the five files is staged, or said to be decided elsewhere, and why.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::scene::Case;

/// Vectors that no process from outside can play here.
const ELSEWHERE: [(&str, &str); 1] = [(
    "state-006",
    "no file system without locks can be mounted in a test; omo-state's lock has its error for it",
)];

fn check(file: &str, cases: &[&[Case]]) -> Result<()> {
    let file: Value = serde_json::from_str(file)?;
    let vectors = file["vectors"].as_array().context("no vectors")?;
    let ids: Vec<&str> = vectors
        .iter()
        .filter_map(|vector| vector["id"].as_str())
        .collect();
    let played: Vec<&str> = cases.iter().copied().flatten().map(|(id, _)| *id).collect();
    let is_elsewhere = |id: &&str| {
        ELSEWHERE
            .iter()
            .any(|(known, why)| known == id && !why.is_empty())
    };
    let missing: Vec<&&str> = ids
        .iter()
        .filter(|id| !played.contains(id) && !is_elsewhere(id))
        .collect();
    ensure!(
        missing.is_empty(),
        "neither staged nor said to be decided elsewhere: {missing:?}"
    );
    let unknown: Vec<&&str> = played.iter().filter(|id| !ids.contains(id)).collect();
    ensure!(unknown.is_empty(), "staged, but no vector: {unknown:?}");
    let mut sorted = played.clone();
    sorted.sort_unstable();
    sorted.dedup();
    ensure!(sorted.len() == played.len(), "staged twice");
    Ok(())
}

#[test]
fn every_vector_is_played_or_decided_elsewhere() {
    check(
        include_str!("../vectors/stop.json"),
        &[crate::stop::CASES, crate::stop_input::CASES],
    )
    .unwrap();
    check(
        include_str!("../vectors/state.json"),
        &[crate::state::CASES, crate::state_life::CASES],
    )
    .unwrap();
    check(
        include_str!("../vectors/prompt-context.json"),
        &[crate::prompt_context::CASES],
    )
    .unwrap();
    check(
        include_str!("../vectors/arguments.json"),
        &[crate::ulw_arguments::CASES],
    )
    .unwrap();
    check(
        include_str!("../vectors/provenance.json"),
        &[crate::promise_provenance::CASES],
    )
    .unwrap();
}
