//! Added lines that say that something is not finished: who is shown them, and that they are told as they are now.

use anyhow::ensure;
use omo_tests::executed::{Case, WORD, play};

#[test]
fn added_lines_that_look_unfinished_are_told_as_they_are_now() {
    let cases: &[Case] = &[("left, mended, and never ours", &[("1", &[], &[WORD]), ("2", &["1"], &[WORD])], |s| {
        s.lab().write("old.rs", "// TODO: older than the run\n")?;
        s.begin(&[])?;
        s.lab().write("form.rs", "fn form() {}\n// TODO: the button\n")?;
        let ticket = s.start("1")?;
        s.lab().write("form.rs", "fn form() {}\n// TODO: the button\n// FIXME: the field\n")?;
        s.lab().write("words/1.txt", "done\n")?;
        s.person(&["unit", "done", "--ticket", &ticket])?.ends(0)?;
        s.do_task("2")?;
        let brief = s.person(&["unit", "start", "verify"])?.ends(0)?;
        ensure!(brief.out.contains("`form.rs:3` FIXME"), "{}", brief.out);
        ensure!(!brief.out.contains("old.rs") && !brief.out.contains("form.rs:2"), "{}", brief.out);
        s.person(&["verdict", "FAIL", "--ticket", &brief.ticket()?, "--reopen", "1: the field"])?.ends(0)?;

        // Whoever does it again moves one mark to another line, and takes the other away.
        let ticket = s.start("1")?;
        s.lab().write("form.rs", "// TODO: the button\n\n\n// FIXME: the label\n")?;
        s.person(&["unit", "done", "--ticket", &ticket])?.ends(0)?;
        let brief = s.person(&["unit", "start", "verify"])?.ends(0)?;
        ensure!(brief.out.contains("`form.rs:4` FIXME") && !brief.out.contains("form.rs:3"), "{}", brief.out);
        s.lab().write("form.rs", "// TODO: the button\n")?;
        let id = s.show(&brief.ticket()?, "true")?;
        s.person(&["verdict", "PASS", "--ticket", &brief.ticket()?, "--evidence", &id])?.ends(0)?;
        let report = s.next()?.ends(0)?.out;
        ensure!(report.contains("## Execution Complete") && !report.contains("FIXME"), "{report}");
        Ok(())
    })];
    play(cases).unwrap();
}
