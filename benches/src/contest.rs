//! Running the contestants in turn, and what each of them took.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use wait4::Wait4;

const ROUNDS: usize = 300;
const WARM_UP: usize = 10;
/// A contestant that takes tens of milliseconds takes part in one round of so many: fewer runs say
/// as much of it, if they lie as far apart.
const SLOW_EVERY: usize = 10;

/// A program with its input.
pub(crate) struct Contestant<'a> {
    name: String,
    program: PathBuf,
    arguments: Vec<PathBuf>,
    folder: PathBuf,
    input: PathBuf,
    variables: Vec<(&'static str, PathBuf)>,
    before: Option<Box<dyn Fn() -> Result<()> + 'a>>,
    /// What its answer must hold; nothing where it must say nothing.
    says: Option<&'static str>,
    every: usize,
}

/// What a contestant took.
pub(crate) struct Figures {
    /// Its name.
    pub name: String,
    /// How often it was timed.
    pub rounds: usize,
    /// The median, in microseconds.
    pub median: f64,
    /// What nine of ten runs kept below, in microseconds.
    pub p90: f64,
    /// The median of the processor's time, in microseconds: what others do at the same time hardly
    /// changes it.
    pub cpu: f64,
    /// The greatest resident set of any run.
    pub peak_kib: u64,
}

/// What one run took: until its end, of the processor, and of memory.
struct Taken {
    wall: f64,
    cpu: f64,
    peak_kib: u64,
}

impl<'a> Contestant<'a> {
    /// A contestant that finds nothing to do.
    pub(crate) fn new(name: &str, program: &Path, folder: &Path, input: PathBuf) -> Self {
        let (program, folder) = (program.to_owned(), folder.to_owned());
        let (name, arguments, variables) = (name.to_owned(), Vec::new(), Vec::new());
        Self {
            name,
            program,
            arguments,
            folder,
            input,
            variables,
            before: None,
            says: None,
            every: 1,
        }
    }

    /// With arguments.
    pub(crate) fn arguments(mut self, arguments: &[PathBuf]) -> Self {
        self.arguments.extend_from_slice(arguments);
        self
    }

    /// With variables beside the usual.
    pub(crate) fn variables(
        mut self,
        variables: impl IntoIterator<Item = (&'static str, PathBuf)>,
    ) -> Self {
        self.variables.extend(variables);
        self
    }

    /// One that finds something to do, each time anew, and must say so.
    pub(crate) fn finds(
        mut self,
        before: impl Fn() -> Result<()> + 'a,
        says: &'static str,
    ) -> Self {
        self.before = Some(Box::new(before));
        self.says = Some(says);
        self
    }

    /// One whose answer is its own affair.
    pub(crate) fn may_say_anything(mut self) -> Self {
        self.says = Some("");
        self
    }

    /// One that needs fewer rounds.
    pub(crate) fn slow(mut self) -> Self {
        self.every = SLOW_EVERY;
        self
    }

    fn run(&self) -> Result<Taken> {
        if let Some(before) = &self.before {
            before()?;
        }
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .current_dir(&self.folder)
            .env("CLAUDE_PROJECT_DIR", &self.folder);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
            .stdin(File::open(&self.input)?)
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let start = Instant::now();
        let mut child = command
            .spawn()
            .with_context(|| format!("start {}", self.program.display()))?;
        let mut answer = String::new();
        if let Some(mut stdout) = child.stdout.take() {
            std::io::Read::read_to_string(&mut stdout, &mut answer)?;
        }
        let ended = child.wait4()?;
        let wall = microseconds(start.elapsed());
        let said = self
            .says
            .map_or(answer.is_empty(), |says| answer.contains(says));
        if !ended.status.success() || !said {
            bail!(
                "{} did not do its work: {}, answer {answer:?}",
                self.name,
                ended.status
            );
        }
        let cpu = microseconds(ended.rusage.utime + ended.rusage.stime);
        Ok(Taken {
            wall,
            cpu,
            peak_kib: ended.rusage.maxrss / 1_024,
        })
    }
}

/// Runs each contestant once, untimed: it fails where one does not do its work.
pub(crate) fn play_once(contestants: &[Contestant]) -> Result<()> {
    contestants
        .iter()
        .try_for_each(|contestant| contestant.run().map(drop))
}

/// Runs all contestants in turn, round by round, so that a drift of the machine meets them all.
pub(crate) fn run(contestants: &[Contestant]) -> Result<Vec<Figures>> {
    let mut taken: Vec<Vec<Taken>> = contestants.iter().map(|_| Vec::new()).collect();
    for round in 0..WARM_UP + ROUNDS {
        for (contestant, taken) in contestants.iter().zip(&mut taken) {
            if round.is_multiple_of(contestant.every) {
                let run = contestant.run()?;
                taken.extend((round >= WARM_UP).then_some(run));
            }
        }
    }
    Ok(contestants
        .iter()
        .zip(taken)
        .map(|(contestant, taken)| figures(&contestant.name, &taken))
        .collect())
}

fn figures(name: &str, taken: &[Taken]) -> Figures {
    let at = |tenth: usize, of: fn(&Taken) -> f64| {
        let mut sorted: Vec<f64> = taken.iter().map(of).collect();
        sorted.sort_by(f64::total_cmp);
        sorted
            .get(sorted.len() * tenth / 10)
            .copied()
            .unwrap_or(f64::NAN)
    };
    Figures {
        name: name.to_owned(),
        rounds: taken.len(),
        median: at(5, |run| run.wall),
        p90: at(9, |run| run.wall),
        cpu: at(5, |run| run.cpu),
        peak_kib: taken.iter().map(|run| run.peak_kib).max().unwrap_or(0),
    }
}

fn microseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_medians_what_nine_of_ten_stay_below_and_the_greatest_memory() {
        let run = |wall: u32| Taken {
            wall: wall.into(),
            cpu: f64::from(wall) / 2.0,
            peak_kib: wall.into(),
        };
        let taken: Vec<Taken> = (1..=10).rev().map(run).collect();
        let figures = figures("x", &taken);
        assert_eq!((figures.rounds, figures.peak_kib), (10, 10));
        assert!((figures.median - 6.0).abs() < 0.001 && (figures.p90 - 10.0).abs() < 0.001);
        assert!((figures.cpu - 3.0).abs() < 0.001);
        assert!(super::figures("x", &[]).median.is_nan());
    }
}
