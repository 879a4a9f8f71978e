//! A clone in which nothing is built yet, in a home with an odd name.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use omo_testkit::{Lab, StandIn, run_command};
use omo_tests::fake_cargo::{PretendedCargo, lay_binaries, wait_for_build_outcome};
use omo_tests::repository_copy::copy_repository;

use crate::scene::{plugin, require_sound};

/// The version of the clone.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// What a path may hold.
const ODD: &str = "it's a \"path\"\\ with $HOME, `id`, ü, 한 and\na second line";
/// Variables of a session that a build has no business with.
const SECRETS: [&str; 3] = [
    "ANTHROPIC_API_KEY",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    "OMO_DISABLE",
];

/// A clone, a home, and a cargo that pretends.
pub(crate) struct Fresh {
    /// The home, and a project.
    pub lab: Lab,
    /// The folder of the clone.
    pub clone: PathBuf,
    /// What is called when it builds itself.
    pub cargo: PretendedCargo,
    /// The ready plugin whose binaries come of a build.
    pub plugin: PathBuf,
}

impl Fresh {
    /// Nothing is built yet.
    pub(crate) fn new() -> Result<Self> {
        let plugin = plugin();
        let cargo = PretendedCargo::new(&plugin.join("bin"))?;
        let mut builder = Lab::builder()
            .without_git()
            .folder(ODD)
            .path(cargo.folder());
        for name in SECRETS {
            builder = builder.env(name, "a secret\nof=two lines");
        }
        let lab = builder.build()?;
        let clone = lab.home().join("clone");
        copy_repository(&clone)?;
        Ok(Self {
            lab,
            clone,
            cargo,
            plugin,
        })
    }

    /// A new session.
    pub(crate) fn session(&self) -> Result<StandIn> {
        StandIn::new(&self.lab, &self.clone)
    }

    /// A new session starts; gives its line.
    pub(crate) fn line_of_a_new_session(&self) -> Result<String> {
        session_start_line(&self.session()?, "startup")?.context("nothing was said")
    }

    /// The folder of the plugin's data.
    pub(crate) fn data(&self) -> PathBuf {
        self.lab.home().join(".claude/plugins/data/omo-inline")
    }

    /// Where the binaries are, by version.
    pub(crate) fn binaries_folder(&self) -> PathBuf {
        self.data().join("bin")
    }

    /// The log of the build.
    pub(crate) fn log(&self) -> PathBuf {
        self.data().join("build.log")
    }

    /// How the build ended, once it has.
    pub(crate) fn outcome(&self) -> Result<String> {
        wait_for_build_outcome(&self.log())
    }

    /// Runs the script that builds to its end; it has to be one that comes soon.
    pub(crate) fn build_by_hand(&self) -> Result<()> {
        let run = run_command(&self.builder(), "")?;
        ensure!(run.is_silent() && !run.timed_out, "{run:?}");
        Ok(())
    }

    /// The script that builds, as a session start runs it in the background.
    pub(crate) fn builder(&self) -> Command {
        let mut builder = self.lab.command("/bin/sh");
        builder
            .arg("scripts/build-in-background.sh")
            .arg(VERSION)
            .arg(self.cargo.recorded_input("version").trim());
        builder.arg(self.data()).current_dir(&self.clone);
        builder
    }

    /// Lays the ready binaries of a version.
    pub(crate) fn lay_binaries(&self, version: &str) -> Result<()> {
        fs::create_dir_all(self.binaries_folder().join(version))?;
        lay_binaries(
            &self.plugin.join("bin"),
            &self.binaries_folder().join(version),
        )?;
        Ok(())
    }
}

/// What the start of a session says to the person.
pub(crate) fn session_start_line(session: &StandIn, source: &str) -> Result<Option<String>> {
    let answer = require_sound(&session.clone().session_start(source)?)?;
    Ok(answer.system_message().map(str::to_owned))
}
