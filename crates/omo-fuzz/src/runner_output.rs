//! Output of a check, from which the number of tests is read.

use omo_core::check::session_check::{CheckEnd, CheckVerdict, TestCounts, judge_check};
use omo_core::check::test_runner::{TestOutputReader, visible_line};

/// The same is read in any pieces, with any line ends, in any colour and over any other line; and a success without
/// tests, or with a failed one, is never green.
pub fn check(data: &[u8]) {
    let size = 1 + usize::from(data.first().copied().unwrap_or_default());
    let read = counts(data, usize::MAX);
    assert_eq!(counts(data, size), read, "in pieces of {size}");
    let lines: Vec<&[u8]> = data.split(|byte| *byte == b'\n').collect();
    // Longer lines are cut, at a place that depends on the content.
    if lines.iter().all(|line| line.len() < 1_000) {
        assert_eq!(
            counts(&lines.join(b"\r\n".as_slice()), usize::MAX),
            read,
            "with other line ends"
        );
        assert_eq!(counts(&coloured(&lines), usize::MAX), read, "in colour");
        assert_eq!(
            counts(&overwritten(&lines), usize::MAX),
            read,
            "over other lines"
        );
    }
    assert_sound_judgement(read);
    is_plain(&String::from_utf8_lossy(data));
}

fn counts(output: &[u8], size: usize) -> Option<TestCounts> {
    let mut reader = TestOutputReader::default();
    output.chunks(size).for_each(|piece| reader.read(piece));
    reader.report().counts
}

/// Each line in green; a line with cursor movement stays as it is.
fn coloured(lines: &[&[u8]]) -> Vec<u8> {
    let moves = |line: &[u8]| line.contains(&b'\r') || line.contains(&0x1b);
    changed(lines, |line| {
        if moves(line) {
            line.to_vec()
        } else {
            [b"\x1b[32m".as_slice(), line, b"\x1b[0m"].concat()
        }
    })
}

fn overwritten(lines: &[&[u8]]) -> Vec<u8> {
    let shows = |line: &[u8]| !line.is_empty() && !line.contains(&b'\r');
    changed(lines, |line| {
        if shows(line) {
            [b"7 passed in 1.00s\r".as_slice(), line].concat()
        } else {
            line.to_vec()
        }
    })
}

fn changed(lines: &[&[u8]], change: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    lines
        .iter()
        .map(|line| change(line))
        .collect::<Vec<_>>()
        .join(b"\n".as_slice())
}

fn assert_sound_judgement(counts: Option<TestCounts>) {
    let (verdict, detail) = judge_check(&CheckEnd::Exited(0), counts);
    let proves = counts.is_none_or(|counts| counts.run > 0 && counts.failed == 0);
    assert_eq!(
        verdict == CheckVerdict::Green,
        proves,
        "{counts:?}: {detail}"
    );
    assert_ne!(
        judge_check(&CheckEnd::Exited(1), counts).0,
        CheckVerdict::Green
    );
}

fn is_plain(text: &str) {
    let shown = visible_line(text);
    assert!(
        !shown.contains(|char: char| char.is_control() && char != '\t'),
        "{shown:?}"
    );
    assert_eq!(visible_line(&shown), shown);
}
