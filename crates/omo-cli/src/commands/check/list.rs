//! `omo check list`: the checks of a claim, and of `omo.toml`.

use std::io::Write;

use anstyle::Style;
use clap::Args;
use omo_checks::repository_config::{ApprovalState, RepositoryConfig};
use omo_core::check::session_check::Check;
use omo_core::messages::checks::{changed_since_approval, describe_check, describe_checks};
use omo_core::text::command_text::{is_plain_text, show_whole};
use omo_state::config::UserConfig;
use omo_state::env::ProcessEnv;
use serde::Serialize;

use crate::commands::check::change::digest_of;
use crate::commands::verify;
use crate::error::CommandError;
use crate::output::table::{self, Cell};
use crate::output::{print_json, verdict_style};
use crate::project::{Project, SessionOptions};

const HELP: &str = "\
Examples:
  omo check list
  omo check list --json    the same for a script";

/// Show what judges a claim, and what omo.toml asks for
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct CheckListOptions {
    #[command(flatten)]
    pub session: SessionOptions,
    /// Print JSON: one object with the checks, and with what omo.toml asks for
    #[arg(long)]
    pub json: bool,
}

#[derive(Serialize)]
struct CheckListReport {
    checks: Vec<Check>,
    digest: Option<String>,
    repository: Option<RepositoryReport>,
}

#[derive(Serialize)]
struct RepositoryReport {
    approved: bool,
    digest: String,
    checks: Vec<Check>,
    setup: Option<String>,
    problems: Vec<String>,
}

impl RepositoryReport {
    fn new(repository: RepositoryConfig, env: &ProcessEnv) -> Self {
        Self {
            approved: matches!(
                repository.approval(env.state_home.as_deref()),
                ApprovalState::Yes(_)
            ),
            problems: repository
                .problems
                .iter()
                .map(ToString::to_string)
                .collect(),
            digest: repository.digest,
            checks: repository.checks,
            setup: repository.setup,
        }
    }
}

pub(crate) fn run(
    env: &ProcessEnv,
    config: &UserConfig,
    project: &Project,
    options: &CheckListOptions,
) -> Result<(), CommandError> {
    let checks = verify::select_checks(env, config, project)?.checks;
    if options.json {
        let digest = (!checks.is_empty()).then(|| digest_of(&checks));
        let repository =
            RepositoryConfig::read(&project.root).map(|found| RepositoryReport::new(found, env));
        return print_json(&CheckListReport {
            checks,
            digest,
            repository,
        });
    }
    let mut out = anstream::stdout().lock();
    if checks.is_empty() {
        writeln!(
            out,
            "No check decides here. `/omo:check add <command>` in a session adds one."
        )?;
    } else {
        let rows = checks.iter().map(|check| {
            let last = check
                .last
                .as_ref()
                .map_or("not run yet", |record| record.verdict.word());
            let command = if is_on_one_line(check) {
                check.command.as_str()
            } else {
                "(below)"
            };
            let style = check
                .last
                .as_ref()
                .map_or(Style::new(), |record| verdict_style(record.verdict));
            [
                Cell::plain(&check.name),
                Cell::plain(check.origin.word()),
                Cell::new(last, style),
                Cell::plain(command),
            ]
        });
        table::write_table(
            &mut out,
            ["check", "from", "last", "command"],
            rows.collect(),
        )?;
        for check in checks.iter().filter(|check| !is_on_one_line(check)) {
            writeln!(out, "\n{}", describe_check(check, "  "))?;
        }
        writeln!(out, "\ndigest of these checks: {}", digest_of(&checks))?;
    }
    if let Some(repository) = RepositoryConfig::read(&project.root) {
        show_repository_checks(&mut out, env, &repository)?;
    }
    Ok(())
}

fn is_on_one_line(check: &Check) -> bool {
    is_plain_text(&check.command) && check.cwd.is_none() && check.env.is_empty()
}

fn show_repository_checks(
    out: &mut impl Write,
    env: &ProcessEnv,
    repository: &RepositoryConfig,
) -> Result<(), CommandError> {
    for problem in &repository.problems {
        writeln!(out, "\n{problem}; nothing of omo.toml runs")?;
    }
    if repository.problems.is_empty() {
        let approval = repository.approval(env.state_home.as_deref());
        let stands = match &approval {
            ApprovalState::Yes(_) => "approved".to_owned(),
            ApprovalState::Before { changed } => {
                format!(
                    "not approved{}: nothing of it runs",
                    changed_since_approval(changed)
                )
            }
            ApprovalState::No => "not approved: nothing of it runs".to_owned(),
        };
        writeln!(out, "\nomo.toml is {stands}")?;
        if !matches!(approval, ApprovalState::Yes(_)) && !repository.checks.is_empty() {
            writeln!(
                out,
                "{}",
                describe_checks(&repository.checks, None, &repository.pinned)
            )?;
        }
        writeln!(out, "digest of omo.toml: {}", repository.digest)?;
    }
    if let Some(setup) = &repository.setup {
        let runs = "it runs where you approved it with the commands of a plan, and for `omo prove` with those of omo.toml";
        let gap = if is_plain_text(setup) { "; " } else { "\n" };
        writeln!(
            out,
            "\nset-up of worktrees and copies: {}{gap}{runs}",
            show_whole(setup, "  ")
        )?;
    }
    Ok(())
}
