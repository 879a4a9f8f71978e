//! What omo brings for engines that are not here to be tried: the job for Kubernetes, and the workflow for GitHub
//! Actions.

use std::collections::BTreeMap;

use omo_remote::profile::{KUBERNETES_JOB, find_profile};
use omo_remote::template::{LauncherTemplate, PLACEHOLDERS};
use serde::Deserialize;
use serde_json::Value;

/// Declares objects of the API of Kubernetes with the fields that omo may write: another field, or a value of another
/// type, is an error.
macro_rules! api_objects {
    ($($name:ident { $($field:ident: $type:ty,)* })*) => {$(
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields, rename_all = "camelCase")]
        #[allow(dead_code, reason = "read to be checked")]
        struct $name { $($field: $type,)* }
    )*};
}

// Names and types of the reference of the API, v1.34: batch/v1 Job, and core/v1 for what it holds.
api_objects! {
    Job { api_version: String, kind: String, metadata: ObjectMeta, spec: JobSpec, }
    ObjectMeta { name: Option<String>, labels: BTreeMap<String, String>, }
    JobSpec { backoff_limit: i32, ttl_seconds_after_finished: i32, template: PodTemplateSpec, }
    PodTemplateSpec { metadata: ObjectMeta, spec: PodSpec, }
    PodSpec {
        restart_policy: String,
        automount_service_account_token: bool,
        termination_grace_period_seconds: i64,
        security_context: PodSecurityContext,
        containers: Vec<Container>,
        volumes: Vec<Volume>,
    }
    PodSecurityContext { run_as_non_root: bool, run_as_user: i64, fs_group: i64, seccomp_profile: SeccompProfile, }
    SeccompProfile { r#type: String, }
    Container {
        name: String,
        image: String,
        command: Vec<String>,
        env: Vec<EnvVar>,
        resources: ResourceRequirements,
        security_context: SecurityContext,
        volume_mounts: Vec<VolumeMount>,
    }
    EnvVar { name: String, value: Option<String>, value_from: Option<EnvVarSource>, }
    EnvVarSource { secret_key_ref: SecretKeySelector, }
    SecretKeySelector { name: String, key: String, }
    ResourceRequirements { requests: BTreeMap<String, String>, }
    SecurityContext { allow_privilege_escalation: bool, capabilities: Capabilities, }
    Capabilities { drop: Vec<String>, }
    VolumeMount { name: String, mount_path: String, read_only: Option<bool>, }
    Volume { name: String, empty_dir: Option<EmptyDirVolumeSource>, secret: Option<SecretVolumeSource>, }
    EmptyDirVolumeSource {}
    SecretVolumeSource { secret_name: String, default_mode: i32, }
}

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
        let filled = LauncherTemplate::fill_text(
            KUBERNETES_JOB,
            &PLACEHOLDERS.map(|name| (name, value.to_owned())).into(),
        )
        .unwrap();
        let job: Job = serde_yaml_ng::from_str(&filled).unwrap();
        assert_eq!(
            (job.api_version.as_str(), job.kind.as_str()),
            ("batch/v1", "Job")
        );
        assert_eq!(job.metadata.name.as_deref(), Some(value));
        let pod = job.spec.template.spec;
        assert_eq!(pod.containers[0].command, ["sh", "-c", value]);
        assert_eq!(pod.containers[0].image, value);
        assert_eq!(
            pod.restart_policy, "Never",
            "a pod that is lost is begun again by its run"
        );
    }
}

#[test]
fn the_workflow_takes_what_its_launcher_sends_and_runs_none_of_it_as_text() {
    let workflow = parse(WORKFLOW).unwrap();
    let start = find_profile("github-actions", &BTreeMap::new(), "omo", |_| {
        Err(String::new())
    });
    let values = PLACEHOLDERS
        .map(|name| {
            (
                name,
                if name == "options" {
                    String::new()
                } else {
                    "7".to_owned()
                },
            )
        })
        .into();
    let words = LauncherTemplate::parse(&start.unwrap().start)
        .unwrap()
        .fill(&values)
        .unwrap();
    let sent: Vec<&str> = words
        .iter()
        .filter_map(|word| word.strip_suffix("=7"))
        .collect();
    let taken: Vec<&String> = workflow["on"]["workflow_dispatch"]["inputs"]
        .as_object()
        .unwrap()
        .keys()
        .collect();
    let sorted = |mut names: Vec<String>| {
        names.sort();
        names
    };
    let owned = |names: &[&str]| sorted(names.iter().map(|name| (*name).to_owned()).collect());
    assert_eq!(owned(&sent), sorted(taken.into_iter().cloned().collect()));
    assert_eq!(
        workflow["run-name"], "${{ inputs.job }}",
        "its launcher asks for it by this name"
    );
    let steps = workflow["jobs"]["worker"]["steps"].as_array().unwrap();
    let commands: Vec<&str> = steps
        .iter()
        .filter_map(|step| step["run"].as_str())
        .collect();
    assert_eq!(commands.len(), steps.len());
    assert!(
        commands.iter().all(|command| !command.contains("${{")),
        "a value of a request in the text of a command"
    );
}
