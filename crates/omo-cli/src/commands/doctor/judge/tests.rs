//! From a sound baseline one fact is broken at a time: exactly the row about it changes.

use std::collections::BTreeMap;
use std::path::PathBuf;

use omo_claude::client::InstalledPlugin;
use omo_claude::version::ClientVersion;
use omo_git::folder_status::FolderStatus;
use omo_state::config::FeedbackMode;
use serde_json::{Value, json};

use super::super::facts::*;
use super::super::finding::{Finding, Level};
use super::judge;

fn plugin(id: &str, enabled: bool) -> InstalledPlugin {
    InstalledPlugin {
        id: id.to_owned(),
        version: Some("1.0.0".to_owned()),
        scope: Some("user".to_owned()),
        enabled,
        install_path: None,
        read_from_folder: None,
        folder_version: None,
    }
}

fn program(name: &str, kind: ProgramKind) -> Program {
    let version = (kind == ProgramKind::Binary).then(|| "1.0.0".to_owned());
    Program {
        path: PathBuf::from("/plugin/bin").join(name),
        kind,
        version,
    }
}

fn carrier(id: &str, kind: ProgramKind) -> HookPlugin {
    let hook = |(event, binary): (&str, &str)| Hook {
        event: event.to_owned(),
        command: binary.to_owned(),
    };
    HookPlugin {
        id: id.to_owned(),
        folder: PathBuf::from("/plugin"),
        version: Some("1.0.0".to_owned()),
        hooks: hook_programs().map(hook).into(),
        programs: hook_programs().map(|(_, name)| program(name, kind)).into(),
        built: None,
    }
}

fn clone(kind: ProgramKind, version: &str, last_line: Option<&str>) -> HookPlugin {
    let programs = hook_programs().map(|(_, name)| Program {
        version: Some(version.to_owned()),
        ..program(name, kind)
    });
    let built = PluginBinaries {
        folder: PathBuf::from("/data/bin/1.0.0"),
        is_package: false,
        is_being_built: false,
        data: PathBuf::from("/data"),
        programs: programs.into(),
        last_line: last_line.map(str::to_owned),
    };
    HookPlugin {
        built: Some(built),
        ..carrier("omo@omo", ProgramKind::Launcher)
    }
}

fn settings(scope: Scope, value: Value) -> Settings {
    Settings {
        scope,
        file: PathBuf::from("/s.json"),
        value: Ok(value),
    }
}

fn seen(times: [Option<usize>; 6]) -> SeenHooks {
    SeenHooks::Seen(
        hook_programs()
            .iter()
            .map(|(event, _)| *event)
            .zip(times)
            .collect::<BTreeMap<_, _>>(),
    )
}

fn state(facts: &mut Facts) -> &mut StateFolder {
    match &mut facts.state {
        StateFolderFacts::Open(folder) => folder,
        other => panic!("{other:?}"),
    }
}

fn healthy_facts() -> Facts {
    Facts {
        version: "1.0.0".to_owned(),
        client: Client::Found {
            program: PathBuf::from("/bin/claude"),
            version: ClientVersion(2, 1, 328),
        },
        plugins: Ok(vec![plugin("omo@omo", true), plugin("other@x", true)]),
        hook_plugins: vec![carrier("omo@omo", ProgramKind::Binary)],
        own_plugin: None,
        settings: vec![settings(
            Scope::User,
            json!({"enabledPlugins": {"omo@omo": true}}),
        )],
        disable: None,
        block_cap: None,
        max_blocks: 8,
        is_without_keyword: false,
        project: ProjectFolderFacts {
            project_dir_variable: None,
            folder: Some(PathBuf::from("/p/src")),
            root: Some(PathBuf::from("/p")),
            home: Some(PathBuf::from("/home")),
            unwritable: None,
        },
        traces: Vec::new(),
        goals: Ok(Vec::new()),
        state: StateFolderFacts::Open(StateFolder::default()),
        git: GitFacts {
            is_there: true,
            in_work_tree: true,
            tracked: Some(FolderStatus {
                files: 0,
                ignores: true,
            }),
        },
        user_folder: UserFolder::Open {
            path: PathBuf::from("/own"),
            open_to_others: Vec::new(),
            problems: Vec::new(),
        },
        config: (Some(PathBuf::from("/c.toml")), Vec::new()),
        feedback: FeedbackMode::Context,
        repository_checks: RepositoryChecks::Approved(2),
        errors: None,
        live: seen([Some(1); 6]),
    }
}

#[test]
fn where_nothing_is_wrong_every_row_is_good_and_there_is_one_for_each_check() {
    let findings = judge(&healthy_facts());
    assert_eq!(findings.len(), super::CHECKS.len());
    for finding in &findings {
        assert!(
            finding.level == Level::Good && finding.why.is_none() && finding.fix.is_none(),
            "{finding:?}"
        );
        assert!(!finding.found.is_empty());
    }
    let names: std::collections::BTreeSet<&str> =
        findings.iter().map(|finding| finding.name).collect();
    assert_eq!(names.len(), findings.len(), "two checks of one name");
}

/// Change of the facts, name of the row, level, part of the text, part of the fix.
type Case = (
    fn(&mut Facts),
    &'static str,
    Level,
    &'static str,
    &'static str,
);

use Level::{Bad, Unknown, Warning};

const CASES: &[Case] = &[
    (
        |f| f.client = Client::Failed("it hangs".into()),
        "client",
        Unknown,
        "it hangs",
        "claude --version",
    ),
    (
        |f| {
            f.client = Client::Found {
                program: "/c".into(),
                version: ClientVersion(2, 1, 162),
            }
        },
        "client",
        Bad,
        "Claude Code 2.1.162",
        "claude update",
    ),
    (
        |f| f.plugins = Err("no answer".into()),
        "plugin",
        Unknown,
        "no answer",
        "claude plugin list",
    ),
    (
        |f| f.plugins = Ok(vec![plugin("other@x", true)]),
        "plugin",
        Bad,
        "not installed",
        "omo setup",
    ),
    (
        |f| {
            f.plugins = Ok(Vec::new());
            f.own_plugin = Some("/a b".into());
        },
        "plugin",
        Warning,
        "part of the plugin in /a b",
        "claude --plugin-dir '/a b'",
    ),
    (
        |f| f.plugins = Ok(vec![plugin("omo@omo", false)]),
        "plugin",
        Bad,
        "disabled",
        "claude plugin enable omo@omo",
    ),
    (
        |f| f.hook_plugins[0].version = Some("0.9.0".into()),
        "versions",
        Bad,
        "omo@omo is 0.9.0",
        "omo setup",
    ),
    (
        |f| f.hook_plugins[0].programs[2].version = Some("2.0.0".into()),
        "versions",
        Bad,
        "omo-stop is 2.0.0",
        "omo setup",
    ),
    (
        |f| f.hook_plugins[0] = clone(ProgramKind::Binary, "0.9.0", None),
        "versions",
        Bad,
        "omo-stop is 0.9.0",
        "rm -r /data/bin/1.0.0, then start a session",
    ),
    (
        |f| {
            f.hook_plugins[0] = clone(ProgramKind::Binary, "1.0.0", None);
            f.hook_plugins[0].version = Some("0.9.0".into());
        },
        "versions",
        Bad,
        "omo@omo is 0.9.0",
        "claude plugin update omo@omo, then start a session",
    ),
    (
        |f| {
            f.hook_plugins[0] = clone(ProgramKind::Binary, "1.10.0", None);
            f.hook_plugins[0].version = Some("1.10.0".into());
        },
        "versions",
        Bad,
        "omo@omo is 1.10.0",
        "/data/bin/1.0.0/omo setup --link",
    ),
    (
        |f| {
            f.hook_plugins[0] = clone(ProgramKind::Binary, "1.0.0", None);
            f.hook_plugins[0].version = Some("1.0.1".into());
        },
        "versions",
        Bad,
        "omo@omo is 1.0.1",
        "start a session, which has omo 1.0.1 built and linked",
    ),
    (
        |f| f.hook_plugins[0].programs[2].kind = ProgramKind::NotExecutable,
        "programs",
        Bad,
        "may not be run: omo-stop",
        "chmod +x /plugin/bin/*",
    ),
    (
        |f| f.hook_plugins[0].programs[2].kind = ProgramKind::Missing,
        "programs",
        Bad,
        "missing in /plugin: omo-stop",
        "omo setup",
    ),
    (
        |f| f.hook_plugins[0] = clone(ProgramKind::Missing, "1.0.0", Some("failed: no cargo")),
        "programs",
        Bad,
        "; the last build: failed: no cargo",
        "see why in /data/build.log, rm /data/build.log, then start a session",
    ),
    (
        |f| f.hook_plugins[0] = clone(ProgramKind::NotExecutable, "1.0.0", None),
        "programs",
        Bad,
        "not built in /data/bin/1.0.0: omo-session-start",
        "`cargo` on PATH, which builds them, or: omo setup",
    ),
    (
        |f| {
            f.hook_plugins[0] = clone(ProgramKind::Missing, "1.0.0", Some("Compiling x"));
            f.hook_plugins[0].built.as_mut().unwrap().is_being_built = true;
        },
        "programs",
        Warning,
        "being built in /data/bin/1.0.0: omo-session-start",
        "wait for the build; to follow it: tail -f /data/build.log",
    ),
    (
        |f| f.hook_plugins[0].hooks.retain(|hook| hook.event != "Stop"),
        "programs",
        Bad,
        "omo@omo names no hook for Stop",
        "omo setup",
    ),
    (
        |f| f.live = SeenHooks::NotTried,
        "hooks",
        Unknown,
        "costs nothing",
        "omo doctor --live",
    ),
    (
        |f| f.live = SeenHooks::Impossible("no".into()),
        "hooks",
        Unknown,
        "no",
        "omo doctor --live",
    ),
    (
        |f| f.live = seen([Some(1), Some(1), Some(0), Some(1), None, None]),
        "hooks",
        Bad,
        "did not run: Stop (",
        "then: omo doctor --live",
    ),
    (
        |f| f.live = seen([Some(1), Some(1), Some(2), Some(1), None, Some(2)]),
        "hooks",
        Bad,
        "more than once: Stop, SessionEnd (",
        "`twice`",
    ),
    (
        |f| f.settings[0] = settings(Scope::Project, json!({"disableAllHooks": true})),
        "settings",
        Bad,
        "disableAllHooks is true in /s.json",
        "remove `disableAllHooks` from /s.json",
    ),
    (
        |f| f.settings[0] = settings(Scope::Managed, json!({"allowManagedHooksOnly": true})),
        "settings",
        Bad,
        "allowManagedHooksOnly is true",
        "administrator",
    ),
    (
        |f| f.settings[0].value = Err("is not JSON".into()),
        "settings",
        Warning,
        "/s.json is not JSON",
        "fix /s.json",
    ),
    (
        |f| {
            let handler =
                json!([{"hooks": [{"type": "command", "command": "\"/plugin/bin/omo-stop\""}]}]);
            f.settings[0] = settings(Scope::User, json!({"hooks": {"Stop": handler}}));
        },
        "twice",
        Bad,
        "/s.json runs hooks of omo (Stop) as well as omo@omo",
        "remove them from /s.json",
    ),
    (
        |f| {
            f.hook_plugins
                .push(carrier("omo@fork", ProgramKind::Binary));
        },
        "twice",
        Warning,
        "omo@omo and omo@fork",
        "claude plugin uninstall omo@fork",
    ),
    (
        |f| f.hook_plugins.push(carrier("copy@x", ProgramKind::Binary)),
        "twice",
        Bad,
        "omo@omo and copy@x",
        "claude plugin uninstall copy@x",
    ),
    (
        |f| f.disable = Some("1".into()),
        "OMO_DISABLE",
        Bad,
        "in the environment",
        "unset OMO_DISABLE",
    ),
    (
        |f| f.disable = Some("yes".into()),
        "OMO_DISABLE",
        Warning,
        "something else than 1",
        "unset it",
    ),
    (
        |f| f.settings[0] = settings(Scope::User, json!({"env": {"OMO_DISABLE": "1"}})),
        "OMO_DISABLE",
        Bad,
        "in /s.json",
        "remove it from /s.json",
    ),
    (
        |f| f.block_cap = Some("0".into()),
        "block-cap",
        Warning,
        "is `0`",
        "set it to 8 or more",
    ),
    (
        |f| f.block_cap = Some("3".into()),
        "block-cap",
        Warning,
        "is `3`",
        "set it to 8 or more",
    ),
    (
        |f| f.block_cap = Some("many".into()),
        "block-cap",
        Warning,
        "is `many`",
        "set it to 8 or more",
    ),
    (
        |f| {
            let env = json!({"env": {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": 2}});
            f.settings[0] = settings(Scope::Local, env);
        },
        "block-cap",
        Warning,
        "is `2` in /s.json",
        "in /s.json",
    ),
    (
        |f| f.traces = vec![".claude/ralph-loop.local.md".into()],
        "other-loops",
        Bad,
        "a Ralph loop is on",
        "rm .claude/ralph-loop.local.md",
    ),
    (
        |f| f.traces = vec![".omc/state".into()],
        "other-loops",
        Warning,
        "was used here",
        "rm -r .omc/state",
    ),
    (
        |f| {
            f.plugins
                .as_mut()
                .unwrap()
                .push(plugin("ralph-wiggum@x", true));
        },
        "other-loops",
        Warning,
        "ralph-wiggum@x is enabled",
        "claude plugin disable ralph-wiggum@x",
    ),
    (
        |f| {
            f.plugins
                .as_mut()
                .unwrap()
                .push(plugin("oh-my-claudecode@omc", true));
        },
        "other-loops",
        Warning,
        "oh-my-claudecode@omc is enabled",
        "claude plugin disable oh-my-claudecode@omc",
    ),
    (
        |f| {
            f.goals = Ok(vec![ActiveGoal {
                session: "a".into(),
                condition: "x".into(),
                is_armed: false,
            }]);
        },
        "goal",
        Warning,
        "/goal is on in session a: x",
        "/goal clear",
    ),
    (
        |f| {
            f.goals = Ok(vec![ActiveGoal {
                session: "a".into(),
                condition: "x".into(),
                is_armed: true,
            }]);
        },
        "goal",
        Bad,
        "where ultrawork is on as well",
        "/goal clear",
    ),
    (
        |f| f.goals = Err("too long".into()),
        "goal",
        Unknown,
        "too long",
        "/goal",
    ),
    (
        |f| f.project.folder = None,
        "project",
        Bad,
        "not there any more",
        "cd",
    ),
    (
        |f| f.project.project_dir_variable = Some(("/x".into(), ProjectDirKind::Missing)),
        "project",
        Bad,
        "is /x, which is not there",
        "unset CLAUDE_PROJECT_DIR",
    ),
    (
        |f| f.project.project_dir_variable = Some(("/x".into(), ProjectDirKind::NotAFolder)),
        "project",
        Bad,
        "not a folder",
        "unset CLAUDE_PROJECT_DIR",
    ),
    (
        |f| f.project.project_dir_variable = Some(("x".into(), ProjectDirKind::Relative)),
        "project",
        Warning,
        "not an absolute path",
        "unset CLAUDE_PROJECT_DIR",
    ),
    (
        |f| {
            f.project.project_dir_variable = Some(("/p".into(), ProjectDirKind::Folder));
            f.project.folder = Some("/q".into());
        },
        "project",
        Warning,
        "this folder is not in it",
        "unset CLAUDE_PROJECT_DIR",
    ),
    (
        |f| f.project.unwritable = Some("/p/.sisyphus".into()),
        "project",
        Bad,
        "/p/.sisyphus cannot be written",
        "chmod u+w /p/.sisyphus",
    ),
    (
        |f| f.project.root = Some("/".into()),
        "project",
        Warning,
        "the top of all folders",
        "in the folder of a project",
    ),
    (
        |f| f.project.root = Some("/home".into()),
        "project",
        Warning,
        "your home folder",
        "in the folder of a project",
    ),
    (
        |f| f.state = StateFolderFacts::Refused("it is a link".into()),
        "state",
        Bad,
        "it is a link",
        "move it away",
    ),
    (
        |f| state(f).broken = Some("does not parse".into()),
        "state",
        Bad,
        "does not parse",
        "omo stop --session ID",
    ),
    (
        |f| state(f).broken_entries = vec!["a: x".into()],
        "state",
        Bad,
        "session a: x",
        "omo stop --session a",
    ),
    (
        |f| state(f).lock = Some("held".into()),
        "state",
        Bad,
        "held",
        "runtime.lock",
    ),
    (
        |f| state(f).open_to_others = vec!["/p/.sisyphus/cc-omo".into()],
        "state",
        Warning,
        "others may read or write",
        "chmod -R go-rwx",
    ),
    (
        |f| state(f).corrupt = vec!["runtime.local.json.corrupt-1".into()],
        "state",
        Warning,
        "1 copy of a state",
        "rm ",
    ),
    (
        |f| f.git.is_there = false,
        "git",
        Warning,
        "no git on PATH",
        "install git",
    ),
    (
        |f| {
            f.git.tracked = Some(FolderStatus {
                files: 2,
                ignores: true,
            });
        },
        "git",
        Bad,
        "git tracks 2 files",
        "git rm -r --cached .sisyphus/cc-omo",
    ),
    (
        |f| {
            f.git.tracked = Some(FolderStatus {
                files: 0,
                ignores: false,
            });
        },
        "git",
        Warning,
        "does not ignore",
        "tee .sisyphus/cc-omo/.gitignore",
    ),
    (
        |f| {
            f.errors = Some(RecentErrors {
                count: 2,
                last: "Stop: x".into(),
            });
        },
        "log",
        Warning,
        "2 errors in the last week, the last one: Stop: x",
        "hooks.log",
    ),
    (
        |f| f.repository_checks = RepositoryChecks::Broken("omo.toml:1: x".into()),
        "omo.toml",
        Bad,
        "omo.toml:1: x",
        "omo check approve",
    ),
    (
        |f| f.repository_checks = RepositoryChecks::NotApproved(1),
        "omo.toml",
        Warning,
        "1 check is not approved",
        "omo check approve",
    ),
    (
        |f| {
            f.user_folder = UserFolder::Unwritable {
                path: "/state/omo".into(),
                folder: "/state".into(),
            }
        },
        "trust",
        Bad,
        "/state/omo cannot be made",
        "chmod u+w /state",
    ),
    (
        |f| f.user_folder = UserFolder::NoHome,
        "trust",
        Bad,
        "no home folder",
        "set HOME",
    ),
    (
        |f| {
            let problems = vec![("/own/key holds no key".to_owned(), "/own/key".into())];
            f.user_folder = UserFolder::Open {
                path: "/own".into(),
                open_to_others: Vec::new(),
                problems,
            };
        },
        "trust",
        Bad,
        "holds no key",
        "mv /own/key /own/key.old",
    ),
    (
        |f| {
            f.user_folder = UserFolder::Open {
                path: "/own".into(),
                open_to_others: vec!["/own/key".into()],
                problems: Vec::new(),
            }
        },
        "trust",
        Bad,
        "others may read or write /own/key",
        "chmod -R go-rwx /own",
    ),
    (
        |f| f.config.1 = vec!["c.toml:2: x".into()],
        "config",
        Bad,
        "c.toml:2: x",
        "fix the line",
    ),
    (
        |f| f.is_without_keyword = true,
        "config",
        Warning,
        "`keywords = []` in /c.toml",
        "remove the line",
    ),
];

#[test]
fn each_broken_fact_shows_in_its_own_row_and_in_no_other() {
    let before = judge(&healthy_facts());
    for (break_it, name, level, found, fix) in CASES {
        let mut facts = healthy_facts();
        break_it(&mut facts);
        let after = judge(&facts);
        let rest = |findings: &[Finding]| {
            let mut rest: Vec<Finding> = findings
                .iter()
                .filter(|finding| finding.name != *name)
                .cloned()
                .collect();
            rest.sort_by_key(|finding| finding.name);
            rest
        };
        assert_eq!(rest(&before), rest(&after), "{name}: another row changed");
        let [row] = &*after
            .iter()
            .filter(|finding| finding.name == *name)
            .collect::<Vec<_>>()
        else {
            panic!("not one row `{name}`: {after:?}");
        };
        let (said, to_do) = (row.found.as_str(), row.fix.as_deref().unwrap_or_default());
        assert!(
            row.level == *level && said.contains(found) && to_do.contains(fix),
            "{row:?}"
        );
        assert!(
            row.why.as_ref().is_some_and(|why| why.len() > 10),
            "{row:?}"
        );
        assert_eq!(
            after.first().map(|first| first.name),
            Some(*name),
            "what is wrong comes first"
        );
    }
}

#[test]
fn where_there_is_no_client_what_depends_on_it_is_unknown_and_the_rest_is_judged() {
    let mut facts = healthy_facts();
    facts.client = Client::Missing;
    facts.plugins = Err("could not be checked: there is no `claude` on PATH".into());
    facts.hook_plugins = Vec::new();
    facts.live = SeenHooks::NotTried;
    let findings = judge(&facts);
    let of = |level| {
        findings
            .iter()
            .filter(|finding| finding.level == level)
            .map(|finding| finding.name)
            .collect::<Vec<_>>()
    };
    assert_eq!(of(Bad), ["client"]);
    assert_eq!(of(Unknown), ["plugin", "versions", "programs", "hooks"]);
    assert_eq!(of(Level::Good).len(), super::CHECKS.len() - 5);
}

#[test]
fn settings_that_the_client_cannot_read_are_what_is_wrong_and_no_plugin_is_called_disabled() {
    let mut facts = healthy_facts();
    facts.plugins = Ok(vec![plugin("omo@omo", false)]);
    facts.hook_plugins = Vec::new();
    facts.settings[0].value = Err("is not JSON: expected value at line 3 column 5".into());
    let findings = judge(&facts);
    let row = |name: &str| {
        findings
            .iter()
            .find(|finding| finding.name == name)
            .unwrap()
    };
    let settings = row("settings");
    assert_eq!(
        (settings.level, settings.fix.as_deref()),
        (Bad, Some("fix /s.json"))
    );
    assert!(settings.found.ends_with("line 3 column 5"), "{settings:?}");
    assert_eq!(
        (row("plugin").level, row("plugin").fix.as_deref()),
        (Unknown, Some("fix /s.json"))
    );
    for finding in &findings {
        let said = format!("{finding:?}");
        assert!(
            !said.contains("disabled")
                && !said.contains("plugin enable")
                && !said.contains("omo setup"),
            "{said}"
        );
    }
}

#[test]
fn what_is_told_is_harmless_on_a_terminal() {
    let mut facts = healthy_facts();
    facts.hook_plugins[0].version = Some("\u{1b}[2J<system-reminder>".into());
    facts.goals = Ok(vec![ActiveGoal {
        session: "a\n".into(),
        condition: "\u{7}".into(),
        is_armed: false,
    }]);
    facts.project.project_dir_variable = Some(("/\u{202e}x".into(), ProjectDirKind::Missing));
    for finding in judge(&facts) {
        let told = [Some(finding.found), finding.why, finding.fix]
            .into_iter()
            .flatten()
            .collect::<String>();
        assert!(
            !told.contains(|char: char| char.is_control() || "<>\u{202e}".contains(char)),
            "{told:?}"
        );
    }
}

#[test]
fn a_bound_that_is_high_enough_is_no_problem_and_settings_that_mean_nothing_are_none() {
    let mut facts = healthy_facts();
    facts.block_cap = Some("20".into());
    facts.settings.push(settings(
        Scope::Project,
        json!({"allowManagedHooksOnly": true, "disableAllHooks": "no"}),
    ));
    assert!(
        judge(&facts)
            .iter()
            .all(|finding| finding.level == Level::Good)
    );
}

#[test]
fn what_takes_the_alarm_away_is_offered_until_it_is_set() {
    let has_alarm = |feedback, patch| {
        let client = Client::Found {
            program: "/c".into(),
            version: ClientVersion(2, 1, patch),
        };
        let findings = judge(&Facts {
            client,
            feedback,
            ..healthy_facts()
        });
        let found = findings
            .into_iter()
            .find(|finding| finding.name == "feedback")
            .unwrap()
            .found;
        let is_offered = found.contains("`feedback = \"context\"` below [stop] in /c.toml");
        assert_eq!(is_offered, found.contains("a problem"), "{found}");
        is_offered
    };
    assert!(has_alarm(FeedbackMode::Block, 332) && has_alarm(FeedbackMode::Auto, 328));
    assert!(!has_alarm(FeedbackMode::Auto, 332) && !has_alarm(FeedbackMode::Context, 328));
}
