//! Whose work an entry is, and what is left of one that is not omo's own.

use super::rest::UlwRest;
use super::{Session, UlwRun, UlwVerdict, VerdictKind};
use crate::timestamp::Timestamp;

/// Whose work an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryProvenance {
    /// omo's own, the last that it wrote, or nothing that needs a seal.
    Own,
    /// Something else has written it, or nothing can tell.
    Foreign,
    /// omo's own, and not the last that it wrote.
    PutBack,
}

impl EntryProvenance {
    /// Why nothing of the entry is believed; `None` where it is.
    pub fn distrust_reason(self) -> Option<&'static str> {
        match self {
            Self::Own => None,
            Self::Foreign => Some("the record of the run is not omo's own"),
            Self::PutBack => Some("an older record of the run was put back"),
        }
    }
}

impl Session {
    /// Forgets an entry that is not omo's own, as a run that ended as `released`: neither its checks nor its task, its
    /// bounds or its verdict are believed. What was weakened stays named, and the clients stay known.
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

    /// `true` where the entry is what [`Session::disown`] leaves: it claims nothing.
    pub fn is_disowned(&self) -> bool {
        let is_told = |verdict: &UlwVerdict| {
            let whys = [EntryProvenance::Foreign, EntryProvenance::PutBack]
                .map(EntryProvenance::distrust_reason);
            verdict.kind == VerdictKind::Released && whys.contains(&Some(&*verdict.why))
        };
        !self.ulw.enabled && self.checks.is_empty() && self.verdict.as_ref().is_some_and(is_told)
    }

    /// The entry as it may be shown: where it is not omo's own, as one that was forgotten.
    #[must_use]
    pub fn as_believed(&self, provenance: EntryProvenance, now: Timestamp) -> Self {
        let mut session = self.clone();
        if let Some(why) = provenance.distrust_reason() {
            session.disown(why, self.updated_at.unwrap_or(now));
        }
        session
    }
}
