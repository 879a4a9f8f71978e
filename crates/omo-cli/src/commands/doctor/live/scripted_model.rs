//! Replies of the model in `omo doctor --live`: a subagent, or a refusal.

use omo_scripted_model::{ModelMessage, ModelReply, ModelRequest, ModelServer, ReplyBlock};
use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Script {
    Subagent,
    Refusal,
}

pub(super) fn start_model(script: Script) -> Result<ModelServer, String> {
    ModelServer::start(move |request, _| match script {
        Script::Refusal => ModelReply::error(
            401,
            "authentication_error",
            "refused, as omo doctor wants it",
        ),
        Script::Subagent => ModelReply::Message(ModelMessage::new(vec![next_block(&request)])),
    })
}

fn next_block(request: &ModelRequest) -> ReplyBlock {
    let body = &request.body;
    let has_result = body
        .get("messages")
        .is_some_and(|messages| messages.to_string().contains("\"tool_result\""));
    let tools = body
        .get("tools")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let mut names = tools.filter_map(|tool| tool.get("name")?.as_str());
    // Older clients call the tool `Task`.
    let tool = names.find(|name| ["Agent", "Task"].contains(name));
    match tool.filter(|_| request.agent.is_none() && !has_result) {
        Some(tool) => {
            let input = json!({
                "description": "answer at once", "subagent_type": "general-purpose",
                "prompt": "Answer at once.", "run_in_background": false,
            });
            ReplyBlock::Tool {
                name: tool.to_owned(),
                input,
            }
        }
        None => ReplyBlock::Text("All is said.".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subagent_is_started_once_and_then_all_is_said() {
        let tools = json!([{"name": "Bash"}, {"name": "Agent"}]);
        let first = json!({"tools": tools, "messages": [{"role": "user", "content": "hello"}]});
        let later = json!({"tools": tools, "messages": [{"role": "user", "content": [{"type": "tool_result"}]}]});
        let starts_agent = |body: &Value, agent: Option<&str>| {
            let (path, agent) = ("/v1/messages".to_owned(), agent.map(str::to_owned));
            let block = next_block(&ModelRequest {
                path,
                agent,
                body: body.clone(),
                wants_message: true,
            });
            matches!(block, ReplyBlock::Tool { name, .. } if name == "Agent")
        };
        assert!(starts_agent(&first, None));
        assert!(
            !starts_agent(&first, Some("a1")),
            "a subagent starts no other"
        );
        assert!(!starts_agent(&later, None));
        assert!(
            !starts_agent(&json!({}), None),
            "a small request of the client itself"
        );
    }
}
