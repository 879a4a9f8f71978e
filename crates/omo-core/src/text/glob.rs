//! Patterns of file names, as a shell and as plans write them.

/// Whether a part of a path is a pattern.
pub fn is_glob(part: &str) -> bool {
    part.contains(['*', '?', '[']) || has_alternatives(part)
}

/// Whether braces hold something to choose from, `{}` being what `find` and `xargs` put a name for. Those that are not
/// closed may be closed in a part further on.
fn has_alternatives(part: &str) -> bool {
    part.split('{').skip(1).any(|behind| match behind.split_once('}') {
        Some((inside, _)) => inside.contains(',') || inside.contains(".."),
        None => true,
    })
}

/// Whether a name matches a pattern. Sets and alternatives are taken to match anything.
pub fn matches_glob(pattern: &str, name: &str) -> bool {
    let has_alternatives = has_alternatives(pattern);
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut at, mut from) = (0, 0);
    // Where to go on when what follows the last star does not fit.
    let mut again: Option<(usize, usize)> = None;
    loop {
        match (pattern.get(at), name.get(from)) {
            (Some(b'['), _) | (None, None) => return true,
            (Some(b'{'), _) if has_alternatives => return true,
            (Some(b'*'), _) => {
                again = Some((at, from));
                at += 1;
            }
            (Some(b'?'), Some(_)) => (at, from) = (at + 1, from + 1),
            (Some(want), Some(has)) if want == has => (at, from) = (at + 1, from + 1),
            (_, _) => match again {
                Some((star, tried)) if tried < name.len() => {
                    again = Some((star, tried + 1));
                    (at, from) = (star + 1, tried + 1);
                }
                _ => return false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::matches_glob;

    #[test]
    fn a_star_stands_for_any_letters_and_a_question_mark_for_one() {
        for (pattern, name, expected) in [
            ("*.sh", "a.sh", true),
            ("*.sh", "a.sh.txt", false),
            ("a*b*c", "aXbYbZc", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("abc", "abc", true),
            ("*", "", true),
            ("[ab].sh", "x.sh", true),
            ("{a,b}.sh", "x.sh", true),
            ("{}", "x", false),
            ("{}", "{}", true),
        ] {
            assert_eq!(matches_glob(pattern, name), expected, "{pattern} {name}");
        }
    }
}
