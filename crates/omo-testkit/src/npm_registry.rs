//! An npm registry on loopback: a folder of packed packages, as npm itself asks for them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use data_encoding::BASE64;
use omo_scripted_model::LoopbackServer;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha512};
use tiny_http::Response;

/// A folder of packages, for reading: whatever lies in it when it is asked for. Its server ends when it is
/// dropped.
pub struct NpmRegistry {
    server: LoopbackServer,
    asked: Arc<Mutex<Vec<String>>>,
}

impl NpmRegistry {
    /// Serves the packages in a folder, which are called as `npm pack` calls them.
    pub fn start(folder: &Path) -> Result<Self> {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (shelf, noted) = (
            Shelf {
                folder: folder.to_owned(),
            },
            Arc::clone(&asked),
        );
        let server = LoopbackServer::start(move |request| {
            let path = request
                .url()
                .replace("%2f", "/")
                .trim_start_matches('/')
                .to_owned();
            let host = request
                .headers()
                .iter()
                .find(|header| header.field.equiv("host"));
            let url = format!("http://{}", host.map_or("", |host| host.value.as_str()));
            let answer = shelf.answer(&path, &url);
            noted
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(path);
            // A client that has gone is no error of the server.
            match answer {
                Ok(bytes) => request.respond(Response::from_data(bytes)).ok(),
                Err(error) => request
                    .respond(Response::from_string(format!("{error:#}")).with_status_code(404))
                    .ok(),
            };
        });
        Ok(Self {
            server: server.map_err(anyhow::Error::msg)?,
            asked,
        })
    }

    /// The address, as `npm_config_registry` names it.
    pub fn url(&self) -> String {
        format!("{}/", self.server.url())
    }

    /// Requests so far: names of packages, and of their files.
    pub fn requests(&self) -> Vec<String> {
        self.asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

struct Shelf {
    folder: PathBuf,
}

impl Shelf {
    /// A package's file, or the list of its versions, whose files are below `url`.
    fn answer(&self, path: &str, url: &str) -> Result<Vec<u8>> {
        match path.strip_prefix("-/") {
            Some(file) => {
                fs::read(self.folder.join(file)).with_context(|| format!("no file {file}"))
            }
            None => Ok(serde_json::to_vec(&self.versions(path, url)?)?),
        }
    }

    /// The versions of a package: what npm reads before it downloads one.
    fn versions(&self, package: &str, url: &str) -> Result<Value> {
        let start = format!("{}-", package.trim_start_matches('@').replace('/', "-"));
        let (mut versions, mut latest) = (Map::new(), None);
        let mut names: Vec<_> = fs::read_dir(&self.folder)?
            .flatten()
            .map(|entry| entry.file_name())
            .collect();
        names.sort();
        for name in names.iter().filter_map(|name| name.to_str()) {
            let version = name
                .strip_prefix(&start)
                .and_then(|rest| rest.strip_suffix(".tgz"));
            let Some(version) =
                version.filter(|version| version.starts_with(|it: char| it.is_ascii_digit()))
            else {
                continue;
            };
            let digest = BASE64.encode(&Sha512::digest(fs::read(self.folder.join(name))?));
            let dist = json!({ "tarball": format!("{url}/-/{name}"), "integrity": format!("sha512-{digest}") });
            versions.insert(
                version.to_owned(),
                json!({ "name": package, "version": version, "dist": dist }),
            );
            latest = Some(version);
        }
        let latest = latest.with_context(|| format!("no package {package}"))?;
        Ok(json!({ "name": package, "dist-tags": { "latest": latest }, "versions": versions }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_listed_with_its_digest_and_no_other_is() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "omo-cc-omo-0.1.0.tgz",
            "omo-cc-omo-99.0.0.tgz",
            "omo-cc-omo-more-1.0.0.tgz",
        ] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let shelf = Shelf {
            folder: folder.path().to_owned(),
        };
        let answer = |path| shelf.answer(path, "http://localhost");
        let listed: Value = serde_json::from_slice(&answer("@omo-cc/omo").unwrap()).unwrap();
        assert_eq!(listed["dist-tags"]["latest"], "99.0.0");
        assert_eq!(listed["versions"].as_object().unwrap().len(), 2);
        let dist = &listed["versions"]["0.1.0"]["dist"];
        assert_eq!(dist["tarball"], "http://localhost/-/omo-cc-omo-0.1.0.tgz");
        // What every list of digests has for nothing at all.
        let nothing = "z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==";
        assert_eq!(dist["integrity"], format!("sha512-{nothing}"));
        assert!(
            answer("@omo-cc/linux-x64").is_err() && answer("-/omo-cc-linux-x64-1.0.0.tgz").is_err()
        );
    }
}
