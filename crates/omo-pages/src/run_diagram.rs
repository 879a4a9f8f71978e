//! The life of a run as a diagram.

mod played_runs;

use played_runs::{RunArrows, RunStateName, START, arrows};

const HOLDING: [RunStateName; 3] = ["working", "checks", "review"];

/// The diagram in Mermaid's notation. An arrow that leaves a state of a run that holds its session, or comes back to
/// one, is drawn once for all of them.
pub(crate) fn diagram() -> String {
    let arrows = merge_holding_states(&arrows());
    let is_inside =
        |(from, to): (RunStateName, RunStateName)| HOLDING.contains(&from) && HOLDING.contains(&to);
    let drawn = |wanted: bool| {
        let moves = arrows
            .keys()
            .filter(|(from, to)| from != to && *from != START);
        moves
            .filter(move |arrow| is_inside(**arrow) == wanted)
            .map(|(from, to)| format!("    {from} --> {to}\n"))
    };
    let inside: Vec<String> = drawn(true).map(|line| format!("    {line}")).collect();
    let outside: Vec<String> = drawn(false).collect();
    format!(
        "```mermaid\nstateDiagram-v2\n    direction LR\n    {START} --> held\n    state held {{\n        direction LR\n        \
         {START} --> working\n{}    }}\n{}```\n",
        inside.concat(),
        outside.concat()
    )
}

fn merge_holding_states(arrows: &RunArrows) -> RunArrows {
    let mut drawn = RunArrows::new();
    for ((from, to), why) in arrows {
        let (leaves, enters) = (HOLDING.contains(from), HOLDING.contains(to));
        let ends = match (leaves, enters) {
            (true, false) => ("held", *to),
            (false, true) if *from != START => (*from, "held"),
            _ => (*from, *to),
        };
        drawn.entry(ends).or_default().extend(why.iter().cloned());
    }
    drawn
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use omo_core::session::VerdictKind;
    use omo_core::stop::StopRow;

    use super::*;

    #[test]
    fn every_end_and_every_phase_is_reached() {
        let diagram = diagram();
        let ends = [
            VerdictKind::Verified,
            VerdictKind::Blocked,
            VerdictKind::Released,
            VerdictKind::Stopped,
            VerdictKind::Expired,
        ];
        for end in ends
            .map(VerdictKind::word)
            .into_iter()
            .chain(HOLDING)
            .chain(["paused"])
        {
            assert!(
                diagram.contains(&format!("--> {end}\n")),
                "{end}:\n{diagram}"
            );
        }
    }

    /// Rows that end or hold a run move it: each is the reason of some arrow.
    #[test]
    fn every_row_that_moves_a_run_is_on_an_arrow() {
        let why: BTreeSet<String> = arrows().into_values().flatten().collect();
        for row in StopRow::ALL
            .into_iter()
            .filter(|row| *row >= StopRow::SaidBlocked)
        {
            // A judged claim has a reason of its own, and a cooldown only lets one turn end.
            let is_named = why.contains(row.label())
                || matches!(row, StopRow::ClaimJudged | StopRow::Cooldown);
            assert!(is_named, "{row:?} is on no arrow: {why:?}");
        }
        for why_judged in ["proved", "claimed, not verified"] {
            assert!(why.contains(why_judged), "{why:?}");
        }
    }

    #[test]
    fn nothing_leaves_an_end() {
        for ((from, to), _) in arrows() {
            assert!(
                HOLDING.contains(&from) || [START, "paused"].contains(&from),
                "{from} --> {to}"
            );
        }
    }
}
