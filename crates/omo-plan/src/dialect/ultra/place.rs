//! Where a path of a plan leads, as far as the path says it.

use crate::diagnostic::Code;
use crate::paths::normal;

/// What is wrong with a path: the rule, the words, and what mends it.
pub fn finding(path: &str) -> Option<(Code, String, &'static str)> {
    let shown = omo_core::words::neutral(path, 80);
    let Some(normal) = normal(path) else {
        let help = "name it from the top of the repository";
        return Some((Code::PathOutsideRepository, format!("`{shown}` leads out of the repository"), help));
    };
    let is_git = |part: &str| part.eq_ignore_ascii_case(".git");
    if normal.split('/').any(is_git) {
        return Some((Code::PathInGitDir, format!("`{shown}` leads into the folder of git"), ""));
    }
    if path.contains(['*', '?', '[', '{']) {
        return Some((Code::GlobInFiles, format!("`{shown}` is a pattern"), "name each file"));
    }
    if normal != path.strip_suffix('/').unwrap_or(path) {
        let text = format!("`{shown}` has parts that say nothing: it is `{}`", omo_core::words::neutral(&normal, 80));
        return Some((Code::PathNotNormal, text, ""));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_judged_by_where_it_leads() {
        for (path, expected) in [
            ("src/a.rs", None),
            ("src/api/", None),
            (".github/x.yml", None),
            (".gitignore", None),
            ("../../etc/passwd", Some(Code::PathOutsideRepository)),
            ("/etc/hosts", Some(Code::PathOutsideRepository)),
            (r"C:\x", Some(Code::PathOutsideRepository)),
            ("~/x", Some(Code::PathOutsideRepository)),
            (".git/config", Some(Code::PathInGitDir)),
            ("a/.GIT/hooks", Some(Code::PathInGitDir)),
            ("src/../.git/x", Some(Code::PathInGitDir)),
            ("src/**/*.rs", Some(Code::GlobInFiles)),
            ("./src/../src/a.rs", Some(Code::PathNotNormal)),
            (r"src\a.rs", Some(Code::PathNotNormal)),
        ] {
            assert_eq!(finding(path).map(|(code, _, _)| code), expected, "{path}");
        }
    }
}
