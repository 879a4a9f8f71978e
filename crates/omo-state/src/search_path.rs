//! Program search path (`PATH`): finds programs, and leaves out folders that lead into projects.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use crate::env;
use crate::platform::PROGRAM_ENDINGS;

const MAX_LINKS: usize = 40;

/// Absolute folders, in order; relative ones and `/proc/self/cwd`, which depend on the process, are
/// left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchPath(Vec<SearchFolder>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct SearchFolder {
    named: PathBuf,
    real: PathBuf,
}

impl SearchPath {
    pub fn from_variables(variables: &[(OsString, OsString)]) -> Self {
        let path = variables
            .iter()
            .find(|(name, _)| env::is_variable_named(name, "PATH"))
            .map(|(_, value)| value);
        path.map(std::env::split_paths)
            .into_iter()
            .flatten()
            .collect()
    }

    pub fn from_process() -> Self {
        Self::from_variables(&env::variables())
    }

    /// Without folders that lead into `project` by another name; its plain ones, as of a virtual
    /// environment, stay.
    #[must_use]
    pub fn without_disguised_folders(mut self, project: &Path) -> Self {
        let top = resolve_links(project);
        self.0.retain(|SearchFolder { named, real }| {
            !real.starts_with(&top) || named.starts_with(project) || named.starts_with(&top)
        });
        self
    }

    /// Without folders that lead into these projects, by whatever name.
    #[must_use]
    pub fn outside(mut self, projects: &ProjectFolders) -> Self {
        self.0
            .retain(|SearchFolder { named, real }| !projects.hold(named, real));
        self
    }

    #[must_use]
    pub fn filtered(mut self, mut is_kept: impl FnMut(&Path) -> bool) -> Self {
        self.0.retain(|place| is_kept(&place.named));
        self
    }

    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(|place| &*place.named)
    }

    /// Text for `PATH`; `None` without folders, since an empty `PATH` means the current folder.
    pub fn joined(&self) -> Option<OsString> {
        std::env::join_paths(self.folders())
            .ok()
            .filter(|path| !path.is_empty())
    }

    pub fn find_all(&self, program: &str) -> impl Iterator<Item = PathBuf> {
        let names = PROGRAM_ENDINGS.map(|ending| format!("{program}{ending}"));
        self.folders().filter_map(move |folder| {
            names
                .iter()
                .map(|name| folder.join(name))
                .find(|file| file.is_file())
        })
    }

    /// Path of a program in the first folder that has it.
    pub fn find(&self, program: &str) -> Option<PathBuf> {
        self.find_all(program).next()
    }
}

/// Folders of projects, whose files are never taken for the user's programs.
#[derive(Clone, Debug, Default)]
pub struct ProjectFolders(Vec<SearchFolder>);

impl ProjectFolders {
    /// `true` for a path in one of the projects, with links resolved.
    pub fn contain(&self, path: &Path) -> bool {
        self.hold(path, &resolve_links(path))
    }

    fn hold(&self, named: &Path, real: &Path) -> bool {
        self.0
            .iter()
            .any(|project| named.starts_with(&project.named) || real.starts_with(&project.real))
    }
}

impl FromIterator<PathBuf> for ProjectFolders {
    fn from_iter<Folders: IntoIterator<Item = PathBuf>>(folders: Folders) -> Self {
        Self(
            folders
                .into_iter()
                .map(|named| SearchFolder {
                    real: resolve_links(&named),
                    named,
                })
                .collect(),
        )
    }
}

impl FromIterator<PathBuf> for SearchPath {
    fn from_iter<Folders: IntoIterator<Item = PathBuf>>(folders: Folders) -> Self {
        let mut links = LinkCache::default();
        let places = folders.into_iter().filter_map(|named| {
            let real = links.resolve(&named).filter(|_| named.is_absolute())?;
            Some(SearchFolder { named, real })
        });
        Self(places.collect())
    }
}

/// Cache of link targets: folders of a `PATH` share most of their parents.
#[derive(Default)]
struct LinkCache(BTreeMap<PathBuf, Option<PathBuf>>);

impl LinkCache {
    /// Real path; `None` through `/proc` or `/dev/fd`, which differ for each process.
    fn resolve(&mut self, path: &Path) -> Option<PathBuf> {
        let (mut remaining, mut at, mut count) = (reversed_parts(path), PathBuf::new(), 0);
        while let Some(part) = remaining.pop() {
            match Path::new(&part).components().next() {
                Some(Component::ParentDir) => _ = at.pop(),
                Some(Component::CurDir) | None => {}
                Some(_) => at.push(&part),
            }
            if [Path::new("/proc"), Path::new("/dev/fd")].contains(&at.as_path()) {
                return None;
            }
            if let Some(to) = self.link(&at) {
                count += 1;
                at.pop();
                // An absolute target begins with the root.
                remaining.extend(reversed_parts(to));
            }
            if count > MAX_LINKS {
                return None;
            }
        }
        Some(at)
    }

    fn link(&mut self, at: &Path) -> Option<&Path> {
        self.0
            .entry(at.to_owned())
            .or_insert_with(|| at.read_link().ok())
            .as_deref()
    }
}

fn reversed_parts(path: &Path) -> Vec<OsString> {
    path.components()
        .rev()
        .map(|part| part.as_os_str().to_owned())
        .collect()
}

/// `true` where `path` is below `folder`, with links resolved.
pub fn leads_into(path: &Path, folder: &Path) -> bool {
    path.starts_with(folder) || resolve_links(path).starts_with(resolve_links(folder))
}

/// Path with links resolved; a missing one stays as it is.
pub fn resolve_links(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn no_entry_of_the_path_hides_where_it_leads() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        let (project, link, here) = (base.join("project"), base.join("link"), base.join("here"));
        let own = project.join(".bin");
        std::fs::create_dir_all(&own).unwrap();
        std::fs::create_dir(base.join("other")).unwrap();
        symlink(&own, &link).unwrap();
        symlink("/proc/self/cwd", &here).unwrap();
        symlink(base.join("loop"), base.join("loop")).unwrap();
        let entries = "/proc/self/cwd/.bin:/proc/thread-self/cwd:/proc/1/root/x:/dev/fd/3:/usr/../proc/self/cwd:.::.bin:\
                       //proc/self/cwd:/tmp/./../proc/self/cwd:/usr/bin:/not/there";
        let mut entries: Vec<PathBuf> = entries.split(':').map(PathBuf::from).collect();
        let later = link.join("not/there/yet");
        entries.extend([
            link,
            later,
            base.join("loop"),
            here.join(".bin"),
            base.join("other/../project/.bin"),
        ]);
        entries.push(own.clone());
        let path = std::env::join_paths(entries).unwrap();
        let search = SearchPath::from_variables(&[("PATH".into(), path)])
            .without_disguised_folders(&project);
        assert_eq!(
            search.folders().collect::<Vec<_>>(),
            [Path::new("/usr/bin"), Path::new("/not/there"), &own]
        );
        let outside = search.outside(&ProjectFolders::from_iter([project]));
        assert_eq!(
            outside.folders().collect::<Vec<_>>(),
            [Path::new("/usr/bin"), Path::new("/not/there")]
        );
        assert_eq!(
            outside.joined().as_deref(),
            Some("/usr/bin:/not/there".as_ref())
        );
        assert_eq!(SearchPath::default().joined(), None);
    }
}
