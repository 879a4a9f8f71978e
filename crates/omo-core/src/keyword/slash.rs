//! Recognizes prompts that are slash commands: omo's own, such as `/omo:status`, and others.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlashPrompt<'a> {
    /// Plain words, or a path.
    No,
    Own {
        /// Without `omo:`.
        name: &'a str,
        /// Text behind one blank after the name, byte for byte.
        arguments: &'a str,
    },
    Foreign,
}

/// Name and arguments of a slash command; [`SlashPrompt::No`] for any other text.
pub(super) fn read_slash_prompt(text: &str) -> SlashPrompt<'_> {
    let Some(rest) = text.strip_prefix('/') else {
        return SlashPrompt::No;
    };
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let (name, tail) = rest.split_at_checked(end).unwrap_or((rest, ""));
    if name.is_empty() || !name.chars().all(is_name_char) {
        return SlashPrompt::No;
    }
    let mut after_blank = tail.chars();
    after_blank.next();
    let arguments = after_blank.as_str();
    // `/ultrawork` belongs to other plugins.
    if name.eq_ignore_ascii_case("ulw") {
        return SlashPrompt::Own {
            name: "ulw",
            arguments,
        };
    }
    match name.strip_prefix("omo:") {
        Some(name) if !name.is_empty() => SlashPrompt::Own { name, arguments },
        _ => SlashPrompt::Foreign,
    }
}

/// `false` for a second slash or a dot, which make the text a path.
fn is_name_char(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '-' | ':')
}
