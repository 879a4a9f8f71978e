//! What judges a run from its start: the checks of its user, of their configuration, and of the
//! repository, where they approved that.

use std::path::Path;

use omo_core::gate::{self, Baseline, Gate};

use crate::pins;
use crate::repository::{Approved, Repository};
use crate::search_path::SearchPath;
use crate::trust::GivenApproval;
use crate::work_tree::WorkTree;

/// The checks at a run's start.
#[derive(Debug, Default)]
pub struct Start {
    /// Those that count, each with the files that it runs.
    pub gates: Vec<Gate>,
    /// What the repository asks for and its user has not approved.
    pub not_approved: Option<Repository>,
    /// The file because of which it is no longer approved, where it was.
    pub changed: Option<String>,
    /// Who approved it, where it is approved.
    pub approval: Option<GivenApproval>,
    /// The commit that is checked out.
    pub base: Option<String>,
}

/// Gathers them: `own` are the user's, to which those of an approved repository come.
pub fn gates(own: Vec<Gate>, root: &Path, state_home: Option<&Path>, search: &SearchPath) -> Start {
    let base = WorkTree::find(root).and_then(|tree| tree.head());
    let mut start = Start { gates: own, base, ..Start::default() };
    if let Some(repository) = Repository::read(root) {
        let approval = repository.approval(state_home);
        if let Approved::Yes(given) = approval {
            start.approval = Some(given);
            for gate in repository.gates {
                // More than there may be are left out: the user's own come first.
                let _ = gate::add(&mut start.gates, gate);
            }
        } else {
            start.not_approved = Some(repository).filter(|repository| !repository.gates.is_empty());
            start.changed = if let Approved::Before { changed } = approval { Some(changed) } else { None };
        }
    }
    pin(&mut start.gates, root, search);
    start
}

/// Takes the files that checks run now as the ones that their user agrees to.
pub fn pin<'a>(gates: impl IntoIterator<Item = &'a mut Gate>, root: &Path, search: &SearchPath) {
    for gate in gates {
        gate.pinned = pins::of(gate, root, search);
    }
}

/// Takes the files and counts of checks as they are now as the ones to be held to: of one check, or of
/// all. Gives the names of those that were meant.
pub fn accept(gates: &mut [Gate], name: Option<&str>, root: &Path, search: &SearchPath) -> Vec<String> {
    let meant = gates.iter_mut().filter(|gate| name.is_none_or(|name| gate.name == name));
    meant
        .map(|gate| {
            pin([&mut *gate], root, search);
            gate.best = None;
            let why = "its user accepted the counts as they were later".to_owned();
            gate.baseline = Some(Baseline { why, ..Baseline::default() });
            gate.name.clone()
        })
        .collect()
}
