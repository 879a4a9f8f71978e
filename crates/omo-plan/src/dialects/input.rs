//! A file as dialects look at it: its path, its text, and what is where in it.

use std::cell::OnceCell;

use crate::document::MarkdownDocument;
use crate::model::Dialect;

/// A file that may be a plan. Its Markdown is read once, for all dialects, and only where one asks for it.
#[derive(Debug)]
pub struct PlanInput<'a> {
    path: &'a str,
    text: &'a str,
    document: OnceCell<MarkdownDocument<'a>>,
    checklist_format: OnceCell<Option<Dialect>>,
}

impl<'a> PlanInput<'a> {
    /// The text of the file at this path.
    pub fn new(path: &'a str, text: &'a str) -> Self {
        Self { path, text, document: OnceCell::new(), checklist_format: OnceCell::new() }
    }

    /// Its path, as it was given.
    pub fn path(&self) -> &'a str {
        self.path
    }

    /// Its text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Whether it looks like a JSON object, which no Markdown is read in.
    pub fn is_json(&self) -> bool {
        let text = self.text.trim_start_matches('\u{feff}').trim_start();
        text.strip_prefix('{').is_some_and(|inner| inner.trim_start().starts_with(['"', '}']))
    }

    /// Its text as Markdown.
    pub fn document(&self) -> &MarkdownDocument<'a> {
        self.document.get_or_init(|| MarkdownDocument::read(self.text))
    }

    /// Whose checklist it is, which each of their dialects asks; `find` looks.
    pub(super) fn checklist_format(&self, find: impl FnOnce() -> Option<Dialect>) -> Option<Dialect> {
        *self.checklist_format.get_or_init(find)
    }
}
