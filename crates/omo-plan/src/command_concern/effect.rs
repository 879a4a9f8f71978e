//! `Effect` of a shell command, apart from judging the work by its exit status; a later variant outweighs an earlier.

mod table;

use std::collections::HashMap;
use std::sync::LazyLock;

use omo_core::shell::programs::{Role, has_role, is_wrapper, program_name, without_wrappers};
use omo_core::shell::{Part, PartKind, parse_shell, shell_script, without_keywords};

use crate::pattern::Pattern;
use table::{
    ACTION_ANYWHERE, CHANGING, DATABASES, ENDLESS_SCRIPTS, FETCHING, FOLDERS, JUDGING, LOOKING,
    TABLE, TRIALS, VALUED, WRITING,
};

const MAX_DEPTH: usize = 4;
const MAX_ACTION_WORDS: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Effect {
    Runs,
    Prepares,
    Installs,
    NeverEnds,
    Changes,
    Reaches,
    Leaves,
}

impl Effect {
    /// `true` for an effect that a check may have as well.
    pub(crate) fn may_judge(self) -> bool {
        matches!(self, Self::Runs | Self::Reaches | Self::Leaves)
    }

    /// `true` for an effect that no check may have.
    pub(crate) fn rules_out_check(self) -> bool {
        matches!(self, Self::Installs | Self::NeverEnds | Self::Changes)
    }
}

fn has_word(words: &str, wanted: &str) -> bool {
    !wanted.is_empty()
        && words.match_indices(wanted).any(|(at, _)| {
            let before = words.get(..at).unwrap_or_default();
            let behind = words.get(at + wanted.len()..).unwrap_or_default();
            (before.is_empty() || before.ends_with(' '))
                && (behind.is_empty() || behind.starts_with(' '))
        })
}

/// Effects of the command's parts in order: `None` for a part that judges, no entry for a `cd` within the project.
pub(crate) fn effects(command: &str) -> Vec<Option<Effect>> {
    let mut reader = EffectReader::default();
    reader.read_script(command, 0);
    reader.found
}

pub(crate) fn effect(command: &str) -> Option<Effect> {
    effects(command).into_iter().flatten().max()
}

#[derive(Default)]
struct EffectReader {
    found: Vec<Option<Effect>>,
    /// Depth of the working folder below the project's top; negative outside.
    depth: isize,
}

impl EffectReader {
    fn read_script(&mut self, script: &str, nesting: usize) {
        match parse_shell(script).filter(|_| nesting < MAX_DEPTH) {
            Some(parts) => self.read_parts(parts.iter(), nesting),
            // An unreadable script can do anything.
            None => self.found.push(Some(Effect::Changes)),
        }
    }

    fn read_parts<'p>(&mut self, parts: impl Iterator<Item = &'p Part>, nesting: usize) {
        for part in parts {
            // Output to a file below `$HOME` changes nothing of the machine.
            let mut written = part
                .written_files
                .iter()
                .filter(|file| !file.starts_with("$HOME"));
            self.found.extend(
                written
                    .any(|file| is_outside(file))
                    .then_some(Some(Effect::Leaves)),
            );
            match &part.kind {
                PartKind::Command(words) => self.read_words(without_keywords(words), nesting),
                PartKind::Group(parts) | PartKind::Subshell(parts) => {
                    self.read_parts(parts.iter(), nesting);
                }
                // A command substitution only makes an argument: its harmless effects do not count.
                PartKind::Inner(parts) => {
                    let start = self.found.len();
                    self.read_parts(parts.iter(), nesting);
                    let inner = self.found.split_off(start);
                    self.found.extend(
                        inner.into_iter().filter(|effect| {
                            effect.is_some_and(|effect| effect > Effect::Installs)
                        }),
                    );
                }
            }
        }
    }

    fn read_words(&mut self, words: &[String], nesting: usize) {
        let Some((program, arguments)) = words.split_first() else {
            return;
        };
        let script = match program.as_str() {
            "cd" | "pushd" => {
                let target = arguments
                    .iter()
                    .find(|word| *word != "--")
                    .map_or("", String::as_str);
                let leaves = leaves_project(target, &mut self.depth);
                return self.found.extend(leaves.then_some(Some(Effect::Leaves)));
            }
            // A bare URL is for a person to open.
            address if address.contains("://") => return self.found.push(Some(Effect::Prepares)),
            "eval" => Some(arguments.join(" ")),
            "find" => runs_of_find(arguments),
            name => shell_script(name, arguments).cloned(),
        };
        match script {
            Some(script) => self.read_script(&script, nesting + 1),
            None => self
                .found
                .push(words_effect(words).max(folder_effect(arguments, self.depth))),
        }
    }
}

fn runs_of_find(arguments: &[String]) -> Option<String> {
    let at = arguments
        .iter()
        .position(|word| matches!(word.as_str(), "-exec" | "-execdir" | "-ok"))?;
    let words = arguments.get(at + 1..)?.iter().map(String::as_str);
    Some(
        words
            .take_while(|word| !matches!(*word, ";" | "+"))
            .collect::<Vec<_>>()
            .join(" "),
    )
}

/// Adds a change into the folder `target` to `depth`; `true` where that leaves the project.
fn leaves_project(target: &str, depth: &mut isize) -> bool {
    if is_elsewhere(target) {
        return true;
    }
    for part in target.split(['/', '\\']) {
        *depth += match part {
            "" | "." | "-" => 0,
            ".." => -1,
            _ => 1,
        };
        if *depth < 0 {
            return true;
        }
    }
    false
}

static ELSEWHERE: Pattern = Pattern::new(r"^(?:/|~|\$\{?(?:HOME|OLDPWD)\b|[A-Za-z]:)");
/// Paths outside of the project that a command may write to.
static SCRATCH: Pattern = Pattern::new(r"^/(?:tmp|var/tmp|dev)(?:/|$)");

fn is_elsewhere(folder: &str) -> bool {
    ELSEWHERE.is_match(folder)
}

/// `true` for a path outside of the project and of `SCRATCH`.
fn is_outside(path: &str) -> bool {
    is_elsewhere(path) && !SCRATCH.is_match(path)
}

fn words_effect(words: &[String]) -> Option<Effect> {
    let (first, others) = words.split_first()?;
    let is_bounded = matches!(first.as_str(), "timeout" | "gtimeout");
    let (program, arguments) = without_wrappers(words).split_first()?;
    let program_part = program_effect(program_name(program), arguments, is_script(program));
    // A wrapper's own options and words stand before its command, so each known program among its words counts.
    let is_wrapped =
        is_wrapper(program_name(first), others) || matches!(first.as_str(), "docker" | "podman");
    let inner: Vec<Option<Effect>> = others
        .iter()
        .enumerate()
        .filter(|(_, word)| {
            is_wrapped
                && (TABLE_ROWS.contains_key(program_name(word)) || has_role(word, Role::TestRunner))
        })
        .map(|(at, word)| {
            program_effect(
                program_name(word),
                others.get(at + 1..).unwrap_or_default(),
                false,
            )
        })
        .collect();
    let program_part = if program_part == Some(Effect::Runs) && inner.contains(&None) {
        None
    } else {
        program_part
    };
    let found = inner.into_iter().flatten().max().max(program_part);
    found.filter(|effect| !(is_bounded && *effect == Effect::NeverEnds))
}

fn is_script(program: &str) -> bool {
    let ending = program.rsplit_once('.').map_or("", |(_, ending)| ending);
    program.contains('/') || has_word("py js mjs cjs ts sh rb php pl ps1", ending)
}

/// `Leaves` for an option such as `-C FOLDER` that leads out of the project from `depth` folders below its top.
fn folder_effect(arguments: &[String], depth: isize) -> Option<Effect> {
    let apart = arguments
        .iter()
        .zip(arguments.iter().skip(1))
        .map(|(option, value)| (option.as_str(), value.as_str()));
    let joined = arguments.iter().filter_map(|word| word.split_once('='));
    let mut folders = apart
        .chain(joined)
        .filter(|(option, _)| has_word(FOLDERS, option));
    folders
        .any(|(_, folder)| leaves_project(folder, &mut depth.clone()))
        .then_some(Effect::Leaves)
}

/// Indices of arguments that are neither options nor their values.
fn plain_places(arguments: &[String]) -> Vec<usize> {
    let mut places = Vec::new();
    let mut before: Option<&String> = None;
    for (place, word) in arguments.iter().enumerate() {
        let is_value = before.is_some_and(|option| has_word(VALUED, option));
        if !word.starts_with('-') && !word.contains('=') && !is_value {
            places.push(place);
        }
        before = Some(word);
    }
    places
}

struct ProgramCall<'a> {
    arguments: &'a [String],
    places: Vec<usize>,
    words: Vec<&'a str>,
}

impl<'a> ProgramCall<'a> {
    fn new(arguments: &'a [String]) -> Self {
        let places = plain_places(arguments);
        let words = places
            .iter()
            .filter_map(|at| arguments.get(*at))
            .map(String::as_str)
            .collect();
        Self {
            arguments,
            places,
            words,
        }
    }

    fn word(&self, place: usize) -> &'a str {
        self.words.get(place).copied().unwrap_or_default()
    }

    fn behind(&self, place: usize) -> &'a [String] {
        self.places
            .get(place)
            .and_then(|at| self.arguments.get(at + 1..))
            .unwrap_or_default()
    }

    fn has(&self, is_wanted: impl Fn(&str) -> bool) -> bool {
        self.arguments.iter().any(|argument| is_wanted(argument))
    }
}

fn program_effect(name: &str, arguments: &[String], is_script: bool) -> Option<Effect> {
    let name = name
        .split_once('@')
        .filter(|(name, _)| !name.is_empty())
        .map_or(name, |(name, _)| name);
    let call = ProgramCall::new(arguments);
    match name {
        "npm" | "pnpm" | "yarn" | "bun" if table_effect(name, call.word(0)).is_none() => {
            let scope = usize::from(call.word(0) == "workspace") * 2;
            let script = scope + usize::from(matches!(call.word(scope), "run" | "run-script"));
            return script_effect(call.word(script), call.behind(script));
        }
        "docker" | "podman" if call.word(0) == "compose" => {
            return program_effect("docker-compose", call.behind(0), false);
        }
        "docker-compose" if call.words.contains(&"up") => {
            let ends = call.has(|word| {
                word.starts_with("-d")
                    || has_word("--detach --wait --no-start", word)
                    || word.starts_with("--abort-on")
                    || word.starts_with("--exit-code-from")
            });
            return Some(if ends {
                Effect::Prepares
            } else {
                Effect::NeverEnds
            });
        }
        "docker-compose"
            if call.words.contains(&"down")
                && call.has(|word| matches!(word, "-v" | "--volumes")) =>
        {
            return Some(Effect::Changes);
        }
        "git" => return git_effect(&call.words, arguments),
        "php" if call.has(|word| word == "-S") => return Some(Effect::NeverEnds),
        _ if (has_role(name, Role::Interpreter) || matches!(name, "source" | "."))
            && table_effect(name, call.word(0)).is_none() =>
        {
            return interpreter_effect(arguments);
        }
        _ if has_word(FETCHING, name) && call.words.iter().any(|word| is_remote(word)) => {
            return Some(Effect::Reaches);
        }
        _ if has_word(DATABASES, name) && call.has(|word| STATEMENT.is_match(word)) => {
            return Some(Effect::Changes);
        }
        _ if has_word(WRITING, name)
            && (name != "sed" || call.has(|word| word.starts_with("-i"))) =>
        {
            let leaves = call
                .words
                .iter()
                .any(|word| is_outside(word))
                .then_some(Effect::Leaves);
            return leaves.max(table_effect(name, call.word(0)));
        }
        _ => {}
    }
    let is_trial = call.has(|word| {
        has_word(TRIALS, word) || word.starts_with("--dry-run=") && word != "--dry-run=false"
    }) || matches!(name, "make" | "gmake") && call.has(|word| word == "-n");
    let follows = call.has(|word| matches!(word, "--watch" | "--watchAll" | "--serve"))
        || matches!(name, "tail" | "journalctl")
            && call.has(|word| word.starts_with('-') && word.contains(['f', 'F']))
        || call.word(0) == "logs" && call.has(|word| word == "-f")
        || name == "tsc" && call.has(|word| word == "-w");
    let action_words: &[&str] = if has_word(ACTION_ANYWHERE, name) {
        &call.words
    } else {
        call.words.get(..1).unwrap_or_default()
    };
    let table_found = action_words
        .iter()
        .map(|word| table_effect(name, word))
        .max()
        .unwrap_or_else(|| table_effect(name, ""));
    let is_judge = !has_role(name, Role::TaskRunner)
        && [
            Role::Reader,
            Role::Printer,
            Role::OutputJudge,
            Role::TestRunner,
        ]
        .iter()
        .any(|role| has_role(name, *role));
    let names_change = !is_judge && action_words.iter().any(|word| changes_by_name(word, false));
    let is_looking = call
        .words
        .iter()
        .take(MAX_ACTION_WORDS)
        .any(|word| has_word(LOOKING, word));
    let words_effect = table_found
        .max(names_change.then_some(Effect::Changes))
        .filter(|_| !is_looking);
    let name_effect = (is_script && changes_by_name(name, true)).then_some(Effect::Changes);
    words_effect
        .max(name_effect)
        .filter(|_| !is_trial)
        .max(follows.then_some(Effect::NeverEnds))
}

/// Words of a statement that changes a database.
static STATEMENT: Pattern = Pattern::new(
    r"(?i-u:\b(?:drop|delete|truncate|alter|insert|update|create|grant|flushall|flushdb)\b)",
);

fn interpreter_effect(arguments: &[String]) -> Option<Effect> {
    let is_module = arguments.iter().any(|word| word == "-m");
    let at = plain_places(arguments).into_iter().find(|at| {
        arguments
            .get(*at)
            .is_some_and(|word| is_script(word) || is_module)
    })?;
    // With such an option the interpreter runs a text or only checks syntax: the script does not run.
    let mut options = arguments.iter().take(at);
    if options.any(|word| has_word("-c -e -n -l --check", word)) {
        return None;
    }
    let script = arguments.get(at)?;
    // A script in a folder of tests is a test.
    if script
        .split('/')
        .any(|folder| matches!(folder, "test" | "tests" | "spec" | "__tests__"))
    {
        return None;
    }
    let name = program_name(script);
    let name = if is_module {
        name.rsplit('.')
            .next()
            .filter(|_| !TABLE_ROWS.contains_key(name))
            .unwrap_or(name)
    } else {
        name
    };
    program_effect(name, arguments.get(at + 1..).unwrap_or_default(), true)
}

static TABLE_ROWS: LazyLock<HashMap<&str, Vec<(Effect, &str)>>> = LazyLock::new(|| {
    let mut rows: HashMap<&str, Vec<(Effect, &str)>> = HashMap::new();
    for (effect, programs, words) in TABLE {
        for program in programs.split_ascii_whitespace() {
            rows.entry(program).or_default().push((*effect, words));
        }
    }
    rows
});

fn table_effect(name: &str, word: &str) -> Option<Effect> {
    let base = word.split(':').next().unwrap_or_default();
    let rows = TABLE_ROWS.get(name)?.iter().filter(|(_, words)| {
        *words == "*"
            || has_word(words, if word.is_empty() { "-" } else { word })
            || !base.is_empty() && has_word(words, base)
    });
    rows.map(|(effect, _)| *effect).max()
}

/// Effect of a script of `package.json`, whose name may be that of a program.
fn script_effect(script: &str, arguments: &[String]) -> Option<Effect> {
    let parts: Vec<&str> = script.split(':').collect();
    let is_test = parts.iter().any(|part| has_word(JUDGING, part));
    let is_judged = is_test || parts.contains(&"build");
    let first = parts.first().copied().unwrap_or_default();
    let runs_on = has_word(ENDLESS_SCRIPTS, first) && !is_judged || parts.contains(&"watch");
    let repairs = matches!(script, "fix" | "lint:fix").then_some(Effect::Runs);
    let script_name_effect = if script.is_empty() || is_test {
        None
    } else {
        program_effect(script, arguments, true)
    };
    runs_on
        .then_some(Effect::NeverEnds)
        .max(repairs)
        .max(script_name_effect)
}

/// `true` for a name that tells of a change, such as `db:migrate`, `deployProd` or `migrate_users.py`.
fn changes_by_name(word: &str, is_file: bool) -> bool {
    if word.contains('/') || !is_file && word.contains('.') {
        return false;
    }
    let mut spaced = String::with_capacity(word.len() + 4);
    for char in word.chars() {
        if char.is_ascii_uppercase() || matches!(char, ':' | '-' | '_') || is_file && char == '.' {
            spaced.push(' ');
        }
        if char.is_ascii_alphanumeric() {
            spaced.push(char.to_ascii_lowercase());
        }
    }
    !has_part(&spaced, JUDGING) && (word.starts_with("db:") || has_part(&spaced, CHANGING))
}

fn has_part(spaced: &str, words: &str) -> bool {
    spaced.split(' ').any(|part| has_word(words, part))
}

fn has_argument(arguments: &[String], wanted: &str) -> bool {
    arguments.iter().any(|word| has_word(wanted, word))
}

fn git_effect(words: &[&str], arguments: &[String]) -> Option<Effect> {
    let verb = words.first().copied().unwrap_or_default();
    let is_listed = has_argument(
        arguments,
        "list show -l --list --get --get-all --show-current -v --contains --merged -a -r --dry-run",
    );
    let changes = match verb {
        "remote" => has_argument(arguments, "add set-url remove rm rename prune"),
        "config" => words.len() > 2 && !is_listed || has_argument(arguments, "--unset"),
        "branch" | "tag" => words.len() > 1 && !is_listed || has_argument(arguments, "-d -D"),
        _ => {
            table_effect("git", verb) == Some(Effect::Changes)
                && !(is_listed && matches!(verb, "worktree" | "stash"))
        }
    };
    // A verb that judges by its status is a check.
    let status_options = "--exit-code --quiet --check --error-unmatch -q";
    let judges = verb == "grep" || has_argument(arguments, status_options);
    if changes {
        return Some(Effect::Changes);
    }
    let effect = table_effect("git", verb)
        .filter(|effect| *effect != Effect::Changes)
        .unwrap_or(Effect::Runs);
    Some(effect).filter(|_| !judges)
}

/// Address without a scheme, such as `api.example.com/deploy`.
static HOST: Pattern = Pattern::new(r"^[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}(?:[:/?]|$)");

/// `true` for the address of another machine, with a scheme or without.
fn is_remote(argument: &str) -> bool {
    let rest = argument.split_once("://").map_or_else(
        || Some(argument).filter(|rest| HOST.is_match(rest)),
        |(_, rest)| Some(rest),
    );
    let host = rest.map(|rest| rest.split(['/', ':', '?']).next().unwrap_or_default());
    host.is_some_and(|host| {
        let is_own = matches!(host, "localhost" | "0.0.0.0" | "[" | "host.docker.internal")
            || host.starts_with("127.");
        !is_own && !host.starts_with('$') && !host.ends_with(".localhost")
    })
}

#[cfg(test)]
mod tests;
