//! The plugin from a marketplace clone: where nothing is built yet, while it is built, and when
//! it comes and goes under sessions that are open.

use std::fs;
use std::path::{Path, PathBuf};

use omo_testkit::{LabBuilder, ModelScript};
use omo_tests::fake_cargo::{PretendedCargo, wait_for_build_outcome};

use crate::client_lab::{CLAIM, plugin};
use crate::marketplace::{HIGHER, VERSION, add, hooks, install, lines, session_id};

/// What the folder around a home may be called.
const ODD: &str = "it's a \"home\" with $PATH and ü";

/// The cargo that builds this test.
fn with_cargo(lab: LabBuilder) -> LabBuilder {
    lab.path(Path::new(env!("CARGO")).parent().expect("a folder"))
}

/// A lab whose home has an odd path.
fn odd(lab: LabBuilder) -> LabBuilder {
    lab.folder(ODD)
}

/// What cargo has downloaded on this machine.
fn cargo_home() -> String {
    #[expect(
        clippy::disallowed_methods,
        reason = "what was downloaded for this test is enough for the one in it"
    )]
    let (own, home) = (std::env::var_os("CARGO_HOME"), std::env::var_os("HOME"));
    let folder = own.map_or_else(
        || PathBuf::from(home.expect("a home")).join(".cargo"),
        PathBuf::from,
    );
    folder.to_str().expect("a path in UTF-8").to_owned()
}

#[test]
fn the_first_session_builds_it_with_cargo_and_its_next_prompt_is_continued() {
    let ask = "omo --version | tr a-z A-Z";
    let script = ModelScript::new()
        .bash("omo --version")
        .say("Hello.")
        .bash(ask)
        .say("Not yet.")
        .bash("true")
        .say(CLAIM);
    let more = |lab| {
        with_cargo(lab)
            .env("CARGO_HOME", &cargo_home())
            .env("CARGO_NET_OFFLINE", "true")
            // As it is built for people, but for the minutes that the last per cent of speed costs.
            .env("CARGO_PROFILE_RELEASE_LTO", "off")
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
    };
    let it = install(script, more);
    let terminal = it.terminal();
    let screen = terminal
        .wait_for("is being built, once, in the background")
        .unwrap();
    assert!(screen.contains("[omo] omo "), "{screen}");
    // A user who goes on at once is not delayed, and is told that nothing is held.
    terminal.say("ulw say hello").unwrap();
    terminal.wait_for("this prompt is not held").unwrap();
    terminal.wait_for("Hello.").unwrap();
    terminal.ready().unwrap();
    assert_eq!(it.lab.state(), None);
    assert_eq!(it.count_in_request(1, "is still being built"), 1);

    assert_eq!(
        wait_for_build_outcome(&it.log()).unwrap(),
        format!("built {VERSION}")
    );
    terminal.say("ulw fix the parser").unwrap();
    terminal
        .wait_for("[omo] NOT PROVED: claimed, not verified")
        .unwrap();
    assert_eq!(
        it.lab.stop_decisions().unwrap(),
        ["15: block", "9: end: released"]
    );
    assert_eq!(it.count_in_request(3, &format!("OMO {VERSION}")), 1);
    assert_eq!(it.model.unscripted(), 0);
}

#[test]
fn a_build_neither_keeps_a_session_nor_ends_with_it() {
    let cargo = PretendedCargo::new(&plugin().join("bin")).unwrap();
    cargo.block_builds().unwrap();
    let script = ModelScript::new()
        .say("Hello.")
        .say("Not yet.")
        .bash("true")
        .say(CLAIM);
    let it = install(script, |lab| odd(lab).path(cargo.folder()));
    let first = it.session("ulw hello", &[]);
    is_not_continued(&lines(&first), "is being built");
    cargo.wait_for_builds(1).unwrap();
    cargo.release().unwrap();
    assert_eq!(
        wait_for_build_outcome(&it.log()).unwrap(),
        format!("built {VERSION}")
    );
    let second = it.session("ulw fix the parser", &["--resume", &session_id(&first)]);
    let reported = lines(&second);
    assert!(
        matches!(&reported[..], [ready, _] if ready.contains("is ready")),
        "that it is over, and the end: {reported:?}"
    );
    assert_eq!(
        it.lab.stop_decisions().unwrap(),
        ["15: block", "9: end: released"]
    );
    assert_eq!(cargo.builds(), 1);
}

/// Both the start of a session and its prompt were told the same: that nothing is held, and why.
fn is_not_continued(reported: &[String], why: &str) {
    let [start, prompt] = reported else {
        panic!("{reported:?}")
    };
    assert!(
        start.contains(why) && !start.contains("this prompt"),
        "{start}"
    );
    assert!(
        prompt.contains(why) && prompt.starts_with("[omo] this prompt is not held: "),
        "{prompt}"
    );
}

#[test]
fn an_update_leaves_open_sessions_with_their_version() {
    let script = ModelScript::new()
        .say_times(2, "Not yet.")
        .bash("true")
        .say(CLAIM)
        .say("A new answer.");
    let it = install(script, odd);
    it.lay_binaries(VERSION);
    let terminal = it.terminal();
    terminal.say("ulw fix the parser").unwrap();
    terminal.wait_for("ultrawork let this turn end").unwrap();
    terminal.ready().unwrap();

    it.marketplace.raise_version();
    it.run_plugin_command(&["marketplace", "update", "omo"]);
    it.run_plugin_command(&["update", "omo@omo"]);
    it.lay_binaries(HIGHER);
    it.take_binary_runs();
    terminal.say("go on").unwrap();
    terminal.wait_for("[omo] NOT PROVED").unwrap();
    let ran = it.take_binary_runs();
    assert!(
        ran.contains(&format!("{VERSION} omo-stop")) && !ran.iter().any(|it| it.contains(HIGHER)),
        "{ran:?}"
    );
    assert_eq!(
        it.lab.stop_decisions().unwrap(),
        ["15: block", "14: warn", "9: end: released"]
    );

    let _ = it.session("hello", &[]);
    let ran = it.take_binary_runs();
    assert!(
        !ran.is_empty() && ran.iter().all(|it| it.starts_with(HIGHER)),
        "{ran:?}"
    );
}

#[test]
fn once_it_is_disabled_or_uninstalled_nothing_runs() {
    let it = install(ModelScript::new().say_times(4, "An answer."), odd);
    it.lay_binaries(VERSION);
    it.run_plugin_command(&["disable", "omo@omo"]);
    assert_eq!(hooks(&it.session("ulw fix it", &[])).len(), 0);
    it.run_plugin_command(&["enable", "omo@omo"]);
    let _ = it.session("hello", &[]);
    assert!(!it.take_binary_runs().is_empty());
    it.run_plugin_command(&["uninstall", "omo@omo"]);
    assert_eq!(hooks(&it.session("ulw fix it", &[])).len(), 0);
    assert_eq!((it.take_binary_runs(), it.lab.state()), (Vec::new(), None));
    // Its data went with it. The client clears the copy itself, later, and keeps the clone until it is told not to.
    assert!(!it.data().exists() && it.cache().join(".orphaned_at").exists());
    it.run_plugin_command(&["marketplace", "remove", "omo"]);
    let plugins = it.lab.home().join(".claude/plugins");
    assert!(!plugins.join("marketplaces/omo").exists());
    for file in [
        plugins.join("installed_plugins.json"),
        it.lab.home().join(".claude/settings.json"),
    ] {
        let text = fs::read_to_string(&file).unwrap();
        assert!(
            !text.contains("omo@omo") && !text.contains(".git"),
            "{}: {text}",
            file.display()
        );
    }
}

/// The first session has launchers; each later one starts the binaries itself, whatever the client does with
/// its copy of the plugin, until that is laid anew, in an open session too.
#[test]
fn from_the_second_session_on_the_client_starts_the_binaries_itself() {
    let it = install(ModelScript::new().say_times(12, "An answer."), odd);
    it.lay_binaries(VERSION);
    let laid = || fs::read(it.data().join("bin").join(VERSION).join("omo-hook")).unwrap();
    let before = laid();
    let check = |what: &str, how: &str| {
        it.take_binary_runs();
        let _ = it.session("hello", &[]);
        let mut ran = it.take_binary_runs();
        ran.sort();
        let events = [
            "omo-session-end",
            "omo-session-start",
            "omo-stop",
            "omo-user-prompt-submit",
        ];
        assert_eq!(
            ran,
            events.map(|event| format!("{VERSION} {event}{how}")),
            "{what}"
        );
        assert_eq!(laid(), before, "{what}");
    };
    check("the first session", "");
    check("the second session", " directly");
    it.run_plugin_command(&["update", "omo@omo"]);
    check("an update to the same version", " directly");
    it.run_plugin_command(&["uninstall", "omo@omo"]);
    it.run_plugin_command(&["install", "omo@omo"]);
    it.lay_binaries(VERSION);
    let terminal = it.terminal();
    let prompt = |wanted: &str| {
        it.take_binary_runs();
        terminal.say("hello").unwrap();
        let mut ran = Vec::new();
        let stopped = || {
            ran.extend(it.take_binary_runs());
            ran.contains(&format!("{VERSION} {wanted}")).then_some(())
        };
        omo_testkit::wait_until(wanted, stopped).unwrap();
        terminal.ready().unwrap();
    };
    prompt("omo-stop");
    terminal.say("/reload-plugins").unwrap();
    terminal.wait_for("Reloaded").unwrap();
    terminal.ready().unwrap();
    prompt("omo-stop directly");
}

/// In an open session no start comes before the first prompt: the prompt itself has it built, and says so.
#[test]
fn right_after_an_install_in_an_open_session_no_prompt_is_ignored() {
    let cargo = PretendedCargo::new(&plugin().join("bin")).unwrap();
    cargo.block_builds().unwrap();
    let script = ModelScript::new()
        .say("Hello.")
        .say("Not yet.")
        .bash("true")
        .say(CLAIM);
    let it = add(script, |lab| odd(lab).path(cargo.folder()));
    let terminal = it.terminal();
    terminal.say("/plugin install omo@omo").unwrap();
    terminal.wait_for("Install for you (user scope)").unwrap();
    terminal.key("Enter").unwrap();
    terminal.ready().unwrap();
    terminal.say("ulw hello").unwrap();
    terminal.wait_for("this prompt is not held: omo").unwrap();
    terminal.wait_for("Hello.").unwrap();
    terminal.ready().unwrap();
    cargo.wait_for_builds(1).unwrap();
    cargo.release().unwrap();
    assert_eq!(
        wait_for_build_outcome(&it.log()).unwrap(),
        format!("built {VERSION}")
    );
    terminal.say("ulw fix the parser").unwrap();
    terminal.wait_for("is ready").unwrap();
    terminal
        .wait_for("[omo] NOT PROVED: claimed, not verified")
        .unwrap();
    assert_eq!(
        it.lab.stop_decisions().unwrap(),
        ["15: block", "9: end: released"]
    );
}
