//! The texts of questions to a person, and their options.

use omo_core::text::sanitize;
use omo_git::commit::CommitRefusal;
use omo_plan::model::PlanDecision;

use crate::event::{Question, QuestionKind, QuestionOption};
use crate::parallel_state::GroupStatus;
use crate::report::workers::worker_name;
use crate::state::{
    ANSWER_ACCEPT_ALL, ANSWER_CONTINUE, ANSWER_FOREGROUND, ANSWER_ONE_BY_ONE, ANSWER_REDO,
    ANSWER_SKIP, ANSWER_STOP, RunState,
};
use crate::wave_rules;

/// The question of the kind `about`: next free id, text and options.
pub(crate) fn build_question(state: &RunState, about: QuestionKind) -> Question {
    let (question, options) = match &about {
        QuestionKind::Verification => (
            "The plan does not say that it was verified (`## Verification` with the verdict Approved). Run it all the same?"
                .to_owned(),
            vec![option(ANSWER_CONTINUE, "run it unverified; have it verified first and `omo run resume` takes that in")],
        ),
        QuestionKind::Decisions { decisions } => decision_question(decisions),
        QuestionKind::HardStop { group } => hard_stop_question(state, *group),
        QuestionKind::CheckNotRunnable { task, missing: what } => (
            format!("A check of {} {task} could not be run here: {what}. Run it again?", state.plan.dialect.unit_word()),
            vec![option(ANSWER_CONTINUE, "what was missing is there now")],
        ),
        QuestionKind::CommitRefused { task, refusal, kept } => {
            let word = state.plan.dialect.unit_word();
            let others: Vec<&str> = refused_alike(state, task, refusal);
            let others = match others.as_slice() {
                [] => String::new(),
                ids => format!("\nThe same holds up {word} {}, and the answer `continue` goes for all.", sanitize(&ids.join(", "), 200)),
            };
            let kept = kept.as_ref().map(|kept| format!(", and is kept as {}", sanitize(kept, 200)));
            (
                format!(
                    "{word} {task} is done and its checks are green, but git refused its commit. Commit it again?\n\
                     Refused: {}\nTo do: {}.\nIts work stays where it is{}.{}",
                    sanitize(&refusal.to_string(), 280),
                    sanitize(&refusal.hint(), 280),
                    kept.unwrap_or_default(),
                    others,
                ),
                vec![
                    option(ANSWER_CONTINUE, "that is done: commit exactly this work again"),
                    option(ANSWER_REDO, "have a worker go on with it, who is told why: that is another attempt"),
                    option(ANSWER_SKIP, "leave it out; its work stays kept"),
                    option(ANSWER_STOP, "end the run here; its work stays kept"),
                ],
            )
        }
        QuestionKind::Escalated { task } => (
            format!("{} {task} asks for human judgment. Go on after it?", state.plan.dialect.unit_word()),
            vec![
                option(ANSWER_CONTINUE, "go on with what does not depend on it"),
                option(ANSWER_STOP, "begin nothing more; `omo run retry TASK` goes on from here once it is fixed"),
            ],
        ),
        QuestionKind::Billing { payer } => (
            format!(
                "{payer} is set in your environment. The workers that omo would start are billed to it, and not to your subscription. How do you want to proceed?"
            ),
            vec![
                option(ANSWER_FOREGROUND, "Use --fg instead (Recommended): one step after the other in this session, at no extra cost"),
                option(ANSWER_CONTINUE, "Continue with API billing: each worker is billed at token rates"),
                option(ANSWER_STOP, "Stop: nothing is started; unset it first, then run again"),
            ],
        ),
        QuestionKind::EntryCondition { text } => (
            format!("The plan begins only where this holds, and no command decides it: {}. Does it?", sanitize(text, 300)),
            vec![option(ANSWER_CONTINUE, "it holds"), option(ANSWER_STOP, "it does not: end the run")],
        ),
        QuestionKind::Conflict { group, files } => (
            format!(
                "{} cannot be brought together with what the other workers did. Both changed: {}. {}All of it is kept, and your branch is as it was. What now?",
                session_title(state, group),
                sanitize(files, 600),
                held_back_words(state, group)
            ),
            vec![
                option(ANSWER_REDO, "do its steps again, on top of what the others did"),
                option(ANSWER_STOP, "end the run here; the report has the command that brings its work back"),
            ],
        ),
        QuestionKind::Stuck { group, reason: why } => (
            format!("{} cannot go on by itself: {}. Try again?", session_title(state, group), sanitize(why, 300)),
            vec![option(ANSWER_CONTINUE, "try again"), option(ANSWER_STOP, "end the run here; what was done is kept")],
        ),
        QuestionKind::LandingRefused { reason: why, .. } => (
            format!("{}: {}. Try again?", refused_words(state), sanitize(why, 600)),
            vec![
                option(ANSWER_CONTINUE, "what was in the way is out of the way"),
                option(ANSWER_STOP, "end the run here; the report has the command that brings it back"),
            ],
        ),
    };
    let id = format!("q{}", state.questions.len() + 1);
    Question {
        id,
        kind: about,
        text: question,
        options,
    }
}

/// Tasks refused for the same reason: an answer that the cause was seen to holds for them as well.
fn refused_alike<'a>(state: &'a RunState, id: &str, refusal: &CommitRefusal) -> Vec<&'a str> {
    state
        .tasks
        .iter()
        .filter(|(other, known)| {
            *other != id && known.uncommitted.is_some() && known.is_refused_as(refusal)
        })
        .map(|(id, _)| id.as_str())
        .collect()
}

fn held_back_words(state: &RunState, group: &str) -> String {
    let held = wave_rules::held_back_by(state, group);
    if held.is_empty() {
        return String::new();
    }
    let names: Vec<String> = held.iter().map(|id| worker_name(id)).collect();
    format!(
        "Held back until then, because of it: {}. ",
        sanitize(&names.join(", "), 400)
    )
}

/// The refused action: the last step of the run, or the check of the whole before another wave.
fn refused_words(state: &RunState) -> &'static str {
    if state.parallel.as_ref().is_some_and(|parallel| {
        state
            .plan
            .groups
            .iter()
            .any(|group| !parallel.has_status(&group.id, &[GroupStatus::Merged]))
    }) {
        "What was merged so far could not be checked, and the next wave waits for that"
    } else {
        "Everything is done, and your branch could not move to it"
    }
}

fn session_title(state: &RunState, id: &str) -> String {
    let group = state.plan.groups.iter().find(|group| group.id == id);
    let title = group
        .map(|group| sanitize(&group.title, 120))
        .filter(|title| !title.is_empty());
    let name = worker_name(id);
    match title {
        Some(title) => format!("{name} ({title})"),
        None => name,
    }
}

fn decision_question(decisions: &[PlanDecision]) -> (String, Vec<QuestionOption>) {
    match decisions {
        // Without an option there would be no answer, and the run would wait for ever.
        [decision] if decision.options.is_empty() => (
            decision_text(decision),
            vec![option(ANSWER_CONTINUE, "go on without choosing")],
        ),
        [decision] => {
            let options = decision
                .options
                .iter()
                .map(|choice| option(&choice.label, &sanitize(&choice.text, 160)));
            (decision_text(decision), options.collect())
        }
        several => {
            let lines: Vec<String> = several.iter().map(decision_text).collect();
            let question = format!(
                "{}\n\nTake all recommendations, or go through them one by one?",
                lines.join("\n---\n")
            );
            (
                question,
                vec![
                    option(ANSWER_ACCEPT_ALL, "take all recommendations"),
                    option(ANSWER_ONE_BY_ONE, "go through them one by one"),
                ],
            )
        }
    }
}

fn decision_text(decision: &PlanDecision) -> String {
    let options: Vec<String> = decision
        .options
        .iter()
        .map(|choice| format!("{}: {}", choice.label, sanitize(&choice.text, 160)))
        .collect();
    let recommended = decision
        .recommended
        .as_ref()
        .map(|label| format!(" (recommended: {label})"))
        .unwrap_or_default();
    format!(
        "{} {}{recommended}\n{}",
        decision.id,
        sanitize(&decision.title, 160),
        options.join("\n")
    )
}

fn hard_stop_question(state: &RunState, group: usize) -> (String, Vec<QuestionOption>) {
    let counts = state.task_counts();
    let ended = counts.total - counts.pending;
    let claimed = counted(counts.claimed, "done before, unchecked");
    let failed = counted(counts.failed, "failed") + &counted(counts.unproved, "unproved");
    let blocked = counted(counts.blocked, "blocked");
    let question = format!(
        "Batch {} of {} is done: {ended} of {} tasks have ended, {} passed{claimed}{failed}{blocked}. Continue?",
        group + 1,
        state.plan.groups.len(),
        counts.total,
        counts.passed,
    );
    let left = if counts.pending == 1 {
        "one that is".to_owned()
    } else {
        format!("{} that are", counts.pending)
    };
    let text = format!("go on with the {left} left");
    (question, vec![option(ANSWER_CONTINUE, &text)])
}

fn counted(count: usize, name: &str) -> String {
    if count > 0 {
        format!(", {count} {name}")
    } else {
        String::new()
    }
}

fn option(id: &str, text: &str) -> QuestionOption {
    QuestionOption {
        id: id.to_owned(),
        text: text.to_owned(),
    }
}
