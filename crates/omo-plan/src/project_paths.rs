//! Files that a plan names from the root of the disk and that lie in its project, named from the top of the project.
//!
//! Where the project lies is known to the caller only: no text of a plan says which part of such a path it is.

use std::collections::HashSet;

use crate::diagnostic::Code;
use crate::fields::named_files::path_problem;
use crate::model::{FileUse, Plan};

/// The plan with the files of its tasks named from the top of the project, where it names them from the root of the
/// disk and they lie in the project. `top` is the project's absolute path. A file elsewhere stays as it is named, with
/// its warning.
#[must_use]
pub fn name_files_from_top(mut plan: Plan, top: &str) -> Plan {
    let mut solved: HashSet<String> = HashSet::new();
    for task in &mut plan.tasks {
        let is_named = task.files.iter().any(|file| path_from_top(&file.path, top).is_some());
        if !is_named {
            continue;
        }
        let mut known: HashSet<String> = HashSet::new();
        let files = std::mem::take(&mut task.files).into_iter().map(|file| match path_from_top(&file.path, top) {
            Some(path) => {
                solved.extend(path_problem(&file.path).map(|(_, text)| text));
                FileUse { path, ..file }
            }
            None => file,
        });
        // It may be named both ways.
        task.files = files.filter(|file| known.insert(file.path.clone())).collect();
    }
    plan.diagnostics.retain(|found| found.code != Code::PathAbsolute || !solved.contains(&found.text));
    plan
}

/// The path from the top of the project; `None` for one that is not absolute, or leads elsewhere.
fn path_from_top(path: &str, top: &str) -> Option<String> {
    path_problem(path).filter(|(code, _)| *code == Code::PathAbsolute)?;
    let [path, top] = [path.trim(), top].map(|path| path.replace('\\', "/"));
    let top = top.trim_end_matches('/');
    let (head, rest) = path.split_at_checked(top.len())?;
    // Windows tells no case of letters apart.
    let is_inside = head == top || top.contains(':') && head.eq_ignore_ascii_case(top);
    let inner = rest.strip_prefix('/').filter(|inner| is_inside && !top.is_empty() && !inner.is_empty())?;
    path_problem(inner).is_none().then(|| inner.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialects::{BatchOptions, read};

    #[test]
    fn a_path_in_the_project_is_named_from_its_top() {
        for (path, top, expected) in [
            ("/home/me/app/src/a.rs", "/home/me/app", Some("src/a.rs")),
            ("/home/me/app/src/a.rs", "/home/me/app/", Some("src/a.rs")),
            ("c:\\work\\App\\src\\a.rs", "C:\\Work\\app", Some("src/a.rs")),
            ("/home/me/app2/src/a.rs", "/home/me/app", None),
            ("/home/Me/app/src/a.rs", "/home/me/app", None),
            ("/home/me/app/../b/a.rs", "/home/me/app", None),
            ("/home/me/app/.git/config", "/home/me/app", None),
            ("/home/me/app", "/home/me/app", None),
            ("/home/me/app/", "/home/me/app", None),
            ("src/a.rs", "/home/me/app", None),
            ("/home/me/é.rs", "/home/me/\u{e9}", None),
            ("/home/me/a.rs", "/", None),
            ("/home/me/a.rs", "", None),
        ] {
            assert_eq!(path_from_top(path, top).as_deref(), expected, "{path} in {top}");
        }
    }

    #[test]
    fn only_what_lies_elsewhere_keeps_its_warning() {
        let text = "# T\n\n## 1. A\n\n- [ ] 1.1 Change /home/me/app/src/a.rs and src/a.rs\n\
                    - [ ] 1.2 Change `/home/me/other/b.rs`\n";
        let plan = name_files_from_top(read("p.md", text.as_bytes(), BatchOptions::default()), "/home/me/app");
        let files = |place: usize| plan.tasks[place].files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>();
        assert_eq!((files(0), files(1)), (vec!["src/a.rs"], vec!["/home/me/other/b.rs"]));
        let found: Vec<_> = plan.diagnostics.iter().map(|found| (found.code, found.line)).collect();
        assert_eq!(found, [(Code::PathAbsolute, 6)]);
    }
}
