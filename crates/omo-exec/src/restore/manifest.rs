//! What a work tree held at one moment, as plain data, and what has to be done to have it so again.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// The path of a file from the top of its work tree, as git writes it: bytes, with `/` between its parts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub(crate) struct Name(pub(crate) Vec<u8>);

/// In JSON each byte is the character of its number: plain paths stay readable, and none is lost.
impl From<String> for Name {
    fn from(text: String) -> Self {
        Self(text.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap_or(b'?')).collect())
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0.into_iter().map(char::from).collect()
    }
}

impl Name {
    /// Whether it is that path or lies below it.
    pub(crate) fn is_at_or_below(&self, folder: &[u8]) -> bool {
        let folder = folder.strip_suffix(b"/").unwrap_or(folder);
        let rest = self.0.strip_prefix(folder);
        folder.is_empty() || rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'/')))
    }
}

/// What has a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Entry {
    /// A file: who may do what with it, and the digest of its bytes.
    File { mode: u32, content: String },
    /// A link, and where it points.
    Link { target: Name },
    /// Something that cannot be kept: a FIFO say.
    Other,
}

/// What a work tree held.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Manifest {
    /// The files that git knows, and the new ones that it does not ignore.
    pub(crate) entries: BTreeMap<Name, Entry>,
    /// What git ignored, folders as a whole: never touched.
    pub(crate) ignored: BTreeSet<Name>,
    /// Repositories within the work tree: never touched.
    pub(crate) nested: BTreeSet<Name>,
    /// The digest of the index file; `None` where there was none.
    pub(crate) index: Option<String>,
    /// The commit that was checked out.
    pub(crate) head: Option<String>,
}

/// Which differences are taken back.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scope<'a> {
    /// All of them.
    All,
    /// Those that came about until this moment, but for what was changed again since.
    Until(&'a Manifest),
    /// Those at or below these paths.
    Paths(&'a [Name]),
}

/// What has to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Steps {
    /// What is removed, because it was not there.
    pub(crate) remove: BTreeSet<Name>,
    /// What is written as it was.
    pub(crate) put: BTreeSet<Name>,
    /// What was changed again since: it stays.
    pub(crate) others: BTreeSet<Name>,
    /// What differs and cannot be taken back.
    pub(crate) uncovered: BTreeSet<Name>,
}

/// What has to be done so that the work tree holds again what it held `before`.
pub(crate) fn steps(before: &Manifest, now: &Manifest, scope: Scope<'_>) -> Steps {
    let mut steps = Steps::default();
    let names: BTreeSet<&Name> = before.entries.keys().chain(now.entries.keys()).collect();
    for name in names {
        let (was, is) = (before.entries.get(name), now.entries.get(name));
        if was == is {
            continue;
        }
        let goes_into = match (choice(name, (was, is), scope), was) {
            (Choice::NotAsked, _) => continue,
            (Choice::Others, _) => &mut steps.others,
            (Choice::Ours, Some(Entry::Other)) => &mut steps.uncovered,
            (Choice::Ours, Some(_)) => &mut steps.put,
            // It was there, and ignored: a changed `.gitignore` shows it now.
            (Choice::Ours, None) if is_within(name, &before.ignored) => &mut steps.uncovered,
            (Choice::Ours, None) if is_within(name, &before.nested) => &mut steps.uncovered,
            (Choice::Ours, None) => &mut steps.remove,
        };
        goes_into.insert(name.clone());
    }
    steps.uncovered.extend(now.nested.difference(&before.nested).cloned());
    steps
}

/// Whose a difference is.
enum Choice {
    Ours,
    Others,
    NotAsked,
}

fn choice(name: &Name, (was, is): (Option<&Entry>, Option<&Entry>), scope: Scope<'_>) -> Choice {
    match scope {
        Scope::All => Choice::Ours,
        Scope::Paths(paths) if paths.iter().any(|path| name.is_at_or_below(&path.0)) => Choice::Ours,
        Scope::Paths(_) => Choice::NotAsked,
        Scope::Until(after) => match after.entries.get(name) {
            then if then == was => Choice::NotAsked,
            then if then == is => Choice::Ours,
            _ => Choice::Others,
        },
    }
}

fn is_within(name: &Name, folders: &BTreeSet<Name>) -> bool {
    folders.iter().any(|folder| name.is_at_or_below(&folder.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name(text.as_bytes().to_vec())
    }

    /// `path=content`, with a space between them.
    fn holding(files: &str) -> Manifest {
        let entry = |file: &str| {
            let (path, content) = file.split_once('=').unwrap();
            (name(path), Entry::File { mode: 0o644, content: content.to_owned() })
        };
        Manifest { entries: files.split_whitespace().map(entry).collect(), ..Manifest::default() }
    }

    fn shown(names: &BTreeSet<Name>) -> String {
        names.iter().map(|name| String::from(name.clone())).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn only_what_is_ours_is_taken_back() {
        let before = holding("a=1 b=1 c=1 d=1");
        let after = holding("a=2 b=2 c=1 d=1 new=1 later=1");
        let now = holding("a=2 b=3 c=2 new=1 later=2 other=1");
        let paths = [name("c"), name("new")];
        for (scope, remove, put, others) in [
            (Scope::All, "later new other", "a b c d", ""),
            (Scope::Until(&after), "new", "a", "b later"),
            (Scope::Paths(&paths), "new", "c", ""),
        ] {
            let steps = steps(&before, &now, scope);
            assert_eq!(
                (shown(&steps.remove), shown(&steps.put), shown(&steps.others)),
                (remove.to_owned(), put.to_owned(), others.to_owned()),
                "{scope:?}"
            );
        }
    }

    #[test]
    fn what_was_ignored_is_not_removed_when_it_shows() {
        let before = Manifest { ignored: [name("target/"), name(".env")].into(), ..holding("a=1") };
        let steps = steps(&before, &holding("a=1 .env=1 target/x=1 .env2=1"), Scope::All);
        assert_eq!((shown(&steps.remove), shown(&steps.uncovered)), (".env2".to_owned(), ".env target/x".to_owned()));
    }

    #[test]
    fn no_name_is_lost_in_json() {
        let odd = Name((1..=255).collect());
        let text = serde_json::to_string(&odd).unwrap();
        assert_eq!(serde_json::from_str::<Name>(&text).unwrap(), odd);
    }
}
