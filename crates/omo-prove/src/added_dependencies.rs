//! Manifests that a change only adds dependencies or features to: code of now may not build without these, and no check is
//! made easier by them.

use std::collections::BTreeSet;

/// Tables of `Cargo.toml`, by the end of their name, whose lines may be added to.
const CARGO_TABLES: [&str; 4] = [
    "dependencies",
    "dev-dependencies",
    "build-dependencies",
    "features",
];

/// `true` for the manifest of a new package, and where all that stood in one stands there now, and all that was added is
/// about packages that it did not name.
pub(crate) fn only_adds_dependencies(path: &str, base: Option<&[u8]>, now: Option<&[u8]>) -> bool {
    let text =
        |bytes: Option<&[u8]>| bytes.and_then(|bytes| String::from_utf8(bytes.to_vec()).ok());
    let Some(now) = text(now) else { return false };
    let name = path.rsplit('/').next().unwrap_or(path);
    if base.is_none() {
        const STEERING: [&str; 6] = [
            "harness",
            "autotests",
            "[lints",
            "[patch",
            "replace ",
            "test = false",
        ];
        let steers = || STEERING.iter().any(|word| now.contains(word));
        return matches!(name, "Cargo.toml" | "go.mod" | "Cargo.lock" | "go.sum") && !steers();
    }
    let Some(base) = text(base) else { return false };
    // Each cargo writes its own form of it.
    let is_form = |line: &&str| !line.starts_with("version = ") || line.ends_with('"');
    let entries = match name {
        "Cargo.toml" => cargo_entries,
        "go.mod" => go_entries,
        "Cargo.lock" | "go.sum" => return is_kept(base.lines().filter(is_form), now.lines()),
        _ => return false,
    };
    let (base_entries, now_entries) = (entries(&base), entries(&now));
    let known: BTreeSet<&str> = base_entries.iter().map(|entry| entry.name).collect();
    let mut added = now_entries
        .iter()
        .filter(|entry| !base_entries.contains(entry));
    base_entries
        .iter()
        .filter(|entry| !entry.line.is_empty())
        .all(|entry| now_entries.contains(entry))
        && added.all(|entry| entry.may_be_added && !known.contains(entry.name))
}

fn is_kept<'a>(
    base: impl Iterator<Item = &'a str>,
    mut now: impl Iterator<Item = &'a str>,
) -> bool {
    let mut base = base;
    base.all(|line| now.any(|other| other == line))
}

#[derive(Debug, PartialEq, Eq)]
struct Entry<'a> {
    /// The table or block that it stands in.
    table: &'a str,
    line: &'a str,
    name: &'a str,
    may_be_added: bool,
}

fn cargo_entries(text: &str) -> Vec<Entry<'_>> {
    let mut table = "";
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let entry = |line| {
        let is_table = |line: &str| {
            let name = line.trim_matches(['[', ']']);
            CARGO_TABLES
                .iter()
                .any(|known| name.rsplit('.').next() == Some(*known))
                && !line.starts_with("[[")
        };
        let is_head = str::starts_with(line, '[');
        if is_head {
            table = line;
        }
        let name = line
            .split([' ', '=', '.'])
            .next()
            .unwrap_or(line)
            .trim_matches('"');
        let may_be_added = is_table(table) && (is_head || line.contains('=') && name != "default");
        Entry {
            table,
            line,
            name: if is_head { "" } else { name },
            may_be_added,
        }
    };
    let mut entries: Vec<Entry<'_>> = lines.map(entry).collect();
    entries.retain(|entry| !(entry.name.is_empty() && entry.may_be_added));
    entries
}

fn go_entries(text: &str) -> Vec<Entry<'_>> {
    let mut block = "";
    let mut entries = Vec::new();
    for line in text
        .lines()
        .map(|line| line.split("//").next().unwrap_or(line).trim())
    {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if line == ")" {
            block = "";
        } else if rest == "(" {
            block = word;
        } else if !line.is_empty() {
            let (table, line) = if block.is_empty() {
                (word, rest)
            } else {
                (block, line)
            };
            let name = line.split_whitespace().next().unwrap_or(line);
            entries.push(Entry {
                table,
                line,
                name,
                may_be_added: matches!(table, "require" | "replace"),
            });
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only_adds(path: &str, base: &str, now: &str) -> bool {
        only_adds_dependencies(path, Some(base.as_bytes()), Some(now.as_bytes()))
    }

    #[test]
    fn a_manifest_that_only_adds_dependencies_steers_nothing() {
        let cargo = "[package]\nname = \"a\"\n\n[dependencies]\nserde = \"1\"\n";
        for added in [
            "log = \"0.4\"\n",
            "log.workspace = true\n",
            "\n[dev-dependencies]\nlog = { path = \"log\" }\n",
            "\n[features]\nextra = []\n",
        ] {
            assert!(
                only_adds("web/Cargo.toml", cargo, &format!("{cargo}{added}")),
                "{added}"
            );
        }
        for (base, now) in [
            (
                cargo,
                &*format!("{cargo}\n[dev-dependencies]\nserde = {{ path = \"stub\" }}\n"),
            ),
            (cargo, &cargo.replace("\"1\"", "{ path = \"stub\" }")),
            (
                cargo,
                &format!("{cargo}\n[[test]]\nname = \"a\"\nharness = false\n"),
            ),
            (
                cargo,
                &format!("{cargo}\n[lints.rust]\nunused = \"allow\"\n"),
            ),
            (
                cargo,
                &format!("{cargo}\n[features]\ndefault = [\"fake\"]\n"),
            ),
            (
                cargo,
                &cargo.replace("[package]\n", "[package]\nautotests = false\n"),
            ),
            (
                &format!("{cargo}[lints.rust]\nunused = \"deny\"\n"),
                &format!("{cargo}[lints.rust]\n"),
            ),
        ] {
            assert!(!only_adds("Cargo.toml", base, now), "{now}");
        }
        let go = "module a\n\ngo 1.19\n\nrequire example.org/b v1.0.0\n";
        for added in [
            "require example.org/c v1.0.0\n",
            "require (\n\texample.org/c v1.0.0 // indirect\n)\n\nreplace example.org/c => ./c\n",
        ] {
            assert!(only_adds("go.mod", go, &format!("{go}{added}")), "{added}");
        }
        for added in [
            "replace example.org/b => ./stub\n",
            "exclude example.org/c v1.0.0\n",
        ] {
            assert!(!only_adds("go.mod", go, &format!("{go}{added}")), "{added}");
        }
        assert!(only_adds(
            "Cargo.lock",
            "version = 3\na\nc\n",
            "version = 4\na\nb\nc\n"
        ));
        assert!(!only_adds("Cargo.lock", "a\nc\n", "a\nb\n"));
        assert!(
            !only_adds("package.json", "{}", "{}")
                && only_adds_dependencies("a/Cargo.toml", None, Some(b""))
        );
        assert!(!only_adds_dependencies(
            "a/Cargo.toml",
            None,
            Some(b"[[test]]\nname = \"a\"\nharness = false\n")
        ));
    }
}
