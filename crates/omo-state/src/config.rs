//! The user's configuration, `~/.config/omo/config.toml`; everything in it is optional.
//!
//! An invalid value stays at its default and is named with its line, by the CLI or in a hook's log.
//! Nothing in a repository can set any of this.

pub mod check_toml;
pub mod launcher_toml;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use omo_core::check::counterfactual::ProveMode;
use omo_core::check::session_check::{Check, CheckOrigin};
use omo_core::keyword::Keywords;
use omo_core::limits::{LIMITS, LimitRow, RunLimits};
use omo_core::plan_models::{PlanModels, SESSION_MODEL, is_model_name};
use omo_core::text::sanitize;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use self::launcher_toml::LauncherTable;
use crate::env;
use crate::files::regular_file::{self, Links};

const KNOWN: &str =
    "keywords, limits, stop, verify, tasks, plans, worktrees, notify, check, launcher";
const MAX_WORKER_MB: u32 = 1_048_576;
const MAX_BYTES: u64 = 64 * 1024;

/// Values of the configuration, each a default where the file has none.
#[derive(Clone, Debug, Default)]
pub struct UserConfig {
    pub keywords: Keywords,
    pub limits: RunLimits,
    pub feedback: FeedbackMode,
    pub review: ReviewSetting,
    /// `verify.prove`: a claim's checks must be red without the change.
    pub prove: ProveMode,
    /// `verify.written_by_checks`: files that checks write anew each time, from a project's top.
    pub written_by_checks: Vec<String>,
    pub detection: CheckDetection,
    pub unlisted_files: UnlistedFiles,
    /// `plans.models`, with `tasks` and `verifier`.
    pub plan_models: PlanModels,
    /// `worktrees.folder`: parent of parallel workers' worktrees, instead of the checkout.
    pub worktree_folder: Option<PathBuf>,
    /// `worktrees.memory_mb`: MiB that are kept for each parallel worker.
    pub worker_memory: Option<u32>,
    pub notify: NotifySetting,
    /// `[launcher.NAME]` tables.
    pub launchers: BTreeMap<String, LauncherTable>,
    /// The user's checks, each with its only project, if it names one.
    pub checks: Vec<(Check, Option<PathBuf>)>,
    pub problems: Vec<ConfigProblem>,
}

/// `stop.feedback`: the form of a block for the client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FeedbackMode {
    /// `Context` for a client that shows it calmly, otherwise `Block`.
    #[default]
    Auto,
    /// A blocking decision, which every client understands.
    Block,
    /// Additional context: sent to the model once, and shown as feedback. Needs client 2.1.163.
    Context,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReviewSetting {
    #[default]
    Wanted,
    Off,
}

/// `verify.detect`: the search for a project's test command, as an offer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CheckDetection {
    #[default]
    Offer,
    Off,
}

/// `tasks.unlisted_files`: files that a task changes and does not list, at its commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnlistedFiles {
    /// Leaves such files out; the task fails where its check needs them.
    #[default]
    Fail,
    /// Commits them where the session's Touch list allows that; others as in `Fail`.
    Include,
}

/// `notify`: signals of a terminal for a run that ended or waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotifySetting {
    pub bell: bool,
    pub desktop: bool,
}

impl Default for NotifySetting {
    fn default() -> Self {
        Self {
            bell: true,
            desktop: true,
        }
    }
}

impl UserConfig {
    pub fn worker_mb(&self) -> u64 {
        self.worker_memory.unwrap_or(1_024).into()
    }

    pub fn checks_for(&self, root: &Path) -> Vec<Check> {
        self.checks
            .iter()
            .filter(|(_, project)| project.as_deref().is_none_or(|project| project == root))
            .map(|(check, _)| check.clone())
            .collect()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigProblem {
    pub file: PathBuf,
    /// Line, from 1; `None` for a problem of the whole file.
    pub line: Option<usize>,
    pub message: String,
}

const SHOWN_CHARS: usize = 400;

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line.map(|line| format!(":{line}")).unwrap_or_default();
        // The file may hold anything, and the message is shown on a terminal.
        let message = sanitize(&self.message, SHOWN_CHARS);
        write!(f, "{}{line}: {message}", self.file.display())
    }
}

/// Configuration in `file`; all defaults without a file.
pub fn load(file: Option<&Path>) -> UserConfig {
    let Some(file) = file else {
        return UserConfig::default();
    };
    match read(file) {
        Ok(Some(text)) => parse(&text, file),
        Ok(None) => UserConfig::default(),
        Err(message) => {
            let problem = ConfigProblem {
                file: file.to_owned(),
                line: None,
                message,
            };
            UserConfig {
                problems: vec![problem],
                ..UserConfig::default()
            }
        }
    }
}

fn read(path: &Path) -> Result<Option<String>, String> {
    let bytes = regular_file::read(path, MAX_BYTES, Links::Followed)?;
    bytes
        .map(String::from_utf8)
        .transpose()
        .map_err(|_| "is not UTF-8".to_owned())
}

/// Configuration in `text`; `file` is only named in problems.
pub fn parse(text: &str, file: &Path) -> UserConfig {
    let mut reader = ConfigReader {
        text,
        file,
        config: UserConfig::default(),
    };
    match DeTable::parse(text) {
        Ok(table) => reader.top(table.get_ref()),
        Err(error) => reader.problem(error.span(), format!("is not TOML: {}", error.message())),
    }
    reader.config
}

struct ConfigReader<'a> {
    text: &'a str,
    file: &'a Path,
    config: UserConfig,
}

impl ConfigReader<'_> {
    fn top(&mut self, table: &DeTable) {
        for (key, value) in table {
            match &**key.get_ref() {
                "keywords" => self.keywords(value),
                "limits" => self.section(value, "limits", Self::limit),
                "stop" => self.section(value, "stop", Self::stop),
                "verify" => self.section(value, "verify", Self::verify),
                "tasks" => self.section(value, "tasks", Self::tasks),
                "plans" => self.section(value, "plans", Self::plans),
                "worktrees" => self.section(value, "worktrees", Self::worktrees),
                "notify" => self.section(value, "notify", Self::notify),
                "check" => {
                    let read = check_toml::read(value, CheckOrigin::Config);
                    self.config.checks = read.checks;
                    read.problems
                        .into_iter()
                        .for_each(|(span, message)| self.problem(Some(span), message));
                }
                "launcher" => {
                    let read = launcher_toml::read(value);
                    self.config.launchers = read.launchers;
                    read.problems
                        .into_iter()
                        .for_each(|(span, message)| self.problem(Some(span), message));
                }
                name => {
                    self.unknown(key.span(), name, KNOWN);
                }
            }
        }
    }

    fn section(
        &mut self,
        value: &Spanned<DeValue>,
        name: &str,
        each: fn(&mut Self, &str, Range<usize>, &Spanned<DeValue>),
    ) {
        let Some(table) = value.get_ref().as_table() else {
            return self.problem(
                Some(value.span()),
                format!("`{name}` must be a table: [{name}]"),
            );
        };
        for (key, value) in table {
            each(self, key.get_ref(), key.span(), value);
        }
    }

    fn keywords(&mut self, value: &Spanned<DeValue>) {
        let words = value.get_ref().as_array().and_then(|array| {
            array
                .iter()
                .map(|word| word.get_ref().as_str().map(str::to_owned))
                .collect::<Option<Vec<_>>>()
        });
        let allowed = "a list of words of letters, digits, `-` and `_`, such as [\"ulw\", \"ultrawork\"]; [] turns the keyword off";
        match words.map(Keywords::new) {
            Some(Ok(keywords)) => self.config.keywords = keywords,
            Some(Err(error)) => self.problem(
                Some(value.span()),
                format!("`keywords`: {error}; allowed is {allowed}"),
            ),
            None => self.problem(Some(value.span()), format!("`keywords` must be {allowed}")),
        }
    }

    fn limit(&mut self, name: &str, span: Range<usize>, value: &Spanned<DeValue>) {
        let Some(row) = LimitRow::named(name) else {
            let known = LIMITS.map(|row| row.name).join(", ");
            return self.unknown(span, &format!("limits.{name}"), &known);
        };
        if !whole_number(value).is_some_and(|number| self.config.limits.set(row, number)) {
            let message = format!(
                "`limits.{name}` must be a whole number from {}",
                row.range_text()
            );
            self.problem(Some(value.span()), message);
        }
    }

    fn stop(&mut self, name: &str, span: Range<usize>, value: &Spanned<DeValue>) {
        if name != "feedback" {
            return self.unknown(span, &format!("stop.{name}"), "feedback");
        }
        match value.get_ref().as_str() {
            Some("auto") => self.config.feedback = FeedbackMode::Auto,
            Some("block") => self.config.feedback = FeedbackMode::Block,
            Some("context") => self.config.feedback = FeedbackMode::Context,
            _ => self.problem(
                Some(value.span()),
                "`stop.feedback` must be \"auto\", \"block\" or \"context\"".to_owned(),
            ),
        }
    }

    fn verify(&mut self, name: &str, span: Range<usize>, value: &Spanned<DeValue>) {
        let text = value.get_ref().as_str();
        match (name, value.get_ref().as_bool()) {
            ("review", Some(true)) => self.config.review = ReviewSetting::Wanted,
            ("review", Some(false)) => self.config.review = ReviewSetting::Off,
            ("review", None) => self.problem(
                Some(value.span()),
                "`verify.review` must be true or false".to_owned(),
            ),
            ("detect", _) if text == Some("offer") => self.config.detection = CheckDetection::Offer,
            ("detect", _) if text == Some("off") => self.config.detection = CheckDetection::Off,
            ("detect", _) => {
                self.problem(
                    Some(value.span()),
                    "`verify.detect` must be \"offer\" or \"off\"".to_owned(),
                );
            }
            ("prove", _) => {
                if let Some(mode) = text.and_then(ProveMode::parse) {
                    self.config.prove = mode;
                } else {
                    let message =
                        "`verify.prove` must be \"require\", \"inform\" or \"off\"".to_owned();
                    self.problem(Some(value.span()), message);
                }
            }
            ("written_by_checks", _) => {
                let items = value
                    .get_ref()
                    .as_array()
                    .map(|items| items.iter().map(|item| item.get_ref().as_str()));
                if let Some(paths) = items.and_then(Iterator::collect::<Option<Vec<&str>>>) {
                    self.config.written_by_checks = paths.into_iter().map(str::to_owned).collect();
                } else {
                    let message = "`verify.written_by_checks` must be an array of paths".to_owned();
                    self.problem(Some(value.span()), message);
                }
            }
            _ => self.unknown(
                span,
                &format!("verify.{name}"),
                "review, detect, prove, written_by_checks",
            ),
        }
    }

    fn notify(&mut self, name: &str, span: Range<usize>, value: &Spanned<DeValue>) {
        let setting = match name {
            "bell" => &mut self.config.notify.bell,
            "desktop" => &mut self.config.notify.desktop,
            _ => return self.unknown(span, &format!("notify.{name}"), "bell, desktop"),
        };
        match value.get_ref().as_bool() {
            Some(wanted) => *setting = wanted,
            None => self.problem(
                Some(value.span()),
                format!("`notify.{name}` must be true or false"),
            ),
        }
    }

    fn tasks(&mut self, name: &str, span: Range<usize>, value: &Spanned<DeValue>) {
        if name != "unlisted_files" {
            return self.unknown(span, &format!("tasks.{name}"), "unlisted_files");
        }
        match value.get_ref().as_str() {
            Some("fail") => self.config.unlisted_files = UnlistedFiles::Fail,
            Some("include") => self.config.unlisted_files = UnlistedFiles::Include,
            _ => {
                self.problem(
                    Some(value.span()),
                    "`tasks.unlisted_files` must be \"fail\" or \"include\"".to_owned(),
                );
            }
        }
    }

    fn plans(&mut self, name: &str, span: Range<usize>, value: &Spanned<DeValue>) {
        if name != "models" {
            return self.unknown(span, &format!("plans.{name}"), "models");
        }
        let Some(table) = value.get_ref().as_table() else {
            let message = "`plans.models` must be a table, such as { tasks = \"sonnet\", verifier = \"opus\" }";
            return self.problem(Some(value.span()), message.to_owned());
        };
        for (key, value) in table {
            let model = value
                .get_ref()
                .as_str()
                .filter(|model| is_model_name(model))
                .map(str::to_owned);
            let name = key.get_ref();
            match (&**name, model) {
                ("tasks", Some(model)) => self.config.plan_models.tasks = Some(model),
                ("verifier", Some(model)) => self.config.plan_models.verifier = Some(model),
                ("tasks" | "verifier", None) => {
                    let message = format!(
                        "`plans.models.{name}` must be the name of a model, or \"{SESSION_MODEL}\""
                    );
                    self.problem(Some(value.span()), message);
                }
                _ => self.unknown(
                    key.span(),
                    &format!("plans.models.{name}"),
                    "tasks, verifier",
                ),
            }
        }
    }

    fn worktrees(&mut self, name: &str, span: Range<usize>, value: &Spanned<DeValue>) {
        match name {
            "folder" => {}
            "memory_mb" => {
                self.config.worker_memory =
                    whole_number(value).filter(|number| (1..=MAX_WORKER_MB).contains(number));
                if self.config.worker_memory.is_none() {
                    let message = format!(
                        "`worktrees.memory_mb` must be a whole number from 1 to {MAX_WORKER_MB}"
                    );
                    self.problem(Some(value.span()), message);
                }
                return;
            }
            _ => return self.unknown(span, &format!("worktrees.{name}"), "folder, memory_mb"),
        }
        let text = value.get_ref().as_str().unwrap_or_default();
        let in_home = text
            .strip_prefix("~/")
            .and_then(|below| Some(env::home()?.join(below)));
        let folder =
            in_home.or_else(|| Some(PathBuf::from(text)).filter(|path| path.is_absolute()));
        if folder.is_none() {
            let message = "`worktrees.folder` must be an absolute path, or one that begins with ~/"
                .to_owned();
            self.problem(Some(value.span()), message);
        }
        self.config.worktree_folder = folder;
    }

    fn unknown(&mut self, span: Range<usize>, name: &str, known: &str) {
        self.problem(
            Some(span),
            format!("`{name}` is not a setting; known are: {known}"),
        );
    }

    fn problem(&mut self, span: Option<Range<usize>>, message: String) {
        let line = span.map(|span| line_at(self.text, span.start));
        self.config.problems.push(ConfigProblem {
            file: self.file.to_owned(),
            line,
            message,
        });
    }
}

fn whole_number(value: &Spanned<DeValue>) -> Option<u32> {
    value
        .get_ref()
        .as_integer()
        .and_then(|number| u32::from_str_radix(number.as_str(), number.radix()).ok())
}

/// Line, from 1, of the byte at `offset`.
pub fn line_at(text: &str, offset: usize) -> usize {
    text.get(..offset).unwrap_or_default().matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        parse(text, Path::new("config.toml"))
            .problems
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn every_setting_is_read() {
        let text = "keywords = [\"go\", \"울트라워크\"]\n[limits]\nmax_blocks = 20\nmax_minutes = 60\ncooldown_seconds = 0\n[stop]\nfeedback = \"context\"\n[verify]\nreview = false\nprove = \"require\"\ndetect = \"off\"\n[tasks]\nunlisted_files = \"include\"\n[worktrees]\nfolder = \"/trees\"\n[[check]]\nrun = \"a\"\n[[check]]\nrun = \"b\"\nproject = \"/p\"\n";
        let config = parse(text, Path::new("config.toml"));
        assert_eq!(config.problems, []);
        let RunLimits {
            max_blocks,
            max_minutes,
            cooldown_seconds,
            ..
        } = config.limits;
        assert_eq!((max_blocks, max_minutes, cooldown_seconds), (20, 60, 0));
        assert_eq!(config.feedback, FeedbackMode::Context);
        assert_eq!(
            (config.review, config.detection),
            (ReviewSetting::Off, CheckDetection::Off)
        );
        assert_eq!(config.prove, ProveMode::Require);
        assert_eq!(config.unlisted_files, UnlistedFiles::Include);
        assert_eq!(config.worktree_folder.as_deref(), Some(Path::new("/trees")));
        let runs = |root: &str| {
            config
                .checks_for(Path::new(root))
                .into_iter()
                .map(|check| check.command)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            (runs("/p"), runs("/q")),
            (vec!["a".to_owned(), "b".to_owned()], vec!["a".to_owned()])
        );
    }

    #[test]
    fn a_bad_value_is_named_with_its_line_and_what_is_allowed_and_the_rest_counts() {
        let text = "[limits]\nmax_blocks = 900\nmax_minutes = 60\n";
        assert_eq!(
            problems(text),
            ["config.toml:2: `limits.max_blocks` must be a whole number from 1 to 100"]
        );
        let config = parse(text, Path::new("config.toml"));
        assert_eq!(
            config.limits,
            RunLimits {
                max_minutes: 60,
                ..RunLimits::DEFAULT
            }
        );
    }

    #[test]
    fn what_is_wrong_is_said_for_each_kind() {
        for (text, expected) in [
            ("limits = 3", "config.toml:1: `limits` must be a table"),
            (
                "\nlimit = 3",
                "config.toml:2: `limit` is not a setting; known are: keywords, limits, stop, verify, tasks, plans, worktrees, notify, check, launcher",
            ),
            (
                "[limits]\nmaxblocks = 3",
                "config.toml:2: `limits.maxblocks` is not a setting",
            ),
            (
                "[limits]\nmax_blocks = -3",
                "config.toml:2: `limits.max_blocks` must be",
            ),
            (
                "[limits]\nmax_blocks = \"3\"",
                "config.toml:2: `limits.max_blocks` must be",
            ),
            (
                "[limits]\nmax_blocks = 3.5",
                "config.toml:2: `limits.max_blocks` must be",
            ),
            (
                "launcher = 3",
                "config.toml:1: `launcher` must be tables: [launcher.NAME]",
            ),
            (
                "[launcher.\"a b\"]\nstart = \"x\"",
                "config.toml:1: `launcher.a b`: a name has letters",
            ),
            (
                "[launcher.a]\nstart = 3",
                "config.toml:2: `launcher.a.start` must be a text",
            ),
            (
                "[launcher.a]\nat_once = 0",
                "config.toml:2: `launcher.a.at_once` must be a whole number from 1 to 1000",
            ),
            (
                "[launcher.a]\nbegin = \"x\"",
                "config.toml:2: `launcher.a.begin` is not a setting; known are: like",
            ),
            (
                "keywords = \"ulw\"",
                "config.toml:1: `keywords` must be a list",
            ),
            ("keywords = [3]", "config.toml:1: `keywords` must be a list"),
            ("keywords = [\"a b\"]", "config.toml:1: `keywords`"),
            (
                "\"a\\u001b[2J\\nb\" = 1",
                "config.toml:1: `a [2J b` is not a setting",
            ),
            (
                "[stop]\nfeedback = \"loud\"",
                "config.toml:2: `stop.feedback` must be \"auto\", \"block\" or \"context\"",
            ),
            (
                "[verify]\nprove = true",
                "config.toml:2: `verify.prove` must be \"require\", \"inform\" or \"off\"",
            ),
            (
                "[verify]\nwritten_by_checks = \"a\"",
                "config.toml:2: `verify.written_by_checks` must be an array of paths",
            ),
            (
                "[verify]\nreview = 1",
                "config.toml:2: `verify.review` must be true or false",
            ),
            (
                "[verify]\ndetect = true",
                "config.toml:2: `verify.detect` must be \"offer\" or \"off\"",
            ),
            (
                "[tasks]\nunlisted_files = true",
                "config.toml:2: `tasks.unlisted_files` must be \"fail\" or \"include\"",
            ),
            (
                "[worktrees]\nfolder = \"trees\"",
                "config.toml:2: `worktrees.folder` must be an absolute path",
            ),
            (
                "[worktrees]\nfolder = 3",
                "config.toml:2: `worktrees.folder` must be an absolute path",
            ),
            (
                "[worktrees]\nplace = 3",
                "config.toml:2: `worktrees.place` is not a setting; known are: folder",
            ),
            (
                "[tasks]\nfiles = 1",
                "config.toml:2: `tasks.files` is not a setting; known are: unlisted_files",
            ),
            (
                "[notify]\nbell = \"loud\"",
                "config.toml:2: `notify.bell` must be true or false",
            ),
            (
                "[notify]\nsound = true",
                "config.toml:2: `notify.sound` is not a setting; known are: bell, desktop",
            ),
            (
                "[verify]\nfind = 1",
                "config.toml:2: `verify.find` is not a setting; known are: review, detect, prove, written_by_checks",
            ),
            (
                "[[check]]\nrun = \"a\"\nproject = \"p\"",
                "config.toml:1: `check.project` must be an absolute path",
            ),
            ("[stop\n", "config.toml:1: is not TOML"),
        ] {
            let found = problems(text);
            assert!(
                found
                    .first()
                    .is_some_and(|problem| problem.starts_with(expected)),
                "{text}: {found:?}"
            );
            assert!(
                !found.concat().contains(char::is_control),
                "{text}: {found:?}"
            );
        }
    }

    #[test]
    fn each_way_to_be_notified_is_turned_off_by_itself() {
        let notify = |text: &str| parse(text, Path::new("config.toml")).notify;
        assert_eq!(
            notify(""),
            NotifySetting {
                bell: true,
                desktop: true
            }
        );
        assert_eq!(
            notify("[notify]\nbell = false"),
            NotifySetting {
                bell: false,
                desktop: true
            }
        );
        assert_eq!(
            notify("notify = { desktop = false }"),
            NotifySetting {
                bell: true,
                desktop: false
            }
        );
    }

    #[test]
    fn what_is_no_file_is_a_problem_and_what_is_not_there_is_none() {
        let temp = tempfile::tempdir().unwrap();
        assert!(
            load(Some(&temp.path().join("missing.toml")))
                .problems
                .is_empty()
        );
        assert_eq!(load(Some(temp.path())).problems.len(), 1);
        assert!(load(None).problems.is_empty());
    }
}
