//! Reads a line of shell letter by letter.

use std::iter::Peekable;
use std::str::Chars;

/// Words of the shell that stand before a command.
const KEYWORDS: [&str; 14] =
    ["if", "then", "elif", "else", "fi", "while", "until", "do", "done", "!", "{", "}", "case", "esac"];

/// The words of each command of a line without their quotes, the program first. Commands within `$(…)` and backticks
/// come before the one that they stand in; what they print is left out.
pub fn split_commands(line: &str) -> Vec<Vec<String>> {
    let mut reader = LineReader::default();
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        if reader.current.is_quoted {
            reader.read_quoted(letter, &mut letters);
        } else {
            reader.read_plain(letter, &mut letters);
        }
    }
    while !reader.suspended.is_empty() {
        reader.end_inner();
    }
    reader.end_command();
    reader.commands
}

#[derive(Default)]
struct LineReader {
    commands: Vec<Vec<String>>,
    current: OpenCommand,
    /// Commands that go on behind the one within them, each with the letter that ends that one.
    suspended: Vec<(char, OpenCommand)>,
}

/// A command that has not ended.
#[derive(Default)]
struct OpenCommand {
    words: Vec<String>,
    word: Option<String>,
    /// The next word is the file of a redirection.
    is_redirected: bool,
    /// Within double quotes.
    is_quoted: bool,
    /// Parentheses that have begun and not ended.
    parentheses: usize,
}

impl LineReader {
    fn read_quoted(&mut self, letter: char, letters: &mut Peekable<Chars>) {
        match letter {
            '"' => self.current.is_quoted = false,
            '\\' => {
                let escaped = letters.next_if(|next| matches!(next, '"' | '\\' | '$' | '`'));
                self.word().push(escaped.unwrap_or('\\'));
            }
            '$' if letters.next_if_eq(&'(').is_some() => self.begin_inner(')'),
            '`' if self.ends_inner('`') => self.end_inner(),
            '`' => self.begin_inner('`'),
            letter => self.word().push(letter),
        }
    }

    fn read_plain(&mut self, letter: char, letters: &mut Peekable<Chars>) {
        match letter {
            '\'' => self.word().extend(letters.by_ref().take_while(|letter| *letter != '\'')),
            '"' => {
                self.word();
                self.current.is_quoted = true;
            }
            '\\' => self.read_escape(letters),
            '$' if letters.next_if_eq(&'(').is_some() => self.begin_inner(')'),
            // Quotes of another kind.
            '$' if matches!(letters.peek(), Some('\'' | '"')) => {}
            '$' if letters.next_if_eq(&'{').is_some() => {
                let word = self.word();
                word.push_str("${");
                word.extend(letters.by_ref().take_while(|letter| *letter != '}'));
                word.push('}');
            }
            '`' if self.ends_inner('`') => self.end_inner(),
            '`' => self.begin_inner('`'),
            ')' if self.current.parentheses == 0 && self.ends_inner(')') => self.end_inner(),
            '#' if self.current.word.is_none() => while letters.next_if(|letter| *letter != '\n').is_some() {},
            '<' if letters.next_if_eq(&'(').is_some() => {
                self.end_word();
                self.begin_inner(')');
            }
            '<' | '>' => self.read_redirection(letters),
            '(' => {
                self.end_command();
                self.current.parentheses += 1;
            }
            ')' => {
                self.end_command();
                self.current.parentheses = self.current.parentheses.saturating_sub(1);
            }
            '|' | ';' | '&' | '\n' => self.end_command(),
            letter if letter.is_whitespace() => self.end_word(),
            letter => self.word().push(letter),
        }
    }

    fn read_escape(&mut self, letters: &mut Peekable<Chars>) {
        // In what looks like a path on Windows it parts the folders.
        let word = self.current.word.as_deref().unwrap_or_default();
        let is_path = matches!(word, "." | "..") || word.ends_with(':') || word.contains('\\');
        match letters.next_if(|next| !is_path || (!next.is_alphanumeric() && *next != '.')) {
            Some('\n') => {}
            escaped => self.word().push(escaped.unwrap_or('\\')),
        }
    }

    fn read_redirection(&mut self, letters: &mut Peekable<Chars>) {
        // A number before it is a descriptor.
        self.current.word = self.current.word.take().filter(|word| !word.bytes().all(|byte| byte.is_ascii_digit()));
        self.end_word();
        while letters.next_if(|next| matches!(next, '<' | '>' | '&' | '|' | '-')).is_some() {}
        self.current.is_redirected = true;
    }

    fn word(&mut self) -> &mut String {
        self.current.word.get_or_insert_default()
    }

    fn end_word(&mut self) {
        let Some(word) = self.current.word.take() else { return };
        let is_first = self.current.words.is_empty();
        let is_left_out = std::mem::take(&mut self.current.is_redirected)
            || is_first && (KEYWORDS.contains(&&*word) || is_assignment(&word));
        if !is_left_out {
            self.current.words.push(word);
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        let words = std::mem::take(&mut self.current.words);
        self.commands.extend((!words.is_empty()).then_some(words));
        self.current.is_redirected = false;
    }

    fn ends_inner(&self, end: char) -> bool {
        self.suspended.last().is_some_and(|(letter, _)| *letter == end)
    }

    fn begin_inner(&mut self, end: char) {
        self.suspended.push((end, std::mem::take(&mut self.current)));
    }

    fn end_inner(&mut self) {
        self.end_command();
        let Some((_, outer)) = self.suspended.pop() else { return };
        self.current = outer;
        self.word();
    }
}

/// `NAME=value`.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}
