//! Which figures of a run are drawn, and what the chart says beside them.

use crate::chart::{Bar, Chart, Group, Kind};
use crate::contestants::{
    ARMED, EMPTY, FRESH, GIT, IDLE_AMONG_OTHERS, IDLE_PROMPT, IDLE_STOP, LONG_TRANSCRIPT,
    MIDDLE_TRANSCRIPT, SHORT_TRANSCRIPT, TRUE, armed, idle,
};
use crate::peers;
use crate::report::Report;

/// The peers, in the order in which they are drawn.
const PEERS: [&str; 4] = [peers::PYTHON, peers::BASH, peers::NODE, peers::COMMON_BASH];

/// The chart of a run. A peer that was left out is not in it.
pub(crate) fn of(report: &Report) -> Chart {
    let bar = |label: &str, name: &str, kind| {
        let figures = report.figures.iter().find(|figures| figures.name == name)?;
        Some(Bar {
            label: label.to_owned(),
            us: figures.median,
            kind,
        })
    };
    let group = |title: &str, bars: Vec<Option<Bar>>| Group {
        title: title.to_owned(),
        bars: bars.into_iter().flatten().collect(),
    };
    let with_peers = |title: &str, ours: &str, theirs: fn(&str) -> String| {
        let peers = PEERS
            .iter()
            .map(|peer| bar(peer, &theirs(peer), Kind::Theirs));
        group(
            title,
            [bar("omo", ours, Kind::Ours)]
                .into_iter()
                .chain(peers)
                .collect(),
        )
    };
    let groups = vec![
        group(
            "Starting a process at all",
            vec![
                bar("empty process", EMPTY, Kind::Floor),
                bar("/bin/true", TRUE, Kind::Theirs),
            ],
        ),
        group(
            "A session that never asked for omo",
            vec![
                bar("omo, at a prompt", IDLE_PROMPT, Kind::Ours),
                bar("omo, at a stop", IDLE_STOP, Kind::Ours),
            ],
        ),
        with_peers(
            "A stop without a run, beside 50 other sessions",
            IDLE_AMONG_OTHERS,
            idle,
        ),
        with_peers(
            "A stop that is held: state locked, counted, written, answered",
            ARMED,
            armed,
        ),
        group(
            "The same with the end of a transcript to read",
            vec![
                bar("omo, 1 MB", SHORT_TRANSCRIPT, Kind::Ours),
                bar("omo, 100 MB", MIDDLE_TRANSCRIPT, Kind::Ours),
                bar("omo, 1 GB", LONG_TRANSCRIPT, Kind::Ours),
            ],
        ),
        group(
            "A claim that is judged, on 1,000 files under git",
            vec![
                bar("omo, all evidence fresh", FRESH, Kind::Ours),
                bar("git status, for scale", GIT, Kind::Theirs),
            ],
        ),
    ];
    let machine = report.machine;
    let day = machine.date.split('T').next().unwrap_or_default();
    Chart {
        title: "What one call of a hook costs".to_owned(),
        subtitle: "Whole processes, medians of one interleaved run, logarithmic scale; × is times an empty process"
            .to_owned(),
        groups,
        notes: vec![
            format!("{}; {}", machine.target, report.runs_on.join(", ")),
            format!("{}, {}, {day}; every figure: speed.json", machine.cpu, machine.kernel),
        ],
    }
}
