//! Packages of all platforms, made on machines of each, for the one package that lists them all.

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use flate2::read::GzDecoder;
use serde_json::{Value, json};

use super::archive::PROGRAM;
use super::npm::{self, BINARIES, PLATFORMS, Platform, TOP, VERSION};

pub(super) fn platforms(folders: &[PathBuf]) -> Result<Vec<(Platform, Vec<u8>)>> {
    let mut files = Vec::new();
    for folder in folders {
        for entry in fs::read_dir(folder).with_context(|| format!("list {}", folder.display()))? {
            files.push(entry?.path());
        }
    }
    PLATFORMS
        .into_iter()
        .map(|platform| Ok((platform, read(platform, &files)?)))
        .collect()
}

fn read(platform: Platform, files: &[PathBuf]) -> Result<Vec<u8>> {
    let start = npm::file_name(&platform.name(), "");
    let start = start.trim_end_matches(".tgz");
    let is_one = |file: &&PathBuf| {
        let name = file.file_name().and_then(OsStr::to_str);
        name.is_some_and(|name| name.starts_with(start))
            && file.extension().is_some_and(|ending| ending == "tgz")
    };
    let file = match files.iter().filter(is_one).collect::<Vec<_>>()[..] {
        [file] => file,
        [] => bail!(
            "no package of {} is there: `cargo xtask dist` makes it where it can be built",
            platform.name()
        ),
        [one, other, ..] => bail!(
            "{} and {} are both of {}",
            one.display(),
            other.display(),
            platform.name()
        ),
    };
    let bytes = fs::read(file).with_context(|| format!("read {}", file.display()))?;
    check(platform, &bytes)
        .with_context(|| format!("{} is no package of this release", file.display()))?;
    Ok(bytes)
}

/// Compares a package with its name and with this version.
fn check(platform: Platform, bytes: &[u8]) -> Result<()> {
    let mut package = Value::Null;
    let mut programs = Vec::new();
    for entry in tar::Archive::new(GzDecoder::new(bytes)).entries()? {
        let mut entry = entry?;
        let path = entry.path()?.into_owned();
        if path == Path::new(TOP).join("package.json") {
            let mut text = String::new();
            entry.read_to_string(&mut text)?;
            package = serde_json::from_str(&text)?;
        } else if entry.header().mode()? == PROGRAM {
            programs.push(path);
        }
    }
    let (name, os, cpu) = (
        json!(platform.package()),
        json!([platform.os]),
        json!([platform.cpu]),
    );
    for (field, expected) in [
        ("name", name),
        ("version", json!(VERSION)),
        ("os", os),
        ("cpu", cpu),
    ] {
        let found = package.get(field).unwrap_or(&Value::Null);
        ensure!(*found == expected, "its {field} is {found}, not {expected}");
    }
    for binary in BINARIES.map(|name| Path::new(TOP).join("bin").join(name)) {
        ensure!(
            programs.contains(&binary),
            "it has no program {}",
            binary.display()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes the package of a platform into a folder, with an optional name.
    fn make(folder: &Path, platform: Platform, version: &str, name: Option<&str>) {
        let binary = folder.join("binary");
        fs::write(&binary, "a program").unwrap();
        let bytes = npm::pack_platform(platform, version, [&binary, &binary]).unwrap();
        let own = npm::file_name(&platform.name(), version);
        fs::write(folder.join(name.unwrap_or(&own)), bytes).unwrap();
    }

    /// The error about packages in two folders, the first of which has those of two platforms.
    fn wrong(change: impl FnOnce(&Path, &Path)) -> String {
        let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let [one, other] = folders.each_ref().map(|folder| folder.path().to_owned());
        let [linux, linux_arm, mac, mac_arm] = PLATFORMS;
        for (folder, platform) in [
            (&one, linux),
            (&one, linux_arm),
            (&other, mac),
            (&other, mac_arm),
        ] {
            make(folder, platform, VERSION, None);
        }
        change(&one, &other);
        platforms(&[one, other]).map_or_else(
            |error| format!("{error:#}"),
            |found| format!("{} found", found.len()),
        )
    }

    #[test]
    fn all_four_platforms_are_found_wherever_they_are_and_nothing_less_will_do() {
        let [linux, _, mac, mac_arm] = PLATFORMS;
        let name = |platform: Platform| npm::file_name(&platform.name(), VERSION);
        assert_eq!(wrong(|_, _| ()), "4 found");
        assert_eq!(
            wrong(
                |one, _| fs::write(one.join(npm::file_name("omo", VERSION)), "the plugin's")
                    .unwrap()
            ),
            "4 found"
        );
        let missing = wrong(|_, other| fs::remove_file(other.join(name(mac))).unwrap());
        assert!(
            missing.starts_with("no package of darwin-x64 is there"),
            "{missing}"
        );
        let twice = wrong(|one, _| make(one, mac, "0.0.9", None));
        assert!(twice.ends_with("are both of darwin-x64"), "{twice}");
        let older = wrong(|one, _| make(one, linux, "0.0.9", Some(&name(linux))));
        assert!(
            older.ends_with(&format!("its version is \"0.0.9\", not \"{VERSION}\"")),
            "{older}"
        );
        let another = wrong(|_, other| make(other, mac, VERSION, Some(&name(mac_arm))));
        assert!(
            another.ends_with("its name is \"@omo-cc/darwin-x64\", not \"@omo-cc/darwin-arm64\""),
            "{another}"
        );
        let broken = wrong(|one, _| fs::write(one.join(name(linux)), "no archive").unwrap());
        assert!(
            broken.contains("is no package of this release: "),
            "{broken}"
        );
    }
}
