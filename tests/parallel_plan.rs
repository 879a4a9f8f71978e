//! Plans with parallel workers: their text, and what a repository may look like behind their runs.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use omo_engine::{Run, RunStore};
use omo_testkit::Lab;

use crate::plan_project::Said;

/// Where the plan lies.
pub const PLAN: &str = "docs/plan.md";

/// One session of a plan.
pub struct Session<'a> {
    /// Its wave, from 1.
    pub wave: u32,
    /// Its steps.
    pub steps: Vec<Step<'a>>,
    /// The numbers of the sessions that it needs; `None` for all of the waves before it.
    pub needs: Option<&'a [usize]>,
}

/// One step: it writes its number into its file.
#[derive(Clone, Copy)]
pub struct Step<'a> {
    /// Its number.
    pub number: u32,
    /// The file that it changes.
    pub file: &'a str,
    /// What its plan says for a failure.
    pub on_failure: &'a str,
}

/// A step that writes its number into a file of its own.
pub fn step(number: u32, file: &str) -> Step<'_> {
    Step {
        number,
        file,
        on_failure: "revert",
    }
}

/// A session of these steps.
pub fn session<'a>(wave: u32, steps: &[Step<'a>]) -> Session<'a> {
    Session {
        wave,
        steps: steps.to_vec(),
        needs: None,
    }
}

/// The steps of [`four_sessions`], each with the file that it writes.
pub const WELL: [(u32, &str); 5] = [
    (1, "a.txt"),
    (2, "b.txt"),
    (3, "c.txt"),
    (4, "d.txt"),
    (5, "e.txt"),
];

/// Four sessions in two waves.
pub fn four_sessions() -> Vec<Session<'static>> {
    vec![
        session(1, &[step(1, "a.txt"), step(2, "b.txt")]),
        session(1, &[step(3, "c.txt")]),
        session(2, &[step(4, "d.txt")]),
        session(2, &[step(5, "e.txt")]),
    ]
}

/// A plan of these sessions, as its author writes it.
pub fn plan_text(sessions: &[Session], verification: &str) -> String {
    let mut text =
        String::from("# Numbers in files\n\n## Context\n\nWhy.\n\n## Implementation Plan\n\n");
    for Step {
        number,
        file,
        on_failure,
    } in sessions.iter().flat_map(|session| &session.steps)
    {
        let _ = write!(
            text,
            "### Step {number}: Write {number}\n\n- **Files:** `{file}` (new)\n- **Changes:** Write {number} into it.\n\
             - **Verify:** `grep -q {number} {file}`\n- **On failure:** {on_failure}\n\
             - **Checkpoint:** `git commit -m \"feat: write {number}\"`\n\n"
        );
    }
    let _ = write!(text, "## Execution Strategy\n\n");
    let mut waves: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for (place, session) in sessions.iter().enumerate() {
        let numbers: Vec<String> = session
            .steps
            .iter()
            .map(|step| step.number.to_string())
            .collect();
        let files: Vec<String> = session
            .steps
            .iter()
            .map(|step| format!("`{}`", step.file))
            .collect();
        let number = place + 1;
        let before: Vec<String> = (sessions.iter().enumerate())
            .filter(|(place, other)| match session.needs {
                Some(needs) => needs.contains(&(place + 1)),
                None => other.wave < session.wave,
            })
            .map(|(place, _)| format!("Session {}", place + 1))
            .collect();
        let before = if before.is_empty() {
            "none".to_owned()
        } else {
            before.join(", ")
        };
        let _ = write!(
            text,
            "### Session {number}: Part {number}\n\n- **Steps:** {}\n- **Wave:** {}\n- **Depends on:** {before}\n\
             - **Scope fence:**\n  - Touch: {}\n  - Never touch: `secret.txt`\n\n",
            numbers.join(", "),
            session.wave,
            files.join(", ")
        );
        waves
            .entry(session.wave)
            .or_default()
            .push(format!("Session {number}"));
    }
    let _ = write!(text, "### Execution Order\n\n");
    for (wave, names) in waves {
        let _ = writeln!(text, "- **Wave {wave}:** {}", names.join(", "));
    }
    if !verification.is_empty() {
        let _ = write!(text, "\n## Verification\n\n- `{verification}`\n");
    }
    text
}

/// What git prints in the project of a lab, without the end of its last line.
pub fn git(lab: &Lab, arguments: &[&str]) -> Result<String> {
    Ok(lab.git(arguments)?.trim_end().to_owned())
}

/// Writes a plan of these sessions, and commits all that is there as the user of the lab.
pub fn commit_plan(lab: &Lab, text: &str) -> Result<()> {
    lab.write(PLAN, text)?;
    lab.write("README.md", "words\n")?;
    git(lab, &["config", "user.name", "Lab"])?;
    git(lab, &["config", "user.email", "lab@example.org"])?;
    git(lab, &["add", "."])?;
    git(lab, &["commit", "-q", "-m", "first"]).map(drop)
}

/// Opens the run of the plan with a command of omo, or goes on with it, and approves what its plan executes where that
/// is not approved yet.
pub fn open(omo: impl Fn(&[&str]) -> Result<Said>, more: &[&str]) -> Result<()> {
    let arguments = [&["run", "start", "--parallel"], more].concat();
    let said = omo(&[&arguments[..], &[PLAN]].concat())?;
    if said.status == 0 {
        return Ok(());
    }
    let is_digest =
        |word: &&str| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let digest = said
        .err
        .split_whitespace()
        .find(is_digest)
        .with_context(|| format!("no digest: {said:?}"))?;
    omo(&[&arguments[..], &["--digest", digest, PLAN]].concat())?
        .exits_with(0)
        .map(drop)
}

/// The last run of a lab.
pub fn last_run(lab: &Lab) -> Result<Run> {
    let home = lab.home().join(".local/state");
    let runs = RunStore::find(lab.project(), Some(&home))?.context("no run")?;
    let first = runs.list()?.into_iter().next().context("no run")?;
    Ok(runs.get(&first.id)?)
}

/// Nothing is left of a run but what its user was told of.
pub fn is_tidy(lab: &Lab) -> Result<()> {
    let trees = git(lab, &["worktree", "list", "--porcelain"])?;
    let trees: Vec<&str> = trees
        .lines()
        .filter(|line| line.starts_with("worktree "))
        .collect();
    ensure!(trees.len() == 1, "{trees:?}");
    let branches = git(
        lab,
        &["for-each-ref", "--format=%(refname)", "refs/heads/omo"],
    )?;
    ensure!(branches.is_empty(), "{branches}");
    let left = fs::read_dir(lab.project().join(".claude/worktrees"))
        .into_iter()
        .flatten()
        .count();
    ensure!(left == 0, "{left} folders of worktrees");
    let temp = lab
        .environment()
        .get("TMPDIR")
        .map_or("/tmp", String::as_str);
    let beginning = format!("omo-{}-", last_run(lab)?.id());
    let is_of_run =
        |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with(&beginning);
    let left = fs::read_dir(temp)?.flatten().filter(is_of_run).count();
    ensure!(left == 0, "{left} folders of temporary files");
    ensure!(git(lab, &["fsck", "--strict", "--no-dangling"])?.is_empty());
    Ok(())
}

/// The hook of a repository that git runs before a commit.
const PRE_COMMIT: &str = ".git/hooks/pre-commit";

/// The line of a hook with which [`silence_hook`] silences it.
const UNLESS_SILENCED: &str = "[ ! -e \"$(git rev-parse --git-common-dir)/silenced\" ] || exit 0";

/// Lines of a shell that wait until what a run has come to holds a file.
fn until_merged(file: &str) -> String {
    let integrated = "$(git for-each-ref --format='%(objectname)' 'refs/omo/keep/*/integrated')";
    format!(
        "for _ in $(seq 600); do git cat-file -e \"{integrated}:{file}\" && break; sleep 0.1; done\n"
    )
}

/// A git hook that has the commits of `a.txt` and `c.txt` hold another README each, which no step lists. The second waits
/// for the merge of the first, so that it is the one in conflict.
pub fn set_conflicting_hook(project: &Path) -> Result<()> {
    let hook = project.join(PRE_COMMIT);
    let line = |file: &str, first: &str, word: &str| {
        format!("*{file}*) {first}echo {word} > README.md; git add README.md;; ")
    };
    let lines = [
        line("a.txt", "", "one"),
        line("c.txt", &until_merged("a.txt"), "three"),
    ]
    .concat();
    fs::write(
        &hook,
        format!(
            "#!/bin/sh\n{UNLESS_SILENCED}\ncase \"$(git diff --cached --name-only)\" in {lines} esac\n"
        ),
    )?;
    Ok(fs::set_permissions(
        &hook,
        fs::Permissions::from_mode(0o755),
    )?)
}

/// Has that hook do nothing any more. Removed or changed it would be asked about.
pub fn silence_hook(project: &Path) -> Result<()> {
    Ok(fs::write(project.join(".git/silenced"), "")?)
}
