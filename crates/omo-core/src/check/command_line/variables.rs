//! What stands for something else in a word: variables, the home, and what some commands print.

use super::TOP_LEVEL;

/// A word grows by at most so many bytes: what is longer is no path, and variables that are made of each other would
/// grow without an end.
const MAX_GROWTH: usize = 4_096;

/// A word with what its variables hold. `value_of` is asked for the name of each variable, for `~`, and for
/// [`TOP_LEVEL`]; what is not known stays as it is written.
pub fn expand_variables(word: &str, value_of: &dyn Fn(&str) -> Option<String>) -> String {
    let mut expanded = String::new();
    let mut rest = word;
    if let Some(behind) = word.strip_prefix('~').filter(|behind| behind.is_empty() || behind.starts_with('/'))
        && let Some(home) = value_of("~")
    {
        expanded.push_str(&home);
        rest = behind;
    }
    while let Some((before, behind)) = rest.split_once('$') {
        expanded.push_str(before);
        let reference = Reference::at(behind);
        let value = reference.as_ref().and_then(|it| value_of(it.name).or_else(|| it.default.map(str::to_owned)));
        let length = if value.is_some() { reference.map_or(0, |it| it.length) } else { 0 };
        expanded.push_str(value.as_deref().unwrap_or("$"));
        if expanded.len() > word.len() + MAX_GROWTH {
            return word.to_owned();
        }
        rest = behind.get(length..).unwrap_or_default();
    }
    expanded.push_str(rest);
    expanded
}

/// The names of the variables in a word.
pub fn variables_in(word: &str) -> impl Iterator<Item = &str> {
    word.split('$').skip(1).filter_map(Reference::at).map(|reference| reference.name)
}

/// What stands behind a `$`.
struct Reference<'a> {
    name: &'a str,
    /// Of `${NAME:-default}`.
    default: Option<&'a str>,
    /// So many bytes of the word are it, without the `$`.
    length: usize,
}

impl<'a> Reference<'a> {
    fn at(behind: &'a str) -> Option<Self> {
        if let Some(top) = TOP_LEVEL.strip_prefix('$').filter(|top| behind.starts_with(top)) {
            return Some(Self { name: TOP_LEVEL, default: None, length: top.len() });
        }
        if let Some(braced) = behind.strip_prefix('{') {
            let (inside, _) = braced.split_once('}')?;
            let (name, rest) = inside.split_at(name_length(inside));
            let default = rest.strip_prefix(":-").or_else(|| rest.strip_prefix('-'));
            let is_plain = !name.is_empty() && (rest.is_empty() || default.is_some());
            return is_plain.then_some(Self { name, default, length: inside.len() + 2 });
        }
        let length = name_length(behind);
        behind.get(..length).filter(|name| !name.is_empty()).map(|name| Self { name, default: None, length })
    }
}

fn name_length(text: &str) -> usize {
    text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_stands_in_a_word() {
        let value_of = |name: &str| match name {
            "D" => Some("ci".to_owned()),
            "~" | "HOME" => Some("/home/u".to_owned()),
            TOP_LEVEL => Some("/top".to_owned()),
            _ => None,
        };
        for (word, expected) in [
            ("$D/check.sh", "ci/check.sh"),
            ("x${D}y", "xciy"),
            ("$Dx $", "$Dx $"),
            ("${N:-web}/$N", "web/$N"),
            ("~/x", "/home/u/x"),
            ("~u/x", "~u/x"),
            ("$HOME/$(git rev-parse --show-toplevel)/a", "/home/u//top/a"),
            ("${D%x}${", "${D%x}${"),
        ] {
            assert_eq!(expand_variables(word, &value_of), expected, "{word}");
        }
        let long = "$L".repeat(100);
        assert_eq!(expand_variables(&long, &|_| Some("x".repeat(1_000))), long);
        assert_eq!(variables_in("$a/${b:-c}$ $1").collect::<Vec<_>>(), ["a", "b", "1"]);
    }
}
