//! The texts of a run that a page, a report or a screen shows under its verdict: what its checks printed, what was decided,
//! and what it changed. Those of a run that has ended are shown only as omo left them.

use std::collections::BTreeMap;
use std::path::Path;

use omo_core::log_entry::LogEntry;
use omo_core::messages::run_end::headline;
use omo_core::session::id::SessionId;
use omo_core::session::{Session, UlwVerdict, VerdictKind};
use omo_state::ended_runs::{self, EndedRun, KeptDifference, RecordSeal};
use omo_state::env;
use omo_state::files::folder::GuardedFolder;
use omo_state::files::lock::{DEADLINE, StateLock};
use omo_state::seal::SealKey;

/// What they are called where something is said of them.
pub(crate) const KEPT_TEXTS: &str = "kept texts";
/// What stands where a check's output was changed.
const LOG_CHANGED: &str = "[omo] what it printed was changed since the run ended, and is not shown";
/// What stands behind a decision that was logged after the seal.
const NOT_SEALED: &str = "(not sealed)";
/// For so long a run may be about to be kept after its verdict, in milliseconds.
const ENDING_MILLIS: i64 = 10_000;

/// The texts of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeptTexts {
    /// The end of what each check printed, by its name.
    pub logs: BTreeMap<String, String>,
    /// What was decided in its session.
    pub decisions: Vec<LogEntry>,
    /// What a run that was proved changed, as a reviewer reads it, or why that cannot be shown. That of any other run is
    /// not kept.
    pub difference: Option<Result<String, String>>,
    /// What something else than omo has changed or removed since the end. It takes the green away.
    pub faults: Vec<String>,
    /// How far omo's seal reaches, where that is not all of it and nothing shows that it was changed.
    pub note: Option<&'static str>,
}

impl KeptTexts {
    /// Those of a run of this session, of whose project this is the log.
    pub(crate) fn read(
        state_home: Option<&Path>,
        folder: Option<&GuardedFolder>,
        id: &SessionId,
        session: &Session,
        log: Vec<LogEntry>,
    ) -> Self {
        let decisions = log.into_iter().filter(|entry| entry.session == id.as_str()).collect();
        let mut texts = Self { decisions, ..Self::default() };
        let Some(verdict) = &session.verdict else { return texts };
        let key = SealKey::find(state_home).ok().flatten();
        let is_ending = env::now().millis_since(verdict.at).is_none_or(|millis| millis < ENDING_MILLIS);
        if let Some(folder) = folder.filter(|_| is_ending) {
            // What ends it has the lock until all of it is kept.
            let _ = StateLock::take(folder, DEADLINE);
        }
        let found = folder.zip(key).and_then(|(folder, key)| {
            let run = ended_runs::read(folder, id, verdict.at)?;
            let seal = run.record_seal(&key);
            Some((ended_runs::read_difference(folder, &run, seal), run, seal))
        });
        let difference = if let Some((difference, run, seal)) = found {
            texts.take_record(run, seal, session, verdict);
            difference
        } else {
            texts.note = Some("not kept: the file is gone, or the end was interrupted. The timeline is not sealed");
            KeptDifference::NotKept
        };
        if verdict.kind == VerdictKind::Verified {
            texts.take_difference(difference);
        }
        texts
    }

    fn take_record(&mut self, run: EndedRun, seal: RecordSeal, session: &Session, verdict: &UlwVerdict) {
        match seal {
            RecordSeal::Holds => {
                self.logs = run.logs;
                let log = std::mem::replace(&mut self.decisions, run.decisions);
                // What was logged before the end and is not sealed was changed: the sealed one is shown.
                let later = log.into_iter().filter(|entry| entry.at >= verdict.at && !self.decisions.contains(entry));
                let later: Vec<LogEntry> = later.map(|entry| mark_unsealed(&entry)).collect();
                self.decisions.extend(later);
            }
            RecordSeal::NotSealed => {
                self.logs = run.logs;
                self.note = Some("not sealed: kept by an earlier omo, which sealed the results alone");
            }
            RecordSeal::Changed => {
                let ran = session.checks.iter().filter(|check| check.last.is_some());
                self.logs = ran.map(|check| (check.name.clone(), LOG_CHANGED.to_owned())).collect();
                self.decisions.clear();
                self.faults.push("what was kept of this run was changed since it ended, and is not shown".to_owned());
            }
        }
    }

    fn take_difference(&mut self, difference: KeptDifference) {
        let why = match difference {
            KeptDifference::Text(text) => {
                self.difference = Some(Ok(text));
                return;
            }
            KeptDifference::NotKept => "was not kept",
            KeptDifference::Changed => "was changed since the run ended, and is not shown",
            KeptDifference::Gone => "was kept, and is gone",
        };
        self.difference = Some(Err(format!("it {why}")));
        // That of a record which was changed is told already.
        if difference != KeptDifference::NotKept && self.faults.is_empty() {
            self.faults.push(format!("the difference of this run {why}"));
        }
    }

    /// How the run ended, or what is against showing it so.
    pub(crate) fn sentence(&self, session: &Session, verdict: &UlwVerdict) -> String {
        self.faults.first().map_or_else(|| headline(session, verdict), |fault| format!("NOT PROVED: {fault}"))
    }

    /// What the user of the run is told of its end, with what is against that before it.
    pub(crate) fn with_faults(&self, told: &str) -> String {
        let faults = self.faults.iter().map(|fault| format!("[omo] NOT PROVED: {fault}\n"));
        faults.chain([told.to_owned()]).collect()
    }
}

/// It tells of no claim: that would be shown as judged.
fn mark_unsealed(entry: &LogEntry) -> LogEntry {
    LogEntry { why: format!("{} {NOT_SEALED}", entry.why), claim: None, ..entry.clone() }
}
