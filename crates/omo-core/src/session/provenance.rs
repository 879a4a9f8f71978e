//! The author of a session's entry in the state file, and the reset of an entry that is not omo's.

use super::rest::UlwRest;
use super::{Session, UlwRun, UlwVerdict, VerdictKind};
use crate::timestamp::Timestamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryProvenance {
    /// omo's last write, or nothing that needs a seal.
    Own,
    /// Another program's write, or one of unknown origin.
    Foreign,
    /// An older write of omo.
    PutBack,
}

impl EntryProvenance {
    pub fn distrust_reason(self) -> Option<&'static str> {
        match self {
            Self::Own => None,
            Self::Foreign => Some("the record of the run is not omo's own"),
            Self::PutBack => Some("an older record of the run was restored"),
        }
    }
}

impl Session {
    /// Resets an entry that omo did not write to a run that ended as `released`, without checks,
    /// task and bounds. Weakenings and clients stay.
    pub fn disown(&mut self, why: &str, now: Timestamp) {
        let UlwRun {
            stop_blocks,
            started_at,
            ..
        } = self.ulw;
        let rest = self.ulw.rest.clone().map(UlwRest::ended);
        *self = Self {
            ulw: UlwRun {
                stop_blocks,
                started_at,
                rest,
                ..UlwRun::default()
            },
            verdict: Some(UlwVerdict {
                kind: VerdictKind::Released,
                why: why.to_owned(),
                at: now,
            }),
            weakened: std::mem::take(&mut self.weakened),
            clients: std::mem::take(&mut self.clients),
            plan_run: self.plan_run.take(),
            typed_command: self.typed_command.take(),
            last_seen: self.last_seen,
            revision: self.revision,
            ..Self::default()
        };
    }

    /// `true` for an entry that [`Session::disown`] left.
    pub fn is_disowned(&self) -> bool {
        let reasons = [EntryProvenance::Foreign, EntryProvenance::PutBack]
            .map(EntryProvenance::distrust_reason);
        !self.ulw.enabled
            && self.checks.is_empty()
            && self.verdict.as_ref().is_some_and(|verdict| {
                verdict.kind == VerdictKind::Released && reasons.contains(&Some(&*verdict.why))
            })
    }

    /// The entry, reset by [`Session::disown`] unless it is omo's last write.
    #[must_use]
    pub fn as_believed(&self, provenance: EntryProvenance, now: Timestamp) -> Self {
        let mut session = self.clone();
        if let Some(why) = provenance.distrust_reason() {
            session.disown(why, self.updated_at.unwrap_or(now));
        }
        session
    }
}
