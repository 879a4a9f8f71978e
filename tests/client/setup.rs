//! `omo setup` from a fresh home: set up, used, updated while a session is open, turned off, removed;
//! and what it does where something is in its way.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use omo_testkit::strace::{self, CallFault, SystemCall};
use omo_testkit::{HookRun, Lab, MockModel, ModelScript, run_command};
use omo_tests::scene::copy;
use serde_json::Value;

use crate::client_lab::{CLAIM, ClientFixture, client, plugin};

/// A home that never had omo, with the client on its `PATH` and no network but the scripted model.
fn fresh(script: ModelScript, folder: &str) -> ClientFixture {
    let client = client();
    let model = MockModel::start(script).unwrap();
    let on_path = client.program().parent().unwrap();
    let lab = Lab::builder().model(&model).folder(folder).path(on_path);
    // Nothing listens there: only the model is reached.
    let lab = lab
        .env("HTTPS_PROXY", "http://127.0.0.1:9")
        .env("NO_PROXY", "127.0.0.1");
    ClientFixture {
        lab: lab.build().unwrap(),
        model,
        client,
    }
}

/// The plugin under test in a folder of its own, as a user who unpacked it there has it.
fn unpacked(fixture: &ClientFixture, name: &str) -> PathBuf {
    let folder = fixture.lab.root().join(name);
    copy(&plugin(), &folder).unwrap();
    folder
}

/// As [`unpacked`], with another version.
fn of_version(fixture: &ClientFixture, version: &str) -> PathBuf {
    let folder = unpacked(fixture, version);
    for file in ["plugin.json", "marketplace.json"] {
        let path = folder.join(".claude-plugin").join(file);
        let text = fs::read_to_string(&path).unwrap();
        let changed = text.replace(
            &format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION")),
            &format!("\"version\": \"{version}\""),
        );
        assert_ne!(text, changed);
        fs::write(&path, changed).unwrap();
    }
    folder
}

fn setup_command(fixture: &ClientFixture, plugin: &Path, options: &[&str]) -> Command {
    let mut command = fixture.lab.command(plugin.join("bin/omo"));
    command.arg("setup").args(options);
    command
}

/// `omo setup` of a plugin, however it ends.
fn try_setup(fixture: &ClientFixture, plugin: &Path, options: &[&str]) -> HookRun {
    run_command(&setup_command(fixture, plugin, options), "").unwrap()
}

/// `omo setup` of a plugin, which succeeds; what it prints.
fn setup(fixture: &ClientFixture, plugin: &Path, options: &[&str]) -> String {
    let run = try_setup(fixture, plugin, options);
    assert!(run.status.success() && run.stderr.is_empty(), "{run:?}");
    run.stdout
}

/// Where the plugin is installed.
fn installed_copy(fixture: &ClientFixture) -> PathBuf {
    fixture.lab.home().join(".local/share/omo/plugin")
}

/// What `claude plugin list --json` shows beside the plugins that a client brings along: each one's id, version, and whether
/// it is enabled.
fn plugins(fixture: &ClientFixture) -> Vec<(String, String, bool)> {
    let run = fixture
        .client
        .run(&fixture.lab, ["plugin", "list", "--json"])
        .unwrap();
    let list: Vec<Value> = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
    let text = |plugin: &Value, field: &str| plugin[field].as_str().unwrap_or_default().to_owned();
    let own = list
        .iter()
        .filter(|it| !text(it, "id").ends_with("@builtin"));
    own.map(|it| (text(it, "id"), text(it, "version"), it["enabled"] == true))
        .collect()
}

fn only(version: &str, is_enabled: bool) -> Vec<(String, String, bool)> {
    vec![("omo@omo".to_owned(), version.to_owned(), is_enabled)]
}

fn present(is_enabled: bool) -> Vec<(String, String, bool)> {
    only(env!("CARGO_PKG_VERSION"), is_enabled)
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

/// Every file below a folder, with its content and whether it may be run.
fn files(folder: &Path) -> BTreeSet<(PathBuf, Vec<u8>, bool)> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let may_run = path.metadata().unwrap().permissions().mode() & 0o111 != 0;
                found.insert((
                    path.strip_prefix(folder).unwrap().to_owned(),
                    fs::read(&path).unwrap(),
                    may_run,
                ));
            }
        }
    }
    found
}

/// A run that is held once, and ends with its claim.
fn continued_once() -> ModelScript {
    ModelScript::new().say("Not yet.").bash("true").say(CLAIM)
}

/// Plays it: the installed plugin's hooks hold the session, each of them once.
fn is_continued_once(fixture: &ClientFixture) {
    fixture.lab.configure("[verify]\nreview = false\n").unwrap();
    fixture.play("ulw fix the parser");
    assert_eq!(fixture.stops(), ["15: block", "9: end: released"]);
    assert_eq!(fixture.model.unscripted(), 0);
}

#[test]
fn a_run_is_continued_after_a_setup_in_a_home_with_an_odd_name() {
    let fixture = fresh(continued_once(), "a b's \"c\" ü$HOME");
    let said = setup(&fixture, &plugin(), &[]);
    for part in [
        "was put into",
        "omo@omo is installed and on",
        "ulw fix the failing tests",
        "setup --remove",
    ] {
        assert!(said.contains(part), "no {part:?} in {said}");
    }
    assert_eq!(plugins(&fixture), present(true));
    assert_eq!(files(&installed_copy(&fixture)), files(&plugin()));
    is_continued_once(&fixture);
    // It is found in terminals. A status line that names it goes with it; what else is in the settings stays.
    let link = fixture.lab.home().join(".local/bin/omo");
    assert_eq!(
        fs::read_link(&link).unwrap(),
        installed_copy(&fixture).join("bin/omo")
    );
    assert!(
        run_command(fixture.lab.command(&link).arg("--version"), "")
            .unwrap()
            .stdout
            .starts_with("omo ")
    );
    let settings = fixture.lab.home().join(".claude/settings.json");
    let mut changed: Value = serde_json::from_str(&fs::read_to_string(&settings).unwrap()).unwrap();
    let command = shlex::try_quote(link.to_str().unwrap())
        .unwrap()
        .into_owned()
        + " statusline";
    changed["statusLine"] = serde_json::json!({"type": "command", "command": command});
    changed["cleanupPeriodDays"] = 20.into();
    fs::write(&settings, changed.to_string()).unwrap();
    // The key and the approvals are their user's, who is told where they are.
    let said = setup(&fixture, &installed_copy(&fixture), &["--remove"]);
    assert!(
        link.symlink_metadata().is_err() && said.contains("`statusLine` is removed"),
        "{said}"
    );
    let left: Value = serde_json::from_str(&fs::read_to_string(&settings).unwrap()).unwrap();
    assert!(
        left["statusLine"].is_null() && left["cleanupPeriodDays"] == 20,
        "{left}"
    );
    assert!(
        said.contains("your key and your approvals")
            && fixture.lab.home().join(".local/state/omo").is_dir(),
        "{said}"
    );
    assert!(!fixture.lab.home().join(".local/share").exists());
}

#[test]
fn a_second_setup_changes_nothing_and_a_removal_leaves_nothing() {
    let fixture = fresh(ModelScript::new(), "lab");
    let before = names(fixture.lab.home());
    setup(&fixture, &plugin(), &[]);
    let once = files(&fixture.lab.home().join(".local"));
    let settings = fs::read(fixture.lab.home().join(".claude/settings.json")).unwrap();
    for folder in [plugin(), installed_copy(&fixture)] {
        let said = setup(&fixture, &folder, &[]);
        assert!(
            said.contains("is up to date") && said.contains("was on already"),
            "{said}"
        );
    }
    assert_eq!(plugins(&fixture), present(true));
    assert_eq!(files(&fixture.lab.home().join(".local")), once);
    assert_eq!(
        fs::read(fixture.lab.home().join(".claude/settings.json")).unwrap(),
        settings
    );

    setup(&fixture, &plugin(), &["--remove"]);
    assert_eq!(names(fixture.lab.home()), before);
    assert_eq!(plugins(&fixture), []);
    let marketplaces = fixture
        .client
        .run(&fixture.lab, ["plugin", "marketplace", "list", "--json"])
        .unwrap();
    assert!(!marketplaces.stdout.contains("\"omo\""), "{marketplaces:?}");
    let settings = fs::read_to_string(fixture.lab.home().join(".claude/settings.json")).unwrap();
    assert!(
        !settings.contains("omo@omo") && !settings.contains(".local"),
        "{settings}"
    );
    assert!(setup(&fixture, &plugin(), &["--remove"]).contains("nothing to remove"));
    assert_eq!(names(fixture.lab.home()), before);
}

#[test]
fn an_update_reaches_a_session_that_is_open() {
    let script = ModelScript::new()
        .say("Hello to you.")
        .say("Not yet.")
        .bash("true")
        .say(CLAIM);
    let fixture = fresh(script, "lab");
    fixture.lab.configure("[verify]\nreview = false\n").unwrap();
    setup(&fixture, &plugin(), &[]);
    let terminal = fixture.terminal();
    terminal.say("hello").unwrap();
    terminal.wait_for("Hello to you.").unwrap();
    let next = of_version(&fixture, "9.8.7");
    let said = setup(&fixture, &next, &[]);
    assert!(
        said.contains(&format!(
            "updated from {} to 9.8.7",
            env!("CARGO_PKG_VERSION")
        )),
        "{said}"
    );
    assert_eq!(plugins(&fixture), only("9.8.7", true));
    assert_eq!(files(&installed_copy(&fixture)), files(&next));
    terminal.say("ulw fix the parser").unwrap();
    terminal
        .wait_for("[omo] NOT PROVED: claimed, not verified")
        .unwrap();
    assert_eq!(fixture.stops(), ["15: block", "9: end: released"]);
    terminal.quit().unwrap();
}

#[test]
#[ignore = "needs the real client and the archives: cargo xtask test"]
fn an_archive_is_unpacked_and_sets_itself_up() {
    #[expect(
        clippy::disallowed_methods,
        reason = "`cargo xtask test` names the archive that it packed"
    )]
    let archive =
        std::env::var_os("OMO_TEST_ARCHIVE").expect("`cargo xtask test` names an archive");
    let fixture = fresh(continued_once(), "lab");
    let before = names(fixture.lab.project());
    let unpack = fixture
        .lab
        .command("tar")
        .arg("-xzf")
        .arg(&archive)
        .output()
        .unwrap();
    assert!(unpack.status.success(), "{unpack:?}");
    let after = names(fixture.lab.project());
    let [top] = &after.difference(&before).collect::<Vec<_>>()[..] else {
        panic!("{after:?}")
    };
    let folder = fixture.lab.project().join(top);
    assert_eq!(files(&folder), files(&plugin()));
    setup(&fixture, &folder, &[]);
    fs::remove_dir_all(folder).unwrap();
    is_continued_once(&fixture);
}

#[test]
fn a_client_that_refuses_leaves_what_worked() {
    let fixture = fresh(ModelScript::new(), "lab");
    setup(&fixture, &plugin(), &[]);
    let settings = fixture.lab.home().join(".claude/settings.json");
    let sound = fs::read(&settings).unwrap();
    fs::write(&settings, "{ broken").unwrap();
    let run = try_setup(&fixture, &plugin(), &["--remove"]);
    assert_eq!(run.status.code(), Some(5), "{run:?}");
    assert_eq!(fs::read_to_string(&settings).unwrap(), "{ broken");
    assert_eq!(files(&installed_copy(&fixture)), files(&plugin()));
    fs::write(&settings, sound).unwrap();
    assert!(setup(&fixture, &plugin(), &[]).contains("is up to date"));
    assert_eq!(plugins(&fixture), present(true));
}

#[test]
#[ignore = "needs the real client and strace: cargo xtask test"]
fn a_killed_setup_leaves_a_whole_plugin_and_the_next_one_repairs_the_rest() {
    let call = |name: &str, ordinal| SystemCall {
        name: name.to_owned(),
        ordinal,
        line: String::new(),
    };
    let fixture = fresh(ModelScript::new(), "lab");
    let next = of_version(&fixture, "9.8.7");
    let killed = |folder: &Path, at: &SystemCall| {
        let traced = strace::run_with_fault(
            &setup_command(&fixture, folder, &[]),
            "",
            at,
            CallFault::Kill,
        )
        .unwrap();
        assert!(
            traced.is_faulted && !traced.run.status.success(),
            "{at:?}: {:?}",
            traced.run
        );
    };
    // In the middle of the copy, and just before it gets its name.
    for at in [call("fsync", 5), call("rename", 1)] {
        killed(&plugin(), &at);
        assert!(!installed_copy(&fixture).exists(), "{at:?}");
    }
    setup(&fixture, &plugin(), &[]);
    // In the middle of the next version's copy; before it takes the place; and before the old one goes.
    for (at, is_new) in [
        (call("fsync", 5), false),
        (call("renameat2", 1), false),
        (call("unlinkat", 1), true),
    ] {
        setup(&fixture, &plugin(), &[]);
        killed(&next, &at);
        let whole = if is_new { next.clone() } else { plugin() };
        assert_eq!(files(&installed_copy(&fixture)), files(&whole), "{at:?}");
    }
    setup(&fixture, &next, &[]);
    assert_eq!(plugins(&fixture), only("9.8.7", true));
    let kept = ["plugin".to_owned(), "runtime.lock".to_owned()];
    assert_eq!(
        names(&fixture.lab.home().join(".local/share/omo")),
        BTreeSet::from(kept)
    );
}

#[test]
#[ignore = "needs the real client and strace: cargo xtask test"]
fn setup_itself_connects_to_nothing() {
    let fixture = fresh(ModelScript::new(), "lab");
    let traced = strace::run(&setup_command(&fixture, &plugin(), &[]), "").unwrap();
    assert!(
        traced.run.status.success() && traced.calls.len() > 100,
        "{:?}",
        traced.run
    );
    // Nothing is sent without one of these; a `sendto` to a pipe is how a signal handler learns that it is no socket.
    let of_networks = ["socket", "connect", "bind"];
    assert!(
        !traced
            .calls
            .iter()
            .any(|call| of_networks.contains(&&*call.name))
    );
}
