//! End of a JSON value in a stream, so that a hook need not wait for the stream's end.

/// Finds the end of one JSON object or list; the value is not checked.
#[derive(Clone, Copy, Debug, Default)]
pub struct JsonEndFinder {
    depth: u32,
    in_string: bool,
    escaped: bool,
}

impl JsonEndFinder {
    /// Number of bytes up to the end of the value, where it ends in `bytes`.
    pub fn feed(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        loop {
            at += self.plain_text(bytes.get(at..)?);
            let ends = self.ends_at(*bytes.get(at)?);
            at += 1;
            if ends {
                return Some(at);
            }
        }
    }

    /// Number of bytes within a string before `"` or `\`: most of a long prompt.
    fn plain_text(self, bytes: &[u8]) -> usize {
        if !self.in_string || self.escaped {
            return 0;
        }
        memchr::memchr2(b'"', b'\\', bytes).unwrap_or(bytes.len())
    }

    fn ends_at(&mut self, byte: u8) -> bool {
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' if self.in_string => self.escaped = true,
            b'"' => self.in_string = !self.in_string,
            _ if self.in_string => {}
            b'{' | b'[' => self.depth = self.depth.saturating_add(1),
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                return self.depth == 0;
            }
            _ => {}
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_found_wherever_the_stream_is_cut() {
        for (text, end) in [
            (r"{}", Some(2)),
            (r#"{"a":"}"} "#, Some(9)),
            (r#"{"a":"\"}"}{"b":1}"#, Some(11)),
            (r#"{"a":"\\"}x"#, Some(10)),
            (r#" [1,[2],{"b":[]}]]"#, Some(17)),
            (r#"{"a":{"#, None),
            (r#"{"a":"}}}}"#, None),
            ("", None),
            ("12", None),
        ] {
            assert_eq!(
                JsonEndFinder::default().feed(text.as_bytes()),
                end,
                "{text}"
            );
            let mut one_by_one = JsonEndFinder::default();
            let found = text
                .bytes()
                .position(|byte| one_by_one.feed(&[byte]).is_some());
            assert_eq!(found.map(|at| at + 1), end, "{text}");
        }
    }
}
