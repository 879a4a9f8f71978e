//! A terminal's notification about a run that has ended or waits.

use crate::text::sanitize;

const MAX_CHARS: usize = 160;

/// A notification of the desktop (OSC 9), which other terminals ignore, and the bell.
pub fn terminal_notification(bell: bool, desktop: bool, text: &str) -> String {
    // The text begins with a word: some terminals take a number there for a command.
    let desktop = if desktop {
        format!("\u{1b}]9;omo: {}\u{7}", sanitize(text, MAX_CHARS))
    } else {
        String::new()
    };
    let bell = if bell { "\u{7}" } else { "" };
    format!("{desktop}{bell}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notification_is_what_was_asked_for_and_its_text_ends_nothing() {
        assert_eq!(terminal_notification(false, false, "done"), "");
        assert_eq!(terminal_notification(true, false, "done"), "\u{7}");
        assert_eq!(
            terminal_notification(false, true, "done"),
            "\u{1b}]9;omo: done\u{7}"
        );
        let hostile = terminal_notification(true, true, "a\u{7}b\u{1b}\\c\u{9c}d\u{202e}e\n4;1;50");
        assert_eq!(hostile.matches('\u{7}').count(), 2, "{hostile:?}");
        assert_eq!(hostile.matches('\u{1b}').count(), 1, "{hostile:?}");
        assert!(
            !hostile.contains(['\u{9c}', '\u{202e}', '\n']),
            "{hostile:?}"
        );
        assert!(terminal_notification(false, true, &"x".repeat(9_999)).len() < 200);
    }
}
