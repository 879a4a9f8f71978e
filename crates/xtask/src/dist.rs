//! `cargo xtask dist`: an archive with a ready plugin for each system that can be built for here, and packages for
//! npm.
//!
//! Packing and compressing is behind the feature `dist`.

#[cfg(feature = "dist")]
mod archive;
#[cfg(feature = "dist")]
mod gather;
#[cfg(feature = "dist")]
mod make;
#[cfg(feature = "dist")]
mod npm;
#[cfg(feature = "dist")]
mod targets;

#[cfg(not(feature = "dist"))]
use std::ffi::OsStr;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::cargo;

/// What archives and packages are made of.
#[derive(Args)]
pub(crate) struct Options {
    /// Only for this target; may be given again. Without it: all that can be built for here
    #[arg(long, value_name = "TRIPLE")]
    target: Vec<String>,
    /// Build nothing: make the npm package of the plugin out of those of all platforms, which are in these folders
    #[arg(long, value_name = "FOLDER", num_args = 1.., conflicts_with = "target")]
    assemble: Vec<PathBuf>,
    /// Pack target/plugin, which `cargo xtask test` has built, and build nothing
    #[arg(long, hide = true, conflicts_with_all = ["target", "assemble"])]
    for_tests: bool,
}

/// Makes the archives, the packages and their sums in `target/dist`.
#[cfg(feature = "dist")]
pub(crate) fn run(options: &Options) -> Result<()> {
    match options {
        Options {
            for_tests: true, ..
        } => make::pack_for_tests(),
        Options { assemble, .. } if !assemble.is_empty() => make::assemble(assemble),
        _ => make::run(options),
    }
}

/// Runs this program again, with the feature `dist`.
#[cfg(not(feature = "dist"))]
pub(crate) fn run(options: &Options) -> Result<()> {
    let mut arguments: Vec<&OsStr> = vec!["dist".as_ref()];
    arguments.extend(
        options
            .target
            .iter()
            .flat_map(|target| ["--target".as_ref(), OsStr::new(target)]),
    );
    arguments.extend(options.for_tests.then_some(OsStr::new("--for-tests")));
    // The other process runs in the root of the repository.
    let folders = options
        .assemble
        .iter()
        .map(std::path::absolute)
        .collect::<Result<Vec<_>, _>>()?;
    arguments.extend(
        folders
            .iter()
            .flat_map(|folder| ["--assemble".as_ref(), folder.as_os_str()]),
    );
    cargo::run_with_all_features(&arguments)
}

pub(crate) struct Packed {
    pub archive: PathBuf,
    /// Folder of the packages for npm.
    pub packages: PathBuf,
}

/// Packs the plugin in `target/plugin`.
pub(crate) fn pack_for_tests() -> Result<Packed> {
    run(&Options {
        target: Vec::new(),
        assemble: Vec::new(),
        for_tests: true,
    })?;
    let packages = test_folder()?;
    Ok(Packed {
        archive: packages.join(format!("{}.tar.gz", name_of(&crate::plugin::host()?))),
        packages,
    })
}

fn name_of(target: &str) -> String {
    format!("omo-{}-{target}", env!("CARGO_PKG_VERSION"))
}

fn test_folder() -> Result<PathBuf> {
    Ok(cargo::target()?.join("dist-tests"))
}
