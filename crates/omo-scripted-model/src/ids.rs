//! Ids that look like those of the API and do not repeat.

use std::hash::{BuildHasher, Hasher, RandomState};

/// A random number, from the hash map keys that the standard library takes from the system.
pub fn random_number() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// `prefix` and 22 hexadecimal digits, the form of `toolu_…`, `msg_…` and `req_…`.
pub fn tagged_id(prefix: &str) -> String {
    format!(
        "{prefix}{:016x}{:06x}",
        random_number(),
        random_number() & 0xff_ffff
    )
}
