//! Command line and environment of a session that works on one group of a plan; the prompt comes by `stdin`.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use omo_core::git_variables::is_repository_variable;
use omo_state::env::is_variable_named;

/// Variables of a running session about itself: with them, a new one would take itself for a part of it.
const OF_A_SESSION: [&str; 17] = [
    "AI_AGENT",
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_NOTES_DIR",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_EXECPATH",
    "CLAUDE_CODE_MESSAGING_SOCKET",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    "CLAUDE_CODE_SESSION_ATTENDED",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_EFFORT",
    "CLAUDE_ENV_FILE",
    "CLAUDE_PID",
    "CLAUDE_PLUGIN_DATA",
    "CLAUDE_PLUGIN_ROOT",
    "CLAUDE_PROJECT_DIR",
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkerPermissions {
    /// Edits in its folder, and rules such as `Bash(npm test:*)`; all else is denied, as no user is there to answer.
    Listed(Vec<String>),
    /// `--dangerously-skip-permissions`.
    All,
}

#[derive(Clone, Debug)]
pub struct WorkerSpec {
    pub run: String,
    pub worker: String,
    /// Working folder, and the bound of its changes.
    pub worktree: PathBuf,
    pub temp_folder: PathBuf,
    /// A port for the session's test servers, where one was found.
    pub port: Option<u16>,
    /// The folder with `omo`, first on its `PATH`.
    pub program_folder: PathBuf,
    /// Settings file in addition to the user's own settings.
    pub settings: Option<PathBuf>,
    pub max_turns: u32,
    /// Budget, in millionths of a US dollar.
    pub max_budget_micros: Option<u64>,
    pub permissions: WorkerPermissions,
    /// The model, where the plan or its user names one.
    pub model: Option<String>,
    /// Id of the session to resume.
    pub resume: Option<String>,
}

impl WorkerSpec {
    /// A session without permissions and limits.
    pub fn new(
        run: &str,
        worker: &str,
        worktree: &Path,
        temp_folder: PathBuf,
        own_program: &Path,
    ) -> Self {
        Self {
            run: run.to_owned(),
            worker: worker.to_owned(),
            worktree: worktree.to_owned(),
            temp_folder,
            port: None,
            program_folder: own_program.parent().unwrap_or(Path::new("/")).to_owned(),
            settings: None,
            max_turns: 0,
            max_budget_micros: None,
            permissions: WorkerPermissions::Listed(Vec::new()),
            model: None,
            resume: None,
        }
    }

    /// Arguments of `claude`, for output as a stream of JSON lines.
    pub fn arguments(&self) -> Vec<OsString> {
        // Unlike `json`, `stream-json` has the session id first, and the reset of a usage limit.
        let mut arguments: Vec<&OsStr> = Vec::new();
        arguments.extend(
            [
                "-p",
                "--output-format",
                "stream-json",
                "--verbose",
                "--max-turns",
            ]
            .map(OsStr::new),
        );
        let max_turns = self.max_turns.to_string();
        arguments.push(OsStr::new(&max_turns));
        let budget = self
            .max_budget_micros
            .map(|micros| format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000));
        for (option, value) in [
            ("--max-budget-usd", &budget),
            ("--model", &self.model),
            ("--resume", &self.resume),
        ] {
            arguments.extend(
                value
                    .iter()
                    .flat_map(|value| [option, value.as_str()])
                    .map(OsStr::new),
            );
        }
        if let Some(file) = &self.settings {
            arguments.extend([OsStr::new("--settings"), file.as_os_str()]);
        }
        match &self.permissions {
            WorkerPermissions::All => arguments.push(OsStr::new("--dangerously-skip-permissions")),
            WorkerPermissions::Listed(rules) => {
                arguments.extend(["--permission-mode", "acceptEdits"].map(OsStr::new));
                // Last: the client takes everything after it for a rule.
                arguments.extend((!rules.is_empty()).then_some(OsStr::new("--allowedTools")));
                arguments.extend(rules.iter().map(OsStr::new));
            }
        }
        arguments.into_iter().map(OsString::from).collect()
    }

    /// The whole environment of the client, from the variables of this process.
    pub fn environment(&self, variables: Vec<(OsString, OsString)>) -> Vec<(OsString, OsString)> {
        let mut kept: Vec<_> = variables
            .into_iter()
            .filter(|(name, _)| is_inherited(name))
            .collect();
        let temp = self.temp_folder.as_os_str();
        let port = self.port.map(|port| port.to_string());
        let path = self.search_path(&kept);
        let own = [
            ("OMO_RUN", Some(OsStr::new(&self.run))),
            ("OMO_WORKER", Some(OsStr::new(&self.worker))),
            ("OMO_ROOT", Some(self.worktree.as_os_str())),
            // In a worktree without its `.git`, git must not find the user's checkout around it.
            (
                "GIT_CEILING_DIRECTORIES",
                self.worktree.parent().map(std::path::Path::as_os_str),
            ),
            ("PATH", path.as_deref()),
            ("PORT", port.as_ref().map(OsStr::new)),
            ("TMPDIR", Some(temp)),
            ("TMP", Some(temp)),
            ("TEMP", Some(temp)),
        ];
        for (name, value) in own
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
        {
            kept.retain(|(other, _)| !is_variable_named(other, name));
            kept.push((name.into(), value.to_owned()));
        }
        kept.sort();
        kept
    }

    /// `PATH` with the folder of omo first; `None` where that folder cannot stand in a list.
    fn search_path(&self, variables: &[(OsString, OsString)]) -> Option<OsString> {
        let path = variables
            .iter()
            .find(|(name, _)| is_variable_named(name, "PATH"))
            .map(|(_, path)| path);
        let others = path
            .map(|path| std::env::split_paths(path).collect::<Vec<_>>())
            .unwrap_or_default();
        std::env::join_paths(std::iter::once(self.program_folder.clone()).chain(others)).ok()
    }
}

/// The user's own variables; of omo's only `OMO_DISABLE`.
fn is_inherited(name: &OsStr) -> bool {
    let text = name.to_str();
    let is_omos = text.is_some_and(|name| name.to_ascii_uppercase().starts_with("OMO_"));
    let is_of_session = OF_A_SESSION
        .iter()
        .chain(&["PWD", "OLDPWD"])
        .any(|variable| is_variable_named(name, variable));
    (!is_omos || is_variable_named(name, "OMO_DISABLE"))
        && !is_of_session
        && !text.is_some_and(is_repository_variable)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order() -> WorkerSpec {
        WorkerSpec {
            run: "r1".to_owned(),
            worker: "2".to_owned(),
            worktree: "/w".into(),
            temp_folder: "/t".into(),
            port: Some(4_002),
            program_folder: "/o".into(),
            settings: None,
            max_turns: 50,
            max_budget_micros: Some(2_500_000),
            permissions: WorkerPermissions::Listed(vec![
                "Bash(cargo test:*)".to_owned(),
                "Bash(git diff:*)".to_owned(),
            ]),
            model: None,
            resume: None,
        }
    }

    fn line(order: &WorkerSpec) -> String {
        order
            .arguments()
            .join(OsStr::new("|"))
            .into_string()
            .unwrap()
    }

    #[test]
    fn permissions_are_skipped_only_where_that_was_asked_for() {
        const START: &str = "-p|--output-format|stream-json|--verbose|--max-turns|50";
        let listed = "--max-budget-usd|2.500000|--permission-mode|acceptEdits|--allowedTools|Bash(cargo test:*)|Bash(git diff:*)";
        assert_eq!(line(&order()), format!("{START}|{listed}"));
        let bare = WorkerSpec {
            max_budget_micros: None,
            permissions: WorkerPermissions::Listed(Vec::new()),
            ..order()
        };
        assert_eq!(
            line(&bare),
            format!("{START}|--permission-mode|acceptEdits")
        );
        let all = WorkerSpec {
            permissions: WorkerPermissions::All,
            model: Some("opus".into()),
            resume: Some("s".into()),
            ..bare
        };
        assert_eq!(
            line(&all),
            format!("{START}|--model|opus|--resume|s|--dangerously-skip-permissions")
        );
        let fenced = WorkerSpec {
            settings: Some("/s.json".into()),
            max_budget_micros: None,
            ..order()
        };
        assert!(
            line(&fenced).starts_with(&format!("{START}|--settings|/s.json|--permission-mode|"))
        );
    }

    #[test]
    fn it_is_a_session_of_its_own_with_its_users_settings() {
        const PATH: &str = if cfg!(windows) { "/a;/b" } else { "/a:/b" };
        const FOUND: &str = if cfg!(windows) {
            "/o;/a;/b"
        } else {
            "/o:/a:/b"
        };
        let variables = [
            ("ANTHROPIC_BASE_URL", "http://h"),
            ("CLAUDECODE", "1"),
            ("CLAUDE_CODE_CHILD_SESSION", "1"),
            ("CLAUDE_CODE_ENTRYPOINT", "cli"),
            ("CLAUDE_CODE_MAX_RETRIES", "3"),
            ("CLAUDE_CODE_MESSAGING_TOKEN", "t"),
            ("CLAUDE_CODE_SESSION_ID", "outer"),
            ("CLAUDE_CONFIG_DIR", "/c"),
            ("GIT_AUTHOR_NAME", "a"),
            ("GIT_DIR", "/elsewhere"),
            ("OMO_DISABLE", "1"),
            ("OMO_CHECK", "1"),
            ("OMO_RUN", "outer"),
            ("PATH", PATH),
            ("PORT", "80"),
            ("PWD", "/p"),
        ];
        let variables = variables
            .map(|(name, value)| (name.into(), value.into()))
            .to_vec();
        let seen = order().environment(variables);
        let seen: Vec<_> = seen
            .iter()
            .map(|(name, value)| (name.to_str().unwrap(), value.to_str().unwrap()))
            .collect();
        assert_eq!(
            seen,
            [
                ("ANTHROPIC_BASE_URL", "http://h"),
                ("CLAUDE_CODE_MAX_RETRIES", "3"),
                ("CLAUDE_CONFIG_DIR", "/c"),
                ("GIT_AUTHOR_NAME", "a"),
                ("GIT_CEILING_DIRECTORIES", "/"),
                ("OMO_DISABLE", "1"),
                ("OMO_ROOT", "/w"),
                ("OMO_RUN", "r1"),
                ("OMO_WORKER", "2"),
                ("PATH", FOUND),
                ("PORT", "4002"),
                ("TEMP", "/t"),
                ("TMP", "/t"),
                ("TMPDIR", "/t"),
            ]
        );
    }
}
