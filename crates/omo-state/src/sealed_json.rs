//! JSON values in files that others may write, protected by a seal or known by their digest.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::files::folder::{FolderError, GuardedFolder};
use crate::seal::{SealKey, hex_digest};

/// Text with the seal of a value in the first line, and the value as JSON in the second.
///
/// [`read`] refuses the text for another subject or key; without a subject the value must tell what
/// it is about.
///
/// # Errors
///
/// Value that cannot be written as JSON.
pub fn write(key: &SealKey, subject: &str, value: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let json = serde_json::to_vec(value)?;
    let mut text = key.mac(&sealed_bytes(subject, &json)).into_bytes();
    text.push(b'\n');
    text.extend(json);
    Ok(text)
}

/// Value in a text of [`write`] for this subject; `None` for any other text.
pub fn read<T: DeserializeOwned>(key: &SealKey, subject: &str, text: &[u8]) -> Option<T> {
    let (seal, json) = text.split_at_checked(memchr::memchr(b'\n', text)?)?;
    let json = json.strip_prefix(b"\n")?;
    let is_sealed = key.is_mac(
        &sealed_bytes(subject, json),
        std::str::from_utf8(seal).ok()?,
    );
    is_sealed.then(|| serde_json::from_slice(json).ok())?
}

fn sealed_bytes(subject: &str, json: &[u8]) -> Vec<u8> {
    if subject.is_empty() {
        json.to_vec()
    } else {
        [subject.as_bytes(), json].join(&b'\n')
    }
}

/// Writes a value into a file, and returns its digest.
///
/// # Errors
///
/// A file that cannot be written.
pub fn keep(
    folder: &GuardedFolder,
    name: &str,
    value: &impl Serialize,
) -> Result<String, FolderError> {
    let bytes = serde_json::to_vec(value).unwrap_or_default();
    folder.replace(name, &bytes)?;
    Ok(hex_digest(&bytes))
}

/// Value with this digest in a file of at most `max_bytes`.
pub fn read_kept<T: DeserializeOwned>(
    folder: &GuardedFolder,
    name: &str,
    digest: &str,
    max_bytes: u64,
) -> Option<T> {
    let bytes = folder.read(name, max_bytes).ok()??;
    (hex_digest(&bytes) == digest).then(|| serde_json::from_slice(&bytes).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_under_its_key_its_subject_and_its_bytes() {
        let (key, other) = (SealKey::random().unwrap(), SealKey::random().unwrap());
        for subject in ["", "omo test 1 a"] {
            let text = write(&key, subject, &[1, 2]).unwrap();
            let reads = |key, subject, text: &[u8]| read::<Vec<u8>>(key, subject, text).is_some();
            assert!(reads(&key, subject, &text));
            assert!(!reads(&other, subject, &text) && !reads(&key, "omo test 1 b", &text));
            for forged in [
                &b""[..],
                b"[1,2]",
                b"\n[1,2]",
                &[&text[..], b" "].concat(),
                &text[1..],
                &[b"\n", &text[..]].concat(),
            ] {
                assert!(!reads(&key, subject, forged), "{forged:?}");
            }
        }
    }
}
