//! What a person typed behind `/omo:ulw-exec`, as the hook kept it, and how it is typed.

use std::fmt::Write;

use omo_core::words::sanitize;

use super::Wanted;
use crate::failure::Failure;
use crate::run::arguments::ExecOptions;
use crate::run::typed::Words;

/// How the command is typed.
pub(super) const USAGE: &str =
    "type `/omo:ulw-exec [--session ID] [--max-iterations N] [--max-workers N] [--skip-verify] [--again]`";

/// What they ask for; `None` for how it is typed.
pub(super) fn read(text: &str) -> Result<Option<Wanted>, Failure> {
    let mut words = Words::of(text, USAGE)?;
    let mut wanted = Wanted::default();
    while let Some(word) = words.next() {
        match word.name.as_str() {
            // The hook has taken it: the user's own words are the approval.
            "--approve" => drop(words.value(&word)?),
            "--session" => wanted.options.session = Some(words.value(&word)?),
            "--max-iterations" => wanted.options.max_iterations = Some(words.number(&word, 1)?),
            "--max-workers" => wanted.options.max_workers = Some(words.number(&word, 0)?),
            "--skip-verify" => wanted.options.skip_verify = true,
            "--again" => wanted.again = true,
            "--help" | "-h" => return Ok(None),
            option if option.starts_with('-') => return Err(words.unknown(option)),
            other => return Err(words.wrong(format!("`{}` is one word too many", sanitize(other, 60)))),
        }
    }
    Ok(Some(wanted))
}

/// The command for a session, as it is typed, with the options that were meant.
pub(super) fn command(session: &str, wanted: &Wanted) -> String {
    let ExecOptions { session: _, max_iterations, max_workers, skip_verify } = &wanted.options;
    let mut text = format!("/omo:ulw-exec --session {session}");
    for (name, value) in [("--max-iterations", max_iterations), ("--max-workers", max_workers)] {
        if let Some(value) = value {
            let _ = write!(text, " {name} {value}");
        }
    }
    for (name, is_set) in [("--skip-verify", *skip_verify), ("--again", wanted.again)] {
        if is_set {
            let _ = write!(text, " {name}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_options_are_read_in_any_order_and_repeated_as_they_were_meant() {
        for (text, repeated) in [
            ("", "/omo:ulw-exec --session s"),
            ("--session s", "/omo:ulw-exec --session s"),
            ("--approve 0123456789ab --skip-verify", "/omo:ulw-exec --session s --skip-verify"),
            (
                "--again --max-workers=0 --max-iterations 2",
                "/omo:ulw-exec --session s --max-iterations 2 --max-workers 0 --again",
            ),
        ] {
            let wanted = read(text).unwrap().unwrap();
            assert_eq!(command("s", &wanted), repeated, "{text}");
            let again = read(repeated.strip_prefix("/omo:ulw-exec ").unwrap()).unwrap().unwrap();
            assert_eq!(command("s", &again), repeated, "{text}");
        }
    }

    #[test]
    fn help_is_told_from_what_cannot_be() {
        assert!(read("--help").unwrap().is_none());
        for text in ["s", "--session", "--max-iterations 0", "--max-workers x", "--yolo", "'s", "-x"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
