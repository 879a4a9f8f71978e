//! Topological order of tasks by their dependencies, or a cycle among them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

const MAX_NAMED_MEMBERS: usize = 12;

/// Indices in topological order; `needs` has the predecessors of each. Unknown indices and an index itself are ignored.
///
/// # Errors
///
/// Members of a cycle, each of which needs the next one.
pub fn order_by_needs(needs: &[Vec<usize>]) -> Result<Vec<usize>, Vec<usize>> {
    let mut needed_by: Vec<Vec<usize>> = vec![Vec::new(); needs.len()];
    let mut open = vec![0_usize; needs.len()];
    for (place, own) in needs.iter().enumerate() {
        for need in own.iter().copied() {
            if need == place || need >= needs.len() {
                continue;
            }
            needed_by
                .get_mut(need)
                .into_iter()
                .for_each(|dependents| dependents.push(place));
            open.get_mut(place)
                .into_iter()
                .for_each(|count| *count += 1);
        }
    }
    // The lowest free index goes next.
    let mut free: BinaryHeap<Reverse<usize>> = open
        .iter()
        .enumerate()
        .filter(|(_, count)| **count == 0)
        .map(|(place, _)| Reverse(place))
        .collect();
    let mut order = Vec::with_capacity(needs.len());
    while let Some(Reverse(place)) = free.pop() {
        order.push(place);
        for dependent in needed_by.get(place).into_iter().flatten() {
            if let Some(count) = open.get_mut(*dependent) {
                *count -= 1;
                free.extend((*count == 0).then_some(Reverse(*dependent)));
            }
        }
    }
    if order.len() == needs.len() {
        Ok(order)
    } else {
        Err(find_circle(needs, &open))
    }
}

/// Members of a cycle: each open index needs another open one, so following these needs ends in a cycle.
fn find_circle(needs: &[Vec<usize>], open: &[usize]) -> Vec<usize> {
    let mut position: Vec<Option<usize>> = vec![None; needs.len()];
    let mut path: Vec<usize> = Vec::new();
    let mut at = (0..needs.len()).find(|place| has_open_needs(open, *place));
    while let Some(place) = at {
        match position.get_mut(place) {
            Some(slot @ None) => *slot = Some(path.len()),
            Some(Some(first)) => {
                path.drain(..*first);
                break;
            }
            None => break,
        }
        path.push(place);
        let own = needs.get(place).into_iter().flatten().copied();
        at = own
            .filter(|need| *need != place)
            .find(|need| has_open_needs(open, *need));
    }
    path
}

fn has_open_needs(open: &[usize], place: usize) -> bool {
    open.get(place).is_some_and(|count| *count > 0)
}

/// Members of a cycle as `1 → 2 → 1`, shortened where there are many.
pub(crate) fn circle_words<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    let mut shown: Vec<&str> = names.iter().copied().take(MAX_NAMED_MEMBERS).collect();
    shown.extend((names.len() > MAX_NAMED_MEMBERS).then_some("…"));
    shown.extend(names.first());
    shown.join(" → ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_comes_first() {
        assert_eq!(
            order_by_needs(&[vec![2], vec![], vec![]]),
            Ok(vec![1, 2, 0])
        );
        assert_eq!(order_by_needs(&[vec![1, 1, 9, 0], vec![]]), Ok(vec![1, 0]));
        assert_eq!(order_by_needs(&[]), Ok(vec![]));
    }

    #[test]
    fn a_circle_is_found_wherever_it_is_entered() {
        assert_eq!(
            order_by_needs(&[vec![1], vec![2], vec![1], vec![]]),
            Err(vec![1, 2])
        );
        assert_eq!(circle_words(["1", "2"].into_iter()), "1 → 2 → 1");
        let long: Vec<String> = (0..20).map(|number| number.to_string()).collect();
        let words = circle_words(long.iter().map(String::as_str));
        assert!(words.ends_with("10 → 11 → … → 0"), "{words}");
    }
}
