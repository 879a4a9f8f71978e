//! Patterns by which the lines of a plan are recognized, each compiled at its first use and only then.
//!
//! A search takes time in proportion to the length of its text, whatever stands in it, and the texts are lines or
//! fields of a file of bounded size.

use std::sync::OnceLock;

use regex::Regex;

use crate::words::with_words;

/// A built-in pattern. A broken one matches nothing; tests, where it asserts, find that.
pub(crate) struct Pattern {
    text: &'static str,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    /// The pattern that a text describes, in which names such as `{task}` stand for words of all languages.
    pub(crate) const fn new(text: &'static str) -> Self {
        Self {
            text,
            compiled: OnceLock::new(),
        }
    }

    fn regex(&self) -> Option<&Regex> {
        let compile = || {
            let compiled = Regex::new(&with_words(self.text));
            debug_assert!(compiled.is_ok(), "{compiled:?}");
            compiled.ok()
        };
        self.compiled.get_or_init(compile).as_ref()
    }

    /// `true` for a match anywhere in a text.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.regex().is_some_and(|regex| regex.is_match(text))
    }

    /// Texts of the groups, empty for a group without a match; and the text behind the whole match.
    pub(crate) fn read<'t, const GROUPS: usize>(
        &self,
        text: &'t str,
    ) -> Option<([&'t str; GROUPS], &'t str)> {
        let found = self.regex()?.captures(text)?;
        let group = |number: usize| found.get(number).map_or("", |group| group.as_str());
        let behind = text.get(found.get(0)?.end()..)?;
        Some((std::array::from_fn(|place| group(place + 1)), behind))
    }

    /// Text behind the first match.
    pub(crate) fn behind<'t>(&self, text: &'t str) -> Option<&'t str> {
        let end = self.regex()?.find(text)?.end();
        text.get(end..)
    }

    /// Text before the first match, and text behind it.
    pub(crate) fn around<'t>(&self, text: &'t str) -> Option<(&'t str, &'t str)> {
        let found = self.regex()?.find(text)?;
        text.get(..found.start()).zip(text.get(found.end()..))
    }

    pub(crate) fn starts(&self, text: &str) -> impl Iterator<Item = usize> {
        self.regex()
            .into_iter()
            .flat_map(|regex| regex.find_iter(text))
            .map(|found| found.start())
    }
}
