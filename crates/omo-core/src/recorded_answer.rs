//! A person's answer in the client's own question dialog, as the client recorded it.

use crate::timestamp::Timestamp;

/// One question of the dialog with its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedAnswer {
    /// Time of the answer.
    pub at: Timestamp,
    /// The short label above the question.
    pub header: String,
    /// Question in the model's words.
    pub question: String,
    /// Labels to choose from.
    pub labels: Vec<String>,
    /// Chosen label, or the person's own words.
    pub answer: String,
}

impl RecordedAnswer {
    /// `true` where the dialog names this id, in its header or as a word of the question.
    pub fn names(&self, id: &str) -> bool {
        let is_part_of_word = |char: char| char.is_alphanumeric() || matches!(char, '-' | '_');
        if id.is_empty() {
            return false;
        }
        let mut words = self.question.split(|char| !is_part_of_word(char));
        self.header.trim().eq_ignore_ascii_case(id)
            || words.any(|word| word.eq_ignore_ascii_case(id))
    }

    /// `true` for words of the person in the place of a label.
    pub fn is_own_words(&self) -> bool {
        !self.labels.contains(&self.answer)
    }

    /// `true` for the option of this id: the label is the id, begins with it as `a: SQLite` does, or is the option's
    /// meaning. A label with that id and another option's meaning is none: the person chose by the text.
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
        let says = |meaning: &str| {
            let meaning = meaning.trim().to_lowercase();
            !meaning.is_empty() && label.to_lowercase().contains(&meaning)
        };
        let is_other = !says(meaning) && others.any(says);
        is_id && ends_there && !is_other || label.eq_ignore_ascii_case(meaning.trim())
    }
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
