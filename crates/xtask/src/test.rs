//! `cargo xtask test`: all tests of the project, or those of a name, with everything they need.

pub(crate) mod needs;
pub(crate) mod run;
pub(crate) mod samples;
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
use crate::{cargo, client, dist, plugin, site, windows};

/// How the tests are run.
#[derive(Default, Args)]
pub(crate) struct Options {
    /// Only what is run after each edit: unit tests, the rules of the repository, and the programs from outside, not
    /// optimised and without the real client, Wine, strace or archives
    #[arg(long, conflicts_with = "require_all")]
    quick: bool,
    /// Run the tests of releases and of Windows as well, and fail where a program that tests need is missing and could be
    /// installed, instead of leaving those tests out
    #[arg(long)]
    require_all: bool,
    /// Let every system call of every program fail, and kill a supervisor at every moment, not only at a sample of them
    #[arg(long, conflicts_with = "quick")]
    exhaustive: bool,
    /// Run them with this version of the client, such as `latest`, instead of the one that they are written for
    #[arg(long, value_name = "VERSION")]
    client: Option<String>,
    /// Only the suite of this name, such as client or blackbox, or the tests that have it in their names
    name: Option<String>,
}

/// Suites that wait for other processes more than they compute, started at once beside the others. The number is their
/// waiting tests at a time, for each processor.
const WAITING: [(&str, usize); 6] = [
    ("client", 2),
    ("parallel", 2),
    ("slurm", 1),
    ("supervised_client", 2),
    ("supervisor", 2),
    ("worker", 2),
];
const LONG: [&str; 14] = [
    "blackbox",
    "attacks",
    "client",
    "reliability",
    "prove",
    "browser",
    "hostile",
    "parallel",
    "slurm",
    "supervised_client",
    "windows",
    "ultraplan_tasks",
    "git",
    "plan",
];
/// Suites longer than an edit: other programs, faults, random plans and random work trees.
const NOT_QUICK: [&str; 16] = [
    "attacks",
    "bench",
    "browser",
    "client",
    "git",
    "hostile",
    "instructions",
    "parallel",
    "prove",
    "reliability",
    "slurm",
    "supervised_client",
    "supervisor",
    "ultraplan_tasks",
    "windows",
    "worker",
];
const NOT_QUICK_MODULES: [(&str, &str); 2] = [("plan", "batches::"), ("plan", "dev_workflow::")];
/// Files of slow tests: they compile programs, break whole plugins, wait for a timeout, or play runs of plans.
const NOT_QUICK_FILES: [&str; 14] = [
    "blackbox/false_claims.rs",
    "blackbox/background_build.rs",
    "blackbox/direct_hooks.rs",
    "blackbox/doctor/",
    "blackbox/task_list_runs/",
    "blackbox/checks.rs",
    "blackbox/counted_start.rs",
    "blackbox/late_proof.rs",
    "blackbox/launchers.rs",
    "blackbox/execute_local/",
    "blackbox/plan_run_hooks.rs",
    "blackbox/runs/",
    "blackbox/statusline.rs",
    "blackbox/unbuilt_prompts.rs",
];
const QUICK_CASES: &str = "32";
/// Suite about the cost of hooks. A release has the lowest, and is measured where one is built.
const OF_COSTS: &str = "hostile";
/// Builds for few tests that take longer than everything else: only in the full run.
const FROM_RELEASES: [&str; 3] = [needs::RELEASE, needs::ARCHIVES, needs::WINE];

struct Wanted {
    plugin: bool,
    tools: Tools<bool>,
    releases: Vec<&'static str>,
}

/// Programs that the task installs where they are missing.
#[derive(Clone, Copy, Default)]
struct Tools<T> {
    client: T,
    vitest: T,
    puppeteer: T,
    mdbook: T,
}

#[derive(Default)]
struct Provided {
    plugin: Option<Plugin>,
    tools: Tools<Option<PathBuf>>,
    windows: Option<PathBuf>,
    packed: Option<dist::Packed>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let ignored = needs::ignored()?;
    let (suites, filter) = choose(options)?;
    let filter = filter.as_deref();
    let is_every = options.name.is_none() && !options.quick;
    let (built, wanted, tools);
    let mut missing = needs::missing();
    refuse(&missing, options)?;
    if is_every {
        // The needs of all tests are known before the build, and installed meanwhile.
        wanted = Wanted::by_all(options);
        (built, tools) = beside(
            || suites::build(&suites, true),
            || look_for(&wanted, &mut missing, options),
        )?;
    } else {
        built = suites::build(&suites, false)?;
        wanted = wanted_by(&built, filter, &ignored, options)?;
        tools = look_for(&wanted, &mut missing, options)?;
    }
    refuse(&missing, options)?;
    if is_every && !options.require_all {
        let why = || "`cargo xtask test --require-all` builds it, in some minutes".to_owned();
        missing.extend(FROM_RELEASES.map(|name| Missing {
            name,
            why: why(),
            can_be_installed: false,
        }));
    }
    let (run, left_out): (Vec<&Ignored>, Vec<&Ignored>) = ignored
        .iter()
        .partition(|test| is_run(test, options, &missing));
    let from_releases: Vec<&Ignored> = run
        .into_iter()
        .filter(|test| is_from_releases(test))
        .collect();
    let holds_costs =
        |suite: &Built| suite.name == OF_COSTS && wanted.releases.contains(&needs::RELEASE);
    let is_later =
        |suite: &Built, test: &str| is_one_of(test, &from_releases) || holds_costs(suite);
    let parts = built
        .iter()
        .map(|suite| Parts::of(suite, filter, &left_out, is_later));
    let parts = parts.collect::<Result<Vec<_>>>()?;
    if let Some(name) = &options.name {
        let has_one = parts
            .iter()
            .any(|parts| parts.has_now || !parts.later.is_empty());
        ensure!(
            has_one,
            "`{name}` names no test that can be run here with these options"
        );
    }
    let plugin = wanted
        .plugin
        .then(plugin::build_for_development)
        .transpose()?;
    let provided = Provided {
        plugin,
        tools: tools.clone(),
        ..Provided::default()
    };
    let now: Vec<&Parts> = parts.iter().filter(|parts| parts.has_now).collect();
    let now = now
        .into_iter()
        .map(|parts| parts.now(filter, &[&left_out, &from_releases], &provided, options));
    let now = in_order(now.collect::<Result<_>>()?);
    let later: Vec<&Parts> = parts
        .iter()
        .filter(|parts| !parts.later.is_empty())
        .collect();
    let later = (!later.is_empty()).then(|| {
        run::Later::new(|| {
            let provided = provide_releases(&wanted, tools, &missing)?;
            later
                .into_iter()
                .map(|parts| parts.later(&provided, options))
                .collect()
        })
    });
    run::all(now, later)?;
    if is_every {
        check_what_is_built_from()?;
    }
    tell_what_did_not_run(&ignored, &missing, options);
    Ok(())
}

/// Runs two functions at once: one of them waits for the network.
fn beside<A: Send, B>(
    one: impl FnOnce() -> Result<A> + Send,
    other: impl FnOnce() -> Result<B>,
) -> Result<(A, B)> {
    let (one, other) = thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        (
            one.join()
                .unwrap_or_else(|_| Err(anyhow!("a part of the build panicked"))),
            other,
        )
    });
    Ok((one?, other?))
}

/// The selected suites, and a part of their tests' names.
fn choose(options: &Options) -> Result<(Vec<Suite>, Option<String>)> {
    let mut suites = suites::all()?;
    let mut filter = None;
    if let Some(name) = &options.name {
        suites = suites::named(suites, name)?;
        filter = suites
            .iter()
            .all(|suite| suite.name != *name)
            .then(|| name.clone());
        ensure!(
            !suites.is_empty(),
            "no suite and no test has `{name}` in its name"
        );
    }
    if options.quick {
        suites.retain(|suite| !NOT_QUICK.contains(&suite.name.as_str()));
        ensure!(
            !suites.is_empty(),
            "what has that name is not quick: leave out --quick"
        );
    }
    Ok((suites, filter))
}

impl Wanted {
    fn by_all(options: &Options) -> Self {
        let releases = if options.require_all {
            FROM_RELEASES.to_vec()
        } else {
            Vec::new()
        };
        Self {
            plugin: true,
            tools: Tools {
                client: true,
                vitest: true,
                puppeteer: true,
                mdbook: true,
            },
            releases,
        }
    }
}

fn wanted_by(
    built: &[Built],
    filter: Option<&str>,
    ignored: &[Ignored],
    options: &Options,
) -> Result<Wanted> {
    let mut chosen = Vec::new();
    for suite in built {
        let tests = suite.tests(filter)?;
        chosen.extend(
            ignored
                .iter()
                .filter(|test| is_run(test, options, &[]) && tests.contains(&test.name)),
        );
    }
    let needs = |name: &str| chosen.iter().any(|test| test.needs(name));
    let has_costs = options.require_all && built.iter().any(|suite| suite.name == OF_COSTS);
    let is_wanted = |name: &&str| needs(name) || (has_costs && *name == needs::RELEASE);
    Ok(Wanted {
        plugin: chosen.iter().any(|test| !is_from_releases(test)),
        tools: Tools {
            client: needs(needs::CLIENT),
            vitest: needs(needs::VITEST),
            puppeteer: needs(needs::PUPPETEER),
            mdbook: needs(needs::MDBOOK),
        },
        releases: FROM_RELEASES.into_iter().filter(is_wanted).collect(),
    })
}

/// `true` for an ignored test that this task runs.
fn is_run(test: &Ignored, options: &Options, missing: &[Missing]) -> bool {
    test.can_run(missing)
        && (!options.quick || test.needs_only(needs::PLUGIN) && !test.is_in(&NOT_QUICK_FILES))
}

/// `true` for a test that needs more than one build tree.
fn is_from_releases(test: &Ignored) -> bool {
    FROM_RELEASES.iter().any(|name| test.needs(name))
}

/// Finds or installs the tools, and adds the missing ones. mdBook comes last: cargo builds it for minutes.
fn look_for(
    wanted: &Wanted,
    missing: &mut Vec<Missing>,
    options: &Options,
) -> Result<Tools<Option<PathBuf>>> {
    let mut add = |name, why: String, can_be_installed| {
        missing.push(Missing {
            name,
            why,
            can_be_installed,
        });
    };
    let client = wanted
        .tools
        .client
        .then(|| find_client(options.client.as_deref()))
        .transpose()
        .unwrap_or_else(|why| {
            add(needs::CLIENT, format!("{why:#}"), true);
            None
        });
    let vitest = wanted
        .tools
        .vitest
        .then(client::find_or_install_vitest)
        .transpose()
        .unwrap_or_else(|why| {
            add(needs::VITEST, format!("{why:#}"), true);
            None
        });
    let puppeteer = wanted
        .tools
        .puppeteer
        .then(client::find_or_install_browser_driver)
        .transpose();
    let puppeteer = puppeteer.unwrap_or_else(|why| {
        add(needs::PUPPETEER, format!("{why:#}"), true);
        None
    });
    if wanted.releases.contains(&needs::WINE)
        && let Err(why) = windows::can_be_built()
    {
        // A Rust target that cannot be had is no program that was not installed.
        add(
            needs::WINE,
            format!("{why:#}"),
            windows::missing_program().is_some(),
        );
    }
    if wanted.releases.contains(&needs::RELEASE) {
        let triple = Build::release()?.triple().to_owned();
        if instructions::recorded_counts(&triple)?.is_none() {
            let why = format!(
                "no counts are held for {triple}; `cargo xtask instructions --accept` holds them"
            );
            add(needs::RELEASE, why, false);
        }
    }
    let mdbook = wanted
        .tools
        .mdbook
        .then(site::find_or_install_mdbook)
        .transpose()
        .unwrap_or_else(|why| {
            missing.push(Missing {
                name: needs::MDBOOK,
                why: format!("{why:#}"),
                can_be_installed: true,
            });
            None
        });
    Ok(Tools {
        client,
        vitest,
        puppeteer,
        mdbook,
    })
}

/// Fails on a missing program that could be installed, with `--all`.
fn refuse(missing: &[Missing], options: &Options) -> Result<()> {
    let to_install = missing
        .iter()
        .find(|missing| options.require_all && missing.can_be_installed);
    to_install.map_or(Ok(()), |Missing { name, why, .. }| {
        Err(anyhow!("some tests need {name}: {why}"))
    })
}

/// Builds for few tests, as far as this machine can.
fn provide_releases(
    wanted: &Wanted,
    tools: Tools<Option<PathBuf>>,
    missing: &[Missing],
) -> Result<Provided> {
    let wants = |name: &str| {
        wanted.releases.contains(&name) && !missing.iter().any(|missing| missing.name == name)
    };
    let plugin = (wants(needs::RELEASE) || wants(needs::ARCHIVES))
        .then(plugin::build)
        .transpose()?;
    let packed = wants(needs::ARCHIVES)
        .then(dist::pack_for_tests)
        .transpose()?;
    let windows = wants(needs::WINE).then(windows::build).transpose()?;
    Ok(Provided {
        plugin,
        tools,
        windows,
        packed,
    })
}

/// `true` for a test that a `--skip` of the ignored ones leaves out.
fn is_one_of(test: &str, ignored: &[&Ignored]) -> bool {
    ignored.iter().any(|ignored| test.contains(&ignored.name))
}

/// Tests of a suite: most of them at once, and some once a release is built.
struct Parts<'a> {
    suite: &'a Built,
    has_now: bool,
    /// Names of tests that need a build in progress.
    later: Vec<String>,
}

impl<'a> Parts<'a> {
    fn of(
        suite: &'a Built,
        filter: Option<&str>,
        left_out: &[&Ignored],
        is_later: impl Fn(&Built, &str) -> bool,
    ) -> Result<Self> {
        let tests = suite
            .tests(filter)?
            .into_iter()
            .filter(|test| !is_one_of(test, left_out));
        let (later, now): (Vec<_>, Vec<_>) = tests.partition(|test| is_later(suite, test));
        Ok(Self {
            suite,
            has_now: !now.is_empty(),
            later,
        })
    }

    fn now(
        &self,
        filter: Option<&str>,
        skipped: &[&[&Ignored]],
        provided: &Provided,
        options: &Options,
    ) -> Result<Ready> {
        let mut ready = ready(self.suite, provided, options)?;
        ready.command.args(filter);
        for test in skipped.iter().copied().flatten() {
            ready.command.args(["--skip", &test.name]);
        }
        for (_, module) in NOT_QUICK_MODULES
            .iter()
            .filter(|(suite, _)| options.quick && *suite == self.suite.name)
        {
            ready.command.args(["--skip", module]);
        }
        Ok(ready)
    }

    fn later(&self, provided: &Provided, options: &Options) -> Result<Ready> {
        let mut ready = ready(self.suite, provided, options)?;
        ready.command.args(&self.later);
        Ok(ready)
    }
}

fn ready(suite: &Built, provided: &Provided, options: &Options) -> Result<Ready> {
    let mut command = suite.command()?;
    command.arg("--include-ignored");
    if let Some((_, waiting)) = WAITING.iter().find(|(name, _)| *name == suite.name) {
        let threads = waiting * thread::available_parallelism().map_or(1, usize::from);
        command.arg(format!("--test-threads={threads}"));
    }
    if options.quick {
        command.env("PROPTEST_CASES", QUICK_CASES);
    }
    if options.exhaustive {
        command.env("OMO_TEST_EXHAUSTIVE", "1");
    }
    command.envs(needs::temporary_folder().map(|folder| ("TMPDIR", folder)));
    let mut give = |name, path: Option<PathBuf>| match path {
        Some(path) => drop(command.env(name, path)),
        None => drop(command.env_remove(name)),
    };
    let plugin = provided.plugin.as_ref();
    give("OMO_TEST_PLUGIN", plugin.map(|plugin| plugin.path.clone()));
    give(
        "OMO_TEST_TARGET",
        plugin
            .and_then(|plugin| plugin.build.release_target())
            .map(PathBuf::from),
    );
    give("OMO_TEST_CLIENT", provided.tools.client.clone());
    give("OMO_TEST_VITEST", provided.tools.vitest.clone());
    give("OMO_TEST_PUPPETEER", provided.tools.puppeteer.clone());
    give("OMO_TEST_MDBOOK", provided.tools.mdbook.clone());
    give("OMO_TEST_WINDOWS", provided.windows.clone());
    let packed = provided.packed.as_ref();
    give(
        "OMO_TEST_ARCHIVE",
        packed.map(|packed| packed.archive.clone()),
    );
    give(
        "OMO_TEST_PACKAGES",
        packed.map(|packed| packed.packages.clone()),
    );
    Ok(Ready {
        name: suite.name.clone(),
        command,
    })
}

/// Computing suites in order: the longest first, so that none is left alone at the end.
fn in_order(mut suites: Vec<Ready>) -> Vec<Ready> {
    let place = |suite: &Ready| {
        LONG.iter()
            .position(|name| *name == suite.name)
            .unwrap_or(LONG.len())
    };
    suites.sort_by_key(place);
    suites
}

fn tell_what_did_not_run(ignored: &[Ignored], missing: &[Missing], options: &Options) {
    if options.quick {
        let count = ignored
            .iter()
            .filter(|test| !is_run(test, options, &[]))
            .count();
        run::say(&format!(
            "{count} tests are not quick and did not run: cargo xtask test"
        ));
        return;
    }
    for Missing { name, why, .. } in missing {
        let count = ignored.iter().filter(|test| test.needs(name)).count();
        run::say(&format!(
            "{count} tests that need {name} did not run: {why}"
        ));
    }
}

/// Runs cargo-deny, if installed, for every target of `deny.toml`; the tests do so for this one.
fn check_what_is_built_from() -> Result<()> {
    if !cargo::has("cargo-deny") {
        run::say("cargo deny did not run: cargo-deny is not installed");
        return Ok(());
    }
    let check = ["deny", "--locked", "check", "licenses", "bans", "sources"];
    cargo::run(
        std::process::Command::new(cargo::cargo())
            .args(check)
            .current_dir(cargo::top()?),
    )
}

fn find_client(version: Option<&str>) -> Result<PathBuf> {
    if !cargo::has("tmux") {
        bail!("tmux is not installed, and it types for the person in them");
    }
    client::find_or_install(version)
}
