//! `omo report --last`: text of the last ultrawork run, with its task, checks and review.

use std::fmt::Write;

use omo_checks::claim_proof::known_counterfactual;
use omo_core::check::session_check::Check;
use omo_core::messages::checks::describe_check;
use omo_core::messages::run_end::run_ended;
use omo_core::review::ReviewVerdict;
use omo_core::session::Session;
use omo_core::stop::allowed_blocks;
use omo_core::text::{format_age, sanitize_line};
use omo_state::env::ProcessEnv;

use crate::error::CommandError;
use crate::kept_texts::{KEPT_TEXTS, KeptTexts};
use crate::last_run::{LastRun, changed_files, find_project_to_show};

const LOG_LINES: usize = 40;

pub(super) fn last_report(env: &ProcessEnv, session: Option<&str>) -> Result<String, CommandError> {
    let project = find_project_to_show(env, session)?;
    let last = LastRun::find_to_show(env, &project)?;
    let session = &last.session;
    let kept = KeptTexts::read(
        env.state_home.as_deref(),
        project.folder.as_ref(),
        &last.id,
        session,
        Vec::new(),
    );
    let ended = run_ended(session, allowed_blocks(session, env.client_block_cap));
    let ended = ended.unwrap_or_else(|| "[omo] on: this run has not ended".to_owned());
    let mut text = kept.with_faults(&ended);
    let at = session
        .verdict
        .as_ref()
        .map(|verdict| verdict.at)
        .or(session.ulw.started_at);
    if let Some(changed) = changed_files(env, &project, &last.id, session) {
        let _ = write!(text, "\n[omo] verified; {changed}");
    }
    let _ = writeln!(
        text,
        "\n\nsession  {}, {} ago",
        last.id,
        format_age(at, env.now)
    );
    if let Some(task) = session.ulw.full_task() {
        quote(&mut text, "task", task);
    }
    for later in &session.ulw.asked_later {
        quote(&mut text, "added later", later);
    }
    for check in &session.checks {
        describe_result(
            &mut text,
            check,
            kept.logs.get(&check.name).map(String::as_str),
            env,
        );
    }
    if let Some(note) = kept.note {
        let _ = writeln!(text, "\n{KEPT_TEXTS}  {note}");
    }
    if let Some(home) = env.state_home.as_deref() {
        for (label, line) in known_counterfactual(home, &last.id, session).words().rows() {
            let _ = writeln!(text, "\n{label}  {line}");
        }
    }
    describe_review(&mut text, session);
    let _ = writeln!(text, "\nEach decision: omo log --session {}", last.id);
    Ok(text)
}

fn describe_result(text: &mut String, check: &Check, log: Option<&str>, env: &ProcessEnv) {
    let _ = writeln!(text, "\ncheck  {}", describe_check(check, "  "));
    let Some(record) = &check.last else {
        text.push_str("  not run\n");
        return;
    };
    let counts = record
        .counts
        .map(|counts| format!(" ({counts})"))
        .unwrap_or_default();
    let age = format_age(record.at, env.now);
    let _ = writeln!(
        text,
        "  {}: {}{counts}, {age} ago",
        record.verdict.word(),
        sanitize_line(&record.detail)
    );
    let lines: Vec<&str> = log.unwrap_or_default().lines().collect();
    for line in lines.iter().skip(lines.len().saturating_sub(LOG_LINES)) {
        let _ = writeln!(text, "  > {}", sanitize_line(line));
    }
}

fn describe_review(text: &mut String, session: &Session) {
    let verification = &session.verification;
    if !verification.review_wanted {
        text.push_str("\nreview  none was wanted\n");
        return;
    }
    match &verification.review {
        Some(review) => {
            let _ = writeln!(text, "\nreview  {}", verdict_words(review.verdict));
            quote(text, "in its words", &review.objections);
        }
        None if verification.rejections.is_empty() => text.push_str("\nreview  none came\n"),
        None => {}
    }
    for rejection in verification
        .rejections
        .iter()
        .filter(|rejection| !rejection.objections.is_empty())
    {
        quote(text, "a review objected", &rejection.objections);
    }
}

fn verdict_words(verdict: ReviewVerdict) -> &'static str {
    match verdict {
        ReviewVerdict::Verified => "agreed",
        ReviewVerdict::Rejected => "rejected the work",
        ReviewVerdict::Unclear => "came to no verdict",
    }
}

fn quote(text: &mut String, title: &str, lines: &str) {
    if lines.trim().is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{title}");
    for line in lines.lines() {
        let _ = writeln!(text, "  > {}", sanitize_line(line));
    }
}
