//! The hooks and settings that judge the commits of a run. A change of them that no passed task lists is a question.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use omo_checks::pinned_files::files_of_commands;
use omo_git::commit::CommitRefusal;
use omo_git::commit_guard::{read_commit_judges, shell_commands};
use omo_git::git_settings::GitSettings;
use omo_git::repository::{GitFailed, GitRepository};
use omo_state::search_path::SearchPath;
use serde::{Deserialize, Serialize};

use crate::event::QuestionKind;
use crate::state::{ANSWER_CONTINUE, RunState};

/// The state of each setting and file that judges commits, by its name.
pub type Judges = BTreeMap<String, String>;

/// Begins the name of a file that a hook runs.
const SCRIPT: &str = "script ";
/// Scripts that run scripts are followed so deep.
const MAX_DEPTH: usize = 4;
/// Folders of installed programs, which change with each update.
const INSTALLED: [&str; 4] = ["node_modules", ".venv", "venv", "vendor"];
/// Letters of a digest that tell one state from another.
const DIGEST_LETTERS: usize = 16;
/// The state of what is not there, or which nothing uses any more.
const ABSENT: &str = "not used";

/// What judges commits as a run begins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitGuard {
    /// Settings of git from the environment of the user.
    pub settings: GitSettings,
    /// As the checkout has them.
    pub judges: Judges,
}

impl CommitGuard {
    /// Reads it in the checkout of a project; `None` where that lies in no repository, or git cannot tell.
    pub fn read(root: &Path, search: &SearchPath) -> Option<Self> {
        let repository = GitRepository::find(root)?;
        let settings = GitSettings::from_environment(&repository).ok()?;
        let judges = read_judges(&repository.obeying(&settings), search).ok()?;
        Some(Self { settings, judges })
    }
}

/// The states in which what judges commits is known: as the run found it, or as a passed task left it that lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownGuard {
    /// Settings of git from the environment of the user.
    pub settings: GitSettings,
    judges: BTreeMap<String, BTreeSet<String>>,
}

impl From<CommitGuard> for KnownGuard {
    fn from(guard: CommitGuard) -> Self {
        let mut known = Self { settings: guard.settings, judges: BTreeMap::new() };
        known.learn(&guard.judges);
        known
    }
}

impl KnownGuard {
    pub(crate) fn learn(&mut self, judges: &Judges) {
        for (name, state) in judges {
            self.judges.entry(name.clone()).or_default().insert(state.clone());
        }
    }

    /// Those that are in a state which is not known.
    pub(crate) fn changed(&self, now: &Judges) -> Judges {
        let mut changed = self.unknown_states(now);
        // A script that a hook runs only now guarded nothing before: the hook has changed.
        changed.retain(|name, _| !name.starts_with(SCRIPT) || self.judges.contains_key(name));
        changed
    }

    /// Those of a new worktree: what all work trees share is known of the checkout.
    pub(crate) fn unknown_in_worktree(&self, now: &Judges) -> Judges {
        let mut unknown = self.unknown_states(now);
        unknown.retain(|name, _| {
            !name.starts_with("git config ") && !name.starts_with(".git/") && !Path::new(name).is_absolute()
        });
        unknown
    }

    fn unknown_states(&self, now: &Judges) -> Judges {
        // A script that no hook runs any more is still there.
        let is_gone = |name: &&String| !now.contains_key(*name) && !name.starts_with(SCRIPT);
        let absent = self.judges.keys().filter(is_gone).map(|name| (name.as_str(), ABSENT));
        let there = now.iter().map(|(name, state)| (name.as_str(), state.as_str()));
        let is_known =
            |(name, state): &(&str, &str)| self.judges.get(*name).is_some_and(|known| known.contains(*state));
        let unknown = there.chain(absent).filter(|judge| !is_known(judge));
        unknown.map(|(name, state)| (name.to_owned(), state.to_owned())).collect()
    }
}

/// Reads what judges the commits of a work tree, with the scripts that its hooks run.
pub(crate) fn read_judges(repository: &GitRepository, search: &SearchPath) -> Result<Judges, GitFailed> {
    let read = read_commit_judges(repository)?;
    let (top, mut commands) = (repository.top(), read.commands);
    let mut judges = Judges::new();
    for _ in 0..MAX_DEPTH {
        let lines = std::mem::take(&mut commands);
        let scripts = files_of_commands(lines.iter().map(|line| (line.as_str(), None)), top, search).into_iter();
        for (path, digest) in scripts.filter(|(path, _)| !path.split('/').any(|part| INSTALLED.contains(&part))) {
            let state = digest.chars().take(DIGEST_LETTERS).collect();
            if !read.states.contains_key(&path) && judges.insert(format!("{SCRIPT}{path}"), state).is_none() {
                commands.extend(shell_commands(&top.join(&path), Path::new(&path).parent().unwrap_or(top)));
            }
        }
    }
    judges.extend(read.states);
    Ok(judges)
}

/// The path in the name of a judge, which may be followed by a part of the file: `script package.json (scripts)`.
fn path_of(name: &str) -> &str {
    let path = name.strip_prefix(SCRIPT).unwrap_or(name);
    path.split_once(" (").map_or(path, |(path, _)| path)
}

/// Those changes that a task lists, and the scripts that hooks run since.
///
/// # Errors
///
/// Another one is neither known to the run nor accepted by its user in exactly this state.
pub fn judge_changes(
    state: &RunState,
    folder: &Path,
    now: &Judges,
    is_listed: impl Fn(&str) -> bool,
) -> Result<Judges, CommitRefusal> {
    let Some(guard) = &state.guard else { return Ok(Judges::new()) };
    let changed = guard.changed(now);
    let (mut listed, others): (Judges, Judges) = changed.into_iter().partition(|(name, _)| is_listed(path_of(name)));
    let mut files: Vec<String> = others.iter().map(|(name, state)| format!("{name} (now {state})")).collect();
    let accepted = state
        .questions
        .iter()
        .filter(|known| known.answer.as_ref().is_some_and(|answer| answer.option == ANSWER_CONTINUE));
    for known in accepted {
        if let QuestionKind::CommitRefused { refusal: CommitRefusal::GuardChanged { files: accepted, .. }, .. } =
            &known.question.kind
        {
            files.retain(|file| !accepted.contains(file));
        }
    }
    if files.is_empty() {
        listed.extend(guard.unknown_states(now).into_iter().filter(|(name, _)| name.starts_with(SCRIPT)));
        return Ok(listed);
    }
    Err(CommitRefusal::GuardChanged { folder: folder.display().to_string(), files })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;

    fn judges(all: &[(&str, &str)]) -> Judges {
        all.iter().map(|(name, state)| ((*name).to_owned(), (*state).to_owned())).collect()
    }

    #[test]
    fn a_state_that_was_never_seen_is_changed_and_one_that_was_is_not() {
        let begun = judges(&[("a", "1"), (".git/hooks/b", "1"), ("git config commit.gpgsign", "true")]);
        let mut known = KnownGuard::from(CommitGuard { judges: begun.clone(), ..CommitGuard::default() });
        assert_eq!(known.changed(&begun), Judges::new());
        let now = judges(&[("a", "2"), (".git/hooks/b", "2"), ("/abs/c", "1")]);
        let mut expected = now.clone();
        expected.insert("git config commit.gpgsign".to_owned(), ABSENT.to_owned());
        assert_eq!(known.changed(&now), expected);
        assert_eq!(known.unknown_in_worktree(&now), judges(&[("a", "2")]), "the rest is the checkout's as well");
        known.learn(&judges(&[("a", "2")]));
        assert!(!known.changed(&now).contains_key("a") && !known.changed(&begun).contains_key("a"));
    }

    #[test]
    #[cfg(unix)]
    fn each_way_to_weaken_a_hook_is_a_change_and_work_is_none() {
        let husky = "mkdir -p .husky/_; git config core.hooksPath .husky/_; echo '. \"$0/../h\"' > .husky/_/pre-commit; \
                     echo 'sh -e .husky/pre-commit' > .husky/_/h; echo 'npm test' > .husky/pre-commit; \
                     chmod +x .husky/_/pre-commit";
        let own =
            "printf '#!/bin/sh\\ncd scripts && ./check.sh\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit";
        let nested = "echo 'sh \"$(dirname \"$0\")/../scripts/inner.sh\"' > scripts/check.sh; touch scripts/inner.sh; \
                      echo './scripts/check.sh' > .git/hooks/pre-push; chmod +x .git/hooks/pre-push";
        let linked = "ln -s ../../scripts/check.sh .git/hooks/pre-commit";
        let absolute = "mkdir guards; echo exit 1 > guards/commit-msg; chmod +x guards/commit-msg; \
                        git config core.hooksPath \"$PWD/guards\"";
        let cases = [
            (own, "printf '#!/bin/sh\\n' > .git/hooks/pre-commit", ".git/hooks/pre-commit"),
            (own, "chmod -x .git/hooks/pre-commit", ".git/hooks/pre-commit"),
            (own, "rm .git/hooks/pre-commit", ".git/hooks/pre-commit"),
            (own, "echo exit 0 > .git/hooks/prepare-commit-msg", ".git/hooks/prepare-commit-msg"),
            (own, "echo exit 0 > scripts/check.sh", "script scripts/check.sh"),
            (own, "git config core.hooksPath /dev/null", ".git/hooks/pre-commit, git config core.hookspath"),
            (own, "git config commit.gpgSign false", "git config commit.gpgsign"),
            (own, "git config gpg.program true", "git config gpg.program"),
            (own, "echo 'pre-commit: {}' > lefthook-local.yml", "lefthook-local.yml"),
            (own, "echo x > .lefthook.toml", ".lefthook.toml"),
            (own, "echo 'repos: []' > .pre-commit-config.yaml", ".pre-commit-config.yaml"),
            (nested, "echo exit 0 > scripts/inner.sh", "script scripts/inner.sh"),
            (linked, "echo exit 0 > scripts/check.sh", ".git/hooks/pre-commit"),
            (husky, "echo true > .husky/pre-commit", ".husky/pre-commit"),
            (husky, "echo true > .husky/_/h", ".husky/_/h"),
            (husky, "sed -i.old s/vitest/true/ package.json; rm package.json.old", "script package.json (scripts)"),
            (absolute, "echo exit 0 > guards/commit-msg", "guards/commit-msg"),
            (own, "echo 1 > a.txt; echo '# x' >> README.md; git config user.name other; git config alias.a b", ""),
            (husky, "sed -i.old s/1.0/1.1/ package.json; rm package.json.old; echo 1 > a.txt", ""),
            ("true", "echo 'repos: []' > .pre-commit-config.yaml; echo exit 0 > scripts/check.sh", ""),
        ];
        for (hooks, change, expected) in cases {
            let temp = tempfile::tempdir().unwrap();
            let top = temp.path().canonicalize().unwrap();
            let sh = |line: &str| {
                let ended = Command::new("sh").args(["-ec", line]).current_dir(&top).status().unwrap();
                assert!(ended.success(), "{line}");
            };
            fs::write(top.join("package.json"), r#"{"version": "1.0", "scripts": {"test": "vitest"}}"#).unwrap();
            sh(
                "git init -q; mkdir scripts; printf '#!/bin/sh\\nexit 1\\n' > scripts/check.sh; chmod +x scripts/check.sh",
            );
            sh(hooks);
            let search = SearchPath::default();
            let known = KnownGuard::from(CommitGuard::read(&top, &search).unwrap());
            assert_eq!(known.changed(&CommitGuard::read(&top, &search).unwrap().judges), Judges::new(), "{hooks}");
            sh(change);
            let changed = known.changed(&CommitGuard::read(&top, &search).unwrap().judges);
            let folder = format!("{}/", top.display());
            let names: Vec<&str> = changed.keys().map(|name| name.strip_prefix(&folder).unwrap_or(name)).collect();
            assert_eq!(names.join(", "), expected, "{hooks}: {change}");
        }
    }
}
