//! Bounded reading of JSON files that any program may have written.

use std::io::{ErrorKind, Read};
use std::path::Path;

use omo_core::text::sanitize;
use omo_state::files::regular_file;
use serde_json::Value;

const MAX_JSON: u64 = 4 * 1024 * 1024;

/// The value in a JSON file of at most 4 MiB; `None` for a missing file, an error in words.
pub(crate) fn read_json(path: &Path) -> Option<Result<Value, String>> {
    let file = match regular_file::open(path) {
        Ok(Some(file)) => file,
        Ok(None) => return Some(Err("is not a regular file".to_owned())),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return None;
        }
        Err(error) => return Some(Err(format!("cannot be opened: {error}"))),
    };
    let mut bytes = Vec::new();
    if let Err(error) = file.take(MAX_JSON + 1).read_to_end(&mut bytes) {
        return Some(Err(format!("cannot be read: {error}")));
    }
    if bytes.len() as u64 > MAX_JSON {
        return Some(Err(format!("is larger than {MAX_JSON} bytes")));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    Some(
        serde_json::from_slice(bytes)
            .map_err(|error| format!("is not JSON: {}", sanitize(&error.to_string(), 200))),
    )
}
