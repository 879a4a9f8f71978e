//! Ids that look like those of the API and do not repeat.

use std::hash::{BuildHasher, Hasher, RandomState};

/// A random number; the standard library takes the keys of its hash maps from the system's source.
pub fn random_number() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// `prefix` and 22 hexadecimal digits, the form of `toolu_…`, `msg_…` and `req_…`.
pub fn tagged_id(prefix: &str) -> String {
    format!("{prefix}{:016x}{:06x}", random_number(), random_number() & 0xff_ffff)
}
