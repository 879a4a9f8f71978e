//! Running the contestants in turn, and what each of them took.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use wait4::Wait4;

const ROUNDS: usize = 300;
const WARM_UP: usize = 10;
/// A contestant that takes tens of milliseconds takes part in one round of so many: fewer runs say
/// as much of it, if they lie as far apart.
const SLOW_EVERY: usize = 10;

/// A program with its input.
pub struct Contestant<'a> {
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
pub struct Figures {
    /// Its name.
    pub name: String,
    /// How often it was timed.
    pub rounds: usize,
    /// The median, in microseconds.
    pub median: f64,
    /// What nine of ten runs kept below, in microseconds.
    pub p90: f64,
    /// The greatest resident set of any run.
    pub peak_kib: u64,
}

impl<'a> Contestant<'a> {
    /// A contestant that finds nothing to do.
    pub fn new(name: &str, program: &Path, folder: &Path, input: PathBuf) -> Self {
        let (program, folder) = (program.to_owned(), folder.to_owned());
        let (name, arguments, variables) = (name.to_owned(), Vec::new(), Vec::new());
        Self { name, program, arguments, folder, input, variables, before: None, says: None, every: 1 }
    }

    /// With arguments.
    pub fn arguments(mut self, arguments: &[PathBuf]) -> Self {
        self.arguments.extend_from_slice(arguments);
        self
    }

    /// With variables beside everybody's.
    pub fn variables(mut self, variables: impl IntoIterator<Item = (&'static str, PathBuf)>) -> Self {
        self.variables.extend(variables);
        self
    }

    /// One that finds something to do, each time anew, and must say so.
    pub fn finds(mut self, before: impl Fn() -> Result<()> + 'a, says: &'static str) -> Self {
        self.before = Some(Box::new(before));
        self.says = Some(says);
        self
    }

    /// One whose answer is its own affair.
    pub fn may_say_anything(mut self) -> Self {
        self.says = Some("");
        self
    }

    /// One that needs fewer rounds.
    pub fn slow(mut self) -> Self {
        self.every = SLOW_EVERY;
        self
    }

    fn run(&self) -> Result<(f64, u64)> {
        if let Some(before) = &self.before {
            before()?;
        }
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(&self.folder).env("CLAUDE_PROJECT_DIR", &self.folder);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(File::open(&self.input)?).stdout(Stdio::piped()).stderr(Stdio::null());
        let start = Instant::now();
        let mut child = command.spawn().with_context(|| format!("start {}", self.program.display()))?;
        let mut answer = String::new();
        if let Some(mut stdout) = child.stdout.take() {
            std::io::Read::read_to_string(&mut stdout, &mut answer)?;
        }
        let ended = child.wait4()?;
        let took = start.elapsed().as_secs_f64() * 1_000_000.0;
        let said = self.says.map_or(answer.is_empty(), |says| answer.contains(says));
        if !ended.status.success() || !said {
            bail!("{} did not do its work: {}, answer {answer:?}", self.name, ended.status);
        }
        Ok((took, ended.rusage.maxrss / 1_024))
    }
}

/// Runs all contestants in turn, round by round, so that a drift of the machine meets them all.
pub fn run(contestants: &[Contestant]) -> Result<Vec<Figures>> {
    let mut taken: Vec<(Vec<f64>, u64)> = contestants.iter().map(|_| (Vec::new(), 0)).collect();
    for round in 0..WARM_UP + ROUNDS {
        for (contestant, (times, peak)) in contestants.iter().zip(&mut taken) {
            if !round.is_multiple_of(contestant.every) {
                continue;
            }
            let (took, memory) = contestant.run()?;
            if round >= WARM_UP {
                times.push(took);
                *peak = (*peak).max(memory);
            }
        }
    }
    Ok(contestants.iter().zip(taken).map(|(contestant, (times, peak))| figures(contestant, times, peak)).collect())
}

fn figures(contestant: &Contestant, mut times: Vec<f64>, peak_kib: u64) -> Figures {
    times.sort_by(f64::total_cmp);
    let at = |part: usize| times.get((times.len() * part / 10).min(times.len() - 1)).copied().unwrap_or(f64::NAN);
    Figures { name: contestant.name.clone(), rounds: times.len(), median: at(5), p90: at(9), peak_kib }
}
