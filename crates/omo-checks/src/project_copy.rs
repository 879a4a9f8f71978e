//! Runs of checks in a copy of the project: the command and its variables get the copy's path for
//! the project's; a script that names the project's path cannot run in a copy.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use omo_core::check::session_check::Check;
use omo_core::check::steering::is_code;
use omo_core::check::test_runner::verbose;
use omo_git::made_folders::INSTALLED;
use omo_git::named_files::{NamingText, find_named_files};
use omo_process::job::{self, CommandJob, CommandOutcome};
use omo_process::keeper::TaskCheckSpec;
use omo_state::env::is_variable_named;

/// Placeholder for the copy's path, which no command and no variable can hold.
const MARK: char = '\0';
const MAX_SCRIPT_BYTES: u64 = 1024 * 1024;

/// A check names the project by its path, in a way that cannot be rewritten for the copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it names the project by its path and could not be run in a copy")]
pub struct NamesProject;

#[derive(Debug)]
pub struct CopyRun {
    pub variables: Vec<(OsString, OsString)>,
    pub timeout: Duration,
    pub log: Option<File>,
    pub task: Option<TaskCheckSpec>,
}

/// Sets options by which runners name each test.
pub fn name_each_test(variables: &mut Vec<(OsString, OsString)>) {
    for (name, option) in [("GOFLAGS", "-v"), ("PYTEST_ADDOPTS", "-vvv -rap")] {
        let present = variables
            .iter()
            .position(|(present, _)| is_variable_named(present, name));
        let mut value = present
            .map(|at| variables.swap_remove(at).1)
            .unwrap_or_default();
        if !value.is_empty() {
            value.push(" ");
        }
        value.push(option);
        variables.push((name.into(), value));
    }
}

/// Runs a check in a copy of the project at `root`, while `should_continue` returns `true`.
///
/// # Errors
///
/// [`NamesProject`].
pub fn run_in_copy(
    check: &Check,
    root: &Path,
    copy: &Path,
    copy_run: CopyRun,
    should_continue: impl FnMut() -> bool,
) -> Result<CommandOutcome, NamesProject> {
    let project_copy = ProjectCopy::new(root, copy, &copy_run.variables);
    let (run, variables) = project_copy
        .rewrite_check(check, copy_run.variables)
        .ok_or(NamesProject)?;
    let folder = check
        .cwd
        .as_ref()
        .map_or_else(|| copy.to_owned(), |folder| copy.join(folder));
    let mut outcome = job::run(
        CommandJob {
            run,
            folder,
            timeout: copy_run.timeout,
            interrupt_grace: Duration::ZERO,
            variables,
            log: copy_run.log,
            check: copy_run.task,
        },
        should_continue,
    );
    outcome.tests = outcome.tests.without_path(&copy.join("").to_string_lossy());
    Ok(outcome)
}

struct ProjectCopy {
    copy: PathBuf,
    names: Vec<String>,
}

impl ProjectCopy {
    /// Collects the spellings of the project's path, such as `$HOME/project` and `~/project`.
    fn new(root: &Path, copy: &Path, variables: &[(OsString, OsString)]) -> Self {
        let paths: Vec<PathBuf> = [Some(root.to_owned()), root.canonicalize().ok()]
            .into_iter()
            .flatten()
            .collect();
        let mut names: Vec<String> = paths
            .iter()
            .map(|path| path.to_string_lossy().into_owned())
            .collect();
        for (name, value) in variables {
            let (is_home, name) = (is_variable_named(name, "HOME"), name.to_string_lossy());
            for below in paths
                .iter()
                .filter_map(|path| Some(path.strip_prefix(value).ok()?.to_str()?.to_owned()))
                .filter(|below| !below.is_empty() && !value.is_empty())
            {
                names.extend([format!("${name}/{below}"), format!("${{{name}}}/{below}")]);
                if is_home {
                    names.push(format!("~/{below}"));
                }
            }
        }
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        names.dedup();
        Self {
            copy: copy.to_owned(),
            names,
        }
    }

    /// Command and variables for the copy; `None` where a path of the project would stay.
    fn rewrite_check(
        &self,
        check: &Check,
        variables: Vec<(OsString, OsString)>,
    ) -> Option<(String, Vec<(OsString, OsString)>)> {
        let variables = variables.into_iter().map(|(name, value)| {
            // A value that is not UTF-8 cannot be rewritten, and stays if it names no project.
            let Some(text) = value.to_str() else {
                return (!self.is_named(&value.to_string_lossy())).then_some((name, value));
            };
            self.rewrite(text).map(|moved| (name, moved.into()))
        });
        let variables = variables.collect::<Option<Vec<_>>>()?;
        let origin = check
            .cwd
            .as_ref()
            .map_or_else(|| self.copy.clone(), |folder| self.copy.join(folder));
        let command = NamingText {
            text: check.command.clone(),
            origin,
        };
        let named = find_named_files(vec![command], &self.copy, &[], &|file| {
            file.path.starts_with(&self.copy) && !file.is_imported && !file.is_installed()
        });
        if named.keys().any(|file| self.names_project(file)) {
            return None;
        }
        self.name_each_test(named.keys());
        let command = self.rewrite(&check.command)?;
        Some((
            verbose::name_each_test(&command).unwrap_or(command),
            variables,
        ))
    }

    /// `true` for a file that names the project. Installed packages may do so: they are not copied.
    fn names_project(&self, file: &str) -> bool {
        if INSTALLED
            .iter()
            .any(|name| Path::new(file).starts_with(name))
        {
            return false;
        }
        let path = self.copy.join(file);
        path.metadata()
            .is_ok_and(|meta| meta.len() > MAX_SCRIPT_BYTES)
            || self.is_named(&String::from_utf8_lossy(
                &std::fs::read(&path).unwrap_or_default(),
            ))
    }

    /// Makes runners in the copy's scripts name each test; a script that runs git stays as it is.
    fn name_each_test<'a>(&self, scripts: impl Iterator<Item = &'a String>) {
        for script in scripts.filter(|script| !is_code(script)) {
            let path = self.copy.join(script.trim_end_matches(" (scripts)"));
            let text = path
                .symlink_metadata()
                .is_ok_and(|meta| meta.is_file())
                .then(|| std::fs::read_to_string(&path).ok());
            let text = text.flatten().filter(|text| !text.contains("git "));
            if let Some(named) = text.as_deref().and_then(verbose::name_each_test) {
                // If the write fails, the tests of this script are compared by their number.
                let _ = std::fs::write(&path, named);
            }
        }
    }

    /// The text with the copy's path; `None` where it spells the project's path in another way.
    fn rewrite(&self, text: &str) -> Option<String> {
        let mut marked = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(next) = rest.chars().next() {
            let name = self.names.iter().find(|name| is_at(&marked, rest, name));
            let length = name.map_or(next.len_utf8(), String::len);
            let (here, after) = rest.split_at_checked(length)?;
            marked.push_str(if name.is_some() { "\0" } else { here });
            rest = after;
        }
        if self.is_named(&marked) {
            return None;
        }
        if !marked.contains(MARK) {
            return Some(marked);
        }
        // A path with blanks or signs of a shell would need quotes that the command lacks.
        let copy = self
            .copy
            .to_str()
            .filter(|copy| !copy.contains(|sign: char| ends_shell_word(sign)))?;
        std::env::join_paths([copy]).ok()?;
        Some(marked.replace(MARK, copy))
    }

    fn is_named(&self, text: &str) -> bool {
        let text = unquoted(text);
        self.names.iter().map(|name| unquoted(name)).any(|name| {
            text.match_indices(&name).any(|(at, _)| {
                let (before, here) = (
                    text.get(..at).unwrap_or_default(),
                    text.get(at..).unwrap_or_default(),
                );
                is_at(before, here, &name)
            })
        })
    }
}

fn is_at(before: &str, here: &str, name: &str) -> bool {
    let Some(after) = here.strip_prefix(name) else {
        return false;
    };
    let before = before.trim_end_matches('/');
    let word = before
        .rsplit(|sign| !is_name_sign(sign))
        .next()
        .unwrap_or_default();
    // An option such as `-C` may have its value right behind it.
    let begins = word.is_empty() || (word.len() == 2 && word.starts_with('-'));
    begins && !after.starts_with(is_name_sign)
}

fn is_name_sign(sign: char) -> bool {
    sign.is_alphanumeric() || "_-.+@%".contains(sign)
}

/// The text without shell quotes, with `/./` and `//` as `/`.
fn unquoted(text: &str) -> String {
    let mut unquoted: String = text
        .chars()
        .filter(|sign| !matches!(sign, '\\' | '\'' | '"'))
        .collect();
    for repeated in ["/./", "//"] {
        while unquoted.contains(repeated) {
            unquoted = unquoted.replace(repeated, "/");
        }
    }
    unquoted
}

fn ends_shell_word(sign: char) -> bool {
    sign.is_whitespace() || "'\"$`&|;()<>*?".contains(sign)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn elsewhere() -> ProjectCopy {
        ProjectCopy::new(
            Path::new("/h/u/my-p"),
            Path::new("/s/copy"),
            &[("HOME".into(), "/h/u".into())],
        )
    }

    #[test]
    fn a_path_of_the_project_becomes_one_of_the_copy_and_no_other_does() {
        for (text, moved) in [
            ("cd /h/u/my-p && make", Some("cd /s/copy && make")),
            (
                "make -C /h/u/my-p/sub check",
                Some("make -C /s/copy/sub check"),
            ),
            (
                "make -C/h/u/my-p --file=\"/h/u/my-p/a\"",
                Some("make -C/s/copy --file=\"/s/copy/a\""),
            ),
            (
                "cd ~/my-p; cd $HOME/my-p; cd \"${HOME}/my-p\"",
                Some("cd /s/copy; cd /s/copy; cd \"/s/copy\""),
            ),
            (
                "/bin:/h/u/my-p/bin:/h/u/my-p",
                Some("/bin:/s/copy/bin:/s/copy"),
            ),
            ("cd //h/u/my-p", Some("cd //s/copy")),
            ("file:///h/u/my-p/a", Some("file:///s/copy/a")),
            (
                "cd /h/u/my-p2; cd /h/u/my-p.old; cd /x/h/u/my-p",
                Some("cd /h/u/my-p2; cd /h/u/my-p.old; cd /x/h/u/my-p"),
            ),
            ("cd /h/u", Some("cd /h/u")),
            ("cd \"/h/u\"/my-p", None),
            ("cd \"$HOME\"/my-p", None),
            ("cd /h/./u//my-p", None),
            ("cd /h/u/my\\-p", None),
        ] {
            assert_eq!(elsewhere().rewrite(text).as_deref(), moved, "{text}");
        }
    }

    #[test]
    fn a_copy_that_a_shell_takes_apart_takes_the_place_of_nothing() {
        let elsewhere = ProjectCopy {
            copy: "/s/my copy".into(),
            ..elsewhere()
        };
        assert_eq!(elsewhere.rewrite("cd /h/u/my-p"), None);
        assert_eq!(elsewhere.rewrite("make").as_deref(), Some("make"));
    }
}
