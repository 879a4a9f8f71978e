//! The options that omo has beside those of its seed: what the clients of sessions are started with. In a line that
//! was typed they are taken out before the rest of it is read.

use omo_core::words::sanitize;

use super::arguments::{ArgumentError, positive};
use super::words::words;
use crate::launcher::Launcher;
use crate::run::apart::Terms;

/// What an option of ours takes.
const WITH_VALUE: [&str; 8] = [
    "--max-sessions",
    "--max-budget-usd",
    "--model",
    "--allow",
    "--time-limit",
    "--launcher",
    "--launcher-remote",
    "--approve",
];
const ALONE: [&str; 2] = ["--accept-api-billing", "--yolo"];
/// The most that a budget can be, in US dollars.
const MAX_BUDGET: u64 = 1_000_000;
/// Digits of a dollar behind its point that are counted.
const DECIMALS: usize = 6;
/// The longest model name, rule or template, in characters.
const MAX_CHARS: usize = 1_000;

/// What was asked for with them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Own {
    /// What the clients are started with; `setup` and `payer` are never asked for.
    pub terms: Terms,
    /// The user accepts that something else than a subscription pays.
    pub accepts_billing: bool,
}

impl Own {
    /// Whether nothing was asked for with them.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a run that is gone on with does all that is said here of its clients: what they may cost can be set anew,
    /// and how they are started stays as it was.
    pub fn keeps_terms(&self) -> bool {
        Terms { budget_micros: None, ..self.terms.clone() } == Terms::default()
    }

    /// Takes one option in; `value` is empty for one that has none.
    ///
    /// # Errors
    ///
    /// It is no option of these, or its value cannot be.
    pub fn take(&mut self, name: &str, value: &str) -> Result<(), ArgumentError> {
        let terms = &mut self.terms;
        match name {
            "--max-sessions" => terms.max_at_once = number(name, value)?,
            "--time-limit" => terms.time_limit_seconds = number(name, value)?,
            "--max-budget-usd" => terms.budget_micros = Some(micros(value)?),
            "--model" => terms.model = Some(text(name, value)?),
            "--allow" => terms.allow.push(text(name, value)?),
            "--launcher" => {
                let template = text(name, value)?;
                Launcher::parse(&template).map_err(|error| {
                    ArgumentError::new(format!("--launcher: {error}"), "such as `ssh host run-session {branch}`")
                })?;
                terms.launcher = Some(template);
            }
            "--launcher-remote" => terms.launcher_remote = Some(text(name, value)?),
            "--accept-api-billing" => self.accepts_billing = true,
            "--yolo" => terms.skips_permissions = true,
            // The hook has taken this option: the words of its user are the approval.
            "--approve" => {}
            _ => return Err(ArgumentError::new(format!("unknown option {}", sanitize(name, 60)), "leave it out")),
        }
        Ok(())
    }

    /// The options as they are typed once more, each with a space in front.
    pub fn typed(&self) -> String {
        let Terms { max_at_once, budget_micros, time_limit_seconds, skips_permissions, allow, model, .. } = &self.terms;
        let Terms { launcher, launcher_remote, .. } = &self.terms;
        let number = |value: &u32| (*value > 0).then(|| value.to_string());
        let quoted = |value: &String| quoted(value);
        let mut given: Vec<(&str, Option<String>)> = vec![
            ("--max-sessions", number(max_at_once)),
            ("--max-budget-usd", budget_micros.map(dollars)),
            ("--time-limit", number(time_limit_seconds)),
            ("--model", model.as_ref().map(quoted)),
            ("--launcher", launcher.as_ref().map(quoted)),
            ("--launcher-remote", launcher_remote.as_ref().map(quoted)),
        ];
        given.extend(allow.iter().map(|rule| ("--allow", Some(quoted(rule)))));
        let with_value = given.into_iter().filter_map(|(name, value)| Some(format!(" {name} {}", value?)));
        let alone = [("--yolo", *skips_permissions), ("--accept-api-billing", self.accepts_billing)];
        let alone = alone.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| format!(" {name}"));
        with_value.chain(alone).collect()
    }
}

/// Takes our options out of a line, and gives what is left of it.
///
/// # Errors
///
/// A value is missing or cannot be. A quote that is not closed is left to the reader of the rest.
pub fn take_out(line: &str) -> Result<(Own, String), ArgumentError> {
    let mut own = Own::default();
    let Some(words) = words(line) else { return Ok((own, line.to_owned())) };
    let mut rest = String::new();
    let mut kept_to = 0;
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        if !word.is_quoted && word.text == "--" {
            break;
        }
        let (name, inline) = match word.text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word.text, None),
        };
        let has_value = WITH_VALUE.contains(&name);
        let is_alone = ALONE.contains(&name) && inline.is_none();
        if word.is_quoted || !(has_value || is_alone) {
            continue;
        }
        let mut end = word.span.end;
        let value = match inline {
            None if has_value => {
                let next = words.next().ok_or_else(|| ArgumentError::new(format!("{name} needs a value"), HINT))?;
                end = next.span.end;
                next.text
            }
            inline => inline.unwrap_or_default(),
        };
        own.take(name, value)?;
        rest.push_str(line.get(kept_to..word.span.start).unwrap_or_default());
        kept_to = end;
    }
    rest.push_str(line.get(kept_to..).unwrap_or_default());
    Ok((own, rest))
}

const HINT: &str = "put a value with blanks in it between quotes";

/// A word as it is typed in a line: between quotes where it has blanks in it.
pub fn quoted(text: &str) -> String {
    let needs = text.is_empty() || text.starts_with(['-', '"', '\'']) || text.contains(char::is_whitespace);
    match (needs, text.contains('\'')) {
        (false, _) => text.to_owned(),
        (true, false) => format!("'{text}'"),
        (true, true) => format!("\"{text}\""),
    }
}

fn number(name: &str, value: &str) -> Result<u32, ArgumentError> {
    let number = positive(name, value)?;
    u32::try_from(number).map_err(|_| ArgumentError::new(format!("{name} {number} is too many"), "name fewer"))
}

fn text(name: &str, value: &str) -> Result<String, ArgumentError> {
    let is_good = !value.trim().is_empty() && !value.starts_with('-');
    if !is_good || value.chars().count() > MAX_CHARS || value.chars().any(char::is_control) {
        let message = format!("{name} cannot be \"{}\"", sanitize(value, 60));
        return Err(ArgumentError::new(message, HINT));
    }
    Ok(value.to_owned())
}

/// An amount such as `12` or `0.50`, in millionths.
fn micros(value: &str) -> Result<u64, ArgumentError> {
    let wrong = || {
        let message = format!("--max-budget-usd needs an amount in US dollars, got \"{}\"", sanitize(value, 60));
        ArgumentError::new(message, "such as `--max-budget-usd 5` or `--max-budget-usd 0.50`")
    };
    let (whole, part) = value.split_once('.').unwrap_or((value, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(part) || part.len() > DECIMALS {
        return Err(wrong());
    }
    let whole = whole.parse::<u64>().ok().filter(|dollars| *dollars <= MAX_BUDGET).ok_or_else(wrong)?;
    let part = format!("{part:0<DECIMALS$}").parse::<u64>().map_err(|_| wrong())?;
    Some(whole * 1_000_000 + part).filter(|micros| *micros > 0).ok_or_else(wrong)
}

fn dollars(micros: u64) -> String {
    let (whole, part) = (micros / 1_000_000, micros % 1_000_000);
    if part == 0 { whole.to_string() } else { format!("{whole}.{part:06}").trim_end_matches('0').to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_options_are_taken_out_of_a_line_and_all_else_stays() {
        for (line, rest, typed) in [
            ("plan.md", "plan.md", ""),
            ("--fg plan.md", "--fg plan.md", ""),
            ("--max-sessions 2 plan.md", " plan.md", " --max-sessions 2"),
            ("plan.md --max-sessions=2", "plan.md ", " --max-sessions 2"),
            ("--approve 0123456789ab my plan.md", " my plan.md", ""),
            ("--fg --approve=0123456789ab\tplan.md", "--fg \tplan.md", ""),
            ("--yolo 'my plan.md' --accept-api-billing", " 'my plan.md' ", " --yolo --accept-api-billing"),
            (
                "--allow 'Bash(npm test:*)' --allow Read plan.md",
                "  plan.md",
                " --allow 'Bash(npm test:*)' --allow Read",
            ),
            ("--max-budget-usd 2.50 --time-limit 90 p.md", "  p.md", " --max-budget-usd 2.5 --time-limit 90"),
            ("--launcher 'ssh host {branch}' p.md", " p.md", " --launcher 'ssh host {branch}'"),
            ("--launcher run --launcher-remote=fork p.md", "  p.md", " --launcher run --launcher-remote fork"),
            // Not ours: the rest says what is wrong with them.
            ("--step --yolo", "--step ", " --yolo"),
            ("--yolo=1 p.md", "--yolo=1 p.md", ""),
            ("'--yolo' p.md", "'--yolo' p.md", ""),
            ("-- --yolo", "-- --yolo", ""),
            ("--max-sessionsx p.md", "--max-sessionsx p.md", ""),
            ("--yolo 'p.md", "--yolo 'p.md", ""),
        ] {
            let (own, left) = take_out(line).unwrap();
            assert_eq!((left.as_str(), own.typed().as_str()), (rest, typed), "{line}");
            assert_eq!(take_out(&own.typed()).unwrap().0, own, "what is typed again means the same: {line}");
        }
    }

    #[test]
    fn a_value_that_cannot_be_is_named() {
        for (line, message) in [
            ("p.md --max-sessions", "--max-sessions needs a value"),
            ("--max-sessions 0 p.md", "--max-sessions needs a positive integer, got \"0\""),
            ("--max-sessions 9999999999 p.md", "--max-sessions 9999999999 is too many"),
            ("--max-budget-usd free p.md", "--max-budget-usd needs an amount in US dollars, got \"free\""),
            ("--max-budget-usd 0 p.md", "--max-budget-usd needs an amount in US dollars, got \"0\""),
            ("--max-budget-usd 1.2345678 p.md", "--max-budget-usd needs an amount"),
            ("--max-budget-usd -1 p.md", "--max-budget-usd needs an amount"),
            ("--model --fg p.md", "--model cannot be \"--fg\""),
            ("--allow '' p.md", "--allow cannot be \"\""),
            ("--launcher '{branch}' p.md", "--launcher: it has to begin with a program"),
            ("--launcher 'ssh {nothing}' p.md", "--launcher: {nothing} is not known"),
        ] {
            let error = take_out(line).unwrap_err();
            assert!(error.message.starts_with(message), "{line}: {}", error.message);
        }
    }

    #[test]
    fn a_budget_is_counted_in_millionths() {
        for (value, expected) in [("5", 5_000_000), ("0.5", 500_000), ("12.345678", 12_345_678), ("0.000001", 1)] {
            assert_eq!(micros(value).unwrap(), expected, "{value}");
            assert_eq!(micros(&dollars(expected)).unwrap(), expected, "{value}");
        }
        assert!(micros("1000000").is_ok() && micros("1000001").is_err());
    }
}
