//! The files of a project that may be plans: those at the places of the formats, and the Markdown below `docs`.

use std::collections::BTreeSet;
use std::path::Path;

use omo_git::integrate::ignored_paths;
use omo_git::repository::GitRepository;
use omo_plan::model::Dialect;

/// Entries of folders that are looked at in all, and folders in folders.
const MAX_ENTRIES: usize = 5_000;
const MAX_DEPTH: usize = 7;
/// The folder whose Markdown is looked at, whatever its files are called.
const DOCS: &str = "docs";
/// Folders of tools, which hold no plan of this project.
const LEFT_OUT: [&str; 3] = [".git", "node_modules", "target"];
/// Where OpenSpec keeps the changes that are done.
const ARCHIVE: &str = "openspec/changes/archive";

/// What was found.
pub(super) struct PlanSearch {
    /// The paths of what may be plans, from the top of the project, in their order: files, and folders of GSD.
    pub paths: BTreeSet<String>,
    /// There was more than is looked at.
    pub is_cut: bool,
}

/// The places that are looked at, as a user reads them.
pub(super) fn searched_places() -> Vec<String> {
    let places = Dialect::of_files().flat_map(|dialect| dialect.rules().places()).map(ToString::to_string);
    places.chain([format!("{DOCS}/**/*.md")]).collect()
}

/// Looks for plans below the top of a project. No link is followed.
pub(super) fn find_plans(root: &Path) -> PlanSearch {
    let mut walk = PlanWalk { root, left: MAX_ENTRIES, files: BTreeSet::new(), seen: BTreeSet::new() };
    let places = Dialect::of_files().flat_map(|dialect| dialect.rules().places());
    let known: BTreeSet<&str> = places.map(|place| place.folder).chain([DOCS]).collect();
    for folder in known {
        walk.enter(folder, MAX_DEPTH);
    }
    let is_cut = walk.left == 0;
    let mut paths = without_ignored(root, walk.files);
    // The plans of a folder of GSD are one plan.
    let of_folders: Vec<String> =
        paths.iter().filter(|path| Dialect::of_place(path) == Some(Dialect::Gsd)).cloned().collect();
    for path in of_folders {
        paths.remove(&path);
        paths.extend(path.rsplit_once('/').map(|(folder, _)| folder.to_owned()));
    }
    PlanSearch { paths, is_cut }
}

/// Leaves out notes that git ignores. What stands at the place of a format counts all the same: many keep the folders of
/// their tools out of the repository.
fn without_ignored(root: &Path, files: BTreeSet<String>) -> BTreeSet<String> {
    let (placed, notes): (BTreeSet<String>, BTreeSet<String>) =
        files.into_iter().partition(|path| Dialect::of_place(path).is_some());
    let asked: Vec<String> = notes.iter().cloned().collect();
    let repository = GitRepository::find(root).filter(|_| !asked.is_empty());
    let ignored = repository.and_then(|repository| ignored_paths(&repository, &asked).ok()).unwrap_or_default();
    let ignored: BTreeSet<String> = ignored.into_iter().collect();
    placed.into_iter().chain(notes.into_iter().filter(|path| !ignored.contains(path))).collect()
}

struct PlanWalk<'a> {
    root: &'a Path,
    /// Entries that may still be looked at.
    left: usize,
    files: BTreeSet<String>,
    /// Folders that were looked at: one place may lie in another.
    seen: BTreeSet<String>,
}

impl PlanWalk<'_> {
    /// Looks into a folder, where it and those above it are folders and no links.
    fn enter(&mut self, folder: &str, depth: usize) {
        let mut at = self.root.to_owned();
        for part in folder.split('/') {
            at.push(part);
            if !at.symlink_metadata().is_ok_and(|found| found.is_dir()) {
                return;
            }
        }
        self.look_into(folder, depth);
    }

    fn look_into(&mut self, folder: &str, depth: usize) {
        if folder == ARCHIVE || !self.seen.insert(folder.to_owned()) {
            return;
        }
        let mut folders = Vec::new();
        for entry in std::fs::read_dir(self.root.join(folder)).into_iter().flatten() {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            let Ok(entry) = entry else { continue };
            // A name that is no text cannot be typed.
            let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else { continue };
            let path = format!("{folder}/{name}");
            if kind.is_dir() && !LEFT_OUT.contains(&name.as_str()) {
                folders.push(path);
            } else if kind.is_file() && is_candidate(&path) {
                self.files.insert(path);
            }
        }
        folders.sort();
        for inner in folders.iter().filter(|_| depth > 0) {
            self.look_into(inner, depth - 1);
        }
    }
}

fn is_candidate(path: &str) -> bool {
    let is_markdown = || Path::new(path).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"));
    let is_note = || path.strip_prefix(DOCS).is_some_and(|rest| rest.starts_with('/')) && is_markdown();
    Dialect::of_place(path).is_some() || is_note()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, paths: &[&str]) {
        for path in paths {
            let file = root.join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "x").unwrap();
        }
    }

    #[test]
    fn plans_are_looked_for_at_their_places_and_below_docs() {
        let temp = tempfile::tempdir().unwrap();
        write(
            temp.path(),
            &[
                "specs/001-a/tasks.md",
                "specs/001-a/spec.md",
                ".kiro/specs/a/tasks.md",
                "openspec/changes/a/tasks.md",
                "openspec/changes/archive/old/tasks.md",
                ".taskmaster/tasks/tasks.json",
                ".planning/phases/01-a/01-01-PLAN.md",
                ".planning/phases/01-a/01-02-PLAN.md",
                ".planning/phases/01-a/01-01-SUMMARY.md",
                "docs/plan.md",
                "docs/a.txt",
                "docs/node_modules/x/plan.md",
                "src/plan.md",
                "plan.md",
            ],
        );
        let found = find_plans(temp.path());
        let expected = [
            ".kiro/specs/a/tasks.md",
            ".planning/phases/01-a",
            ".taskmaster/tasks/tasks.json",
            "docs/plan.md",
            "openspec/changes/a/tasks.md",
            "specs/001-a/tasks.md",
        ];
        assert_eq!(found.paths.iter().collect::<Vec<_>>(), expected);
        assert!(!found.is_cut);
    }

    #[cfg(unix)]
    #[test]
    fn no_link_is_followed_and_no_folder_is_too_large() {
        let temp = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        write(elsewhere.path(), &["001-a/tasks.md", "x.md"]);
        std::fs::create_dir(temp.path().join("docs")).unwrap();
        for (target, link) in [("", "specs"), ("", "docs/linked"), ("x.md", "docs/x.md")] {
            std::os::unix::fs::symlink(elsewhere.path().join(target), temp.path().join(link)).unwrap();
        }
        std::os::unix::fs::symlink("..", temp.path().join("docs/circle")).unwrap();
        assert!(find_plans(temp.path()).paths.is_empty());

        for number in 0..MAX_ENTRIES {
            std::fs::write(temp.path().join(format!("docs/{number}.txt")), "").unwrap();
        }
        assert!(find_plans(temp.path()).is_cut);
    }
}
