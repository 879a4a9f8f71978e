//! Rules for talk about the keyword in English, such as `how do I use ulw?`.

use crate::keyword::sentence::{self, WordContext};

/// `true` where an English clause only talks about the keyword in its middle.
pub(super) fn is_mention(around: &WordContext) -> bool {
    let before = sentence::split_words(&around.before);
    let before = without_fillers(&before);
    let after = sentence::split_words(&around.after);
    let asks = matches!(around.end, '?' | '？');
    // A comma or colon after the keyword ends a statement about it.
    let joined = around.after.starts_with([' ', '\'', '\t'])
        && !around.after.trim_start().starts_with([',', ':', '-', '—']);
    is_question(before, asks)
        || is_negated(before)
        || is_object_of_talk(before, &after)
        || (joined && is_subject(before, &after, asks))
        || is_asked_after(&after)
        || around.after.trim_start().starts_with('=')
            && !around.after.trim_start().starts_with("=>")
        || after.is_empty() && before.len() > 1 && version_length(before) == before.len()
}

fn among(list: &str, word: &str) -> bool {
    list.split(' ').any(|other| other == word)
}

fn without_fillers<'a, 'b>(words: &'b [&'a str]) -> &'b [&'a str] {
    const FILLERS: &str = "so and but or hey hi hello ok okay well also then now wait um hmm please just btw oh claude \
        quick";
    let start = words
        .iter()
        .position(|word| !among(FILLERS, word))
        .unwrap_or(words.len());
    words.get(start..).unwrap_or_default()
}

const ASKING: &str =
    "what what's whats how how's when why where which who whose wtf who's where's when's";

const AUXILIARIES: &str = "is are was were does do did has have had should shall may might must can could would will isn't \
    aren't wasn't doesn't don't didn't hasn't shouldn't can't couldn't wouldn't won't am";

fn is_question(before: &[&str], asks: bool) -> bool {
    let Some(first) = before.first() else {
        return false;
    };
    let second = before.get(1);
    if among(ASKING, first) {
        let plain = !matches!(
            second,
            Some(&("exactly" | "actually" | "really" | "the" | "else" | "about"))
        );
        let curses = matches!(before.get(2), Some(&("hell" | "heck")));
        let third = if plain { second } else { before.get(2) };
        let inverted = third.is_none_or(|word| among(AUXILIARIES, word) || *word == "to");
        return asks
            || inverted
            || curses
            || first.contains('\'')
            || *first == "whats"
            || *first == "wtf";
    }
    if !among(AUXILIARIES, first) || first.starts_with("don") {
        return false;
    }
    match (*first, second) {
        (
            "can" | "could" | "would" | "will" | "won't" | "can't" | "couldn't" | "wouldn't",
            Some(&("you" | "u" | "ya" | "we" | "someone")),
        )
        | ("do" | "have", None) => false,
        ("do" | "have", Some(other)) => {
            matches!(*other, "you" | "i" | "we" | "they" | "people" | "u")
        }
        _ => true,
    }
}

const LIGHT: &str = "use using run running start enable activate trigger turn on do need want to a the any this with \
    in go into be have please you ever just even asked ask for more invoke apply switch call think we i should require \
    really it yet starting enter your launch rely of than off";

fn is_negated(before: &[&str]) -> bool {
    const NEGATIONS: &str = "forgot no don't dont not never without w/o avoid avoiding skip skipping stop stopped disable disabling \
        cancel instead rather except nor neither doesn't didn't shouldn't isn't can't cannot";
    if before
        .last()
        .is_some_and(|last| matches!(*last, "no" | "non" | "zero"))
    {
        return true;
    }
    let near = before.iter().rev().take(7);
    let reached = near
        .into_iter()
        .find(|word| among(NEGATIONS, word) || !among(LIGHT, word));
    reached.is_some_and(|word| among(NEGATIONS, word))
}

/// `explain ulw`, `the docs mention ulw`, `the difference between ulw and ralph`.
fn is_object_of_talk(before: &[&str], after: &[&str]) -> bool {
    const TALK: &str = "explain explaining describe define about regarding versus vs called named word words keyword \
        keywords term phrase mention mentions mentioned mentioning say says said saying type typed \
        typing wrote document documents documenting documented rename grep understand is was are compare \
        comparing when if whenever because since while whether why how what where which who than used \
        tried saw noticed from of inspect investigate configure install uninstall remove delete like \
        that what's add replace translate find search count list highlight extract love hate enjoy dislike \
        upgrade update reinstall after before until google";
    const COMPARING: &str = "difference differences compare comparison between versus vs differ";
    if before.iter().any(|word| among(COMPARING, word))
        || after
            .iter()
            .take(4)
            .any(|word| matches!(*word, "vs" | "versus"))
    {
        return true;
    }
    let near: Vec<&str> = before
        .iter()
        .rev()
        .skip_while(|word| {
            matches!(
                **word,
                "the" | "a" | "an" | "my" | "your" | "our" | "omo" | "omo's" | "this" | "omc"
            )
        })
        .copied()
        .collect();
    let Some(&previous) = near.first() else {
        return false;
    };
    if matches!(previous, "with" | "using" | "via" | "through") {
        return near
            .get(1)
            .is_some_and(|noun| is_trouble(noun) || *noun == "about");
    }
    if matches!(previous, "in" | "for" | "on") {
        return near
            .get(1)
            .is_some_and(|noun| is_trouble(noun) || is_page(noun));
    }
    among(TALK, previous) || is_way_of_use(&near)
}

fn is_trouble(noun: &str) -> bool {
    matches!(
        noun,
        "wrong"
            | "problem"
            | "problems"
            | "trouble"
            | "familiar"
            | "bug"
            | "bugs"
            | "issue"
            | "issues"
            | "error"
            | "errors"
            | "typo"
            | "up"
    )
}

fn is_page(noun: &str) -> bool {
    matches!(
        noun,
        "docs"
            | "documentation"
            | "readme"
            | "support"
            | "manual"
            | "guide"
            | "tests"
            | "section"
            | "entry"
            | "name"
            | "look"
            | "search"
    )
}

/// `how to use ulw`, `tell me what ulw does`.
fn is_way_of_use(near: &[&str]) -> bool {
    const BETWEEN: &str = "use using run start enable activate call invoke to do does you i we one people should can could would \
        is the exactly trigger stop";
    let reached = near.iter().find(|word| !among(BETWEEN, word));
    reached.is_some_and(|word| {
        matches!(
            *word,
            "how"
                | "what"
                | "when"
                | "why"
                | "whether"
                | "where"
                | "explain"
                | "describe"
                | "about"
                | "considering"
        )
    })
}

const NOUNS: &str = "thing stuff mode loop loops keyword keywords hook hooks plugin command state trigger feature word skill \
    detection detector prompt agent session docs documentation config settings activation name \
    banner";

/// `ulw is …`, `the ulw hook …`, `ulw mode keeps …`.
fn is_subject(before: &[&str], after: &[&str], asks: bool) -> bool {
    const VERBS: &str = "is isn't was wasn't are does doesn't did didn't has hasn't had can't cannot won't should \
        shouldn't wouldn't keeps kept works worked failed fails crashed crashes activates activated \
        triggers triggered means says said seems looks ran runs stopped stops started starts broke \
        breaks got gets costs uses used needs exists appears appeared happened happens fired fires kicks \
        goes makes made takes took off gave enabled active disabled inactive stands vs versus not 's may might must \
        exited hangs hung crashes timed deleted removed fixed finished ended died loops looped restarts restarted quits ate \
        killed reverted wrote changed froze freezes stuck eats wastes burns burned wasted spent destroyed ruined forever sounds feels loses ignores ignored refuses \
        refused behaves acts helps helped rocks sucks misfires misfired hits deletes kills launches launched happened";
    const ADVERBS: &str = "just suddenly always still again also only really sometimes often constantly simply actually already \
        basically never randomly somehow now";
    if after.first() == Some(&"'s") || after.first() == Some(&"s'") {
        return true;
    }
    let version = Some(version_length(after))
        .filter(|length| *length > 1)
        .unwrap_or(0);
    if version > 0 && version == after.len() {
        return true;
    }
    let nouns = version
        + after
            .iter()
            .skip(version)
            .take_while(|word| among(NOUNS, word))
            .count();
    let adverbs = after
        .iter()
        .skip(nouns)
        .take_while(|word| among(ADVERBS, word))
        .count();
    if adverbs > 0
        && after.get(nouns + adverbs).is_some_and(|verb| {
            among(VERBS, verb) || among("running going on off starting stopping", verb)
        })
    {
        return true;
    }
    let Some(verb) = after.get(nouns) else {
        return is_named_noun(before, after, nouns);
    };
    if among(VERBS, verb) || is_named_noun(before, after, nouns) {
        return true;
    }
    let next = after.get(nouns + 1);
    match *verb {
        "can" | "will" | "would" | "could" => {
            !matches!(next, Some(&("you" | "u" | "we" | "please")))
        }
        "or" | "and" => {
            let third = after.get(nouns + 2);
            asks && after.len() == nouns + 2
                || third.is_some_and(|word| matches!(*word, "are" | "is" | "both" | "differ"))
        }
        _ => false,
    }
}

/// First words that are parts of a version: `v2.0` is two words.
fn version_length(words: &[&str]) -> usize {
    words
        .iter()
        .take_while(|word| {
            let digits = word.strip_prefix('v').unwrap_or(word);
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        })
        .count()
}

/// `the ulw hook`, where the keyword names a noun; `ulw mode` is a way to work.
fn is_named_noun(before: &[&str], after: &[&str], nouns: usize) -> bool {
    let used = before
        .iter()
        .rev()
        .find(|word| !matches!(**word, "the" | "a" | "your" | "my" | "this"));
    let in_use = used.is_none_or(|word| {
        matches!(
            *word,
            "use"
                | "do"
                | "run"
                | "start"
                | "enable"
                | "activate"
                | "using"
                | "with"
                | "in"
                | "enter"
                | "try"
        )
    });
    let noun = after.first().filter(|_| nouns > 0);
    match noun {
        None | Some(&"mode") => false,
        Some(
            &("state" | "config" | "docs" | "documentation" | "settings" | "detection"
            | "detector" | "name" | "banner"),
        ) => !before.is_empty(),
        Some(_) => !in_use,
    }
}

/// `ultrawork: what is it and how do I use it?`
fn is_asked_after(after: &[&str]) -> bool {
    let after: Vec<&str> = after
        .iter()
        .copied()
        .skip_while(|word| matches!(*word, "mode" | "so"))
        .take(5)
        .collect();
    match after.as_slice() {
        ["what's" | "whats", "it" | "that" | "this", rest @ ..] => {
            !matches!(rest.first(), Some(&"doing"))
        }
        ["explain" | "explained" | "explanation", ..] => after.len() <= 2,
        ["what", "is" | "was", "it" | "that" | "this", ..]
        | ["what" | "how", "does", "it", "do" | "work" | "mean", ..]
        | ["how", "to", "use", "it", ..]
        | ["how", "do", "i" | "we" | "you", "use", "it"]
        | [
            "when",
            "should" | "do" | "does",
            "i" | "we" | "you" | "it",
            "use" | "activate",
            ..,
        ] => true,
        _ => false,
    }
}
