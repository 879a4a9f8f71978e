//! `omo prove`: runs green checks again without the change, to see whether they fail.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use omo_checks::detected_check::offer_check;
use omo_checks::repository_config::{ApprovalState, RepositoryConfig};
use omo_core::check::ci_report::{CiAnswer, CiCheck};
use omo_core::check::counterfactual::{HollowAnswer, WithoutChange};
use omo_core::check::session_check::{self, Check, CheckOrigin};
use omo_core::check::test_report::TestOutcome;
use omo_core::text::command_text::typed_form;
use omo_core::text::{pluralize, sanitize};
use omo_git::base_comparison::BaseChoice;
use omo_process::environment::CheckEnvironment;
use omo_process::termination;
use omo_prove::comparison::{CheckProof, TestComparison, TestState, WithChange, count_changes};
use omo_prove::counterfactual::{self, Proof};
use omo_prove::proof_request::{HollowChecks, ProofError, ProofRequest, ProofWatcher};
use omo_prove::test_files::TestFiles;
use omo_state::config::UserConfig;
use omo_state::env::{self, ProcessEnv};

use crate::commands::verify::select_checks;
use crate::error::CommandError;
use crate::output::ci_format::CiOptions;
use crate::output::progress::ProgressLine;
use crate::output::table::{self, Cell};
use crate::project::Project;

const HELP: &str = "\
Examples:
  omo prove                 the work since the main branch was left
  omo prove --base HEAD~1   the last commit, and what is uncommitted
  omo prove --check 'npm test' --format github

The checks run in two private copies: with the change, and without it, where
only the test files are current; and once more where the functions of the
change have empty bodies, which a test of them notices. Exit status: 0 when
every check is green with it and red without it, or cannot be built without it
and is red with empty bodies, 1 when one is not, 5 when that could not be told.";

const MAX_ROWS: usize = 40;
const MAX_NAME_CHARS: usize = 100;

/// Tell whether the checks fail without the change
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct ProveOptions {
    /// The commit without the change, if not where this branch began
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
    /// Run this command instead of the checks that are approved
    #[arg(long = "check", value_name = "COMMAND", allow_hyphen_values = true)]
    pub checks: Vec<String>,
    /// Print JSON: one object with a list of the checks
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub ci: CiOptions,
}

pub(crate) fn run(
    env: &ProcessEnv,
    config: &UserConfig,
    options: &ProveOptions,
) -> Result<(), CommandError> {
    crate::config_problems::require_valid_config(config)?;
    if env.in_check {
        let hint = "remove `omo prove` from what the check runs";
        return Err(CommandError::precondition(
            "a check cannot run the checks",
            hint,
        ));
    }
    let project = Project::find(env)?;
    let checks = wanted_checks(env, config, &project, options)?;
    let state_home = env.state_home.as_deref().ok_or_else(|| {
        CommandError::precondition(
            "no folder of your own is known for the copies",
            "set HOME, or XDG_STATE_HOME",
        )
    })?;
    let environment = CheckEnvironment::from_variables(env::variables(), &project.root);
    let repository = approved_config(env, &project);
    let tests = TestFiles::new(
        repository
            .as_ref()
            .map(|repository| repository.tests.clone())
            .unwrap_or_default(),
    );
    let request = ProofRequest {
        root: &project.root,
        state_home,
        base: options
            .base
            .as_deref()
            .map_or(BaseChoice::BranchStart, BaseChoice::Revision),
        checks: &checks,
        task: None,
        hollow: HollowChecks::All,
        tests: &tests,
        environment: &environment,
        time: std::time::UNIX_EPOCH + Duration::from_millis(env.now.as_millis().unsigned_abs()),
        setup: repository
            .as_ref()
            .and_then(|repository| repository.setup.as_deref()),
    };
    let proof = counterfactual::prove(&request, &mut ProofProgress::new())
        .map_err(|error| proof_failure(&error))?;
    if options.ci.format.is_some() {
        let rows: Vec<CiCheck> = checks
            .iter()
            .zip(&proof.checks)
            .map(|(check, proof)| ci_check(&check.name, proof))
            .collect();
        options.ci.print("omo prove", &project.root, &rows)?;
    } else {
        show(options, &proof)?;
    }
    judge(&proof)
}

fn wanted_checks(
    env: &ProcessEnv,
    config: &UserConfig,
    project: &Project,
    options: &ProveOptions,
) -> Result<Vec<Check>, CommandError> {
    let mut checks = Vec::new();
    for command in &options.checks {
        let check =
            Check::new(None, command, CheckOrigin::User).map_err(|error| invalid_check(&error))?;
        session_check::add_check(&mut checks, check).map_err(|error| invalid_check(&error))?;
    }
    if !options.checks.is_empty() {
        return Ok(checks);
    }
    let selected = select_checks(env, config, project)?;
    if selected.checks.is_empty() {
        let hint = match (
            selected.unapproved,
            offer_check(&project.root, config.detection),
        ) {
            (Some(_), _) => {
                "`omo check approve` approves those of omo.toml; or give one: `--check COMMAND`"
                    .to_owned()
            }
            (None, Ok(found)) => format!(
                "give one: `omo prove --check {}`",
                typed_form(found.command)
            ),
            (None, Err(_)) => "give one: `omo prove --check COMMAND`".to_owned(),
        };
        return Err(CommandError::precondition(
            "no check is approved or given",
            hint,
        ));
    }
    Ok(selected.checks)
}

fn invalid_check(error: &session_check::InvalidCheck) -> CommandError {
    CommandError::usage(error.to_string(), "give one command for each `--check`")
}

/// `omo.toml`, if its user approved exactly this version.
fn approved_config(env: &ProcessEnv, project: &Project) -> Option<RepositoryConfig> {
    let repository = RepositoryConfig::read(&project.root)?;
    matches!(
        repository.approval(env.state_home.as_deref()),
        ApprovalState::Yes(_)
    )
    .then_some(repository)
}

fn proof_failure(error: &ProofError) -> CommandError {
    let hint = match error {
        ProofError::Base(_) => "name the commit without the change: `omo prove --base REV`",
        ProofError::Tree(_) | ProofError::Installed(_) => {
            "free some space, or leave out what is not needed"
        }
        ProofError::SetUp(_) => "correct `setup` in omo.toml, and approve it: `omo check approve`",
        ProofError::Cancelled | ProofError::FilesChanged => "run it again",
    };
    CommandError::precondition(format!("nothing could be compared: {error}"), hint)
}

fn judge(proof: &Proof) -> Result<(), CommandError> {
    let total = proof.checks.len();
    let proved = proof
        .checks
        .iter()
        .filter(|check| check.is_proved())
        .count();
    let refuted = proof
        .checks
        .iter()
        .filter(|check| check.is_refuted())
        .count();
    if proved == total {
        return Ok(());
    }
    if refuted > 0 {
        let checks = pluralize(total, "check");
        let message = format!("the change is not proved by {refuted} of {checks}");
        return Err(CommandError::not_green(
            message,
            "docs/proof.md says what a check proves, and what a refactoring does",
        ));
    }
    let message = format!("{} of {total} could not be told", total - proved);
    Err(CommandError::precondition(
        message,
        "the reason stands with each check",
    ))
}

fn ci_check(name: &str, check: &CheckProof) -> CiCheck {
    CiCheck {
        name: name.to_owned(),
        command: check.run.clone(),
        answer: match (check.is_proved(), check.is_refuted()) {
            (true, _) => CiAnswer::Passed,
            (false, true) => CiAnswer::Failed,
            (false, false) => CiAnswer::Error,
        },
        detail: format!("{}: {}", verdict_words(check), check.reason),
        took_millis: 0,
        tests: check.tests.iter().filter_map(test_outcome).collect(),
        lines: check.lines.clone(),
    }
}

fn test_outcome(test: &TestComparison) -> Option<(String, TestOutcome)> {
    let outcome = match test.with {
        TestState::Passed => TestOutcome::Passed,
        TestState::Failed => TestOutcome::Failed,
        TestState::Skipped => TestOutcome::Skipped,
        TestState::Absent | TestState::Unknown => return None,
    };
    Some((test.name.clone(), outcome))
}

fn show(options: &ProveOptions, proof: &Proof) -> Result<(), CommandError> {
    let mut out = anstream::stdout().lock();
    if options.json {
        writeln!(
            out,
            "{}",
            serde_json::to_string_pretty(proof).unwrap_or_default()
        )?;
        return Ok(());
    }
    writeln!(
        out,
        "Compared with {}",
        sanitize(proof.base.get(..12).unwrap_or(&proof.base), 40)
    )?;
    for check in &proof.checks {
        writeln!(
            out,
            "\n{}  {}",
            sanitize(&typed_form(&check.run), 200),
            verdict_words(check)
        )?;
        writeln!(out, "  {}", sanitize(&check.reason, 300))?;
        if let Some(words) = hollow_words(check) {
            writeln!(out, "  with empty bodies: {}", sanitize(&words, 300))?;
        }
        for line in &check.lines {
            writeln!(out, "    {}", sanitize(line, 160))?;
        }
        let counts: Vec<String> = count_changes(&check.tests)
            .into_iter()
            .map(|(word, count)| format!("{count} {word}"))
            .collect();
        if !counts.is_empty() {
            writeln!(out, "  tests: {}", counts.join(", "))?;
        }
        show_tests(&mut out, &check.tests)?;
    }
    for note in &proof.notes {
        writeln!(out, "\nnote: {}", sanitize(note, 300))?;
    }
    Ok(())
}

/// Writes a table of the tests that differ between the sides.
fn show_tests(out: &mut impl Write, tests: &[TestComparison]) -> Result<(), CommandError> {
    let differing: Vec<&TestComparison> = tests
        .iter()
        .filter(|test| test.with != test.without && test.without != TestState::Unknown)
        .collect();
    let rows: Vec<[Cell; 3]> = differing
        .iter()
        .take(MAX_ROWS)
        .map(|test| {
            let name = sanitize(&test.name, MAX_NAME_CHARS);
            [
                Cell::plain(name),
                Cell::plain(state_word(test.without)),
                Cell::plain(state_word(test.with)),
            ]
        })
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    table::write_table(out, ["test", "without", "with"], rows)?;
    let more = differing.len().saturating_sub(MAX_ROWS);
    if more > 0 {
        writeln!(out, "and {more} more: `--json` lists all")?;
    }
    Ok(())
}

fn verdict_words(check: &CheckProof) -> &'static str {
    match (check.with, check.without) {
        (WithChange::Red, _) => "not green with the change",
        (WithChange::Unknown, _) => "it could not be run",
        (WithChange::Green, WithoutChange::Red) => "green, red without the change: proved",
        (WithChange::Green, WithoutChange::NotBuilt) => match check.hollow {
            HollowAnswer::Red => {
                "green, cannot be built without the change, red with empty bodies: proved"
            }
            HollowAnswer::Green { .. } => {
                "green, cannot be built without the change, green with empty bodies"
            }
            _ => "green; cannot be built without the change, and that alone shows nothing",
        },
        (WithChange::Green, WithoutChange::Green) => "green, and green without the change, too",
        (WithChange::Green, WithoutChange::Unknown) => {
            "green; without the change it could not be told"
        }
    }
}

fn hollow_words(check: &CheckProof) -> Option<String> {
    match &check.hollow {
        HollowAnswer::NotAsked => None,
        HollowAnswer::Red => Some("red, its tests notice".to_owned()),
        HollowAnswer::Green { .. } => check.hollow.green_words(),
        HollowAnswer::Unknown(why) => Some(why.clone()),
    }
}

fn state_word(state: TestState) -> &'static str {
    match state {
        TestState::Passed => "passed",
        TestState::Failed => "failed",
        TestState::Skipped => "skipped",
        TestState::Absent => "absent",
        TestState::Unknown => "not named",
    }
}

struct ProofProgress {
    line: ProgressLine,
    interrupted: Arc<AtomicBool>,
}

impl ProofProgress {
    fn new() -> Self {
        let interrupted = Arc::new(AtomicBool::new(false));
        termination::flag_termination(&interrupted);
        Self {
            line: ProgressLine::new(),
            interrupted,
        }
    }
}

impl ProofWatcher for ProofProgress {
    fn preparing(&mut self, file_count: usize) {
        self.line
            .begin("copying".to_owned(), format!("{file_count} files, twice"));
    }

    fn check_started(&mut self, check: &Check, with_change: bool) {
        let side = if with_change {
            "with the change"
        } else {
            "without the change"
        };
        self.line
            .begin(side.to_owned(), sanitize(&typed_form(&check.command), 60));
    }

    fn should_continue(&mut self) -> bool {
        self.line.tick();
        !self.interrupted.load(Ordering::Relaxed)
    }
}
