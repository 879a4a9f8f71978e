//! Where much is missing, where nothing is wrong, how it is shown, and that looking changes nothing.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use omo_state::files::folder::GuardedFolder;
use omo_state::files::lock::StateLock;
use omo_tests::fake_cargo::lay_binaries;
use omo_tests::repository_copy::npm_platform;
use serde_json::Value;

use super::{Ward, listed, others, write};
use crate::scene::plugin;

#[test]
fn a_busy_lock_is_named() {
    let built = plugin();
    let ward = Ward::new(&built).unwrap();
    let before = ward.findings().unwrap();
    let folder = GuardedFolder::open_state(ward.scene.lab.project())
        .unwrap()
        .unwrap();
    let lock = StateLock::take(&folder, Duration::ZERO).unwrap();
    let after = ward.findings().unwrap();
    drop(lock);
    let row = after.iter().find(|row| row["name"] == "state").unwrap();
    assert!(
        row["level"] == "bad"
            && row["found"]
                .as_str()
                .unwrap()
                .contains("held by another process"),
        "{row}"
    );
    assert_eq!(others(&before, "state"), others(&after, "state"));
}

/// What is missing, how, and the levels of some rows.
type Missing = (
    &'static str,
    fn(&mut Ward) -> Result<()>,
    &'static [(&'static str, &'static str)],
);

/// Several rows are about these: what depends on the missing thing cannot be looked at, and says so.
#[test]
fn what_cannot_be_read_is_reported_and_the_rest_is_compared_all_the_same() {
    let built = plugin();
    let level = |findings: &[Value], name: &str| {
        let row = findings.iter().find(|row| row["name"] == name);
        row.and_then(|row| row["level"].as_str())
            .unwrap_or("missing")
            .to_owned()
    };
    let cases: &[Missing] = &[
        (
            "no client",
            |w| Ok(fs::remove_file(w.programs().join("claude"))?),
            &[
                ("client", "bad"),
                ("plugin", "unknown"),
                ("versions", "unknown"),
                ("state", "good"),
                ("git", "good"),
            ],
        ),
        (
            "a client that fails",
            |w| w.client_is("#!/bin/sh\necho broken >&2; exit 1\n"),
            &[
                ("client", "unknown"),
                ("plugin", "unknown"),
                ("state", "good"),
            ],
        ),
        (
            "not installed",
            |w| w.client("2.1.328", &[]),
            &[
                ("plugin", "bad"),
                ("versions", "unknown"),
                ("client", "good"),
            ],
        ),
        (
            "disabled",
            |w| w.client("2.1.328", &[listed("omo@omo", &w.installed, false)]),
            &[
                ("plugin", "bad"),
                ("programs", "unknown"),
                ("client", "good"),
            ],
        ),
        (
            "a link in the place of the state",
            |w| {
                let elsewhere = w.scene.lab.root().join("elsewhere");
                fs::rename(w.scene.lab.state_folder(), &elsewhere)?;
                Ok(symlink(elsewhere, w.scene.lab.state_folder())?)
            },
            &[
                ("state", "bad"),
                ("git", "good"),
                ("trust", "good"),
                ("client", "good"),
            ],
        ),
        (
            "no git",
            |w| {
                w.set("PATH", w.programs().display().to_string());
                Ok(())
            },
            &[("git", "warning"), ("state", "good"), ("plugin", "good")],
        ),
        (
            "a project that is not there",
            |w| {
                w.set("CLAUDE_PROJECT_DIR", "/not/there");
                Ok(())
            },
            &[
                ("project", "bad"),
                ("state", "good"),
                ("client", "good"),
                ("plugin", "good"),
            ],
        ),
        (
            "a file in the place of the project",
            |w| {
                w.set("CLAUDE_PROJECT_DIR", "/etc/passwd");
                Ok(())
            },
            &[("project", "bad"), ("client", "good")],
        ),
        (
            "a home folder as the project",
            |w| {
                w.set(
                    "CLAUDE_PROJECT_DIR",
                    w.scene.lab.home().display().to_string(),
                );
                Ok(())
            },
            &[("project", "warning"), ("client", "good")],
        ),
        (
            "no home",
            |w| {
                for name in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
                    w.set(name, "");
                }
                Ok(())
            },
            &[("client", "good"), ("plugin", "good"), ("state", "good")],
        ),
        (
            "a clone that is not built",
            |w| {
                launchers(w)?;
                write(&w.installed.join("Cargo.toml"), "")?;
                write(
                    &w.home(".claude/plugins/data/omo-omo/build.log"),
                    "cargo says\nfailed: no network\n",
                )
            },
            &[
                ("programs", "bad"),
                ("versions", "good"),
                ("plugin", "good"),
            ],
        ),
    ];
    for (what, break_it, expected) in cases {
        let mut ward = Ward::new(&built).unwrap();
        break_it(&mut ward).unwrap();
        let findings = ward
            .findings()
            .unwrap_or_else(|error| panic!("{what}: {error:#}"));
        for (name, wanted) in *expected {
            assert_eq!(
                level(&findings, name),
                *wanted,
                "{what}, {name}: {findings:#?}"
            );
        }
        if *what == "a clone that is not built" {
            let found = findings
                .iter()
                .find(|row| row["name"] == "programs")
                .unwrap()["found"]
                .to_string();
            assert!(
                found.contains("data/omo-omo/bin/0.1.0") && found.contains("failed: no network"),
                "{found}"
            );
        }
    }
}

/// Puts scripts in the place of the installed binaries, as a clone has them.
fn launchers(ward: &Ward) -> Result<()> {
    for entry in fs::read_dir(ward.installed.join("bin"))? {
        fs::write(entry?.path(), "#!/bin/sh\nexit 0\n")?;
    }
    Ok(())
}

/// A clone whose binaries were built is as good as any.
#[test]
fn a_marketplace_copy_that_is_built_is_sound() {
    let built = plugin();
    let ward = Ward::new(&built).unwrap();
    let data = ward.home(".claude/plugins/data/omo-omo/bin/0.1.0");
    fs::create_dir_all(&data).unwrap();
    lay_binaries(&built.join("bin"), &data).unwrap();
    launchers(&ward).unwrap();
    write(&ward.installed.join("Cargo.toml"), "").unwrap();
    let findings = ward.findings().unwrap();
    assert!(
        findings
            .iter()
            .all(|row| row["level"] == "good" || row["name"] == "hooks"),
        "{findings:#?}"
    );
    fs::remove_file(data.join("omo-hook")).unwrap();
    let findings = ward.findings().unwrap();
    let reported = findings.first().unwrap();
    assert!(
        reported["name"] == "programs" && reported["found"].as_str().unwrap().contains("omo-hook"),
        "{reported}"
    );
}

/// So is a package of npm with the part for this platform.
#[test]
fn a_package_with_its_platform_is_sound_and_one_without_is_reported() {
    let built = plugin();
    let ward = Ward::new(&built).unwrap();
    launchers(&ward).unwrap();
    let findings = ward.findings().unwrap();
    let reported = findings.first().unwrap()["found"].to_string();
    assert!(
        reported.contains("npm has not brought omo-hook, omo to "),
        "{reported}"
    );
    let package = ward
        .installed
        .join("node_modules/@omo-cc")
        .join(npm_platform())
        .join("bin");
    fs::create_dir_all(&package).unwrap();
    lay_binaries(&built.join("bin"), &package).unwrap();
    let findings = ward.findings().unwrap();
    assert!(
        findings
            .iter()
            .all(|row| row["level"] == "good" || row["name"] == "hooks"),
        "{findings:#?}"
    );
}

#[test]
fn the_table_says_what_the_json_says_and_no_line_is_too_long() {
    let built = plugin();
    let mut ward = Ward::new(&built).unwrap();
    ward.set("OMO_DISABLE", "1");
    ward.set("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "2");
    let findings = ward.findings().unwrap();
    let output = ward.omo(&["doctor"]).unwrap();
    let table = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(!table.contains('\u{1b}'), "colour in a pipe");
    assert!(
        table.lines().all(|line| line.chars().count() <= 100),
        "{table}"
    );
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let reported = words(&table);
    let mut after = 0;
    for finding in &findings {
        let text = |field: &str| finding[field].as_str().unwrap_or_default().to_owned();
        let mut row = format!(
            "{} {} {}",
            text("level"),
            text("name"),
            words(&text("found"))
        );
        if finding["why"].is_string() {
            row = format!(
                "{row} why: {} fix: {}",
                words(&text("why")),
                words(&text("fix"))
            );
        }
        // A path may be broken at any letter.
        let at = reported[after..]
            .replace(' ', "")
            .find(&row.replace(' ', ""));
        assert!(at.is_some(), "no {row:?} in order in\n{table}");
        after += reported[after..].find(&text("name")).unwrap_or(0);
    }
    assert_eq!(
        findings.first().unwrap()["level"],
        "bad",
        "what is bad comes first"
    );
}

#[test]
fn looking_changes_no_file() {
    let built = plugin();
    let fresh = |is_used: bool| {
        let mut ward = Ward::new(&built).unwrap();
        if !is_used {
            fs::remove_dir_all(ward.scene.lab.project().join(".sisyphus")).unwrap();
            fs::remove_dir_all(ward.home(".local")).unwrap();
        }
        ward.scene
            .lab
            .write("omo.toml", "[[check]]\nrun = \"touch ran\"\n")
            .unwrap();
        // What lies in the project is not run, wherever PATH leads.
        for name in ["claude", "git"] {
            let own = ward
                .scene
                .lab
                .write(&format!("bin/{name}"), "#!/bin/sh\ntouch ran\n")
                .unwrap();
            fs::set_permissions(own, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let path = format!(
            "{}:{}",
            ward.scene.lab.project().join("bin").display(),
            ward.variables["PATH"]
        );
        ward.set("PATH", path);
        ward.set("TMPDIR", ward.scene.lab.root().display().to_string());
        ward
    };
    for is_used in [true, false] {
        let ward = fresh(is_used);
        let before = files(ward.scene.lab.root()).unwrap();
        assert_eq!(
            ward.findings()
                .unwrap()
                .iter()
                .find(|row| row["name"] == "client")
                .unwrap()["level"],
            "good"
        );
        assert_eq!(before, files(ward.scene.lab.root()).unwrap());
    }
}

/// Every file below a folder, with what it holds.
fn files(folder: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path.clone());
            }
            found.insert(path.clone(), fs::read(path).unwrap_or_default());
        }
    }
    Ok(found)
}

#[test]
fn outside_of_any_project_it_says_what_there_is() {
    let built = plugin();
    let ward = Ward::new(&built).unwrap();
    let outside = ward.scene.lab.root().join("outside");
    fs::create_dir(&outside).unwrap();
    let mut command = ward.scene.lab.command(ward.programs().join("omo"));
    let output = command
        .args(["doctor"])
        .envs(&ward.variables)
        .current_dir(&outside)
        .output()
        .unwrap();
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{table}");
    assert!(
        table.contains("no session here has used ultrawork yet")
            && table.contains("not a worktree"),
        "{table}"
    );
}
