//! Waves of parallel workers: a conflict holds up only sessions that need the one in conflict, and a check of the whole
//! that was green before and is red after a wave the next one.

use omo_core::check::task_check::TaskCheck;
use omo_core::check::task_check::TaskCheckVerdict::{Green, Red};
use omo_engine::client_policy::ClientPolicy;
use omo_engine::event::{EventKind, QuestionKind, RunEvent, RunResult};
use omo_engine::state::{ANSWER_REDO, RunPhase};
use omo_engine::wave_rules::held_back_by;
use omo_plan::model::{OnTaskFail, Parallelism, Plan, RunPolicy, TaskGroup};

use crate::run::kit::{Run, group, outcome, plan, task};
use crate::run::parallel::{begin, check_wave, end, merge, remove, step};

/// Needs of a session, where it names them.
type Needs = Option<&'static [&'static str]>;

/// Sessions of one step each, as `(id, wave from 0, needs)`.
fn run_of(sessions: &[(&str, usize, Needs)], has_check: bool) -> Run {
    let group_of = |(id, wave, needs): &(&str, usize, Needs)| TaskGroup {
        id: (*id).to_owned(),
        tasks: vec![format!("step-{id}")],
        deps: needs
            .unwrap_or_default()
            .iter()
            .map(|id| (*id).to_owned())
            .collect(),
        names_all_deps: needs.is_some(),
        ..group(*wave)
    };
    let all = plan(
        sessions
            .iter()
            .map(|(id, ..)| task(&format!("step-{id}")))
            .collect(),
    );
    let policy = RunPolicy {
        on_task_fail: OnTaskFail::Stop,
        parallel: Parallelism::Groups,
        ..all.policy.clone()
    };
    let final_checks = if has_check {
        vec![TaskCheck::new("all of it")]
    } else {
        Vec::new()
    };
    let mut run = Run::open(Plan {
        groups: sessions.iter().map(group_of).collect(),
        policy,
        final_checks,
        ..all
    });
    run.write([EventKind::ParallelStarted {
        base: "base".to_owned(),
        policy: ClientPolicy::default(),
    }]);
    run
}

/// A session is begun and done, and not merged yet.
fn done(run: &mut Run, id: &str) {
    begin(run, id);
    run.pass(&format!("step-{id}"));
    end(run, id, None);
}

fn conflict(run: &mut Run, id: &str) {
    run.write([EventKind::GroupRefused {
        group: id.to_owned(),
        files: vec!["x".to_owned()],
    }]);
}

#[test]
fn the_first_that_is_done_is_merged_first() {
    let mut run = run_of(&[("a", 0, None), ("b", 0, None), ("c", 0, None)], false);
    for id in ["a", "b", "c"] {
        begin(&mut run, id);
    }
    for id in ["c", "b"] {
        run.pass(&format!("step-{id}"));
        end(&mut run, id, None);
    }
    assert_eq!(step(&run), "merge c");
    merge(&mut run, "c");
    assert_eq!(step(&run), "merge b");
    merge(&mut run, "b");
    assert_eq!(step(&run), "wait a");
}

#[test]
fn a_conflict_holds_back_only_what_needs_its_session() {
    let nothing: Needs = Some(&[]);
    let sessions = [
        ("a", 0, None),
        ("b", 0, None),
        ("on-a", 1, Some(&["a"][..])),
        ("on-b", 1, Some(&["b"][..])),
        ("free", 1, nothing),
        ("on-on-b", 2, Some(&["on-b"][..])),
        ("unsaid", 2, None),
    ];
    let mut run = run_of(&sessions, false);
    done(&mut run, "a");
    done(&mut run, "b");
    merge(&mut run, "a");
    conflict(&mut run, "b");
    assert_eq!(held_back_by(&run.state, "b"), ["on-b", "on-on-b", "unsaid"]);
    assert_eq!(
        step(&run),
        "clean a",
        "its user looks at a conflict in its worktree"
    );
    remove(&mut run, &["a"]);
    assert_eq!(step(&run), "start on-a free");
    for id in ["on-a", "free"] {
        done(&mut run, id);
        merge(&mut run, id);
    }
    assert_eq!(step(&run), "conflict b");
    run.advance();
    let question = run.state.open_question().unwrap().question.clone();
    assert!(
        question
            .text
            .contains("Held back until then, because of it: on-b, on-on-b, unsaid."),
        "{}",
        question.text
    );
    run.write([EventKind::QuestionAnswered {
        question: question.id,
        option: ANSWER_REDO.to_owned(),
        plan_sha256: None,
    }]);
    assert_eq!(held_back_by(&run.state, "b"), [""; 0]);
    assert_eq!(step(&run), "clean b");
    remove(&mut run, &["b"]);
    assert_eq!(step(&run), "start b");
    done(&mut run, "b");
    merge(&mut run, "b");
    assert_eq!(step(&run), "clean b");
    remove(&mut run, &["b"]);
    assert_eq!(step(&run), "start on-b");
}

#[test]
fn a_task_that_needs_one_of_another_worker_makes_its_worker_wait_for_that() {
    let mut run = run_of(
        &[
            ("a", 0, None),
            ("b", 0, None),
            ("c", 1, Some(&[])),
            ("d", 1, Some(&[])),
        ],
        false,
    );
    let mut edited = run.state.plan.clone();
    edited
        .tasks
        .iter_mut()
        .find(|task| task.id == "step-c")
        .unwrap()
        .deps = vec!["step-b".to_owned()];
    run.replan(edited).unwrap();
    done(&mut run, "a");
    done(&mut run, "b");
    merge(&mut run, "a");
    conflict(&mut run, "b");
    assert_eq!(held_back_by(&run.state, "b"), ["c"]);
}

/// Both sessions of the first wave are merged; the second wave is one session.
fn first_wave_merged() -> Run {
    let mut run = run_of(&[("a", 0, None), ("b", 0, None), ("c", 1, None)], true);
    for id in ["a", "b"] {
        done(&mut run, id);
        merge(&mut run, id);
    }
    remove(&mut run, &["a", "b"]);
    assert_eq!(step(&run), "check before 1");
    run
}

#[test]
fn what_was_green_and_is_red_behind_a_wave_holds_the_next_one_back() {
    let mut run = first_wave_merged();
    check_wave(&mut run, Red, &[0]);
    assert_eq!(step(&run), "end Failed");
    run.advance();
    assert_eq!(
        run.state.phase,
        RunPhase::Ended {
            result: RunResult::Failed
        }
    );
    // It is checked again where the run goes on, and not after a commit of its user only.
    run.write([EventKind::RunResumed]);
    assert_eq!(step(&run), "check before 1");
    run.write([EventKind::UserCommitsMerged {
        with: "theirs".to_owned(),
        tip: "both".to_owned(),
    }]);
    assert_eq!(step(&run), "check before 1");
    check_wave(&mut run, Green, &[]);
    assert_eq!(step(&run), "start c");
    // The checked commit lacked later commits of its user.
    run.write([EventKind::UserCommitsMerged {
        with: "more".to_owned(),
        tip: "all".to_owned(),
    }]);
    assert_eq!(step(&run), "check before 1");
}

#[test]
fn what_is_not_green_yet_holds_nothing_back_and_has_to_be_green_at_the_end() {
    let mut run = first_wave_merged();
    check_wave(&mut run, Red, &[]);
    assert_eq!(step(&run), "start c");
    assert!(
        run.state.final_checks.is_empty(),
        "a report called the run failed"
    );
    done(&mut run, "c");
    merge(&mut run, "c");
    assert_eq!(step(&run), "final checks");
    run.write(omo_engine::verbs::final_check_events(vec![(
        TaskCheck::new("all of it"),
        outcome(Red),
    )]));
    assert_eq!(step(&run), "clean c");
}

#[test]
fn a_conflict_is_asked_about_where_the_rest_of_its_wave_is_red_without_it() {
    let mut run = run_of(
        &[("a", 0, None), ("b", 0, None), ("c", 1, Some(&["a"]))],
        true,
    );
    done(&mut run, "a");
    done(&mut run, "b");
    merge(&mut run, "a");
    conflict(&mut run, "b");
    remove(&mut run, &["a"]);
    assert_eq!(step(&run), "check before 1");
    check_wave(&mut run, Red, &[0]);
    assert_eq!(
        step(&run),
        "conflict b",
        "its work may be what the check needs"
    );
}

#[test]
fn a_wave_that_adds_nothing_is_not_checked_and_each_wave_once() {
    let mut run = run_of(
        &[
            ("a", 0, None),
            ("b", 1, None),
            ("c", 2, None),
            ("d", 3, None),
        ],
        true,
    );
    done(&mut run, "a");
    merge(&mut run, "a");
    remove(&mut run, &["a"]);
    check_wave(&mut run, Green, &[]);
    done(&mut run, "b");
    let tip = run.state.parallel.as_ref().unwrap().tip.clone();
    run.write([EventKind::GroupMerged {
        group: "b".to_owned(),
        tip,
    }]);
    remove(&mut run, &["b"]);
    assert_eq!(step(&run), "start c");
    done(&mut run, "c");
    merge(&mut run, "c");
    remove(&mut run, &["c"]);
    assert_eq!(step(&run), "check before 3");
}

#[test]
fn a_ledger_counts_no_check_that_was_not_run_on_what_the_run_has_come_to() {
    let mut run = first_wave_merged();
    let refused = |run: &Run, what: EventKind| {
        let mut state = run.state.clone();
        let event = RunEvent {
            seq: state.seq + 1,
            ts: state.updated_at,
            actor: run.caller.actor.clone(),
            kind: what.clone(),
        };
        assert!(state.apply(&event).is_err(), "{what:?}");
        assert!(state == run.state, "it was half done: {what:?}");
    };
    let checked = |tip: &str, outcomes, broken| EventKind::WaveChecked {
        wave: 0,
        tip: tip.to_owned(),
        tree: "t".to_owned(),
        outcomes,
        broken,
        groups: Vec::new(),
    };
    refused(&run, checked("elsewhere", vec![outcome(Green)], Vec::new()));
    refused(&run, checked("with b", Vec::new(), Vec::new()));
    refused(&run, checked("with b", vec![outcome(Green)], vec![0]));
    let counted_again = || EventKind::WaveCheckReused {
        tree: "tree of with b".to_owned(),
    };
    refused(&run, counted_again());
    check_wave(&mut run, Red, &[]);
    refused(&run, counted_again());
    run.write([EventKind::UserCommitsMerged {
        with: "theirs".to_owned(),
        tip: "with b".to_owned(),
    }]);
    check_wave(&mut run, Green, &[]);
    refused(
        &run,
        EventKind::WaveCheckReused {
            tree: "another".to_owned(),
        },
    );
    // A check that verifies the whole has changed nothing: the same tree.
    done(&mut run, "c");
    merge(&mut run, "c");
    assert_eq!(step(&run), "final checks");
    run.write([counted_again()]);
    assert_eq!(step(&run), "land");
    // A run that goes on is checked anew.
    run.write([EventKind::RunResumed]);
    refused(&run, counted_again());
}

#[test]
fn a_ledger_of_an_earlier_omo_is_merged_and_checked_as_any_other() {
    // Groups and their states in it are defaults.
    let mut run = run_of(&[("a", 0, None), ("b", 0, None), ("c", 1, None)], true);
    begin(&mut run, "a");
    let plan: serde_json::Value = serde_json::to_value(&run.state.plan).unwrap();
    assert!(plan["groups"][0].get("names_all_deps").is_none(), "{plan}");
    let mut state = serde_json::to_value(&run.state).unwrap();
    for name in ["merged", "checked", "green_at", "red_before", "wave_check"] {
        state["parallel"]
            .as_object_mut()
            .unwrap()
            .remove(name)
            .unwrap();
    }
    state["parallel"]["groups"]["a"]
        .as_object_mut()
        .unwrap()
        .remove("ended_seq")
        .unwrap();
    assert_eq!(
        serde_json::from_value::<omo_engine::state::RunState>(state).unwrap(),
        run.state
    );
}

#[test]
fn a_question_that_is_no_longer_about_the_whole_says_so() {
    let mut run = first_wave_merged();
    run.write([EventKind::LandingRefused {
        reason: "no set-up".to_owned(),
        files: Vec::new(),
        ways_out: Vec::new(),
        refusal: None,
    }]);
    run.advance();
    let question = run.state.open_question().unwrap().question.clone();
    assert!(matches!(question.kind, QuestionKind::LandingRefused { .. }));
    assert!(
        question
            .text
            .starts_with("What was merged so far could not be checked"),
        "{}",
        question.text
    );
}
