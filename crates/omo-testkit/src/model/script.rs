//! Answers of the scripted model, in order, and the choice of one for a request.

use std::collections::{HashMap, VecDeque};

use super::request::{RecordedRequest, RequestKind};
use super::turn::ModelTurn;

/// The answers of a scripted model.
///
/// The main thread of the session takes its turns in order; a subagent takes those of the first
/// entry whose words stand in its system prompt or first message. A rule goes before both.
#[derive(Debug, Clone)]
pub struct ModelScript {
    main: VecDeque<ModelTurn>,
    agents: Vec<AgentTurns>,
    rules: Vec<Rule>,
    default: ModelTurn,
    compact: ModelTurn,
    side: ModelTurn,
}

#[derive(Debug, Clone)]
struct AgentTurns {
    needle: String,
    turns: Vec<ModelTurn>,
    used: HashMap<String, usize>,
}

#[derive(Debug, Clone)]
struct Rule {
    needle: String,
    turn: ModelTurn,
    uses_left: usize,
}

/// An answer and whether the script foresaw the request.
pub(super) struct Picked {
    pub(super) turn: ModelTurn,
    pub(super) scripted: bool,
}

impl Default for ModelScript {
    fn default() -> Self {
        Self::new()
    }
}

impl ModelScript {
    /// A script without turns: every request gets the default answer.
    pub fn new() -> Self {
        Self {
            main: VecDeque::new(),
            agents: Vec::new(),
            rules: Vec::new(),
            default: ModelTurn::text("Unscripted answer."),
            compact: ModelTurn::text(
                "<analysis>brief</analysis>\n<summary>\nScripted summary.\n</summary>",
            ),
            side: ModelTurn::text("{\"title\": \"Scripted title\"}"),
        }
    }

    /// The next turn of the main thread.
    #[must_use]
    pub fn turn(mut self, turn: ModelTurn) -> Self {
        self.main.push_back(turn);
        self
    }

    /// The next turn says `text`.
    #[must_use]
    pub fn say(self, text: impl Into<String>) -> Self {
        self.turn(ModelTurn::text(text))
    }

    /// The next `count` turns say `text`.
    #[must_use]
    pub fn say_times(self, count: usize, text: &str) -> Self {
        (0..count).fold(self, |script, _| script.say(text))
    }

    /// The next turn runs a shell command.
    #[must_use]
    pub fn bash(self, command: &str) -> Self {
        self.turn(ModelTurn::bash(command))
    }

    /// The next turn is an error of the API.
    #[must_use]
    pub fn error(self, status: u16, kind: &str, message: &str) -> Self {
        self.turn(ModelTurn::error(status, kind, message))
    }

    /// The turns of each subagent with `needle` in its system prompt or first message.
    #[must_use]
    pub fn agent(mut self, needle: &str, turns: impl IntoIterator<Item = ModelTurn>) -> Self {
        self.agents.push(AgentTurns {
            needle: needle.to_owned(),
            turns: turns.into_iter().collect(),
            used: HashMap::new(),
        });
        self
    }

    /// Answers the first main request with `needle` in its last user message, out of order.
    #[must_use]
    pub fn when(self, needle: &str, turn: ModelTurn) -> Self {
        self.rule(needle, turn, 1)
    }

    /// Answers every main request with `needle` in its last user message.
    #[must_use]
    pub fn whenever(self, needle: &str, turn: ModelTurn) -> Self {
        self.rule(needle, turn, usize::MAX)
    }

    /// The answer when the turns are used up; such requests count as unscripted.
    #[must_use]
    pub fn default(mut self, turn: ModelTurn) -> Self {
        self.default = turn;
        self
    }

    /// The answer to a request for a summary of the conversation.
    #[must_use]
    pub fn compact(mut self, turn: ModelTurn) -> Self {
        self.compact = turn;
        self
    }

    /// The answer to small requests of the client itself, such as the one for a title.
    #[must_use]
    pub fn side(mut self, turn: ModelTurn) -> Self {
        self.side = turn;
        self
    }

    pub(super) fn push(&mut self, turn: ModelTurn) {
        self.main.push_back(turn);
    }

    pub(super) fn pick(&mut self, request: &RecordedRequest) -> Picked {
        let foreseen = match request.kind {
            RequestKind::Compact => Some(self.compact.clone()),
            RequestKind::Side => Some(self.side.clone()),
            RequestKind::Agent => self.agent_turn(request),
            RequestKind::Main => self.ruled(request).or_else(|| self.main.pop_front()),
            RequestKind::Count | RequestKind::Other => None,
        };
        Picked {
            scripted: foreseen.is_some(),
            turn: foreseen.unwrap_or_else(|| self.default.clone()),
        }
    }

    fn rule(mut self, needle: &str, turn: ModelTurn, uses_left: usize) -> Self {
        self.rules.push(Rule {
            needle: needle.to_owned(),
            turn,
            uses_left,
        });
        self
    }

    fn ruled(&mut self, request: &RecordedRequest) -> Option<ModelTurn> {
        let text = request.last_user_text();
        let rule = self
            .rules
            .iter_mut()
            .find(|rule| rule.uses_left > 0 && text.contains(&rule.needle))?;
        rule.uses_left -= 1;
        Some(rule.turn.clone())
    }

    fn agent_turn(&mut self, request: &RecordedRequest) -> Option<ModelTurn> {
        let (system, first) = (request.system_text(), request.first_text());
        let entry = self
            .agents
            .iter_mut()
            .find(|entry| system.contains(&entry.needle) || first.contains(&entry.needle))?;
        let agent = request.agent.clone().unwrap_or_default();
        let used = entry.used.entry(agent).or_default();
        let turn = entry.turns.get(*used).cloned();
        *used += 1;
        turn
    }
}
