//! The location of a repository's runs, and that there is only one.

use std::fs;
use std::path::{Path, PathBuf};

use omo_engine::{RunStore, RunStoreError};
use omo_testkit::plans;

use crate::runs::run_lab::{RunLab, actor};

fn begin(runs: &RunStore) -> PathBuf {
    let opened = plans::run_opened(plans::plan(&[("1", &[])]));
    runs.begin(&actor(), plans::time(0), opened, Vec::new())
        .unwrap()
        .0
        .folder()
        .to_owned()
}

fn listed(root: &Path, scene: &RunLab) -> usize {
    RunStore::find(root, Some(&scene.home()))
        .unwrap()
        .map_or(0, |runs| runs.list().unwrap().len())
}

fn record(scene: &RunLab, runs: &str) -> PathBuf {
    let projects = scene.home().join("omo/projects");
    let id = fs::read_dir(&projects)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let note = id.join("place.json");
    let mut record: serde_json::Value = serde_json::from_slice(&fs::read(&note).unwrap()).unwrap();
    record["runs"] = runs.into();
    fs::write(&note, record.to_string()).unwrap();
    id
}

#[test]
fn runs_lie_where_every_work_tree_of_the_repository_sees_them() {
    let scene = RunLab::new();
    let folder = begin(&scene.runs());
    assert!(
        folder.starts_with(fs::canonicalize(scene.git()).unwrap().join("omo/runs")),
        "{}",
        folder.display()
    );
    let linked = scene.temp.path().join("linked");
    let its_git = scene.git().join("worktrees/linked");
    fs::create_dir_all(&its_git).unwrap();
    fs::write(its_git.join("HEAD"), "ref: refs/heads/other\n").unwrap();
    fs::write(its_git.join("commondir"), "../..\n").unwrap();
    fs::create_dir_all(linked.join("deep")).unwrap();
    fs::write(
        linked.join(".git"),
        format!("gitdir: {}\n", its_git.display()),
    )
    .unwrap();
    assert_eq!(listed(&linked.join("deep"), &scene), 1);
    begin(&RunStore::create(&linked, Some(&scene.home())).unwrap());
    assert_eq!(listed(&scene.project(), &scene), 2);
}

#[test]
fn without_a_repository_there_is_no_run_and_nothing_is_made() {
    let scene = RunLab::new();
    let bare = scene.temp.path().join("bare");
    fs::create_dir(&bare).unwrap();
    assert!(
        RunStore::find(&bare, Some(&scene.home()))
            .unwrap()
            .is_none()
    );
    assert!(matches!(
        RunStore::create(&bare, Some(&scene.home())),
        Err(RunStoreError::NoRepository(_))
    ));
    assert!(matches!(
        RunStore::create(&scene.project(), None),
        Err(RunStoreError::Key(_))
    ));
    assert!(
        RunStore::find(&scene.project(), Some(&scene.home()))
            .unwrap()
            .is_none()
    );
    assert!(
        fs::read_dir(scene.home()).unwrap().next().is_none() && !scene.git().join("omo").exists()
    );
}

#[test]
fn a_place_that_was_chosen_and_cannot_be_used_is_an_error_and_no_second_one_is_made() {
    let scene = RunLab::new();
    begin(&scene.runs());
    fs::remove_dir_all(scene.git().join("omo")).unwrap();
    fs::write(scene.git().join("omo"), "").unwrap();
    for error in [
        RunStore::create(&scene.project(), Some(&scene.home())).unwrap_err(),
        RunStore::find(&scene.project(), Some(&scene.home())).unwrap_err(),
    ] {
        assert!(matches!(error, RunStoreError::Location { .. }), "{error}");
    }
    let project = record(&scene, "repository");
    assert!(!project.join("runs").exists());
}

#[test]
fn what_was_chosen_is_kept_to_when_the_repository_can_be_written_again() {
    let scene = RunLab::new();
    scene.runs();
    fs::remove_dir_all(scene.git().join("omo")).unwrap();
    let project = record(&scene, "home");
    assert!(begin(&scene.runs()).starts_with(project.join("runs")));
    assert!(!scene.git().join("omo").exists());
    assert_eq!(listed(&scene.project(), &scene), 1);
    // Without the note the folder is found all the same.
    fs::remove_file(project.join("place.json")).unwrap();
    assert_eq!(listed(&scene.project(), &scene), 1);
    assert!(begin(&scene.runs()).starts_with(project.join("runs")));
}

#[test]
fn a_note_that_is_none_is_an_error_that_says_what_to_do() {
    let scene = RunLab::new();
    scene.runs();
    let note = record(&scene, "on the moon").join("place.json");
    let error = RunStore::create(&scene.project(), Some(&scene.home()))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains(&note.display().to_string()) && error.contains("remove it"),
        "{error}"
    );
}
