//! Folder names such as `node_modules` and `target`, whose files are no work: installed or built.

/// Installed folders to which only installers write.
pub const INSTALLED_ONLY: [&str; 3] = ["node_modules", ".venv", "venv"];
/// Installed folders, which change with each update.
pub const INSTALLED: [&str; 4] = ["node_modules", ".venv", "venv", "vendor"];
/// Folders of installed programs that `PATH` may name.
pub(crate) const INSTALLED_PROGRAMS: [&str; 4] =
    ["node_modules/.bin", ".venv/bin", "venv/bin", "vendor/bin"];
pub const BUILT: [&str; 4] = ["target", "build", "dist", "out"];
/// Caches of Python, which no program takes for its own code.
const CACHES: [&str; 4] = ["__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"];
const LEFT_BEHIND: [&str; 10] = [
    ".tox",
    ".next",
    ".nuxt",
    ".gradle",
    ".turbo",
    ".parcel-cache",
    ".svelte-kit",
    ".terraform",
    ".coverage",
    ".DS_Store",
];

/// `true` for a path at or below an installed folder.
pub fn is_installed(path: &str) -> bool {
    path.split('/').any(|name| INSTALLED.contains(&name))
}

/// `true` for a path at or below a built, installed or leftover folder.
pub fn is_made(path: &str) -> bool {
    path.split('/')
        .any(|name| name == "vendor" || is_left_out(name))
}

/// `true` for a path in a cache folder of Python.
pub(crate) fn is_cached(path: &str) -> bool {
    path.split('/')
        .rev()
        .skip(1)
        .any(|folder| CACHES.contains(&folder))
}

/// Names to leave out of a folder without a repository; `vendor` stays, as it may be work.
pub(crate) fn left_out_names() -> impl Iterator<Item = &'static str> {
    BUILT
        .into_iter()
        .chain(INSTALLED_ONLY)
        .chain(CACHES)
        .chain(LEFT_BEHIND)
}

pub(crate) fn is_left_out(name: &str) -> bool {
    left_out_names().any(|other| other == name)
}
