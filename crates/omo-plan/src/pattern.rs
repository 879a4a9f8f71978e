//! Regular expressions for lines of plans, with words in all languages. Search time is linear.

use std::sync::OnceLock;

use regex::Regex;

use crate::words::fill_placeholders;

/// Regular expression, compiled at first use. A broken one matches nothing; tests find it.
pub(crate) struct Pattern {
    text: &'static str,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    /// Pattern of `text`, in which names such as `{task}` stand for words of all languages.
    pub(crate) const fn new(text: &'static str) -> Self {
        Self {
            text,
            compiled: OnceLock::new(),
        }
    }

    fn regex(&self) -> Option<&Regex> {
        self.compiled
            .get_or_init(|| {
                let compiled = Regex::new(&fill_placeholders(self.text));
                debug_assert!(compiled.is_ok(), "{compiled:?}");
                compiled.ok()
            })
            .as_ref()
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.regex().is_some_and(|regex| regex.is_match(text))
    }

    /// Captured groups, empty without a match, and the text behind the whole match.
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
