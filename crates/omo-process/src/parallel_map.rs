//! Maps a list with one thread for each item.

use std::panic::resume_unwind;

/// Results of `each` in the order of `items`.
pub fn parallel_map<T: Sync, R: Send>(items: &[T], each: impl Fn(&T) -> R + Sync) -> Vec<R> {
    std::thread::scope(|scope| {
        let each = &each;
        let parts: Vec<_> = items
            .iter()
            .map(|item| scope.spawn(move || each(item)))
            .collect();
        parts
            .into_iter()
            .map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic)))
            .collect()
    })
}
