//! `Pattern` of a line in a plan. A search takes time in proportion to its text, whatever stands in it.

use std::sync::OnceLock;

use regex::Regex;

use crate::words::with_words;

/// Compiled at first use. A broken one matches nothing; tests assert that there is none.
pub(crate) struct Pattern {
    text: &'static str,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    /// Names such as `{task}` stand for words of all languages.
    pub(crate) const fn new(text: &'static str) -> Self {
        Self {
            text,
            compiled: OnceLock::new(),
        }
    }

    fn regex(&self) -> Option<&Regex> {
        self.compiled
            .get_or_init(|| {
                let compiled = Regex::new(&with_words(self.text));
                debug_assert!(compiled.is_ok(), "{compiled:?}");
                compiled.ok()
            })
            .as_ref()
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.regex().is_some_and(|regex| regex.is_match(text))
    }

    /// Groups, empty without a match, and the text behind the whole match.
    pub(crate) fn read<'t, const GROUPS: usize>(
        &self,
        text: &'t str,
    ) -> Option<([&'t str; GROUPS], &'t str)> {
        let captures = self.regex()?.captures(text)?;
        let behind = text.get(captures.get(0)?.end()..)?;
        let groups =
            std::array::from_fn(|place| captures.get(place + 1).map_or("", |group| group.as_str()));
        Some((groups, behind))
    }

    pub(crate) fn behind<'t>(&self, text: &'t str) -> Option<&'t str> {
        let end = self.regex()?.find(text)?.end();
        text.get(end..)
    }

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
