//! JSON as other programs have it, with two blanks for each level.
//!
//! The library's own printer of it hands on each two blanks by themselves, and copying a piece costs more than
//! the piece where a program is linked with musl: for the batches of a thousand tasks that took as long as
//! everything else. Here the library's compact JSON is spread out, byte by byte.

use serde::Serialize;

/// The JSON of a value, with a line's end behind it.
pub(super) fn indented(value: &impl Serialize) -> Vec<u8> {
    let compact = serde_json::to_string(value).unwrap_or_default();
    let mut out = Vec::with_capacity(compact.len() * 3);
    let (mut level, mut in_text, mut is_escaped) = (0_usize, false, false);
    let mut before = 0;
    for byte in compact.bytes() {
        if in_text {
            in_text = byte != b'"' || is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            out.push(byte);
            before = byte;
            continue;
        }
        match byte {
            // What is empty has no lines of its own.
            b'}' | b']' if !matches!(before, b'{' | b'[') => {
                level = level.saturating_sub(1);
                line(&mut out, level);
            }
            b'}' | b']' => {}
            _ if matches!(before, b'{' | b'[') => {
                level += 1;
                line(&mut out, level);
            }
            _ => {}
        }
        in_text = byte == b'"';
        out.push(byte);
        match byte {
            b',' => line(&mut out, level),
            b':' => out.push(b' '),
            _ => {}
        }
        before = byte;
    }
    out.push(b'\n');
    out
}

/// A new line, so many levels deep.
fn line(out: &mut Vec<u8>, level: usize) {
    out.push(b'\n');
    for _ in 0..level {
        out.push(b' ');
        out.push(b' ');
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn it_is_what_the_library_prints() {
        for value in [
            json!([]),
            json!({}),
            json!("a \"quoted\" é\n \\\" {[,:]} \\\\"),
            json!({ "a": [], "b": {}, "c{": [1, [2, [3, [4, [5, [6, { "deep": [null, "}"] }]]]]]], "d": { "e": [[], {}] } }),
            json!([[["1", "2"], ["3"]], { "1": 0, "10-impl": 3 }, true, -1.5]),
            json!(null),
        ] {
            let expected = format!("{}\n", serde_json::to_string_pretty(&value).unwrap());
            assert_eq!(String::from_utf8(indented(&value)).unwrap(), expected);
        }
    }
}
