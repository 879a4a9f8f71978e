//! Opening of a run: `prepare` looks for obstacles and asks for approval, `begin` records the run.

use std::io::IsTerminal;

use omo_checks::detected_check::offer_check;
use omo_core::plan_models::{PlanModels, SESSION_MODEL};
use omo_core::text::command_text::quote_argument;
use omo_core::text::{pluralize, sanitize};
use omo_engine::client_policy::ClientPolicy;
use omo_engine::commit_guard::CommitGuard;
use omo_engine::event::EventKind;
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::preflight::{PreflightFinding, PreflightSeverity, can_start};
use omo_engine::report::plan_overview::{plan_overview, pull_request_line};
use omo_engine::request::arguments::RunRequest;
use omo_engine::request::client_policy::ClientPolicyRequest;
use omo_engine::request::run_scope::RunScope;
use omo_engine::state::RunState;
use omo_engine::work::{RunOpening, begin_parallel, opening_events};
use omo_engine::{Run, RunStore};
use omo_git::integrate::checkout_head;
use omo_git::repository::GitRepository;
use omo_plan::model::{Plan, PullRequestOrder, Task};
use omo_plan::proof::unproved_tasks;
use omo_state::git_worktree::GitWorktree;
use omo_state::{config, env};

use crate::billing::{billing_facts, who_pays};
use crate::blocks::{self, parallel_run, parts, task_list_run};
use crate::commands::run::pr;
use crate::confirm;
use crate::context::CommandContext;
use crate::error::CommandError;
use crate::execute::approval::{self, ApprovalRequest, ProofOffer};
use crate::execute::options::{BatchSizeOptions, NO_CHECK, ProofOptions, WaveOptions};
use crate::execute::print_then_next;
use crate::execute::request::{ExecuteRequest, RequestedPlan};
use crate::execute::{entry_condition, preflight};
use crate::parallel_workers::supervisor;

/// Models that the client's `Agent` tool accepts.
const AGENT_MODELS: [&str; 4] = ["sonnet", "opus", "haiku", "fable"];

pub(crate) struct OpenedPlan {
    pub plan: Plan,
    pub mode: ExecutionMode,
    pub scope: Option<RunScope>,
    pub approved: String,
}

pub(crate) struct PreparedRun {
    opened: OpenedPlan,
    clients: Option<EventKind>,
    intro: String,
}

/// Looks for obstacles to a plan arranged for its mode, and for the approval of its commands. Nothing is recorded yet.
pub(crate) fn prepare(
    context: &CommandContext,
    request: &ExecuteRequest,
    mut plan: Plan,
    mode: ExecutionMode,
    scope: Option<RunScope>,
    head: &str,
) -> Result<PreparedRun, CommandError> {
    let (offer, idle) = (
        proof_offer(context, request, &plan),
        idle_options(request, mode),
    );
    let is_parallel = mode == ExecutionMode::Parallel;
    let profile = preflight::launcher_profile(context, &request.clients.policy)?;
    plan.policy.models = chosen_models(context, request, mode)?;
    plan.policy.pull_request = ordered_pull_request(context, request)?;
    let model = plan
        .policy
        .models
        .tasks
        .clone()
        .filter(|model| is_parallel && model != SESSION_MODEL);
    let policy = ClientPolicy {
        profile,
        model,
        ..request.clients.policy.clone()
    };
    if is_parallel {
        preflight::require_whole_repository(context)?;
        preflight::require_remote(context, &policy)?;
    }
    let findings = preflight::preflight_findings(context, &plan, mode, &policy)?;
    if !can_start(&findings) {
        return Err(blocking_findings_error(&findings));
    }
    if let Some(name) = idle {
        let message = format!(
            "{name} belong to another way: this plan would be run {}",
            mode.words()
        );
        let hint =
            "leave them out, or name the way that they belong to: --batches, --waves or --parallel";
        return Err(CommandError::usage(message, hint));
    }
    let mut intro = [
        &request.choice,
        head,
        &parallel_run::finding_lines(&findings),
    ]
    .concat();
    let mut no_client = String::new();
    if is_parallel && policy.launcher.is_some() {
        intro += &parallel_run::launcher_terms(&policy);
    } else if is_parallel && !context.is_preview && !supervisor::has_client(&context.root) {
        // The shell of a hook may not have the path of the session's own.
        no_client = no_client_line(context, request);
    }
    intro += &no_client;
    let (payer, told) = if is_parallel {
        who_pays(context, request.clients.accepts_billing)?
    } else {
        (None, String::new())
    };
    intro += &told;
    intro += &pull_request_line(&plan);
    let setup = if is_parallel {
        approval::setup_command(&context.root)?
    } else {
        None
    };
    let overview = plan_overview(&plan, mode, &policy, &billing_facts()) + "\n";
    require_checks(&plan)?;
    let asked = ApprovalRequest {
        command_line: request.typed(),
        digest: request.digest.as_deref(),
        overview: format!("{}{no_client}{overview}", request.choice),
        offer,
        is_continued: false,
    };
    let approved = approval::approve_plan(context, &plan, mode, setup.as_deref(), &asked)?;
    // A command of the plan: runs once, when the run is opened.
    if !context.is_preview {
        intro += &entry_condition::run_entry_condition(context, &plan)?;
    }
    if is_parallel && !context.is_preview {
        preflight::require_worktree_folder(context)?;
    }
    let accepts_billing = request.clients.accepts_billing;
    let policy = ClientPolicy {
        setup,
        payer,
        accepts_billing,
        ..policy
    };
    let clients = is_parallel
        .then(|| {
            begin_parallel(&context.root, policy).ok_or_else(|| {
                CommandError::conflict("another branch was checked out meanwhile", "run it again")
            })
        })
        .transpose()?;
    Ok(PreparedRun {
        opened: OpenedPlan {
            plan,
            mode,
            scope,
            approved,
        },
        clients,
        intro,
    })
}

/// Line about the missing client, with the command that needs none.
fn no_client_line(context: &CommandContext, request: &ExecuteRequest) -> String {
    let in_session = ExecuteRequest {
        mode: None,
        scope: RunRequest {
            is_foreground: true,
            ..request.scope
        },
        clients: ClientPolicyRequest::default(),
        ..request.clone()
    };
    let line = match &request.source {
        RequestedPlan::File(path) if context.is_person() => {
            format!("omo run start --fg {}", quote_argument(path))
        }
        _ => in_session.typed(),
    };
    format!(
        "note: no `claude` is on the PATH, and the workers run in it; install Claude Code, or `{line}` has the session itself \
         do the work\n"
    )
}

/// The pull request of `--pr`, which only a person orders.
fn ordered_pull_request(
    context: &CommandContext,
    request: &ExecuteRequest,
) -> Result<Option<PullRequestOrder>, CommandError> {
    let Some(remote) = &request.pull_request else {
        return Ok(None);
    };
    if !context.is_person() && !context.is_preview && !request.is_typed {
        return Err(CommandError::needs_person(
            "only a person orders a pull request",
            format!("they type `{}`, or run this in a terminal", request.typed()),
        ));
    }
    pr::order(context, remote).map(Some)
}

fn chosen_models(
    context: &CommandContext,
    request: &ExecuteRequest,
    mode: ExecutionMode,
) -> Result<PlanModels, CommandError> {
    let named = request.clients.policy.model.clone();
    let is_by_agents = matches!(mode, ExecutionMode::Batches | ExecutionMode::Waves);
    let models = match named {
        Some(model) => PlanModels {
            tasks: Some(model.clone()),
            verifier: Some(model),
        },
        None => config::load(context.env.config_file.as_deref()).plan_models,
    };
    let unknown = [&models.tasks, &models.verifier]
        .into_iter()
        .flatten()
        .find(|model| *model != SESSION_MODEL && !AGENT_MODELS.contains(&model.as_str()))
        .filter(|_| is_by_agents);
    if let Some(model) = unknown {
        let message = format!("agents of a session cannot be {}", sanitize(model, 100));
        let hint = format!(
            "name {} or {SESSION_MODEL}, by `--model` or below [plans] in the configuration; a worker of --parallel takes \
             every name that your client takes",
            AGENT_MODELS.join(", ")
        );
        return Err(CommandError::usage(message, hint));
    }
    if mode == ExecutionMode::StepByStep && request.clients.policy.model.is_some() {
        let message = "--model is for workers, and this session itself works step by step";
        return Err(CommandError::usage(
            message,
            "leave it out; `/model` changes the session's own",
        ));
    }
    Ok(models)
}

fn idle_options(request: &ExecuteRequest, mode: ExecutionMode) -> Option<&'static str> {
    let of_mode = [
        (
            ExecutionMode::Batches,
            "--k and --batch-size",
            request.batches != BatchSizeOptions::default(),
        ),
        (
            ExecutionMode::Waves,
            "--max-iterations, --max-workers and --skip-verify",
            request.waves != WaveOptions::default(),
        ),
        (
            ExecutionMode::Parallel,
            "the options for clients",
            request.clients.has_more_than_model(),
        ),
    ];
    let is_task_list = matches!(request.source, RequestedPlan::TaskList(_));
    of_mode
        .into_iter()
        .find(|(known, _, is_set)| {
            // A task list verifies in every mode.
            let is_used = *known == mode || *known == ExecutionMode::Waves && is_task_list;
            *is_set && !is_used
        })
        .map(|(_, name, _)| name)
}

fn require_checks(plan: &Plan) -> Result<(), CommandError> {
    const SHOWN: usize = 20;
    let unproved: Vec<&Task> = unproved_tasks(plan)
        .filter(|_| plan.policy.requires_checks)
        .collect();
    if unproved.is_empty() {
        return Ok(());
    }
    let rows: Vec<String> = unproved
        .iter()
        .take(SHOWN)
        .map(|task| {
            let (id, title) = (sanitize(&task.id, 64), sanitize(&task.title, 80));
            format!("  {id}  {title}")
        })
        .collect();
    let more = if unproved.len() > SHOWN {
        format!("\n  … and {} more", unproved.len() - SHOWN)
    } else {
        String::new()
    };
    let (path, count) = (
        sanitize(&plan.source.path, 200),
        pluralize(unproved.len(), plan.dialect.unit_word()),
    );
    let message = format!(
        "{path} demands a check for each task, and nothing proves {count}:\n{}{more}",
        rows.join("\n")
    );
    Err(CommandError::invalid_plan(
        message,
        "name a command in each, or add one for the whole: `--check COMMAND`",
    ))
}

fn proof_offer(
    context: &CommandContext,
    request: &ExecuteRequest,
    plan: &Plan,
) -> Option<ProofOffer> {
    let unproved = unproved_tasks(plan)
        .filter(|_| plan.policy.unproved_continues)
        .count();
    if unproved == 0 || !request.proof.check.is_empty() {
        return None;
    }
    let check = offer_check(
        &context.root,
        config::load(context.env.config_file.as_deref()).detection,
    )
    .ok()?;
    Some(ProofOffer {
        check,
        unproved,
        with_check: line_with_check(request, check.command),
        without: line_with_check(request, NO_CHECK),
    })
}

fn line_with_check(request: &ExecuteRequest, check: &str) -> String {
    let proof = ProofOptions {
        check: vec![check.to_owned()],
        ..request.proof.clone()
    };
    ExecuteRequest {
        proof,
        ..request.clone()
    }
    .typed()
}

/// Asks at a terminal if the project's test command proves the unproved tasks. `None` without a question.
pub(crate) fn ask_for_check(
    context: &CommandContext,
    request: &ExecuteRequest,
    plan: &Plan,
) -> Result<Option<String>, CommandError> {
    let is_asked = !context.env.in_session && !context.is_preview && request.digest.is_none();
    if !is_asked || !std::io::stdin().is_terminal() || approval::is_approved(context, plan) {
        return Ok(None);
    }
    let Some(offer) = proof_offer(context, request, plan) else {
        return Ok(None);
    };
    let is_taken = confirm::is_answered_yes(&format!("{}. Have it do so?", offer.words()))?;
    Ok(Some(
        if is_taken {
            offer.check.command
        } else {
            NO_CHECK
        }
        .to_owned(),
    ))
}

pub(crate) fn begin(
    context: &CommandContext,
    runs: &RunStore,
    prepared: PreparedRun,
    known: Vec<EventKind>,
) -> Result<(), CommandError> {
    let PreparedRun {
        opened,
        clients,
        intro,
    } = prepared;
    let (run, state) = record_opening(
        context,
        runs,
        opened,
        clients.into_iter().chain(known).collect(),
    )?;
    let state = context
        .engine(&run, &state)?
        .write_projections(state.clone())?;
    context.note_in_session(&run, &state.holder, &state);
    print_then_next(
        context,
        &run,
        state.clone(),
        &heading(run.id(), &state, &intro),
    )
}

pub(crate) fn record_opening(
    context: &CommandContext,
    runs: &RunStore,
    opened: OpenedPlan,
    known: Vec<EventKind>,
) -> Result<(Run, RunState), CommandError> {
    let OpenedPlan {
        plan,
        mode,
        scope,
        approved: commands_digest,
    } = opened;
    let (actor, now) = (context.actor(), env::now());
    let root = context.root.display().to_string();
    let worktree = GitWorktree::find(&context.root).map(|tree| tree.identity());
    let head =
        GitRepository::find(&context.root).and_then(|repository| checkout_head(&repository).ok());
    let guard = CommitGuard::read(&context.root);
    let opened = EventKind::from(RunOpening {
        plan,
        commands_digest,
        root,
        worktree,
        head,
        scope,
        mode,
        guard,
    });
    let more = opening_events(opened.clone(), known, &actor, now);
    Ok(runs.begin(&actor, now, opened, more)?)
}

fn heading(id: &str, state: &RunState, intro: &str) -> String {
    match state.mode {
        ExecutionMode::Batches => {
            parts::fit_block(format!("{intro}{}", blocks::opened_block(id, state)))
        }
        ExecutionMode::Waves => {
            parts::fit_block(format!("{intro}{}", task_list_run::opened_block(id, state)))
        }
        ExecutionMode::Parallel | ExecutionMode::StepByStep => {
            parallel_run::opened_block(id, state, intro)
        }
    }
}

pub(crate) fn blocking_findings_error(findings: &[PreflightFinding]) -> CommandError {
    let stops: Vec<&PreflightFinding> = findings
        .iter()
        .filter(|finding| finding.severity == PreflightSeverity::Stop)
        .collect();
    match stops.as_slice() {
        [one] => CommandError::precondition(sanitize(&one.text, 600), one.hint.clone()),
        several => {
            let lines: Vec<String> = several
                .iter()
                .map(|finding| format!("  {}\n    {}", sanitize(&finding.text, 600), finding.hint))
                .collect();
            let message = format!(
                "{} things are in the way, and nothing was started:\n{}",
                several.len(),
                lines.join("\n")
            );
            CommandError::precondition(
                message,
                "fix each of them, then run again; --dry-run looks without running",
            )
        }
    }
}
