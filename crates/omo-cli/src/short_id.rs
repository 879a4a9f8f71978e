//! `ShortIds`: the shortest unique prefixes of session ids, for people.

use std::collections::{BTreeSet, HashMap};

const LEAST_CHARS: usize = 8;

#[derive(Debug, Default)]
pub(crate) struct ShortIds(HashMap<String, usize>);

impl ShortIds {
    /// Shortest unique prefix of each of `ids`, at least [`LEAST_CHARS`] long.
    pub(crate) fn new<'a>(ids: impl IntoIterator<Item = &'a str>) -> Self {
        let ids: Vec<&str> = ids
            .into_iter()
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        let mut needed: Vec<usize> = vec![LEAST_CHARS; ids.len()];
        // Sorted, the id with the longest common prefix is a neighbour.
        for (index, pair) in ids.windows(2).enumerate() {
            let [one, other] = pair else { continue };
            let common = one
                .chars()
                .zip(other.chars())
                .take_while(|(one, other)| one == other)
                .count();
            for length in needed.iter_mut().skip(index).take(2) {
                *length = (*length).max(common + 1);
            }
        }
        Self(ids.into_iter().map(str::to_owned).zip(needed).collect())
    }

    /// Short form of a known id; any other id stays whole.
    pub(crate) fn get<'a>(&self, id: &'a str) -> &'a str {
        let chars = self.0.get(id).copied().unwrap_or(usize::MAX);
        id.char_indices()
            .nth(chars)
            .map_or(id, |(end, _)| id.get(..end).unwrap_or(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_as_short_as_tells_it_from_the_others() {
        let ids = [
            "0b7f2a9c-4444",
            "0b7f2a9c-4d00",
            "1234567890",
            "abc",
            "abcdefgh-1",
            "한국어한국어한국어한국어",
        ];
        let short = ShortIds::new(ids);
        let shown = ids.map(|id| short.get(id));
        assert_eq!(
            shown,
            [
                "0b7f2a9c-44",
                "0b7f2a9c-4d",
                "12345678",
                "abc",
                "abcdefgh",
                "한국어한국어한국"
            ]
        );
        assert_eq!(short.get("another-one"), "another-one");
    }

    #[test]
    fn one_that_others_begin_with_is_whole() {
        let ids = ["sessions", "sessions-2", "sessions-23"];
        let short = ShortIds::new(ids);
        assert_eq!(
            ids.map(|id| short.get(id)),
            ["sessions", "sessions-2", "sessions-23"]
        );
    }
}
