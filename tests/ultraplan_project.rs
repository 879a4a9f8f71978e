//! The fixture for runs of plans in steps: a project with such a plan, and helpers that carry it out.

use crate::all_good;
use std::fmt::Write;
use std::ops::{Deref, DerefMut};

use anyhow::{Context, Result, ensure};

use omo_testkit::Lab;

use crate::plan_project::{Ground, PLAN, Said, Session};
use crate::scene::{self, Scene};

/// What a step comes to where it fails for good.
pub const REVERT: &str = "revert";

/// One step of a plan: its number, what happens on a failure, and the command that judges it; without one there is no
/// `Verify`.
pub type Step<'a> = (u32, &'a str, &'a str);

/// The text of a plan with these steps, each of which makes `words/<number>.txt`.
pub fn plan_text(steps: &[Step]) -> String {
    let mut text =
        String::from("# Words\n\n## Context\n\nWords in files.\n\n## Implementation Plan\n\n");
    for step in steps {
        add(&mut text, step);
    }
    text
}

fn add(text: &mut String, (number, on_failure, check): &Step) {
    let _ = write!(
        text,
        "### Step {number}: The word {number}\n\n- **Files:** `words/{number}.txt` (new)\n- **Changes:** Write the word.\n"
    );
    if !check.is_empty() {
        let _ = writeln!(text, "- **Verify:** `{check}`");
    }
    let _ = write!(
        text,
        "- **On failure:** {on_failure}\n- **Checkpoint:** `git commit -m \"words: {number}\"`\n\n"
    );
}

/// The same with sessions: for each the numbers of its steps, and its wave.
pub fn with_sessions(steps: &[Step], sessions: &[(&[u32], u32)]) -> String {
    let mut text = plan_text(steps);
    text.push_str("## Execution Strategy\n\n");
    for (place, (steps, wave)) in sessions.iter().enumerate() {
        let numbers: Vec<String> = steps.iter().map(u32::to_string).collect();
        let touch: Vec<String> = steps
            .iter()
            .map(|number| format!("`words/{number}.txt`"))
            .collect();
        let _ = write!(
            text,
            "### Session {}: Words of it\n\n- **Steps:** {}\n- **Wave:** {wave}\n- **Depends on:** none\n\
             - **Scope fence:**\n  - Touch: {}\n  - Never touch: none\n\n",
            place + 1,
            numbers.join(", "),
            touch.join(", ")
        );
    }
    text
}

/// A check that the file of a step holds its word.
pub fn word_check(number: u32) -> String {
    format!("grep -q done words/{number}.txt")
}

/// Two steps in two sessions of one wave.
pub fn two_parallel_sessions() -> String {
    with_sessions(
        &[(1, REVERT, &word_check(1)), (2, REVERT, &word_check(2))],
        &[(&[1], 1), (&[2], 1)],
    )
}

/// A session of a plan, with this as its entry condition.
pub fn session_spec(entry: &str) -> String {
    let mut text = format!(
        "# Session 1: Words\n\n## Dependencies\n\n- **Entry condition:** {entry}\n\n## Scope Fence\n\n\
         - Touch: `words/1.txt`\n- Never touch: `README.md`\n\n## Implementation Plan\n\n"
    );
    add(&mut text, &(1, REVERT, &word_check(1)));
    text.push_str("## Exit Condition\n\n- [ ] `grep -q done words/1.txt`\n");
    text
}

/// A project with a plan in steps.
pub struct Steps(Ground);

impl Deref for Steps {
    type Target = Ground;

    fn deref(&self) -> &Ground {
        &self.0
    }
}

impl DerefMut for Steps {
    fn deref_mut(&mut self) -> &mut Ground {
        &mut self.0
    }
}

impl Steps {
    /// A project with this plan.
    pub fn new(text: &str) -> Result<Self> {
        let plugin = scene::plugin();
        // The lab has a key, as its client needs one. Here it would pay.
        let lab = Lab::builder().env("ANTHROPIC_API_KEY", "").build()?;
        lab.write(PLAN, text)?;
        let ground = Ground {
            scene: Scene::in_lab(&plugin, lab)?,
            options: &[],
        };
        for (name, value) in [("user.name", "Lab"), ("user.email", "lab@example.org")] {
            ground.git(&["config", name, value])?;
        }
        ground.git(&["add", "."])?;
        ground.git(&["commit", "-q", "-m", "plan"])?;
        Ok(Self(ground))
    }

    /// A person asks at a terminal for what a line says.
    pub fn ask(&self, line: &str) -> Result<Said> {
        self.omo_at_terminal(&["agent", "open", "--command", "execute-local", "--", line])
    }

    /// As [`Steps::ask`], having read and approved the commands, where there are some.
    pub fn begin(&self, line: &str) -> Result<Said> {
        let said = self.ask(line)?;
        if said.status != 7 {
            return said.exits_with(0);
        }
        let digest = said
            .err
            .split("their digest is ")
            .nth(1)
            .with_context(|| format!("no digest: {}", said.err))?;
        let digest = digest.split_whitespace().next().unwrap_or_default();
        self.omo_at_terminal(&[
            "agent",
            "open",
            "--command",
            "execute-local",
            "--digest",
            digest,
            "--",
            line,
        ])?
        .exits_with(0)
    }

    /// A person types the command in a session, whose model then runs the line of it.
    pub fn type_in(&self, session: &mut Session, line: &str) -> Result<Said> {
        self.type_command(session, "execute-local", line)
    }

    /// A person types the command in a session, reads its commands, and types it again with their code.
    pub fn begin_in(&self, session: &mut Session, line: &str) -> Result<Said> {
        let said = self.type_in(session, line)?;
        if said.status != 7 {
            return said.exits_with(0);
        }
        let typed = said
            .err
            .lines()
            .map(str::trim)
            .find(|line| line.starts_with("/omo:execute-local "));
        let typed = typed
            .with_context(|| format!("no line to type: {}", said.err))?
            .to_owned();
        self.type_in(session, typed.trim_start_matches("/omo:execute-local "))?
            .exits_with(0)
    }

    /// What comes next.
    pub fn next(&self) -> Result<Said> {
        self.omo_at_terminal(&["agent", "next"])
    }

    /// Does what a step asks for, or something else, and has it judged.
    pub fn work(&self, step: u32, text: &str) -> Result<Said> {
        let ticket = self.start(&step.to_string())?;
        self.lab().write(&format!("words/{step}.txt"), text)?;
        self.omo_at_terminal(&["agent", "done", "--ticket", &ticket])
    }

    /// What comes next is this step, and the caller has to do it.
    pub fn is_next(&self, step: u32) -> Result<()> {
        let said = self.next()?.exits_with(0)?;
        let head = format!("next is step {step}, \"The word {step}\". You do it yourself");
        ensure!(
            said.out.starts_with("DO\n") && said.out.contains(&head),
            "{}",
            said.out
        );
        ensure!(
            said.out
                .contains(&format!("  run: omo agent start {step} --run ")),
            "{}",
            said.out
        );
        Ok(())
    }

    /// Puts another text in the place of the plan, and commits it.
    pub fn edit(&self, text: &str) -> Result<()> {
        self.lab().write(PLAN, text)?;
        self.git(&["commit", "-q", "-a", "-m", "edit"])
    }
}

/// One case: what it shows, the text of its plan, and how it is played.
pub type Case<'a> = (&'a str, String, fn(&mut Steps) -> Result<()>);

/// Plays every case in a project of its own, and names those that went wrong.
#[track_caller]
pub fn play(cases: &[Case]) {
    all_good(cases.iter().map(|(name, text, case)| {
        (
            (*name).to_owned(),
            Steps::new(text).and_then(|mut steps| case(&mut steps)),
        )
    }));
}
