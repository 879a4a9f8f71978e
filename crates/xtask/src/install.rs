//! `cargo xtask install`: builds the plugin and sets it up in the Claude Code of this user.

use std::process::Command;

use anyhow::Result;

use crate::{cargo, plugin};

/// Builds the plugin, then runs its `omo setup`.
pub(crate) fn run() -> Result<()> {
    let plugin = plugin::build()?;
    let omo = plugin.path.join("bin").join(plugin.build.binary("omo"));
    anstream::println!("built {}; running its `omo setup`\n", plugin.path.display());
    cargo::run(Command::new(omo).arg("setup"))
}
