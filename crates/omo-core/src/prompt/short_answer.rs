//! Prompts that consist of `go on`, or of one word that may be the option of a question.
//!
//! The permissions of a run's slash command end with its turn: omo answers such a prompt itself, so
//! that its user is not asked about each command.

const MAX_BYTES: usize = 48;

/// Words that ask to go on, in lower case.
const GO_ON: [&str; 12] = [
    "continue",
    "go on",
    "go ahead",
    "proceed",
    "resume",
    "keep going",
    "carry on",
    "move on",
    "next",
    "weiter",
    "mach weiter",
    "继续",
];

/// The word of a possible answer, in lower case and without "please"; `None` where the prompt says
/// more.
pub fn short_answer(prompt: &str) -> Option<String> {
    let text = prompt.trim();
    if text.is_empty() || text.len() > MAX_BYTES || text.contains('\n') {
        return None;
    }
    let text = text
        .trim_end_matches(['.', '!', '…', '。', '！'])
        .trim()
        .to_lowercase();
    let text = text
        .strip_prefix("please ")
        .or(text.strip_suffix(" please"))
        .unwrap_or(&text);
    let text = text.trim_end_matches(',').trim();
    let is_one_word =
        !text.is_empty() && !text.contains(char::is_whitespace) && !text.starts_with('/');
    (is_one_word || asks_to_go_on(text)).then(|| text.to_owned())
}

pub fn asks_to_go_on(word: &str) -> bool {
    GO_ON.contains(&word)
}

/// `true` for a task such as `go on`, with the keyword before it or without.
pub fn is_go_on_task(task: &str) -> bool {
    let without_first_word = task
        .trim()
        .split_once(char::is_whitespace)
        .map_or("", |(_, rest)| rest);
    [task, without_first_word]
        .into_iter()
        .filter_map(short_answer)
        .any(|word| asks_to_go_on(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_or_a_request_to_go_on_may_answer_and_a_sentence_may_not() {
        for (prompt, word) in [
            ("continue", Some("continue")),
            (" Continue! ", Some("continue")),
            ("go on, please", Some("go on")),
            ("please proceed.", Some("proceed")),
            ("weiter", Some("weiter")),
            ("Redo", Some("redo")),
            ("B", Some("b")),
            ("continue with task 3", None),
            ("go on behind it", None),
            ("/omo:execute", None),
            ("continue\nand fix it", None),
            ("...", None),
            ("", None),
        ] {
            assert_eq!(short_answer(prompt).as_deref(), word, "{prompt:?}");
        }
        assert!(asks_to_go_on("go on") && !asks_to_go_on("redo"));
    }
}
