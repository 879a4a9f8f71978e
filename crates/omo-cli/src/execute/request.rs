//! `ExecuteRequest`: a request to run a plan, from `omo run start` or from a slash command.

use clap::ValueEnum;
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::modes::ModeOptions;
use omo_engine::request::arguments::{PlanSelection, RunRequest};
use omo_engine::request::client_policy::ClientPolicyRequest;
use omo_plan::model::{Dialect, RunPolicy};

use crate::execute::options::{
    BatchSizeOptions, ExecuteLocalLine, ExecutePlanLine, ModelOption, ProofOptions,
    RunStartOptions, UlwExecLine, WaveOptions, positive,
};
use crate::output::print_warning;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExecuteCommand {
    Execute,
    ExecutePlan,
    ExecuteLocal,
    UlwExec,
}

impl ExecuteCommand {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Execute => "execute",
            Self::ExecutePlan => "execute-plan",
            Self::ExecuteLocal => "execute-local",
            Self::UlwExec => "ulw-exec",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RequestedPlan {
    File(String),
    /// Session of a task list; `None` for the caller's own.
    TaskList(Option<String>),
    OpenRun,
}

#[derive(Clone, Debug)]
pub(crate) struct ExecuteRequest {
    pub command: ExecuteCommand,
    pub source: RequestedPlan,
    pub mode: Option<ExecutionMode>,
    pub scope: RunRequest,
    pub dialect: Option<Dialect>,
    pub batches: BatchSizeOptions,
    pub waves: WaveOptions,
    pub proof: ProofOptions,
    pub clients: ClientPolicyRequest,
    /// Remote of a pull request to open at the end.
    pub pull_request: Option<String>,
    /// `--again`: repeats a complete or failed run.
    pub again: bool,
    pub digest: Option<String>,
    /// Typed by a person in this session, which answers a waiting question.
    pub is_typed: bool,
    pub choice: String,
    pub heading: String,
}

impl ExecuteRequest {
    pub(crate) fn with_file(&self, path: &str) -> Self {
        Self {
            source: RequestedPlan::File(path.to_owned()),
            ..self.clone()
        }
    }

    pub(crate) fn warn_of_kept_proof(&self, policy: &RunPolicy) {
        let asks_otherwise = !self.proof.check.is_empty()
            && self.proof.added_checks() != policy.added_checks
            || self
                .proof
                .review
                .is_some_and(|review| review != policy.review)
            || self.proof.require_checks && !policy.requires_checks;
        if asks_otherwise {
            let kept = "the run goes on with the checks and reviews that it was opened with";
            print_warning(&format!(
                "{kept}: --check, --review and --require-checks change nothing of it"
            ));
        }
        if self.pull_request.is_some() && policy.pull_request.is_none() {
            print_warning(
                &"--pr counts only where a run is opened; once this one is complete, `omo run pr` opens the pull request",
            );
        }
    }

    pub(crate) fn new(command: ExecuteCommand, source: RequestedPlan) -> Self {
        Self {
            command,
            source,
            mode: None,
            scope: RunRequest::default(),
            dialect: None,
            batches: BatchSizeOptions::default(),
            waves: WaveOptions::default(),
            proof: ProofOptions::default(),
            clients: ClientPolicyRequest::default(),
            pull_request: None,
            again: false,
            digest: None,
            is_typed: false,
            choice: String::new(),
            heading: String::new(),
        }
    }

    pub(crate) fn mode_options(&self) -> ModeOptions {
        let usual = ModeOptions::default();
        ModeOptions {
            hub_k: self.batches.k.unwrap_or(usual.hub_k),
            batch_size: self.batches.batch_size.unwrap_or(usual.batch_size),
            max_workers: self.waves.max_workers.unwrap_or(usual.max_workers),
            max_iterations: self.waves.max_iterations.unwrap_or(usual.max_iterations),
            skips_verification: self.waves.skip_verify,
        }
    }
}

impl TryFrom<RunStartOptions> for ExecuteRequest {
    type Error = String;

    fn try_from(options: RunStartOptions) -> Result<Self, String> {
        let mode = options.way.mode();
        let source = match (&options.plan, options.tasks) {
            (_, true) => RequestedPlan::TaskList(options.session.clone()),
            (Some(plan), false) => RequestedPlan::File(plan.clone()),
            (None, false) => RequestedPlan::OpenRun,
        };
        let session = options.session.as_deref().filter(|_| !options.tasks);
        let session = session
            .map(positive)
            .transpose()
            .map_err(|why| format!("--session {why}"))?;
        let part = part(options.step, session)?;
        if options.resume && part != PlanSelection::Whole {
            return Err("--resume and --session exclude each other".to_owned());
        }
        let is_foreground = options.way.fg;
        let scope = RunRequest {
            is_foreground,
            is_resume: options.resume,
            is_dry_run: options.dry_run,
            selection: part,
        };
        let is_named = mode.is_some()
            || options.dialect.is_some()
            || options.pr.is_some()
            || options.proof != ProofOptions::default();
        let is_bare = scope == RunRequest::default() && !is_named && !options.again;
        let is_usual_list = options.tasks && mode.is_none();
        if source == RequestedPlan::OpenRun && !is_bare {
            return Err("no plan is named".to_owned());
        }
        Ok(Self {
            mode,
            scope,
            dialect: options.dialect,
            batches: options.batches,
            waves: options.waves,
            proof: options.proof,
            clients: options.clients.into(),
            pull_request: options.pr,
            again: options.again,
            digest: options.digest,
            ..Self::new(
                if is_usual_list {
                    ExecuteCommand::UlwExec
                } else {
                    ExecuteCommand::Execute
                },
                source,
            )
        })
    }
}

impl TryFrom<ExecutePlanLine> for ExecuteRequest {
    type Error = String;

    fn try_from(line: ExecutePlanLine) -> Result<Self, String> {
        let is_usual = line.batches == BatchSizeOptions::default()
            && line.proof == ProofOptions::default()
            && line.model == ModelOption::default();
        let has_option = line.again || line.dialect.is_some() || !is_usual;
        let source = match line.plan {
            Some(plan) if plan != "continue" || has_option => RequestedPlan::File(plan),
            None if has_option => return Err("no plan is named".to_owned()),
            _ => RequestedPlan::OpenRun,
        };
        Ok(Self {
            batches: line.batches,
            dialect: line.dialect,
            proof: line.proof,
            again: line.again,
            clients: line.model.into(),
            ..Self::new(ExecuteCommand::ExecutePlan, source)
        })
    }
}

impl TryFrom<ExecuteLocalLine> for ExecuteRequest {
    type Error = String;

    fn try_from(line: ExecuteLocalLine) -> Result<Self, String> {
        let part = part(line.step, line.session)?;
        let scope = RunRequest {
            is_foreground: line.fg,
            is_resume: line.resume,
            is_dry_run: line.dry_run,
            selection: part,
        };
        let source = RequestedPlan::File(line.plan);
        Ok(Self {
            scope,
            dialect: line.dialect,
            again: line.again,
            proof: line.proof,
            clients: line.clients.into(),
            ..Self::new(ExecuteCommand::ExecuteLocal, source)
        })
    }
}

impl TryFrom<UlwExecLine> for ExecuteRequest {
    type Error = String;

    fn try_from(line: UlwExecLine) -> Result<Self, String> {
        if line.dialect.is_some() && line.plan.is_none() {
            return Err("no plan is named".to_owned());
        }
        let source = line
            .plan
            .map_or(RequestedPlan::TaskList(line.session), RequestedPlan::File);
        Ok(Self {
            waves: line.waves,
            dialect: line.dialect,
            proof: line.proof,
            again: line.again,
            clients: line.model.into(),
            ..Self::new(ExecuteCommand::UlwExec, source)
        })
    }
}

fn part(step: Option<u64>, session: Option<u64>) -> Result<PlanSelection, String> {
    match (step, session) {
        (Some(_), Some(_)) => Err("--step and --session exclude each other".to_owned()),
        (Some(step), None) => Ok(PlanSelection::Step(step)),
        (None, Some(session)) => Ok(PlanSelection::Session(session)),
        (None, None) => Ok(PlanSelection::Whole),
    }
}
