//! Judging a claim: the gates are run and the review is looked for, with no lock held, and what
//! was found is judged.

use std::path::Path;
use std::time::Duration;

use omo_core::gate::TOTAL_TIMEOUT_SECONDS;
use omo_core::review::{self, REVIEWER, Review, ReviewVerdict};
use omo_core::session::{Provenance, Session};
use omo_core::session_id::SessionId;
use omo_core::verification::{Check, Findings, Judgement, Material, Phase, judge};
use omo_core::words;
use omo_exec::environment::Environment;
use omo_exec::files::WorkFiles;
use omo_exec::gates::{self, Reuse, Setup, Watcher};
use omo_exec::tree;
use omo_store::lock::{DEADLINE, Lock};
use omo_store::seal::digest;
use omo_store::state::StateError;
use omo_store::{env, state, transcript};

use crate::edge::{Context, HookError, Place};
use crate::input::Input;
use crate::watchdog;

/// What a hook may take beyond its gates: git on a large work tree.
const SLACK: Duration = Duration::from_secs(30);

/// Judges the claim of a session; `None` where nobody wants to know any more.
pub fn check(context: &Context, place: &Place, input: &Input) -> Result<Option<Check>, HookError> {
    let (Some(root), Some(mut session)) = (context.root.as_deref(), context.peek()?) else { return Ok(None) };
    let state_home = context.env.state_home.as_deref();
    if context.provenance(&session) != Provenance::Own {
        // Nothing that stands there is run or believed.
        return Ok(Some(judge(&session, Findings::default())));
    }
    if session.gates.is_empty() && !session.verification.review_wanted {
        return Ok(Some(judge(&session, Findings { is_sealed: true, ..Findings::default() })));
    }
    watchdog::extend(Duration::from_secs(TOTAL_TIMEOUT_SECONDS.into()) + SLACK);
    let present = Environment::of_gates(env::variables(), root);
    let environment = run_environment(state_home, place.id(), &session, &present, root);
    let Some(environment) = environment else {
        let gates = gates::unrun(&session.gates, words::checks::ENVIRONMENT_LOST);
        return Ok(Some(judge(&session, Findings { gates, is_sealed: true, ..Findings::default() })));
    };
    let files = files(context, root, &session);
    let setup = Setup {
        root,
        state_home,
        logs: Some(place.folder()),
        files: &files,
        environment: &environment,
        reuse: Reuse::Evidence,
        session: Some(place.id()),
    };
    let mut wanted = Wanted { context, place, root, shown: false };
    let verified = gates::verify(&session.gates, &setup, &mut wanted);
    watchdog::back_to_usual();
    if verified.is_cut {
        return Ok(None);
    }
    look_for_review(&mut session, input);
    let material_name = material_name(place);
    let asks = session.verification.asked.as_ref().is_some_and(|asked| asked.material.is_some());
    let material = asks.then(|| place.folder().read(&material_name, MAX_MATERIAL_BYTES)).transpose();
    let findings = Findings {
        tree: verified.tree,
        gates: verified.results,
        is_sealed: true,
        tree_moves: verified.tree_moves,
        environment: environment.differing(&present),
        newly_ignored: Vec::new(),
        material: material.ok().flatten().flatten().map(|bytes| digest(&bytes)),
    };
    let mut check = judge(&session, findings);
    if check.judgement == Judgement::Verified && !is_exact(&files, check.findings.tree.as_deref()) {
        let findings = Findings { tree_moves: true, ..check.findings };
        check = judge(&session, findings);
    }
    if matches!(check.judgement, Judgement::ReviewWanted { .. }) {
        watchdog::extend(SLACK);
        check.findings.newly_ignored = files.newly_ignored(session.ulw.started_at);
        check.material = write_material(context, place, &session, &check, &material_name);
    }
    Ok(Some(check))
}

/// The environment that the run began with; `None` where it is gone. An older omo has kept none: then it is the present
/// one, as it was then.
pub fn run_environment(
    state_home: Option<&Path>,
    id: &SessionId,
    session: &Session,
    present: &Environment,
    root: &Path,
) -> Option<Environment> {
    match &session.verification.environment {
        Some(kept) => Environment::of_run(state_home?, id, kept, root),
        None => Some(present.clone()),
    }
}

/// The files of a session's project that count.
fn files<'a>(context: &'a Context, root: &Path, session: &Session) -> WorkFiles<'a> {
    let scope = session.verification.scope.as_deref();
    WorkFiles::new(root, context.env.state_home.as_deref(), &context.git_calls, scope)
}

/// Whether the files are those that were judged: they are read once more, whatever their times say.
fn is_exact(files: &WorkFiles, judged: Option<&str>) -> bool {
    watchdog::extend(SLACK);
    let exact = files.exact_state();
    watchdog::back_to_usual();
    exact.is_some_and(|exact| Some(exact.id.as_str()) == judged)
}

/// What a reviewer reads holds a difference, which is bounded.
const MAX_MATERIAL_BYTES: u64 = 2 * 1024 * 1024;

/// The file that a session's reviewer reads; gone with the run.
pub fn material_name(place: &Place) -> String {
    format!("review-{}.md", place.id())
}

/// Writes down what the reviewer is to read. Where that cannot be, the prompt alone says what to
/// review.
fn write_material(context: &Context, place: &Place, session: &Session, check: &Check, name: &str) -> Option<Material> {
    watchdog::extend(SLACK);
    let root = context.root.as_deref()?;
    let (state_home, scope) = (context.env.state_home.as_deref(), session.verification.scope.as_deref());
    let diff = tree::difference(root, state_home, &context.git_calls, scope, session.ulw.base.as_deref());
    watchdog::back_to_usual();
    let text = words::checks::material(session, &check.findings, &diff.unwrap_or_default());
    let written = Lock::take(place.folder(), DEADLINE).map_err(StateError::from);
    match written.and_then(|_lock| Ok(place.folder().replace(name, text.as_bytes())?)) {
        Ok(()) => {
            let path = place.folder().path().join(name).display().to_string();
            Some(Material { path, digest: digest(text.as_bytes()) })
        }
        Err(error) => {
            context.report(&error);
            None
        }
    }
}

/// The id of the files, for a failure that still stands.
pub fn present_tree(context: &Context, session: &Session) -> Option<String> {
    watchdog::extend(SLACK);
    let state = files(context, context.root.as_deref()?, session).state();
    watchdog::back_to_usual();
    state.map(|state| state.id)
}

/// Where the event of its end was not seen, the transcript is asked for the review.
fn look_for_review(session: &mut Session, input: &Input) {
    let verification = &mut session.verification;
    let (Some(asked), Some(path)) = (&verification.asked, input.transcript_path.as_deref()) else { return };
    let is_seen = |review: &Review| review.verdict != ReviewVerdict::Unclear;
    if verification.review.as_ref().is_some_and(is_seen) {
        return;
    }
    for report in transcript::reports(path, asked.offset, REVIEWER) {
        if let Some(at) = report.at.filter(|at| asked.at.is_some_and(|asked| *at >= asked)) {
            verification.review = Some(review::later(verification.review.take(), review::read(&report.text, at)));
        }
    }
}

/// Shows in the state that gates run, and ends them as soon as the run is over.
struct Wanted<'a> {
    context: &'a Context,
    place: &'a Place<'a>,
    root: &'a Path,
    shown: bool,
}

impl Watcher for Wanted<'_> {
    fn begins(&mut self, _gate: &omo_core::gate::Gate) {
        if !std::mem::replace(&mut self.shown, true) {
            let shown = self.place.update_armed(|session| session.verification.phase = Phase::Gates);
            if let Err(error) = shown {
                self.context.report(&error);
            }
        }
    }

    fn goes_on(&mut self) -> bool {
        // A state that cannot be read holds nothing: then nobody is held by its gates either.
        state::peek(self.root, self.place.id()).is_ok_and(|session| session.is_some_and(|session| session.is_armed()))
    }
}
