//! `ClientPolicyRequest`: options about clients from a command line, and back as text to paste.

use omo_core::money::decimal_dollars;
use omo_core::text::command_text::quote_shell_word;

use crate::client_policy::ClientPolicy;

const MAX_BUDGET: u64 = 1_000_000;
const DECIMALS: usize = 6;
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientPolicyRequest {
    /// The requested settings; `setup` and `payer` are never requested.
    pub policy: ClientPolicy,
    pub accepts_billing: bool,
}

impl ClientPolicyRequest {
    pub fn has_more_than_model(&self) -> bool {
        let policy = ClientPolicy {
            model: None,
            ..self.policy.clone()
        };
        Self {
            policy,
            ..self.clone()
        } != Self::default()
    }

    /// `true` if a resumed run can follow the request: only cost and time limits can be set anew.
    pub fn keeps_policy(&self) -> bool {
        let rest = ClientPolicy {
            budget_micros: None,
            time_limit_seconds: 0,
            ..self.policy.clone()
        };
        rest == ClientPolicy::default()
    }

    /// Options such as `--max-budget-usd 5`; empty for the defaults.
    pub fn to_command_line(&self) -> String {
        let ClientPolicy {
            max_workers: max_at_once,
            budget_micros,
            time_limit_seconds,
            skips_permissions,
            allow,
            model,
            ..
        } = &self.policy;
        let ClientPolicy {
            launcher,
            launcher_remote,
            ..
        } = &self.policy;
        let number = |value: &u32| (*value > 0).then(|| value.to_string());

        let mut given: Vec<(&str, Option<String>)> = vec![
            ("--max-sessions", number(max_at_once)),
            ("--max-budget-usd", budget_micros.map(decimal_dollars)),
            ("--time-limit", number(time_limit_seconds)),
            ("--model", model.as_deref().map(quote_shell_word)),
            ("--launcher", launcher.as_deref().map(quote_shell_word)),
            (
                "--launcher-remote",
                launcher_remote.as_deref().map(quote_shell_word),
            ),
        ];
        given.extend(
            allow
                .iter()
                .map(|rule| ("--allow", Some(quote_shell_word(rule)))),
        );
        let with_value = given
            .into_iter()
            .filter_map(|(name, value)| Some(format!(" {name} {}", value?)));
        let alone = [
            ("--yolo", *skips_permissions),
            ("--accept-api-billing", self.accepts_billing),
        ];
        let alone = alone
            .into_iter()
            .filter(|(_, is_set)| *is_set)
            .map(|(name, _)| format!(" {name}"));
        with_value.chain(alone).collect()
    }
}

/// US dollars such as `12` or `0.50`, in millionths; an error for no amount, zero, or more than the maximum.
pub fn parse_budget(value: &str) -> Result<u64, String> {
    let wrong = || "needs an amount in US dollars, such as 5 or 0.50".to_owned();
    let (whole, part) = value.split_once('.').unwrap_or((value, "0"));

    if !is_number(whole) || !is_number(part) || part.len() > DECIMALS {
        return Err(wrong());
    }
    let whole = whole
        .parse::<u64>()
        .ok()
        .filter(|dollars| *dollars <= MAX_BUDGET)
        .ok_or_else(wrong)?;
    let part = format!("{part:0<DECIMALS$}")
        .parse::<u64>()
        .map_err(|_| wrong())?;
    Some(whole * 1_000_000 + part)
        .filter(|micros| *micros > 0)
        .ok_or_else(wrong)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_counted_in_millionths() {
        for (value, expected) in [
            ("5", 5_000_000),
            ("0.5", 500_000),
            ("12.345678", 12_345_678),
            ("0.000001", 1),
        ] {
            assert_eq!(parse_budget(value).unwrap(), expected, "{value}");
            assert_eq!(
                parse_budget(&decimal_dollars(expected)).unwrap(),
                expected,
                "{value}"
            );
        }
        assert!(parse_budget("1000000").is_ok() && parse_budget("1000001").is_err());
    }
}
