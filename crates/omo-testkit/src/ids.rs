//! Ids that look like the client's and do not repeat.

use omo_scripted_model::random_number as random;
pub(crate) use omo_scripted_model::tagged_id as tagged;

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

/// The 17 digits of an agent's id, which begins with `a`.
pub(crate) fn agent() -> String {
    format!("a{:016x}", random())
}
