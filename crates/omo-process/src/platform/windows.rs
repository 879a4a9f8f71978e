//! Windows: groups of processes as jobs, and the `sh` of Git for Windows or `cmd` for a check.

use std::io;
use std::os::windows::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use command_group::{CommandGroup, GroupChild};
use omo_state::env::{is_variable_named, variables};
use omo_state::search_path::SearchPath;

use super::{GroupEnding, Leftovers};

const CREATE_NO_WINDOW: u32 = 0x0800_0000;
/// Safe code cannot wait for a process and be able to end it meanwhile.
const ASK_EVERY: Duration = Duration::from_millis(10);

pub(crate) enum WindowsShell {
    /// The `sh` of Git for Windows.
    Posix(PathBuf),
    Cmd(PathBuf),
}

impl WindowsShell {
    /// The `sh` beside git, as the client's own shell; without one, `cmd`.
    pub(crate) fn find() -> Self {
        let git = SearchPath::from_process().find("git");
        // Git lies at `cmd\git.exe` or `mingw64\bin\git.exe`, beside `bin\sh.exe`.
        let around = git.iter().flat_map(|git| git.ancestors().skip(2).take(2));
        let mut beside = around.map(|folder| folder.join("bin").join("sh.exe"));
        beside
            .find(|shell| shell.is_file())
            .map_or_else(|| Self::Cmd(cmd()), Self::Posix)
    }

    /// The one bash here is the `sh` beside git.
    pub(crate) fn bash(_program: PathBuf) -> Self {
        Self::find()
    }

    pub(crate) fn program(&self) -> PathBuf {
        match self {
            Self::Posix(program) | Self::Cmd(program) => program.clone(),
        }
    }

    /// Adds the arguments that have the shell execute `run`.
    pub(crate) fn give(&self, command: &mut Command, run: &str) -> io::Result<()> {
        match self {
            Self::Posix(_) => command.arg("-c").arg(run),
            // `cmd` would run the first line alone, and succeed.
            Self::Cmd(_) if run.contains(['\n', '\r']) => {
                return Err(io::Error::other(
                    "`cmd` runs a single line; install Git for Windows, whose `sh` runs more",
                ));
            }
            // With `/s`, `cmd` drops the outermost quotes and keeps all others.
            Self::Cmd(_) => command
                .args(["/d", "/s", "/c"])
                .raw_arg(format!("\"{run}\"")),
        };
        Ok(())
    }
}

pub fn shell_variable(name: &str) -> String {
    match WindowsShell::find() {
        WindowsShell::Posix(_) => format!("\"${name}\""),
        WindowsShell::Cmd(_) => format!("\"%{name}%\""),
    }
}

/// No program takes the place of another here.
pub const IN_PLACE_OF_SHELL: &str = "";

/// No bash: the one of Windows itself runs in another system (WSL), without the project's programs.
pub fn bash(_search: &SearchPath, _project: &Path) -> Option<PathBuf> {
    None
}

/// Full path of `cmd`: another one may lie in the check's folder.
fn cmd() -> PathBuf {
    let root = variables()
        .into_iter()
        .find(|(name, _)| is_variable_named(name, "SystemRoot"))
        .map(|(_, value)| value);
    let root = root.map(PathBuf::from).filter(|root| root.is_absolute());
    root.unwrap_or_else(|| PathBuf::from(r"C:\Windows"))
        .join("System32")
        .join("cmd.exe")
}

/// A Windows job: a process with all that it started.
pub struct WindowsProcessGroup(Arc<Mutex<GroupChild>>);

impl WindowsProcessGroup {
    /// `ended` gets the exit status; there are no signals. With `Leftovers::Ended` the job also ends with this process.
    pub fn start(
        mut command: Command,
        leftovers: Leftovers,
        ended: impl FnOnce(Option<i32>, Option<i32>) + Send + 'static,
    ) -> io::Result<Self> {
        let ends_leftovers = leftovers == Leftovers::Ended;
        let child = command
            .group()
            .creation_flags(CREATE_NO_WINDOW)
            .kill_on_drop(ends_leftovers)
            .spawn()?;
        let child = Arc::new(Mutex::new(child));
        let asked = Arc::clone(&child);
        std::thread::spawn(move || {
            let status = loop {
                // Not in the head of the `match`: the lock would be held during the sleep.
                let now = asked
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .inner()
                    .try_wait();
                match now {
                    Ok(None) => std::thread::sleep(ASK_EVERY),
                    now => break now.ok().flatten(),
                }
            };
            if ends_leftovers {
                let _ = asked.lock().unwrap_or_else(PoisonError::into_inner).kill();
            }
            ended(status.and_then(|status| status.code()), None);
        });
        Ok(Self(child))
    }

    pub fn pid(&self) -> u32 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).id()
    }

    /// A process without a console cannot be asked to end.
    pub fn end(&self, ending: GroupEnding) {
        if ending == GroupEnding::AtOnce {
            let _ = self.0.lock().unwrap_or_else(PoisonError::into_inner).kill();
        }
    }

    /// The end of the first process ends the job.
    pub(crate) fn is_gone(&self) -> bool {
        true
    }
}

pub fn end_group(_group: u32, _ending: GroupEnding) {}

/// Groups that may leave nothing behind end with this process.
pub(crate) fn end_groups() {}

pub(crate) fn is_alive(_pid: u32) -> Option<bool> {
    None
}

pub(crate) fn start_mark(_pid: u32) -> Option<String> {
    None
}

/// `true` for every file: any may be tried.
pub fn is_executable(path: &Path) -> bool {
    path.is_file()
}

pub(crate) const FILE_OPENER: (&str, &[&str]) = ("rundll32", &["url.dll,FileProtocolHandler"]);

/// A running program's file cannot be replaced here.
pub fn own_program() -> io::Result<PathBuf> {
    std::env::current_exe()
}

pub fn start_own_group(command: &mut Command) {
    show_no_window(command);
}

/// A process without a console has no session.
#[expect(clippy::unnecessary_wraps, reason = "on other systems it may fail")]
pub(crate) fn leave_session() -> io::Result<()> {
    Ok(())
}

pub(crate) fn step_back() {}

pub(crate) fn show_no_window(command: &mut Command) {
    command.creation_flags(CREATE_NO_WINDOW);
}

/// A process without a console gets no signal, and Ctrl-C ends one with a console at once.
pub(crate) fn flag_termination(_asked: &Arc<AtomicBool>) {}

pub(crate) fn reset_signals_of_started_programs() {}

pub(crate) fn outlive_size_limit() {}
