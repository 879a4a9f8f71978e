//! Tests of which the ordinary run plays a fixed sample, and `cargo xtask test --exhaustive` all.

/// Whether every case is played.
pub fn is_exhaustive() -> bool {
    #[expect(
        clippy::disallowed_methods,
        reason = "the task that runs the tests says so"
    )]
    let asked = std::env::var_os("OMO_TEST_EXHAUSTIVE");
    asked.is_some()
}

/// One of three, another one at each turn; all of them before a release.
pub fn sampled<T>(all: &[T], turn: usize) -> impl Iterator<Item = &T> {
    let every = if is_exhaustive() { 1 } else { 3 };
    all.iter().skip(turn % every).step_by(every)
}
