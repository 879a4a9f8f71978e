//! Active goals of the client, read from transcripts: the client notes there that a goal was set, met or given up.

use std::path::Path;
use std::time::Duration;

use omo_core::text::sanitize;
use omo_core::timestamp::Timestamp;
use omo_state::transcript::read_active_goal;

use super::super::facts::ActiveGoal;

const RECENT: Duration = Duration::from_secs(24 * 60 * 60);
const MAX_TRANSCRIPTS: usize = 20;
/// Length at which the client cuts a folder name, in characters.
const NAME_CHARS: usize = 200;

/// Active goals in sessions of a project; `armed` are the ids with ultrawork on.
pub(super) fn gather_goals(
    client_home: Option<&Path>,
    root: Option<&Path>,
    armed: &[String],
    now: Timestamp,
) -> Result<Vec<ActiveGoal>, String> {
    let client_home =
        client_home.ok_or("no home folder is known, so no transcript can be looked at")?;
    let Some(root) = root else {
        return Ok(Vec::new());
    };
    let name = folder_name(root);
    if name.len() > NAME_CHARS {
        return Err(
            "the project's path is so long that its transcripts cannot be found by it".to_owned(),
        );
    }
    let entries = std::fs::read_dir(client_home.join("projects").join(name))
        .into_iter()
        .flatten()
        .flatten();
    let transcripts = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"));
    let mut recent: Vec<_> = transcripts
        .filter_map(|path| Some((file_age(&path, now)?, path)))
        .collect();
    recent.sort();
    let newest = recent
        .into_iter()
        .take_while(|(age, _)| *age < RECENT)
        .take(MAX_TRANSCRIPTS);
    let goals = newest.filter_map(|(_, path)| {
        let condition = read_active_goal(&path)?;
        let session = sanitize(path.file_stem()?.to_str()?, 128);
        let is_armed = armed.contains(&session);
        Some(ActiveGoal {
            session,
            condition: sanitize(&condition, 120),
            is_armed,
        })
    });
    Ok(goals.collect())
}

fn file_age(path: &Path, now: Timestamp) -> Option<Duration> {
    let written = path
        .metadata()
        .ok()?
        .modified()
        .ok()?
        .duration_since(std::time::UNIX_EPOCH)
        .ok()?;
    let now = Duration::from_millis(u64::try_from(now.as_millis()).ok()?);
    Some(now.saturating_sub(written))
}

fn folder_name(root: &Path) -> String {
    root.to_string_lossy()
        .chars()
        .map(|char| {
            if char.is_ascii_alphanumeric() {
                char.to_string()
            } else {
                "-".repeat(char.len_utf16())
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_project_is_named_as_the_client_names_it() {
        assert_eq!(folder_name(Path::new("/tmp/a b/é/𝄞.x")), "-tmp-a-b------x");
    }
}
