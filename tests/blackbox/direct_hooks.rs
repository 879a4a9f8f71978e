//! Launchers in the client's copy of the plugin: the first one has hooks.json name the binaries themselves, so
//! that no shell runs from the next session on, and nothing else is ever changed.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use omo_core::events::EVENTS;
use omo_testkit::{HookRun, run_command};
use omo_tests::repository_copy::npm_platform;
use serde_json::{Value, json};

use crate::fresh_clone::{Fresh, VERSION};
use crate::scene::{copy, require_sound};

/// The repository.
const TOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The plugin as the client has installed it.
struct Installed {
    fresh: Fresh,
    /// Its copy.
    root: PathBuf,
    /// The folder of its data.
    data: PathBuf,
}

impl Installed {
    fn new() -> Result<Self> {
        let fresh = Fresh::new()?;
        let plugins = fresh.lab.home().join(".claude/plugins");
        let root = plugins.join("cache/omo/omo").join(VERSION);
        for part in ["bin", "scripts"] {
            copy(&fresh.clone.join(part), &root.join(part))?;
        }
        fs::copy(fresh.clone.join("hooks.json"), root.join("hooks.json"))?;
        fs::write(root.join("Cargo.toml"), "")?;
        let data = plugins.join("data/omo-omo");
        fs::create_dir_all(&data)?;
        Ok(Self { fresh, root, data })
    }

    /// As [`Self::new`], built.
    fn built() -> Result<Self> {
        let installed = Self::new()?;
        installed.lay(&installed.data.join("bin").join(VERSION))?;
        Ok(installed)
    }

    /// Lays real files of binaries, as a build and npm do.
    fn lay(&self, folder: &Path) -> Result<()> {
        fs::create_dir_all(folder)?;
        for (binary, name) in [("omo-stop", "omo-hook"), ("omo", "omo")] {
            // A program that this process had written could not be started while another thread starts one.
            let from = self.fresh.plugin.join("bin").join(binary);
            let copied = Command::new("cp")
                .arg(from)
                .arg(folder.join(name))
                .status()?;
            ensure!(copied.success(), "cp {binary}: {copied}");
        }
        Ok(())
    }

    fn launcher(&self, name: &str) -> PathBuf {
        self.root.join("bin").join(name)
    }

    fn command(&self, launcher: &Path) -> Command {
        let mut command = self.fresh.lab.command(launcher);
        command.env("CLAUDE_PLUGIN_DATA", &self.data);
        command
    }

    fn run(&self, launcher: &Path) -> Result<HookRun> {
        run_command(&self.command(launcher), &input(launcher))
    }

    /// The programs that hooks.json names. All of them are there, each of its own hook, and binaries or not.
    fn named(&self) -> Result<Vec<PathBuf>> {
        let hooks: Value = serde_json::from_slice(&fs::read(self.root.join("hooks.json"))?)?;
        let programs: Vec<_> = EVENTS
            .iter()
            .map(|row| {
                let command = hooks["hooks"][row.name][0]["hooks"][0]["command"]
                    .as_str()
                    .context("no command")?;
                let program = self.root.join(
                    command
                        .strip_prefix("${CLAUDE_PLUGIN_ROOT}/")
                        .context("elsewhere")?,
                );
                ensure!(
                    program.ends_with(row.program)
                        && fs::metadata(&program)?.permissions().mode() & 0o111 == 0o111
                );
                Ok(program)
            })
            .collect::<Result<_>>()?;
        Ok(programs)
    }

    /// Whether hooks.json names the very binary of the plugin under test for every hook.
    fn is_direct(&self) -> Result<bool> {
        let binary = fs::read(self.fresh.plugin.join("bin/omo-stop"))?;
        let programs = self.named()?;
        let binaries = programs
            .iter()
            .filter(|path| fs::read(path).is_ok_and(|bytes| bytes == binary))
            .count();
        ensure!(
            binaries == 0 || binaries == programs.len(),
            "{programs:?} are of two kinds"
        );
        Ok(binaries > 0)
    }

    /// The names in the folder of launchers, and in the plugin's.
    fn names(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for folder in [self.root.join("bin"), self.root.clone()] {
            let entries = fs::read_dir(folder)?.flatten();
            names.extend(entries.map(|entry| entry.file_name().to_string_lossy().into_owned()));
        }
        names.sort();
        Ok(names)
    }
}

/// What the client sends to a hook; a session's start is answered with a line for the model.
fn input(launcher: &Path) -> String {
    let name = launcher.file_name().unwrap_or_default().to_string_lossy();
    let event = EVENTS
        .iter()
        .find(|row| row.program == name)
        .map(|row| row.name);
    format!(
        "{}\n",
        json!({"session_id": "a-b", "hook_event_name": event, "source": "startup", "prompt": "hello"})
    )
}

fn starts_session(run: &HookRun) -> bool {
    run.status.success() && run.stderr.is_empty() && run.stdout.contains("CLAUDE_SESSION_ID")
}

#[test]
fn any_launcher_has_the_next_session_start_the_binaries() -> Result<()> {
    for (name, is_package) in EVENTS
        .iter()
        .flat_map(|row| [(row.program, false), (row.program, true)])
    {
        let it = Installed::new()?;
        let binaries = if is_package {
            it.root
                .join("node_modules/@omo-cc")
                .join(npm_platform())
                .join("bin")
        } else {
            it.data.join("bin").join(VERSION)
        };
        it.lay(&binaries)?;
        let before = it.names()?;
        ensure!(!it.is_direct()?);
        for time in ["first", "second"] {
            // An open session has read hooks.json before, and goes on with the launchers.
            let run = it.run(&it.launcher(name))?;
            ensure!(
                run.status.success() && run.stderr.is_empty(),
                "{name}, {time}: {run:?}"
            );
            ensure!(
                starts_session(&run) == (name == "omo-session-start"),
                "{name}, {time}: {run:?}"
            );
            ensure!(it.is_direct()?, "{name}, {time}");
        }
        for program in it.named()? {
            let run = it.run(&program)?;
            ensure!(
                run.status.success() && run.stderr.is_empty(),
                "{}: {run:?}",
                program.display()
            );
            ensure!(
                starts_session(&run) == program.ends_with("omo-session-start"),
                "{run:?}"
            );
            // What is written into the client's files must not reach the binary itself.
            ensure!(
                fs::metadata(&program)?.ino() != fs::metadata(binaries.join("omo-hook"))?.ino()
            );
        }
        let mut after = it.names()?;
        after.retain(|name| name != "run");
        ensure!(after == before, "{after:?}");
        let run = run_command(it.command(&it.launcher("omo")).arg("--version"), "")?;
        ensure!(run.stdout == format!("omo {VERSION}\n"), "{run:?}");
        // The client lays its files anew: the next launcher does the same again.
        fs::copy(
            it.fresh.clone.join("hooks.json"),
            it.root.join("hooks.json"),
        )?;
        ensure!(it.run(&it.launcher("omo-stop"))?.is_silent() && it.is_direct()?);
    }
    Ok(())
}

#[test]
fn many_at_once_all_work_and_leave_whole_files() -> Result<()> {
    let it = Installed::built()?;
    let before = it.names()?;
    let launcher = it.launcher("omo-session-start");
    let file = it.fresh.lab.write("input", &input(&launcher))?;
    for _ in 0..5 {
        fs::copy(
            it.fresh.clone.join("hooks.json"),
            it.root.join("hooks.json"),
        )?;
        let start = |_| {
            let mut command = it.command(&launcher);
            command
                .stdin(fs::File::open(&file)?)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            Ok(command.spawn()?)
        };
        let running: Vec<_> = (0..20).map(start).collect::<Result<_>>()?;
        // Whatever a session that begins meanwhile reads, it can be run.
        it.named()?;
        for child in running {
            let output = child.wait_with_output()?;
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            ensure!(
                output.status.success() && said.contains("CLAUDE_SESSION_ID"),
                "{output:?}"
            );
            ensure!(output.stderr.is_empty(), "{output:?}");
            it.named()?;
        }
        let mut after = it.names()?;
        after.retain(|name| name != "run");
        ensure!(it.is_direct()? && after == before, "{after:?}");
    }
    Ok(())
}

/// Programs on `PATH` that end the launcher that calls them, or fail.
#[test]
fn one_that_is_killed_or_fails_half_way_leaves_what_works() -> Result<()> {
    for (program, text) in [
        ("cp", "kill -KILL $PPID"),
        ("cp", "head -c 1000 \"$1\" >\"$2\"; kill -KILL $PPID"),
        ("cp", "head -c 1000 \"$1\" >\"$2\"; exit 1"),
        ("ln", "kill -KILL $PPID"),
        ("mkdir", "exit 1"),
        ("mv", "kill -KILL $PPID"),
        ("mv", "exit 1"),
        (
            "mv",
            "case $3 in *.json) kill -KILL $PPID; exit ;; esac; exec /bin/mv \"$@\"",
        ),
        ("sed", "echo '{'; kill -KILL $PPID"),
        ("sed", "echo '{'; exit 1"),
        ("rm", "kill -KILL $PPID"),
    ] {
        let it = Installed::built()?;
        let launcher = it.launcher("omo-session-start");
        let bad = it.fresh.cargo.folder().join(program);
        fs::write(&bad, format!("#!/bin/sh\n{text}\n"))?;
        fs::set_permissions(&bad, PermissionsExt::from_mode(0o755))?;
        let run = it.run(&launcher)?;
        ensure!(
            text.contains("KILL") || starts_session(&run),
            "{program}: {text}: {run:?}"
        );
        ensure!(!it.is_direct()?, "{program}: {text}");
        fs::remove_file(&bad)?;
        let run = it.run(&launcher)?;
        ensure!(
            starts_session(&run) && it.is_direct()?,
            "{program}: {text}: {run:?}"
        );
    }
    // Where there are no hard links, each is a copy.
    let it = Installed::built()?;
    fs::write(it.fresh.cargo.folder().join("ln"), "#!/bin/sh\nexit 1\n")?;
    fs::set_permissions(
        it.fresh.cargo.folder().join("ln"),
        PermissionsExt::from_mode(0o755),
    )?;
    ensure!(starts_session(&it.run(&it.launcher("omo-session-start"))?) && it.is_direct()?);
    Ok(())
}

/// What is done to an installation before its launcher runs; gives the launcher.
type Change = fn(&Installed) -> Result<PathBuf>;

#[test]
fn nothing_but_the_clients_own_copy_is_changed() -> Result<()> {
    let cases: [(&str, Change); 9] = [
        ("a clone", |it| {
            Ok(it.fresh.clone.join("bin/omo-session-start"))
        }),
        ("a copy with a repository in it", |it| {
            fs::create_dir(it.root.join(".git"))?;
            Ok(it.launcher("omo-session-start"))
        }),
        ("a copy that is a link", |it| {
            let link = it.root.with_file_name("linked");
            symlink(&it.fresh.clone, &link)?;
            Ok(link.join("bin/omo-session-start"))
        }),
        ("launchers behind a link", |it| {
            fs::remove_dir_all(it.root.join("bin"))?;
            symlink(it.fresh.clone.join("bin"), it.root.join("bin"))?;
            Ok(it.launcher("omo-session-start"))
        }),
        ("a marketplace behind a link", |it| {
            let cache = it.root.ancestors().nth(3).context("no cache")?;
            symlink(it.fresh.lab.home(), cache.join("home"))?;
            Ok(cache.join("home/clone/bin/omo-session-start"))
        }),
        ("a way around", |it| {
            Ok(it
                .root
                .join("../../../../../../clone/bin/omo-session-start"))
        }),
        ("binaries behind a link", |it| {
            symlink(it.fresh.lab.home().join("clone/run"), it.root.join("run"))?;
            Ok(it.launcher("omo-session-start"))
        }),
        ("someone who waits for a word", |it| {
            fs::write(it.data.join("told"), "")?;
            Ok(it.launcher("omo-session-start"))
        }),
        ("without `omo`", |it| {
            fs::remove_file(it.data.join("bin").join(VERSION).join("omo"))?;
            Ok(it.launcher("omo-session-start"))
        }),
    ];
    for (what, change) in cases {
        let it = Installed::built()?;
        let launcher = change(&it)?;
        let run = it.run(&launcher)?;
        ensure!(starts_session(&run), "{what}: {run:?}");
        for folder in [&it.root, &it.fresh.clone] {
            ensure!(
                !folder.join("run").exists(),
                "{what}: {} was changed",
                folder.display()
            );
            let hooks = fs::read(folder.join("hooks.json"))?;
            ensure!(
                hooks == fs::read(Path::new(TOP).join("hooks.json"))?,
                "{what}: hooks.json was changed"
            );
        }
    }
    Ok(())
}

/// The version before runs, and stays where it is; a binary that this machine cannot run does as well.
#[test]
fn neither_an_older_binary_nor_a_broken_one_takes_the_place() -> Result<()> {
    let it = Installed::new()?;
    it.fresh.cargo.block_builds()?;
    it.lay(&it.data.join("bin/0.0.9"))?;
    symlink("0.0.9/omo", it.data.join("bin/omo"))?;
    let launcher = it.launcher("omo-session-start");
    ensure!(starts_session(&it.run(&launcher)?) && !it.is_direct()?);
    it.fresh.cargo.wait_for_builds(1)?;
    it.fresh.cargo.end();

    let it = Installed::built()?;
    let binary = it.data.join("bin").join(VERSION).join("omo-hook");
    fs::write(&binary, "#!/bin/sh\n[ $# -gt 0 ]\n")?;
    ensure!(it.run(&it.launcher("omo-stop"))?.is_silent());
    ensure!(!it.is_direct()?);
    Ok(())
}

/// A package is linked as a build is: for status lines in the plugin's data, and for terminals.
#[test]
fn a_package_is_linked_for_terminals() -> Result<()> {
    let it = Installed::new()?;
    fs::remove_file(it.root.join("Cargo.toml"))?;
    fs::create_dir_all(it.fresh.lab.home().join(".local"))?;
    let package = it
        .root
        .join("node_modules/@omo-cc")
        .join(npm_platform())
        .join("bin");
    it.lay(&package)?;
    ensure!(
        require_sound(&it.run(&it.launcher("omo-user-prompt-submit"))?)?
            .system_message()
            .is_none()
    );
    let link = it.fresh.lab.home().join(".local/bin/omo");
    omo_testkit::wait_until("the link", || link.exists().then_some(()))?;
    ensure!(fs::read_link(&link)? == it.data.join("bin/omo"));
    ensure!(fs::read_link(it.data.join("bin/omo"))? == package.join("omo"));
    ensure!(it.fresh.cargo.builds() == 0);
    Ok(())
}
