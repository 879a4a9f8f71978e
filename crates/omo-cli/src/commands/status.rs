//! `omo status`: where each session stands.

use std::io::Write;

use clap::Args;
use omo_core::log_entry::LogEntry;
use omo_core::messages::status_report::{HEADING, StatusReport, UlwState, status_report};
use omo_core::session::id::SessionId;
use omo_core::session::{EntryProvenance, Session};
use omo_state::config::UserConfig;
use omo_state::decision_log;
use omo_state::env::ProcessEnv;
use omo_state::state::{self, sealed_plan_run};
use unicode_width::UnicodeWidthStr;

use crate::config_problems::warn_about_config;
use crate::error::CommandError;
use crate::project::Project;

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

/// Shows the sessions: the armed ones first, then the last ones that ended.
pub(crate) fn run(env: &ProcessEnv, config: &UserConfig, options: &StatusOptions) -> Result<(), CommandError> {
    warn_about_config(config);
    let project = Project::find_named(env, options.session.as_deref())?;
    let mut sessions = project.sessions()?;
    if let Some(id) = project.named_session() {
        sessions.retain(|(known, _)| known == id);
        if sessions.is_empty() {
            let hint = "`omo status` lists the sessions of this project";
            return Err(CommandError::not_found(format!("no session `{id}` in {}", project.root.display()), hint));
        }
    }
    sessions.sort_by_key(|(_, session)| std::cmp::Reverse((session.is_armed(), session.updated_at)));
    let log = project.folder.as_ref().map(decision_log::read_all).transpose()?.unwrap_or_default();
    let reports: Vec<StatusReport> =
        sessions.iter().map(|(id, session)| gather(&project, id, session, &log, env)).collect();
    let mut out = anstream::stdout().lock();
    if options.json {
        let json = serde_json::to_string_pretty(&reports).unwrap_or_default();
        writeln!(out, "{json}")?;
    } else {
        show(&mut out, &project, &reports, env)?;
    }
    Ok(())
}

fn gather(project: &Project, id: &SessionId, session: &Session, log: &[LogEntry], env: &ProcessEnv) -> StatusReport {
    let last = log.iter().rfind(|entry| entry.session == id.as_str()).cloned();
    let plan = sealed_plan_run::authentic_run(session, id, env.state_home.as_deref());
    let provenance = state::provenance(&project.root, id, session, env.state_home.as_deref());
    let provenance = provenance.unwrap_or(EntryProvenance::Foreign);
    status_report(id.as_str(), &session.as_believed(provenance, env.now), plan, last, env.client_block_cap)
}

fn show(
    out: &mut impl Write,
    project: &Project,
    reports: &[StatusReport],
    env: &ProcessEnv,
) -> Result<(), CommandError> {
    if reports.is_empty() {
        writeln!(out, "No session of {} has used ultrawork.", project.root.display())?;
        writeln!(out, "Type `ulw` and a task in a Claude Code prompt to turn it on.")?;
        return Ok(());
    }
    if env.disabled {
        writeln!(out, "OMO_DISABLE=1 is set here: with it in a session's environment, nothing is held.\n")?;
    }
    for (index, report) in reports.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        show_one(out, report, env)?;
    }
    Ok(())
}

fn show_one(out: &mut impl Write, report: &StatusReport, env: &ProcessEnv) -> Result<(), CommandError> {
    let rows = report.rows(env.now);
    let width = rows.iter().map(|(label, _)| label.width()).max().unwrap_or(0);
    writeln!(out, "{HEADING}")?;
    for (label, value) in rows {
        let style = style(label, report.state);
        let dim = anstyle::Style::new().dimmed();
        let pad = " ".repeat(width - label.width());
        writeln!(out, "{dim}{label}{dim:#}{pad}  {style}{value}{style:#}")?;
    }
    Ok(())
}

fn style(label: &str, state: UlwState) -> anstyle::Style {
    use anstyle::AnsiColor::{Green, Yellow};
    match (label, state) {
        ("ultrawork", UlwState::On) => Green.on_default().bold(),
        ("ultrawork", UlwState::Paused) | ("finding", _) => Yellow.on_default().bold(),
        _ => anstyle::Style::new(),
    }
}
