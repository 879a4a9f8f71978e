//! The bounds that the project has set itself, and whether a run kept them.

use anyhow::{Context, Result};

use crate::contest::Figures;
use crate::contestants::{
    ARMED, BATCHES, BATCHES_IN_PYTHON, CAT, EMPTY, ENDLESS_PROMPT, FRESH, GIT_READING, IDLE_PROMPT,
    IDLE_STATUSLINE, IDLE_STOP, LARGE, LONG_PROMPT, LONG_TRANSCRIPT, NEXT, PLAIN, SHORT_TRANSCRIPT,
    armed,
};
use crate::peers;
use crate::proofs::ProofCost;
use crate::sessions::Cost;

/// One bound, and what the run says about it.
pub(crate) struct Bound {
    /// What is bounded.
    pub what: &'static str,
    /// What it was.
    pub value: f64,
    /// What it may be.
    pub limit: Limit,
    /// What stands behind the value.
    pub unit: &'static str,
}

/// On which side of a bound the value has to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Limit {
    /// It or less.
    AtMost(f64),
    /// It or more.
    AtLeast(f64),
}

impl Bound {
    /// Whether it was kept. What is no number keeps nothing.
    pub(crate) fn is_kept(&self) -> bool {
        match self.limit {
            Limit::AtMost(most) => self.value <= most,
            Limit::AtLeast(least) => self.value >= least,
        }
    }
}

/// The figures of one contestant.
pub(crate) fn of<'a>(figures: &'a [Figures], name: &str) -> Result<&'a Figures> {
    figures
        .iter()
        .find(|figures| figures.name == name)
        .with_context(|| format!("no figures of {name}"))
}

/// How many files a usual claim is about.
const CLAIMED_FILES: f64 = 1_000.0;

/// All bounds. `largest_state` is what the state file of 1,000 sessions has, in bytes.
pub(crate) fn judge(figures: &[Figures], largest_state: u64) -> Result<Vec<Bound>> {
    let median = |name: &str| of(figures, name).map(|figures| figures.median);
    let memory = |is_meant: &dyn Fn(&str) -> bool| {
        let meant = figures.iter().filter(|figures| is_meant(&figures.name));
        mib(meant
            .map(|figures| figures.peak_kib * 1_024)
            .max()
            .unwrap_or(u64::MAX))
    };
    let floor = median(EMPTY)?;
    let mut bounds = vec![
        at_most(
            "idle prompt / empty process",
            median(IDLE_PROMPT)? / floor,
            1.3,
            "",
        ),
        at_most(
            "idle stop / empty process",
            median(IDLE_STOP)? / floor,
            1.3,
            "",
        ),
        at_most(
            "idle status line / empty process",
            median(IDLE_STATUSLINE)? / floor,
            1.3,
            "",
        ),
        at_most(
            "armed stop, 50 sessions / empty process",
            median(ARMED)? / floor,
            2.5,
            "",
        ),
        at_most(
            "memory of the hooks, any transcript, 1,000 sessions",
            memory(&|name| is_of_a_hook(name) && ![ENDLESS_PROMPT, LARGE].contains(&name)),
            4.0,
            " MiB",
        ),
        at_most(
            "armed stop: transcript of 1 GB / of 1 MB",
            median(LONG_TRANSCRIPT)? / median(SHORT_TRANSCRIPT)?,
            1.3,
            "",
        ),
        at_most(
            "state file of 1,000 sessions",
            mib(largest_state),
            4.0,
            " MiB",
        ),
        at_most(
            "a prompt of 100 kB, over a short one",
            ms(median(LONG_PROMPT)? - median(IDLE_PROMPT)?),
            1.0,
            " ms",
        ),
        at_most(
            "a prompt of 64 MiB is given up after",
            ms(median(ENDLESS_PROMPT)?),
            100.0,
            " ms",
        ),
        at_most(
            "memory at a prompt of 64 MiB",
            memory(&|name| name == ENDLESS_PROMPT),
            16.0,
            " MiB",
        ),
        at_most(
            "a claim with fresh evidence / git status, each file read",
            median(FRESH)? / median(GIT_READING)?,
            1.5,
            "",
        ),
        at_most(
            "a claim with fresh evidence, over one without checks, a file",
            (median(FRESH)? - median(PLAIN)?) / CLAIMED_FILES,
            20.0,
            " µs",
        ),
        at_most(
            "a claim with fresh evidence among 50,000 files",
            ms(median(LARGE)?),
            1_000.0,
            " ms",
        ),
        at_most(
            "memory of a claim among 50,000 files",
            memory(&|name| name == LARGE),
            8.0,
            " MiB",
        ),
        at_most(
            "omo plan batches of 1,000 tasks / cat",
            median(BATCHES)? / median(CAT)?,
            10.0,
            "",
        ),
        at_most(
            "omo agent next after 10,000 events",
            ms(median(NEXT)?),
            20.0,
            " ms",
        ),
    ];
    let times_faster = [
        (
            peers::COMMON_BASH,
            "bash and a jq per field / armed stop",
            100.0,
        ),
        (peers::BASH, "bash and one jq / armed stop", 25.0),
        (peers::NODE, "Node.js / armed stop", 50.0),
        (peers::PYTHON, "Python / armed stop", 15.0),
    ];
    for (peer, what, least) in times_faster {
        // A peer that this machine cannot run has no figures.
        if let Ok(peer) = median(&armed(peer)) {
            bounds.push(Bound {
                what,
                value: peer / median(ARMED)?,
                limit: Limit::AtLeast(least),
                unit: "",
            });
        }
    }
    if let Ok(python) = median(BATCHES_IN_PYTHON) {
        let value = python / median(BATCHES)?;
        // One reader of Markdown and patterns compiled at first use, instead of scanners of our own.
        bounds.push(Bound {
            what: "Python / omo plan batches",
            value,
            limit: Limit::AtLeast(5.0),
            unit: "",
        });
    }
    Ok(bounds)
}

/// The bounds of parallel sessions.
pub(crate) fn of_sessions(cost: &Cost) -> [Bound; 2] {
    let (engine, git) = (cost.engine.as_secs_f64(), cost.git.as_secs_f64());
    [
        at_most(
            "20 parallel sessions, all but their clients' time",
            engine,
            2.0,
            " s",
        ),
        // Of omo's calls of git each is found outside of the project anew, and a task's tree trusts none of its settings.
        at_most(
            "20 parallel sessions / git worktree, merge, branch",
            engine / git,
            2.5,
            "",
        ),
    ]
}

/// The bound of a proof.
pub(crate) fn of_proofs(cost: &ProofCost) -> Bound {
    let value = cost.proof.as_secs_f64() / cost.checkout.as_secs_f64();
    at_most(
        "omo prove among 50,000 files / git worktree add",
        value,
        2.0,
        "",
    )
}

/// What reads a plan or a ledger holds all of it, and is no hook.
fn is_of_a_hook(name: &str) -> bool {
    name.starts_with("omo") && ![BATCHES, NEXT].contains(&name)
}

fn at_most(what: &'static str, value: f64, most: f64, unit: &'static str) -> Bound {
    Bound {
        what,
        value,
        limit: Limit::AtMost(most),
        unit,
    }
}

fn ms(microseconds: f64) -> f64 {
    microseconds / 1_000.0
}

fn mib(bytes: u64) -> f64 {
    f64::from(u32::try_from(bytes / 1_024).unwrap_or(u32::MAX)) / 1_024.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_kept_up_to_itself_and_not_by_what_is_no_number() {
        let bound = |value, limit| {
            Bound {
                what: "x",
                value,
                limit,
                unit: "",
            }
            .is_kept()
        };
        assert!(bound(1.3, Limit::AtMost(1.3)) && !bound(1.31, Limit::AtMost(1.3)));
        assert!(bound(50.0, Limit::AtLeast(50.0)) && !bound(49.9, Limit::AtLeast(50.0)));
        assert!(!bound(f64::NAN, Limit::AtMost(1.3)) && !bound(f64::NAN, Limit::AtLeast(1.3)));
    }
}
