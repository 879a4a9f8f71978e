//! `CheckoutView` of a run: commits since its start, its uncommitted files, and those of others.

use std::collections::BTreeSet;

use omo_view::run_view::CheckoutView;

use crate::state::RunState;

pub(crate) fn checkout_view(
    state: &RunState,
    commits: Option<usize>,
    uncommitted: Vec<String>,
) -> CheckoutView {
    let changed: BTreeSet<String> = state
        .tasks
        .values()
        .flat_map(|task| {
            let files = task.last_end.iter().flat_map(|end| &end.files);
            files
                .filter(|file| !task.left_alone.contains(file))
                .cloned()
                .collect::<Vec<_>>()
        })
        .collect();
    let (own, others) = uncommitted
        .into_iter()
        .partition(|path| changed.contains(path.as_str()));
    CheckoutView {
        commits,
        uncommitted: own,
        other_uncommitted: others,
    }
}
