//! `cargo xtask dist`: for each system that can be built for here an archive with a ready plugin.
//!
//! What packs and compresses is built only when it is asked for: the feature `dist` has it.

#[cfg(feature = "dist")]
mod archive;
#[cfg(feature = "dist")]
mod make;
#[cfg(feature = "dist")]
mod targets;

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::cargo;

/// What archives are made of.
#[derive(Args)]
pub(crate) struct Options {
    /// Only for this target; may be given again. Without it: all that can be built for here
    #[arg(long, value_name = "TRIPLE")]
    target: Vec<String>,
    /// Pack target/plugin, which `cargo xtask test` has built, and build nothing
    #[arg(long, hide = true, conflicts_with = "target")]
    for_tests: bool,
}

/// Makes the archives and their sums in `target/dist`.
#[cfg(feature = "dist")]
pub(crate) fn run(options: &Options) -> Result<()> {
    if options.for_tests { make::pack_for_tests() } else { make::run(options) }
}

/// Runs this program once more, with what makes archives.
#[cfg(not(feature = "dist"))]
pub(crate) fn run(options: &Options) -> Result<()> {
    let mut arguments = vec!["dist"];
    arguments.extend(options.target.iter().flat_map(|target| ["--target", target]));
    arguments.extend(options.for_tests.then_some("--for-tests"));
    cargo::run_with_all_features(&arguments)
}

/// Packs the plugin in target/plugin; gives the archive.
pub(crate) fn pack_for_tests() -> Result<PathBuf> {
    run(&Options { target: Vec::new(), for_tests: true })?;
    Ok(test_folder()?.join(format!("{}.tar.gz", name_of(&crate::plugin::host()?))))
}

/// The name of an archive, without its ending.
fn name_of(target: &str) -> String {
    format!("omo-{}-{target}", env!("CARGO_PKG_VERSION"))
}

/// Where the archives of the tests are.
fn test_folder() -> Result<PathBuf> {
    Ok(cargo::target()?.join("dist-tests"))
}
