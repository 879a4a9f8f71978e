//! The only place where the kit looks at the test runner's own environment and clock.

use std::ffi::OsString;

/// The path of the client's binary, set by the process that runs the tests.
pub(crate) const CLIENT: &str = "OMO_TEST_CLIENT";

pub(crate) fn variable(name: &str) -> Option<OsString> {
    #[expect(
        clippy::disallowed_methods,
        reason = "this function is where the kit's environment enters"
    )]
    let value = std::env::var_os(name);
    value.filter(|value| !value.is_empty())
}

/// The time as the client writes it: RFC 3339, milliseconds, UTC.
pub fn timestamp() -> String {
    #[expect(
        clippy::disallowed_methods,
        reason = "this function is where the kit's clock enters"
    )]
    let now = std::time::SystemTime::now();
    let since = now
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    let millis = i64::try_from(since.as_millis()).unwrap_or_default();
    chrono::DateTime::from_timestamp_millis(millis)
        .unwrap_or_default()
        .to_rfc3339_opts(chrono::SecondsFormat::Millis, true)
}
