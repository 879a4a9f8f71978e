//! Ends of sessions as the client 2.1.328 prints them, shortened to the fields that are read.

use super::*;

const OK: &str = r#"{"type":"result","subtype":"success","is_error":false,"num_turns":1,"session_id":"s","total_cost_usd":0.0008,"api_error_status":null,"terminal_reason":"completed","permission_denials":[],"result":"all done. PASSED"}"#;
const TURNS: &str = r#"{"type":"result","subtype":"error_max_turns","is_error":true,"num_turns":3,"session_id":"s","terminal_reason":"max_turns","errors":["Reached maximum number of turns (2)"]}"#;
const BUDGET: &str = r#"{"type":"result","subtype":"error_max_budget_usd","is_error":true,"total_cost_usd":1.8,"terminal_reason":"budget_exhausted","errors":["Reached maximum budget ($0.5)"]}"#;
const LIMIT: &str = r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"api_error_type":"rate_limit_error","api_error":"usage_limit_reached","terminal_reason":"api_error","result":"You've hit your 5-hour limit · resets 2:34am (UTC)"}"#;
const BUSY: &str = r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"api_error_type":"rate_limit_error","terminal_reason":"api_error","result":"API Error: Request rejected (429) · limit"}"#;
const SERVER: &str = r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":500,"api_error_type":"api_error","terminal_reason":"api_error","result":"API Error: 500 boom."}"#;
const KEY: &str = r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":401,"terminal_reason":"api_error","result":"Invalid API key · Fix external API key"}"#;
const LOST: &str = r#"{"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":0,"errors":["No conversation found with session ID: x"]}"#;
const ABORTED: &str = r#"{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_streaming"}"#;

fn now() -> Timestamp {
    Timestamp::parse("2026-11-22T00:34:04Z").unwrap()
}

fn seconds(text: &str) -> i64 {
    Timestamp::parse(text).unwrap().as_millis() / 1_000
}

fn said(json: &str) -> SessionOutput {
    SessionOutput {
        session_id: Some("s".to_owned()),
        result: Some(serde_json::from_str(json).unwrap()),
        limit_resets_at: None,
    }
}

fn exited(status: i32) -> ClientProcessEnd {
    ClientProcessEnd {
        status: Some(status),
        ..ClientProcessEnd::default()
    }
}

#[test]
fn an_end_is_told_by_what_the_client_says_about_itself() {
    let api = |status, detail: &str| ClientEnd::ApiError {
        status: Some(status),
        detail: detail.to_owned(),
    };
    let torn = |status| {
        ClientEnd::Garbage(format!(
            "its result is neither success nor failure (exit status {status})"
        ))
    };
    for (status, json, expected) in [
        (0, OK, ClientEnd::Ended),
        (1, OK, torn(1)),
        (1, TURNS, ClientEnd::TurnsSpent),
        (1, BUDGET, ClientEnd::BudgetSpent),
        (1, LIMIT, ClientEnd::UsageLimit { until: None }),
        (1, BUSY, ClientEnd::UsageLimit { until: None }),
        (1, SERVER, api(500, "API Error: 500 boom.")),
        (0, SERVER, api(500, "API Error: 500 boom.")),
        (1, KEY, api(401, "Invalid API key · Fix external API key")),
        (0, ABORTED, ClientEnd::Killed { signal: None }),
        (1, LOST, torn(1)),
        (143, OK, ClientEnd::Killed { signal: Some(15) }),
        (0, r#"{"result":"PASSED"}"#, torn(0)),
        (0, r#"{"is_error":false,"subtype":"passed"}"#, torn(0)),
    ] {
        assert_eq!(
            classify_end(&exited(status), &said(json), now()),
            expected,
            "{status} {json}"
        );
    }
}

#[test]
fn an_end_without_a_result_is_told_by_the_process() {
    let nothing = SessionOutput::default();
    let begun = SessionOutput {
        session_id: Some("s".to_owned()),
        ..SessionOutput::default()
    };
    let complained = ClientProcessEnd {
        complaint: "error: unknown option '--x'".to_owned(),
        ..exited(1)
    };
    for (process, said, expected) in [
        (
            exited(0),
            &begun,
            ClientEnd::Garbage("it ended without a result (exit status 0)".to_owned()),
        ),
        (
            exited(0),
            &nothing,
            ClientEnd::NeverBegan("it ended before it began (exit status 0)".to_owned()),
        ),
        (
            complained.clone(),
            &nothing,
            ClientEnd::NeverBegan("error: unknown option '--x'".to_owned()),
        ),
        (
            complained,
            &SessionOutput {
                session_id: None,
                ..said(LOST)
            },
            ClientEnd::NeverBegan("error: unknown option '--x'".to_owned()),
        ),
        (exited(143), &begun, ClientEnd::Killed { signal: Some(15) }),
        (
            ClientProcessEnd {
                signal: Some(9),
                ..ClientProcessEnd::default()
            },
            &begun,
            ClientEnd::Killed { signal: Some(9) },
        ),
        (
            ClientProcessEnd {
                timed_out: true,
                ..ClientProcessEnd::default()
            },
            &begun,
            ClientEnd::TimedOut,
        ),
        (
            ClientProcessEnd {
                stopped: true,
                signal: Some(15),
                ..ClientProcessEnd::default()
            },
            &begun,
            ClientEnd::Stopped,
        ),
        (
            ClientProcessEnd {
                not_started: Some("no such file".to_owned()),
                ..ClientProcessEnd::default()
            },
            &nothing,
            ClientEnd::NeverBegan("no such file".to_owned()),
        ),
    ] {
        assert_eq!(classify_end(&process, said, now()), expected, "{process:?}");
    }
}

#[test]
fn a_reset_is_believed_where_it_lies_ahead_and_no_more_than_a_week() {
    for (at, expected) in [
        ("2026-11-22T02:34:04Z", true),
        ("2026-11-29T00:00:00Z", true),
        ("2026-11-22T00:00:00Z", false),
        ("2026-12-22T00:00:00Z", false),
    ] {
        let said = SessionOutput {
            limit_resets_at: Some(seconds(at)),
            ..said(LIMIT)
        };
        let until = expected.then(|| Timestamp::parse(at).unwrap());
        assert_eq!(
            classify_end(&exited(1), &said, now()),
            ClientEnd::UsageLimit { until },
            "{at}"
        );
    }
    let said = SessionOutput {
        limit_resets_at: Some(i64::MAX),
        ..said(LIMIT)
    };
    assert_eq!(
        classify_end(&exited(1), &said, now()),
        ClientEnd::UsageLimit { until: None }
    );
}

#[test]
fn what_the_ledger_has_settled_stays_so_and_nothing_else_is_called_done() {
    let left = LedgerFacts {
        tasks_left: 2,
        was_resumed: false,
    };
    let resumed = LedgerFacts {
        was_resumed: true,
        ..left
    };
    let said = said(OK);
    let resume = || FollowUp::Resume {
        session: "s".to_owned(),
    };
    let unfinished = || FollowUp::FailAttempt("the session ended without finishing its step");
    let api = |status| ClientEnd::ApiError {
        status,
        detail: String::new(),
    };
    let fails = FollowUp::FailAttempt;
    let (holds, asks) = (FollowUp::Hold, FollowUp::Ask);
    for (end, expected) in [
        (ClientEnd::Ended, resume()),
        (ClientEnd::TurnsSpent, resume()),
        (
            ClientEnd::Garbage(String::new()),
            fails("the session ended without a result"),
        ),
        (ClientEnd::TimedOut, fails("the session's time was up")),
        (
            ClientEnd::Killed { signal: Some(9) },
            holds("the session was killed"),
        ),
        (ClientEnd::Stopped, holds("the session was stopped")),
        (
            ClientEnd::UsageLimit { until: Some(now()) },
            FollowUp::WaitUntil(Some(now())),
        ),
        (ClientEnd::BudgetSpent, asks("the session spent its budget")),
        (api(Some(529)), FollowUp::HoldOrAsk("the API failed")),
        (api(None), FollowUp::HoldOrAsk("the API failed")),
        (api(Some(401)), asks("the API refused the session")),
        (
            ClientEnd::NeverBegan(String::new()),
            asks("the session could not be started"),
        ),
    ] {
        assert_eq!(follow_up(&end, &said, left), expected, "{end:?}");
        let again = if expected == resume() {
            unfinished()
        } else {
            expected
        };
        assert_eq!(follow_up(&end, &said, resumed), again, "{end:?}");
        assert_eq!(
            follow_up(&end, &said, LedgerFacts::default()),
            FollowUp::Settled,
            "{end:?}"
        );
    }
    let nameless = SessionOutput {
        session_id: None,
        ..said
    };
    assert_eq!(follow_up(&ClientEnd::Ended, &nameless, left), unfinished());
}

#[test]
fn a_cost_is_told_in_millionths() {
    let cost = |dollars| {
        ClientResult {
            total_cost_usd: Some(dollars),
            ..ClientResult::default()
        }
        .cost_micros()
    };
    assert_eq!((cost(0.25), cost(0.0)), (Some(250_000), Some(0)));
    for wrong in [f64::NAN, f64::INFINITY, -1.0, 1e10] {
        assert_eq!(cost(wrong), None);
    }
}
