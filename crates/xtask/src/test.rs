//! `cargo xtask test`: every test of the project, or those that a name means, with what they need.

mod needs;
pub(crate) mod run;
mod suites;
pub(crate) mod surroundings;

use std::path::PathBuf;
use std::thread;

use anyhow::{Result, anyhow, bail, ensure};
use clap::Args;
use omo_testkit::instructions;

use self::needs::{Ignored, Missing};
use self::run::Ready;
use self::suites::{Built, Suite};
use crate::plugin::{Build, Plugin};
use crate::{cargo, client, dist, plugin, windows};

/// How the tests are run.
#[derive(Args)]
pub(crate) struct Options {
    /// Only what is run after each edit: unit tests, the rules of the repository, and the programs from outside, not
    /// optimised and without the real client, Wine, strace or archives
    #[arg(long, conflicts_with = "require_all")]
    quick: bool,
    /// Fail where a program that tests need is missing and could be installed, instead of leaving those tests out
    #[arg(long)]
    require_all: bool,
    /// Only the suite of this name, such as client or blackbox, or the tests that have it in their names
    name: Option<String>,
}

/// Suites whose tests wait for other processes more than they compute: they run more at once.
const WAITING: [&str; 5] = ["client", "parallel", "supervised_client", "supervisor", "worker"];
/// The suites that are long, in the order in which they begin.
const LONG: [&str; 12] = [
    "client",
    "browser",
    "reliability",
    "hostile",
    "prove",
    "blackbox",
    "attacks",
    "slurm",
    "parallel",
    "supervised_client",
    "windows",
    "ultraplan_tasks",
];
/// The suites that take longer than an edit: other programs, faults, random plans and random work trees.
const NOT_QUICK: [&str; 20] = [
    "attacks",
    "batches",
    "bench",
    "browser",
    "client",
    "dev_workflow",
    "hostile",
    "instructions",
    "parallel",
    "prove",
    "real_client",
    "reliability",
    "slurm",
    "supervised_client",
    "supervisor",
    "tree",
    "ultraplan_tasks",
    "windows",
    "worker",
    "worktree",
];
/// Where tests stand that take as long: they compile programs, break whole plugins, wait for what never ends, or play
/// runs of plans.
const NOT_QUICK_FILES: [&str; 13] = [
    "blackbox/false_claims.rs",
    "blackbox/background_build.rs",
    "blackbox/direct_hooks.rs",
    "blackbox/doctor/",
    "blackbox/task_list_runs/",
    "blackbox/checks.rs",
    "blackbox/late_proof.rs",
    "blackbox/launchers.rs",
    "blackbox/execute_local/",
    "blackbox/plan_run_hooks.rs",
    "blackbox/runs/",
    "blackbox/statusline.rs",
    "blackbox/unbuilt_prompts.rs",
];
/// How many random cases are enough after an edit.
const QUICK_CASES: &str = "32";
/// The suites that hold what the hooks cost, which is a promise of an optimised build alone.
const OF_COSTS: [&str; 2] = ["hostile", "instructions"];

/// How the plugin under test is built.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PluginBuild {
    /// In seconds.
    Development,
    /// As users get it.
    Release,
}

/// What tests need of what this task builds or installs.
#[derive(Clone, Copy)]
struct Wanted {
    plugin: Option<PluginBuild>,
    npm: FromNpm<bool>,
    windows: bool,
    archives: bool,
}

/// What comes from npm: whether it is wanted, and where it is.
#[derive(Clone, Copy)]
struct FromNpm<T> {
    client: T,
    vitest: T,
    puppeteer: T,
}

/// What tests are given.
struct Provided {
    plugin: Option<Plugin>,
    npm: FromNpm<Option<PathBuf>>,
    windows: Option<PathBuf>,
    packed: Option<dist::Packed>,
}

/// Builds what the tests need, and runs them.
pub(crate) fn run(options: &Options) -> Result<()> {
    let ignored = needs::ignored()?;
    let (suites, filter) = choose(options)?;
    let is_every = options.name.is_none() && !options.quick;
    let (built, provided, missing);
    if is_every {
        // What all tests together need is known before they are built, and is built beside them.
        let npm = FromNpm { client: true, vitest: true, puppeteer: true };
        let wanted = Wanted { plugin: Some(PluginBuild::Release), npm, windows: true, archives: true };
        let (npm, lacks) = look_for(wanted, options)?;
        (built, provided) = beside(|| suites::build(&suites, true), || provide(wanted, npm, &lacks))?;
        missing = lacks;
    } else {
        built = suites::build(&suites, false)?;
        let wanted = wanted_by(&built, filter.as_deref(), &ignored, options)?;
        let npm;
        (npm, missing) = look_for(wanted, options)?;
        provided = provide(wanted, npm, &missing)?;
    }
    let left_out: Vec<&Ignored> = ignored.iter().filter(|test| !is_run(test, options, &missing)).collect();
    if let Some(name) = &options.name {
        let has_one = |suite: &Built| {
            let tests = suite.tests(filter.as_deref())?;
            anyhow::Ok(tests.iter().any(|test| !left_out.iter().any(|left_out| test.contains(&left_out.name))))
        };
        let have_one = built.iter().map(has_one).collect::<Result<Vec<_>>>()?;
        ensure!(have_one.contains(&true), "`{name}` names no test that can be run here with these options");
    }
    let ready = built.iter().map(|suite| ready(suite, filter.as_deref(), &left_out, &provided, options));
    run::all(in_order(ready.collect::<Result<_>>()?))?;
    if is_every {
        check_what_is_built_from()?;
    }
    tell_what_did_not_run(&ignored, &missing, options);
    Ok(())
}

/// Does two things at once: their target folders differ, and cargo builds for both.
fn beside<A: Send, B>(one: impl FnOnce() -> Result<A> + Send, other: impl FnOnce() -> Result<B>) -> Result<(A, B)> {
    let (one, other) = thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        (one.join().unwrap_or_else(|_| Err(anyhow!("a part of the build panicked"))), other)
    });
    Ok((one?, other?))
}

/// The suites that are meant, and what is a part of the names of their tests.
fn choose(options: &Options) -> Result<(Vec<Suite>, Option<String>)> {
    let mut suites = suites::all()?;
    let mut filter = None;
    if let Some(name) = &options.name {
        suites = suites::named(suites, name)?;
        filter = suites.iter().all(|suite| suite.name != *name).then(|| name.clone());
        ensure!(!suites.is_empty(), "no suite and no test has `{name}` in its name");
    }
    if options.quick {
        suites.retain(|suite| !NOT_QUICK.contains(&suite.name.as_str()));
        ensure!(!suites.is_empty(), "what has that name is not quick: leave out --quick");
    }
    Ok((suites, filter))
}

/// What the chosen tests need.
fn wanted_by(built: &[Built], filter: Option<&str>, ignored: &[Ignored], options: &Options) -> Result<Wanted> {
    let mut chosen = Vec::new();
    let mut release = false;
    for suite in built {
        let tests = suite.tests(filter)?;
        release |= OF_COSTS.contains(&suite.name.as_str()) && !tests.is_empty();
        chosen.extend(ignored.iter().filter(|test| is_run(test, options, &[]) && tests.contains(&test.name)));
    }
    let needs = |name: &str| chosen.iter().any(|test| test.needs(name));
    let archives = needs(needs::ARCHIVES);
    // What traces or counts a program has to have one.
    let plugin = if release || archives { PluginBuild::Release } else { PluginBuild::Development };
    Ok(Wanted {
        plugin: (!chosen.is_empty()).then_some(plugin),
        npm: FromNpm { client: needs(needs::CLIENT), vitest: needs(needs::VITEST), puppeteer: needs(needs::PUPPETEER) },
        windows: needs(needs::WINE),
        archives,
    })
}

/// Whether a test that plain cargo ignores is run.
fn is_run(test: &Ignored, options: &Options, missing: &[Missing]) -> bool {
    test.can_run(missing) && (!options.quick || test.needs_only(needs::PLUGIN) && !test.is_in(&NOT_QUICK_FILES))
}

/// What is wanted of npm, and all that this machine lacks: known before anything is built.
fn look_for(wanted: Wanted, options: &Options) -> Result<(FromNpm<Option<PathBuf>>, Vec<Missing>)> {
    let mut missing = needs::missing();
    let mut add = |name, why: String, can_be_installed| missing.push(Missing { name, why, can_be_installed });
    let client = wanted.npm.client.then(find_client).transpose().unwrap_or_else(|why| {
        add(needs::CLIENT, format!("{why:#}"), true);
        None
    });
    let vitest = wanted.npm.vitest.then(client::find_or_install_vitest).transpose().unwrap_or_else(|why| {
        add(needs::VITEST, format!("{why:#}"), true);
        None
    });
    let puppeteer = wanted.npm.puppeteer.then(client::find_or_install_browser_driver).transpose();
    let puppeteer = puppeteer.unwrap_or_else(|why| {
        add(needs::PUPPETEER, format!("{why:#}"), true);
        None
    });
    if wanted.windows
        && let Err(why) = windows::can_be_built()
    {
        // A Rust target that cannot be had is no program that was not installed.
        add(needs::WINE, format!("{why:#}"), windows::missing_program().is_some());
    }
    if wanted.plugin == Some(PluginBuild::Release) {
        let triple = Build::release()?.triple().to_owned();
        if instructions::recorded_counts(&triple)?.is_none() {
            let why = format!("no counts are held for {triple}; `cargo xtask instructions --accept` holds them");
            add(needs::VALGRIND, why, false);
        }
    }
    let to_install = missing.iter().find(|missing| options.require_all && missing.can_be_installed);
    if let Some(Missing { name, why, .. }) = to_install {
        bail!("some tests need {name}: {why}");
    }
    Ok((FromNpm { client, vitest, puppeteer }, missing))
}

/// Builds what is wanted, as far as this machine can.
fn provide(wanted: Wanted, npm: FromNpm<Option<PathBuf>>, missing: &[Missing]) -> Result<Provided> {
    let is_windows = wanted.windows && !missing.iter().any(|missing| missing.name == needs::WINE);
    let windows = || is_windows.then(windows::build).transpose();
    let plugin = || {
        let build = wanted.plugin.map(|plugin| match plugin {
            PluginBuild::Development => plugin::build_for_development(),
            PluginBuild::Release => plugin::build(),
        });
        build.transpose()
    };
    let (windows, plugin) = beside(windows, plugin)?;
    let packed = wanted.archives.then(dist::pack_for_tests).transpose()?;
    Ok(Provided { plugin, npm, windows, packed })
}

/// A suite with all that its tests are given.
fn ready(
    suite: &Built,
    filter: Option<&str>,
    left_out: &[&Ignored],
    provided: &Provided,
    options: &Options,
) -> Result<Ready> {
    let mut command = suite.command()?;
    command.args(filter).arg("--include-ignored");
    for test in left_out {
        command.args(["--skip", &test.name]);
    }
    if WAITING.contains(&suite.name.as_str()) {
        let threads = 2 * thread::available_parallelism().map_or(1, usize::from);
        command.arg(format!("--test-threads={threads}"));
    }
    if options.quick {
        command.env("PROPTEST_CASES", QUICK_CASES);
    }
    command.envs(needs::temporary_folder().map(|folder| ("TMPDIR", folder)));
    let mut give = |name, path: Option<PathBuf>| match path {
        Some(path) => drop(command.env(name, path)),
        None => drop(command.env_remove(name)),
    };
    let plugin = provided.plugin.as_ref();
    give("OMO_TEST_PLUGIN", plugin.map(|plugin| plugin.path.clone()));
    give("OMO_TEST_TARGET", plugin.map(|plugin| PathBuf::from(plugin.build.triple())));
    give("OMO_TEST_CLIENT", provided.npm.client.clone());
    give("OMO_TEST_VITEST", provided.npm.vitest.clone());
    give("OMO_TEST_PUPPETEER", provided.npm.puppeteer.clone());
    give("OMO_TEST_WINDOWS", provided.windows.clone());
    let packed = provided.packed.as_ref();
    give("OMO_TEST_ARCHIVE", packed.map(|packed| packed.archive.clone()));
    give("OMO_TEST_PACKAGES", packed.map(|packed| packed.packages.clone()));
    Ok(Ready { name: suite.name.clone(), command })
}

/// The longest first, so that none of them is left alone at the end.
fn in_order(mut suites: Vec<Ready>) -> Vec<Ready> {
    let place = |suite: &Ready| LONG.iter().position(|name| *name == suite.name).unwrap_or(LONG.len());
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
