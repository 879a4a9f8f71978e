//! `KeptTexts`: check output, decisions and diff of an ultrawork run. Texts of an ended run that
//! were changed since its end are not shown.

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

pub(crate) const KEPT_TEXTS: &str = "kept texts";
const LOG_CHANGED: &str = "[omo] what it printed was changed since the run ended, and is not shown";
const NOT_SEALED: &str = "(not sealed)";
/// Maximum time between a verdict and its record, in milliseconds.
const ENDING_MILLIS: i64 = 10_000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeptTexts {
    pub logs: BTreeMap<String, String>,
    pub decisions: Vec<LogEntry>,
    /// Difference of a proved run, or the reason why it cannot be shown; `None` for any other run.
    pub difference: Option<Result<String, String>>,
    /// Changes by something else than omo since the end; they take the green away.
    pub faults: Vec<String>,
    pub note: Option<&'static str>,
}

impl KeptTexts {
    pub(crate) fn read(
        state_home: Option<&Path>,
        folder: Option<&GuardedFolder>,
        id: &SessionId,
        session: &Session,
        log: Vec<LogEntry>,
    ) -> Self {
        let decisions = log
            .into_iter()
            .filter(|entry| entry.session == id.as_str())
            .collect();
        let mut texts = Self {
            decisions,
            ..Self::default()
        };
        let Some(verdict) = &session.verdict else {
            return texts;
        };
        let key = SealKey::find(state_home).ok().flatten();
        let is_ending = env::now()
            .millis_since(verdict.at)
            .is_none_or(|millis| millis < ENDING_MILLIS);
        if let Some(folder) = folder.filter(|_| is_ending) {
            // The ending process has the lock until all of it is kept.
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
            texts.note = Some(
                "not kept: the file is gone, or the end was interrupted. The timeline is not sealed",
            );
            KeptDifference::NotKept
        };
        if verdict.kind == VerdictKind::Verified {
            texts.take_difference(difference);
        }
        texts
    }

    fn take_record(
        &mut self,
        run: EndedRun,
        seal: RecordSeal,
        session: &Session,
        verdict: &UlwVerdict,
    ) {
        match seal {
            RecordSeal::Holds => {
                self.logs = run.logs;
                let log = std::mem::replace(&mut self.decisions, run.decisions);
                // An unsealed entry from before the end was changed: the sealed one is shown.
                let later = log
                    .into_iter()
                    .filter(|entry| entry.at >= verdict.at && !self.decisions.contains(entry));
                let later: Vec<LogEntry> = later.map(|entry| mark_unsealed(&entry)).collect();
                self.decisions.extend(later);
            }
            RecordSeal::NotSealed => {
                self.logs = run.logs;
                self.note =
                    Some("not sealed: kept by an earlier omo, which sealed the results alone");
            }
            RecordSeal::Changed => {
                let ran = session.checks.iter().filter(|check| check.last.is_some());
                self.logs = ran
                    .map(|check| (check.name.clone(), LOG_CHANGED.to_owned()))
                    .collect();
                self.decisions.clear();
                self.faults.push(
                    "what was kept of this run was changed since it ended, and is not shown"
                        .to_owned(),
                );
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
        // A changed record is reported already.
        if difference != KeptDifference::NotKept && self.faults.is_empty() {
            self.faults
                .push(format!("the difference of this run {why}"));
        }
    }

    pub(crate) fn sentence(&self, session: &Session, verdict: &UlwVerdict) -> String {
        self.faults.first().map_or_else(
            || headline(session, verdict),
            |fault| format!("NOT PROVED: {fault}"),
        )
    }

    pub(crate) fn with_faults(&self, told: &str) -> String {
        let faults = self
            .faults
            .iter()
            .map(|fault| format!("[omo] NOT PROVED: {fault}\n"));
        faults.chain([told.to_owned()]).collect()
    }
}

/// Without a claim, which would be shown as judged.
fn mark_unsealed(entry: &LogEntry) -> LogEntry {
    LogEntry {
        why: format!("{} {NOT_SEALED}", entry.why),
        since: None,
        claim: None,
        ..entry.clone()
    }
}
