//! What a user approved is what they were shown, and nothing else runs.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use anyhow::{Context, Result, ensure};
use omo_tests::plan_project::{PLAN, plan_text, task};

use crate::target_project::{Row, Target, WRONG, play};

/// What a check does that must not run unseen.
const LEAVES_A_TRACE: &str = "pwd >> $HOME/ran";

/// A file with one check, the words of which are TOML already.
fn file(run: &str) -> String {
    format!("[[check]]\nname = \"theirs\"\nrun = {run}\n")
}

/// What is shown, with the rows of a long line joined.
fn joined(shown: &str) -> String {
    let mut text = String::new();
    for line in shown.lines() {
        if let Some(rest) = line.trim_start().strip_prefix("| ") {
            text.push_str(rest);
        } else {
            text.push('\n');
            text.push_str(line);
        }
    }
    text
}

impl Target {
    /// What the user is shown of `omo.toml` in the session and at a terminal: both have all of this in it.
    fn file_shows(&mut self, text: &str, parts: &[&str]) -> Result<()> {
        self.write("omo.toml", text)?;
        for shown in [
            self.scene.asks("/omo:check approve")?,
            self.scene.asks("/omo:check list")?,
            self.says(&["check", "list"])?,
        ] {
            let missing = parts.iter().find(|part| !joined(&shown).contains(**part));
            ensure!(missing.is_none(), "{missing:?} is not shown:\n{shown}");
        }
        Ok(())
    }

    /// What `omo` says to a person, on both of its streams.
    fn says(&self, arguments: &[&str]) -> Result<String> {
        let output = self.omo(arguments, &[])?;
        Ok(String::from_utf8([output.stdout, output.stderr].concat())?)
    }

    /// What is shown of a plan's command, where it can be approved.
    fn plan_shows(&mut self, command: &str, part: &str) -> Result<()> {
        self.write(PLAN, &plan_text(&[task("1", "", command)]))?;
        let session = self.scene.session.session().to_owned();
        let shell = [
            ("CLAUDECODE", "1"),
            ("CLAUDE_CODE_SESSION_ID", session.as_str()),
        ];
        let opened = self.omo(&["run", "start", "--batches", PLAN], &shell)?;
        ensure!(opened.status.code() == Some(7), "{opened:?}");
        let typed = self
            .scene
            .asks(&format!("/omo:execute-plan {PLAN} --approve 000000000000"))?;
        for shown in [
            String::from_utf8(opened.stderr)?,
            typed,
            self.says(&["plan", "show", PLAN])?,
        ] {
            ensure!(
                joined(&shown).contains(part),
                "{part:?} is not shown:\n{shown}"
            );
        }
        Ok(())
    }
}

const SHOWN: &[Row] = &[
    Row {
        id: "r13a",
        what: "a command's end behind 2,100 blanks",
        play: |target| {
            let run = format!("\"true{}; {LEAVES_A_TRACE}\"", " ".repeat(2_100));
            target.file_shows(&file(&run), &["1| true\\{2100 blanks}; pwd >> $HOME/ran\n"])
        },
    },
    Row {
        id: "r13b",
        what: "a command's second line behind 2,500 characters",
        play: |target| {
            let long = "word ".repeat(500);
            let run = format!("\"\"\"\n: {long}#\n{LEAVES_A_TRACE}\"\"\"");
            target.file_shows(
                &file(&run),
                &[&format!("1| : {long}#\n"), "2| pwd >> $HOME/ran\n"],
            )
        },
    },
    Row {
        id: "r13c",
        what: "a variable's end behind 200 characters",
        play: |target| {
            let value = format!("{}:$HOME/theirs", "/usr/bin:".repeat(40));
            let text = format!(
                "{}cwd = \"{}\"\nenv = {{ SEARCH = \"{value}\" }}\n",
                file("\"true\""),
                "d/".repeat(150)
            );
            target.file_shows(
                &text,
                &[
                    &format!("1| {value}\n"),
                    &format!("1| {}\n", "d/".repeat(150)),
                ],
            )
        },
    },
    Row {
        id: "r13d",
        what: "a plan's command's end behind 2,300 characters",
        play: |target| {
            let command = format!("test {} || {LEAVES_A_TRACE}", "x".repeat(2_300));
            target.plan_shows(&command, &format!("1| {command}\n"))
        },
    },
    Row {
        id: "r13e",
        what: "signs that look like others, or like none",
        play: |target| {
            for (run, part) in [
                (
                    r#""true # `id` <a >b\necho x""#,
                    "1| true # `id` <a >b\n      2| echo x",
                ),
                (
                    r#""true\r\techo x\u001b[2K\u200b\u202e\u00a0\u3164\u2212é""#,
                    r"1| true\r\techo x\u{1b}[2K\u{200b}\u{202e}\u{a0}\u{3164}\u{2212}é",
                ),
                (r#""printf 'a\\\\n\u0007'""#, r"1| printf 'a\\\\n\u{7}'"),
                (r#""rm -r a\\ ""#, r"1| rm -r a\\\{1 blank}"),
            ] {
                target.file_shows(&file(run), &[part])?;
            }
            target.plan_shows("true # <a >b", "true # <a >b")
        },
    },
    Row {
        id: "r13f",
        what: "more than can be shown is not approved in a session, even with its code",
        play: |target| {
            let one = |number: usize| {
                format!(
                    "[[check]]\nname = \"n{number}\"\nrun = \": {} ; {LEAVES_A_TRACE}\"\n",
                    "x".repeat(3_000)
                )
            };
            target.write("omo.toml", &(0..8).map(one).collect::<String>())?;
            let shown = target.scene.asks("/omo:check approve")?;
            ensure!(
                shown.contains("too long to be shown here whole") && !shown.contains("approve "),
                "{shown}"
            );
            let list = target.says(&["check", "list"])?;
            ensure!(
                joined(&list).matches(LEAVES_A_TRACE).count() == 8,
                "a terminal shows all of it:\n{list}"
            );
            let digest = list
                .split("digest of omo.toml: ")
                .nth(1)
                .context("no digest")?
                .trim();
            let said = target.scene.asks(&format!("/omo:check approve {digest}"))?;
            ensure!(said.contains("nothing was approved"), "{said}");
            target.scene.start("--no-review --check true")?;
            target.scene.claim_ends("verified")?;
            ensure!(target.scene.traced("ran") == 0, "it was run");
            Ok(())
        },
    },
    Row {
        id: "r13g",
        what: "a plan of more commands than can be shown is not approved in a session",
        play: |target| {
            let commands: Vec<String> = (1..=9)
                .map(|number| format!("test {} = {number}", "x".repeat(2_500)))
                .collect();
            let ids: Vec<String> = (1..=9).map(|number: usize| number.to_string()).collect();
            let tasks: Vec<_> = ids
                .iter()
                .zip(&commands)
                .map(|(id, command)| task(id, "", command))
                .collect();
            target.write(PLAN, &plan_text(&tasks))?;
            let session = target.scene.session.session().to_owned();
            let shell = [
                ("CLAUDECODE", "1"),
                ("CLAUDE_CODE_SESSION_ID", session.as_str()),
            ];
            let open = || target.omo(&["run", "start", "--batches", PLAN], &shell);
            let said = String::from_utf8(open()?.stderr)?;
            ensure!(
                said.contains("too long to be shown here whole") && !said.contains("--approve"),
                "{said}"
            );
            let shown = target.says(&["plan", "show", PLAN])?;
            ensure!(
                commands
                    .iter()
                    .all(|command| joined(&shown).contains(command)),
                "{shown}"
            );
            let digest = shown
                .split("digest: ")
                .nth(1)
                .and_then(|rest| rest.split_whitespace().next());
            let digest = digest.context("no digest")?.to_owned();
            let said = target
                .scene
                .asks(&format!("/omo:execute-plan {PLAN} --approve {digest}"))?;
            ensure!(said.contains("nothing was approved"), "{said}");
            ensure!(
                target
                    .omo(&["run", "start", "--batches", PLAN], &shell)?
                    .status
                    .code()
                    == Some(7)
            );
            Ok(())
        },
    },
    Row {
        id: "r13h",
        what: "a failure names the command as it can be pasted",
        play: |target| {
            target
                .scene
                .start("--no-review --check \"test `cat app.py | wc -l` -lt 1 # <none >\"")?;
            let reason = target.scene.claim_fails()?;
            ensure!(
                reason.contains("(``test `cat app.py | wc -l` -lt 1 # <none >``)"),
                "{reason}"
            );
            Ok(())
        },
    },
];

/// Entries of a `PATH` that lead into the project without saying so. `{}` is the folder around it.
const HIDDEN_WAYS: &str = "/proc/self/cwd/.bin:/proc/thread-self/cwd/.bin:/dev/../proc/self/cwd/.bin:/dev/fd/../../cwd/.bin:\
                           .bin:{}/link:{}/here/.bin:{}/single:{}/home/../project/.bin";
/// The one that does.
const OPEN_WAY: &str = "{}/project/.bin";

impl Target {
    /// Puts a program into the project that leaves a trace, and calls everything good.
    fn program(&self, name: &str) -> Result<()> {
        let (path, ran) = (format!(".bin/{name}"), self.scene.trace("ran"));
        self.write(
            &path,
            &format!("#!/bin/sh\necho {name} >> '{}'\n", ran.display()),
        )?;
        Ok(fs::set_permissions(
            self.scene.lab.project().join(path),
            fs::Permissions::from_mode(0o755),
        )?)
    }

    /// Has the session find programs by these entries first; gives the `PATH` that it is.
    fn in_path(&mut self, entries: &str) -> Result<String> {
        let lab = &self.scene.lab;
        let around = lab
            .project()
            .parent()
            .context("no folder around the project")?
            .to_owned();
        for name in ["git", "bash", "claude", "node"] {
            self.program(name)?;
        }
        symlink(lab.project().join(".bin"), around.join("link"))?;
        symlink("/proc/self/cwd", around.join("here"))?;
        fs::create_dir(around.join("single"))?;
        for name in ["git", "bash", "claude"] {
            symlink(
                lab.project().join(".bin").join(name),
                around.join("single").join(name),
            )?;
        }
        let usual = lab.environment().get("PATH").context("no PATH")?;
        let path = format!(
            "{}:{usual}",
            entries.replace("{}", &around.display().to_string())
        );
        self.scene.session = self.scene.session.clone().with_env("PATH", &path);
        Ok(path)
    }

    /// An honest run, and one that is none: what lies in the project is not what judges either of them.
    fn is_verified_by_nothing_of_its_own(&mut self) -> Result<()> {
        self.begin()?;
        self.is_never_verified()?;
        self.begin()?;
        self.fix()?;
        self.claim_reaches_review()?;
        self.review_agrees()?;
        self.scene.claim_ends("verified")?;
        self.has_run_nothing()
    }

    fn has_run_nothing(&self) -> Result<()> {
        let ran = fs::read_to_string(self.scene.trace("ran")).unwrap_or_default();
        ensure!(ran.is_empty(), "programs of the project ran: {ran}");
        Ok(())
    }

    /// `omo doctor` asks the client of this machine, and nothing of the project, not even through the client.
    fn doctor_runs_nothing(&mut self, entries: &str) -> Result<()> {
        let path = self.in_path(entries)?;
        let own = self.scene.lab.home().join("own");
        fs::create_dir(&own)?;
        let text = "#!/bin/sh\necho x >> \"$HOME/asked\"\ngit --version >&2\nnode --version >&2\necho '2.1.328 (Claude Code)'\n";
        fs::write(own.join("claude"), text)?;
        fs::set_permissions(own.join("claude"), fs::Permissions::from_mode(0o755))?;
        self.omo(
            &["doctor"],
            &[("PATH", &format!("{path}:{}", own.display()))],
        )?;
        ensure!(self.scene.traced("asked") > 0, "the client was not asked");
        self.has_run_nothing()
    }
}

const PATHS: &[Row] = &[
    Row {
        id: "r21a",
        what: "PATH=/proc/self/cwd/.bin, and other hidden ways into the project: a claim",
        play: |target| {
            target.program("python3")?;
            target.in_path(HIDDEN_WAYS)?;
            target.is_verified_by_nothing_of_its_own()
        },
    },
    Row {
        id: "r21b",
        what: "PATH=/proc/self/cwd/.bin, and other hidden ways into the project: omo doctor",
        play: |target| target.doctor_runs_nothing(HIDDEN_WAYS),
    },
    Row {
        id: "r21c",
        what: "a git of the project around a submodule",
        play: |target| {
            target.write("sub/x.py", "")?;
            let git = |arguments: &[&str]| target.git(&[&["-C", "sub"], arguments].concat());
            git(&["init", "-q"])?;
            git(&["add", "-A"])?;
            git(&["commit", "-q", "-m", "inside"])?;
            target.in_path(OPEN_WAY)?;
            target.is_verified_by_nothing_of_its_own()
        },
    },
    Row {
        id: "r21d",
        what: "nothing but a relative PATH",
        play: |target| {
            target.program("python3")?;
            target.in_path(OPEN_WAY)?;
            target.scene.session = target.scene.session.clone().with_env("PATH", ".bin::.");
            target.begin()?;
            target.is_never_verified()?;
            target.has_run_nothing()
        },
    },
    Row {
        id: "c07a",
        what: "PATH=<project>/.bin: a claim",
        play: |target| {
            target.in_path(OPEN_WAY)?;
            target.is_verified_by_nothing_of_its_own()?;
            target.write("app.py", WRONG)?;
            target.begin()?;
            target.program("python3")?;
            target.names("green only with the changed .bin/python3")?;
            target.is_never_verified()
        },
    },
    Row {
        id: "c07b",
        what: "PATH=<project>/.bin: omo doctor",
        play: |target| target.doctor_runs_nothing(OPEN_WAY),
    },
];

#[test]
#[ignore = "needs python3: cargo xtask test"]
fn no_program_of_the_project_is_run_by_another_name() {
    play(PATHS).unwrap();
}

impl Target {
    /// The user approves `omo.toml` with the code that they are shown.
    fn approve(&mut self) -> Result<String> {
        let shown = self.scene.asks("/omo:check approve")?;
        let code = shown
            .rsplit("/omo:check approve ")
            .next()
            .context("no code")?
            .trim()
            .to_owned();
        let said = self.scene.asks(&format!("/omo:check approve {code}"))?;
        ensure!(said.contains("approved: 1 check of omo.toml"), "{said}");
        Ok(code)
    }

    /// A run with a check of the user's own; gives what they are told at its start.
    fn runs(&mut self) -> Result<String> {
        let reported = self
            .scene
            .prompt("/omo:ulw --no-review --check true fix the tests")?;
        self.scene.claim_ends("verified")?;
        Ok(reported.system_message().unwrap_or_default().to_owned())
    }

    /// A new run asks for an approval once more, and names this; what was approved does not run.
    fn asks_again(&mut self, named: &str) -> Result<()> {
        let before = self.scene.traced("ran");
        let reported = self.runs()?;
        ensure!(
            reported.contains("1 check that is not approved") && reported.contains(named),
            "{reported}"
        );
        ensure!(self.scene.traced("ran") == before, "it was run");
        Ok(())
    }

    /// Another repository, with the same files, in the place of this one.
    fn begin_anew(&self) -> Result<()> {
        for arguments in [
            ["init", "-q"].as_slice(),
            &["add", "-A"],
            &["commit", "-q", "-m", "another"],
        ] {
            self.git(arguments)?;
        }
        Ok(())
    }
}

const BOUND: &[Row] = &[
    Row {
        id: "r13i",
        what: "another repository at the path of an approved one",
        play: |target| {
            target.write("omo.toml", &file(&format!("\"{LEAVES_A_TRACE}\"")))?;
            let code = target.approve()?;
            target.runs()?;
            let ran = target.scene.traced("ran");
            ensure!(ran > 0, "what was approved is not run");
            fs::remove_dir_all(target.scene.lab.project().join(".git"))?;
            target.begin_anew()?;
            target.asks_again("")?;
            let said = target.scene.asks(&format!("/omo:check approve {code}"))?;
            ensure!(said.contains("nothing was approved"), "{said}");
            ensure!(
                target.scene.traced("ran") == ran,
                "what was not approved ran"
            );
            target.approve()?;
            target.runs()?;
            ensure!(
                target.scene.traced("ran") > ran,
                "what was approved is not run"
            );
            Ok(())
        },
    },
    Row {
        id: "r13j",
        what: "another folder at the path of an approved one, with the same file",
        play: |target| {
            let text = file(&format!("\"{LEAVES_A_TRACE}\""));
            for repository in [true, false] {
                target.write("omo.toml", &text)?;
                target.approve()?;
                let project = target.scene.lab.project().to_owned();
                fs::rename(
                    &project,
                    project.with_file_name(format!("moved-{repository}")),
                )?;
                fs::create_dir(&project)?;
                target.write("omo.toml", &text)?;
                if repository {
                    target.begin_anew()?;
                }
                target.asks_again("")?;
            }
            Ok(())
        },
    },
    Row {
        id: "r13k",
        what: "another script behind an approved command, between two runs",
        play: |target| {
            target.write("check.sh", &format!("{LEAVES_A_TRACE}\n"))?;
            target.write("omo.toml", &file("\"sh check.sh\""))?;
            let shown = target.scene.asks("/omo:check approve")?;
            ensure!(
                shown.contains("as long as these files stay as they are: `check.sh`"),
                "{shown}"
            );
            let code = target.approve()?;
            target.runs()?;
            // It is also run on the files as they were before.
            let ran = target.scene.traced("ran");
            ensure!(ran > 0, "what was approved is not run");
            target.write("check.sh", &format!("{LEAVES_A_TRACE} # theirs\n"))?;
            target.asks_again("not approved any more: `check.sh` is not as it was then")?;
            for shown in [
                target.says(&["check", "list"])?,
                target.scene.asks("/omo:check list")?,
            ] {
                ensure!(
                    shown.contains("any more: `check.sh` is not as it was then"),
                    "{shown}"
                );
            }
            ensure!(
                target
                    .says(&["verify"])?
                    .contains("any more: `check.sh` is not as it was then")
            );
            let said = target.scene.asks(&format!("/omo:check approve {code}"))?;
            ensure!(
                said.contains("nothing was approved"),
                "the code of the other script: {said}"
            );
            target.approve()?;
            target.runs()?;
            ensure!(
                target.scene.traced("ran") > ran,
                "what was approved is not run"
            );
            Ok(())
        },
    },
    Row {
        id: "r13l",
        what: "a script that was not there when its command was approved",
        play: |target| {
            target.write("omo.toml", &file("\"test ! -f later.sh || sh later.sh\""))?;
            target.approve()?;
            target.write("later.sh", &format!("{LEAVES_A_TRACE}\n"))?;
            target.asks_again("`later.sh` is not as it was then")
        },
    },
    Row {
        id: "r13m",
        what: "the commands of a plan, in another repository at the same path",
        play: |target| {
            target.write(PLAN, &plan_text(&[task("1", "", "test -f words/1.txt")]))?;
            let said = target.says(&["plan", "show", PLAN])?;
            let digest = said
                .split("digest: ")
                .nth(1)
                .and_then(|rest| rest.split_whitespace().next());
            let digest = digest.context("no digest")?.to_owned();
            ensure!(
                target
                    .omo(
                        &["run", "start", "--batches", PLAN, "--digest", &digest],
                        &[]
                    )?
                    .status
                    .success()
            );
            ensure!(
                target
                    .says(&["plan", "show", PLAN])?
                    .contains("you approved them")
            );
            fs::remove_dir_all(target.scene.lab.project().join(".git"))?;
            target.begin_anew()?;
            ensure!(
                target
                    .says(&["plan", "show", PLAN])?
                    .contains("you have not approved them")
            );
            let opened = target.omo(&["run", "start", "--batches", PLAN], &[])?;
            ensure!(opened.status.code() == Some(7), "{opened:?}");
            Ok(())
        },
    },
    Row {
        id: "c08a",
        what: "omo.toml changed after its approval",
        play: |target| {
            target.write("omo.toml", &file("\"true\""))?;
            target.approve()?;
            target.write("omo.toml", &file(&format!("\"{LEAVES_A_TRACE}\"")))?;
            target.asks_again("")
        },
    },
    Row {
        id: "c08b",
        what: "approved elsewhere, other commands here",
        play: |target| {
            target.write("omo.toml", &file("\"true\""))?;
            let code = target.approve()?;
            target.write("other/omo.toml", &file(&format!("\"{LEAVES_A_TRACE}\"")))?;
            let other = target.scene.lab.project().join("other");
            let at_other = [("CLAUDE_PROJECT_DIR", other.to_str().context("no UTF-8")?)];
            let said = target.omo(&["check", "approve", "--digest", &code], &at_other)?;
            ensure!(!said.status.success(), "{said:?}");
            let listed = target.omo(&["check", "list"], &at_other)?;
            let listed = String::from_utf8(listed.stdout)?;
            ensure!(
                listed.contains("not approved: nothing of it runs"),
                "{listed}"
            );
            Ok(())
        },
    },
];

#[test]
#[ignore = "needs python3: cargo xtask test"]
fn an_approval_holds_for_the_repository_and_the_files_that_it_was_given_for() {
    play(BOUND).unwrap();
}

#[test]
#[ignore = "needs python3: cargo xtask test"]
fn everything_that_is_approved_is_shown_whole() {
    play(SHOWN).unwrap();
}
