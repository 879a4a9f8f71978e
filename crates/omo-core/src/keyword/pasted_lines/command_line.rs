//! Recognizes pasted lines that run a program, such as `grep -n ulw file.txt`.

use super::{Line, among, is_name};
use crate::shell::programs::{Role, has_role};

pub(super) const PROSE: &str = "the a an is are was were be been fails fail failed failing broken red green this that these those it its my your \
    our with until so please of not does doesn't don't didn't why how what when because still again always never should \
    must can could would i we you he they has have had but if there here and then to using errors warnings gives says \
    prints shows";

const MAX_WORDS: usize = 64;

pub(super) const TASKS: &str = "fix do resolve repair solve implement refactor please pls make build write add update finish go now run \
    clean improve";

impl Line<'_> {
    /// `grep -n ulw file.txt`, also behind words of a sentence (`I ran grep -n ulw x`).
    pub(super) fn is_command(&self) -> bool {
        let before = self.before();
        let previous = before.split_whitespace().next_back().unwrap_or_default();
        // The argument of an option, or of a program that takes words.
        let is_option = previous.len() > 1
            && previous.starts_with('-')
            && previous
                .trim_start_matches('-')
                .starts_with(|char: char| char.is_ascii_alphabetic())
            && before.ends_with(' ');
        if is_option
            || previous == "--"
                && !before.trim_end().ends_with(" - --")
                && self.begins_with_program()
        {
            return true;
        }
        if has_role(previous, Role::PromptCommand)
            && !has_role(previous, Role::PromptWord)
            && !among("git cargo docker npm", previous)
            && !self.goes_on_as_task()
        {
            return true;
        }
        let has_option = self
            .text
            .split_whitespace()
            .nth(1)
            .is_some_and(|word| word.len() > 1 && word.starts_with('-'));
        let is_loop = ["; do ", "; then "]
            .iter()
            .any(|mark| self.text.contains(mark))
            && ["for ", "while ", "until ", "if "]
                .iter()
                .any(|start| self.text.trim_start().starts_with(start));
        is_loop
            || self.begins_with_program()
                && if has_option {
                    !self.goes_on_as_task()
                } else {
                    !self.is_prose()
                }
    }

    /// `ulw --version`, `ulw -V`: nothing but options that the keyword does not take.
    pub(super) fn is_run_of_keyword(&self) -> bool {
        let words: Vec<&str> = self.after().split_whitespace().take(MAX_WORDS).collect();
        self.starts_with_keyword() && !words.is_empty() && words.into_iter().all(is_foreign_option)
    }

    fn begins_with_program(&self) -> bool {
        let rest = self
            .text
            .trim_start()
            .trim_start_matches("# ")
            .trim_start_matches("> ");
        let mut words = rest.split_whitespace().skip_while(|word| {
            matches!(*word, "sudo" | "time" | "env" | "nohup" | "exec")
                || word.split_once('=').is_some_and(|(name, _)| is_name(name))
        });
        let Some(first) = words.next() else {
            return false;
        };
        if rest.starts_with("sudo -") || first.starts_with("./") || first.starts_with("../") {
            return true;
        }
        let arguments = words.count();
        has_role(first, Role::PromptCommand)
            && (!has_role(first, Role::PromptWord)
                || rest.split_whitespace().any(is_argument_sign)
                || arguments == 1 && !among("go just time code", first)
                || arguments == 2 && first == "diff"
                || matches!(first, "go" | "bun")
                    && [
                        "go run",
                        "go test",
                        "go build",
                        "go get",
                        "go install",
                        "bun run",
                        "bun test",
                        "bun add",
                    ]
                    .iter()
                    .any(|start| rest.starts_with(start)))
    }

    pub(super) fn goes_on_as_task(&self) -> bool {
        self.after()
            .split_whitespace()
            .next()
            .is_some_and(|word| among(TASKS, word) || among(PROSE, word))
    }

    fn is_prose(&self) -> bool {
        self.goes_on_as_task()
            || self
                .text
                .chars()
                .any(|char| !char.is_ascii() && char.is_alphabetic())
            || self.text.split_whitespace().take(MAX_WORDS).any(|word| {
                among(PROSE, word)
                    || word.len() > 1
                        && word.ends_with([',', '.', '!', '?'])
                        && word.starts_with(|char: char| char.is_ascii_alphabetic())
            })
    }
}

fn is_foreign_option(word: &str) -> bool {
    const OPTIONS: &str = "--check --no-review --prove --new --max-blocks --max-minutes --max-tokens --max-failed-claims --max-iterations --completion-promise -h --help";
    word.starts_with('-')
        && word
            .trim_start_matches('-')
            .starts_with(|char: char| char.is_ascii_alphabetic())
        && !among(OPTIONS, word.split('=').next().unwrap_or_default())
}

fn is_argument_sign(word: &str) -> bool {
    word.len() > 1
        && (word.starts_with(['-', '.', '/', '~', '$'])
            || word.contains(['*', '/'])
            || word.contains('.') && !word.ends_with('.'))
        || matches!(word, "|" | "&&" | "||" | ">" | ">>" | "." | "--")
}
