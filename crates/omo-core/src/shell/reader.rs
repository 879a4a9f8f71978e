//! Parser of shell text, character by character; [`super::parse_shell`] shows its result.

use std::iter::Peekable;
use std::str::Chars;

use super::{Joint, Part, PartKind};
use crate::shell::programs::{Role, has_role, program_name};

pub(super) const MAX_DEPTH: usize = 40;

struct Waiting {
    end: String,
    strips_tabs: bool,
    is_literal: bool,
    is_script: bool,
}

pub(super) struct Reader<'t> {
    chars: Peekable<Chars<'t>>,
    waiting: Vec<Waiting>,
    depth: usize,
    /// Levels of `((`: most likely a sum, in which `<<` begins no here-document.
    sums: usize,
    keeps_windows_paths: bool,
    pub(super) is_too_deep: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum WordPlace {
    #[default]
    Argument,
    WrittenFile,
    Input,
    /// Behind `<<<`.
    HereString,
}

#[derive(Default)]
struct Building {
    parts: Vec<Part>,
    words: Vec<String>,
    written_files: Vec<String>,
    inputs: Vec<String>,
    expands: bool,
    word: Option<String>,
    is_quoted: bool,
    place: WordPlace,
    braces: usize,
    is_piped: bool,
    shells: usize,
    /// Index of the group that ended right before: redirections and a joint may follow.
    ended_group: Option<usize>,
}

impl Building {
    fn push(&mut self, char: char) {
        self.word.get_or_insert_default().push(char);
    }

    fn end_word(&mut self) -> Option<String> {
        let word = self.word.take()?;
        self.is_quoted = false;
        match std::mem::take(&mut self.place) {
            WordPlace::Argument => {
                self.shells += usize::from(has_role(program_name(&word), Role::Shell));
                self.words.push(word);
            }
            WordPlace::WrittenFile => self.written_files.push(word),
            WordPlace::Input => self.inputs.push(word),
            WordPlace::HereString => {
                self.inputs.push(word.clone());
                if self
                    .words
                    .iter()
                    .any(|word| matches!(program_name(word), "xargs" | "parallel"))
                {
                    self.words
                        .extend(word.split_whitespace().map(str::to_owned));
                }
                return Some(word);
            }
        }
        None
    }

    fn end_command(&mut self, joint: Joint) {
        let words = std::mem::take(&mut self.words);
        let (written_files, inputs) = (
            std::mem::take(&mut self.written_files),
            std::mem::take(&mut self.inputs),
        );
        match self
            .ended_group
            .take()
            .and_then(|at| self.parts.get_mut(at))
        {
            Some(group) if words.is_empty() => {
                (group.written_files, group.inputs, group.joint) = (written_files, inputs, joint);
            }
            group => {
                if let Some(group) = group {
                    group.joint = Joint::Missing;
                }
                if !(words.is_empty() && written_files.is_empty() && inputs.is_empty()) {
                    let kind = PartKind::Command(words);
                    self.parts.push(Part {
                        kind,
                        written_files,
                        inputs,
                        expands: self.expands,
                        joint,
                    });
                }
            }
        }
        (self.expands, self.is_piped, self.shells, self.braces) = (false, false, 0, 0);
        self.place = WordPlace::Argument;
    }

    fn push_group(&mut self, kind: PartKind) {
        if !matches!(kind, PartKind::Inner(_)) {
            self.ended_group = Some(self.parts.len());
        }
        self.parts.push(Part::from(kind));
    }

    fn push_substitution(&mut self, group: Vec<Part>) {
        self.word
            .get_or_insert_default()
            .push_str(if is_pwd(&group) { "$PWD" } else { "$()" });
        self.push_group(PartKind::Inner(group));
    }

    fn is_at_start(&self) -> bool {
        self.word.is_none() && self.words.is_empty() && self.place == WordPlace::Argument
    }

    fn is_windows_path(&self) -> bool {
        let word = self.word.as_deref().unwrap_or_default();
        matches!(word, "." | "..") || word.ends_with(':') || word.contains('\\')
    }
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str, depth: usize, keeps_windows_paths: bool) -> Self {
        let chars = text.chars().peekable();
        Self {
            chars,
            waiting: Vec::new(),
            depth,
            sums: 0,
            keeps_windows_paths,
            is_too_deep: false,
        }
    }

    pub(super) fn parts(&mut self, end: Option<char>) -> Vec<Part> {
        let mut building = Building::default();
        while let Some(char) = self.chars.next() {
            let next = self.chars.peek().copied();
            match char {
                '\\' if self.keeps_windows_paths
                    && building.is_windows_path()
                    && next.is_some_and(|next| next.is_alphanumeric() || next == '.') =>
                {
                    building.push('\\');
                }
                '\\' => {
                    if let Some(next) = self.chars.next().filter(|next| *next != '\n') {
                        building.push(next);
                        building.is_quoted = true;
                    }
                }
                '\'' => self.single_quoted(&mut building),
                '"' => self.double_quoted(&mut building),
                '$' if self.chars.next_if_eq(&'\'').is_some() => self.escaped_quoted(&mut building),
                '$' if next == Some('"') => {}
                // The number of the shell, `$$`.
                '$' if self.chars.next_if_eq(&'$').is_some() => building.push('$'),
                '$' => {
                    building.braces +=
                        usize::from(self.chars.peek() == Some(&'{') && !self.opens_command());
                    self.dollar(&mut building);
                }
                '`' => self.backticks(&mut building),
                '\n' => {
                    self.end_command(&mut building, Joint::End);
                    self.here_documents(&mut building);
                }
                '<' | '>' if next == Some('(') => {
                    self.chars.next();
                    self.end_word(&mut building);
                    self.substitution(&mut building);
                }
                char if building.braces > 0 => {
                    building.braces -= usize::from(char == '}');
                    building.push(char);
                }
                ')' if end == Some(')') => break,
                '}' if end == Some('}') && building.is_at_start() => break,
                '{' if building.is_at_start() && next.is_some_and(char::is_whitespace) => {
                    let group = self.nested(|reader| reader.parts(Some('}')));
                    building.push_group(PartKind::Group(group));
                }
                ' ' | '\t' | '\r' => self.end_word(&mut building),
                '&' if next == Some('>') => self.end_word(&mut building),
                '&' if self.chars.next_if_eq(&'&').is_some() => {
                    self.end_command(&mut building, Joint::And);
                }
                '&' => self.end_command(&mut building, Joint::Background),
                ';' | ')' => self.end_command(&mut building, Joint::End),
                '|' if self.chars.next_if_eq(&'|').is_some() => {
                    self.end_command(&mut building, Joint::Or);
                }
                '|' => {
                    self.chars.next_if_eq(&'&');
                    self.end_command(&mut building, Joint::Pipe);
                    building.is_piped = true;
                }
                '(' => {
                    self.end_command(&mut building, Joint::Missing);
                    let group = self.group();
                    building.push_group(PartKind::Subshell(group));
                }
                '#' if building.word.is_none() => {
                    while self.chars.next_if(|char| *char != '\n').is_some() {}
                }
                '>' => {
                    self.end_word_before_redirection(&mut building);
                    let signs = std::iter::from_fn(|| {
                        self.chars.next_if(|char| matches!(char, '>' | '|' | '&'))
                    });
                    let is_copy = signs.last() == Some('&');
                    if !(is_copy && self.skip_open_file()) {
                        building.place = WordPlace::WrittenFile;
                    }
                }
                '<' => self.input(&mut building),
                char => {
                    let is_set = char == '[' && next.is_some_and(char::is_alphanumeric);
                    building.expands |= is_set || matches!(char, '*' | '?' | '~');
                    building.push(char);
                }
            }
        }
        self.end_command(&mut building, Joint::End);
        building.parts
    }

    /// `true` for `${ command; }` and `${|command; }`, behind the dollar sign.
    fn opens_command(&self) -> bool {
        let mut ahead = self.chars.clone();
        ahead.next() == Some('{')
            && ahead
                .next()
                .is_some_and(|next| next.is_whitespace() || next == '|')
    }

    /// A shell runs a here-string.
    fn end_word(&mut self, building: &mut Building) {
        if let Some(text) = building.end_word().filter(|_| building.shells > 0) {
            let group = self.nested_text(&text, true);
            building.push_group(PartKind::Inner(group));
        }
    }

    fn end_word_before_redirection(&mut self, building: &mut Building) {
        if !building.is_quoted
            && building
                .word
                .as_ref()
                .is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit()))
        {
            building.word = None;
        }
        self.end_word(building);
    }

    /// Skips `1` and `-` of `2>&1` and `<&-`, which name no file.
    fn skip_open_file(&mut self) -> bool {
        let open = std::iter::from_fn(|| {
            self.chars
                .next_if(|char| char.is_ascii_digit() || *char == '-')
        });
        open.count() > 0
    }

    /// A shell runs here-documents of its pipeline, and what the last command before it writes.
    fn end_command(&mut self, building: &mut Building, joint: Joint) {
        self.end_word(building);
        if building.is_piped && building.shells > 0 {
            self.waiting
                .iter_mut()
                .for_each(|waiting| waiting.is_script = true);
            let before = building
                .parts
                .iter()
                .rev()
                .find(|part| !matches!(part.kind, PartKind::Inner(_)));
            if let Some(script) = before.and_then(written) {
                let group = self.nested_text(&script, true);
                building.push_group(PartKind::Inner(group));
            }
        }
        building.end_command(joint);
    }

    fn group(&mut self) -> Vec<Part> {
        let is_sum = usize::from(self.chars.peek() == Some(&'('));
        self.sums += is_sum;
        let group = self.nested(|reader| reader.parts(Some(')')));
        self.sums -= is_sum;
        group
    }

    /// Reads one level down; nothing more is read below [`MAX_DEPTH`].
    fn nested(&mut self, inner: impl FnOnce(&mut Self) -> Vec<Part>) -> Vec<Part> {
        if self.depth == MAX_DEPTH {
            self.is_too_deep = true;
            self.chars.by_ref().for_each(drop);
            return Vec::new();
        }
        self.depth += 1;
        let parts = inner(self);
        self.depth -= 1;
        parts
    }

    fn single_quoted(&mut self, building: &mut Building) {
        building.is_quoted = true;
        building.word.get_or_insert_default();
        for char in self.chars.by_ref().take_while(|char| *char != '\'') {
            building.push(char);
        }
    }

    /// `$'…'`, with escapes by name or number.
    fn escaped_quoted(&mut self, building: &mut Building) {
        building.is_quoted = true;
        building.word.get_or_insert_default();
        while let Some(char) = self.chars.next().filter(|char| *char != '\'') {
            let escaped = if char == '\\' {
                self.chars.next()
            } else {
                None
            };
            building.push(match escaped {
                None => char,
                Some('n' | 't' | 'r') => ' ',
                Some('x') => self.numbered("", 16, 2),
                Some('u') => self.numbered("", 16, 4),
                Some('U') => self.numbered("", 16, 8),
                Some(digit @ '0'..='7') => self.numbered(&digit.to_string(), 8, 3),
                Some(other) => other,
            });
        }
    }

    /// The character of a number that begins with `begun`, of at most `most` digits.
    fn numbered(&mut self, begun: &str, radix: u32, most: usize) -> char {
        let mut digits = begun.to_owned();
        while digits.len() < most
            && let Some(digit) = self.chars.next_if(|char| char.is_digit(radix))
        {
            digits.push(digit);
        }
        u32::from_str_radix(&digits, radix)
            .ok()
            .and_then(char::from_u32)
            .unwrap_or(' ')
    }

    fn double_quoted(&mut self, building: &mut Building) {
        building.is_quoted = true;
        building.word.get_or_insert_default();
        while let Some(char) = self.chars.next() {
            match char {
                '"' => break,
                '\\' => self.escaped(building),
                '$' => self.dollar(building),
                '`' => self.backticks(building),
                char => building.push(char),
            }
        }
    }

    /// Within double quotes a backslash escapes only a few signs.
    fn escaped(&mut self, building: &mut Building) {
        match self
            .chars
            .next_if(|next| matches!(next, '$' | '`' | '"' | '\\' | '\n'))
        {
            Some('\n') => {}
            Some(next) => building.push(next),
            None => building.push('\\'),
        }
    }

    fn dollar(&mut self, building: &mut Building) {
        building.expands = true;
        if self.chars.next_if_eq(&'(').is_some() {
            self.substitution(building);
        } else if self.opens_command() {
            self.chars.nth(1);
            let group = self.nested(|reader| reader.parts(Some('}')));
            building.push_substitution(group);
        } else {
            building.push('$');
        }
    }

    fn substitution(&mut self, building: &mut Building) {
        let group = self.group();
        building.push_substitution(group);
    }

    fn backticks(&mut self, building: &mut Building) {
        building.expands = true;
        let mut inner = String::new();
        while let Some(char) = self.chars.next().filter(|char| *char != '`') {
            let escaped = (char == '\\')
                .then(|| self.chars.next_if(|next| matches!(next, '$' | '`' | '\\')))
                .flatten();
            inner.push(escaped.unwrap_or(char));
        }
        let group = self.nested_text(&inner, true);
        building.push_substitution(group);
    }

    /// Reads another text, one level down: a script, or only the substitutions in it.
    fn nested_text(&mut self, text: &str, is_script: bool) -> Vec<Part> {
        let mut reader = Reader::new(text, self.depth, self.keeps_windows_paths);
        let parts = reader.nested(|reader| {
            if is_script {
                reader.parts(None)
            } else {
                reader.substitutions()
            }
        });
        self.is_too_deep |= reader.is_too_deep;
        parts
    }

    /// `<`: a file, a text, or the lines that follow.
    fn input(&mut self, building: &mut Building) {
        self.end_word_before_redirection(building);
        building.place = match std::iter::from_fn(|| self.chars.next_if_eq(&'<'))
            .take(2)
            .count()
        {
            0 if self.chars.next_if_eq(&'&').is_some() && self.skip_open_file() => {
                WordPlace::Argument
            }
            // `<>`
            0 if self.chars.peek() == Some(&'>') => WordPlace::Argument,
            0 => WordPlace::Input,
            2 => WordPlace::HereString,
            _ if self.sums > 0 => WordPlace::Argument,
            _ => return self.begin_here_document(building),
        };
    }

    fn begin_here_document(&mut self, building: &Building) {
        let strips_tabs = self.chars.next_if_eq(&'-').is_some();
        while self
            .chars
            .next_if(|char| matches!(char, ' ' | '\t'))
            .is_some()
        {}
        let mut name = Building::default();
        while let Some(char) = self
            .chars
            .next_if(|char| !char.is_whitespace() && !";&|<>()".contains(*char))
        {
            match char {
                '\'' => self.single_quoted(&mut name),
                '"' => self.double_quoted(&mut name),
                '\\' => name.is_quoted = true,
                char => name.push(char),
            }
        }
        let is_script = building.shells > 0;
        let (end, is_literal) = (name.word.unwrap_or_default(), name.is_quoted);
        self.waiting.push(Waiting {
            end,
            strips_tabs,
            is_literal,
            is_script,
        });
    }

    fn here_documents(&mut self, building: &mut Building) {
        for waiting in std::mem::take(&mut self.waiting) {
            let mut body = String::new();
            while self.chars.peek().is_some() {
                let line: String = self
                    .chars
                    .by_ref()
                    .take_while(|char| *char != '\n')
                    .collect();
                let line = if waiting.strips_tabs {
                    line.trim_start_matches('\t')
                } else {
                    &line
                };
                if line == waiting.end {
                    break;
                }
                body.push_str(line);
                body.push('\n');
            }
            if waiting.is_script || !waiting.is_literal {
                let group = self.nested_text(&body, waiting.is_script);
                building.push_group(PartKind::Inner(group));
            }
        }
    }

    fn substitutions(&mut self) -> Vec<Part> {
        let mut building = Building::default();
        while let Some(char) = self.chars.next() {
            match char {
                '\\' => self.escaped(&mut building),
                '$' => self.dollar(&mut building),
                '`' => self.backticks(&mut building),
                _ => {}
            }
        }
        building.parts
    }
}

/// The text that a command such as `echo` writes.
fn written(part: &Part) -> Option<String> {
    let PartKind::Command(words) = &part.kind else {
        return None;
    };
    // Words before the command: `then echo`, `command printf`.
    let mut words = words
        .iter()
        .skip_while(|word| !matches!(program_name(word), "echo" | "printf"));
    words.next()?;
    Some(
        words
            .cloned()
            .collect::<Vec<_>>()
            .join(" ")
            .replace("\\n", "\n"),
    )
}

/// `true` for a substitution that is the present folder.
fn is_pwd(group: &[Part]) -> bool {
    matches!(group, [Part { kind: PartKind::Command(words), written_files, .. }] if written_files.is_empty() && *words == ["pwd"])
}
