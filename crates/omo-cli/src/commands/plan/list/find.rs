//! Candidate files of plans: the places of the dialects, and Markdown below `docs`.

use std::collections::BTreeSet;
use std::path::Path;

use omo_git::integrate::ignored_paths;
use omo_git::repository::GitRepository;
use omo_plan::dialects::PlanPlace;
use omo_plan::model::Dialect;

const MAX_ENTRIES: usize = 5_000;
const MAX_DEPTH: usize = 7;
/// Maximum depth of a package, in folders below the root.
const PACKAGE_DEPTH: usize = 3;
const DOCS: &str = "docs";
const LEFT_OUT: [&str; 3] = [".git", "node_modules", "target"];
const ARCHIVE: &str = "openspec/changes/archive";

pub(super) struct PlanSearch {
    /// Sorted candidate paths from the project root: files, and folders of GSD.
    pub paths: BTreeSet<String>,
    pub omissions: Vec<String>,
}

pub(super) fn searched_places() -> Vec<String> {
    let places = Dialect::of_files()
        .flat_map(|dialect| dialect.rules().places())
        .map(ToString::to_string);
    places.chain([format!("{DOCS}/**/*.md")]).collect()
}

/// Looks at the places of the dialects in the project and its packages, each with its own bound. Follows no link.
pub(super) fn find_plans(root: &Path) -> PlanSearch {
    let mut walk = PlanWalk {
        root,
        left: MAX_ENTRIES,
        files: BTreeSet::new(),
        seen: BTreeSet::new(),
        is_cut: false,
        omissions: Vec::new(),
    };
    let places = Dialect::of_files().flat_map(|dialect| dialect.rules().places());
    let (top, places): (Vec<&PlanPlace>, Vec<&PlanPlace>) =
        places.partition(|place| place.folder.is_empty());
    let places: BTreeSet<&str> = places.into_iter().map(|place| place.folder).collect();
    walk.files.extend(
        top.into_iter()
            .map(|place| place.name)
            .filter(|name| {
                root.join(name)
                    .symlink_metadata()
                    .is_ok_and(|found| found.is_file())
            })
            .map(str::to_owned),
    );
    for folder in places.iter().chain([&DOCS]) {
        walk.look_below(&format!("{folder}/"), |walk| walk.enter(folder, MAX_DEPTH));
    }
    let mut in_packages = Vec::new();
    walk.look_below("the folders of the project", |walk| {
        in_packages = walk.find_in_packages(&places);
    });
    walk.look_below("the plans of its packages", |walk| {
        for folder in &in_packages {
            walk.enter(folder, MAX_DEPTH);
        }
    });
    let PlanWalk {
        files, omissions, ..
    } = walk;
    let mut paths = without_ignored(root, files);
    // All files of a GSD folder are one plan.
    let of_folders: Vec<String> = paths
        .iter()
        .filter(|path| Dialect::of_place(path) == Some(Dialect::Gsd))
        .cloned()
        .collect();
    for path in of_folders {
        paths.remove(&path);
        paths.extend(path.rsplit_once('/').map(|(folder, _)| folder.to_owned()));
    }
    PlanSearch { paths, omissions }
}

/// Drops notes that git ignores. A file in a dialect's place stays: many keep the folders of their tools out of git.
fn without_ignored(root: &Path, files: BTreeSet<String>) -> BTreeSet<String> {
    let (placed, notes): (BTreeSet<String>, BTreeSet<String>) = files
        .into_iter()
        .partition(|path| Dialect::of_place(path).is_some());
    let asked: Vec<String> = notes.iter().cloned().collect();
    let ignored = ignored(root, &asked);
    placed
        .into_iter()
        .chain(notes.into_iter().filter(|path| !ignored.contains(path)))
        .collect()
}

fn ignored(root: &Path, paths: &[String]) -> BTreeSet<String> {
    let repository = GitRepository::find(root).filter(|_| !paths.is_empty());
    let ignored = repository
        .and_then(|repository| ignored_paths(&repository, paths).ok())
        .unwrap_or_default();
    ignored.into_iter().collect()
}

struct PlanWalk<'a> {
    root: &'a Path,
    left: usize,
    files: BTreeSet<String>,
    seen: BTreeSet<String>,
    is_cut: bool,
    omissions: Vec<String>,
}

impl PlanWalk<'_> {
    fn look_below(&mut self, folder_words: &str, look: impl FnOnce(&mut Self)) {
        (self.left, self.is_cut) = (MAX_ENTRIES, false);
        look(self);
        if self.is_cut {
            self.omissions.push(format!(
                "only the first {MAX_ENTRIES} entries of {folder_words} were looked at"
            ));
        }
    }

    fn find_in_packages(&mut self, places: &BTreeSet<&str>) -> Vec<String> {
        let mut found = Vec::new();
        let mut level = vec![String::new()];
        for depth in 0..=PACKAGE_DEPTH {
            let mut inner = Vec::new();
            for folder in &level {
                let names = self.folder_names(folder);
                let is_top = depth == 0;
                if is_top {
                    inner.extend(
                        names
                            .into_iter()
                            .filter(|name| name != DOCS && !places.contains(name.as_str()))
                            .filter(|name| !name.starts_with('.')),
                    );
                    continue;
                }
                for place in places {
                    let first = place.split('/').next();
                    if first.is_some_and(|first| names.contains(first)) {
                        found.push(format!("{folder}/{place}"));
                    }
                }
                if depth < PACKAGE_DEPTH {
                    let inner_names = names.iter().filter(|name| !name.starts_with('.'));
                    inner.extend(inner_names.map(|name| format!("{folder}/{name}")));
                }
            }
            // Copies by a build are no packages.
            let ignored = ignored(self.root, &inner);
            inner.retain(|path| !ignored.contains(path));
            level = inner;
        }
        found
    }

    fn folder_names(&mut self, folder: &str) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for entry in std::fs::read_dir(self.root.join(folder))
            .into_iter()
            .flatten()
        {
            if self.left == 0 {
                self.is_cut = true;
                break;
            }
            self.left -= 1;
            let Ok(entry) = entry else { continue };
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            if entry.file_type().is_ok_and(|kind| kind.is_dir())
                && !LEFT_OUT.contains(&name.as_str())
            {
                names.insert(name);
            }
        }
        names
    }

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
        if Path::new(folder).ends_with(ARCHIVE) || !self.seen.insert(folder.to_owned()) {
            return;
        }
        let mut folders = Vec::new();
        for entry in std::fs::read_dir(self.root.join(folder))
            .into_iter()
            .flatten()
        {
            if self.left == 0 {
                self.is_cut = true;
                return;
            }
            self.left -= 1;
            let Ok(entry) = entry else { continue };
            // A name that is not UTF-8 cannot be typed.
            let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else {
                continue;
            };
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
    let is_markdown = Path::new(path)
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("md"));
    let is_below_docs = path
        .strip_prefix(DOCS)
        .is_some_and(|rest| rest.starts_with('/'));
    Dialect::of_place(path).is_some() || is_markdown && is_below_docs
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
                ".sisyphus/plans/a.md",
                "conductor/tracks/a/plan.md",
                "_bmad-output/stories/1-1-a.md",
                "agent-os/specs/a/tasks.md",
                "backlog/tasks/task-1 - A.md",
                "prd.json",
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
            ".sisyphus/plans/a.md",
            ".taskmaster/tasks/tasks.json",
            "_bmad-output/stories/1-1-a.md",
            "agent-os/specs/a/tasks.md",
            "backlog/tasks/task-1 - A.md",
            "conductor/tracks/a/plan.md",
            "docs/plan.md",
            "openspec/changes/a/tasks.md",
            "prd.json",
            "specs/001-a/tasks.md",
        ];
        assert_eq!(found.paths.iter().collect::<Vec<_>>(), expected);
        assert!(found.omissions.is_empty());
    }

    #[test]
    fn plans_of_packages_are_found() {
        let temp = tempfile::tempdir().unwrap();
        write(
            temp.path(),
            &[
                "packages/a/specs/001-a/tasks.md",
                "packages/a/docs/superpowers/plans/a.md",
                "packages/a/docs/notes.md",
                "apps/web/b/.kiro/specs/b/tasks.md",
                "c/openspec/changes/c/tasks.md",
                "c/openspec/changes/archive/old/tasks.md",
                "node_modules/d/specs/001-d/tasks.md",
                ".cache/e/specs/001-e/tasks.md",
                "a/b/c/d/specs/001-f/tasks.md",
            ],
        );
        let found = find_plans(temp.path());
        let expected = [
            "apps/web/b/.kiro/specs/b/tasks.md",
            "c/openspec/changes/c/tasks.md",
            "packages/a/docs/superpowers/plans/a.md",
            "packages/a/specs/001-a/tasks.md",
        ];
        assert_eq!(found.paths.iter().collect::<Vec<_>>(), expected);
        assert!(found.omissions.is_empty());
    }

    #[test]
    fn a_large_folder_keeps_no_other_from_being_looked_at() {
        let temp = tempfile::tempdir().unwrap();
        let plans = [
            "specs/001-a/tasks.md",
            "packages/a/specs/001-a/tasks.md",
            ".taskmaster/tasks/tasks.json",
        ];
        write(temp.path(), &plans);
        std::fs::create_dir(temp.path().join("docs")).unwrap();
        let fill = |count: usize| {
            (0..count).for_each(|number| {
                std::fs::write(temp.path().join(format!("docs/{number}.txt")), "").unwrap();
            });
        };
        fill(MAX_ENTRIES);
        assert!(
            find_plans(temp.path()).omissions.is_empty(),
            "all of it was looked at"
        );
        fill(MAX_ENTRIES + 1);
        let found = find_plans(temp.path());
        assert_eq!(
            found.omissions,
            ["only the first 5000 entries of docs/ were looked at"]
        );
        assert!(
            plans.iter().all(|plan| found.paths.contains(*plan)),
            "{:?}",
            found.paths
        );
    }

    #[cfg(unix)]
    #[test]
    fn no_link_is_followed_and_no_folder_is_too_large() {
        let temp = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        write(elsewhere.path(), &["001-a/tasks.md", "x.md"]);
        std::fs::create_dir(temp.path().join("docs")).unwrap();
        for (target, link) in [("", "specs"), ("", "docs/linked"), ("x.md", "docs/x.md")] {
            std::os::unix::fs::symlink(elsewhere.path().join(target), temp.path().join(link))
                .unwrap();
        }
        std::os::unix::fs::symlink("..", temp.path().join("docs/circle")).unwrap();
        assert!(find_plans(temp.path()).paths.is_empty());

        for number in 0..MAX_ENTRIES {
            std::fs::write(temp.path().join(format!("docs/{number}.txt")), "").unwrap();
        }
        assert_eq!(find_plans(temp.path()).omissions.len(), 1);
    }
}
