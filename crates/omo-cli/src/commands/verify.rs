//! `omo verify`: runs the checks with the code that judges a claim, and prints a table of results.

mod last;
mod task;

use std::io::Write;
use std::path::Path;

use clap::Args;
use omo_checks::repository_config::RepositoryConfig;
use omo_checks::session_checks::{self, CheckContext, EvidenceReuse};
use omo_checks::starting_checks;
use omo_core::check::ci_report::{CiAnswer, CiCheck};
use omo_core::check::printed_output::QUOTED_LINES;
use omo_core::check::session_check::{Check, CheckRecord, CheckVerdict, TestCounts};
use omo_core::messages::checks::changed_since_approval;
use omo_core::stop::claim::CheckResult;
use omo_core::text::{format_age, format_duration};
use omo_git::git_command::GitCalls;
use omo_git::work_files::WorkFiles;
use omo_process::environment::CheckEnvironment;
use omo_state::config::UserConfig;
use omo_state::env::{self, ProcessEnv};
use omo_state::files::folder::GuardedFolder;
use omo_state::seal::hex_digest;
use serde::Serialize;

use crate::error::CommandError;
use crate::last_run::LastRun;
use crate::output::ci_format::CiOptions;
use crate::output::progress::SessionCheckProgress;
use crate::output::table::{self, Cell};
use crate::output::verdict_style;
use crate::project::{Project, sealed_session};
use crate::repository_sessions::find_project;

const HELP: &str = "\
Examples:
  omo verify               a table, and the end of what each red check printed
  omo verify --format junit > checks.xml   for a CI service
  omo verify --task 3      the checks of one task of the plan run that is open
  omo verify --last        how the last run ended: `claude -p` does not say it

The exit status is 0 only when everything is green, and 1 when it is not or when
there is no check, so `omo verify && git push` does what it says. Whose checks:
those of this shell's session, else of the only one on, else of the run that
ended last, else those of a new run.";

/// Run the checks now; the same code that judges a claim
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct VerifyOptions {
    /// The checks of this session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// The checks of this task of a plan run instead
    #[arg(
        long,
        value_name = "ID",
        conflicts_with = "session",
        allow_hyphen_values = true
    )]
    pub task: Option<String>,
    /// The plan run of the task, if not the open one
    #[arg(long, value_name = "ID", requires = "task")]
    pub run: Option<String>,
    /// Print how the last run ended, and run nothing
    #[arg(long, conflicts_with_all = ["task", "run", "format"])]
    pub last: bool,
    /// Print JSON: one object with a list of the checks
    #[arg(long, conflicts_with = "task")]
    pub json: bool,
    #[command(flatten)]
    pub ci: CiOptions,
}

pub(crate) struct SelectedChecks {
    pub checks: Vec<Check>,
    pub unapproved: Option<RepositoryConfig>,
    pub scope: Option<String>,
    changed: Option<String>,
}

pub(crate) fn select_checks(
    env: &ProcessEnv,
    config: &UserConfig,
    project: &Project,
) -> Result<SelectedChecks, CommandError> {
    let anew = starting_checks::gather_checks(
        config.checks_for(&project.root),
        &project.root,
        env.state_home.as_deref(),
    );
    let (not_approved, changed) = (anew.not_approved, anew.changed);
    let session_id = project.find_session(env)?;
    let of_session = match session_id {
        Some(id) => Some(sealed_session(env, project, &id)?),
        None => LastRun::find(env, project).ok().map(|last| last.session),
    };
    let of_session =
        of_session.filter(|session| session.ulw.started_at.is_some() && !session.is_disowned());
    let (checks, scope) = of_session.map_or((anew.checks, None), |session| {
        (session.checks, session.verification.scope)
    });
    Ok(SelectedChecks {
        checks,
        unapproved: not_approved,
        scope,
        changed,
    })
}

pub(crate) fn run(
    env: &ProcessEnv,
    config: &UserConfig,
    options: &VerifyOptions,
) -> Result<(), CommandError> {
    if let Some(id) = &options.task {
        return task::verify_task(env, id, options.run.as_deref());
    }
    if options.last {
        return last::print_last(env, options.session.as_deref(), options.json);
    }
    crate::config_problems::require_valid_config(config)?;
    if env.in_check {
        return Err(CommandError::precondition(
            "a check cannot run the checks",
            "remove `omo verify` from what the check runs",
        ));
    }
    let project = find_project(env, options.session.as_deref())?;
    let SelectedChecks {
        checks,
        unapproved: not_approved,
        scope,
        changed,
    } = select_checks(env, config, &project)?;
    if checks.is_empty() && not_approved.is_none() {
        let hint = "`/omo:check add <command>` in a session, [[check]] in config.toml, or an approved omo.toml";
        return Err(CommandError::not_green(
            "no check decides here, so nothing is proved",
            hint,
        ));
    }
    let environment = CheckEnvironment::from_variables(env::variables(), &project.root);
    let logs = match project.folder {
        Some(folder) => Some(folder),
        None => own_logs(env, &project.root),
    };
    let calls = GitCalls::default();
    let files = WorkFiles::new(
        &project.root,
        env.state_home.as_deref(),
        &calls,
        scope.as_deref(),
    );
    let setup = CheckContext {
        root: &project.root,
        state_home: env.state_home.as_deref(),
        logs: logs.as_ref(),
        files: &files,
        environment: &environment,
        reuse: EvidenceReuse::Never,
    };
    let verified = session_checks::verify(&checks, &setup, &mut SessionCheckProgress::new());
    let mut lines: Vec<CheckRow> = checks
        .iter()
        .zip(&verified.results)
        .map(|(check, result)| CheckRow::new(check, result))
        .collect();
    lines.extend(
        not_approved
            .iter()
            .flat_map(|repository| &repository.checks)
            .map(|check| CheckRow::of_unapproved(check, changed.as_deref())),
    );
    let is_green =
        lines.iter().all(|line| line.verdict == CheckVerdict::Green) && !verified.tree_moves;
    let report = VerifyReport {
        green: is_green,
        tree: verified.tree,
        tree_moves: verified.tree_moves,
        checks: lines,
    };
    if options.ci.format.is_some() {
        let rows: Vec<CiCheck> = report
            .checks
            .iter()
            .map(|row| row.ci_check(&verified.results))
            .collect();
        options.ci.print("omo verify", &project.root, &rows)?;
    } else {
        show(env, options, &report, &verified.results)?;
    }
    if is_green {
        return Ok(());
    }
    let red = report
        .checks
        .iter()
        .filter(|line| line.verdict != CheckVerdict::Green)
        .count();
    let message = match red {
        0 => {
            let moving = verified
                .moving_file
                .as_deref()
                .map(omo_core::messages::checks::name_among_files)
                .unwrap_or_default();
            format!(
                "files that git sees were written while the checks ran{moving}, so they prove nothing about the files as \
                 they are now"
            )
        }
        red => format!("{red} of {} checks not green", report.checks.len()),
    };
    Err(CommandError::not_green(
        message,
        "the log of each has all that it printed",
    ))
}

/// The user's own folder for logs, so that a project without omo stays untouched.
fn own_logs(env: &ProcessEnv, root: &Path) -> Option<GuardedFolder> {
    let project = hex_digest(root.as_os_str().as_encoded_bytes());
    GuardedFolder::create_user_part(
        env.state_home.as_deref()?,
        &["omo", "logs", project.get(..32)?],
    )
    .ok()
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct VerifyReport {
    green: bool,
    tree: Option<String>,
    tree_moves: bool,
    checks: Vec<CheckRow>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CheckRow {
    name: String,
    run: String,
    verdict: CheckVerdict,
    detail: String,
    counts: Option<TestCounts>,
    took_millis: u64,
    evidence: Option<CheckRecord>,
    log: Option<String>,
}

impl CheckRow {
    fn new(check: &Check, result: &CheckResult) -> Self {
        let record = result.record.clone();
        Self {
            name: check.name.clone(),
            run: check.command.clone(),
            verdict: record.verdict,
            detail: record.detail,
            counts: record.counts,
            took_millis: record.took_millis,
            evidence: check.last.clone(),
            log: record.log,
        }
    }

    fn of_unapproved(check: &Check, changed: Option<&str>) -> Self {
        let since = changed.map(changed_since_approval).unwrap_or_default();
        let detail = format!("omo.toml is not approved{since}: `omo check approve`");
        let record = CheckRecord {
            verdict: CheckVerdict::NotApproved,
            detail,
            ..CheckRecord::default()
        };
        Self::new(
            check,
            &CheckResult {
                record,
                ..CheckResult::default()
            },
        )
    }

    fn ci_check(&self, results: &[CheckResult]) -> CiCheck {
        let result = results.iter().find(|result| result.name == self.name);
        let tests = result.into_iter().flat_map(|result| result.tests.iter());
        CiCheck {
            name: self.name.clone(),
            command: self.run.clone(),
            answer: match self.verdict {
                CheckVerdict::Green => CiAnswer::Passed,
                CheckVerdict::Failed | CheckVerdict::NothingRan => CiAnswer::Failed,
                CheckVerdict::TimedOut | CheckVerdict::NotApproved | CheckVerdict::NotStarted => {
                    CiAnswer::Error
                }
            },
            detail: self.detail.clone(),
            took_millis: self.took_millis,
            tests: tests
                .map(|(name, outcome)| (name.to_owned(), outcome))
                .collect(),
            lines: result
                .map(|result| result.printed.excerpt(QUOTED_LINES))
                .unwrap_or_default(),
        }
    }
}

fn show(
    env: &ProcessEnv,
    options: &VerifyOptions,
    report: &VerifyReport,
    results: &[CheckResult],
) -> Result<(), CommandError> {
    let mut out = anstream::stdout().lock();
    if options.json {
        writeln!(
            out,
            "{}",
            serde_json::to_string_pretty(report).unwrap_or_default()
        )?;
        return Ok(());
    }
    let heads = [
        "check", "verdict", "run", "failed", "skipped", "time", "evidence", "log",
    ];
    table::write_table(
        &mut out,
        heads,
        report
            .checks
            .iter()
            .map(|line| table_row(line, report, env))
            .collect(),
    )?;
    for line in report
        .checks
        .iter()
        .filter(|line| line.verdict != CheckVerdict::Green)
    {
        writeln!(out, "\n{}: {}", line.name, line.detail)?;
        let result = results.iter().find(|result| result.name == line.name);
        for printed in result
            .map(|result| result.printed.excerpt(QUOTED_LINES))
            .unwrap_or_default()
        {
            writeln!(out, "  {}", omo_core::text::sanitize(&printed, 160))?;
        }
    }
    Ok(())
}

fn table_row(line: &CheckRow, report: &VerifyReport, env: &ProcessEnv) -> [Cell; 8] {
    let evidence = match &line.evidence {
        None => "none".to_owned(),
        Some(record) if record.tree.is_some() && record.tree == report.tree => {
            format!("{} old", format_age(record.at, env.now))
        }
        Some(_) => "stale".to_owned(),
    };
    [
        Cell::plain(&line.name),
        Cell::new(line.verdict.word(), verdict_style(line.verdict)),
        count_cell(line, |counts| counts.run),
        count_cell(line, |counts| counts.failed),
        count_cell(line, |counts| counts.skipped),
        Cell::plain(format_duration(line.took_millis)),
        Cell::plain(evidence),
        Cell::plain(line.log.as_deref().unwrap_or("-")),
    ]
}

fn count_cell(line: &CheckRow, pick: fn(&TestCounts) -> u64) -> Cell {
    Cell::plain(
        line.counts
            .as_ref()
            .map_or_else(|| "-".to_owned(), |counts| pick(counts).to_string()),
    )
}
