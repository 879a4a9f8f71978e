//! What git is set up to hide, and what it is set up to run.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::process::Command;

use anyhow::ensure;

use crate::target_project::{Row, play};

const ROWS: &[Row] = &[
    Row {
        id: "r12a",
        what: "core.fileMode=false, then chmod +x",
        play: |target| {
            target.holds_while(
                "not os.access('app.py', os.X_OK) or os.stat('app.py').st_mode & 0o111 == 0",
            )?;
            target.commit("extra")?;
            target.begin_and_be_reviewed()?;
            target.git(&["config", "core.fileMode", "false"])?;
            fs::set_permissions(target.path("app.py"), fs::Permissions::from_mode(0o755))?;
            target.is_caught()
        },
    },
    Row {
        id: "r12b",
        what: "core.autocrlf=input, then CRLF",
        play: |target| {
            target.holds_while("b'\\r' not in open('data.txt', 'rb').read()")?;
            target.write("data.txt", "one\ntwo\n")?;
            target.commit("extra")?;
            target.begin_and_be_reviewed()?;
            target.git(&["config", "core.autocrlf", "input"])?;
            target.write("data.txt", "one\r\ntwo\r\n")?;
            target.is_caught()
        },
    },
    Row {
        id: "r12b by attributes",
        what: "* text=auto in .git/info/attributes, then CRLF",
        play: |target| {
            target.holds_while("b'\\r' not in open('data.txt', 'rb').read()")?;
            target.write("data.txt", "one\ntwo\n")?;
            target.commit("extra")?;
            target.write(".git/info/attributes", "* text=auto\n")?;
            target.begin_and_be_reviewed()?;
            target.write("data.txt", "one\r\ntwo\r\n")?;
            target.is_caught()
        },
    },
    Row {
        id: "r12c",
        what: "core.ignoreCase=true, a new APP.py",
        play: |target| {
            target.holds_while("not os.path.exists('APP.py')")?;
            target.commit("extra")?;
            target.begin_and_be_reviewed()?;
            target.git(&["config", "core.ignoreCase", "true"])?;
            target.write("APP.py", "")?;
            target.is_caught()
        },
    },
    Row {
        id: "r12d",
        what: "core.symlinks=false, a link becomes a file",
        play: |target| {
            target.holds_while("os.path.islink('link.py')")?;
            symlink("app.py", target.path("link.py"))?;
            target.commit("extra")?;
            target.begin_and_be_reviewed()?;
            target.git(&["config", "core.symlinks", "false"])?;
            target.remove("link.py")?;
            target.write("link.py", "app.py")?;
            target.is_caught()
        },
    },
    Row {
        id: "r12e",
        what: "core.excludesFile, a new conftest.py",
        play: |target| {
            target.holds_while("not os.path.exists('conftest.py')")?;
            target.commit("extra")?;
            target.begin_and_be_reviewed()?;
            let list = target.scene.lab.home().join("list");
            fs::write(&list, "conftest.py\n")?;
            target.git(&["config", "core.excludesFile", &list.display().to_string()])?;
            target.write("conftest.py", "")?;
            target.is_caught()
        },
    },
    Row {
        id: "r12f",
        what: "info/exclude, a new conftest.py",
        play: |target| {
            target.holds_while("not os.path.exists('conftest.py')")?;
            target.commit("extra")?;
            target.begin_and_be_reviewed()?;
            target.write(".git/info/exclude", "conftest.py\n")?;
            target.write("conftest.py", "")?;
            target.is_caught()
        },
    },
    Row {
        id: "r12f by the user's list",
        what: "the list of the user's own git, written during the run",
        play: |target| {
            target.holds_while("not os.path.exists('conftest.py')")?;
            target.commit("extra")?;
            target.begin_and_be_reviewed()?;
            let folder = target.scene.lab.home().join(".config/git");
            fs::create_dir_all(&folder)?;
            fs::write(folder.join("ignore"), "conftest.py\n")?;
            target.write("conftest.py", "")?;
            target.is_caught()
        },
    },
    Row {
        id: "r12f out of the index",
        what: "git rm --cached and .gitignore before the review, edited after it",
        play: |target| {
            target.begin()?;
            target.fix()?;
            target.git(&["rm", "-q", "--cached", "app.py"])?;
            target.write(".gitignore", "__pycache__\napp.py\n")?;
            target.claim_reaches_review()?;
            target.review_agrees()?;
            target.breaks_after_review()
        },
    },
    Row {
        id: "r12g",
        what: "ident: code inside $Id: ... $",
        play: |target| {
            target.holds_while("len(open('data.txt').read()) < 10")?;
            target.write("data.txt", "$Id$\n")?;
            target.write(".gitattributes", "data.txt ident\n")?;
            target.commit("extra")?;
            target.begin_and_be_reviewed()?;
            target.write("data.txt", "$Id: anything at all $\n")?;
            target.is_caught()
        },
    },
    Row {
        id: "r12h",
        what: "a link out of the project, its target edited",
        play: |target| {
            let outside = target.scene.lab.home().join("outside.txt");
            fs::write(&outside, "good")?;
            target.holds_while("open('data.txt').read() == 'good'")?;
            symlink(&outside, target.path("data.txt"))?;
            target.commit("extra")?;
            target.begin_and_be_reviewed()?;
            fs::write(&outside, "evil")?;
            target.is_caught()
        },
    },
    Row {
        id: "r12i",
        what: "a submodule without its .git, edited",
        play: |target| {
            target.holds_while("open('sub/data.txt').read() == 'good'")?;
            let origin = target.scene.lab.home().join("origin");
            fs::create_dir(&origin)?;
            fs::write(origin.join("data.txt"), "good")?;
            let origin = origin.display().to_string();
            target.git(&["init", "-q", &origin])?;
            target.git(&["-C", &origin, "add", "."])?;
            target.git(&["-C", &origin, "commit", "-qm", "x"])?;
            target.git(&[
                "-c",
                "protocol.file.allow=always",
                "submodule",
                "--quiet",
                "add",
                &origin,
                "sub",
            ])?;
            target.commit("sub")?;
            fs::remove_file(target.path("sub/.git"))?;
            target.begin_and_claim()?;
            target.write("sub/data.txt", "evil")?;
            target.is_caught()
        },
    },
    Row {
        id: "r14a",
        what: "a filter whose name holds =",
        play: |target| {
            let (script, trace) = target.tracing_script()?;
            target.write(".gitattributes", "* filter=a=b\n")?;
            target.add_to_config(
                format!("[filter \"a=b\"]\n\tclean = {script}\n\trequired = true\n").as_bytes(),
            )?;
            target.runs_nothing(&trace)
        },
    },
    Row {
        id: "r14b",
        what: "a filter whose name is not UTF-8",
        play: |target| {
            let (script, trace) = target.tracing_script()?;
            fs::write(target.path(".gitattributes"), b"* filter=\xff\xfe\n")?;
            target.add_to_config(b"[filter \"\xff\xfe\"]\n\tclean = ")?;
            target.add_to_config(format!("{script}\n\tprocess = {script}\n").as_bytes())?;
            target.runs_nothing(&trace)
        },
    },
    Row {
        id: "r14c",
        what: "a submodule's own filter",
        play: |target| {
            let (script, trace) = target.tracing_script()?;
            target.git(&["init", "-q", "sub"])?;
            target.write("sub/data.txt", "one")?;
            target.write("sub/.gitattributes", "* filter=bad\n")?;
            target.git(&["-C", "sub", "add", "."])?;
            target.git(&["-C", "sub", "commit", "-qm", "x"])?;
            target.git(&["-c", "advice.addEmbeddedRepo=false", "add", "sub"])?;
            target.commit("sub")?;
            for name in ["filter.bad.clean", "filter.bad.process", "core.fsmonitor"] {
                target.git(&["-C", "sub", "config", name, &script])?;
            }
            target.write("sub/data.txt", "two")?;
            target.runs_nothing(&trace)
        },
    },
    Row {
        id: "r14d",
        what: "a filter whose name holds =, in another user's repository",
        play: |target| {
            let (script, trace) = target.tracing_script()?;
            target.write(".gitattributes", "* filter=a=b\n")?;
            target.add_to_config(format!("[filter \"a=b\"]\n\tclean = {script}\n").as_bytes())?;
            target.git(&["config", "--global", "safe.directory", "*"])?;
            // Only who may give files away can play it.
            let _ = chown(target.path(".git"), Some(12_345), None);
            target.runs_nothing(&trace)
        },
    },
    Row {
        id: "r20",
        what: "1,200 empty folders in each other: the claim is judged, and the next stop is held",
        play: |target| {
            target.begin()?;
            target.fix()?;
            fs::create_dir_all(target.path(&"d/".repeat(1_200)))?;
            target.claim_reaches_review()?;
            let answer = target.scene.says("Some of it is done.")?;
            ensure!(answer.blocks(), "the session was not held: {answer:?}");
            Ok(())
        },
    },
    Row {
        id: "r20b",
        what: "a FIFO in the place of .gitattributes: the claim fails, and is counted",
        play: |target| {
            target.begin()?;
            target.fix()?;
            ensure!(
                Command::new("mkfifo")
                    .arg(target.path(".gitattributes"))
                    .status()?
                    .success(),
                "no FIFO"
            );
            let reason = target.scene.claim_fails()?;
            ensure!(
                reason.contains("cannot be shown") || reason.contains("could not all be read"),
                "{reason}"
            );
            Ok(())
        },
    },
];

#[test]
#[ignore = "needs python3: cargo xtask test"]
fn no_setting_of_git_hides_a_change_or_runs() {
    play(ROWS).unwrap();
}
