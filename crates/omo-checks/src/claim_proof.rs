//! Proof of a claim: whether the checks fail without the change. `omo` finds out in the background,
//! and the hook that judges the claim reads the answer.
//!
//! Question and answer are sealed files in the session's folder; an answer counts for its own
//! question only.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use omo_core::check::counterfactual::{CheckCounterfactual, Counterfactual};
use omo_core::check::session_check::TestCounts;
use omo_core::session::Session;
use omo_core::session::id::SessionId;
use omo_process::detached;
use omo_process::own_command;
use omo_state::files::folder::{FolderError, GuardedFolder};
use omo_state::files::lock::StateLock;
use omo_state::seal::{SealKey, hex_digest};
use omo_state::sealed_json;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// First argument of the `omo` that proves a claim; project and session follow.
pub const PROVE_ARGUMENT: &str = "--prove-claim";
/// The lock of the process that [`ProofFolder::ask`] starts.
pub const LOCK: &str = "proving.lock";
const QUESTION: &str = "question.json";
const ANSWER: &str = "answer.json";
const LOG: &str = "log";
const MAX_BYTES: u64 = 1024 * 1024;
const ASK_EVERY: Duration = Duration::from_millis(50);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProofQuestion {
    /// `FilesState::id` of the files with the change.
    pub tree: String,
    pub recorded: String,
    pub checks: Vec<String>,
    pub scope: Option<String>,
    /// `true` where checks write files: their results in a private copy decide.
    pub is_copy_decisive: bool,
    #[serde(default)]
    pub counts: Vec<Option<TestCounts>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProofAnswer {
    pub question: ProofQuestion,
    pub found: Result<Vec<CheckCounterfactual>, String>,
    /// `false` for a partial answer: results without the change are still missing.
    pub is_whole: bool,
}

impl ProofQuestion {
    pub fn new(
        tree: &str,
        recorded: &str,
        session: &Session,
        is_copy_decisive: bool,
        counts: Vec<Option<TestCounts>>,
    ) -> Self {
        let checks = session
            .checks
            .iter()
            .map(|check| hex_digest(&check.definition()))
            .collect();
        let scope = session.verification.scope.clone();
        Self {
            tree: tree.to_owned(),
            recorded: recorded.to_owned(),
            checks,
            scope,
            is_copy_decisive,
            counts,
        }
    }
}

/// Answer so far for the files on which the checks passed. Nothing is written, started or awaited.
pub fn known_counterfactual(
    state_home: &Path,
    id: &SessionId,
    session: &Session,
) -> Counterfactual {
    let tree = session
        .checks
        .first()
        .and_then(|check| check.last.as_ref()?.tree.as_deref());
    let (Some(tree), Some(recorded)) = (tree, session.ulw.recorded.as_deref()) else {
        return Counterfactual::NotAsked;
    };
    let is_copy_decisive = !session.verification.left_out.is_empty()
        || session
            .checks
            .iter()
            .filter_map(|check| check.last.as_ref())
            .any(|last| last.was_rewritten);
    let counts = session
        .checks
        .iter()
        .map(|check| check.last.as_ref()?.counts)
        .collect();
    let question = ProofQuestion::new(tree, recorded, session, is_copy_decisive, counts);
    let Some(folder) = ProofFolder::find(state_home, id) else {
        return Counterfactual::NotAsked;
    };
    // Looked at before the answer, which the process writes before it ends.
    let is_pending = folder.is_being_found_out(&question);
    match folder.wait(&question, Duration::ZERO, || false) {
        Counterfactual::Pending if is_pending => Counterfactual::Pending,
        Counterfactual::Pending if folder.question() == Some(question) => {
            Counterfactual::Failed("it was ended before all was done".to_owned())
        }
        Counterfactual::Pending => Counterfactual::NotAsked,
        known => known,
    }
}

#[derive(Debug)]
pub struct ProofFolder<'a> {
    pub folder: GuardedFolder,
    key: SealKey,
    id: &'a SessionId,
}

impl<'a> ProofFolder<'a> {
    /// Opens or makes the folder of a session.
    ///
    /// # Errors
    ///
    /// An unusable state folder of the user.
    pub fn open(state_home: &Path, id: &'a SessionId) -> io::Result<Self> {
        let folder = GuardedFolder::create_user_part(state_home, &["omo", "claims", id.as_str()])
            .map_err(io::Error::other)?;
        let key = SealKey::load(Some(state_home)).map_err(io::Error::other)?;
        Ok(Self { folder, key, id })
    }

    fn find(state_home: &Path, id: &'a SessionId) -> Option<Self> {
        let folder =
            GuardedFolder::open_user_part(state_home, &["omo", "claims", id.as_str()]).ok()??;
        let key = SealKey::find(Some(state_home)).ok()??;
        Some(Self { folder, key, id })
    }

    pub fn question(&self) -> Option<ProofQuestion> {
        self.read(QUESTION)
    }

    pub fn answer(&self) -> Option<ProofAnswer> {
        self.read(ANSWER)
    }

    /// # Errors
    ///
    /// A file that cannot be written.
    pub fn write_answer(&self, answer: &ProofAnswer) -> Result<(), FolderError> {
        self.write(ANSWER, answer)
    }

    /// Starts a process for the question, unless it is asked or answered already.
    ///
    /// # Errors
    ///
    /// No `omo` beside this program, or one that does not start.
    pub fn ask(&self, question: &ProofQuestion, root: &Path) -> io::Result<()> {
        let answer = self.answer().filter(|answer| answer.question == *question);
        if answer
            .as_ref()
            .is_some_and(|answer| answer.found.is_ok() && answer.is_whole)
            || self.is_being_found_out(question)
        {
            return Ok(());
        }
        if answer.is_some() {
            // A failed proof is retried: its cause may be gone.
            self.folder.remove(ANSWER).map_err(io::Error::other)?;
        }
        let program = own_command::program()
            .ok_or_else(|| io::Error::other("there is no omo beside this program"))?;
        self.write(QUESTION, question).map_err(io::Error::other)?;
        let log = self.folder.create_file(LOG).map_err(io::Error::other)?;
        let arguments: [OsString; 3] =
            [PROVE_ARGUMENT.into(), root.into(), self.id.as_str().into()];
        let started = detached::start_detached_program(&program, &arguments, root, log);
        if started.is_err() {
            let _ = self.folder.remove(QUESTION);
        }
        started.map(drop)
    }

    fn is_being_found_out(&self, question: &ProofQuestion) -> bool {
        // Without a file of the lock there is no such process, and none is made.
        self.question().as_ref() == Some(question)
            && !matches!(self.folder.read(LOCK, MAX_BYTES), Ok(None))
            && StateLock::take_named(&self.folder, LOCK, Duration::ZERO).is_err()
    }

    /// The answer, after a wait of at most `patience`.
    pub fn wait(
        &self,
        question: &ProofQuestion,
        patience: Duration,
        mut should_continue: impl FnMut() -> bool,
    ) -> Counterfactual {
        let deadline = Instant::now() + patience;
        loop {
            let is_over = Instant::now() >= deadline || !should_continue();
            let answer = self.answer().filter(|answer| answer.question == *question);
            if let Some(answer) = answer.filter(|answer| answer.is_whole || is_over) {
                return answer
                    .found
                    .map_or_else(Counterfactual::Failed, Counterfactual::Known);
            }
            if is_over {
                return Counterfactual::Pending;
            }
            std::thread::sleep(ASK_EVERY);
        }
    }

    fn subject(&self, name: &str) -> String {
        format!("omo claim 1 {name} {}", self.id.as_str())
    }

    fn write(&self, name: &str, value: &impl Serialize) -> Result<(), FolderError> {
        self.folder.replace(
            name,
            &sealed_json::write(&self.key, &self.subject(name), value).unwrap_or_default(),
        )
    }

    fn read<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        sealed_json::read(
            &self.key,
            &self.subject(name),
            &self.folder.read(name, MAX_BYTES).ok()??,
        )
    }
}

#[cfg(test)]
mod tests {
    use omo_core::check::session_check::{Check, CheckOrigin, CheckRecord};

    use super::*;

    #[test]
    fn what_is_known_of_a_claim_is_read_and_nothing_is_made_for_it() {
        let home = tempfile::tempdir().unwrap();
        let id = SessionId::parse("11111111-1111-4111-8111-111111111111").unwrap();
        let mut check = Check::new(None, "true", CheckOrigin::User).unwrap();
        let tree = Some("a".to_owned());
        check.last = Some(CheckRecord {
            tree,
            ..CheckRecord::default()
        });
        let mut session = Session {
            checks: vec![check],
            ..Session::default()
        };
        session.ulw.recorded = Some("r".to_owned());
        let known = || known_counterfactual(home.path(), &id, &session);
        assert_eq!(known(), Counterfactual::NotAsked);
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
        let folder = ProofFolder::open(home.path(), &id).unwrap();
        let question = ProofQuestion::new("a", "r", &session, false, vec![None]);
        assert_eq!(known(), Counterfactual::NotAsked);
        folder.write(QUESTION, &question).unwrap();
        assert!(
            matches!(known(), Counterfactual::Failed(_)),
            "nothing finds it out"
        );
        assert_eq!(folder.folder.read(LOCK, 1).unwrap(), None);
        let lock = StateLock::take_named(&folder.folder, LOCK, Duration::ZERO).unwrap();
        assert_eq!(known(), Counterfactual::Pending);
        folder
            .write_answer(&ProofAnswer {
                question,
                found: Ok(Vec::new()),
                is_whole: true,
            })
            .unwrap();
        drop(lock);
        assert_eq!(known(), Counterfactual::Known(Vec::new()));
    }

    #[test]
    fn an_answer_counts_for_its_question_and_under_its_seal() {
        let home = tempfile::tempdir().unwrap();
        let id = SessionId::parse("11111111-1111-4111-8111-111111111111").unwrap();
        let folder = ProofFolder::open(home.path(), &id).unwrap();
        let question =
            |tree: &str| ProofQuestion::new(tree, "r", &Session::default(), false, Vec::new());
        let known = |tree: &str| folder.wait(&question(tree), Duration::ZERO, || true);
        assert_eq!(known("a"), Counterfactual::Pending);
        folder
            .write_answer(&ProofAnswer {
                question: question("a"),
                found: Ok(Vec::new()),
                is_whole: true,
            })
            .unwrap();
        assert_eq!(
            (known("a"), known("b")),
            (Counterfactual::Known(Vec::new()), Counterfactual::Pending)
        );
        let path = folder.folder.path().join(ANSWER);
        let text = std::fs::read_to_string(&path).unwrap().replace("[]", "[ ]");
        std::fs::write(&path, text).unwrap();
        assert_eq!(known("a"), Counterfactual::Pending);
    }
}
