//! `cargo xtask test`: every test of the project, or those that a name means, with what they need.

mod needs;
mod run;
mod suites;

use std::path::PathBuf;
use std::thread;

use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::Args;
use omo_testkit::instructions;

use self::needs::{Ignored, Missing};
use self::run::Ready;
use self::suites::{Built, Suite};
use crate::plugin::Plugin;
use crate::{cargo, client, dist, plugin, windows};

/// How the tests are run.
#[derive(Args)]
pub(crate) struct Options {
    /// Only what is run after each edit: unit tests, the rules of the repository, and the programs from outside, not
    /// optimised and without the real client, Wine, strace or archives
    #[arg(long, conflicts_with = "require_all")]
    quick: bool,
    /// Fail where a program that tests need is missing, instead of leaving those tests out: the real
    /// client, tmux to drive it, strace, valgrind, Wine with what builds for Windows
    #[arg(long)]
    require_all: bool,
    /// Only the suite of this name, such as client or blackbox, or the tests that have it in their names
    name: Option<String>,
}

/// Suites whose tests wait for other processes more than they compute: they begin first, and run more at once.
const WAITING: [&str; 4] = ["client", "parallel", "supervised_client", "supervisor"];
/// The suites that are long, in the order in which they begin.
const LONG: [&str; 5] = ["blackbox", "windows", "reliability", "hostile", "steps"];
/// The suites of other programs and of faults, which take longer than an edit.
const NOT_QUICK: [&str; 8] =
    ["client", "parallel", "supervised_client", "real_client", "windows", "reliability", "hostile", "instructions"];

/// What tests are given to be run.
struct Provided {
    plugin: Option<Plugin>,
    client: Option<PathBuf>,
    windows: Option<PathBuf>,
    archives: Option<PathBuf>,
}

/// What the chosen tests need of what this task provides.
#[derive(Clone, Copy)]
struct Wanted {
    plugin: bool,
    /// The plugin as users get it, and not the one of a developer.
    release: bool,
    client: bool,
    windows: bool,
    archives: bool,
}

/// Builds what the tests need, and runs them.
pub(crate) fn run(options: &Options) -> Result<()> {
    let ignored = needs::ignored()?;
    let (suites, filter) = choose(options)?;
    let is_every = options.name.is_none() && !options.quick;
    // What every test together needs is known before they are built, and is built beside them.
    let (built, wanted, provided);
    if is_every {
        wanted = Wanted { plugin: true, release: true, client: true, windows: true, archives: true };
        let (all, given) = thread::scope(|scope| {
            let all = scope.spawn(|| suites::build(&suites, true));
            let given = provide(wanted);
            (all.join().unwrap_or_else(|_| Err(anyhow!("building the tests panicked"))), given)
        });
        (built, provided) = (all?, given?);
    } else {
        built = suites::build(&suites, false)?;
        wanted = wanted_by(&built, filter.as_deref(), &ignored, options)?;
        provided = provide(wanted)?;
    }
    let missing = missing(wanted, &provided)?;
    if let Some(Missing { name, why, .. }) =
        missing.iter().find(|missing| options.require_all && missing.can_be_installed)
    {
        bail!("tests need {name}: {why}");
    }
    let left_out: Vec<&Ignored> = ignored.iter().filter(|test| !is_run(test, options, &missing)).collect();
    let ready = built.iter().map(|suite| ready(suite, filter.as_deref(), &left_out, &provided));
    run::all(in_order(ready.collect()))?;
    if is_every {
        check_what_is_built_from()?;
    }
    tell_what_did_not_run(&ignored, &missing, options);
    Ok(())
}

/// The suites that are meant, and what is a part of the names of their tests.
fn choose(options: &Options) -> Result<(Vec<Suite>, Option<String>)> {
    let mut suites = suites::all()?;
    if options.quick {
        suites.retain(|suite| !NOT_QUICK.contains(&suite.name.as_str()));
    }
    let Some(name) = &options.name else { return Ok((suites, None)) };
    let meant = suites::named(suites, name)?;
    ensure!(!meant.is_empty(), "no suite and no test has `{name}` in its name");
    let filter = meant.iter().all(|suite| suite.name != *name).then(|| name.clone());
    Ok((meant, filter))
}

/// What the chosen tests need.
fn wanted_by(built: &[Built], filter: Option<&str>, ignored: &[Ignored], options: &Options) -> Result<Wanted> {
    let mut chosen = Vec::new();
    for suite in built {
        let tests = suite.tests(filter)?;
        chosen.extend(ignored.iter().filter(|test| is_run(test, options, &[]) && tests.contains(&test.name)));
    }
    let needs = |name: &str| chosen.iter().any(|test| test.needs(name));
    let archives = needs(needs::ARCHIVES);
    Ok(Wanted {
        plugin: needs(needs::PLUGIN) || needs(needs::CLIENT),
        release: needs(needs::VALGRIND) || archives,
        client: needs(needs::CLIENT),
        windows: needs(needs::WINE),
        archives,
    })
}

/// Whether a test that plain cargo ignores is run.
fn is_run(test: &Ignored, options: &Options, missing: &[Missing]) -> bool {
    test.can_run(missing) && (!options.quick || test.needs_only(needs::PLUGIN))
}

/// Builds and installs what is wanted, as far as this machine can; the target folders differ, so that cargo can build
/// for two of them at once.
fn provide(wanted: Wanted) -> Result<Provided> {
    let (windows, rest) = thread::scope(|scope| {
        let windows = scope.spawn(move || {
            let can_be_built = wanted.windows && windows::can_be_built().is_ok();
            can_be_built.then(windows::build).transpose()
        });
        let rest = (|| {
            let plugin = match (wanted.plugin || wanted.release, wanted.release) {
                (false, _) => None,
                (true, true) => Some(plugin::build()?),
                (true, false) => Some(plugin::build_for_development()?),
            };
            let client = if wanted.client { find_client().ok() } else { None };
            let archives = wanted.archives.then(dist::pack_for_tests).transpose()?;
            anyhow::Ok((plugin, client, archives))
        })();
        (windows.join().unwrap_or_else(|_| Err(anyhow!("building for Windows panicked"))), rest)
    });
    let (plugin, client, archives) = rest?;
    Ok(Provided { plugin, client, windows: windows?, archives })
}

/// What the tests need and this machine has not.
fn missing(wanted: Wanted, provided: &Provided) -> Result<Vec<Missing>> {
    let mut missing = needs::missing();
    let mut add = |name, why: String, can_be_installed| missing.push(Missing { name, why, can_be_installed });
    if wanted.client && provided.client.is_none() {
        let why = find_client().err().context("the client came and went")?;
        add(needs::CLIENT, format!("{why:#}"), true);
    }
    if wanted.windows && provided.windows.is_none() {
        let why = windows::can_be_built().err().context("the means to build for Windows came and went")?;
        // A Rust target that cannot be had is no program that was not installed.
        add(needs::WINE, format!("{why:#}"), windows::missing_program().is_some());
    }
    let triple = provided.plugin.as_ref().map_or("", |plugin| plugin.build.triple());
    if wanted.release && instructions::held(triple)?.is_none() {
        let why = format!("no counts are held for {triple}; see `cargo xtask instructions`");
        add(needs::VALGRIND, why, false);
    }
    Ok(missing)
}

/// A suite with all that its tests are given.
fn ready(suite: &Built, filter: Option<&str>, left_out: &[&Ignored], provided: &Provided) -> Ready {
    let mut command = suite.command();
    command.args(filter).arg("--include-ignored");
    for test in left_out {
        command.args(["--skip", &test.name]);
    }
    if WAITING.contains(&suite.name.as_str()) {
        let threads = 2 * thread::available_parallelism().map_or(1, usize::from);
        command.arg(format!("--test-threads={threads}"));
    }
    let mut give = |name, path: Option<PathBuf>| match path {
        Some(path) => drop(command.env(name, path)),
        None => drop(command.env_remove(name)),
    };
    let plugin = provided.plugin.as_ref();
    give("OMO_TEST_PLUGIN", plugin.map(|plugin| plugin.path.clone()));
    give("OMO_TEST_TARGET", plugin.map(|plugin| PathBuf::from(plugin.build.triple())));
    give("OMO_TEST_CLIENT", provided.client.clone());
    give("OMO_TEST_WINDOWS", provided.windows.clone());
    give("OMO_TEST_ARCHIVE", provided.archives.clone());
    Ready { name: suite.name.clone(), command }
}

/// The longest first, so that none of them is left alone at the end.
fn in_order(mut suites: Vec<Ready>) -> Vec<Ready> {
    let place = |suite: &Ready| {
        let order = WAITING.iter().chain(&LONG);
        order.clone().position(|name| *name == suite.name).unwrap_or_else(|| order.count())
    };
    suites.sort_by_key(place);
    suites
}

fn tell_what_did_not_run(ignored: &[Ignored], missing: &[Missing], options: &Options) {
    if options.quick {
        let count = ignored.iter().filter(|test| !is_run(test, options, &[])).count();
        anstream::println!("{count} tests are not quick and did not run: cargo xtask test");
        return;
    }
    for Missing { name, why, .. } in missing {
        let count = ignored.iter().filter(|test| test.needs(name)).count();
        anstream::println!("{count} tests that need {name} did not run: {why}");
    }
}

/// Has cargo-deny, where it is installed, hold deny.toml for every target; the tests hold it for this one.
fn check_what_is_built_from() -> Result<()> {
    if !cargo::has("cargo-deny") {
        anstream::println!("cargo deny did not run: cargo-deny is not installed");
        return Ok(());
    }
    let check = ["deny", "--locked", "check", "licenses", "bans", "sources"];
    cargo::run(std::process::Command::new(cargo::cargo()).args(check).current_dir(cargo::top()?))
}

fn find_client() -> Result<PathBuf> {
    if !cargo::has("tmux") {
        bail!("tmux is not installed, and it types for the person in them");
    }
    client::find_or_install()
}
