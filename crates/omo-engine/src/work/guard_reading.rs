//! Reads of the judges of commits, such as hooks and settings of `git`: before a commit, and for
//! the answer to a question about one.

use std::path::Path;

use omo_git::commit_guard::read_commit_judges;
use omo_git::git_settings::GitSettings;
use omo_git::proved_worktree::ProvedWorktree;
use omo_git::repository::{GitFailed, GitRepository};
use omo_plan::refusal::VerbRefusal;

use super::{Engine, worker_tree};
use crate::commit_guard::{CommitGuard, GuardChanges, JudgeStates};
use crate::event::{EventKind, QuestionKind};
use crate::state::{ANSWER_CONTINUE, RunState};
use crate::verbs;

impl CommitGuard {
    /// The guard in the checkout of a project; `None` without a repository, or where `git` cannot tell.
    pub fn read(root: &Path) -> Option<Self> {
        let repository = GitRepository::find(root)?;
        let settings = GitSettings::from_environment(&repository).ok()?;
        let judges = read_commit_judges(&repository.obeying(&settings)).ok()?;
        Some(Self { settings, judges })
    }
}

/// Judges of commits that changed during the run; `is_listed` tells if a task lists a file.
pub(crate) fn guard_changes(
    state: &RunState,
    repository: &GitRepository,
    is_listed: impl Fn(&str) -> bool,
) -> Result<GuardChanges, GitFailed> {
    let Some(guard) = &state.guard else {
        return Ok(GuardChanges::default());
    };
    Ok(guard.changes(&read_commit_judges(repository)?, is_listed))
}

impl Engine<'_> {
    /// Settings that a commit obeys, in a worker's tree as in the checkout, where its work goes.
    pub(super) fn commit_settings(&self, state: &RunState) -> Result<GitSettings, GitFailed> {
        let given = state
            .guard
            .as_ref()
            .map(|guard| guard.settings.clone())
            .unwrap_or_default();
        GitRepository::find(self.root).map_or_else(
            || Ok(given.clone()),
            |checkout| given.over_files_of(&checkout),
        )
    }

    /// Events of an answer; `continue` accepts the judges in question as they are now.
    pub fn answer_question(
        &self,
        state: &RunState,
        question: &str,
        option: &str,
        plan_sha256: Option<String>,
    ) -> Result<Vec<EventKind>, VerbRefusal> {
        let answered = verbs::answer_question(state, &self.caller, question, option, plan_sha256)?;
        let known = state
            .questions
            .iter()
            .find(|known| known.question.id == question && option == ANSWER_CONTINUE);
        let judges = known
            .and_then(|known| self.judges_let_stand(state, &known.question.kind))
            .unwrap_or_default();
        let found = (!judges.is_empty()).then_some(EventKind::JudgesFound { judges });
        Ok(found.into_iter().chain([answered]).collect())
    }

    fn judges_let_stand(&self, state: &RunState, about: &QuestionKind) -> Option<JudgeStates> {
        let (tree, refusal) = match about {
            QuestionKind::CommitRefused { task, refusal, .. } => {
                let (_, group) = state.plan.group_of(task).unzip();
                (
                    group.and_then(|group| worker_tree(state, self.run.id(), &group.id)),
                    refusal,
                )
            }
            QuestionKind::LandingRefused {
                refusal: Some(refusal),
                ..
            } => (None, refusal),
            _ => return None,
        };
        let tree = tree
            .unwrap_or_else(|| Ok(ProvedWorktree::of_project(self.root)))
            .ok()?;
        let repository = tree
            .repository()?
            .obeying(&self.commit_settings(state).ok()?);
        let now = read_commit_judges(&repository).ok()?;
        Some(state.guard.as_ref()?.still_as_shown(&now, refusal))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;
    use crate::commit_guard::KnownGuard;

    #[test]
    #[cfg(unix)]
    fn each_way_to_weaken_a_hook_is_a_change_and_work_is_none() {
        let husky = "mkdir -p .husky/_; git config core.hooksPath .husky/_; echo '. \"$0/../h\"' > .husky/_/pre-commit; \
                     echo 'sh -e .husky/pre-commit' > .husky/_/h; echo 'npm test' > .husky/pre-commit; \
                     chmod +x .husky/_/pre-commit";
        let own = "printf '#!/bin/sh\\ncd scripts && ./check.sh\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit";
        let nested = "echo 'sh \"$(dirname \"$0\")/../scripts/inner.sh\"' > scripts/check.sh; touch scripts/inner.sh; \
                      echo './scripts/check.sh' > .git/hooks/pre-push; chmod +x .git/hooks/pre-push";
        let walking = "mkdir .git/hooks/pre-commit.d; echo exit 1 > .git/hooks/pre-commit.d/lint; \
                       echo 'for hook in \"$0.d\"/*; do sh \"$hook\"; done' > .git/hooks/pre-commit";
        let making = "touch Makefile; echo 'make lint' > .git/hooks/pre-commit";
        let staged = "echo 'npx lint-staged' > .git/hooks/pre-commit; \
                      echo '{\"version\": \"1.0\", \"lint-staged\": {\"*.js\": [\"eslint\"]}}' > package.json";
        let linked = "ln -s ../../scripts/check.sh .git/hooks/pre-commit";
        let absolute = "mkdir guards; echo exit 1 > guards/commit-msg; chmod +x guards/commit-msg; \
                        git config core.hooksPath \"$PWD/guards\"";
        let through_link = "mkdir guards; echo exit 1 > guards/commit-msg; chmod +x guards/commit-msg; \
                            ln -s \"$PWD\" .git/link; git config core.hooksPath \"$PWD/.git/link/guards\"";
        let python = "printf '#!/usr/bin/env python3\\nimport os\\nos.system(\"pytest; guards/lint.sh; git lint\")\\n' > \
                      .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; mkdir guards; touch guards/lint.sh conftest.py";
        let beside = "echo 'sh \"$(git rev-parse --git-dir)/lint.sh\"; sh ../lint.sh' > .git/hooks/pre-commit; \
                      touch .git/lint.sh";
        let plain = "mkdir qa app tests .git/hooks/pre-commit-extra; touch qa/lint qa/x .git/guard .git/hooks/pre-commit-extra/a \
                     lint.pl requirements.txt app/main.py tests/test_app.py; git config alias.check '!qa/x'; \
                     printf 'sh qa/lint; sh .git/guard; perl lint.pl\\ngit  check\\ngit config my.strict\\npip-audit -r \
                     requirements.txt\\npython3 -m py_compile app/main.py\\npytest tests/test_app.py\\nnpm test\\n' > .git/hooks/pre-commit";
        let cases = [
            (
                plain,
                "echo exit 0 > qa/lint; echo exit 0 > .git/guard",
                "script .git/guard, script qa/lint",
            ),
            (
                plain,
                "echo exit > lint.pl; echo exit > qa/x",
                "script lint.pl, script qa/x",
            ),
            (
                plain,
                "git config my.strict false; git config other.strict false",
                "git config my.strict",
            ),
            (
                plain,
                "echo exit > .git/hooks/pre-commit-extra/a",
                ".git/hooks/pre-commit-extra/a",
            ),
            (
                plain,
                "echo 1 >> requirements.txt; echo 1 >> app/main.py; echo 1 >> tests/test_app.py",
                "",
            ),
            (
                plain,
                "sed -i.old 's/{\"test/{\"dev\": \"vite\", \"test/' package.json; rm package.json.old",
                "",
            ),
            (
                python,
                "echo exit 0 > guards/lint.sh",
                "script guards/lint.sh",
            ),
            (
                python,
                "git config alias.lint status",
                "git config alias.lint",
            ),
            (
                python,
                "git config alias.other status; echo 1 > conftest.py",
                "",
            ),
            (beside, "echo exit 0 > .git/lint.sh", "script .git/lint.sh"),
            (
                beside,
                "touch .git/hooks/.stamp; echo ran > .git/hooks/log",
                "",
            ),
            (
                own,
                "git config hooks.allowAll true; git config secrets.allowed x",
                "git config hooks.allowall, git config secrets.allowed",
            ),
            (
                own,
                "git config gpg.ssh.allowedSignersFile x; git config gpg.ssh.program true",
                "git config gpg.ssh.program",
            ),
            (
                own,
                "mkdir -p .git/info; echo '* -diff' > .git/info/attributes",
                ".git/info/attributes",
            ),
            (
                own,
                "touch hk.pkl prek.toml .gitleaks.toml commitlint.config.js",
                ".gitleaks.toml, commitlint.config.js, hk.pkl, prek.toml",
            ),
            (
                own,
                "printf '#!/bin/sh\\n' > .git/hooks/pre-commit",
                ".git/hooks/pre-commit",
            ),
            (
                own,
                "chmod -x .git/hooks/pre-commit",
                ".git/hooks/pre-commit",
            ),
            (own, "rm .git/hooks/pre-commit", ".git/hooks/pre-commit"),
            (
                own,
                "echo exit 0 > .git/hooks/prepare-commit-msg",
                ".git/hooks/prepare-commit-msg",
            ),
            (
                own,
                "echo exit 0 > scripts/check.sh",
                "script scripts/check.sh",
            ),
            (
                own,
                "git config core.hooksPath /dev/null",
                ".git/hooks/pre-commit, git config core.hookspath",
            ),
            (
                own,
                "git config commit.gpgSign false",
                "git config commit.gpgsign",
            ),
            (own, "git config gpg.program true", "git config gpg.program"),
            (
                own,
                "echo 'pre-commit: {}' > lefthook-local.yml",
                "lefthook-local.yml",
            ),
            (own, "echo x > .lefthook.toml", ".lefthook.toml"),
            (
                own,
                "echo 'repos: []' > .pre-commit-config.yaml",
                ".pre-commit-config.yaml",
            ),
            (
                nested,
                "echo exit 0 > scripts/inner.sh",
                "script scripts/inner.sh",
            ),
            (own, "chmod -x scripts/check.sh", "script scripts/check.sh"),
            (
                walking,
                "echo exit 0 > .git/hooks/pre-commit.d/lint",
                ".git/hooks/pre-commit.d/lint",
            ),
            (
                walking,
                "echo exit 0 > .git/hooks/pre-commit.d/new",
                ".git/hooks/pre-commit.d/new",
            ),
            (making, "cp Makefile GNUmakefile", "script GNUmakefile"),
            (making, "touch other.mk tests.py", ""),
            (
                staged,
                "sed -i.old s/eslint/true/ package.json; rm package.json.old",
                "package.json (lint-staged)",
            ),
            (
                staged,
                "sed -i.old s/1.0/1.1/ package.json; rm package.json.old",
                "",
            ),
            (own, "echo ran >> .git/hooks/pre-commit.log", ""),
            (linked, "echo exit 0 > scripts/check.sh", "scripts/check.sh"),
            (
                linked,
                "ln -sf ../../package.json .git/hooks/pre-commit",
                ".git/hooks/pre-commit, package.json, scripts/check.sh",
            ),
            (
                through_link,
                "echo exit 0 > guards/commit-msg",
                "guards/commit-msg",
            ),
            (husky, "echo true > .husky/pre-commit", ".husky/pre-commit"),
            (husky, "echo true > .husky/_/h", ".husky/_/h"),
            (
                husky,
                "sed -i.old s/vitest/true/ package.json; rm package.json.old",
                "script package.json (scripts)",
            ),
            (
                absolute,
                "echo exit 0 > guards/commit-msg",
                "guards/commit-msg",
            ),
            (
                own,
                "echo 1 > a.txt; echo '# x' >> README.md; git config user.name other; git config alias.a b",
                "",
            ),
            (
                husky,
                "sed -i.old s/1.0/1.1/ package.json; rm package.json.old; echo 1 > a.txt",
                "",
            ),
            (
                "true",
                "echo 'repos: []' > .pre-commit-config.yaml; echo exit 0 > scripts/check.sh",
                "",
            ),
        ];
        for (hooks, change, expected) in cases {
            let temp = tempfile::tempdir().unwrap();
            let top = temp.path().canonicalize().unwrap();
            let sh = |line: &str| {
                let ended = Command::new("sh")
                    .args(["-ec", line])
                    .current_dir(&top)
                    .status()
                    .unwrap();
                assert!(ended.success(), "{line}");
            };
            fs::write(
                top.join("package.json"),
                r#"{"version": "1.0", "scripts": {"test": "vitest"}}"#,
            )
            .unwrap();
            sh(
                "git init -q; mkdir scripts; printf '#!/bin/sh\\nexit 1\\n' > scripts/check.sh; chmod +x scripts/check.sh",
            );
            sh(hooks);
            let known = KnownGuard::from(CommitGuard::read(&top).unwrap());
            let changed = || {
                known
                    .changes(&CommitGuard::read(&top).unwrap().judges, |_| false)
                    .others
            };
            assert_eq!(changed(), JudgeStates::new(), "{hooks}");
            sh(change);
            let changed = changed();
            let folder = format!("{}/", top.display());
            let names: Vec<&str> = changed
                .keys()
                .map(|name| name.strip_prefix(&folder).unwrap_or(name))
                .collect();
            assert_eq!(names.join(", "), expected, "{hooks}: {change}");
        }
    }
}
