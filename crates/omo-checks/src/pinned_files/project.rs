//! Where a path leads, seen from the project.

use std::path::{Component, Path, PathBuf};

use omo_state::search_path::resolve_links;

/// The folder that is judged.
pub(super) struct Project<'a> {
    pub(super) root: &'a Path,
    /// Without links: a command may name the one and be run in the other.
    real: PathBuf,
    /// The home of its user.
    pub(super) home: Option<PathBuf>,
}

impl<'a> Project<'a> {
    pub(super) fn new(root: &'a Path, home: Option<PathBuf>) -> Self {
        Self { root, real: resolve_links(root), home }
    }

    /// A path in its plain form; below the root by the name that the root has, where it lies in the project.
    pub(super) fn resolve(&self, path: &Path) -> PathBuf {
        let path = normalize(path);
        if path.starts_with(self.root) {
            return path;
        }
        // What is not there yet is where the folder above it is.
        let there = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
        let inside = there.and_then(|(above, found)| {
            let below = found.strip_prefix(&self.real).ok()?.to_owned();
            Some(self.root.join(below).join(path.strip_prefix(above).ok()?))
        });
        inside.map_or(path, |inside| normalize(&inside))
    }

    /// A path from the project's top, as git writes it; `None` outside of it.
    pub(super) fn name(&self, path: &Path) -> Option<String> {
        let path = self.resolve(path);
        let parts = path.strip_prefix(self.root).ok()?.components();
        let name: Vec<_> = parts.map(|part| part.as_os_str().to_string_lossy()).collect();
        Some(name.join("/")).filter(|name| !name.is_empty())
    }

    /// Whether a folder may be listed: it lies in the project, and no link leads out of it.
    pub(super) fn holds(&self, folder: &Path) -> bool {
        folder.canonicalize().is_ok_and(|folder| folder.starts_with(&self.real))
    }

    /// What `git rev-parse --show-toplevel` prints in a folder.
    pub(super) fn top_level(&self, folder: &Path) -> PathBuf {
        let top = folder.ancestors().find(|above| above.join(".git").exists());
        top.unwrap_or(self.root).to_owned()
    }
}

/// A path without `.` and `..`, as far as its names say.
fn normalize(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => _ = plain.pop(),
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;

    use omo_core::check::session_check::{Check, CheckOrigin};

    use super::*;
    use crate::pinned_files::find_pins;
    use crate::pinned_files::tests::pins_below;
    use omo_state::search_path::SearchPath;

    #[test]
    fn a_project_is_the_same_by_each_of_its_names() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        let (real, link) = (base.join("real"), base.join("link"));
        std::fs::create_dir(&real).unwrap();
        symlink(&real, &link).unwrap();
        std::fs::write(real.join("Makefile"), "x").unwrap();
        for (root, named) in [(&real, &link), (&link, &real)] {
            for run in
                [format!("cd {} && make check", named.display()), format!("make -f {}/Makefile", named.display())]
            {
                let pins = pins_below(root, &run, None);
                assert!(pins.contains_key("Makefile"), "{run}: {pins:?}");
            }
            assert_eq!(Project::new(root, None).name(&named.join("later/x")).as_deref(), Some("later/x"));
        }
    }

    #[test]
    fn a_program_that_a_link_leads_to_is_pinned() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        let (project, single) = (base.join("project"), base.join("single"));
        std::fs::create_dir(&project).unwrap();
        std::fs::create_dir(&single).unwrap();
        std::fs::write(project.join("tool"), "x").unwrap();
        symlink(project.join("tool"), single.join("tool")).unwrap();
        let search: SearchPath = [single].into_iter().collect();
        let check = Check::new(None, "tool", CheckOrigin::User).unwrap();
        assert!(find_pins(&check, &project, &search).contains_key("tool"));
    }
}
