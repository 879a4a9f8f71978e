//! Changes that were always seen, what was never run, and honest work in repositories of every kind.

use std::fs;

use anyhow::ensure;

use crate::target_project::{Row, WRONG, play};

/// What was caught before, and has to stay so.
const CONTROLS: &[Row] = &[
    Row {
        id: "c03a",
        what: "edited after the review",
        play: |target| {
            target.begin_and_be_reviewed()?;
            target.breaks_after_review()
        },
    },
    Row {
        id: "c03b",
        what: "edited, times set back",
        play: |target| {
            target.begin_and_be_reviewed()?;
            target.breaks_with_old_times()
        },
    },
    Row {
        id: "c03c",
        what: "assume-unchanged and edited",
        play: |target| {
            target.begin_and_be_reviewed()?;
            target.git(&["update-index", "--assume-unchanged", "app.py"])?;
            target.breaks_after_review()
        },
    },
    Row {
        id: "c03d",
        what: "skip-worktree and edited",
        play: |target| {
            target.begin_and_be_reviewed()?;
            target.git(&["update-index", "--skip-worktree", "app.py"])?;
            target.breaks_after_review()
        },
    },
    Row {
        id: "c03e",
        what: "a file of a repository inside edited",
        play: |target| {
            target.holds_while("open('inner/data.txt').read() == 'good'")?;
            target.git(&["init", "-q", "inner"])?;
            target.write("inner/data.txt", "good")?;
            target.begin_and_be_reviewed()?;
            target.write("inner/data.txt", "evil")?;
            target.is_caught()
        },
    },
    Row {
        id: "c03f",
        what: "git rm --cached, excluded, edited",
        play: |target| {
            target.begin_and_be_reviewed()?;
            target.git(&["rm", "-q", "--cached", "app.py"])?;
            target.write(".git/info/exclude", "app.py\n")?;
            target.breaks_after_review()
        },
    },
    Row {
        id: "c03g",
        what: ".git/index deleted, edited",
        play: |target| {
            target.begin_and_be_reviewed()?;
            target.remove(".git/index")?;
            target.breaks_after_review()
        },
    },
    Row {
        id: "c03h",
        what: ".git moved away, edited",
        play: |target| {
            target.begin_and_be_reviewed()?;
            fs::rename(target.path(".git"), target.scene.lab.home().join("moved"))?;
            target.breaks_after_review()
        },
    },
    Row {
        id: "c03i",
        what: "omo's kept ids edited",
        play: |target| {
            target.begin_and_be_reviewed()?;
            let files = target.scene.lab.home().join(".local/state/omo/files");
            target.write("app.py", WRONG)?;
            for folder in fs::read_dir(files)?.flatten() {
                let path = folder.path().join("remembered.json");
                let text = fs::read_to_string(&path)?;
                fs::write(&path, text.replace("\"sources\":\"", "\"sources\":\"x"))?;
                fs::write(folder.path().join("paths"), "")?;
            }
            target.is_caught()
        },
    },
    Row {
        id: "c03j",
        what: ".git replaced by one of a copy",
        play: |target| {
            target.begin_and_be_reviewed()?;
            target.write("app.py", WRONG)?;
            let copy = target.scene.lab.home().join("copy");
            target.git(&["clone", "-q", ".", &copy.display().to_string()])?;
            fs::remove_dir_all(target.path(".git"))?;
            fs::rename(copy.join(".git"), target.path(".git"))?;
            target.is_caught()
        },
    },
    Row {
        id: "c06a",
        what: "core.fsmonitor",
        play: |target| {
            let (script, trace) = target.tracing_script()?;
            target.git(&["config", "core.fsmonitor", &script])?;
            target.runs_nothing(&trace)
        },
    },
    Row {
        id: "c06b",
        what: "hooks and core.hooksPath",
        play: |target| {
            let (script, trace) = target.tracing_script()?;
            let hooks = target.scene.lab.home().join("hooks");
            fs::create_dir_all(&hooks)?;
            fs::create_dir_all(target.path(".git/hooks"))?;
            for hook in ["post-index-change", "reference-transaction", "pre-commit"] {
                fs::copy(&script, hooks.join(hook))?;
                fs::copy(&script, target.path(".git/hooks").join(hook))?;
            }
            target.git(&["config", "core.hooksPath", &hooks.display().to_string()])?;
            target.runs_nothing(&trace)
        },
    },
    Row {
        id: "c06c",
        what: "a clean filter",
        play: |target| {
            let (script, trace) = target.tracing_script()?;
            target.write(".gitattributes", "* filter=bad\n")?;
            target.git(&["config", "filter.bad.clean", &script])?;
            target.runs_nothing(&trace)
        },
    },
    Row {
        id: "c06d",
        what: "a filter process, required",
        play: |target| {
            let (script, trace) = target.tracing_script()?;
            target.write(".gitattributes", "* filter=bad\n")?;
            target.git(&["config", "filter.bad.process", &script])?;
            target.git(&["config", "filter.bad.required", "true"])?;
            target.runs_nothing(&trace)
        },
    },
    Row {
        id: "c06e",
        what: "a filter by include.path",
        play: |target| {
            let (script, trace) = target.tracing_script()?;
            target.write(".gitattributes", "* filter=bad\n")?;
            target.write(
                "settings",
                &format!("[filter \"bad\"]\n\tclean = {script}\n"),
            )?;
            target.git(&["config", "include.path", "../settings"])?;
            target.runs_nothing(&trace)
        },
    },
    Row {
        id: "c06f",
        what: "diff.external, textconv, a diff driver",
        play: |target| {
            let (script, trace) = target.tracing_script()?;
            target.write(".gitattributes", "* diff=bad\n")?;
            for name in ["diff.external", "diff.bad.textconv", "diff.bad.command"] {
                target.git(&["config", name, &script])?;
            }
            target.runs_nothing(&trace)
        },
    },
    Row {
        id: "c06g",
        what: "a promisor remote by ext::",
        play: |target| {
            let (script, trace) = target.tracing_script()?;
            target.git(&["config", "remote.bad.url", &format!("ext::{script}")])?;
            target.git(&["config", "remote.bad.promisor", "true"])?;
            target.git(&["config", "extensions.partialClone", "bad"])?;
            target.git(&["config", "protocol.ext.allow", "always"])?;
            target.runs_nothing(&trace)
        },
    },
    Row {
        id: "c06h",
        what: "omo.toml that was not approved",
        play: |target| {
            let (script, trace) = target.tracing_script()?;
            target.write("omo.toml", &format!("[[check]]\nrun = \"{script}\"\n"))?;
            target.begin_and_be_reviewed()?;
            target.scene.claim_ends("verified")?;
            ensure!(!trace.exists(), "it ran");
            Ok(())
        },
    },
];

/// Honest runs that nothing of this may hold up.
const HONEST: &[Row] = &[
    Row {
        id: "h sparse",
        what: "a sparse checkout that was one when the run began",
        play: |target| {
            target.write("other/data.txt", "x")?;
            target.commit("other")?;
            target.git(&["sparse-checkout", "set", "--no-cone", "/*", "!/other/"])?;
            target.begin_and_be_reviewed()?;
            target.scene.claim_ends("verified").map(drop)
        },
    },
    Row {
        id: "h line ends",
        what: "a user whose git converts line ends, and who commits during the run",
        play: |target| {
            target.git(&["config", "core.autocrlf", "true"])?;
            target.write("data.txt", "one\r\n")?;
            target.commit("data")?;
            target.begin_and_be_reviewed()?;
            target.commit("done")?;
            target.scene.claim_ends("verified").map(drop)
        },
    },
    Row {
        id: "h no git",
        what: "a project without git, whose check leaves its own files behind",
        play: |target| {
            fs::remove_dir_all(target.path(".git"))?;
            target.remove(".gitignore")?;
            target.begin_and_be_reviewed()?;
            target.scene.claim_ends("verified").map(drop)
        },
    },
    Row {
        id: "h .gitignore",
        what: "what is built is ignored from the run on",
        play: |target| {
            target.begin()?;
            target.write("target/out.txt", "built")?;
            target.write(".gitignore", "__pycache__\ntarget/\n")?;
            target.fix()?;
            target.claim_reaches_review()?;
            target.write("target/out.txt", "built again")?;
            target.review_agrees()?;
            target.scene.claim_ends("verified").map(drop)
        },
    },
    Row {
        id: "h git status",
        what: "the model looks at what it did with git while the review is waited for",
        play: |target| {
            target.begin_and_be_reviewed()?;
            target.git(&["status"])?;
            target.git(&["diff"])?;
            target.scene.claim_ends("verified").map(drop)
        },
    },
];

#[test]
#[ignore = "needs python3: cargo xtask test"]
fn changes_that_were_always_seen_are_seen() {
    play(CONTROLS).unwrap();
}

#[test]
#[ignore = "needs python3: cargo xtask test"]
fn honest_work_in_repositories_of_every_kind_is_verified() {
    play(HONEST).unwrap();
}
