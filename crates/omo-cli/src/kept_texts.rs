//! The texts of a run that a page, a report or a screen shows under its verdict: what its checks printed, what was decided,
//! and what it changed. Those of a run that has ended are shown only as omo left them.

use std::collections::BTreeMap;

use omo_core::log_entry::LogEntry;
use omo_core::messages::run_end::headline;
use omo_core::session::id::SessionId;
use omo_core::session::{Session, UlwVerdict, VerdictKind};
use omo_state::decision_log;
use omo_state::ended_runs::{self, EndedRun, KeptDifference, RecordSeal};
use omo_state::env::ProcessEnv;
use omo_state::files::folder::GuardedFolder;
use omo_state::seal::SealKey;

/// What stands where a check's output was changed.
const LOG_CHANGED: &str = "[omo] what it printed was changed since the run ended, and is not shown";
/// What stands behind a decision that was logged after the seal.
pub(crate) const NOT_SEALED: &str = "(not sealed)";

/// The texts of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeptTexts {
    /// The end of what each check printed, by its name.
    pub logs: BTreeMap<String, String>,
    /// What was decided in its session.
    pub decisions: Vec<LogEntry>,
    /// What it changed, as a reviewer reads it, or why that cannot be shown. `None` where it is to be found in the files of
    /// now: only that of a proved run is kept.
    pub difference: Option<Result<String, String>>,
    /// What something else than omo has changed or removed since the end. It takes the green away.
    pub faults: Vec<String>,
    /// How far omo's seal reaches, where that is not all of it.
    pub note: Option<&'static str>,
}

impl KeptTexts {
    /// Those of a run of this session, with what its log holds by now.
    pub(crate) fn read(
        env: &ProcessEnv,
        folder: Option<&GuardedFolder>,
        id: &SessionId,
        session: &Session,
        log: Vec<LogEntry>,
    ) -> Self {
        let decisions = log.into_iter().filter(|entry| entry.session == id.as_str()).collect();
        let texts = Self { logs: BTreeMap::new(), decisions, difference: None, faults: Vec::new(), note: None };
        let Some(verdict) = &session.verdict else { return texts };
        let key = SealKey::find(env.state_home.as_deref()).ok().flatten();
        let found = folder.zip(key.as_ref()).and_then(|(folder, key)| {
            let run = ended_runs::read(folder, id, verdict.at).filter(|run| run.is_of(key, session))?;
            let seal = run.record_seal(key);
            let difference = ended_runs::read_difference(folder, &run, seal);
            Some((run, seal, difference))
        });
        match found {
            Some((run, seal, difference)) => texts.with_record(run, seal, difference, session, verdict),
            None => Self {
                difference: is_proved(verdict).then(|| Err("it was not kept".to_owned())),
                note: Some("not kept: the file is gone, or the end of the run was interrupted; its timeline is not sealed"),
                ..texts
            },
        }
    }

    fn with_record(
        mut self,
        run: EndedRun,
        seal: RecordSeal,
        difference: KeptDifference,
        session: &Session,
        verdict: &UlwVerdict,
    ) -> Self {
        match seal {
            RecordSeal::Holds => {
                self.logs = run.logs;
                self.decisions = with_later(run.decisions, self.decisions, verdict);
            }
            RecordSeal::NotSealed => {
                self.logs = run.logs;
                self.note = Some("not sealed: it is of an earlier omo, which sealed the results alone");
            }
            RecordSeal::Changed => {
                let ran = session.checks.iter().filter(|check| check.last.is_some());
                self.logs = ran.map(|check| (check.name.clone(), LOG_CHANGED.to_owned())).collect();
                self.decisions.clear();
                let what = "what its checks printed, what was decided and what it changed";
                self.faults.push(format!("{what} was changed since the run ended, and is not shown"));
            }
        }
        let fault = match difference {
            KeptDifference::Text(text) => {
                self.difference = is_proved(verdict).then_some(Ok(text));
                return self;
            }
            KeptDifference::NotKept => {
                self.difference = is_proved(verdict).then(|| Err("it was not kept".to_owned()));
                return self;
            }
            KeptDifference::Changed => "was changed since the run ended, and is not shown",
            KeptDifference::Gone => "was kept, and is gone",
        };
        self.difference = Some(Err(format!("it {fault}")));
        if seal == RecordSeal::Holds {
            self.faults.push(format!("what the run changed {fault}"));
        }
        self
    }

    /// Those of a run that is on, or of whose texts only what takes the green away is asked for.
    pub(crate) fn sentence(&self, session: &Session, verdict: &UlwVerdict) -> String {
        self.faults.first().map_or_else(|| headline(session, verdict), |fault| format!("NOT PROVED: {fault}"))
    }
}

fn is_proved(verdict: &UlwVerdict) -> bool {
    verdict.kind == VerdictKind::Verified
}

/// The sealed decisions, and those that were logged after them, marked. One that stood before them in the log was changed.
fn with_later(sealed: Vec<LogEntry>, log: Vec<LogEntry>, verdict: &UlwVerdict) -> Vec<LogEntry> {
    let later = log.into_iter().filter(|entry| entry.at >= verdict.at && !sealed.contains(entry));
    let later: Vec<LogEntry> =
        later.map(|entry| LogEntry { why: format!("{} {NOT_SEALED}", entry.why), ..entry }).collect();
    sealed.into_iter().chain(later).collect()
}

/// All that was decided in a project, as far as its log can be read.
pub(crate) fn read_log(folder: Option<&GuardedFolder>) -> Result<Vec<LogEntry>, omo_state::state::StateError> {
    Ok(folder.map(decision_log::read_all).transpose()?.unwrap_or_default())
}
