//! The programs that open pull requests: `gh` of GitHub and `glab` of GitLab.

use std::path::{Path, PathBuf};
use std::time::Duration;

use omo_core::text::sanitize;
use omo_process::child_command::inheriting_command;
use omo_process::platform::Leftovers;
use omo_process::runner::{self, ProcessEnd, ProcessOutput, ProcessRequest};
use omo_state::search_path::{ProjectFolders, SearchPath};

use crate::error::CommandError;
use crate::output::print_stderr_line;

const LIMIT: Duration = Duration::from_secs(60);
const GRACE: Duration = Duration::from_secs(2);
const MAX_BYTES: u64 = 64 * 1024;

#[derive(Clone, Copy, Debug)]
pub(super) struct PullRequest<'r> {
    pub branch: &'r str,
    /// Target branch; `None` for the default one of the repository.
    pub target: Option<&'r str>,
    pub title: &'r str,
    pub body: &'r str,
}

#[derive(Debug)]
pub(super) struct Service {
    kind: ServiceKind,
    program: PathBuf,
    search: SearchPath,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ServiceKind {
    GitHub,
    GitLab,
}

impl ServiceKind {
    const ALL: [Self; 2] = [Self::GitHub, Self::GitLab];

    fn program(self) -> &'static str {
        match self {
            Self::GitHub => "gh",
            Self::GitLab => "glab",
        }
    }

    /// `true` for an address that names no other service.
    fn fits(self, address: &str) -> bool {
        let address = address.to_ascii_lowercase();
        match self {
            Self::GitHub => !address.contains("gitlab"),
            Self::GitLab => !address.contains("github"),
        }
    }

    fn arguments<'a>(self, request: &PullRequest<'a>) -> Vec<&'a str> {
        let (option, arguments) = match self {
            Self::GitHub => {
                let title = ["--title", request.title, "--body-file", "-"];
                (
                    "--base",
                    [&["pr", "create", "--head", request.branch], &title[..]].concat(),
                )
            }
            Self::GitLab => {
                let title = ["--title", request.title, "--description", request.body];
                let create = ["mr", "create", "--yes", "--source-branch", request.branch];
                ("--target-branch", [&create[..], &title].concat())
            }
        };
        let target = request.target.map(|target| [option, target]);
        arguments
            .into_iter()
            .chain(target.into_iter().flatten())
            .collect()
    }
}

impl Service {
    /// Name of the program, such as `gh`.
    pub(super) fn program_name(&self) -> &'static str {
        self.kind.program()
    }

    /// The program for the address of a remote, from outside of the project.
    pub(super) fn find(address: &str, project: &Path) -> Result<Self, CommandError> {
        let search =
            SearchPath::from_process().outside(&ProjectFolders::from_iter([project.to_owned()]));
        let fitting = ServiceKind::ALL
            .into_iter()
            .filter(|kind| kind.fits(address));
        let names: Vec<&str> = fitting.clone().map(ServiceKind::program).collect();
        let found =
            fitting.filter_map(|kind| Some((kind, search.find_all(kind.program()).next()?)));
        let mut found: Vec<(ServiceKind, PathBuf)> = found.collect();
        match (found.pop(), found.is_empty()) {
            (Some((kind, program)), true) => Ok(Self {
                kind,
                program,
                search,
            }),
            (None, _) => {
                let message = format!(
                    "nothing here opens a pull request at {}",
                    sanitize(address, 200)
                );
                let hint = format!(
                    "install {}, and sign in with its `auth login`",
                    names.join(" or ")
                );
                Err(CommandError::precondition(message, hint))
            }
            (Some(_), false) => {
                let message = format!(
                    "{} is neither GitHub nor GitLab by its name",
                    sanitize(address, 200)
                );
                Err(CommandError::precondition(
                    message,
                    "leave only the one of gh and glab on PATH that it speaks with",
                ))
            }
        }
    }

    pub(super) fn open(
        &self,
        folder: &Path,
        request: &PullRequest<'_>,
    ) -> Result<String, CommandError> {
        let name = self.kind.program();
        print_stderr_line(&format_args!(
            "note: {name} opens the request, which may take up to {} s",
            LIMIT.as_secs()
        ));
        let mut command = inheriting_command(&self.program);
        command
            .args(self.kind.arguments(request))
            .current_dir(folder);
        if let Some(path) = self.search.joined() {
            command.env("PATH", path);
        }
        let run = ProcessRequest {
            command,
            input: request.body.as_bytes().to_vec(),
            output: None,
            reads_stderr: true,
            limit: LIMIT,
            grace: GRACE,
            output_wait: GRACE,
            max_bytes: MAX_BYTES,
            leftovers: Leftovers::Ended,
        };
        let why = match runner::run(run) {
            Ok(ProcessEnd::Ended(ProcessOutput {
                status: Some(0),
                stdout,
                ..
            })) => {
                let output = lossy_text(stdout);
                let address = output
                    .lines()
                    .rfind(|line| line.contains("://"))
                    .unwrap_or("the request is open");
                return Ok(sanitize(address.trim(), 400));
            }
            Ok(ProcessEnd::Ended(ProcessOutput { stderr, .. })) => {
                let errors = lossy_text(stderr);
                let last = errors.lines().rfind(|line| !line.trim().is_empty());
                last.unwrap_or("it gave no reason").to_owned()
            }
            Ok(ProcessEnd::TimedOut | ProcessEnd::Cancelled) => {
                format!("it gave no answer in {} s", LIMIT.as_secs())
            }
            Err(error) => error.to_string(),
        };
        let message = format!("{name} opened no request: {}", sanitize(&why, 400));
        let hint = format!(
            "the branch {} is pushed; once `{name} auth status` is well, `omo run pr` opens the request for it",
            request.branch
        );
        Err(CommandError::precondition(message, hint))
    }
}

fn lossy_text(bytes: Option<Vec<u8>>) -> String {
    String::from_utf8_lossy(&bytes.unwrap_or_default())
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_told_by_the_address_of_the_remote() {
        for (address, expected) in [
            ("https://github.com/a/b.git", vec!["gh"]),
            ("git@GitHub.com:a/b", vec!["gh"]),
            ("ssh://git@gitlab.example.org/a/b", vec!["glab"]),
            ("/srv/git/b.git", vec!["gh", "glab"]),
        ] {
            let fitting = ServiceKind::ALL
                .into_iter()
                .filter(|kind| kind.fits(address));
            assert_eq!(
                fitting.map(ServiceKind::program).collect::<Vec<_>>(),
                expected,
                "{address}"
            );
        }
    }

    #[test]
    fn a_request_names_its_branch_and_where_it_goes() {
        let request = PullRequest {
            branch: "omo/r-1",
            target: Some("main"),
            title: "Words",
            body: "done",
        };
        let of = |kind: ServiceKind, request: &PullRequest<'_>| kind.arguments(request).join(" ");
        assert_eq!(
            of(ServiceKind::GitHub, &request),
            "pr create --head omo/r-1 --title Words --body-file - --base main"
        );
        assert_eq!(
            of(
                ServiceKind::GitLab,
                &PullRequest {
                    target: None,
                    ..request
                }
            ),
            "mr create --yes --source-branch omo/r-1 --title Words --description done"
        );
    }
}
