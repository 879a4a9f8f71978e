//! `omo status`: where each session stands.

use std::io::Write;

use omo_core::log::LogEntry;
use omo_core::report::{HEADING, Report, State, report};
use omo_core::session::{Provenance, Session};
use omo_core::session_id::SessionId;
use omo_store::decisions;
use omo_store::env::Env;
use omo_store::plan_run;
use omo_store::state;
use unicode_width::UnicodeWidthStr;

use crate::arguments::StatusOptions;
use crate::failure::Failure;
use crate::project::{Project, named_or_own};

/// Shows the sessions: the armed ones first, then the last ones that ended.
pub(crate) fn run(env: &Env, options: &StatusOptions) -> Result<(), Failure> {
    let project = Project::find(env)?;
    let mut sessions = project.sessions()?;
    if let Some(id) = named_or_own(options.session.as_deref(), &Env { session_id: None, ..env.clone() })? {
        sessions.retain(|(known, _)| *known == id);
        if sessions.is_empty() {
            let hint = "`omo status` lists the sessions of this project";
            return Err(Failure::not_found(format!("no session `{id}` in {}", project.root.display()), hint));
        }
    }
    sessions.sort_by_key(|(_, session)| std::cmp::Reverse((session.is_armed(), session.updated_at)));
    let log = project.folder.as_ref().map(decisions::read).transpose()?.unwrap_or_default();
    let reports: Vec<Report> = sessions.iter().map(|(id, session)| gather(&project, id, session, &log, env)).collect();
    let mut out = anstream::stdout().lock();
    if options.json {
        let json = serde_json::to_string_pretty(&reports).unwrap_or_default();
        writeln!(out, "{json}")?;
    } else {
        show(&mut out, &project, &reports, env)?;
    }
    Ok(())
}

fn gather(project: &Project, id: &SessionId, session: &Session, log: &[LogEntry], env: &Env) -> Report {
    let last = log.iter().rfind(|entry| entry.session == id.as_str()).cloned();
    let plan = plan_run::own(session, id, env.state_home.as_deref());
    let provenance = state::provenance(&project.root, id, session, env.state_home.as_deref());
    let provenance = provenance.unwrap_or(Provenance::Foreign);
    report(id.as_str(), &session.believed(provenance, env.now), plan, last, env.client_block_cap)
}

fn show(out: &mut impl Write, project: &Project, reports: &[Report], env: &Env) -> Result<(), Failure> {
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

fn show_one(out: &mut impl Write, report: &Report, env: &Env) -> Result<(), Failure> {
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

fn style(label: &str, state: State) -> anstyle::Style {
    use anstyle::AnsiColor::{Green, Yellow};
    match (label, state) {
        ("ultrawork", State::On) => Green.on_default().bold(),
        ("ultrawork", State::Paused) | ("finding", _) => Yellow.on_default().bold(),
        _ => anstyle::Style::new(),
    }
}
