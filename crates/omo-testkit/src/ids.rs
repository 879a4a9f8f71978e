//! Ids that look like the client's and do not repeat.

use std::hash::{BuildHasher, Hasher, RandomState};

/// A random number; the standard library seeds its hash maps from the system's source.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// A version 4 UUID, the form of session, prompt and line ids.
pub(crate) fn uuid() -> String {
    let (high, low) = (random(), random());
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xfff,
        0x8000 | ((low >> 48) & 0x3fff),
        low & 0xffff_ffff_ffff,
    )
}

/// `prefix` and 22 hexadecimal digits, the form of `toolu_…`, `msg_…` and `req_…`.
pub(crate) fn tagged(prefix: &str) -> String {
    format!("{prefix}{:016x}{:06x}", random(), random() & 0xff_ffff)
}

/// The 17 digits of an agent's id, which begins with `a`.
pub(crate) fn agent() -> String {
    format!("a{:016x}", random())
}
