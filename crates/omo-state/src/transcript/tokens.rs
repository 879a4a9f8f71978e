//! Counts the tokens of a run, from the usage that the transcript has beside each message.

use std::collections::BTreeMap;
use std::path::Path;

use omo_core::session::TokenUse;
use omo_core::timestamp::Timestamp;

use super::{COPY, Chunk, RawLine};

const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Tokens of `earlier` and those since; messages before `since` do not count, and a replaced
/// transcript is counted anew.
pub fn count_tokens(path: &Path, earlier: &TokenUse, since: Option<Timestamp>) -> TokenUse {
    let Some(chunk) = Chunk::read_at_most(path, earlier.offset, MAX_BYTES) else {
        return earlier.clone();
    };
    let mut counted = if chunk.start < earlier.offset {
        TokenUse::default()
    } else {
        earlier.clone()
    };
    // A message has a line for each of its blocks, with the usage so far.
    let mut messages = BTreeMap::from([(counted.message.clone(), counted.of_message)]);
    let lines = chunk
        .lines_with(b"\"usage\"")
        .filter(|line| !line.bytes.starts_with(COPY));
    for line in lines
        .filter_map(RawLine::parse)
        .filter(|line| line.time() >= since)
    {
        let Some((message, tokens)) = line.usage() else {
            continue;
        };
        let before = messages.get(message).copied().unwrap_or_default();
        counted.used = counted.used.saturating_add(tokens.saturating_sub(before));
        messages.insert(message.to_owned(), tokens.max(before));
        (counted.message, counted.of_message) = (message.to_owned(), tokens.max(before));
    }
    TokenUse {
        offset: chunk.start + chunk.bytes.len() as u64,
        ..counted
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use super::*;

    fn line(id: &str, time: &str, usage: &str) -> String {
        format!(
            "{{\"type\":\"assistant\",\"timestamp\":\"2026-01-01T00:00:{time}Z\",\"message\":{{\"id\":\"{id}\",\"content\":[],\
             \"usage\":{usage}}}}}\n"
        )
    }

    #[test]
    fn a_message_counts_once_and_only_what_was_added_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let usage = "{\"input_tokens\":10,\"cache_creation_input_tokens\":5,\"cache_read_input_tokens\":9000,\"output_tokens\":1}";
        let more = usage.replace("\"output_tokens\":1", "\"output_tokens\":4");
        let copy = format!(
            "{{\"type\":\"api-request\",\"x\":{}",
            line("c", "03", usage)
        );
        let text = [
            line("old", "01", usage),
            line("a", "03", usage),
            copy,
            line("a", "03", &more),
        ]
        .concat();
        fs::write(&path, format!("{text}{{\"type\":\"assi")).unwrap();
        let since = Timestamp::parse("2026-01-01T00:00:02Z");
        let first = count_tokens(&path, &TokenUse::default(), since);
        assert_eq!(
            (first.used, first.offset, &*first.message),
            (19, text.len() as u64, "a")
        );
        assert_eq!(count_tokens(&path, &first, since), first);
        let text = [
            text,
            line("a", "03", &more.replace(":4}", ":6}")),
            line("b", "04", usage),
        ]
        .concat();
        fs::write(&path, &text).unwrap();
        let second = count_tokens(&path, &first, since);
        assert_eq!(
            (second.used, second.offset),
            (19 + 2 + 16, text.len() as u64)
        );
        // Another file in its place.
        fs::write(&path, line("z", "05", usage)).unwrap();
        assert_eq!(count_tokens(&path, &second, since).used, 16);
        fs::write(&path, line("z", "05", &usage.replace(":5,", ":null,"))).unwrap();
        assert_eq!(count_tokens(&path, &second, since).used, 11);
        assert_eq!(
            count_tokens(&folder.path().join("none"), &second, since),
            second
        );
    }

    #[test]
    fn hostile_numbers_and_lines_count_nothing_or_saturate() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let mut file = fs::File::create(&path).unwrap();
        for usage in [
            "{}",
            "[]",
            "null",
            "{\"input_tokens\":-1}",
            "{\"input_tokens\":1e99}",
            "\"usage\"",
        ] {
            file.write_all(line("m", "03", usage).as_bytes()).unwrap();
        }
        assert_eq!(count_tokens(&path, &TokenUse::default(), None).used, 0);
        let most = format!("{{\"input_tokens\":{0},\"output_tokens\":{0}}}", u64::MAX);
        file.write_all(
            [line("m", "03", &most), line("n", "03", &most)]
                .concat()
                .as_bytes(),
        )
        .unwrap();
        assert_eq!(
            count_tokens(&path, &TokenUse::default(), None).used,
            u64::MAX
        );
    }
}
