//! `omo plan show`: prints a plan's tasks, batches and commands, and the digest to approve these
//! by.

use std::io::Write;

use anstyle::Style;
use omo_core::session::plan_run::PlannedCommand;
use omo_core::text::{pluralize, sanitize};
use omo_engine::report::plan_overview::refused_lines;
use omo_engine::work::{planned_commands, shown_plan_digest};
use omo_plan::diagnostic::Severity;
use omo_plan::model::{Plan, PlanDecision, PlannedState, Precondition, Task};
use omo_plan::proof::TaskProof;
use omo_state::env::ProcessEnv;
use omo_state::trust::pending_approval;
use serde::Serialize;

use crate::blocks::parts::list_commands;
use crate::error::CommandError;
use crate::output::print_json;
use crate::output::table::{self, Cell, truncate_columns};
use crate::plan_findings;
use crate::project::Project;

const TITLE_COLUMNS: usize = 44;
const NEEDS_COLUMNS: usize = 20;
const UNITS_COLUMNS: usize = 50;
const SHOWN_ERRORS: usize = 5;
const TEXT: usize = 300;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Approval {
    /// Digest of exactly these commands in exactly this project.
    digest: String,
    approved: bool,
    commands: Vec<PlannedCommand>,
}

#[derive(Debug, Serialize)]
struct Findings {
    notes: usize,
    warnings: usize,
    errors: usize,
}

#[derive(Debug, Serialize)]
struct Report<'a> {
    path: &'a str,
    dialect: &'static str,
    title: &'a str,
    goal: &'a str,
    tasks: Vec<ShownTask<'a>>,
    batches: Vec<Batch<'a>>,
    decisions: Vec<&'a PlanDecision>,
    approval: Approval,
    findings: Findings,
}

#[derive(Debug, Serialize)]
struct ShownTask<'a> {
    id: &'a str,
    title: &'a str,
    state: PlannedState,
    needs: &'a [String],
    files: Vec<&'a str>,
    checks: usize,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Batch<'a> {
    id: &'a str,
    tasks: &'a [String],
    hard_stop: bool,
}

pub(crate) fn show_plan(plan: &Plan, json: bool) -> Result<(), CommandError> {
    let approval = approval(plan)?;
    if json {
        return print_json(&report(plan, approval));
    }
    let mut out = anstream::stdout().lock();
    head(&mut out, plan)?;
    tasks(&mut out, plan)?;
    batches(&mut out, plan)?;
    decisions(&mut out, plan)?;
    if plan.can_run() {
        write_commands(&mut out, plan, &approval)?;
    } else {
        errors(&mut out, plan)?;
    }
    for line in refused_lines(plan) {
        writeln!(out, "{line}")?;
    }
    let path = sanitize(&plan.source.path, TEXT);
    writeln!(
        out,
        "\nfound: {}; `omo plan lint {path}` shows them",
        plan_findings::count_words(&plan.diagnostics)
    )?;
    Ok(())
}

fn approval(plan: &Plan) -> Result<Approval, CommandError> {
    let env = ProcessEnv::from_process();
    let commands = planned_commands(plan);
    let root = Project::find_root(&env)?;
    let digest = pending_approval::plan_digest(&root, &shown_plan_digest(plan), &commands);
    let approved = pending_approval::is_approved(env.state_home.as_deref(), &digest);
    Ok(Approval {
        digest,
        approved,
        commands,
    })
}

fn report(plan: &Plan, approval: Approval) -> Report<'_> {
    let tasks = plan.tasks.iter().map(|task| ShownTask {
        id: &task.id,
        title: &task.title,
        state: task.state,
        needs: &task.deps,
        files: task.files.iter().map(|file| file.path.as_str()).collect(),
        checks: task.proving_checks().count(),
    });
    let batches = plan.groups.iter().map(|group| Batch {
        id: &group.id,
        tasks: &group.tasks,
        hard_stop: group.hard_stop,
    });
    Report {
        path: &plan.source.path,
        dialect: plan.dialect.word(),
        title: &plan.title,
        goal: &plan.goal,
        tasks: tasks.collect(),
        batches: batches.collect(),
        decisions: open_decisions(plan).collect(),
        approval,
        findings: Findings {
            notes: plan_findings::count_severity(&plan.diagnostics, Severity::Note),
            warnings: plan_findings::count_severity(&plan.diagnostics, Severity::Warning),
            errors: plan_findings::count_severity(&plan.diagnostics, Severity::Error),
        },
    }
}

fn head(out: &mut impl Write, plan: &Plan) -> std::io::Result<()> {
    let bold = Style::new().bold();
    let path = sanitize(&plan.source.path, TEXT);
    let title = if plan.title.is_empty() {
        path.clone()
    } else {
        sanitize(&plan.title, TEXT)
    };
    writeln!(out, "{bold}{title}{bold:#}")?;
    let batches = plan.groups.len();
    let batches = if batches == 0 {
        String::new()
    } else {
        format!(" in {}", pluralize(batches, "batch"))
    };
    let tasks = pluralize(plan.tasks.len(), plan.dialect.unit_word());
    let states = ["done", "open", "optional", "left out"].map(|word| {
        let count = plan
            .tasks
            .iter()
            .filter(|task| state_word(task) == word)
            .count();
        (count > 0).then(|| format!("{count} {word}"))
    });
    let states: Vec<String> = states.into_iter().flatten().collect();
    let states = if states.is_empty() {
        String::new()
    } else {
        format!(": {}", states.join(", "))
    };
    writeln!(
        out,
        "{path}: {}, {tasks}{batches}{states}",
        plan.dialect.word()
    )?;
    if !plan.goal.is_empty() {
        writeln!(out, "goal: {}", sanitize(&plan.goal, TEXT))?;
    }
    Ok(())
}

fn state_word(task: &Task) -> &'static str {
    match task.state {
        PlannedState::Done => "done",
        PlannedState::Open if task.is_optional => "optional",
        PlannedState::Open => "open",
        PlannedState::LeftOut => "left out",
    }
}

fn tasks(out: &mut impl Write, plan: &Plan) -> std::io::Result<()> {
    if plan.tasks.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let rows = plan.tasks.iter().map(|task| {
        [
            Cell::plain(&*task.id),
            Cell::plain(state_word(task)),
            Cell::plain(truncate_columns(
                &sanitize(&task.title, TITLE_COLUMNS + 1),
                TITLE_COLUMNS,
            )),
            Cell::plain(truncate_columns(&task.deps.join(", "), NEEDS_COLUMNS)),
            Cell::plain(task.files.len().to_string()),
            checks(task),
        ]
    });
    let heads = [
        plan.dialect.unit_word(),
        "state",
        "title",
        "needs",
        "files",
        "checks",
    ];
    table::write_table(out, heads, rows.collect())
}

/// The checks of a task, in short. A task without one is done but never proved.
fn checks(task: &Task) -> Cell {
    match TaskProof::from(task) {
        TaskProof::None if task.state != PlannedState::Open => Cell::plain("-"),
        TaskProof::OwnChecks(count) => Cell::plain(count.to_string()),
        TaskProof::Task(id) => Cell::plain(format!("of {}", sanitize(id, NEEDS_COLUMNS))),
        TaskProof::FinalChecks => Cell::plain("of the whole"),
        TaskProof::None => Cell::new("none", anstyle::AnsiColor::Yellow.on_default()),
    }
}

fn batches(out: &mut impl Write, plan: &Plan) -> std::io::Result<()> {
    if plan.groups.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let last = plan.groups.len();
    let rows = plan.groups.iter().enumerate().map(|(place, group)| {
        // Nothing follows the last batch, so there is nothing to ask.
        let then = if group.hard_stop && place + 1 < last {
            "; then you are asked"
        } else {
            ""
        };
        let tasks = group
            .tasks
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(", ");
        [
            Cell::plain(&*group.id),
            Cell::plain(truncate_columns(&tasks, UNITS_COLUMNS) + then),
        ]
    });
    table::write_table(out, ["batch", "tasks"], rows.collect())
}

fn open_decisions(plan: &Plan) -> impl Iterator<Item = &PlanDecision> {
    plan.preconditions.iter().filter_map(|one| match one {
        Precondition::Decision(decision) => Some(decision),
        Precondition::Verification { .. } | Precondition::EntryCondition { .. } => None,
    })
}

fn decisions(out: &mut impl Write, plan: &Plan) -> std::io::Result<()> {
    let rows = open_decisions(plan).map(|decision| {
        let stands = match (&decision.chosen, &decision.recommended) {
            (Some(chosen), _) => format!("chosen: {}", sanitize(chosen, NEEDS_COLUMNS)),
            (None, Some(advice)) => {
                format!("open; recommended: {}", sanitize(advice, NEEDS_COLUMNS))
            }
            (None, None) => "open".to_owned(),
        };
        let title = truncate_columns(&sanitize(&decision.title, TITLE_COLUMNS + 1), TITLE_COLUMNS);
        [
            Cell::plain(truncate_columns(
                &sanitize(&decision.id, TEXT),
                NEEDS_COLUMNS,
            )),
            Cell::plain(title),
            Cell::plain(stands),
        ]
    });
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    table::write_table(out, ["decision", "about", "stands"], rows)
}

fn errors(out: &mut impl Write, plan: &Plan) -> std::io::Result<()> {
    let errors = plan
        .diagnostics
        .iter()
        .filter(|found| found.severity == Severity::Error);
    writeln!(out, "\nIt cannot be run:")?;
    for found in errors.take(SHOWN_ERRORS) {
        let help = found
            .help
            .as_ref()
            .map(|help| format!(" ({})", sanitize(help, TEXT)))
            .unwrap_or_default();
        writeln!(
            out,
            "  line {}: {}{help}",
            found.line,
            sanitize(&found.text, TEXT)
        )?;
    }
    Ok(())
}

fn write_commands(out: &mut impl Write, plan: &Plan, approval: &Approval) -> std::io::Result<()> {
    let count = approval.commands.len();
    if !plan
        .tasks
        .iter()
        .any(|task| task.state == PlannedState::Open)
    {
        return writeln!(
            out,
            "\nNone of its tasks is open: a run of it has nothing to do."
        );
    }
    if count == 0 {
        return writeln!(
            out,
            "\nA run of it executes no command, so nothing proves its work."
        );
    }
    let stand = if approval.approved {
        "you approved them"
    } else {
        "you have not approved them"
    };
    let commands_of = pluralize(count, "command");
    writeln!(
        out,
        "\nA run of it executes {commands_of} as its checks; {stand}:"
    )?;
    write!(out, "{}", list_commands(&approval.commands))?;
    writeln!(out, "digest: {}", approval.digest)
}
