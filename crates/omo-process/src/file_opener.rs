//! Display of a file in the system's default program for its kind.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use omo_state::search_path::{ProjectFolders, SearchPath};

use crate::child_command::inheriting_command;
use crate::platform::{FILE_OPENER, show_no_window, start_own_group};

/// Time in which an opener reports a failure; one that runs longer counts as a success.
const LIMIT: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(20);

/// Shows a file, with a program that lies in none of these projects.
pub fn show_file(file: &Path, projects: &ProjectFolders) -> io::Result<()> {
    let (name, arguments) = FILE_OPENER;
    let search = SearchPath::from_process().outside(projects);
    let program = search.find_all(name).next().ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::NotFound,
            format!("there is no `{name}` here"),
        )
    })?;
    let mut command = inheriting_command(program);
    // Absolute: a relative name could be taken for an option.
    let file = file.canonicalize()?;
    command.args(arguments).arg(&file);
    // The opener finds further programs on `PATH`, such as `$BROWSER`: none of them may lie in these projects either.
    match search.joined() {
        Some(path) => command.env("PATH", path),
        None => command.env_remove("PATH"),
    };
    if let Some(folder) = file.parent() {
        command.current_dir(folder);
    }
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    start_own_group(&mut command);
    show_no_window(&mut command);
    let mut process = command.spawn()?;
    let begun = Instant::now();
    while begun.elapsed() < LIMIT {
        match process.try_wait()? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(io::Error::other(format!("`{name}` ended with {status}"))),
            None => std::thread::sleep(PAUSE),
        }
    }
    Ok(())
}
