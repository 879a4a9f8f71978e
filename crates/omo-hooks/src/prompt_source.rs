//! Source of a prompt: a person, or a model through a schedule, a shell or a second client.

use std::path::Path;

use omo_claude::hook_input::HookInput;
use omo_claude::project_clients::ProjectClients;
use omo_core::request_source::{RequestFacts, RequestSource, request_source};
use omo_state::{env, transcript};

use crate::runtime::HookContext;

/// The source of `prompt`. Costs more than most hooks do, so asked only where it matters.
pub(crate) fn source_of_prompt(
    context: &HookContext,
    input: &HookInput,
    prompt: &str,
) -> RequestSource {
    let folders: Vec<&Path> = [context.root.as_deref(), input.cwd.as_deref()]
        .into_iter()
        .flatten()
        .collect();
    let is_scheduled = transcript::is_scheduled_prompt(
        prompt,
        input.transcript_path.as_deref(),
        &folders,
        context.env.now,
    );
    let [is_below_session, is_served_elsewhere] = client_facts(context);
    request_source(RequestFacts {
        is_scheduled,
        is_below_session,
        is_served_elsewhere,
    })
}

pub fn is_below_session(context: &HookContext) -> bool {
    client_facts(context)[0]
}

/// A session of this project above the hook's client, and an older client of its session.
fn client_facts(context: &HookContext) -> [bool; 2] {
    let Some(root) = context.root.as_deref() else {
        return [false; 2];
    };
    let own_id = context.session_id.as_ref();
    let project = ProjectClients::read(root, own_id);
    let named = env::client_pid();
    let served_before =
        |client| own_id.is_some_and(|id| project.is_served_before(id.as_str(), client));
    match project.client_of_hook(named) {
        Some(client) => [project.stands_above_client(client), served_before(client)],
        // The client has ended, or its processes are not shown.
        None => [false, named.is_some_and(served_before)],
    }
}
