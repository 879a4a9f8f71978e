//! Changes of the user that a commit of a step puts aside or writes over, and commits that outlive their attempt.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use omo_engine::report::findings::finding_lines;
use omo_engine::work::{CommandWatcher, CompletionReport, EngineError, JudgedAttempt};
use omo_git::proved_worktree::ProvedWorktree;
use omo_git::restore::BroughtBack;
use omo_git::snapshots::Snapshots;
use omo_git::worktree::WorkerName;

use crate::Named;
use crate::kills::commit_unrecorded;
use crate::ultraplan_lab::{UltraplanLab, WARNINGS, plan_text, usual_step};

pub(crate) const ALL: &[Named] = &[
    (
        "what_a_hook_that_is_cut_has_put_aside_is_named",
        what_a_hook_that_is_cut_has_put_aside_is_named,
    ),
    (
        "what_a_hook_puts_back_is_kept_no_longer",
        what_a_hook_puts_back_is_kept_no_longer,
    ),
    (
        "what_a_killed_commit_has_put_aside_is_named_once",
        what_a_killed_commit_has_put_aside_is_named_once,
    ),
    (
        "what_was_staged_of_a_committed_file_is_kept",
        what_was_staged_of_a_committed_file_is_kept,
    ),
    (
        "a_commit_ends_with_its_attempt",
        a_commit_ends_with_its_attempt,
    ),
    (
        "a_commit_whose_process_is_gone_is_told_with_the_cancel",
        a_commit_whose_process_is_gone_is_told_with_the_cancel,
    ),
];

const GREEN: &str = "0\ndone\n";
/// Looks of a watcher after which nothing else has ended its command.
const MAX_LOOKS: u32 = 100;
const STASH: &str = "rm \"$GIT_INDEX_FILE\"; git read-tree HEAD; git stash -q";

fn one() -> UltraplanLab {
    UltraplanLab::new(&plan_text(
        &[usual_step(1, "revert"), usual_step(2, "revert")],
        "",
    ))
}

/// Acts once a file is there, and ends its command or not.
struct Watcher<F> {
    asked: PathBuf,
    act: F,
}

impl<F: FnMut() -> bool> CommandWatcher for Watcher<F> {
    fn should_continue(&mut self) -> bool {
        !self.asked.exists() || (self.act)()
    }
}

/// Ends a step, and calls `act` as long as its hook hangs.
fn done_while(
    lab: &UltraplanLab,
    ticket: &str,
    act: impl FnMut() -> bool,
) -> Result<JudgedAttempt, EngineError> {
    let mut watcher = Watcher {
        asked: lab.home().join("asked"),
        act,
    };
    lab.engine(|engine| engine.done(ticket, CompletionReport::default(), None, &mut watcher))
}

fn hang(lab: &UltraplanLab) -> String {
    format!(
        ": > '{}'; exec sleep 1000",
        lab.home().join("asked").display()
    )
}

fn kept(lab: &UltraplanLab) -> String {
    lab.git(&["for-each-ref", "--format=%(refname)", "refs/omo/keep"])
}

fn findings(lab: &UltraplanLab) -> String {
    finding_lines(&lab.state(), &lab.state().plan.tasks).join("\n")
}

fn bring_back(lab: &UltraplanLab, name: &str) -> BroughtBack {
    let state = lab.state();
    lab.engine(|engine| {
        let kept = engine
            .kept_work(&state)
            .unwrap()
            .into_iter()
            .find(|kept| kept.name == name)
            .unwrap();
        engine.bring_back(&state, &kept, false).unwrap()
    })
}

fn what_a_hook_that_is_cut_has_put_aside_is_named() {
    let lab = one();
    let started = lab.start("1").unwrap();
    lab.write("src/1.rs", GREEN);
    lab.write("user.txt", "an hour\n");
    lab.write("notes.txt", "notes\n");
    lab.hook(
        "pre-commit",
        &format!("{STASH} --include-untracked; {}", hang(&lab)),
    );
    let end = done_while(&lab, &started.ticket, || false);
    assert!(matches!(end, Err(EngineError::Cancelled)), "{end:?}");
    assert_eq!(
        (lab.file("user.txt").as_deref(), lab.file("notes.txt")),
        (Some("one\n"), None)
    );
    let command = format!("`omo run restore aside-step-1 --run {}`", lab.run.id());
    assert!(findings(&lab).contains(&command), "{}", findings(&lab));
    assert!(
        WARNINGS
            .lock()
            .unwrap()
            .iter()
            .any(|line| line.contains(&command))
    );
    assert_eq!(
        bring_back(&lab, "aside-step-1").restored,
        ["notes.txt", "src/1.rs", "user.txt"]
    );
    assert_eq!(
        (
            lab.file("user.txt").unwrap(),
            lab.file("notes.txt").unwrap()
        ),
        ("an hour\n".into(), "notes\n".into())
    );
    // Kept work is not moved to another state.
    fs::remove_file(lab.home().join("asked")).unwrap();
    lab.write("user.txt", "another hour\n");
    done_while(&lab, &started.ticket, || false).unwrap_err();
    assert_eq!(kept(&lab).lines().count(), 2, "{}", kept(&lab));
    assert_eq!(
        lab.git(&[
            "show",
            &format!("refs/omo/keep/{}/aside-step-1:user.txt", lab.run.id())
        ]),
        "an hour\n"
    );
}

fn what_a_hook_puts_back_is_kept_no_longer() {
    for (hook, status) in [
        ("mv user.txt x; mv x user.txt", "passed"),
        ("echo 1 >> src/1.rs; exit 1", "pending"),
    ] {
        let lab = one();
        lab.write("user.txt", "an hour\n");
        let started = lab.start("1").unwrap();
        lab.write("src/1.rs", GREEN);
        lab.hook("pre-commit", hook);
        lab.done(&started.ticket);
        assert_eq!(
            (
                lab.standing("1"),
                kept(&lab).as_str(),
                findings(&lab).as_str()
            ),
            (status, "", ""),
            "{hook}"
        );
    }
    let lab = one();
    let started = lab.start("1").unwrap();
    lab.write("src/1.rs", GREEN);
    lab.write("user.txt", "an hour\n");
    lab.hook("pre-commit", "git show HEAD:user.txt > user.txt");
    lab.done(&started.ticket);
    assert_eq!(lab.standing("1"), "passed");
    assert_eq!(bring_back(&lab, "aside-step-1").restored, ["user.txt"]);
}

fn what_a_killed_commit_has_put_aside_is_named_once() {
    for is_lost in [true, false] {
        let lab = one();
        lab.start("1").unwrap();
        lab.write("new.txt", "new\n");
        lab.write("user.txt", "an hour\n");
        let (root, state_home) = (lab.root(), lab.home());
        let worktree = ProvedWorktree::of_project(&root);
        let place = Snapshots {
            worktree: &worktree,
            state_home: &state_home,
            run_id: lab.run.id(),
            own: &[],
        };
        let name = WorkerName::new(lab.run.id(), "aside-step-1").unwrap();
        place.keep_paths(&name, &["new.txt", "user.txt"]).unwrap();
        // Of a failed attempt, and none of a commit.
        place
            .keep_paths(
                &WorkerName::new(lab.run.id(), "step-1").unwrap(),
                &["new.txt"],
            )
            .unwrap();
        lab.git(&["add", "--intent-to-add", "new.txt"]);
        // The process was ended here.
        if is_lost {
            lab.git(&["checkout", "-q", "user.txt"]);
            fs::remove_file(lab.root().join("new.txt")).unwrap();
        }
        let (words, _) = lab
            .engine(|engine| engine.cancel("", Duration::ZERO))
            .unwrap();
        let command = format!("`omo run restore aside-step-1 --run {}`", lab.run.id());
        assert_eq!(words.contains(&command), is_lost, "{words}");
        assert_eq!(lab.state().displaced.len(), usize::from(is_lost));
        assert_eq!(kept(&lab).lines().count(), 1 + usize::from(is_lost));
        let status = lab.git(&["status", "--porcelain"]);
        assert_eq!(
            status,
            if is_lost {
                ""
            } else {
                " M user.txt\n?? new.txt\n"
            }
        );
    }
}

fn what_was_staged_of_a_committed_file_is_kept() {
    for is_made in [true, false] {
        let lab = one();
        lab.hook("pre-commit", if is_made { "exit 0" } else { "exit 3" });
        let started = lab.start("1").unwrap();
        lab.write("src/1.rs", "of its user\n");
        lab.git(&["add", "src/1.rs"]);
        lab.write("src/1.rs", GREEN);
        lab.done(&started.ticket);
        if is_made {
            assert_eq!(lab.standing("1"), "passed");
            assert!(
                findings(&lab).contains("omo run restore staged-step-1 "),
                "{}",
                findings(&lab)
            );
            assert_eq!(bring_back(&lab, "staged-step-1").restored, ["src/1.rs"]);
            assert_eq!(lab.file("src/1.rs").unwrap(), "of its user\n");
        } else {
            assert_eq!(
                (
                    kept(&lab).as_str(),
                    lab.git(&["show", ":src/1.rs"]).as_str()
                ),
                ("", "of its user\n")
            );
        }
    }
}

fn a_commit_ends_with_its_attempt() {
    let lab = one();
    let started = lab.start("1").unwrap();
    lab.write("src/1.rs", GREEN);
    lab.hook("pre-commit", &hang(&lab));
    let (mut lost, mut looks) = (None, 0);
    let end = done_while(&lab, &started.ticket, || {
        lost.get_or_insert_with(|| {
            lab.engine(|engine| engine.lose_worker("1", Duration::ZERO))
                .unwrap()
        });
        looks += 1;
        looks < MAX_LOOKS
    });
    assert!(
        matches!(end, Err(EngineError::Cancelled)) && looks < MAX_LOOKS,
        "{end:?}"
    );
    assert_eq!(
        lost.unwrap().0,
        " What it is committing has not ended yet, and may still come: see `git log -1`."
    );
    assert_eq!(
        (lab.log(), lab.standing("1")),
        (vec!["start".to_owned()], "held")
    );
}

fn a_commit_whose_process_is_gone_is_told_with_the_cancel() {
    let lab = one();
    lab.start("1").unwrap();
    let commit = commit_unrecorded(&lab);
    let (words, _) = lab
        .engine(|engine| engine.cancel("", Duration::ZERO))
        .unwrap();
    let short = &commit[..7];
    assert_eq!(
        words,
        format!(" Your branch moved before it ended, to {short}.")
    );
    let reason = lab.state().tasks["1"].reason.clone().unwrap();
    assert_eq!(
        reason,
        format!("the run was cancelled; its commit {short} was made before that")
    );
    let other = one();
    other.start("1").unwrap();
    assert_eq!(
        other
            .engine(|engine| engine.cancel("", Duration::ZERO))
            .unwrap()
            .0,
        ""
    );
}
