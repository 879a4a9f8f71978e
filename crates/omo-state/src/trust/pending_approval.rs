//! Plans that wait for approval: a file with the commands of each, in the user's own folder, so
//! that a hook can show them without reading the plan.
//!
//! The file name is the digest of commands and folder, which each read checks.

use std::path::Path;

use omo_core::messages::checks::CODE_CHARS;
use omo_core::session::plan_run::PlannedCommand;
use serde::{Deserialize, Serialize};

use crate::files::folder::{FolderError, GuardedFolder};
use crate::files::lock::{DEADLINE, LockError, StateLock};
use crate::seal::{KeyError, SealKey};
use crate::trust::{self, ApprovalList, GivenApproval, TrustError};

const PARTS: [&str; 2] = ["omo", "pending"];
const VERSION: u32 = 1;
const SUFFIX: &str = ".json";
const MAX_BYTES: u64 = 1024 * 1024;
const KEPT: usize = 32;

#[derive(Debug, thiserror::Error)]
pub enum PendingError {
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error(transparent)]
    Home(#[from] KeyError),
    #[error("the commands of this plan are longer than {MAX_BYTES} bytes together")]
    TooLarge,
}

/// Plan with the commands that wait for an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingApproval {
    /// [`plan_digest`] of exactly these commands of this content in this folder.
    pub digest: String,
    pub plan: String,
    pub commands: Vec<PlannedCommand>,
    /// Slash command behind which the user was shown the commands, sealed by omo.
    pub line: Option<String>,
}

#[derive(Deserialize, Serialize)]
struct PendingFile {
    version: u32,
    /// Folder, for people to read; the digest covers the folder itself.
    root: String,
    plan: String,
    #[serde(default)]
    shown_plan: String,
    commands: Vec<PlannedCommand>,
    #[serde(default)]
    line: Option<SealedLine>,
}

/// Typed slash command with omo's seal; a code alone then approves.
#[derive(Deserialize, Serialize)]
struct SealedLine {
    text: String,
    seal: String,
}

impl SealedLine {
    fn new(key: &SealKey, digest: &str, text: &str) -> Self {
        Self {
            text: text.to_owned(),
            seal: key.mac(&Self::content(digest, text)),
        }
    }

    fn content(digest: &str, text: &str) -> Vec<u8> {
        format!("omo pending line 1\n{digest}\n{text}").into_bytes()
    }

    fn open(self, key: &SealKey, digest: &str) -> Option<String> {
        key.is_mac(&Self::content(digest, &self.text), &self.seal)
            .then_some(self.text)
    }
}

/// Digest of commands in this order, and of their folder.
pub fn commands_digest(root: &Path, commands: &[PlannedCommand]) -> String {
    commands_digest_at(root, root, commands)
}

/// Digest as by [`commands_digest`], with `shown_plan`, the digest of what the user sees of the plan; an empty one adds
/// nothing.
pub fn plan_digest(root: &Path, shown_plan: &str, commands: &[PlannedCommand]) -> String {
    digest_at(root, root, shown_plan, commands)
}

/// Digest as by [`commands_digest`], of a time when the folder at `root` was at `place`.
pub fn commands_digest_at(place: &Path, root: &Path, commands: &[PlannedCommand]) -> String {
    digest_at(place, root, "", commands)
}

fn digest_at(place: &Path, root: &Path, shown_plan: &str, commands: &[PlannedCommand]) -> String {
    let mut content = b"omo plan commands 1\n".to_vec();
    content.extend(serde_json::to_vec(commands).unwrap_or_default());
    content.extend(shown_plan.bytes());
    trust::content_digest_at(place, root, &content)
}

/// Writes commands alone, as [`write_plan`] does, whatever the content of the plan.
pub fn write(
    state_home: Option<&Path>,
    root: &Path,
    plan: &str,
    commands: &[PlannedCommand],
    line: Option<&str>,
) -> Result<String, PendingError> {
    write_plan(state_home, root, (plan, ""), commands, line)
}

/// Writes a plan (path and digest of what is shown of it) with its commands, and returns the digest. `line`
/// is the slash command that shows them to the user, `None` for a model.
pub fn write_plan(
    state_home: Option<&Path>,
    root: &Path,
    (plan, shown_plan): (&str, &str),
    commands: &[PlannedCommand],
    line: Option<&str>,
) -> Result<String, PendingError> {
    let digest = plan_digest(root, shown_plan, commands);
    let (root, plan) = (root.display().to_string(), plan.to_owned());
    // Makes the user's folder with all that belongs there.
    let key = SealKey::load(Some(state_home.ok_or(KeyError::NoHome)?))?;
    let line = line.map(|text| SealedLine::new(&key, &digest, text));
    let file = PendingFile {
        version: VERSION,
        root,
        plan,
        shown_plan: shown_plan.to_owned(),
        commands: commands.to_vec(),
        line,
    };
    let json = serde_json::to_vec(&file).unwrap_or_default();
    if json.len() as u64 > MAX_BYTES {
        return Err(PendingError::TooLarge);
    }
    let home = state_home.ok_or(KeyError::NoHome)?;
    let folder = GuardedFolder::create_user_part(home, &PARTS)?;
    let _lock = StateLock::take(&folder, DEADLINE)?;
    let name = format!("{digest}{SUFFIX}");
    folder.replace(&name, &json)?;
    forget_oldest_but(&name, &folder)?;
    Ok(digest)
}

/// Pending approval with this digest; `None` without a file, or with other content.
pub fn read(
    state_home: Option<&Path>,
    root: &Path,
    digest: &str,
) -> Result<Option<PendingApproval>, FolderError> {
    let Some(folder) = open(state_home)? else {
        return Ok(None);
    };
    Ok(read_from(
        &folder,
        SealKey::find(state_home).ok().flatten().as_ref(),
        root,
        digest,
    ))
}

/// Pending approvals of a project, newest first, already approved ones included.
pub fn read_all(
    state_home: Option<&Path>,
    root: &Path,
) -> Result<Vec<PendingApproval>, FolderError> {
    let Some(folder) = open(state_home)? else {
        return Ok(Vec::new());
    };
    let names = newest_first(&folder)?;
    let digests = names.iter().filter_map(|name| name.strip_suffix(SUFFIX));
    let key = SealKey::find(state_home).ok().flatten();
    Ok(digests
        .filter_map(|digest| read_from(&folder, key.as_ref(), root, digest))
        .collect())
}

/// `true` for an approval of exactly these commands; a failed look-up counts as none.
pub fn is_approved(state_home: Option<&Path>, digest: &str) -> bool {
    given(state_home, digest).is_some()
}

pub fn given(state_home: Option<&Path>, digest: &str) -> Option<GivenApproval> {
    ApprovalList::load(state_home)
        .ok()?
        .approval_given(digest, &SealKey::load(state_home).ok()?)
}

/// Approves the commands. The file stays, so that a prompt that is sent twice has the same answer.
pub fn approve(
    state_home: Option<&Path>,
    root: &Path,
    pending: &PendingApproval,
    given: GivenApproval,
) -> Result<(), TrustError> {
    trust::approve(state_home, root, &pending.digest, given)
}

/// Approval for a code, or for as much of it as a person has to type.
pub fn find_by_code<'a>(all: &'a [PendingApproval], code: &str) -> Option<&'a PendingApproval> {
    // Others with the same beginning could only be searched for, and their code must be typed.
    all.iter()
        .find(|pending| code.len() >= CODE_CHARS && pending.digest.starts_with(code))
}

fn open(state_home: Option<&Path>) -> Result<Option<GuardedFolder>, FolderError> {
    Ok(state_home
        .map(|home| GuardedFolder::open_user_part(home, &PARTS))
        .transpose()?
        .flatten())
}

fn read_from(
    folder: &GuardedFolder,
    key: Option<&SealKey>,
    root: &Path,
    name: &str,
) -> Option<PendingApproval> {
    let bytes = folder.read(&format!("{name}{SUFFIX}"), MAX_BYTES).ok()??;
    let file: PendingFile = serde_json::from_slice(&bytes).ok()?;
    let is_it =
        file.version <= VERSION && plan_digest(root, &file.shown_plan, &file.commands) == name;
    let line = file.line.and_then(|line| line.open(key?, name));
    is_it.then(|| PendingApproval {
        digest: name.to_owned(),
        plan: file.plan,
        commands: file.commands,
        line,
    })
}

fn newest_first(folder: &GuardedFolder) -> Result<Vec<String>, FolderError> {
    let mut names = folder.file_names("")?;
    names.retain(|name| name.ends_with(SUFFIX));
    names.sort_by_cached_key(|name| std::cmp::Reverse(folder.written_at(name)));
    Ok(names)
}

fn forget_oldest_but(new: &str, folder: &GuardedFolder) -> Result<(), FolderError> {
    // Within one second nothing is older than the other.
    let names = newest_first(folder)?.into_iter().filter(|name| name != new);
    names
        .skip(KEPT - 1)
        .try_for_each(|name| folder.remove(&name))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use omo_core::session::ChangedBy;
    use omo_core::timestamp::Timestamp;

    use super::*;

    fn command(task: &str, command: &str) -> PlannedCommand {
        PlannedCommand {
            task: task.to_owned(),
            command: command.to_owned(),
            folder: None,
        }
    }

    #[test]
    fn what_is_left_is_read_until_it_is_approved_and_afterwards() {
        let temp = tempfile::tempdir().unwrap();
        let (home, root) = (Some(temp.path()), Path::new("/p"));
        assert_eq!(read_all(home, root).unwrap(), []);
        let commands = [command("1", "cargo test"), command("2", "test -f <x>")];
        let digest = write(home, root, "docs/plan.md", &commands, None).unwrap();
        let left = read(home, root, &digest).unwrap().unwrap();
        assert_eq!(
            (left.plan.as_str(), left.commands.as_slice()),
            ("docs/plan.md", commands.as_slice())
        );
        assert_eq!(read_all(home, root).unwrap(), std::slice::from_ref(&left));
        assert_eq!(
            read_all(home, Path::new("/other")).unwrap(),
            [],
            "another project's"
        );
        assert!(!is_approved(home, &digest));
        let (by, at) = (ChangedBy::Typed, Timestamp::from_millis(0));
        approve(home, root, &left, GivenApproval { by, at }).unwrap();
        assert!(is_approved(home, &digest));
        assert_eq!(read_all(home, root).unwrap(), [left]);
    }

    #[test]
    fn a_line_counts_with_the_seal_of_these_commands_alone() {
        let temp = tempfile::tempdir().unwrap();
        let (home, root) = (Some(temp.path()), Path::new("/p"));
        let commands = [command("1", "cargo test")];
        let line = || read_all(home, root).unwrap().remove(0).line;
        let digest = write(home, root, "p.md", &commands, Some("/omo:execute p.md")).unwrap();
        assert_eq!(line().as_deref(), Some("/omo:execute p.md"));
        let file = temp
            .path()
            .join("omo/pending")
            .join(format!("{digest}.json"));
        let text = fs::read_to_string(&file).unwrap();
        fs::write(
            &file,
            text.replace("/omo:execute p.md", "/omo:execute --yolo p.md"),
        )
        .unwrap();
        assert_eq!(line(), None, "another line under the same seal");
        write(home, root, "p.md", &commands, None).unwrap();
        assert_eq!(line(), None, "a model has read it last");
    }

    #[test]
    fn any_other_command_order_or_folder_is_something_else() {
        let root = Path::new("/p");
        let (a, b) = (command("1", "a"), command("2", "b"));
        let inside = PlannedCommand {
            folder: Some("x".to_owned()),
            ..a.clone()
        };
        let digests = [
            commands_digest(root, &[a.clone(), b.clone()]),
            commands_digest(root, &[b.clone(), a.clone()]),
            commands_digest(root, &[inside, b.clone()]),
            commands_digest(root, &[command("1", "a "), b.clone()]),
            commands_digest(root, &[command("3", "a"), b.clone()]),
            commands_digest(root, std::slice::from_ref(&a)),
            commands_digest(Path::new("/q"), &[a, b]),
        ];
        let distinct: std::collections::BTreeSet<_> = digests.iter().collect();
        assert_eq!(distinct.len(), digests.len());
    }

    #[test]
    fn another_content_of_a_plan_has_another_code() {
        let temp = tempfile::tempdir().unwrap();
        let (home, root) = (Some(temp.path()), Path::new("/p"));
        let commands = [command("1", "cargo test")];
        let codes = ["", "aa", "bb"]
            .map(|sha256| write_plan(home, root, ("plan.md", sha256), &commands, None).unwrap());
        assert_eq!(codes[0], commands_digest(root, &commands));
        assert!(codes[0] != codes[1] && codes[1] != codes[2]);
        let file = temp.path().join(format!("omo/pending/{}.json", codes[1]));
        let text = fs::read_to_string(&file).unwrap();
        assert!(read(home, root, &codes[1]).unwrap().is_some());
        fs::write(&file, text.replace("\"aa\"", "\"bb\"")).unwrap();
        assert_eq!(read(home, root, &codes[1]).unwrap(), None);
    }

    #[test]
    fn a_forged_file_is_worth_nothing() {
        let temp = tempfile::tempdir().unwrap();
        let (home, root) = (Some(temp.path()), Path::new("/p"));
        let digest = write(home, root, "plan.md", &[command("1", "cargo test")], None).unwrap();
        let file = temp.path().join(format!("omo/pending/{digest}.json"));
        let text = fs::read_to_string(&file).unwrap();
        for forged in [
            text.replace("cargo test", "rm -rf ."),
            text.replace("\"version\":1", "\"version\":2"),
            text.replace("\"commands\"", "\"other\""),
            String::new(),
            "[]".to_owned(),
            "[".repeat(100_000),
            "x".repeat(2_000_000),
        ] {
            fs::write(&file, &forged).unwrap();
            assert_eq!(
                read(home, root, &digest).unwrap(),
                None,
                "{}",
                forged.get(..60).unwrap_or(&forged)
            );
            assert_eq!(read_all(home, root).unwrap(), []);
        }
    }

    #[test]
    fn a_code_is_long_enough_or_none() {
        let pending = |digest: &str| PendingApproval {
            digest: digest.to_owned(),
            plan: String::new(),
            commands: Vec::new(),
            line: None,
        };
        let all = [pending("0123456789abcdef"), pending("fedcba9876543210")];
        assert_eq!(find_by_code(&all, "fedcba987654"), Some(&all[1]));
        assert_eq!(find_by_code(&all, "0123456789abcdef"), Some(&all[0]));
        for code in ["", "fedcba98765", "fedcba987655", "0123456789abcdef0"] {
            assert_eq!(find_by_code(&all, code), None, "{code}");
        }
    }

    #[test]
    fn only_the_newest_are_kept_and_what_nobody_reads_is_not_written() {
        let temp = tempfile::tempdir().unwrap();
        let (home, root) = (Some(temp.path()), Path::new("/p"));
        for number in 0..=KEPT {
            let digest = write(
                home,
                root,
                "plan.md",
                &[command("1", &format!("test {number}"))],
                None,
            )
            .unwrap();
            assert!(read(home, root, &digest).unwrap().is_some(), "{number}");
        }
        assert_eq!(read_all(home, root).unwrap().len(), KEPT);
        let long = write(
            home,
            root,
            "plan.md",
            &[command("1", &"x".repeat(1_100_000))],
            None,
        );
        assert!(matches!(long, Err(PendingError::TooLarge)));
        assert!(matches!(
            write(None, root, "plan.md", &[], None),
            Err(PendingError::Home(KeyError::NoHome))
        ));
    }
}
