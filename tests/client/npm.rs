//! The plugin from npm, on a machine that cannot build it: a registry on loopback has the packages, the client
//! and npm do the rest.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use omo_testkit::{Client, Lab, MockModel, ModelScript, NpmRegistry, PrintRun};
use serde_json::Value;
use tempfile::TempDir;

use crate::client_lab::CLAIM;
use crate::marketplace::{HIGHER, VERSION, lines, print_with_hooks, run_plugin_command};
use crate::served_repository::ServedRepository;

/// A home in which the plugin was installed from the registry.
struct FromNpm {
    model: MockModel,
    lab: Lab,
    client: Client,
    registry: NpmRegistry,
    shelf: TempDir,
    marketplace: Released,
    _tools: TempDir,
}

/// What `cargo xtask dist` has packed for the tests.
fn packages() -> PathBuf {
    #[expect(
        clippy::disallowed_methods,
        reason = "`cargo xtask test` names the packages that it made"
    )]
    let packages = std::env::var_os("OMO_TEST_PACKAGES");
    PathBuf::from(packages.expect("OMO_TEST_PACKAGES is set by `cargo xtask test`"))
}

/// This machine in the words of npm.
fn platform() -> String {
    let system = if cfg!(target_os = "macos") {
        "darwin"
    } else {
        "linux"
    };
    let processor = if cfg!(target_arch = "aarch64") {
        "arm64"
    } else {
        "x64"
    };
    format!("{system}-{processor}")
}

/// The ordinary tools in one folder, npm among them, and nothing that builds Rust.
fn tools_without_rust() -> TempDir {
    let tools = tempfile::tempdir().unwrap();
    for folder in ["/usr/local/bin", "/usr/bin", "/bin"] {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if !["cargo", "rustc", "rustup"]
                .iter()
                .any(|rust| name == *rust)
            {
                // The first of a name is the one that is found; in many systems the last folder is the one before.
                symlink(entry.path(), tools.path().join(name)).ok();
            }
        }
    }
    assert!(
        tools.path().join("npm").exists(),
        "npm is in none of the ordinary folders"
    );
    tools
}

/// The ref of a release: a repository whose one branch holds the marketplace file that names the package.
struct Released(ServedRepository);

impl Released {
    fn open() -> Self {
        let released = Self(ServedRepository::new("release"));
        released.publish(VERSION);
        released
    }

    /// Has the marketplace name this version.
    fn publish(&self, version: &str) {
        let text =
            fs::read_to_string(packages().join("marketplace.json")).expect("the marketplace file");
        let mut marketplace: Value = serde_json::from_str(&text).expect("JSON");
        marketplace["plugins"][0]["version"] = version.into();
        marketplace["plugins"][0]["source"]["version"] = version.into();
        let file = self.0.work().join(".claude-plugin/marketplace.json");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, marketplace.to_string()).unwrap();
        self.0.commit(version);
    }
}

/// Puts packages of a version on the shelf of a registry.
fn stock(shelf: &Path, version: &str, has: impl Fn(&str) -> bool) {
    let names = fs::read_dir(packages())
        .expect("the packages")
        .flatten()
        .map(|entry| entry.file_name());
    let names = names.map(|name| name.into_string().unwrap());
    for name in names.filter(|name| name.ends_with(&format!("-{version}.tgz")) && has(name)) {
        fs::copy(packages().join(&name), shelf.join(&name)).unwrap();
    }
}

/// Installs the plugin from a registry with what is put on its shelf.
fn install(script: ModelScript, fill: impl FnOnce(&Path)) -> FromNpm {
    let client = Client::find().expect("OMO_TEST_CLIENT is set by `cargo xtask test`");
    let model = MockModel::start(script).expect("start the scripted model");
    let (shelf, tools) = (tempfile::tempdir().unwrap(), tools_without_rust());
    fill(shelf.path());
    let registry = NpmRegistry::start(shelf.path()).expect("serve packages");
    let lab = Lab::builder()
        .model(&model)
        .folder("it's a \"home\" with $PATH and ü");
    let lab = lab
        .env("npm_config_registry", &registry.url())
        .env("npm_config_update_notifier", "false");
    let lab = lab
        .env("PATH", tools.path().to_str().expect("a path in UTF-8"))
        .build()
        .expect("set up a lab");
    lab.configure("[verify]\nreview = false\n")
        .expect("configure");
    let marketplace = Released::open();
    let it = FromNpm {
        model,
        lab,
        client,
        registry,
        shelf,
        marketplace,
        _tools: tools,
    };
    it.does(&[
        "marketplace",
        "add",
        &format!("{}#release", it.marketplace.0.url()),
    ]);
    it.does(&["install", "omo@omo"]);
    it
}

impl FromNpm {
    /// Runs `claude plugin …`; it has to succeed.
    fn does(&self, arguments: &[&str]) {
        run_plugin_command(&self.client, &self.lab, arguments);
    }

    /// One prompt with `claude -p`, and everything that the client tells about it.
    fn session(&self, prompt: &str) -> PrintRun {
        print_with_hooks(&self.client, &self.lab, prompt, &[])
    }

    /// Where the client unpacks a version.
    fn cache(&self, version: &str) -> PathBuf {
        self.lab
            .home()
            .join(".claude/plugins/cache/omo/omo")
            .join(version)
    }

    /// The platforms whose packages arrived with a version.
    fn platforms(&self, version: &str) -> Vec<String> {
        let folder = self.cache(version).join("node_modules/@omo-cc");
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect()
    }
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o111 == 0o111)
}

#[test]
#[ignore = "needs the real client and the archives: cargo xtask test"]
fn the_first_prompt_after_an_install_is_continued_without_a_compiler() {
    let it = install(
        ModelScript::new()
            .say("Not yet.")
            .bash("omo --version")
            .say(CLAIM),
        |shelf| {
            stock(shelf, VERSION, |_| true);
        },
    );
    assert_eq!(
        it.platforms(VERSION),
        [platform()],
        "other platforms' packages were installed"
    );
    let package = it
        .cache(VERSION)
        .join("node_modules/@omo-cc")
        .join(platform());
    for program in ["bin/omo-stop", "bin/omo"].map(|name| it.cache(VERSION).join(name)) {
        assert!(is_executable(&program), "{}", program.display());
    }
    for binary in ["bin/omo-hook", "bin/omo"].map(|name| package.join(name)) {
        assert!(is_executable(&binary), "{}", binary.display());
    }
    let files: Vec<_> = it
        .registry
        .requests()
        .into_iter()
        .filter(|path| path.contains(".tgz"))
        .collect();
    let own = format!("-/omo-cc-{}-{VERSION}.tgz", platform());
    assert!(files.contains(&own), "{files:?}");
    assert!(
        files
            .iter()
            .all(|file| *file == own || file.contains("/omo-cc-omo-")),
        "{files:?}"
    );

    let first = it.session("ulw fix the parser");
    assert_eq!(
        it.lab.stop_decisions().unwrap(),
        ["15: block", "9: end: released"],
        "{first:?}"
    );
    assert!(
        !lines(&first).iter().any(|line| line.contains("not built")),
        "{first:?}"
    );
    assert_eq!(it.model.unscripted(), 0);
}

#[test]
#[ignore = "needs the real client and the archives: cargo xtask test"]
fn an_update_brings_the_binaries_of_its_version() {
    let it = install(
        ModelScript::new().say("Not yet.").bash("true").say(CLAIM),
        |shelf| stock(shelf, VERSION, |_| true),
    );
    stock(it.shelf.path(), HIGHER, |_| true);
    it.marketplace.publish(HIGHER);
    it.does(&["marketplace", "update", "omo"]);
    it.does(&["update", "omo@omo"]);
    assert_eq!(it.platforms(HIGHER), [platform()]);
    let package = it
        .cache(HIGHER)
        .join("node_modules/@omo-cc")
        .join(platform())
        .join("package.json");
    let package: Value = serde_json::from_slice(&fs::read(package).unwrap()).unwrap();
    assert_eq!(package["version"], HIGHER);
    let run = it.session("ulw fix the parser");
    assert_eq!(
        it.lab.stop_decisions().unwrap(),
        ["15: block", "9: end: released"],
        "{run:?}"
    );
}

#[test]
#[ignore = "needs the real client and the archives: cargo xtask test"]
fn a_platform_that_npm_left_out_is_reported_and_does_no_harm() {
    let fill = |shelf: &Path| stock(shelf, VERSION, |name| !name.contains(&platform()));
    let it = install(
        ModelScript::new()
            .say("An answer.")
            .say("Not yet.")
            .bash("true")
            .say(CLAIM),
        fill,
    );
    // npm says nothing of it, and the client neither.
    assert_eq!(it.platforms(VERSION), Vec::<String>::new());
    let reported = lines(&it.session("ulw fix the parser"));
    let ways = ["/plugin uninstall omo@omo", "/plugin install omo@omo"];
    assert!(
        reported
            .iter()
            .any(|line| ways.iter().all(|way| line.contains(way))),
        "{reported:?}"
    );
    assert_eq!(
        (it.lab.stop_decisions().unwrap(), it.lab.state()),
        (Vec::new(), None)
    );
    // What is told helps, once the package is there.
    stock(it.shelf.path(), VERSION, |_| true);
    it.does(&["uninstall", "omo@omo"]);
    it.does(&["install", "omo@omo"]);
    assert_eq!(it.platforms(VERSION), [platform()]);
    let run = it.session("ulw fix the parser");
    assert_eq!(
        it.lab.stop_decisions().unwrap(),
        ["15: block", "9: end: released"],
        "{run:?}"
    );
}

#[test]
#[ignore = "needs the real client and the archives: cargo xtask test"]
fn binaries_that_are_not_those_of_the_release_are_not_installed() {
    let it = install(ModelScript::new(), |shelf| {
        stock(shelf, VERSION, |_| true);
        // Another package under the same name and version: the shrinkwrap has the digest of the right one.
        let other = packages().join(format!("omo-cc-{}-{HIGHER}.tgz", platform()));
        fs::copy(
            other,
            shelf.join(format!("omo-cc-{}-{VERSION}.tgz", platform())),
        )
        .unwrap();
    });
    assert_eq!(it.platforms(VERSION), Vec::<String>::new());
}
