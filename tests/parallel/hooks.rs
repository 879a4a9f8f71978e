//! The hooks that guard the user's branch are asked as git asks them, and commits are signed where the user's are.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use anyhow::{Context, Result, ensure};
use omo_engine::event::EventKind;
use omo_engine::parallel_state::GroupStatus;
use omo_testkit::wait_until;
use omo_tests::parallel_plan;
use omo_tests::plan_project::Said;

use crate::parallel_repository::{Ground, Session, on_repository, session, step};

fn sessions() -> [Session<'static>; 2] {
    [
        session(1, &[step(1, "a.txt")]),
        session(1, &[step(3, "c.txt")]),
    ]
}

const ALL: [(u32, &str); 2] = [(1, "a.txt"), (3, "c.txt")];

fn write_program(ground: &Ground, path: &str, lines: &str) -> Result<()> {
    let path = ground.project().join(path);
    fs::write(&path, format!("#!/bin/sh\n{lines}\n"))?;
    Ok(fs::set_permissions(
        path,
        fs::Permissions::from_mode(0o755),
    )?)
}

/// Answers each open question with `continue` until the run needs no more.
fn continue_to_the_end(ground: &Ground) -> Result<()> {
    while let Some(question) = ground
        .state()?
        .open_question()
        .map(|known| known.question.id.clone())
    {
        ground
            .omo(&["answer", &question, "continue"])?
            .exits_with(0)?;
        ground.omo(&["run", "watch"])?;
    }
    Ok(())
}

#[test]
fn a_hook_that_refuses_the_branch_is_a_question_and_the_work_is_kept() {
    for (hook, lines) in [
        ("pre-merge-commit", "echo no merges here; exit 1"),
        (
            "prepare-commit-msg",
            "[ \"$2\" != merge ] || { echo no merges here; exit 1; }",
        ),
        (
            "commit-msg",
            "grep -q '^feat' \"$1\" || { echo no merges here; exit 1; }",
        ),
        (
            "reference-transaction",
            "[ \"$1\" = prepared ] || exit 0; ! grep -q 'refs/heads/main$' || { echo no merges here; exit 1; }",
        ),
    ] {
        let case = |ground: &Ground| -> Result<()> {
            let before = ground.git(&["rev-parse", "main"])?;
            let path = format!(".git/hooks/{hook}");
            write_program(ground, &path, lines)?;
            ground.open(&[])?;
            let said = ground.omo(&["run", "watch"])?.exits_with(7)?;
            ensure!(
                said.out
                    .contains(&format!("hook `{hook}` refused that: no merges here")),
                "{}",
                said.out
            );
            ensure!(ground.git(&["rev-parse", "main"])? == before);
            ensure!(
                ground.git(&["status", "--porcelain"])?.is_empty(),
                "{}",
                ground.git(&["status", "--porcelain"])?
            );
            let groups = ground
                .state()?
                .parallel
                .map(|parallel| parallel.groups)
                .unwrap_or_default();
            let is_kept =
                |status: GroupStatus| matches!(status, GroupStatus::Done | GroupStatus::Merged);
            ensure!(
                groups.len() == 2 && groups.values().all(|known| is_kept(known.status)),
                "{groups:?}"
            );
            // It refuses again: the same question.
            ground.omo(&["answer", "q1", "continue"])?.exits_with(0)?;
            ground.omo(&["run", "watch"])?.exits_with(7)?;
            fs::remove_file(ground.project().join(&path))?;
            continue_to_the_end(ground)?;
            ensure!(
                ground.started_sessions().len() == 2,
                "{:?}",
                ground.started_sessions()
            );
            ground.require_complete(&ALL)
        };
        on_repository(&sessions(), "", |ground| case(ground).context(hook));
    }
}

#[test]
fn hooks_of_a_merge_see_what_git_shows_them() {
    on_repository(&sessions(), "", |ground| {
        // A folder of hooks that git ignores is in no worktree of omo's.
        fs::create_dir(ground.project().join("hooks"))?;
        fs::write(ground.project().join(".git/info/exclude"), "hooks/\n")?;
        ground.git(&["config", "core.hooksPath", "hooks"])?;
        let log = ground.project().join("../seen");
        let note = format!(
            "{{ git rev-parse -q --verify MERGE_HEAD && git diff --cached --name-only && cat [ac].txt; }} >> '{}'",
            log.display()
        );
        write_program(ground, "hooks/pre-merge-commit", &note)?;
        write_program(
            ground,
            "hooks/prepare-commit-msg",
            "[ \"$2\" != merge ] || echo 'Seen-By: a hook' >> \"$1\"",
        )?;
        write_program(ground, "hooks/commit-msg", "test -s \"$1\"")?;
        ground.open(&[])?;
        ground.omo(&["run", "watch"])?.exits_with(0)?;
        ground.require_complete(&ALL)?;
        let seen = fs::read_to_string(log)?;
        let merges = ground.git(&["log", "--merges", "--format=%H %P"])?;
        ensure!(merges.lines().count() == 2, "{merges}");
        for merge in merges.lines() {
            let second = merge.split(' ').next_back().unwrap_or_default();
            ensure!(seen.lines().any(|line| line == second), "{second}: {seen}");
        }
        ensure!(
            seen.contains("a.txt") && seen.lines().any(|line| line == "3"),
            "{seen}"
        );
        let said = ground.git(&[
            "log",
            "--merges",
            "--format=%(trailers:key=Seen-By,valueonly)",
        ])?;
        ensure!(
            said.lines().filter(|line| *line == "a hook").count() == 2,
            "{said}"
        );
        Ok(())
    });
}

/// What stands for `gpg`: it signs all, but for what a line of `sh` keeps it from.
fn set_signing(ground: &Ground, unless: &str) -> Result<()> {
    let lines = format!(
        "body=$(cat); {unless}\n\
         printf -- '-----BEGIN PGP SIGNATURE-----\\n\\nx\\n-----END PGP SIGNATURE-----\\n'; \
         printf '\\n[GNUPG:] SIG_CREATED x\\n' >&2"
    );
    write_program(ground, "../signs", &lines)?;
    let program = ground.project().join("../signs");
    ground.git(&["config", "gpg.program", &program.to_string_lossy()])?;
    ground.git(&["config", "commit.gpgSign", "true"]).map(drop)
}

#[test]
fn merges_are_signed_where_commits_are() {
    on_repository(&sessions(), "", |ground| {
        let before = ground.git(&["rev-parse", "main"])?;
        set_signing(
            ground,
            "case $body in *'merge: '*) echo the key is locked >&2; exit 1;; esac",
        )?;
        ground.open(&[])?;
        let said = ground.omo(&["run", "watch"])?.exits_with(7)?;
        ensure!(
            said.out.contains("git could not sign it: ") && said.out.contains("the key is locked"),
            "{}",
            said.out
        );
        set_signing(ground, "")?;
        continue_to_the_end(ground)?;
        ground.require_complete(&ALL)?;
        let made = ground.git(&["rev-list", &format!("{before}..main")])?;
        for commit in made.lines() {
            ensure!(
                ground
                    .git(&["cat-file", "commit", commit])?
                    .contains("gpgsig "),
                "{commit} is not signed"
            );
        }
        ensure!(
            ground
                .state()?
                .parallel
                .is_some_and(|parallel| parallel.unsigned == 0)
        );
        Ok(())
    });
}

#[test]
fn hooks_that_the_environment_of_the_user_names_guard_commits_and_the_landing() {
    for (hook, lines) in [
        (
            "pre-commit",
            "[ \"$HUSKY\" != 1 ] || { echo not today; exit 1; }",
        ),
        (
            "reference-transaction",
            "[ \"$1 $HUSKY\" = 'prepared 1' ] || exit 0; ! grep -q 'refs/heads/main$' || { echo not today; exit 1; }",
        ),
    ] {
        let case = |ground: &Ground| -> Result<()> {
            let before = ground.git(&["rev-parse", "main"])?;
            let folder = ground.project().join("../guards");
            fs::create_dir(&folder)?;
            write_program(ground, &format!("../guards/{hook}"), lines)?;
            let open = |arguments: &[&str]| {
                let mut open = ground.command(arguments);
                open.env("GIT_CONFIG_COUNT", "1")
                    .env("GIT_CONFIG_KEY_0", "core.hooksPath")
                    .env("GIT_CONFIG_VALUE_0", &folder)
                    .env("HUSKY", "1");
                Ok(Said::of(&open.output()?))
            };
            parallel_plan::open(open, &["--accept-api-billing"])?;
            // It holds for the whole run: this shell does not have it.
            let said = ground.omo(&["run", "watch"])?.exits_with(7)?;
            ensure!(said.out.contains("not today"), "{}", said.out);
            ensure!(ground.git(&["rev-parse", "main"])? == before);
            fs::remove_file(folder.join(hook))?;
            continue_to_the_end(ground)?;
            ground.require_complete(&ALL)
        };
        on_repository(&sessions(), "", |ground| case(ground).context(hook));
    }
}

#[test]
fn workers_commit_by_the_settings_of_the_checkout_alone() {
    for condition in ["onbranch:main", "gitdir:PROJECT/.git"] {
        let case = |ground: &Ground| -> Result<()> {
            let project = ground.project();
            fs::create_dir(project.join("../guards"))?;
            write_program(
                ground,
                "../guards/commit-msg",
                "echo 'Seen-By: a hook' >> \"$1\"",
            )?;
            let folder = project.join("../guards").canonicalize()?;
            fs::write(
                project.join("../included"),
                format!("[core]\n hooksPath = {}\n", folder.display()),
            )?;
            let condition =
                condition.replace("PROJECT", &project.canonicalize()?.to_string_lossy());
            ground.git(&[
                "config",
                &format!("includeIf.{condition}.path"),
                "../../included",
            ])?;
            ground.open(&[])?;
            ground.omo(&["run", "watch"])?.exits_with(0)?;
            ground.require_complete(&ALL)?;
            ensure!(
                ground.state()?.questions.is_empty(),
                "{:?}",
                ground.state()?.questions
            );
            let seen = ground.git(&[
                "log",
                "--grep=Omo-Task",
                "--format=%(trailers:key=Seen-By,valueonly)",
            ])?;
            ensure!(
                seen.lines().filter(|line| *line == "a hook").count() == 2,
                "{seen}"
            );
            Ok(())
        };
        on_repository(&sessions(), "", |ground| case(ground).context(condition));
    }
}

#[test]
fn a_hook_that_a_step_weakened_is_one_question_for_exactly_this_state() {
    // Each way reaches another kind of hook: one in the worktree, one that all worktrees share, and the settings.
    for (hooks, weaken, name) in [
        (
            "hooks",
            "printf '#!/bin/sh\\n' > hooks/pre-commit",
            "hooks/pre-commit (now ",
        ),
        (
            ".git/hooks",
            "printf '#!/bin/sh\\n' > $(git rev-parse --git-common-dir)/hooks/pre-commit",
            ".git/hooks/pre-commit (now ",
        ),
        (
            ".git/hooks",
            "git config core.hooksPath /dev/null",
            "git config core.hookspath (now /dev/null)",
        ),
    ] {
        let case = |ground: &Ground| -> Result<()> {
            fs::create_dir_all(ground.project().join(hooks))?;
            let strict = "! grep -q 1 a.txt 2>/dev/null || { echo not today; exit 1; }";
            write_program(ground, &format!("{hooks}/pre-commit"), strict)?;
            if hooks == "hooks" {
                ground.git(&["add", "hooks"])?;
                ground.git(&["commit", "-qm", "hooks"])?;
                ground.git(&["config", "core.hooksPath", "hooks"])?;
            }
            let before = ground.git(&["rev-parse", "main"])?;
            ground.set_task_script(1, &format!("echo 1 > a.txt\n{weaken}\n"))?;
            ground.open(&[])?;
            let said = ground.omo(&["run", "watch"])?.exits_with(7)?;
            ensure!(
                said.out.contains(name) && said.out.contains("judge"),
                "{}",
                said.out
            );
            ensure!(ground.git(&["rev-parse", "main"])? == before);
            continue_to_the_end(ground)?;
            ground.require_complete(&ALL)?;
            ensure!(
                ground.state()?.questions.len() <= 2,
                "{:?}",
                ground.state()?.questions
            );
            Ok(())
        };
        on_repository(&sessions(), "", |ground| case(ground).context(weaken));
    }
}

#[test]
fn a_hook_that_hangs_in_a_landing_is_ended_with_its_run_and_leaves_no_lock() {
    on_repository(&sessions(), "", |ground| {
        let before = ground.git(&["rev-parse", "main"])?;
        let asked = ground.lab.home().join("asked");
        let lines = format!(
            "[ \"$1\" = prepared ] || exit 0; ! grep -q 'refs/heads/main$' || {{ echo x > '{}'; exec sleep 6000; }}",
            asked.display()
        );
        write_program(ground, ".git/hooks/reference-transaction", &lines)?;
        ground.open(&[])?;
        ground.omo(&["agent", "workers", "start"])?.exits_with(0)?;
        wait_until("the landing asks the hook", || asked.exists().then_some(()))?;
        let said = ground.omo(&["run", "cancel"])?.exits_with(0)?;
        let at = format!("your branch is at {}.", before.get(..7).unwrap_or_default());
        ensure!(said.out.contains(&at), "{}", said.out);
        let locks = ["index.lock", "HEAD.lock", "refs/heads/main.lock"]
            .map(|name| ground.project().join(".git").join(name));
        wait_until("git's locks are gone", || {
            locks.iter().all(|lock| !lock.exists()).then_some(())
        })?;
        ensure!(ground.git(&["rev-parse", "main"])? == before);
        ensure!(
            ground.git(&["status", "--porcelain"])?.is_empty(),
            "{}",
            ground.git(&["status", "--porcelain"])?
        );
        fs::remove_file(ground.project().join(".git/hooks/reference-transaction"))?;
        ground.open(&["--resume"])?;
        let said = ground.omo(&["run", "watch"])?.exits_with(7)?;
        ensure!(
            said.out
                .contains(".git/hooks/reference-transaction (now not used)"),
            "{}",
            said.out
        );
        continue_to_the_end(ground)?;
        ground.require_complete(&ALL)
    });
}

#[test]
fn a_landing_that_is_cancelled_behind_the_branch_is_made_and_told() {
    on_repository(&sessions(), "", |ground| {
        let before = ground.git(&["rev-parse", "main"])?;
        let asked = ground.lab.home().join("asked");
        let lines = format!(
            "[ \"$1\" = committed ] || exit 0; ! grep -q 'refs/heads/main$' || {{ echo x > '{}'; exec sleep 6000; }}",
            asked.display()
        );
        write_program(ground, ".git/hooks/reference-transaction", &lines)?;
        ground.open(&[])?;
        ground.omo(&["agent", "workers", "start"])?.exits_with(0)?;
        wait_until("the landing tells the hook", || {
            asked.exists().then_some(())
        })?;
        let said = ground.omo(&["run", "cancel"])?.exits_with(0)?;
        let now = ground.git(&["rev-parse", "main"])?;
        ensure!(now != before);
        let told = format!(
            "Your branch moved before it ended, to {}.",
            now.get(..7).unwrap_or_default()
        );
        ensure!(said.out.contains(&told), "{}", said.out);
        ensure!(
            ground.git(&["status", "--porcelain"])?.is_empty(),
            "{}",
            ground.git(&["status", "--porcelain"])?
        );
        let report = ground.omo(&["report"])?.out;
        ensure!(!report.contains("was not moved"), "{report}");
        Ok(())
    });
}

#[test]
fn a_commit_that_its_hook_refuses_is_asked_about_once_and_made_without_a_worker() {
    on_repository(&sessions(), "", |ground| {
        write_program(ground, ".git/hooks/pre-commit", "no-such-linter --staged")?;
        ground.open(&[])?;
        let said = ground.omo(&["run", "watch"])?.exits_with(7)?;
        ensure!(said.out.contains("no-such-linter"), "{}", said.out);
        let state = ground.state()?;
        ensure!(state.questions.len() == 1, "{:?}", state.questions);
        ensure!(
            state.tasks.values().all(|task| task.attempts <= 1),
            "handed back to a worker: {:?}",
            state.tasks
        );
        let kept = ground.git(&["for-each-ref", "--format=%(refname)", "refs/omo/keep"])?;
        for (number, file) in ALL {
            let is_in = |name: &&str| {
                ground
                    .git(&["show", &format!("{name}:{file}")])
                    .is_ok_and(|text| text.trim() == number.to_string())
            };
            ensure!(
                kept.lines().any(|name| is_in(&name)),
                "{file} is not kept: {kept}"
            );
        }
        ground.omo(&["answer", "q1", "continue"])?.exits_with(0)?;
        ground.omo(&["run", "watch"])?.exits_with(7)?;
        fs::remove_file(ground.project().join(".git/hooks/pre-commit"))?;
        // Neither the hook nor its absence is passed by: its user says so once more.
        continue_to_the_end(ground)?;
        ensure!(
            ground.started_sessions().len() == 2,
            "{:?}",
            ground.started_sessions()
        );
        ground.require_complete(&ALL)
    });
}

#[test]
fn the_checks_of_a_worker_run_on_what_hooks_made_of_its_commit() {
    on_repository(&sessions(), "", |ground| {
        let once = ground.project().join("../once");
        let breaks = format!(
            "if [ ! -e '{once}' ] && git diff --cached --name-only | grep -qx a.txt; then : > '{once}'; \
             echo broken > a.txt; git add a.txt; echo x > first.txt; git add first.txt; fi",
            once = once.display()
        );
        write_program(
            ground,
            ".git/hooks/pre-commit",
            &format!("{breaks}\necho x > stamp.txt; git add stamp.txt"),
        )?;
        ground.set_task_script(1, "echo 1 > a.txt\n")?;
        ground.open(&[])?;
        ground.omo(&["run", "watch"])?.exits_with(0)?;
        ground.require_complete(&ALL)?;
        let state = ground.state()?;
        ensure!(
            state.tasks["1"].attempts == 2 && state.tasks["3"].attempts == 1,
            "{:?}",
            state.tasks
        );
        ensure!(
            ground.git(&["show", "HEAD:stamp.txt"])? == "x"
                && ground.git(&["show", "HEAD:first.txt"])? == "x"
        );
        let failed = ground
            .run()?
            .events()?
            .into_iter()
            .find_map(|event| match event.kind {
                EventKind::TaskFailed { end, .. } => Some(end),
                _ => None,
            });
        let failed = failed.context("no attempt failed")?;
        let expected = "hooks of the repository changed a.txt, first.txt, stamp.txt in its commit ";
        ensure!(
            failed.evidence.starts_with(expected) && failed.commit.is_some(),
            "{failed:?}"
        );
        for said in [
            ground.omo(&["report"])?.out,
            ground.omo(&["run", "show"])?.out,
        ] {
            let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
            let named = "step 1: hooks changed a.txt, first.txt, stamp.txt in its commit, and its checks are green on that, too";
            ensure!(said.contains(named), "{said}");
            ensure!(
                said.contains("step 3: hooks changed stamp.txt in its commit"),
                "{said}"
            );
        }
        Ok(())
    });
}
