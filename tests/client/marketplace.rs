//! This repository as people get it: committed, served over HTTP, added to the client as a
//! marketplace, and the plugin installed from it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use omo_testkit::model::RequestKind;
use omo_testkit::{Client, Lab, LabBuilder, MockModel, ModelScript, PrintRun, Terminal};
use omo_tests::repository_copy::copy_repository;
use serde_json::Value;

use crate::client_lab::{client, plugin};
use crate::served_repository::ServedRepository;

/// The version in this repository.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// A higher one.
pub(crate) const HIGHER: &str = "99.0.0";

/// The repository as it would be committed now, and its server.
pub(crate) struct Marketplace(ServedRepository);

impl Marketplace {
    /// Serves what git knows of this repository; nothing that was only built here is in it.
    fn open() -> Self {
        let repository = ServedRepository::new("main");
        copy_repository(&repository.work()).expect("check out");
        repository.commit("As it is");
        Self(repository)
    }

    /// Where it is served.
    pub(crate) fn url(&self) -> String {
        self.0.url()
    }

    /// Publishes a higher version. Its binaries are never built, so `Cargo.lock` stays as it is.
    pub(crate) fn raise_version(&self) {
        let named = [
            ".claude-plugin/plugin.json",
            ".claude-plugin/marketplace.json",
            "Cargo.toml",
            "scripts/launch.sh",
        ];
        for path in named.map(|name| self.0.work().join(name)) {
            let text = fs::read_to_string(&path).expect("a text");
            assert!(
                text.contains(VERSION),
                "{} names no version",
                path.display()
            );
            fs::write(&path, text.replace(VERSION, HIGHER)).expect("write");
        }
        self.0.commit("A higher version");
    }
}

/// A home in which the plugin is installed from the marketplace.
pub(crate) struct Installed {
    /// The scripted model.
    pub model: MockModel,
    /// Home, project, state.
    pub lab: Lab,
    /// Where the plugin came from.
    pub marketplace: Marketplace,
    client: Client,
}

/// Installs the plugin in a fresh home.
pub(crate) fn install(
    script: ModelScript,
    more: impl FnOnce(LabBuilder) -> LabBuilder,
) -> Installed {
    let installed = add(script, more);
    installed.run_plugin_command(&["install", "omo@omo"]);
    installed
}

/// Adds the marketplace in a fresh home, and installs nothing.
pub(crate) fn add(script: ModelScript, more: impl FnOnce(LabBuilder) -> LabBuilder) -> Installed {
    let client = client();
    let model = MockModel::start(script).expect("start the scripted model");
    let lab = more(Lab::builder().model(&model))
        .build()
        .expect("set up a lab");
    lab.configure("[verify]\nreview = false\n")
        .expect("configure");
    let installed = Installed {
        model,
        lab,
        client,
        marketplace: Marketplace::open(),
    };
    installed.run_plugin_command(&["marketplace", "add", &installed.marketplace.url()]);
    installed
}

impl Installed {
    /// Runs `claude plugin …`; it has to succeed.
    pub(crate) fn run_plugin_command(&self, arguments: &[&str]) {
        run_plugin_command(&self.client, &self.lab, arguments);
    }

    /// One prompt with `claude -p`, and everything that the client tells about it.
    pub(crate) fn session(&self, prompt: &str, more: &[&str]) -> PrintRun {
        print_with_hooks(&self.client, &self.lab, prompt, more)
    }

    /// A terminal with the client in it, ready for a person.
    pub(crate) fn terminal(&self) -> Terminal {
        let terminal = Terminal::start(&self.lab, &self.client, &[]).expect("start a terminal");
        terminal.ready().expect("the client is ready");
        terminal
    }

    /// The copy of the clone that the client runs.
    pub(crate) fn cache(&self) -> PathBuf {
        self.lab
            .home()
            .join(".claude/plugins/cache/omo/omo")
            .join(VERSION)
    }

    /// The folder of the plugin's data.
    pub(crate) fn data(&self) -> PathBuf {
        self.lab.home().join(".claude/plugins/data/omo-omo")
    }

    /// The log of the build.
    pub(crate) fn log(&self) -> PathBuf {
        self.data().join("build.log")
    }

    /// Lays ready binaries of a version into the data folder, each of which says first that it runs.
    pub(crate) fn lay_binaries(&self, version: &str) {
        let folder = self.data().join("bin").join(version);
        fs::create_dir_all(&folder).expect("make the folder of the version");
        let quote =
            |path: &Path| format!("'{}'", path.display().to_string().replace('\'', r"'\''"));
        let (ran, binaries) = (quote(&self.ran_file()), quote(&plugin().join("bin")));
        for name in ["omo-hook", "omo"] {
            // As the program of hooks: its own name says which it is, or else its first argument.
            let event = "event=${0##*/}; [ \"$event\" != omo-hook ] || event=${1:-}; [ \"$event\" ] || exit 0";
            let directly = "how=; case $0 in */cache/*/run/*) how=' directly' ;; esac";
            let text = format!(
                "#!/bin/sh\n{event}\n{directly}\necho {version} $event$how >>{ran}\nexec {binaries}/$event \"$@\"\n"
            );
            let path = folder.join(name);
            fs::write(&path, text).expect("write");
            fs::set_permissions(&path, PermissionsExt::from_mode(0o755))
                .expect("make it executable");
        }
    }

    /// The binaries that were laid and ran since this was asked last, as `0.1.0 omo-stop`, or
    /// `0.1.0 omo-stop directly` where the client itself started it.
    pub(crate) fn take_binary_runs(&self) -> Vec<String> {
        let text = fs::read_to_string(self.ran_file()).unwrap_or_default();
        fs::remove_file(self.ran_file()).ok();
        text.lines().map(str::to_owned).collect()
    }

    fn ran_file(&self) -> PathBuf {
        self.lab.root().join("ran")
    }

    /// How often a text stood in the messages of one request of the session's own conversation.
    pub(crate) fn count_in_request(&self, request: usize, text: &str) -> usize {
        self.model.requests_of(RequestKind::Main)[request].count_of(text)
    }
}

/// Runs `claude plugin …`; it has to succeed.
pub(crate) fn run_plugin_command(client: &Client, lab: &Lab, arguments: &[&str]) {
    let run = client
        .run(lab, [&["plugin"], arguments].concat())
        .expect("run the client");
    assert!(run.status.success(), "{arguments:?}: {run:?}");
}

/// One prompt with `claude -p`, and everything that the client prints about it, its hooks included.
pub(crate) fn print_with_hooks(
    client: &Client,
    lab: &Lab,
    prompt: &str,
    more: &[&str],
) -> PrintRun {
    let mut arguments = vec![
        "-p",
        "--output-format",
        "stream-json",
        "--verbose",
        "--include-hook-events",
    ];
    arguments.extend(["--permission-mode", "bypassPermissions"]);
    arguments.extend(more);
    arguments.extend(["--", prompt]);
    let run = client.run(lab, arguments).expect("run the client");
    assert!(run.status.success(), "{run:?}");
    run
}

/// What the client tells of each hook that ran in a session.
pub(crate) fn hooks(run: &PrintRun) -> Vec<Value> {
    let values = run
        .stdout
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    values
        .filter(|value| value["subtype"] == "hook_response")
        .collect()
}

/// The lines that hooks said to the person.
pub(crate) fn lines(run: &PrintRun) -> Vec<String> {
    let reported = hooks(run)
        .into_iter()
        .filter_map(|hook| serde_json::from_str::<Value>(hook["stdout"].as_str()?).ok());
    reported
        .filter_map(|answer| answer["systemMessage"].as_str().map(str::to_owned))
        .collect()
}

/// The id of the session.
pub(crate) fn session_id(run: &PrintRun) -> String {
    let hook = hooks(run).into_iter().next().expect("a hook");
    hook["session_id"].as_str().expect("an id").to_owned()
}
