//! Hollow run of Python and JavaScript: a script for their interpreter, run as a check in the copy, empties functions.

use std::path::PathBuf;

use omo_core::check::session_check::{Check, CheckOrigin};
use omo_process::platform::shell_variable;
use serde::{Deserialize, Serialize};

use super::{HollowLimits, Hollowed, MARK, NotHollow, Source};
use crate::private_tree::{PrivateTreeError, Side};
use crate::proof_request::{ProofError, ProofWatcher};
use crate::side_runner::SideRunner;

const LIMIT_SECONDS: u32 = 30;
const MAX_BYTES: usize = 1024 * 1024;
const MAX_ANSWER_BYTES: u64 = 64 * 1024 * 1024;
const QUESTION: &str = "question.json";
const ANSWER: &str = "answer.json";
/// Variable with the path of the script.
const SCRIPT: &str = "OMO_HOLLOW";

pub(super) struct ScriptLanguage {
    /// Interpreter with options that keep the project's own modules out.
    pub program: &'static str,
    pub script: &'static str,
    pub name: &'static str,
}

pub(super) const PYTHON: ScriptLanguage = ScriptLanguage {
    program: "python3 -I",
    script: include_str!("hollow.py"),
    name: "hollow.py",
};
pub(super) const JAVASCRIPT: ScriptLanguage = ScriptLanguage {
    program: "node --no-warnings --expose-internals",
    script: include_str!("hollow.cjs"),
    name: "hollow.cjs",
};

#[derive(Debug, Serialize)]
pub(super) struct ScriptInput<'a> {
    mark: &'static str,
    limit: usize,
    only_new: bool,
    files: &'a [Source<'a>],
}

impl<'a> ScriptInput<'a> {
    pub(super) fn new(files: &'a [Source<'a>], limits: HollowLimits) -> Self {
        Self {
            mark: MARK,
            limit: limits.max_functions,
            only_new: limits.only_new,
            files,
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) enum FileAnswer {
    /// The emptied file, in which there may be no function.
    #[serde(rename = "hollowed")]
    Hollowed(Hollowed),
    #[serde(rename = "problem")]
    Problem(String),
}

impl From<FileAnswer> for Result<Hollowed, NotHollow> {
    fn from(answer: FileAnswer) -> Self {
        match answer {
            FileAnswer::Hollowed(hollowed)
                if hollowed.functions.is_empty() && hollowed.left_out == 0 =>
            {
                Err(NotHollow::NoFunction)
            }
            FileAnswer::Hollowed(hollowed) => Ok(hollowed),
            FileAnswer::Problem(why) => Err(NotHollow::Other(why)),
        }
    }
}

type FileResult = (PathBuf, Result<Hollowed, NotHollow>);

pub(super) fn hollow(
    language: &ScriptLanguage,
    sources: &[Source],
    limits: HollowLimits,
    runner: &mut SideRunner,
    watcher: &mut impl ProofWatcher,
) -> Result<Vec<FileResult>, ProofError> {
    let Some(first) = sources.first() else {
        return Ok(Vec::new());
    };
    let mut bytes_left = 10 * MAX_BYTES;
    let (mut accepted, mut results) = (Vec::new(), Vec::new());
    for source in sources {
        let bytes = source.now.len() + source.base.map_or(0, str::len);
        if bytes > (2 * MAX_BYTES).min(bytes_left) {
            results.push((source.path.to_owned(), Err(NotHollow::TooLarge)));
        } else {
            bytes_left -= bytes;
            accepted.push(*source);
        }
    }
    let folder = runner.hollow_folder()?;
    folder
        .replace(language.name, language.script.as_bytes())
        .map_err(PrivateTreeError::from)?;
    let question = serde_json::to_vec(&ScriptInput::new(&accepted, limits)).unwrap_or_default();
    folder
        .replace(QUESTION, &question)
        .map_err(PrivateTreeError::from)?;
    let command = format!("{} {}", language.program, shell_variable(SCRIPT));
    let script = folder
        .path()
        .join(language.name)
        .to_string_lossy()
        .into_owned();
    let check = Check {
        name: language.name.to_owned(),
        command,
        origin: CheckOrigin::User,
        timeout_seconds: Some(LIMIT_SECONDS),
        env: [
            (SCRIPT, script),
            ("NODE_OPTIONS", String::new()),
            ("NODE_PATH", String::new()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into(),
        ..Check::default()
    };
    let outcome = runner.run(&check, Side::With, watcher)?;
    let answer = folder.read(ANSWER, MAX_ANSWER_BYTES).ok().flatten();
    runner.remove_hollow_folder()?;
    let answers: Option<Vec<FileAnswer>> =
        answer.and_then(|answer| serde_json::from_slice(&answer).ok());
    if let Some(answers) = answers {
        let paths = accepted.iter().map(|source| source.path.to_owned());
        results.extend(paths.zip(answers.into_iter().map(Into::into)));
    } else {
        let why = outcome.map_or_else(|error| error.to_string(), |outcome| outcome.detail);
        let why = format!("what reads it has not answered ({why})");
        results.push((first.path.to_owned(), Err(NotHollow::Other(why))));
    }
    Ok(results)
}
