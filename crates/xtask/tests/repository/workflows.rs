//! Permissions of the workflows on public CI, and their agreement with the repository's own commands.

use std::fs;

use crate::{read, top};

/// Workflows by name, with their text. One of them is for the projects of users.
fn workflows() -> Vec<(String, String)> {
    let folder = ".github/workflows";
    let files = fs::read_dir(top().join(folder)).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut workflows: Vec<_> = names
        .map(|name| (name.clone(), read(&format!("{folder}/{name}"))))
        .collect();
    let proof = read("docs/proof.md");
    let shown = proof
        .split_once("```yaml\n")
        .and_then(|(_, rest)| rest.split_once("```"))
        .unwrap()
        .0;
    workflows.push(("docs/proof.md".to_owned(), shown.to_owned()));
    assert!(workflows.len() >= 3, "only {} workflows", workflows.len());
    workflows
}

#[test]
fn workflows_run_what_the_repository_runs() {
    let ci = read(".github/workflows/ci.yml");
    assert!(
        ci.contains(" .ci/run\n") && ci.contains("macos-latest") && ci.contains("windows-latest")
    );
    let release = read(".github/workflows/release.yml");
    assert!(
        release.contains("cargo xtask dist $TARGETS\n")
            && release.contains("tags: [\"v[0-9]+.[0-9]+.[0-9]+\"]")
    );
    for name in ["reliability", "supervisor_that_is_killed"] {
        assert!(release.contains(&format!("cargo xtask test --exhaustive {name}\n")));
    }
    let latest = read(".github/workflows/latest-client.yml");
    assert!(
        latest.contains("\n  schedule:\n")
            && latest.contains("cargo xtask test --client latest client ")
    );
    let site = read(".github/workflows/site.yml");
    assert!(
        site.contains(" cargo xtask site\n")
            && site.contains("path: target/site\n")
            && site.contains("branches: [main]")
    );
    let targets = read("crates/xtask/src/dist/targets.rs");
    let named = between(&targets, "TARGETS: [&str; 5] = [", "];");
    assert_eq!(named.len(), 5, "{named:?}");
    for target in named {
        assert!(
            release.contains(&format!("--target {target}")),
            "no release for {target}"
        );
    }
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> Vec<&'a str> {
    let list = text
        .split_once(start)
        .and_then(|(_, rest)| rest.split_once(end))
        .unwrap()
        .0;
    list.split('"').skip(1).step_by(2).collect()
}

#[test]
fn every_package_is_published_and_the_plugins_own_after_all_platforms() {
    let npm = read("crates/xtask/src/dist/npm.rs");
    let words = between(&npm, "PLATFORMS: [Platform; 4] = [", "];");
    let platforms: Vec<String> = words.chunks(2).map(|words| words.join("-")).collect();
    assert_eq!(platforms.len(), 4, "{words:?}");
    let jobs = jobs("release");
    let published = format!("for name in {} omo; do", platforms.join(" "));
    assert!(job(&jobs, "npm").contains(&published), "{published}");
    assert!(job(&jobs, "npm").contains("npm publish \"$file\" --provenance --access public\n"));
    assert!(
        job(&jobs, "assemble")
            .contains("cargo xtask dist --assemble made/dist-linux made/dist-macos\n")
    );
    assert!(job(&jobs, "publish").contains("cp ../npm/marketplace.json .claude-plugin/\n"));
    for (name, after) in [
        ("build", "faults"),
        ("assemble", "build"),
        ("npm", "assemble"),
        ("publish", "npm"),
    ] {
        assert!(
            job(&jobs, name).contains(&format!("    needs: {after}\n")),
            "{name} does not wait for {after}"
        );
    }
}

fn jobs(workflow: &str) -> Vec<(String, String)> {
    let workflow = read(&format!(".github/workflows/{workflow}.yml"));
    let (_, text) = workflow.split_once("\njobs:\n").unwrap();
    let mut jobs: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        let name = line
            .strip_prefix("  ")
            .and_then(|line| line.strip_suffix(':'));
        match name.filter(|name| !name.starts_with([' ', '#'])) {
            Some(name) => jobs.push((name.to_owned(), String::new())),
            None => jobs.last_mut().unwrap().1.extend([line, "\n"]),
        }
    }
    jobs
}

fn job<'a>(jobs: &'a [(String, String)], name: &str) -> &'a str {
    let found = jobs.iter().find(|(found, _)| found == name);
    &found.unwrap_or_else(|| panic!("there is no job {name}")).1
}

#[test]
fn workflows_use_pinned_actions_and_no_secret() {
    for (name, text) in workflows() {
        for line in text.lines().filter_map(|line| {
            line.trim_start()
                .trim_start_matches("- ")
                .strip_prefix("uses: ")
        }) {
            let commit = line
                .split_once('@')
                .map_or("", |(_, rest)| rest.split(' ').next().unwrap_or(""));
            let is_pinned =
                commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
            assert!(
                is_pinned && line.contains(" # v"),
                "{name}: {line} is not pinned by a commit with its version"
            );
        }
        assert!(!text.contains("secrets."), "{name} names a secret");
        // Nothing that another person can choose, a branch's name say, becomes a part of a script.
        let mut is_script = false;
        for line in text.lines() {
            is_script = line
                .trim_start()
                .trim_start_matches("- ")
                .starts_with("run:")
                || (is_script && line.starts_with("          "));
            assert!(
                !is_script || !line.contains("${{"),
                "{name}: {line} puts an expression into a script"
            );
        }
    }
}

#[test]
fn only_the_jobs_that_publish_may_write_and_they_build_nothing() {
    for (name, text) in workflows() {
        assert!(
            text.contains("\npermissions:\n  contents: read\n"),
            "{name} may do more than read"
        );
        assert!(
            !text.contains("write-all") && !text.contains("pull_request_target"),
            "{name}"
        );
        let writes = text.matches(": write").count();
        let publishes = ["release.yml", "site.yml"].contains(&name.as_str());
        assert_eq!(writes, if publishes { 2 } else { 0 }, "{name}");
    }
    for (workflow, name, may) in [
        ("release", "npm", "id-token: write"),
        ("release", "publish", "contents: write"),
        ("site", "publish", "id-token: write"),
        ("site", "publish", "pages: write"),
    ] {
        let jobs = jobs(workflow);
        let text = job(&jobs, name);
        assert!(
            text.contains(&format!("      {may}\n")),
            "{name} may not {may}"
        );
        for builds in ["cargo", "actions/checkout", "npm install", "npx "] {
            assert!(!text.contains(builds), "{name} may write, and has {builds}");
        }
    }
}
