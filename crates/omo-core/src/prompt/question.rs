//! Questions: of a person to the model, which its answer ends, and of the model to a person, which only they answer.

/// `true` for a prompt that asks something. A request in the form of a question, such as `can you also fix this?`, asks
/// for work.
pub(super) fn is_question(prompt: &str) -> bool {
    last_question(prompt).is_some_and(|question| !begins_with(&question, &REQUESTS))
}

/// `true` for a final message of the model that ends with a question which only a person can answer. An offer to go on
/// with the work is none.
pub fn asks_a_person(message: &str) -> bool {
    last_question(message).is_some_and(|question| {
        let has_choice = [" or ", " oder ", " ou ", " o ", "还是", "還是"].iter().any(|word| question.contains(word));
        let goes_on = GO_ON.iter().any(|word| question.contains(word));
        !goes_on && (has_choice || !begins_with(&question, &OFFERS))
    })
}

/// The last sentence of a text in lower case, where that is a question.
fn last_question(text: &str) -> Option<String> {
    let end = |char: char| char.is_whitespace() || matches!(char, '*' | '_' | '`' | '"' | '”' | '»' | ')');
    let text = text.trim_end_matches(end).strip_suffix(['?', '？', '؟'])?;
    let from =
        text.rfind(['.', '!', '?', '\n', '。', '！', '？', '؟']).map_or(text, |at| text.get(at..).unwrap_or(text));
    Some(from.trim_start_matches(|char: char| !char.is_alphanumeric()).to_lowercase())
}

fn begins_with(question: &str, words: &[&str]) -> bool {
    words.iter().any(|word| question.strip_prefix(word).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric)))
}

/// Beginnings of a question that asks for work.
const REQUESTS: [&str; 24] = [
    "can you",
    "could you",
    "would you",
    "will you",
    "please",
    "ok can you",
    "also can you",
    "and can you",
    "can we",
    "could we",
    "how about",
    "what about",
    "why don't you",
    "mind",
    "kannst du",
    "könntest du",
    "können sie",
    "peux-tu",
    "pouvez-vous",
    "puedes",
    "podrías",
    "puede",
    "podes",
    "bạn có thể",
];

/// Beginnings of a question that offers to go on.
const OFFERS: [&str; 28] = [
    "shall i",
    "should i",
    "would you like",
    "do you want",
    "want me",
    "may i",
    "can i",
    "could i",
    "ready",
    "is that ok",
    "is this ok",
    "ok to",
    "okay to",
    "is it ok",
    "does that",
    "does this",
    "sound good",
    "how does that",
    "anything else",
    "is there anything",
    "what would you like",
    "what should i do next",
    "shall we",
    "should we",
    "what's next",
    "what next",
    "soll ich",
    "möchtest du",
];

/// Words of an offer to go on.
const GO_ON: [&str; 21] = [
    "continue",
    "proceed",
    "go ahead",
    "go on",
    "next step",
    "keep going",
    "move on",
    "carry on",
    "weiter",
    "fortfahren",
    "continuar",
    "continúo",
    "siga",
    "continuer",
    "poursuiv",
    "tiếp tục",
    "계속",
    "진행",
    "続け",
    "继续",
    "繼續",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_in_the_form_of_a_question_is_work() {
        for (prompt, expected) in [
            ("what does this function do?", true),
            ("Why did you choose a map here?", true),
            ("you changed the parser. is that safe?", true),
            ("was macht das?", true),
            ("これは何？", true),
            ("can you also fix the tests?", false),
            ("Could you please look at the page?", false),
            ("kannst du das reparieren?", false),
            ("what about the page?", false),
            ("fix the tests", false),
            ("is it? fix it", false),
            ("", false),
        ] {
            assert_eq!(is_question(prompt), expected, "{prompt:?}");
        }
    }

    #[test]
    fn an_offer_to_go_on_is_no_question_to_a_person() {
        for (message, expected) in [
            ("I found two schemas.\n\nWhich database do you mean?", true),
            ("Should I use Postgres or SQLite?", true),
            ("What is the password of the staging server?", true),
            ("**Which of both files is right?**", true),
            ("Shall I continue?", false),
            ("Would you like me to continue or stop?", false),
            ("The parser is done. Do you want me to fix the tests too?", false),
            ("Soll ich weitermachen?", false),
            ("続けますか？", false),
            ("Is it right? I think so.", false),
            ("Done.", false),
            ("", false),
        ] {
            assert_eq!(asks_a_person(message), expected, "{message:?}");
        }
    }
}
