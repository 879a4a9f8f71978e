//! A person's answer in the client's question dialog, as a transcript records it.

use crate::timestamp::Timestamp;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedAnswer {
    pub at: Timestamp,
    pub header: String,
    pub question: String,
    pub labels: Vec<String>,
    /// The chosen label, or the person's own words.
    pub answer: String,
}

impl RecordedAnswer {
    /// `true` where the header is `id`, or the question holds it as a word.
    pub fn names(&self, id: &str) -> bool {
        if id.is_empty() {
            return false;
        }
        let mut words = self
            .question
            .split(|char: char| !char.is_alphanumeric() && !matches!(char, '-' | '_'));
        self.header.trim().eq_ignore_ascii_case(id)
            || words.any(|word| word.eq_ignore_ascii_case(id))
    }

    /// `true` for free text instead of a label.
    pub fn is_own_words(&self) -> bool {
        !self.labels.contains(&self.answer)
    }

    /// `true` where the label is `id`, begins with it as `a: SQLite` does, or is `meaning`. A label
    /// with this id and another option's meaning is none: the person chose by the text.
    pub fn chooses<'a>(
        &self,
        id: &str,
        meaning: &str,
        mut others: impl Iterator<Item = &'a str>,
    ) -> bool {
        let label = self.answer.trim();
        let label = label.strip_prefix("Option ").unwrap_or(label);
        let is_id = label
            .get(..id.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(id));
        let ends_there = label.get(id.len()..).is_some_and(|rest| {
            rest.is_empty()
                || rest.starts_with([':', ')', '.', ','])
                || rest.starts_with(" - ")
                || rest.starts_with(" (")
        });
        let is_other = !says(label, meaning) && others.any(|other| says(label, other));
        is_id && ends_there && !is_other || label.eq_ignore_ascii_case(meaning.trim())
    }
}

fn says(label: &str, meaning: &str) -> bool {
    let meaning = meaning.trim().to_lowercase();
    !meaning.is_empty() && label.to_lowercase().contains(&meaning)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(answer: &str) -> RecordedAnswer {
        let labels = ["A: SQLite", "B: Files"].map(str::to_owned).to_vec();
        let question = "Which storage (DP-1)?".to_owned();
        let (header, answer) = ("q2".to_owned(), answer.to_owned());
        RecordedAnswer {
            at: Timestamp::from_millis(1),
            header,
            question,
            labels,
            answer,
        }
    }

    #[test]
    fn a_question_is_named_by_a_header_or_a_whole_word() {
        for (id, is_named) in [
            ("q2", true),
            ("Q2", true),
            ("DP-1", true),
            ("DP", false),
            ("q", false),
            ("", false),
        ] {
            assert_eq!(answered("A").names(id), is_named, "{id}");
        }
    }

    #[test]
    fn a_label_chooses_the_option_that_it_begins_with_or_means() {
        let table = [
            ("A", true),
            ("a: SQLite", true),
            ("Option A", true),
            ("A (Recommended)", true),
            ("sqlite", true),
            ("All of it", false),
            ("A B", false),
            ("B: A", false),
            ("", false),
            ("é", false),
            ("A: Files", false),
            ("A: SQLite, not files", true),
        ];
        for (answer, is_chosen) in table {
            assert_eq!(
                answered(answer).chooses("A", "SQLite", ["Files"].into_iter()),
                is_chosen,
                "{answer}"
            );
        }
        assert!(answered("files, please").is_own_words() && !answered("B: Files").is_own_words());
    }
}
