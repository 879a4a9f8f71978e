//! Absolute paths as text, without a look at the disk: `../a` in `/w/s` → `/w/a`.

pub(super) fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || path.as_bytes().get(1) == Some(&b':')
}

/// The absolute place of a path, without `.`, `..` and double separators; relative to `folder`.
pub(super) fn resolve_path(folder: &str, path: &str) -> String {
    let (top, rest) = if is_absolute(path) {
        ("", path)
    } else {
        (folder, path)
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in top.split('/').chain(rest.split('/')) {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    let is_of_a_drive = parts.first().is_some_and(|part| part.ends_with(':'));
    format!(
        "{}{}",
        if is_of_a_drive { "" } else { "/" },
        parts.join("/")
    )
}

/// Path of `place` from `folder`: empty for the folder itself, `None` for places elsewhere.
pub(super) fn path_below<'p>(place: &'p str, folder: &str) -> Option<&'p str> {
    let rest = place.strip_prefix(folder.trim_end_matches('/'))?;
    if rest.is_empty() {
        Some(rest)
    } else {
        rest.strip_prefix('/')
    }
}

pub(super) fn leads_up(path: &str) -> bool {
    path.split('/').any(|part| part == "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_one_name() {
        for (path, place) in [
            ("a", "/w/s/a"),
            ("./a//b/", "/w/s/a/b"),
            ("../a", "/w/a"),
            ("../../../../a", "/a"),
            ("/x/./y/../z", "/x/z"),
            ("/", "/"),
            ("C:/x/../y", "C:/y"),
        ] {
            assert_eq!(resolve_path("/w/s", path), place, "{path}");
        }
    }

    #[test]
    fn only_whole_parts_of_a_path_are_compared() {
        for (place, folder, rest) in [
            ("/w/a", "/w", Some("a")),
            ("/w/a/b", "/w/", Some("a/b")),
            ("/w", "/w", Some("")),
            ("/w2/a", "/w", None),
            ("/", "/w", None),
        ] {
            assert_eq!(path_below(place, folder), rest, "{place} {folder}");
        }
    }
}
