//! The client on `PATH`, run only for commands that a person typed: its version and plugins, and changes of them.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use omo_core::text::sanitize;
use omo_process::child_command::inheriting_command;
use omo_process::platform::{Leftovers, is_executable};
use omo_process::runner::{self, ProcessEnd, ProcessOutput, ProcessRequest};
use omo_state::search_path::SearchPath;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::platform::clients::CLIENTS;
use crate::version::ClientVersion;

mod headless;

pub use headless::{HeadlessRequest, HeadlessResult};

pub(crate) const ANSWER_LIMIT: Duration = Duration::from_secs(60);

/// Maximum wait for the rest of the output once the client has ended.
const OUTPUT_WAIT: Duration = Duration::from_secs(1);
const MAX_BYTES: u64 = 16 * 1024 * 1024;
/// Maximum characters of the output in a [`ClaudeError`].
const QUOTED: usize = 300;

#[derive(Debug, thiserror::Error)]
pub enum ClaudeError {
    /// No absolute folder of `PATH` holds a client.
    #[error("there is no `claude` on PATH")]
    Missing,
    #[error("{program} cannot be started: {source}")]
    NotStarted { program: PathBuf, source: io::Error },
    #[error("`{asked}` gave no answer within {limit:?}, and was ended")]
    TimedOut {
        /// Command, such as `claude --version`.
        asked: String,
        limit: Duration,
    },
    #[error("`{asked}` failed: {said}")]
    Failed { asked: String, said: String },
    #[error("`{asked}` gave an answer that omo does not understand: {said}")]
    NotUnderstood { asked: String, said: String },
}

/// An entry of `claude plugin list --json`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InstalledPlugin {
    /// `name@marketplace`.
    pub id: String,
    pub version: Option<String>,
    /// `user`, `project`, `local`, …
    pub scope: Option<String>,
    #[serde(default)]
    pub enabled: bool,
    /// Folder of the client's copy of the plugin.
    pub install_path: Option<PathBuf>,
    /// Source folder that is used instead of the copy, as of a marketplace in a folder.
    pub read_from_folder: Option<PathBuf>,
    pub folder_version: Option<String>,
}

/// An entry of `claude plugin marketplace list --json`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Marketplace {
    pub name: String,
    /// `directory`, `github`, `git`, …
    pub source: String,
    pub path: Option<PathBuf>,
    pub repo: Option<String>,
    pub url: Option<String>,
}

impl Marketplace {
    /// Source of the marketplace, as shown to people.
    pub fn origin(&self) -> String {
        let path = self.path.as_ref().map(|path| path.display().to_string());
        let place = self.repo.clone().or_else(|| self.url.clone()).or(path);
        place.unwrap_or_else(|| format!("a source of the kind `{}`", self.source))
    }
}

#[derive(Clone, Debug)]
pub struct ClaudeClient {
    program: PathBuf,
    folder: PathBuf,
    limit: Duration,
    /// `PATH` of the client and its children.
    path: Option<OsString>,
}

impl ClaudeClient {
    /// The first client in `search`, which becomes its whole `PATH`; it reads the project settings of `folder`.
    pub fn find(search: &SearchPath, folder: &Path) -> Result<Self, ClaudeError> {
        let mut places = search
            .folders()
            .flat_map(|place| CLIENTS.map(|name| place.join(name)));
        let program = places
            .find(|program| is_executable(program))
            .ok_or(ClaudeError::Missing)?;
        let path = search.joined();
        Ok(Self {
            program,
            folder: folder.to_owned(),
            limit: ANSWER_LIMIT,
            path,
        })
    }

    /// This client with another time limit for each answer.
    #[must_use]
    pub fn with_limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Version that `claude --version` prints.
    pub fn version(&self) -> Result<ClientVersion, ClaudeError> {
        let printed = self.output(["--version"])?;
        ClientVersion::parse(&printed).ok_or_else(|| not_understood(&["--version"], &printed))
    }

    /// Plugins of `claude plugin list`, in every scope that applies to the folder.
    pub fn plugins(&self) -> Result<Vec<InstalledPlugin>, ClaudeError> {
        self.list(&["plugin", "list", "--json"])
    }

    /// Marketplaces of `claude plugin marketplace list`.
    pub fn marketplaces(&self) -> Result<Vec<Marketplace>, ClaudeError> {
        self.list(&["plugin", "marketplace", "list", "--json"])
    }

    fn list<Entry: DeserializeOwned>(&self, arguments: &[&str]) -> Result<Vec<Entry>, ClaudeError> {
        let printed = self.output(arguments)?;
        serde_json::from_str(&printed).map_err(|_| not_understood(arguments, &printed))
    }

    /// Runs the client with an empty `stdin`; returns its `stdout` on success.
    pub fn output<Argument: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = Argument>,
    ) -> Result<String, ClaudeError> {
        let mut command = self.command();
        command.args(arguments).current_dir(&self.folder);
        let asked = command_line_text(&command.get_args().collect::<Vec<_>>());
        let ClientOutput {
            status,
            stdout,
            stderr,
        } = self.run_until(command, &asked, || true)?;
        if status == Some(0) {
            return Ok(stdout);
        }
        let last_line = if stderr.trim().is_empty() {
            quote_last_line(&stdout)
        } else {
            quote_last_line(&stderr)
        };
        let last_words = if last_line.is_empty() {
            let end = status.map_or("a signal ended it".to_owned(), |status| {
                format!("exit status: {status}")
            });
            format!("it printed nothing ({end})")
        } else {
            last_line
        };
        Err(ClaudeError::Failed {
            asked,
            said: last_words,
        })
    }

    fn command(&self) -> Command {
        let mut command = inheriting_command(&self.program);
        command.envs(self.path.iter().map(|path| ("PATH", path)));
        command
    }

    fn run_until(
        &self,
        command: Command,
        asked: &str,
        is_needed: impl FnMut() -> bool,
    ) -> Result<ClientOutput, ClaudeError> {
        let request = ProcessRequest {
            command,
            input: Vec::new(),
            output: None,
            reads_stderr: true,
            limit: self.limit,
            grace: Duration::ZERO,
            output_wait: OUTPUT_WAIT,
            max_bytes: MAX_BYTES,
            leftovers: Leftovers::Free,
        };
        let end =
            runner::run_while(request, is_needed).map_err(|source| ClaudeError::NotStarted {
                program: self.program.clone(),
                source,
            })?;
        match end {
            ProcessEnd::Ended(ProcessOutput {
                status,
                stdout,
                stderr,
            }) => Ok(ClientOutput {
                status,
                stdout: lossy_text(stdout),
                stderr: lossy_text(stderr),
            }),
            ProcessEnd::Cancelled => {
                let said = "it was interrupted".to_owned();
                Err(ClaudeError::Failed {
                    asked: asked.to_owned(),
                    said,
                })
            }
            ProcessEnd::TimedOut => Err(ClaudeError::TimedOut {
                asked: asked.to_owned(),
                limit: self.limit,
            }),
        }
    }
}

struct ClientOutput {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

fn lossy_text(bytes: Option<Vec<u8>>) -> String {
    String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
}

fn not_understood(arguments: &[&str], printed: &str) -> ClaudeError {
    ClaudeError::NotUnderstood {
        asked: command_line_text(arguments),
        said: quote_last_line(printed),
    }
}

fn command_line_text<Argument: AsRef<OsStr>>(arguments: &[Argument]) -> String {
    let words = arguments
        .iter()
        .map(|argument| sanitize(&argument.as_ref().to_string_lossy(), QUOTED));
    std::iter::once("claude".to_owned())
        .chain(words)
        .collect::<Vec<_>>()
        .join(" ")
}

fn quote_last_line(output: &str) -> String {
    let last = output
        .lines()
        .map(str::trim)
        .rfind(|line| !line.is_empty())
        .unwrap_or_default();
    sanitize(last, QUOTED)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use super::*;

    /// A folder with a `claude` that is this shell script. One test at a time: a script that is
    /// still being written cannot be started, and neither can one that another test's child, on its
    /// way to its own program, holds open.
    struct Script {
        folder: tempfile::TempDir,
        _alone: MutexGuard<'static, ()>,
    }

    fn script(text: &str) -> Script {
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("claude");
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        Script {
            folder,
            _alone: alone,
        }
    }

    impl Script {
        fn path(&self) -> &Path {
            self.folder.path()
        }

        fn find(&self) -> ClaudeClient {
            {
                let search = [self.path().to_owned(), "/usr/bin".into(), "/bin".into()]
                    .into_iter()
                    .collect();
                ClaudeClient::find(&search, self.path()).unwrap()
            }
        }
    }

    #[test]
    fn the_first_that_can_be_run_is_found() {
        let (plain, runs) = (tempfile::tempdir().unwrap(), script("echo 2.1.200"));
        fs::write(plain.path().join("claude"), "").unwrap();
        let nowhere = plain.path().join("nowhere");
        let folders = [nowhere, plain.path().to_owned(), runs.path().to_owned()];
        let search = |count| folders.iter().take(count).cloned().collect::<SearchPath>();
        let claude = ClaudeClient::find(&search(3), plain.path()).unwrap();
        assert_eq!(claude.program(), runs.path().join("claude"));
        assert_eq!(claude.version().unwrap(), ClientVersion(2, 1, 200));
        assert!(matches!(
            ClaudeClient::find(&search(2), plain.path()),
            Err(ClaudeError::Missing)
        ));
    }

    #[test]
    fn lists_are_read_with_fields_that_omo_does_not_know() {
        let folder = script(
            r#"case "$2" in
list) echo '[{"id":"omo@omo","version":"0.1.0","scope":"user","enabled":true,"readFromFolder":"/p","errors":[]}]';;
*) echo '[{"name":"omo","source":"github","repo":"a/b","more":1},{"name":"here","source":"directory","path":"/p"}]';;
esac"#,
        );
        let claude = folder.find();
        let [plugin] = &claude.plugins().unwrap()[..] else {
            panic!("not one plugin")
        };
        assert!(plugin.enabled && plugin.read_from_folder.as_deref() == Some(Path::new("/p")));
        let origins: Vec<String> = claude
            .marketplaces()
            .unwrap()
            .iter()
            .map(Marketplace::origin)
            .collect();
        assert_eq!(origins, ["a/b", "/p"]);
    }

    #[test]
    fn what_goes_wrong_is_told_with_what_was_asked() {
        for (text, expected) in [
            (
                "echo progress; echo no such thing >&2; exit 1",
                "`claude plugin list --json` failed: no such thing",
            ),
            (
                "echo only here; exit 1",
                "`claude plugin list --json` failed: only here",
            ),
            (
                "exit 3",
                "`claude plugin list --json` failed: it printed nothing (exit status: 3)",
            ),
            (
                "echo hello",
                "`claude plugin list --json` gave an answer that omo does not understand: hello",
            ),
        ] {
            let folder = script(text);
            assert_eq!(folder.find().plugins().unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn one_that_hangs_is_ended_with_all_that_it_started() {
        let folder = script("(trap '' TERM; exec sleep 600) 9>held & exec 9>held; wait");
        let held = folder.path().join("held");
        assert!(
            Command::new("mkfifo")
                .arg(&held)
                .status()
                .unwrap()
                .success()
        );
        let (gone, all_gone) = std::sync::mpsc::channel();
        std::thread::spawn(move || gone.send(fs::read(held)).unwrap());
        let limit = Duration::from_millis(200);
        let error = folder.find().with_limit(limit).version().unwrap_err();
        assert!(matches!(error, ClaudeError::TimedOut { .. }), "{error}");
        all_gone.recv_timeout(ANSWER_LIMIT).unwrap().unwrap();
    }

    #[test]
    fn it_reads_nothing_and_what_it_leaves_running_is_not_waited_for() {
        let folder = script("cat; sleep 600 >&2 & echo $!");
        let printed = folder.find().output([""; 0]).unwrap();
        let left: i32 = printed.trim().parse().unwrap();
        rustix::process::kill_process(
            rustix::process::Pid::from_raw(left).unwrap(),
            rustix::process::Signal::KILL,
        )
        .unwrap();
    }

    #[test]
    fn a_session_has_the_environment_that_it_was_given_and_ends_when_nobody_wants_it() {
        let folder = script(
            "[ \"$OWN $HOME\" = \"1 \" ] && echo \"$@\" && echo complained >&2; exec sleep \"$REST\"",
        );
        let headless = |rest: &str| HeadlessRequest {
            folder: folder.path(),
            variables: [("OWN", "1"), ("REST", rest), ("PATH", "/usr/bin:/bin")]
                .map(|(name, value)| (name.into(), value.into()))
                .into(),
            arguments: vec!["-p".into(), "hello".into()],
        };
        let session = folder.find().run_headless(headless("0"), || true).unwrap();
        assert_eq!(
            (session.printed.as_str(), session.complaint.as_str()),
            ("-p hello\n", "complained")
        );
        let error = folder
            .find()
            .run_headless(headless("600"), || false)
            .unwrap_err();
        assert_eq!(error.to_string(), "`claude -p` failed: it was interrupted");
    }
}
