//! Changes to a run's state by checks of the whole that run between two waves of parallel workers.

use omo_core::check::task_check::TaskCheckOutcome;

use super::RunState;
use crate::event::{EventKind, RunEvent};
use crate::parallel_state::WaveCheck;
use crate::state::LedgerError;

impl RunState {
    /// Records outcomes. Broken checks count for the whole at once; green ones run again later.
    pub(super) fn apply_wave_check(&mut self, event: &RunEvent) -> Result<(), LedgerError> {
        let (
            Some(parallel),
            EventKind::WaveChecked {
                wave,
                tip,
                tree,
                outcomes,
                broken,
                groups,
            },
        ) = (&mut self.parallel, &event.kind)
        else {
            return Err(LedgerError::new(
                event,
                "is about sessions that are not worked on apart",
            ));
        };
        if *tip != parallel.tip
            || outcomes.len() != self.plan.final_checks.len()
            || !broken.iter().all(|place| {
                outcomes
                    .get(*place)
                    .is_some_and(|outcome| !outcome.is_green())
            })
        {
            return Err(LedgerError::new(
                event,
                "checks another commit than that of the run",
            ));
        }
        parallel.checked = parallel.merged.len();
        for (place, outcome) in outcomes.iter().enumerate() {
            if outcome.is_green() {
                parallel.green_at.insert(place, parallel.merged.len());
            } else if broken.contains(&place) {
                parallel.green_at.entry(place).or_insert(0);
                self.final_checks.insert(place, outcome.clone());
            } else {
                parallel.red_before.insert(place);
            }
        }
        parallel.wave_check = Some(WaveCheck {
            wave: *wave,
            tip: tip.clone(),
            tree: tree.clone(),
            checks: self.plan.final_checks.clone(),
            outcomes: outcomes.clone(),
            broken: broken.clone(),
            groups: groups.clone(),
        });
        Ok(())
    }

    /// Takes the green outcomes after the last wave as the final ones: the tree is the same.
    pub(super) fn reuse_wave_check(
        &mut self,
        event: &RunEvent,
        tree: &str,
    ) -> Result<(), LedgerError> {
        let known = self
            .parallel
            .as_ref()
            .and_then(|parallel| parallel.wave_check.as_ref());
        let Some(check) = known.filter(|check| {
            check.tree == tree
                && check.checks == self.plan.final_checks
                && check.outcomes.iter().all(TaskCheckOutcome::is_green)
        }) else {
            return Err(LedgerError::new(event, "reuses a check that was not run"));
        };
        self.final_checks = check.outcomes.iter().cloned().enumerate().collect();
        Ok(())
    }

    /// Has a wave check with broken checks run again, in a run that goes on.
    pub(super) fn check_wave_again(&mut self) {
        let Some(parallel) = &mut self.parallel else {
            return;
        };
        if parallel
            .wave_check
            .take()
            .is_some_and(|check| !check.broken.is_empty())
        {
            parallel.checked = 0;
        }
    }

    pub(super) fn forget_wave_checks(&mut self) {
        let Some(parallel) = &mut self.parallel else {
            return;
        };
        (parallel.wave_check, parallel.checked) = (None, 0);
        parallel.green_at.clear();
        parallel.red_before.clear();
    }
}
