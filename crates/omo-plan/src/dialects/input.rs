//! `PlanInput`: path and text of a file that may be a plan.

use std::cell::OnceCell;

use crate::document::MarkdownDocument;
use crate::model::Dialect;

/// File to recognize and read. Its Markdown is parsed once for all dialects, on demand.
#[derive(Debug)]
pub struct PlanInput<'a> {
    path: &'a str,
    text: &'a str,
    document: OnceCell<MarkdownDocument<'a>>,
    checklist_format: OnceCell<Option<Dialect>>,
}

impl<'a> PlanInput<'a> {
    pub fn new(path: &'a str, text: &'a str) -> Self {
        Self {
            path,
            text,
            document: OnceCell::new(),
            checklist_format: OnceCell::new(),
        }
    }

    pub fn path(&self) -> &'a str {
        self.path
    }

    pub fn text(&self) -> &'a str {
        self.text
    }

    /// `true` for text that looks like a JSON object, in which no Markdown is read.
    pub fn is_json(&self) -> bool {
        let text = self.text.trim_start_matches('\u{feff}').trim_start();
        text.strip_prefix('{')
            .is_some_and(|inner| inner.trim_start().starts_with(['"', '}']))
    }

    pub fn document(&self) -> &MarkdownDocument<'a> {
        self.document
            .get_or_init(|| MarkdownDocument::read(self.text))
    }

    /// Format of the checklist; `find` is called once for all dialects.
    pub(super) fn checklist_format(
        &self,
        find: impl FnOnce() -> Option<Dialect>,
    ) -> Option<Dialect> {
        *self.checklist_format.get_or_init(find)
    }
}
