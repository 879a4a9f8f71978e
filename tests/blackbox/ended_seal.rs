//! What is kept of an ended run, and was changed or removed since: it is not shown, and nothing is green above it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use omo_core::events::LastSeen;
use omo_core::session::Session;
use omo_state::seal::SealKey;
use serde_json::{Value, json};

use crate::claim_scene::{AGREES, play_with_review};
use crate::cli::omo;
use crate::scene::Scene;

const CHANGED: &str = "was changed since it ended, and is not shown";
const DIFFERENCE_CHANGED: &str =
    "the difference of this run was changed since the run ended, and is not shown";
const DIFFERENCE_GONE: &str = "the difference of this run was kept, and is gone";

/// What every way to look at a run says.
struct Shown {
    page: String,
    all: String,
    report: String,
    watch: String,
}

impl Shown {
    fn of(scene: &Scene) -> Result<Self> {
        let says = |arguments: &[&str]| -> Result<String> {
            let output = omo(scene, arguments, &[])?;
            ensure!(
                output.stderr.is_empty(),
                "{arguments:?}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
            Ok(String::from_utf8(output.stdout)?)
        };
        Ok(Self {
            page: fs::read_to_string(says(&["report", "--html"])?.trim_end())?,
            all: fs::read_to_string(says(&["report", "--all", "--html"])?.trim_end())?,
            report: says(&["report", "--last"])?,
            watch: says(&["watch", "--seconds", "0"])?,
        })
    }

    /// The run is green, and nothing is said against it.
    fn is_proved(&self) -> Result<()> {
        ensure!(
            self.page.contains("class=\"verdict proved\""),
            "{}",
            self.page
        );
        ensure!(self.all.contains("1 proved</strong>"), "{}", self.all);
        for text in [&self.report, &self.watch] {
            ensure!(text.starts_with("[omo] VERIFIED: "), "{text}");
        }
        Ok(())
    }

    /// Nothing says that it is proved, and everything why.
    fn is_not_proved(&self, why: &str) -> Result<()> {
        ensure!(
            self.page.contains("class=\"verdict unproved\""),
            "{}",
            self.page
        );
        ensure!(!self.all.contains("1 proved</strong>"), "{}", self.all);
        for text in [&self.page, &self.all, &self.report, &self.watch] {
            ensure!(text.contains(&format!("NOT PROVED: {why}")), "{text}");
        }
        Ok(())
    }

    fn shows(&self, text: &str) -> bool {
        [&self.page, &self.report]
            .iter()
            .any(|shown| shown.contains(text))
    }
}

/// Plays a run that is proved, by a check that prints something and by a review.
fn prove(scene: &mut Scene) -> Result<()> {
    scene.lab.write("check.sh", "echo it printed this\n")?;
    scene.start("--check \"sh check.sh\"")?;
    scene.lab.write("fixed.txt", "what was made\n")?;
    ensure!(scene.claim()?.blocks(), "no review was asked for");
    scene.reviewer_reports(AGREES)?;
    scene.claim_ends("verified")?;
    Ok(())
}

/// The file that is kept of the run that ended last, with this ending.
fn kept_file(scene: &Scene, ending: &str) -> Result<PathBuf> {
    let names = fs::read_dir(scene.lab.state_folder().join("ended"))?.map(|file| Ok(file?.path()));
    let mut files = names.collect::<Result<Vec<PathBuf>>>()?;
    files.retain(|file| file.extension().is_some_and(|it| it == ending));
    files.sort();
    files.pop().with_context(|| format!("no .{ending}"))
}

fn edit(file: &Path, change: impl FnOnce(&mut Value)) -> Result<()> {
    let mut record: Value = serde_json::from_slice(&fs::read(file)?)?;
    change(&mut record);
    Ok(fs::write(file, serde_json::to_vec_pretty(&record)?)?)
}

/// Takes out of a record what an earlier omo did not write, and seals its entry as that did.
fn as_earlier_omo_kept_it(scene: &Scene) -> Result<()> {
    let key = SealKey::find(Some(&scene.lab.home().join(".local/state")))?.context("no key")?;
    edit(&kept_file(scene, "json")?, |record| {
        let mut entry: Session =
            serde_json::from_value(record["entry"].clone()).unwrap_or_default();
        (
            entry.seal,
            entry.plan_run,
            entry.typed_command,
            entry.updated_at,
        ) = (None, None, None, None);
        entry.last_seen = LastSeen::default();
        let sealed = serde_json::to_vec(&(2, scene.session.session(), &entry)).unwrap_or_default();
        record["entry"]["seal"] = json!(key.mac(&sealed));
        for name in ["seal", "difference", "decisions"] {
            record.as_object_mut().map(|record| record.remove(name));
        }
    })
}

#[test]
fn what_was_changed_since_the_end_is_not_shown_and_not_green() {
    play_with_review(&[
        ("nothing was changed", |s| {
            prove(s)?;
            let shown = Shown::of(s)?;
            shown.is_proved()?;
            ensure!(
                shown.page.contains("+what was made") && shown.page.contains("end: verified"),
                "{}",
                shown.page
            );
            ensure!(
                shown.shows("it printed this")
                    && !shown.shows("not sealed")
                    && !shown.shows("kept texts")
            );
            ensure!(!shown.watch.contains("not sealed"), "{}", shown.watch);
            Ok(())
        }),
        ("the difference was changed", |s| {
            prove(s)?;
            fs::write(
                kept_file(s, "diff")?,
                "A harmless.txt (new, 1 bytes)\n\n+harmless\n",
            )?;
            let shown = Shown::of(s)?;
            shown.is_not_proved(DIFFERENCE_CHANGED)?;
            ensure!(
                !shown.shows("harmless") && shown.shows("it printed this"),
                "{}",
                shown.page
            );
            Ok(())
        }),
        ("the difference was removed", |s| {
            prove(s)?;
            fs::remove_file(kept_file(s, "diff")?)?;
            let shown = Shown::of(s)?;
            shown.is_not_proved(DIFFERENCE_GONE)?;
            ensure!(
                shown
                    .page
                    .contains("cannot be shown: it was kept, and is gone"),
                "{}",
                shown.page
            );
            Ok(())
        }),
        ("what a check printed was changed", |s| {
            prove(s)?;
            edit(&kept_file(s, "json")?, |record| {
                let logs = record["logs"].as_object_mut().into_iter().flatten();
                logs.for_each(|(_, log)| *log = json!("it printed something harmless"));
            })?;
            let shown = Shown::of(s)?;
            shown.is_not_proved(&format!("what was kept of this run {CHANGED}"))?;
            ensure!(
                !shown.shows("harmless") && !shown.shows("+what was made"),
                "{}",
                shown.page
            );
            ensure!(
                shown.report.contains("> [omo] what it printed was changed"),
                "{}",
                shown.report
            );
            Ok(())
        }),
        ("a decision was changed, and the seal taken out", |s| {
            prove(s)?;
            edit(&kept_file(s, "json")?, |record| {
                record["decisions"][0]["why"] = json!("harmless");
                record.as_object_mut().map(|record| record.remove("seal"));
            })?;
            let shown = Shown::of(s)?;
            shown.is_not_proved(&format!("what was kept of this run {CHANGED}"))?;
            ensure!(!shown.shows("harmless"), "{}", shown.page);
            Ok(())
        }),
        ("all of it was removed", |s| {
            prove(s)?;
            fs::remove_dir_all(s.lab.state_folder().join("ended"))?;
            let shown = Shown::of(s)?;
            shown.is_proved()?;
            ensure!(
                shown.shows("not kept: the file is gone") && !shown.shows("it printed this"),
                "{}",
                shown.page
            );
            ensure!(
                shown.page.contains("cannot be shown: it was not kept"),
                "{}",
                shown.page
            );
            Ok(())
        }),
        ("it was kept by an earlier omo", |s| {
            prove(s)?;
            as_earlier_omo_kept_it(s)?;
            let shown = Shown::of(s)?;
            shown.is_proved()?;
            ensure!(
                shown.page.contains("+what was made") && shown.shows("it printed this"),
                "{}",
                shown.page
            );
            for text in [&shown.page, &shown.report] {
                ensure!(
                    text.contains("not sealed: kept by an earlier omo"),
                    "{text}"
                );
            }
            Ok(())
        }),
    ]);
}

#[test]
fn a_log_that_was_changed_since_the_end_changes_no_timeline() {
    play_with_review(&[("a line that was changed, and one that was added", |s| {
        prove(s)?;
        let log = s.lab.state_folder().join("decisions.jsonl");
        let text = fs::read_to_string(&log)?;
        let last = text.lines().last().context("no line")?;
        let added = last
            .replace("end: verified", "harmless")
            .replace("\"Stop\"", "\"UserPromptSubmit\"");
        fs::write(
            &log,
            format!(
                "{}{added}\n",
                text.replace("turned on by you", "turned on by nothing")
            ),
        )?;
        let shown = Shown::of(s)?;
        shown.is_proved()?;
        let page = &shown.page;
        ensure!(
            page.contains("turned on by you") && !page.contains("turned on by nothing"),
            "{page}"
        );
        ensure!(
            page.matches("harmless: claimed and judged (not sealed)")
                .count()
                == 1,
            "{page}"
        );
        ensure!(
            page.matches("<strong>passed</strong> <span class=\"dim\">+")
                .count()
                == 1,
            "an attempt more: {page}"
        );
        ensure!(shown.watch.contains("VERIFIED"), "{}", shown.watch);
        Ok(())
    })]);
}

#[test]
fn a_planted_record_with_a_later_date_decides_nothing_about_what_is_verified() {
    const LATER: &str = "2999-12-31T000000.000Z";
    play_with_review(&[(
        "one of another check, one that is forged, and an earlier one",
        |s| {
            s.start("--no-review --check \"pwd >> $HOME/first\"")?;
            s.claim_ends("verified")?;
            let first = kept_file(s, "json")?;
            let first_id = s.session.session().to_owned();
            s.session = s.another()?;
            s.start("--no-review --check \"pwd >> $HOME/second\"")?;
            s.claim_ends("verified")?;
            let second = kept_file(s, "json")?;
            ensure!(first != second, "{}", first.display());
            let folder = s.lab.state_folder().join("ended");
            let planted = folder.join(format!("{LATER}-{first_id}.json"));
            let planted_forged = folder.join(format!("{LATER}-{}.json", s.session.session()));
            let later = |record: &mut Value| {
                record["endedAt"] = json!("2999-12-31T00:00:00.000Z");
            };
            fs::copy(&first, &planted)?;
            edit(&planted, later)?;
            fs::copy(&second, &planted_forged)?;
            edit(&planted_forged, |record| {
                later(record);
                record["entry"]["verdict"]["at"] = json!("2999-12-31T00:00:00.000Z");
                record["entry"]["gates"][0]["run"] = json!("pwd >> $HOME/forged");
            })?;
            let (ran_first, ran_second) = (s.traced("first"), s.traced("second"));
            let output = omo(s, &["verify"], &[])?;
            ensure!(
                output.status.success(),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
            ensure!(s.traced("forged") == 0, "the check of a forged record ran");
            ensure!(
                s.traced("first") == ran_first,
                "the check of an earlier run ran"
            );
            ensure!(
                s.traced("second") == ran_second + 1,
                "{}",
                s.traced("second")
            );
            let page = Shown::of(s)?.page;
            ensure!(
                page.contains("/second")
                    && !page.contains("/first")
                    && !page.contains("kept texts"),
                "{page}"
            );
            // Where the state knows neither, the last one that was kept is shown.
            fs::remove_file(s.state_file())?;
            let report = String::from_utf8(omo(s, &["report", "--last"], &[])?.stdout)?;
            ensure!(
                report.contains("/second") && !report.contains("/first"),
                "{report}"
            );
            Ok(())
        },
    )]);
}
