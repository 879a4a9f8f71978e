//! The environment of each kind of process that omo starts, where a hook of git or an alias has started omo: its
//! variables point git at the repository of its user.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use omo_core::git_variables::is_repository_variable;
use omo_testkit::{Lab, run_command, samples, wait_until};

use crate::cli::omo;
use crate::scene::{Scene, plugin};

/// Some that git sets, and one of a person.
const VARIABLES: [(&str, &str); 7] = [
    ("GIT_DIR", "/elsewhere/.git"),
    ("GIT_WORK_TREE", "/elsewhere"),
    ("GIT_INDEX_FILE", "/elsewhere/.git/index"),
    ("GIT_PREFIX", ""),
    ("GIT_CONFIG_COUNT", "1"),
    ("GIT_CONFIG_KEY_0", "core.worktree"),
    ("GIT_AUTHOR_NAME", "A Person"),
];

/// Writes down the variables of git that a process has.
fn recorder(lab: &Lab, name: &str) -> String {
    format!("env | grep ^GIT_ >> '{}'", lab.home().join(name).display())
}

/// The process ran, had the variable of a person, and none of a repository.
fn require_clean(lab: &Lab, name: &str) -> Result<()> {
    let seen = fs::read_to_string(lab.home().join(name))
        .with_context(|| format!("{name} was not started"))?;
    let names = || {
        seen.lines()
            .filter_map(|line| line.split_once('='))
            .map(|(name, _)| name)
    };
    ensure!(
        names().any(|name| name == "GIT_AUTHOR_NAME"),
        "{name}: {seen}"
    );
    ensure!(!names().any(is_repository_variable), "{name}: {seen}");
    Ok(())
}

fn scene() -> Result<Scene> {
    let lab = Lab::builder().build()?;
    lab.configure("[verify]\nreview = false\n[limits]\ncooldown_seconds = 0\n")?;
    let mut scene = Scene::in_lab(&plugin(), lab)?;
    for (name, value) in VARIABLES {
        scene.session = scene.session.with_env(name, value);
    }
    Ok(scene)
}

#[test]
fn no_check_is_pointed_at_the_repository_of_its_user() {
    let mut scene = scene().unwrap();
    let record = recorder(&scene.lab, "claim");
    scene
        .start(&format!(
            "--no-review --check \"{record}; test -f done.txt\""
        ))
        .unwrap();
    scene.lab.write("done.txt", "").unwrap();
    scene.claim_ends("verified").unwrap();
    require_clean(&scene.lab, "claim").unwrap();

    let scene = self::scene().unwrap();
    let record = recorder(&scene.lab, "verify");
    scene
        .lab
        .configure(&format!("[[check]]\nname = \"seen\"\nrun = \"{record}\"\n"))
        .unwrap();
    let verify = omo(&scene, &["verify"], &VARIABLES).unwrap();
    assert!(verify.status.success(), "{verify:?}");
    require_clean(&scene.lab, "verify").unwrap();

    let record = recorder(&scene.lab, "prove");
    scene.lab.write("done.txt", "").unwrap();
    let prove = omo(
        &scene,
        &["prove", "--check", &format!("{record}; test -f done.txt")],
        &VARIABLES,
    )
    .unwrap();
    assert!(prove.status.success(), "{prove:?}");
    require_clean(&scene.lab, "prove").unwrap();
    assert!(
        fs::read_to_string(scene.lab.home().join("prove"))
            .unwrap()
            .lines()
            .count()
            > 1,
        "both sides"
    );
}

#[test]
fn no_status_line_and_no_client_is_pointed_at_the_repository_of_its_user() {
    let scene = scene().unwrap();
    let lab = &scene.lab;
    let mut command = lab.command(scene.plugin.join("bin/omo"));
    command
        .args(["statusline", "--wrap", &recorder(lab, "statusline")])
        .envs(VARIABLES);
    let shown = run_command(
        &command,
        &format!("{}\n", samples::statusline(lab.project())),
    )
    .unwrap();
    assert!(shown.status.success(), "{shown:?}");
    require_clean(lab, "statusline").unwrap();

    let programs = lab.root().join("programs");
    write_program(&programs, "claude", &recorder(lab, "client")).unwrap();
    let path = format!("{}:/usr/bin:/bin", programs.display());
    let mut command = lab.command(scene.plugin.join("bin/omo"));
    command.arg("setup").envs(VARIABLES).env("PATH", path);
    let refused = run_command(&command, "").unwrap();
    assert_eq!(refused.status.code(), Some(5), "{refused:?}");
    require_clean(lab, "client").unwrap();
}

#[test]
fn no_set_up_no_count_and_no_browser_is_pointed_at_the_repository_of_its_user() {
    type Play = fn(&mut Scene, &str) -> Result<()>;
    let cases: [(&str, Play); 3] = [
        ("set-up", |scene, record| {
            let file = scene
                .lab
                .write("omo.toml", &format!("setup = \"{record}\"\n"))?;
            let list = String::from_utf8(omo(scene, &["check", "list"], &[])?.stdout)?;
            let digest = list
                .lines()
                .find_map(|line| line.strip_prefix("digest of omo.toml: "));
            let digest = digest.with_context(|| format!("{}: {list}", file.display()))?;
            ensure!(
                omo(scene, &["check", "approve", "--digest", digest], &[])?
                    .status
                    .success()
            );
            scene.lab.write("done.txt", "")?;
            let prove = omo(scene, &["prove", "--check", "test -f done.txt"], &VARIABLES)?;
            ensure!(prove.status.success(), "{prove:?}");
            Ok(())
        }),
        ("count", |scene, record| {
            let counted = scene.lab.home().join("counted");
            scene.lab.write(
                "check.sh",
                &format!("{record}\necho > '{}'\n", counted.display()),
            )?;
            scene.start("--check \"sh check.sh\"")?;
            wait_until("the check counts", || counted.exists().then_some(()))
        }),
        ("browser", |scene, record| {
            let programs = scene.lab.root().join("programs");
            write_program(&programs, "xdg-open", record)?;
            scene.start("--no-review --check \"test -f done.txt\"")?;
            scene.lab.write("done.txt", "")?;
            scene.claim_ends("verified")?;
            let path = format!("{}:/usr/bin:/bin", programs.display());
            let variables = [&VARIABLES[..], &[("PATH", path.as_str())]].concat();
            let report = omo(scene, &["report", "--html", "--open"], &variables)?;
            ensure!(report.status.success(), "{report:?}");
            Ok(())
        }),
    ];
    for (name, play) in cases {
        let mut scene = scene().unwrap();
        let record = recorder(&scene.lab, name);
        let played = play(&mut scene, &record).and_then(|()| require_clean(&scene.lab, name));
        played.unwrap_or_else(|error| panic!("{name}: {error:#}"));
    }
}

/// A shell writes the program: no other test's child can hold it open, which would keep it from being started.
pub(crate) fn write_program(folder: &Path, name: &str, text: &str) -> Result<()> {
    fs::create_dir_all(folder)?;
    let mut shell = Command::new("/bin/sh");
    shell.args([
        "-c",
        "printf '#!/bin/sh\\n%s\\n' \"$2\" >\"$1\" && chmod +x \"$1\"",
        "sh",
    ]);
    ensure!(
        shell.arg(folder.join(name)).arg(text).status()?.success(),
        "no {name} in {}",
        folder.display()
    );
    Ok(())
}

#[test]
fn a_scratch_repository_of_a_check_stays_one_in_a_pre_commit_hook() {
    let scene = scene().unwrap();
    let lab = &scene.lab;
    let scratch = "d=$(mktemp -d) && cd $d && git init -q . && echo x > f && git add -A && git commit -q --no-verify -m SCRATCH";
    lab.configure(&format!(
        "[[check]]\nname = \"unit\"\nrun = \"{scratch}\"\n"
    ))
    .unwrap();
    for (name, value) in [("user.name", "A Person"), ("user.email", "a@localhost")] {
        lab.git(&["config", "--global", name, value]).unwrap();
    }
    for arguments in [
        &["add", "-A"][..],
        &["commit", "--quiet", "--allow-empty", "-m", "all"],
    ] {
        lab.git(arguments).unwrap();
    }
    lab.git(&["worktree", "add", "-q", "-b", "feature", "../linked"])
        .unwrap();
    let hook = format!(
        "env | grep -q ^GIT_INDEX_FILE= || exit 9; '{}' verify",
        scene.plugin.join("bin/omo").display()
    );
    write_program(&lab.project().join(".git/hooks"), "pre-commit", &hook).unwrap();
    let linked = lab.project().parent().unwrap().join("linked");
    fs::write(linked.join("b.txt"), "b\n").unwrap();
    let git = |arguments: &[&str]| {
        let output = lab
            .command("git")
            .args(arguments)
            .current_dir(&linked)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    git(&["add", "b.txt"]);
    git(&["commit", "--quiet", "-m", "feature"]);
    assert_eq!(git(&["log", "--format=%s", "-1"]).trim(), "feature");
    assert_eq!(
        git(&["show", "--format=", "--name-only", "HEAD"]).trim(),
        "b.txt"
    );
    assert_eq!(git(&["status", "--porcelain"]), "");
}
