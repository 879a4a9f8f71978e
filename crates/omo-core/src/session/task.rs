//! The task of a run: its first characters for other programs, its whole text, and later requests.

use super::UlwRun;

pub(crate) const TASK_CHARS: usize = 500;
pub(crate) const TASK_BYTES: usize = 16 * 1024;
const MAX_LATER_BYTES: usize = TASK_BYTES + 1024;
const MAX_LATER: usize = 64;
const LEFT_OUT: &str = "[omo] what was added here is not kept";

impl UlwRun {
    pub fn full_task(&self) -> Option<&str> {
        self.whole_task.as_deref().or(self.task.as_deref())
    }

    fn asked_last(&self) -> Option<&str> {
        self.asked_later
            .last()
            .map(String::as_str)
            .or_else(|| self.full_task())
    }

    pub(super) fn was_asked_last(&self, task: Option<&str>) -> bool {
        self.asked_last() == task.map(kept_part).as_deref()
    }

    /// Sets the task of an earlier run, with its later requests.
    pub(super) fn keep_task(
        &mut self,
        task: Option<String>,
        whole: Option<String>,
        later: Vec<String>,
    ) {
        (self.task, self.whole_task, self.asked_later) = (task, whole, later);
    }

    pub(super) fn add_request(&mut self, text: &str) {
        let text = kept_part(text);
        if self.task.is_none() {
            let is_longer = text.chars().nth(TASK_CHARS).is_some();
            self.task = Some(text.chars().take(TASK_CHARS).collect());
            self.whole_task = is_longer.then_some(text);
            return;
        }
        if self.asked_last() != Some(&text) {
            self.asked_later.push(text);
        }
        // The last request counts most; the task itself stays.
        while self.asked_later.len() > 1 && is_too_much(&self.asked_later) {
            let is_marked = self
                .asked_later
                .first()
                .is_some_and(|first| first == LEFT_OUT);
            self.asked_later.remove(usize::from(is_marked));
            if !is_marked {
                self.asked_later.insert(0, LEFT_OUT.to_owned());
            }
        }
    }
}

/// The kept part of a text, without control characters: in JSON they take six times their room.
fn kept_part(text: &str) -> String {
    let text: String = text
        .chars()
        .map(|char| match char {
            '\n' | '\t' => char,
            char if char.is_control() => ' ',
            char => char,
        })
        .collect();
    if text.len() <= TASK_BYTES {
        return text;
    }
    let note = format!("\n[omo] the rest is not kept: {} bytes in all", text.len());
    let end = (0..=TASK_BYTES - note.len())
        .rev()
        .find(|at| text.is_char_boundary(*at));
    format!(
        "{}{note}",
        end.and_then(|end| text.get(..end)).unwrap_or_default()
    )
}

fn is_too_much(later: &[String]) -> bool {
    later.len() > MAX_LATER || later.iter().map(String::len).sum::<usize>() > MAX_LATER_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::session_check::{Check, CheckOrigin, CheckRecord};
    use crate::review::RejectedTree;
    use crate::session::tests::{activation, at};
    use crate::session::{Session, UlwActivation, VerdictKind};

    #[test]
    fn the_task_is_cut_at_a_character() {
        let mut session = Session::default();
        let task = "한".repeat(TASK_CHARS + 1);
        session.activate(
            UlwActivation {
                task: Some(task),
                ..activation()
            },
            at(0),
        );
        assert_eq!(session.ulw.task.unwrap().chars().count(), TASK_CHARS);
    }

    #[test]
    fn a_task_that_was_not_proved_done_goes_on() {
        let with = |task: &str, base: &str| UlwActivation {
            task: Some(task.to_owned()),
            base: Some(base.to_owned()),
            prompt_id: Some(task.to_owned()),
            ..activation()
        };
        let mut session = Session::default();
        let mut ran = Check::new(None, "make test", CheckOrigin::Repository).unwrap();
        ran.last = Some(CheckRecord::default());
        session.activate(
            UlwActivation {
                checks: vec![ran.clone()],
                ..with("ulw first", "b1")
            },
            at(0),
        );
        session.verification.reject(RejectedTree {
            tree: Some("t".to_owned()),
            objections: "no".to_owned(),
        });
        session.end_run(VerdictKind::Released, "no proof".to_owned(), at(5));
        let other = Check {
            last: None,
            ..ran.clone()
        };
        let goes_on = UlwActivation {
            checks: vec![other],
            ..with("ulw go on", "b2")
        };
        session.activate(goes_on.clone(), at(9));
        assert!(
            session.is_activated_by(&goes_on),
            "the same prompt delivered twice"
        );
        session.activate(with("ulw go on", "b3"), at(10));
        session.activate(with("ulw and the page", "b4"), at(11));
        assert_eq!(
            (session.ulw.full_task(), session.ulw.base.as_deref()),
            (Some("ulw first"), Some("b1"))
        );
        assert_eq!(session.ulw.asked_later, ["ulw go on", "ulw and the page"]);
        assert_eq!(session.checks, [ran]);
        assert!(session.verification.rejection_of(Some("t")).is_some());
        session.end_run(VerdictKind::Verified, "proved".to_owned(), at(12));
        session.activate(with("ulw second", "b5"), at(13));
        assert_eq!(
            (session.ulw.full_task(), session.ulw.base.as_deref()),
            (Some("ulw second"), Some("b5"))
        );
        assert!(session.ulw.asked_later.is_empty() && session.checks.is_empty());
        assert!(session.verification.rejections.is_empty());
    }

    #[test]
    fn a_long_task_is_kept_whole_beside_its_beginning() {
        let mut session = Session::default();
        let task = format!("ulw {}the end", "x".repeat(9_000));
        session.activate(
            UlwActivation {
                task: Some(task.clone()),
                ..activation()
            },
            at(0),
        );
        assert_eq!(session.ulw.full_task(), Some(task.as_str()));
        assert_eq!(
            session.ulw.task.as_ref().unwrap().chars().count(),
            TASK_CHARS
        );
        for number in 0..200 {
            let task = Some(format!("ulw {number}{}", "한".repeat(9_000)));
            session.activate(
                UlwActivation {
                    task,
                    ..activation()
                },
                at(1),
            );
        }
        assert_eq!(
            session.ulw.full_task(),
            Some(task.as_str()),
            "the first task stays"
        );
        let [left_out, last] = session.ulw.asked_later.as_slice() else {
            panic!("{:?}", session.ulw.asked_later)
        };
        assert!(
            left_out == LEFT_OUT
                && last.len() <= TASK_BYTES
                && last.contains("the rest is not kept")
        );
        assert!(
            session
                .ulw
                .asked_later
                .iter()
                .map(String::len)
                .sum::<usize>()
                <= MAX_LATER_BYTES
        );
    }
}
