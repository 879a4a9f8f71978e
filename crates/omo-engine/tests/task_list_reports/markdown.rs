//! A screen as a reader of Markdown takes it: its headings and its tables.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// The structure of a text, without its words.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Outline {
    /// The text of every heading.
    pub headings: Vec<String>,
    /// Every table: its rows of cells, the heads among them.
    pub tables: Vec<Vec<Vec<String>>>,
    /// Some part would be passed on as HTML.
    pub has_html: bool,
}

impl Outline {
    /// The structure by the rules of Markdown.
    pub(crate) fn of(text: &str) -> Self {
        let mut outline = Self::default();
        let mut said = String::new();
        for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::Heading { .. } | Tag::TableCell) => said.clear(),
                Event::Start(Tag::Table(_)) => outline.tables.push(Vec::new()),
                Event::Start(Tag::TableHead | Tag::TableRow) => {
                    outline.tables.last_mut().unwrap().push(Vec::new());
                }
                Event::End(TagEnd::Heading(_)) => outline.headings.push(said.clone()),
                Event::End(TagEnd::TableCell) => outline.last_row().push(said.clone()),
                Event::Text(text) | Event::Code(text) => said.push_str(&text),
                Event::Html(_) | Event::InlineHtml(_) => outline.has_html = true,
                _ => {}
            }
        }
        outline
    }

    fn last_row(&mut self) -> &mut Vec<String> {
        self.tables.last_mut().unwrap().last_mut().unwrap()
    }

    pub(crate) fn table(&self, heads: &[&str]) -> &[Vec<String>] {
        let is_it = |table: &&Vec<Vec<String>>| table.first().unwrap() == heads;
        self.tables
            .iter()
            .find(is_it)
            .unwrap_or_else(|| panic!("{heads:?} in {self:?}"))
            .get(1..)
            .unwrap()
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = &Vec<String>> {
        self.tables.iter().flat_map(|table| table.iter().skip(1))
    }

    /// Numbers of rows and columns of each table.
    pub(crate) fn sizes(&self) -> Vec<(usize, usize)> {
        self.tables
            .iter()
            .map(|table| (table.len(), table.first().unwrap().len()))
            .collect()
    }
}
