//! Who takes part, and what each of them is called.

use std::path::Path;

use anyhow::Result;
use omo_testkit::samples::{self, SampleSessions};

use crate::bench_files::{BenchFiles, Project};
use crate::claims::Claims;
use crate::contest::Contestant;
use crate::peers::Peer;

/// A process that does nothing, built as the hooks are.
pub(crate) const EMPTY: &str = "empty process";
/// What every system has.
pub(crate) const TRUE: &str = "/bin/true";
/// The hooks where no run is on.
pub(crate) const IDLE_PROMPT: &str = "omo-user-prompt-submit, idle";
/// The same of a Stop.
pub(crate) const IDLE_STOP: &str = "omo-stop, idle";
/// The same where others have a run.
pub(crate) const IDLE_AMONG_OTHERS: &str = "omo-stop, idle, 50 other sessions";
/// A Stop that is turned into a continuation.
pub(crate) const ARMED: &str = "omo-stop, armed, 50 sessions";
/// A Stop that reads the end of a transcript of 1 MB.
pub(crate) const SHORT_TRANSCRIPT: &str = "omo-stop, armed, transcript of 1 MB";
/// The same of one that is a hundred times as long.
pub(crate) const MIDDLE_TRANSCRIPT: &str = "omo-stop, armed, transcript of 100 MB";
/// The same of one that is a thousand times as long.
pub(crate) const LONG_TRANSCRIPT: &str = "omo-stop, armed, transcript of 1 GB";
/// The status line where no run is on.
pub(crate) const IDLE_STATUSLINE: &str = "omo statusline, idle";
/// The same where one is.
pub(crate) const ARMED_STATUSLINE: &str = "omo statusline, armed, 50 sessions";
/// A prompt of 100 kB.
pub(crate) const LONG_PROMPT: &str = "omo-user-prompt-submit, 100 kB prompt";
/// A prompt that is larger than any that a client sends.
pub(crate) const ENDLESS_PROMPT: &str = "omo-user-prompt-submit, 64 MiB prompt";
/// A claim with nothing to judge it by.
pub(crate) const PLAIN: &str = "omo-stop, a claim without checks, 1,000 files";
/// A claim whose evidence still holds.
pub(crate) const FRESH: &str = "omo-stop, a claim, fresh evidence, 1,000 files";
/// The same in a large project.
pub(crate) const LARGE: &str = "omo-stop, a claim, fresh evidence, 50,000";
/// What git needs for the same files where it goes by their times.
pub(crate) const GIT: &str = "git status, 1,000 files";
/// What it needs where it reads each of them, as the end of a run does.
pub(crate) const GIT_READING: &str = "git status, 1,000 files, each read";
/// The batches of a plan.
pub(crate) const BATCHES: &str = "omo plan batches, 1,000 tasks";
/// The same plan, printed as it is.
pub(crate) const CAT: &str = "cat, the same plan";
/// The same batches by a program in Python.
pub(crate) const BATCHES_IN_PYTHON: &str = "Python, the same batches";
/// What comes next in a run that has gone on for long.
pub(crate) const NEXT: &str = "omo agent next, 10,000 events";

/// What a block says, a status line, and the two ends of a claim.
const BLOCK: &str = "\"block\"";
const STATUS_LINE: &str = "ulw 3/8";
const RELEASED: &str = "NOT PROVED: claimed, not verified";
const VERIFIED: &str = "VERIFIED: ";

/// What a peer is called where no run is on.
pub(crate) fn idle(peer: &str) -> String {
    format!("{peer}, idle, 50 other sessions")
}

/// What a peer is called where a run is on.
pub(crate) fn armed(peer: &str) -> String {
    format!("{peer}, armed, 50 sessions")
}

/// Everything that the hooks and their peers find on the disk.
pub(crate) struct Projects {
    unused: Project,
    others: Project,
    alone: Project,
    usual: Project,
    /// A project with 1,000 sessions.
    pub many: Project,
}

impl Projects {
    /// Makes them.
    pub(crate) fn new(files: &BenchFiles) -> Result<Self> {
        Ok(Self {
            unused: files.project("unused", None)?,
            others: files.project("others", Some(SampleSessions::Others(50)))?,
            alone: files.project("alone", Some(SampleSessions::WithOurs(1)))?,
            usual: files.project("usual", Some(SampleSessions::WithOurs(50)))?,
            many: files.project("many", Some(SampleSessions::WithOurs(1_000)))?,
        })
    }
}

/// The hooks, and the processes that do nothing.
pub(crate) fn hooks<'a>(
    files: &BenchFiles,
    projects: &'a Projects,
    hooks: &Path,
    empty: &Path,
) -> Result<Vec<Contestant<'a>>> {
    let (stop, prompt) = (hooks.join("omo-stop"), hooks.join("omo-user-prompt-submit"));
    let Projects {
        unused,
        others,
        alone,
        usual,
        many,
    } = projects;
    let silent = |name, program: &Path, project: &Project, input| {
        Ok::<_, anyhow::Error>(Contestant::new(
            name,
            program,
            &project.folder,
            files.input(&input)?,
        ))
    };
    let armed = |name, project: &'a Project, transcript: Option<&Path>| {
        let input = files.input(&project.stop(transcript))?;
        let contestant =
            Contestant::new(name, &stop, &project.folder, input).variables(project.variables());
        Ok::<_, anyhow::Error>(contestant.finds(|| project.set_back(), BLOCK))
    };
    let shows = |name, project: &Project| {
        let input = files.input(&samples::statusline(&project.folder))?;
        let contestant = Contestant::new(name, &hooks.join("omo"), &project.folder, input);
        Ok::<_, anyhow::Error>(contestant.arguments(&["statusline".into()]))
    };
    let reads =
        |name, file: &str, length| armed(name, usual, Some(&files.transcript(file, length)?));
    Ok(vec![
        silent(EMPTY, empty, unused, unused.stop(None))?,
        silent(TRUE, Path::new(TRUE), unused, unused.stop(None))?,
        silent(
            IDLE_PROMPT,
            &prompt,
            unused,
            unused.prompt("please fix the parser"),
        )?,
        silent(IDLE_STOP, &stop, unused, unused.stop(None))?,
        silent(IDLE_AMONG_OTHERS, &stop, others, others.stop(None))?,
        shows(IDLE_STATUSLINE, unused)?,
        shows("omo statusline, idle, 50 other sessions", others)?,
        shows(ARMED_STATUSLINE, usual)?.finds(|| usual.set_back(), STATUS_LINE),
        armed("omo-stop, armed, 1 session", alone, None)?,
        armed(ARMED, usual, None)?,
        armed("omo-stop, armed, 1,000 sessions", many, None)?.slow(),
        reads(
            "omo-stop, armed, 256 KiB of new transcript",
            "256k.jsonl",
            256 * 1_024,
        )?,
        reads(SHORT_TRANSCRIPT, "1m.jsonl", 1 << 20)?,
        reads(MIDDLE_TRANSCRIPT, "100m.jsonl", 100 << 20)?,
        reads(LONG_TRANSCRIPT, "1g.jsonl", 1 << 30)?,
        silent(
            LONG_PROMPT,
            &prompt,
            unused,
            unused.prompt(&samples::long_prompt(false)),
        )?,
        silent(
            "omo-user-prompt-submit, 100 kB, keyword in it",
            &prompt,
            unused,
            unused.prompt(&samples::long_prompt(true)),
        )?,
        Contestant::new(
            ENDLESS_PROMPT,
            &prompt,
            &unused.folder,
            files.endless_prompt(unused, 64)?,
        )
        .slow(),
    ])
}

/// The same Stop hook in other languages, with and without something to do.
pub(crate) fn peers<'a>(
    files: &BenchFiles,
    projects: &'a Projects,
    peers: &[Peer],
) -> Result<Vec<Contestant<'a>>> {
    let Projects { others, usual, .. } = projects;
    let mut all = Vec::new();
    for peer in peers {
        let started = |name: String, project: &Project| {
            let input = files.input(&project.stop(None))?;
            let contestant = Contestant::new(&name, &peer.program, &project.folder, input);
            Ok::<_, anyhow::Error>(contestant.arguments(&peer.arguments).slow())
        };
        all.push(started(idle(peer.name), others)?);
        all.push(started(armed(peer.name), usual)?.finds(|| usual.set_back(), BLOCK));
    }
    Ok(all)
}

/// Claims, each time from the same state, and git's own look at the same files.
pub(crate) fn claimants<'a>(
    small: &'a Claims,
    large: &'a Claims,
    hooks: &Path,
) -> Vec<Contestant<'a>> {
    let stop = hooks.join("omo-stop");
    let claim = |name, claims: &'a Claims| {
        Contestant::new(name, &stop, &claims.project, claims.claim.clone())
            .variables(claims.variables())
    };
    let git = |name, index| {
        let git = Contestant::new(name, Path::new("git"), &small.project, small.claim.clone());
        let variables = [
            ("GIT_OPTIONAL_LOCKS", "0".into()),
            ("GIT_INDEX_FILE", index),
        ];
        git.arguments(&["status".into()])
            .variables(variables)
            .may_say_anything()
    };
    vec![
        claim(PLAIN, small).finds(|| small.release(), RELEASED),
        claim(FRESH, small).finds(|| small.judge(), VERIFIED),
        git(GIT, small.index()),
        git(GIT_READING, small.index_without_times.clone()),
        claim(LARGE, large).finds(|| large.judge(), VERIFIED).slow(),
    ]
}
