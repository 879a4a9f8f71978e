//! Normalizes paths of plans, and tells whether paths, folders and patterns may overlap.

use omo_core::text::glob::{is_glob, matches_glob};

/// Plain form of a path: `./src//a/../b.rs` → `src/b.rs`. `None` for a path out of its folder.
pub fn normalize_path(path: &str) -> Option<String> {
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

const MAX_PARTS: usize = 100;

/// `true` where both may name the same file: paths, folders (with all in them) or patterns.
pub fn paths_overlap(one: &str, other: &str) -> bool {
    may_overlap(Meant::parse(one).as_ref(), Meant::parse(other).as_ref())
}

fn may_overlap(one: Option<&Meant>, other: Option<&Meant>) -> bool {
    one.zip(other)
        .is_none_or(|(one, other)| parts_overlap(one, other))
}

/// `true` where `planned` may name `file`, which is no pattern, even as in `[id].tsx`.
pub fn path_covers(planned: &str, file: &str) -> bool {
    PlannedPaths::new([planned].into_iter()).covers(file)
}

/// Planned paths, parsed once for many files.
pub struct PlannedPaths(Vec<Option<Meant>>);

impl PlannedPaths {
    pub fn new<'p>(paths: impl Iterator<Item = &'p str>) -> Self {
        Self(paths.map(Meant::parse).collect())
    }

    /// `true` where any of the paths covers `file`: see [`path_covers`].
    pub fn covers(&self, file: &str) -> bool {
        let file = Meant::parse_name(file);
        self.0
            .iter()
            .any(|planned| may_overlap(planned.as_ref(), file.as_ref()))
    }
}

struct Meant {
    parts: Vec<Part>,
    is_file: bool,
}

struct Part {
    text: String,
    is_pattern: bool,
}

impl Part {
    /// `true` for `**`, any number of parts.
    fn is_any(&self) -> bool {
        self.is_pattern && self.text == "**"
    }

    /// `true` where two patterns may name the same thing; `[id]` and `[slug]` are plain names.
    fn overlaps(&self, other: &Self) -> bool {
        match (self.is_pattern, other.is_pattern) {
            (false, false) => self.text == other.text,
            (true, true) => self.text == other.text || !self.is_mere_set() || !other.is_mere_set(),
            (true, false) => matches_glob(&self.text, &other.text),
            (false, true) => matches_glob(&other.text, &self.text),
        }
    }

    fn is_mere_set(&self) -> bool {
        !is_glob(&self.text.replace('[', ""))
    }
}

impl Meant {
    /// Parts of a path; `None` out of its folder, or with more than `MAX_PARTS`.
    fn parse(path: &str) -> Option<Self> {
        Self::read(path, is_glob)
    }

    /// Parts of the name of an existing file, with any signs.
    fn parse_name(path: &str) -> Option<Self> {
        Self::read(path, |_| false)
    }

    fn read(path: &str, is_pattern: impl Fn(&str) -> bool) -> Option<Self> {
        let plain = normalize_path(path)?.to_lowercase();
        let parts = plain.split('/').filter(|part| !part.is_empty());
        let parts: Vec<Part> = parts
            .map(|part| Part {
                text: part.to_owned(),
                is_pattern: is_pattern(part),
            })
            .collect();
        let is_file = !path.trim_end().ends_with(['/', '\\'])
            && parts
                .last()
                .is_some_and(|part| !part.is_pattern && is_file_name(&part.text));
        (parts.len() <= MAX_PARTS).then_some(Self { parts, is_file })
    }

    fn is_pattern(&self) -> bool {
        self.parts.iter().any(|part| part.is_pattern)
    }

    /// `true` where `rest` may be below this; of two plain paths a lookalike of a file is a folder.
    fn may_hold(&self, rest: &[Part], other: &Self) -> bool {
        !self.is_file || !other.is_pattern() || rest.iter().all(Part::is_any)
    }
}

/// `true` for the ending of a file; `conf.d` and `v1.2` are folders.
fn is_file_name(name: &str) -> bool {
    let ending = name
        .rsplit_once('.')
        .filter(|(stem, _)| !stem.is_empty())
        .map(|(_, ending)| ending);
    ending.is_some_and(|ending| {
        ending != "d" && ending.starts_with(|char: char| char.is_ascii_alphabetic())
    })
}

/// `true` where both may name the same file, at a cost of at most both lengths multiplied.
fn parts_overlap(one: &Meant, other: &Meant) -> bool {
    let mut firsts = one.parts.first().into_iter().zip(other.parts.first());
    if firsts
        .any(|(first, second)| !first.is_pattern && !second.is_pattern && first.text != second.text)
    {
        return false;
    }
    // `true` for each rest of `other` that meets the rest of `one`.
    let mut below: Vec<bool> = (0..=other.parts.len())
        .map(|from| one.may_hold(other.parts.get(from..).unwrap_or_default(), other))
        .collect();
    for (place, first) in one.parts.iter().enumerate().rev() {
        let mut row = vec![other.may_hold(one.parts.get(place..).unwrap_or_default(), one)];
        for (at, second) in other.parts.iter().enumerate().rev() {
            let skips_first = below.get(at).copied().unwrap_or(true);
            let skips_second = row.last().copied().unwrap_or(true);
            let both = below.get(at + 1).copied().unwrap_or(true);
            let is_any = first.is_any() || second.is_any();
            row.push(if is_any {
                skips_first || skips_second
            } else {
                first.overlaps(second) && both
            });
        }
        row.reverse();
        below = row;
    }
    below.first().copied().unwrap_or(true)
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
            assert_eq!(normalize_path(path).as_deref(), plain, "{path}");
        }
    }

    #[test]
    fn the_name_of_a_file_is_no_pattern() {
        for (planned, file, expected) in [
            ("app/*.md", "app/[id]/page.tsx", false),
            ("app/", "app/[id]/page.tsx", true),
            ("app/[id]/page.tsx", "app/[id]/page.tsx", true),
            ("*.rs", "a*.md", false),
            ("src/a.rs", "src/?.rs", false),
            ("src/a.rs", "**", false),
            (
                "paths/users_{username}.yaml",
                "paths/users_{username}.yaml",
                true,
            ),
            ("paths/{id}.yaml", "paths/{id}.yaml", true),
            ("paths/{id}.yaml", "paths/7.yaml", false),
            ("paths/{id,name}.yaml", "paths/id.yaml", true),
            ("paths/{1..9}.yaml", "paths/7.yaml", true),
            ("{{cookiecutter.slug}}/", "{{cookiecutter.slug}}/a.py", true),
            ("{{cookiecutter.slug}}/", "docs/a.py", false),
            ("app/[id]/page.tsx", "app/about/page.tsx", false),
            ("app/[[...slug]]/page.tsx", "app/[[...slug]]/page.tsx", true),
            ("app/*/page.tsx", "app/[id]/page.tsx", true),
            ("app/(shop)/page.tsx", "app/(shop)/page.tsx", true),
            ("app/(shop)/", "app/shop/page.tsx", false),
            ("app/@modal/(.)photo/", "app/@modal/(.)photo/page.tsx", true),
            ("routes/posts.$id.tsx", "routes/posts.$id.tsx", true),
            ("routes/+page.svelte", "routes/+page.svelte", true),
            ("my docs/a b.md", "my docs/a b.md", true),
            ("c#/a#b.cs", "c#/a#b.cs", true),
            ("-x.txt", "-x.txt", true),
            ("it's \"so\".md", "it's \"so\".md", true),
            ("Größe/日本.md", "größe/日本.md", true),
            ("src/*.rs", "src/*.rs", true),
            ("./SRC/a.rs", "src/a.rs", true),
        ] {
            assert_eq!(path_covers(planned, file), expected, "{planned} {file}");
        }
    }

    #[test]
    fn no_path_costs_more_than_its_length() {
        let stars = "**/a/".repeat(MAX_PARTS / 2 - 1);
        assert!(!paths_overlap(
            &format!("{stars}b.rs"),
            &format!("{}c.rs", "a/".repeat(MAX_PARTS - 1))
        ));
        assert!(
            paths_overlap(&"a/".repeat(1_000_000), &"b/".repeat(1_000_000)),
            "cannot be told"
        );
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
            ("src/api/", "src/api/mod.rs", true),
            ("**/*.toml", "src/api/", true),
            ("**/*.toml", "src/api", true),
            ("**/*.toml", "src/api/mod.rs", false),
            ("**/*.toml", "etc/conf.d", true),
            ("docs/v1.2", "docs/v1.2/a.md", true),
            ("src/*/mod.rs", "src/lib.rs", false),
            ("src/lib.rs", "src/lib.rs/**", true),
            ("**", "src/lib.rs", true),
            ("", "src/lib.rs", true),
            ("paths/{id}.yaml", "paths/{name}.yaml", false),
            ("paths/{id}.yaml", "paths/{id}.yaml", true),
            ("app/[id]/page.tsx", "app/[slug]/page.tsx", false),
            ("app/[id]/page.tsx", "app/*/page.tsx", true),
            ("app/[id]/page.tsx", "app/about/page.tsx", false),
        ] {
            assert_eq!(paths_overlap(one, other), expected, "{one} {other}");
            assert_eq!(paths_overlap(other, one), expected, "{other} {one}");
        }
    }
}
