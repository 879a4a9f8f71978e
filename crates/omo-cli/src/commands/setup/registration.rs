//! Registration of the staged plugin with the client, and the remaining steps.

use std::path::Path;

use omo_claude::client::{ClaudeClient, InstalledPlugin, Marketplace};

use crate::error::CommandError;

pub(super) const MARKETPLACE: &str = "omo";
pub(super) const PLUGIN: &str = "omo@omo";

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Registration {
    pub marketplace: MarketplaceOwner,
    pub plugin: Option<InstalledEntry>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum MarketplaceOwner {
    Absent,
    Ours,
    Elsewhere(String),
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct InstalledEntry {
    pub version: Option<String>,
    pub is_enabled: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RegistrationStep {
    Add,
    Install,
    Update,
    Enable,
    Uninstall,
    Remove,
}

pub(super) fn read_registration(
    claude: &ClaudeClient,
    place: &Path,
) -> Result<Registration, CommandError> {
    let path_of_place = place.canonicalize().ok();
    Ok(read(&claude.marketplaces()?, &claude.plugins()?, |path| {
        path == place || path_of_place.is_some() && path.canonicalize().ok() == path_of_place
    }))
}

fn read(
    marketplaces: &[Marketplace],
    plugins: &[InstalledPlugin],
    is_place: impl Fn(&Path) -> bool,
) -> Registration {
    let marketplace = marketplaces
        .iter()
        .find(|marketplace| marketplace.name == MARKETPLACE);
    let whose = marketplace.map_or(MarketplaceOwner::Absent, |marketplace| {
        let ours =
            marketplace.source == "directory" && marketplace.path.as_deref().is_some_and(is_place);
        if ours {
            MarketplaceOwner::Ours
        } else {
            MarketplaceOwner::Elsewhere(marketplace.origin())
        }
    });
    let plugin = plugins.iter().find(|plugin| {
        // An installation for a project is that project's affair.
        plugin.id == PLUGIN && plugin.scope.as_deref().is_none_or(|scope| scope == "user")
    });
    let plugin = plugin.map(|plugin| InstalledEntry {
        version: plugin.version.clone(),
        is_enabled: plugin.enabled,
    });
    Registration {
        marketplace: whose,
        plugin,
    }
}

pub(super) fn steps_to_set_up(now: &Registration, version: &str) -> Vec<RegistrationStep> {
    let mut steps = Vec::new();
    if now.marketplace == MarketplaceOwner::Absent {
        steps.push(RegistrationStep::Add);
    }
    match &now.plugin {
        None => steps.push(RegistrationStep::Install),
        Some(plugin) => {
            if plugin.version.as_deref() != Some(version) {
                steps.push(RegistrationStep::Update);
            }
            if !plugin.is_enabled {
                steps.push(RegistrationStep::Enable);
            }
        }
    }
    steps
}

/// Steps after which the staged plugin is unknown to the client. A plugin from elsewhere stays.
pub(super) fn steps_to_remove(now: &Registration) -> Vec<RegistrationStep> {
    let mut steps = Vec::new();
    if now.plugin.is_some() && !matches!(now.marketplace, MarketplaceOwner::Elsewhere(_)) {
        steps.push(RegistrationStep::Uninstall);
    }
    if now.marketplace == MarketplaceOwner::Ours {
        steps.push(RegistrationStep::Remove);
    }
    steps
}

impl RegistrationStep {
    pub(super) fn take(self, claude: &ClaudeClient, place: &Path) -> Result<(), CommandError> {
        let place = place.as_os_str();
        let words = match self {
            Self::Add => ["marketplace", "add"]
                .map(AsRef::as_ref)
                .into_iter()
                .chain([place])
                .collect(),
            Self::Install => vec!["install".as_ref(), PLUGIN.as_ref()],
            Self::Update => vec!["update".as_ref(), PLUGIN.as_ref()],
            Self::Enable => vec!["enable".as_ref(), PLUGIN.as_ref()],
            Self::Uninstall => vec!["uninstall".as_ref(), PLUGIN.as_ref()],
            Self::Remove => ["marketplace", "remove", MARKETPLACE]
                .map(AsRef::as_ref)
                .to_vec(),
        };
        claude.output(std::iter::once("plugin".as_ref()).chain(words))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn marketplace(name: &str, source: &str, path: Option<&str>) -> Marketplace {
        let (path, repo) = (
            path.map(PathBuf::from),
            path.is_none().then(|| "omo-cc/omo".to_owned()),
        );
        Marketplace {
            name: name.to_owned(),
            source: source.to_owned(),
            path,
            repo,
            url: None,
        }
    }

    fn plugin(id: &str, scope: &str, version: &str, enabled: bool) -> InstalledPlugin {
        let version = Some(version.to_owned());
        InstalledPlugin {
            id: id.to_owned(),
            version,
            scope: Some(scope.to_owned()),
            enabled,
            install_path: None,
            read_from_folder: None,
            folder_version: None,
        }
    }

    #[test]
    fn each_state_of_the_client_has_its_steps() {
        let ours = || marketplace("omo", "directory", Some("/data/omo/plugin"));
        let elsewhere = || marketplace("omo", "directory", Some("/elsewhere"));
        let on = || plugin(PLUGIN, "user", "1.0.0", true);
        let off = || plugin(PLUGIN, "user", "1.0.0", false);
        let old = || plugin(PLUGIN, "user", "0.9.0", true);
        let set_up = &[RegistrationStep::Add, RegistrationStep::Install][..];
        let remove = &[RegistrationStep::Uninstall, RegistrationStep::Remove][..];
        // The client's lists; steps to set up 1.0.0, and to remove it.
        for (marketplaces, plugins, to_set_up, to_remove) in [
            (vec![], vec![], set_up, &[][..]),
            (
                vec![marketplace("other", "github", None)],
                vec![plugin("omo@other", "user", "1.0.0", true)],
                set_up,
                &[],
            ),
            (
                vec![ours()],
                vec![],
                &[RegistrationStep::Install],
                &[RegistrationStep::Remove],
            ),
            (
                vec![ours()],
                vec![plugin(PLUGIN, "project", "1.0.0", true)],
                &[RegistrationStep::Install],
                &[RegistrationStep::Remove],
            ),
            (vec![ours()], vec![on()], &[], remove),
            (
                vec![ours()],
                vec![off()],
                &[RegistrationStep::Enable],
                remove,
            ),
            (
                vec![ours()],
                vec![old()],
                &[RegistrationStep::Update],
                remove,
            ),
            (
                vec![],
                vec![on()],
                &[RegistrationStep::Add],
                &[RegistrationStep::Uninstall],
            ),
            (vec![elsewhere()], vec![on()], &[], &[]),
        ] {
            let now = read(&marketplaces, &plugins, |path| {
                path == Path::new("/data/omo/plugin")
            });
            assert_eq!(
                steps_to_set_up(&now, "1.0.0"),
                to_set_up,
                "{marketplaces:?} {plugins:?}"
            );
            assert_eq!(
                steps_to_remove(&now),
                to_remove,
                "{marketplaces:?} {plugins:?}"
            );
        }
    }

    #[test]
    fn a_marketplace_from_elsewhere_is_named() {
        for (marketplace, origin) in [
            (marketplace("omo", "github", None), "omo-cc/omo"),
            (
                marketplace("omo", "directory", Some("/elsewhere")),
                "/elsewhere",
            ),
        ] {
            assert_eq!(
                read(&[marketplace], &[], |_| false).marketplace,
                MarketplaceOwner::Elsewhere(origin.to_owned())
            );
        }
    }
}
