//! `--launcher`: a command that starts a session somewhere else, as its user wrote it: a template that
//! is parted into words as a shell parts them, and that no shell ever runs.

use std::fmt;

/// What a template may name in braces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LauncherPlaceholder {
    /// `{prompt_file}`: the file with the prompt, which comes through standard input as well.
    PromptFile,
    /// `{branch}`: the branch that the session commits to.
    Branch,
    /// `{base}`: the commit that the branch begins at.
    Base,
    /// `{worktree}`: the folder of the session on this machine.
    Worktree,
    /// `{run}`: the run.
    Run,
    /// `{group}`: the group.
    Group,
}

impl LauncherPlaceholder {
    const ALL: [(&'static str, Self); 6] = [
        ("prompt_file", Self::PromptFile),
        ("branch", Self::Branch),
        ("base", Self::Base),
        ("worktree", Self::Worktree),
        ("run", Self::Run),
        ("group", Self::Group),
    ];

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, found)| *found)
    }
}

/// Why a template is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LauncherError {
    /// There is nothing in it.
    Empty,
    /// A quotation mark is not closed, or it ends with a backslash.
    Unclosed,
    /// A brace is not closed, or closes nothing.
    Brace(String),
    /// Nothing of this name can be filled in.
    Unknown(String),
    /// The program itself is a placeholder.
    NoProgram,
    /// A value for a placeholder within a longer word has letters that the shell at the other end could take for
    /// something else.
    Unsafe {
        /// The word of the template.
        word: String,
        /// What was to stand there.
        value: String,
    },
}

impl fmt::Display for LauncherError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it is empty"),
            Self::Unclosed => f.write_str("a quotation mark in it is not closed"),
            Self::Brace(word) => write!(f, "a brace in `{word}` has no other one; a brace itself is written twice"),
            Self::Unknown(name) => {
                let known: Vec<_> = LauncherPlaceholder::ALL.iter().map(|(name, _)| format!("{{{name}}}")).collect();
                write!(f, "{{{name}}} is not known; there are {}", known.join(", "))
            }
            Self::NoProgram => f.write_str("it has to begin with a program"),
            Self::Unsafe { word, value } => {
                write!(f, "`{value}` cannot stand within `{word}`; let it be a word of its own")
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum TemplatePiece {
    Text(String),
    Value(LauncherPlaceholder),
}

/// A template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LauncherTemplate {
    words: Vec<(String, Vec<TemplatePiece>)>,
}

impl LauncherTemplate {
    /// Reads a template.
    pub fn parse(template: &str) -> Result<Self, LauncherError> {
        let words = shlex::split(template).ok_or(LauncherError::Unclosed)?;
        let words: Vec<_> = words
            .into_iter()
            .map(|word| split_placeholders(&word).map(|pieces| (word, pieces)))
            .collect::<Result<_, _>>()?;
        match words.first() {
            None => Err(LauncherError::Empty),
            Some((_, program)) if matches!(program.as_slice(), [TemplatePiece::Text(_)]) => Ok(Self { words }),
            Some(_) => Err(LauncherError::NoProgram),
        }
    }

    /// The words of the command, with these values in them; the first is the program.
    pub fn fill<'v>(&self, value_of: impl Fn(LauncherPlaceholder) -> &'v str) -> Result<Vec<String>, LauncherError> {
        let fill = |(word, pieces): &(String, Vec<TemplatePiece>)| match pieces.as_slice() {
            [TemplatePiece::Value(placeholder)] => Ok(value_of(*placeholder).to_owned()),
            pieces => pieces.iter().map(|piece| fill_within_word(word, piece, &value_of)).collect(),
        };
        self.words.iter().map(fill).collect()
    }
}

/// What stands for a piece of a longer word. That word may be a command for the shell of another machine.
fn fill_within_word<'v>(
    word: &str,
    piece: &TemplatePiece,
    value_of: impl Fn(LauncherPlaceholder) -> &'v str,
) -> Result<String, LauncherError> {
    let placeholder = match piece {
        TemplatePiece::Text(text) => return Ok(text.clone()),
        TemplatePiece::Value(placeholder) => *placeholder,
    };
    let value = value_of(placeholder);
    let means_itself = |letter: char| letter.is_ascii_alphanumeric() || "._-/".contains(letter);
    if !value.is_empty() && value.chars().all(means_itself) {
        return Ok(value.to_owned());
    }
    Err(LauncherError::Unsafe { word: word.to_owned(), value: value.to_owned() })
}

fn split_placeholders(word: &str) -> Result<Vec<TemplatePiece>, LauncherError> {
    let brace = || LauncherError::Brace(word.to_owned());
    let (mut pieces, mut text, mut rest) = (Vec::new(), String::new(), word);
    while let Some(at) = rest.find(['{', '}']) {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        if let Some(after) = from.strip_prefix("{{").or_else(|| from.strip_prefix("}}")) {
            text.extend(from.chars().next());
            rest = after;
            continue;
        }
        let (name, after) = from.strip_prefix('{').and_then(|from| from.split_once('}')).ok_or_else(brace)?;
        if !text.is_empty() {
            pieces.push(TemplatePiece::Text(std::mem::take(&mut text)));
        }
        pieces.push(TemplatePiece::Value(
            LauncherPlaceholder::from_name(name).ok_or_else(|| LauncherError::Unknown(name.to_owned()))?,
        ));
        rest = after;
    }
    text.push_str(rest);
    if !text.is_empty() || pieces.is_empty() {
        pieces.push(TemplatePiece::Text(text));
    }
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value_of(placeholder: LauncherPlaceholder) -> &'static str {
        match placeholder {
            LauncherPlaceholder::PromptFile => "/a b/prompt; rm -rf x",
            LauncherPlaceholder::Branch => "omo/r1/2",
            LauncherPlaceholder::Base => "0123abc",
            LauncherPlaceholder::Worktree => "/w",
            LauncherPlaceholder::Run => "r1",
            LauncherPlaceholder::Group => "",
        }
    }

    fn filled(template: &str) -> Result<Vec<String>, LauncherError> {
        LauncherTemplate::parse(template)?.fill(value_of)
    }

    #[test]
    fn words_are_parted_first_and_filled_afterwards() {
        for (template, expected) in [
            ("claude -p", vec!["claude", "-p"]),
            (
                "ssh host 'cd repo && git switch {branch} && claude -p'",
                vec!["ssh", "host", "cd repo && git switch omo/r1/2 && claude -p"],
            ),
            ("run {prompt_file} {group} -w{worktree}", vec!["run", "/a b/prompt; rm -rf x", "", "-w/w"]),
            (r#"k "{{\"a\":1}}" '' $HOME ; x"#, vec!["k", r#"{"a":1}"#, "", "$HOME", ";", "x"]),
            ("a {run}{base}", vec!["a", "r10123abc"]),
        ] {
            assert_eq!(filled(template).unwrap(), expected, "{template}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_template_is_told() {
        let within = |word: &str, value: &str| LauncherError::Unsafe { word: word.into(), value: value.into() };
        for (template, expected) in [
            ("  ", LauncherError::Empty),
            ("a 'b", LauncherError::Unclosed),
            ("a {run", LauncherError::Brace("{run".into())),
            ("a run}", LauncherError::Brace("run}".into())),
            ("a {nothing}", LauncherError::Unknown("nothing".into())),
            ("a {}", LauncherError::Unknown(String::new())),
            ("{run} a", LauncherError::NoProgram),
            ("a{run} a", LauncherError::NoProgram),
            ("sh -c 'cat {prompt_file}'", within("cat {prompt_file}", "/a b/prompt; rm -rf x")),
            ("sh -c 'x {group}'", within("x {group}", "")),
        ] {
            assert_eq!(filled(template).unwrap_err(), expected, "{template}");
        }
        let message = LauncherError::Unknown("x".into()).to_string();
        assert_eq!(message, "{x} is not known; there are {prompt_file}, {branch}, {base}, {worktree}, {run}, {group}");
    }
}
