//! Limits of a run's clients: cost and time.

use omo_engine::client_policy::ClientCost;
use omo_engine::event::EventKind;
use omo_engine::parallel_schedule::BUDGET_SPENT;
use omo_engine::parallel_state::BudgetGrant;
use omo_engine::verbs;
use omo_plan::refusal::VerbRefusalKind;

use crate::run::kit::Run;
use crate::run::parallel::{begin, end, merge, parallel_run, step};

#[test]
fn another_budget_takes_back_what_was_asked_for_want_of_it() {
    let mut run = parallel_run(0);
    begin(&mut run, "a");
    let ended = |group: &str| EventKind::WorkerEnded {
        group: group.to_owned(),
        how: String::new(),
        cost: ClientCost {
            told: Some(300_000),
            untold: 0,
        },
    };
    begin(&mut run, "b");
    run.pass("3");
    end(&mut run, "b", None);
    merge(&mut run, "b");
    run.write([
        ended("a"),
        EventKind::GroupStuck {
            group: "a".to_owned(),
            reason: BUDGET_SPENT.to_owned(),
        },
    ]);
    run.advance();
    assert!(run.state.open_question().is_some());
    let budget = |run: &Run, micros: u64| verbs::set_budget(&run.state, &run.caller, micros);
    run.write(budget(&run, 300_000).unwrap());
    run.write([EventKind::GroupStuck {
        group: "a".to_owned(),
        reason: BUDGET_SPENT.to_owned(),
    }]);
    run.advance();
    run.caller.prompted_at = None;
    let refusal = budget(&run, 2_000_000).unwrap_err();
    assert_eq!(
        refusal.kind,
        VerbRefusalKind::NeedsPerson,
        "a model does not raise what its user may pay"
    );
    run.types();
    run.write(budget(&run, 2_000_000).unwrap());
    assert!(run.state.open_question().is_none());
    assert_eq!(step(&run), "start a");
    let granted = run.state.parallel.as_ref().unwrap().grant_budget(0, 1);
    assert_eq!(
        granted,
        BudgetGrant::Micros(1_700_000),
        "what was spent before counts"
    );
    assert_eq!(budget(&run, 2_000_000).unwrap(), None);
}

#[test]
fn a_client_that_did_not_say_its_cost_counts_with_its_budget() {
    let mut run = parallel_run(0);
    run.write(verbs::set_budget(&run.state, &run.caller, 1_000_000).unwrap());
    begin(&mut run, "a");
    let ended = |untold| EventKind::WorkerEnded {
        group: "a".to_owned(),
        how: String::new(),
        cost: ClientCost { told: None, untold },
    };
    run.write([ended(400_000)]);
    let parallel = run.state.parallel.clone().unwrap();
    assert_eq!(
        (parallel.cost_micros(), parallel.untold_micros()),
        (0, 400_000)
    );
    assert_eq!(parallel.grant_budget(0, 2), BudgetGrant::Micros(300_000));
    let cost = ClientCost::default()
        .with_client(Some(5), Some(9))
        .with_client(None, Some(20))
        .with_client(None, None);
    assert_eq!(
        cost,
        ClientCost {
            told: Some(5),
            untold: 20
        }
    );
    assert_eq!(cost.most(), 25);
}

#[test]
fn another_time_limit_holds_for_the_clients_that_are_started_from_then_on() {
    let mut run = parallel_run(0);
    let limit = |run: &Run, seconds| verbs::set_time_limit(&run.state, &run.caller, seconds);
    let usual = run
        .state
        .parallel
        .as_ref()
        .unwrap()
        .policy
        .time_limit_seconds();
    run.caller.prompted_at = None;
    assert_eq!(limit(&run, usual).unwrap(), None);
    assert_eq!(
        limit(&run, usual + 1).unwrap_err().kind,
        VerbRefusalKind::NeedsPerson
    );
    run.write(limit(&run, 60).unwrap());
    assert_eq!(
        run.state
            .parallel
            .as_ref()
            .unwrap()
            .policy
            .time_limit_seconds(),
        60
    );
    run.types();
    run.write(limit(&run, usual + 1).unwrap());
    assert_eq!(
        run.state
            .parallel
            .as_ref()
            .unwrap()
            .policy
            .time_limit_seconds(),
        usual + 1
    );
}
