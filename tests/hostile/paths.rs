//! Something else in the place of every file and folder that omo knows, at every level.

use omo_tests::all_good;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use omo_testkit::{Lab, LabBuilder, wait_until};
use omo_tests::exhaustive::sampled;
use omo_tests::scene::{Scene, plugin};

use crate::hostile_calls::{ALL, Ask, CLAIMING, WITHOUT_GIT};
use crate::impostors::{DEVICE, IN_OUR_PLACE, Impostor, LINKS, Strangers, clear};
use crate::surroundings::Watch;

/// A place: its name, and where it is in a scene.
type Place = (&'static str, fn(&Scene) -> Result<PathBuf>);

fn in_state(scene: &Scene, name: &str) -> PathBuf {
    scene.lab.state_folder().join(name)
}

fn in_project(scene: &Scene, name: &str) -> PathBuf {
    scene.lab.project().join(name)
}

fn in_home(scene: &Scene, name: &str) -> PathBuf {
    scene.lab.home().join(name)
}

/// The only file or folder in one of the user's own folders, and what is in it.
fn in_only(scene: &Scene, folder: &str, name: &str) -> Result<PathBuf> {
    let folder = scene.lab.home().join(".local/state/omo").join(folder);
    let mut entries = std::fs::read_dir(&folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.retain(|entry| entry.file_name() != "runtime.lock");
    Ok(entries
        .first()
        .with_context(|| format!("nothing is in {}", folder.display()))?
        .path()
        .join(name))
}

/// Where omo keeps its copy of the project's index.
fn in_tree(scene: &Scene, name: &str) -> Result<PathBuf> {
    in_only(scene, "reviews", name)
}

/// Where it remembers the project's files.
fn in_files(scene: &Scene, name: &str) -> Result<PathBuf> {
    in_only(scene, "files", name)
}

const OF_THE_STATE: &[Place] = &[
    (".sisyphus", |s| Ok(in_project(s, ".sisyphus"))),
    ("cc-omo", |s| Ok(in_project(s, ".sisyphus/cc-omo"))),
    ("the state", |s| Ok(in_state(s, "runtime.local.json"))),
    ("the state before it", |s| {
        Ok(in_state(s, "runtime.local.json.old"))
    }),
    ("the lock", |s| Ok(in_state(s, "runtime.lock"))),
    ("the decision log", |s| Ok(in_state(s, "decisions.jsonl"))),
];

const OF_THE_LOGS: &[Place] = &[
    ("the old decision log", |s| {
        Ok(in_state(s, "decisions.jsonl.1"))
    }),
    ("the hooks' log", |s| Ok(in_state(s, "hooks.log"))),
    ("the old hooks' log", |s| Ok(in_state(s, "hooks.log.1"))),
    (".gitignore", |s| Ok(in_state(s, ".gitignore"))),
    ("the review's file", |s| {
        Ok(in_state(s, &format!("review-{}.md", s.session.session())))
    }),
    ("its temporary file", |s| {
        Ok(in_state(
            s,
            &format!("review-{}.md.tmp", s.session.session()),
        ))
    }),
    ("a check's log", |s| Ok(in_state(s, "check-true.log"))),
];

const OF_THE_USER: &[Place] = &[
    ("omo", |s| Ok(in_home(s, ".local/state/omo"))),
    ("the key", |s| Ok(in_home(s, ".local/state/omo/key"))),
    ("the key's temporary file", |s| {
        Ok(in_home(s, ".local/state/omo/key.tmp"))
    }),
    ("the key's lock", |s| {
        Ok(in_home(s, ".local/state/omo/runtime.lock"))
    }),
    ("the approvals", |s| {
        Ok(in_home(s, ".local/state/omo/trust.json"))
    }),
    ("~/.config/omo", |s| Ok(in_home(s, ".config/omo"))),
    CONFIG,
    TRANSCRIPT,
];

const CONFIG: Place = ("config.toml", |s| Ok(in_home(s, ".config/omo/config.toml")));
const TRANSCRIPT: Place = ("the transcript", |s| {
    Ok(s.session.clone().transcript().path().to_owned())
});

const OF_THE_WORK_TREE: &[Place] = &[
    ("omo.toml", |s| Ok(in_project(s, "omo.toml"))),
    ("reviews", |s| Ok(in_home(s, ".local/state/omo/reviews"))),
    ("files", |s| Ok(in_home(s, ".local/state/omo/files"))),
    ("the files' folder", |s| {
        Ok(in_files(s, "x")?.parent().context("no folder")?.to_owned())
    }),
    ("what is remembered of the files", |s| {
        in_files(s, "remembered.json")
    }),
    ("the files' paths", |s| in_files(s, "paths")),
    ("the files' entries", |s| in_files(s, "entries")),
    ("the files' lock", |s| in_files(s, "runtime.lock")),
    ("scopes", |s| Ok(in_home(s, ".local/state/omo/scopes"))),
    ("what counts", |s| {
        Ok(in_only(s, "scopes", "")?.components().collect())
    }),
    ("the tree's folder", |s| {
        Ok(in_tree(s, "x")?.parent().context("no folder")?.to_owned())
    }),
    ("the copy of the index", |s| in_tree(s, "index")),
    ("the copy's lock", |s| in_tree(s, "index.lock")),
    ("what is kept", |s| in_tree(s, "kept.json")),
    ("the objects", |s| in_tree(s, "objects")),
    ("the tree's lock", |s| in_tree(s, "runtime.lock")),
    (".git", |s| Ok(in_project(s, ".git"))),
    HEAD,
    INDEX,
];

const HEAD: Place = (".git/HEAD", |s| Ok(in_project(s, ".git/HEAD")));
const INDEX: Place = (".git/index", |s| Ok(in_project(s, ".git/index")));

/// git itself waits for a FIFO in these places, and reads a device for ever: with them it is not
/// started.
const OF_GIT: &[Place] = &[
    (".git/refs/heads/main", |s| {
        Ok(in_project(s, ".git/refs/heads/main"))
    }),
    (".git/packed-refs", |s| {
        Ok(in_project(s, ".git/packed-refs"))
    }),
    (".git/commondir", |s| Ok(in_project(s, ".git/commondir"))),
    (".git/info/exclude", |s| {
        Ok(in_project(s, ".git/info/exclude"))
    }),
];

/// A session whose run is on, with a check, after a claim that asked for a review: every file that
/// omo knows has been made.
fn scene(plugin: &Path, lab: LabBuilder) -> Result<Scene> {
    let mut scene = Scene::in_lab(plugin, lab.build()?)?;
    scene
        .lab
        .write("omo.toml", "[[check]]\nrun = \"false\"\n")?;
    scene.start("--check true")?;
    let asked = scene.claim_fails()?;
    ensure!(
        asked.contains("omo:oracle"),
        "no review is asked for: {asked}"
    );
    Ok(scene)
}

/// Asks with an impostor in a place. What omo has cleared away is put there again.
fn play<'a>(
    scene: &Scene,
    place: &Place,
    impostor: &Impostor,
    asks: impl Iterator<Item = &'a Ask>,
) -> Result<()> {
    let strangers = Strangers::beside(scene)?;
    let path = (place.1)(scene)?;
    // What checks say without the change is found out by a process that outlives a hook and makes its own files.
    let put = || {
        wait_until("the impostor is in its place", || {
            clear(&path)
                .and_then(|()| (impostor.put)(&path, &strangers))
                .ok()
        })
    };
    put()?;
    let kind = path.symlink_metadata()?.file_type();
    let mut watch = Watch::begin(scene)?;
    for ask in asks {
        if path.symlink_metadata().map(|meta| meta.file_type()).ok() != Some(kind) {
            put()?;
            watch = Watch::begin(scene)?;
        }
        let run = ask
            .run(scene)
            .and_then(|run| watch.require_unchanged(scene, &run));
        run.with_context(|| ask.name.to_owned())?;
    }
    Ok(())
}

#[track_caller]
fn play_all(lab: fn() -> LabBuilder, places: &[Place], impostors: &[Impostor], asks: &[Ask]) {
    let plugin = plugin();
    let mut cases = Vec::new();
    for (row, place) in places.iter().enumerate() {
        for (column, impostor) in impostors.iter().enumerate() {
            let asks = sampled(asks, row + column);
            let played =
                scene(&plugin, lab()).and_then(|scene| play(&scene, place, impostor, asks));
            cases.push((format!("{} as {}", place.0, impostor.name), played));
        }
    }
    all_good(cases);
}

fn without_git() -> LabBuilder {
    Lab::builder().without_git()
}

#[test]
fn nothing_in_the_place_of_the_state_does_harm() {
    play_all(without_git, OF_THE_STATE, &IN_OUR_PLACE, &ALL);
}

#[test]
fn nothing_in_the_place_of_a_log_does_harm() {
    play_all(without_git, OF_THE_LOGS, &IN_OUR_PLACE, &ALL);
}

#[test]
fn nothing_in_the_place_of_the_users_own_files_does_harm() {
    play_all(without_git, OF_THE_USER, &IN_OUR_PLACE, &ALL);
}

#[test]
fn nothing_in_the_place_of_the_work_trees_files_does_harm() {
    play_all(Lab::builder, OF_THE_WORK_TREE, &IN_OUR_PLACE, &CLAIMING);
}

#[test]
fn nothing_in_the_place_of_gits_own_files_does_harm() {
    play_all(Lab::builder, OF_GIT, &IN_OUR_PLACE, &WITHOUT_GIT);
}

#[test]
#[ignore = "needs the right to make devices: cargo xtask test"]
fn a_device_does_no_harm_in_any_place() {
    for places in [OF_THE_STATE, OF_THE_LOGS, OF_THE_USER] {
        play_all(without_git, places, &[DEVICE], &ALL);
    }
    play_all(Lab::builder, OF_THE_WORK_TREE, &[DEVICE], &CLAIMING);
    play_all(Lab::builder, OF_GIT, &[DEVICE], &WITHOUT_GIT);
}

#[test]
fn a_link_that_is_followed_may_lead_anywhere() {
    play_all(without_git, &[CONFIG, TRANSCRIPT], &LINKS, &ALL);
    play_all(Lab::builder, &[HEAD, INDEX], &LINKS, &CLAIMING);
    play_all(Lab::builder, OF_GIT, &LINKS, &WITHOUT_GIT);
}
