//! Reasons why git refused a commit, such as a failed hook, with git's output and a way out.

use std::fmt;

use omo_core::text::command_text::quote_argument;
use serde::{Deserialize, Serialize};

/// Reason of a refused commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum CommitRefusal {
    Hook {
        /// Name of the hook, such as `pre-commit`.
        hook: String,
        /// End of its output.
        output: String,
        /// The hook, or a program that it calls, is missing or cannot be run.
        is_missing_program: bool,
    },
    Signing {
        /// End of git's output.
        words: String,
    },
    /// A listed file that git ignores, which no commit takes.
    Ignored {
        /// Path from the top of the work tree.
        path: String,
        /// File with the pattern, such as `.gitignore`.
        source: String,
        pattern: String,
    },
    /// A listed file within another repository.
    NestedRepository {
        /// Top of that repository, as a path from the top of the work tree.
        path: String,
    },
    /// A name that differs from a committed one in case alone, on a disk that takes both for one.
    CaseRename { path: String, committed: String },
    /// Refusal by `core.safecrlf`.
    LineEnds {
        /// End of git's output.
        words: String,
    },
    /// A judge of commits, such as a hook, changed since the run began, and no passed step lists it.
    GuardChanged {
        /// Folder of the project.
        folder: String,
        /// Names with present states.
        files: Vec<String>,
    },
    Other {
        /// The failed step, and the end of git's output.
        words: String,
    },
}

const MAX_NAMED: usize = 5;
/// Exit statuses of a shell that cannot run, or cannot find, a program.
const MISSING_PROGRAM: [i64; 2] = [126, 127];
/// Endings of a shell's line about a program that it cannot find or run.
const SHELL_WORDS: [&str; 3] = [": not found", ": command not found", ": Permission denied"];

impl CommitRefusal {
    pub(super) fn of_hook(hook: String, status: i64, output: String) -> Self {
        let is_missing_program = status < 0
            || MISSING_PROGRAM.contains(&status)
            || output.lines().any(|line| {
                SHELL_WORDS
                    .iter()
                    .any(|words| line.trim_end().ends_with(words))
            });
        Self::Hook {
            hook,
            output,
            is_missing_program,
        }
    }

    /// Any other failed step of git; `output` may be empty.
    pub(super) fn other(step: &str, output: &str) -> Self {
        let words = if output.trim().is_empty() {
            step.to_owned()
        } else {
            format!("{step}: {}", output.trim())
        };
        Self::Other { words }
    }

    /// `true` where a worker can help by changing files; messages, branches, keys and settings are
    /// the user's. `own_files` are files of the worker's task.
    pub fn is_of_the_work(&self, own_files: &[String]) -> bool {
        match self {
            Self::Hook {
                hook,
                output,
                is_missing_program,
            } => hook == "pre-commit" && !is_missing_program && !is_about_branch(output),
            Self::Ignored { source, .. } => own_files.contains(source),
            Self::NestedRepository { .. } => true,
            Self::Signing { .. }
            | Self::CaseRename { .. }
            | Self::LineEnds { .. }
            | Self::GuardChanged { .. }
            | Self::Other { .. } => false,
        }
    }

    /// `true` for equal refusals, apart from numbers such as times, lines and process ids.
    pub fn is_repeated_by(&self, other: &Self) -> bool {
        // In whichever work tree.
        if let Self::GuardChanged { files, .. } = self {
            return matches!(other, Self::GuardChanged { files: others, .. } if files == others);
        }
        self.to_string_without_numbers() == other.to_string_without_numbers()
    }

    fn to_string_without_numbers(&self) -> String {
        self.to_string()
            .replace(|letter: char| letter.is_ascii_digit(), "")
    }

    /// Advice for the user.
    pub fn hint(&self) -> String {
        match self {
            Self::Hook { is_missing_program: true, .. } => {
                "install the program that the hook calls where the hook looks for it".to_owned()
            }
            Self::Hook { hook, .. } => format!("see to what the hook {hook} asks for"),
            Self::Signing { .. } => {
                "unlock the key, such as with `ssh-add` or `gpg --sign`, or `git config commit.gpgSign false`"
                    .to_owned()
            }
            Self::Ignored { source, pattern, .. } => format!("take `{pattern}` out of {source}"),
            Self::NestedRepository { path } => format!("remove {path}/.git, where it is not a repository of its own"),
            Self::CaseRename { path, committed } => {
                format!("`git mv {} {}`", quote_argument(committed), quote_argument(path))
            }
            Self::LineEnds { .. } => "`git config core.safecrlf warn`, or convert the line ends of the file".to_owned(),
            Self::GuardChanged { .. } => {
                "restore it as it was; answered without that, it stands as it is now".to_owned()
            }
            Self::Other { .. } => "see to what git says".to_owned(),
        }
    }
}

impl fmt::Display for CommitRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hook {
                hook,
                output,
                is_missing_program: false,
            } => write_with(f, &format!("hook {hook}"), output),
            Self::Hook {
                hook,
                output,
                is_missing_program: true,
            } => write_with(
                f,
                &format!("hook {hook}, which does not find a program"),
                output,
            ),
            Self::Signing { words } => write_with(f, "it cannot be signed", words),
            Self::Ignored {
                path,
                source,
                pattern,
            } => write!(f, "git ignores {path}, by `{pattern}` in {source}"),
            Self::NestedRepository { path } => {
                write!(f, "{path} is a repository of its own ({path}/.git)")
            }
            Self::CaseRename { path, committed } => {
                write!(
                    f,
                    "git takes {path} for {committed} (core.ignoreCase), which is gone"
                )
            }
            Self::LineEnds { words } => {
                write_with(f, "its line ends are refused (core.safecrlf)", words)
            }
            Self::GuardChanged { folder, files } => {
                let verb = if files.len() == 1 { "judges" } else { "judge" };
                let more = files.len().saturating_sub(MAX_NAMED);
                let files = files
                    .iter()
                    .take(MAX_NAMED)
                    .map(String::as_str)
                    .collect::<Vec<_>>()
                    .join(", ");
                let files = if more == 0 {
                    files
                } else {
                    format!("{files} and {more} more")
                };
                write!(
                    f,
                    "{files} in {folder} {verb} commits, and changed since the run began in no step that lists it"
                )
            }
            Self::Other { words } => write!(f, "{words}"),
        }
    }
}

fn write_with(f: &mut fmt::Formatter<'_>, text: &str, words: &str) -> fmt::Result {
    match words.trim() {
        "" => write!(f, "{text}"),
        words => write!(f, "{text}: {words}"),
    }
}

/// Workers commit on branches of omo's own.
fn is_about_branch(output: &str) -> bool {
    let words = output.to_ascii_lowercase();
    words.contains("branch") || words.contains("omo/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hook(name: &str, status: i64, output: &str) -> CommitRefusal {
        CommitRefusal::of_hook(name.to_owned(), status, output.to_owned())
    }

    #[test]
    fn only_what_a_worker_can_change_is_of_the_work() {
        let own = ["a.txt".to_owned(), "src/.gitignore".to_owned()];
        let ignored = |source: &str| CommitRefusal::Ignored {
            path: "a.txt".to_owned(),
            source: source.to_owned(),
            pattern: "*.txt".to_owned(),
        };
        let words = String::new;
        for (refusal, expected) in [
            (hook("pre-commit", 1, "a.txt:1: unused variable"), true),
            (hook("pre-commit", 127, ""), false),
            (hook("pre-commit", -1, ""), false),
            (
                hook(
                    "pre-commit",
                    1,
                    ".husky/pre-commit: 2: lint-staged: not found",
                ),
                false,
            ),
            (
                hook("pre-commit", 1, "Module not found: 'x' in a.txt"),
                true,
            ),
            (
                hook("pre-commit", 1, "Branch name must match feature/*"),
                false,
            ),
            (hook("pre-commit", 1, "omo/r1/a is no name of ours"), false),
            (hook("commit-msg", 1, "no ticket in the subject"), false),
            (hook("reference-transaction", 1, ""), false),
            (ignored(".gitignore"), false),
            (ignored("src/.gitignore"), true),
            (
                CommitRefusal::NestedRepository {
                    path: "in".to_owned(),
                },
                true,
            ),
            (CommitRefusal::Signing { words: words() }, false),
            (CommitRefusal::LineEnds { words: words() }, false),
            (
                CommitRefusal::GuardChanged {
                    folder: words(),
                    files: own.to_vec(),
                },
                false,
            ),
            (CommitRefusal::Other { words: words() }, false),
        ] {
            assert_eq!(refusal.is_of_the_work(&own), expected, "{refusal:?}");
        }
    }

    #[test]
    fn a_complaint_is_the_same_whatever_its_numbers() {
        let first = hook("pre-commit", 1, "12 files in 1.3s: no tests for a.txt");
        assert!(first.is_repeated_by(&hook(
            "pre-commit",
            1,
            "13 files in 0.9s: no tests for a.txt"
        )));
        assert!(!first.is_repeated_by(&hook(
            "pre-commit",
            1,
            "13 files in 0.9s: no tests for b.txt"
        )));
        assert!(!first.is_repeated_by(&hook(
            "commit-msg",
            1,
            "12 files in 1.3s: no tests for a.txt"
        )));
        let guard = |folder: &str, state: &str| CommitRefusal::GuardChanged {
            folder: folder.to_owned(),
            files: vec![format!("hooks/pre-commit (now {state})")],
        };
        assert!(
            guard("/p", "1").is_repeated_by(&guard("/p/w", "1")),
            "it is asked once for all worktrees"
        );
        assert!(
            !guard("/p", "1").is_repeated_by(&guard("/p", "2")),
            "each state is asked about"
        );
    }
}
