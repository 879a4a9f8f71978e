//! Workers of a run that was begun in a hook or an alias of git, whose variables point git at another repository.

use anyhow::ensure;

use crate::parallel_repository::{on_repository, session, step};

#[test]
fn no_worker_and_no_check_of_it_is_pointed_at_another_repository() {
    let sessions = [
        session(1, &[step(1, "a.txt")]),
        session(1, &[step(2, "b.txt")]),
    ];
    on_repository(
        &sessions,
        "! env | grep -E '^GIT_(DIR|INDEX_FILE|WORK_TREE)='",
        |ground| {
            let elsewhere = ground.lab.root().join("elsewhere");
            let seen = ground.lab.home().join("seen");
            for (id, file) in [(1, "a.txt"), (2, "b.txt")] {
                ground.set_task_script(
                    id,
                    &format!("env >> '{}'\necho {id} > {file}\n", seen.display()),
                )?;
            }
            ground.open(&[])?;
            let mut watch = ground.command(&["run", "watch"]);
            watch
                .env("GIT_DIR", &elsewhere)
                .env("GIT_INDEX_FILE", elsewhere.join("index"))
                .env("GIT_WORK_TREE", &elsewhere);
            let output = watch.env("GIT_SSH_COMMAND", "ssh").output()?;
            ensure!(output.status.success(), "{output:?}");
            ground.require_complete(&[(1, "a.txt"), (2, "b.txt")])?;
            let seen = std::fs::read_to_string(seen)?;
            let has = |start: &str| seen.lines().any(|line| line.starts_with(start));
            ensure!(has("GIT_SSH_COMMAND=ssh"), "{seen}");
            ensure!(
                !has("GIT_DIR=") && !has("GIT_INDEX_FILE=") && !has("GIT_WORK_TREE="),
                "{seen}"
            );
            ensure!(!elsewhere.exists(), "something was written there");
            Ok(())
        },
    );
}
