//! Findings about the client, the omo plugin in it, and the hook programs that it runs.

use std::cmp::Ordering;
use std::path::Path;

use omo_claude::version::MIN_CLIENT_VERSION;

use super::super::facts::{
    Client, Facts, HookPlugin, PluginBinaries, Program, ProgramKind, SeenHooks, hook_programs,
    plugin_name,
};
use super::super::finding::{Finding, Level};
use super::{or_good, quote_path};

const INSTALL: &str = "omo setup";

pub(super) fn client(facts: &Facts) -> Vec<Finding> {
    const NAME: &str = "client";
    vec![match &facts.client {
        Client::Missing => Finding::new(
            NAME,
            Level::Bad,
            "there is no `claude` on PATH",
            "omo works within Claude Code, and nothing about its plugins can be looked at without it",
            "install Claude Code, or put its folder on PATH",
        ),
        Client::Failed(why) => Finding::new(
            NAME,
            Level::Unknown,
            why.clone(),
            format!("omo needs Claude Code {MIN_CLIENT_VERSION} or later"),
            "claude --version",
        ),
        Client::Found { version, program } if *version < MIN_CLIENT_VERSION => Finding::new(
            NAME,
            Level::Bad,
            format!("Claude Code {version} ({})", program.display()),
            format!(
                "before {MIN_CLIENT_VERSION} the client does not take the answers of omo's hooks"
            ),
            "claude update",
        ),
        Client::Found { version, program } => Finding::good(
            NAME,
            format!("Claude Code {version} ({})", program.display()),
        ),
    }]
}

pub(super) fn is_omo_disabled(facts: &Facts) -> bool {
    let plugins = facts.plugins.iter().flatten();
    let mut ours = plugins
        .filter(|plugin| plugin_name(&plugin.id) == "omo")
        .peekable();
    ours.peek().is_some() && ours.all(|plugin| !plugin.enabled)
}

fn how_to_have_a_plugin(facts: &Facts) -> &'static str {
    let is_installed = facts
        .plugins
        .iter()
        .flatten()
        .any(|plugin| plugin_name(&plugin.id) == "omo");
    if is_installed {
        "fix what the row `plugin` names"
    } else {
        INSTALL
    }
}

pub(super) fn plugin(facts: &Facts) -> Vec<Finding> {
    const NAME: &str = "plugin";
    const NOTHING: &str = "without it no session of yours has omo";
    let plugins = match &facts.plugins {
        Ok(plugins) => plugins,
        Err(why) => {
            return vec![Finding::new(
                NAME,
                Level::Unknown,
                why.clone(),
                NOTHING,
                "claude plugin list",
            )];
        }
    };
    let ours: Vec<_> = plugins
        .iter()
        .filter(|plugin| plugin_name(&plugin.id) == "omo")
        .collect();
    let Some(first) = ours.first() else {
        return vec![match &facts.own_plugin {
            Some(folder) => Finding::new(
                NAME,
                Level::Warning,
                format!(
                    "not installed; this `omo` is part of the plugin in {}",
                    folder.display()
                ),
                "only sessions that are started with it have omo",
                format!(
                    "claude --plugin-dir {}, or for every session: {INSTALL}",
                    quote_path(folder)
                ),
            ),
            None => Finding::new(NAME, Level::Bad, "not installed", NOTHING, INSTALL),
        }];
    };
    if is_omo_disabled(facts) {
        // Settings that the client cannot read enable nothing: it lists every plugin as disabled.
        if let Some(broken) = facts
            .settings
            .iter()
            .find(|settings| settings.value.is_err())
        {
            let file = &broken.file;
            let found = format!(
                "{} is installed; whether it is enabled cannot be told while {} cannot be read",
                first.id,
                file.display()
            );
            return vec![Finding::new(
                NAME,
                Level::Unknown,
                found,
                NOTHING,
                format!("fix {}", quote_path(file)),
            )];
        }
        let enable = format!("claude plugin enable {}", first.id);
        return vec![Finding::new(
            NAME,
            Level::Bad,
            format!("{} is installed and disabled", first.id),
            NOTHING,
            enable,
        )];
    }
    let Some(on) = facts
        .hook_plugins
        .iter()
        .find(|carrier| plugin_name(&carrier.id) == "omo")
    else {
        let found = format!(
            "{} is enabled, and its folder has no hooks of omo",
            first.id
        );
        let again = format!("claude plugin uninstall {}, then {INSTALL}", first.id);
        return vec![Finding::new(NAME, Level::Bad, found, NOTHING, again)];
    };
    let scope = plugins
        .iter()
        .find(|plugin| plugin.id == on.id)
        .and_then(|plugin| plugin.scope.as_deref());
    let scope = scope.unwrap_or("unknown");
    vec![Finding::good(
        NAME,
        format!("{}, scope {scope}, run from {}", on.id, on.folder.display()),
    )]
}

pub(super) fn versions(facts: &Facts) -> Vec<Finding> {
    const NAME: &str = "versions";
    if facts.hook_plugins.is_empty() {
        return vec![Finding::new(
            NAME,
            Level::Unknown,
            format!(
                "this `omo` is {}, and there is no plugin to compare it with",
                facts.version
            ),
            "programs of several versions may not understand each other's files",
            how_to_have_a_plugin(facts),
        )];
    }
    let mut problems = Vec::new();
    for carrier in &facts.hook_plugins {
        let others = other_versions(facts, carrier);
        if !others.is_empty() {
            problems.push(Finding::new(
                NAME,
                Level::Bad,
                format!("this `omo` is {}, but {}", facts.version, others.join(", ")),
                "programs of several versions may not understand each other's files",
                how_to_have_one_version(facts, carrier),
            ));
        }
    }
    or_good(problems, || {
        Finding::good(NAME, format!("{} everywhere", facts.version))
    })
}

/// The way to one version: the older side follows.
fn how_to_have_one_version(facts: &Facts, carrier: &HookPlugin) -> String {
    let Some(built) = &carrier.built else {
        return INSTALL.to_owned();
    };
    let Some(installed) = &carrier.version else {
        return format!("claude plugin update {}", carrier.id);
    };
    let is_current = !built.programs.is_empty()
        && built
            .programs
            .iter()
            .all(|program| program.version.as_ref() == Some(installed));
    match numbers(installed).cmp(&numbers(&facts.version)) {
        Ordering::Less => format!("claude plugin update {}, then start a session", carrier.id),
        _ if built.is_being_built => wait_for_build(built),
        // The plugin is new already; an update would change nothing.
        Ordering::Greater if is_current => {
            format!("{} setup --link", quote_path(&built.folder.join("omo")))
        }
        Ordering::Greater => format!("start a session, which has omo {installed} built and linked"),
        Ordering::Equal if built.is_package => {
            format!(
                "claude plugin uninstall {0}, then claude plugin install {0}",
                carrier.id
            )
        }
        Ordering::Equal => format!(
            "rm -r {}, then start a session, which builds it",
            quote_path(&built.folder)
        ),
    }
}

/// Numeric parts of a version, `1.2.3` as `[1, 2, 3]`.
fn numbers(version: &str) -> Vec<u64> {
    version
        .split(|char: char| !char.is_ascii_digit())
        .filter_map(|part| part.parse().ok())
        .collect()
}

fn wait_for_build(built: &PluginBinaries) -> String {
    format!(
        "wait for the build; to follow it: tail -f {}",
        quote_path(&built.data.join("build.log"))
    )
}

fn other_versions(facts: &Facts, carrier: &HookPlugin) -> Vec<String> {
    let mut others = Vec::new();
    if let Some(version) = other_version(facts, carrier.version.as_deref()) {
        others.push(format!("{} is {version}", carrier.id));
    }
    let built = carrier.built.iter().flat_map(|built| &built.programs);
    for program in carrier.programs.iter().chain(built) {
        if let Some(version) = other_version(facts, program.version.as_deref()) {
            others.push(format!("{} is {version}", file_name(&program.path)));
        }
    }
    others
}

fn other_version<'a>(facts: &Facts, version: Option<&'a str>) -> Option<&'a str> {
    version.filter(|version| *version != facts.version)
}

pub(super) fn programs(facts: &Facts) -> Vec<Finding> {
    const NAME: &str = "programs";
    const WHY: &str = "a hook that cannot be started does nothing: no session is held, and the client shows an error";
    if facts.hook_plugins.is_empty() {
        let found = "there is no installed plugin whose programs could be looked at";
        return vec![Finding::new(
            NAME,
            Level::Unknown,
            found,
            WHY,
            how_to_have_a_plugin(facts),
        )];
    }
    let mut problems = Vec::new();
    for carrier in &facts.hook_plugins {
        let not_executable = paths_of_kind(&carrier.programs, ProgramKind::NotExecutable);
        if let [first, ..] = &*not_executable {
            let folder = first.parent().unwrap_or(first);
            let found = format!("may not be run: {}", names(&not_executable));
            problems.push(Finding::new(
                NAME,
                Level::Bad,
                found,
                WHY,
                format!("chmod +x {}/*", quote_path(folder)),
            ));
        }
        let unnamed: Vec<&str> = hook_programs()
            .iter()
            .map(|(event, _)| *event)
            .filter(|event| !carrier.hooks.iter().any(|hook| hook.event == *event))
            .collect();
        if plugin_name(&carrier.id) == "omo" && !unnamed.is_empty() {
            let found = format!("{} names no hook for {}", carrier.id, unnamed.join(", "));
            problems.push(Finding::new(NAME, Level::Bad, found, WHY, INSTALL));
        }
        let missing = paths_of_kind(&carrier.programs, ProgramKind::Missing);
        if !missing.is_empty() {
            let found = format!(
                "missing in {}: {}",
                carrier.folder.display(),
                names(&missing)
            );
            problems.push(Finding::new(NAME, Level::Bad, found, WHY, INSTALL));
        }
        let Some(built) = &carrier.built else {
            continue;
        };
        let missing = [ProgramKind::Missing, ProgramKind::NotExecutable]
            .map(|kind| paths_of_kind(&built.programs, kind))
            .concat();
        if !missing.is_empty() && built.is_package {
            let found = format!(
                "npm has not brought {} to {}",
                names(&missing),
                built.folder.display()
            );
            let why = "the plugin's launchers let every session be where there is nothing for them to run";
            let again = format!(
                "claude plugin uninstall {0}, then claude plugin install {0}",
                carrier.id
            );
            problems.push(Finding::new(NAME, Level::Bad, found, why, again));
        } else if !missing.is_empty() && built.is_being_built {
            let found = format!(
                "being built in {}: {}",
                built.folder.display(),
                names(&missing)
            );
            let why = "until the binaries are built, their launchers let every session be";
            problems.push(Finding::new(
                NAME,
                Level::Warning,
                found,
                why,
                wait_for_build(built),
            ));
        } else if !missing.is_empty() {
            let last = built
                .last_line
                .as_ref()
                .map(|line| format!("; the last build: {line}"))
                .unwrap_or_default();
            let found = format!(
                "not built in {}: {}{last}",
                built.folder.display(),
                names(&missing)
            );
            let why = "a clone of omo has launchers, and until the binaries are built they let every session be";
            let session = "start a session with `cargo` on PATH, which builds them";
            // A failed build is not repeated while its log says so.
            let has_failed = built
                .last_line
                .as_ref()
                .is_some_and(|line| line.starts_with("failed"));
            let log = quote_path(&built.data.join("build.log"));
            let fix = if has_failed {
                format!("see why in {log}, rm {log}, then {session}")
            } else {
                format!("{session}, or: {INSTALL}")
            };
            problems.push(Finding::new(NAME, Level::Bad, found, why, fix));
        }
    }
    or_good(problems, || {
        Finding::good(NAME, "everything that the hooks name can be run")
    })
}

fn paths_of_kind(programs: &[Program], kind: ProgramKind) -> Vec<&Path> {
    programs
        .iter()
        .filter(|program| program.kind == kind)
        .map(|program| program.path.as_path())
        .collect()
}

fn names(paths: &[&Path]) -> String {
    paths
        .iter()
        .map(|path| file_name(path))
        .collect::<Vec<_>>()
        .join(", ")
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned()
}

pub(super) fn hooks(facts: &Facts) -> Vec<Finding> {
    const NAME: &str = "hooks";
    const TRY: &str = "omo doctor --live";
    let seen = match &facts.live {
        SeenHooks::NotTried => {
            let found = "not tried; `omo doctor --live` starts a headless session against a scripted model, costs nothing";
            return vec![Finding::new(
                NAME,
                Level::Unknown,
                found,
                "only a session shows whether each hook runs, and once",
                TRY,
            )];
        }
        SeenHooks::Impossible(why) => {
            return vec![Finding::new(
                NAME,
                Level::Unknown,
                why.clone(),
                "only a session shows whether each hook runs, and once",
                TRY,
            )];
        }
        SeenHooks::Seen(seen) => seen,
    };
    let mut never: Vec<&str> = Vec::new();
    let mut often: Vec<&str> = Vec::new();
    let mut unseen: Vec<&str> = Vec::new();
    let mut counts = Vec::new();
    for (event, _) in hook_programs() {
        let Some(times) = seen.get(event).copied().flatten() else {
            unseen.push(event);
            counts.push(format!("{event} not seen"));
            continue;
        };
        match times {
            0 => never.push(event),
            1 => {}
            _ => often.push(event),
        }
        counts.push(format!("{event} {times}"));
    }
    let seen_counts = counts.join(", ");
    let mut problems = Vec::new();
    if !never.is_empty() {
        problems.push(Finding::new(
            NAME,
            Level::Bad,
            format!("did not run: {} ({seen_counts})", never.join(", ")),
            "what a hook does not see it cannot act on: ultrawork is not turned on, or not held",
            "fix the other rows, then: omo doctor --live",
        ));
    }
    if !often.is_empty() {
        problems.push(Finding::new(
            NAME,
            Level::Bad,
            format!("ran more than once: {} ({seen_counts})", often.join(", ")),
            "each prompt and each stop is answered several times, and counted so",
            "remove all but one of what the row `twice` names",
        ));
    }
    let note = match &*unseen {
        [] => String::new(),
        unseen => format!(
            "; {} not seen, which need not be wrong",
            unseen.join(" and ")
        ),
    };
    or_good(problems, || {
        Finding::good(NAME, format!("each ran once in a session{note}"))
    })
}
