//! Lines that their writer pasted rather than wrote: of a shell, a log, a program, a settings
//! file or a chat. Each line is judged by its own form.

use std::ops::Range;

use super::{Keywords, keyword_match};
use crate::text::masked_text::lines;

/// Where such lines are.
pub(super) fn pasted_lines(text: &str, keywords: &Keywords) -> Vec<Range<usize>> {
    let has_settings = lines(text).any(|(_, line)| is_setting(line));
    let mut found = indented_code(text);
    let mut named = 0;
    let all_named = lines(text).filter(|(_, line)| keyword_match::contains_keyword(line, keywords)).count();
    for (range, line) in lines(text) {
        let trimmed = line.trim();
        let names_keyword = keyword_match::contains_keyword(line, keywords);
        named += usize::from(names_keyword);
        let is_in_middle = named > JUDGED_LINES && named + JUDGED_LINES <= all_named;
        if names_keyword && is_in_middle || is_shell(trimmed) || is_chat(line) || has_settings && is_section(trimmed) {
            found.push(range);
            continue;
        }
        if !names_keyword {
            continue;
        }
        let Some(word) = keyword_match::find_keywords(line, keywords).into_iter().next() else { continue };
        let line = Line { text: line, word };
        if line.is_stack_frame() || line.is_setting_of_keyword() {
            found.push(range);
        } else if !line.starts_with_keyword() && (line.is_command() || line.is_log() || line.is_code()) {
            found.push(range.start..range.start + own_end(line.text, keywords));
        }
    }
    found
}

/// So many lines that name a keyword are judged from each end; what repeats it more often is
/// pasted, or hostile.
const JUDGED_LINES: usize = 64;

/// A line with its first keyword.
struct Line<'t> {
    text: &'t str,
    word: Range<usize>,
}

/// Up to where a pasted line is not its writer's: a keyword that begins a clause behind it is
/// (`error: no such file, ulw fix it`).
fn own_end(line: &str, keywords: &Keywords) -> usize {
    let begins_clause = |word: &Range<usize>| {
        let before = line.get(..word.start).unwrap_or_default();
        let stands_apart = [", ", ". ", "! ", " - ", " — ", "。", "，"]
            .iter()
            .any(|mark| before.strip_suffix(mark).is_some_and(|rest| !rest.ends_with(' ') && !rest.is_empty()));
        let is_listed = line.get(word.end..).is_some_and(|after| after.starts_with(','));
        stands_apart && !is_listed
    };
    let word = keyword_match::find_keywords(line, keywords).into_iter().rfind(begins_clause);
    word.map_or(line.len(), |word| word.start)
}

fn is_shell(line: &str) -> bool {
    let marked = ["$ ", "% ", "❯", "› ", "➜ ", "⏺ ", "PS C:"].iter().any(|mark| line.starts_with(mark));
    // `me@host:~$ ulw`, `C:\work>ulw`
    let first = line.split_whitespace().next().unwrap_or_default();
    marked
        || first.contains('@') && first.ends_with(['$', '#', '%'])
        || first.get(1..).is_some_and(|rest| rest.starts_with(":\\") && rest.contains('>'))
}

/// How far into a line the colon after a role is looked for, in characters.
const LONGEST_ROLE: usize = 24;

fn is_chat(line: &str) -> bool {
    const ROLES: [&str; 17] = [
        "user",
        "assistant",
        "human",
        "system",
        "claude",
        "ai",
        "agent",
        "bot",
        "you",
        "me",
        "사용자",
        "어시스턴트",
        "用户",
        "助手",
        "ユーザー",
        "アシスタント",
        "developer",
    ];
    let line = line.trim_start_matches(|char: char| char.is_whitespace() || matches!(char, '*' | '_' | '-' | '#'));
    let colon = line.char_indices().take(LONGEST_ROLE).find(|(_, char)| matches!(char, ':' | '：'));
    let Some((colon, _)) = colon else { return false };
    let role = line.get(..colon).unwrap_or_default().trim_matches(['*', '_', ' ']);
    ROLES.iter().any(|name| role.eq_ignore_ascii_case(name))
}

/// `name = value`, and not in the middle of a sentence.
fn is_setting(line: &str) -> bool {
    line.split_once('=').is_some_and(|(name, _)| is_name(name.trim()))
}

fn is_name(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.\"'".contains(&byte))
}

/// `[name]`, above settings.
fn is_section(line: &str) -> bool {
    line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).is_some_and(is_name)
}

/// Lines indented as Markdown's code, where the text itself is not and no list holds them.
fn indented_code(text: &str) -> Vec<Range<usize>> {
    let is_indented = |line: &str| line.starts_with("    ") || line.starts_with('\t');
    if lines(text).filter(|(_, line)| !line.trim().is_empty()).all(|(_, line)| is_indented(line)) {
        return Vec::new();
    }
    let mut in_list = false;
    let mut found = Vec::new();
    for (range, line) in lines(text) {
        if !is_indented(line) {
            in_list = is_list_item(line) || in_list && line.trim().is_empty();
        } else if !in_list {
            found.push(range);
        }
    }
    found
}

/// `- text`, `* text`, `• text`, `1. text`.
pub(super) fn is_list_item(line: &str) -> bool {
    without_bullet(line).len() < line.trim_start().len()
}

/// A line from behind its bullet or number.
pub(super) fn without_bullet(line: &str) -> &str {
    let line = line.trim_start();
    let number = line.trim_start_matches(|char: char| char.is_ascii_digit());
    let is_numbered = number.len() < line.len();
    let rest =
        if is_numbered { number.strip_prefix(['.', ')']) } else { line.strip_prefix(['-', '*', '•', '+', '–']) };
    rest.and_then(|rest| rest.strip_prefix(' ')).map_or(line, str::trim_start)
}

/// Programs whose names are no words of a sentence.
const PROGRAMS: &str = "grep egrep fgrep zgrep rg ag ack echo printf ls cd cat mkdir rmdir rm cp mv ln chmod chown which whereis \
    man pgrep pkill killall kill npx npm pnpm yarn bunx pip pip3 pipx uv uvx brew apt apt-get dnf pacman docker podman \
    kubectl helm terraform systemctl journalctl git gh cargo rustc rustup python python3 node deno ruby perl php java javac \
    mvn gradle dotnet go gcc clang cmake ninja awk gawk sed curl wget ssh scp rsync tar gzip unzip jq yq xargs tee wc \
    diff head tail less env export alias source bash sh zsh fish pwsh tmux vim vi nvim nano emacs code pytest tox jest \
    vitest eslint tsc psql mysql sqlite3 redis-cli ping dig make just find touch sort uniq tr cut ps top df du stat file \
    service nslookup open omo opencode codex aider gemini mix bundle rake composer poetry conda swift flutter dart adb lsof strace gdb nohup \
    time sudo watch type command builtin";

/// Programs whose names are common in sentences: only a sign of a shell makes these a command.
const WORDS_TOO: &str = "open service go make just find touch sort cut time watch type command code file source kill head tail top less \
    diff node env stat tar tee mix swift cat ping";

/// What stands in sentences, and in no command.
const PROSE: &str = "the a an is are was were be been fails fail failed failing broken red green this that these those it its my your \
    our with until so please of not does doesn't don't didn't why how what when because still again always never should \
    must can could would i we you he they has have had but if there here and then to using errors warnings gives says \
    prints shows";

/// So many words of a line are looked at: a longer one is no command.
const MAX_WORDS: usize = 64;

/// What an instruction goes on with.
const TASKS: &str = "fix do resolve repair solve implement refactor please pls make build write add update finish go now run \
    clean improve";

fn among(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|other| other == word)
}

impl Line<'_> {
    fn before(&self) -> &str {
        self.text.get(..self.word.start).unwrap_or_default()
    }

    fn after(&self) -> &str {
        self.text.get(self.word.end..).unwrap_or_default()
    }

    fn starts_with_keyword(&self) -> bool {
        let before = without_bullet(self.before());
        let is_mark = ["//", "/*", "#!"].iter().any(|mark| before.starts_with(mark));
        !is_mark && !before.chars().any(char::is_alphanumeric)
    }

    /// `grep -n ulw file.txt`, also behind words of a sentence (`I ran grep -n ulw x`).
    fn is_command(&self) -> bool {
        let before = self.before();
        let previous = before.split_whitespace().next_back().unwrap_or_default();
        // The argument of an option, or of a program that takes words.
        let is_option = previous.len() > 1
            && previous.starts_with('-')
            && previous.trim_start_matches('-').starts_with(|char: char| char.is_ascii_alphabetic())
            && before.ends_with(' ');
        if is_option || previous == "--" && !before.trim_end().ends_with(" - --") && self.begins_with_program() {
            return true;
        }
        if among(PROGRAMS, previous)
            && !among(WORDS_TOO, previous)
            && !among("git cargo docker npm", previous)
            && !self.goes_on_as_task()
        {
            return true;
        }
        let has_option =
            self.text.split_whitespace().nth(1).is_some_and(|word| word.len() > 1 && word.starts_with('-'));
        let is_loop = ["; do ", "; then "].iter().any(|mark| self.text.contains(mark));
        is_loop || self.begins_with_program() && if has_option { !self.goes_on_as_task() } else { !self.is_prose() }
    }

    fn begins_with_program(&self) -> bool {
        let rest = self.text.trim_start().trim_start_matches("# ").trim_start_matches("> ");
        let mut words = rest.split_whitespace().skip_while(|word| {
            matches!(*word, "sudo" | "time" | "env" | "nohup" | "exec")
                || word.split_once('=').is_some_and(|(name, _)| is_name(name))
        });
        let Some(first) = words.next() else { return false };
        if rest.starts_with("sudo -") || first.starts_with("./") || first.starts_with("../") {
            return true;
        }
        let arguments = words.count();
        let is_sign = |word: &str| {
            word.len() > 1
                && (word.starts_with(['-', '.', '/', '~', '$'])
                    || word.contains(['*', '/'])
                    || word.contains('.') && !word.ends_with('.'))
                || matches!(word, "|" | "&&" | "||" | ">" | ">>" | "." | "--")
        };
        among(PROGRAMS, first)
            && (!among(WORDS_TOO, first)
                || rest.split_whitespace().any(is_sign)
                || arguments == 1 && !among("go just time code", first)
                || first == "go"
                    && ["go run", "go test", "go build", "go get", "go install"]
                        .iter()
                        .any(|start| rest.starts_with(start)))
    }

    fn goes_on_as_task(&self) -> bool {
        self.after().split_whitespace().next().is_some_and(|word| among(TASKS, word) || among(PROSE, word))
    }

    fn is_prose(&self) -> bool {
        self.goes_on_as_task()
            || self.text.chars().any(|char| !char.is_ascii() && char.is_alphabetic())
            || self.text.split_whitespace().take(MAX_WORDS).any(|word| {
                among(PROSE, word)
                    || word.len() > 1
                        && word.ends_with([',', '.', '!', '?'])
                        && word.starts_with(|char: char| char.is_ascii_alphabetic())
            })
    }

    /// `2026-11-23 12:00:01 INFO …`, `error: …`, `zsh: command not found: ulw`.
    fn is_log(&self) -> bool {
        const SAID: [&str; 18] = [
            "command not found",
            "o such file",
            "not recognized as",
            "is not defined",
            "annot find",
            "not found in",
            "issing script",
            "panicked at",
            "nable to locate",
            "nknown command",
            "nknown variant",
            "ndefined",
            "nexpected",
            "did not match any",
            "o module named",
            "ermission denied",
            "... FAILED",
            "core dumped",
        ];
        let line = self.text.trim_start();
        is_stamped(line)
            || has_level(line)
            || has_error_label(line) && !self.after().split_whitespace().next().is_some_and(|word| among(TASKS, word))
            || ["expected ", "Failed to ", "Could not ", "Cannot "].iter().any(|start| line.starts_with(start))
            || line
                .split_whitespace()
                .filter(|word| word.split_once('=').is_some_and(|(name, value)| is_name(name) && !value.is_empty()))
                .count()
                > 1
            || SAID.iter().any(|said| self.text.contains(said)) && !self.has_task_words()
            || self.after().starts_with('[')
            || self.before().ends_with(": ") && self.after().starts_with(": ")
    }

    fn has_task_words(&self) -> bool {
        let first = self.text.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
        among(TASKS, &first) || self.goes_on_as_task()
    }

    /// `at run (index.js:10:5)`, `File "a.py", line 3, in run`.
    fn is_stack_frame(&self) -> bool {
        let line = self.text.trim_start();
        line.starts_with("at ") && line.ends_with(')') && line.contains(':')
            || line.starts_with("File \"")
            || ["--> ", "✗", "✓", "✔", "✖", "×", "not ok "].iter().any(|mark| line.starts_with(mark))
            || self.is_named_by_program()
    }

    /// `ulw: command not found`: a program of that name speaks.
    fn is_named_by_program(&self) -> bool {
        const SAID: [&str; 10] = [
            "The term",
            "command not found",
            "error:",
            "error[",
            "warning:",
            "fatal:",
            "not found",
            "No such file",
            "unrecognized",
            "permission denied",
        ];
        let said = self.after().trim_start().strip_prefix(": ").unwrap_or_default();
        self.starts_with_keyword() && SAID.iter().any(|start| said.starts_with(start))
    }

    fn is_code(&self) -> bool {
        const STARTS: [&str; 36] = [
            "let ",
            "const ",
            "var ",
            "fn ",
            "def ",
            "class ",
            "import ",
            "return ",
            "if (",
            "if ",
            "for (",
            "while (",
            "func ",
            "function ",
            "struct ",
            "enum ",
            "pub ",
            "case ",
            "elif ",
            "else ",
            "} ",
            "async ",
            "await ",
            "package ",
            "private ",
            "public ",
            "static ",
            "switch ",
            "match ",
            "impl ",
            "use ",
            "type ",
            "SELECT ",
            "INSERT ",
            "UPDATE ",
            "DELETE ",
        ];
        let line = self.text.trim();
        let ends_as_code = line.ends_with([';', '{', '}', ':'])
            || line.ends_with(");")
            || line.contains("= ")
            || line.contains("):")
            || line.starts_with("return ") && line.split_whitespace().count() == 2
            || line.ends_with(['"', '\'']);
        STARTS.iter().any(|start| line.starts_with(start)) && ends_as_code
            || line.ends_with([';', '{'])
            || line.starts_with("from ") && line.contains(" import ")
            || ["//", "/*", "#!", "#include", "#define"].iter().any(|start| line.starts_with(start))
            || line.starts_with("SELECT ") && line.contains(" FROM ")
    }

    /// `mode: ulw`, `keywords: [ulw, x]`, `ulw: true`.
    fn is_setting_of_keyword(&self) -> bool {
        let (before, after) = (without_bullet(self.before()), self.after());
        let uncommented = after.split_once(" #").map_or(after, |(value, _)| value);
        let is_alone = uncommented.trim_end_matches([',', ' ', '"', '\'']).is_empty();
        if let Some((name, rest)) = before.split_once(':') {
            let in_list = rest.trim_start().starts_with('[') && after.trim_end_matches([',', ' ']).ends_with(']');
            return is_name(name) && (rest.trim().is_empty() && is_alone || in_list);
        }
        let value = after.trim_start().strip_prefix(": ").unwrap_or_default().trim().trim_end_matches(',');
        before.is_empty()
            && (matches!(value, "on" | "true" | "false" | "null" | "yes" | "no" | "~")
                || !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
                || matches!(value, "{" | "[" | "|" | ">")
                || value.starts_with(['[', '{', '"', '\'']) && value.ends_with([']', '}', '"', '\'']))
    }
}

/// A date, a time of day, or a syslog's month.
fn is_stamped(line: &str) -> bool {
    const MONTHS: &str = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec";
    let stamp = line.trim_start_matches(['[', '(']);
    let bytes = stamp.as_bytes();
    let digits = |from: usize, to: usize| bytes.get(from..to).is_some_and(|part| part.iter().all(u8::is_ascii_digit));
    let mark = |at: usize| bytes.get(at).copied();
    digits(0, 4) && matches!(mark(4), Some(b'-' | b'/')) && digits(5, 7)
        || line.starts_with(['[', '<'])
            && line
                .split_once("] ")
                .is_some_and(|(clock, _)| clock.contains('.') && !clock.contains(|char: char| char.is_alphabetic()))
        || digits(0, 2) && mark(2) == Some(b':') && digits(3, 5)
        || stamp.split_once(' ').is_some_and(|(month, rest)| among(MONTHS, month) && rest.contains(':'))
}

/// `INFO …`, `[warn] …`, `level=info`.
fn has_level(line: &str) -> bool {
    const LEVELS: &str =
        "TRACE DEBUG INFO NOTICE WARN WARNING ERROR ERR FATAL CRITICAL FAILED FAIL PASS PASSED PANIC E";
    let bracketed =
        line.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(label, _)| label.to_ascii_uppercase());
    let first = line.split([' ', ':', '\t']).next().unwrap_or_default();
    bracketed.is_some_and(|label| among(LEVELS, label.trim())) || among(LEVELS, first) || line.starts_with("level=")
}

/// How many words the label of an error has at most (`Stop hook error: …`).
const LABEL_WORDS: usize = 4;

/// `error[E0425]: …`, `Uncaught TypeError: …`, `warning: …`, `make: *** …`, `npm ERR! …`.
fn has_error_label(line: &str) -> bool {
    const LABELS: [&str; 8] = ["error", "warning", "exception", "fatal", "panic", "traceback", "caused by", "failed"];
    if line.starts_with("npm ERR!") || line.starts_with("make: ***") || line.contains("panicked at") {
        return true;
    }
    let Some((label, _)) = line.split_once(": ") else { return false };
    if label.starts_with(|char: char| char.is_ascii_uppercase())
        && label.ends_with(|char: char| char.is_ascii_digit())
        && is_name(label)
    {
        return true;
    }
    let lower = label.to_ascii_lowercase();
    let mut words = lower.split_whitespace();
    let is_short = words.clone().count() <= LABEL_WORDS;
    let is_said = |word: &str| word != "failed" && (among(PROSE, word) || among("debug handle catch log", word));
    let is_sentence = words.any(|word| is_said(word) || among(TASKS, word));
    is_short && (!is_sentence || lower.ends_with(" failed")) && LABELS.iter().any(|name| lower.contains(name))
}
