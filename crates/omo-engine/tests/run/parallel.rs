//! Parallel workers: wave by wave, merged as they are done, and the user's branch last.

use omo_core::check::task_check::TaskCheck;
use omo_core::check::task_check::TaskCheckVerdict::{self, Green};
use omo_engine::client_policy::{ClientCost, ClientPolicy};
use omo_engine::event::{
    EventActor, EventKind, QuestionKind, RecordedProcess, RunEvent, RunResult,
};
use omo_engine::parallel_schedule::{ParallelAction, accepts_billing, landed_with_more_work};
use omo_engine::parallel_state::{BudgetGrant, GroupState, GroupStatus, ParallelState};
use omo_engine::schedule::{NextAction, next_action};
use omo_engine::state::{
    ANSWER_CONTINUE, ANSWER_FOREGROUND, ANSWER_REDO, ANSWER_STOP, MAX_LOST_WORKERS,
};
use omo_engine::verbs::{self, VerbCaller};
use omo_engine::wave_rules::group_outcome;
use omo_plan::model::{OnFailure, OnTaskFail, Parallelism, Plan, RunPolicy, TaskGroup};

use crate::run::kit::{Run, all, group, outcome, plan, session, task};

/// Sessions `a` and `b` in the first wave, `c` in the second; `a` has two steps.
pub(crate) fn waves() -> Plan {
    let of = |id: &str, tasks: &[&str], wave| TaskGroup {
        id: id.to_owned(),
        tasks: tasks.iter().map(|id| (*id).to_owned()).collect(),
        ..group(wave)
    };
    let all = plan(["1", "2", "3", "4"].map(task).to_vec());
    let policy = RunPolicy {
        on_task_fail: OnTaskFail::Stop,
        parallel: Parallelism::Groups,
        ..all.policy.clone()
    };
    let final_checks = vec![TaskCheck::new("all of it")];
    Plan {
        groups: vec![
            of("a", &["1", "2"], 0),
            of("b", &["3"], 0),
            of("c", &["4"], 1),
        ],
        policy,
        final_checks,
        ..all
    }
}

pub(crate) fn parallel_run(max_at_once: u32) -> Run {
    let mut run = Run::open(waves());
    let terms = ClientPolicy {
        max_workers: max_at_once,
        ..ClientPolicy::default()
    };
    run.write([EventKind::ParallelStarted {
        base: "base".to_owned(),
        policy: terms,
    }]);
    run
}

/// The next step, in a word with its sessions.
pub(crate) fn step(run: &Run) -> String {
    let named = |groups: &[&TaskGroup]| {
        groups
            .iter()
            .map(|group| group.id.as_str())
            .collect::<Vec<_>>()
            .join(" ")
    };
    match next_action(&run.state) {
        NextAction::Parallel(ParallelAction::Start(groups)) => format!("start {}", named(&groups)),
        NextAction::Parallel(ParallelAction::Wait(ids)) => format!("wait {}", ids.join(" ")),
        NextAction::Parallel(ParallelAction::Merge(group)) => format!("merge {}", group.id),
        NextAction::AskNew(QuestionKind::Conflict { group, .. }) => format!("conflict {group}"),
        NextAction::Parallel(ParallelAction::Land) => "land".to_owned(),
        NextAction::Parallel(ParallelAction::Clean(ids)) => format!("clean {}", ids.join(" ")),
        NextAction::Parallel(ParallelAction::CheckWave(wave)) => format!("check before {wave}"),
        NextAction::FinalChecks => "final checks".to_owned(),
        NextAction::End(result) => format!("end {result:?}"),
        other => format!("{other:?}"),
    }
}

pub(crate) fn begin(run: &mut Run, id: &str) {
    let (group, base) = (
        id.to_owned(),
        run.state
            .parallel
            .as_ref()
            .unwrap()
            .base_commit_of(id)
            .to_owned(),
    );
    let (worktree, branch) = (format!("/trees/{id}"), format!("omo/{id}"));
    let process = RecordedProcess { pid: 7, mark: None };
    run.write([
        EventKind::GroupPrepared {
            group: group.clone(),
            worktree,
            branch,
            base,
        },
        EventKind::WorkerStarted {
            group,
            process,
            budget_micros: None,
        },
    ]);
}

pub(crate) fn end(run: &mut Run, id: &str, failed: Option<&str>) {
    let group = id.to_owned();
    run.write([
        EventKind::WorkerEnded {
            group: group.clone(),
            how: "it said that it was done".to_owned(),
            cost: ClientCost::default(),
        },
        EventKind::GroupEnded {
            group,
            tip: format!("tip of {id}"),
            failed: failed.map(str::to_owned),
        },
    ]);
}

pub(crate) fn merge(run: &mut Run, id: &str) {
    run.write([EventKind::GroupMerged {
        group: id.to_owned(),
        tip: format!("with {id}"),
    }]);
}

pub(crate) fn remove(run: &mut Run, ids: &[&str]) {
    run.write(ids.iter().map(|id| EventKind::GroupRemoved {
        group: (*id).to_owned(),
        rescue_ref: None,
        copied: None,
        tip: None,
    }));
}

/// The whole is checked between two waves.
pub(crate) fn check_wave(run: &mut Run, verdict: TaskCheckVerdict, broken: &[usize]) {
    let tip = run.state.parallel.as_ref().unwrap().tip.clone();
    let (tree, outcomes) = (format!("tree of {tip}"), vec![outcome(verdict)]);
    let groups = run.state.parallel.as_ref().unwrap().merged.clone();
    run.write([EventKind::WaveChecked {
        wave: 0,
        tip,
        tree,
        outcomes,
        broken: broken.to_vec(),
        groups,
    }]);
}

#[test]
fn waves_are_done_merged_checked_and_landed_in_this_order() {
    let mut run = parallel_run(0);
    assert_eq!(step(&run), "start a b");
    begin(&mut run, "b");
    assert_eq!(step(&run), "start a");
    begin(&mut run, "a");
    assert_eq!(step(&run), "wait a b");
    assert!(run.start("2").is_err(), "its step before is not done");
    assert!(run.start("4").is_err(), "its wave has not begun");
    run.pass("3");
    end(&mut run, "b", None);
    assert_eq!(
        step(&run),
        "merge b",
        "it waits for one that it does not need"
    );
    merge(&mut run, "b");
    assert_eq!(step(&run), "wait a");
    run.pass("1");
    run.pass("2");
    end(&mut run, "a", None);
    assert_eq!(step(&run), "merge a");
    merge(&mut run, "a");
    assert_eq!(run.state.parallel.as_ref().unwrap().merged, ["b", "a"]);
    assert_eq!(step(&run), "clean a b", "what is merged takes up room");
    remove(&mut run, &["a", "b"]);
    assert_eq!(step(&run), "check before 1");
    check_wave(&mut run, Green, &[]);
    assert_eq!(step(&run), "start c");
    begin(&mut run, "c");
    assert_eq!(
        run.state.parallel.as_ref().unwrap().groups["c"].base,
        "with a",
        "the next wave has the last one in it"
    );
    run.pass("4");
    end(&mut run, "c", None);
    merge(&mut run, "c");
    assert_eq!(step(&run), "final checks");
    let green = outcome(Green);
    run.write(omo_engine::verbs::final_check_events(vec![(
        TaskCheck::new("all of it"),
        green,
    )]));
    assert_eq!(step(&run), "land");
    run.write([EventKind::Landed {
        from: "base".to_owned(),
        to: "with c".to_owned(),
        unsigned: 0,
        other_checkouts: Vec::new(),
    }]);
    assert_eq!(step(&run), "clean c");
    remove(&mut run, &["c"]);
    run.advance();
    assert_eq!(run.result(), Some(RunResult::Complete));
    assert!(landed_with_more_work(&run.state).is_none());

    // Work that is done again after that begins from the tip of the user's branch by then, and merged sessions stay so.
    run.write([
        EventKind::RunResumed,
        EventKind::TaskReopened {
            task: "3".to_owned(),
            reason: "asked for by its user".to_owned(),
        },
    ]);
    assert!(landed_with_more_work(&run.state).is_some());
    run.write([EventKind::ParallelStarted {
        base: "theirs".to_owned(),
        policy: ClientPolicy::default(),
    }]);
    assert!(landed_with_more_work(&run.state).is_none());
    assert_eq!(step(&run), "start b");
    begin(&mut run, "b");
    assert_eq!(
        run.state.parallel.as_ref().unwrap().groups["b"].base,
        "theirs"
    );
    run.pass("3");
    end(&mut run, "b", None);
    merge(&mut run, "b");
    assert_eq!(
        step(&run),
        "final checks",
        "what was checked before was less"
    );
}

#[test]
fn a_session_that_failed_lets_its_siblings_finish_and_nothing_reaches_the_user() {
    let mut run = parallel_run(0);
    begin(&mut run, "a");
    begin(&mut run, "b");
    run.fail("3");
    end(&mut run, "b", Some("step 3 failed"));
    assert_eq!(step(&run), "wait a");
    run.pass("1");
    run.pass("2");
    end(&mut run, "a", None);
    // Done before its sibling failed or after: no difference.
    assert_eq!(step(&run), "merge a");
    merge(&mut run, "a");
    assert_eq!(step(&run), "clean a b");
    remove(&mut run, &["a", "b"]);
    run.advance();
    assert_eq!(run.result(), Some(RunResult::Failed));
    assert_eq!(run.state.parallel.as_ref().unwrap().landed, None);
}

#[test]
fn no_more_sessions_are_at_work_than_there_may_be() {
    let mut run = parallel_run(1);
    assert_eq!(step(&run), "start a");
    begin(&mut run, "a");
    assert_eq!(step(&run), "wait a");
    // Its client died: it is begun again, from its earlier state.
    let how = "it was killed".to_owned();
    run.write([EventKind::WorkerEnded {
        group: "a".to_owned(),
        how,
        cost: ClientCost {
            told: Some(5),
            untold: 0,
        },
    }]);
    assert_eq!(step(&run), "start a");
}

#[test]
fn the_question_about_clients_that_begin_nothing_says_how_the_last_one_ended() {
    let mut run = parallel_run(1);
    begin(&mut run, "b");
    run.pass("3");
    end(&mut run, "b", None);
    merge(&mut run, "b");
    begin(&mut run, "a");
    for place in 0..MAX_LOST_WORKERS {
        if place > 0 {
            let process = RecordedProcess { pid: 7, mark: None };
            run.write([EventKind::WorkerStarted {
                group: "a".to_owned(),
                process,
                budget_micros: None,
            }]);
        }
        let how = "the API failed: Not logged in".to_owned();
        run.write([EventKind::WorkerEnded {
            group: "a".to_owned(),
            how,
            cost: ClientCost::default(),
        }]);
    }
    let why = "its clients end without beginning with a step; the last one: the API failed: Not logged in".to_owned();
    assert_eq!(
        next_action(&run.state),
        NextAction::AskNew(QuestionKind::Stuck {
            group: "a".to_owned(),
            reason: why
        })
    );
}

#[test]
fn a_conflict_waits_for_a_person() {
    let mut run = parallel_run(0);
    for id in ["a", "b"] {
        begin(&mut run, id);
    }
    for task in ["1", "2", "3"] {
        run.pass(task);
    }
    end(&mut run, "a", None);
    end(&mut run, "b", None);
    merge(&mut run, "a");
    run.write([EventKind::GroupRefused {
        group: "b".to_owned(),
        files: vec!["src/lib.rs".to_owned()],
    }]);
    assert_eq!(step(&run), "conflict b");
    let known = &run.state.parallel.as_ref().unwrap().groups["b"];
    assert_eq!(
        (known.status, known.reason.as_deref()),
        (GroupStatus::InConflict, Some("src/lib.rs"))
    );
}

#[test]
fn a_ledger_that_says_what_cannot_be_is_refused() {
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
    let group = || "a".to_owned();
    let mut run = parallel_run(0);
    refused(
        &run,
        EventKind::ParallelStarted {
            base: "other".to_owned(),
            policy: ClientPolicy::default(),
        },
    );
    refused(
        &run,
        EventKind::GroupMerged {
            group: group(),
            tip: "t".to_owned(),
        },
    );
    refused(
        &run,
        EventKind::Landed {
            from: "base".to_owned(),
            to: "base".to_owned(),
            unsigned: 0,
            other_checkouts: Vec::new(),
        },
    );
    let elsewhere = |base: &str, group: &str| EventKind::GroupPrepared {
        group: group.to_owned(),
        worktree: "/w".to_owned(),
        branch: "b".to_owned(),
        base: base.to_owned(),
    };
    refused(&run, elsewhere("elsewhere", "a"));
    refused(&run, elsewhere("base", "none"));
    begin(&mut run, "a");
    run.pass("1");
    run.write([EventKind::WorkerEnded {
        group: group(),
        how: String::new(),
        cost: ClientCost::default(),
    }]);
    // Whatever its client says: one of its steps is not done.
    refused(
        &run,
        EventKind::GroupEnded {
            group: group(),
            tip: "t".to_owned(),
            failed: None,
        },
    );
    let plain = Run::open(waves());
    refused(&plain, elsewhere("base", "a"));
}

fn known<'r>(run: &'r Run, id: &str) -> &'r GroupState {
    &run.state.parallel.as_ref().unwrap().groups[id]
}

/// The first wave with `b` failed at its step, ended and put away.
fn failed_wave() -> Run {
    let mut run = parallel_run(0);
    begin(&mut run, "a");
    begin(&mut run, "b");
    run.pass("1");
    run.fail("3");
    run.pass("2");
    end(&mut run, "a", None);
    end(&mut run, "b", Some("step 3 failed"));
    merge(&mut run, "a");
    remove(&mut run, &["a", "b"]);
    run.advance();
    run
}

#[test]
fn a_run_that_goes_on_begins_only_what_has_failed_and_where_that_was_left() {
    let mut run = failed_wave();
    run.write([
        EventKind::RunResumed,
        EventKind::TaskReopened {
            task: "3".to_owned(),
            reason: "the run goes on".to_owned(),
        },
    ]);
    assert_eq!(step(&run), "start b", "what was done is begun again");
    assert_eq!(
        run.state.parallel.as_ref().unwrap().base_commit_of("b"),
        "tip of b"
    );
    let (worktree, branch, base) = (
        "/trees/b".to_owned(),
        "omo/b".to_owned(),
        "tip of b".to_owned(),
    );
    let process = RecordedProcess { pid: 8, mark: None };
    run.write([
        EventKind::GroupPrepared {
            group: "b".to_owned(),
            worktree,
            branch,
            base,
        },
        EventKind::WorkerStarted {
            group: "b".to_owned(),
            process,
            budget_micros: None,
        },
    ]);
    run.pass("3");
    end(&mut run, "b", None);
    assert_eq!(step(&run), "merge b");
}

/// A run in which both sessions of the first wave are done and not merged yet.
pub(crate) fn both_done() -> Run {
    let mut run = parallel_run(0);
    for (id, tasks) in [("a", &["1", "2"][..]), ("b", &["3"][..])] {
        begin(&mut run, id);
        for task in tasks {
            run.pass(task);
        }
        end(&mut run, id, None);
    }
    run
}

#[test]
fn after_a_conflict_a_session_is_done_again_on_top_of_what_the_run_has_come_to() {
    let mut run = both_done();
    merge(&mut run, "a");
    run.write([EventKind::GroupRefused {
        group: "b".to_owned(),
        files: vec!["x".to_owned()],
    }]);
    run.advance();
    let question = run.state.open_question().unwrap().question.id.clone();
    run.write([EventKind::QuestionAnswered {
        question,
        option: ANSWER_REDO.to_owned(),
        plan_sha256: None,
    }]);
    assert_eq!(step(&run), "clean b", "it begins in what it has left");
    let tip = Some("tip of b".to_owned());
    run.write([EventKind::GroupRemoved {
        group: "b".to_owned(),
        rescue_ref: Some("refs/kept".to_owned()),
        copied: None,
        tip,
    }]);
    assert_eq!(step(&run), "start b");
    assert_eq!(
        run.state.parallel.as_ref().unwrap().base_commit_of("b"),
        "with a",
        "it begins where it was"
    );
    begin(&mut run, "b");
    assert_eq!(
        known(&run, "b").rescue_ref.as_deref(),
        Some("refs/kept"),
        "what it had is forgotten"
    );
}

#[test]
fn what_to_do_about_a_conflict_is_not_asked_where_a_session_at_its_side_has_failed() {
    let mut run = both_done();
    for group in ["a", "b"] {
        run.write([EventKind::GroupRefused {
            group: group.to_owned(),
            files: vec!["x".to_owned()],
        }]);
    }
    run.advance();
    let question = run.state.open_question().unwrap().question.id.clone();
    run.write([EventKind::QuestionAnswered {
        question,
        option: ANSWER_REDO.to_owned(),
        plan_sha256: None,
    }]);
    remove(&mut run, &["a"]);
    begin(&mut run, "a");
    run.fail("1");
    end(&mut run, "a", Some("step 1 failed"));
    // An answer that it is to be done again led to the same question, for ever.
    assert_eq!(step(&run), "clean a b");
    remove(&mut run, &["a", "b"]);
    assert_eq!(step(&run), "end Failed");
    run.advance();
    run.write([
        EventKind::RunResumed,
        EventKind::TaskReopened {
            task: "1".to_owned(),
            reason: "the run goes on".to_owned(),
        },
    ]);
    assert_eq!(step(&run), "start a");
    begin(&mut run, "a");
    run.pass("1");
    run.pass("2");
    end(&mut run, "a", None);
    merge(&mut run, "a");
    assert_eq!(step(&run), "conflict b", "the other conflict is forgotten");
}

#[test]
fn no_client_is_started_for_a_worker_whose_next_task_a_person_skipped() {
    let mut run = parallel_run(0);
    begin(&mut run, "a");
    begin(&mut run, "b");
    run.pass("1");
    run.write([EventKind::TaskSkipped {
        task: "2".to_owned(),
        reason: "not now".to_owned(),
    }]);
    assert_eq!(
        group_outcome(&run.state, &run.state.plan.groups[0]),
        Some(GroupStatus::Failed)
    );
    end(&mut run, "a", Some("not all of it was done"));
    run.pass("3");
    end(&mut run, "b", None);
    merge(&mut run, "b");
    assert_eq!(step(&run), "clean a b");
    // A step that its plan lets be left out holds nothing up.
    let mut plan = waves();
    plan.tasks[1].on_failure = OnFailure::Skip;
    let mut run = Run::open(plan);
    run.write([EventKind::ParallelStarted {
        base: "base".to_owned(),
        policy: ClientPolicy::default(),
    }]);
    begin(&mut run, "a");
    run.pass("1");
    run.write([EventKind::TaskSkipped {
        task: "2".to_owned(),
        reason: "not now".to_owned(),
    }]);
    assert_eq!(
        group_outcome(&run.state, &run.state.plan.groups[0]),
        Some(GroupStatus::Done)
    );
}

#[test]
fn who_pays_is_answered_before_any_session_is_begun() {
    let terms = ClientPolicy {
        payer: Some("ANTHROPIC_API_KEY".to_owned()),
        ..ClientPolicy::default()
    };
    for (option, expected) in [
        (ANSWER_CONTINUE, "start a b"),
        (ANSWER_STOP, "end Failed"),
        (ANSWER_FOREGROUND, "Start"),
    ] {
        let mut run = Run::open(waves());
        run.write([EventKind::ParallelStarted {
            base: "base".to_owned(),
            policy: terms.clone(),
        }]);
        run.advance();
        let question = run.state.open_question().unwrap().question.id.clone();
        assert!(run.start("1").is_err(), "a worker began before the answer");
        run.write([EventKind::QuestionAnswered {
            question,
            option: option.to_owned(),
            plan_sha256: None,
        }]);
        assert!(step(&run).starts_with(expected), "{option}: {}", step(&run));
    }
}

#[test]
fn a_session_that_is_stuck_holds_up_no_other_and_is_asked_about_last() {
    let mut run = parallel_run(0);
    begin(&mut run, "a");
    begin(&mut run, "b");
    let group = || "a".to_owned();
    run.write([
        EventKind::WorkerEnded {
            group: group(),
            how: String::new(),
            cost: ClientCost::default(),
        },
        EventKind::GroupStuck {
            group: group(),
            reason: "no room".to_owned(),
        },
    ]);
    assert_eq!(step(&run), "wait b");
    run.pass("3");
    end(&mut run, "b", None);
    assert_eq!(step(&run), "merge b");
    merge(&mut run, "b");
    run.advance();
    let question = run.state.open_question().unwrap().question.clone();
    assert!(
        matches!(&question.kind, QuestionKind::Stuck { group, reason } if group == "a" && reason == "no room"),
        "{question:?}"
    );
    run.write([EventKind::QuestionAnswered {
        question: question.id,
        option: ANSWER_CONTINUE.to_owned(),
        plan_sha256: None,
    }]);
    assert_eq!(step(&run), "start a");
}

#[test]
fn only_a_person_accepts_who_pays() {
    let mut run = parallel_run(0);
    assert_eq!(
        verbs::accept_billing(&run.state, &run.caller, "KEY")
            .unwrap_err()
            .kind,
        omo_plan::refusal::VerbRefusalKind::NeedsPerson
    );
    run.types();
    let accepted = verbs::accept_billing(&run.state, &run.caller, "KEY").unwrap();
    run.write(accepted);
    assert!(accepts_billing(&run.state));
}

#[test]
fn clients_that_begin_with_nothing_end_in_a_question() {
    let mut run = parallel_run(1);
    begin(&mut run, "a");
    let ended = || EventKind::WorkerEnded {
        group: "a".to_owned(),
        how: String::new(),
        cost: ClientCost::default(),
    };
    let again = || EventKind::WorkerStarted {
        group: "a".to_owned(),
        process: RecordedProcess { pid: 9, mark: None },
        budget_micros: None,
    };
    run.write([ended(), again(), ended()]);
    assert_eq!(step(&run), "start a");
    // A limit of use is no fault of theirs.
    let until = run.state.updated_at;
    run.write([
        again(),
        ended(),
        EventKind::LimitReached {
            group: "a".to_owned(),
            until,
        },
    ]);
    assert_eq!(step(&run), "start a");
    run.write([again(), ended()]);
    assert_eq!(step(&run), "start b", "it holds up the others");
}

#[test]
fn a_branch_that_could_not_move_is_asked_about_and_tried_again() {
    let one = TaskGroup {
        tasks: vec!["1".to_owned()],
        ..group(0)
    };
    let all = plan(vec![task("1")]);
    let policy = RunPolicy {
        on_task_fail: OnTaskFail::Stop,
        parallel: Parallelism::Groups,
        ..all.policy.clone()
    };
    let mut run = Run::open(Plan {
        groups: vec![TaskGroup {
            id: "a".to_owned(),
            ..one
        }],
        policy,
        ..all
    });
    run.write([EventKind::ParallelStarted {
        base: "base".to_owned(),
        policy: ClientPolicy::default(),
    }]);
    begin(&mut run, "a");
    run.pass("1");
    end(&mut run, "a", None);
    merge(&mut run, "a");
    assert_eq!(step(&run), "land");
    run.write([EventKind::LandingRefused {
        reason: "edits are in the way".to_owned(),
        files: vec!["x".to_owned()],
        ways_out: Vec::new(),
        refusal: None,
    }]);
    run.advance();
    let question = run.state.open_question().unwrap().question.clone();
    assert!(
        question.text.contains("edits are in the way: x"),
        "{}",
        question.text
    );
    run.write([EventKind::QuestionAnswered {
        question: question.id,
        option: ANSWER_CONTINUE.to_owned(),
        plan_sha256: None,
    }]);
    assert_eq!(step(&run), "land");
    run.write([EventKind::UserCommitsMerged {
        with: "theirs".to_owned(),
        tip: "both".to_owned(),
    }]);
    assert_eq!(run.state.parallel.as_ref().unwrap().tip, "both");
    run.write([EventKind::Landed {
        from: "theirs".to_owned(),
        to: "both".to_owned(),
        unsigned: 0,
        other_checkouts: Vec::new(),
    }]);
    assert_eq!(step(&run), "clean a");
}

#[test]
fn going_on_with_a_run_that_is_worked_on_takes_nothing_from_its_clients() {
    let mut run = parallel_run(0);
    begin(&mut run, "b");
    run.caller.actor = session("the client", 300);
    let ticket = run.start("3").unwrap();
    for actor in [EventActor::default(), session("s2", 200)] {
        let caller = VerbCaller {
            actor,
            ..VerbCaller::default()
        };
        run.take(Ok(verbs::take_over_run(&run.state, &caller)))
            .unwrap();
    }
    // Three of these would have failed its step.
    run.done(&ticket, all(&task("3"), &Green)).unwrap();
    assert_eq!(run.standing("3"), "passed");
}

#[test]
fn a_worker_whose_tasks_were_all_left_out_begins_anew_after_a_conflict_too() {
    let mut plan = waves();
    plan.tasks[2].on_failure = OnFailure::Skip;
    let mut run = Run::open(plan);
    run.write([EventKind::ParallelStarted {
        base: "base".to_owned(),
        policy: ClientPolicy::default(),
    }]);
    begin(&mut run, "b");
    run.skip("3").unwrap();
    end(&mut run, "b", None);
    run.write([EventKind::GroupRefused {
        group: "b".to_owned(),
        files: vec!["x".to_owned()],
    }]);
    begin(&mut run, "a");
    run.pass("1");
    run.pass("2");
    end(&mut run, "a", None);
    merge(&mut run, "a");
    run.advance();
    let question = run.state.open_question().unwrap().question.id.clone();
    run.write([EventKind::QuestionAnswered {
        question,
        option: ANSWER_REDO.to_owned(),
        plan_sha256: None,
    }]);
    // The same was asked again.
    assert_eq!(step(&run), "clean b");
    remove(&mut run, &["b"]);
    assert_eq!(step(&run), "start b");
}

#[test]
fn whatever_clients_spend_the_run_stays_within_its_budget() {
    let parallel_run = |budget_micros, spent| {
        let terms = ClientPolicy {
            budget_micros,
            ..ClientPolicy::default()
        };
        let group = GroupState {
            cost_micros: spent,
            ..GroupState::default()
        };
        ParallelState {
            policy: terms,
            groups: [("a".to_owned(), group)].into(),
            ..ParallelState::default()
        }
    };
    for (budget, spent, granted, clients, expected) in [
        (None, 9, 9, 2, BudgetGrant::Unbounded),
        (Some(100), 0, 0, 4, BudgetGrant::Micros(25)),
        (Some(100), 40, 0, 2, BudgetGrant::Micros(30)),
        (Some(100), 40, 50, 1, BudgetGrant::Micros(10)),
        (Some(100), 40, 60, 1, BudgetGrant::Later),
        (Some(100), 100, 0, 1, BudgetGrant::Nothing),
        (Some(100), 170, 0, 3, BudgetGrant::Nothing),
        (Some(100), 0, 0, 0, BudgetGrant::Micros(100)),
        (Some(2), 0, 0, 3, BudgetGrant::Nothing),
    ] {
        let found = parallel_run(budget, spent).grant_budget(granted, clients);
        assert_eq!(
            found, expected,
            "{budget:?}, {spent} spent, {granted} granted, {clients} clients"
        );
    }
}
