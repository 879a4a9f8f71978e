//! Commands in a text that omo prints, each read by what reads it where it is typed: one that is printed can be typed
//! as it stands.

use std::collections::BTreeSet;
use std::sync::{LazyLock, Mutex, PoisonError};

use omo_cli::problem_of_typed_line;

/// Commands that were read already: the same ones are printed again and again.
static READ: LazyLock<Mutex<BTreeSet<String>>> = LazyLock::new(Mutex::default);

/// Words before a command that stands in a line without backticks.
const INTRODUCTIONS: [&str; 4] = ["run: ", "run instead  ", "type ", "Next: "];

/// The commands in a text: between backticks, or at the beginning of a line or behind an introduction.
pub fn printed_commands(text: &str) -> Vec<String> {
    let is_command = |typed: &str| {
        let verb = typed
            .strip_prefix("omo ")
            .and_then(|rest| rest.split_whitespace().next());
        typed.starts_with("/omo:")
            || verb.is_some_and(|verb| is_verb(verb) || typed.starts_with("omo --"))
    };
    let paragraphs = text
        .split("\n\n")
        .map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "));
    let spans = paragraphs.flat_map(|paragraph| {
        paragraph
            .split('`')
            .skip(1)
            .step_by(2)
            .filter(|span| is_command(span))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    });
    let lines = text.lines().filter_map(|line| {
        let behind = INTRODUCTIONS
            .iter()
            .find_map(|words| line.split_once(words))
            .map_or(line, |(_, behind)| behind);
        let typed = behind.trim().split("   ").next().unwrap_or_default();
        let typed = typed.trim_end_matches(['.', ',', ';']);
        (is_command(typed) && !typed.contains('`')).then(|| typed.to_owned())
    });
    // What names alternatives is a form, which nobody pastes; what follows in a line of a shell is no word of omo.
    let commands = spans
        .chain(lines)
        .filter(|typed| !typed.contains(['…', '[', '|']));
    commands
        .map(|typed| typed.split(" && ").next().unwrap_or_default().to_owned())
        .collect()
}

fn is_verb(word: &str) -> bool {
    omo_cli::command()
        .get_subcommands()
        .any(|known| known.get_name() == word)
}

/// The commands of a text that cannot be typed as they stand, each with its reason.
pub fn wrong_commands(text: &str) -> Vec<String> {
    let known = |typed: &String| {
        READ.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .contains(typed)
    };
    let mut wrong = Vec::new();
    // A model is told of its verbs by their names; what it has to run is printed whole.
    let is_named_verb = |typed: &str, why: &str| {
        let is_bare = typed
            .strip_prefix("omo agent ")
            .is_some_and(|verb| !verb.contains("--"));
        is_bare
            && (why.contains("arguments were not provided")
                || why.contains("requires a subcommand"))
    };
    for typed in printed_commands(text)
        .into_iter()
        .filter(|typed| !known(typed))
    {
        match problem_of_typed_line(&typed).filter(|why| !is_named_verb(&typed, why)) {
            Some(why) => wrong.push(format!(
                "`{typed}`: {}",
                why.lines().next().unwrap_or_default()
            )),
            None => {
                READ.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .insert(typed);
            }
        }
    }
    wrong
}

/// Holds a text that omo printed to its commands.
///
/// # Panics
///
/// Where one cannot be typed as it stands.
#[track_caller]
pub fn require_typeable(text: &str) {
    let wrong = wrong_commands(text);
    assert!(
        wrong.is_empty(),
        "printed, and cannot be typed:\n{}\n\nin:\n{text}",
        wrong.join("\n")
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_where_they_are_printed() {
        let text = "see `omo run\n  list`, or\n  omo run show --run r-1      (Bash timeout 600000)\n\nTo go on, type:\n  \
                    /omo:execute p.md\nomo runs these 2 commands\nuse `omo run start|resume`";
        let expected = [
            "omo run list",
            "omo run show --run r-1",
            "/omo:execute p.md",
        ];
        assert_eq!(printed_commands(text), expected);
    }

    #[test]
    fn a_command_that_nothing_reads_is_told() {
        for wrong in [
            "`omo run resume r-1 now`",
            "`omo run retry`",
            "  omo report --last --run r-1",
            "`/omo:retry`",
            "`/omo:stay`",
            "`/omo:execute a.md b.md`",
            "To go on, type /omo:check remove",
            "`/omo:ulw-plan`",
        ] {
            assert_eq!(wrong_commands(wrong).len(), 1, "{wrong}");
        }
        for right in [
            "`omo run resume --run r-1`",
            "`/omo:retry 3 --passed`",
            "type `/omo:ulw --new the task`",
        ] {
            assert_eq!(wrong_commands(right), [""; 0], "{right}");
        }
    }
}
