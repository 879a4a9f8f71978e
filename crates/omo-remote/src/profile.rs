//! Launcher profiles such as `slurm`: the commands that start and end workers elsewhere, and their
//! bounds. omo brings some, and the user's configuration adds to them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use omo_state::config::launcher_toml::{self, LauncherTable, is_launcher_name};
use serde::{Deserialize, Serialize};

use crate::template::LauncherTemplate;

const SHIPPED: &str = include_str!("launchers.toml");
/// Default `input` of `kubernetes`.
pub const KUBERNETES_JOB: &str = include_str!("kubernetes-job.yaml");
const AT_ONCE: u32 = 16;
/// Default of `queue_minutes`: a day.
const QUEUE_MINUTES: u32 = 24 * 60;
const POLL_SECONDS: u32 = 5;

/// `[launcher.NAME]` of `config.toml`, recorded with the run: later changes affect no running run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LauncherProfile {
    /// Name such as `slurm`; empty for [`Self::of_command`].
    pub name: String,
    /// Command that starts a worker, and ends once the scheduler has it, such as `sbatch`.
    pub start: String,
    /// Command that ends a worker, also a queued one, such as `scancel`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancel: Option<String>,
    /// Command that lists workers, a line each with name and state, such as `squeue`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Command that prints the output of a worker, such as `tail`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logs: Option<String>,
    /// `stdin` of `start`: a text with placeholders.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// URL of the remote as the worker reaches it, where it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
    /// Value of `{host}`.
    pub host: String,
    /// Value of `{options}`.
    pub options: String,
    /// Value of `{image}`.
    pub image: String,
    /// Program `omo` on the other machine.
    pub omo: String,
    /// Client on the other machine, if it is not `claude` on its `PATH`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Folder for clones on the other machine, if other than that for temporary files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scratch: Option<String>,
    /// Maximum of queued and running workers.
    pub at_once: u32,
    /// Maximum time in the queue.
    pub queue_minutes: u32,
    /// Maximum time of a running worker; `None` for the time limit of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_minutes: Option<u32>,
    /// Pause between two requests to the scheduler and the remote repository.
    pub poll_seconds: u32,
}

impl LauncherProfile {
    /// Profile of a bare command, which runs as long as its worker.
    pub fn of_command(template: &str) -> Self {
        Self {
            start: template.to_owned(),
            ..Self::default()
        }
    }

    /// `true` if `start` runs as long as the worker.
    pub fn is_attached(&self) -> bool {
        self.name.is_empty()
    }

    pub(crate) fn poll_interval(&self) -> Duration {
        Duration::from_secs(u64::from(self.poll_seconds.max(1)))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ProfileError {
    message: String,
    /// Advice for the user.
    pub hint: &'static str,
}

/// Profile by its name, of the user's configuration or of omo. `read_file` reads a file that the
/// configuration names; a launcher like `local` starts `own_program`.
pub fn find_profile(
    name: &str,
    configured: &BTreeMap<String, LauncherTable>,
    own_program: &str,
    read_file: impl Fn(&str) -> Result<String, String>,
) -> Result<LauncherProfile, ProfileError> {
    let shipped = launcher_toml::parse(SHIPPED).unwrap_or_default();
    let profile = configured.get(name);
    let like = profile
        .and_then(|profile| profile.texts.get("like"))
        .map_or(name, String::as_str);
    let base = shipped.get(like);
    if profile.is_none() && base.is_none() || !is_launcher_name(name) {
        return Err(unknown_launcher(name, &shipped, configured));
    }
    if let (Some(_), None, true) = (profile, base, like != name) {
        let names: Vec<&str> = shipped.keys().map(String::as_str).collect();
        let why = format!("is one of {}, which omo brings", names.join(", "));
        return Err(invalid(name, "like", &why));
    }
    let mut table = base.cloned().unwrap_or_default();
    if let Some(profile) = profile {
        table.texts.extend(profile.texts.clone());
        table.numbers.extend(profile.numbers.clone());
    }
    if like == "local" {
        table
            .texts
            .entry("omo".to_owned())
            .or_insert_with(|| own_program.to_owned());
    }
    build(name, like, &table, read_file)
}

fn unknown_launcher(
    name: &str,
    shipped: &BTreeMap<String, LauncherTable>,
    configured: &BTreeMap<String, LauncherTable>,
) -> ProfileError {
    let names: BTreeSet<&str> = shipped
        .keys()
        .chain(configured.keys())
        .map(String::as_str)
        .collect();
    ProfileError {
        message: format!(
            "there is no launcher called `{name}`; there are {}",
            names.into_iter().collect::<Vec<_>>().join(", ")
        ),
        hint: "name one of these, or write [launcher.NAME] into your config.toml",
    }
}

fn invalid(name: &str, setting: &str, why: &str) -> ProfileError {
    let message = format!("`launcher.{name}.{setting}` {why}");
    ProfileError {
        message,
        hint: "set it under [launcher.NAME] in your config.toml",
    }
}

/// `true` where placeholders such as `{worker}` let a worker find its work.
fn hands_work_over(placeholders: &[&str]) -> bool {
    placeholders.contains(&"worker")
        || placeholders.contains(&"worker_start")
        || placeholders.contains(&"branch") && placeholders.contains(&"brief")
}

fn command(
    name: &str,
    table: &LauncherTable,
    key: &str,
) -> Result<(Option<String>, Vec<&'static str>), ProfileError> {
    let Some(template) = table.texts.get(key) else {
        return Ok((None, Vec::new()));
    };
    match LauncherTemplate::parse(template) {
        Ok(parsed) => Ok((Some(template.clone()), parsed.placeholders())),
        Err(error) => Err(invalid(name, key, &format!("cannot be used: {error}"))),
    }
}

fn build(
    name: &str,
    like: &str,
    table: &LauncherTable,
    read_file: impl Fn(&str) -> Result<String, String>,
) -> Result<LauncherProfile, ProfileError> {
    let LauncherTable { texts, numbers } = table;
    let options = texts.get("options").cloned().unwrap_or_default();
    if shlex::split(&options).is_none() {
        return Err(invalid(
            name,
            "options",
            "cannot be used: a quotation mark in it is not closed",
        ));
    }
    let input = match texts.get("input") {
        Some(file) => Some(
            read_file(file)
                .map_err(|why| invalid(name, "input", &format!("cannot be read: {why}")))?,
        ),
        None => (like == "kubernetes").then(|| KUBERNETES_JOB.to_owned()),
    };
    let in_input = match &input {
        Some(text) => LauncherTemplate::parse_text(text)
            .map_err(|error| invalid(name, "input", &format!("cannot be used: {error}")))?,
        None => Vec::new(),
    };
    let (start, in_start) = command(name, table, "start")?;
    let start = start.ok_or_else(|| invalid(name, "start", "has to be set in your config.toml"))?;
    if !hands_work_over(&[in_start, in_input].concat()) {
        let where_else = if input.is_some() {
            ", or in the file of `input`,"
        } else {
            ""
        };
        return Err(invalid(
            name,
            "start",
            &format!(
                "does not name what is to be run: {{worker}} is missing in it{where_else} and so is what takes its place, {{worker_start}} or both {{branch}} and {{brief}}"
            ),
        ));
    }
    let (cancel, in_cancel) = command(name, table, "cancel")?;
    // Otherwise it could end others, or every job of its user.
    let names_a_worker = in_cancel
        .iter()
        .any(|named| ["job", "worker_cancel", "branch", "brief"].contains(named));
    if cancel.is_some() && !names_a_worker {
        let why = "does not name the worker to be ended: {job} is missing in it, and so is what takes its place, \
                   {worker_cancel}, {branch} or {brief}";
        return Err(invalid(name, "cancel", why));
    }
    for (launcher, setting) in [("ssh", "host"), ("kubernetes", "image")] {
        if launcher == like
            && texts
                .get(setting)
                .is_none_or(|value| value.is_empty() || value.starts_with('-'))
        {
            return Err(invalid(name, setting, "has to be set in your config.toml"));
        }
    }
    Ok(LauncherProfile {
        name: name.to_owned(),
        start,
        cancel,
        status: command(name, table, "status")?.0,
        logs: command(name, table, "logs")?.0,
        input,
        remote: texts.get("remote").cloned(),
        host: texts.get("host").cloned().unwrap_or_default(),
        options,
        image: texts.get("image").cloned().unwrap_or_default(),
        omo: texts
            .get("omo")
            .cloned()
            .unwrap_or_else(|| "omo".to_owned()),
        client: texts.get("client").cloned(),
        scratch: texts.get("scratch").cloned(),
        at_once: numbers.get("at_once").copied().unwrap_or(AT_ONCE),
        queue_minutes: numbers
            .get("queue_minutes")
            .copied()
            .unwrap_or(QUEUE_MINUTES),
        run_minutes: numbers.get("run_minutes").copied(),
        poll_seconds: numbers.get("poll_seconds").copied().unwrap_or(POLL_SECONDS),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(name: &str, config: &str) -> Result<LauncherProfile, String> {
        let configured = launcher_toml::parse(config).unwrap_or_default();
        let read = |file: &str| {
            if file == "job.yaml" {
                Ok("name: {job}".to_owned())
            } else {
                Err("no".to_owned())
            }
        };
        find_profile(name, &configured, "/o/omo", read).map_err(|error| error.to_string())
    }

    #[test]
    fn what_omo_brings_can_be_used_as_it_is_or_with_what_only_its_user_knows() {
        let local = find("local", "").unwrap();
        assert_eq!(
            (local.at_once, local.queue_minutes, local.omo.as_str()),
            (8, QUEUE_MINUTES, "/o/omo")
        );
        assert!(find("slurm", "").is_ok() && find("github-actions", "").is_ok());
        assert_eq!(
            find("ssh", "").unwrap_err(),
            "`launcher.ssh.host` has to be set in your config.toml"
        );
        assert_eq!(
            find("ssh", "[launcher.ssh]\nhost = \"me@build\"")
                .unwrap()
                .host,
            "me@build"
        );
        let pod = find(
            "pods",
            "[launcher.pods]\nlike = \"kubernetes\"\nimage = \"i\"",
        )
        .unwrap();
        assert_eq!(pod.input.as_deref(), Some(KUBERNETES_JOB));
    }

    #[test]
    fn a_configuration_adds_to_what_omo_brings() {
        let config = "[launcher.gpu]\nlike = \"slurm\"\noptions = \"--partition gpu\"\nat_once = 3\ninput = \"job.yaml\"";
        let gpu = find("gpu", config).unwrap();
        let slurm = find("slurm", "").unwrap();
        assert_eq!(
            (&gpu.start, &gpu.cancel, gpu.at_once),
            (&slurm.start, &slurm.cancel, 3)
        );
        assert_eq!(gpu.input.as_deref(), Some("name: {job}"));
    }

    #[test]
    fn the_work_is_handed_over_by_a_command_by_its_parts_or_by_a_file() {
        for start in ["x {worker}", "x '{worker_start}'", "x {brief} -b {branch}"] {
            let profile = find("a", &format!("[launcher.a]\nstart = \"{start}\""));
            assert!(profile.is_ok(), "{start}: {profile:?}");
        }
        let by_file =
            "[launcher.a]\nstart = \"kubectl create\"\nlike = \"kubernetes\"\nimage = \"i\"";
        assert!(find("a", by_file).is_ok());
    }

    #[test]
    fn a_worker_is_ended_by_its_name_or_by_what_no_other_has() {
        for cancel in [
            "x {job}",
            "sh -c '{worker_cancel}'",
            "x --branch={branch}",
            "x {brief}",
        ] {
            let profile = find(
                "a",
                &format!("[launcher.a]\nstart = \"x {{worker}}\"\ncancel = \"{cancel}\""),
            );
            assert!(profile.is_ok(), "{cancel}: {profile:?}");
        }
        assert_eq!(
            find("a", "[launcher.a]\nstart = \"x {worker}\"")
                .unwrap()
                .cancel,
            None
        );
    }

    #[test]
    fn what_cannot_be_used_is_named_with_its_setting() {
        for (name, config, expected) in [
            (
                "nil",
                "",
                "there is no launcher called `nil`; there are github-actions, kubernetes, local, slurm, ssh",
            ),
            (
                "a",
                "[launcher.a]\nhost = \"x\"",
                "`launcher.a.start` has to be set in your config.toml",
            ),
            (
                "a",
                "[launcher.a]\nstart = \"x {y}\"",
                "`launcher.a.start` cannot be used: {y} is not known",
            ),
            (
                "a",
                "[launcher.a]\nlike = \"b\"",
                "`launcher.a.like` is one of ",
            ),
            (
                "a",
                "[launcher.a]\nstart = \"x {job}\"",
                "`launcher.a.start` does not name what is to be run: {worker} is",
            ),
            (
                "a",
                "[launcher.a]\nstart = \"x {branch}\"",
                "`launcher.a.start` does not name what is to be run",
            ),
            (
                "ssh",
                "[launcher.ssh]\nhost = \"h\"\nstart = \"ssh {host} {worker_list}\"",
                "`launcher.ssh.start` does not name what is to be run",
            ),
            (
                "slurm",
                "[launcher.slurm]\nstart = \"sbatch {job}\"\ninput = \"job.yaml\"",
                "`launcher.slurm.start` does not name what is to be run: {worker} is missing in it, or in the file of",
            ),
            (
                "slurm",
                "[launcher.slurm]\ncancel = \"scancel --me --name {{job}}\"",
                "`launcher.slurm.cancel` does not name the worker to be ended: {job} is missing in it, and so",
            ),
            (
                "a",
                "[launcher.a]\nstart = \"x {worker}\"\ncancel = \"x {run} {group}\"",
                "`launcher.a.cancel` does not",
            ),
            (
                "slurm",
                "[launcher.slurm]\noptions = \"'\"",
                "`launcher.slurm.options` cannot be used",
            ),
            (
                "a",
                "[launcher.a]\nstart = \"x\"\ninput = \"none\"",
                "`launcher.a.input` cannot be read: no",
            ),
            (
                "ssh",
                "[launcher.ssh]\nhost = \"-oProxyCommand=x\"",
                "`launcher.ssh.host` has to be set",
            ),
        ] {
            let error = find(name, config).unwrap_err();
            assert!(error.starts_with(expected), "{name}: {error}");
        }
    }
}
