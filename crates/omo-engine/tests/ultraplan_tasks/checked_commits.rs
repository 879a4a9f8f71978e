//! Checks on a commit: where hooks changed it, and where git ignores a file that makes them green.

use std::fs;
use std::time::SystemTime;

use omo_engine::event::AttemptEnd;
use omo_engine::report::findings::finding_lines;
use omo_engine::report::judged_with::judged_with_lines;

use crate::Named;
use crate::ultraplan_lab::{UltraplanLab, plan_text, step, usual_step};

pub(crate) const ALL: &[Named] = &[
    (
        "the_checks_run_on_what_hooks_made_of_a_commit",
        the_checks_run_on_what_hooks_made_of_a_commit,
    ),
    (
        "a_commit_that_a_hook_broke_stays_and_is_tried_again",
        a_commit_that_a_hook_broke_stays_and_is_tried_again,
    ),
    (
        "a_check_that_needs_an_ignored_file_is_named",
        a_check_that_needs_an_ignored_file_is_named,
    ),
];

const GREEN: &str = "0\ndone\n";
/// Stages other content than the work tree has.
const STAGE: &str =
    "git update-index --cacheinfo 100644,$(printf 'CONTENT' | git hash-object -w --stdin),src/1.rs";

fn staged(content: &str) -> String {
    STAGE.replace("CONTENT", content)
}

fn last_end(lab: &UltraplanLab) -> AttemptEnd {
    lab.state().tasks["1"].last_end.clone().unwrap()
}

fn count_runs(lab: &UltraplanLab) -> usize {
    fs::read_to_string(lab.data().join("runs"))
        .unwrap_or_default()
        .lines()
        .count()
}

fn the_checks_run_on_what_hooks_made_of_a_commit() {
    let checkpoint = "**Checkpoint:** `git commit -m \"one\"`";
    let usual = "**Verify:** `echo run >> \"$HOME/runs\"; sh verify.sh 1`";
    let bound = "**Verify:** `echo run >> \"$HOME/runs\"; test -e only.here && sh verify.sh 1`";
    let green = "hooks changed FILES in its commit, and its checks are green on that, too";
    let red = "hooks of the repository changed FILES in its commit COMMIT, which stays, and on that `echo run";
    let unjudged = "hooks changed FILES in its commit, and its checks could not be judged on that: they are red in a private copy";
    for (check, hook, files, standing, said, runs) in [
        (
            usual,
            "git status > /dev/null".to_owned(),
            "",
            "passed",
            "",
            1,
        ),
        (
            usual,
            "echo formatted >> src/1.rs; git add src/1.rs".to_owned(),
            "src/1.rs",
            "passed",
            green,
            2,
        ),
        (
            usual,
            "echo 1 > stamp; git add stamp".to_owned(),
            "stamp",
            "passed",
            green,
            2,
        ),
        (
            usual,
            "echo 1 > src/1.rs; git add src/1.rs".to_owned(),
            "src/1.rs",
            "pending",
            red,
            2,
        ),
        (
            usual,
            staged("0\\nother\\n"),
            "src/1.rs",
            "passed",
            green,
            2,
        ),
        (
            usual,
            staged("1\\nbroken\\n"),
            "src/1.rs",
            "pending",
            red,
            3,
        ),
        // The check is red in every private copy. Its need of a file shows before.
        (
            bound,
            staged("1\\nbroken\\n"),
            "src/1.rs",
            "passed",
            unjudged,
            5,
        ),
    ] {
        let lines = [
            "**Files:** `src/1.rs`",
            check,
            "**On failure:** revert",
            checkpoint,
        ];
        let lab = UltraplanLab::new(&plan_text(&[step(1, &lines), usual_step(2, "revert")], ""));
        lab.write(".git/info/exclude", "only.here\n");
        write_long_ago(&lab, "only.here");
        lab.hook("pre-commit", &hook);
        let started = lab.start("1").unwrap();
        let runs_before = count_runs(&lab);
        lab.write("src/1.rs", GREEN);
        lab.done(&started.ticket);
        assert_eq!(lab.standing("1"), standing, "{hook}");
        let end = last_end(&lab);
        let commit = end.commit.clone().unwrap();
        assert_eq!(lab.log(), ["one", "start"], "its commit stays: {hook}");
        let changed: Vec<String> = end
            .hook_changes
            .iter()
            .flat_map(|changes| changes.files.clone())
            .collect();
        assert_eq!(changed.join(", "), files, "{hook}");
        let said = said.replace("FILES", files).replace("COMMIT", &commit[..7]);
        let lines = judged_with_lines(&lab.state()).join("\n");
        let told = if standing == "passed" {
            &lines
        } else {
            &end.evidence
        };
        assert!(told.contains(&said), "{hook}: {told}");
        assert_eq!(
            lines.is_empty(),
            said.is_empty() || standing != "passed",
            "{lines}"
        );
        assert!(
            finding_lines(&lab.state(), &lab.state().plan.tasks)
                .join("\n")
                .contains(&lines)
        );
        assert_eq!(count_runs(&lab) - runs_before, runs, "{hook}");
        assert_eq!(
            lab.git(&["branch", "--format=%(refname)"]),
            "refs/heads/main\n"
        );
    }
}

fn a_commit_that_a_hook_broke_stays_and_is_tried_again() {
    let lab = UltraplanLab::new(&plan_text(
        &[usual_step(1, "revert"), usual_step(2, "revert")],
        "",
    ));
    lab.hook("pre-commit", "echo 1 > src/1.rs; echo 1 > stamp; git add .");
    lab.attempt("1", GREEN);
    let started = lab.start("1").unwrap();
    assert!(
        started
            .brief
            .contains("hooks of the repository changed src/1.rs"),
        "{}",
        started.brief
    );
    lab.hook("pre-commit", "exit 0");
    lab.write("src/1.rs", GREEN);
    lab.done(&started.ticket);
    assert_eq!(
        (lab.standing("1"), lab.log()),
        (
            "passed",
            ["part 1", "part 1", "start"].map(str::to_owned).to_vec()
        )
    );
    assert_eq!(lab.git(&["show", "HEAD:src/1.rs"]), GREEN);
    assert_eq!(
        last_end(&lab).hook_changes.unwrap().files,
        ["src/1.rs", "stamp"],
        "the first commit is there"
    );
    // After the last attempt it has failed, and nothing of the commits is taken back.
    let lab = UltraplanLab::new(&plan_text(
        &[usual_step(1, "revert"), usual_step(2, "revert")],
        "",
    ));
    lab.hook(
        "pre-commit",
        "echo 1 >> src/1.rs; sed -i 1s/0/1/ src/1.rs; git add src/1.rs",
    );
    for _ in 0..3 {
        let started = lab.start("1").unwrap();
        let before = lab.file("src/1.rs").unwrap();
        lab.write("src/1.rs", &format!("0\n{before}"));
        lab.done(&started.ticket);
    }
    assert_eq!((lab.standing("1"), lab.log().len()), ("failed", 4));
    assert_eq!(lab.git(&["status", "--porcelain"]), "");
}

fn a_check_that_needs_an_ignored_file_is_named() {
    let checkpoint = "**Checkpoint:** `git commit -m \"one\"`";
    // Columns: script, files before, files of the attempt, named files, and runs of the check.
    for (script, before, written, needed, runs) in [
        ("cat secret.txt", "secret.txt", "", &["secret.txt"][..], 3),
        ("cat secrets/key", "secrets/key", "", &["secrets/key"], 3),
        ("cat *.key", "", "a.key", &["a.key"], 3),
        ("cat *.key || true", "", "a.key", &[], 2),
        ("cat *.key", "a.key", "", &["a.key"], 3),
        // The file was there before, and nothing names it.
        ("cat src/*", "a.key", "", &[], 1),
        ("cat target/built", "", "target/built", &[], 1),
        (
            "cat node_modules/a/index.js",
            "",
            "node_modules/a/index.js",
            &[],
            1,
        ),
        // The check makes the file itself.
        ("cat src/1.rs > a.key; cat *.key", "", "a.key", &[], 1),
    ] {
        for commit in [checkpoint, "**Risk:** low"] {
            let lines = [
                "**Files:** `src/1.rs`",
                "**Verify:** `sh read.sh`",
                "**On failure:** revert",
                commit,
            ];
            let lab =
                UltraplanLab::new(&plan_text(&[step(1, &lines), usual_step(2, "revert")], ""));
            lab.write(
                "read.sh",
                &format!("echo run >> \"$HOME/runs\"\n{script} > /dev/null\n"),
            );
            lab.write(
                ".gitignore",
                "secret.txt\n/secrets/\n*.key\n/target/\nnode_modules/\n",
            );
            lab.git(&["add", "."]);
            lab.git(&["commit", "-qm", "read"]);
            if !before.is_empty() {
                write_long_ago(&lab, before);
            }
            let started = lab.start("1").unwrap();
            lab.write("src/1.rs", GREEN);
            if !written.is_empty() {
                lab.write(written, "x");
            }
            let runs_before = count_runs(&lab);
            lab.done(&started.ticket);
            assert_eq!(
                (lab.standing("1"), last_end(&lab).needed_ignored.as_slice()),
                ("passed", needed_of(needed).as_slice()),
                "{script}"
            );
            assert_eq!(count_runs(&lab) - runs_before, runs, "{script}");
            let said = judged_with_lines(&lab.state()).join("\n");
            let expected = needed
                .first()
                .map(|file| format!("step 1: its checks are green only with the ignored {file}"));
            assert_eq!(said, expected.unwrap_or_default(), "{script}");
        }
    }
}

fn write_long_ago(lab: &UltraplanLab, path: &str) {
    lab.write(path, "x");
    let file = fs::File::options()
        .write(true)
        .open(lab.root().join(path))
        .unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
}

fn needed_of(files: &[&str]) -> Vec<String> {
    files.iter().map(|file| (*file).to_owned()).collect()
}
