//! `CommitRefusal`: why git did not make a commit, with its own words.

use std::fmt;

use omo_core::text::command_text::quote_argument;
use serde::{Deserialize, Serialize};

/// Reason of `CommitEnd::Refused`: git, or a program that it runs, did not make a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum CommitRefusal {
    /// A hook ended with a failure.
    Hook {
        /// Name of the hook, such as `pre-commit`.
        hook: String,
        /// The end of its output.
        output: String,
        /// The hook, or a program that it calls, is not there or cannot be run.
        is_missing_program: bool,
    },
    /// The program that signs commits failed.
    Signing {
        /// The end of git's output.
        words: String,
    },
    /// A listed file that git ignores.
    Ignored {
        /// Path of the file from the top of the work tree.
        path: String,
        /// The file with the pattern, such as `.gitignore`.
        source: String,
        /// The pattern.
        pattern: String,
    },
    /// A listed file within another repository.
    NestedRepository {
        /// Path of that repository from the top of the work tree.
        path: String,
    },
    /// A file whose name differs from a committed one in nothing but case, on a disk that takes both for one.
    CaseRename {
        /// Name in the work tree.
        path: String,
        /// The committed name.
        committed: String,
    },
    /// `core.safecrlf` refuses the line ends of a file.
    LineEnds {
        /// The end of git's output.
        words: String,
    },
    /// A judge of commits, such as a hook, that is not as the run knows it, and that no passed step
    /// lists.
    GuardChanged {
        /// Folder of the project.
        folder: String,
        /// Their names, each with its present state.
        files: Vec<String>,
    },
    /// Anything else.
    Other {
        /// The failed step, and the end of git's output.
        words: String,
    },
}

const MAX_NAMED: usize = 5;
/// Exit statuses of a shell that cannot run, or cannot find, a program.
const MISSING_PROGRAM: [i64; 2] = [126, 127];
/// Endings of the line in which a shell names a program that it cannot find or run.
const SHELL_WORDS: [&str; 3] = [": not found", ": command not found", ": Permission denied"];

impl CommitRefusal {
    /// The refusal of a hook that ended with `status`.
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

    /// A refusal without a cause of its own; `output` may be empty.
    pub(super) fn other(step: &str, output: &str) -> Self {
        let words = if output.trim().is_empty() {
            step.to_owned()
        } else {
            format!("{step}: {}", output.trim())
        };
        Self::Other { words }
    }

    /// A refusal that a worker can end by changing its files. Messages, branch names, keys and
    /// settings are its user's. `own_files` are those that the worker wrote.
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

    /// Equality of two complaints but for numbers, such as times, lines and process ids.
    pub fn is_repeated_by(&self, other: &Self) -> bool {
        // The states in them are what was asked about, in whichever work tree.
        if let Self::GuardChanged { files, .. } = self {
            return matches!(other, Self::GuardChanged { files: others, .. } if files == others);
        }
        let without_numbers =
            |words: &str| words.replace(|letter: char| letter.is_ascii_digit(), "");
        without_numbers(&self.to_string()) == without_numbers(&other.to_string())
    }

    /// A hint to its user: the way to have git take the commit.
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
            Self::NestedRepository { path } => format!("remove {path}/.git, where it is no repository of its own"),
            Self::CaseRename { path, committed } => {
                format!("`git mv {} {}`", quote_argument(committed), quote_argument(path))
            }
            Self::LineEnds { .. } => "`git config core.safecrlf warn`, or convert the line ends of the file".to_owned(),
            Self::GuardChanged { .. } => {
                "put it back as it was; answered without that, it stands as it is now".to_owned()
            }
            Self::Other { .. } => "see to what git says".to_owned(),
        }
    }
}

impl fmt::Display for CommitRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let with = |f: &mut fmt::Formatter<'_>, what: &str, words: &str| match words.trim() {
            "" => write!(f, "{what}"),
            words => write!(f, "{what}: {words}"),
        };
        match self {
            Self::Hook {
                hook,
                output,
                is_missing_program: false,
            } => with(f, &format!("hook {hook}"), output),
            Self::Hook {
                hook,
                output,
                is_missing_program: true,
            } => with(
                f,
                &format!("hook {hook}, which does not find a program"),
                output,
            ),
            Self::Signing { words } => with(f, "it cannot be signed", words),
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
            Self::LineEnds { words } => with(f, "its line ends are refused (core.safecrlf)", words),
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

/// A hook's complaint about the branch: workers commit on branches of omo's own.
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
            "it is asked once for all work trees"
        );
        assert!(
            !guard("/p", "1").is_repeated_by(&guard("/p", "2")),
            "each state is asked about"
        );
    }
}
