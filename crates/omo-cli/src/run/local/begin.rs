//! A run of a plan in steps is opened, once nothing is in its way.

use omo_core::words::sanitize;
use omo_plan::model::Plan;
use omo_plan::run::apart::Terms;
use omo_plan::run::event::EventKind;
use omo_plan::ultra_run::asked::Asked;
use omo_plan::ultra_run::billing::{self, Billing, billing};
use omo_plan::ultra_run::preflight::{Finding, Weight, is_clear};
use omo_plan::ultra_run::strategy::Strategy;
use omo_runs::Runs;
use omo_runs::engine::{Opening, beginning, set_apart};
use omo_store::env;
use omo_store::work_tree::WorkTree;

use super::super::context::CommandContext;
use super::super::open::say;
use super::wanted::Wanted;
use super::{blocks, commands, facts, resume};
use crate::failure::{Failure, Kind};

/// By what clients are paid for where their user is asked first.
pub(super) const PAYER: &str = "ANTHROPIC_API_KEY";

/// Opens a run.
pub(super) fn begin(
    context: &CommandContext,
    wanted: &Wanted,
    whole: &Plan,
    strategy: Strategy,
    work_tree: &WorkTree,
) -> Result<(), Failure> {
    let is_apart = strategy.starts_sessions();
    // One that is worked on in one place stays there, whatever an edited plan says about sessions.
    let steps_of_whole = Some(whole.units.len());
    let asked = Asked { is_foreground: !is_apart, steps_of_whole, ..Asked::from(&wanted.arguments) };
    let plan = asked.narrowed(whole.clone());
    if is_apart {
        facts::is_whole_repository(context, work_tree)?;
        facts::has_remote(context, &wanted.own.terms)?;
    }
    let findings = facts::findings(context, &plan, strategy)?;
    if !is_clear(&findings) {
        return Err(in_the_way(&findings));
    }
    let mut said = blocks::head(wanted, whole, strategy);
    said += &blocks::notes(&plan);
    said += &blocks::found(&findings);
    if !is_apart && !wanted.own.is_usual() {
        said += "note: the options for clients mean nothing here: none is started\n";
    }
    if is_apart && wanted.own.terms.launcher.is_some() {
        said += &blocks::launched(&wanted.own.terms);
    }
    let (payer, told) = who_pays(context, wanted, is_apart)?;
    said += &told;
    let setup = if is_apart { commands::setup_command(&context.root)? } else { None };
    let approved = commands::approve(context, &plan, setup.as_deref(), wanted.digest.as_deref(), wanted.typed())?;
    said += &commands::entry_condition(context, &plan)?;
    let accepts_billing = wanted.own.accepts_billing;
    let terms = Terms { setup, payer, accepts_billing, ..wanted.own.terms.clone() };
    let is_gone = || Failure::conflict("another branch was checked out meanwhile", "run it again");
    let apart = is_apart.then(|| set_apart(&context.root, terms).ok_or_else(is_gone)).transpose()?;

    let runs = Runs::create(&context.root, Some(&context.state_home))?;
    let door = runs.lock_opening()?;
    // Another process may have opened it meanwhile.
    if let Some((run, state)) = resume::known(context, &runs, whole, wanted, strategy)? {
        drop(door);
        return resume::go_on(context, &run, &state, Some(wanted), wanted.digest.as_deref());
    }
    let (actor, now) = (context.actor(), env::now());
    let root = context.root.display().to_string();
    let opened = EventKind::from(Opening { plan, approved, root, base: work_tree.head(), asked: Some(asked) });
    let more = beginning(opened.clone(), apart.into_iter().collect(), &actor, now);
    let (run, state) = runs.begin(&actor, now, opened, more)?;
    let state = context.engine(&run, &state)?.project(state.clone())?;
    context.tell(&run, &state.holder, &state);
    say(&blocks::opened(run.id(), &state, &said, blocks::then(&state, context.is_terminal())))
}

/// What keeps sessions from being started, all of it together.
fn in_the_way(findings: &[Finding]) -> Failure {
    let stops: Vec<&Finding> = findings.iter().filter(|finding| finding.weight == Weight::Stop).collect();
    let line = |finding: &&Finding| format!("  {}\n    {}", sanitize(&finding.text, 600), finding.hint);
    match stops.as_slice() {
        [one] => Failure::precondition(sanitize(&one.text, 600), one.hint.clone()),
        several => {
            let lines: Vec<String> = several.iter().map(line).collect();
            let message =
                format!("{} things are in the way, and nothing was started:\n{}", several.len(), lines.join("\n"));
            Failure::precondition(message, "put each of them right, then run again; --dry-run looks without running")
        }
    }
}

/// Who is still to be asked about paying, and what is told about it.
pub(super) fn who_pays(
    context: &CommandContext,
    wanted: &Wanted,
    is_apart: bool,
) -> Result<(Option<String>, String), Failure> {
    let asked = billing::Asked {
        starts_sessions: is_apart,
        can_ask: facts::can_ask(context),
        is_accepted: wanted.own.accepts_billing,
    };
    match billing(&facts::billing(), asked) {
        Billing::Silent => Ok((None, String::new())),
        Billing::Warn { text } => Ok((None, format!("note: {text}\n"))),
        Billing::Ask { .. } => Ok((Some(PAYER.to_owned()), String::new())),
        Billing::Stop { text, hint } => Err(Failure::precondition(text, hint).of_kind(Kind::Budget)),
    }
}
