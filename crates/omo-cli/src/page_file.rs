//! `PageFile`: a report page, written to a file that a person named, or kept in omo's own folder for a month.

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
use omo_view::page::{PAGE_START, PageReload};
use omo_view::run_view::RunView;

use crate::error::CommandError;
use crate::last_run::LastRun;
use crate::output::print_warning;
use crate::project::Project;

const FOLDER: [&str; 2] = ["omo", "reports"];
const MAX_PAGES: usize = 100;
const MAX_PAGE_BYTES: u64 = 64 * 1024 * 1024;
const MAX_FOLDER_CHARS: usize = 40;
const MIN_NAME_CHARS: usize = 4;
/// Maximum age in seconds: a month, as for records of ended runs.
const KEPT_SECONDS: i64 = 31 * 24 * 60 * 60;
const RENEWAL_SECONDS: u32 = 5;
const DIGEST_CHARS: usize = 16;

pub(crate) fn plan_page_name(run: &str) -> String {
    format!("plan-{run}.html")
}

pub(crate) fn ultrawork_page_name(run: &LastRun) -> String {
    let began = run
        .session
        .ulw
        .started_at
        .map(Timestamp::to_file_name)
        .unwrap_or_default();
    format!("ultrawork-{began}-{}.html", run.id)
}

pub(crate) fn project_page_name(root: &Path) -> String {
    let digest = sha256_hex(root.as_os_str().as_encoded_bytes());
    format!(
        "project-{}.html",
        digest.get(..DIGEST_CHARS).unwrap_or(&digest)
    )
}

pub(crate) struct PageFile<'a> {
    pub env: &'a ProcessEnv,
    pub file: Option<&'a Path>,
    pub name: String,
}

impl PageFile<'_> {
    pub(crate) fn write_run(
        &self,
        page: &RunView,
        is_followed: bool,
    ) -> Result<PathBuf, CommandError> {
        let renewal = is_followed.then_some(PageReload {
            seconds: RENEWAL_SECONDS,
        });
        self.write(omo_view::page::render(page, renewal))
    }

    pub(crate) fn write_project(&self, page: &ProjectPage) -> Result<PathBuf, CommandError> {
        self.write(omo_view::page::render_project(page))
    }

    pub(crate) fn find_other_page(&self, name: &str) -> Option<String> {
        if let Some(file) = self.file {
            let found = folder_of(file).join(name).symlink_metadata();
            return found
                .is_ok_and(|found| found.is_file())
                .then(|| name.to_owned());
        }
        let folder =
            GuardedFolder::open_user_part(self.env.state_home.as_deref()?, &FOLDER).ok()??;
        // Older versions keep the pages of all projects in one folder: such a page moves to its project's folder.
        if let Ok(Some(html)) = folder.read(name, MAX_PAGE_BYTES) {
            keep_page(self.env, name, &String::from_utf8_lossy(&html)).ok()?;
            folder.remove(name).ok()?;
        }
        let folder = folder.open_folder(&project_folder_name(self.env)).ok()??;
        let short = short_name(&folder, name);
        folder.written_at(&short).map(|_| short)
    }

    fn write(&self, html: Result<String, impl Display>) -> Result<PathBuf, CommandError> {
        let html =
            html.map_err(|error| cannot_write(self.file.unwrap_or(Path::new(&self.name)), &error))?;
        match self.file {
            Some(file) => write_file(file, &html),
            None => keep_page(self.env, &self.name, &html),
        }
    }
}

pub(crate) fn announce_page(
    env: &ProcessEnv,
    path: &Path,
    opens: bool,
) -> Result<(), CommandError> {
    writeln!(anstream::stdout(), "{}", path.display())?;
    if opens && let Err(error) = open_page(env, path) {
        print_warning(&format!(
            "the page is written, and cannot be opened: {error}"
        ));
    }
    Ok(())
}

pub(crate) fn open_page(env: &ProcessEnv, page: &Path) -> io::Result<()> {
    let project =
        Project::find_root(env).map_err(|error| io::Error::other(error.message().to_owned()))?;
    file_opener::show_file(page, &ProjectFolders::from_iter([project]))
}

pub(crate) fn remove_pages(env: &ProcessEnv, runs: &[String]) -> Result<usize, FolderError> {
    let Some(home) = env.state_home.as_deref() else {
        return Ok(0);
    };
    let Some(folder) = GuardedFolder::open_user_part(home, &FOLDER)? else {
        return Ok(0);
    };
    let names: Vec<String> = runs.iter().map(|run| plan_page_name(run)).collect();
    let mut removed = 0;
    let projects = folder
        .file_names("")?
        .into_iter()
        .filter_map(|name| folder.open_folder(&name).ok().flatten());
    for folder in projects.collect::<Vec<_>>().iter().chain([&folder]) {
        for file in folder.file_names("")? {
            let is_named =
                names.contains(&file) || names.iter().any(|name| is_page_of(folder, &file, name));
            if folder.path().join(&file).is_file() && (is_named || is_too_old(folder, &file, env)) {
                folder.remove(&file)?;
                removed += 1;
            }
        }
    }
    Ok(removed)
}

fn project_folder_name(env: &ProcessEnv) -> String {
    let root = Project::find_root(env).unwrap_or_default();
    let name = root.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name
        .chars()
        .map(|char| {
            if char.is_ascii_alphanumeric() || matches!(char, '-' | '_') {
                char
            } else {
                '-'
            }
        })
        .take(MAX_FOLDER_CHARS)
        .collect();
    if name.is_empty() {
        "project".to_owned()
    } else {
        name
    }
}

/// A short file name such as `3f2a.html`: the present one of this page, or an unused one.
fn short_name(folder: &GuardedFolder, name: &str) -> String {
    let digest = sha256_hex(name.as_bytes());
    let mut names = (MIN_NAME_CHARS..=DIGEST_CHARS)
        .filter_map(|length| Some(format!("{}.html", digest.get(..length)?)));
    names
        .find(|short| folder.written_at(short).is_none() || is_page_of(folder, short, name))
        .unwrap_or_else(|| format!("{digest}.html"))
}

fn is_page_of(folder: &GuardedFolder, file: &str, name: &str) -> bool {
    let mark = page_mark(name);
    folder
        .read_end(file, mark.len() as u64)
        .ok()
        .flatten()
        .is_some_and(|end| end.ends_with(mark.as_bytes()))
}

fn page_mark(name: &str) -> String {
    format!("\n<!-- {name} -->\n")
}

fn is_too_old(folder: &GuardedFolder, name: &str, env: &ProcessEnv) -> bool {
    folder.written_at(name).unwrap_or_default() < env.now.as_millis() / 1_000 - KEPT_SECONDS
}

/// Writes a file that a person named, readable by its owner alone: pages may show private work.
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

/// Reason against replacing a path: only a page by omo and an empty file may go.
fn reason_to_keep(file: &Path) -> io::Result<Option<&'static str>> {
    match file.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
        Ok(found) if !found.is_file() => return Ok(Some("it is there, and is not a regular file")),
        Ok(_) => {}
    }
    let mut start = Vec::new();
    File::open(file)?
        .take(PAGE_START.len() as u64)
        .read_to_end(&mut start)?;
    let is_replaceable = start.is_empty() || start == PAGE_START.as_bytes();
    Ok((!is_replaceable).then_some("it is there, and is not a page that omo wrote"))
}

fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

fn keep_page(env: &ProcessEnv, name: &str, html: &str) -> Result<PathBuf, CommandError> {
    let home = env.state_home.as_deref().ok_or_else(|| {
        CommandError::precondition("no folder for the user's own state is known", "name a FILE")
    })?;
    let folder = GuardedFolder::create_user_part(home, &FOLDER)?;
    let folder = folder.create_folder(&project_folder_name(env))?;
    let short = short_name(&folder, name);
    // A temporary name first: another process may be writing the same page.
    let temporary_name = format!("{short}.{}", std::process::id());
    let html = html.strip_suffix(&page_mark(name)).unwrap_or(html);
    folder.replace(
        &temporary_name,
        format!("{html}{}", page_mark(name)).as_bytes(),
    )?;
    folder.rename(&temporary_name, &short)?;
    let others = folder
        .file_names("")?
        .into_iter()
        .filter(|other| *other != short);
    let mut kept: Vec<(i64, String)> = others
        .map(|other| (folder.written_at(&other).unwrap_or_default(), other))
        .collect();
    kept.sort_unstable();
    let too_many = (kept.len() + 1).saturating_sub(MAX_PAGES);
    for (place, (_, other)) in kept.iter().enumerate() {
        if place < too_many || is_too_old(&folder, other, env) {
            folder.remove(other)?;
        }
    }
    Ok(folder.path().join(short))
}

fn cannot_write(path: &Path, error: &dyn Display) -> CommandError {
    let path = omo_core::text::sanitize(&path.display().to_string(), 300);
    CommandError::io(
        format!("{path} cannot be written: {error}"),
        "name another FILE",
    )
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
        assert_eq!(
            std::fs::read_to_string(file("source.rs")).unwrap(),
            "fn main() {}"
        );
        let refused = write_file(&file("none/page.html"), "new").unwrap_err();
        assert!(
            refused.message().contains("its folder is not there"),
            "{}",
            refused.message()
        );
        assert!(write_file(temp.path(), "new").is_err());
    }

    #[test]
    fn a_page_keeps_its_short_name_and_takes_that_of_no_other() {
        let home = tempfile::tempdir().unwrap();
        let folder = GuardedFolder::create_user_part(home.path(), &FOLDER).unwrap();
        let name = plan_page_name("r-1");
        let short = short_name(&folder, &name);
        assert_eq!(short.len(), "3f2a.html".len(), "{short}");
        folder
            .replace(&short, format!("<p>{}", page_mark(&name)).as_bytes())
            .unwrap();
        assert_eq!(short_name(&folder, &name), short);
        folder
            .replace(
                &short,
                format!("<p>{}", page_mark("plan-r-2.html")).as_bytes(),
            )
            .unwrap();
        assert_eq!(short_name(&folder, &name).len(), "3f2a0.html".len());
    }
}
