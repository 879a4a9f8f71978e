//! Ledgers that another program wrote, or moved lines in: each is an error with its place.

use std::fs;

use omo_engine::Run;

use crate::runs::run_lab::{RunLab, add_events, ledger, ledger_problem};

/// An edit of a ledger's lines; those of another run are there too.
type Edit = fn(&mut Vec<String>, &[String]);

/// Makes something else in the place of a ledger.
#[cfg(unix)]
type Make = fn(&Run);

fn lines(run: &Run) -> Vec<String> {
    fs::read_to_string(ledger(run))
        .unwrap()
        .split_inclusive('\n')
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_line_that_omo_did_not_write_there_is_named() {
    let scene = RunLab::new();
    let (other, run) = (scene.run_with(4), scene.run_with(4));
    let (good, foreign) = (lines(&run), lines(&other));
    let cases: [(&str, Edit, &str); 12] = [
        (
            "changed",
            |lines, _| lines[2] = lines[2].replace("\"file\":\"1\"", "\"file\":\"9\""),
            "line 3: was not written",
        ),
        (
            "no seal",
            |lines, _| lines[2] = "{\"seq\":3,\"kind\":\"resumed\"}\n".to_owned(),
            "line 3: was not written",
        ),
        (
            "no JSON",
            |lines, _| lines[4] = "passed\n".to_owned(),
            "line 5: was not written",
        ),
        (
            "empty",
            |lines, _| lines[1] = "\n".to_owned(),
            "line 2: was not written",
        ),
        (
            "CRLF",
            |lines, _| lines[1] = lines[1].replace('\n', "\r\n"),
            "line 2: was not written",
        ),
        (
            "a hole",
            |lines, _| lines[4] = "\0".repeat(lines[4].len() - 1) + "\n",
            "line 5: was not written",
        ),
        (
            "deep",
            |lines, _| lines[3] = "[".repeat(100_000) + "\n",
            "line 4: was not written",
        ),
        (
            "no UTF-8 in the seal",
            |lines, _| {
                let end = lines[1].len() - 4;
                lines[1].replace_range(end - 1..=end, "é");
            },
            "line 2: was not written",
        ),
        (
            "swapped",
            |lines, _| lines.swap(2, 3),
            "line 3: does not follow",
        ),
        (
            "left out",
            |lines, _| _ = lines.remove(2),
            "line 3: does not follow",
        ),
        (
            "twice",
            |lines, _| lines.insert(2, lines[2].clone()),
            "line 4: does not follow",
        ),
        (
            "another run's",
            |lines, other| lines[0] = other[0].clone(),
            "line 1: was written for another run",
        ),
    ];
    for (what, edit, wanted) in cases {
        let mut edited = good.clone();
        edit(&mut edited, &foreign);
        fs::write(ledger(&run), edited.concat()).unwrap();
        // After a first read a process reads only new lines.
        let said = ledger_problem(&scene.runs().get(run.id()).unwrap());
        assert!(said.contains(wanted), "{what}: {said}");
    }
    fs::write(ledger(&run), good.concat()).unwrap();
    assert_eq!(run.state().unwrap().seq, 5);
}

#[test]
fn an_edit_behind_the_back_of_a_process_gets_into_no_snapshot() {
    let scene = RunLab::new();
    let run = scene.run_with(4);
    let snapshot = run.folder().join("snapshot.json");
    let mut edited = lines(&run);
    edited[2] = edited[2].replace("\"file\":\"1\"", "\"file\":\"9\"");
    fs::write(ledger(&run), edited.concat()).unwrap();
    // It reads only new lines, and adds to them, until the next snapshot would cover the edit.
    let refused = (0..100)
        .find_map(|number| add_events(&run, &[&number.to_string()]).err())
        .expect("it is not found");
    assert!(
        refused
            .to_string()
            .contains("line 3: was not written by omo"),
        "{refused}"
    );
    assert!(!snapshot.exists(), "the edit is sealed over");
}

#[test]
fn a_ledger_that_another_user_sealed_is_not_believed() {
    let (scene, other) = (RunLab::new(), RunLab::new());
    let (run, foreign) = (scene.run_with(1), other.run_with(1));
    fs::write(ledger(&run), lines(&foreign).concat()).unwrap();
    assert!(ledger_problem(&run).contains("line 1: was not written by omo"));
}

#[test]
fn without_the_key_nothing_is_believed_and_no_new_key_is_made() {
    let scene = RunLab::new();
    scene.run();
    fs::remove_file(scene.home().join("omo/key")).unwrap();
    let error = omo_engine::RunStore::find(&scene.project(), Some(&scene.home())).unwrap_err();
    assert!(
        error.to_string().contains("key that is not there any more"),
        "{error}"
    );
    assert!(!scene.home().join("omo/key").exists());
}

#[test]
fn a_file_of_a_gigabyte_is_not_read() {
    let scene = RunLab::new();
    let run = scene.run();
    fs::File::options()
        .write(true)
        .open(ledger(&run))
        .unwrap()
        .set_len(1 << 30)
        .unwrap();
    assert!(ledger_problem(&run).contains("too large"));
}

#[test]
#[cfg(unix)]
fn what_is_no_file_of_omos_is_not_opened() {
    let scene = RunLab::new();
    let kinds: [(&str, Make); 4] = [
        ("no regular file", |run| {
            let made = std::process::Command::new("mkfifo")
                .arg(ledger(run))
                .status()
                .unwrap();
            assert!(made.success());
        }),
        ("a symbolic link", |run| {
            std::os::unix::fs::symlink("/dev/zero", ledger(run)).unwrap();
        }),
        ("a hard link", |run| {
            let elsewhere = run.folder().join("elsewhere");
            fs::write(&elsewhere, "").unwrap();
            fs::hard_link(elsewhere, ledger(run)).unwrap();
        }),
        ("no regular file", |run| {
            fs::create_dir(ledger(run)).unwrap();
        }),
    ];
    for (what, make) in kinds {
        let run = scene.run();
        fs::remove_file(ledger(&run)).unwrap();
        make(&run);
        let said = ledger_problem(&run);
        assert!(said.contains(what), "{what}: {said}");
    }
}
