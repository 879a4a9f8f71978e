//! Who asked, in a hook: what is known of the prompt, and of the client that hands it on.

use std::path::Path;

use omo_core::asker::{Asker, AskerFacts, who_asked};
use omo_core::session_id::SessionId;
use omo_exec::asking::AskedProject;
use omo_store::folder::Folder;
use omo_store::{env, state, transcript};

use crate::edge::Context;
use crate::input::Input;

/// Who asked for what a prompt says. Only asked where that changes something: it costs more than most hooks do.
pub fn of_prompt(context: &Context, input: &Input, prompt: &str) -> Asker {
    let folders: Vec<&Path> = [context.root.as_deref(), input.cwd.as_deref()].into_iter().flatten().collect();
    let is_scheduled = transcript::is_scheduled(prompt, input.transcript_path.as_deref(), &folders, context.env.now);
    let [is_below_session, is_served_elsewhere] = client(context);
    who_asked(AskerFacts { is_scheduled, is_below_session, is_served_elsewhere })
}

/// Whether this hook's client was started by a session's shell.
pub fn is_below_session(context: &Context) -> bool {
    client(context)[0]
}

/// Whether a session of this project stands above the hook's client, and whether an older one serves its session.
fn client(context: &Context) -> [bool; 2] {
    let (Some(root), Some(client)) = (context.root.as_deref(), env::client_pid()) else { return [false; 2] };
    let own = context.session_id.as_ref().map(SessionId::as_str);
    let known = Folder::open(root).ok().flatten().and_then(|folder| state::peek_all(&folder).ok()).unwrap_or_default();
    let mut sessions: Vec<String> = known.sessions.into_iter().map(|(id, _)| id.to_string()).collect();
    sessions.extend(known.unreadable.into_iter().map(|(id, _)| id.to_string()));
    sessions.extend(own.map(str::to_owned));
    let client_home = env::client_home();
    let project = AskedProject { root, sessions: &sessions, client_home: client_home.as_deref() };
    [project.stands_above_client(client), own.is_some_and(|own| project.is_served_before(own, client))]
}
