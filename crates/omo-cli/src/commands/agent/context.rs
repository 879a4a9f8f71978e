//! `omo agent context init|add|get`: findings of explorer agents, kept for a task list's planner.

use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use omo_core::text::sanitize;
use omo_engine::task_list_store::TaskListFolder;
use omo_plan::task_list::rules::{self, ExplorerFinding};
use omo_plan::task_list::{ContextFile, ExplorerEntry};
use omo_state::env::ProcessEnv;
use serde_json::Value;

use crate::error::CommandError;
use crate::output;
use crate::task_list_files::{
    self, MAX_CHARS, TaskListOption, non_empty_text, print, print_value, split_list,
};
use crate::wait::{LONGEST_WAIT, POLL_INTERVAL};

const HELP: &str = "\
Example:
  omo agent context get --summary

It is for explorers: each says once what it found, and the planner reads it.
The exit status is 1 for anything that goes wrong, and 2 for an unknown option.";

const INIT_HELP: &str = "\
Example:
  omo agent context init --expected overview,tests";

const ADD_HELP: &str = "\
Example:
  omo agent context add --explorer-id tests --summary \"npm test\"";

const GET_HELP: &str = "\
Examples:
  omo agent context get --summary
  omo agent context get --field key_files";

/// Keep what the explorers of a task list found
#[derive(Debug, Subcommand)]
#[command(after_help = HELP)]
#[command(args_override_self = true)]
pub(crate) enum ContextCommand {
    /// Say which explorers are expected
    #[command(after_help = INIT_HELP)]
    Init(ContextInitOptions),
    /// Add what an explorer found
    #[command(after_help = ADD_HELP)]
    Add(ContextAddOptions),
    /// Print what was found
    #[command(after_help = GET_HELP)]
    Get(ContextGetOptions),
}

#[derive(Debug, Args)]
pub(crate) struct ContextInitOptions {
    #[command(flatten)]
    pub which: TaskListOption,
    /// Their names, with commas between them
    #[arg(long, short, value_name = "NAMES")]
    pub expected: String,
}

#[derive(Debug, Args)]
pub(crate) struct ContextAddOptions {
    #[command(flatten)]
    pub which: TaskListOption,
    /// Its name
    #[arg(long, short, value_name = "NAME", value_parser = non_empty_text)]
    pub explorer_id: String,
    /// The subject that it explored
    #[arg(
        long,
        short = 'H',
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    #[arg(allow_hyphen_values = true)]
    pub hint: String,
    /// The file that it wrote
    #[arg(
        long,
        short,
        value_name = "FILE",
        default_value = "",
        hide_default_value = true
    )]
    pub file: String,
    /// Its findings, in a few words
    #[arg(
        long,
        short = 'S',
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    #[arg(allow_hyphen_values = true)]
    pub summary: String,
    /// The files that matter: a,b
    #[arg(
        long,
        short,
        value_name = "FILES",
        default_value = "",
        hide_default_value = true
    )]
    pub key_files: String,
    /// Conventions there: a,b
    #[arg(
        long,
        short,
        value_name = "TEXTS",
        default_value = "",
        hide_default_value = true
    )]
    #[arg(allow_hyphen_values = true)]
    pub patterns: String,
}

#[derive(Debug, Args)]
pub(crate) struct ContextGetOptions {
    #[command(flatten)]
    pub which: TaskListOption,
    /// One value, such as `key_files[0]`
    #[arg(long, short, value_name = "PATH")]
    pub field: Option<String>,
    /// The file that it is in
    #[arg(long, short = 'F')]
    pub file: bool,
    /// The findings, as Markdown
    #[arg(long, short = 'S')]
    pub summary: bool,
    /// Seconds to wait for explorers that are expected
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 0,
        hide_default_value = true
    )]
    pub wait: u64,
}

pub(crate) fn run(env: &ProcessEnv, action: ContextCommand) -> Result<(), CommandError> {
    match action {
        ContextCommand::Init(options) => init(env, &options),
        ContextCommand::Add(options) => add(env, options),
        ContextCommand::Get(options) => get(env, &options),
    }
}

pub(crate) fn init(env: &ProcessEnv, options: &ContextInitOptions) -> Result<(), CommandError> {
    let expected = split_list(&options.expected);
    if expected.is_empty() {
        return Err(CommandError::usage(
            "`--expected` names no explorer",
            "such as `--expected overview,tests`",
        ));
    }
    let locked = task_list_files::open_task_list(&options.which, env)?.lock()?;
    let context = rules::expect_explorers(locked.context()?, &expected);
    locked.write_context(&context)?;
    print(&format!(
        "OK: {} explorers expected: {}",
        expected.len(),
        expected.join(", ")
    ))
}

pub(crate) fn add(env: &ProcessEnv, options: ContextAddOptions) -> Result<(), CommandError> {
    let locked = task_list_files::open_task_list(&options.which, env)?.lock()?;
    let id = options.explorer_id;
    let found = ExplorerFinding {
        id: id.clone(),
        hint: options.hint,
        file: options.file,
        summary: options.summary,
        key_files: split_list(&options.key_files),
        patterns: split_list(&options.patterns),
    };
    let shown = sanitize(&id, 60);
    let Some(context) = rules::add_explorer_finding(locked.context()?, found) else {
        output::print_warning(&format!(
            "explorer {shown} of session {} has reported its findings already",
            locked.id()
        ));
        return Ok(());
    };
    locked.write_context(&context)?;
    let last = if context.exploration_complete {
        ", the last one that was expected"
    } else {
        ""
    };
    print(&format!("OK: explorer {shown} added{last}"))
}

pub(crate) fn get(env: &ProcessEnv, options: &ContextGetOptions) -> Result<(), CommandError> {
    let folder = task_list_files::open_task_list(&options.which, env)?;
    let path = folder.context_path();
    if options.file {
        return print(&path.display().to_string());
    }
    let context = wait_for_explorers(&folder, options.wait)?.ok_or_else(|| {
        let message = format!(
            "session {} has no explorers yet: {} is not there",
            folder.id(),
            path.display()
        );
        CommandError::not_found(message, "`omo agent context init` says which are expected")
    })?;
    if options.summary {
        return print(&as_markdown(&context));
    }
    print_value(
        &context,
        options.field.as_deref(),
        &format!("the context of session {}", folder.id()),
    )
}

fn wait_for_explorers(
    folder: &TaskListFolder,
    seconds: u64,
) -> Result<Option<ContextFile>, CommandError> {
    let deadline = Instant::now() + Duration::from_secs(seconds).min(LONGEST_WAIT);
    loop {
        let context = folder.context()?;
        let is_awaited = context.as_ref().is_some_and(rules::awaits_explorers);
        if !is_awaited || Instant::now() >= deadline {
            return Ok(context);
        }
        std::thread::sleep(POLL_INTERVAL.min(deadline.saturating_duration_since(Instant::now())));
    }
}

fn as_markdown(context: &ContextFile) -> String {
    let state = if context.exploration_complete {
        "complete"
    } else {
        "not complete"
    };
    let mut parts = vec![format!("# What was found ({state})")];
    for explorer in &context.explorers {
        let (summary, file) = (
            explorer_text(explorer, "summary"),
            explorer_text(explorer, "file"),
        );
        parts.push(format!("## {}", sanitize(&explorer.id, 60)));
        parts.push(sanitize(summary, MAX_CHARS));
        parts.extend((!file.is_empty()).then(|| format!("File: {}", sanitize(file, 200))));
    }
    for (heading, name) in [("Key files", "key_files"), ("Patterns", "patterns")] {
        let texts = context
            .extra
            .get(name)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        parts.extend(task_list_files::bullet_list(heading, texts));
    }
    parts.join("\n\n")
}

fn explorer_text<'a>(explorer: &'a ExplorerEntry, name: &str) -> &'a str {
    explorer
        .said
        .get(name)
        .and_then(Value::as_str)
        .unwrap_or_default()
}
