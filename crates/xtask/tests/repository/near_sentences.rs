//! No sentence stands on two pages, or twice on one, with nearly the same words.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are those of the list that is searched"
)]

use std::collections::{BTreeMap, BTreeSet};

use crate::links::pages;
use crate::read;

/// Pages that other files make, whose sentences stand there.
const GENERATED: [&str; 3] = ["docs/cli.md", "docs/promises.md", "docs/SUMMARY.md"];
const WORDS: usize = 8;
/// Percent of the pairs of words of a sentence that are also in the other.
const NEAR: usize = 85;

struct Sentence {
    place: String,
    text: String,
    pairs: BTreeSet<String>,
}

/// Sentences of a page that have at least [`WORDS`] words. Code, headings and generated parts have none.
fn sentences(name: &str, page: &str) -> Vec<Sentence> {
    let (mut found, mut is_code, mut is_generated) = (Vec::new(), false, false);
    for (index, line) in page.lines().enumerate() {
        is_code ^= line.trim_start().starts_with("```");
        is_generated |= line.starts_with("<!-- made by ");
        if !is_code && !is_generated && !line.starts_with('#') {
            let place = format!("{name}:{}", index + 1);
            let parts = line.split(" | ").flat_map(split_at_ends);
            found.extend(parts.filter_map(|text| sentence(&place, text)));
        }
        is_generated &= !line.starts_with("<!-- end of ");
    }
    found
}

/// Sentences of a line, which ends with a mark before a blank.
fn split_at_ends(line: &str) -> impl Iterator<Item = &str> {
    [". ", "! ", "? "]
        .iter()
        .fold(vec![line], |parts, end| {
            parts.iter().flat_map(|part| part.split(end)).collect()
        })
        .into_iter()
}

fn sentence(place: &str, text: &str) -> Option<Sentence> {
    let without_targets = text
        .split("](")
        .enumerate()
        .map(|(index, part)| match index {
            0 => part,
            _ => part.split_once(')').map_or("", |(_, rest)| rest),
        });
    let words: Vec<String> = without_targets
        .collect::<Vec<_>>()
        .concat()
        .split(|character: char| !character.is_alphanumeric() && character != '-')
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .map(str::to_lowercase)
        .collect();
    let pairs = words.windows(2).map(|pair| pair.join(" "));
    (words.len() >= WORDS).then(|| Sentence {
        place: place.to_owned(),
        text: text.trim().to_owned(),
        pairs: pairs.collect(),
    })
}

/// Sentences that are nearly in another one, each with the place of that.
fn near(sentences: &[Sentence]) -> Vec<String> {
    let mut with_pair = BTreeMap::<_, Vec<usize>>::new();
    for (index, sentence) in sentences.iter().enumerate() {
        for pair in &sentence.pairs {
            with_pair.entry(pair).or_default().push(index);
        }
    }
    let mut found = Vec::new();
    for (index, sentence) in sentences.iter().enumerate() {
        let mut shared = BTreeMap::<usize, usize>::new();
        for other in sentence.pairs.iter().flat_map(|pair| &with_pair[pair]) {
            *shared.entry(*other).or_default() += 1;
        }
        let is_near = |other: usize, count: usize| {
            let is_longer = (sentences[other].pairs.len(), index) >= (sentence.pairs.len(), other);
            other != index && is_longer && count * 100 >= sentence.pairs.len() * NEAR
        };
        if let Some((other, _)) = shared
            .into_iter()
            .find(|(other, count)| is_near(*other, *count))
        {
            let other = &sentences[other];
            found.push(format!(
                "{}: {}\n    {}: {}",
                sentence.place, sentence.text, other.place, other.text
            ));
        }
    }
    found
}

#[test]
fn no_two_sentences_of_the_pages_are_nearly_the_same() {
    let names = pages()
        .into_iter()
        .map(|page| page.to_string_lossy().replace('\\', "/"));
    // Beside those of the top and of docs/ there are plans of tests, and prompts, each read without the others.
    let names = names.filter(|name| {
        (name.starts_with("docs/") || !name.contains('/')) && !GENERATED.contains(&name.as_str())
    });
    let all: Vec<Sentence> = names
        .flat_map(|name| sentences(&name, &read(&name)))
        .collect();
    assert!(all.len() > 500, "only {} sentences found", all.len());
    let near = near(&all);
    assert!(
        near.is_empty(),
        "{} sentences are nearly in another one; keep one and link to it:\n{}",
        near.len(),
        near.join("\n")
    );
}

#[test]
fn a_sentence_with_one_other_word_is_found_and_code_and_short_ones_are_not() {
    let page = "# one two three four five six seven eight nine\n\
                - [A](x.md) run ends at once when nobody holds its session. It ends.\n\n\
                ```text\nthe run ends at once when nobody holds it\n```\n\
                <!-- made by x -->\nthe run ends at once when nobody holds it\n<!-- end of x -->\n\
                | b | A run ends at once when nobody holds its own session here. It ends. |\n\
                The run is shown by another program of the same name.";
    let all = sentences("a.md", page);
    let texts: Vec<&str> = all.iter().map(|sentence| sentence.place.as_str()).collect();
    assert_eq!(texts, ["a.md:2", "a.md:10", "a.md:11"]);
    let near = near(&all);
    assert_eq!(near.len(), 1, "{near:?}");
    assert!(
        near[0].starts_with("a.md:2: ") && near[0].contains("\n    a.md:10: "),
        "{near:?}"
    );
}
