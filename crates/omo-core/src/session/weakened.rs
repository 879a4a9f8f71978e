//! Weakenings of a run, such as a removed check: its end, every status and the log name them.

use serde::{Deserialize, Serialize};

use super::{Session, UlwTrigger, VerdictKind};
use crate::check::session_check::{self, Check, CheckOrigin};
use crate::text::sanitize;
use crate::timestamp::Timestamp;

pub(crate) const MAX_WEAKENED: usize = 32;

const WEAKENING_CHARS: usize = 160;

/// A change after which a claim is judged less strictly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckWeakening {
    pub at: Timestamp,
    pub by: ChangedBy,
    /// The change in a few words behind a comma, such as ``check `tests` removed``.
    pub what: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ChangedBy {
    Typed,
    /// `omo` at a terminal, with a person's answer.
    Terminal,
    Detached,
    /// omo itself, which could not keep the run's judges.
    Omo,
}

impl ChangedBy {
    pub fn is_person(self) -> bool {
        matches!(self, Self::Typed | Self::Terminal)
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Typed => "typed in the session",
            Self::Terminal => "by `omo` at a terminal",
            Self::Detached => "by a process without a client or a terminal",
            Self::Omo => "by omo",
        }
    }
}

impl Session {
    /// Keeps weakenings of the same task until a run was verified, and names new ones.
    pub(super) fn keep_weakened(&mut self, earlier: &Self, is_same_task: bool, now: Timestamp) {
        let changed_by = if self.ulw.trigger == Some(UlwTrigger::Cli) {
            ChangedBy::Terminal
        } else {
            ChangedBy::Typed
        };
        if let Some(verdict) = earlier
            .verdict
            .as_ref()
            .filter(|verdict| verdict.kind == VerdictKind::Verified)
        {
            self.weakened.retain(|weakening| weakening.at > verdict.at);
        }
        if let Some(verdict) = earlier.verdict.as_ref().filter(|_| earlier.is_disowned()) {
            self.note_weakening(
                ChangedBy::Omo,
                &format!("checks and bounds were forgotten, since {}", verdict.why),
                now,
            );
        }
        if !is_same_task {
            let ended = earlier.verdict.as_ref().map_or(now, |verdict| verdict.at);
            let is_replaced = earlier.continues_task();
            self.weakened.retain(|weakening| {
                !is_replaced || weakening.at > ended && !weakening.by.is_person()
            });
            return;
        }
        for what in session_check::describe_weakening(&earlier.checks, &self.checks, false) {
            self.note_weakening(changed_by, &what, now);
        }
        if earlier.verification.review_wanted && !self.verification.review_wanted {
            self.note_weakening(changed_by, "the review turned off", now);
        }
        if earlier.needs_any_proof() && !self.needs_any_proof() {
            self.note_weakening(
                changed_by,
                "checks need not be red without the change any more",
                now,
            );
        }
        let (old, new) = (earlier.limits.clamped(), self.limits.clamped());
        if new.max_blocks > old.max_blocks {
            self.note_weakening(
                changed_by,
                &format!(
                    "{} continuations allowed instead of {}",
                    new.max_blocks, old.max_blocks
                ),
                now,
            );
        }
        if new.max_failed_claims > old.max_failed_claims {
            let (new, old) = (new.max_failed_claims, old.max_failed_claims);
            self.note_weakening(
                changed_by,
                &format!("{new} failed claims allowed instead of {old}"),
                now,
            );
        }
        if new.max_minutes > old.max_minutes {
            self.note_weakening(
                changed_by,
                &format!(
                    "{} minutes allowed instead of {}",
                    new.max_minutes, old.max_minutes
                ),
                now,
            );
        }
    }

    fn needs_any_proof(&self) -> bool {
        self.checks.iter().any(|check| self.needs_proof(check))
    }

    pub fn change_checks(&mut self, checks: Vec<Check>, by: ChangedBy, now: Timestamp) {
        let old = std::mem::replace(&mut self.checks, checks);
        for what in session_check::describe_weakening(&old, &self.checks, by == ChangedBy::Detached)
        {
            self.note_weakening(by, &what, now);
        }
    }

    /// Accepts unusual facts about one check, or all, for the user; returns their lines.
    pub fn accept_unusual(
        &mut self,
        name: Option<&str>,
        by: ChangedBy,
        now: Timestamp,
    ) -> Vec<String> {
        let unusual = std::mem::take(&mut self.verification.unusual_facts);
        let (accepted, rest): (Vec<_>, Vec<_>) = unusual.into_iter().partition(|fact| {
            self.verification.is_for_user(fact) && name.is_none_or(|name| fact.check == name)
        });
        self.verification.unusual_facts = rest;
        let lines: Vec<String> = accepted.iter().map(|fact| fact.line.clone()).collect();
        for line in &lines {
            self.note_weakening(by, &format!("accepted: {line}"), now);
        }
        self.verification.accepted.extend(accepted);
        lines
    }

    pub fn note_unproved_approval(&mut self, by: ChangedBy, at: Timestamp) {
        if by.is_person() {
            return;
        }
        let of_repository = self
            .checks
            .iter()
            .filter(|check| check.origin == CheckOrigin::Repository);
        let named: Vec<String> = of_repository
            .map(|check| format!("check `{}` of omo.toml approved", check.name))
            .collect();
        for what in named {
            if !self
                .weakened
                .iter()
                .any(|known| known.what == what && known.at == at)
            {
                self.note_weakening(by, &what, at);
            }
        }
    }

    /// Notes a weakening; a change before a run, or after a verified one, is none.
    pub fn note_weakening(&mut self, by: ChangedBy, weakening: &str, now: Timestamp) {
        let has_run = self.is_armed()
            || self
                .verdict
                .as_ref()
                .is_some_and(|verdict| verdict.kind != VerdictKind::Verified);
        if !has_run && by.is_person() {
            return;
        }
        let is_full = self.weakened.len() >= MAX_WEAKENED;
        let weakening = if is_full {
            "more than can be listed here".to_owned()
        } else {
            sanitize(weakening, WEAKENING_CHARS)
        };
        self.weakened.truncate(MAX_WEAKENED - 1);
        self.weakened.push(CheckWeakening {
            at: now,
            by,
            what: weakening,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::session_check::CheckOrigin;
    use crate::limits::RunLimits;
    use crate::session::UlwActivation;
    use crate::session::tests::{activation, at};

    #[test]
    fn each_check_that_no_person_approved_is_named_once() {
        let of = |name: &str, origin| Check::new(Some(name), name, origin).unwrap();
        let mut session = Session::default();
        session.activate(activation(), at(1));
        session.checks = vec![of("a", CheckOrigin::Repository), of("b", CheckOrigin::User)];
        session.note_unproved_approval(ChangedBy::Terminal, at(2));
        session.note_unproved_approval(ChangedBy::Typed, at(2));
        assert_eq!(session.weakened, []);
        for _ in 0..2 {
            session.note_unproved_approval(ChangedBy::Detached, at(0));
        }
        let what = "check `a` of omo.toml approved".to_owned();
        assert_eq!(
            session.weakened,
            [CheckWeakening {
                at: at(0),
                by: ChangedBy::Detached,
                what
            }]
        );
    }

    #[test]
    fn what_was_weakened_stays_named_until_a_run_was_verified() {
        let check = |name: &str| Check::new(Some(name), name, CheckOrigin::User).unwrap();
        let named = |session: &Session| -> Vec<String> {
            session.weakened.iter().map(|it| it.what.clone()).collect()
        };
        let mut session = Session::default();
        session.change_checks(vec![check("a"), check("b")], ChangedBy::Typed, at(1));
        session.change_checks(vec![check("a")], ChangedBy::Typed, at(2));
        assert_eq!(named(&session), [""; 0], "no run has begun");
        session.change_checks(vec![check("a"), check("c")], ChangedBy::Detached, at(3));
        session.activate(activation(), at(10));
        session.change_checks(vec![check("a")], ChangedBy::Terminal, at(11));
        assert_eq!(named(&session), ["check `c` added", "check `c` removed"]);
        let limits = RunLimits {
            max_blocks: 99,
            ..RunLimits::default()
        };
        session.activate(
            UlwActivation {
                review_wanted: false,
                limits,
                ..activation()
            },
            at(20),
        );
        let more = format!(
            "99 continuations allowed instead of {}",
            RunLimits::DEFAULT.max_blocks
        );
        assert_eq!(named(&session)[2..], ["the review turned off", &more]);
        session.end_run(VerdictKind::Released, "claimed".to_owned(), at(30));
        session.activate(activation(), at(40));
        assert_eq!(
            session.weakened.len(),
            4,
            "the run that ended unverified goes on"
        );
        session.end_run(VerdictKind::Verified, "proved".to_owned(), at(50));
        session.activate(activation(), at(60));
        assert!(session.weakened.is_empty());
        for second in 0..40 {
            session.note_weakening(ChangedBy::Typed, &format!("{second}"), at(100 + second));
        }
        assert_eq!(
            (session.weakened.len(), session.weakened[31].at),
            (MAX_WEAKENED, at(139))
        );
        let text = serde_json::to_string(&session).unwrap();
        assert_eq!(serde_json::from_str::<Session>(&text).unwrap(), session);
    }
}
