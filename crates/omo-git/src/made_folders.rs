//! Names of what is no work, wherever it lies: installed, built, or left behind by programs.

/// Folders in which only installers write, such as `node_modules`.
pub const INSTALLED_ONLY: [&str; 3] = ["node_modules", ".venv", "venv"];
/// Folders of installed programs, which change with each update, such as `venv`.
pub const INSTALLED: [&str; 4] = ["node_modules", ".venv", "venv", "vendor"];
/// Folders of installed programs that a path may lead to.
pub(crate) const INSTALLED_PROGRAMS: [&str; 4] =
    ["node_modules/.bin", ".venv/bin", "venv/bin", "vendor/bin"];
/// Folders of build output, such as `target`.
pub const BUILT: [&str; 4] = ["target", "build", "dist", "out"];
/// Folders that hold caches of Python alone, which no program takes for code of its own.
const CACHES: [&str; 4] = ["__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"];
/// Left behind by other programs.
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

/// `true` for a path at or below what is installed.
pub fn is_installed(path: &str) -> bool {
    path.split('/').any(|name| INSTALLED.contains(&name))
}

/// `true` for a path at or below what is built, installed, or left behind by programs.
pub fn is_made(path: &str) -> bool {
    path.split('/')
        .any(|name| name == "vendor" || is_left_out(name))
}

/// `true` for a path in a folder that holds a cache.
pub(crate) fn is_cached(path: &str) -> bool {
    path.split('/')
        .rev()
        .skip(1)
        .any(|folder| CACHES.contains(&folder))
}

/// Names that are ignored where no repository says what is: what is installed may also be work in `vendor`.
pub(crate) fn left_out_names() -> impl Iterator<Item = &'static str> {
    BUILT
        .into_iter()
        .chain(INSTALLED_ONLY)
        .chain(CACHES)
        .chain(LEFT_BEHIND)
}

/// `true` for such a name.
pub(crate) fn is_left_out(name: &str) -> bool {
    left_out_names().any(|other| other == name)
}
