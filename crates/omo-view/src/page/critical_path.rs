//! Critical path of a run: the attempts that waited for each other, from its last end back to its
//! beginning.

use std::collections::BTreeSet;

use crate::run_view::{RunView, Span, SpanKind};

/// Maximum attempts: a picture of more shows none of them.
const MAX_ATTEMPTS: usize = 3_000;

type SpanPlace = (usize, usize);

/// The attempts of the critical path: the one that ended last, before it the one that ended last of those that it had to
/// wait for, and so on. An attempt waits for what its task needs, for earlier attempts at it, and for its own worker.
pub(crate) fn critical_path(page: &RunView) -> BTreeSet<SpanPlace> {
    let lanes = page.timeline.lanes.iter().enumerate();
    let all = lanes.flat_map(|(lane, of)| {
        of.spans
            .iter()
            .enumerate()
            .map(move |(place, span)| ((lane, place), span))
    });
    let attempts: Vec<(SpanPlace, &Span, usize)> = all
        .filter_map(|(place, span)| match span.kind {
            SpanKind::Attempt { task, .. } => Some((place, span, task)),
            SpanKind::Turn | SpanKind::Review | SpanKind::Background | SpanKind::Person => None,
        })
        .take(MAX_ATTEMPTS)
        .collect();
    let end = |span: &Span| span.until.unwrap_or(page.timeline.until);
    let mut path = BTreeSet::new();
    let mut current = attempts.iter().max_by_key(|(_, span, _)| end(span));
    while let Some((place, span, card)) = current {
        path.insert(*place);
        let needs = page
            .tasks
            .get(*card)
            .map(|card| card.needs.as_slice())
            .unwrap_or_default();
        let is_waited_for = |other: &&(SpanPlace, &Span, usize)| {
            let (other_place, other_span, other_card) = other;
            let is_before = end(other_span) <= span.from && !path.contains(other_place);
            is_before
                && (needs.contains(other_card) || other_card == card || other_place.0 == place.0)
        };
        current = attempts
            .iter()
            .filter(is_waited_for)
            .max_by_key(|(_, span, _)| end(span));
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::sample::{at, attempt_span, card, empty_page};
    use crate::run_view::{Lane, Standing};

    #[test]
    fn the_path_leads_back_over_what_was_waited_for() {
        let mut page = empty_page();
        page.tasks = vec![
            card("1", &[]),
            card("2", &[]),
            card("3", &[0, 1]),
            card("4", &[]),
        ];
        let lane = |name: &str, spans| Lane {
            name: name.to_owned(),
            spans,
            marks: Vec::new(),
        };
        page.timeline.lanes = vec![
            lane(
                "a",
                vec![
                    attempt_span(0, 0, 10, Standing::Passed),
                    attempt_span(2, 31, 60, Standing::Passed),
                ],
            ),
            lane(
                "b",
                vec![
                    attempt_span(1, 0, 12, Standing::Failed),
                    attempt_span(1, 13, 30, Standing::Passed),
                ],
            ),
            lane("c", vec![attempt_span(3, 0, 5, Standing::Passed)]),
        ];
        page.timeline.until = at(60);
        assert_eq!(
            critical_path(&page),
            BTreeSet::from([(0, 1), (1, 1), (1, 0)])
        );
        page.timeline.lanes.clear();
        assert_eq!(critical_path(&page), BTreeSet::new());
    }
}
