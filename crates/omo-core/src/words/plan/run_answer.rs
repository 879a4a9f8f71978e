//! What its user reads of a command about the run of a plan that `omo` has answered, or could not answer, for a prompt.

use crate::run_command::RunCommand;
use crate::words::{refused, sanitize_line};

/// So many lines are shown, and so many characters: a prompt's answer stands above the input, and does not scroll.
const LINES: usize = 60;
const CHARS: usize = 6_000;

/// What `omo` said, made harmless; where it is too long, with what shows all of it.
pub fn answered(command: RunCommand, said: &str) -> String {
    let lines: Vec<String> = said.trim_end().lines().map(|line| sanitize_line(line).trim_end().to_owned()).collect();
    let mut left = CHARS;
    let fits = |line: &&String| {
        let fits = line.chars().count() < left;
        left = left.saturating_sub(line.chars().count() + 1);
        fits
    };
    let shown: Vec<&str> = lines.iter().take(LINES).take_while(fits).map(String::as_str).collect();
    let rest = lines.len() - shown.len();
    let (text, name) = (shown.join("\n"), command.name());
    let head = if lines.len() == 1 { "[omo] ".to_owned() } else { format!("[omo] {name}:\n") };
    let cut = format!("\n… {rest} more lines; in a terminal, `{}` shows all of it", command.in_terminal());
    format!("{head}{text}{}", if rest == 0 { "" } else { &cut })
}

/// It took longer than a prompt may wait.
pub fn took_too_long(command: RunCommand) -> String {
    refused(&format!(
        "that takes longer than a prompt may wait, and was ended; type `{}` in a terminal. `omo run show` says where the \
         run stands",
        command.in_terminal()
    ))
}

/// There is no answer, because of this.
pub fn not_answered(command: RunCommand, why: &str) -> String {
    refused(&format!("{}; in a terminal, `{}` does the same", sanitize_line(why).trim(), command.in_terminal()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keyword::{Keywords, Reading, read};

    #[test]
    fn a_line_stands_alone_and_a_table_below_its_name() {
        assert_eq!(answered(RunCommand::Cancel, "r-1 is cancelled\n"), "[omo] r-1 is cancelled");
        assert_eq!(answered(RunCommand::Report, "a\n  b  \u{1b}[31m\n"), "[omo] report:\na\n  b   [31m");
    }

    #[test]
    fn what_is_too_long_is_cut_and_says_where_the_rest_is() {
        let more = answered(RunCommand::Report, &"line\n".repeat(100));
        assert_eq!(more.lines().count(), LINES + 2);
        assert!(more.ends_with("\n… 40 more lines; in a terminal, `omo report` shows all of it"), "{more}");
        let wide = answered(RunCommand::Report, &format!("{}\nx", "ü".repeat(100_000)));
        assert!(wide.ends_with("… 2 more lines; in a terminal, `omo report` shows all of it"), "{wide}");
        assert!(answered(RunCommand::Report, &"x".repeat(5_999)).ends_with("xx"));
    }

    #[test]
    fn what_went_wrong_is_one_line() {
        for command in RunCommand::ALL {
            for said in [took_too_long(command), not_answered(command, "it cannot\nbe started")] {
                assert_eq!(read(&said, &Keywords::default()), Reading::Nothing);
                assert!(said.lines().count() == 1 && said.contains(command.in_terminal()), "{said}");
            }
        }
    }
}
