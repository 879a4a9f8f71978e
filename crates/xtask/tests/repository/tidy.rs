//! Form of the files of the repository, and permissions of each.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use omo_core::events::{EVENTS, EventRow};
use serde_json::Value;

use crate::{read, rust_files, top};

/// Permitted dependencies between our crates, in one direction.
const ARROWS: [(&str, &[&str]); 19] = [
    ("omo-core", &[]),
    // Speaks to the client in place of a model, and knows nothing of omo.
    ("omo-scripted-model", &[]),
    ("omo-state", &["omo-core"]),
    ("omo-process", &["omo-core", "omo-state"]),
    ("omo-claude", &["omo-core", "omo-process", "omo-state"]),
    ("omo-git", &["omo-core", "omo-process", "omo-state"]),
    (
        "omo-checks",
        &["omo-core", "omo-git", "omo-process", "omo-state"],
    ),
    (
        "omo-prove",
        &[
            "omo-checks",
            "omo-core",
            "omo-git",
            "omo-process",
            "omo-state",
        ],
    ),
    (
        "omo-remote",
        &[
            "omo-checks",
            "omo-claude",
            "omo-core",
            "omo-git",
            "omo-process",
            "omo-state",
        ],
    ),
    (
        "omo-hooks",
        &[
            "omo-checks",
            "omo-claude",
            "omo-core",
            "omo-git",
            "omo-process",
            "omo-state",
        ],
    ),
    ("omo-plan", &["omo-core"]),
    (
        "omo-engine",
        &[
            "omo-checks",
            "omo-claude",
            "omo-core",
            "omo-git",
            "omo-plan",
            "omo-process",
            "omo-prove",
            "omo-remote",
            "omo-state",
            "omo-view",
        ],
    ),
    // Text from data: nothing of a run but its input.
    ("omo-view", &["omo-core"]),
    (
        "omo-cli",
        &[
            "omo-checks",
            "omo-claude",
            "omo-core",
            "omo-engine",
            "omo-git",
            "omo-plan",
            "omo-process",
            "omo-prove",
            "omo-remote",
            "omo-scripted-model",
            "omo-state",
            "omo-view",
        ],
    ),
    // Writes the pages; nothing uses it.
    ("omo-pages", &["omo-cli", "omo-core", "omo-view"]),
    // Tries promises of the others; nothing uses it.
    (
        "omo-fuzz",
        &[
            "omo-checks",
            "omo-claude",
            "omo-core",
            "omo-plan",
            "omo-engine",
            "omo-state",
        ],
    ),
    // Plans as data, for tests about plans, and the seal of the states that tests begin with.
    (
        "omo-testkit",
        &[
            "omo-core",
            "omo-engine",
            "omo-plan",
            "omo-scripted-model",
            "omo-state",
        ],
    ),
    ("xtask", &["omo-core", "omo-process", "omo-testkit"]),
    (
        "omo-benches",
        &[
            "omo-core",
            "omo-plan",
            "omo-engine",
            "omo-state",
            "omo-testkit",
        ],
    ),
];

fn json(path: &str) -> Value {
    serde_json::from_str(&read(path)).unwrap()
}

#[test]
fn every_file_says_first_what_it_owns() {
    for path in rust_files() {
        let text = fs::read_to_string(top().join(&path)).unwrap();
        assert!(
            text.starts_with("//! "),
            "{} does not begin with `//!`",
            path.display()
        );
    }
}

#[test]
fn no_file_is_longer_than_950_lines() {
    for path in rust_files() {
        let lines = fs::read_to_string(top().join(&path))
            .unwrap()
            .lines()
            .count();
        assert!(lines <= 950, "{} has {lines} lines", path.display());
    }
}

#[test]
fn the_rules_do_no_input_or_output() {
    let banned = [
        "std::fs",
        "std::env",
        "std::net",
        "std::process",
        "std::io",
        "SystemTime",
        "Instant::now",
        "Utc::now",
    ];
    // Of omo-engine, the rules of a run; the parts that keep its files and start its workers are named here.
    let edges = [
        "error",
        "ledger",
        "parallel",
        "projection",
        "task_list_store",
        "ticket",
        "work",
    ];
    let is_rule_of_a_run = |path: &Path| {
        let part = path
            .strip_prefix("crates/omo-engine/src")
            .ok()
            .and_then(|rest| rest.components().next());
        part.is_some_and(|part| {
            !edges.contains(&part.as_os_str().to_string_lossy().trim_end_matches(".rs"))
        })
    };
    let is_pure = |path: &&PathBuf| {
        [
            "crates/omo-core/src",
            "crates/omo-plan/src",
            "crates/omo-view/src",
        ]
        .iter()
        .any(|of| path.starts_with(of))
            || is_rule_of_a_run(path)
    };
    for path in rust_files().iter().filter(is_pure) {
        let text = fs::read_to_string(top().join(path)).unwrap();
        for word in banned {
            assert!(!text.contains(word), "{} uses {word}", path.display());
        }
    }
}

fn of_the_user() -> Vec<(PathBuf, String)> {
    let others = ["omo-fuzz", "omo-pages", "omo-testkit", "xtask"];
    let is_one = |path: &PathBuf| {
        let mut parts = path.iter().map(|part| part.to_string_lossy());
        parts.next().is_some_and(|part| part == "crates")
            && parts.next().is_some_and(|name| !others.contains(&&*name))
            && parts.next().is_some_and(|part| part == "src")
    };
    let read = |path: PathBuf| {
        let text = fs::read_to_string(top().join(&path)).unwrap();
        (path, text)
    };
    rust_files().into_iter().filter(is_one).map(read).collect()
}

/// A promise of the README: omo opens no connection. One file listens, to this machine alone, for as long as a person
/// has `omo doctor --live` look at a session. Another finds free ports, for the sessions of a plan: it holds them for
/// a moment, and never takes a connection.
#[test]
fn what_a_user_runs_opens_no_connection() {
    const LISTENS: &str = "crates/omo-scripted-model/src/loopback.rs";
    const FINDS_PORTS: &str = "crates/omo-claude/src/worker_resources.rs";
    let model = read(LISTENS);
    assert_eq!(
        (
            model.matches("Server::http(").count(),
            model.matches("Server::http(\"127.0.0.1:0\")").count()
        ),
        (1, 1)
    );
    let ports = read(FINDS_PORTS);
    assert_eq!(
        (
            ports.matches("std::net").count(),
            ports
                .matches("use std::net::{Ipv4Addr, TcpListener};")
                .count()
        ),
        (1, 1)
    );
    assert!(!ports.contains("accept(") && !ports.contains("incoming("));
    for (path, text) in of_the_user() {
        let speaks_http = path.starts_with("crates/omo-scripted-model/src");
        assert!(
            speaks_http || !text.contains("tiny_http"),
            "{} uses tiny_http",
            path.display()
        );
        assert!(
            path.ends_with(LISTENS) || !text.contains("Server::http"),
            "{} listens",
            path.display()
        );
        for word in ["std::net", "os::unix::net", "rustix::net"] {
            assert!(
                path.ends_with(FINDS_PORTS) || !text.contains(word),
                "{} uses {word}",
                path.display()
            );
        }
    }
}

/// Source that is compared whatever its layout.
fn without_whitespace(path: &str) -> String {
    read(path).split_whitespace().collect()
}

/// A promise of the README: omo starts the checks, git, the client where a person asks for that, and nothing else, but
/// for the status line and the launcher that its user hands it.
#[test]
fn processes_are_started_in_known_places_and_nowhere_else() {
    let places_with = |words: &[&str]| {
        let code = |text: &str| {
            text.split("#[cfg(test)]")
                .next()
                .unwrap_or_default()
                .to_owned()
        };
        let has_word = |text: &str| words.iter().any(|word| code(text).contains(word));
        let all = of_the_user().into_iter().filter(|(_, text)| has_word(text));
        let mut places: Vec<String> = all.map(|(path, _)| path.display().to_string()).collect();
        places.sort();
        places
    };
    // One function gives every process its environment.
    assert_eq!(
        places_with(&["Command::new("]),
        ["crates/omo-process/src/child_command.rs"]
    );
    let mut places = places_with(&["child_command(", "inheriting_command("]);
    places.retain(|place| place != "crates/omo-process/src/child_command.rs");
    let known = [
        "omo-claude/src/client.rs",
        "omo-claude/src/client/headless.rs",
        "omo-claude/src/supervisor.rs",
        "omo-claude/src/supervisor/minder.rs",
        "omo-cli/src/commands/run/pr/service.rs",
        "omo-git/src/git_command.rs",
        "omo-process/src/detached.rs",
        "omo-process/src/file_opener.rs",
        "omo-process/src/job.rs",
        "omo-process/src/keeper.rs",
        "omo-process/src/own_command.rs",
        "omo-process/src/status_line.rs",
        "omo-remote/src/launcher.rs",
    ];
    let known = known.map(|file| format!("crates/{file}"));
    assert_eq!(places, known);
    // The sessions of a plan are started by a minder, which is omo itself, as the supervisor is.
    let detached = read("crates/omo-process/src/detached.rs");
    assert!(detached.contains("start_detached_program(&own_program()?, "));
    // The other binary that is started so is the omo beside a hook, found by the hook's own path.
    let claim_proof = read("crates/omo-checks/src/claim_proof.rs");
    assert!(
        claim_proof.contains("let program = own_command::program()")
            && claim_proof.contains("start_detached_program(&program, ")
    );
    assert!(
        read("crates/omo-claude/src/supervisor.rs").contains("inheriting_command(own_program()?)")
    );
    assert!(
        read("crates/omo-claude/src/supervisor/minder.rs")
            .contains("child_command(&spec.program, ")
    );
    // Commands of others run in a keeper, which is only ever given a check of a run or of a plan, and runs it in
    // `/bin/sh` or, a check alone, in the bash that was found outside the project.
    let keeper = without_whitespace("crates/omo-process/src/keeper.rs");
    assert!(keeper.contains("inheriting_command(shell.program())"));
    assert!(keeper.contains(
        "spec.check.as_ref().and_then(|check|check.bash.clone()).map_or_else(Shell::find,"
    ));
    assert!(read("crates/omo-process/src/platform/unix.rs").contains("PathBuf::from(\"/bin/sh\")"));
    assert!(
        read("crates/omo-checks/src/task_check.rs")
            .contains("let bash = bash(environment.search(), root);")
    );
    assert!(read("crates/omo-checks/src/session_checks.rs").contains("check: None,"));
    let git = without_whitespace("crates/omo-git/src/git_command.rs");
    assert!(
        git.contains("let(git,search)=find_git(folder,tree.as_ref())?;")
            && git.contains("letmutcommand=child_command(git,")
            && git.contains("SearchPath::from_variables(&inherited()).outside(&projects)")
    );
    // The browser for the person who asks for a page.
    let opener = read("crates/omo-process/src/file_opener.rs");
    assert!(
        opener.contains("SearchPath::from_process().outside(projects)")
            && opener.contains("inheriting_command(program)")
    );
    assert!(read("crates/omo-process/src/job.rs").contains("child_command(own_program()?, "));
    // Another binary of omo, found by the path of this one: the answer to a command about a run.
    let own_command = read("crates/omo-process/src/own_command.rs");
    assert!(
        own_command.contains("let own = std::env::current_exe().ok()?;")
            && !own_command.contains("env::var")
    );
    let run_prompt = read("crates/omo-hooks/src/run_prompt.rs");
    assert!(
        run_prompt.contains("own_command::program()") && run_prompt.contains("&program, ARGUMENT,")
    );
    assert!(
        read("crates/omo-process/src/status_line.rs").contains("found.give(&mut shell, command)?")
    );
    // The client of `PATH`, which `omo setup` registers the plugin with. A hook never starts it.
    assert!(read("crates/omo-claude/src/client.rs").contains("inheriting_command(&self.program)"));
    let mut hooks = of_the_user()
        .into_iter()
        .filter(|(path, _)| path.starts_with("crates/omo-hooks"));
    assert!(hooks.all(|(_, text)| {
        [
            "omo_claude::client",
            "omo_claude::worker",
            "omo_claude::supervisor",
            "omo_process::status_line",
        ]
        .iter()
        .all(|module| !text.contains(module))
    }));
}

/// docs/adr/0013: differences between systems stand behind one module of each crate.
#[test]
fn only_a_platform_module_asks_which_system_it_is_on() {
    let words = [
        "target_os",
        "cfg(unix)",
        "cfg(windows)",
        "cfg!(windows)",
        "std::os::",
        "rustix::",
        "nix::",
        "winapi",
    ];
    for (path, text) in of_the_user() {
        let is_platform = path
            .with_extension("")
            .components()
            .any(|part| part.as_os_str() == "platform");
        let code = text.split("#[cfg(test)]").next().unwrap();
        for word in words.into_iter().filter(|_| !is_platform) {
            assert!(
                !code.contains(word),
                "{} has {word}, which belongs into its crate's platform module",
                path.display()
            );
        }
    }
}

#[test]
fn arrows_between_the_crates_go_one_way() {
    for (name, allowed) in ARROWS {
        let folder = if name == "omo-benches" {
            "benches".to_owned()
        } else {
            format!("crates/{name}")
        };
        let manifest = read(&format!("{folder}/Cargo.toml"));
        let normal = manifest.split("[dev-dependencies]").next().unwrap();
        let used = normal
            .lines()
            .filter(|line| line.starts_with("omo-"))
            .map(|line| line.split('.').next().unwrap());
        for other in used {
            assert!(allowed.contains(&other), "{name} uses {other}");
        }
    }
}

#[test]
fn the_hooks_link_no_clap_and_no_regex() {
    let tree = [
        "tree",
        "--locked",
        "--offline",
        "-p",
        "omo-hooks",
        "-e",
        "normal",
        "--prefix",
        "none",
    ];
    let output = Command::new(env!("CARGO"))
        .args(tree)
        .current_dir(top())
        .output()
        .unwrap();
    let linked = String::from_utf8(output.stdout).unwrap();
    assert!(linked.contains("serde_json"), "cargo tree said: {linked}");
    for banned in ["clap", "regex", "anyhow", "omo-cli", "tokio"] {
        assert!(
            !linked.lines().any(|line| line.starts_with(banned)),
            "the hooks link {banned}"
        );
    }
}

#[test]
fn the_version_is_the_same_everywhere() {
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(json(".claude-plugin/plugin.json")["version"], version);
    assert_eq!(json("plugin.json")["version"], version);
    assert_eq!(
        json(".claude-plugin/marketplace.json")["plugins"][0]["version"],
        version
    );
    // Changes since the last release may stand above.
    let changes = read("CHANGELOG.md");
    let newest = changes
        .lines()
        .find(|line| line.starts_with("## [") && *line != "## [Unreleased]")
        .unwrap();
    assert!(
        newest.starts_with(&format!("## [{version}] - ")),
        "CHANGELOG.md says {newest}"
    );
}

/// A clone runs binaries of its own version and of no other.
#[test]
fn the_launchers_are_alike_and_find_this_version() {
    let mut texts = Vec::new();
    for entry in fs::read_dir(top().join("bin")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let text = read(&format!("bin/{name}"));
        assert!(
            text.contains("/../scripts/launch.sh"),
            "{name} does not launch"
        );
        assert!(
            text.lines().count() <= 5,
            "{name} is longer than a launcher"
        );
        if name != "omo" {
            texts.push(text);
        }
    }
    let count = texts.len();
    texts.dedup();
    assert_eq!(
        (count, texts.len()),
        (EVENTS.len(), 1),
        "launchers of hooks, and different ones of those"
    );
    let wanted = format!("\nversion={}\n", env!("CARGO_PKG_VERSION"));
    assert!(
        read("scripts/launch.sh").contains(&wanted),
        "scripts/launch.sh finds another version"
    );
}

#[test]
fn the_hooks_of_the_plugin_are_the_table_of_events_each_in_exec_form() {
    let handler = |row: &EventRow| {
        // On these events the client passes over a matcher, and never runs a hook with an `if`.
        let mut handler = serde_json::json!({
            "type": "command",
            "command": format!("${{CLAUDE_PLUGIN_ROOT}}/bin/{}", row.program),
            "args": [],
            "timeout": row.timeout_seconds,
        });
        if let Some(message) = row.status_message {
            handler["statusMessage"] = message.into();
        }
        (
            row.name.to_owned(),
            serde_json::json!([{ "hooks": [handler] }]),
        )
    };
    let expected: serde_json::Map<String, Value> = EVENTS.iter().map(handler).collect();
    assert_eq!(
        json("hooks.json")["hooks"],
        Value::Object(expected),
        "hooks.json is not what EVENTS says"
    );
    let mut launchers: Vec<_> = EVENTS
        .iter()
        .map(|row| row.program.to_owned())
        .chain(["omo".to_owned()])
        .collect();
    launchers.sort();
    let in_clone = fs::read_dir(top().join("bin")).unwrap();
    let mut in_clone: Vec<_> = in_clone
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    in_clone.sort();
    assert_eq!(in_clone, launchers, "the launchers of a clone");
}

/// Commands that a model carries out.
const DISPATCHERS: [&str; 5] = [
    "execute",
    "execute-local",
    "execute-plan",
    "ulw-exec",
    "ulw-plan",
];

/// Commands with their text, but those that a model carries out.
fn commands() -> Vec<(String, String)> {
    let files = fs::read_dir(top().join("commands"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let with_text = files.map(|path| {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, fs::read_to_string(&path).unwrap())
    });
    let mut commands: Vec<_> = with_text
        .filter(|(name, _)| !DISPATCHERS.contains(&&**name))
        .collect();
    commands.sort();
    commands
}

#[test]
fn every_command_describes_itself_and_no_model_can_call_it() {
    let commands = commands();
    for (name, text) in &commands {
        let front = text
            .strip_prefix("---\n")
            .and_then(|text| text.split("\n---\n").next())
            .unwrap();
        assert!(front.contains("description: "), "{name}");
        assert!(front.contains("disable-model-invocation: true"), "{name}");
        assert!(!text.contains("!`"), "{name} runs a shell");
    }
    let names: Vec<&str> = commands.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "answer",
            "cancel",
            "check",
            "report",
            "retry",
            "status",
            "statusline",
            "stop-continuation",
            "ulw",
            "why"
        ]
    );
}

/// These spend their user's quota for as long as they last: no model begins with one.
#[test]
fn the_commands_of_task_sessions_run_one_line_each_and_only_a_person_begins_with_them() {
    for (name, line) in [
        ("ulw-plan", "omo agent tasks create --args-from-hook"),
        ("ulw-exec", "omo agent open --command ulw-exec"),
    ] {
        let text = read(&format!("commands/{name}.md"));
        dispatches(&text, line);
        assert!(
            text.contains("\ndisable-model-invocation: true\n"),
            "{name}"
        );
    }
}

/// They may start many clients, each of which spends its user's quota.
#[test]
fn the_commands_that_may_start_clients_run_one_line_each_and_only_a_person_begins_with_them() {
    for name in ["execute", "execute-local", "execute-plan"] {
        let text = read(&format!("commands/{name}.md"));
        dispatches(&text, &format!("omo agent open --command {name}"));
        assert!(
            text.contains("\ndisable-model-invocation: true\n"),
            "{name}"
        );
    }
}

/// A permission of a command holds for its agents as well. `omo agent evidence run` runs any text of a model, so that
/// its user is asked as for any other command. Edits of files stay with the user's own permission mode.
#[test]
fn no_command_allows_what_a_model_writes_to_be_run() {
    for name in DISPATCHERS {
        let text = read(&format!("commands/{name}.md"));
        let shell: Vec<_> = allowed(&text)
            .into_iter()
            .filter(|tool| tool.starts_with("Bash"))
            .collect();
        assert!(!shell.is_empty(), "{name}");
        for tool in shell {
            let verb = tool
                .strip_prefix("Bash(omo ")
                .and_then(|rest| rest.strip_suffix(":*)"))
                .unwrap_or_default();
            assert!(
                !verb.is_empty() && !"agent evidence run".starts_with(verb),
                "{name}: {tool}"
            );
        }
        assert!(
            !allowed(&text)
                .iter()
                .any(|tool| ["Edit", "Write"].iter().any(|it| tool.starts_with(it))),
            "{name}"
        );
    }
}

fn allowed(text: &str) -> Vec<&str> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("allowed-tools: "));
    line.map(|line| line.split(", ").collect())
        .unwrap_or_default()
}

fn dispatches(text: &str, line: &str) {
    let opens = format!("\n!`{line}`\n");
    assert_eq!(
        (text.matches("!`").count(), text.matches(&opens).count()),
        (1, 1),
        "{line}"
    );
    assert!(text.lines().count() <= 40, "longer than a dispatcher needs");
}

/// An agent that could start others would spend uncounted tokens.
#[test]
fn every_agent_is_a_leaf_and_says_what_it_is_for() {
    let mut names = Vec::new();
    for entry in fs::read_dir(top().join("agents")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        let front = text
            .strip_prefix("---\n")
            .and_then(|text| text.split("\n---\n").next())
            .unwrap();
        let field = |field: &str| {
            front
                .lines()
                .find_map(|line| line.strip_prefix(field))
                .unwrap()
        };
        assert_eq!(field("name: "), name);
        assert!(
            field("description: ").len() <= 30,
            "{name}: each session of a user pays for it"
        );
        assert!(text.contains("start no other agents"), "{name}");
        assert_eq!(field("model: "), "inherit", "{name}");
        let tools: Vec<_> = field("tools: ").split(", ").collect();
        assert!(
            !tools
                .iter()
                .any(|tool| ["Agent", "Task", "Workflow"].contains(tool)),
            "{name}: {tools:?}"
        );
        assert!(
            text.lines().count() <= 40,
            "{name} is longer than a leaf needs"
        );
        names.push(name);
    }
    names.sort();
    assert_eq!(names, ["oracle", "verifier", "worker"]);
}

#[test]
fn no_test_sleeps() {
    let name = concat!("thread::", "sleep");
    for path in rust_files() {
        let is_test = path.components().any(|part| part.as_os_str() == "tests");
        let text = fs::read_to_string(top().join(&path)).unwrap();
        assert!(
            !is_test || !text.contains(name),
            "{} sleeps",
            path.display()
        );
    }
}

/// Crates list their test binaries by hand, so that several files are one; a file that none of them has is never run.
#[test]
fn every_file_of_tests_belongs_to_a_test_binary() {
    let in_top = |path: PathBuf| fs::read_to_string(top().join(path)).unwrap_or_default();
    for path in rust_files() {
        let (Some(name), Some(folder)) = (
            path.file_stem().and_then(|name| name.to_str()),
            path.parent(),
        ) else {
            continue;
        };
        let manifest = in_top(folder.with_file_name("Cargo.toml"));
        if folder.ends_with("tests") && manifest.contains("autotests = false") {
            let is_listed = manifest.contains(&format!("path = \"tests/{name}.rs\""))
                || in_top(folder.join("main.rs")).contains(&format!("mod {name};\n"));
            assert!(is_listed, "{} is in no test binary", path.display());
        }
    }
}
