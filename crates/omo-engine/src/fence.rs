//! Fence of a session that works on one group of a plan: refuses files outside of its worktree,
//! files that its plan protects, and commands that reach the rest of the repository. Programs that
//! the session runs are not inspected; their effects are found in the work tree afterwards.

mod commands;
mod git;
mod path_text;

use std::fmt;

pub use omo_claude::worker_settings::{FenceRules, RULES_VERSION};
use omo_core::text::inline_code;
use omo_plan::paths::path_covers;

/// The fence of one session: [`WorktreeFence::refusal`] judges a [`ToolAction`].
#[derive(Clone, Copy, Debug)]
pub struct WorktreeFence<'a> {
    /// Absolute path of the worktree's top, with links resolved and `/` between its parts.
    pub root: &'a str,
    pub rules: &'a FenceRules,
    /// Home folder of the user, for `~`.
    pub home: Option<&'a str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolAction<'a> {
    /// A file to write: the path that the client makes of its model's words, without `~` and spaces around it.
    Write(&'a str),
    Run(&'a str),
    SpawnAgent,
}

/// Resolves a path with all links followed, whether or not anything is there; `None` where that is unknown.
pub type ResolvePath<'a> = &'a dyn Fn(&str) -> Option<String>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FenceRefusal {
    OutsideWorktree(String),
    /// A file that is never to be touched, with the pattern that says so.
    NeverTouch(String, String),
    GitInternal(String),
    LeavesWorktree(String),
    MainCheckout(String),
    SharedGit(String),
    /// A word that has `git` work elsewhere, such as `GIT_DIR`.
    RedirectsGit(String),
    SpawnsAgent,
    Unclear(&'static str),
}

impl fmt::Display for FenceRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("This session works in a worktree of its own, and ")?;
        match self {
            Self::OutsideWorktree(path) => {
                let path = quoted_path(path);
                write!(
                    f,
                    "{path} is not in it. Use the file in the worktree, or $TMPDIR for temporary files"
                )?;
            }
            Self::NeverTouch(path, pattern) => {
                let (path, pattern) = (quoted_path(path), quoted_path(pattern));
                write!(
                    f,
                    "{path} is in the never-touch list of its plan, as {pattern}. Do without it"
                )?;
            }
            Self::GitInternal(path) => {
                write!(f, "{} belongs to git. Leave it as it is", quoted_path(path))?;
            }
            Self::LeavesWorktree(path) => {
                write!(
                    f,
                    "{} is not in it. Name files from a folder of the worktree",
                    quoted_path(path)
                )?;
            }
            Self::MainCheckout(path) => write!(
                f,
                "{} is not in it. Use the file in the worktree",
                quoted_path(path)
            )?,
            Self::SharedGit(words) => {
                let words = inline_code(words, 80);
                write!(
                    f,
                    "`git {words}` reaches beyond it. `git restore FILE` restores a file, and omo brings the "
                )?;
                f.write_str("work together")?;
            }
            Self::RedirectsGit(word) => {
                write!(
                    f,
                    "`{}` has git work elsewhere. Use git without it",
                    inline_code(word, 80)
                )?;
            }
            Self::SpawnsAgent => f.write_str("so do its agents. Start them without isolation")?,
            Self::Unclear(why) => {
                write!(
                    f,
                    "omo cannot tell what this would do: {why}. Try it once more, in smaller steps"
                )?;
            }
        }
        f.write_str(". If the step cannot be done like that, say so with `omo agent fail`.")
    }
}

fn quoted_path(path: &str) -> String {
    format!("`{}`", inline_code(path, 200))
}

impl WorktreeFence<'_> {
    /// Reason to refuse `deed` of a session whose current folder is `folder`; `None` if allowed.
    pub fn refusal(
        &self,
        deed: ToolAction,
        folder: Option<&str>,
        real: ResolvePath,
    ) -> Option<FenceRefusal> {
        let folder = folder
            .and_then(real)
            .unwrap_or_else(|| self.root.to_owned());
        match deed {
            ToolAction::Write(path) => self.check_write(&folder, path, real).err(),
            ToolAction::SpawnAgent => Some(FenceRefusal::SpawnsAgent),
            ToolAction::Run(command) => {
                commands::check_command_line(self, command, folder, real).err()
            }
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

    fn may_write(&self, place: &str) -> bool {
        path_text::path_below(place, self.root).is_some() || is_in_any(&self.rules.writable, place)
    }

    /// The place lies in the main checkout, and is none that the session may name.
    fn is_in_main(&self, place: &str) -> bool {
        let (main, folded) = (
            self.rules.main_checkout.to_ascii_lowercase(),
            place.to_ascii_lowercase(),
        );
        // A file system may take both cases for one.
        path_text::path_below(&folded, &main).is_some()
            && !self.may_write(place)
            && !is_in_any(&self.rules.readable, place)
    }

    fn check_touch(&self, place: &str, path: &str) -> Result<(), FenceRefusal> {
        let Some(inner) = path_text::path_below(place, self.root) else {
            return Ok(());
        };
        if inner
            .split('/')
            .any(|part| part.eq_ignore_ascii_case(".git"))
        {
            return Err(FenceRefusal::GitInternal(path.to_owned()));
        }
        let never = self
            .rules
            .never_touch
            .iter()
            .find(|never| path_covers(never, inner));
        never.map_or(Ok(()), |never| {
            Err(FenceRefusal::NeverTouch(path.to_owned(), never.clone()))
        })
    }
}

fn is_in_any(folders: &[String], place: &str) -> bool {
    folders
        .iter()
        .any(|folder| path_text::path_below(place, folder).is_some())
}

/// All places that a path may mean: for `..` behind a link, a shell and the client differ.
fn resolved_places(
    folder: &str,
    path: &str,
    real: ResolvePath,
) -> Result<Vec<String>, FenceRefusal> {
    let plain = path_text::resolve_path(folder, path);
    let written = if path_text::is_absolute(path) {
        path.to_owned()
    } else {
        format!("{folder}/{path}")
    };
    let spellings = if path_text::leads_up(&written) {
        vec![plain, written]
    } else {
        vec![plain]
    };
    let places: Option<Vec<String>> = spellings.iter().map(|spelling| real(spelling)).collect();
    places.ok_or(FenceRefusal::Unclear(
        "a link in the path cannot be followed",
    ))
}
