//! A session of a plan in its worktree: what the fence and the denied rules of its settings keep it from in the real
//! client, whatever else it may do, and that ordinary work goes through.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use omo_claude::worker::{WorkerPermissions, WorkerSpec};
use omo_claude::worker_settings::{WorkerSettings, allowed_rules};
use omo_engine::fence::{FenceRules, RULES_VERSION};
use omo_testkit::model::{RecordedRequest, RequestKind};
use omo_testkit::{ModelScript, ModelTurn};
use serde_json::{Value, json};

use crate::client_lab::{ClientFixture, client_lab, plugin};

/// How the fence begins what it says.
const FENCE: &str = "This session works in a worktree of its own, and ";

/// A worktree beside the project, and what a session in it is started with.
struct Site {
    fixture: ClientFixture,
    worktree: PathBuf,
}

impl Site {
    /// `calls` says what its session does, with the project's path.
    fn new(calls: impl FnOnce(&str) -> Vec<(&'static str, Value)>) -> Self {
        let fixture = client_lab(ModelScript::new());
        for (name, input) in calls(&Self::text(fixture.lab.project())) {
            fixture.model.push(ModelTurn::call(name, input));
        }
        fixture.model.push(ModelTurn::text("Done."));
        fixture.lab.write("src/a.txt", "of the user\n").unwrap();
        let worktree = fixture.lab.project().join(".claude/worktrees/omo-r1-2");
        let site = Self { fixture, worktree };
        site.git(&["add", "src"]);
        site.git(&["commit", "-qm", "begin"]);
        site.git(&[
            "worktree",
            "add",
            "-q",
            "-b",
            "omo/r1/2",
            ".claude/worktrees/omo-r1-2",
        ]);
        std::os::unix::fs::symlink(site.fixture.lab.project(), site.worktree.join("out")).unwrap();
        site
    }

    fn git(&self, arguments: &[&str]) -> String {
        self.fixture.lab.git(arguments).unwrap()
    }

    /// What a session could have changed beyond its worktree.
    fn everything(&self) -> Vec<String> {
        let of_git = [
            &["status", "--short"][..],
            &["stash", "list"],
            &["branch", "-a"],
            &["worktree", "list"],
        ];
        let mut all: Vec<String> = of_git.iter().map(|arguments| self.git(arguments)).collect();
        all.push(fs::read_to_string(self.fixture.lab.project().join("src/a.txt")).unwrap());
        all
    }

    fn file(&self, name: &str) -> PathBuf {
        self.fixture.lab.root().join(name)
    }

    fn text(path: &Path) -> String {
        path.to_str().unwrap().to_owned()
    }

    /// What a session of the group is started with, its settings written.
    fn order(&self, permissions: WorkerPermissions) -> WorkerSpec {
        let (temp, rules, settings) = (
            self.file("temp"),
            self.file("fence.json"),
            self.file("settings.json"),
        );
        fs::create_dir_all(&temp).unwrap();
        let fence = FenceRules {
            version: RULES_VERSION,
            main_checkout: Self::text(self.fixture.lab.project()),
            writable: vec![Self::text(&temp)],
            readable: Vec::new(),
            never_touch: vec!["secret/".to_owned()],
        };
        fs::write(&rules, serde_json::to_string(&fence).unwrap()).unwrap();
        let programs = plugin().join("bin");
        let text = WorkerSettings {
            program: &programs.join("omo"),
            rules: &rules,
        }
        .to_json()
        .unwrap();
        fs::write(&settings, text).unwrap();
        WorkerSpec {
            run: "r1".to_owned(),
            worker: "2".to_owned(),
            worktree: self.worktree.clone(),
            temp_folder: temp,
            port: None,
            program_folder: programs,
            settings: Some(settings),
            max_turns: 60,
            max_budget_micros: None,
            permissions,
            model: None,
            resume: None,
        }
    }

    /// Runs the session to its end; what it was told about each call.
    fn run(&self, order: &WorkerSpec, plugins: &[&Path]) -> Vec<String> {
        let prompt = self.file("prompt");
        fs::write(&prompt, "Work on group 2.\n").unwrap();
        let variables = self
            .fixture
            .lab
            .environment()
            .iter()
            .map(|(name, value)| (name.into(), value.into()));
        let mut command = Command::new(self.fixture.client.program());
        for folder in plugins
            .iter()
            .map(|folder| folder.to_path_buf())
            .chain([plugin()])
        {
            command.arg("--plugin-dir").arg(folder);
        }
        command.args(order.arguments()).current_dir(&self.worktree);
        command
            .env_clear()
            .envs(order.environment(variables.collect()))
            .stdin(File::open(&prompt).unwrap());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let requests = self.fixture.model.requests_of(RequestKind::Main);
        requests
            .iter()
            .skip(1)
            .map(RecordedRequest::tool_results_text)
            .collect()
    }
}

fn bash(command: impl Into<String>) -> (&'static str, Value) {
    ("Bash", json!({ "command": command.into() }))
}

fn write(path: impl Into<String>) -> (&'static str, Value) {
    (
        "Write",
        json!({ "file_path": path.into(), "content": "of the session\n" }),
    )
}

/// Everything that a user can allow, and what a session has where its user says nothing but that it may run commands.
fn each_permission() -> [WorkerPermissions; 2] {
    [
        WorkerPermissions::All,
        WorkerPermissions::Listed(allowed_rules(&["Bash".to_owned()]).unwrap()),
    ]
}

/// What a session may not do; `main` is the path of its user's checkout.
fn beyond(main: &str) -> Vec<(&'static str, Value)> {
    vec![
        write(format!("{main}/src/new.txt")),
        write(format!("{main}/.claude/worktrees/omo-r1-2/out/src/new.txt")),
        write(format!(
            "{main}/.claude/worktrees/omo-r1-2/src/../../../../src/new.txt"
        )),
        write(format!("{main}/.claude/worktrees/omo-r1-2/secret/key.txt")),
        write("~/escaped.txt"),
        write(format!(" {main}/src/new.txt")),
        bash("cd .. && echo x > escaped"),
        bash("cd out && echo x > escaped"),
        bash("git -C out add -A"),
        bash(format!("git -C {main} add -A")),
        bash(format!("GIT_DIR={main}/.git git update-index --refresh")),
        bash(format!("echo x > {main}/src/new.txt")),
        bash("echo x > out/src/a.txt"),
        bash("git stash --include-untracked"),
        bash("sh -c \"git 'stash'\""),
        bash("git checkout -q main"),
        bash("git branch x"),
        (
            "Agent",
            json!({"description": "x", "prompt": "x", "subagent_type": "general-purpose", "isolation": "worktree"}),
        ),
    ]
}

#[test]
fn nothing_beyond_the_worktree_is_reached_and_ordinary_work_goes_through() {
    for permissions in each_permission() {
        let site = Site::new(|main| {
            let ordinary = [
                write("new.txt"),
                (
                    "Read",
                    json!({ "file_path": format!("{main}/.claude/worktrees/omo-r1-2/src/a.txt") }),
                ),
                (
                    "Edit",
                    json!({
                        "file_path": format!("{main}/.claude/worktrees/omo-r1-2/src/a.txt"),
                        "old_string": "of the user", "new_string": "of the session",
                    }),
                ),
                bash("cd src && cat ../new.txt a.txt"),
                // Its shell is still there.
                bash("git add ../new.txt && git status --short"),
                bash("command -v omo"),
            ];
            [beyond(main), ordinary.into()].concat()
        });
        let before = site.everything();
        let reported = site.run(&site.order(permissions), &[]);
        let (refused, done) = reported.split_at(beyond("").len());
        for (reported, call) in refused.iter().zip(beyond("MAIN")) {
            assert!(reported.contains(FENCE), "{call:?}: {reported}");
        }
        assert_eq!(site.everything(), before);
        let [written, _, edited, read, status, found] = done else {
            panic!("{done:?}")
        };
        assert!(written.contains("created successfully"), "{written}");
        assert!(edited.contains("updated successfully"), "{edited}");
        assert_eq!(read, "of the session\nof the session");
        assert_eq!(status, "A  ../new.txt\n M a.txt\n?? ../out");
        assert_eq!(Path::new(found.trim()), plugin().join("bin/omo"));
    }
}

#[test]
fn without_a_word_of_its_user_a_session_may_edit_and_talk_to_omo() {
    let site = Site::new(|_| {
        vec![
            write("new.txt"),
            bash("omo agent next --run none"),
            bash("sh -c 'touch more.txt'"),
        ]
    });
    let reported = site.run(
        &site.order(WorkerPermissions::Listed(allowed_rules(&[]).unwrap())),
        &[],
    );
    let [written, asked, touched] = reported.as_slice() else {
        panic!("{reported:?}")
    };
    assert!(written.contains("created successfully"), "{written}");
    assert!(asked.contains("no plan run is open here"), "{asked}");
    assert!(
        !touched.contains(FENCE) && !site.worktree.join("more.txt").exists(),
        "{touched}"
    );
}

/// A user's hooks can be off by an order of their administrator, and the fence with them.
#[test]
fn what_is_denied_is_denied_without_the_fence_and_where_everything_is_allowed() {
    let calls = |_: &str| {
        vec![
            bash("git stash list"),
            bash("true; /usr/bin/git stash list"),
            bash("env git push; timeout 5 git push"),
            ("EnterWorktree", json!({"name": "x"})),
            (
                "ScheduleWakeup",
                json!({"delaySeconds": 60, "prompt": "x", "reason": "x"}),
            ),
            (
                "CronCreate",
                json!({"cron": "* * * * *", "prompt": "x", "recurring": false}),
            ),
            bash("git -C . stash list && echo through"),
        ]
    };
    let site = Site::new(calls);
    let order = site.order(WorkerPermissions::All);
    let path = order.settings.as_ref().unwrap();
    let mut settings: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    assert!(settings.as_object_mut().unwrap().remove("hooks").is_some());
    fs::write(path, settings.to_string()).unwrap();
    let reported = site.run(&order, &[]);
    let [denied @ .., through] = reported.as_slice() else {
        panic!("{reported:?}")
    };
    let (commands, tools) = denied.split_at(3);
    assert!(
        commands
            .iter()
            .all(|reported| reported.contains("has been denied")),
        "{commands:?}"
    );
    assert!(
        tools
            .iter()
            .all(|reported| reported.contains("is disabled for this session")),
        "{tools:?}"
    );
    assert_eq!(through, "through", "this is what the fence is for");
}

/// A hook that leaves a mark and has everything allowed.
fn allowing(mark: &Path) -> Value {
    let answer = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}});
    let run = format!("echo ran > '{}'; echo '{answer}'", mark.display());
    json!({"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": run}]}]})
}

#[test]
fn the_fence_stands_beside_other_hooks_and_no_repository_turns_it_off() {
    let site = Site::new(|_| vec![bash("git stash list"), bash("git status --short src")]);
    let (of_repository, of_plugin) = (site.file("repository-ran"), site.file("plugin-ran"));
    let order = site.order(WorkerPermissions::All);
    let repository = json!({
        "hooks": allowing(&of_repository),
        "permissions": {"allow": ["Bash(git stash:*)"]},
        "disableAllHooks": true,
    });
    fs::create_dir_all(site.worktree.join(".claude")).unwrap();
    fs::write(
        site.worktree.join(".claude/settings.json"),
        repository.to_string(),
    )
    .unwrap();
    let other = site.file("other");
    fs::create_dir_all(other.join(".claude-plugin")).unwrap();
    fs::create_dir_all(other.join("hooks")).unwrap();
    fs::write(
        other.join(".claude-plugin/plugin.json"),
        r#"{"name": "other", "version": "0.1.0"}"#,
    )
    .unwrap();
    fs::write(
        other.join("hooks/hooks.json"),
        json!({"hooks": allowing(&of_plugin)}).to_string(),
    )
    .unwrap();
    let reported = site.run(&order, &[&other]);
    assert!(reported[0].contains(FENCE), "{reported:?}");
    assert!(!reported[1].contains(FENCE), "{reported:?}");
    assert!(
        of_plugin.exists() && of_repository.exists(),
        "all of them run"
    );
}
