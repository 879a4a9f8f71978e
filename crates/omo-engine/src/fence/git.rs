//! Detection of `git` calls that reach beyond a session's work tree: branches, stash, settings,
//! other worktrees. For example `git stash` → `Deed::ReachesShared`.

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Deed<'w> {
    InFolder(&'w str),
    /// A word that has `git` use another repository or work tree than that of its folder.
    RedirectsGit(&'w str),
    ReachesShared(String),
}

const SHARED_COMMANDS: [&str; 24] = [
    "bisect",
    "clean",
    "config",
    "fetch",
    "filter-branch",
    "gc",
    "maintenance",
    "merge",
    "notes",
    "pack-refs",
    "prune",
    "pull",
    "push",
    "rebase",
    "remote",
    "repack",
    "replace",
    "send-pack",
    "sparse-checkout",
    "stash",
    "switch",
    "symbolic-ref",
    "update-ref",
    "worktree",
];
/// Read-only subcommands by their first word, empty for the bare command; none that the settings deny as a whole.
const READ_ONLY: [(&str, &[&str]); 3] = [
    ("notes", &["", "list", "show"]),
    ("remote", &["", "-v", "--verbose", "get-url"]),
    ("sparse-checkout", &["list"]),
];
/// Options with which `git branch` and `git tag` list names instead of making one.
const LIST_OPTIONS: [&str; 8] = [
    "--list",
    "--contains",
    "--no-contains",
    "--merged",
    "--no-merged",
    "--points-at",
    "--sort",
    "--format",
];
/// Options with which `git branch` and `git tag` change something, even if they list as well.
const CHANGE_OPTIONS: [&str; 7] = [
    "--delete",
    "--move",
    "--copy",
    "--force",
    "--edit-description",
    "--set-upstream-to",
    "--unset-upstream",
];

/// Actions in the arguments of a `git` call that the fence has to judge, in order.
pub(super) fn git_actions(arguments: &[String]) -> Vec<Deed<'_>> {
    let mut deeds = Vec::new();
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        let long = word.split('=').next().unwrap_or_default();
        if word == "-C" {
            deeds.extend(rest.next().map(|folder| Deed::InFolder(folder)));
        } else if word == "-c" || long == "--config-env" {
            let setting = if word.contains('=') {
                word.split_once('=').map(|(_, setting)| setting)
            } else {
                None
            };
            let setting = setting
                .or_else(|| rest.next().map(String::as_str))
                .unwrap_or_default();
            let name = setting.to_ascii_lowercase();
            // An alias can be any command; `core.worktree` is another work tree.
            if name.starts_with("alias.") || name.starts_with("core.worktree") {
                deeds.push(Deed::RedirectsGit(setting));
            }
        } else if matches!(long, "--git-dir" | "--work-tree" | "--namespace") {
            deeds.push(Deed::RedirectsGit(word));
        } else if !word.starts_with('-') {
            deeds.extend(shared_command(word, rest.as_slice()).map(Deed::ReachesShared));
            break;
        }
    }
    deeds
}

fn shared_command(command: &str, arguments: &[String]) -> Option<String> {
    let culprit = match command {
        _ if only_tells(command, arguments) => None,
        _ if SHARED_COMMANDS.contains(&command) => return Some(command.to_owned()),
        "reset" => arguments
            .iter()
            .find(|word| is_one_of(word, &["--hard", "--merge", "--keep"])),
        "checkout" => switches_to(arguments),
        "branch" => changed_name(arguments, "cCdDfmMu"),
        "tag" => changed_name(arguments, "adfmsu"),
        "reflog" => arguments
            .first()
            .filter(|word| matches!(word.as_str(), "expire" | "delete" | "drop")),
        _ => None,
    };
    culprit.map(|culprit| format!("{command} {culprit}"))
}

fn only_tells(command: &str, arguments: &[String]) -> bool {
    let first = arguments.first().map(String::as_str).unwrap_or_default();
    // `git remote -v` takes a command behind it all the same.
    let is_more = first == "-v" || first == "--verbose";
    READ_ONLY
        .iter()
        .any(|(name, words)| *name == command && words.contains(&first))
        && !(is_more && arguments.len() > 1)
}

/// The switch target of `git checkout`. After `--`, and behind a leading dot, only files are meant.
fn switches_to(arguments: &[String]) -> Option<&String> {
    let before: Vec<&String> = arguments.iter().take_while(|word| *word != "--").collect();
    let names_files = before.len() + 1 < arguments.len();
    before
        .iter()
        .find(|word| {
            option_letters(word).contains(['b', 'B', 'd'])
                || is_one_of(word, &["--orphan", "--detach", "--track"])
        })
        .or_else(|| {
            before.iter().find(|word| {
                let is_branch = word.as_str() == "-" || !word.starts_with('-');
                is_branch && !names_files && word.as_str() != "." && !word.starts_with("./")
            })
        })
        .copied()
}

/// The name that `git branch` or `git tag` would make or change; the letters `changing` are the options that change.
fn changed_name<'w>(arguments: &'w [String], changing: &str) -> Option<&'w String> {
    let lists = arguments
        .iter()
        .any(|word| option_letters(word).contains('l') || is_one_of(word, &LIST_OPTIONS));
    arguments
        .iter()
        .find(|word| {
            option_letters(word).contains(|letter| changing.contains(letter))
                || is_one_of(word, &CHANGE_OPTIONS)
        })
        .or_else(|| {
            arguments
                .iter()
                .find(|word| !lists && !word.starts_with('-'))
        })
}

/// The letters of combined options, such as `vd` of `-vd`.
fn option_letters(word: &str) -> &str {
    word.strip_prefix('-')
        .filter(|letters| !letters.starts_with('-'))
        .unwrap_or_default()
}

/// The word is one of `options`, or a prefix long enough for git.
fn is_one_of(word: &str, options: &[&str]) -> bool {
    let word = word.split('=').next().unwrap_or_default();
    word.len() > 3 && options.iter().any(|option| option.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deed(line: &str) -> Option<String> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        git_actions(&words)
            .iter()
            .find(|deed| !matches!(deed, Deed::InFolder(_)))
            .map(|deed| match deed {
                Deed::RedirectsGit(word) | Deed::InFolder(word) => format!("elsewhere: {word}"),
                Deed::ReachesShared(words) => words.clone(),
            })
    }

    #[test]
    fn what_reaches_beyond_the_work_tree_is_told_from_what_does_not() {
        for (line, expected) in [
            ("status", None),
            (
                "-C sub --no-pager -c core.pager=cat stash pop",
                Some("stash"),
            ),
            ("--git-dir=/x status", Some("elsewhere: --git-dir=/x")),
            ("--work-tree /x status", Some("elsewhere: --work-tree")),
            ("-c alias.x=!rm x", Some("elsewhere: alias.x=!rm")),
            (
                "-c Core.WorkTree=/x status",
                Some("elsewhere: Core.WorkTree=/x"),
            ),
            ("--config-env=alias.x=Y x", Some("elsewhere: alias.x=Y")),
            ("reset HEAD a.rs", None),
            ("reset --soft HEAD~1", None),
            ("reset --hard", Some("reset --hard")),
            ("reset --har HEAD~1", Some("reset --har")),
            ("checkout -- a.rs", None),
            ("checkout HEAD -- a.rs", None),
            ("checkout .", None),
            ("checkout ./a.rs", None),
            ("checkout main", Some("checkout main")),
            ("checkout main --", Some("checkout main")),
            ("checkout -b x -- a", Some("checkout -b")),
            ("checkout --detach", Some("checkout --detach")),
            ("checkout -q -", Some("checkout -")),
            ("branch", None),
            ("branch -vv --contains HEAD", None),
            ("branch --show-current", None),
            ("branch -D x", Some("branch -D")),
            ("branch --del x", Some("branch --del")),
            ("branch x", Some("branch x")),
            ("branch --list -D x", Some("branch -D")),
            ("tag", None),
            ("branch --unset-upstream", Some("branch --unset-upstream")),
            ("notes add -m x", Some("notes")),
            ("notes", None),
            ("stash", Some("stash")),
            ("remote", None),
            ("remote -v", None),
            ("remote -v update", Some("remote")),
            ("remote get-url origin", None),
            ("remote show origin", Some("remote")),
            ("remote set-url origin x", Some("remote")),
            ("sparse-checkout set src", Some("sparse-checkout")),
            ("tag -l v*", None),
            ("tag v1", Some("tag v1")),
            ("reflog", None),
            ("reflog expire --all", Some("reflog expire")),
            ("merge-base main HEAD", None),
            ("commit -C HEAD", None),
        ] {
            assert_eq!(deed(line).as_deref(), expected, "{line}");
        }
        assert_eq!(
            git_actions(&["-C".to_owned(), "sub".to_owned()]),
            [Deed::InFolder("sub")]
        );
    }
}
