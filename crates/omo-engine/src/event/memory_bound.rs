//! The bound that free memory sets on the number of workers.

use serde::{Deserialize, Serialize};

/// A number of workers that free memory allows, recorded where more could begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryBound {
    pub at_once: usize,
    /// Free memory, in MiB.
    pub free_mb: u64,
    /// Memory reserved for a worker, in MiB.
    pub worker_mb: u64,
}

impl MemoryBound {
    /// The bound for `free_bytes`; one worker can always begin.
    pub fn new(free_bytes: u64, worker_mb: u64) -> Self {
        let free_mb = free_bytes / (1024 * 1024);
        let at_once = usize::try_from(free_mb / worker_mb.max(1))
            .unwrap_or(usize::MAX)
            .max(1);
        Self {
            at_once,
            free_mb,
            worker_mb,
        }
    }

    pub fn line(&self) -> String {
        let Self {
            at_once,
            free_mb,
            worker_mb,
        } = self;
        let workers = if *at_once == 1 {
            "1 worker"
        } else {
            &format!("{at_once} workers")
        };
        format!(
            "{workers} at the same time: {free_mb} MB of memory are free, and each is left {worker_mb} \
             (worktrees.memory_mb in config.toml)."
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_memory_bounds_the_workers_and_never_to_none() {
        const MIB: u64 = 1024 * 1024;
        for (free, worker_mb, at_once) in [
            (0, 1_024, 1),
            (1_023, 1_024, 1),
            (2_048, 1_024, 2),
            (u64::MAX / MIB, 0, 0),
        ] {
            let bound = MemoryBound::new(free * MIB, worker_mb);
            assert!(
                bound.at_once == at_once || worker_mb == 0 && bound.at_once > 1_000,
                "{bound:?}"
            );
        }
        assert_eq!(
            MemoryBound::new(2_500 * MIB, 1_024).line(),
            "2 workers at the same time: 2500 MB of memory are free, and each is left 1024 (worktrees.memory_mb in config.toml)."
        );
    }
}
