//! Tests of which the ordinary run plays a fixed sample, and `cargo xtask test --exhaustive` all.

/// Whether every case is played.
pub fn is_exhaustive() -> bool {
    #[expect(clippy::disallowed_methods, reason = "the task that runs the tests says so")]
    let asked = std::env::var_os("OMO_TEST_EXHAUSTIVE");
    asked.is_some()
}
