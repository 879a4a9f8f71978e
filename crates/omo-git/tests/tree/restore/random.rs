//! A thousand random work trees, each put back as it was.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use omo_git::restore::RestoreScope;
use proptest::prelude::{ProptestConfig, Strategy, any, prop_oneof, proptest};
use proptest::sample::select;

use super::{files, marks, with_snapshot_context};
use crate::tree::{Repository, git_in};

/// Some are a file here and a folder there.
const NAMES: [&[u8]; 12] = [
    b"a",
    b"a/x",
    b"b/c",
    b"b",
    b"b/d/e",
    b"odd\nname",
    b"bad\xff/\xfe",
    b" lead",
    b"-dash",
    b"quo\"te\\",
    b".gitattributes",
    b"sub/.gitattributes",
];
const CONTENTS: [&[u8]; 7] = [
    b"",
    b"x\r\ny\n",
    b"x\ny\n",
    b"$Id$ $Id: 1 $\n",
    b"\0\xff\r\n",
    b"* -text\n",
    b"* text=auto eol=lf ident\n",
];
const MODES: [u32; 4] = [0o644, 0o755, 0o600, 0o444];

/// Something that a step does.
#[derive(Clone, Debug)]
enum Act {
    Write(&'static [u8], &'static [u8], u32),
    Link(&'static [u8], &'static [u8]),
    Remove(&'static [u8]),
    Stage(&'static [u8]),
    Unstage(&'static [u8]),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => (select(&NAMES), select(&CONTENTS), select(&MODES)).prop_map(|(name, content, mode)| Act::Write(name, content, mode)),
        2 => (select(&NAMES), select(&NAMES)).prop_map(|(name, target)| Act::Link(name, target)),
        2 => select(&NAMES).prop_map(Act::Remove),
        1 => select(&NAMES).prop_map(Act::Stage),
        1 => select(&NAMES).prop_map(Act::Unstage),
    ]
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    proptest::collection::vec(act(), 0..8)
}

/// Removes whatever is in the way of a path, and makes its folders.
fn clear(base: &Path, name: &[u8]) -> std::path::PathBuf {
    let path = base.join(OsStr::from_bytes(name));
    for part in path
        .ancestors()
        .skip(1)
        .take_while(|part| part.starts_with(base) && *part != base)
    {
        if part.symlink_metadata().is_ok_and(|meta| !meta.is_dir()) {
            fs::remove_file(part).unwrap();
        }
    }
    match path.symlink_metadata() {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(&path).unwrap(),
        Ok(_) => fs::remove_file(&path).unwrap(),
        Err(_) => {}
    }
    path
}

/// Does it below `folder`, in the repository at `top`.
fn does(top: &Path, folder: &str, act: &Act) {
    let base = top.join(folder);
    fs::create_dir_all(&base).unwrap();
    let cleared = |name: &[u8]| {
        let path = clear(&base, name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    };
    let git = |arguments: &[&str], name: &[u8]| {
        let mut command = std::process::Command::new("git");
        command
            .args(["--literal-pathspecs"])
            .args(arguments)
            .arg("--")
            .arg(OsStr::from_bytes(name));
        // What is not there cannot be staged, which is no matter.
        command.current_dir(&base).output().unwrap();
    };
    match act {
        Act::Write(name, content, mode) => {
            let path = cleared(name);
            fs::write(&path, content).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(*mode)).unwrap();
        }
        Act::Link(name, target) => symlink(OsStr::from_bytes(target), cleared(name)).unwrap(),
        Act::Remove(name) => drop(clear(&base, name)),
        Act::Stage(name) => git(&["add", "-A"], name),
        Act::Unstage(name) => git(&["rm", "-q", "-r", "--cached"], name),
    }
}

/// Does all of them, in their order.
fn do_all(top: &Path, folder: &str, acts: &[Act]) {
    for act in acts {
        does(top, folder, act);
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// A repository whose settings and attributes change the bytes of every text that passes through git.
fn template() -> Repository {
    let it = Repository::new();
    it.git(&["config", "core.autocrlf", "true"]);
    it.git(&["config", "core.safecrlf", "false"]);
    it.write(".gitattributes", "* text=auto ident\n*.txt eol=crlf\n");
    it.git(&["add", "."]);
    it.git(&["commit", "-qm", "attributes"]);
    fs::remove_dir_all(it.top.join(".git/hooks")).unwrap();
    it
}

/// Runs as many cases as are asked for on each of four threads.
fn on_threads(run: fn(&Repository)) {
    let template = template();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| run(&template))).collect();
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 125,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

#[test]
fn a_random_tree_is_put_back_whole() {
    on_threads(|template| {
        proptest!(config(), |(earlier in acts(), step in acts())| {
            let temp = tempfile::tempdir().unwrap();
            let (top, state) = (temp.path().join("project"), temp.path().join("state"));
            copy(&template.top, &top);
            do_all(&top, "", &earlier);
            with_snapshot_context(&top, &state, |place| {
                let before = place.take_bytes().unwrap();
                let (seen, marked) = (files(&top), marks(&top));
                do_all(&top, "", &step);
                let end = place.restore(&before, RestoreScope::All).unwrap();
                assert!(end.failed.is_empty(), "{end:?}");
                assert_eq!(files(&top), seen);
                assert_eq!(marks(&top), marked);
            });
        });
    });
}

#[test]
fn what_others_do_in_a_random_tree_stays() {
    on_threads(|template| {
        proptest!(config(), |(earlier in acts(), step in acts(), theirs in acts(), by_paths in any::<bool>())| {
            let temp = tempfile::tempdir().unwrap();
            let (top, state) = (temp.path().join("project"), temp.path().join("state"));
            copy(&template.top, &top);
            for folder in ["ours", "theirs"] {
                fs::create_dir_all(top.join(folder)).unwrap();
                do_all(&top, folder, &earlier);
            }
            with_snapshot_context(&top, &state, |place| {
                let before = place.take_bytes().unwrap();
                let (ours, staged) = (files(&top.join("ours")), git_in(&top, &["ls-files", "-s", "ours"]));
                do_all(&top, "ours", &step);
                let after = place.take_bytes().unwrap();
                do_all(&top, "theirs", &theirs);
                let (others, their_staged) = (files(&top.join("theirs")), git_in(&top, &["ls-files", "-s", "theirs"]));
                let what = if by_paths { RestoreScope::Paths(&["ours"]) } else { RestoreScope::Until(&after) };
                let end = place.restore(&before, what).unwrap();
                assert!(end.failed.is_empty() && end.left_alone.is_empty(), "{end:?}");
                fs::create_dir_all(top.join("ours")).unwrap();
                assert_eq!(files(&top.join("ours")), ours);
                assert_eq!(files(&top.join("theirs")), others);
                assert_eq!(git_in(&top, &["ls-files", "-s", "ours"]), staged);
                assert_eq!(git_in(&top, &["ls-files", "-s", "theirs"]), their_staged);
            });
        });
    });
}
