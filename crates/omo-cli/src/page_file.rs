//! The files of report pages: one that a person named, or one among omo's own files, which are kept for a while.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use omo_core::timestamp::Timestamp;
use omo_plan::digest::sha256_hex;
use omo_process::file_opener;
use omo_state::env::ProcessEnv;
use omo_state::files::folder::{FolderError, GuardedFolder};
use omo_state::search_path::ProjectFolders;
use omo_view::page::project_model::ProjectPage;
use omo_view::page::{PAGE_START, Renewal};
use omo_view::run_view::RunView;

use crate::error::CommandError;
use crate::last_run::LastRun;
use crate::output::print_warning;
use crate::project::Project;

/// The folder of pages in the user's own state folder.
const FOLDER: [&str; 2] = ["omo", "reports"];
/// So many pages are kept there.
const MAX_PAGES: usize = 100;
/// For so long, in seconds: a month, as what is kept of ended runs.
const KEPT_SECONDS: i64 = 31 * 24 * 60 * 60;
/// After so many seconds a page of a run that is followed is loaded again.
const RENEWAL_SECONDS: u32 = 5;
/// So much of the digest of a project's path tells its page from those of others.
const DIGEST_CHARS: usize = 16;

/// The name of the page of a run of a plan.
pub(crate) fn plan_page_name(run: &str) -> String {
    format!("plan-{run}.html")
}

/// The name of the page of an ultrawork run.
pub(crate) fn ultrawork_page_name(run: &LastRun) -> String {
    let began = run.session.ulw.started_at.map(Timestamp::to_file_name).unwrap_or_default();
    format!("ultrawork-{began}-{}.html", run.id)
}

/// The name of the page of all runs of a project.
pub(crate) fn project_page_name(root: &Path) -> String {
    let digest = sha256_hex(root.as_os_str().as_encoded_bytes());
    format!("project-{}.html", digest.get(..DIGEST_CHARS).unwrap_or(&digest))
}

/// Where a page is written.
pub(crate) struct PageFile<'a> {
    pub env: &'a ProcessEnv,
    /// The file that a person named.
    pub named: Option<&'a Path>,
    /// What it is called among omo's own files.
    pub name: String,
}

impl PageFile<'_> {
    /// Puts the page of a run into the place of what was there, and gives the path. Where the run is followed the page
    /// renews itself.
    pub(crate) fn write_run(&self, page: &RunView, is_followed: bool) -> Result<PathBuf, CommandError> {
        let renewal = is_followed.then_some(Renewal { seconds: RENEWAL_SECONDS });
        self.write(omo_view::page::render(page, renewal))
    }

    /// The same with the page of all runs of a project.
    pub(crate) fn write_project(&self, page: &ProjectPage) -> Result<PathBuf, CommandError> {
        self.write(omo_view::page::render_project(page))
    }

    /// Whether a page of this name lies beside it.
    pub(crate) fn has_beside_it(&self, name: &str) -> bool {
        let folder = match self.named {
            Some(file) => Some(folder_of(file).to_owned()),
            None => self.env.state_home.as_ref().map(|home| home.join(FOLDER.iter().collect::<PathBuf>())),
        };
        folder.is_some_and(|folder| folder.join(name).symlink_metadata().is_ok_and(|found| found.is_file()))
    }

    fn write(&self, html: Result<String, impl Display>) -> Result<PathBuf, CommandError> {
        let html = html.map_err(|error| cannot_write(self.named.unwrap_or(Path::new(&self.name)), &error))?;
        match self.named {
            Some(file) => write_file(file, &html),
            None => keep_page(self.env, &self.name, &html),
        }
    }
}

/// Prints where a page is, and shows it where that is wanted.
pub(crate) fn announce_page(env: &ProcessEnv, path: &Path, opens: bool) -> Result<(), CommandError> {
    writeln!(anstream::stdout(), "{}", path.display())?;
    if opens && let Err(error) = open_page(env, path) {
        print_warning(&format!("the page is written, and cannot be opened: {error}"));
    }
    Ok(())
}

/// Shows a page in the browser.
pub(crate) fn open_page(env: &ProcessEnv, page: &Path) -> io::Result<()> {
    let project = Project::find_root(env).map_err(|error| io::Error::other(error.message().to_owned()))?;
    file_opener::show_file(page, &ProjectFolders::from_iter([project]))
}

/// Removes the pages of these runs of plans, and all that are too old. Gives how many it removed.
pub(crate) fn remove_pages(env: &ProcessEnv, runs: &[String]) -> Result<usize, FolderError> {
    let Some(home) = env.state_home.as_deref() else { return Ok(0) };
    let Some(folder) = GuardedFolder::open_user_part(home, &FOLDER)? else { return Ok(0) };
    let names: Vec<String> = runs.iter().map(|run| plan_page_name(run)).collect();
    let mut removed = 0;
    for name in folder.file_names("")? {
        if names.contains(&name) || is_too_old(&folder, &name, env) {
            folder.remove(&name)?;
            removed += 1;
        }
    }
    Ok(removed)
}

fn is_too_old(folder: &GuardedFolder, name: &str, env: &ProcessEnv) -> bool {
    folder.written_at(name).unwrap_or_default() < env.now.as_millis() / 1_000 - KEPT_SECONDS
}

/// Writes a file that a person named. It may hold what the work is about: it is readable by them alone.
fn write_file(file: &Path, html: &str) -> Result<PathBuf, CommandError> {
    let folder = folder_of(file);
    if !folder.is_dir() {
        return Err(cannot_write(file, &"its folder is not there"));
    }
    if let Some(why) = reason_to_keep(file).map_err(|error| cannot_write(file, &error))? {
        return Err(cannot_write(file, &why));
    }
    let written = tempfile::NamedTempFile::new_in(folder)
        .and_then(|mut temporary| temporary.write_all(html.as_bytes()).map(|()| temporary))
        .and_then(|temporary| temporary.persist(file).map_err(|error| error.error));
    written.map_err(|error| cannot_write(file, &error))?;
    Ok(file.to_owned())
}

/// Why what stands at this path may not be replaced: only a page that omo wrote may, and an empty file.
fn reason_to_keep(file: &Path) -> io::Result<Option<&'static str>> {
    match file.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
        Ok(found) if !found.is_file() => return Ok(Some("it is there, and is no regular file")),
        Ok(_) => {}
    }
    let mut start = Vec::new();
    File::open(file)?.take(PAGE_START.len() as u64).read_to_end(&mut start)?;
    let is_replaceable = start.is_empty() || start == PAGE_START.as_bytes();
    Ok((!is_replaceable).then_some("it is there, and is no page that omo wrote"))
}

fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// Keeps a page in the user's own state folder, and forgets those that are too old or too many.
fn keep_page(env: &ProcessEnv, name: &str, html: &str) -> Result<PathBuf, CommandError> {
    let missing = || CommandError::precondition("no folder for the user's own state is known", "name a FILE");
    let folder = GuardedFolder::create_user_part(env.state_home.as_deref().ok_or_else(missing)?, &FOLDER)?;
    // Under a name of its own first: another process may be writing the same page.
    let own_name = format!("{name}.{}", std::process::id());
    folder.replace(&own_name, html.as_bytes())?;
    folder.rename(&own_name, name)?;
    let others = folder.file_names("")?.into_iter().filter(|other| other != name);
    let mut kept: Vec<(i64, String)> =
        others.map(|other| (folder.written_at(&other).unwrap_or_default(), other)).collect();
    kept.sort_unstable();
    let too_many = (kept.len() + 1).saturating_sub(MAX_PAGES);
    for (place, (_, other)) in kept.iter().enumerate() {
        if place < too_many || is_too_old(&folder, other, env) {
            folder.remove(other)?;
        }
    }
    Ok(folder.path().join(name))
}

fn cannot_write(path: &Path, error: &dyn Display) -> CommandError {
    let path = omo_core::text::sanitize(&path.display().to_string(), 300);
    CommandError::io(format!("{path} cannot be written: {error}"), "name another FILE")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_page_or_an_empty_file_is_replaced() {
        let temp = tempfile::tempdir().unwrap();
        let file = |name: &str| temp.path().join(name);
        let write = |name: &str, text: &str| {
            std::fs::write(file(name), text).unwrap();
            write_file(&file(name), "new").is_ok()
        };
        assert!(write_file(&file("new"), "new").is_ok());
        assert!(write("empty", "") && write("page", &format!("{PAGE_START}…")));
        assert!(!write("source.rs", "fn main() {}") && !write("other.html", "<!DOCTYPE html>"));
        assert_eq!(std::fs::read_to_string(file("source.rs")).unwrap(), "fn main() {}");
        let refused = write_file(&file("none/page.html"), "new").unwrap_err();
        assert!(refused.message().contains("its folder is not there"), "{}", refused.message());
        assert!(write_file(temp.path(), "new").is_err());
    }
}
