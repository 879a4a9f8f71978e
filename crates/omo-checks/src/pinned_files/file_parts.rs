//! The parts of a file that steer a runner, where the rest of the file is something else.

use omo_state::json_object::JsonObject;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A part of a file that steers a runner; the rest of the file is something else.
#[derive(Clone, Copy)]
pub(super) enum SteeringPart {
    /// A member of a JSON object.
    Member(&'static str),
    /// A section of an INI file.
    Section(&'static str),
    /// A table of TOML within `tool`.
    Tool(&'static str),
    /// The elements of an XML file with this name.
    Element(&'static str),
}

/// The parts of a file that count, where not all of it does.
pub(super) fn steering_parts(file: &str) -> Option<&'static [SteeringPart]> {
    match file {
        "package.json" => {
            // Of its scripts those that are reached are held: see `reading::packages`.
            Some(&[SteeringPart::Member("jest"), SteeringPart::Member("mocha"), SteeringPart::Member("ava")])
        }
        "composer.json" => Some(&[SteeringPart::Member("scripts")]),
        "setup.cfg" => Some(&[
            SteeringPart::Section("tool:pytest"),
            SteeringPart::Section("tox:tox"),
            SteeringPart::Section("coverage:run"),
        ]),
        "pyproject.toml" => Some(&[
            SteeringPart::Tool("pytest"),
            SteeringPart::Tool("tox"),
            SteeringPart::Tool("coverage"),
            SteeringPart::Tool("hatch"),
            SteeringPart::Tool("poe"),
            SteeringPart::Tool("pdm"),
            SteeringPart::Tool("taskipy"),
        ]),
        "pom.xml" => Some(&[
            SteeringPart::Element("build"),
            SteeringPart::Element("properties"),
            SteeringPart::Element("parent"),
        ]),
        _ => None,
    }
}

impl SteeringPart {
    /// What it is called.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Member(word) | Self::Section(word) | Self::Tool(word) | Self::Element(word) => word,
        }
    }

    /// The part of a file's text; `Some(None)` where the file has none, and `None` where it cannot be read.
    #[expect(
        clippy::option_option,
        reason = "a file without the part says something else than one that cannot be read"
    )]
    pub(super) fn extract(self, text: &str) -> Option<Option<String>> {
        match self {
            Self::Member(name) => JsonObject::parse(text).ok().map(|object| match (object.get(name), name) {
                (Some(member), _) => Some(member.to_owned()),
                // Where there are no scripts, their absence is held as well.
                (None, "scripts") => Some(String::new()),
                (None, _) => None,
            }),
            Self::Section(name) => Some(section(text, name)),
            Self::Element(name) => Some(elements(text, name)),
            Self::Tool(name) => {
                let table = DeTable::parse(text).ok()?;
                let tool = table.get_ref().get("tool").and_then(|tool| tool.get_ref().get(name));
                Some(tool.map(canonical))
            }
        }
    }
}

/// The lines of a section of an INI file.
fn section(text: &str, name: &str) -> Option<String> {
    let head = format!("[{name}]");
    // A comment may stand behind it.
    let is_head = |line: &str| {
        let rest = line.trim().strip_prefix(&head).map(str::trim_start);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['#', ';']))
    };
    let mut lines = text.lines().skip_while(|line| !is_head(line));
    let head = lines.next()?;
    let body = lines.take_while(|line| !line.starts_with('['));
    Some(std::iter::once(head).chain(body).flat_map(|line| [line.trim_end(), "\n"]).collect())
}

/// All elements of XML with a name, wherever they stand.
fn elements(text: &str, name: &str) -> Option<String> {
    let (open, end) = (format!("<{name}"), format!("</{name}>"));
    let mut parts = text.split(&open).skip(1).filter(|part| part.starts_with(['>', ' ', '\t', '\n', '\r', '/']));
    let first = parts.next()?;
    let parts = std::iter::once(first).chain(parts).map(|part| part.split(&end).next().unwrap_or(part));
    Some(parts.flat_map(|part| [open.as_str(), part, end.as_str(), "\n"]).collect())
}

/// A value of TOML, the same text for the same value wherever it stands in its file.
fn canonical(value: &Spanned<DeValue<'_>>) -> String {
    match value.get_ref() {
        DeValue::Array(values) => format!("[{}]", values.iter().map(canonical).collect::<Vec<_>>().join(",")),
        DeValue::Table(table) => {
            let members = table.iter().map(|(name, value)| format!("{:?}={}", name.get_ref(), canonical(value)));
            let mut members: Vec<String> = members.collect();
            members.sort();
            format!("{{{}}}", members.join(","))
        }
        other => format!("{other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_part_that_steers_a_runner_counts() {
        let tool = |text: &str| SteeringPart::Tool("pytest").extract(text);
        let with = |version: &str, options: &str| {
            format!(
                "[project]\nversion = \"{version}\"\n[tool.pytest.ini_options]\naddopts = \"{options}\"\n[tool.x]\na = 1\n"
            )
        };
        assert_eq!(tool(&with("1", "-q")), tool(&with("2.0", "-q")));
        assert_ne!(tool(&with("1", "-q")), tool(&with("1", "--co")));
        assert_eq!(tool("[tool.black]\n"), Some(None));
        assert_eq!(tool("tool.pytest.ini_options.addopts = \"-q\"\n"), tool(&with("1", "-q")));
        assert_eq!(tool("[tool"), None);
        let section = |text: &str| SteeringPart::Section("tool:pytest").extract(text).flatten();
        assert_eq!(
            section("[metadata]\nversion = 1\n[tool:pytest]\naddopts = -q\n\n[x]\n").as_deref(),
            Some("[tool:pytest]\naddopts = -q\n\n")
        );
        assert_eq!(section("[metadata]\n"), None);
    }
}
