//! Turns absolute paths in a plan into paths from its project's top: `/p/src/a.rs` → `src/a.rs`.

use std::collections::HashSet;

use omo_core::text::sanitize;

use crate::diagnostic::{Code, Diagnostic};
use crate::fields::named_files::path_problem;
use crate::model::{FileUse, Plan};
use crate::pattern::Pattern;

/// Plan with paths from `top`, the project's absolute path; others stay, with their warning. A
/// check's folder may also be that of a copy of the project, by its name.
#[must_use]
pub fn name_from_top(mut plan: Plan, top: &str) -> Plan {
    enter_from_top(&mut plan, top);
    let mut solved: HashSet<String> = HashSet::new();
    for task in &mut plan.tasks {
        let is_named = task
            .files
            .iter()
            .any(|file| path_from_top(&file.path, top).is_some());
        if !is_named {
            continue;
        }
        let mut known: HashSet<String> = HashSet::new();
        let files = std::mem::take(&mut task.files).into_iter().map(|file| {
            match path_from_top(&file.path, top) {
                Some(path) => {
                    solved.extend(path_problem(&file.path).map(|(_, text)| text));
                    FileUse { path, ..file }
                }
                None => file,
            }
        });
        // A file may be named both ways.
        task.files = files
            .filter(|file| known.insert(file.path.clone()))
            .collect();
    }
    plan.diagnostics
        .retain(|found| found.code != Code::PathAbsolute || !solved.contains(&found.text));
    plan
}

static ENTERS: Pattern = Pattern::new(r#"^\s*cd\s+("[^"]+"|'[^']+'|[^\s&;|]+)\s*(?:&&|;)\s*"#);

/// Changes folders of checks that lie in a copy of the project.
fn enter_from_top(plan: &mut Plan, top: &str) {
    let Plan {
        tasks,
        final_checks,
        checkpoints,
        diagnostics,
        ..
    } = plan;
    let own = tasks.iter_mut().flat_map(|task| {
        let (id, line) = (task.id.clone(), task.lines[0]);
        task.red_check
            .iter_mut()
            .chain(&mut task.checks)
            .map(move |check| (check, Some(id.clone()), line))
    });
    let of_all = final_checks.iter_mut().chain(
        checkpoints
            .iter_mut()
            .map(|checkpoint| &mut checkpoint.check),
    );
    for (check, task, line) in own.chain(of_all.map(|check| (check, None, 1))) {
        let Some(([folder], rest)) = ENTERS.read(&check.command) else {
            continue;
        };
        let folder = folder.trim_matches(['"', '\'']);
        let Some(inner) = folder_in_copy(folder, top) else {
            continue;
        };
        let command = if inner.is_empty() {
            rest.to_owned()
        } else {
            format!("cd {inner} && {rest}")
        };
        let text = format!(
            "`cd {}` is left out: the check runs in this project",
            sanitize(folder, 80)
        );
        let code = Code::FolderDropped;
        let found = Diagnostic {
            code,
            severity: code.severity(),
            span: 0..0,
            line,
            task,
            text,
            help: None,
        };
        check.command = command;
        diagnostics.push(found);
    }
}

/// Path from the top of a copy, empty for the top; `None` for a folder elsewhere.
fn folder_in_copy(folder: &str, top: &str) -> Option<String> {
    let [folder, top] = [folder, top].map(|path| path.replace('\\', "/"));
    let is_absolute = folder.starts_with(['/', '~']) || folder.get(1..3) == Some(":/");
    let name = top
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .filter(|name| is_absolute && !name.is_empty())?;
    let parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let at = parts.iter().rposition(|part| *part == name)?;
    let inner = parts.get(at + 1..)?;
    let is_plain = inner.iter().all(|part| {
        part.chars()
            .all(|char| char.is_alphanumeric() || "-_.".contains(char))
            && *part != ".."
    });
    is_plain.then(|| inner.join("/"))
}

/// Path from `top`; `None` for a relative path, or one that leads elsewhere.
fn path_from_top(path: &str, top: &str) -> Option<String> {
    path_problem(path).filter(|(code, _)| *code == Code::PathAbsolute)?;
    let [path, top] = [path.trim(), top].map(|path| path.replace('\\', "/"));
    let top = top.trim_end_matches('/');
    let (head, rest) = path.split_at_checked(top.len())?;
    // Windows tells no case of letters apart.
    let is_inside = head == top || top.contains(':') && head.eq_ignore_ascii_case(top);
    let inner = rest
        .strip_prefix('/')
        .filter(|inner| is_inside && !top.is_empty() && !inner.is_empty())?;
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
            (
                "c:\\work\\App\\src\\a.rs",
                "C:\\Work\\app",
                Some("src/a.rs"),
            ),
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
            assert_eq!(
                path_from_top(path, top).as_deref(),
                expected,
                "{path} in {top}"
            );
        }
    }

    #[test]
    fn a_check_begins_in_this_copy_of_the_project() {
        for (folder, expected) in [
            ("/Users/someone/Code/site", Some("")),
            ("/home/me/site/web/app/", Some("web/app")),
            ("C:\\work\\site", Some("")),
            ("~/site", Some("")),
            ("/site/site", Some("")),
            ("/home/me/other", None),
            ("site", None),
            ("/home/me/site/../other", None),
            ("/home/me/site/$(x)", None),
        ] {
            assert_eq!(
                folder_in_copy(folder, "/srv/site").as_deref(),
                expected,
                "{folder}"
            );
        }
        assert_eq!(folder_in_copy("/a", "/"), None);
        let text = "### Task 1: A\n\n- [ ] **Step 1: Run**\n\nRun: `cd /Users/me/site && cd web && make`\nRun: `cd \"/x/site/web\"; make`\n";
        let plan = name_from_top(
            read("p.md", text.as_bytes(), BatchOptions::default()),
            "/srv/site",
        );
        let commands: Vec<&str> = plan.tasks[0]
            .checks
            .iter()
            .map(|check| check.command.as_str())
            .collect();
        assert_eq!(commands, ["cd web && make", "cd web && make"]);
        assert_eq!(
            plan.diagnostics
                .iter()
                .filter(|found| found.code == Code::FolderDropped)
                .count(),
            2
        );
    }

    #[test]
    fn only_what_lies_elsewhere_keeps_its_warning() {
        let text = "# T\n\n## 1. A\n\n- [ ] 1.1 Change /home/me/app/src/a.rs and src/a.rs\n\
                    - [ ] 1.2 Change `/home/me/other/b.rs`\n";
        let plan = name_from_top(
            read("p.md", text.as_bytes(), BatchOptions::default()),
            "/home/me/app",
        );
        let files = |place: usize| {
            plan.tasks[place]
                .files
                .iter()
                .map(|file| file.path.as_str())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            (files(0), files(1)),
            (vec!["src/a.rs"], vec!["/home/me/other/b.rs"])
        );
        let found: Vec<_> = plan
            .diagnostics
            .iter()
            .map(|found| (found.code, found.line))
            .collect();
        assert_eq!(found, [(Code::PathAbsolute, 6)]);
    }
}
