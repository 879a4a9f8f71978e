//! What is judged is what the user gets: a task passes by what its commit holds, no commit of a client brings more than
//! its task lists, and a repair reaches the waves behind it.

use std::fs;

use anyhow::{Context, Result, ensure};
use omo_engine::event::AttemptEnd;
use omo_engine::state::TaskStatus;

use crate::parallel_repository::{Ground, Session, on_repository, session, step};

/// Two steps of one session.
fn one_session() -> Vec<Session<'static>> {
    vec![session(1, &[step(1, "a.txt"), step(2, "b.txt")])]
}

/// Two waves of one step each.
fn two_waves() -> Vec<Session<'static>> {
    vec![
        session(1, &[step(1, "a.txt")]),
        session(2, &[step(2, "b.txt")]),
    ]
}

/// Runs to its end, in which a step has failed: how that ended.
fn failed_end(ground: &Ground, step: &str) -> Result<AttemptEnd> {
    let before = ground.git(&["rev-parse", "HEAD"])?;
    ground.open(&[])?;
    let said = ground.omo(&["run", "watch"])?.exits_with(1)?;
    let task = ground
        .state()?
        .tasks
        .get(step)
        .cloned()
        .context("no such step")?;
    ensure!(
        task.status == TaskStatus::Failed,
        "{:?}\n{}",
        task.status,
        said.out
    );
    ensure!(
        ground.git(&["rev-parse", "HEAD"])? == before,
        "the user's branch has moved"
    );
    ground.require_tidy()?;
    let end = task.last_end.context("no end")?;
    let report = ground.omo(&["report"])?.out;
    let reason: String = end.evidence.chars().take(20).collect();
    ensure!(report.contains(&reason), "the report denies it: {report}");
    Ok(end)
}

fn completes(ground: &Ground, steps: &[(u32, &str)]) -> Result<()> {
    ground.open(&[])?;
    ground.omo(&["run", "watch"])?.exits_with(0)?;
    ground.require_complete(steps)
}

#[test]
fn a_task_whose_check_needs_a_file_that_its_commit_lacks_fails_and_names_it() {
    let cases: [(&str, &str, &str); 5] = [
        // The check follows the link, which the commit holds, to a file that it does not.
        ("1", "echo 1 > helper; ln -s helper a.txt\n", "helper"),
        (
            "1",
            "echo 1 > $'he\\nl\\e[31mper'; ln -s $'he\\nl\\e[31mper' a.txt\n",
            "he l [31mper",
        ),
        (
            "1",
            "mkdir deep; echo 1 > deep/helper; ln -s deep/helper a.txt\n",
            "deep/helper",
        ),
        // Its repository lets no commit take it.
        (
            "1",
            "mkdir -p deep; echo 1 > deep/ignored; ln -s deep/ignored a.txt\n",
            "deep/ignored",
        ),
        // The step before has left it, and nothing of it has changed since.
        (
            "2",
            "echo 2 > b.txt; mv b.txt helper; ln -s helper b.txt\n",
            "helper",
        ),
    ];
    for (failing, script, file) in cases {
        on_repository(&one_session(), "", |ground| {
            ground.lab.write(".gitignore", "ignored\n")?;
            ground.git(&["add", "."])?;
            ground.git(&["commit", "-qm", "ignore"])?;
            if failing == "2" {
                ground.set_task_script(1, "echo 1 > a.txt; [ -e helper ] || echo 2 > helper\n")?;
                ground.set_task_script(2, "ln -sfn helper b.txt\n")?;
            } else {
                ground.set_task_script(1, &format!("rm -f a.txt; {script}"))?;
            }
            let end = failed_end(ground, failing)?;
            let reason = format!(
                "its commit would lack {file}, which the step does not list, and without that `grep -q"
            );
            ensure!(end.evidence.starts_with(&reason), "{}", end.evidence);
            Ok(())
        });
    }
}

#[test]
fn an_empty_folder_is_in_no_commit_and_proves_nothing() {
    on_repository(&one_session(), "", |ground| {
        ground.lab.write("one.txt", "1\n")?;
        ground.git(&["add", "."])?;
        ground.git(&["commit", "-qm", "one"])?;
        ground.set_task_script(
            1,
            "rm -f a.txt; mkdir -p spool/in; ln -s spool/../one.txt a.txt\n",
        )?;
        let end = failed_end(ground, "1")?;
        let reason = "its commit would lack spool/, an empty folder, which git does not keep, and without that `grep -q";
        ensure!(end.evidence.starts_with(reason), "{}", end.evidence);
        Ok(())
    });
}

#[test]
fn files_that_no_check_needs_are_left_out_however_many_they_are() {
    on_repository(&one_session(), "", |ground| {
        let junk = "mkdir junk; (cd junk; seq 10000 | xargs touch); git init -q nested; touch nested/x; mkfifo pipe\n";
        ground.set_task_script(1, &format!("echo 1 > a.txt; {junk}"))?;
        completes(ground, &[(1, "a.txt"), (2, "b.txt")])?;
        ensure!(!ground.project().join("junk").exists(), "it was committed");
        let end = ground.state()?.tasks["1"]
            .last_end
            .clone()
            .context("no end")?;
        ensure!(
            end.out_of_scope
                .iter()
                .any(|file| file.starts_with("junk/")),
            "it is not reported"
        );
        Ok(())
    });
}

#[test]
fn a_commit_is_checked_in_a_worktree_that_is_set_up_as_the_others_are() {
    on_repository(&one_session(), "", |ground| {
        fs::write(ground.project().join(".gitignore"), "/included\n")?;
        fs::write(ground.project().join(".worktreeinclude"), "/included\n")?;
        fs::write(ground.project().join("included"), "i\n")?;
        fs::write(
            ground.project().join("omo.toml"),
            "setup = \"echo ready > ready.txt\"\n",
        )?;
        let plan = ground.project().join("docs/plan.md");
        let text = fs::read_to_string(&plan)?.replace(
            "`grep -q 1 a.txt`",
            "`grep -q i included && grep -q r ready.txt && grep -q 1 a.txt`",
        );
        fs::write(&plan, text)?;
        ground.git(&["add", "."])?;
        ground.git(&["commit", "-qm", "set up"])?;
        ground.set_task_script(1, "echo 1 > a.txt; echo x > unlisted\n")?;
        ground.open(&[])?;
        ground.omo(&["run", "watch"])?.exits_with(0)?;
        ensure!(
            ground.state()?.tasks["1"].attempts == 1,
            "{:?}",
            ground.state()?.tasks["1"]
        );
        ensure!(
            !ground.project().join("unlisted").exists()
                && !ground.project().join("ready.txt").exists()
        );
        ground.require_tidy()
    });
}

#[test]
fn what_the_touch_list_allows_is_committed_where_its_user_says_so() {
    let sessions = [
        session(1, &[step(1, "a.txt"), step(2, "b.txt")]),
        session(1, &[step(3, "c.txt")]),
    ];
    for is_included in [false, true] {
        on_repository(&sessions, "", |ground| {
            // The step lists `a.txt`; its session may touch `b.txt` as well.
            ground.set_task_script(1, "echo 1 > b.txt; ln -sfn b.txt a.txt\n")?;
            ground.set_task_script(2, "rm -f a.txt b.txt; echo 1 > a.txt; echo 2 > b.txt\n")?;
            if is_included {
                ground
                    .lab
                    .configure("[tasks]\nunlisted_files = \"include\"\n")?;
                completes(ground, &[(1, "a.txt"), (2, "b.txt"), (3, "c.txt")])?;
                let end = ground.state()?.tasks["1"]
                    .last_end
                    .clone()
                    .context("no end")?;
                let made = end.commit.context("no commit")?;
                ensure!(ground.git(&["show", &format!("{made}:b.txt")])? == "1");
            } else {
                let end = failed_end(ground, "1")?;
                ensure!(
                    end.evidence.contains("its commit would lack b.txt"),
                    "{}",
                    end.evidence
                );
            }
            Ok(())
        });
    }
}

#[test]
fn a_commit_of_a_client_that_holds_more_than_its_task_lists_fails_it() {
    let commit = "echo 1 > a.txt; echo s > stray; git add -A; git commit -qm mine\n";
    let merged = "git switch -qc side; echo s > stray; git add stray; git commit -qm side; git switch -q -; \
                  echo 1 > a.txt; git add a.txt; git commit -qm one; git merge -q --no-ff -m merge side\n";
    for (script, file) in [
        (commit.to_owned(), "stray"),
        // It is in the history all the same.
        (
            format!("{commit}git rm -q stray; git commit -qm gone\n"),
            "stray",
        ),
        (merged.to_owned(), "stray"),
        (
            "echo 1 > a.txt; echo s > $'s\\nt'; git add -A; git commit -qm mine\n".to_owned(),
            "s t",
        ),
    ] {
        on_repository(&one_session(), "", |ground| {
            ground.set_task_script(
                1,
                &format!("[ -e \"$scripts/once\" ] || {{ touch \"$scripts/once\"; {script}}}\n"),
            )?;
            let end = failed_end(ground, "1")?;
            ensure!(
                end.evidence.starts_with("commit ")
                    && end
                        .evidence
                        .contains(&format!(" holds {file}, which step 1 does not list"))
                    && end.evidence.contains("`git reset --soft "),
                "{}",
                end.evidence
            );
            Ok(())
        });
    }
}

#[test]
fn a_client_may_commit_what_its_task_lists_and_take_a_commit_back() {
    for script in [
        "echo 1 > a.txt; git add a.txt; git commit -qm mine\n",
        // Amended: the first of the two is in no branch.
        "echo 1 > a.txt; echo s > stray; git add -A; git commit -qm mine; git rm -q --cached stray; rm stray; git commit -q --amend -m mine\n",
        // Its first attempt fails, and the second does what the reason says.
        "if [ -e \"$scripts/once\" ]; then git reset -q --soft HEAD~1; git rm -q --cached stray; rm stray; \
         else touch \"$scripts/once\"; echo 1 > a.txt; echo s > stray; git add -A; git commit -qm mine; fi\n",
    ] {
        on_repository(&one_session(), "", |ground| {
            ground.set_task_script(1, script)?;
            completes(ground, &[(1, "a.txt"), (2, "b.txt")])?;
            ensure!(
                ground
                    .git(&["log", "--all", "--format=%H", "--", "stray"])?
                    .is_empty(),
                "it is in a branch"
            );
            Ok(())
        });
    }
}

#[test]
fn a_later_wave_that_failed_begins_again_from_what_was_repaired() {
    // Its user commits what was missing.
    on_repository(&two_waves(), "", |ground| {
        ground.set_task_script(2, "cp helper.txt b.txt\n")?;
        failed_end(ground, "2")?;
        fs::write(ground.project().join("helper.txt"), "2\n")?;
        ground.git(&["add", "helper.txt"])?;
        ground.git(&["commit", "-qm", "helper"])?;
        ground.open(&["--resume"])?;
        ground.omo(&["run", "watch"])?.exits_with(0)?;
        ensure!(
            ground.state()?.tasks["1"].attempts == 1,
            "what has passed was done again"
        );
        ground.require_complete(&[(1, "a.txt"), (2, "b.txt")])
    });
    // The step that it needs is done again, and the branch of the wave has work of its own already.
    let waves = [
        session(1, &[step(1, "a.txt")]),
        session(2, &[step(2, "b.txt"), step(3, "c.txt")]),
    ];
    on_repository(&waves, "", |ground| {
        ground.set_task_script(3, "grep -q repaired a.txt && echo 3 > c.txt\n")?;
        failed_end(ground, "3")?;
        ground.set_task_script(1, "printf '1\\nrepaired\\n' > a.txt\n")?;
        let refused = ground.omo(&["run", "retry", "1"])?.exits_with(5)?;
        ensure!(
            refused.err.contains("1 is passed")
                && refused
                    .err
                    .contains("done again: 2, 3; `omo run retry 1 --passed`"),
            "{}",
            refused.err
        );
        ground
            .omo(&["run", "retry", "1", "--passed"])?
            .exits_with(0)?;
        ground.open(&["--resume"])?;
        ground.omo(&["run", "watch"])?.exits_with(0)?;
        let state = ground.state()?;
        ensure!(
            state.tasks["1"].attempts == 2 && state.tasks["2"].attempts == 2,
            "{:?}",
            state.tasks
        );
        ensure!(fs::read_to_string(ground.project().join("a.txt"))?.contains("repaired"));
        ensure!(fs::read_to_string(ground.project().join("c.txt"))?.trim() == "3");
        ground.require_tidy()
    });
}
