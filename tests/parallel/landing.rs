//! The user's branch moves last, once, and only where nothing of its user's is in the way: what they commit or edit
//! meanwhile is theirs.

use std::fs;

use anyhow::ensure;
use omo_plan::run::event::RunResult;
use omo_plan::run::state::Phase;

use crate::ground::{four, on};

const WELL: [(u32, &str); 5] = [(1, "a.txt"), (2, "b.txt"), (3, "c.txt"), (4, "d.txt"), (5, "e.txt")];

#[test]
fn what_its_user_commits_meanwhile_is_merged_with_and_checked_again() {
    on(&four(), "test -f a.txt && echo ran >> ../../../../checked", |ground| {
        ground.script(
            5,
            "echo 5 > e.txt; (cd ../../.. && echo mine > mine.txt && git add mine.txt && git commit -qm mine)\n",
        )?;
        ground.open(&[])?;
        let said = ground.omo(&["stage", "wait"])?.ends(0)?;
        ensure!(said.out.contains("Your branch has moved"), "{}", said.out);
        ground.is_whole(&WELL)?;
        ensure!(fs::read_to_string(ground.project().join("mine.txt"))? == "mine\n");
        ensure!(ground.git(&["log", "--format=%s"])?.lines().any(|line| line == "mine"));
        let checked = fs::read_to_string(ground.project().join("../checked"))?;
        ensure!(checked.lines().count() == 2, "checked {checked:?}");
        Ok(())
    })
    .unwrap();
}

#[test]
fn a_commit_that_conflicts_with_the_whole_leaves_the_branch_alone() {
    on(&four(), "", |ground| {
        ground.script(
            5,
            "echo 5 > e.txt; (cd ../../.. && echo other > a.txt && git add a.txt && git commit -qm mine)\n",
        )?;
        ground.open(&[])?;
        let said = ground.omo(&["stage", "wait"])?.ends(7)?;
        ensure!(said.out.contains("a.txt"), "{}", said.out);
        ensure!(ground.git(&["log", "-1", "--format=%s"])? == "mine");
        ensure!(ground.git(&["status", "--porcelain"])?.is_empty());
        // Its user takes the commit back, and all goes well.
        ground.git(&["reset", "-q", "--hard", "HEAD~1"])?;
        ground.omo(&["gate", "answer", "g1", "continue"])?.ends(0)?;
        ground.omo(&["stage", "wait"])?.ends(0)?;
        ground.is_whole(&WELL)
    })
    .unwrap();
}

#[test]
fn an_edit_that_is_not_committed_is_never_written_over() {
    on(&four(), "", |ground| {
        let before = ground.git(&["rev-parse", "HEAD"])?;
        ground.script(5, "echo 5 > e.txt; echo draft > ../../../a.txt; echo words, more >> ../../../README.md\n")?;
        ground.open(&[])?;
        let said = ground.omo(&["stage", "wait"])?.ends(7)?;
        ensure!(said.out.contains("a.txt"), "{}", said.out);
        ensure!(ground.git(&["rev-parse", "HEAD"])? == before);
        ensure!(fs::read_to_string(ground.project().join("a.txt"))? == "draft\n");
        fs::remove_file(ground.project().join("a.txt"))?;
        ground.omo(&["gate", "answer", "g1", "continue"])?.ends(0)?;
        ground.omo(&["stage", "wait"])?.ends(0)?;
        // What was not in the way stays as it is, uncommitted.
        ensure!(fs::read_to_string(ground.project().join("README.md"))? == "words\nwords, more\n");
        ensure!(
            ground.git(&["status", "--porcelain"])? == " M README.md",
            "{}",
            ground.git(&["status", "--porcelain"])?
        );
        Ok(())
    })
    .unwrap();
}

#[test]
fn another_branch_that_was_checked_out_meanwhile_stays_where_it_is() {
    on(&four(), "", |ground| {
        ground.script(5, "echo 5 > e.txt; (cd ../../.. && git checkout -q -b other)\n")?;
        ground.open(&[])?;
        let said = ground.omo(&["stage", "wait"])?.ends(7)?;
        ensure!(said.out.contains("other is checked out, and the run began on main"), "{}", said.out);
        ensure!(ground.git(&["rev-parse", "other"])? == ground.git(&["rev-parse", "main"])?);
        ground.git(&["checkout", "-q", "main"])?;
        ground.omo(&["gate", "answer", "g1", "continue"])?.ends(0)?;
        ground.omo(&["stage", "wait"])?.ends(0)?;
        ground.is_whole(&WELL)
    })
    .unwrap();
}

#[test]
fn a_whole_whose_check_is_red_goes_nowhere() {
    on(&four(), "test -f never.txt", |ground| {
        let before = ground.git(&["rev-parse", "HEAD"])?;
        ground.open(&[])?;
        ground.omo(&["stage", "wait"])?.ends(1)?;
        ensure!(ground.state()?.phase == Phase::Ended { result: RunResult::Failed });
        ensure!(ground.git(&["rev-parse", "HEAD"])? == before);
        ensure!(ground.git(&["status", "--porcelain"])?.is_empty(), "{}", ground.git(&["status", "--porcelain"])?);
        // All of it is kept where the report says.
        let kept = ground.git(&["for-each-ref", "--format=%(refname)", "refs/omo/keep"])?;
        ensure!(kept.lines().any(|name| name.ends_with("/integrated")), "{kept}");
        ensure!(
            ground
                .git(&[
                    "ls-tree",
                    "--name-only",
                    kept.lines().find(|name| name.ends_with("/integrated")).unwrap_or_default()
                ])?
                .contains("e.txt")
        );
        ground.is_tidy()
    })
    .unwrap();
}
