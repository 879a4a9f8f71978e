//! Patterns of file names, as shells and plans write them: `src/*.rs`, `a[0-9]`, `{x,y}`.

/// `true` for a part of a path that holds a pattern.
pub fn is_glob(part: &str) -> bool {
    part.contains(['*', '?', '[']) || has_alternatives(part)
}

/// `true` for braces such as `{a,b}` and `{1..9}`; those of `users_{id}.yaml` are letters.
fn has_alternatives(part: &str) -> bool {
    let (mut depth, mut innermost) = (0_usize, None);
    for (at, char) in part.char_indices() {
        match char {
            '{' => (depth, innermost) = (depth + 1, Some(at + 1)),
            ',' if depth > 0 => return true,
            '}' if depth > 0 => {
                let inside = innermost.take().and_then(|start| part.get(start..at));
                if inside.is_some_and(is_range) {
                    return true;
                }
                depth -= 1;
            }
            _ => {}
        }
    }
    depth > 0
}

/// Inside of braces: `1..9`, `a..e` or `01..10..2`.
fn is_range(inside: &str) -> bool {
    let bounds: Vec<&str> = inside.split("..").collect();
    matches!(bounds.len(), 2 | 3)
        && bounds.iter().all(|bound| {
            bound.trim_start_matches('-').parse::<u64>().is_ok()
                || matches!(bound.as_bytes(), [letter] if letter.is_ascii_alphabetic())
        })
}

/// `true` for a `name` that fits: `[id]` fits the folder of that name, `i` and `d`; `{…}` fits all.
pub fn matches_glob(pattern: &str, name: &str) -> bool {
    pattern == name
        || matches_letters(pattern, name, true)
        || name.contains('[') && matches_letters(pattern, name, false)
}

fn matches_letters(pattern: &str, name: &str, reads_sets: bool) -> bool {
    let has_alternatives = has_alternatives(pattern);
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut from) = (0, 0);
    // The place to retry from when what follows the last star does not fit.
    let mut retry: Option<(usize, usize)> = None;
    loop {
        let set = pattern.get(at..).filter(|_| reads_sets).and_then(read_set);
        match (pattern.get(at), name.get(from)) {
            (None, None) => return true,
            (Some('{'), _) if has_alternatives => return true,
            (Some('*'), _) => {
                retry = Some((at, from));
                at += 1;
                continue;
            }
            (Some('?'), Some(_)) => {
                (at, from) = (at + 1, from + 1);
                continue;
            }
            (Some(want), Some(has)) => {
                let (is_met, length) =
                    set.map_or((want == has, 1), |set| (set.contains(*has), set.length));
                if is_met {
                    (at, from) = (at + length, from + 1);
                    continue;
                }
            }
            (_, _) => {}
        }
        match retry {
            Some((star, tried)) if tried < name.len() => {
                retry = Some((star, tried + 1));
                (at, from) = (star + 1, tried + 1);
            }
            _ => return false,
        }
    }
}

/// The start of a named class, such as `[:digit:]`, which matches anything.
const CLASS: &[char] = &['[', ':'];

/// A set of letters, such as `[a-c]` and `[!0-9]`.
struct LetterSet<'p> {
    letters: &'p [char],
    is_negated: bool,
    length: usize,
}

impl LetterSet<'_> {
    fn contains(&self, letter: char) -> bool {
        let mut rest = self.letters;
        let mut is_in = false;
        while let [first, more @ ..] = rest {
            (is_in, rest) = match more {
                ['-', last, more @ ..] => (is_in || (*first..=*last).contains(&letter), more),
                more => (is_in || *first == letter, more),
            };
        }
        self.letters.starts_with(CLASS) || is_in != self.is_negated
    }
}

/// Maximum letters of a set, which bounds the cost of a hostile pattern.
const MAX_SET: usize = 64;

fn read_set(pattern: &[char]) -> Option<LetterSet<'_>> {
    let inside = pattern.strip_prefix(&['['])?;
    let inside = inside.get(..inside.len().min(MAX_SET))?;
    let is_negated = matches!(inside.first(), Some('!' | '^'));
    let start = usize::from(is_negated);
    // The bracket of a named class does not close the set, nor does one that comes first.
    let is_class = inside.get(start..)?.starts_with(CLASS);
    let class_end = inside
        .windows(2)
        .position(|pair| pair == [':', ']'])
        .filter(|_| is_class);
    let from = class_end.map_or(start + 1, |end| end + 2);
    let end = from + inside.get(from..)?.iter().position(|char| *char == ']')?;
    Some(LetterSet {
        letters: inside.get(start..end)?,
        is_negated,
        length: end + 2,
    })
}

#[cfg(test)]
mod tests {
    use super::{is_glob, matches_glob};

    #[test]
    fn braces_without_a_comma_or_a_range_are_letters() {
        for (name, expected) in [
            ("{a,b}.rs", true),
            ("{1..9}.txt", true),
            ("{a..e}", true),
            ("{01..10..2}", true),
            ("x{{a,b},c}", true),
            ("{src", true),
            ("{id}.yaml", false),
            ("users_{username}_{id}.yaml", false),
            ("{{cookiecutter.project_slug}}", false),
            ("{...rest}.ts", false),
            ("{a..rest}", false),
            ("{id}_{a,b}", true),
            ("${HOME}", false),
            ("{}", false),
            ("}{id}", false),
        ] {
            assert_eq!(is_glob(name), expected, "{name}");
        }
    }

    #[test]
    fn a_star_stands_for_any_letters_and_a_question_mark_for_one() {
        for (pattern, name, expected) in [
            ("*.sh", "a.sh", true),
            ("*.sh", "a.sh.txt", false),
            ("a*b*c", "aXbYbZc", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("abc", "abc", true),
            ("*", "", true),
            ("[ab].sh", "a.sh", true),
            ("[ab].sh", "x.sh", false),
            ("[a-c][0-9].sh", "b7.sh", true),
            ("[!a-c].sh", "b.sh", false),
            ("[^a-c].sh", "é.sh", true),
            ("*[0-9].sh", "a12.sh", true),
            ("[]a].sh", "].sh", true),
            ("[[:digit:]].sh", "7.sh", true),
            ("[id].tsx", "[id].tsx", true),
            ("[id].tsx", "about.tsx", false),
            ("[id]*.tsx", "[id]-edit.tsx", true),
            ("[...slug]", "[...slug]", true),
            ("[[...slug]]", "[[...slug]]", true),
            ("[[...slug]]", "shop", false),
            ("[open", "[open", true),
            ("{a,b}.sh", "x.sh", true),
            ("{}", "x", false),
            ("{}", "{}", true),
        ] {
            assert_eq!(matches_glob(pattern, name), expected, "{pattern} {name}");
        }
    }
}
