//! Runs a command of `omo` for a hook within a time limit, and returns its output.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::child_command::inheriting_command;
use crate::platform::Leftovers;
use crate::runner::{self, ProcessEnd, ProcessOutput, ProcessRequest};

/// Maximum bytes of each output; the rest is read and dropped.
const MAX_BYTES: u64 = 64 * 1024;
const GRACE: Duration = Duration::from_millis(200);
const OUTPUT_WAIT: Duration = Duration::from_millis(100);

#[derive(Debug, PartialEq, Eq)]
pub enum Answered {
    Ended {
        /// `None` after a signal.
        status: Option<i32>,
        /// `stdout` and `stderr`.
        said: [Vec<u8>; 2],
    },
    TooLong,
}

/// The `omo` that belongs to this binary: beside it, or in the `bin` beside its folder, for copies
/// of hooks that a client starts without a launcher. The environment does not matter.
pub fn program() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    let name = format!("omo{}", std::env::consts::EXE_SUFFIX);
    let folder = own.parent()?;
    let beside = [
        Some(folder.join(&name)),
        folder.parent().map(|top| top.join("bin").join(&name)),
    ];
    beside
        .into_iter()
        .flatten()
        .find(|program| program.is_file())
}

/// Runs `program` with one `argument` in `folder`, for at most `limit`.
pub fn run(
    program: &Path,
    argument: &str,
    folder: &Path,
    input: Vec<u8>,
    limit: Duration,
) -> std::io::Result<Answered> {
    let mut command = inheriting_command(program);
    command
        .arg(argument)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env_remove("CLICOLOR_FORCE");
    let request = ProcessRequest {
        command,
        input,
        output: None,
        reads_stderr: true,
        limit,
        grace: GRACE,
        output_wait: OUTPUT_WAIT,
        max_bytes: MAX_BYTES,
        leftovers: Leftovers::Ended,
    };
    Ok(match runner::run(request)? {
        ProcessEnd::Ended(ProcessOutput {
            status,
            stdout,
            stderr,
        }) => Answered::Ended {
            status,
            said: [stdout, stderr].map(Option::unwrap_or_default),
        },
        ProcessEnd::TimedOut | ProcessEnd::Cancelled => Answered::TooLong,
    })
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn program(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("omo");
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        (folder, path)
    }

    fn run_for(text: &str, input: &[u8], limit: Duration) -> Answered {
        let (folder, path) = program(text);
        run(&path, "--x", folder.path(), input.to_vec(), limit).unwrap()
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn what_it_says_comes_back_with_its_status() {
        let said = run_for("cat; echo \"$1\" >&2; exit 3", b"typed", LONG);
        assert_eq!(
            said,
            Answered::Ended {
                status: Some(3),
                said: [b"typed".to_vec(), b"--x\n".to_vec()]
            }
        );
    }

    #[test]
    fn more_than_is_read_does_not_hold_it_and_is_dropped() {
        let Answered::Ended {
            status,
            said: [said, _],
        } = run_for("head -c 1000000 /dev/zero", b"", LONG)
        else {
            panic!("it has not ended");
        };
        assert_eq!((status, said.len() as u64), (Some(0), MAX_BYTES));
    }

    #[test]
    fn an_own_command_that_takes_too_long_is_ended_with_all_that_it_started() {
        let said = run_for(
            "(trap '' TERM; sleep 600) & trap '' TERM; sleep 600",
            b"",
            Duration::from_millis(200),
        );
        assert_eq!(said, Answered::TooLong);
    }

    #[test]
    fn what_it_leaves_running_is_not_waited_for() {
        let said = run_for("sleep 600 & echo done", b"", LONG);
        assert_eq!(
            said,
            Answered::Ended {
                status: Some(0),
                said: [b"done\n".to_vec(), Vec::new()]
            }
        );
    }

    #[test]
    fn what_is_no_program_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(
            run(
                &folder.path().join("omo"),
                "--x",
                folder.path(),
                Vec::new(),
                LONG
            )
            .is_err()
        );
    }
}
