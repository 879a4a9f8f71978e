//! What the exit status of a command can say: whether anything of the project can make it fail.
//!
//! A command is taken apart as a shell does it, as far as that needs no shell. What cannot be taken apart is held to
//! judge something.

use super::program_part;
use crate::pattern::Pattern;

/// A command in a shell in a command is looked into so far down.
const MAX_DEPTH: usize = 4;

/// What the status of a command, or of a part of it, says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommandStatus {
    /// The work can make it fail.
    Judges,
    /// It prints what is there, and succeeds. What it prints may be judged.
    Prints,
    /// A part of it can fail, and another one throws that away.
    ThrownAway,
    /// It does nothing that can fail.
    Nothing,
    /// It compares what stands in it, and nothing else.
    Constant,
}

impl CommandStatus {
    fn judges(self) -> bool {
        self == Self::Judges
    }

    /// Of both, one behind the other: one that judges is enough.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Judges, _) | (_, Self::Judges) => Self::Judges,
            (Self::Prints, _) | (_, Self::Prints) => Self::Prints,
            (Self::Nothing, other) => other,
            (own, _) => own,
        }
    }

    /// The status of what is done only if this has failed.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Judges, Self::Prints | Self::Nothing | Self::ThrownAway) => Self::ThrownAway,
            (Self::Judges, _) => Self::Judges,
            (Self::Constant, other) => other,
            (own, _) => own,
        }
    }

    /// The status of the last of several that are done whatever the others say.
    fn then(self, last: Self) -> Self {
        match last {
            Self::Nothing | Self::Constant if self.judges() || self == Self::ThrownAway => Self::ThrownAway,
            Self::Nothing => self,
            last => last,
        }
    }
}

/// What the status of a command says.
pub(super) fn command_status(command: &str) -> CommandStatus {
    status_within(command, 0)
}

/// A shell that is given its command in quotes.
static INNER_SHELL: Pattern = Pattern::new(
    r#"^(?:(?:ba|da|z|k)?sh\s+(?:-[a-z]+\s+)*-[a-z]*c|eval)\s+(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|(\w+|:))\s*$"#,
);
/// What holds for more than one line, and is not looked into.
static COMPOUND: Pattern =
    Pattern::new(r"<<|(?:^|[;&|\n]\s*)(?:if|then|for|while|until|case|function|do|select)\b|\w\s*\(\)");
/// Has a script end at the first line that fails.
static STOPS_AT_ERRORS: Pattern = Pattern::new(r"^set\s+-[a-z]*e");

fn status_within(command: &str, depth: usize) -> CommandStatus {
    if depth >= MAX_DEPTH {
        return CommandStatus::Judges;
    }
    let bare = program_part(without_group(command.trim()));
    if let Some(([double, single, word], _)) = INNER_SHELL.read(bare) {
        let inner = if double.is_empty() { [single, word].concat() } else { double.replace("\\\"", "\"") };
        return status_within(&inner, depth + 1);
    }
    masked_status(&mask(command), depth)
}

/// The status of a command without texts in quotes.
fn masked_status(text: &str, depth: usize) -> CommandStatus {
    let text = without_group(text.trim());
    if depth >= MAX_DEPTH || COMPOUND.is_match(text) {
        return CommandStatus::Judges;
    }
    let (mut all, mut list, mut pipe) = (CommandStatus::Nothing, None::<CommandStatus>, None::<CommandStatus>);
    let (mut stops_at_errors, mut is_or, mut is_guarded) = (false, false, false);
    for (part, joint) in split_parts(text) {
        let own = simple_status(part, depth);
        stops_at_errors |= STOPS_AT_ERRORS.is_match(part);
        let ends = part.split_whitespace().next() == Some("exit");
        let own = match pipe.take() {
            Some(before) if own == CommandStatus::Nothing && before.judges() => CommandStatus::ThrownAway,
            _ => own,
        };
        if joint == Joint::Pipe {
            pipe = Some(own);
            continue;
        }
        is_guarded |= is_or && ends && own.judges() && list.is_some_and(CommandStatus::judges);
        let own = match list.take() {
            None => own,
            Some(before) if is_or => before.or(own),
            Some(before) => before.and(own),
        };
        // What ends the shell leaves the rest undone.
        if matches!(joint, Joint::And | Joint::Or) && (is_or || !ends) {
            is_or = joint == Joint::Or;
            list = Some(own);
            continue;
        }
        is_or = false;
        all = match joint {
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

/// What joins a part of a command to the one behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Joint {
    And,
    Or,
    Pipe,
    Background,
    /// The end of a line or of the command, or `;`.
    End,
}

/// The parts of a command that are not in brackets, in their order.
fn split_parts(text: &str) -> Vec<(&str, Joint)> {
    let bytes = text.as_bytes();
    let (mut found, mut start, mut depth, mut at) = (Vec::new(), 0, 0_usize, 0);
    while let Some(byte) = bytes.get(at).copied() {
        let next = bytes.get(at + 1).copied();
        let before = at.checked_sub(1).and_then(|before| bytes.get(before)).copied();
        let is_bare = |beside: Option<u8>| beside.is_none_or(|byte| byte.is_ascii_whitespace() || byte == b';');
        match byte {
            b'(' => depth += 1,
            b'{' if is_bare(next) => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b'}' if is_bare(before) => depth = depth.saturating_sub(1),
            _ => {}
        }
        let joint = match (byte, next) {
            _ if depth > 0 => None,
            (b'&', Some(b'&')) => Some((Joint::And, 2)),
            (b'|', Some(b'|')) => Some((Joint::Or, 2)),
            (b'|', Some(b'&')) => Some((Joint::Pipe, 2)),
            (b'|', _) if before != Some(b'>') => Some((Joint::Pipe, 1)),
            (b'&', next) if next != Some(b'>') && !matches!(before, Some(b'>' | b'<')) => Some((Joint::Background, 1)),
            (b';' | b'\n', _) => Some((Joint::End, 1)),
            _ => None,
        };
        if let Some((joint, length)) = joint {
            found.push((text.get(start..at).unwrap_or_default().trim(), joint));
            at += length;
            start = at;
        } else {
            at += 1;
        }
    }
    found.push((text.get(start..).unwrap_or_default().trim(), Joint::End));
    // An empty line, also one behind a sign that has the next line go on, says nothing.
    found.retain(|(part, joint)| !part.is_empty() || *joint != Joint::End);
    found
}

/// A command without the brackets around all of it.
fn without_group(text: &str) -> &str {
    let inner = |open: char, close: char| {
        let inner = text.strip_prefix(open)?.strip_suffix(close)?;
        let is_one = !inner.contains([open, close]) && (open == '(' || inner.starts_with(char::is_whitespace));
        is_one.then(|| inner.trim().trim_end_matches(';'))
    };
    inner('(', ')').or_else(|| inner('{', '}')).unwrap_or(text)
}

/// A command without what stands in quotes and in other commands, its comments, and its line ends behind a backslash.
/// A `$` is left of what is put in when it runs.
fn mask(command: &str) -> String {
    let command = command.replace("\\\n", " ");
    let mut masked = String::with_capacity(command.len());
    let mut rest = command.as_str();
    while let Some(sign) = rest.chars().next() {
        let behind = rest.get(sign.len_utf8()..).unwrap_or_default();
        rest = match sign {
            '\\' => {
                masked.push('_');
                let mut chars = behind.chars();
                chars.next();
                chars.as_str()
            }
            '\'' => match behind.split_once('\'') {
                Some((_, behind)) => {
                    masked.push_str("\"\"");
                    behind
                }
                None => behind,
            },
            '"' => {
                let end = quote_end(behind);
                let is_filled = behind.get(..end).is_some_and(|text| text.contains(['$', '`']));
                masked.push_str(if is_filled { "\"$\"" } else { "\"\"" });
                behind.get(end + 1..).unwrap_or_default()
            }
            '`' => {
                masked.push('$');
                behind.split_once('`').map_or("", |(_, behind)| behind)
            }
            '$' if behind.starts_with('(') => {
                masked.push('$');
                behind.get(bracket_end(behind)..).unwrap_or_default()
            }
            '#' if masked.is_empty() || masked.ends_with(char::is_whitespace) => {
                behind.find('\n').and_then(|end| behind.get(end..)).unwrap_or_default()
            }
            sign => {
                masked.push(sign);
                behind
            }
        };
    }
    masked
}

/// Where the text of a quotation ends.
fn quote_end(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' if !is_escaped => return at,
            b'\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    text.len()
}

/// Behind the bracket that closes the one that a text begins with.
fn bracket_end(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 1 => return at + 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    text.len()
}

/// What does nothing that can fail, and what only says something of the machine.
static DOES_NOTHING: Pattern = Pattern::new(concat!(
    r"^(?:echo|printf|pwd|date|true|:|env|printenv|whoami|hostname|uname|id|clear|cd|pushd|popd|sleep|wait|export|unset|",
    r"alias|umask|set|shopt|seq|open|xdg-open)(?:\s|$)|^exit\s+0\s*$|^[A-Za-z_][A-Za-z0-9_]*=[^$\s]*$",
));
/// What prints files, or what comes in by a pipe.
static PRINTS: Pattern = Pattern::new(concat!(
    r"^(?:cat|bat|head|tail|less|more|tac|nl|sort|uniq|wc|cut|tr|column|fold|rev|paste|tee|tree|du|df|find|file|ps|sed\s+-n|",
    r"ls(?:\s+-\S+|\s+\.\.?/?|\s+\d?>\S+)*\s*$|docker\s+(?:ps|images)|",
    r"git\s+(?:-C\s+\S+\s+)?(?:--no-pager\s+)?(?:log|show|status|diff|branch|tag|remote|shortlog|blame|reflog|ls-files))(?:\s|$)",
));
/// What gives one of these a status that says something.
static HAS_STATUS: Pattern = Pattern::new(
    r"^git\s.*\s--(?:exit-code|quiet|check|error-unmatch)\b|^sort\s+(?:\S+\s+)*(?:-[a-zA-Z]*[cC]|--check)|^find\s.*\s-(?:exec|execdir|ok)\b",
);
/// A comparison.
static COMPARES: Pattern = Pattern::new(r"^(?:test|\[\[?)(?:\s|$)");
/// In a comparison, what is put in when it runs, and what is asked of a file.
static ASKS: Pattern = Pattern::new(r"[$*?~]|\s-(?:[a-hkprstuwxLOGSN]|nt|ot|ef)\s|\[\w");
/// What bounds the time or the standing of the command behind it.
static WRAPPER: Pattern = Pattern::new(r"^(?:g?timeout\s+(?:-\S+\s+)*\d\S*|command|builtin|nohup|nice)\s+");

fn simple_status(text: &str, depth: usize) -> CommandStatus {
    if depth >= MAX_DEPTH {
        return CommandStatus::Judges;
    }
    let inner = without_group(text);
    if inner.len() < text.len() {
        return masked_status(inner, depth + 1);
    }
    let mut text = program_part(text);
    while let Some(behind) = WRAPPER.behind(text) {
        text = program_part(behind);
    }
    if let Some(negated) = text.strip_prefix("! ") {
        return if simple_status(negated.trim_start(), depth + 1).judges() {
            CommandStatus::Judges
        } else {
            CommandStatus::Constant
        };
    }
    if text.is_empty() || DOES_NOTHING.is_match(text) {
        return CommandStatus::Nothing;
    }
    if COMPARES.is_match(text) {
        return if ASKS.is_match(text) { CommandStatus::Judges } else { CommandStatus::Constant };
    }
    if PRINTS.is_match(text) && !HAS_STATUS.is_match(text) {
        return CommandStatus::Prints;
    }
    CommandStatus::Judges
}
