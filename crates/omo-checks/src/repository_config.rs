//! `omo.toml` at the top of a project: checks of the repository, and the set-up of its worktrees.
//!
//! Nothing of it runs before its user has approved exactly this content (`trust`); the set-up
//! command may also be approved with a plan. It holds no setting of omo, and above all nothing
//! about trust.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use omo_core::check::session_check::{Check, CheckOrigin, MAX_COMMAND_BYTES};
use omo_core::check::steering::may_steer;
use omo_git::named_files::{ABSENT, NamedFile, NamingText, find_named_files};
use omo_state::config::ConfigProblem;
use omo_state::config::check_toml;
use omo_state::files::regular_file::{self, Links};
use omo_state::seal::SealKey;
use omo_state::trust::{self, ApprovalList, GivenApproval, TrustError};
use toml::de::{DeTable, DeValue};

pub const FILE: &str = "omo.toml";
const MAX_BYTES: u64 = 64 * 1024;
const MAX_PATTERNS: usize = 64;

/// Content of an `omo.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepositoryConfig {
    /// `[[check]]` tables.
    pub checks: Vec<Check>,
    /// Command such as `npm ci`, to install what a fresh worktree or copy lacks; approved with the
    /// checks or with a plan.
    pub setup: Option<String>,
    /// Patterns of test files, beyond the conventions of runners.
    pub tests: Vec<String>,
    /// Digest that an approval names: this content, this repository, and the files that checks run.
    pub digest: String,
    pub pinned: BTreeMap<String, String>,
    /// The part of `digest` for the file alone.
    content: String,
    /// A file with problems asks for nothing.
    pub problems: Vec<ConfigProblem>,
}

impl RepositoryConfig {
    /// `None` without a file at the top of `root`.
    pub fn read(root: &Path) -> Option<Self> {
        let path = root.join(FILE);
        match regular_file::read(&path, MAX_BYTES, Links::Refused) {
            Ok(None) => None,
            Ok(Some(bytes)) => Some(parse(&bytes, root, &path)),
            Err(message) => {
                let problems = vec![ConfigProblem {
                    file: path,
                    line: None,
                    message,
                }];
                Some(Self {
                    problems,
                    ..Self::default()
                })
            }
        }
    }

    /// `true` for an approval of exactly this content and its files.
    pub fn is_approved(&self, state_home: Option<&Path>) -> bool {
        matches!(self.approval(state_home), ApprovalState::Yes(_))
    }

    /// A failed look-up counts as no approval.
    pub fn approval(&self, state_home: Option<&Path>) -> ApprovalState {
        let approvals = ApprovalList::load(state_home)
            .ok()
            .zip(SealKey::load(state_home).ok());
        let Some((trust, key)) = approvals.filter(|_| self.problems.is_empty()) else {
            return ApprovalState::No;
        };
        if let Some(given) = trust.approval_given(&self.digest, &key) {
            return ApprovalState::Yes(given);
        }
        let Some(pinned) = trust.pinned_with(&self.content, &key) else {
            return ApprovalState::No;
        };
        let names = pinned.keys().chain(self.pinned.keys());
        let other = names
            .into_iter()
            .find(|name| pinned.get(*name) != self.pinned.get(*name));
        other.map_or(ApprovalState::No, |name| ApprovalState::Before {
            changed: name.clone(),
        })
    }

    pub fn approve(
        &self,
        state_home: Option<&Path>,
        root: &Path,
        given: GivenApproval,
    ) -> Result<(), TrustError> {
        trust::approve_bound(state_home, root, &self.content, &self.pinned, given)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalState {
    Yes(GivenApproval),
    /// Approved with this content, before a file that it runs has changed.
    Before {
        changed: String,
    },
    No,
}

fn parse(bytes: &[u8], root: &Path, path: &Path) -> RepositoryConfig {
    let text = String::from_utf8_lossy(bytes);
    let mut reader = RepositoryReader {
        text: &text,
        path: path.to_owned(),
        problems: Vec::new(),
    };
    let (mut checks, mut setup, mut tests) = (Vec::new(), None, Vec::new());
    if std::str::from_utf8(bytes).is_err() {
        reader.problem(None, "is not UTF-8".to_owned());
    }
    match DeTable::parse(&text) {
        Err(error) => reader.problem(error.span(), format!("is not TOML: {}", error.message())),
        Ok(table) => {
            for (key, value) in table.get_ref() {
                match &**key.get_ref() {
                    "check" => {
                        let read = check_toml::read(value, CheckOrigin::Repository);
                        checks.extend(read.checks.into_iter().map(|(check, _)| check));
                        read.problems
                            .into_iter()
                            .for_each(|(span, message)| reader.problem(Some(span), message));
                    }
                    "setup" => {
                        setup = value
                            .get_ref()
                            .as_str()
                            .map(|text| text.trim().to_owned())
                            .filter(|text| is_command(text));
                        if setup.is_none() {
                            let message = format!(
                                "`setup` must be a command of 1 to {MAX_COMMAND_BYTES} bytes"
                            );
                            reader.problem(Some(value.span()), message);
                        }
                    }
                    "tests" => {
                        if let Some(patterns) = read_patterns(value.get_ref()) {
                            tests = patterns;
                        } else {
                            let message = format!(
                                "`tests` must be a list of at most {MAX_PATTERNS} patterns for files"
                            );
                            reader.problem(Some(value.span()), message);
                        }
                    }
                    unknown => {
                        let message =
                            format!("`{unknown}` is not a setting; known are: check, setup, tests");
                        reader.problem(Some(key.span()), message);
                    }
                }
            }
        }
    }
    let problems = reader.problems;
    if !problems.is_empty() {
        return RepositoryConfig {
            problems,
            ..RepositoryConfig::default()
        };
    }
    // An old approval did not show the set-up command with the checks.
    let shown = setup
        .as_ref()
        .map_or(&b""[..], |_| b"\n# with its set-up command");
    let content = trust::content_digest(root, &[bytes, shown].concat());
    let commands = checks
        .iter()
        .map(|check| (check.command.as_str(), check.cwd.as_deref()));
    let pinned = files_of_commands(
        commands.chain(setup.iter().map(|setup| (setup.as_str(), None))),
        root,
    );
    RepositoryConfig {
        checks,
        setup,
        tests,
        digest: trust::bound_digest(&content, &pinned),
        pinned,
        content,
        problems,
    }
}

/// Tests and their subjects are work.
fn files_of_commands<'a>(
    commands: impl Iterator<Item = (&'a str, Option<&'a str>)>,
    root: &Path,
) -> BTreeMap<String, String> {
    let texts = commands
        .map(|(command, folder)| NamingText {
            text: command.to_owned(),
            origin: folder.map_or_else(|| root.to_owned(), |folder| root.join(folder)),
        })
        .collect();
    let mut files = find_named_files(texts, root, &[], &|file: &NamedFile| {
        file.path.starts_with(root)
            && !file.is_installed()
            && (may_steer(file.name) || file.is_script())
    });
    files.retain(|_, state| state != ABSENT);
    files
}

fn read_patterns(value: &DeValue) -> Option<Vec<String>> {
    let patterns: Option<Vec<String>> = value
        .as_array()?
        .iter()
        .map(|pattern| {
            pattern
                .get_ref()
                .as_str()
                .filter(|text| is_command(text))
                .map(str::to_owned)
        })
        .collect();
    patterns.filter(|patterns| patterns.len() <= MAX_PATTERNS)
}

fn is_command(text: &str) -> bool {
    (1..=MAX_COMMAND_BYTES).contains(&text.len()) && !text.contains('\0')
}

struct RepositoryReader<'a> {
    text: &'a str,
    path: PathBuf,
    problems: Vec<ConfigProblem>,
}

impl RepositoryReader<'_> {
    fn problem(&mut self, span: Option<Range<usize>>, message: String) {
        let line = span.map(|span| omo_state::config::line_at(self.text, span.start));
        self.problems.push(ConfigProblem {
            file: self.path.clone(),
            line,
            message,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> RepositoryConfig {
        parse(text.as_bytes(), Path::new("/p"), Path::new("omo.toml"))
    }

    #[test]
    fn every_field_of_a_gate_is_read() {
        let text = "[[check]]\nname = \"tests\"\nrun = \"cargo test\"\ncwd = \"crates/a\"\ntimeout = 60\n[check.env]\nRUST_LOG = \"warn\"\n[[check]]\nrun = \"npm test\"\ncwd = \".\"\n";
        let repository = read(text);
        assert_eq!(repository.problems, []);
        let [first, second] = &*repository.checks else {
            panic!("{repository:?}")
        };
        assert_eq!(
            (
                first.name.as_str(),
                first.command.as_str(),
                first.effective_timeout()
            ),
            ("tests", "cargo test", 60)
        );
        assert_eq!(
            (first.cwd.as_deref(), first.env["RUST_LOG"].as_str()),
            (Some("crates/a"), "warn")
        );
        assert_eq!(
            (second.name.as_str(), &second.cwd, second.origin),
            ("npm-test", &None, CheckOrigin::Repository)
        );
    }

    #[test]
    fn what_cannot_be_is_named_with_its_line_and_nothing_is_asked_for() {
        for (text, expected) in [
            (
                "trust = true",
                "omo.toml:1: `trust` is not a setting; known are: check, setup, tests",
            ),
            (
                "[[check]]\nrun = \"a\"\nproject = \"/p\"",
                "omo.toml:3: `check.project` is not a setting",
            ),
            (
                "[[check]]\nname = \"a\"",
                "omo.toml:1: [[check]]: a check needs a command",
            ),
            (
                "[[check]]\nrun = 3",
                "omo.toml:2: `check.run` must be a text",
            ),
            ("check = 3", "omo.toml:1: `check` must be a list of tables"),
            (
                "check = [3]",
                "omo.toml:1: `check` must be a list of tables",
            ),
            (
                "[[check]]\nrun = \"a\"\ncwd = \"../x\"",
                "omo.toml:1: [[check]]: `../x` is not a folder below",
            ),
            (
                "[[check]]\nrun = \"a\"\ntimeout = 9000",
                "omo.toml:1: [[check]]: a time limit is",
            ),
            (
                "[[check]]\nrun = \"a\"\n[check.env]\nOMO_X = \"1\"",
                "omo.toml:1: [[check]]: `OMO_X` is not a variable",
            ),
            (
                "[[check]]\nrun = \"a\"\n[[check]]\nrun = \"a\"",
                "omo.toml:3: [[check]]: a second one is called `a`",
            ),
            (
                "[[check]]\nrun = \"a\"\n[setup]\nrun = \"b\"",
                "omo.toml:3: `setup` must be a command of 1 to",
            ),
            ("setup = 3", "omo.toml:1: `setup` must be a command"),
            ("setup = \" \"", "omo.toml:1: `setup` must be a command"),
            (
                "setup = \"a\\u0000\"",
                "omo.toml:1: `setup` must be a command",
            ),
            (
                "setup = \"a\"\nset-up = \"b\"",
                "omo.toml:2: `set-up` is not a setting",
            ),
            (
                "tests = \"a\"",
                "omo.toml:1: `tests` must be a list of at most 64 patterns",
            ),
            ("tests = [1]", "omo.toml:1: `tests` must be a list"),
            ("[[check", "omo.toml:1: is not TOML"),
            (
                "\"a\\u001b[2J\\nb\" = 1",
                "omo.toml:1: `a [2J b` is not a setting",
            ),
            (
                "[[check]]\nrun = \"a\"\nenv = { \"\\u0007\" = 1 }",
                "omo.toml:3: `check.env. ` must be a text",
            ),
        ] {
            let repository = read(text);
            let found: Vec<String> = repository
                .problems
                .iter()
                .map(ToString::to_string)
                .collect();
            assert!(
                found.iter().any(|problem| problem.starts_with(expected)),
                "{text}: {found:?}"
            );
            assert!(
                !found.concat().contains(char::is_control),
                "{text}: {found:?}"
            );
            assert_eq!(
                (repository.checks, repository.setup),
                (Vec::new(), None),
                "{text}"
            );
        }
    }

    #[test]
    fn a_set_up_command_stands_beside_gates_and_alone() {
        let both = read("setup = \" npm ci \"\n[[check]]\nrun = \"npm test\"\n");
        assert_eq!(
            (both.setup.as_deref(), both.checks.len(), both.problems),
            (Some("npm ci"), 1, Vec::new())
        );
        let alone = read("setup = \"\"\"\ncd web\nnpm ci\n\"\"\"\n");
        assert_eq!(
            (alone.setup.as_deref(), alone.checks.len(), alone.problems),
            (Some("cd web\nnpm ci"), 0, Vec::new())
        );
        assert_eq!(read("").setup, None);
    }

    #[test]
    fn only_exactly_what_was_approved_is_approved() {
        let temp = tempfile::tempdir().unwrap();
        let (root, home) = (temp.path().join("project"), temp.path().join("state"));
        std::fs::create_dir_all(&root).unwrap();
        assert_eq!(RepositoryConfig::read(&root), None);
        let file = root.join(FILE);
        std::fs::write(&file, "[[check]]\nrun = \"true\"\n").unwrap();
        let read = || RepositoryConfig::read(&root).unwrap();
        assert!(!read().is_approved(Some(&home)));
        let given = GivenApproval {
            by: omo_core::session::ChangedBy::Terminal,
            at: omo_state::env::now(),
        };
        read().approve(Some(&home), &root, given).unwrap();
        assert!(read().is_approved(Some(&home)));
        std::fs::write(&file, "[[check]]\nrun = \"true\"\n#").unwrap();
        assert!(!read().is_approved(Some(&home)), "one byte more");
        std::fs::remove_file(&file).unwrap();
        std::fs::create_dir(&file).unwrap();
        assert_eq!(read().problems.len(), 1, "a folder is no file");
        std::fs::remove_dir(&file).unwrap();
        std::fs::write(temp.path().join("elsewhere"), "[[check]]\nrun = \"true\"\n").unwrap();
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(temp.path().join("elsewhere"), &file).unwrap();
            let (checks, problem) = (read().checks, read().problems.pop().unwrap().to_string());
            assert!(
                checks.is_empty() && problem.contains("symbolic link"),
                "{problem}"
            );
        }
    }
}
