//! Payer of the clients that omo starts: its user is warned or asked where that is not their subscription.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BillingFacts {
    /// `ANTHROPIC_API_KEY` is set.
    pub has_api_key: bool,
    /// `ANTHROPIC_AUTH_TOKEN` is set.
    pub has_auth_token: bool,
    /// The user's settings name an `apiKeyHelper`.
    pub has_key_helper: bool,
    /// The set variable that has a cloud provider serve the client, such as `CLAUDE_CODE_USE_BEDROCK`.
    pub provider: Option<String>,
}

const PROVIDERS: [&str; 3] = [
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
];

impl BillingFacts {
    /// Facts from the environment, looked up by name, and the user's settings. A variable without a value is not set.
    pub fn from_environment(
        variable: impl Fn(&str) -> Option<String>,
        has_key_helper: bool,
    ) -> Self {
        let value = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        Self {
            has_api_key: value("ANTHROPIC_API_KEY").is_some(),
            has_auth_token: value("ANTHROPIC_AUTH_TOKEN").is_some(),
            has_key_helper,
            provider: PROVIDERS
                .iter()
                .find(|name| value(name).is_some_and(|value| is_on(&value)))
                .map(|name| (*name).to_owned()),
        }
    }

    /// Name of a payer other than the subscription, such as `ANTHROPIC_API_KEY`.
    pub(crate) fn payer(&self) -> Option<&str> {
        match self {
            Self {
                has_api_key: true, ..
            } => Some("ANTHROPIC_API_KEY"),
            Self {
                provider: Some(provider),
                ..
            } => Some(provider),
            Self {
                has_auth_token: true,
                ..
            } => Some("ANTHROPIC_AUTH_TOKEN"),
            Self {
                has_key_helper: true,
                ..
            } => Some("apiKeyHelper in the settings"),
            _ => None,
        }
    }

    pub fn summary_line(&self) -> String {
        match self.payer() {
            Some("ANTHROPIC_API_KEY") => {
                "Billing: ANTHROPIC_API_KEY is SET — parallel sessions will bill API account"
                    .to_owned()
            }
            Some(payer) => format!(
                "Billing: ANTHROPIC_API_KEY is NOT SET, but {payer} is — parallel sessions will be billed to it"
            ),
            None => {
                "Billing: ANTHROPIC_API_KEY is NOT SET — sessions will use subscription".to_owned()
            }
        }
    }
}

fn is_on(value: &str) -> bool {
    let off_values = ["0", "false", "no", "off"];
    !off_values.contains(&value.trim().to_ascii_lowercase().as_str())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BillingRequest {
    pub starts_clients: bool,
    pub can_ask: bool,
    pub is_accepted: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BillingDecision {
    Silent,
    Warn { text: String },
    Ask { question: String },
    Stop { text: String, hint: String },
}

/// Asks about `ANTHROPIC_API_KEY`, which a terminal may carry for another program, and warns of any other payer.
pub fn decide_billing(facts: &BillingFacts, asked: BillingRequest) -> BillingDecision {
    let Some(payer) = facts.payer().filter(|_| asked.starts_clients) else {
        return BillingDecision::Silent;
    };
    let text = format!("{payer} is set: the workers are billed to it and not to a subscription");
    match (facts.has_api_key && !asked.is_accepted, asked.can_ask) {
        (false, _) => BillingDecision::Warn { text },
        (true, true) => BillingDecision::Ask { question: format!("{text}. Start them?") },
        (true, false) => BillingDecision::Stop {
            text,
            hint: "--accept-api-billing accepts that; --fg starts no further client; or unset ANTHROPIC_API_KEY"
                .to_owned(),
        },
    }
}
