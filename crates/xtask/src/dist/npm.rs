//! Packages for npm: one with the binaries of each platform, and the plugin's own, which lists those.
//!
//! The client downloads the plugin's package and has npm install its shrinkwrap, without running a script. npm leaves
//! out other platforms. The bytes are the same whenever they are made.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use data_encoding::BASE64;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha512};

use super::archive::{self, Entry, PROGRAM, TEXT, Written};
use crate::{cargo, plugin};

pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");
const SCOPE: &str = "@omo-cc";
const PLUGIN: &str = "omo";
pub(super) const TOP: &str = "package";
pub(super) const BINARIES: [&str; 2] = [plugin::HOOKS, "omo"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Platform {
    pub os: &'static str,
    pub cpu: &'static str,
}

/// Platforms of a release. Windows is not among them: the client starts no script there, so that a launcher would
/// never come to run.
pub(super) const PLATFORMS: [Platform; 4] = [
    Platform {
        os: "linux",
        cpu: "x64",
    },
    Platform {
        os: "linux",
        cpu: "arm64",
    },
    Platform {
        os: "darwin",
        cpu: "x64",
    },
    Platform {
        os: "darwin",
        cpu: "arm64",
    },
];

impl Platform {
    pub(super) fn of(target: &str) -> Option<Self> {
        PLATFORMS.into_iter().find(|platform| {
            let processor = if platform.cpu == "x64" {
                "x86_64-"
            } else {
                "aarch64-"
            };
            let system = if platform.os == "darwin" {
                "-apple-darwin"
            } else {
                "-linux-"
            };
            target.starts_with(processor) && target.contains(system)
        })
    }

    /// Name in a launcher, such as `linux-x64`.
    pub(super) fn name(self) -> String {
        format!("{}-{}", self.os, self.cpu)
    }

    pub(super) fn package(self) -> String {
        format!("{SCOPE}/{}", self.name())
    }
}

#[derive(Debug)]
pub(super) struct PlatformPackage {
    platform: Platform,
    /// Digest in the plugin's package.
    integrity: String,
    /// File of the package.
    pub file: Written,
}

/// Bytes of a platform's package, with the [`BINARIES`] from these files.
pub(super) fn pack_platform(
    platform: Platform,
    version: &str,
    binaries: [&Path; 2],
) -> Result<Vec<u8>> {
    let name = platform.name();
    let package = json!({
        "name": platform.package(),
        "version": version,
        "description": format!("The binaries of omo for {name}, which {SCOPE}/{PLUGIN} installs"),
        "license": env!("CARGO_PKG_LICENSE"),
        "repository": repository(),
        "os": [platform.os],
        "cpu": [platform.cpu],
        "files": ["bin"],
    });
    let readme = format!(
        "# {}\n\nThe two binaries of [omo]({repository}) for {name}: `bin/{}`, which Claude Code runs as the plugin's \
         hooks, and `bin/omo`, its command line. Nothing needs to be installed by hand: the plugin's own package, \
         `{SCOPE}/{PLUGIN}`, lists this one, and npm installs it on machines that it is for. No package of omo runs \
         a script when it is installed.\n",
        platform.package(),
        plugin::HOOKS,
        repository = env!("CARGO_PKG_REPOSITORY"),
    );
    let read = |path: &Path| fs::read(path).with_context(|| format!("read {}", path.display()));
    let mut entries = vec![
        entry("LICENSE", TEXT, read(&cargo::top()?.join("LICENSE"))?),
        entry("README.md", TEXT, readme.into_bytes()),
        entry("package.json", TEXT, text(&package)?),
    ];
    for (name, file) in BINARIES.into_iter().zip(binaries) {
        entries.push(entry(&format!("bin/{name}"), PROGRAM, read(file)?));
    }
    archive::tar_gz(&entries)
}

pub(super) fn save_platform(
    platform: Platform,
    version: &str,
    bytes: &[u8],
    folder: &Path,
) -> Result<PlatformPackage> {
    let file = archive::save(folder, file_name(&platform.name(), version), bytes)?;
    Ok(PlatformPackage {
        platform,
        integrity: format!("sha512-{}", BASE64.encode(&Sha512::digest(bytes))),
        file,
    })
}

/// Writes the plugin's package, and the marketplace file that names it, into a folder.
pub(super) fn write_plugin(
    version: &str,
    platforms: &[PlatformPackage],
    folder: &Path,
) -> Result<Vec<Written>> {
    let top = cargo::top()?;
    let parts = [&plugin::PARTS[..], &["bin", "scripts"]].concat();
    let mut entries = archive::entries(&top, &parts, TOP)?;
    if version != VERSION {
        entries
            .iter_mut()
            .try_for_each(|entry| renumber(entry, version))?;
    }
    let package = plugin_manifest(version, platforms, &parts)?;
    entries.push(entry(
        "npm-shrinkwrap.json",
        TEXT,
        text(&shrinkwrap(&package, version, platforms)?)?,
    ));
    entries.push(entry("package.json", TEXT, text(&package)?));
    Ok(vec![
        archive::save(
            folder,
            file_name(PLUGIN, version),
            &archive::tar_gz(&entries)?,
        )?,
        archive::save(
            folder,
            "marketplace.json".to_owned(),
            &text(&marketplace(version)?)?,
        )?,
    ])
}

/// Changes the version in a file, for tests of an update.
fn renumber(entry: &mut Entry, version: &str) -> Result<()> {
    if entry.mode == PROGRAM || entry.path.ends_with("/plugin.json") {
        entry.bytes = std::str::from_utf8(&entry.bytes)?
            .replace(VERSION, version)
            .into_bytes();
    }
    Ok(())
}

/// The `package.json` of the plugin.
fn plugin_manifest(version: &str, platforms: &[PlatformPackage], parts: &[&str]) -> Result<Value> {
    let manifest = read_json(".claude-plugin/plugin.json")?;
    let field = |name: &str| {
        manifest
            .get(name)
            .with_context(|| format!("plugin.json has no {name}"))
    };
    let needs: Map<String, Value> = platforms
        .iter()
        .map(|it| (it.platform.package(), json!(version)))
        .collect();
    Ok(json!({
        "name": format!("{SCOPE}/{PLUGIN}"),
        "version": version,
        "description": field("description")?,
        "keywords": field("keywords")?,
        "homepage": field("homepage")?,
        "license": env!("CARGO_PKG_LICENSE"),
        "repository": repository(),
        "files": parts,
        "optionalDependencies": needs,
    }))
}

/// The packages that the client installs with the plugin. No `resolved`: every registry has a layout of its own, and
/// npm asks the one that it is set up for. The digest decides about the content.
fn shrinkwrap(package: &Value, version: &str, platforms: &[PlatformPackage]) -> Result<Value> {
    let [name, license, needs] =
        ["name", "license", "optionalDependencies"].map(|field| package.get(field));
    let root = json!({ "name": name, "version": version, "license": license, "optionalDependencies": needs });
    let mut packages = Map::from_iter([(String::new(), root)]);
    for PlatformPackage {
        platform,
        integrity,
        ..
    } in platforms
    {
        let entry = json!({
            "version": version,
            "integrity": integrity,
            "cpu": [platform.cpu],
            "license": license,
            "optional": true,
            "os": [platform.os],
        });
        let before = packages.insert(format!("node_modules/{}", platform.package()), entry);
        ensure!(before.is_none(), "{} is there twice", platform.package());
    }
    Ok(
        json!({ "name": name, "version": version, "lockfileVersion": 3, "requires": true, "packages": packages }),
    )
}

/// The repository's own marketplace file, with the package in the place of the clone.
fn marketplace(version: &str) -> Result<Value> {
    let mut marketplace = read_json(".claude-plugin/marketplace.json")?;
    let plugin = marketplace
        .pointer_mut("/plugins/0")
        .and_then(Value::as_object_mut);
    let plugin = plugin.context("marketplace.json names no plugin")?;
    let package = format!("{SCOPE}/{PLUGIN}");
    plugin.insert(
        "source".to_owned(),
        json!({ "source": "npm", "package": package, "version": version }),
    );
    plugin.insert("version".to_owned(), json!(version));
    Ok(marketplace)
}

pub(super) fn file_name(name: &str, version: &str) -> String {
    format!("{}-{name}-{version}.tgz", SCOPE.trim_start_matches('@'))
}

/// Origin of a package in npm's form, which npm compares with the origin of the publication.
fn repository() -> Value {
    json!({ "type": "git", "url": format!("git+{}.git", env!("CARGO_PKG_REPOSITORY")) })
}

fn entry(path: &str, mode: u32, bytes: Vec<u8>) -> Entry {
    Entry {
        path: format!("{TOP}/{path}"),
        bytes,
        mode,
    }
}

fn text(value: &Value) -> Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    Ok(text)
}

fn read_json(path: &str) -> Result<Value> {
    let text =
        fs::read_to_string(cargo::top()?.join(path)).with_context(|| format!("read {path}"))?;
    serde_json::from_str(&text).with_context(|| format!("parse {path}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Read;

    use super::*;

    fn unpack(path: &Path) -> BTreeMap<String, (u32, Vec<u8>)> {
        let file = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(&*file));
        let entries = archive.entries().unwrap().map(|entry| {
            let mut entry = entry.unwrap();
            let (path, mode) = (
                entry.path().unwrap().display().to_string(),
                entry.header().mode().unwrap(),
            );
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            (path, (mode, bytes))
        });
        entries.collect()
    }

    fn json_of(files: &BTreeMap<String, (u32, Vec<u8>)>, path: &str) -> Value {
        serde_json::from_slice(&files[path].1).unwrap()
    }

    fn packed(version: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let [hook, omo] = BINARIES.map(|name| folder.path().join(name));
        fs::write(&hook, "a hook").unwrap();
        fs::write(&omo, "the command line").unwrap();
        let packages = PLATFORMS.map(|platform| {
            let bytes = pack_platform(platform, version, [&hook, &omo]).unwrap();
            save_platform(platform, version, &bytes, folder.path()).unwrap()
        });
        write_plugin(version, &packages, folder.path()).unwrap();
        folder
    }

    #[test]
    fn each_target_of_a_release_has_its_platform() {
        let of = |target: &str| Platform::of(target).map(Platform::name);
        let found: Vec<_> = super::super::targets::TARGETS
            .iter()
            .map(|target| of(target))
            .collect();
        let expected = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"]
            .map(|name| Some(name.to_owned()));
        assert_eq!(found, [&expected[..], &[None]].concat());
        assert_eq!(of("x86_64-unknown-linux-gnu").as_deref(), Some("linux-x64"));
        assert_eq!(of("riscv64gc-unknown-linux-gnu"), None);
    }

    #[test]
    fn a_platform_has_its_binaries_and_says_what_it_is_for() {
        let folder = packed(VERSION);
        for platform in PLATFORMS {
            let files = unpack(&folder.path().join(file_name(&platform.name(), VERSION)));
            let modes: Vec<_> = files
                .iter()
                .map(|(path, (mode, _))| (path.as_str(), *mode))
                .collect();
            let expected = [
                ("package/LICENSE", TEXT),
                ("package/README.md", TEXT),
                ("package/bin/omo", PROGRAM),
                ("package/bin/omo-hook", PROGRAM),
                ("package/package.json", TEXT),
            ];
            assert_eq!(modes, expected);
            assert_eq!(files["package/bin/omo"].1, b"the command line");
            assert_eq!(files["package/bin/omo-hook"].1, b"a hook");
            let readme = std::str::from_utf8(&files["package/README.md"].1).unwrap();
            assert!(readme.split_whitespace().count() >= 40, "{readme}");
            let package = json_of(&files, "package/package.json");
            assert_eq!(package["name"], platform.package());
            assert_eq!(package["version"], VERSION);
            assert_eq!(
                (&package["os"], &package["cpu"]),
                (&json!([platform.os]), &json!([platform.cpu]))
            );
            assert_eq!(
                package["repository"]["url"],
                "git+https://github.com/omo-cc/omo.git"
            );
            assert_eq!(
                (&package["license"], &package["scripts"]),
                (&json!("MIT"), &Value::Null)
            );
        }
    }

    #[test]
    fn the_plugin_lists_every_platform_at_its_version_and_with_its_digest() {
        let folder = packed(VERSION);
        let files = unpack(&folder.path().join(file_name(PLUGIN, VERSION)));
        let (package, lock) = (
            json_of(&files, "package/package.json"),
            json_of(&files, "package/npm-shrinkwrap.json"),
        );
        let manifest = json_of(&files, "package/.claude-plugin/plugin.json");
        for version in [
            &package["version"],
            &lock["version"],
            &lock["packages"][""]["version"],
            &manifest["version"],
        ] {
            assert_eq!(version, VERSION);
        }
        // The client installs nothing where these two differ.
        assert_eq!(
            package["optionalDependencies"],
            lock["packages"][""]["optionalDependencies"]
        );
        assert_eq!(
            package["optionalDependencies"].as_object().unwrap().len(),
            PLATFORMS.len()
        );
        assert_eq!(
            (&package["scripts"], &lock["lockfileVersion"]),
            (&Value::Null, &json!(3))
        );
        for platform in PLATFORMS {
            assert_eq!(package["optionalDependencies"][platform.package()], VERSION);
            let listed = &lock["packages"][format!("node_modules/{}", platform.package())];
            let file = fs::read(folder.path().join(file_name(&platform.name(), VERSION))).unwrap();
            let digest = BASE64.encode(&Sha512::digest(&file));
            let expected = json!({
                "version": VERSION, "integrity": format!("sha512-{digest}"), "optional": true, "license": "MIT",
                "os": [platform.os], "cpu": [platform.cpu],
            });
            assert_eq!(*listed, expected);
        }
        let hooks = String::from_utf8(files["package/hooks.json"].1.clone()).unwrap();
        for launcher in hooks
            .split("${CLAUDE_PLUGIN_ROOT}/")
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
        {
            assert_eq!(
                files[&format!("package/{launcher}")].0,
                PROGRAM,
                "{launcher}"
            );
        }
        for part in [
            "commands/ulw.md",
            "agents/oracle.md",
            "README.md",
            "LICENSE",
            "CHANGELOG.md",
            "icon.png",
        ] {
            assert_eq!(files[&format!("package/{part}")].0, TEXT, "{part}");
        }
    }

    #[test]
    fn the_marketplace_of_a_release_names_the_package_and_is_else_the_repositorys_own() {
        let folder = packed(VERSION);
        let text = fs::read(folder.path().join("marketplace.json")).unwrap();
        let mut released: Value = serde_json::from_slice(&text).unwrap();
        let source = json!({ "source": "npm", "package": "@omo-cc/omo", "version": VERSION });
        assert_eq!(released["plugins"][0]["source"], source);
        let own = read_json(".claude-plugin/marketplace.json").unwrap();
        assert_eq!(own["plugins"][0]["source"], "./", "a clone always works");
        released["plugins"][0]["source"] = json!("./");
        assert_eq!(released, own);
    }

    #[test]
    fn another_version_is_named_everywhere() {
        let folder = packed("99.0.0");
        let files = unpack(&folder.path().join(file_name(PLUGIN, "99.0.0")));
        for (path, (_, bytes)) in &files {
            let text = String::from_utf8_lossy(bytes);
            let is_page = ["README.md", "CHANGELOG.md"]
                .iter()
                .any(|page| path.ends_with(page));
            assert!(is_page || !text.contains(VERSION), "{path} names {VERSION}");
        }
    }

    #[test]
    fn two_runs_write_the_same_bytes() {
        let [one, other] = [(); 2].map(|()| packed(VERSION));
        for name in PLATFORMS
            .map(Platform::name)
            .iter()
            .map(String::as_str)
            .chain([PLUGIN])
        {
            let [one, other] = [&one, &other]
                .map(|it| fs::read(it.path().join(file_name(name, VERSION))).unwrap());
            assert!(one == other, "{name} differs");
        }
    }
}
