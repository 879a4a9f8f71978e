//! Two kinds of question: a person's prompt that only asks, which the model's answer ends, and a
//! model's final message that only a person can answer.

/// `true` where the last sentence begins with a word that asks; `false` for a request such as `can
/// you also fix this?` and for a proposal, which ask for work.
pub fn is_question(prompt: &str) -> bool {
    !prompt.trim_start().starts_with('/')
        && last_question(prompt).is_some_and(|question| {
            (begins_with(&question, &ASKING) || begins_with(&question, &ABOUT_FACTS))
                && !begins_with(&question, &PROPOSALS)
        })
}

const MAX_BYTES: usize = 2_000;

/// `true` for a final message whose question only a person can answer: it begins with a word that
/// asks, or offers a choice. An offer to continue is none.
pub fn asks_a_person(message: &str) -> bool {
    let start = (message.len().saturating_sub(MAX_BYTES)..=message.len())
        .find(|at| message.is_char_boundary(*at));
    let mut asked = start
        .and_then(|start| message.get(start..))
        .unwrap_or_default()
        .trim_end();
    while let Some((before, _)) = asked
        .rsplit_once('\n')
        .filter(|(_, line)| line.trim().is_empty() || is_list_item(line))
    {
        asked = before.trim_end();
    }
    last_question(asked).is_some_and(|question| {
        let names_alternatives = [" or ", " oder ", " ou ", " o "]
            .iter()
            .any(|word| question.contains(word));
        let offers_choice = names_alternatives && begins_with(&question, &CHOICES);
        let has_question_word = begins_with(&question, &ASKING)
            || ASKING_WITHIN.iter().any(|word| question.contains(word));
        let offers_to_continue =
            GO_ON.iter().any(|word| question.contains(word)) || begins_with(&question, &PROPOSALS);
        (offers_choice || has_question_word) && !offers_to_continue
    })
}

fn is_list_item(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with(['-', '*', '•'])
        || line
            .split_once(['.', ')'])
            .is_some_and(|(mark, _)| mark.len() <= 2 && mark.chars().all(char::is_alphanumeric))
}

fn last_question(text: &str) -> Option<String> {
    let text =
        text.trim_end_matches(|char: char| char.is_whitespace() || matches!(char, '*' | '_' | ')'));
    let text = text.strip_suffix(['?', '？', '؟'])?;
    let sentence = text
        .rfind(['.', '!', '?', '\n', '。', '！', '？', '؟'])
        .map_or(text, |at| text.get(at..).unwrap_or(text));
    Some(
        sentence
            .trim_start_matches(|char: char| !char.is_alphanumeric())
            .to_lowercase(),
    )
}

fn begins_with(question: &str, words: &[&str]) -> bool {
    words.iter().any(|word| {
        question
            .strip_prefix(word)
            .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    })
}

const ASKING: [&str; 35] = [
    "what", "what's", "which", "who", "whose", "why", "where", "when", "how", "was", "welche",
    "welcher", "welches", "warum", "wieso", "wo", "wer", "wann", "wie", "qué", "cuál", "quién",
    "dónde", "cuándo", "cómo", "por qué", "quel", "quelle", "quels", "qui", "où", "quand",
    "comment", "pourquoi", "lequel",
];

const ABOUT_FACTS: [&str; 8] = ["is", "are", "does", "do", "did", "has", "have", "were"];

/// Beginnings of a question that proposes work, or asks for consent.
const PROPOSALS: [&str; 24] = [
    "why not",
    "why don't",
    "why didn't you",
    "how about",
    "what about",
    "what next",
    "what's next",
    "what else",
    "what would you like",
    "what do you think",
    "what should i do next",
    "how does that",
    "how should i proceed",
    "was hältst du",
    "wie wäre",
    "do you want",
    "do you mind",
    "is that ok",
    "is this ok",
    "is it ok",
    "does that work",
    "does this work",
    "does that look",
    "does that sound",
];

const CHOICES: [&str; 14] = [
    "should i",
    "should we",
    "shall i",
    "shall we",
    "do you mean",
    "did you mean",
    "is it",
    "is that",
    "are these",
    "are they",
    "does",
    "soll ich",
    "dois-je",
    "debo",
];

const ASKING_WITHIN: [&str; 14] = [
    "哪",
    "什么",
    "什麼",
    "谁",
    "誰",
    "어느",
    "어떤",
    "무엇",
    "누구",
    "どの",
    "どちら",
    "何を",
    "だれ",
    " nào",
];

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
            ("was this tested?", true),
            ("fix the login bug, ok?", false),
            ("hey can you fix the docs?", false),
            ("Why not use a map instead?", false),
            ("continue, ok?", false),
            ("rename is_empty to `empty?`", false),
            ("/fix-issue why is it slow?", false),
            ("¿Me puedes ayudar?", false),
            ("직접 고쳐줄래?", false),
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
            (
                "The parser is done. Do you want me to fix the tests too?",
                false,
            ),
            ("Soll ich weitermachen?", false),
            ("Any questions?", false),
            ("Looks good?", false),
            ("Fix the remaining tests?", false),
            ("Would you like me to fix the tests or leave them?", false),
            ("Willst du, dass ich die Tests anpasse?", false),
            ("나머지도 수정할까요?", false),
            ("I renamed it to `empty?`", false),
            ("Which one do you mean?\n\n1. Postgres\n2. SQLite", true),
            ("どのデータベースですか？", true),
            ("続けますか？", false),
            ("Is it right? I think so.", false),
            ("Done.", false),
            ("", false),
        ] {
            assert_eq!(asks_a_person(message), expected, "{message:?}");
        }
    }
}
