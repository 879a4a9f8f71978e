//! What omo brings for engines that are not here to be tried: the job for Kubernetes, and the workflow for GitHub
//! Actions.

use k8s_openapi::api::batch::v1::Job;
use omo_engine::launcher::profile::{KUBERNETES_JOB, find_profile};
use omo_engine::launcher::{LauncherPlaceholder, LauncherTemplate};
use serde_json::Value;

const WORKFLOW: &str = include_str!("../../docs/launchers/omo-worker.yml");
/// What an attacker would call a job.
const HOSTILE: &str = "a\"\nb: {c} # '$(d)' \u{7}";

/// The YAML of a text as its reader takes it.
fn parse(yaml: &str) -> serde_yaml_ng::Result<Value> {
    serde_yaml_ng::from_str(yaml)
}

#[test]
fn the_job_for_kubernetes_is_one_of_its_api_whatever_is_filled_in() {
    for value in ["omo-r1-session-1-1", HOSTILE] {
        let filled = LauncherTemplate::fill_text(KUBERNETES_JOB, |_| value).unwrap();
        let written = parse(&filled).unwrap();
        let job: Job = serde_json::from_value(written.clone()).unwrap();
        assert_eq!(serde_json::to_value(&job).unwrap(), written, "a field that the API does not have");
        assert_eq!(job.metadata.name.as_deref(), Some(value));
        let pod = job.spec.unwrap().template.spec.unwrap();
        assert_eq!(pod.containers[0].command.as_ref().unwrap(), &["sh", "-c", value]);
        assert_eq!(pod.containers[0].image.as_deref(), Some(value));
        assert_eq!(pod.restart_policy.as_deref(), Some("Never"), "a pod that is lost is begun again by its run");
    }
}

#[test]
fn the_workflow_takes_what_its_launcher_sends_and_runs_none_of_it_as_text() {
    let workflow = parse(WORKFLOW).unwrap();
    let start = find_profile("github-actions", &std::collections::BTreeMap::new(), "omo", |_| Err(String::new()));
    let value = |placeholder| match placeholder {
        LauncherPlaceholder::Options => "",
        _ => "7",
    };
    let words = LauncherTemplate::parse(&start.unwrap().start).unwrap().fill(value).unwrap();
    let sent: Vec<&str> = words.iter().filter_map(|word| word.strip_suffix("=7")).collect();
    let taken: Vec<&String> = workflow["on"]["workflow_dispatch"]["inputs"].as_object().unwrap().keys().collect();
    let sorted = |mut names: Vec<String>| {
        names.sort();
        names
    };
    let owned = |names: &[&str]| sorted(names.iter().map(|name| (*name).to_owned()).collect());
    assert_eq!(owned(&sent), sorted(taken.into_iter().cloned().collect()));
    assert_eq!(workflow["run-name"], "${{ inputs.job }}", "its launcher asks for it by this name");
    let steps = workflow["jobs"]["worker"]["steps"].as_array().unwrap();
    let commands: Vec<&str> = steps.iter().filter_map(|step| step["run"].as_str()).collect();
    assert_eq!(commands.len(), steps.len());
    assert!(commands.iter().all(|command| !command.contains("${{")), "a value of a request in the text of a command");
}
