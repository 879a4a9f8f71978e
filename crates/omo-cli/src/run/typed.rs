//! What a person typed behind `/omo:execute-plan`, as the hook kept it.

use std::fmt::Write;

use omo_core::words::sanitize;

use super::arguments::{BATCH_SIZE, ExecOptions, HUB_K, OpenOptions, Purpose};
use crate::failure::Failure;

const USAGE: &str =
    "type `/omo:execute-plan <plan.md> [--k N] [--batch-size N] [--again]`, or nothing behind it to go on";

/// What they ask for.
#[derive(Debug)]
pub(super) enum Typed {
    /// To open a run of a plan.
    Open(OpenOptions),
    /// To go on with the one that is open, past the stop that it waits at.
    GoOn,
}

/// Reads it.
pub(super) fn read(text: &str) -> Result<Typed, Failure> {
    let mut words = Words::of(text, USAGE)?;
    let mut options = OpenOptions {
        purpose: Purpose::Plan,
        k: HUB_K,
        batch_size: BATCH_SIZE,
        again: false,
        exec: ExecOptions::default(),
        local: Box::default(),
        digest: None,
        args_from_hook: false,
        plan: None,
        rest: None,
    };
    let mut has_option = false;
    while let Some(word) = words.next() {
        match word.name.as_str() {
            // The hook has taken it: the user's own words are the approval.
            "--approve" => drop(words.value(&word)?),
            "--k" => options.k = words.number(&word, 1)?,
            "--batch-size" => options.batch_size = words.number(&word, 1)?,
            "--again" => options.again = true,
            option if option.starts_with("--") => return Err(words.unknown(option)),
            _ if options.plan.is_none() => options.plan = Some(word.whole),
            _ => {
                let what = format!("`{}` is one word too many; quote a path with spaces", sanitize(&word.whole, 60));
                return Err(words.wrong(what));
            }
        }
        has_option |= word.name.starts_with("--");
    }
    let goes_on = !has_option && options.plan.as_deref().is_none_or(|word| word == "continue");
    match options.plan {
        _ if goes_on => Ok(Typed::GoOn),
        None => Err(words.wrong("no plan is named".to_owned())),
        Some(_) => Ok(Typed::Open(options)),
    }
}

/// The words behind a command, one after the other. They were never near a shell; they are parted as one
/// would part them.
pub(super) struct Words {
    left: std::vec::IntoIter<String>,
    usage: &'static str,
}

/// One of them.
pub(super) struct Word {
    /// All of it.
    whole: String,
    /// What of it names an option: all of it, or what stands before `=`.
    pub name: String,
    inline: Option<String>,
}

impl Words {
    /// Those of a text.
    pub(super) fn of(text: &str, usage: &'static str) -> Result<Self, Failure> {
        let words = shlex::split(text).ok_or_else(|| Failure::user("a quote is not closed", usage))?;
        Ok(Self { left: words.into_iter(), usage })
    }

    /// The next one.
    pub(super) fn next(&mut self) -> Option<Word> {
        let whole = self.left.next()?;
        Some(match whole.split_once('=') {
            Some((name, value)) if name.starts_with("--") => {
                Word { name: name.to_owned(), inline: Some(value.to_owned()), whole }
            }
            _ => Word { name: whole.clone(), inline: None, whole },
        })
    }

    /// What stands behind an option.
    pub(super) fn value(&mut self, option: &Word) -> Result<String, Failure> {
        let value = option.inline.clone().or_else(|| self.left.next());
        value.ok_or_else(|| self.wrong(format!("{} needs a value", option.name)))
    }

    /// As [`Words::value`], a whole number from `least` on.
    pub(super) fn number(&mut self, option: &Word, least: u32) -> Result<u32, Failure> {
        let text = self.value(option)?;
        let number = text.parse().ok().filter(|number| *number >= least);
        number.ok_or_else(|| self.wrong(format!("`{}` is no whole number from {least} on", sanitize(&text, 40))))
    }

    /// This is no option of the command.
    pub(super) fn unknown(&self, option: &str) -> Failure {
        self.wrong(format!("`{}` is no option of this command", sanitize(option, 40)))
    }

    /// Something about them is wrong.
    pub(super) fn wrong(&self, what: String) -> Failure {
        Failure::user(what, self.usage)
    }
}

/// The command with a plan behind it, as it is typed.
pub(super) fn command(path: &str) -> String {
    let quoted = shlex::try_quote(path).map_or_else(|_| path.to_owned(), std::borrow::Cow::into_owned);
    format!("/omo:execute-plan {quoted}")
}

/// The options as they are typed once more, each with a space in front: who approves a plan types its line
/// again, and means the same batches.
pub(super) fn again(options: &OpenOptions) -> String {
    let mut text = String::new();
    for (name, value, usual) in [("--k", options.k, HUB_K), ("--batch-size", options.batch_size, BATCH_SIZE)] {
        if value != usual {
            let _ = write!(text, " {name} {value}");
        }
    }
    if options.again {
        text.push_str(" --again");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(text: &str) -> OpenOptions {
        match read(text).unwrap() {
            Typed::Open(options) => options,
            Typed::GoOn => panic!("{text}"),
        }
    }

    #[test]
    fn a_plan_and_its_options_are_read_in_any_order() {
        for text in [
            "docs/p.md --k 2 --batch-size=4",
            "--k=2 --batch-size 4 docs/p.md",
            "--approve 0123456789ab docs/p.md --k 2 --batch-size 4",
        ] {
            let options = opened(text);
            assert_eq!((options.plan.as_deref(), options.k, options.batch_size), (Some("docs/p.md"), 2, 4), "{text}");
        }
        assert_eq!(opened("'my plan.md' --again").plan.as_deref(), Some("my plan.md"));
        assert_eq!(opened("$HOME/p.md").plan.as_deref(), Some("$HOME/p.md"), "nothing is expanded");
    }

    #[test]
    fn the_options_are_repeated_as_they_were_meant() {
        for (typed, repeated) in [
            ("p.md", ""),
            ("p.md --k 3 --batch-size=5", ""),
            ("--again p.md --k=2 --batch-size 4", " --k 2 --batch-size 4 --again"),
        ] {
            assert_eq!(again(&opened(typed)), repeated, "{typed}");
            assert_eq!(again(&opened(&format!("p.md{repeated}"))), repeated, "{typed}");
        }
    }

    #[test]
    fn nothing_at_all_goes_on() {
        for text in ["", "  ", "continue"] {
            assert!(matches!(read(text).unwrap(), Typed::GoOn), "{text:?}");
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for text in ["p.md q.md", "p.md --k", "p.md --k 0", "p.md --k x", "p.md --yolo", "'p.md", "--again"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
