//! Texts with which omo itself answers a prompt about a plan run, such as `/omo:cancel`.

use crate::messages::refusal_line;
use crate::run_command::RunCommand;
use crate::text::inline_code;
use crate::text::{sanitize, sanitize_line};

/// Maximum lines of an answer, which the client shows above the input without scrolling.
const LINES: usize = 60;
const CHARS: usize = 6_000;

/// The sanitized answer; one that is cut names the command that shows all of it.
pub fn answered(command: RunCommand, arguments: &str, answer: &str) -> String {
    let lines: Vec<String> = answer
        .trim_end()
        .lines()
        .map(|line| sanitize_line(line).trim_end().to_owned())
        .collect();
    let mut remaining = CHARS;
    let shown: Vec<&str> = lines
        .iter()
        .take(LINES)
        .take_while(|line| {
            let fits = line.chars().count() < remaining;
            remaining = remaining.saturating_sub(line.chars().count() + 1);
            fits
        })
        .map(String::as_str)
        .collect();
    let rest = lines.len() - shown.len();
    let (text, name) = (shown.join("\n"), command.name());
    let head = if lines.len() == 1 {
        "[omo] ".to_owned()
    } else {
        format!("[omo] {name}:\n")
    };
    let arguments = arguments
        .split_whitespace()
        .fold(String::new(), |all, word| format!("{all} {word}"));
    let program = without_placeholders(command.in_terminal());
    let typed = inline_code(&format!("{program}{arguments}"), 200);
    let cut_note = format!("\n… {rest} more lines; in a terminal, `{typed}` shows all of it");
    format!("{head}{text}{}", if rest == 0 { "" } else { &cut_note })
}

/// The command up to its first argument in capitals, such as `TASK`.
fn without_placeholders(command: &str) -> String {
    let words = command
        .split(' ')
        .take_while(|word| !word.starts_with(char::is_uppercase));
    words.collect::<Vec<_>>().join(" ")
}

pub fn first_lines(output: &str) -> String {
    let lines: Vec<String> = output
        .trim_end()
        .lines()
        .take(10)
        .map(|line| sanitize(line, 400))
        .collect();
    lines.join("\n")
}

pub fn took_too_long(command: RunCommand) -> String {
    refusal_line(&format!(
        "that takes longer than a prompt may wait, and was ended; type `{}` in a terminal. `omo run show` says where the \
         run stands",
        command.in_terminal()
    ))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AtWork {
    /// A supervisor, with its number of clients.
    Parallel(usize),
    Tasks(Vec<String>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelledBy {
    OwnSession,
    AnySession,
    Terminal,
}

const NAMED_TASKS: usize = 5;

pub fn still_at_work(run: &str, at_work: &AtWork, cancelled_by: CancelledBy) -> String {
    let run = inline_code(run, 64);
    let cancel = match cancelled_by {
        CancelledBy::OwnSession => "/omo:cancel".to_owned(),
        CancelledBy::AnySession => format!("/omo:cancel {run}"),
        CancelledBy::Terminal => format!("`omo run cancel --run {run}`"),
    };
    let (workers, pronoun) = match at_work {
        AtWork::Parallel(0) => ("the supervisor of the plan run".to_owned(), "it"),
        AtWork::Parallel(1) => (
            "a parallel client and the supervisor of the plan run".to_owned(),
            "them",
        ),
        AtWork::Parallel(clients) => (
            format!("{clients} parallel clients and the supervisor of the plan run"),
            "them",
        ),
        AtWork::Tasks(tasks) => {
            let names: Vec<String> = tasks
                .iter()
                .take(NAMED_TASKS)
                .map(|task| inline_code(task, 160))
                .collect();
            let more = if tasks.len() > names.len() {
                ", …"
            } else {
                ""
            };
            let word = if tasks.len() == 1 { "task" } else { "tasks" };
            (
                format!(
                    "what works on {word} {}{more} of the plan run",
                    names.join(", ")
                ),
                "the run",
            )
        }
    };
    format!("Still at work: {workers} `{run}`. {cancel} ends {pronoun}.")
}

pub fn perhaps_at_work(run: &str) -> String {
    let run = inline_code(run, 64);
    format!(
        "Perhaps still at work: omo could not tell in time what works on the plan run `{run}`. /omo:cancel ends it."
    )
}

pub fn after_esc(at_work: &str) -> String {
    format!("[omo] Esc ended the turn, and not the run of the plan.\n{at_work}")
}

pub fn background_shells(count: usize) -> Option<String> {
    let many = match count {
        0 => return None,
        1 => "a background shell".to_owned(),
        count => format!("{count} background shells"),
    };
    Some(format!(
        "Perhaps still running: {many} of this session; the client's own list of tasks shows and ends them."
    ))
}

pub fn not_answered(command: RunCommand, why: &str) -> String {
    refusal_line(&format!(
        "{}; in a terminal, `{}` does the same",
        sanitize_line(why).trim(),
        command.in_terminal()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keyword::{Keywords, PromptReading, read_prompt};

    #[test]
    fn a_line_stands_alone_and_a_table_below_its_name() {
        assert_eq!(
            answered(RunCommand::Cancel, "", "r-1 is cancelled\n"),
            "[omo] r-1 is cancelled"
        );
        assert_eq!(
            answered(RunCommand::Report, "", "a\n  b  \u{1b}[31m\n"),
            "[omo] report:\na\n  b   [31m"
        );
    }

    #[test]
    fn what_is_too_long_is_cut_and_says_where_the_rest_is() {
        let more = answered(RunCommand::Report, "", &"line\n".repeat(100));
        assert_eq!(more.lines().count(), LINES + 2);
        assert!(
            more.ends_with("\n… 40 more lines; in a terminal, `omo report` shows all of it"),
            "{more}"
        );
        let wide = answered(
            RunCommand::Report,
            " --format  json",
            &format!("{}\nx", "ü".repeat(100_000)),
        );
        assert!(
            wide.ends_with(
                "… 2 more lines; in a terminal, `omo report --format json` shows all of it"
            ),
            "{wide}"
        );
        assert!(answered(RunCommand::Report, "", &"x".repeat(5_999)).ends_with("xx"));
    }

    #[test]
    fn what_is_at_work_is_named_with_what_ends_it() {
        let tasks = |count: usize| AtWork::Tasks((1..=count).map(|id| id.to_string()).collect());
        for (at_work, cancelled_by, expected) in [
            (
                AtWork::Parallel(0),
                CancelledBy::OwnSession,
                "the supervisor of the plan run `r-1`. /omo:cancel ends it.",
            ),
            (
                AtWork::Parallel(1),
                CancelledBy::OwnSession,
                "a parallel client and the supervisor of the plan run `r-1`. /omo:cancel ends them.",
            ),
            (
                AtWork::Parallel(3),
                CancelledBy::AnySession,
                "3 parallel clients and the supervisor of the plan run `r-1`. /omo:cancel r-1 ends them.",
            ),
            (
                tasks(1),
                CancelledBy::Terminal,
                "what works on task 1 of the plan run `r-1`. `omo run cancel --run r-1` ends the run.",
            ),
            (
                tasks(6),
                CancelledBy::OwnSession,
                "what works on tasks 1, 2, 3, 4, 5, … of the plan run `r-1`. /omo:cancel ends the run.",
            ),
        ] {
            let said = still_at_work("r-1", &at_work, cancelled_by);
            assert_eq!(said, format!("Still at work: {expected}"));
            for said in [after_esc(&said), said] {
                assert_eq!(
                    read_prompt(&said, &Keywords::default()),
                    PromptReading::Nothing,
                    "{said}"
                );
            }
        }
        let said = perhaps_at_work("r-1");
        assert!(
            said.contains(" plan run `r-1`. /omo:cancel ends it."),
            "{said}"
        );
        assert_eq!(
            read_prompt(&said, &Keywords::default()),
            PromptReading::Nothing
        );
        assert_eq!(background_shells(0), None);
        let said = background_shells(2).unwrap();
        assert!(
            said.contains("2 background shells")
                && read_prompt(&said, &Keywords::default()) == PromptReading::Nothing
        );
    }

    #[test]
    fn what_went_wrong_is_one_line() {
        for command in RunCommand::ALL {
            for said in [
                took_too_long(command),
                not_answered(command, "it cannot\nbe started"),
            ] {
                assert_eq!(
                    read_prompt(&said, &Keywords::default()),
                    PromptReading::Nothing
                );
                assert!(
                    said.lines().count() == 1 && said.contains(command.in_terminal()),
                    "{said}"
                );
            }
        }
    }
}
