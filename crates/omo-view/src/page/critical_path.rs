//! Critical path of a run: the chain of attempts that decided how long it took, for its page.

use std::collections::BTreeSet;

use omo_core::timestamp::Timestamp;

use crate::run_view::{RunView, Span, SpanKind};

/// Maximum attempts that are looked at.
const MAX_ATTEMPTS: usize = 3_000;

type SpanPlace = (usize, usize);

/// Lane and index of each attempt on the path. Each waited for the one before: a need, an earlier try or its lane.
pub(crate) fn critical_path(view: &RunView) -> BTreeSet<SpanPlace> {
    let lanes = view.timeline.lanes.iter().enumerate();
    let spans = lanes.flat_map(|(lane_index, lane)| {
        let spans = lane.spans.iter().enumerate();
        spans.map(move |(place, span)| ((lane_index, place), span))
    });
    let attempts: Vec<(SpanPlace, &Span, usize)> = spans
        .filter_map(|(place, span)| match span.kind {
            SpanKind::Attempt { task, .. } => Some((place, span, task)),
            SpanKind::Turn
            | SpanKind::Review
            | SpanKind::Background
            | SpanKind::Person
            | SpanKind::Idle => None,
        })
        .take(MAX_ATTEMPTS)
        .collect();
    let mut path = BTreeSet::new();
    let mut current = attempts.iter().max_by_key(|(_, span, _)| end(span, view));
    while let Some((place, span, task)) = current {
        path.insert(*place);
        let needs = view
            .tasks
            .get(*task)
            .map(|task| task.needs.as_slice())
            .unwrap_or_default();
        current = attempts
            .iter()
            .filter(|(other_place, other_span, other_task)| {
                let is_before = end(other_span, view) <= span.from && !path.contains(other_place);
                is_before
                    && (needs.contains(other_task)
                        || other_task == task
                        || other_place.0 == place.0)
            })
            .max_by_key(|(_, span, _)| end(span, view));
    }
    path
}

fn end(span: &Span, view: &RunView) -> Timestamp {
    span.until.unwrap_or(view.timeline.until)
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
