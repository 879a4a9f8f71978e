//! Modes of a run: each arranges a plan of any dialect, as its groups, dependencies and policy
//! (`batches`, `waves`, `parallel`, `step_by_step`). The next step (`schedule`) follows from that
//! alone; a second arrangement changes nothing.

mod batches;
mod chosen;
mod graph;
pub(crate) mod parallel;
mod review;
mod step_by_step;
mod waves;

use omo_plan::batches::{DEFAULT_BATCH_SIZE, DEFAULT_HUB_DEPENDENTS};
use omo_plan::model::{Plan, RunPolicy};
use omo_plan::proof;

use crate::execution_mode::ExecutionMode;
use crate::state::RunState;

pub use chosen::{ModeChoice, choose};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModeOptions {
    /// Dependents that make a task a hub.
    pub hub_k: u32,
    pub batch_size: u32,
    /// Workers of a wave at once; `0` for no bound.
    pub max_workers: u32,
    pub max_iterations: u32,
    pub skips_verification: bool,
}

const DEFAULT_ITERATIONS: u32 = 5;

impl Default for ModeOptions {
    fn default() -> Self {
        Self {
            hub_k: u32::try_from(DEFAULT_HUB_DEPENDENTS).unwrap_or(u32::MAX),
            batch_size: u32::try_from(DEFAULT_BATCH_SIZE).unwrap_or(u32::MAX),
            max_workers: 0,
            max_iterations: DEFAULT_ITERATIONS,
            skips_verification: false,
        }
    }
}

impl From<&RunPolicy> for ModeOptions {
    fn from(policy: &RunPolicy) -> Self {
        let RunPolicy {
            hub_dependents: hub_k,
            batch_size,
            max_workers,
            max_rounds: max_iterations,
            skips_verification,
            ..
        } = *policy;
        Self {
            hub_k,
            batch_size,
            max_workers,
            max_iterations,
            skips_verification,
        }
    }
}

/// `plan` with the groups, dependencies, reviews and policy of `mode`.
pub fn arranged(plan: Plan, mode: ExecutionMode, options: &ModeOptions) -> Plan {
    match mode {
        ExecutionMode::Batches => batches::arranged(plan, options),
        ExecutionMode::Waves => waves::arranged(plan, options),
        ExecutionMode::Parallel => parallel::arranged(plan),
        ExecutionMode::StepByStep => step_by_step::arranged(plan),
    }
}

impl RunState {
    /// `plan`, read anew, narrowed and arranged as this run's own, so that both can be compared.
    pub fn as_in_run(&self, plan: Plan) -> Plan {
        let plan = match self.scope {
            Some(asked) => asked.narrow_plan(plan),
            None => plan,
        };
        let RunPolicy {
            requires_checks,
            review,
            added_checks,
            models,
            pull_request,
            ..
        } = &self.plan.policy;
        let mut plan = proof::find_proofs(plan, added_checks);
        (plan.policy.requires_checks, plan.policy.review) = (*requires_checks, *review);
        plan.policy.models = models.clone();
        plan.policy.pull_request.clone_from(pull_request);
        arranged(plan, self.mode, &ModeOptions::from(&self.plan.policy))
    }
}
