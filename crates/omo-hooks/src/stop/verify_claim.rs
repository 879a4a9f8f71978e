//! The judgement of a claim: checks and review, with no lock held.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use omo_checks::baseline::wait_for_start;
use omo_checks::claim_proof::{ProofFolder, ProofQuestion};
use omo_checks::session_checks::{self, CheckContext, CheckWatcher, EvidenceReuse, VerifyOutcome};
use omo_claude::hook_input::HookInput;
use omo_claude::settings::ReviewerSettings;
use omo_core::check::counterfactual::{Counterfactual, ProveMode};
use omo_core::check::session_check::TOTAL_TIMEOUT_SECONDS;
use omo_core::messages;
use omo_core::messages::checks::ReviewChanges;
use omo_core::review::{
    self, AgreementRefusal, HookIntervention, REVIEWER, Review, ReviewVerdict, Reviewer,
    ReviewerFacts,
};
use omo_core::session::Session;
use omo_core::session::claim_state::VerificationPhase;
use omo_core::session::id::SessionId;
use omo_core::stop::claim::{
    CheckResult, ClaimFindings, ClaimJudgement, ClaimOutcome, ReviewMaterial, judge_claim,
};
use omo_git::difference::{self, FileVersions};
use omo_git::work_files::{LeftOutBy, WorkFiles};
use omo_git::{git_command, tree};
use omo_process::environment::CheckEnvironment;
use omo_process::watchdog;
use omo_state::files::folder::GuardedFolder;
use omo_state::files::lock::{DEADLINE, StateLock};
use omo_state::seal::hex_digest;
use omo_state::state::StateError;
use omo_state::transcript::agent_transcript::{self, AgentStart};
use omo_state::{config, env, review_material, state, transcript};

use crate::runtime::{HookContext, SessionEntry};

const GIT_SLACK: Duration = Duration::from_secs(30);

/// Wait for the baseline, with which a check may share a port or file, and for the comparison.
const PATIENCE: Duration = Duration::from_secs(10);

/// Judges the claim of a session whose entry is omo's own; `None` where its run ended meanwhile.
pub(super) fn verify_claim(
    context: &HookContext,
    place: &SessionEntry,
    input: &HookInput,
    session: &Session,
) -> Option<ClaimOutcome> {
    let (root, mut session) = (context.root.as_deref()?, session.clone());
    let state_home = context.env.state_home.as_deref();
    if session.checks.is_empty() && !session.verification.review_wanted {
        return Some(judge_claim(&session, ClaimFindings::default()));
    }
    watchdog::extend_limit(Duration::from_secs(TOTAL_TIMEOUT_SECONDS.into()) + GIT_SLACK);
    let present = CheckEnvironment::from_variables(env::variables(), root);
    let environment = run_environment(state_home, place.id(), &session, &present, root);
    let Some(environment) = environment else {
        let checks =
            session_checks::unrun_results(&session.checks, messages::checks::ENVIRONMENT_LOST);
        return Some(judge_claim(
            &session,
            ClaimFindings {
                checks,
                ..ClaimFindings::default()
            },
        ));
    };
    git_command::use_environment(&environment);
    let mut files = work_files(context, root, &session);
    let of_checks = config::load(context.env.config_file.as_deref()).written_by_checks;
    files.leave_out(
        of_checks
            .iter()
            .filter_map(|path| files.path_from_top(path))
            .collect(),
        LeftOutBy::User,
    );
    let setup = CheckContext {
        root,
        state_home,
        logs: Some(place.folder()),
        files: &files,
        environment: &environment,
        reuse: EvidenceReuse::IfValid,
    };
    let mut watcher = RunWatcher {
        context,
        place,
        root,
        shown: false,
    };
    let started = Instant::now();
    if let Some(home) = state_home {
        let is_patient = || started.elapsed() < PATIENCE && watcher.should_continue();
        wait_for_start(home, place.id(), is_patient);
    }
    let waited = started.elapsed();
    let patience = PATIENCE.saturating_sub(waited);
    let verified = session_checks::verify(&session.checks, &setup, &mut watcher);
    watchdog::reset_limit();
    if verified.is_cancelled {
        return None;
    }
    session.verification.scope.clone_from(&verified.files_scope);
    let files = work_files(context, root, &session);
    look_for_review(&mut session, input);
    let asked = Instant::now();
    let counterfactual = run_without_change(
        place,
        &session,
        &verified,
        state_home,
        (started, patience),
        &mut watcher,
    );
    let waited_seconds = (waited + asked.elapsed()).as_secs();
    // Files that were rewritten for a while were judged only with results from a private copy.
    let is_unsure = verified.was_rewritten() && !matches!(counterfactual, Counterfactual::Known(_));
    let asks = session
        .verification
        .requested_review
        .as_ref()
        .is_some_and(|asked| asked.material.is_some());
    let settings = ReviewerSettings::read(env::client_home().as_deref(), Some(root));
    let began_with = session
        .verification
        .settings
        .as_ref()
        .unwrap_or(&settings.marks);
    let mut reviewer_facts = review::settings_changes(began_with, &settings.marks);
    let read = judge_reading(&session, input, place, root);
    let (known, new): (Vec<_>, Vec<_>) = read.hooks.into_iter().partition(|hook| {
        hook.is_of_plugin()
            || hook
                .command
                .as_deref()
                .is_some_and(|command| settings.names_hook(command))
    });
    reviewer_facts.extend(new.iter().map(HookIntervention::fact));
    let findings = ClaimFindings {
        moved_from: files
            .moved_from()
            .filter(|_| verified.tree.is_none())
            .map(|from| from.display().to_string()),
        tree: verified.tree,
        checks: verified.results,
        files_scope: verified.files_scope,
        left_out: verified.left_out,
        tree_changed: verified.tree_moves || is_unsure,
        changed_path: verified.moving_file,
        environment: environment.differing_names(&present),
        newly_ignored: Vec::new(),
        material: asks.then(|| material_mark(place)).flatten(),
        reviewer_facts,
        review_notes: known
            .iter()
            .map(HookIntervention::line)
            .chain(review::unread_line(&read.unread))
            .collect(),
        refusal: read.refusal,
        counterfactual,
        waited_seconds,
        difference: None,
        files: None,
    };
    let check = judge_claim(&session, findings);
    Some(complete_outcome(
        context, root, place, &session, &files, check,
    ))
}

/// Adds the verified files and their difference, or the material of a wanted review.
fn complete_outcome(
    context: &HookContext,
    root: &Path,
    place: &SessionEntry,
    session: &Session,
    files: &WorkFiles,
    mut check: ClaimOutcome,
) -> ClaimOutcome {
    if check.judgement == ClaimJudgement::Verified {
        let files = read_judged_files(files, check.findings.tree.as_deref());
        let findings = ClaimFindings {
            tree_changed: files.is_none(),
            files,
            ..check.findings
        };
        check = judge_claim(session, findings);
    }
    if check.judgement == ClaimJudgement::Verified {
        // For a later look at the run, whose records of the start go with its end.
        watchdog::extend_limit(GIT_SLACK);
        let changes = changes_of_run(
            context,
            root,
            place,
            session,
            &mut FileVersions::unwritten(),
        );
        watchdog::reset_limit();
        check.findings.difference = changes.ok().and_then(|changes| changes.difference);
    }
    if !matches!(check.judgement, ClaimJudgement::ReviewWanted { .. }) {
        return check;
    }
    watchdog::extend_limit(GIT_SLACK);
    check.findings.newly_ignored = files.newly_ignored(session.ulw.started_at);
    match write_material(context, place, session, &check, files) {
        Ok(material) => ClaimOutcome {
            material: Some(material),
            ..check
        },
        Err(why) => check.with_hidden_work(why),
    }
}

/// Wait of an agreement, since its request, for the checks without the change.
const REVIEW_PATIENCE: Duration = Duration::from_secs(60);
/// Wait of a claim that is held to the comparison.
const REQUIRED_PATIENCE: Duration = Duration::from_secs(TOTAL_TIMEOUT_SECONDS as u64 / 2);

/// The known results without the change; started once all checks are green.
fn run_without_change(
    place: &SessionEntry,
    session: &Session,
    verified: &VerifyOutcome,
    state_home: Option<&Path>,
    (started, patience): (Instant, Duration),
    watcher: &mut RunWatcher,
) -> Counterfactual {
    let is_copy_decisive = verified.was_rewritten() || !verified.left_out.is_empty();
    let needs_proof = verified.was_rewritten()
        || session
            .checks
            .iter()
            .any(|check| session.needs_proof(check));
    let is_green = !verified.tree_moves && verified.results.iter().all(CheckResult::is_green);
    let is_wanted = needs_proof || session.verification.prove != ProveMode::Off;
    if session.checks.is_empty() || !is_green || !is_wanted {
        return Counterfactual::NotAsked;
    }
    let (Some(tree), Some(home), Some(recorded)) =
        (&verified.tree, state_home, &session.ulw.recorded)
    else {
        return Counterfactual::NotAsked;
    };
    let counts = verified
        .results
        .iter()
        .map(|result| result.record.counts)
        .collect();
    let question = ProofQuestion::new(tree, recorded, session, is_copy_decisive, counts);
    // Checks and comparison share the client's time for a Stop.
    let remaining =
        Duration::from_secs(TOTAL_TIMEOUT_SECONDS.into()).saturating_sub(started.elapsed());
    let patience = if needs_proof {
        REQUIRED_PATIENCE
    } else {
        patience_beside_review(session, tree, patience)
    };
    let patience = patience.min(remaining);
    watchdog::extend_limit(patience + GIT_SLACK);
    let asked = ProofFolder::open(home, place.id()).and_then(|folder| {
        folder.ask(&question, watcher.root)?;
        Ok(folder.wait(&question, patience, || watcher.should_continue()))
    });
    watchdog::reset_limit();
    asked.unwrap_or_else(|error| Counterfactual::Failed(error.to_string()))
}

fn patience_beside_review(session: &Session, tree: &str, without_review: Duration) -> Duration {
    let verification = &session.verification;
    if !verification.review_wanted {
        return without_review;
    }
    let is_agreed = verification
        .review
        .as_ref()
        .is_some_and(|review| review.verdict == ReviewVerdict::Verified);
    let asked = verification
        .requested_review
        .as_ref()
        .filter(|asked| is_agreed && asked.tree.as_deref() == Some(tree));
    let since = asked
        .and_then(|asked| env::now().millis_since(asked.at?))
        .and_then(|millis| u64::try_from(millis).ok());
    since.map_or(Duration::ZERO, |since| {
        REVIEW_PATIENCE.saturating_sub(Duration::from_millis(since))
    })
}

/// The environment kept for the run's checks; `None` if lost. Runs of an older omo have `present`.
pub(super) fn run_environment(
    state_home: Option<&Path>,
    id: &SessionId,
    session: &Session,
    present: &CheckEnvironment,
    root: &Path,
) -> Option<CheckEnvironment> {
    match &session.verification.environment {
        Some(kept) => CheckEnvironment::load_for_run(state_home?, id, kept, root),
        None => Some(present.clone()),
    }
}

fn work_files<'a>(context: &'a HookContext, root: &Path, session: &Session) -> WorkFiles<'a> {
    let scope = session.verification.scope.as_deref();
    WorkFiles::new(
        root,
        context.env.state_home.as_deref(),
        &context.git_calls,
        scope,
    )
}

/// The content of each file, read again; `None` where it is not the judged one.
fn read_judged_files(files: &WorkFiles, judged: Option<&str>) -> Option<Vec<u8>> {
    watchdog::extend_limit(GIT_SLACK);
    let exact = files.exact_id();
    watchdog::reset_limit();
    let (_, manifest) = exact.filter(|(id, _)| Some(&**id) == judged)?;
    Some(manifest.bytes_to_keep().unwrap_or_default().to_vec())
}

/// Maximum bytes of a reviewer's material: a bounded diff, short lines, larger copies beside it.
const MAX_MATERIAL_BYTES: u64 = 64 * 1024 * 1024;

fn material_path(place: &SessionEntry) -> PathBuf {
    place
        .folder()
        .path()
        .join(review_material::file_name(place.id()))
}

/// Fingerprint of the reviewer's material, from the content and identity of each file.
fn material_mark(place: &SessionEntry) -> Option<String> {
    watchdog::extend_limit(GIT_SLACK);
    let mark = read_material_mark(place);
    watchdog::reset_limit();
    mark
}

fn read_material_mark(place: &SessionEntry) -> Option<String> {
    let mut mark = file_mark(place.folder(), &review_material::file_name(place.id()))?;
    if let Some(whole) = place
        .folder()
        .open_folder(&review_material::versions_folder_name(place.id()))
        .ok()?
    {
        for name in whole.file_names("").ok()? {
            let _ = write!(mark, "\n{name} {}", file_mark(&whole, &name)?);
        }
        mark = hex_digest(mark.as_bytes());
    }
    Some(mark)
}

fn file_mark(folder: &GuardedFolder, name: &str) -> Option<String> {
    let bytes = folder.read(name, MAX_MATERIAL_BYTES).ok()??;
    Some(format!(
        "{}:{}",
        hex_digest(&bytes),
        tree::file_identity(&folder.path().join(name))?
    ))
}

/// Writes the change for a reviewer; the error is the reason why it cannot be shown.
fn write_material(
    context: &HookContext,
    place: &SessionEntry,
    session: &Session,
    check: &ClaimOutcome,
    files: &WorkFiles,
) -> Result<ReviewMaterial, String> {
    watchdog::extend_limit(GIT_SLACK);
    let root = context.root.as_deref().ok_or("no folder is known")?;
    let before = files.state();
    let mut whole = FileVersions::create(
        place.folder(),
        review_material::versions_folder_name(place.id()),
    );
    let changed = changes_of_run(context, root, place, session, &mut whole);
    let shown = with_copied_logs(&check.findings, place.folder(), &mut whole);
    // Not even for a moment were other files there than those of the id.
    let is_same = changed.is_ok() && before.is_some() && files.state() == before;
    let is_judged = before.is_some_and(|before| Some(before.id) == check.findings.tree);
    watchdog::reset_limit();
    let changed = changed?;
    if !is_same || !is_judged {
        return Err("files changed while it was written down".to_owned());
    }
    let text =
        messages::checks::review_material(session, &root.to_string_lossy(), &shown, &changed);
    let written = StateLock::take(place.folder(), DEADLINE).map_err(StateError::from);
    written
        .and_then(|_lock| {
            Ok(place
                .folder()
                .replace(&review_material::file_name(place.id()), text.as_bytes())?)
        })
        .map_err(|error| error.to_string())?;
    let digest = material_mark(place).ok_or("the file that was written for it cannot be read")?;
    Ok(ReviewMaterial {
        path: material_path(place).display().to_string(),
        digest,
    })
}

fn with_copied_logs(
    findings: &ClaimFindings,
    logs: &GuardedFolder,
    copies: &mut FileVersions,
) -> ClaimFindings {
    let mut shown = findings.clone();
    for record in shown.checks.iter_mut().map(|result| &mut result.record) {
        record.log = record.log.take().and_then(|log| {
            let name = Path::new(&log).file_name()?.to_str()?;
            copies.write_copy(&logs.read(name, MAX_MATERIAL_BYTES).ok()??, name)
        });
    }
    shown
}

fn changes_of_run(
    context: &HookContext,
    root: &Path,
    place: &SessionEntry,
    session: &Session,
    whole: &mut FileVersions,
) -> Result<ReviewChanges, String> {
    difference::changes_of_run(
        root,
        context.env.state_home.as_deref(),
        &context.git_calls,
        place.id(),
        session,
        whole,
    )
}

#[derive(Default)]
struct JudgedReading {
    refusal: Option<AgreementRefusal>,
    hooks: Vec<HookIntervention>,
    unread: Vec<String>,
}

impl JudgedReading {
    fn refused(refusal: AgreementRefusal) -> Self {
        Self {
            refusal: Some(refusal),
            ..Self::default()
        }
    }
}

fn judge_reading(
    session: &Session,
    input: &HookInput,
    place: &SessionEntry,
    root: &Path,
) -> JudgedReading {
    let (Some(review), Some(asked)) = (
        &session.verification.review,
        &session.verification.requested_review,
    ) else {
        return JudgedReading::default();
    };
    if review.verdict != ReviewVerdict::Verified {
        return JudgedReading::default();
    }
    let prompt = messages::checks::review_prompt(&material_path(place).display().to_string());
    let (Some(reviewer), Some(transcript)) = (&review.reviewer, input.transcript_path.as_deref())
    else {
        return JudgedReading::refused(AgreementRefusal::NoTranscript);
    };
    let named = reviewer.transcript.as_ref().map(PathBuf::from);
    let Some(agent) =
        named.or_else(|| agent_transcript::agent_transcript_path(transcript, &reviewer.id))
    else {
        return JudgedReading::refused(AgreementRefusal::NoTranscript);
    };
    let name = review_material::file_name(place.id());
    let material = place
        .folder()
        .read(&name, MAX_MATERIAL_BYTES)
        .ok()
        .flatten()
        .unwrap_or_default();
    let material = String::from_utf8_lossy(&material);
    wait_for_transcripts(|| {
        let start = agent_transcript::read_agent_start(&agent);
        let unread = unread_copies(place, &start);
        let facts = reviewer_facts(
            reviewer,
            start,
            (&agent, transcript),
            asked.offset,
            root,
            &name,
        );
        JudgedReading {
            refusal: review::agreement_refusal(&facts, &prompt, asked.at, &material),
            hooks: facts.hooks,
            unread,
        }
    })
}

fn unread_copies(place: &SessionEntry, start: &AgentStart) -> Vec<String> {
    let folder = place
        .folder()
        .open_folder(&review_material::versions_folder_name(place.id()))
        .ok()
        .flatten();
    let names = folder
        .as_ref()
        .and_then(|folder| folder.file_names("").ok())
        .unwrap_or_default();
    names
        .iter()
        .filter(|name| {
            Path::new(name)
                .extension()
                .is_none_or(|ending| ending != "log")
        })
        .filter(|name| {
            let content = folder
                .as_ref()
                .and_then(|folder| folder.read(name, MAX_MATERIAL_BYTES).ok()?);
            let reads: Vec<String> = start
                .reads
                .iter()
                .filter(|(path, _)| path.file_name().is_some_and(|file| file == name.as_str()))
                .map(|(_, text)| text.clone())
                .collect();
            let content = content.unwrap_or_default();
            reads.is_empty() || !review::is_read_whole(&String::from_utf8_lossy(&content), &reads)
        })
        .filter_map(|name| name.get(difference::DIGEST_CHARS + 1..).map(str::to_owned))
        .collect()
}

/// The client's record of a reviewer; `material` is the file to read.
fn reviewer_facts(
    reviewer: &Reviewer,
    given: AgentStart,
    (agent, transcript): (&Path, &Path),
    asked: u64,
    root: &Path,
    material: &str,
) -> ReviewerFacts {
    let call = agent_transcript::find_start_call(transcript, asked, &reviewer.id);
    let folders: Vec<PathBuf> = reviewer
        .cwd
        .iter()
        .map(PathBuf::from)
        .chain(given.cwd)
        .collect();
    let of_material = given
        .reads
        .into_iter()
        .filter(|(path, _)| path.file_name().is_some_and(|name| name == material));
    ReviewerFacts {
        in_project: !folders.is_empty()
            && folders.iter().all(|folder| is_same_folder(folder, root)),
        prompts: given.prompts,
        began: given.began,
        is_isolated: agent_transcript::is_isolated(agent)
            .is_some_and(|isolated| isolated || call.is_none()),
        call,
        reads: of_material.map(|(_, text)| text).collect(),
        hooks: given.hooks,
    }
}

/// Waits for the client's record, which may be late: the prompt, the reads, and the call's result.
fn wait_for_transcripts(judge: impl Fn() -> JudgedReading) -> JudgedReading {
    use AgreementRefusal::{ByAnother, NoTranscript, Unread};
    const AT_MOST: Duration = Duration::from_millis(500);
    const POLL_INTERVAL: Duration = Duration::from_millis(20);
    let start = Instant::now();
    loop {
        let judged = judge();
        let may_come = matches!(judged.refusal, Some(NoTranscript | ByAnother | Unread(_)));
        if !may_come || start.elapsed() > AT_MOST {
            return judged;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

fn is_same_folder(one: &Path, other: &Path) -> bool {
    one == other
        || one
            .canonicalize()
            .is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

pub(super) fn present_tree_id(context: &HookContext, session: &Session) -> Option<String> {
    let (root, id) = (context.root.as_deref()?, context.session_id.as_ref()?);
    let present = CheckEnvironment::from_variables(env::variables(), root);
    git_command::use_environment(&run_environment(
        context.env.state_home.as_deref(),
        id,
        session,
        &present,
        root,
    )?);
    watchdog::extend_limit(GIT_SLACK);
    let state = work_files(context, root, session).state();
    watchdog::reset_limit();
    state.map(|state| state.id)
}

fn look_for_review(session: &mut Session, input: &HookInput) {
    let verification = &mut session.verification;
    let (Some(asked), Some(path)) = (
        &verification.requested_review,
        input.transcript_path.as_deref(),
    ) else {
        return;
    };
    let has_verdict = verification
        .review
        .as_ref()
        .is_some_and(|review| review.verdict != ReviewVerdict::Unclear);
    if has_verdict {
        return;
    }
    for report in transcript::read_agent_reports(path, asked.offset, REVIEWER) {
        if let Some(at) = report
            .at
            .filter(|at| asked.at.is_some_and(|asked| *at >= asked))
        {
            let reviewer = report.agent.map(|id| Reviewer {
                id,
                ..Reviewer::default()
            });
            let review = Review {
                reviewer,
                ..review::read_review(&report.text, at)
            };
            verification.review = Some(review::standing_review(verification.review.take(), review));
        }
    }
}

/// Shows running checks in the state, and ends them with the run or at its pause.
struct RunWatcher<'a> {
    context: &'a HookContext,
    place: &'a SessionEntry<'a>,
    root: &'a Path,
    shown: bool,
}

impl CheckWatcher for RunWatcher<'_> {
    fn check_started(&mut self, _gate: &omo_core::check::session_check::Check) {
        if !std::mem::replace(&mut self.shown, true) {
            let shown = self
                .place
                .update_armed(|session| session.verification.phase = VerificationPhase::Checks);
            if let Err(error) = shown {
                self.context.log_problem(&error);
            }
        }
    }

    fn should_continue(&mut self) -> bool {
        // An unreadable state holds no session, and no checks.
        state::peek(self.root, self.place.id()).is_ok_and(|session| {
            session.is_some_and(|session| session.is_armed() && session.ulw.paused.is_none())
        })
    }
}
