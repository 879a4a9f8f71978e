//! What the workflows on public CI may do, and that they do what the repository's own commands do.

use std::fs;

use crate::{read, top};

/// Every workflow: its name and its text.
fn workflows() -> Vec<(String, String)> {
    let folder = ".github/workflows";
    let files = fs::read_dir(top().join(folder)).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let workflows: Vec<_> = names.map(|name| (name.clone(), read(&format!("{folder}/{name}")))).collect();
    assert!(workflows.len() >= 2, "only {} workflows", workflows.len());
    workflows
}

#[test]
fn workflows_run_what_the_repository_runs() {
    let ci = read(".github/workflows/ci.yml");
    assert!(ci.contains(" .ci/run\n") && ci.contains("macos-latest") && ci.contains("windows-latest"));
    let release = read(".github/workflows/release.yml");
    assert!(release.contains("cargo xtask dist $TARGETS\n") && release.contains("tags: [\"v*\"]"));
    let targets = read("crates/xtask/src/dist/targets.rs");
    let list = targets.split("] = [").nth(1).and_then(|rest| rest.split("];").next()).unwrap();
    let named: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
    assert!(named.len() >= 5, "{named:?}");
    for target in named {
        assert!(release.contains(&format!("--target {target}")), "no release for {target}");
    }
}

#[test]
fn workflows_use_pinned_actions_and_no_secret() {
    for (name, text) in workflows() {
        for line in text.lines().filter_map(|line| line.trim_start().trim_start_matches("- ").strip_prefix("uses: ")) {
            let commit = line.split_once('@').map_or("", |(_, rest)| rest.split(' ').next().unwrap_or(""));
            let is_pinned = commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
            assert!(is_pinned && line.contains(" # v"), "{name}: {line} is not pinned by a commit with its version");
        }
        assert!(!text.contains("secrets."), "{name} names a secret");
        // Nothing that somebody else can choose, a branch's name say, becomes a part of a script.
        let mut is_script = false;
        for line in text.lines() {
            is_script = line.trim_start().trim_start_matches("- ").starts_with("run:")
                || (is_script && line.starts_with("          "));
            assert!(!is_script || !line.contains("${{"), "{name}: {line} puts an expression into a script");
        }
    }
}

#[test]
fn only_the_job_that_publishes_may_write() {
    for (name, text) in workflows() {
        assert!(text.contains("\npermissions:\n  contents: read\n"), "{name} may do more than read");
        assert!(!text.contains("write-all") && !text.contains("pull_request_target"), "{name}");
        let writes = text.matches(": write").count();
        assert_eq!(writes, usize::from(name == "release.yml"), "{name}");
    }
    let release = read(".github/workflows/release.yml");
    let (_, publish) = release.split_once("\n  publish:\n").unwrap();
    assert!(publish.contains("      contents: write\n") && !publish.contains("cargo"));
}
