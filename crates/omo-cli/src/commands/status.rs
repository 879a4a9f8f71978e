//! `omo status`: the state of each session.

use std::io::Write;

use anstyle::AnsiColor::{Green, Red, Yellow};
use anstyle::Style;
use clap::Args;
use omo_checks::claim_proof::known_counterfactual;
use omo_core::log_entry::LogEntry;
use omo_core::messages::plan::status_row;
use omo_core::messages::status_report::{HEADING, StatusReport, UlwState, status_report};
use omo_core::session::id::SessionId;
use omo_core::session::plan_run::PlanRun;
use omo_core::session::{EntryProvenance, Session, VerdictKind};
use omo_core::text::sanitize;
use omo_core::timestamp::Timestamp;
use omo_engine::RunStore;
use omo_engine::state::RunPhase;
use omo_engine::view::{FoundFacts, RunFacts, run_view};
use omo_state::config::UserConfig;
use omo_state::decision_log;
use omo_state::env::ProcessEnv;
use omo_state::state::{self, sealed_plan_run};
use omo_view::text::working_lines;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use crate::blocks::next_at_terminal;
use crate::config_problems::warn_about_config;
use crate::context::{open_runs, session_entry};
use crate::error::CommandError;
use crate::last_run::changed_files;
use crate::local_time::LocalClock;
use crate::output::{print_json, stdout_columns};
use crate::plan_run_view::ended_workers;
use crate::project::Project;
use crate::repository_sessions::find_project;
use crate::short_id::ShortIds;

const HELP: &str = "\
Examples:
  omo status               the phase, the bounds and the last decision
  omo status --json        the same for a script, or for a status line

It reads and never writes, whatever state the session is in.";

/// Show where each session of this project stands
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct StatusOptions {
    /// Only this session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Print JSON: a list with one object for each session
    #[arg(long)]
    pub json: bool,
}

pub(crate) fn run(
    env: &ProcessEnv,
    config: &UserConfig,
    options: &StatusOptions,
) -> Result<(), CommandError> {
    warn_about_config(config);
    let project = find_project(env, options.session.as_deref())?;
    let mut sessions = project.sessions()?;
    let short = ShortIds::new(sessions.iter().map(|(id, _)| id.as_str()));
    if let Some(id) = project.named_session() {
        sessions.retain(|(known, _)| known == id);
        if sessions.is_empty() {
            let hint = "`omo status` lists the sessions of this project";
            return Err(CommandError::not_found(
                format!("no session `{id}` in {}", project.root.display()),
                hint,
            ));
        }
    }
    sessions
        .sort_by_key(|(_, session)| std::cmp::Reverse((session.is_armed(), session.updated_at)));
    let mut log = project
        .folder
        .as_ref()
        .map(decision_log::last_decisions)
        .transpose()?
        .unwrap_or_default();
    let mut reports: Vec<StatusReport> = sessions
        .iter()
        .map(|(id, session)| gather(&project, id, session, log.remove(id.as_str()), env))
        .collect();
    // Of the ended runs, only the last has its files compared.
    if let Some(report) = reports.iter_mut().find(|report| report.state == UlwState::Ended)
        && let Some((id, session)) = sessions.iter().find(|(id, _)| id.as_str() == report.session)
        // The report of an untrusted entry has no such verdict.
        && report.verdict.as_ref().is_some_and(|verdict| verdict.kind == VerdictKind::Verified)
        && let Some(changed) = changed_files(env, &project, id, session)
    {
        report.findings.push(format!("verified; {changed}"));
    }
    let clock = LocalClock::from_process(env.now);
    let lines: Vec<SessionStatus> = reports
        .into_iter()
        .map(|report| SessionStatus::new(report, &clock, &project, env))
        .collect();
    if options.json {
        return print_json(&lines);
    }
    show(&project, &lines, &short, &clock, env)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SessionStatus {
    #[serde(flatten)]
    report: StatusReport,
    started_at_local: Option<String>,
    workers: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    taken_over: Option<String>,
}

impl SessionStatus {
    fn new(report: StatusReport, clock: &LocalClock, project: &Project, env: &ProcessEnv) -> Self {
        let started_at_local = report.started_at.map(|at| clock.rfc_3339(at));
        let mut status = Self {
            report,
            started_at_local,
            workers: Vec::new(),
            taken_over: None,
        };
        status.read_ledger(project, env);
        status
    }

    /// Reads the plan run from its ledger: the session's entry may be older than a takeover or the end of a supervisor.
    fn read_ledger(&mut self, project: &Project, env: &ProcessEnv) {
        let Some(known) = self.report.plan_run.take() else {
            return;
        };
        let runs = RunStore::find(&project.root, env.state_home.as_deref())
            .ok()
            .flatten();
        let run = runs.and_then(|runs| runs.get(&known.id).ok());
        let Some((run, state)) = run.and_then(|run| run.state().ok().map(|state| (run, state)))
        else {
            self.report.plan_run = Some(known);
            return;
        };
        if state.holder.session.as_deref() != Some(&self.report.session) {
            let (plan, holder) = (sanitize(&known.plan, 200), state.holder.describe());
            self.taken_over = Some(format!(
                "{plan}: held by {holder} now (run {})",
                sanitize(&known.id, 64)
            ));
            return;
        }
        let now = session_entry(&run, &state);
        self.report.plan_run = Some(PlanRun {
            prompt_at: known.prompt_at,
            updated_at: known.updated_at,
            ..now
        });
        if state.phase == RunPhase::Executing {
            let found = FoundFacts {
                ended_workers: ended_workers(&run, &state),
                ..FoundFacts::default()
            };
            let view = run_view(&RunFacts {
                found,
                ..RunFacts::of_state(run.id(), &state)
            });
            self.workers = working_lines(&view, env.now);
        }
    }
}

fn gather(
    project: &Project,
    id: &SessionId,
    session: &Session,
    last: Option<LogEntry>,
    env: &ProcessEnv,
) -> StatusReport {
    let plan = sealed_plan_run::authentic_run(session, id, env.state_home.as_deref());
    let provenance = state::provenance(&project.root, id, session, env.state_home.as_deref());
    let provenance = provenance.unwrap_or(EntryProvenance::Foreign);
    let session = session.as_believed(provenance, env.now);
    let comparison = env
        .state_home
        .as_deref()
        .map(|home| known_counterfactual(home, id, &session).words());
    let report = status_report(id.as_str(), &session, plan, last, env.client_block_cap);
    StatusReport {
        comparison: comparison.unwrap_or_default(),
        ..report
    }
}

fn show(
    project: &Project,
    lines: &[SessionStatus],
    short: &ShortIds,
    clock: &LocalClock,
    env: &ProcessEnv,
) -> Result<(), CommandError> {
    let mut out = anstream::stdout().lock();
    let shown = |id: &str| {
        let mut own = lines
            .iter()
            .filter_map(|line| line.report.plan_run.as_ref());
        own.any(|run| run.id == id)
    };
    let mut others = match project.named_session() {
        Some(_) => Vec::new(),
        None => open_runs(&project.root, env)?,
    };
    others.retain(|(run, _)| !shown(run.id()));
    for (run, state) in &others {
        let row = status_row(&session_entry(run, state));
        writeln!(out, "{PLAN_RUN}  {row} (run {})", sanitize(run.id(), 64))?;
        writeln!(out, "next      {}", next_at_terminal(state))?;
    }
    if !others.is_empty() {
        if lines.is_empty() {
            return Ok(());
        }
        writeln!(out)?;
    }
    if lines.is_empty() {
        writeln!(
            out,
            "No session of {} has used ultrawork.",
            project.root.display()
        )?;
        writeln!(
            out,
            "Type `ulw` and a task in a Claude Code prompt to turn it on."
        )?;
        return Ok(());
    }
    if env.disabled {
        writeln!(
            out,
            "OMO_DISABLE=1 is set here: with it in a session's environment, nothing is held.\n"
        )?;
    }
    let columns = stdout_columns();
    for (index, line) in lines.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        let rows = rows(line, short, clock, env.now);
        write_rows(&mut out, &line.report, &rows, columns)?;
    }
    Ok(())
}

fn rows(
    line: &SessionStatus,
    short: &ShortIds,
    clock: &LocalClock,
    now: Timestamp,
) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    for (label, value) in line.report.rows(now, &|at| clock.describe(at)) {
        match label {
            "session" => rows.push((label, short.get(&value).to_owned())),
            PLAN_RUN => {
                let id = line
                    .report
                    .plan_run
                    .as_ref()
                    .map(|run| format!(" (run {})", sanitize(&run.id, 64)));
                rows.push((label, value + &id.unwrap_or_default()));
                rows.extend(line.workers.iter().map(|worker| ("worker", worker.clone())));
            }
            _ => rows.push((label, value)),
        }
    }
    rows.extend(
        line.taken_over
            .iter()
            .map(|holder| (PLAN_RUN, holder.clone())),
    );
    rows
}

fn write_rows(
    out: &mut impl Write,
    report: &StatusReport,
    rows: &[(&'static str, String)],
    columns: Option<usize>,
) -> std::io::Result<()> {
    let width = rows
        .iter()
        .map(|(label, _)| label.width())
        .max()
        .unwrap_or(0);
    let room = columns.map_or(usize::MAX, |columns| {
        columns.saturating_sub(width + 2).max(LEAST_ROOM)
    });
    let gap = format!("\n{}", " ".repeat(width + 2));
    writeln!(out, "{HEADING}")?;
    for (label, value) in rows {
        let style = style(label, report);
        let dim = Style::new().dimmed();
        let value = textwrap::wrap(value, room).join(&gap);
        writeln!(out, "{dim}{label:<width$}{dim:#}  {style}{value}{style:#}")?;
    }
    Ok(())
}

const LEAST_ROOM: usize = 24;
const PLAN_RUN: &str = "plan run";

fn style(label: &str, report: &StatusReport) -> Style {
    let verdict = report.verdict.as_ref().map(|verdict| verdict.kind);
    let waits = report
        .plan_run
        .as_ref()
        .is_some_and(|run| run.is_open() && run.waits.is_some());
    let colour = match (label, report.state, verdict) {
        ("ultrawork", UlwState::Paused, _) | ("finding" | "weakened", ..) => Yellow,
        ("ultrawork", UlwState::On, _)
        | ("ultrawork", UlwState::Ended, Some(VerdictKind::Verified)) => Green,
        ("ultrawork", UlwState::Ended, Some(kind)) if kind != VerdictKind::Stopped => Red,
        (PLAN_RUN, ..) if waits => Yellow,
        _ => return Style::new(),
    };
    colour.on_default().bold()
}

#[cfg(test)]
mod tests {
    use omo_core::messages::status_report::status_report;
    use omo_core::session::UlwVerdict;

    use super::*;

    fn report() -> StatusReport {
        let plan_run = PlanRun {
            id: "r-1".to_owned(),
            plan: "docs/plan.md".to_owned(),
            total: 7,
            passed: 3,
            waits: Some("go on after the first batch, which has changed the build?".to_owned()),
            ..PlanRun::default()
        };
        let (kind, at) = (VerdictKind::Expired, Timestamp::from_millis(0));
        let verdict = UlwVerdict {
            kind,
            at,
            why: "the time is up".to_owned(),
        };
        let session = Session {
            verdict: Some(verdict),
            ..Session::default()
        };
        status_report(
            "0b7f2a9c-4444-4444-8888-1234567890ab",
            &session,
            Some(&plan_run),
            None,
            None,
        )
    }

    fn text(columns: Option<usize>) -> String {
        let line = SessionStatus {
            report: report(),
            started_at_local: None,
            workers: vec![
                "auth at work in /home/me/a/long/path/to/the/worktree/of/the/worker".to_owned(),
            ],
            taken_over: None,
        };
        let now = Timestamp::from_millis(240_000);
        let short = ShortIds::new(["0b7f2a9c-4444-4444-8888-1234567890ab"]);
        let mut out = Vec::new();
        let rows = rows(&line, &short, &LocalClock::from_process(now), now);
        write_rows(&mut out, &line.report, &rows, columns).unwrap();
        anstream::adapter::strip_str(&String::from_utf8(out).unwrap()).to_string()
    }

    #[test]
    fn a_status_is_as_wide_as_its_terminal_and_says_all_of_it() {
        for columns in [60, 80, 100] {
            let text = text(Some(columns));
            assert!(text.lines().all(|line| line.width() <= columns), "{text}");
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(
                text.contains("0b7f2a9c\n")
                    && words.contains("NOT PROVED: the work was never claimed"),
                "{text}"
            );
            assert!(words.contains("ended 4 min ago: the time is up"), "{text}");
        }
        let text = text(None);
        let run = "plan run   docs/plan.md: 3 of 7 done, waits for you: go on after the first batch, which has changed the \
                   build? (run r-1)\nworker     auth at work in /home/me/a/long/path/to/the/worktree/of/the/worker\n";
        assert!(text.contains(run), "{text}");
    }

    #[test]
    fn a_verdict_and_a_question_have_their_colours() {
        let colour = |label, kind| {
            let mut report = report();
            report.verdict.as_mut().unwrap().kind = kind;
            style(label, &report).get_fg_color()
        };
        assert_eq!(
            colour("ultrawork", VerdictKind::Verified),
            Some(Green.into())
        );
        assert_eq!(colour("ultrawork", VerdictKind::Released), Some(Red.into()));
        assert_eq!(colour("ultrawork", VerdictKind::Stopped), None);
        assert_eq!(colour(PLAN_RUN, VerdictKind::Stopped), Some(Yellow.into()));
    }
}
