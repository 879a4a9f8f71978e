//! `cargo xtask surroundings`: a sample of every suite, run in each of the surroundings in which people start tests.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde::{Deserialize, Serialize};

use super::needs::{self, Ignored};
use super::run::{self, Ready};
use super::suites::{self, Built};
use super::{Options, Provided, Tools, Wanted, is_one_of, is_run, look_for, ready, refuse};
use crate::{cargo, plugin};

/// Exit status of a script that cannot make its surroundings.
const NOT_MADE: i32 = 77;

/// Names of surroundings, and scripts of sh that make them and run `"$@"` there. `$FOLDER` is a folder on a disk.
const SURROUNDINGS: [(&str, &str); 11] = [
    ("nohup", r#"exec nohup "$@""#),
    ("background", r#""$@" & wait $!"#),
    ("setsid", r#"exec setsid --wait "$@""#),
    (
        "closed-pipe",
        r#"exec 3>&1; status=$({ { "$@"; echo $? >&4; } | head -n 1 >&3; } 4>&1); exit "$status""#,
    ),
    ("lang-c", r#"unset LC_ALL; export LANG=C; exec "$@""#),
    (
        "tmpdir-with-a-blank",
        r#"export TMPDIR="$FOLDER/with a blank"; mkdir -p "$TMPDIR"
        [ "$(stat -f -c %T "$TMPDIR")" != tmpfs ] || { echo "$TMPDIR is in memory"; exit 77; }
        exec "$@""#,
    ),
    (
        "read-only-home",
        r#"export HOME="$FOLDER/home"; mkdir -p "$HOME"; chmod 555 "$HOME"
        [ "$(id -u)" = 0 ] || exec "$@"
        unshare -m true || { echo "no file system can be mounted here"; exit 77; }
        exec unshare -m sh -c 'mount -t tmpfs -o ro home "$HOME" && exec "$@"' sh "$@""#,
    ),
    ("umask-077", r#"umask 077; exec "$@""#),
    ("256-files", r#"ulimit -n 256; exec "$@""#),
    (
        "load",
        r#"for _ in $(seq $(($(nproc) * 3))); do (while :; do :; done) & loops="$loops $!"; done
        trap 'kill $loops' EXIT; trap 'exit 130' INT TERM; "$@""#,
    ),
    (
        "not-root",
        r#"[ "$(id -u)" = 0 ] || exec "$@"
        export HOME="$FOLDER/nobody"; mkdir -p "$HOME"; chown 65534:65534 "$HOME"
        set -- setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
        setpriv --reuid=65534 --regid=65534 --clear-groups test -r "$PWD/Cargo.toml" -a -r "$FOLDER" ||
            { echo "$PWD cannot be read by another user"; exit 77; }
        exec "$@""#,
    ),
];

/// Quick tests of each suite, by its name. A suite with a `main` of its own takes one.
const SAMPLE: [(&str, &str); 38] = [
    ("attacks", "a_runner_that_did_not_come_to_its_end_is_named"),
    (
        "blackbox",
        "checks_come_from_the_users_configuration_and_commands",
    ),
    (
        "blackbox",
        "evidence_spares_a_run_only_for_the_same_files_and_the_same_setting",
    ),
    ("browser", "a_browser_that_cannot_be_started_is_no_success"),
    (
        "client",
        "plain_text_typed_during_a_turn_comes_before_the_loop",
    ),
    ("commit", "exactly_the_files_of_the_task_are_committed"),
    ("core", "a_promise_at_the_end_counts"),
    (
        "detected_check",
        "what_is_too_large_or_no_file_tells_nothing",
    ),
    (
        "endless_check",
        "a_check_that_hangs_is_ended_with_its_children_and_proves_nothing",
    ),
    ("engine", "a_line_of_an_older_omo_is_read"),
    ("fuzz", "every_kept_input_holds"),
    ("git", "work_trees_of_one_repository_have_ids_of_their_own"),
    (
        "git",
        "a_removal_that_was_not_ended_is_done_the_next_time_and_nothing_is_lost",
    ),
    ("help", "every_page_fits_a_screen"),
    (
        "hostile",
        "a_stdin_that_stays_open_holds_it_up_for_a_second_at_most",
    ),
    ("hostile", "an_odd_id_is_an_id_like_any_other"),
    ("pages", "every_page_is_up_to_date"),
    (
        "parallel",
        "what_is_done_is_brought_together_without_any_client",
    ),
    ("plan", "a_plan_of_openspec_is_read"),
    (
        "process_identity",
        "two_processes_have_two_marks_or_began_together",
    ),
    ("prove", "two_at_the_same_time_leave_each_other_alone"),
    (
        "readme",
        "every_command_of_omo_is_one_that_the_parser_takes",
    ),
    (
        "reliability",
        "a_check_can_be_interrupted_though_its_omo_was_started_in_the_background",
    ),
    ("reliability", "eight_writers_of_one_task_lose_nothing"),
    ("report_page", "nothing_can_be_loaded_or_run"),
    (
        "repository",
        "a_suite_of_a_task_in_the_background_can_be_interrupted",
    ),
    ("set_up", "why_it_failed_is_reported"),
    (
        "slurm",
        "a_run_that_is_cancelled_takes_its_jobs_out_of_the_queue",
    ),
    (
        "state",
        "an_older_state_a_mark_and_foreign_line_ends_are_read",
    ),
    (
        "supervised_client",
        "it_works_where_it_stands_and_does_what_it_may",
    ),
    ("supervisor", "nothing_outlives_a_session"),
    ("task_check", "nothing_of_a_check_outlives_it"),
    (
        "termination",
        "all_that_was_started_is_ended_and_nothing_comes_of_it",
    ),
    ("testkit", "keeps_the_transcript_as_the_client_does"),
    ("ultraplan_tasks", "a_commit_on_no_branch_is_kept"),
    ("worker", "a_job_is_started_once_and_says_what_it_does"),
    ("worker", "what_keeps_it_from_beginning_is_told"),
    ("workflows", "every_vector_comes_out_as_it_says"),
];

/// Which surroundings are played.
#[derive(Args)]
pub(crate) struct SurroundingsOptions {
    /// Fail where surroundings cannot be made or a program is missing
    #[arg(long)]
    require_all: bool,
    /// Only the surroundings with this in their name, such as nohup or umask
    name: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Sample {
    name: String,
    program: String,
    arguments: Vec<String>,
    folder: String,
    /// `None` removes a variable.
    variables: Vec<(String, Option<String>)>,
}

pub(crate) fn run(options: &SurroundingsOptions) -> Result<()> {
    let chosen = SURROUNDINGS
        .iter()
        .filter(|(name, _)| options.name.as_ref().is_none_or(|part| name.contains(part)));
    let chosen: Vec<_> = chosen.collect();
    ensure!(!chosen.is_empty(), "no surroundings have that name");
    // Before the suites are built, which may replace this program's file.
    let program = std::env::current_exe().context("find this program")?;
    let samples = make_samples(options)?;
    // Outside of this repository, whose programs no test may take for its own.
    let folder = PathBuf::from(format!("/var/tmp/omo-surroundings-{}", std::process::id()));
    fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    let list = folder.join("samples.json");
    fs::write(&list, serde_json::to_vec(&samples)?)
        .with_context(|| format!("write {}", list.display()))?;
    let (mut failed, mut not_made) = (Vec::new(), Vec::new());
    for (name, script) in chosen {
        anstream::println!("== {name}");
        let mut shell = Command::new("sh");
        shell
            .args(["-c", script, "sh"])
            .arg(&program)
            .arg("sample")
            .arg(&list);
        shell
            .env("FOLDER", &folder)
            .envs(needs::temporary_folder().map(|folder| ("TMPDIR", folder)));
        let status = shell
            .current_dir(cargo::top()?)
            .stdin(Stdio::null())
            .status()
            .context("run sh")?;
        match status.code() {
            Some(0) => {}
            Some(NOT_MADE) => not_made.push(*name),
            _ => failed.push(*name),
        }
    }
    let _ = fs::remove_dir_all(&folder);
    if !not_made.is_empty() {
        anstream::println!("could not be made here: {}", not_made.join(", "));
    }
    ensure!(
        failed.is_empty(),
        "red in these surroundings: {}",
        failed.join(", ")
    );
    ensure!(
        not_made.is_empty() || !options.require_all,
        "surroundings could not be made: {}",
        not_made.join(", ")
    );
    Ok(())
}

fn make_samples(options: &SurroundingsOptions) -> Result<Vec<Sample>> {
    let options = Options {
        require_all: options.require_all,
        ..Options::default()
    };
    let mut missing = needs::missing();
    refuse(&missing, &options)?;
    let mut suites = suites::all()?;
    suites.retain(|suite| SAMPLE.iter().any(|(name, _)| *name == suite.name));
    let built = suites::build(&suites, false)?;
    let tools = Tools {
        client: true,
        vitest: true,
        puppeteer: true,
        mdbook: false,
    };
    let tools = look_for(
        &Wanted {
            plugin: true,
            tools,
            releases: Vec::new(),
        },
        &mut missing,
        &options,
    )?;
    refuse(&missing, &options)?;
    let provided = Provided {
        plugin: Some(plugin::build_for_development()?),
        tools,
        ..Provided::default()
    };
    let ignored = needs::ignored()?;
    let left_out: Vec<&Ignored> = ignored
        .iter()
        .filter(|test| !is_run(test, &options, &missing))
        .collect();
    let mut samples = Vec::new();
    for suite in &built {
        let tests = SAMPLE
            .iter()
            .filter(|(name, test)| *name == suite.name && !is_one_of(test, &left_out));
        let tests: Vec<&str> = tests.map(|(_, test)| *test).collect();
        if !tests.is_empty() {
            samples.push(sample(suite, &tests, &provided, &options)?);
        }
    }
    Ok(samples)
}

fn sample(suite: &Built, tests: &[&str], provided: &Provided, options: &Options) -> Result<Sample> {
    let Ready { name, command } = ready(suite, provided, options)?;
    let text = |text: &OsStr| {
        text.to_str()
            .map(str::to_owned)
            .with_context(|| format!("{} is no text", text.display()))
    };
    let variables = command.get_envs().filter(|(name, _)| *name != "TMPDIR");
    let arguments = command
        .get_args()
        .map(text)
        .chain(tests.iter().map(|test| Ok((*test).to_owned())));
    Ok(Sample {
        name,
        program: text(command.get_program())?,
        arguments: arguments.collect::<Result<_>>()?,
        folder: text(
            command
                .get_current_dir()
                .unwrap_or(Path::new("."))
                .as_os_str(),
        )?,
        variables: variables
            .map(|(name, value)| Ok((text(name)?, value.map(text).transpose()?)))
            .collect::<Result<_>>()?,
    })
}

/// What the task is in other surroundings.
#[derive(Args)]
pub(crate) struct SampleList {
    path: PathBuf,
}

pub(crate) fn play(list: &SampleList) -> Result<()> {
    let text = fs::read(&list.path).with_context(|| format!("read {}", list.path.display()))?;
    let samples: Vec<Sample> = serde_json::from_slice(&text).context("read the samples")?;
    let suites = samples.into_iter().map(|sample| {
        let mut command = Command::new(sample.program);
        command
            .args(sample.arguments)
            .current_dir(sample.folder)
            .stdin(Stdio::null());
        for (name, value) in sample.variables {
            match value {
                Some(value) => drop(command.env(name, value)),
                None => drop(command.env_remove(name)),
            }
        }
        Ready {
            name: sample.name,
            command,
        }
    });
    run::all(suites.collect(), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Suites of one test, which builds releases or plays for minutes.
    const NOT_SAMPLED: [&str; 3] = ["bench", "instructions", "windows"];

    #[test]
    fn every_suite_is_sampled_by_tests_that_it_has() {
        let suites = suites::all().unwrap();
        for suite in suites.iter().filter(|suite| suite.is_integration) {
            let mut tests = SAMPLE
                .iter()
                .filter(|(name, _)| *name == suite.name)
                .peekable();
            let is_sampled = tests.peek().is_some();
            assert!(
                is_sampled != NOT_SAMPLED.contains(&suite.name.as_str()),
                "{}",
                suite.name
            );
            for (_, test) in tests {
                assert!(
                    !suites::named(vec![suite.clone()], test).unwrap().is_empty(),
                    "{} has no {test}",
                    suite.name
                );
            }
        }
        assert!(
            SAMPLE
                .iter()
                .all(|(name, _)| suites.iter().any(|suite| suite.name == *name))
        );
    }
}
