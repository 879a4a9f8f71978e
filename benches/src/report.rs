//! A run in words: the table for people, and the same figures as JSON for machines.

use anstream::println;
use serde_json::{Value, json};

use crate::bounds::{Bound, Limit};
use crate::contest::Figures;
use crate::machine::Machine;

/// Everything that a run found out.
pub(crate) struct Report<'a> {
    /// Where and when.
    pub machine: &'a Machine,
    /// What the peers ran on.
    pub runs_on: Vec<String>,
    /// Who was left out, and why.
    pub missing: &'a [String],
    /// What the contestants took.
    pub figures: &'a [Figures],
    /// What an empty process took, in microseconds.
    pub floor: f64,
    /// The bounds.
    pub bounds: &'a [Bound],
}

impl Report<'_> {
    /// Prints the table and the bounds.
    pub(crate) fn print(&self) {
        println!(
            "{:<48} {:>6} {:>10} {:>10} {:>8} {:>10} {:>9}",
            "whole process", "rounds", "median", "p90", "x empty", "cpu", "peak KiB"
        );
        for figures in self.figures {
            println!(
                "{:<48} {:>6} {:>7.0} us {:>7.0} us {:>8.2} {:>7.0} us {:>9}",
                figures.name,
                figures.rounds,
                figures.median,
                figures.p90,
                figures.median / self.floor,
                figures.cpu,
                figures.peak_kib
            );
        }
        println!(
            "\nall contestants in turn, after a warm-up; no peak can be less than the bench's own memory"
        );
        println!("peers: {}", self.runs_on.join("; "));
        for why in self.missing {
            println!("left out: {why}");
        }
        println!();
        for bound in self.bounds {
            let verdict = if bound.is_kept() { "kept" } else { "BROKEN" };
            let (side, limit) = sides(bound.limit);
            println!(
                "{verdict:<7} {:<52} {:>7.2}{} ({side} {limit})",
                bound.what, bound.value, bound.unit
            );
        }
    }

    /// The same as JSON. Microseconds are of this machine; the ratios are what others can compare.
    pub(crate) fn json(&self) -> Value {
        let Machine {
            date,
            target,
            rustc,
            kernel,
            cpu,
            cores,
        } = self.machine;
        let contestants = self.figures.iter().map(|figures| {
            json!({
                "name": figures.name,
                "rounds": figures.rounds,
                "times_empty": rounded(figures.median / self.floor, 2),
                "median_us": rounded(figures.median, 1),
                "p90_us": rounded(figures.p90, 1),
                "cpu_us": rounded(figures.cpu, 1),
                "peak_kib": figures.peak_kib,
            })
        });
        let bounds = self.bounds.iter().map(|bound| {
            let (side, limit) = sides(bound.limit);
            json!({
                "what": bound.what,
                "value": rounded(bound.value, 2),
                "unit": bound.unit.trim(),
                "side": side,
                "limit": limit,
                "kept": bound.is_kept(),
            })
        });
        json!({
            "what": "whole processes, all contestants in turn within one run; written by `cargo xtask bench`",
            "date": date,
            "machine": {"target": target, "rustc": rustc, "kernel": kernel, "cpu": cpu, "cores": cores},
            "peers": self.runs_on,
            "left_out": self.missing,
            "contestants": contestants.collect::<Vec<_>>(),
            "bounds": bounds.collect::<Vec<_>>(),
        })
    }
}

fn sides(limit: Limit) -> (&'static str, f64) {
    match limit {
        Limit::AtMost(most) => ("at most", most),
        Limit::AtLeast(least) => ("at least", least),
    }
}

/// So many digits behind the point: more would only be noise in every commit.
fn rounded(value: f64, digits: i32) -> f64 {
    let scale = 10_f64.powi(digits);
    (value * scale).round() / scale
}
