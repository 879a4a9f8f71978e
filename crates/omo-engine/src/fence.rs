//! What a session that works on one group of a plan is kept from, before it does it: files elsewhere than in its own
//! worktree, files that its plan says are never to be touched, and commands that reach the rest of the repository.
//!
//! It is a fence and no prison. It keeps a session that means well from what it would otherwise do by habit, and a
//! program that it writes and runs is not looked into. What gets through is found afterwards, when the work tree is
//! compared with what it was.

mod commands;
mod git;
mod path_text;

use std::fmt;

pub use omo_claude::worker_settings::{FenceRules, RULES_VERSION};
use omo_core::text::inline_code;
use omo_plan::paths::path_covers;

/// The fence around one session.
#[derive(Clone, Copy, Debug)]
pub struct WorktreeFence<'a> {
    /// The top of its worktree: absolute, real, and written with `/`.
    pub root: &'a str,
    /// What holds for it.
    pub rules: &'a FenceRules,
    /// The home of its user, which `~` stands for.
    pub home: Option<&'a str>,
}

/// What a session is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolAction<'a> {
    /// Write this file: by the path that the client makes of what its model says, in which no `~` and no space around it
    /// is left.
    Write(&'a str),
    /// Have a shell run this.
    Run(&'a str),
    /// Start an agent that works somewhere else.
    SpawnAgent,
}

/// Gives the place that a path means once every link on the way is followed, whether or not anything is there; `None`
/// where that cannot be told.
pub type ResolvePath<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Why a session may not do something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FenceRefusal {
    /// A file elsewhere.
    OutsideWorktree(String),
    /// A file that is never to be touched, and the pattern that says so.
    NeverTouch(String, String),
    /// A file of git's own.
    GitInternal(String),
    /// A folder elsewhere, to go on in.
    LeavesWorktree(String),
    /// Something in the main checkout.
    MainCheckout(String),
    /// A command of git that reaches what is shared.
    SharedGit(String),
    /// A word that has git work elsewhere.
    RedirectsGit(String),
    /// An agent that works somewhere else.
    SpawnsAgent,
    /// It cannot be told what is about to be done.
    Unclear(&'static str),
}

impl fmt::Display for FenceRefusal {
    /// For the model: what was wrong, and what to do instead.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("This session works in a worktree of its own, and ")?;
        match self {
            Self::OutsideWorktree(path) => {
                let path = quoted_path(path);
                write!(f, "{path} is not in it. Use the file in the worktree, or $TMPDIR for temporary files")?;
            }
            Self::NeverTouch(path, pattern) => {
                let (path, pattern) = (quoted_path(path), quoted_path(pattern));
                write!(f, "{path} is in the never-touch list of its plan, as {pattern}. Do without it")?;
            }
            Self::GitInternal(path) => write!(f, "{} belongs to git. Leave it as it is", quoted_path(path))?,
            Self::LeavesWorktree(path) => {
                write!(f, "{} is not in it. Name files from a folder of the worktree", quoted_path(path))?;
            }
            Self::MainCheckout(path) => write!(f, "{} is not in it. Use the file in the worktree", quoted_path(path))?,
            Self::SharedGit(words) => {
                let words = inline_code(words, 80);
                write!(f, "`git {words}` reaches beyond it. `git restore FILE` puts a file back, and omo brings the ")?;
                f.write_str("work together")?;
            }
            Self::RedirectsGit(word) => {
                write!(f, "`{}` has git work elsewhere. Use git without it", inline_code(word, 80))?;
            }
            Self::SpawnsAgent => f.write_str("so do its agents. Start them without isolation")?,
            Self::Unclear(why) => {
                write!(f, "omo cannot tell what this would do: {why}. Try it once more, in smaller steps")?;
            }
        }
        f.write_str(". If the step cannot be done like that, say so with `omo agent fail`.")
    }
}

fn quoted_path(path: &str) -> String {
    format!("`{}`", inline_code(path, 200))
}

impl WorktreeFence<'_> {
    /// Why a session that stands in `folder` may not do this; `None` where the fence has nothing against it.
    pub fn refusal(&self, deed: ToolAction, folder: Option<&str>, real: ResolvePath) -> Option<FenceRefusal> {
        let folder = folder.and_then(real).unwrap_or_else(|| self.root.to_owned());
        match deed {
            ToolAction::Write(path) => self.check_write(&folder, path, real).err(),
            ToolAction::SpawnAgent => Some(FenceRefusal::SpawnsAgent),
            ToolAction::Run(command) => commands::check_command_line(self, command, folder, real).err(),
        }
    }

    fn check_write(&self, folder: &str, path: &str, real: ResolvePath) -> Result<(), FenceRefusal> {
        let plain = path_text::resolve_path(folder, path);
        for place in resolved_places(folder, path, real)? {
            if !self.may_write(&place) {
                return Err(FenceRefusal::OutsideWorktree(path.to_owned()));
            }
            self.check_touch(&place, path)?;
        }
        self.check_touch(&plain, path)
    }

    /// Whether the session may write at a place.
    fn may_write(&self, place: &str) -> bool {
        path_text::path_below(place, self.root).is_some() || is_in_any(&self.rules.writable, place)
    }

    /// Whether a place lies in the main checkout, and is none that the session may name.
    fn is_in_main(&self, place: &str) -> bool {
        let (main, folded) = (self.rules.main_checkout.to_ascii_lowercase(), place.to_ascii_lowercase());
        // A file system may take both cases for one.
        path_text::path_below(&folded, &main).is_some()
            && !self.may_write(place)
            && !is_in_any(&self.rules.readable, place)
    }

    /// What is in the worktree, and to be left alone even so.
    fn check_touch(&self, place: &str, path: &str) -> Result<(), FenceRefusal> {
        let Some(inner) = path_text::path_below(place, self.root) else { return Ok(()) };
        if inner.split('/').any(|part| part.eq_ignore_ascii_case(".git")) {
            return Err(FenceRefusal::GitInternal(path.to_owned()));
        }
        let never = self.rules.never_touch.iter().find(|never| path_covers(never, inner));
        never.map_or(Ok(()), |never| Err(FenceRefusal::NeverTouch(path.to_owned(), never.clone())))
    }
}

fn is_in_any(folders: &[String], place: &str) -> bool {
    folders.iter().any(|folder| path_text::path_below(place, folder).is_some())
}

/// Every place that a path may mean: `..` behind a link is taken in the one way by a shell, in the other by the
/// client.
fn resolved_places(folder: &str, path: &str, real: ResolvePath) -> Result<Vec<String>, FenceRefusal> {
    let plain = path_text::resolve_path(folder, path);
    let written = if path_text::is_absolute(path) { path.to_owned() } else { format!("{folder}/{path}") };
    let spellings = if path_text::leads_up(&written) { vec![plain, written] } else { vec![plain] };
    let places: Option<Vec<String>> = spellings.iter().map(|spelling| real(spelling)).collect();
    places.ok_or(FenceRefusal::Unclear("a link in the path cannot be followed"))
}
