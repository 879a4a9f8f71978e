//! The user's branch moves last, once, and only where nothing of its user's is in the way: what they commit or edit
//! meanwhile is theirs.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use anyhow::{Context, Result, ensure};
use omo_engine::event::RunResult;
use omo_engine::parallel_state::GroupStatus;
use omo_engine::state::RunPhase;
use omo_testkit::wait_until;
use omo_tests::parallel_plan::{PLAN, plan_text};

use crate::parallel_repository::{Ground, WELL, four_sessions, on_repository, session, step};

#[test]
fn what_its_user_commits_meanwhile_is_merged_with_and_checked_again() {
    on_repository(
        &four_sessions(),
        "test -f a.txt && sh ../../../../meanwhile",
        |ground| {
            // While the whole is checked for the first time.
            fs::write(
                ground.project().join("../meanwhile"),
                "echo ran >> ../../../../checked; cd ../../.. && if ! [ -f mine.txt ]; then echo mine > mine.txt && \
             git add mine.txt && git commit -qm mine; fi\n",
            )?;
            ground.open(&[])?;
            let said = ground.omo(&["run", "watch"])?.exits_with(0)?;
            ensure!(said.out.contains("Your branch has moved"), "{}", said.out);
            ground.require_complete(&WELL)?;
            ensure!(fs::read_to_string(ground.project().join("mine.txt"))? == "mine\n");
            ensure!(
                ground
                    .git(&["log", "--format=%s"])?
                    .lines()
                    .any(|line| line == "mine")
            );
            let checked = fs::read_to_string(ground.project().join("../checked"))?;
            ensure!(checked.lines().count() == 2, "checked {checked:?}");
            Ok(())
        },
    );
}

#[test]
fn a_commit_that_conflicts_with_the_whole_leaves_the_branch_alone() {
    on_repository(&four_sessions(), "", |ground| {
        ground.set_task_script(
            5,
            "echo 5 > e.txt; (cd ../../.. && echo other > a.txt && git add a.txt && git commit -qm mine)\n",
        )?;
        ground.open(&[])?;
        let said = ground.omo(&["run", "watch"])?.exits_with(7)?;
        ensure!(said.out.contains("a.txt"), "{}", said.out);
        ensure!(ground.git(&["log", "-1", "--format=%s"])? == "mine");
        ensure!(ground.git(&["status", "--porcelain"])?.is_empty());
        // Its user takes the commit back, and all goes well.
        ground.git(&["reset", "-q", "--hard", "HEAD~1"])?;
        ground.omo(&["answer", "q1", "continue"])?.exits_with(0)?;
        ground.omo(&["run", "watch"])?.exits_with(0)?;
        ground.require_complete(&WELL)
    });
}

#[test]
fn what_its_user_has_taken_out_of_their_branch_does_not_come_back_by_itself() {
    // To another commit; to the one before.
    for (rewritten, check) in [
        ("commit -q --amend -m mine", ""),
        ("reset -q --hard HEAD~1", "test -f e.txt"),
    ] {
        on_repository(&four_sessions(), check, |ground| {
            let before = ground.git(&["rev-parse", "HEAD"])?;
            ground.set_task_script(
                5,
                &format!("echo 5 > e.txt; (cd ../../.. && git {rewritten})\n"),
            )?;
            ground.open(&[])?;
            let said = ground.omo(&["run", "watch"])?.exits_with(7)?;
            ensure!(
                said.out.contains("its history was rewritten"),
                "{rewritten}: {}",
                said.out
            );
            let line = said
                .out
                .split('`')
                .find(|part| part.starts_with("git merge "))
                .unwrap_or_default()
                .to_owned();
            let commit = line
                .trim_start_matches("git merge ")
                .trim_start_matches("--allow-unrelated-histories ");
            ensure!(before.starts_with(commit), "{rewritten}: {line:?}");
            ensure!(
                ground
                    .git(&["merge-base", "--is-ancestor", &before, "HEAD"])
                    .is_err(),
                "{rewritten}"
            );
            ensure!(ground.git(&["status", "--porcelain"])?.is_empty());
            // Its user wants it after all.
            ground.git(&[
                "merge",
                "-q",
                "--no-edit",
                "--allow-unrelated-histories",
                &before,
            ])?;
            ground.omo(&["answer", "q1", "continue"])?.exits_with(0)?;
            ground.omo(&["run", "watch"])?.exits_with(0)?;
            ground.require_complete(&WELL)
        });
    }
}

#[test]
fn a_git_that_reads_the_checkout_for_a_moment_raises_no_question() {
    on_repository(&four_sessions(), "", |ground| {
        let lock = ground.project().join(".git/index.lock");
        ground.set_task_script(5, &format!("echo 5 > e.txt; touch '{}'\n", lock.display()))?;
        ground.open(&[])?;
        ground.omo(&["agent", "workers", "start"])?.exits_with(0)?;
        let is_merged = || {
            let groups = ground.state().ok()?.parallel?.groups;
            (groups.len() == 4
                && groups
                    .values()
                    .all(|known| known.status == GroupStatus::Merged))
            .then_some(())
        };
        wait_until("the merge of the last session", is_merged)?;
        fs::remove_file(lock)?;
        ground.omo(&["run", "watch"])?.exits_with(0)?;
        ground.require_complete(&WELL)
    });
}

#[test]
fn another_branch_that_was_checked_out_meanwhile_stays_where_it_is() {
    on_repository(&four_sessions(), "", |ground| {
        ground.set_task_script(
            5,
            "echo 5 > e.txt; (cd ../../.. && git checkout -q -b other)\n",
        )?;
        ground.open(&[])?;
        let said = ground.omo(&["run", "watch"])?.exits_with(7)?;
        ensure!(
            said.out
                .contains("other is checked out, and the run began on main"),
            "{}",
            said.out
        );
        ensure!(ground.git(&["rev-parse", "other"])? == ground.git(&["rev-parse", "main"])?);
        ground.git(&["checkout", "-q", "main"])?;
        ground.omo(&["answer", "q1", "continue"])?.exits_with(0)?;
        ground.omo(&["run", "watch"])?.exits_with(0)?;
        ground.require_complete(&WELL)
    });
}

#[test]
fn a_whole_whose_check_is_red_goes_nowhere() {
    on_repository(&four_sessions(), "test -f never.txt", |ground| {
        let before = ground.git(&["rev-parse", "HEAD"])?;
        ground.open(&[])?;
        ground.omo(&["run", "watch"])?.exits_with(1)?;
        ensure!(
            ground.state()?.phase
                == RunPhase::Ended {
                    result: RunResult::Failed
                }
        );
        ensure!(ground.git(&["rev-parse", "HEAD"])? == before);
        ensure!(
            ground.git(&["status", "--porcelain"])?.is_empty(),
            "{}",
            ground.git(&["status", "--porcelain"])?
        );
        // All of it is kept where the report says.
        let kept = ground.git(&["for-each-ref", "--format=%(refname)", "refs/omo/keep"])?;
        ensure!(
            kept.lines().any(|name| name.ends_with("/integrated")),
            "{kept}"
        );
        ensure!(
            ground
                .git(&[
                    "ls-tree",
                    "--name-only",
                    kept.lines()
                        .find(|name| name.ends_with("/integrated"))
                        .unwrap_or_default()
                ])?
                .contains("e.txt")
        );
        ground.require_tidy()
    });
}

#[test]
fn what_a_plan_has_more_after_it_landed_is_done_on_top_of_it_and_lands_as_well() {
    let first = || {
        vec![
            session(1, &[step(1, "a.txt")]),
            session(1, &[step(3, "c.txt")]),
        ]
    };
    on_repository(&first(), "test -f a.txt", |ground| {
        ground.open(&[])?;
        ground.omo(&["run", "watch"])?.exits_with(0)?;
        ground.require_complete(&[(1, "a.txt"), (3, "c.txt")])?;
        // Its user goes on as well.
        fs::write(ground.project().join("mine.txt"), "mine\n")?;
        let mut more = first();
        more.push(session(2, &[step(5, "e.txt")]));
        ground
            .lab
            .write(PLAN, &plan_text(&more, "test -f a.txt && test -f mine.txt"))?;
        ground.git(&["add", "."])?;
        ground.git(&["commit", "-qm", "mine"])?;
        ground.script_planned_task(5, "e.txt")?;
        ground.open(&["--resume"])?;
        let said = ground.omo(&["run", "watch"])?.exits_with(0)?;
        ensure!(
            said.out.contains("Your branch main moved to "),
            "{}",
            said.out
        );
        let mut started = ground.started_sessions();
        // Those of a wave begin at the same time.
        started.sort();
        ensure!(
            started == ["session-1", "session-2", "session-3"],
            "{started:?}"
        );
        ground.require_complete(&[(1, "a.txt"), (3, "c.txt"), (5, "e.txt")])
    });
}

#[test]
fn another_check_of_the_whole_is_run_after_the_landing_too() {
    let sessions = || {
        vec![
            session(1, &[step(1, "a.txt")]),
            session(1, &[step(3, "c.txt")]),
        ]
    };
    on_repository(&sessions(), "", |ground| {
        ground.open(&[])?;
        ground.omo(&["run", "watch"])?.exits_with(0)?;
        for (check, status, expected) in [
            (
                "test -f never.txt",
                1,
                "Your branch main has what was done before, and nothing of what followed",
            ),
            ("test -f a.txt", 0, "Your branch main has all of it."),
        ] {
            ground.lab.write(PLAN, &plan_text(&sessions(), check))?;
            ground.git(&["commit", "-qam", check])?;
            let before = ground.git(&["rev-parse", "HEAD"])?;
            ground.open(&["--resume"])?;
            let said = ground.omo(&["run", "watch"])?.exits_with(status)?;
            ensure!(said.out.contains(expected), "{}", said.out);
            ensure!(ground.git(&["rev-parse", "HEAD"])? == before, "{check}");
            ensure!(
                ground.started_sessions().len() == 2,
                "{check}: {:?}",
                ground.started_sessions()
            );
            ground.require_tidy()?;
        }
        Ok(())
    });
}

#[test]
fn what_its_user_has_taken_back_is_not_taken_for_done() {
    let first = || {
        vec![
            session(1, &[step(1, "a.txt")]),
            session(1, &[step(3, "c.txt")]),
        ]
    };
    on_repository(&first(), "", |ground| {
        let before = ground.git(&["rev-parse", "HEAD"])?;
        ground.open(&[])?;
        ground.omo(&["run", "watch"])?.exits_with(0)?;
        ground.git(&["reset", "-q", "--hard", &before])?;
        let mut more = first();
        more.push(session(2, &[step(5, "e.txt")]));
        ground.lab.write(PLAN, &plan_text(&more, ""))?;
        ground.git(&["commit", "-qam", "mine"])?;
        ground.script_planned_task(5, "e.txt")?;
        // It was complete with step 5 alone.
        let refused = ground.open(&["--resume"]).unwrap_err();
        ensure!(
            format!("{refused:#}").contains("does not have what this run has done"),
            "{refused:#}"
        );
        ground.open(&[])?;
        ground.omo(&["run", "watch"])?.exits_with(0)?;
        ground.require_complete(&[(1, "a.txt"), (3, "c.txt"), (5, "e.txt")])
    });
}

#[test]
fn what_its_user_commits_to_fix_the_whole_is_in_what_is_checked_next() {
    let sessions = [
        session(1, &[step(1, "a.txt")]),
        session(1, &[step(3, "c.txt")]),
    ];
    on_repository(&sessions, "test -f a.txt && test -f mine.txt", |ground| {
        ground.open(&[])?;
        ground.omo(&["run", "watch"])?.exits_with(1)?;
        fs::write(ground.project().join("mine.txt"), "mine\n")?;
        ground.git(&["add", "."])?;
        ground.git(&["commit", "-qm", "mine"])?;
        // The same was checked as before, however often its user went on with it.
        ground.open(&["--resume"])?;
        ground.omo(&["run", "watch"])?.exits_with(0)?;
        ensure!(
            ground.started_sessions().len() == 2,
            "{:?}",
            ground.started_sessions()
        );
        ground.require_complete(&[(1, "a.txt"), (3, "c.txt")])
    });
}

/// A state of the user's checkout in which their branch cannot move.
struct Obstacle {
    name: &'static str,
    /// Lines of bash in the project, while the last step is worked on.
    lines: &'static str,
    /// Places of the printed commands that are typed before going on.
    typed: &'static [usize],
    /// Places of those that are typed once the branch has moved.
    typed_after: &'static [usize],
    /// Condition of bash in the project that holds in the end.
    expected: &'static str,
}

/// Two branches with a conflict.
const SIDES: &str = "sides() { git checkout -q -b side; echo side > README.md; git commit -qam side; \
                     git checkout -q main; echo main > README.md; git commit -qam mine; }";

const OBSTACLES: &[Obstacle] = &[
    Obstacle {
        name: "an ignored file",
        lines: "echo e.txt > .gitignore; echo mine > e.txt",
        typed: &[0],
        typed_after: &[1],
        expected: "[ \"$(cat e.txt)\" = mine ]",
    },
    Obstacle {
        name: "an untracked file beside one that is to be added",
        lines: "echo mine > e.txt; echo n > n.txt; git add -N n.txt",
        typed: &[0],
        typed_after: &[1],
        expected: "[ \"$(cat e.txt)\" = mine ] && [ -f n.txt ]",
    },
    Obstacle {
        name: "an edit",
        lines: "echo mine >> words.txt",
        typed: &[0],
        typed_after: &[1],
        expected: "tail -n 1 words.txt | grep -qx mine && [ -z \"$(git stash list)\" ]",
    },
    Obstacle {
        name: "an edit that git was told to skip",
        lines: "git update-index --skip-worktree words.txt; echo mine >> words.txt",
        typed: &[0],
        typed_after: &[1, 2],
        expected: "tail -n 1 words.txt | grep -qx mine && git ls-files -v words.txt | grep -q '^S'",
    },
    Obstacle {
        name: "an edit of a file that git takes for unchanged",
        lines: "git update-index --assume-unchanged words.txt; echo mine >> words.txt",
        typed: &[0],
        typed_after: &[1, 2],
        expected: "tail -n 1 words.txt | grep -qx mine && git ls-files -v words.txt | grep -q '^h'",
    },
    Obstacle {
        name: "a repository",
        lines: "git init -q e.txt; echo mine > e.txt/f; git -C e.txt add f; git -C e.txt commit -qm f; echo more >> e.txt/f",
        typed: &[0],
        typed_after: &[],
        expected: "[ \"$(tail -n 1 e.txt.moved/f)\" = more ]",
    },
    Obstacle {
        name: "a renamed branch",
        lines: "git branch -m main trunk",
        typed: &[0],
        typed_after: &[],
        expected: "! git rev-parse -q --verify trunk",
    },
    Obstacle {
        name: "a branch that is gone",
        lines: "git checkout -q -b other; git branch -qD main",
        typed: &[0],
        typed_after: &[],
        expected: "git rev-parse -q --verify other",
    },
    Obstacle {
        name: "a branch in another worktree",
        lines: "git checkout -q -b other; git worktree add -q '../the twin' main",
        typed: &[0, 1],
        typed_after: &[],
        expected: "[ -d '../the twin' ]",
    },
    Obstacle {
        name: "no branch",
        lines: "git checkout -q --detach",
        typed: &[0],
        typed_after: &[],
        expected: "true",
    },
    Obstacle {
        name: "a rebase",
        lines: "sides; git rebase -q side",
        typed: &[1],
        typed_after: &[],
        expected: "grep -qx main README.md",
    },
    Obstacle {
        name: "a rebase that is resolved",
        lines: "sides; git rebase -q side; echo both > README.md; git add README.md",
        typed: &[0],
        typed_after: &[],
        expected: "grep -qx both README.md",
    },
    Obstacle {
        name: "a merge",
        lines: "sides; git merge -q side",
        typed: &[1],
        typed_after: &[],
        expected: "grep -qx main README.md",
    },
    Obstacle {
        name: "a merge that is resolved",
        lines: "sides; git merge -q side; echo both > README.md; git add README.md",
        typed: &[0],
        typed_after: &[],
        expected: "grep -qx both README.md",
    },
    Obstacle {
        name: "a picked commit",
        lines: "sides; git cherry-pick side",
        typed: &[1],
        typed_after: &[],
        expected: "grep -qx main README.md",
    },
    Obstacle {
        name: "the first of two picked commits",
        lines: "sides; git commit -q --allow-empty -m y; git cherry-pick side main~1; echo both > README.md; git commit -qam both",
        typed: &[1],
        typed_after: &[],
        expected: "true",
    },
    Obstacle {
        name: "a reverted commit",
        lines: "sides; echo more > README.md; git commit -qam more; git revert --no-edit HEAD~1",
        typed: &[1],
        typed_after: &[],
        expected: "grep -qx more README.md",
    },
    Obstacle {
        name: "a patch",
        lines: "sides; git format-patch -q -1 side -o ..; git am -q ../0001-side.patch",
        typed: &[1],
        typed_after: &[],
        expected: "grep -qx main README.md",
    },
    Obstacle {
        name: "a bisection",
        lines: "sides; git bisect start -q HEAD HEAD~1",
        typed: &[0],
        typed_after: &[],
        expected: "grep -qx main README.md",
    },
    Obstacle {
        name: "another history",
        lines: "git checkout -q --orphan new; git commit -qm mine; git branch -M main",
        typed: &[0],
        typed_after: &[],
        expected: "true",
    },
];

/// The commands that are printed at the beginning of a line, or behind an `or`.
fn printed_commands(text: &str) -> Vec<&str> {
    let lines = text
        .lines()
        .map(str::trim_start)
        .filter(|line| line.starts_with('`') || line.contains("rewritten"));
    let mut commands: Vec<&str> = lines
        .flat_map(|line| {
            line.split('`')
                .filter(|part| part.starts_with("git ") || part.starts_with("mv "))
        })
        .collect();
    commands.dedup();
    commands
}

#[test]
fn each_command_that_is_printed_for_a_landing_gets_it_on() {
    let sessions = [
        session(1, &[step(1, "words.txt")]),
        session(2, &[step(5, "e.txt")]),
    ];
    for Obstacle {
        name,
        lines,
        typed,
        typed_after,
        expected,
    } in OBSTACLES
    {
        let case = |ground: &Ground| -> Result<()> {
            let shell = |line: &str| -> Result<()> {
                let mut command = ground.lab.command("bash");
                command
                    .args(["-c", line])
                    .env("GIT_EDITOR", "true")
                    .current_dir(ground.project());
                let output = command.output()?;
                ensure!(output.status.success(), "{line}: {output:?}");
                Ok(())
            };
            shell(
                "printf '%s\\n' a b c d e f > words.txt; git add words.txt; git commit -qm words",
            )?;
            ground.set_task_script(1, "sed -i 1s/.*/1/ words.txt\n")?;
            ground.set_task_script(
                5,
                &format!("echo 5 > e.txt; (cd ../../..; {SIDES}; {lines}) > /dev/null 2>&1\n"),
            )?;
            ground.open(&[])?;
            let said = ground.omo(&["run", "watch"])?.exits_with(7)?;
            let commands = printed_commands(&said.out);
            let play = |places: &[usize]| {
                places.iter().try_for_each(|place| {
                    shell(
                        commands
                            .get(*place)
                            .with_context(|| format!("it is not printed: {}", said.out))?,
                    )
                })
            };
            play(typed)?;
            ground.omo(&["answer", "q1", "continue"])?.exits_with(0)?;
            ground.omo(&["run", "watch"])?.exits_with(0)?;
            ensure!(
                ground.git(&["show", "main:e.txt"])?.trim() == "5",
                "the branch has not moved"
            );
            play(typed_after)?;
            shell(expected)
        };
        on_repository(&sessions, "", |ground| case(ground).context(name));
    }
}

#[test]
fn a_branch_that_another_work_tree_has_checked_out_moves_once_its_user_says_so() {
    for detaches in [true, false] {
        on_repository(&four_sessions(), "", |ground| {
            let twin = ground
                .project()
                .join("../the twin")
                .to_string_lossy()
                .into_owned();
            ground.git(&["worktree", "add", "-q", "-f", &twin, "main"])?;
            let before = ground.git(&["rev-parse", "HEAD"])?;
            let dry = ground
                .omo(&["run", "start", "--parallel", "--dry-run", PLAN])?
                .exits_with(0)?;
            ensure!(
                dry.out.contains("also checked out in another worktree"),
                "{}",
                dry.out
            );
            ground.open(&[])?;
            let said = ground.omo(&["run", "watch"])?.exits_with(7)?;
            ensure!(said.out.contains("the twin"), "{}", said.out);
            ensure!(
                ground.git(&["rev-parse", "HEAD"])? == before,
                "the branch has moved"
            );
            ensure!(
                ground
                    .git(&["-C", &twin, "status", "--porcelain"])?
                    .is_empty()
            );
            if detaches {
                ground.git(&["-C", &twin, "switch", "-q", "--detach"])?;
            }
            ground.omo(&["answer", "q1", "continue"])?.exits_with(0)?;
            ground.omo(&["run", "watch"])?.exits_with(0)?;
            let report = ground.omo(&["report"])?.out;
            ensure!(report.contains("the twin") != detaches, "{report}");
            ground.git(&["worktree", "remove", "--force", &twin])?;
            ground.require_complete(&WELL)
        });
    }
}

#[test]
fn a_branch_of_a_worker_that_its_user_looks_at_stays_checked_out_there() {
    for script in [
        "git worktree add -q -f '{look}' \"$(git branch --show-current)\"; echo 1 > a.txt\n",
        "echo 1 > a.txt; eval \"end_$(declare -f end)\"; end() { git worktree move . '{look}'; end_end; }\n",
    ] {
        on_repository(&four_sessions(), "", |ground| {
            let look = ground.project().with_file_name("a look");
            ground.set_task_script(1, &script.replace("{look}", &look.to_string_lossy()))?;
            ground.open(&[])?;
            let said = ground.omo(&["run", "watch"])?.exits_with(0)?.out;
            let branch =
                ground.git(&["-C", &look.to_string_lossy(), "branch", "--show-current"])?;
            ensure!(
                ground
                    .git(&["rev-parse", "--verify", branch.trim()])
                    .is_ok(),
                "{branch} is gone: {said}"
            );
            ensure!(
                ground
                    .omo(&["report"])?
                    .out
                    .contains(&format!("{} stays", branch.trim())),
                "it is not named"
            );
            let command = said
                .lines()
                .find_map(|line| line.split_once("no longer: "))
                .context("no command")?
                .1;
            let played = ground
                .lab
                .command("sh")
                .args(["-c", command])
                .current_dir(ground.project())
                .output()?;
            ensure!(played.status.success(), "{command}");
            ground.git(&["worktree", "remove", "--force", &look.to_string_lossy()])?;
            ground.require_complete(&WELL)
        });
    }
}

#[test]
fn the_supervisor_opens_the_pull_request_that_was_ordered() {
    on_repository(&four_sessions(), "", |ground| {
        let remote = ground.project().join("../remote.git").display().to_string();
        ground.git(&["init", "-q", "--bare", &remote])?;
        ground.git(&["remote", "add", "origin", &remote])?;
        let gh = ground.programs().join("gh");
        fs::write(
            &gh,
            "#!/bin/sh\ncat > \"$0.body\"\necho once >> \"$0.calls\"\necho https://example.org/pull/8\n",
        )?;
        fs::set_permissions(&gh, fs::Permissions::from_mode(0o755))?;
        ground.open(&["--pr"])?;
        ground.omo(&["agent", "workers", "start"])?.exits_with(0)?;
        let calls = ground.programs().join("gh.calls");
        wait_until("a pull request", || calls.exists().then_some(()))?;
        let said = ground.omo(&["run", "watch"])?.exits_with(0)?;
        ensure!(
            said.out
                .contains("A pull request is open: https://example.org/pull/8"),
            "{}",
            said.out
        );
        ensure!(fs::read_to_string(&calls)? == "once\n");
        let branch = format!("refs/heads/omo/{}", ground.run()?.id());
        let there = ground.git(&["ls-remote", "--heads", "origin"])?;
        let head = ground.git(&["rev-parse", "HEAD"])?;
        ensure!(there.contains(&format!("{head}\t{branch}")), "{there}");
        ground.require_complete(&WELL)
    });
}
