//! A Wine of its own, and projects in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result, ensure};
use omo_testkit::stand_in::HookAnswer;
use omo_testkit::{HookRun, run_command};
use omo_tests::scene::is_contract;
use serde_json::{Value, json};
use tempfile::TempDir;

/// One case: what it is about, and how it is played.
pub(crate) type Case = (&'static str, fn(&Wine) -> Result<()>);

/// How a model claims.
pub(crate) const DONE: &str = "All of it is done and checked.\n\n<promise>DONE</promise>";

/// A Wine with a drive and a registry of its own, and the programs that run in it.
pub(crate) struct Wine {
    prefix: TempDir,
    binaries: PathBuf,
    projects: AtomicU32,
}

impl Wine {
    /// Sets one up, which takes a while.
    pub(crate) fn new(binaries: PathBuf) -> Result<Self> {
        let prefix = tempfile::Builder::new().prefix("omo-wine-").tempdir()?;
        let wine = Self {
            prefix,
            binaries,
            projects: AtomicU32::new(0),
        };
        let status = wine
            .command("wineboot", Path::new("/"))
            .arg("--init")
            .stderr(Stdio::null())
            .status()?;
        ensure!(status.success(), "wineboot: {status}");
        let random = wine.drive().join("windows/system32/bcryptprimitives.dll");
        if !random.exists() {
            fs::copy(wine.binaries.join("stand-in/bcryptprimitives.dll"), random)
                .context("the stand-in of a library")?;
        }
        Ok(wine)
    }

    /// Its drive `C:`.
    pub(crate) fn drive(&self) -> PathBuf {
        self.prefix.path().join("drive_c")
    }

    /// A command that is run by Wine, in a folder.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>, folder: &Path) -> Command {
        let mut command = Command::new("wine");
        command
            .arg(program.as_ref())
            .current_dir(folder)
            .env_clear();
        command
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LANG", "C.UTF-8");
        command
            .env("HOME", self.prefix.path())
            .env("WINEPREFIX", self.prefix.path());
        // Neither messages about what this Wine has not, nor menus, nor questions about what it could have.
        command
            .env("WINEDEBUG", "-all")
            .env("WINEDLLOVERRIDES", "winemenubuilder.exe,mscoree,mshtml=");
        command
    }

    /// One of our programs, in a folder.
    pub(crate) fn program(&self, name: &str, folder: &Path) -> Command {
        self.command(self.binary(name), folder)
    }

    /// The file of one of our programs.
    pub(crate) fn binary(&self, name: &str) -> PathBuf {
        self.binaries.join(format!("{name}.exe"))
    }

    /// A new project on drive `C:`, in a folder whose name has a space and more letters than ASCII.
    pub(crate) fn project(&self) -> Result<Project<'_>> {
        let number = self.projects.load(Ordering::Relaxed);
        self.project_at(&format!("Projekte mit ü 한\\p{number}"))
    }

    /// A new project at a path of drive `C:`.
    pub(crate) fn project_at(&self, path: &str) -> Result<Project<'_>> {
        let folder = self.drive().join(path.replace('\\', "/"));
        fs::create_dir_all(&folder)?;
        let session = format!("wine-{}", self.projects.fetch_add(1, Ordering::Relaxed));
        Ok(Project {
            wine: self,
            folder,
            path: format!("C:\\{path}"),
            session,
        })
    }

    /// Writes the configuration of its user.
    pub(crate) fn configure(&self, toml: &str) -> Result<()> {
        for user in fs::read_dir(self.drive().join("users"))? {
            let folder = user?.path().join("AppData/Roaming/omo");
            fs::create_dir_all(&folder)?;
            fs::write(folder.join("config.toml"), toml)?;
        }
        Ok(())
    }
}

impl Drop for Wine {
    fn drop(&mut self) {
        // Otherwise it would write into its folder while that goes.
        for option in ["--kill", "--wait"] {
            let mut server = Command::new("wineserver");
            server
                .arg(option)
                .env("WINEPREFIX", self.prefix.path())
                .stderr(Stdio::null())
                .status()
                .ok();
        }
    }
}

/// A project, and one session in it.
pub(crate) struct Project<'a> {
    /// Where it runs.
    pub wine: &'a Wine,
    /// Where it is, for this test.
    pub folder: PathBuf,
    /// Where it is, for Windows.
    pub path: String,
    /// The id of its session.
    pub session: String,
}

impl Project<'_> {
    /// The input of an event, as the client on Windows would send it.
    pub(crate) fn input(&self, event: &str, fields: &Value) -> String {
        let mut input =
            json!({ "session_id": self.session, "hook_event_name": event, "cwd": self.path });
        if let (Some(input), Some(fields)) = (input.as_object_mut(), fields.as_object()) {
            input.extend(fields.clone());
        }
        input.to_string()
    }

    /// Runs a hook to its end; its promise holds: status 0, and nothing or one whole answer.
    pub(crate) fn hook(&self, name: &str, input: &str) -> Result<HookAnswer> {
        require_sound(&run_command(&self.wine.program(name, &self.folder), input)?)
    }

    /// A prompt of a person.
    pub(crate) fn prompt(&self, text: &str) -> Result<HookAnswer> {
        self.hook(
            "omo-user-prompt-submit",
            &self.input("UserPromptSubmit", &json!({ "prompt": text })),
        )
    }

    /// The model ends its turn.
    pub(crate) fn stop(&self, message: &str) -> Result<HookAnswer> {
        self.hook(
            "omo-stop",
            &self.input("Stop", &json!({ "last_assistant_message": message })),
        )
    }

    /// Turns ultrawork on.
    pub(crate) fn arm(&self, prompt: &str) -> Result<()> {
        let reported = self.prompt(prompt)?;
        ensure!(is_contract(&reported), "no contract: {reported:?}");
        Ok(())
    }

    /// Runs `omo`.
    pub(crate) fn omo(&self, arguments: &[&str]) -> Result<HookRun> {
        run_command(self.wine.program("omo", &self.folder).args(arguments), "")
    }

    /// Its state folder.
    pub(crate) fn state_folder(&self) -> PathBuf {
        self.folder.join(".sisyphus/cc-omo")
    }

    /// The entry of its session.
    pub(crate) fn entry(&self) -> Result<Value> {
        let text = fs::read_to_string(self.state_folder().join("runtime.local.json"))?;
        Ok(serde_json::from_str::<Value>(&text)?["sessions"][&self.session].clone())
    }

    /// Puts a text in the place of its state.
    pub(crate) fn write_state(&self, text: &str) -> Result<()> {
        fs::create_dir_all(self.state_folder())?;
        Ok(fs::write(
            self.state_folder().join("runtime.local.json"),
            text,
        )?)
    }
}

/// What holds of every run of a hook. What Wine itself says on stderr is not the hook's.
pub(crate) fn require_sound(run: &HookRun) -> Result<HookAnswer> {
    ensure!(!run.timed_out, "the hook had to be ended");
    ensure!(run.status.success(), "{}: {}", run.status, run.stderr);
    run.answer()
}
