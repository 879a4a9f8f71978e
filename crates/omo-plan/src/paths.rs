//! Paths as plans write them: what they mean, and whether two of them can be the same file.

/// A path in its plain form: `/` between its parts, no `.` and no empty part, `..` taken together with
/// the part before it where there is one. `None` where it leads out of the folder that it is for.
pub fn normal(path: &str) -> Option<String> {
    let path = path.trim().replace('\\', "/");
    if path.starts_with('/') || path.starts_with('~') || path.as_bytes().get(1) == Some(&b':') {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Whether something may be meant by both: each is a path, a folder (everything in it), or a pattern.
/// Where that cannot be told it is so.
pub fn overlap(one: &str, other: &str) -> bool {
    let (Some(one), Some(other)) = (normal(one), normal(other)) else { return true };
    let (one, other) = (one.to_lowercase(), other.to_lowercase());
    let parts = |path: &'_ str| -> Vec<String> { path.split('/').map(str::to_owned).collect() };
    meet(&parts(&one), &parts(&other))
}

/// Whether two lists of parts can name the same file. What is shorter names everything below it.
fn meet(one: &[String], other: &[String]) -> bool {
    match (one.split_first(), other.split_first()) {
        (None, _) | (_, None) => true,
        (Some((first, rest)), _) if first == "**" => {
            rest.is_empty() || (0..=other.len()).any(|skip| meet(rest, other.get(skip..).unwrap_or_default()))
        }
        (_, Some((first, _))) if first == "**" => meet(other, one),
        (Some((first, rest)), Some((second, left))) => part_meets(first, second) && meet(rest, left),
    }
}

/// Whether two parts can be the same name. Two patterns are taken to be.
fn part_meets(one: &str, other: &str) -> bool {
    let is_pattern = |part: &str| part.contains(['*', '?', '[', '{']);
    match (is_pattern(one), is_pattern(other)) {
        (false, false) => one == other,
        (true, true) => true,
        (true, false) => matches(one.as_bytes(), other.as_bytes()),
        (false, true) => matches(other.as_bytes(), one.as_bytes()),
    }
}

/// Whether a name matches a pattern. Sets and alternatives are taken to match anything.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut from) = (0, 0);
    // Where to go on when what follows the last star does not fit.
    let mut again: Option<(usize, usize)> = None;
    loop {
        match (pattern.get(at), name.get(from)) {
            (Some(b'[' | b'{'), _) | (None, None) => return true,
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
    use super::*;

    #[test]
    fn a_path_has_one_plain_form() {
        for (path, plain) in [
            ("src/lib.rs", Some("src/lib.rs")),
            ("./src//lib.rs", Some("src/lib.rs")),
            ("./src/../src/a.rs", Some("src/a.rs")),
            (r"src\lib.rs", Some("src/lib.rs")),
            ("../../etc/passwd", None),
            ("/etc/hosts", None),
            ("C:/x", None),
            ("~/x", None),
            ("", Some("")),
        ] {
            assert_eq!(normal(path).as_deref(), plain, "{path}");
        }
    }

    #[test]
    fn what_can_be_the_same_file_overlaps() {
        for (one, other, expected) in [
            ("src/lib.rs", "./src/lib.rs", true),
            ("src/api/", "src/api/mod.rs", true),
            ("**/*.toml", "Cargo.toml", true),
            ("src/**", "src/a/b.rs", true),
            ("src/*.rs", "src/a.rs", true),
            ("src/*.rs", "src/a.md", false),
            ("src/?.rs", "src/ab.rs", false),
            ("README.md", "readme.md", true),
            ("a.rs", "b.rs", false),
            ("src", "srcs", false),
            ("src/*/x.rs", "src/a/y.rs", false),
            ("a*b*c", "axxbyyc", true),
            ("../x", "a", true),
            ("**/x/**", "a/b/x/c", true),
            ("a/**/z.rs", "a/z.rs", true),
        ] {
            assert_eq!(overlap(one, other), expected, "{one} {other}");
            assert_eq!(overlap(other, one), expected, "{other} {one}");
        }
    }
}
