//! Files of a project that count as work, with one id for their content. git only lists them and
//! omo reads them, so that no setting or filter of a repository can hide a change. Times and sizes
//! are cached: without a change nothing is read and git is not started. Works without git, too.

mod cache;
mod content;
mod file_lister;
mod file_stamps;
mod manifest;
mod written_files;

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use omo_core::timestamp::Timestamp;
use omo_state::env;
use omo_state::files::regular_file;
use omo_state::git_worktree::GitWorktree;
use omo_state::seal::hex_digest;

use self::content::{FileEntry, KnownDigests};
use self::manifest::ContentDigest;
use crate::git_command::GitCalls;
use crate::git_output::{list, lossy_text, parts};
use crate::made_folders::{is_cached, left_out_names};
use crate::own_git_dir::RepositorySettings;
use crate::platform::{FileStamp, TreeTop, path_of};
use crate::scope::text_to_path;
use cache::{CachedFiles, FilesCache, source_marks};
use file_lister::FileLister;

pub use crate::scope::LeftOutBy;
pub(crate) use crate::scope::{FileScope, path_to_text};
pub use manifest::FileManifest;
pub use written_files::WrittenFiles;

const LONGEST_READ: Duration = Duration::from_secs(25);
/// More files get no id.
const MAX_FILES: usize = 500_000;
const MAX_DEPTH: usize = 8;
const MAX_RULES_BYTES: u64 = 64 * 1024;
const MAX_TOLD: usize = 200;

/// Reader of a project's files.
#[derive(Clone, Debug)]
pub struct WorkFiles<'a> {
    root: PathBuf,
    state_home: Option<&'a Path>,
    calls: &'a GitCalls,
    /// Name of the run's `FileScope`.
    scope_name: Option<String>,
    scope: OnceCell<Option<FileScope>>,
    unread: OnceLock<Vec<u8>>,
    manifest: RefCell<FileManifest>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilesState {
    /// Equal for equal content only.
    pub id: String,
    /// Differs after any write or move, even one that was undone.
    pub stamps: String,
}

/// Trust in `mtime` and `ctime` of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TimestampTrust {
    /// Files with the same times and size are taken for unchanged.
    Times,
    /// All files are read anew.
    Nothing,
}

/// Settles the files that count in a new run; returns the name for [`WorkFiles::new`].
pub fn settle_scope(root: &Path, state_home: Option<&Path>, calls: &GitCalls) -> Option<String> {
    let files = WorkFiles::new(root, state_home, calls, None);
    files.present_scope(0)?.keep(state_home?)
}

/// Ignores built folders in a folder without a repository.
pub(crate) fn ignore_built(settings: &mut RepositorySettings) {
    for name in left_out_names() {
        settings.ignored.push('\n');
        settings.ignored.push_str(name);
    }
}

impl<'a> WorkFiles<'a> {
    /// Reader of the files of `root`; `scope` is a name from [`settle_scope`].
    pub fn new(
        root: &Path,
        state_home: Option<&'a Path>,
        calls: &'a GitCalls,
        scope: Option<&str>,
    ) -> Self {
        let scope_name = scope.map(str::to_owned);
        Self {
            root: root.to_owned(),
            state_home,
            calls,
            scope_name,
            scope: OnceCell::new(),
            unread: OnceLock::new(),
            manifest: RefCell::default(),
        }
    }

    /// Present id and stamps of the files; `None` where the files cannot be listed or read in time.
    pub fn state(&self) -> Option<FilesState> {
        self.state_at(TimestampTrust::Times, 0, Instant::now() + LONGEST_READ)
    }

    /// Id and contents without trust in times: a program can write to a mapped file and leave its times. Lists of names
    /// cannot change that way.
    pub fn exact_id(&self) -> Option<(String, FileManifest)> {
        self.manifest.take();
        let state = self.state_at(TimestampTrust::Nothing, 0, Instant::now() + LONGEST_READ)?;
        Some((state.id, self.manifest.take()))
    }

    /// Path from the top at which the time ran out, such as a large file or a link to many.
    pub fn unread_path(&self) -> Option<String> {
        const GIB: u64 = 1024 * 1024 * 1024;
        let path = self.unread.get()?;
        let name = lossy_text(path);
        let file = GitWorktree::find(&self.root)
            .map_or_else(|| self.root.clone(), |tree| tree.top)
            .join(path_of(path));
        let size = file
            .symlink_metadata()
            .ok()
            .filter(|found| found.is_file() && found.len() >= GIB);
        Some(size.map_or_else(
            || name.clone(),
            |found| format!("{name} ({} GiB)", found.len() / GIB),
        ))
    }

    /// Recorded top of the work tree, if nothing is there any more, as after a rename.
    pub fn moved_from(&self) -> Option<PathBuf> {
        self.scope()
            .map(FileScope::top)
            .filter(|top| !top.as_os_str().is_empty() && !top.exists())
    }

    /// Paths that only later `.gitignore` lines ignore, from the top; at most `MAX_TOLD`. `since` is the run's start.
    pub fn newly_ignored(&self, since: Option<Timestamp>) -> Vec<String> {
        self.find_newly_ignored(since).unwrap_or_default()
    }

    /// Leaves out paths from the top; `false` without a scope, or where it cannot be kept.
    pub fn leave_out(&mut self, paths: Vec<Vec<u8>>, by: LeftOutBy) -> bool {
        let Some(mut scope) = self.scope().cloned() else {
            return false;
        };
        scope.leave_out(paths.into_iter(), by);
        if Some(&scope) == self.scope() {
            return true;
        }
        let Some(name) = self.state_home.and_then(|home| scope.keep(home)) else {
            return false;
        };
        self.scope_name = Some(name);
        self.scope = OnceCell::from(Some(scope));
        true
    }

    /// Path from the top of the work tree, of a path of the project.
    pub fn path_from_top(&self, path: &str) -> Option<Vec<u8>> {
        let top = self.scope().map(FileScope::top)?;
        let path = self.root.strip_prefix(top).ok()?.join(path);
        Some(path.into_os_string().into_encoded_bytes())
    }

    pub fn scope_name(&self) -> Option<&str> {
        self.scope_name.as_deref()
    }

    /// Left-out paths from the top, without those in cache folders.
    pub fn left_out(&self) -> Vec<String> {
        let paths = self
            .scope()
            .map(|scope| scope.left_out(&BTreeSet::new()))
            .unwrap_or_default();
        let paths = paths.iter().map(|path| lossy_text(path));
        paths.filter(|path| !is_cached(path)).collect()
    }

    /// Digest of the left-out files.
    pub fn left_out_digest(&self) -> String {
        const MAX_BYTES: u64 = 64 * 1024 * 1024;
        let Some(scope) = self.scope() else {
            return String::new();
        };
        let contents: Vec<String> = scope
            .left_out(&BTreeSet::new())
            .iter()
            .map(|path| {
                let bytes =
                    regular_file::read_beginning(&scope.top().join(path_of(path)), MAX_BYTES);
                format!("{}\0{}", path_to_text(path), hex_digest(&bytes))
            })
            .collect();
        if contents.is_empty() {
            String::new()
        } else {
            hex_digest(contents.join("\n").as_bytes())
        }
    }

    fn scope(&self) -> Option<&FileScope> {
        self.scope
            .get_or_init(|| FileScope::load(self.state_home?, self.scope_name.as_deref()?))
            .as_ref()
    }

    fn inner_files(&self, path: &[u8], top: &Path) -> Self {
        let scope_name = self
            .scope_name
            .as_ref()
            .map(|name| format!("{name}/{}", path_to_text(path)));
        let scope = self.scope().map(|scope| scope.inner(path));
        let files = Self::new(&top.join(path_of(path)), self.state_home, self.calls, None);
        Self {
            scope_name,
            scope: OnceCell::from(scope),
            ..files
        }
    }

    fn state_at(
        &self,
        trust: TimestampTrust,
        depth: usize,
        deadline: Instant,
    ) -> Option<FilesState> {
        if depth > MAX_DEPTH {
            return None;
        }
        let memory = FilesCache::open(&self.root, self.state_home?)?;
        let cached = memory
            .read()
            .filter(|cached| cached.scope == self.scope_name);
        let files = match (cached, trust) {
            (Some(cached), TimestampTrust::Times) if cached.is_unchanged() => cached,
            (Some(cached), TimestampTrust::Nothing) if cached.is_list_unchanged() => read_again(
                cached,
                deadline,
                &self.unread,
                &mut self.manifest.borrow_mut(),
            )?,
            (before, TimestampTrust::Times) => {
                self.read_anew(&memory, before.as_ref(), depth, deadline)?
            }
            (_, TimestampTrust::Nothing) => self.read_anew(&memory, None, depth, deadline)?,
        };
        drop(memory);
        self.with_inner(files, trust, depth, deadline)
    }

    fn with_inner(
        &self,
        files: CachedFiles,
        trust: TimestampTrust,
        depth: usize,
        deadline: Instant,
    ) -> Option<FilesState> {
        let top = files.top();
        let mut state = FilesState {
            id: files.id,
            stamps: files.stamps,
        };
        for path in files.inner.iter().map(|path| text_to_path(path)) {
            let at = top.join(path_of(&path));
            let is_empty = fs::read_dir(&at).map_or(true, |mut entries| entries.next().is_none());
            let inner = if is_empty {
                FilesState {
                    id: at.is_dir().to_string(),
                    stamps: String::new(),
                }
            } else {
                let files = self.inner_files(&path, &top);
                let state = files.state_at(trust, depth + 1, deadline);
                if let (None, Some(unread)) = (&state, files.unread.get()) {
                    let _ = self.unread.set([path.as_slice(), b"/", unread].concat());
                }
                self.manifest
                    .borrow_mut()
                    .add_inner(&path, &files.manifest.take());
                state?
            };
            let path = path_to_text(&path);
            state.id = hex_digest(format!("{}\n{path}\0{}", state.id, inner.id).as_bytes());
            state.stamps =
                hex_digest(format!("{}\n{path}\0{}", state.stamps, inner.stamps).as_bytes());
        }
        Some(state)
    }

    fn read_anew(
        &self,
        memory: &FilesCache,
        before: Option<&CachedFiles>,
        depth: usize,
        deadline: Instant,
    ) -> Option<CachedFiles> {
        let since = env::now();
        let asked = self.lister(memory, depth)?;
        let sources = source_marks(asked.tree.as_ref());
        let mut listed = asked.list()?;
        if let Some(scope) = self.scope() {
            listed.files.extend(scope.tracked());
            listed.inner.extend(scope.inner_paths());
            for path in scope.left_out(&listed.tracked) {
                listed.files.remove(&path);
            }
        }
        let mut files: Vec<Vec<u8>> = listed.files.difference(&listed.inner).cloned().collect();
        let folders = file_stamps::list_folders(&asked.top, &files, |folders| {
            let mut ignored = asked.ignored_folders(folders)?;
            ignored.extend(list(
                parts(folders).filter(|path| listed.inner.contains(*path)),
            ));
            Some(ignored)
        });
        add_own_rules(
            &asked.top,
            &mut files,
            folders.as_deref().unwrap_or_default(),
        );
        let entries_before = before
            .and_then(|before| memory.read_entries(before))
            .unwrap_or_default();
        let read = content::read_files(
            &asked.top,
            &files,
            &parse_known(&entries_before),
            deadline,
            &self.unread,
        )?;
        self.manifest.borrow_mut().add(content::digests(&read));
        let seen = file_stamps::digest_stamps(&asked.top, files.iter().map(Vec::as_slice));
        let mut remembered = CachedFiles {
            scope: self.scope_name.clone(),
            top: path_to_text(asked.top.as_os_str().as_encoded_bytes()),
            is_repository: asked.tree.is_some(),
            sources,
            id: content::id_of(&read),
            stamps: seen
                .as_ref()
                .map(|seen| seen.digest.clone())
                .unwrap_or_default(),
            inner: listed.inner.iter().map(|path| path_to_text(path)).collect(),
            ..CachedFiles::default()
        };
        let is_settled = seen.is_some_and(|seen| seen.is_settled(since));
        let folders =
            folders.filter(|_| is_settled && !read.iter().any(|entry| entry.leads_outside));
        remembered.paths = list(&files);
        remembered.files_bytes = remembered.paths.len();
        if let Some(folders) = &folders {
            let seen = file_stamps::digest_stamps(&asked.top, folders.iter().map(Vec::as_slice));
            remembered.folders = seen
                .filter(|seen| seen.is_settled(since))
                .map(|seen| seen.digest);
            remembered.paths.append(&mut list(folders));
        }
        memory.keep(remembered, &entries_to_bytes(&read, since))
    }

    /// Lists the work tree around the project; the project alone where there is none, or it is ignored.
    fn lister<'b>(&'b self, memory: &FilesCache, depth: usize) -> Option<FileLister<'b>> {
        let scope = self.scope();
        // Without the settled scope nothing is known of these files.
        if self.scope_name.is_some() && scope.is_none() {
            return None;
        }
        let settled_top = scope
            .map(FileScope::top)
            .filter(|top| !top.as_os_str().is_empty());
        let tree = match &settled_top {
            Some(top) => {
                GitWorktree::at(top).filter(|_| scope.is_some_and(|scope| scope.is_repository))
            }
            None if depth == 0 => GitWorktree::find(&self.root),
            None => GitWorktree::at(&self.root),
        };
        let around = tree.and_then(|tree| {
            let settings = match scope {
                Some(scope) => scope.settings.clone(),
                None => RepositorySettings::read(&tree, self.calls),
            };
            FileLister::new(tree.top.clone(), Some(tree), memory, settings, self.calls)
        });
        let is_settled = settled_top.is_some();
        if let Some(asked) = around.filter(|asked| is_settled || !self.is_ignored_by(asked)) {
            return Some(asked);
        }
        let mut settings = scope
            .map(|scope| scope.settings.clone())
            .unwrap_or_default();
        if depth == 0 && !scope.is_some_and(|scope| scope.is_repository) {
            ignore_built(&mut settings);
        }
        FileLister::new(
            settled_top.unwrap_or_else(|| self.root.clone()),
            None,
            memory,
            settings,
            self.calls,
        )
    }

    fn is_ignored_by(&self, asked: &FileLister) -> bool {
        let path = self
            .root
            .strip_prefix(&asked.top)
            .map(|path| path.as_os_str().as_encoded_bytes())
            .unwrap_or_default();
        !path.is_empty()
            && asked
                .ignored_folders(&list([path]))
                .is_some_and(|ignored| !ignored.is_empty())
    }

    /// `FileScope` as of now.
    fn present_scope(&self, depth: usize) -> Option<FileScope> {
        let memory = FilesCache::open(&self.root, self.state_home?)?;
        let asked = self.lister(&memory, depth)?;
        let listed = asked.list()?;
        let tree = asked.tree.as_ref();
        let mut settings = tree.map(|_| asked.settings.clone()).unwrap_or_default();
        if depth > 0 && tree.is_none() {
            settings.ignored.clear();
        }
        let mut scope = FileScope::new(&asked.top, tree.is_some(), settings);
        scope.set_tracked(listed.tracked.iter().map(Vec::as_slice));
        let absent = listed
            .unwatched
            .iter()
            .filter(|path| asked.top.join(path_of(path)).symlink_metadata().is_err());
        scope.set_absent(absent.map(Vec::as_slice));
        for path in listed.files.iter().filter(|path| is_rules(path)) {
            scope.rules.insert(
                path_to_text(path),
                read_rules(&asked.top.join(path_of(path))),
            );
        }
        let top = asked.top.clone();
        drop(memory);
        for path in &listed.inner {
            let inner = self.inner_files(path, &top);
            if depth < MAX_DEPTH && inner.root.join(".git").exists() {
                scope.set_inner(path, inner.present_scope(depth + 1)?);
            }
        }
        Some(scope)
    }

    fn find_newly_ignored(&self, since: Option<Timestamp>) -> Option<Vec<String>> {
        let memory = FilesCache::open(&self.root, self.state_home?)?;
        let asked = self.lister(&memory, 0)?;
        let rules = self.scope().map(|scope| &scope.rules);
        let arguments = [
            "status",
            "--porcelain",
            "-z",
            "--ignored=matching",
            "--untracked-files=all",
            "--ignore-submodules=all",
        ];
        let status = asked.git(&arguments, &[])?;
        let ignored = parts(&status).filter_map(|line| line.strip_prefix(b"!! "));
        let paths = list(ignored);
        if paths.is_empty() {
            return Some(Vec::new());
        }
        let output = asked.git(
            &["check-ignore", "-v", "-z", "--no-index", "--stdin"],
            &paths,
        )?;
        let mut newly_ignored: Vec<String> = rules
            .iter()
            .flat_map(|rules| rules.iter())
            .flat_map(|rule| no_longer_as_written(&asked.top, rule))
            .collect();
        newly_ignored.truncate(MAX_TOLD);
        let fields: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
        // File and line of the rule, its pattern, and its path.
        for fields in fields.chunks_exact(4) {
            let [source, _, pattern, path] = fields else {
                continue;
            };
            if !is_rules(source) || newly_ignored.len() == MAX_TOLD {
                continue;
            }
            let pattern = lossy_text(pattern);
            let is_old = match rules.and_then(|rules| rules.get(&path_to_text(source))) {
                Some(rules) => rules.lines().any(|line| line.trim_end() == pattern),
                // For a file that ignores itself: the time of its last change cannot be set back.
                None => since.is_some_and(|since| is_older(&asked.top, source, since)),
            };
            if !is_old {
                newly_ignored.push(lossy_text(path));
            }
        }
        Some(newly_ignored)
    }
}

fn is_older(top: &Path, path: &[u8], since: Timestamp) -> bool {
    let stamp = TreeTop::open(top).and_then(|top| top.look(path)).flatten();
    stamp.is_some_and(|stamp| file_stamps::is_stamp_settled(&stamp, since))
}

fn is_rules(path: &[u8]) -> bool {
    path == b".gitignore" || path.ends_with(b"/.gitignore")
}

fn read_rules(path: &Path) -> String {
    lossy_text(&regular_file::read_beginning(path, MAX_RULES_BYTES))
}

/// Lines of a `.gitignore`, without empty ones and comments.
fn rules_in(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Lines of a `.gitignore` that brought files back and are gone, and a note where the others stand in another order:
/// the last matching one decides.
fn no_longer_as_written(top: &Path, (source, before): (&String, &String)) -> Vec<String> {
    let now = read_rules(&top.join(path_of(&text_to_path(source))));
    let (old, new): (HashSet<&str>, HashSet<&str>) =
        (rules_in(before).collect(), rules_in(&now).collect());
    let removed_rules = rules_in(before)
        .filter(|line| line.starts_with('!') && !new.contains(line))
        .map(|line| format!("what `{line}` in {source} had brought back"));
    let remaining_rules = rules_in(before).filter(|line| new.contains(line));
    let is_reordered = !remaining_rules.eq(rules_in(&now).filter(|line| old.contains(line)));
    let reordered = is_reordered
        .then(|| format!("what {source} had brought back: its lines stand in another order"));
    removed_rules.chain(reordered).collect()
}

/// A `.gitignore` counts, even where it ignores itself.
fn add_own_rules(top: &Path, files: &mut Vec<Vec<u8>>, folders: &[Vec<u8>]) {
    let own_ignores = folders.iter().map(|folder| match folder.as_slice() {
        b"." => b".gitignore".to_vec(),
        folder => [folder, b"/.gitignore"].concat(),
    });
    let mut own_ignores: Vec<_> = own_ignores
        .filter(|path| {
            files.binary_search(path).is_err() && top.join(path_of(path)).symlink_metadata().is_ok()
        })
        .collect();
    files.append(&mut own_ignores);
    files.sort_unstable();
}

fn read_again(
    mut remembered: CachedFiles,
    deadline: Instant,
    unread: &OnceLock<Vec<u8>>,
    manifest: &mut FileManifest,
) -> Option<CachedFiles> {
    let mut files: Vec<&[u8]> = Vec::with_capacity(remembered.file_paths().count());
    files.extend(remembered.file_paths());
    remembered.id = content::exact_id(&remembered.top(), &files, deadline, unread, manifest)?;
    Some(remembered)
}

/// Path, stamp and digest of each file, without those that changed a moment ago.
fn entries_to_bytes(entries: &[FileEntry], since: Timestamp) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in entries.iter().filter(|entry| !entry.leads_outside) {
        let stamp = entry
            .stamp
            .filter(|stamp| file_stamps::is_stamp_settled(stamp, since));
        if let (Some(stamp), Some(digest)) = (stamp, entry.digest) {
            bytes.extend_from_slice(&entry.path);
            bytes.push(0);
            bytes.extend_from_slice(&stamp.to_bytes());
            bytes.extend_from_slice(&digest);
        }
    }
    bytes
}

fn parse_known(bytes: &[u8]) -> KnownDigests<'_> {
    let (mut known, mut rest) = (KnownDigests::new(), bytes);
    while let Some((path, stamp, digest)) = next_entry(&mut rest) {
        known.insert(path, (stamp, digest));
    }
    known
}

fn next_entry<'b>(rest: &mut &'b [u8]) -> Option<(&'b [u8], &'b [u8], ContentDigest)> {
    let (path, after) = rest.split_at_checked(rest.iter().position(|byte| *byte == 0)?)?;
    let (stamp, after) = after.get(1..)?.split_at_checked(FileStamp::BYTES)?;
    let (digest, after) = after.split_first_chunk()?;
    *rest = after;
    Some((path, stamp, *digest))
}
