//! What goes wrong in one session: its siblings finish, the user's branch stays where it was, all that was done is
//! kept, and the run goes on from there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use omo_engine::event::RunResult;
use omo_engine::parallel_state::GroupStatus;
use omo_engine::state::{RunPhase, TaskStatus};
use omo_testkit::wait_until;
use omo_tests::parallel_plan::{self, PLAN};
use omo_tests::plan_project::Said;

use crate::parallel_repository::{Ground, Step, WELL, four_sessions, on_repository, session, step};

/// The run ends otherwise than complete, and the user's branch is as it was.
fn ends_failed(ground: &Ground, before: &str) -> Result<()> {
    ground.omo(&["run", "watch"])?.exits_with(1)?;
    let state = ground.state()?;
    ensure!(
        state.phase
            == RunPhase::Ended {
                result: RunResult::Failed
            },
        "{:?}",
        state.phase
    );
    ensure!(
        ground.git(&["rev-parse", "HEAD"])? == before,
        "the user's branch has moved"
    );
    ensure!(ground.git(&["status", "--porcelain"])?.is_empty());
    ground.require_tidy()
}

/// What was in the way is fixed; the run goes on and comes to the same end as one that was never disturbed.
fn goes_on_to_its_end(ground: &Ground) -> Result<()> {
    for (number, file) in WELL {
        ground.script_planned_task(number, file)?;
    }
    ground.open(&["--resume"])?;
    ground.omo(&["run", "watch"])?.exits_with(0)?;
    ground.require_complete(&WELL)?;
    // What the first try left is in the branch by now; what was taken back is kept.
    let kept = ground.git(&["for-each-ref", "--format=%(refname)", "refs/omo/keep"])?;
    ensure!(
        kept.lines()
            .all(|reference| reference.contains("-attempt-")),
        "{kept}"
    );
    let report = ground.omo(&["report"])?.out;
    ensure!(!report.contains("in no branch of yours"), "{report}");
    Ok(())
}

fn status(ground: &Ground, group: &str) -> Result<GroupStatus> {
    let state = ground.state()?;
    state
        .parallel
        .and_then(|parallel| parallel.groups.get(group).map(|known| known.status))
        .context("no such session")
}

/// Has a worker lose its worktree once, as cleaners do, and write its file again where that was.
const LOSE_WORKTREE: &str = r#"if [ ! -e "$scripts/lost" ]; then
  touch "$scripts/lost"
  here="$PWD"; top="$(git rev-parse --path-format=absolute --git-common-dir)"
  rm -rf "$here"; git -C "$top" worktree prune; mkdir -p "$here"; cd "$here"
  echo wrong > b.txt; git add -f b.txt; git commit -qm 'part 2'
else
  echo 2 > b.txt
fi
"#;

#[test]
fn a_worktree_that_is_lost_ends_its_attempt_and_nothing_around_it_is_touched() {
    on_repository(&four_sessions(), "", |ground| {
        let project = ground.project();
        fs::write(project.join("notes.txt"), "mine\n")?;
        fs::write(project.join("staged.txt"), "staged\n")?;
        ground.git(&["add", "staged.txt"])?;
        let seen = || ground.git(&["status", "--porcelain", "--", "notes.txt", "staged.txt"]);
        let (before, unsaved) = (ground.git(&["rev-parse", "HEAD"])?, seen()?);
        ground.set_task_script(2, LOSE_WORKTREE)?;
        ground.open(&[])?;
        let asked = ground.omo(&["run", "watch"])?;
        ensure!(
            ground.git(&["rev-parse", "HEAD"])? == before,
            "the user's branch has moved: {}",
            asked.out
        );
        ensure!(
            seen()? == unsaved,
            "the user's files and index are others: {}",
            seen()?
        );
        let state = ground.state()?;
        let evidence = state.tasks["2"]
            .last_end
            .as_ref()
            .map(|end| end.evidence.clone())
            .unwrap_or_default();
        ensure!(evidence.starts_with("its worktree is gone"), "{evidence}");
        ensure!(status(ground, "session-2")? != GroupStatus::Failed);
        // What it wrote is in the way, and is left to its user.
        let folder = state
            .parallel
            .and_then(|parallel| parallel.groups["session-1"].worktree.clone());
        let folder = folder.context("it has no worktree")?;
        ensure!(fs::read_to_string(Path::new(&folder).join("b.txt"))? == "wrong\n");
        ensure!(asked.out.contains("move it away"), "{}", asked.out);
        fs::remove_dir_all(&folder)?;
        ground.omo(&["answer", "q1", "continue"])?.exits_with(0)?;
        ground.omo(&["run", "watch"])?.exits_with(0)?;
        ensure!(
            seen()? == unsaved,
            "the user's files and index are others: {}",
            seen()?
        );
        ground.git(&["rm", "--quiet", "--force", "staged.txt"])?;
        fs::remove_file(project.join("notes.txt"))?;
        ground.require_complete(&WELL)
    });
}

/// A run that waits for its user, in a repository that comes to be in another folder by `take`; gives that folder.
fn waits_elsewhere(ground: &Ground, take: fn(&Path, &Path) -> Result<()>) -> Result<PathBuf> {
    let project = ground.project();
    ground.set_task_script(
        1,
        &format!(
            "echo 1 > a.txt\necho mine > '{}'\n",
            project.join("a.txt").display()
        ),
    )?;
    ground.open(&[])?;
    ground.omo(&["run", "watch"])?.exits_with(7)?;
    let there = project.with_file_name("elsewhere");
    take(project, &there)?;
    fs::remove_file(there.join("a.txt"))?;
    Ok(there)
}

#[test]
fn a_run_goes_on_in_a_project_that_was_renamed_and_a_copy_is_asked_about_anew() {
    let said = |ground: &Ground, there: &Path, arguments: &[&str]| -> Result<Said> {
        Ok(Said::of(
            &ground.command(arguments).current_dir(there).output()?,
        ))
    };
    let one = [session(1, &[step(1, "a.txt")])];
    on_repository(&one, "", |ground| {
        let there = waits_elsewhere(ground, |from, to| Ok(fs::rename(from, to)?))?;
        let answered = said(ground, &there, &["answer", "q1", "continue"])?.exits_with(0)?;
        ensure!(
            answered.err.contains("the project was renamed from"),
            "{}",
            answered.err
        );
        said(ground, &there, &["run", "watch"])?.exits_with(0)?;
        ensure!(fs::read_to_string(there.join("a.txt"))? == "1\n");
        Ok(())
    });
    on_repository(&one, "", |ground| {
        let there = waits_elsewhere(ground, |from, to| {
            ensure!(
                Command::new("cp")
                    .arg("-a")
                    .args([from, to])
                    .status()?
                    .success()
            );
            Ok(fs::remove_dir_all(from)?)
        })?;
        said(ground, &there, &["answer", "q1", "continue"])?.exits_with(0)?;
        let asked = said(ground, &there, &["run", "watch"])?;
        ensure!(
            asked.err.contains("not, or no longer, approved"),
            "{}",
            asked.err
        );
        ensure!(!there.join("a.txt").exists());
        parallel_plan::open(
            |arguments| said(ground, &there, arguments),
            &["--accept-api-billing", "--resume"],
        )?;
        said(ground, &there, &["run", "watch"])?.exits_with(0)?;
        ensure!(fs::read_to_string(there.join("a.txt"))? == "1\n");
        Ok(())
    });
}

#[test]
fn a_red_check_up_to_the_cap_fails_its_session_alone() {
    on_repository(&four_sessions(), "", |ground| {
        let before = ground.git(&["rev-parse", "HEAD"])?;
        ground.set_task_script(2, "echo wrong > b.txt\n")?;
        ground.open(&[])?;
        ends_failed(ground, &before)?;
        let state = ground.state()?;
        ensure!(
            state.tasks["2"].status == TaskStatus::Failed && state.tasks["2"].attempts == 3,
            "{:?}",
            state.tasks["2"]
        );
        ensure!(
            status(ground, "session-2")? == GroupStatus::Merged,
            "its sibling did not finish"
        );
        ensure!(
            !ground.started_sessions().contains(&"session-3".to_owned()),
            "the next wave was begun"
        );
        // Nothing is paid for twice without a word of the person.
        let start = ["run", "start", "--parallel", PLAN];
        let asked = ground.omo(&start)?.exits_with(7)?;
        for part in ["is failed, with 2 of 5 done", "--resume", "--again"] {
            ensure!(asked.err.contains(part), "{part} is not in: {}", asked.err);
        }
        // What it did before that is not done again.
        goes_on_to_its_end(ground)?;
        let said = ground.omo(&start)?.exits_with(0)?.out;
        ensure!(
            said.contains("is complete") && said.contains("--again"),
            "{said}"
        );
        ensure!(
            ground.state()?.tasks["1"].attempts == 1 && ground.state()?.tasks["3"].attempts == 1
        );
        Ok(())
    });
}

#[test]
fn a_task_outside_the_files_of_its_worker_is_merged_nowhere() {
    on_repository(&four_sessions(), "", |ground| {
        let before = ground.git(&["rev-parse", "HEAD"])?;
        ground.set_task_script(3, "echo 3 > c.txt; echo x > secret.txt\n")?;
        ground.open(&[])?;
        ends_failed(ground, &before)?;
        let end = ground.state()?.tasks["3"]
            .last_end
            .clone()
            .context("no end")?;
        ensure!(
            end.evidence.starts_with("SCOPE VIOLATION: Step 3"),
            "{}",
            end.evidence
        );
        ensure!(ground.state()?.tasks["3"].attempts == 1, "it was sent back");
        goes_on_to_its_end(ground)?;
        ensure!(!ground.project().join("secret.txt").exists());
        Ok(())
    });
}

#[test]
fn a_removed_worktree_is_made_again_and_what_has_passed_stays() {
    on_repository(&four_sessions(), "", |ground| {
        let once = "if ! [ -e \"$scripts/once\" ]; then touch \"$scripts/once\"; rm -rf \"$PWD\"; cd /; fi\n";
        ground.set_task_script(2, &format!("echo 2 > b.txt\n{once}"))?;
        ground.open(&[])?;
        ground.omo(&["run", "watch"])?.exits_with(0)?;
        ensure!(
            ground.state()?.tasks["1"].attempts == 1,
            "what had passed was done again"
        );
        ground.require_complete(&WELL)
    });
}

#[test]
fn two_sessions_that_cannot_be_brought_together_are_both_kept() {
    // A hook of their user has both commit a file that neither of their fences names.
    on_repository(&four_sessions(), "", |ground| {
        let before = ground.git(&["rev-parse", "HEAD"])?;
        ground.set_conflicting_hook()?;
        ground.open(&[])?;
        let said = ground.omo(&["run", "watch"])?.exits_with(7)?;
        ensure!(
            said.out.contains("README.md") && said.out.contains("omo answer q1"),
            "{}",
            said.out
        );
        ensure!(
            said.out
                .contains("Session 2 (Part 2) cannot be brought together with what"),
            "{}",
            said.out
        );
        ensure!(ground.git(&["rev-parse", "HEAD"])? == before);
        ensure!(
            ground.git(&["status", "--porcelain"])?.is_empty(),
            "{}",
            ground.git(&["status", "--porcelain"])?
        );
        ensure!(
            status(ground, "session-1")? == GroupStatus::Merged
                && status(ground, "session-2")? == GroupStatus::InConflict
        );
        // It is done again on top of the other one, and what it had is kept.
        ground.silence_hook()?;
        ground.omo(&["answer", "q1", "redo"])?.exits_with(0)?;
        ground.omo(&["run", "watch"])?.exits_with(0)?;
        ground.require_complete(&WELL)?;
        ensure!(std::fs::read_to_string(ground.project().join("README.md"))?.trim() == "one");
        let kept = ground.git(&["for-each-ref", "--format=%(refname)", "refs/omo/keep"])?;
        ensure!(kept.ends_with("/session-2"), "{kept}");
        ensure!(
            ground.git(&["show", &format!("{kept}:README.md")])? == "three",
            "{kept}"
        );
        Ok(())
    });
}

#[test]
fn a_link_that_leads_out_of_the_repository_is_merged_only_where_its_user_says_so() {
    on_repository(&four_sessions(), "", |ground| {
        let outside = ground.lab.home().join("outside.txt");
        std::fs::write(&outside, "1\n")?;
        ground.set_task_script(
            1,
            &format!("rm -f a.txt; ln -s {} a.txt\n", outside.display()),
        )?;
        let before = ground.git(&["rev-parse", "HEAD"])?;
        ground.open(&[])?;
        let said = ground.omo(&["run", "watch"])?.exits_with(7)?;
        ensure!(
            said.out
                .contains("its link a.txt leads out of the repository, to /"),
            "{}",
            said.out
        );
        ensure!(
            ground.git(&["rev-parse", "HEAD"])? == before
                && status(ground, "session-1")? == GroupStatus::Done
        );
        ground.omo(&["answer", "q1", "continue"])?.exits_with(0)?;
        ground.omo(&["run", "watch"])?.exits_with(0)?;
        ensure!(
            ground.project().join("a.txt").is_symlink()
                && status(ground, "session-1")? == GroupStatus::Merged
        );
        Ok(())
    });
}

#[test]
fn a_worker_whose_tasks_nothing_proves_is_unproved_and_not_failed() {
    let text = parallel_plan::plan_text(
        &[
            session(1, &[step(1, "a.txt")]),
            session(1, &[step(2, "b.txt")]),
        ],
        "",
    );
    let ground = Ground::with_plan(&text.replace("- **Verify:** `grep -q 2 b.txt`\n", "")).unwrap();
    let play = || -> Result<()> {
        ground.script_planned_task(1, "a.txt")?;
        ground.script_planned_task(2, "b.txt")?;
        ground.open(&[])?;
        ground.omo(&["run", "watch"])?.exits_with(1)?;
        let shown = ground.omo(&["run", "show"])?.out;
        ensure!(
            shown.contains("Session 2 (wave 1, step 2): unproved") && !shown.contains("failed"),
            "{shown}"
        );
        ensure!(ground.state()?.tasks["2"].status == TaskStatus::Unverified);
        Ok(())
    };
    play().unwrap();
}

#[test]
fn a_worker_that_is_started_again_does_not_begin_in_its_occupied_first_worktree() {
    on_repository(&four_sessions(), "", |ground| {
        ground.set_conflicting_hook()?;
        ground.open(&[])?;
        ground.omo(&["run", "watch"])?.exits_with(7)?;
        // Its user looks at the conflict where that is, and stays there.
        let state = ground.state()?;
        let tree = state
            .parallel
            .and_then(|parallel| parallel.groups["session-2"].worktree.clone())
            .context("no worktree")?;
        let mut shell = Command::new("sleep")
            .arg("600")
            .current_dir(&tree)
            .spawn()?;
        ground.silence_hook()?;
        ground.omo(&["answer", "q1", "redo"])?.exits_with(0)?;
        let said = ground.omo(&["run", "watch"])?;
        shell.kill()?;
        shell.wait()?;
        ensure!(
            said.exits_with(7)?.out.contains("works in it"),
            "the question does not say what blocks it"
        );
        ground.omo(&["answer", "q2", "continue"])?.exits_with(0)?;
        ground.omo(&["run", "watch"])?.exits_with(0)?;
        ground.require_complete(&WELL)?;
        let kept = ground.git(&["for-each-ref", "--format=%(refname)", "refs/omo/keep"])?;
        ensure!(
            ground.git(&["show", &format!("{kept}:README.md")])? == "three",
            "{kept}"
        );
        ensure!(
            ground.omo(&["report"])?.out.contains(&kept),
            "its user does not see where it is"
        );
        Ok(())
    });
}

#[test]
fn a_client_that_dies_is_started_again_and_no_attempt_is_used() {
    on_repository(&four_sessions(), "", |ground| {
        ground.set_task_script(
            2,
            "if ! [ -e ../../../died ]; then touch ../../../died; echo half > b.txt; kill -9 $$; fi\necho 2 > b.txt\n",
        )?;
        ground.open(&[])?;
        ground.omo(&["run", "watch"])?.exits_with(0)?;
        let task = ground.state()?.tasks["2"].clone();
        ensure!((task.attempts, task.lost_workers) == (1, 1), "{task:?}");
        std::fs::remove_file(ground.project().join("died"))?;
        ground.require_complete(&WELL)
    });
}

/// What the client prints where a limit of use is met that is reset then.
fn limit(resets_at: &str) -> String {
    format!(
        "printf '{{\"type\":\"rate_limit_event\",\"rate_limit_info\":{{\"status\":\"rejected\",\"resetsAt\":%s}}}}\\n' \"{resets_at}\" >&3\n\
         printf '{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"api_error_status\":429,\"api_error\":\"usage_limit_reached\"}}\\n' >&3\nexit 1\n"
    )
}

#[test]
fn a_limit_of_use_holds_all_sessions_until_it_is_reset_and_uses_no_attempt() {
    on_repository(&four_sessions(), "", |ground| {
        let limit = limit("$(($(date +%s) + 3))");
        ground.set_task_script(
            2,
            &format!(
                "if ! [ -e \"$scripts/limited\" ]; then date +%s > \"$scripts/limited\"; {limit} fi\necho 2 > b.txt\n"
            ),
        )?;
        ground.open(&[])?;
        let said = ground.omo(&["run", "watch"])?.exits_with(0)?;
        ensure!(
            said.out
                .contains("met a limit of use; no worker is started before"),
            "{}",
            said.out
        );
        let task = ground.state()?.tasks["2"].clone();
        ensure!((task.attempts, task.lost_workers) == (1, 0), "{task:?}");
        ground.require_complete(&WELL)
    });
}

#[test]
fn a_usage_limit_without_a_known_end_asks_a_person() {
    on_repository(&four_sessions(), "", |ground| {
        ground.set_task_script(
            2,
            &format!(
                "if ! [ -e \"$scripts/limited\" ]; then touch \"$scripts/limited\"; {} fi\necho 2 > b.txt\n",
                limit("null")
            ),
        )?;
        ground.open(&[])?;
        let said = ground.omo(&["run", "watch"])?.exits_with(7)?;
        ensure!(said.out.contains("a limit of use was met"), "{}", said.out);
        ground.omo(&["answer", "q1", "continue"])?.exits_with(0)?;
        ground.omo(&["run", "watch"])?.exits_with(0)?;
        ground.require_complete(&WELL)
    });
}

#[test]
fn what_a_client_says_about_its_work_is_no_proof_of_it() {
    on_repository(&four_sessions(), "", |ground| {
        ground.set_task_script(3, "end\n")?;
        ground.open(&[])?;
        ground.omo(&["run", "watch"])?.exits_with(1)?;
        let task = ground.state()?.tasks["3"].clone();
        ensure!(task.status == TaskStatus::Failed, "{task:?}");
        goes_on_to_its_end(ground)
    });
}

#[test]
fn a_run_that_is_cancelled_leaves_nothing_at_work_and_goes_on_where_it_was() {
    on_repository(&four_sessions(), "", |ground| {
        let before = ground.git(&["rev-parse", "HEAD"])?;
        ground.set_task_script(3, "sleep 600\n")?;
        ground.open(&[])?;
        ground.omo(&["agent", "workers", "start"])?.exits_with(0)?;
        let run = ground.run()?;
        wait_until("the step that hangs", || {
            run.state()
                .ok()
                .filter(|state| state.tasks["3"].status == TaskStatus::Running)
                .map(drop)
        })?;
        ground.omo(&["run", "cancel"])?.exits_with(0)?;
        ensure!(ground.git(&["rev-parse", "HEAD"])? == before);
        ground.require_tidy()?;
        goes_on_to_its_end(ground)
    });
}

#[test]
fn an_api_that_fails_again_and_again_is_asked_about_and_uses_no_attempt() {
    on_repository(&four_sessions(), "", |ground| {
        let failed = "printf '{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"api_error_status\":500,\"result\":\"overloaded\"}\\n' >&3\nexit 1\n";
        ground.set_task_script(3, failed)?;
        ground.open(&[])?;
        let said = ground.omo(&["run", "watch"])?.exits_with(7)?;
        ensure!(
            said.out.contains("the API failed: overloaded"),
            "{}",
            said.out
        );
        ensure!(
            ground.state()?.tasks["3"].attempts == 0,
            "{:?}",
            ground.state()?.tasks["3"]
        );
        ground.script_planned_task(3, "c.txt")?;
        ground.omo(&["answer", "q1", "continue"])?.exits_with(0)?;
        ground.omo(&["run", "watch"])?.exits_with(0)?;
        ground.require_complete(&WELL)
    });
}

#[test]
fn what_a_client_commits_after_its_last_task_is_kept_and_not_merged() {
    on_repository(&four_sessions(), "", |ground| {
        // `end` is what the stand-in does once nothing is left for it.
        let late = "eval \"end_$(declare -f end)\"\nend() { echo late > late.txt; git add -A; git commit -qm late; end_end; }\n";
        ground.set_task_script(3, &format!("echo 3 > c.txt\n{late}"))?;
        ground.open(&[])?;
        ground.omo(&["run", "watch"])?.exits_with(0)?;
        ground.require_complete(&WELL)?;
        ensure!(
            !ground.project().join("late.txt").exists(),
            "it was not verified"
        );
        let kept = ground.git(&["for-each-ref", "--format=%(refname)", "refs/omo/keep"])?;
        ensure!(kept.ends_with("/session-2"), "{kept}");
        ensure!(ground.git(&["show", &format!("{kept}:late.txt")])? == "late");
        // A report breaks its lines where the terminal ends.
        let names_kept_work = |said: &str| {
            said.split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
                .contains("in no branch of yours")
        };
        let is_told = |said: &str| names_kept_work(said) && said.contains(&kept);
        ensure!(is_told(&ground.omo(&["report"])?.out));
        let gc = ["run", "gc", "--days", "0"];
        let said = ground.omo(&gc)?.exits_with(0)?;
        ensure!(
            is_told(&said.out) && said.out.contains("--discard-kept-work"),
            "{}",
            said.out
        );
        ensure!(
            ground.git(&["show", &format!("{kept}:late.txt")])? == "late",
            "it went without a word"
        );
        // As after `git merge --squash`: the content is there, the commit is not.
        ground.git(&["checkout", &kept, "--", "late.txt"])?;
        ground.git(&["commit", "-qm", "squashed"])?;
        ensure!(!names_kept_work(&ground.omo(&["report"])?.out));
        ensure!(ground.omo(&gc)?.exits_with(0)?.out.starts_with("removed: "));
        ensure!(ground.git(&["for-each-ref", "refs/omo/keep"])?.is_empty());
        Ok(())
    });
}

#[test]
fn what_a_client_commits_beside_a_task_is_asked_about_before_anything_moves() {
    let skipped = Step {
        on_failure: "skip",
        ..step(3, "c.txt")
    };
    let sessions = vec![
        session(1, &[step(1, "a.txt")]),
        session(1, &[skipped, step(2, "b.txt")]),
    ];
    on_repository(&sessions, "", |ground| {
        let before = ground.git(&["rev-parse", "HEAD"])?;
        // Its files are taken back when it is left out; the commit stays on the branch.
        ground.set_task_script(3, "echo wrong > c.txt; git add -A; git commit -qm c\n")?;
        ground.open(&[])?;
        let said = ground.omo(&["run", "watch"])?.exits_with(7)?;
        ensure!(
            said.out
                .contains("no step of it was judged with what its branch changes in c.txt"),
            "{}",
            said.out
        );
        ensure!(ground.git(&["rev-parse", "HEAD"])? == before);
        // Its user takes that back, and what is left is what was judged.
        let state = ground.state()?;
        let tree = state
            .parallel
            .and_then(|parallel| parallel.groups["session-2"].worktree.clone())
            .context("no worktree")?;
        ground.git(&["-C", &tree, "reset", "-q", "--hard"])?;
        ground.git(&["-C", &tree, "rm", "-q", "c.txt"])?;
        ground.git(&["-C", &tree, "commit", "-qm", "without c"])?;
        ground.omo(&["answer", "q1", "continue"])?.exits_with(0)?;
        ground.omo(&["run", "watch"])?;
        ground.require_complete(&[(1, "a.txt"), (2, "b.txt")])?;
        ensure!(!ground.project().join("c.txt").exists());
        Ok(())
    });
}

#[test]
fn a_work_tree_that_cannot_be_looked_into_stays_and_holds_up_nothing() {
    on_repository(&four_sessions(), "", |ground| {
        let broken = "eval \"end_$(declare -f end)\"\nend() { echo broken > \"$(git rev-parse --git-dir)/index\"; end_end; }\n";
        ground.set_task_script(3, &format!("echo 3 > c.txt\n{broken}"))?;
        ground.open(&[])?;
        ground.omo(&["run", "watch"])?.exits_with(0)?;
        ensure!(std::fs::read_to_string(ground.project().join("e.txt"))?.trim() == "5");
        let known = ground
            .state()?
            .parallel
            .and_then(|parallel| parallel.groups.get("session-2").cloned())
            .context("no session")?;
        ensure!(
            known
                .leftover_reason
                .is_some_and(|why| why.contains("omo-")),
            "it is not reported"
        );
        let events = ground.run()?.events()?.len();
        ground.omo(&["report"])?;
        ensure!(
            ground.run()?.events()?.len() == events,
            "it is reported again and again"
        );
        Ok(())
    });
}

#[test]
fn a_repository_that_a_worker_made_is_kept_and_named_until_its_user_discards_it() {
    on_repository(&four_sessions(), "", |ground| {
        let inner = "git init -q inner && echo alone > inner/only-here && git -C inner add -A && git -C inner commit -qm inner";
        ground.set_task_script(3, &format!("echo 3 > c.txt\n{inner}"))?;
        ground.open(&[])?;
        let watched = ground.omo(&["run", "watch"])?.exits_with(0)?;
        ground.require_complete(&WELL)?;
        let known = ground.state()?.parallel.context("no session")?;
        let copied = known
            .groups
            .get("session-2")
            .and_then(|known| known.copied.clone())
            .context("nothing copied")?;
        let file = std::path::Path::new(&copied.folder).join("inner/only-here");
        ensure!(std::fs::read_to_string(&file)? == "alone\n");
        let names = |said: &str| {
            let said: String = said.split_whitespace().collect();
            said.contains(&format!(
                "inner/,whichnocommitholds:keptin{}",
                copied.folder
            ))
        };
        ensure!(names(&watched.out), "{}", watched.out);
        ensure!(names(&ground.omo(&["report"])?.out));
        let gc = ["run", "gc", "--days", "0"];
        ensure!(
            names(&ground.omo(&gc)?.exits_with(0)?.out) && file.exists(),
            "it went without a word"
        );
        ground
            .omo(&[gc.as_slice(), &["--discard-kept-work"]].concat())?
            .exits_with(0)?;
        ensure!(!file.exists());
        Ok(())
    });
}

#[test]
fn what_the_final_checks_leave_is_no_work_of_a_task() {
    // More files than are kept of a session, in a folder that git ignores.
    let many = "mkdir out && cd out && seq 10001 | xargs touch && cd .. && test -f e.txt";
    on_repository(&four_sessions(), many, |ground| {
        std::fs::write(ground.project().join(".git/info/exclude"), "out/\n")?;
        ground.open(&[])?;
        ground.omo(&["run", "watch"])?.exits_with(0)?;
        ground.require_complete(&WELL)
    });
}
