//! Archives with the same bytes on every machine and at any time: sorted entries, one time for all, no user name.

use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use data_encoding::HEXLOWER;
use flate2::{Compression, GzBuilder};
use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// Unix seconds of every entry: 1980-01-01, the first in a zip.
const SECONDS: u64 = 315_532_800;

pub(super) const PROGRAM: u32 = 0o755;
pub(super) const TEXT: u32 = 0o644;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Path in the archive, with `/` on every system.
    pub path: String,
    pub bytes: Vec<u8>,
    /// `PROGRAM` or `TEXT`.
    pub mode: u32,
}

/// Sorted files of these parts of a plugin, below one folder `name`. A part is a file or a folder; `""` is the whole
/// plugin.
pub(super) fn entries(plugin: &Path, parts: &[&str], name: &str) -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    let mut parts: Vec<PathBuf> = parts.iter().map(PathBuf::from).collect();
    while let Some(part) = parts.pop() {
        let file = plugin.join(&part);
        let metadata =
            fs::symlink_metadata(&file).with_context(|| format!("look at {}", file.display()))?;
        if metadata.is_dir() {
            for entry in fs::read_dir(&file).with_context(|| format!("list {}", file.display()))? {
                parts.push(part.join(entry?.file_name()));
            }
            continue;
        }
        ensure!(
            metadata.is_file(),
            "{} is no file, and no archive carries it",
            part.display()
        );
        // By path, not from this machine: a file system without rights must not show in an archive.
        let is_run = part.starts_with("bin") || part.starts_with("scripts");
        let words = part
            .iter()
            .map(|word| word.to_str().context("a name that is no text"));
        let path = format!("{name}/{}", words.collect::<Result<Vec<_>>>()?.join("/"));
        entries.push(Entry {
            path,
            bytes: fs::read(&file)?,
            mode: if is_run { PROGRAM } else { TEXT },
        });
    }
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(entries)
}

pub(super) fn tar_gz(entries: &[Entry]) -> Result<Vec<u8>> {
    // No name and no time of its own.
    let compressed = GzBuilder::new()
        .mtime(0)
        .write(Vec::new(), Compression::best());
    let mut archive = tar::Builder::new(compressed);
    for Entry { path, bytes, mode } in entries {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        header.set_mode(*mode);
        header.set_mtime(SECONDS);
        header.set_uid(0);
        header.set_gid(0);
        archive.append_data(&mut header, path, bytes.as_slice())?;
    }
    Ok(archive.into_inner()?.finish()?)
}

pub(super) fn zip(entries: &[Entry]) -> Result<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(9))
        .last_modified_time(DateTime::default());
    for Entry { path, bytes, mode } in entries {
        archive.start_file(path.as_str(), options.unix_permissions(*mode))?;
        archive.write_all(bytes)?;
    }
    Ok(archive.finish()?.into_inner())
}

#[derive(Debug)]
pub(super) struct Written {
    pub name: String,
    /// Length in bytes.
    pub size: usize,
    /// SHA-256 in hexadecimal.
    pub sum: String,
}

/// Writes both kinds of archive of a plugin into a folder, as `name` with the endings.
pub(super) fn write(plugin: &Path, name: &str, folder: &Path) -> Result<Vec<Written>> {
    let entries = entries(plugin, &[""], name)?;
    let archives = [("tar.gz", tar_gz(&entries)?), ("zip", zip(&entries)?)];
    archives
        .into_iter()
        .map(|(ending, bytes)| save(folder, format!("{name}.{ending}"), &bytes))
        .collect()
}

pub(super) fn save(folder: &Path, name: String, bytes: &[u8]) -> Result<Written> {
    let path = folder.join(&name);
    fs::write(&path, bytes).with_context(|| format!("write {}", path.display()))?;
    Ok(Written {
        name,
        size: bytes.len(),
        sum: HEXLOWER.encode(&Sha256::digest(bytes)),
    })
}

/// Text for `sha256sum -c`.
pub(super) fn sums(written: &[Written]) -> String {
    let mut lines: Vec<String> = written
        .iter()
        .map(|it| format!("{}  {}\n", it.sum, it.name))
        .collect();
    lines.sort_by(|one, other| one.get(64..).cmp(&other.get(64..)));
    lines.concat()
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::process::Command;

    use super::*;

    /// A folder like a plugin, with lost execute bits.
    fn plugin() -> tempfile::TempDir {
        let plugin = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("bin/omo-stop", "program"),
            ("bin/omo", "other"),
            ("commands/ulw.md", ""),
            ("scripts/task-list.sh", "script"),
            ("a", "text"),
        ] {
            let path = plugin.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        plugin
    }

    #[test]
    fn both_kinds_hold_the_same_files_with_the_rights_that_they_need() {
        let entries = entries(plugin().path(), &[""], "omo-1").unwrap();
        let names: Vec<(&str, u32)> = entries
            .iter()
            .map(|entry| (entry.path.as_str(), entry.mode))
            .collect();
        let expected = [
            ("omo-1/a", TEXT),
            ("omo-1/bin/omo", PROGRAM),
            ("omo-1/bin/omo-stop", PROGRAM),
            ("omo-1/commands/ulw.md", TEXT),
            ("omo-1/scripts/task-list.sh", PROGRAM),
        ];
        assert_eq!(names, expected);
        let mut unpacked = Vec::new();
        for entry in tar::Archive::new(flate2::read::GzDecoder::new(&*tar_gz(&entries).unwrap()))
            .entries()
            .unwrap()
        {
            let mut entry = entry.unwrap();
            let (path, mode) = (
                entry.path().unwrap().display().to_string(),
                entry.header().mode().unwrap(),
            );
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            assert_eq!(
                (
                    entry.header().uid().unwrap(),
                    entry.header().mtime().unwrap()
                ),
                (0, SECONDS)
            );
            unpacked.push(Entry { path, bytes, mode });
        }
        assert_eq!(unpacked, entries);
        let mut archive = zip::ZipArchive::new(Cursor::new(zip(&entries).unwrap())).unwrap();
        let unpacked: Vec<Entry> = (0..archive.len())
            .map(|index| {
                let mut file = archive.by_index(index).unwrap();
                let mut bytes = Vec::new();
                file.read_to_end(&mut bytes).unwrap();
                Entry {
                    path: file.name().unwrap().into_owned(),
                    bytes,
                    mode: file.unix_mode().unwrap() & 0o777,
                }
            })
            .collect();
        assert_eq!(unpacked, entries);
    }

    #[test]
    fn two_runs_write_the_same_bytes_and_the_sums_are_accepted() {
        let folders = [(); 2].map(|()| {
            let folder = tempfile::tempdir().unwrap();
            let written = write(plugin().path(), "omo-1", folder.path()).unwrap();
            fs::write(folder.path().join("SHA256SUMS"), sums(&written)).unwrap();
            folder
        });
        for name in ["omo-1.tar.gz", "omo-1.zip", "SHA256SUMS"] {
            let [one, other] = folders
                .each_ref()
                .map(|folder| fs::read(folder.path().join(name)).unwrap());
            assert!(one == other, "{name} differs");
        }
        if cfg!(target_os = "linux") {
            let check = || {
                Command::new("sha256sum")
                    .args(["-c", "SHA256SUMS"])
                    .current_dir(folders[0].path())
                    .output()
                    .unwrap()
            };
            assert_eq!(
                String::from_utf8(check().stdout).unwrap(),
                "omo-1.tar.gz: OK\nomo-1.zip: OK\n"
            );
            fs::write(folders[0].path().join("omo-1.zip"), "another").unwrap();
            assert!(!check().status.success());
        }
    }

    #[cfg(unix)]
    #[test]
    fn tar_of_the_system_unpacks_programs_that_can_be_run() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        write(plugin().path(), "omo-1", folder.path()).unwrap();
        let unpack = Command::new("tar")
            .args(["-xzf", "omo-1.tar.gz"])
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(
            unpack.status.success() && unpack.stderr.is_empty(),
            "{unpack:?}"
        );
        let mode = |path: &str| {
            folder
                .path()
                .join("omo-1")
                .join(path)
                .metadata()
                .unwrap()
                .permissions()
                .mode()
        };
        assert!(mode("bin/omo") & 0o111 == 0o111 && mode("a") & 0o111 == 0);
    }
}
