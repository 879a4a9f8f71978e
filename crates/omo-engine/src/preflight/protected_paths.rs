//! Paths that the client protects from every session without a person, whatever permissions it has.

use omo_plan::paths;

/// Folders that the client protects from a session without a person, wherever they are. Seen in 2.1.328.
const PROTECTED_FOLDERS: &[&str] = &[
    ".cargo",
    ".claude",
    ".devcontainer",
    ".git",
    ".husky",
    ".idea",
    ".mvn",
    ".vscode",
    ".yarn",
];
const PROTECTED_FILES: &[&str] = &[
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".bazeliskrc",
    ".bazelrc",
    ".bazelversion",
    ".bunfig.toml",
    ".claude.json",
    ".devcontainer.json",
    ".envrc",
    ".gitconfig",
    ".gitmodules",
    ".lefthook.yaml",
    ".lefthook.yml",
    ".mcp.json",
    ".npmrc",
    ".pnp.cjs",
    ".pnp.loader.mjs",
    ".pnpmfile.cjs",
    ".pre-commit-config.yaml",
    ".profile",
    ".ripgreprc",
    ".yarnrc",
    ".yarnrc.yml",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "bunfig.toml",
    "gradle-wrapper.properties",
    "lefthook.yaml",
    "lefthook.yml",
    "maven-wrapper.properties",
    "pyrightconfig.json",
];

pub(super) fn is_protected(path: &str) -> bool {
    let path = paths::normalize_path(path)
        .unwrap_or_default()
        .to_lowercase();
    let name = path.rsplit('/').next().unwrap_or_default();
    PROTECTED_FILES.contains(&name)
        || path
            .split('/')
            .any(|part| PROTECTED_FOLDERS.contains(&part))
}
