//! Pasted prose around a keyword: headings, keys, rows, and text behind a label.

use super::{Line, among, is_name};

impl Line<'_> {
    /// A heading: `# ulw`, or `ulw` above a line of `=`.
    pub(super) fn is_heading(&self, next: &str) -> bool {
        let is_marked =
            self.before().starts_with('#') && self.before().trim_start_matches('#') == " ";
        let is_underlined = next.len() > 2 && next.trim_end().bytes().all(|byte| byte == b'=');
        let rest = self.after().trim();
        is_marked && (rest.is_empty() || rest.starts_with('-'))
            || is_underlined && self.before().is_empty() && rest.is_empty()
    }

    /// A key: `ulw:` above `  name: value`; an instruction has more words.
    pub(super) fn is_key_of(&self, next: &str) -> bool {
        let is_key = self.starts_with_keyword() && self.after().trim_end() == ":";
        let pair = next
            .starts_with([' ', '\t'])
            .then(|| next.trim().split_once(':'))
            .flatten();
        is_key
            && pair.is_some_and(|(name, value)| {
                is_name(name) && !name.starts_with('-') && value.split_whitespace().count() < 2
            })
    }

    /// A row of a table or list: `ulw,goal,ralph`, `ulw\t8\t240`, `ulw — goal — ralph`.
    pub(super) fn is_row_of_words(&self) -> bool {
        let line = self.text.trim();
        let is_pair = self.before().trim().is_empty()
            && self.after().trim().is_empty()
            && self
                .text
                .get(self.word.clone())
                .is_some_and(|word| word.contains('/'));
        is_pair
            || line.matches('\t').count() > 1
            || !line.contains(", ")
                && [" — ", " – ", " - ", ","].iter().any(|mark| {
                    line.matches(mark).count() > 1
                        && line
                            .split(mark)
                            .all(|cell| cell.is_ascii() && cell.split_whitespace().count() == 1)
                })
    }

    /// Quoted text: `He wrote: use ulw`, `translate to German: ulw …`, `Subject: ulw …`.
    pub(super) fn is_behind_label(&self) -> bool {
        const SPEECH_VERBS: &str = "wrote writes said says asked asks replied typed answered";
        const TEXT_TASKS: &str = "translate spell rephrase paraphrase proofread pronounce";
        const MAIL_HEADERS: &str = "subject re fwd fw aw title betreff";
        let Some((label, _)) = self.before().split_once(": ") else {
            return false;
        };
        let label = label.to_ascii_lowercase();
        let words: Vec<&str> = label.split_whitespace().collect();
        let is_about_user = words
            .iter()
            .any(|word| matches!(*word, "i" | "as" | "like"));
        words.last().is_some_and(|last| among(SPEECH_VERBS, last))
            && words.len() > 1
            && !is_about_user
            || words
                .iter()
                .find(|word| **word != "please")
                .is_some_and(|first| among(TEXT_TASKS, first))
            || words.len() == 1 && among(MAIL_HEADERS, &label)
    }
}
