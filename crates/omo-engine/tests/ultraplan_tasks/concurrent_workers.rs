//! Sessions in work trees of their own, at the same time: none of them sees the work of another one.

use std::path::{Path, PathBuf};
use std::{fs, thread};

use omo_engine::client_policy::{ClientCost, ClientPolicy};
use omo_engine::event::{EventActor, EventKind, RecordedProcess};
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::modes::{ModeOptions, arranged};
use omo_engine::work::{CompletionReport, EngineError, JudgedAttempt, SilentWatcher};
use omo_state::env;

use crate::Named;
use crate::ultraplan_lab::{UltraplanLab, git, plan_text, step, usual_step};

pub(crate) const ALL: &[Named] = &[
    (
        "files_of_a_wave_count_for_the_task_that_names_them",
        files_of_a_wave_count_for_the_task_that_names_them,
    ),
    (
        "sessions_at_the_same_time_keep_commit_and_take_back_their_own",
        sessions_at_the_same_time_keep_commit_and_take_back_their_own,
    ),
    (
        "a_task_of_a_worker_is_done_in_its_worktree_alone",
        a_task_of_a_worker_is_done_in_its_worktree_alone,
    ),
    (
        "a_new_worktree_begins_without_the_files_of_the_last_one",
        a_new_worktree_begins_without_the_files_of_the_last_one,
    ),
];

/// Four sessions of one wave, of one step each. The second and the fourth fail, and have no checkpoint.
fn four() -> UltraplanLab {
    let plain = |number: u32| {
        let (files, verify) = (
            format!("**Files:** `src/{number}.rs`"),
            format!("**Verify:** `sh verify.sh {number}`"),
        );
        step(number, &[&files, &verify, "**On failure:** skip"])
    };
    let session = |number: u32| {
        format!("### Session {number}: Part {number}\n\n- **Steps:** {number}\n- **Wave:** 1\n\n")
    };
    let sessions = (1..=4).map(session).collect::<Vec<_>>().concat();
    let steps = [usual_step(1, "revert"), plain(2), plain(3), plain(4)];
    let fixture = UltraplanLab::new(&plan_text(
        &steps,
        &format!("## Execution Strategy\n\n{sessions}"),
    ));
    let base = fixture.git(&["rev-parse", "HEAD"]).trim().to_owned();
    tell(
        &fixture,
        EventKind::ParallelStarted {
            base: base.clone(),
            policy: ClientPolicy::default(),
        },
    );
    for group in fixture.state().plan.groups.clone() {
        let tree = tree(&fixture, &group.id);
        let branch = format!("omo/run/{}", group.id);
        fixture.git(&[
            "worktree",
            "add",
            "-q",
            "-b",
            &branch,
            &tree.to_string_lossy(),
        ]);
        let (worktree, base) = (tree.display().to_string(), base.clone());
        tell(
            &fixture,
            EventKind::GroupPrepared {
                group: group.id.clone(),
                worktree,
                branch,
                base,
            },
        );
        tell(
            &fixture,
            EventKind::WorkerStarted {
                group: group.id,
                process: RecordedProcess { pid: 1, mark: None },
                budget_micros: None,
            },
        );
    }
    fixture
}

/// Two tasks in one work tree at the same time. Each session's fence forbids the file of the other one.
fn files_of_a_wave_count_for_the_task_that_names_them() {
    let session = |own: u32, other: u32| {
        format!(
            "### Session {own}: Part {own}\n\n- **Steps:** {own}\n- **Wave:** 1\n- **Scope fence:**\n  - Touch: \
             `src/{own}.rs`\n  - Never touch: `src/{other}.rs`\n\n"
        )
    };
    let strategy = format!(
        "## Execution Strategy\n\n{}{}",
        session(1, 2),
        session(2, 1)
    );
    let text = plan_text(&[usual_step(1, ""), usual_step(2, "")], &strategy);
    let waves = |plan| arranged(plan, ExecutionMode::Waves, &ModeOptions::default());
    let fixture = UltraplanLab::with(&text, waves, None);
    let (first, second) = (fixture.start("1").unwrap(), fixture.start("2").unwrap());
    for file in ["src/1.rs", "src/2.rs"] {
        fixture.write(file, "0\ndone\n");
    }
    // A file that no task names is held against the worker that is judged first.
    fixture.write("stray.txt", "stray\n");
    let files = |judged: JudgedAttempt| {
        judged.events.into_iter().find_map(|event| match event {
            EventKind::TaskPassed { end, .. } => Some((end.files, end.out_of_scope)),
            _ => None,
        })
    };
    let said = |files: &[&str], stray: &[&str]| {
        let owned = |paths: &[&str]| {
            paths
                .iter()
                .map(|path| (*path).to_owned())
                .collect::<Vec<_>>()
        };
        Some((owned(files), owned(stray)))
    };
    assert_eq!(
        files(fixture.done(&first.ticket)),
        said(&["src/1.rs", "stray.txt"], &["stray.txt"])
    );
    // The first has ended, and was at work while the second was.
    assert_eq!(
        files(fixture.done(&second.ticket)),
        said(&["src/2.rs", "stray.txt"], &["stray.txt"])
    );
}

fn tree(fixture: &UltraplanLab, group: &str) -> PathBuf {
    fixture
        .root()
        .parent()
        .unwrap()
        .join(format!("tree-{group}"))
}

fn tell(fixture: &UltraplanLab, what: EventKind) {
    fixture
        .run
        .transact(&EventActor::default(), env::now(), |_| Ok((vec![what], ())))
        .unwrap();
}

fn groups(fixture: &UltraplanLab) -> Vec<(String, String)> {
    let state = fixture.state();
    state
        .plan
        .groups
        .iter()
        .map(|group| (group.id.clone(), group.tasks[0].clone()))
        .collect()
}

fn sessions_at_the_same_time_keep_commit_and_take_back_their_own() {
    let fixture = four();
    let groups = groups(&fixture);
    assert_eq!(groups.len(), 4);
    thread::scope(|scope| {
        for (group, task) in &groups {
            let (fixture, tree) = (&fixture, tree(&fixture, group));
            scope.spawn(move || {
                let engine = |written: &str| {
                    fixture.engine_in(&tree, Some(group), |engine| {
                        let started = engine.start(task, &mut SilentWatcher).unwrap();
                        fs::write(tree.join(format!("src/{task}.rs")), written).unwrap();
                        fs::write(tree.join("scratch.txt"), task).unwrap();
                        engine
                            .done(
                                &started.ticket,
                                CompletionReport::default(),
                                None,
                                &mut SilentWatcher,
                            )
                            .unwrap();
                    });
                };
                let is_green = task == "1" || task == "3";
                engine(if is_green { "0\ndone\n" } else { "1\nhalf\n" });
            });
        }
    });
    for (group, task) in &groups {
        let tree = tree(&fixture, group);
        let (log, status) = (
            git(&tree, &["log", "--format=%s"]),
            git(&tree, &["status", "--porcelain"]),
        );
        match task.as_str() {
            "1" => assert_eq!(
                (log.as_str(), status.as_str()),
                ("part 1\nstart\n", "?? scratch.txt\n")
            ),
            // Nothing asks for a commit, and without one it would go with its work tree.
            "3" => assert_eq!(
                (log.as_str(), status.as_str()),
                (
                    "omo: step 3 of demo.md: Part 3\nstart\n",
                    "?? scratch.txt\n"
                )
            ),
            _ => assert_eq!((log.as_str(), status.as_str()), ("start\n", ""), "{task}"),
        }
    }
    assert_eq!(
        (fixture.git(&["status", "--porcelain"]), fixture.log()),
        (String::new(), vec!["start".to_owned()])
    );
    let standings: Vec<&str> = ["1", "2", "3", "4"]
        .into_iter()
        .map(|id| fixture.standing(id))
        .collect();
    assert_eq!(standings, ["passed", "skipped", "passed", "skipped"]);
}

fn a_task_of_a_worker_is_done_in_its_worktree_alone() {
    let fixture = four();
    let (group, task) = groups(&fixture).remove(0);
    let own = tree(&fixture, &group);
    let other = tree(&fixture, &groups(&fixture)[1].0);
    let is_refused = |tree: &Path, ticket: Option<&str>| {
        fixture.engine_in(tree, Some(&group), |engine| {
            let error = match ticket {
                Some(ticket) => engine
                    .done(
                        ticket,
                        CompletionReport::default(),
                        None,
                        &mut SilentWatcher,
                    )
                    .map(drop)
                    .unwrap_err(),
                None => engine
                    .start(&task, &mut SilentWatcher)
                    .map(drop)
                    .unwrap_err(),
            };
            assert!(matches!(&error, EngineError::Refused(_)), "{error}");
            assert!(
                error
                    .to_string()
                    .contains("is worked on in the worktree of its session"),
                "{error}"
            );
        });
    };
    is_refused(&fixture.root(), None);
    is_refused(&other, None);
    let started = fixture
        .engine_in(&own, Some(&group), |engine| {
            engine.start(&task, &mut SilentWatcher)
        })
        .unwrap();
    // In the user's own work tree the check would say that all is well.
    fixture.write("src/1.rs", "0\ndone\n");
    is_refused(&fixture.root(), Some(&started.ticket));
    assert_eq!(fixture.standing(&task), "running");
}

fn a_new_worktree_begins_without_the_files_of_the_last_one() {
    let fixture = four();
    let (group, task) = groups(&fixture).remove(0);
    let own = tree(&fixture, &group);
    fixture.engine_in(&own, Some(&group), |engine| {
        let started = engine.start(&task, &mut SilentWatcher).unwrap();
        fs::write(own.join("src/1.rs"), "1\nhalf\n").unwrap();
        engine
            .done(
                &started.ticket,
                CompletionReport::default(),
                None,
                &mut SilentWatcher,
            )
            .unwrap();
    });
    assert!(fixture.state().tasks[&task].baseline.is_some());
    tell(
        &fixture,
        EventKind::WorkerEnded {
            group: group.clone(),
            how: "it ended".to_owned(),
            cost: ClientCost::default(),
        },
    );
    tell(
        &fixture,
        EventKind::GroupRemoved {
            group,
            rescue_ref: None,
            copied: None,
            tip: None,
        },
    );
    assert_eq!(fixture.state().tasks[&task].baseline, None);
}
