//! A command line, parted into simple commands as a shell parts it: quotes, substitutions, groups and here-documents.
//! What a variable or a substitution gives is not known here.

use std::iter::Peekable;
use std::str::Chars;

/// What is nested deeper is not read.
const MAX_DEPTH: usize = 40;
/// Shells, which run what they read.
pub const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ksh", "ash"];

/// A piece of a command line.
#[derive(Debug, PartialEq, Eq)]
pub enum Part {
    /// A program with its arguments.
    Simple(Simple),
    /// What runs in a shell of its own: nothing that it does to its folder outlives it.
    Subshell(Vec<Part>),
}

/// A simple command.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Simple {
    /// Its words, without their quotes. A substitution stands there as `$()`, that of `pwd` as `$PWD`.
    pub words: Vec<String>,
    /// The files that it writes its output to; `2>&1` names none.
    pub written_files: Vec<String>,
}

/// Reads a command line; `None` where it is nested too deeply.
pub fn parse_command_line(text: &str) -> Option<Vec<Part>> {
    let mut reader = Reader::new(text, 0);
    let parts = reader.parts(false);
    (!reader.is_too_deep).then_some(parts)
}

/// A here-document whose lines are still to come.
struct Waiting {
    end: String,
    strips_tabs: bool,
    is_literal: bool,
    /// A shell reads it.
    is_script: bool,
}

struct Reader<'t> {
    chars: Peekable<Chars<'t>>,
    waiting: Vec<Waiting>,
    depth: usize,
    /// Levels of `((` around what is read: most likely a sum, in which `<<` begins no here-document.
    sums: usize,
    is_too_deep: bool,
}

/// What is being put together.
#[derive(Default)]
struct Building {
    parts: Vec<Part>,
    command: Simple,
    word: Option<String>,
    is_quoted: bool,
    is_target: bool,
    /// The command reads what the one before it writes.
    is_piped: bool,
    /// So many of the command's words are shells.
    shells: usize,
}

impl Building {
    fn push(&mut self, char: char) {
        self.word.get_or_insert_default().push(char);
    }

    fn end_word(&mut self) {
        if let Some(word) = self.word.take() {
            self.shells += usize::from(!self.is_target && SHELLS.contains(&base_name(&word)));
            if self.is_target { &mut self.command.written_files } else { &mut self.command.words }.push(word);
            self.is_target = false;
        }
        self.is_quoted = false;
    }

    /// The number of a file before a sign that redirects it is no word.
    fn end_word_before_redirection(&mut self) {
        if !self.is_quoted && self.word.as_ref().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
    }

    fn end_command(&mut self) {
        self.end_word();
        (self.is_target, self.is_piped, self.shells) = (false, false, 0);
        let command = std::mem::take(&mut self.command);
        if command != Simple::default() {
            self.parts.push(Part::Simple(command));
        }
    }
}

impl<'t> Reader<'t> {
    fn new(text: &'t str, depth: usize) -> Self {
        Self { chars: text.chars().peekable(), waiting: Vec::new(), depth, sums: 0, is_too_deep: false }
    }

    /// Up to the end, or up to the parenthesis that closes a group.
    fn parts(&mut self, is_group: bool) -> Vec<Part> {
        let mut building = Building::default();
        while let Some(char) = self.chars.next() {
            match char {
                ')' if is_group => break,
                '\\' => {
                    if let Some(next) = self.chars.next().filter(|next| *next != '\n') {
                        building.push(next);
                        building.is_quoted = true;
                    }
                }
                '\'' => self.single_quoted(&mut building),
                '"' => self.double_quoted(&mut building),
                '$' if self.chars.next_if_eq(&'\'').is_some() => self.escaped_quoted(&mut building),
                '$' if self.chars.peek() == Some(&'"') => {}
                '$' => self.dollar(&mut building),
                '`' => self.backticks(&mut building),
                ' ' | '\t' | '\r' => building.end_word(),
                '\n' => {
                    self.end_command(&mut building);
                    self.here_documents(&mut building);
                }
                '&' if self.chars.peek() == Some(&'>') => building.end_word(),
                ';' | '&' | ')' => self.end_command(&mut building),
                '|' => {
                    self.end_command(&mut building);
                    building.is_piped = self.chars.next_if_eq(&'|').is_none();
                    self.chars.next_if_eq(&'&');
                }
                '(' => {
                    self.end_command(&mut building);
                    let group = self.group();
                    building.parts.push(Part::Subshell(group));
                }
                '#' if building.word.is_none() => while self.chars.next_if(|char| *char != '\n').is_some() {},
                '>' => {
                    building.end_word_before_redirection();
                    let signs = std::iter::from_fn(|| self.chars.next_if(|char| matches!(char, '>' | '|' | '&')));
                    let is_copy = signs.last() == Some('&');
                    // `2>&1` names no file: only one that is open already.
                    let open = std::iter::from_fn(|| self.chars.next_if(|char| char.is_ascii_digit() || *char == '-'));
                    building.is_target = !is_copy || open.count() == 0;
                }
                '<' => self.input(&mut building),
                char => building.push(char),
            }
        }
        self.end_command(&mut building);
        building.parts
    }

    /// A shell runs the here-documents that those before it in its pipeline read, and the words that the last of
    /// them writes.
    fn end_command(&mut self, building: &mut Building) {
        building.end_word();
        if building.is_piped && building.shells > 0 {
            self.waiting.iter_mut().for_each(|waiting| waiting.is_script = true);
            if let Some(script) = building.parts.last().and_then(written) {
                let group = self.nested_text(&script, true);
                building.parts.push(Part::Subshell(group));
            }
        }
        building.end_command();
    }

    /// What stands behind an open parenthesis.
    fn group(&mut self) -> Vec<Part> {
        let is_sum = usize::from(self.chars.peek() == Some(&'('));
        self.sums += is_sum;
        let group = self.nested(|reader| reader.parts(true));
        self.sums -= is_sum;
        group
    }

    /// Goes one level down, unless that is too deep: then nothing more is read.
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

    /// `$'…'`, in which a backslash begins a letter by its name or its number.
    fn escaped_quoted(&mut self, building: &mut Building) {
        building.is_quoted = true;
        building.word.get_or_insert_default();
        while let Some(char) = self.chars.next().filter(|char| *char != '\'') {
            let escaped = if char == '\\' { self.chars.next() } else { None };
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

    /// The letter of a number that begins with these digits and goes on to so many.
    fn numbered(&mut self, begun: &str, radix: u32, most: usize) -> char {
        let mut digits = begun.to_owned();
        while digits.len() < most
            && let Some(digit) = self.chars.next_if(|char| char.is_digit(radix))
        {
            digits.push(digit);
        }
        u32::from_str_radix(&digits, radix).ok().and_then(char::from_u32).unwrap_or(' ')
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

    /// Within double quotes a backslash stands for itself but before a few signs.
    fn escaped(&mut self, building: &mut Building) {
        match self.chars.next_if(|next| matches!(next, '$' | '`' | '"' | '\\' | '\n')) {
            Some('\n') => {}
            Some(next) => building.push(next),
            None => building.push('\\'),
        }
    }

    fn dollar(&mut self, building: &mut Building) {
        building.push('$');
        if self.chars.next_if_eq(&'(').is_some() {
            let group = self.group();
            building.word.get_or_insert_default().push_str(if is_pwd(&group) { "PWD" } else { "()" });
            building.parts.push(Part::Subshell(group));
        }
    }

    fn backticks(&mut self, building: &mut Building) {
        let mut inner = String::new();
        while let Some(char) = self.chars.next().filter(|char| *char != '`') {
            let escaped = (char == '\\').then(|| self.chars.next_if(|next| matches!(next, '$' | '`' | '\\'))).flatten();
            inner.push(escaped.unwrap_or(char));
        }
        let group = self.nested_text(&inner, true);
        building.word.get_or_insert_default().push_str(if is_pwd(&group) { "$PWD" } else { "$()" });
        building.parts.push(Part::Subshell(group));
    }

    /// Reads another text, one level down: a script, or one in which only substitutions are run.
    fn nested_text(&mut self, text: &str, is_script: bool) -> Vec<Part> {
        let mut reader = Reader::new(text, self.depth);
        let parts = reader.nested(|reader| if is_script { reader.parts(false) } else { reader.substitutions() });
        self.is_too_deep |= reader.is_too_deep;
        parts
    }

    /// `<`: a file, a text, or the lines that follow.
    fn input(&mut self, building: &mut Building) {
        building.end_word_before_redirection();
        let signs = std::iter::from_fn(|| self.chars.next_if_eq(&'<')).take(2).count();
        if signs != 1 || self.sums > 0 {
            return;
        }
        let strips_tabs = self.chars.next_if_eq(&'-').is_some();
        while self.chars.next_if(|char| matches!(char, ' ' | '\t')).is_some() {}
        let mut name = Building::default();
        while let Some(char) = self.chars.next_if(|char| !char.is_whitespace() && !";&|<>()".contains(*char)) {
            match char {
                '\'' => self.single_quoted(&mut name),
                '"' => self.double_quoted(&mut name),
                '\\' => name.is_quoted = true,
                char => name.push(char),
            }
        }
        let is_script = building.shells > 0;
        let (end, is_literal) = (name.word.unwrap_or_default(), name.is_quoted);
        self.waiting.push(Waiting { end, strips_tabs, is_literal, is_script });
    }

    /// The lines of the here-documents that began on the line before.
    fn here_documents(&mut self, building: &mut Building) {
        for waiting in std::mem::take(&mut self.waiting) {
            let mut body = String::new();
            while self.chars.peek().is_some() {
                let line: String = self.chars.by_ref().take_while(|char| *char != '\n').collect();
                let line = if waiting.strips_tabs { line.trim_start_matches('\t') } else { &line };
                if line == waiting.end {
                    break;
                }
                body.push_str(line);
                body.push('\n');
            }
            if waiting.is_script || !waiting.is_literal {
                let group = self.nested_text(&body, waiting.is_script);
                building.parts.push(Part::Subshell(group));
            }
        }
    }

    /// What is run within a text that is none itself.
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

/// What a command writes, where its words tell.
fn written(part: &Part) -> Option<String> {
    let Part::Simple(command) = part else { return None };
    // Others may stand before it: `then echo`, `command printf`.
    let mut words = command.words.iter().skip_while(|word| !matches!(base_name(word), "echo" | "printf"));
    words.next()?;
    Some(words.cloned().collect::<Vec<_>>().join(" ").replace("\\n", "\n"))
}

/// Whether a substitution stands for the folder that the shell is in.
fn is_pwd(group: &[Part]) -> bool {
    matches!(group, [Part::Simple(simple)] if simple.written_files.is_empty() && simple.words == ["pwd"])
}

/// The name of a program at the end of its path.
pub fn base_name(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    name.strip_suffix(".exe").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As one line: words parted by `_`, targets behind `>`, groups in parentheses.
    fn shown(parts: &[Part]) -> String {
        let show = |part: &Part| match part {
            Part::Subshell(inner) => format!("({})", shown(inner)),
            Part::Simple(simple) => {
                let targets = simple.written_files.iter().map(|target| format!(">{target}"));
                simple.words.iter().cloned().chain(targets).collect::<Vec<_>>().join("_")
            }
        };
        parts.iter().map(show).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn a_command_line_is_parted_as_a_shell_does_it() {
        for (text, expected) in [
            ("a b", "a_b"),
            ("a  'b c'\t\"d e\" f\\ g", "a_b c_d e_f g"),
            ("g'i't st\"as\"h", "git_stash"),
            ("a && b || c; d & e | f\ng", "a; b; c; d; e; f; g"),
            ("a '' \"\"", "a__"),
            ("$'git' $\"push\" \"$\"", "git_push_$"),
            ("echo $'\\''; git push; echo $'\\''", "echo_'; git_push; echo_'"),
            ("$'\\x67it' $'\\160ush' $'\\u0067'", "git_push_g"),
            ("a \\\n b", "a_b"),
            ("(a; b) && c", "(a; b); c"),
            ("a $(b c) d", "(b_c); a_$()_d"),
            ("a \"x $(b \"y)z\") w\"", "(b_y)z); a_x $() w"),
            ("a `b \\`c\\``", "((c); b_$()); a_$()"),
            ("a '$(b)' \"\\$(b)\"", "a_$(b)_$(b)"),
            ("a $HOME/x ${y}", "a_$HOME/x_${y}"),
            ("a # b; c\nd #e", "a; d"),
            ("a b#c", "a_b#c"),
            ("a > f 2>&1 >>g &> h", "a_>f_>g_>h"),
            ("a >&2 b 2>&- c >& d", "a_b_c_>d"),
            ("x=$((1 << 2))\na", "((1_2)); x=$(); a"),
            ("((x <<= 2))\na", "((x_=_2)); a"),
            ("a $(pwd)/b `pwd`", "(pwd); (pwd); a_$PWD/b_$PWD"),
            ("cat <<'EOF' | bash -s | c\ngit push\nEOF\nd", "cat; bash_-s; c; (git_push); d"),
            ("echo 'git push' | sh", "echo_git push; (git_push); sh"),
            ("printf 'a\\ngit push\\n' | bash -e", "printf_a\\ngit push\\n; (a; git_push); bash_-e"),
            ("echo a; b | sh", "echo_a; b; sh"),
            ("echo 'git push' || sh", "echo_git push; sh"),
            ("cat <<'EOF' || bash\ngit push\nEOF\nd", "cat; bash; d"),
            ("a 2>/dev/null b", "a_b_>/dev/null"),
            ("a '2'>f", "a_2_>f"),
            ("a < f <<< 'x y'", "a_f_x y"),
            ("cat <<EOF\ngit push $(b)\nEOF\nc", "cat; ((b)); c"),
            ("cat <<'EOF' > f; d\ngit push $(b)\nEOF\nc", "cat_>f; d; c"),
            ("bash <<-EOF\n\tgit push\n\tEOF\nc", "bash; (git_push); c"),
            ("git commit -m \"$(cat <<'EOF'\nIt's \"git push\"\n\nEOF\n)\" && d", "(cat); git_commit_-m_$(); d"),
            ("if a; then b; fi", "if_a; then_b; fi"),
            ("'", ""),
            ("a 'b", "a_b"),
            ("\\", ""),
            (")", ""),
        ] {
            assert_eq!(shown(&parse_command_line(text).unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn what_is_nested_too_deeply_is_not_read() {
        let nested = |depth: usize| format!("{}git push{}", "$(".repeat(depth), ")".repeat(depth));
        assert!(parse_command_line(&nested(MAX_DEPTH)).is_some());
        assert_eq!(parse_command_line(&nested(MAX_DEPTH + 1)), None);
        assert_eq!(parse_command_line(&"(".repeat(1_000_000)), None);
        assert_eq!(parse_command_line(&"\"$(".repeat(1_000_000)), None);
    }
}
