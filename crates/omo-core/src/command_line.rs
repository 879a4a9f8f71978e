//! The commands in a line of shell, read as far as is needed to say which programs and files it names.
//!
//! Nothing is expanded: a variable and the output of another command stay unknown.

/// One command of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellCommand {
    /// What is assigned before it: the values of `NAME=value`.
    pub assigned: Vec<String>,
    /// Its words without their quotes, the program first.
    pub words: Vec<String>,
    /// The files that it reads from: what stands behind `<`.
    pub inputs: Vec<String>,
}

impl ShellCommand {
    /// The program and what it is given; `None` where nothing but variables are set.
    pub fn program(&self) -> Option<(&str, &[String])> {
        self.words.split_first().map(|(program, arguments)| (program.as_str(), arguments))
    }

    /// The lines of shell among what it is given: behind `-c`, behind `eval`, and each word that has several words.
    pub fn inner_lines(&self) -> Vec<String> {
        let Some((program, arguments)) = self.program().filter(|(program, _)| !is_reader(stem(program))) else {
            return Vec::new();
        };
        if program == "eval" {
            return vec![arguments.join(" ")];
        }
        let mut is_line = false;
        let lines = arguments.iter().filter(|word| {
            let is_behind = std::mem::take(&mut is_line);
            is_line = is_line_option(word);
            is_behind || word.contains(char::is_whitespace)
        });
        lines.cloned().collect()
    }
}

/// Whether a shell takes the word behind this one for a line: `-c`, `-ec`.
pub fn is_line_option(word: &str) -> bool {
    let letters = word.strip_prefix('-').and_then(|letters| letters.strip_suffix('c'));
    letters.is_some_and(|letters| letters.bytes().all(|letter| letter.is_ascii_alphabetic()))
}

/// The commands of a line, those within `$(…)` and backticks included.
pub fn commands(line: &str) -> Vec<ShellCommand> {
    let mut reader = LineReader::default();
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => reader.word().extend(letters.by_ref().take_while(|letter| *letter != '\'')),
            '"' => {
                let word = reader.word();
                while let Some(letter) = letters.next().filter(|letter| *letter != '"') {
                    let escaped = letters.next_if(|next| letter == '\\' && matches!(next, '"' | '\\' | '$' | '`'));
                    word.push(escaped.unwrap_or(letter));
                }
            }
            '\\' => match letters.next_if(|next| !next.is_alphanumeric() && *next != '.') {
                Some('\n') => {}
                // Before a letter it parts the folders of a path on Windows.
                escaped => reader.word().push(escaped.unwrap_or('\\')),
            },
            '$' if letters.next_if_eq(&'(').is_some() => reader.begin_inner(')'),
            '`' if reader.suspended.last().is_some_and(|outer| outer.end == '`') => reader.end_inner(),
            '`' => reader.begin_inner('`'),
            ')' if reader.suspended.last().is_some_and(|outer| outer.end == ')') => reader.end_inner(),
            '#' if reader.word.is_none() => while letters.next_if(|letter| *letter != '\n').is_some() {},
            '<' | '>' => {
                // A number before it is a descriptor.
                reader.word = reader.word.take().filter(|word| !word.bytes().all(|byte| byte.is_ascii_digit()));
                reader.end_word();
                let is_here = letters.peek() == Some(&letter);
                while letters.next_if(|next| matches!(next, '<' | '>' | '&' | '|' | '-')).is_some() {}
                reader.next = if letter == '<' && !is_here { WordRole::Input } else { WordRole::Nowhere };
            }
            ';' | '&' | '|' | '(' | ')' | '\n' => reader.end_command(),
            letter if letter.is_whitespace() => reader.end_word(),
            letter => reader.word().push(letter),
        }
    }
    while !reader.suspended.is_empty() {
        reader.end_inner();
    }
    reader.end_command();
    reader.commands
}

/// The name of a program without its folder, its version and the ending that it has on Windows.
pub fn stem(program: &str) -> &str {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let name = [".exe", ".cmd", ".bat"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    name.trim_end_matches(|char: char| char.is_ascii_digit() || char == '.')
}

/// Whether a program runs the shell commands that it is given.
pub fn is_shell(name: &str) -> bool {
    matches!(name, "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash" | "fish" | "busybox")
}

/// Whether a program only reads, compares or compiles the files that it is given: it runs none of them, and no tests.
pub fn is_reader(name: &str) -> bool {
    READERS.split_ascii_whitespace().any(|reader| reader == name)
}

const READERS: &str = "\
    true false : test [ [[ ]] echo printf printenv exit export unset set cd pushd popd pwd sleep wait date which type \
    hash cat head tail grep egrep fgrep rg ag ack diff cmp comm wc ls stat file du df sort uniq cut tr jq yq md5sum \
    sha1sum sha256sum sha512sum cksum rm mkdir rmdir touch git hg mypy pyright ruff flake pylint black isort bandit eslint prettier \
    stylelint biome oxlint tsc gcc g++ cc c++ clang clang++ rustc rustfmt javac gofmt goimports golangci-lint \
    staticcheck shellcheck shfmt yamllint xmllint hadolint markdownlint";

/// Words of the shell that stand before a command.
const KEYWORDS: [&str; 13] =
    ["if", "then", "elif", "else", "fi", "while", "until", "do", "done", "!", "{", "}", "case"];

#[derive(Default)]
struct LineReader {
    commands: Vec<ShellCommand>,
    command: ShellCommand,
    word: Option<String>,
    next: WordRole,
    suspended: Vec<SuspendedCommand>,
}

/// Where the next word belongs.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum WordRole {
    #[default]
    Words,
    Input,
    /// It is the target of an output.
    Nowhere,
}

/// A command that goes on behind the one within it, and the letter that ends that one.
struct SuspendedCommand {
    end: char,
    command: ShellCommand,
    word: Option<String>,
    next: WordRole,
}

impl LineReader {
    fn word(&mut self) -> &mut String {
        self.word.get_or_insert_default()
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match std::mem::take(&mut self.next) {
            WordRole::Nowhere => {}
            WordRole::Input => self.command.inputs.push(word),
            WordRole::Words if !self.command.words.is_empty() => self.command.words.push(word),
            WordRole::Words if KEYWORDS.contains(&&*word) => {}
            WordRole::Words => match assigned(&word) {
                Some(value) => self.command.assigned.push(value.to_owned()),
                None => self.command.words.push(word),
            },
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        let command = std::mem::take(&mut self.command);
        if command != ShellCommand::default() {
            self.commands.push(command);
        }
        self.next = WordRole::Words;
    }

    fn begin_inner(&mut self, end: char) {
        let (command, next) = (std::mem::take(&mut self.command), std::mem::take(&mut self.next));
        self.suspended.push(SuspendedCommand { end, command, word: self.word.take(), next });
    }

    fn end_inner(&mut self) {
        self.end_command();
        if let Some(SuspendedCommand { command, word, next, .. }) = self.suspended.pop() {
            // What the inner command says stands there, and is not known.
            (self.command, self.word, self.next) = (command, Some(word.unwrap_or_default()), next);
        }
    }
}

/// The value of `NAME=value`.
fn assigned(word: &str) -> Option<&str> {
    let (name, value) = word.split_once('=')?;
    let is_name = name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> String {
        let commands = commands(line);
        commands.iter().map(|command| command.words.join("·")).collect::<Vec<_>>().join(" ; ")
    }

    #[test]
    fn a_line_is_read_as_its_commands() {
        for (line, expected) in [
            ("cargo test", "cargo·test"),
            ("CI=1 npm run x", "npm·run·x"),
            ("a&&b || c;d & e\nf|g", "a ; b ; c ; d ; e ; f ; g"),
            ("bash -c \"make check\"", "bash·-c·make check"),
            ("sh -c 'a \"b\"' x", "sh·-c·a \"b\"·x"),
            (r#"echo "a \"b\" \n" c\ d"#, r#"echo·a "b" \n·c d"#),
            ("if ! test -f x; then { sh y; }; fi", "test·-f·x ; sh·y"),
            ("(cd a && b) > out.log 2>&1", "cd·a ; b"),
            ("a >> x b &> y", "a·b"),
            ("sh $(dirname $0)/check.sh x", "dirname·$0 ; sh·/check.sh·x"),
            ("sh `cat name`.sh", "cat·name ; sh·.sh"),
            ("x=$(a b) c", "a·b ; c"),
            ("a # b; c\nd", "a ; d"),
            ("a#b", "a#b"),
            (r".\check.cmd x", r".\check.cmd·x"),
            ("a 'open", "a·open"),
            ("a $(open", "open ; a·"),
            ("", ""),
        ] {
            assert_eq!(words(line), expected, "{line}");
        }
    }

    #[test]
    fn what_a_command_reads_and_is_given_is_told_apart_from_its_words() {
        let [command] = &commands("A=x.sh B= sh -s 2>err < check.sh << END -e")[..] else { panic!() };
        assert_eq!(command.assigned, ["x.sh", ""]);
        assert_eq!(command.words, ["sh", "-s", "-e"]);
        assert_eq!(command.inputs, ["check.sh"]);
    }
}
