//! `omo` from any folder of a repository: which sessions it finds, and which are of another project.

use std::path::{Path, PathBuf};
use std::process::Output;

use anyhow::{Context, Result, ensure};
use omo_testkit::stand_in::HookAnswer;
use omo_testkit::{Lab, StandIn};

use crate::claim_scene::DONE;
use crate::cli::ListedClient;
use crate::git_variables::write_program;
use crate::scene::{Scene, is_contract, plugin, require_sound};

/// A session in a project with git.
fn in_repository() -> Result<Scene> {
    let plugin = plugin();
    let lab = Lab::builder().build()?;
    lab.configure("[verify]\nreview = false\n")?;
    Scene::in_lab(&plugin, lab)
}

/// A session whose run is on, of a client that was started in this folder.
fn armed_in(scene: &Scene, folder: &Path) -> Result<StandIn> {
    std::fs::create_dir_all(folder)?;
    let mut session = scene.another()?.started_in(folder);
    ensure!(is_contract(&require_sound(
        &session.prompt("ulw fix the docs")?
    )?));
    ensure!(
        folder.join(".sisyphus/cc-omo").is_dir(),
        "its state lies elsewhere"
    );
    Ok(session)
}

fn is_held(session: &mut StandIn) -> Result<bool> {
    let answer = require_sound(&session.stop("Some of it is done.")?)?;
    let is_stopped = answer
        .system_message()
        .is_some_and(|line| line.starts_with("[omo] STOPPED"));
    Ok(answer != HookAnswer::Nothing && !is_stopped)
}

/// Runs `omo` in a folder.
fn omo_in(scene: &Scene, folder: &Path, arguments: &[&str]) -> Result<Output> {
    let mut command = scene.lab.command(scene.plugin.join("bin/omo"));
    Ok(command.args(arguments).current_dir(folder).output()?)
}

/// As [`omo_in`], which must succeed without a word on stderr; gives what it printed.
fn good_in(scene: &Scene, folder: &Path, arguments: &[&str]) -> Result<String> {
    let output = omo_in(scene, folder, arguments)?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success() && stderr.is_empty(),
        "{arguments:?}: {}: {stderr}",
        output.status
    );
    Ok(String::from_utf8(output.stdout)?)
}

/// Runs `omo` in a folder, which must fail with this status; gives what it said.
fn fails_in(scene: &Scene, folder: &Path, arguments: &[&str], status: i32) -> Result<String> {
    let output = omo_in(scene, folder, arguments)?;
    let stderr = String::from_utf8(output.stderr)?;
    ensure!(
        output.status.code() == Some(status),
        "{arguments:?}: {}: {stderr}",
        output.status
    );
    ensure!(
        output.stdout.is_empty(),
        "{arguments:?}: on stdout: {}",
        String::from_utf8_lossy(&output.stdout)
    );
    Ok(stderr)
}

#[test]
#[ignore = "needs the built plugin and root: cargo xtask test"]
fn a_repository_of_another_user_is_not_held_and_its_person_is_told_how_git_accepts_it() {
    let mut scene = in_repository().unwrap();
    let project = scene.lab.project().to_owned();
    std::os::unix::fs::chown(project.join(".git"), Some(1234), None).unwrap();
    let told = scene.prompt("ulw fix the docs").unwrap();
    assert!(!is_contract(&told), "{told:?}");
    let line = told.system_message().unwrap();
    let command = line.split('`').nth(1).unwrap();
    assert!(
        line.starts_with("[omo] NOT ON: the repository in "),
        "{line}"
    );
    assert_eq!(line.lines().count(), 1, "{line}");
    assert!(
        command.starts_with("git config --global --add safe.directory "),
        "{line}"
    );
    assert_eq!(
        require_sound(&scene.session.session_start("startup").unwrap())
            .unwrap()
            .system_message(),
        None
    );
    assert!(!is_held(&mut scene.session).unwrap());
    assert!(!project.join(".sisyphus").exists(), "something was written");

    // A git that hangs has refused nothing.
    let programs = scene.lab.root().join("programs");
    write_program(&programs, "git", "exec sleep 6000").unwrap();
    let known = scene.session.clone();
    scene.session = known
        .clone()
        .with_env("PATH", &format!("{}:/usr/bin:/bin", programs.display()));
    let told = scene.prompt("ulw fix the docs").unwrap();
    let line = told.system_message().unwrap();
    assert!(
        line.starts_with("[omo] NOT ON: ") && line.contains("git does not say whether to trust it"),
        "{line}"
    );
    scene.session = known;

    let output = scene
        .lab
        .command("sh")
        .args(["-c", command])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    scene.arm().unwrap();
    assert!(is_held(&mut scene.session).unwrap());
    // What a run that is on is told does not depend on its owner.
    let output = scene
        .lab
        .command("git")
        .args(["config", "--global", "--unset-all", "safe.directory"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(is_contract(&scene.prompt("ulw fix more").unwrap()));
    assert!(is_held(&mut scene.session).unwrap());
    assert!(scene.prompt("/omo:stop-continuation").unwrap().blocks());
}

fn git(scene: &Scene, arguments: &[&str]) -> Result<()> {
    let output = scene.lab.command("git").args(arguments).output()?;
    ensure!(
        output.status.success(),
        "git {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}

/// Another worktree of the project, beside it.
fn linked_work_tree(scene: &Scene) -> Result<PathBuf> {
    let folder = scene.lab.root().join("linked");
    let path = folder.to_str().context("no text")?;
    git(
        scene,
        &[
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "x",
        ],
    )?;
    git(scene, &["worktree", "add", "-q", path])?;
    Ok(folder)
}

#[test]
fn stop_ends_every_run_of_the_repository_from_each_of_its_folders() {
    let ends_all = |pick: fn(&Scene, &Path) -> PathBuf| -> Result<()> {
        let mut scene = in_repository()?;
        let linked = linked_work_tree(&scene)?;
        let part = scene.lab.project().join("packages/app");
        scene.arm()?;
        let (mut in_part, mut in_linked) = (armed_in(&scene, &part)?, armed_in(&scene, &linked)?);
        // A client is listed with the folder that it was started in: below a terminal nothing else tells of it.
        let _client = ListedClient::start(&scene, in_part.session(), &part)?;
        let from = pick(&scene, &linked);
        std::fs::create_dir_all(&from)?;
        let said = good_in(&scene, &from, &["stop", "--reason", "wrong branch"])?;
        ensure!(
            said.lines().count() == 3 && said.matches("stopped").count() == 3,
            "{said}"
        );
        for (session, folder) in [
            (scene.session.session(), scene.lab.project()),
            (in_part.session(), &part),
        ] {
            let line = said
                .lines()
                .find(|line| line.starts_with(session))
                .context("it is not listed")?;
            let is_own = from.starts_with(folder) && (folder == part || !from.starts_with(&part));
            ensure!(
                is_own != line.ends_with(&format!("(in {})", folder.display())),
                "from {}: {said}",
                from.display()
            );
        }
        ensure!(
            !is_held(&mut in_part)? && !is_held(&mut in_linked)?,
            "{said}"
        );
        scene.is_told_of_stop()?;
        let again = good_in(&scene, &from, &["stop"])?;
        ensure!(
            again.starts_with("No ultrawork run is on in this repository. Looked in:\n"),
            "{again}"
        );
        for folder in [scene.lab.project(), &part, &linked] {
            ensure!(
                again.contains(&format!("\n  {}\n", folder.display())),
                "{again}"
            );
        }
        Ok(())
    };
    ends_all(|scene, _| scene.lab.project().to_owned())
        .context("from the top")
        .unwrap();
    ends_all(|scene, _| scene.lab.project().join("docs/deep"))
        .context("from another folder")
        .unwrap();
    ends_all(|scene, _| scene.lab.project().join("packages/app/src"))
        .context("from below the session")
        .unwrap();
    ends_all(|_, linked| linked.to_owned())
        .context("from another worktree")
        .unwrap();
}

#[test]
fn the_page_of_all_runs_has_those_of_each_folder_of_the_repository() {
    let mut scene = in_repository().unwrap();
    let linked = linked_work_tree(&scene).unwrap();
    scene.arm().unwrap();
    let _in_linked = armed_in(&scene, &linked).unwrap();
    let pages = [scene.lab.project().to_owned(), linked.clone()].map(|folder| {
        let path = good_in(&scene, &folder, &["report", "--all", "--html"]).unwrap();
        (folder, std::fs::read_to_string(path.trim_end()).unwrap())
    });
    for (folder, page) in &pages {
        assert_eq!(page.matches("<article").count(), 2, "{page}");
        let other = if *folder == linked {
            scene.lab.project()
        } else {
            &linked
        };
        assert!(page.contains(&format!("in {}", other.display())), "{page}");
        assert!(
            !page.contains(&format!("· in {}<", folder.display())),
            "{page}"
        );
    }
}

#[test]
fn the_beginning_of_an_id_is_enough_in_whichever_folder_its_session_is() {
    let scene = in_repository().unwrap();
    let linked = linked_work_tree(&scene).unwrap();
    let sessions = ["4f1c9a00-1", "4f1c9a00-2", "9"].map(|id| {
        let session = StandIn::with_session(&scene.lab, &scene.plugin, id)
            .unwrap()
            .started_in(&linked);
        let mut session = if id == "9" {
            session.started_in(scene.lab.project())
        } else {
            session
        };
        assert!(is_contract(
            &require_sound(&session.prompt("ulw fix the docs").unwrap()).unwrap()
        ));
        session
    });
    let [mut one, mut two, mut nine] = sessions;
    let top = scene.lab.project();
    for command in [
        &["stop"][..],
        &["status"],
        &["verify"],
        &["check", "list"],
        &["blocked", "x"],
    ] {
        let said = fails_in(&scene, top, &[command, &["--session", "4f1c"]].concat(), 2).unwrap();
        assert!(said.contains("2 sessions begin with `4f1c`"), "{said}");
        assert!(
            said.contains("  --session 4f1c9a00-1\n  --session 4f1c9a00-2\n"),
            "{said}"
        );
    }
    assert!(
        is_held(&mut one).unwrap() && is_held(&mut two).unwrap() && is_held(&mut nine).unwrap()
    );
    let status = good_in(&scene, top, &["status", "--session", "4f1c9a00-2"]).unwrap();
    assert!(
        status.contains("4f1c9a00-2") && !status.contains("4f1c9a00-1"),
        "{status}"
    );
    let blocked = good_in(
        &scene,
        top,
        &["blocked", "--session", "4f1c9a00-1", "no database"],
    )
    .unwrap();
    assert!(blocked.contains("4f1c9a00-1"), "{blocked}");
    assert!(
        !top.join(".sisyphus/cc-omo/runtime.local.json").exists() || {
            let state =
                std::fs::read_to_string(top.join(".sisyphus/cc-omo/runtime.local.json")).unwrap();
            !state.contains("4f1c")
        }
    );
    let said = good_in(&scene, top, &["stop", "--session", "4f1c9a00-2"]).unwrap();
    assert!(
        said.starts_with("4f1c9a00-2  stopped") && said.lines().count() == 1,
        "{said}"
    );
    assert!(!is_held(&mut two).unwrap() && is_held(&mut nine).unwrap());
    assert!(
        good_in(&scene, &linked, &["stop", "--session", "9"])
            .unwrap()
            .starts_with("9  stopped")
    );
    let on = good_in(&scene, top, &["ulw", "on", "--session", "4f1c9a00-2"]).unwrap();
    assert!(on.starts_with("4f1c9a00-2  ultrawork is on"), "{on}");
    assert!(is_held(&mut two).unwrap() && !is_held(&mut nine).unwrap());
}

/// A model's own shell may leave out the variables that name its session, and go to another worktree.
#[test]
fn a_shell_of_a_session_turns_nothing_on_from_another_work_tree() {
    let mut scene = in_repository().unwrap();
    let linked = linked_work_tree(&scene).unwrap();
    // From here on this test is the client, and what it starts is the model's.
    scene.session.be_the_client();
    scene.arm().unwrap();
    let id = scene.session.session();
    good_in(&scene, &linked, &["stop", "--session", id]).unwrap();
    let said = fails_in(&scene, &linked, &["ulw", "on", "--session", id], 7).unwrap();
    assert!(said.contains("a model starts no run of its own"), "{said}");
    scene.is_told_of_stop().unwrap();
}

#[test]
fn what_was_used_above_the_repository_is_another_project() {
    let mut scene = in_repository().unwrap();
    let above = scene.lab.project().parent().unwrap().to_owned();
    let mut other = armed_in(&scene, &above).unwrap();
    let said = good_in(&scene, scene.lab.project(), &["stop"]).unwrap();
    assert_eq!(
        said,
        format!(
            "No ultrawork run is on in {}.\n",
            scene.lab.project().display()
        )
    );
    let said = good_in(&scene, scene.lab.project(), &["status"]).unwrap();
    assert!(
        said.starts_with(&format!("No session of {} ", scene.lab.project().display())),
        "{said}"
    );
    fails_in(
        &scene,
        scene.lab.project(),
        &["stop", "--session", other.session()],
        3,
    )
    .unwrap();
    assert!(is_held(&mut other).unwrap());
    // A repository within the repository is one of its own.
    scene.arm().unwrap();
    let inner = scene.lab.project().join("inner");
    git(&scene, &["init", "-q", inner.to_str().unwrap()]).unwrap();
    assert!(
        good_in(&scene, &inner, &["stop"])
            .unwrap()
            .contains(&format!("in {}.", inner.display()))
    );
    scene.blocks(&serde_json::json!({})).unwrap();
}

/// One state that cannot be read keeps no session of another folder on.
#[test]
fn a_broken_state_holds_up_no_other_folder() {
    let scene = in_repository().unwrap();
    let linked = linked_work_tree(&scene).unwrap();
    let mut in_linked = armed_in(&scene, &linked).unwrap();
    scene.write_state(b"garbage").unwrap();
    let output = omo_in(&scene, scene.lab.project(), &["stop"]).unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert_eq!(output.status.code(), Some(9), "{err}");
    assert!(
        out.starts_with(in_linked.session()) && err.contains("does not parse"),
        "{out}{err}"
    );
    assert!(!is_held(&mut in_linked).unwrap());
    assert_eq!(
        std::fs::read(scene.state_file()).unwrap(),
        b"garbage",
        "no session was named"
    );
    good_in(
        &scene,
        &linked,
        &["stop", "--session", scene.session.session()],
    )
    .unwrap();
    assert_ne!(std::fs::read(scene.state_file()).unwrap(), b"garbage");
}

#[test]
fn a_session_whose_work_tree_was_moved_is_told_of_the_move() {
    let scene = in_repository().unwrap();
    let linked = linked_work_tree(&scene).unwrap();
    let moved = scene.lab.root().join("moved");
    let mut session = scene.another().unwrap().started_in(&linked);
    require_sound(
        &session
            .prompt("/omo:ulw --check \"test -f done.txt\" go")
            .unwrap(),
    )
    .unwrap();
    git(
        &scene,
        &[
            "worktree",
            "move",
            &linked.to_string_lossy(),
            &moved.to_string_lossy(),
        ],
    )
    .unwrap();
    std::fs::write(moved.join("done.txt"), "").unwrap();
    let mut session = session.started_in(&moved);
    let answer = require_sound(&session.stop(DONE).unwrap()).unwrap();
    let reason = answer.reason().unwrap();
    assert!(
        reason.contains("was moved") && reason.contains(&*linked.to_string_lossy()),
        "{reason}"
    );
}
