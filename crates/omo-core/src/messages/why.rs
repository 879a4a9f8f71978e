//! `/omo:why`: the last decision about a session, its rule, and the way to change it.

use crate::log_entry::LogEntry;
use crate::messages::plan::plan_path;
use crate::session::plan_run::{PlanRun, PlanRunStatus};
use crate::stop::StopRow;
use crate::text::{format_age, inline_code, sanitize};
use crate::timestamp::Timestamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowWords {
    pub when: &'static str,
    /// The user's way to another decision.
    pub change: &'static str,
}

pub fn row_words(row: StopRow) -> RowWords {
    let (when, change) = match row {
        StopRow::Unreadable => (
            "the input or the state cannot be read, or the lock stays taken too long",
            "`omo doctor` names what cannot be read",
        ),
        StopRow::Subagent => (
            "a subagent stops, not the session",
            "nothing: only stops of the session are held",
        ),
        StopRow::NoRun => (
            "no run is on in this session, or what is kept of it is not what omo wrote last",
            "`ulw <task>` begins a run",
        ),
        StopRow::StopContinuation => (
            "you stopped it, in the session or from a terminal",
            "`ulw <task>` begins another run",
        ),
        StopRow::InputWaiting => (
            "you typed something while the turn ran",
            "nothing needs to: the run goes on after what you typed",
        ),
        StopRow::BackgroundWork => (
            "a background agent runs, a wakeup is scheduled, or a shell runs that was named before",
            "the end of that work: the run goes on then",
        ),
        StopRow::PlanOrPaused => (
            "the session is in plan mode, you pressed Esc or said to stop, the run is paused, the turn answers your question, or \
             its model or its plan asks you something",
            "your answer, the end of plan mode, or `ulw`: the run goes on",
        ),
        StopRow::SaidBlocked => (
            "the model says why it cannot be done",
            "remove what is in the way, then type `ulw`; `/omo:status` has the reason",
        ),
        StopRow::ClaimJudged => (
            "the claim was judged, and nothing stands against an end",
            "`ulw <task>` begins another run; `/omo:check add COMMAND` gives it something to be judged by",
        ),
        StopRow::AttemptsSpent => (
            "as many claims have failed as the run may have",
            "`omo verify` shows what is red; `ulw` goes on, with as many more",
        ),
        StopRow::BlocksSpent => (
            "all continuations are used: yours, or the client's own cap where that is lower; or the tokens are, where you bound them",
            "`ulw` goes on; `ulw --max-blocks N`, or `--max-tokens N`, allows more",
        ),
        StopRow::TimeSpent => (
            "the run is too old",
            "`ulw` goes on; `ulw --max-minutes N` allows more",
        ),
        StopRow::SameFailure => (
            "the same failure on the same files was sent twice already",
            "`omo verify` shows the failure; change what it needs, then type `ulw`",
        ),
        StopRow::Cooldown => (
            "the last continuation was a moment ago, and no tool was used since",
            "your next prompt: the run is still on",
        ),
        StopRow::Continue => (
            "the run is on, its work is not proved, and no bound is reached",
            "a claim that its checks and its review bear out; `ulw off` ends the run, Esc pauses it",
        ),
    };
    RowWords { when, change }
}

pub fn why(last: Option<&LogEntry>, now: Timestamp) -> String {
    let Some(last) = last else {
        return "[omo] nothing was decided in this session yet\nchange it: `ulw <task>` begins a run".to_owned();
    };
    let row = last.row.and_then(StopRow::numbered);
    let age = format_age(Some(last.at), now);
    let mut lines = vec![format!(
        "[omo] {age} ago, {}: {}",
        event_words(&last.event),
        decision_words(last, row)
    )];
    lines.push(format!("because:   {}", sanitize(&last.why, 300)));
    lines.extend(row.map(|row| format!("the rule:  {}", row_words(row).when)));
    lines.push(format!(
        "change it: {}",
        row.map_or_else(
            || prompt_change(&last.decision),
            |row| row_words(row).change
        )
    ));
    lines.join("\n")
}

/// Answer of `/omo:why` about a plan run that waits for its user; `None` for one that does not.
pub fn why_plan_waits(run: &PlanRun) -> Option<String> {
    let PlanRunStatus::Waits(question) = run.status() else {
        return None;
    };
    Some(format!(
        "[omo] the run `{}` of `{}` waits for you: {}\n\
         change it: `/omo:answer OPTION` answers it; /omo:execute goes on with the run",
        inline_code(&run.id, 64),
        inline_code(plan_path(&run.plan), 200),
        sanitize(question, 300)
    ))
}

fn event_words(event: &str) -> String {
    match event {
        "Stop" => "when a turn ended".to_owned(),
        "UserPromptSubmit" => "at your prompt".to_owned(),
        "cli" => "from a terminal".to_owned(),
        other => format!("at {}", sanitize(other, 40)),
    }
}

fn decision_words(last: &LogEntry, row: Option<StopRow>) -> String {
    match &*last.decision {
        "block" => format!(
            "omo continued it, continuation {} of {}",
            last.blocks, last.max_blocks
        ),
        "allow" if row.is_some_and(|row| row > StopRow::StopContinuation) => {
            "it may end, and the run stays on".to_owned()
        }
        "allow" => "nothing was held".to_owned(),
        "warn" => "it may end, with a warning, and the run stays on".to_owned(),
        "wait" => "it may end, since you are asked something".to_owned(),
        "pause" => "the run waits for you".to_owned(),
        "activate" => "the run was turned on".to_owned(),
        "stop" => "the run was ended".to_owned(),
        "check" => "the checks were changed".to_owned(),
        other => match other.strip_prefix("end: ") {
            Some(verdict) => format!("the run ended, {}", sanitize(verdict, 40)),
            None => sanitize(other, 40),
        },
    }
}

fn prompt_change(decision: &str) -> &'static str {
    match decision {
        "pause" => "`ulw` goes on; `ulw off` ends the run",
        "activate" => "`ulw off` ends the run, Esc pauses it",
        "check" => "`/omo:check` shows and changes what judges the run",
        _ => "`ulw <task>` begins a run",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log_entry::new_entry;
    use crate::session::Session;

    fn entry(row: Option<StopRow>, event: &str, decision: &str, why: &str) -> LogEntry {
        let at = Timestamp::from_millis(0);
        let row = row.map(StopRow::number);
        LogEntry {
            row,
            blocks: 3,
            ..new_entry(
                "s",
                &Session::default(),
                event,
                decision.to_owned(),
                why,
                at,
            )
        }
    }

    #[test]
    fn the_last_decision_is_told_with_its_rule_and_what_changes_it() {
        let said = |last: Option<&LogEntry>| why(last, Timestamp::from_millis(240_000));
        assert_eq!(
            said(Some(&entry(
                Some(StopRow::Continue),
                "Stop",
                "block",
                "a check is not green"
            ))),
            "[omo] 4 min ago, when a turn ended: omo continued it, continuation 3 of 8\n\
             because:   a check is not green\n\
             the rule:  the run is on, its work is not proved, and no bound is reached\n\
             change it: a claim that its checks and its review bear out; `ulw off` ends the run, Esc pauses it"
        );
        assert_eq!(
            said(Some(&entry(
                None,
                "UserPromptSubmit",
                "activate",
                "turned on by you"
            ))),
            "[omo] 4 min ago, at your prompt: the run was turned on\n\
             because:   turned on by you\n\
             change it: `ulw off` ends the run, Esc pauses it"
        );
        assert!(said(None).contains("nothing was decided"));
    }

    #[test]
    fn no_answer_holds_a_number_of_a_row_or_text_that_moves_a_terminal() {
        for row in StopRow::ALL {
            assert_eq!(StopRow::numbered(row.number()), Some(row));
            for decision in [
                "block",
                "allow",
                "warn",
                "wait",
                "pause",
                "end: released",
                "\u{1b}[2J<x>",
            ] {
                let text = why(
                    Some(&entry(Some(row), "\u{1b}]", decision, "\u{1b}x\ny")),
                    Timestamp::from_millis(1),
                );
                assert!(
                    !text.contains("row ") && !text.contains('\u{1b}') && text.lines().count() == 4,
                    "{text}"
                );
            }
        }
        assert_eq!((StopRow::numbered(0), StopRow::numbered(16)), (None, None));
    }
}
