//! Commands to type in the project's folder when a run's result could not move the user's branch.

use std::path::Path;

use omo_core::text::command_text::quote_argument;
use omo_core::text::sanitize;
use omo_git::integrate::{AbsentBranch, EditFacts, UnfinishedOperation};

const MAX_CHARS: usize = 300;

/// Commands that end an unfinished operation: `git rebase --continue` or `git rebase --abort`.
pub(crate) fn list_ending_commands(operation: UnfinishedOperation) -> String {
    operation
        .ending_commands()
        .iter()
        .map(|command| format!("`{command}`"))
        .collect::<Vec<_>>()
        .join(" or ")
}

pub(crate) fn operation_lines(operation: UnfinishedOperation) -> Vec<String> {
    vec![format!(
        "{} ends it; then go on.",
        list_ending_commands(operation)
    )]
}

/// Ways to check out again the run's branch, which is now at `place`.
pub(crate) fn branch_lines(branch: &str, place: &AbsentBranch) -> Vec<String> {
    let name = branch_argument(branch);
    let back = format!("`git switch {name}` checks it out again; then go on.");
    match place {
        AbsentBranch::Free => vec![back],
        AbsentBranch::Elsewhere { folder } => {
            let folder = quoted(folder);
            vec![
                format!("`git -C {folder} switch --detach` frees it, which is checked out there."),
                back,
            ]
        }
        AbsentBranch::Renamed { to } => {
            vec![format!(
                "`git branch -m {} {name}` gives it its name back; then go on.",
                branch_argument(to)
            )]
        }
        AbsentBranch::Gone => {
            vec![format!(
                "`git switch -c {name}` makes it anew from what is checked out; then go on."
            )]
        }
    }
}

pub(crate) fn other_checkout_lines(folders: &[String]) -> Vec<String> {
    let quoted = folders
        .iter()
        .map(|folder| sanitize(&quote_argument(folder), MAX_CHARS));
    let free = quoted
        .map(|folder| format!("`git -C {folder} switch --detach` frees it there; then go on."));
    let anyway = "Going on without that moves it all the same: commit nothing there before it is brought to the branch.";
    free.chain([anyway.to_owned()]).collect()
}

/// Ways around uncommitted edits, whose paths are from `top`: the project's folder if `is_at_top`.
pub(crate) fn edit_lines(edits: &EditFacts, top: &Path, is_at_top: bool) -> Vec<String> {
    let mut lines = Vec::new();
    for folder in &edits.repositories {
        let place = if is_at_top {
            folder.clone()
        } else {
            top.join(folder).to_string_lossy().into_owned()
        };
        let (from, to) = (quoted(&place), quoted(&format!("{place}.moved")));
        lines.push(format!(
            "`mv -- {from} {to}` moves the repository away that git does not stash; then go on."
        ));
    }
    if !edits.unmerged.is_empty() {
        lines.push(format!(
            "`git add -- {}` marks its conflict as resolved, once it is.",
            pathspecs(&edits.unmerged, is_at_top)
        ));
    }
    let free = match pathspecs(&edits.intended, is_at_top) {
        intended if intended.is_empty() => String::new(),
        intended => format!("git reset -q -- {intended} && "),
    };
    if !edits.unknown.is_empty() {
        let unknown = pathspecs(&edits.unknown, is_at_top);
        lines.push(format!(
            "`{free}git stash push --all -- {unknown}` stashes what git does not keep. Once your branch has moved, \
             `git restore --source='stash@{{0}}^3' -- {unknown}` writes yours over what the run has brought."
        ));
    }
    if !edits.known.is_empty() {
        let shown = hiding_commands(edits, "no-", top, is_at_top).join(" && ");
        let shown = if shown.is_empty() {
            shown
        } else {
            format!("{shown} && ")
        };
        lines.push(format!(
            "`{free}{shown}git stash push -- {}` stashes your edits; go on, and then `git stash pop` brings them back. \
             Or commit them, and go on.",
            pathspecs(&edits.known, is_at_top)
        ));
    }
    let hidden = hiding_commands(edits, "", top, is_at_top).into_iter();
    lines.extend(
        hidden.map(|command| format!("`{command}` has git overlook it again, after that.")),
    );
    lines
}

/// Commands that have `git` hide edits again, or see them with `no-` for `negation`.
fn hiding_commands(edits: &EditFacts, negation: &str, top: &Path, is_at_top: bool) -> Vec<String> {
    let place = if is_at_top {
        String::new()
    } else {
        format!("-C {} ", quoted(&top.to_string_lossy()))
    };
    let flags = [
        ("assume-unchanged", &edits.assumed),
        ("skip-worktree", &edits.skipped),
    ];
    let flags = flags.into_iter().filter(|(_, paths)| !paths.is_empty());
    flags
        .map(|(flag, paths)| {
            let paths = paths
                .iter()
                .map(|path| quoted(path))
                .collect::<Vec<_>>()
                .join(" ");
            format!("git {place}update-index --{negation}{flag} -- {paths}")
        })
        .collect()
}

fn branch_argument(name: &str) -> String {
    quoted(name.strip_prefix("refs/heads/").unwrap_or(name))
}

fn quoted(text: &str) -> String {
    sanitize(&quote_argument(text), MAX_CHARS)
}

fn pathspecs(paths: &[String], is_at_top: bool) -> String {
    paths
        .iter()
        .map(|path| pathspec(path, is_at_top))
        .collect::<Vec<_>>()
        .join(" ")
}

/// A path from the top of the work tree as a literal argument of `git`, whatever letters it has.
fn pathspec(path: &str, is_at_top: bool) -> String {
    let is_plain = is_at_top && !path.starts_with(':') && !path.contains(['*', '?', '[', '\\']);
    let text = if is_plain {
        path.to_owned()
    } else {
        format!(":(top,literal){path}")
    };
    sanitize(&quote_argument(&text), MAX_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn a_path_means_itself_from_wherever_it_is_typed() {
        for (path, is_at_top, expected) in [
            ("conf/local.cfg", true, "conf/local.cfg"),
            ("conf/local.cfg", false, "':(top,literal)conf/local.cfg'"),
            ("a b", true, "'a b'"),
            ("[id].ts", true, "':(top,literal)[id].ts'"),
            (":x", true, "':(top,literal):x'"),
        ] {
            assert_eq!(pathspec(path, is_at_top), expected, "{path}");
        }
    }

    #[test]
    fn each_kind_of_edit_has_its_command() {
        let edits = EditFacts {
            known: texts(&["a.txt"]),
            unknown: texts(&["conf/local.cfg"]),
            unmerged: texts(&["both.txt"]),
            intended: texts(&["new.txt"]),
            ..EditFacts::default()
        };
        let commands: Vec<String> = edit_lines(&edits, Path::new("/p"), true)
            .iter()
            .filter_map(|line| line.split('`').nth(1).map(str::to_owned))
            .collect();
        assert_eq!(
            commands,
            [
                "git add -- both.txt",
                "git reset -q -- new.txt && git stash push --all -- conf/local.cfg",
                "git reset -q -- new.txt && git stash push -- a.txt",
            ]
        );
        assert!(edit_lines(&EditFacts::default(), Path::new("/p"), true).is_empty());
    }

    #[test]
    fn edits_that_a_stash_does_not_find_are_shown_to_it_or_moved() {
        let edits = EditFacts {
            known: texts(&["a b", "c"]),
            assumed: texts(&["a b"]),
            skipped: texts(&["c"]),
            repositories: texts(&["lib"]),
            ..EditFacts::default()
        };
        let commands = |is_at_top| -> Vec<String> {
            let lines = edit_lines(&edits, Path::new("/p"), is_at_top);
            lines
                .iter()
                .filter_map(|line| line.split('`').nth(1).map(str::to_owned))
                .collect()
        };
        assert_eq!(
            commands(true),
            [
                "mv -- lib lib.moved",
                "git update-index --no-assume-unchanged -- 'a b' && git update-index --no-skip-worktree -- c && \
                 git stash push -- 'a b' c",
                "git update-index --assume-unchanged -- 'a b'",
                "git update-index --skip-worktree -- c",
            ]
        );
        assert_eq!(commands(false)[0], "mv -- /p/lib /p/lib.moved");
        assert!(
            commands(false)[1]
                .starts_with("git -C /p update-index --no-assume-unchanged -- 'a b' && ")
        );
    }

    #[test]
    fn a_branch_that_cannot_be_switched_to_has_another_command() {
        for (place, expected) in [
            (AbsentBranch::Free, vec!["git switch main"]),
            (
                AbsentBranch::Elsewhere {
                    folder: "/a b".to_owned(),
                },
                vec!["git -C '/a b' switch --detach", "git switch main"],
            ),
            (
                AbsentBranch::Renamed {
                    to: "refs/heads/trunk".to_owned(),
                },
                vec!["git branch -m trunk main"],
            ),
            (AbsentBranch::Gone, vec!["git switch -c main"]),
        ] {
            let lines = branch_lines("refs/heads/main", &place);
            let commands: Vec<&str> = lines
                .iter()
                .filter_map(|line| line.split('`').nth(1))
                .collect();
            assert_eq!(commands, expected, "{place:?}");
        }
        assert_eq!(
            list_ending_commands(UnfinishedOperation::Bisect),
            "`git bisect reset`"
        );
        assert_eq!(
            list_ending_commands(UnfinishedOperation::Am),
            "`git am --continue` or `git am --abort`"
        );
    }
}
