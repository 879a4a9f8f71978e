//! What keeps the sessions of a plan from being started, each thing with what to do, before anything is written.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

use anyhow::{Context, Result, ensure};
use omo_tests::plan_project::{PLAN, Said};
use omo_tests::ultraplan_project::{
    REVERT, Steps, plan_text, play, two_parallel_sessions, word_check,
};

#[test]
fn what_is_in_the_way_of_workers_is_reported_all_at_once() {
    play(&[
        (
            "uncommitted work, a merge and no branch",
            two_parallel_sessions(),
            |s| {
                s.lab().write("words/1.txt", "mine\n")?;
                s.git(&["checkout", "-q", "--detach"])?;
                fs::write(s.lab().project().join(".git/MERGE_HEAD"), "x\n")?;
                let before = s.file_tree()?;
                let said = s.ask(PLAN)?.refuses(
                    5,
                    "things are in the way, and nothing was started:\n",
                    "--dry-run",
                )?;
                for part in [
                    "  a merge is in progress\n",
                    "  no branch is checked out (detached HEAD)\n",
                    "  working tree is not clean, and the plan touches words/1.txt\n",
                ] {
                    ensure!(said.err.contains(part), "no {part:?}: {}", said.err);
                }
                before.require_unchanged(&s.file_tree()?, &[])?;
                // In one session only what is under way matters.
                s.ask("--fg docs/plan.md")?.refuses(
                    5,
                    "a merge is in progress",
                    "git merge --abort",
                )?;
                fs::remove_file(s.lab().project().join(".git/MERGE_HEAD"))?;
                s.begin("--fg docs/plan.md").map(drop)
            },
        ),
        ("a branch without a commit", two_parallel_sessions(), |s| {
            s.git(&["update-ref", "-d", "HEAD"])?;
            s.ask(PLAN)?.refuses(
                5,
                "the repository has no commit",
                "make a first commit, then run again; or --fg",
            )?;
            Ok(())
        }),
        ("a rebase", two_parallel_sessions(), |s| {
            fs::create_dir(s.lab().project().join(".git/rebase-merge"))?;
            s.ask(PLAN)?
                .refuses(5, "a rebase is in progress", "`git rebase --abort`")
                .map(drop)
        }),
        (
            "two sessions of a wave that touch the same",
            two_parallel_sessions().replace(
                "Touch: `words/2.txt`",
                "Touch: `words/2.txt`, `./words/1.txt`",
            ),
            |s| {
                let said = s.ask(PLAN)?.refuses(
                    4,
                    "sessions 1 and 2 may touch the same files",
                    "fix the plan",
                )?;
                ensure!(
                    said.err
                        .contains("give them different waves, or files that are apart"),
                    "{}",
                    said.err
                );
                Ok(())
            },
        ),
        ("files of a submodule", two_parallel_sessions(), |s| {
            let head = Said::of(
                &s.lab()
                    .command("git")
                    .args(["rev-parse", "HEAD"])
                    .output()?,
            )
            .exits_with(0)?
            .out;
            fs::create_dir(s.lab().project().join("words"))?;
            s.git(&[
                "update-index",
                "--add",
                "--cacheinfo",
                &format!("160000,{},words", head.trim()),
            ])?;
            s.git(&["commit", "-q", "-m", "submodule"])?;
            s.ask(PLAN)?
                .refuses(
                    5,
                    "the plan changes files of submodules: words",
                    "run it with --fg",
                )
                .map(drop)
        }),
        (
            "files behind a filter of the repository's own",
            two_parallel_sessions(),
            |s| {
                s.lab().write("secret.txt", "plain\n")?;
                s.lab().write(
                    ".gitattributes",
                    "secret.txt filter=vault\nother.txt filter=users\n",
                )?;
                s.git(&["add", "."])?;
                s.git(&["commit", "-q", "-m", "attributes"])?;
                s.git(&["config", "filter.users.clean", "cat"])?;
                s.git(&["config", "merge.vault.driver", "false"])?;
                s.ask(PLAN)?
                    .refuses(7, "there is no terminal to ask on", "")?;
                s.git(&["config", "filter.vault.smudge", "cat"])?;
                let message = "the repository's own settings name a filter, and omo runs none of those: secret.txt";
                s.ask(PLAN)?.refuses(5, message, "`git config --global`")?;
                s.begin("--fg docs/plan.md").map(drop)
            },
        ),
        ("no identity to commit with", two_parallel_sessions(), |s| {
            s.git(&["config", "--unset", "user.email"])?;
            let message = "git does not know who you are, and what is done is committed";
            s.ask(PLAN)?.refuses(5, message, "git config user.email")?;
            s.ask("--fg docs/plan.md")?
                .refuses(5, message, "git config user.email")?;
            let mut command = s.command(&["run", "start", "--fg", PLAN]);
            for name in ["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"] {
                command.env(name, "lab@example.org");
            }
            Said::of(&command.output()?)
                .refuses(7, "there is no terminal to ask on", "")
                .map(drop)
        }),
        (
            "what the plan does not touch",
            two_parallel_sessions(),
            |s| {
                s.lab().write("mine.txt", "mine\n")?;
                let said = s.begin(PLAN)?;
                ensure!(
                    said.out
                        .contains("note: not committed: mine.txt; the plan does not touch that"),
                    "{}",
                    said.out
                );
                Ok(())
            },
        ),
        (
            "files that the client guards",
            two_parallel_sessions().replace("words/1.txt", ".claude/words.txt"),
            |s| {
                s.ask(PLAN)?.refuses(
                    5,
                    "the client lets no worker write there by itself: step 1 (.claude/words.txt)",
                    "--fg",
                )?;
                s.begin("--fg docs/plan.md").map(drop)
            },
        ),
        ("a folder in a repository", two_parallel_sessions(), |s| {
            let inner = s.lab().project().join("inner");
            fs::create_dir_all(inner.join(".sisyphus/cc-omo"))?;
            fs::write(inner.join("plan.md"), two_parallel_sessions())?;
            let mut command = s.command(&["run", "start", "--parallel", "plan.md"]);
            let said = Said::of(&command.current_dir(&inner).output()?);
            said.refuses(
                5,
                "is a folder in a repository, and parallel workers get all of it",
                "--fg",
            )
            .map(drop)
        }),
    ]);
}

#[test]
fn settings_of_the_environment_that_git_refuses_are_named() {
    play(&[(
        "settings of the environment that git refuses",
        two_parallel_sessions(),
        |s| {
            for (name, line) in [
                ("GIT_CONFIG_COUNT", PLAN),
                ("GIT_CONFIG_PARAMETERS", "--fg docs/plan.md"),
                ("GIT_CONFIG_COUNT", "--dry-run docs/plan.md"),
            ] {
                let mut asked =
                    s.command(&["agent", "open", "--command", "execute-local", "--", line]);
                let said = Said::of(&asked.env(name, "1").output()?);
                let words = format!("git refuses the settings of your environment: {name}");
                said.refuses(5, &words, "correct them, or unset them")?;
            }
            Ok(())
        },
    )]);
}

#[test]
fn what_no_worker_could_pass_on_is_reported_before_the_start() {
    play(&[
        (
            "a branch that leaves no room for those of the sessions",
            two_parallel_sessions(),
            |s| {
                s.git(&["branch", "omo"])?;
                s.ask(PLAN)?
                    .refuses(
                        5,
                        "there is a branch `omo`",
                        "`git branch -m omo <another name>`",
                    )
                    .map(drop)
            },
        ),
        ("files that git ignores", two_parallel_sessions(), |s| {
            s.lab().write(".git/info/exclude", "2.txt\n")?;
            s.ask(PLAN)?.refuses(
                5,
                "no commit holds that: words/2.txt",
                "`git check-ignore -v -- words/2.txt`",
            )?;
            s.begin("--fg docs/plan.md").map(drop)
        }),
    ]);
}

/// A program that says it is this git, and does everything else as the one that is here.
fn another_git(steps: &Steps, version: &str) -> Result<String> {
    let folder = steps.lab().root().join("programs");
    fs::create_dir_all(&folder)?;
    let path = steps
        .lab()
        .environment()
        .get("PATH")
        .context("no search path")?;
    let git = std::env::split_paths(path)
        .map(|folder| folder.join("git"))
        .find(|git| git.is_file());
    let git = git.context("no git")?;
    let text = format!(
        "#!/bin/sh\nfor word; do\n  case \"$word\" in version|--version) echo '{version}'; exit ;; esac\ndone\n\
         exec '{}' \"$@\"\n",
        git.display()
    );
    fs::write(folder.join("git"), text)?;
    fs::set_permissions(folder.join("git"), fs::Permissions::from_mode(0o755))?;
    Ok(format!("{}:{path}", folder.display()))
}

#[test]
fn a_git_that_cannot_merge_without_a_checkout_is_reported_before_the_start() {
    play(&[("an old one", two_parallel_sessions(), |s| {
        let path = another_git(s, "git version 2.34.1")?;
        let with = |path: &str, line: &str| -> Result<Said> {
            let mut command =
                s.command(&["agent", "open", "--command", "execute-local", "--", line]);
            Ok(Said::of(&command.env("PATH", path).output()?))
        };
        let before = s.file_tree()?;
        let message = "git 2.34.1 cannot merge what workers did; 2.38 or newer is needed";
        with(&path, PLAN)?.refuses(5, message, "upgrade git, then run again; or --fg")?;
        let reported = with(&path, "--dry-run docs/plan.md")?.exits_with(1)?.out;
        ensure!(
            reported.contains(&format!("- {message}"))
                && reported.contains("NEEDS ATTENTION — 1 issue found"),
            "{reported}"
        );
        before.require_unchanged(&s.file_tree()?, &[])?;
        // One session needs none of that, nor does one that is new enough and says so at more length.
        with(&path, "--fg docs/plan.md")?.refuses(7, "there is no terminal to ask on", "")?;
        let path = another_git(s, "git version 2.39.3 (Apple Git-146)")?;
        with(&path, PLAN)?
            .refuses(7, "there is no terminal to ask on", "")
            .map(drop)
    })]);
}

#[test]
#[ignore = "needs names that are no text: cargo xtask test"]
fn a_folder_whose_name_is_no_text_has_no_plan_runs() {
    let steps = Steps::new(&two_parallel_sessions()).unwrap();
    let folder = steps.lab().project().join(OsStr::from_bytes(b"caf\xe9"));
    // On a Mac no folder can be called so.
    fs::create_dir(&folder).unwrap();
    assert!(
        steps
            .lab()
            .command("git")
            .args(["init", "-q"])
            .current_dir(&folder)
            .status()
            .unwrap()
            .success()
    );
    fs::write(folder.join("plan.md"), two_parallel_sessions()).unwrap();
    for arguments in [
        &["run", "start", "--parallel", "plan.md"][..],
        &["agent", "next"],
    ] {
        let output = steps
            .command(arguments)
            .current_dir(&folder)
            .env_remove("CLAUDE_PROJECT_DIR")
            .output()
            .unwrap();
        Said::of(&output)
            .refuses(
                5,
                "the name of the project's folder is not UTF-8: ",
                "give it another name",
            )
            .unwrap();
    }
    assert!(!folder.join(".git/omo").exists());
}

#[test]
fn a_parallel_run_that_could_not_begin_is_not_opened_and_one_that_goes_on_is_looked_at_anew() {
    play(&[
        (
            "a file in the place of the worktrees",
            two_parallel_sessions(),
            |s| {
                s.lab().write(".claude/worktrees", "mine\n")?;
                let digest = s.ask(PLAN)?.exits_with(7)?;
                let digest = digest
                    .err
                    .split("their digest is ")
                    .nth(1)
                    .unwrap_or_default()
                    .trim()
                    .to_owned();
                let said =
                    s.omo_at_terminal(&["run", "start", "--parallel", "--digest", &digest, PLAN])?;
                said.refuses(9, ".claude/worktrees", "no run was opened")?;
                let listed = s.omo_at_terminal(&["run", "list"])?.exits_with(0)?;
                ensure!(listed.out.starts_with("No plan was run"), "{}", listed.out);
                Ok(())
            },
        ),
        (
            "edits in the way of what is resumed",
            two_parallel_sessions(),
            |s| {
                s.begin(PLAN)?;
                s.lab().write("words/1.txt", "mine\n")?;
                let hint = "git stash push --include-untracked -- words/1.txt";
                s.ask("--resume docs/plan.md")?
                    .refuses(5, "working tree is not clean", hint)?;
                s.git(&[
                    "stash",
                    "push",
                    "-q",
                    "--include-untracked",
                    "--",
                    "words/1.txt",
                ])?;
                s.ask("--resume docs/plan.md")?.exits_with(0).map(drop)
            },
        ),
        ("options of another way", two_parallel_sessions(), |s| {
            let said =
                s.omo_at_terminal(&["run", "start", "--batches", "--max-workers", "2", PLAN])?;
            said.refuses(2, "--max-workers", "leave them out").map(drop)
        }),
        (
            "a person at a terminal reads no block",
            plan_text(&[(1, REVERT, &word_check(1))]),
            |s| {
                s.begin(PLAN)?;
                let said = s.omo_at_terminal(&["run", "resume"])?.exits_with(0)?;
                ensure!(
                    said.out
                        .ends_with("\nNext: start `claude` in this folder and type /omo:execute\n"),
                    "{}",
                    said.out
                );
                ensure!(!said.out.contains("DO\n"), "{}", said.out);
                Ok(())
            },
        ),
    ]);
}
