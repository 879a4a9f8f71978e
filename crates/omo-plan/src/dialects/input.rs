//! A file as dialects look at it: its path, its text, and what is where in it.

use std::cell::OnceCell;

use crate::document::MarkdownDocument;

/// A file that may be a plan. Its Markdown is read once, for all dialects, and only where one asks for it.
#[derive(Debug)]
pub struct PlanInput<'a> {
    path: &'a str,
    text: &'a str,
    document: OnceCell<MarkdownDocument<'a>>,
}

impl<'a> PlanInput<'a> {
    /// The text of the file at this path.
    pub fn new(path: &'a str, text: &'a str) -> Self {
        Self { path, text, document: OnceCell::new() }
    }

    /// Its path, as it was given.
    pub fn path(&self) -> &'a str {
        self.path
    }

    /// Its text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Its text as Markdown.
    pub fn document(&self) -> &MarkdownDocument<'a> {
        self.document.get_or_init(|| MarkdownDocument::read(self.text))
    }
}
