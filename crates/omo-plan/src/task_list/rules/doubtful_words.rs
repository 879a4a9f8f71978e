//! Finds words in evidence that a reviewer should doubt, such as `todo` or `should work`. Honest
//! sentences have them, too, so nothing is refused.

const DOUBTFUL_WORDS: [&str; 11] = [
    "should work",
    "probably works",
    "basic implementation",
    "you can extend this",
    "todo",
    "fixme",
    "not implemented",
    "placeholder",
    "wip",
    "hack",
    "temporary",
];

pub(super) fn doubtful_words_in(text: &str) -> impl Iterator<Item = &'static str> {
    let text = text.to_lowercase();
    DOUBTFUL_WORDS
        .into_iter()
        .filter(move |word| has_word(&text, word))
}

fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(start, _)| {
        let before = text
            .get(..start)
            .and_then(|before| before.chars().next_back());
        let after = text
            .get(start + word.len()..)
            .and_then(|after| after.chars().next());
        !before.into_iter().chain(after).any(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_by_itself_alone() {
        let found = |text: &str| doubtful_words_in(text).collect::<Vec<_>>();
        assert_eq!(found("removed temporary hack"), ["hack", "temporary"]);
        assert_eq!(found("TODO: it Should Work"), ["should work", "todo"]);
        assert!(found("todos hackathon wiped temporary2").is_empty());
    }
}
