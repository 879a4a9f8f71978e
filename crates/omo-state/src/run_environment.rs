//! Environment variables at a run's start, saved for its checks in a file that only the user can
//! read.
//!
//! Variables of later hooks may come from the project's settings, which a model can write. The
//! sealed entry of the session names the saved environment by its digest.

use std::ffi::OsString;
use std::path::Path;

use omo_core::session::id::SessionId;

use crate::files::folder::{FolderError, GuardedFolder};
use crate::{env, sealed_json};

const PARTS: [&str; 2] = ["omo", "environments"];
const MAX_BYTES: u64 = 16 * 1024 * 1024;
const LONGEST_SECONDS: i64 = 7 * 24 * 60 * 60;

pub(crate) type EnvVariables = Vec<(OsString, OsString)>;

/// Saves the environment of a new run, and returns the digest for [`read`].
///
/// # Errors
///
/// State folder of the user that cannot be written.
pub fn keep(
    state_home: &Path,
    id: &SessionId,
    variables: &EnvVariables,
) -> Result<String, FolderError> {
    let folder = GuardedFolder::create_user_part(state_home, &PARTS)?;
    forget_old(&folder);
    sealed_json::keep(&folder, &name(id), variables)
}

/// Environment with this digest, if it is still there.
pub fn read(state_home: &Path, id: &SessionId, digest: &str) -> Option<EnvVariables> {
    let folder = GuardedFolder::open_user_part(state_home, &PARTS).ok()??;
    sealed_json::read_kept(&folder, &name(id), digest, MAX_BYTES)
}

pub(crate) fn forget(state_home: Option<&Path>, id: &SessionId) {
    if let Some(Ok(Some(folder))) =
        state_home.map(|home| GuardedFolder::open_user_part(home, &PARTS))
    {
        let _ = folder.remove(&name(id));
    }
}

/// Removes environments of runs whose state was removed.
fn forget_old(folder: &GuardedFolder) {
    let now = env::now().as_millis() / 1_000;
    for name in folder
        .file_names("")
        .unwrap_or_default()
        .iter()
        .filter(|name| {
            folder
                .written_at(name)
                .is_some_and(|at| now - at > LONGEST_SECONDS)
        })
    {
        let _ = folder.remove(name);
    }
}

fn name(id: &SessionId) -> String {
    format!("{}.json", id.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_found_until_it_is_forgotten_or_changed() {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path();
        let (id, other) = (
            SessionId::parse("a").unwrap(),
            SessionId::parse("b").unwrap(),
        );
        let variables: EnvVariables = vec![
            ("PATH".into(), "/bin".into()),
            ("X".into(), "a\nb=c".into()),
        ];
        let kept = keep(home, &id, &variables).unwrap();
        assert_eq!(read(home, &id, &kept), Some(variables.clone()));
        assert_eq!(read(home, &id, "other"), None);
        assert_eq!(read(home, &other, &kept), None);
        let file = home.join("omo/environments/a.json");
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text.replace('1', "2")).unwrap();
        assert_eq!(read(home, &id, &kept), None);
        let kept = keep(home, &id, &variables).unwrap();
        forget(Some(home), &id);
        assert_eq!(read(home, &id, &kept), None);
    }

    #[test]
    #[cfg(unix)]
    fn only_its_user_can_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let temp = tempfile::tempdir().unwrap();
        keep(
            temp.path(),
            &SessionId::parse("a").unwrap(),
            &EnvVariables::new(),
        )
        .unwrap();
        let mode = std::fs::metadata(temp.path().join("omo/environments/a.json"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
