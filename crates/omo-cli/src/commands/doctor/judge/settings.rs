//! Findings about settings, variables and other plugins that disable, duplicate or bound the hooks.

use super::super::facts::{Facts, Scope, Settings, plugin_name};
use super::super::finding::{Finding, Level};
use super::installation::is_omo_disabled;
use super::{or_good, quote_path};

pub(super) fn disabled_hooks(facts: &Facts) -> Vec<Finding> {
    const NAME: &str = "settings";
    let mut problems = Vec::new();
    for settings in &facts.settings {
        let file = settings.file.display();
        if let Err(why) = &settings.value {
            let (level, why_not) = if is_omo_disabled(facts) {
                (
                    Level::Bad,
                    "the client passes over the whole file, and with it what enables omo",
                )
            } else {
                (
                    Level::Warning,
                    "the client passes over settings that it cannot read, and so does this check",
                )
            };
            problems.push(Finding::new(
                NAME,
                level,
                format!("{file} {why}"),
                why_not,
                format!("fix {}", quote_path(&settings.file)),
            ));
        }
        if is_true(settings, "/disableAllHooks") {
            problems.push(Finding::new(
                NAME,
                Level::Bad,
                format!("disableAllHooks is true in {file}"),
                "no hook runs, and so nothing of omo does",
                how_to_enable(settings, "disableAllHooks"),
            ));
        }
        // In any other file it means nothing.
        if settings.scope == Scope::Managed && is_true(settings, "/allowManagedHooksOnly") {
            problems.push(Finding::new(
                NAME,
                Level::Bad,
                format!("allowManagedHooksOnly is true in {file}"),
                "only the hooks of your administrator run, and so nothing of omo does",
                how_to_enable(settings, "allowManagedHooksOnly"),
            ));
        }
    }
    or_good(problems, || {
        Finding::good(NAME, "no settings file turns hooks off")
    })
}

fn is_true(settings: &Settings, pointer: &str) -> bool {
    settings.get(pointer).is_some_and(|value| value == true)
}

fn how_to_enable(settings: &Settings, name: &str) -> String {
    match settings.scope {
        Scope::Managed => format!("ask your administrator to change `{name}`"),
        Scope::User | Scope::Project | Scope::Local => {
            format!("remove `{name}` from {}", quote_path(&settings.file))
        }
    }
}

pub(super) fn duplicate_hooks(facts: &Facts) -> Vec<Finding> {
    const NAME: &str = "twice";
    const BOTH: &str = "the client runs both: each prompt and each stop is answered twice";
    let mut problems = Vec::new();
    for settings in &facts.settings {
        let hooks = settings.hooks();
        let Some(first) = hooks.first() else { continue };
        let found = format!(
            "{} runs hooks of omo ({})",
            settings.file.display(),
            first.event
        );
        let fix = format!("remove them from {}", quote_path(&settings.file));
        problems.push(if let Some(plugin) = facts.hook_plugins.first() {
            Finding::new(
                NAME,
                Level::Bad,
                format!("{found} as well as {}", plugin.id),
                BOTH,
                fix,
            )
        } else {
            let why = "settings name a path of one version, and no plugin keeps it up to date";
            Finding::new(
                NAME,
                Level::Warning,
                found,
                why,
                format!("{fix}, and: omo setup"),
            )
        });
    }
    if let [first, rest @ ..] = &*facts.hook_plugins {
        for other in rest {
            // Measured: of plugins with one name the client runs an equal command once.
            let same = plugin_name(&first.id) == plugin_name(&other.id);
            let (level, why) = if same {
                (
                    Level::Warning,
                    "the client runs the hooks of one of them, and does not say which",
                )
            } else {
                (Level::Bad, BOTH)
            };
            let found = format!("{} and {} both run hooks of omo", first.id, other.id);
            problems.push(Finding::new(
                NAME,
                level,
                found,
                why,
                format!("claude plugin uninstall {}", other.id),
            ));
        }
    }
    or_good(problems, || {
        Finding::good(NAME, "no hook of omo is named twice")
    })
}

pub(super) fn omo_disable(facts: &Facts) -> Vec<Finding> {
    const NAME: &str = "OMO_DISABLE";
    let of_environment = facts
        .disable
        .iter()
        .map(|value| ("the environment".to_owned(), value.clone()));
    let of_settings = facts.settings.iter().filter_map(|settings| {
        Some((
            settings.file.display().to_string(),
            settings.variable(NAME)?,
        ))
    });
    let problems = of_environment.chain(of_settings).map(|(place, value)| {
        if value == "1" {
            let found = format!("OMO_DISABLE=1 is set in {place}");
            let fix = if place == "the environment" {
                "unset OMO_DISABLE".to_owned()
            } else {
                format!("remove it from {place}")
            };
            Finding::new(
                NAME,
                Level::Bad,
                found,
                "with it omo does nothing at all",
                fix,
            )
        } else {
            let found = format!("OMO_DISABLE is set to something else than 1 in {place}");
            Finding::new(
                NAME,
                Level::Warning,
                found,
                "only 1 turns omo off",
                "set it to 1, or unset it",
            )
        }
    });
    or_good(problems.collect(), || Finding::good(NAME, "not set"))
}

pub(super) fn block_cap(facts: &Facts) -> Vec<Finding> {
    const NAME: &str = "block-cap";
    const VARIABLE: &str = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP";
    let of_environment = facts
        .block_cap
        .iter()
        .map(|value| ("the environment".to_owned(), value.clone()));
    let of_settings = facts.settings.iter().filter_map(|settings| {
        Some((
            settings.file.display().to_string(),
            settings.variable(VARIABLE)?,
        ))
    });
    let values: Vec<(String, String)> = of_environment.chain(of_settings).collect();
    let problems = values.iter().filter_map(|(place, value)| {
        let max = facts.max_blocks;
        let shown = omo_core::text::sanitize(value, 40);
        let why = match value.trim().parse::<u32>() {
            Ok(cap) if cap >= max => return None,
            Ok(0) => "the client then ends no loop of any hook by itself; omo still ends its own"
                .to_owned(),
            Ok(cap) => format!(
                "a run then ends after {cap} continuations, before your max_blocks of {max}"
            ),
            Err(_) => {
                "the client does not understand that, and takes a bound of its own".to_owned()
            }
        };
        let fix = format!("unset {VARIABLE} in {place}, or set it to {max} or more");
        Some(Finding::new(
            NAME,
            Level::Warning,
            format!("{VARIABLE} is `{shown}` in {place}"),
            why,
            fix,
        ))
    });
    or_good(problems.collect(), || {
        let found = values.first().map_or_else(
            || "not set: the client's own, 8 without a tool call".to_owned(),
            |(_, value)| value.clone(),
        );
        Finding::good(NAME, found)
    })
}

pub(super) fn other_loops(facts: &Facts) -> Vec<Finding> {
    const NAME: &str = "other-loops";
    const LOOPS: [&str; 3] = ["ralph-loop", "ralph-wiggum", "oh-my-claudecode"];
    const WHY: &str = "two loops that continue the same session get in each other's way";
    let mut problems = Vec::new();
    for trace in &facts.traces {
        let is_on = trace.ends_with("ralph-loop.local.md");
        let (level, finding) = if is_on {
            (Level::Bad, "a Ralph loop is on")
        } else {
            (Level::Warning, "oh-my-claudecode was used here")
        };
        let fix = if is_on {
            format!("end that loop, or: rm {trace}")
        } else {
            format!("end its loop, then: rm -r {trace}")
        };
        problems.push(Finding::new(
            NAME,
            level,
            format!("{finding}: {trace}"),
            WHY,
            fix,
        ));
    }
    let on = facts
        .plugins
        .iter()
        .flatten()
        .filter(|plugin| plugin.enabled && LOOPS.contains(&plugin_name(&plugin.id)));
    for plugin in on {
        // Reacts to the same words as ultrawork.
        let why = if plugin_name(&plugin.id) == "oh-my-claudecode" {
            "it answers to `ulw` and `ultrawork` as well, and two loops that continue the same session get in each other's way"
        } else {
            WHY
        };
        let fix = format!("claude plugin disable {}", plugin.id);
        problems.push(Finding::new(
            NAME,
            Level::Warning,
            format!("{} is enabled", plugin.id),
            why,
            fix,
        ));
    }
    or_good(problems, || Finding::good(NAME, "none that would fight"))
}
