//! Reads lists of numbers: `1, 2 and 5-7`, `Session 1, S2`, `none`.

use crate::labels::split_list_marker;
use crate::pattern::Pattern;

/// At most `most` numbers, each behind one of `words` or none; the error is the part that is no
/// number.
pub(crate) fn parse_numbers(value: &str, words: &[&str], most: usize) -> Result<Vec<u64>, String> {
    if super::is_nothing(value) {
        return Ok(Vec::new());
    }
    let mut found: Vec<u64> = Vec::new();
    let lines = value
        .lines()
        .map(|line| before_a_note(split_list_marker(line).1));
    for part in lines
        .flat_map(|line| line.split([',', ';', '&', '+']))
        .flat_map(|part| part.split(" and "))
    {
        let part = part.trim_matches(|char: char| char.is_whitespace() || "*_`.[]".contains(char));
        let part = part.strip_prefix("and ").unwrap_or(part);
        if part.is_empty() {
            continue;
        }
        let (first, last) = parse_range(part, words).ok_or_else(|| part.to_owned())?;
        let room = u64::try_from(most.saturating_sub(found.len())).unwrap_or(0);
        if last < first || last - first >= room {
            return Err(part.to_owned());
        }
        found.extend(first..=last);
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|number| seen.insert(*number));
    Ok(found)
}

/// Text before a bracket, a dash or a colon, as in `Step 1: its title`.
fn before_a_note(line: &str) -> &str {
    let end = [" (", " — ", " -- ", ":"]
        .iter()
        .filter_map(|mark| line.find(mark))
        .min();
    line.get(..end.unwrap_or(line.len())).unwrap_or(line)
}

/// Range of numbers: `3`, `3-5`, `3–5`, `3 to 5`, with words before the numbers.
static RANGE: Pattern =
    Pattern::new(r"^\s*([A-Za-z]*)\s*([0-9]+)(?:(?:\s*[–-]| to )\s*([A-Za-z]*)\s*([0-9]+))?\s*$");

fn parse_range(part: &str, words: &[&str]) -> Option<(u64, u64)> {
    let ([word, first, other, last], _) = RANGE.read(part)?;
    let is_range = [word, other]
        .iter()
        .all(|word| word.is_empty() || words.iter().any(|known| known.eq_ignore_ascii_case(word)));
    let last = if last.is_empty() { first } else { last };
    is_range.then_some((first.parse().ok()?, last.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_numbers_is_read_in_every_spelling() {
        let words = ["session", "sessions", "s"];
        for (value, expected) in [
            ("none", Ok(vec![])),
            ("—", Ok(vec![])),
            ("", Ok(vec![])),
            ("1", Ok(vec![1])),
            ("1, 2", Ok(vec![1, 2])),
            ("1, 2, and 3", Ok(vec![1, 2, 3])),
            ("Session 1", Ok(vec![1])),
            ("Sessions 1 and 2", Ok(vec![1, 2])),
            ("S1, S2", Ok(vec![1, 2])),
            ("2-4", Ok(vec![2, 3, 4])),
            ("Session 2 – Session 3", Ok(vec![2, 3])),
            ("2 to 3", Ok(vec![2, 3])),
            ("**3**, `4`", Ok(vec![3, 4])),
            ("- 1\n- 2", Ok(vec![1, 2])),
            (
                "\n  - Session 1: A, and more\n  - Session 2: B",
                Ok(vec![1, 2]),
            ),
            ("Session 1 (needs its types)", Ok(vec![1])),
            ("1, 1", Ok(vec![1])),
            ("all", Err("all".to_owned())),
            ("1, Step 2", Err("Step 2".to_owned())),
            ("4-2", Err("4-2".to_owned())),
            ("1-99999999", Err("1-99999999".to_owned())),
            (
                "99999999999999999999",
                Err("99999999999999999999".to_owned()),
            ),
            ("１", Err("１".to_owned())),
        ] {
            assert_eq!(parse_numbers(value, &words, 1_000), expected, "{value}");
        }
    }
}
