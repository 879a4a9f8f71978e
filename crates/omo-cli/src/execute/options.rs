//! Options to start a plan, for `omo run start` and the slash commands, parsed by clap.

use clap::{Args, Parser};
use omo_core::check::task_check::TaskCheck;
use omo_core::plan_models::is_model_name;
use omo_engine::client_policy::ClientPolicy;
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::request::client_policy::{ClientPolicyRequest, parse_budget};
use omo_plan::command_concern::find_concern;
use omo_plan::model::{Dialect, ReviewTime};
use omo_remote::template::LauncherTemplate;
use omo_state::config::launcher_toml::is_launcher_name;

use crate::plan_dialect::parse_dialect;

const MAX_CHARS: usize = 1_000;

#[derive(Clone, Debug, Default, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option that stands alone"
)]
pub(crate) struct RunStartOptions {
    #[command(flatten)]
    pub way: WayOptions,
    /// A task list, in place of a plan file
    #[arg(long, conflicts_with_all = ["plan", "step", "dialect"])]
    pub tasks: bool,
    /// Session of the task list, or the only one of a plan
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Go on with an earlier run
    #[arg(long, hide = true, conflicts_with_all = ["dry_run", "step"])]
    pub resume: bool,
    /// Look at the plan and tell how it would be run
    #[arg(long)]
    pub dry_run: bool,
    /// Only this step
    #[arg(long, hide = true, value_name = "N", value_parser = positive, allow_hyphen_values = true)]
    pub step: Option<u64>,
    /// The format of the plan, in place of the one that it looks like
    #[arg(long, hide = true, value_name = "NAME", value_parser = parse_dialect)]
    pub dialect: Option<Dialect>,
    /// Start over a plan that is complete, or has failed
    #[arg(long)]
    pub again: bool,
    #[command(flatten)]
    pub batches: BatchSizeOptions,
    #[command(flatten)]
    pub waves: WaveOptions,
    #[command(flatten)]
    pub proof: ProofOptions,
    #[command(flatten)]
    pub clients: ClientOptions,
    /// Open a pull request once the run is complete, at origin or `--pr=REMOTE`
    #[arg(long, hide = true, value_name = "REMOTE", num_args = 0..=1, require_equals = true, default_missing_value = "origin", value_parser = text)]
    pub pr: Option<String>,
    /// Approve exactly the commands shown, by their digest
    #[arg(long, value_name = "DIGEST")]
    pub digest: Option<String>,
    /// The plan; without it, the run that is open here
    #[arg(value_name = "FILE")]
    pub plan: Option<String>,
}

#[derive(Clone, Debug, Default, Args)]
#[group(multiple = false)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option, of which clap lets one be given"
)]
pub(crate) struct WayOptions {
    /// Clients of their own, each in a worktree
    #[arg(long)]
    pub parallel: bool,
    /// Workers at the same time here, then a verification
    #[arg(long)]
    pub waves: bool,
    /// One task after the other, with stops for you
    #[arg(long)]
    pub batches: bool,
    /// One task after the other in this session
    #[arg(long)]
    pub fg: bool,
}

impl WayOptions {
    pub(crate) fn mode(&self) -> Option<ExecutionMode> {
        match self {
            Self { parallel: true, .. } => Some(ExecutionMode::Parallel),
            Self { waves: true, .. } => Some(ExecutionMode::Waves),
            Self { batches: true, .. } => Some(ExecutionMode::Batches),
            Self { fg: true, .. } => Some(ExecutionMode::StepByStep),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct BatchSizeOptions {
    /// Batches: ask after a task that this many need (3)
    #[arg(long, hide = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub k: Option<u32>,
    /// Batches: tasks in one (5)
    #[arg(long, hide = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub batch_size: Option<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct ProofOptions {
    /// A check of the whole plan, which proves what has no check of its own; `none` for no such check
    #[arg(long, hide = true, value_name = "COMMAND", value_parser = added_check)]
    pub check: Vec<String>,
    /// Reviews of what no command proves: tasks, waves, end or never (end)
    #[arg(long, hide = true, value_name = "WHEN", value_parser = review_time)]
    pub review: Option<ReviewTime>,
    /// Refuse the plan where nothing proves one of its tasks
    #[arg(long, hide = true)]
    pub require_checks: bool,
}

pub(crate) const NO_CHECK: &str = "none";

impl ProofOptions {
    pub(crate) fn added_checks(&self) -> Vec<TaskCheck> {
        self.check
            .iter()
            .filter(|check| *check != NO_CHECK)
            .map(|check| TaskCheck::new(check))
            .collect()
    }
}

pub(crate) const REVIEW_TIMES: [(&str, ReviewTime); 4] = [
    ("tasks", ReviewTime::Tasks),
    ("waves", ReviewTime::Waves),
    ("end", ReviewTime::End),
    ("never", ReviewTime::Never),
];

fn review_time(value: &str) -> Result<ReviewTime, String> {
    let known = REVIEW_TIMES
        .iter()
        .find(|(word, _)| *word == value)
        .map(|(_, time)| *time);
    known.ok_or_else(|| "is one of tasks, waves, end, never".to_owned())
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct WaveOptions {
    /// Waves: rounds over the tasks at most (5)
    #[arg(long, hide = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_iterations: Option<u32>,
    /// Waves: workers at once; 0 for no bound
    #[arg(long, hide = true, value_name = "N")]
    pub max_workers: Option<u32>,
    /// Waves: no verification once the tasks are done
    #[arg(long, hide = true)]
    pub skip_verify: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct ModelOption {
    /// The model of all workers, such as sonnet; `inherit` for this session's own
    #[arg(long, hide = true, value_name = "MODEL", value_parser = model)]
    pub model: Option<String>,
}

impl From<ModelOption> for ClientPolicyRequest {
    fn from(option: ModelOption) -> Self {
        Self {
            policy: ClientPolicy {
                model: option.model,
                ..ClientPolicy::default()
            },
            accepts_billing: false,
        }
    }
}

// Hidden: the options of one mode would make the page of `omo run start` too long.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct ClientOptions {
    /// Parallel: clients at once
    #[arg(long, hide = true, value_name = "N", value_parser = number, allow_hyphen_values = true)]
    pub max_sessions: Option<u32>,
    /// Parallel: what all clients together may spend
    #[arg(long, hide = true, value_name = "X", value_parser = parse_budget, allow_hyphen_values = true)]
    pub max_budget_usd: Option<u64>,
    /// Parallel: start clients that something else than a subscription pays for
    #[arg(long, hide = true)]
    pub accept_api_billing: bool,
    #[command(flatten)]
    pub model: ModelOption,
    /// Parallel: start clients without any permission checks
    #[arg(long, hide = true)]
    pub yolo: bool,
    /// Parallel: what clients may do unasked, as a rule of Claude Code; again for each
    #[arg(long, hide = true, value_name = "RULE", value_parser = text)]
    pub allow: Vec<String>,
    /// Parallel: for how long a client may run
    #[arg(long, hide = true, value_name = "SECONDS", value_parser = number, allow_hyphen_values = true)]
    pub time_limit: Option<u32>,
    /// Parallel: the launcher, or the command, that starts clients somewhere else
    #[arg(long, hide = true, value_name = "NAME", value_parser = template)]
    pub launcher: Option<String>,
    /// Parallel: the remote repository that this command works with
    #[arg(long, hide = true, value_name = "NAME", value_parser = text)]
    pub launcher_remote: Option<String>,
}

impl From<ClientOptions> for ClientPolicyRequest {
    fn from(options: ClientOptions) -> Self {
        let policy = ClientPolicy {
            max_workers: options.max_sessions.unwrap_or_default(),
            budget_micros: options.max_budget_usd,
            time_limit_seconds: options.time_limit.unwrap_or_default(),
            skips_permissions: options.yolo,
            allow: options.allow,
            model: options.model.model,
            launcher: options.launcher,
            launcher_remote: options.launcher_remote,
            ..ClientPolicy::default()
        };
        Self {
            policy,
            accepts_billing: options.accept_api_billing,
        }
    }
}

#[derive(Debug, Parser)]
#[command(
    name = "/omo:execute",
    no_binary_name = true,
    disable_version_flag = true
)]
pub(crate) struct ExecuteLine {
    #[command(flatten)]
    pub options: RunStartOptions,
    #[command(flatten)]
    pub approval: ApprovalOption,
}

#[derive(Debug, Parser)]
#[command(
    name = "/omo:execute-plan",
    no_binary_name = true,
    disable_version_flag = true
)]
pub(crate) struct ExecutePlanLine {
    #[command(flatten)]
    pub batches: BatchSizeOptions,
    /// The format of the plan, in place of the one that it looks like
    #[arg(long, value_name = "NAME", value_parser = parse_dialect)]
    pub dialect: Option<Dialect>,
    #[command(flatten)]
    pub proof: ProofOptions,
    #[command(flatten)]
    pub model: ModelOption,
    /// Start over a plan that is done
    #[arg(long)]
    pub again: bool,
    #[command(flatten)]
    pub approval: ApprovalOption,
    /// The plan; without it the run that is open goes on
    #[arg(value_name = "plan.md")]
    pub plan: Option<String>,
}

#[derive(Debug, Parser)]
#[command(
    name = "/omo:execute-local",
    no_binary_name = true,
    disable_version_flag = true
)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of the line"
)]
pub(crate) struct ExecuteLocalLine {
    /// One step after the other in this session
    #[arg(long)]
    pub fg: bool,
    /// Go on with an earlier run
    #[arg(long, conflicts_with_all = ["dry_run", "step", "session"])]
    pub resume: bool,
    /// Start over, whatever an earlier run has done
    #[arg(long, conflicts_with = "resume")]
    pub again: bool,
    /// Look at the plan and tell how it would be run
    #[arg(long)]
    pub dry_run: bool,
    /// Only this step
    #[arg(long, value_name = "N", value_parser = positive, allow_hyphen_values = true, conflicts_with = "session")]
    pub step: Option<u64>,
    /// The format of the plan, in place of the one that it looks like
    #[arg(long, value_name = "NAME", value_parser = parse_dialect)]
    pub dialect: Option<Dialect>,
    /// Only this session of the plan's Execution Strategy
    #[arg(long, value_name = "N", value_parser = positive, allow_hyphen_values = true)]
    pub session: Option<u64>,
    #[command(flatten)]
    pub proof: ProofOptions,
    #[command(flatten)]
    pub clients: ClientOptions,
    #[command(flatten)]
    pub approval: ApprovalOption,
    /// The plan
    #[arg(value_name = "plan.md", required = true)]
    pub plan: String,
}

#[derive(Debug, Parser)]
#[command(
    name = "/omo:ulw-exec",
    no_binary_name = true,
    disable_version_flag = true
)]
pub(crate) struct UlwExecLine {
    /// The session of the task list, if not this one
    #[arg(long, value_name = "ID", conflicts_with = "plan")]
    pub session: Option<String>,
    #[command(flatten)]
    pub waves: WaveOptions,
    /// The format of the plan, in place of the one that it looks like
    #[arg(long, value_name = "NAME", value_parser = parse_dialect)]
    pub dialect: Option<Dialect>,
    #[command(flatten)]
    pub proof: ProofOptions,
    #[command(flatten)]
    pub model: ModelOption,
    /// Go on with what has failed
    #[arg(long)]
    pub again: bool,
    #[command(flatten)]
    pub approval: ApprovalOption,
    /// A plan, in place of the task list
    #[arg(value_name = "plan.md")]
    pub plan: Option<String>,
}

/// The approval in a line. The hook has taken it: the words of its user are the approval.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ApprovalOption {
    /// Agree to exactly the commands that were shown
    #[arg(long, value_name = "CODE")]
    pub approve: Option<String>,
}

pub(crate) fn positive(value: &str) -> Result<u64, String> {
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    let number = value
        .parse::<u64>()
        .ok()
        .filter(|number| is_number && *number > 0);
    number.ok_or_else(|| "needs a positive integer".to_owned())
}

fn number(value: &str) -> Result<u32, String> {
    positive(value).and_then(|number| u32::try_from(number).map_err(|_| "is too many".to_owned()))
}

fn text(value: &str) -> Result<String, String> {
    let problem = if value.trim().is_empty() {
        "is empty".to_owned()
    } else if value.starts_with('-') {
        "begins with `-`, as an option does".to_owned()
    } else if value.chars().count() > MAX_CHARS {
        format!("has more than {MAX_CHARS} characters")
    } else if value.chars().any(char::is_control) {
        "has a line break, or another character that is not text; it is one line".to_owned()
    } else {
        return Ok(value.to_owned());
    };
    Err(problem)
}

fn model(value: &str) -> Result<String, String> {
    if is_model_name(value) {
        return Ok(value.to_owned());
    }
    Err("is the name of a model: letters, digits and `-._:/@[]`, at most 100 of them".to_owned())
}

/// Validates an added check; one that can judge nothing proves nothing.
fn added_check(value: &str) -> Result<String, String> {
    let command = text(value)?;
    match find_concern(&command).filter(|concern| command != NO_CHECK && !concern.may_be_added()) {
        Some(concern) => Err(format!("cannot be used as a check: {concern}")),
        None => Ok(command),
    }
}

fn template(value: &str) -> Result<String, String> {
    let template = text(value)?;
    // A launcher's name is looked up later, when the configuration is known.
    if !is_launcher_name(&template) {
        let parsed = LauncherTemplate::parse(&template).map_err(|error| error.to_string())?;
        parsed
            .require_attached()
            .map_err(|error| error.to_string())?;
    }
    Ok(template)
}
