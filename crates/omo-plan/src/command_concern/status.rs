//! Finds out what part of a command decides its exit status: `npm test || true` cannot fail.
//!
//! A command that needs a shell to be taken apart counts as [`CommandStatus::Judges`].

use omo_core::shell::programs::{Role, has_role, without_wrappers};
use omo_core::shell::{
    Joint, Part, PartKind, is_assignment, parse_shell, shell_script, without_keywords,
};

const MAX_DEPTH: usize = 4;

/// Cause of a command's exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommandStatus {
    /// Fails by the state of the work.
    Judges,
    /// Succeeds with output, which may be judged.
    Prints,
    /// Judges, but a further part ignores the failure.
    ThrownAway,
    /// Cannot fail.
    Nothing,
    /// Compares constants.
    Constant,
}

impl CommandStatus {
    fn judges(self) -> bool {
        self == Self::Judges
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Judges, _) | (_, Self::Judges) => Self::Judges,
            (Self::Prints, _) | (_, Self::Prints) => Self::Prints,
            (Self::Nothing, other) => other,
            (own, _) => own,
        }
    }

    /// Status of `self || other`.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Judges, Self::Prints | Self::Nothing | Self::ThrownAway) => Self::ThrownAway,
            (Self::Judges, _) => Self::Judges,
            (Self::Constant, other) => other,
            (own, _) => own,
        }
    }

    /// Status of `self; last`.
    fn then(self, last: Self) -> Self {
        match last {
            Self::Nothing | Self::Constant if self.judges() || self == Self::ThrownAway => {
                Self::ThrownAway
            }
            Self::Nothing => self,
            last => last,
        }
    }
}

pub(super) fn command_status(command: &str) -> CommandStatus {
    script_status(command, 0)
}

fn script_status(script: &str, depth: usize) -> CommandStatus {
    if depth == MAX_DEPTH {
        return CommandStatus::Judges;
    }
    parse_shell(script).map_or(CommandStatus::Judges, |parts| list_status(&parts, depth))
}

fn list_status(parts: &[Part], depth: usize) -> CommandStatus {
    if parts.iter().any(is_compound) {
        return CommandStatus::Judges;
    }
    let (mut all, mut list, mut pipe) = (
        CommandStatus::Nothing,
        None::<CommandStatus>,
        None::<CommandStatus>,
    );
    let (mut stops_at_errors, mut is_or, mut is_guarded) = (false, false, false);
    for part in parts
        .iter()
        .filter(|part| !matches!(part.kind, PartKind::Inner(_)))
    {
        let words: &[String] = if let PartKind::Command(words) = &part.kind {
            words
        } else {
            &[]
        };
        let own = part_status(part, depth);
        let (first, second) = (
            words.first().map(String::as_str),
            words.get(1).map_or("", String::as_str),
        );
        stops_at_errors |= first == Some("set") && option_letters(second).contains('e');
        let ends = first == Some("exit");
        let own = match pipe.take() {
            Some(before) if own == CommandStatus::Nothing && before.judges() => {
                CommandStatus::ThrownAway
            }
            _ => own,
        };
        if part.joint == Joint::Pipe {
            pipe = Some(own);
            continue;
        }
        is_guarded |= is_or && ends && own.judges() && list.is_some_and(CommandStatus::judges);
        let own = match list.take() {
            None => own,
            Some(before) if is_or => before.or(own),
            Some(before) => before.and(own),
        };
        // The rest behind the end of the shell is not run.
        if matches!(part.joint, Joint::And | Joint::Or) && (is_or || !ends) {
            is_or = part.joint == Joint::Or;
            list = Some(own);
            continue;
        }
        is_or = false;
        all = match part.joint {
            _ if is_guarded => return CommandStatus::Judges,
            Joint::Background => CommandStatus::ThrownAway,
            _ if stops_at_errors => all.and(own),
            _ => all.then(own),
        };
        if ends {
            break;
        }
    }
    pipe.or(list).map_or(all, |open| all.then(open))
}

/// `true` for a command of several lines, such as a loop or a function.
fn is_compound(part: &Part) -> bool {
    let first = if let PartKind::Command(words) = &part.kind {
        words.first()
    } else {
        None
    };
    part.joint == Joint::Missing || first.is_some_and(|word| has_role(word, Role::Compound))
}

fn part_status(part: &Part, depth: usize) -> CommandStatus {
    match &part.kind {
        PartKind::Command(words) => words_status(words, part, depth),
        PartKind::Group(parts) | PartKind::Subshell(parts) | PartKind::Inner(parts) => {
            list_status(parts, depth)
        }
    }
}

fn words_status(words: &[String], part: &Part, depth: usize) -> CommandStatus {
    let negations = words.iter().take_while(|word| *word == "!").count();
    if let Some(negated) = words.get(negations..).filter(|_| negations > 0) {
        let status = words_status(negated, part, depth);
        return if status.judges() {
            status
        } else {
            CommandStatus::Constant
        };
    }
    let Some((program, arguments)) = without_wrappers(without_keywords(words)).split_first() else {
        let is_set = part.inputs.is_empty()
            && part.written_files.is_empty()
            && words.iter().all(|word| {
                (is_assignment(word) || has_role(word, Role::Idle)) && !word.contains('$')
            });
        return if is_set {
            CommandStatus::Nothing
        } else {
            CommandStatus::Judges
        };
    };
    if let Some(script) = shell_script(program, arguments) {
        // `set -e` ends a shell with the first failure, `pipefail` with that of any part of a pipeline.
        let is_strict = arguments
            .iter()
            .take_while(|word| *word != script)
            .any(|word| word == "pipefail" || word != "-c" && option_letters(word).contains('e'));
        if is_strict {
            return CommandStatus::Judges;
        }
        return script_status(script, depth + 1);
    }
    let first = arguments.first().map_or("", String::as_str);
    match program.as_str() {
        "eval" => script_status(&arguments.join(" "), depth + 1),
        "exit" if arguments == ["0"] => CommandStatus::Nothing,
        // A script `test`, behind the tool that runs it.
        "test" if arguments.is_empty() => CommandStatus::Judges,
        "test" | "[" | "[[" if part.expands || has_argument(arguments, asks_of_file) => {
            CommandStatus::Judges
        }
        "test" | "[" | "[[" => CommandStatus::Constant,
        "find"
            if has_argument(arguments, |word| {
                matches!(word, "-exec" | "-execdir" | "-ok")
            }) =>
        {
            CommandStatus::Judges
        }
        "sort"
            if has_argument(arguments, |word| {
                word.starts_with("--check") || option_letters(word).contains(['c', 'C'])
            }) =>
        {
            CommandStatus::Judges
        }
        "git" if prints_of_git(arguments) => CommandStatus::Prints,
        "docker" if matches!(first, "ps" | "images") => CommandStatus::Prints,
        "sed" if first == "-n" => CommandStatus::Prints,
        "ls" if !has_argument(arguments, |word| {
            !word.starts_with('-') && !matches!(word, "." | ".." | "./" | "../")
        }) =>
        {
            CommandStatus::Prints
        }
        name if has_role(name, Role::Idle) => CommandStatus::Nothing,
        name if has_role(name, Role::Printer) => CommandStatus::Prints,
        _ => CommandStatus::Judges,
    }
}

fn has_argument(arguments: &[String], is_wanted: impl Fn(&str) -> bool) -> bool {
    arguments.iter().any(|word| is_wanted(word))
}

fn prints_of_git(arguments: &[String]) -> bool {
    const PRINTS: &str = " log show status diff branch tag remote shortlog blame reflog ls-files ";
    let mut rest = arguments.iter().map(String::as_str);
    let mut asked = rest.next();
    while let Some(option @ ("-C" | "--no-pager")) = asked {
        if option == "-C" {
            rest.next();
        }
        asked = rest.next();
    }
    let has_status = has_argument(arguments, |word| {
        matches!(
            word,
            "--exit-code" | "--quiet" | "--check" | "--error-unmatch"
        )
    });
    !has_status && asked.is_some_and(|asked| PRINTS.contains(&format!(" {asked} ")))
}

/// `true` for a test of a file, such as `-f`.
fn asks_of_file(word: &str) -> bool {
    const LETTERS: &str = "abcdefghkprstuwxLOGSN";
    matches!(word, "-nt" | "-ot" | "-ef")
        || word.len() == 2 && option_letters(word).contains(|c| LETTERS.contains(c))
}

fn option_letters(word: &str) -> &str {
    word.strip_prefix('-')
        .filter(|letters| !letters.starts_with('-'))
        .unwrap_or_default()
}
