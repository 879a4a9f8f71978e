//! Recognizes manifests such as `Cargo.toml` to which a change only adds dependencies: code may
//! need them to build, and they make no check easier.

use std::collections::BTreeSet;

/// Tables of `Cargo.toml` that may grow, by the last part of their name.
const CARGO_TABLES: [&str; 4] = [
    "dependencies",
    "dev-dependencies",
    "build-dependencies",
    "features",
];

/// `true` for a new package, or where all of the old manifest stays and only packages are added.
pub(crate) fn only_adds_dependencies(path: &str, base: Option<&[u8]>, now: Option<&[u8]>) -> bool {
    let Some(now) = now.and_then(|bytes| str::from_utf8(bytes).ok()) else {
        return false;
    };
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
        let steers = STEERING.iter().any(|word| now.contains(word));
        return matches!(name, "Cargo.toml" | "go.mod" | "Cargo.lock" | "go.sum") && !steers;
    }
    let Some(base) = base.and_then(|bytes| str::from_utf8(bytes).ok()) else {
        return false;
    };
    let entries = match name {
        "Cargo.toml" => cargo_entries,
        "go.mod" => go_entries,
        "Cargo.lock" | "go.sum" => {
            // The form, `version = 4`, is that of the cargo in use.
            let lines = base
                .lines()
                .filter(|line| !line.starts_with("version = ") || line.ends_with('"'));
            return is_kept(lines, now.lines());
        }
        _ => return false,
    };
    let (base_entries, now_entries) = (entries(base), entries(now));
    let base_names: BTreeSet<&str> = base_entries.iter().map(|entry| entry.name).collect();
    let mut added = now_entries
        .iter()
        .filter(|entry| !base_entries.contains(entry));
    base_entries
        .iter()
        .filter(|entry| !entry.line.is_empty())
        .all(|entry| now_entries.contains(entry))
        && added.all(|entry| entry.may_be_added && !base_names.contains(entry.name))
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
    /// Name of the table or block around the line.
    table: &'a str,
    line: &'a str,
    name: &'a str,
    may_be_added: bool,
}

fn cargo_entries(text: &str) -> Vec<Entry<'_>> {
    let mut table = "";
    let mut may_grow = false;
    let mut entries = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if line.starts_with('[') {
            table = line;
            may_grow = is_growing_table(table);
            if !may_grow {
                entries.push(Entry {
                    table,
                    line,
                    name: "",
                    may_be_added: false,
                });
            }
            continue;
        }
        let name = line
            .split([' ', '=', '.'])
            .next()
            .unwrap_or(line)
            .trim_matches('"');
        let may_be_added = may_grow && line.contains('=') && name != "default";
        if !(name.is_empty() && may_be_added) {
            entries.push(Entry {
                table,
                line,
                name,
                may_be_added,
            });
        }
    }
    entries
}

fn is_growing_table(head: &str) -> bool {
    let name = head.trim_matches(['[', ']']);
    let last_part = name.rsplit('.').next().unwrap_or(name);
    CARGO_TABLES.contains(&last_part) && !head.starts_with("[[")
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
