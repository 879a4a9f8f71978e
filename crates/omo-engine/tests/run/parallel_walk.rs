//! Runs with parallel workers, played with every verb, every end of a client and every edit of the plan: whatever has
//! happened, no undone work is called done, no done work is missing from the user's branch, and the run comes to an end
//! once all goes well.

use std::collections::{BTreeMap, BTreeSet};

use omo_claude::client_end::FollowUp;
use omo_core::check::task_check::TaskCheck;
use omo_core::check::task_check::TaskCheckVerdict::{Green, Red};
use omo_core::timestamp::Timestamp;
use omo_engine::client_policy::{ClientCost, ClientPolicy};
use omo_engine::event::{EventKind, RecordedProcess, RunResult};
use omo_engine::parallel_schedule::{ParallelAction, landed_with_more_work, next_task_of};
use omo_engine::parallel_state::GroupStatus;
use omo_engine::schedule::{NextAction, next_action};
use omo_engine::state::{ANSWER_CONTINUE, ANSWER_FOREGROUND, ANSWER_REDO, RunPhase, TaskStatus};
use omo_engine::verbs::{self, AttemptMeasurement, CommitOutcome};
use omo_engine::wave_rules::group_outcome;
use omo_plan::model::{
    Dialect, OnFailure, OnTaskFail, Parallelism, Plan, RunPolicy, Task, TaskGroup,
};
use proptest::prelude::*;

use crate::run::kit::{Run, all, group, no_tool, outcome as checked, plan, task};
use crate::run::parallel_edits::{Edit, any_edit, edited, in_order};

/// One move. Numbers are taken modulo the candidates, and say how well it goes: 0 is well.
#[derive(Clone, Debug)]
enum Move {
    /// The next step is taken.
    Follow(usize),
    /// A client at work takes its next step, or ends.
    Client {
        which: usize,
        how: usize,
    },
    /// The supervisor of the clients dies, and the next one finds the leftovers.
    Dies,
    Skip(usize),
    Retry(usize),
    Answer(usize),
    Cancel,
    Resume(Option<Edit>),
}

/// A run with the commits of its branches: each is known by the work in it.
#[derive(Clone)]
struct World {
    run: Run,
    /// Content of each commit, by its name.
    commits: BTreeMap<String, BTreeSet<String>>,
    branches: BTreeMap<String, BTreeSet<String>>,
    theirs: String,
    made: usize,
}

/// Words of a session about its needs.
#[derive(Clone, Copy, Debug)]
enum Needs {
    /// No word.
    Unsaid,
    /// No needs.
    Nothing,
    First,
}

fn sessions(
    of: &[(usize, Vec<OnFailure>, Needs)],
    finals: usize,
    max_at_once: u32,
    asks: bool,
) -> World {
    let mut number = 0;
    let mut tasks = Vec::new();
    let mut groups = Vec::new();
    for (place, (wave, steps, needs)) in of.iter().enumerate() {
        let mut own = Vec::new();
        for on_failure in steps {
            number += 1;
            tasks.push(Task {
                on_failure: *on_failure,
                max_attempts: 2,
                ..task(&number.to_string())
            });
            own.push(number.to_string());
        }
        let first = of
            .iter()
            .position(|(other, ..)| other < wave)
            .map(|place| format!("session-{}", place + 1));
        let deps = first
            .filter(|_| matches!(needs, Needs::First))
            .into_iter()
            .collect();
        let names_all_deps = matches!(needs, Needs::Nothing);
        groups.push(TaskGroup {
            id: format!("session-{}", place + 1),
            tasks: own,
            deps,
            names_all_deps,
            ..group(*wave)
        });
    }
    let all = plan(tasks);
    let policy = RunPolicy {
        on_task_fail: OnTaskFail::Stop,
        parallel: Parallelism::Groups,
        ..all.policy.clone()
    };
    let final_checks = (0..finals)
        .map(|number| TaskCheck::new(&format!("final {number}")))
        .collect();
    let plan = in_order(Plan {
        dialect: Dialect::Ultraplan,
        groups,
        policy,
        final_checks,
        ..all
    });
    let mut run = Run::open(plan);
    let payer = asks.then(|| "ANTHROPIC_API_KEY".to_owned());
    let terms = ClientPolicy {
        max_workers: max_at_once,
        payer,
        ..ClientPolicy::default()
    };
    run.write([EventKind::ParallelStarted {
        base: "base".to_owned(),
        policy: terms,
    }]);
    run.advance();
    let commits = [("base".to_owned(), BTreeSet::new())].into();
    World {
        run,
        commits,
        branches: BTreeMap::new(),
        theirs: "base".to_owned(),
        made: 0,
    }
}

impl World {
    /// Records events, and those that follow by themselves.
    fn play(&mut self, events: Vec<EventKind>) {
        self.run.write(events);
        if let Some(parallel) = landed_with_more_work(&self.run.state) {
            let terms = parallel.policy.clone();
            self.run.write([EventKind::ParallelStarted {
                base: self.theirs.clone(),
                policy: terms,
            }]);
        }
        self.run.advance();
        self.look();
    }

    /// Holds the run to the work that was really done.
    fn look(&self) {
        let state = &self.run.state;
        if state.phase
            != (RunPhase::Ended {
                result: RunResult::Complete,
            })
        {
            return;
        }
        let theirs = &self.commits[&self.theirs];
        for task in &state.plan.tasks {
            let known = &state.tasks[&task.id];
            assert_eq!(
                known.status,
                TaskStatus::Passed,
                "complete, and {} is not",
                task.id
            );
            if let (true, Some(end)) = (state.parallel.is_some(), &known.last_end) {
                let commit = end.commit.as_ref().unwrap();
                assert!(
                    theirs.contains(commit),
                    "complete, and {} is not in the user's branch",
                    task.id
                );
            }
        }
        for place in 0..state.plan.final_checks.len() {
            assert!(
                state.final_checks[&place].is_green(),
                "complete, and a check of the whole is not green"
            );
        }
    }

    fn name(&mut self, content: BTreeSet<String>) -> String {
        self.made += 1;
        let name = format!("commit-{}", self.made);
        self.commits.insert(name.clone(), content);
        name
    }

    fn group(&self, id: &str) -> Option<TaskGroup> {
        self.run
            .state
            .plan
            .groups
            .iter()
            .find(|group| group.id == id)
            .cloned()
    }

    /// Takes the next step; `false` where there was none.
    fn follow(&mut self, how: usize) -> bool {
        let state = self.run.state.clone();
        let parallel = state.parallel.clone();
        match next_action(&state) {
            NextAction::Over => return false,
            NextAction::Ask(question) => {
                let place = how % question.question.options.len();
                let option = question.question.options[place].id.clone();
                let id = question.question.id.clone();
                self.answer(&id, &option);
            }
            NextAction::FinalChecks => {
                let verdict = if how % 4 == 3 { Red } else { Green };
                let ran = state.plan.final_checks.iter();
                let ran = ran
                    .map(|check| (check.clone(), checked(verdict.clone())))
                    .collect();
                self.play(verbs::final_check_events(ran));
            }
            NextAction::Parallel(step) => self.step(&step, how),
            // Its user had it merged: the rules of that are played elsewhere.
            NextAction::Start(tasks) => {
                let ids: Vec<String> = tasks.iter().map(|task| task.id.clone()).collect();
                self.run.start(&ids[0]).unwrap();
            }
            NextAction::Wait(ids) if parallel.is_none() => self.judge(ids[0], how),
            other => panic!("it follows by itself: {other:?}"),
        }
        true
    }

    fn answer(&mut self, question: &str, option: &str) {
        self.run.types();
        let said =
            verbs::answer_question(&self.run.state, &self.run.caller, question, option, None);
        self.play(vec![said.unwrap()]);
    }

    fn step(&mut self, step: &ParallelAction, how: usize) {
        let parallel = self.run.state.parallel.clone().unwrap();
        match step {
            ParallelAction::Start(groups) => {
                for group in groups {
                    self.begin(group);
                }
            }
            ParallelAction::Wait(ids) => {
                let id = ids[how % ids.len()].to_owned();
                self.client(&id, if how.is_multiple_of(5) { 0 } else { how / 5 });
            }
            ParallelAction::Merge(group) => {
                let own = &self.commits[parallel.groups[&group.id].tip.as_ref().unwrap()];
                if how % 4 == 3 {
                    let files = vec!["x".to_owned()];
                    return self.play(vec![EventKind::GroupRefused {
                        group: group.id.clone(),
                        files,
                    }]);
                }
                let merged = self.commits[&parallel.tip].union(own).cloned().collect();
                let tip = self.name(merged);
                self.play(vec![EventKind::GroupMerged {
                    group: group.id.clone(),
                    tip,
                }]);
            }
            ParallelAction::CheckWave(_) => {
                let verdict = if how % 4 < 2 { Green } else { Red };
                let checks = self.run.state.plan.final_checks.len();
                let broken = if how % 4 == 3 {
                    (0..checks).collect()
                } else {
                    Vec::new()
                };
                let outcomes = vec![checked(verdict); checks];
                let (tip, tree) = (parallel.tip.clone(), format!("tree of {}", parallel.tip));
                self.play(vec![EventKind::WaveChecked {
                    wave: 0,
                    tip,
                    tree,
                    outcomes,
                    broken,
                    groups: Vec::new(),
                }]);
            }
            ParallelAction::Land => {
                let tip = parallel.tip.clone();
                let (ours, theirs) = (&self.commits[&tip], &self.commits[&self.theirs]);
                if !theirs.is_subset(ours) {
                    let tip = self.name(ours.union(theirs).cloned().collect());
                    return self.play(vec![EventKind::UserCommitsMerged {
                        with: self.theirs.clone(),
                        tip,
                    }]);
                }
                if how % 4 == 3 {
                    return self.play(vec![EventKind::LandingRefused {
                        reason: "edits".to_owned(),
                        files: Vec::new(),
                        ways_out: Vec::new(),
                        refusal: None,
                    }]);
                }
                let from = std::mem::replace(&mut self.theirs, tip.clone());
                self.play(vec![EventKind::Landed {
                    from,
                    to: tip,
                    unsigned: 0,
                    other_checkouts: Vec::new(),
                }]);
            }
            ParallelAction::Clean(ids) => {
                for id in ids {
                    let left = self.branches.get(*id).cloned().unwrap_or_default();
                    let tip = Some(self.name(left));
                    let group = (*id).to_owned();
                    self.play(vec![EventKind::GroupRemoved {
                        group,
                        rescue_ref: None,
                        copied: None,
                        tip,
                    }]);
                }
            }
            other => panic!("it is told otherwise: {other:?}"),
        }
    }

    /// Begins a session as the supervisor of the clients does.
    fn begin(&mut self, group: &TaskGroup) {
        let parallel = self.run.state.parallel.clone().unwrap();
        if parallel
            .groups
            .get(&group.id)
            .is_none_or(|known| known.worktree.is_none())
        {
            let base = parallel.base_commit_of(&group.id).to_owned();
            if !parallel.groups.contains_key(&group.id) {
                self.holds_what_is_needed(group, &base);
            }
            self.branches
                .insert(group.id.clone(), self.commits[&base].clone());
            let (worktree, branch) = (format!("/trees/{}", group.id), group.id.clone());
            self.play(vec![EventKind::GroupPrepared {
                group: group.id.clone(),
                worktree,
                branch,
                base,
            }]);
        }
        if !self.end_if_done(group) {
            let process = RecordedProcess { pid: 7, mark: None };
            self.play(vec![EventKind::WorkerStarted {
                group: group.id.clone(),
                process,
                budget_micros: None,
            }]);
        }
    }

    /// Asserts that a session begins from all that it needs.
    fn holds_what_is_needed(&self, group: &TaskGroup, base: &str) {
        let state = &self.run.state;
        let is_needed = |other: &&TaskGroup| {
            let says_nothing = group.deps.is_empty() && !group.names_all_deps;
            group.deps.contains(&other.id) || says_nothing && other.wave < group.wave
        };
        for other in state.plan.groups.iter().filter(is_needed) {
            for id in &other.tasks {
                let commit = state.tasks[id]
                    .last_end
                    .as_ref()
                    .and_then(|end| end.commit.as_ref());
                let has_passed = state.tasks[id].status == TaskStatus::Passed;
                let is_there = commit.is_some_and(|commit| self.commits[base].contains(commit));
                assert!(
                    !has_passed || is_there,
                    "{} begins without {id} {}",
                    group.id,
                    self.shown()
                );
            }
        }
    }

    fn end_if_done(&mut self, group: &TaskGroup) -> bool {
        let Some(status) = group_outcome(&self.run.state, group) else {
            return false;
        };
        let known = &self.run.state.parallel.as_ref().unwrap().groups[&group.id];
        if known.status != GroupStatus::Ready {
            return true;
        }
        let branch = self.branches[&group.id].clone();
        let passed = group
            .tasks
            .iter()
            .map(|id| &self.run.state.tasks[id])
            .filter(|it| it.status == TaskStatus::Passed);
        let ends = passed.filter_map(|task| task.last_end.as_ref()?.commit.clone());
        let has_all = ends
            .collect::<Vec<_>>()
            .iter()
            .all(|commit| branch.contains(commit));
        if !has_all {
            let why = "the branch does not hold what its steps committed".to_owned();
            self.play(vec![EventKind::GroupStuck {
                group: group.id.clone(),
                reason: why,
            }]);
            return true;
        }
        let tip = self.name(branch);
        let failed = (status == GroupStatus::Failed).then(|| "it failed".to_owned());
        self.play(vec![EventKind::GroupEnded {
            group: group.id.clone(),
            tip,
            failed,
        }]);
        true
    }

    fn client(&mut self, id: &str, how: usize) {
        let Some(group) = self.group(id) else { return };
        let state = self.run.state.clone();
        let is_running = state.parallel.as_ref().is_some_and(|parallel| {
            parallel
                .groups
                .get(id)
                .is_some_and(|known| known.status == GroupStatus::Running)
        });
        if !is_running || state.phase != RunPhase::Executing {
            return;
        }
        let running = verbs::running_task_in(&state, &group).map(|(id, _)| id.to_owned());
        if how < 4 {
            match (running, next_task_of(&state, &group)) {
                (Some(task), _) => return self.judge(&task, how),
                (None, Some(task)) if !state.is_stopped => {
                    self.run.start(&task.id.clone()).unwrap();
                    return self.look();
                }
                _ => {}
            }
        }
        let soon = Timestamp::from_millis(state.updated_at.as_millis() + 1);
        let follow = match how {
            _ if group_outcome(&state, &group).is_some() => FollowUp::Settled,
            0..=4 => FollowUp::Hold("killed"),
            5 => FollowUp::FailAttempt("it ended"),
            6 => FollowUp::WaitUntil(Some(soon)),
            7 => FollowUp::WaitUntil(None),
            8 => FollowUp::Ask("refused"),
            9 => FollowUp::HoldOrAsk("the API failed"),
            _ => FollowUp::Resume {
                session: "s".to_owned(),
            },
        };
        let mut events = vec![EventKind::WorkerEnded {
            group: id.to_owned(),
            how: "so".to_owned(),
            cost: ClientCost::default(),
        }];
        events.extend(verbs::client_end_events(
            &state,
            &group,
            &follow,
            Vec::new(),
            "why",
        ));
        self.play(events);
        if self.run.state.phase == RunPhase::Executing {
            self.end_if_done(&group);
        }
    }

    fn judge(&mut self, id: &str, how: usize) {
        let task = self.run.state.plan.task(id).unwrap().clone();
        let ticket = self.run.state.tasks[id]
            .running
            .as_ref()
            .unwrap()
            .ticket
            .clone();
        let verdict = match how % 4 {
            2 => Red,
            3 => no_tool(),
            _ => Green,
        };
        let commit = format!("{id} at {}", self.run.state.seq);
        let made = verdict == Green;
        let made_commit = made.then(|| CommitOutcome::Made {
            id: commit.clone(),
            branch: None,
            hooks: None,
        });
        let measured = AttemptMeasurement {
            commit: made_commit,
            ..all(&task, &verdict)
        };
        let events = verbs::judge_attempt(&self.run.state, &ticket, measured).unwrap();
        if let (true, Some((_, group))) = (made, self.run.state.plan.group_of(id)) {
            self.branches
                .entry(group.id.clone())
                .or_default()
                .insert(commit);
        }
        self.play(events);
    }

    /// Cleans up after a dead supervisor.
    fn reap(&mut self) {
        let Some(parallel) = self.run.state.parallel.clone() else {
            return;
        };
        for (id, known) in &parallel.groups {
            if known.status == GroupStatus::Running {
                let pause = self
                    .group(id)
                    .and_then(|group| verbs::pause_event(&self.run.state, &group, "gone"));
                let ended = EventKind::WorkerEnded {
                    group: id.clone(),
                    how: "gone".to_owned(),
                    cost: ClientCost::default(),
                };
                self.play(std::iter::once(ended).chain(pause).collect());
            }
        }
    }

    fn id(&self, number: usize) -> String {
        let tasks = &self.run.state.plan.tasks;
        tasks[number % tasks.len()].id.clone()
    }

    fn make(&mut self, step: &Move) {
        match step {
            Move::Follow(how) => {
                self.follow(*how);
            }
            Move::Client { which, how } => {
                let ids: Vec<String> = self
                    .run
                    .state
                    .plan
                    .groups
                    .iter()
                    .map(|group| group.id.clone())
                    .collect();
                if self.run.state.parallel.is_some() {
                    self.client(&ids[which % ids.len()], *how);
                }
            }
            Move::Dies => self.reap(),
            Move::Skip(number) => {
                self.run.types();
                let id = self.id(*number);
                if let Ok(what) = verbs::skip_task(&self.run.state, &self.run.caller, &id, "why") {
                    self.play(vec![what]);
                }
            }
            Move::Retry(number) => {
                self.run.types();
                let id = self.id(*number);
                if let Ok(events) = verbs::retry_task(&self.run.state, &self.run.caller, &id) {
                    self.play(events);
                }
            }
            Move::Answer(how) => {
                if let Some(known) = self.run.state.open_question().cloned()
                    && self.run.state.phase == RunPhase::Executing
                {
                    let options = &known.question.options;
                    self.answer(&known.question.id, &options[how % options.len()].id.clone());
                }
            }
            Move::Cancel => {
                if let Ok(what) = verbs::cancel_run(&self.run.state, "why") {
                    self.play(vec![what]);
                    // The supervisor of the clients ends them, and clears the leftovers.
                    self.reap();
                    let parallel = self.run.state.parallel.clone();
                    let trees = parallel
                        .iter()
                        .flat_map(|parallel| &parallel.groups)
                        .filter(|(_, it)| it.worktree.is_some());
                    let ids: Vec<&str> = trees.map(|(id, _)| id.as_str()).collect();
                    let known = ids
                        .into_iter()
                        .filter(|id| self.group(id).is_some())
                        .collect();
                    if self.run.state.parallel.is_some() {
                        self.step(&ParallelAction::Clean(known), 0);
                    }
                }
            }
            Move::Resume(edit) => self.resume(*edit),
        }
    }

    /// Resumes as `--resume` does.
    fn resume(&mut self, edit: Option<Edit>) {
        self.run.types();
        let before = verbs::take_over_run(&self.run.state, &self.run.caller);
        let mut played = self.clone();
        played.run.write(before);
        let said = edit.map(|edit| {
            let plan = edited(&played.run.state.plan, edit);
            verbs::replace_plan(&played.run.state, plan, "again".to_owned())
        });
        if let Ok(replanned) = said.transpose() {
            *self = played;
            self.play(replanned.unwrap_or_default());
        }
    }

    /// The history of the run, for the reader of a failure.
    fn shown(&self) -> String {
        let cut = |text: String| text.chars().take(160).collect::<String>();
        self.run
            .events
            .iter()
            .map(|event| cut(format!("{:?}", event.kind)))
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// Ends the run: from here on all goes well.
    fn finish(mut self) {
        if self.run.state.phase != RunPhase::Executing {
            self.resume(None);
        }
        let mut asked: BTreeMap<String, usize> = BTreeMap::new();
        for _ in 0..400 {
            match next_action(&self.run.state) {
                NextAction::Over => {
                    if self.run.state.phase
                        == (RunPhase::Ended {
                            result: RunResult::Complete,
                        })
                    {
                        return;
                    }
                    let left_out =
                        self.run.state.plan.tasks.iter().any(|task| {
                            self.run.state.tasks[&task.id].status == TaskStatus::Skipped
                        });
                    if left_out {
                        return;
                    }
                    let times = asked.entry("resumed".to_owned()).or_default();
                    *times += 1;
                    assert!(
                        *times < 5,
                        "it is resumed again and again: {}",
                        self.shown()
                    );
                    self.resume(None);
                }
                NextAction::Ask(question) => {
                    let about = format!("{:?}", question.question.kind);
                    let times = asked.entry(about.clone()).or_default();
                    *times += 1;
                    assert!(
                        *times < 4,
                        "asked again and again: {about} {}",
                        self.shown()
                    );
                    let options: Vec<&str> = question
                        .question
                        .options
                        .iter()
                        .map(|option| option.id.as_str())
                        .collect();
                    let option = [ANSWER_CONTINUE, ANSWER_REDO, ANSWER_FOREGROUND]
                        .into_iter()
                        .find(|one| options.contains(one))
                        .unwrap();
                    let id = question.question.id.clone();
                    self.answer(&id, option);
                }
                _ => {
                    self.follow(0);
                }
            }
        }
        panic!(
            "it never ends: {:?} {}",
            next_action(&self.run.state),
            self.shown()
        );
    }
}

fn any_move() -> impl Strategy<Value = Move> {
    let number = || 0..6_usize;
    prop_oneof![
        20 => Just(Move::Follow(0)),
        10 => (0..60_usize).prop_map(Move::Follow),
        8 => (number(), 0..11_usize).prop_map(|(which, how)| Move::Client { which, how }),
        1 => Just(Move::Dies),
        1 => number().prop_map(Move::Skip),
        2 => number().prop_map(Move::Retry),
        2 => number().prop_map(Move::Answer),
        1 => Just(Move::Cancel),
        1 => Just(Move::Resume(None)),
        3 => any_edit().prop_map(|edit| Move::Resume(Some(edit))),
    ]
}

fn any_world() -> impl Strategy<Value = World> {
    let failure = prop_oneof![
        3 => Just(OnFailure::Revert),
        1 => Just(OnFailure::Skip),
        1 => Just(OnFailure::Escalate)
    ];
    let needs = prop_oneof![
        Just(Needs::Unsaid),
        Just(Needs::Nothing),
        Just(Needs::First)
    ];
    let session = (0..3_usize, prop::collection::vec(failure, 1..3), needs);
    (
        prop::collection::vec(session, 1..4),
        0..2_usize,
        0..3_u32,
        prop::bool::weighted(0.1),
    )
        .prop_map(|(of, finals, most, asks)| sessions(&of, finals, most, asks))
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let plan = &self.run.state.plan;
        let groups: Vec<_> = plan
            .groups
            .iter()
            .map(|group| (&group.id, group.wave, &group.tasks))
            .collect();
        write!(f, "{groups:?}, {} checks", plan.final_checks.len())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_played_what_is_called_done_is_done_and_a_run_that_goes_well_ends(
        world in any_world(), moves in prop::collection::vec(any_move(), 0..50),
    ) {
        let mut world = world;
        for step in &moves {
            world.make(step);
        }
        world.finish();
    }
}
