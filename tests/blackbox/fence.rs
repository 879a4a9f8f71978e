//! `omo agent fence` from outside: one answer or none, and exit status 0, whatever the client, a repository or a disk does.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use omo_engine::fence::{FenceRules, RULES_VERSION};
use omo_testkit::{Lab, run_command};
use serde_json::{Value, json};

use crate::scene::plugin;

/// A worktree with its rules.
struct Ward {
    lab: Lab,
    omo: PathBuf,
    worktree: PathBuf,
    rules: PathBuf,
}

impl Ward {
    fn new(plugin: &Path) -> Result<Self> {
        let lab = Lab::builder().build()?;
        let worktree = lab.project().join(".claude/worktrees/omo-r1-2");
        fs::create_dir_all(worktree.join("src"))?;
        symlink(lab.project(), worktree.join("out"))?;
        symlink(lab.project().join("later"), worktree.join("later"))?;
        let text = |path: &Path| {
            path.to_str()
                .map(str::to_owned)
                .context("a path that is no text")
        };
        let fence = FenceRules {
            version: RULES_VERSION,
            main_checkout: text(lab.project())?,
            writable: Vec::new(),
            readable: Vec::new(),
            never_touch: vec!["secret/".to_owned()],
        };
        let rules = lab.root().join("fence.json");
        fs::write(&rules, serde_json::to_string(&fence)?)?;
        Ok(Self {
            lab,
            omo: plugin.join("bin/omo"),
            worktree,
            rules,
        })
    }

    fn asked(&self, tool: &str, input: &Value) -> String {
        json!({"session_id": "s", "hook_event_name": "PreToolUse", "cwd": self.worktree, "tool_name": tool, "tool_input": input})
            .to_string()
    }

    /// What is said against it, with these variables and options.
    fn said(
        &self,
        input: &str,
        variables: &[(&str, &Path)],
        options: &[&Path],
    ) -> Result<Option<String>> {
        let mut command = self.lab.command(&self.omo);
        command
            .args(["agent", "fence"])
            .args(options)
            .current_dir(&self.worktree);
        command.envs(variables.iter().copied());
        let run = run_command(&command, input)?;
        ensure!(
            run.status.success() && run.stderr.is_empty() && !run.timed_out,
            "{run:?}"
        );
        if run.stdout.is_empty() {
            return Ok(None);
        }
        let answer: Value = serde_json::from_str(&run.stdout)
            .with_context(|| format!("not one answer: {run:?}"))?;
        let answer = &answer["hookSpecificOutput"];
        ensure!(
            answer["hookEventName"] == "PreToolUse" && answer["permissionDecision"] == "deny",
            "{answer}"
        );
        Ok(answer["permissionDecisionReason"]
            .as_str()
            .map(str::to_owned))
    }

    /// As a session of a group has it asked.
    fn of_a_group(&self, input: &str) -> Result<Option<String>> {
        self.said(
            input,
            &self.variables(),
            &[Path::new("--rules"), &self.rules],
        )
    }

    fn variables(&self) -> [(&'static str, &Path); 3] {
        [
            ("OMO_RUN", Path::new("r1")),
            ("OMO_WORKER", Path::new("2")),
            ("OMO_ROOT", &self.worktree),
        ]
    }
}

const UNCLEAR: &str = "omo cannot tell what this would do";

#[test]
fn every_link_is_followed_before_it_is_decided() -> Result<()> {
    let plugin = plugin();
    let ward = Ward::new(&plugin)?;
    let write = |path: &str| {
        ward.asked(
            "Write",
            &json!({"file_path": ward.worktree.join(path), "content": "x"}),
        )
    };
    let run = |command: &str| ward.asked("Bash", &json!({"command": command}));
    let notebook = ward.asked("NotebookEdit", &json!({"notebook_path": "/etc/x.ipynb"}));
    for (input, expected) in [
        (write("src/a.rs"), None),
        (write("new/folder/a.rs"), None),
        (write("out/a.rs"), Some("is not in it")),
        (write("later"), Some("is not in it")),
        (write("out/../../../x"), Some("is not in it")),
        (write("secret/key"), Some("never-touch")),
        (write("SECRET/key"), Some("never-touch")),
        (write(".git"), Some("belongs to git")),
        (notebook, Some("is not in it")),
        (run("cargo test && git status"), None),
        (run("cd src && ls .."), None),
        (run("cd out && ls"), Some("is not in it")),
        (run("echo x > later"), Some("is not in it")),
        (run("git -C out status"), Some("is not in it")),
        (run("git push"), Some("`git push`")),
        (
            ward.asked("Read", &json!({"file_path": "/etc/hosts"})),
            None,
        ),
        (ward.asked("Agent", &json!({"prompt": "x"})), None),
        (
            ward.asked("Agent", &json!({"prompt": "x", "isolation": "worktree"})),
            Some("isolation"),
        ),
    ] {
        let said = ward.of_a_group(&input)?;
        ensure!(
            said.as_deref()
                .map(|said| said.contains(expected.unwrap_or("nothing")))
                == expected.map(|_| true),
            "{input}: {said:?}"
        );
    }
    Ok(())
}

#[test]
fn what_cannot_be_decided_is_denied_to_a_worker_alone() -> Result<()> {
    let plugin = plugin();
    let ward = Ward::new(&plugin)?;
    let good = ward.asked(
        "Write",
        &json!({"file_path": ward.worktree.join("a"), "content": "x"}),
    );
    let long = ward.asked(
        "Write",
        &json!({"file_path": format!("{}/{}", ward.worktree.display(), "a/".repeat(500_000))}),
    );
    let garbage = [
        String::new(),
        "{".to_owned(),
        "[]".to_owned(),
        "null".to_owned(),
        good.replace("\"tool_name\":\"Write\"", "\"tool_name\":5"),
        good.replace("file_path", "file"),
        ward.asked("Bash", &json!({"command": ["git", "push"]})),
        ward.asked("Bash", &json!("git push")),
        ward.asked("Bash", &json!({"command": "$(".repeat(100_000)})),
        "[".repeat(100_000),
        long,
    ];
    for input in &garbage {
        let said = ward.of_a_group(input)?;
        ensure!(
            said.as_deref().is_some_and(|said| said.contains(UNCLEAR)),
            "{input:.200}: {said:?}"
        );
    }
    for input in garbage.iter().take(8) {
        ensure!(
            ward.said(input, &[], &[Path::new("--rules"), &ward.rules])?
                .is_none(),
            "{input:.200}"
        );
    }
    ensure!(ward.of_a_group(&good)?.is_none());
    let [run, group, root] = ward.variables();
    let option = Path::new("--rules");
    let nowhere = ward.lab.root().join("nowhere");
    let broken = ward.lab.root().join("broken.json");
    fs::write(&broken, "{}")?;
    let newer = ward.lab.root().join("newer.json");
    fs::write(
        &newer,
        fs::read_to_string(&ward.rules)?.replace("\"version\":1", "\"version\":2"),
    )?;
    for (variables, options) in [
        (vec![run, group], vec![option, &ward.rules]),
        (
            vec![run, group, ("OMO_ROOT", Path::new("src"))],
            vec![option, &ward.rules],
        ),
        (vec![run, group, root], vec![option, &nowhere]),
        (vec![run, group, root], vec![option, &broken]),
        (vec![run, group, root], vec![option, &newer]),
        (vec![run, group, root], vec![option, ward.lab.root()]),
        (vec![run, group, root], vec![option]),
    ] {
        let said = ward.said(&good, &variables, &options)?;
        ensure!(
            said.as_deref().is_some_and(|said| said.contains(UNCLEAR)),
            "{variables:?} {options:?}: {said:?}"
        );
    }
    Ok(())
}
