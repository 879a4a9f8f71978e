//! Windows: jobs, and the shell of Git for Windows or `cmd`.

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
/// Pause between two looks at a check. There is no safe way to wait for a process and to be able to
/// end it meanwhile.
const ASK_EVERY: Duration = Duration::from_millis(10);

pub(crate) enum Shell {
    /// `sh`, which Git for Windows brings along.
    Posix(PathBuf),
    /// `cmd`, which is always there.
    Cmd(PathBuf),
}

impl Shell {
    /// The `sh` that lies beside git, as the client's own shell does; without one, `cmd`.
    pub(crate) fn find() -> Self {
        let git = SearchPath::from_process().find("git");
        // `cmd\git.exe` and `bin\sh.exe` lie in one folder, and `mingw64\bin\git.exe` below it.
        let around = git.iter().flat_map(|git| git.ancestors().skip(2).take(2));
        let mut beside = around.map(|folder| folder.join("bin").join("sh.exe"));
        beside
            .find(|shell| shell.is_file())
            .map_or_else(|| Self::Cmd(cmd()), Self::Posix)
    }

    /// Nothing: the one bash here lies beside git.
    pub(crate) fn bash(_program: PathBuf) -> Self {
        Self::find()
    }

    pub(crate) fn program(&self) -> PathBuf {
        match self {
            Self::Posix(program) | Self::Cmd(program) => program.clone(),
        }
    }

    pub(crate) fn give(&self, command: &mut Command, run: &str) -> io::Result<()> {
        match self {
            Self::Posix(_) => command.arg("-c").arg(run),
            // `cmd` would run the first line alone, and be content.
            Self::Cmd(_) if run.contains(['\n', '\r']) => {
                return Err(io::Error::other(
                    "`cmd` runs a single line; install Git for Windows, whose `sh` runs more",
                ));
            }
            // With /s it takes away the outermost quotes and leaves all others as they are.
            Self::Cmd(_) => command
                .args(["/d", "/s", "/c"])
                .raw_arg(format!("\"{run}\"")),
        };
        Ok(())
    }
}

/// A variable as one word of a command for the shell that there always is.
pub fn shell_variable(name: &str) -> String {
    match Shell::find() {
        Shell::Posix(_) => format!("\"${name}\""),
        Shell::Cmd(_) => format!("\"%{name}%\""),
    }
}

/// Empty: no program takes the place of another here.
pub const IN_PLACE_OF_SHELL: &str = "";

/// None: the `bash` of Windows itself runs in another system, where the project's programs are not.
pub fn bash(_search: &SearchPath, _project: &Path) -> Option<PathBuf> {
    None
}

/// By its own path: another `cmd` may lie where the check stands.
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

/// A process with all that it started: a job.
pub struct ProcessGroup(Arc<Mutex<GroupChild>>);

impl ProcessGroup {
    /// Starts it. `ended` is told its exit status; there are no signals. What may leave nothing behind also ends with
    /// this process.
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
                // Not in the head of the `match`: the lock would then be held while this thread sleeps.
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

    /// Process id (pid).
    pub fn pid(&self) -> u32 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).id()
    }

    /// Ends all of it. A process without a console cannot be asked to.
    pub fn end(&self, ending: GroupEnding) {
        if ending == GroupEnding::AtOnce {
            let _ = self.0.lock().unwrap_or_else(PoisonError::into_inner).kill();
        }
    }

    /// All that the first process left was ended with it.
    pub(crate) fn is_gone(&self) -> bool {
        true
    }
}

/// Nothing: there is no safe way to end processes by their number here.
pub fn end_group(_group: u32, _ending: GroupEnding) {}

/// Nothing: processes that may leave nothing behind end with this one.
pub(crate) fn end_groups() {}

/// Safe code cannot ask the system for this.
pub(crate) fn is_alive(_pid: u32) -> Option<bool> {
    None
}

pub(crate) fn start_mark(_pid: u32) -> Option<String> {
    None
}

/// `true` for an existing file: every one may be tried.
pub fn is_executable(path: &Path) -> bool {
    path.is_file()
}

/// Program that shows a file to its user, with its arguments before the file.
pub(crate) const FILE_OPENER: (&str, &[&str]) = ("rundll32", &["url.dll,FileProtocolHandler"]);

/// This very program. While it runs, no process can put another one in the place of its file.
pub fn own_program() -> io::Result<PathBuf> {
    std::env::current_exe()
}

/// Has a process live on when its caller is ended, and show no window.
pub fn start_own_group(command: &mut Command) {
    show_no_window(command);
}

/// There are no sessions to leave: a process without a console has none.
#[expect(clippy::unnecessary_wraps, reason = "on other systems it may fail")]
pub(crate) fn leave_session() -> io::Result<()> {
    Ok(())
}

/// Background processes keep the usual priority on Windows.
pub(crate) fn step_back() {}

pub(crate) fn show_no_window(command: &mut Command) {
    command.creation_flags(CREATE_NO_WINDOW);
}

/// Does nothing: no signal asks a process without a console to end, and Ctrl-C ends one with a console at once.
pub(crate) fn flag_termination(_asked: &Arc<AtomicBool>) {}

/// No signal is inherited here.
pub(crate) fn reset_signals_of_started_programs() {}

pub(crate) fn outlive_size_limit() {}
