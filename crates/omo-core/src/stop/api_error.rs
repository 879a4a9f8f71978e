//! The effect of an API error on a run.

use crate::session::PauseReason;
use crate::session::rest::RestReason;

/// The pause that an API error causes; `error` is the client's name of it.
///
/// Rate limits, overload and unknown errors leave the run on: the client retries, or the user
/// continues after the limit. An error that only a person can fix waits for them.
pub fn pause_reason(error: &str) -> Option<PauseReason> {
    const NEEDS_A_PERSON: [&str; 8] = [
        "authentication_failed",
        "authentication_error",
        "oauth_org_not_allowed",
        "permission_error",
        "billing_error",
        "account_on_hold",
        "model_not_found",
        "not_found_error",
    ];
    NEEDS_A_PERSON
        .contains(&error)
        .then_some(PauseReason::ApiError)
}

/// Reason for the idle time of a run after an API error.
pub fn rest_reason(error: Option<&str>) -> RestReason {
    match error {
        Some("rate_limit" | "rate_limit_error" | "usage_limit") => RestReason::UsageLimit,
        _ => RestReason::ApiError,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_person_must_mend_pauses() {
        for error in ["authentication_failed", "billing_error", "model_not_found"] {
            assert_eq!(pause_reason(error), Some(PauseReason::ApiError), "{error}");
        }
        for error in [
            "rate_limit",
            "server_error",
            "unknown",
            "invalid_request",
            "max_output_tokens",
            "",
        ] {
            assert_eq!(pause_reason(error), None, "{error}");
        }
    }
}
