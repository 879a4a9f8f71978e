//! `PlanPlace`: a usual path of a dialect's plans, which decides where the text of a file leaves the dialect open.

use std::fmt;

use omo_core::text::glob::matches_glob;

use crate::model::Dialect;

/// Path pattern: a file name in or below a folder, which may lie anywhere in a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanPlace {
    /// Folder, with `/` between its parts; empty for any.
    pub folder: &'static str,
    pub is_deep: bool,
    pub name: &'static str,
}

impl PlanPlace {
    pub(crate) const fn in_folder(folder: &'static str, name: &'static str) -> Self {
        Self {
            folder,
            is_deep: false,
            name,
        }
    }

    pub(crate) const fn below(folder: &'static str, name: &'static str) -> Self {
        Self {
            folder,
            is_deep: true,
            name,
        }
    }

    /// `true` for a path in this place; the path may be absolute.
    pub fn holds(&self, path: &str) -> bool {
        let parts: Vec<&str> = path
            .split(['/', '\\'])
            .filter(|part| !part.is_empty() && *part != ".")
            .collect();
        let Some((name, folders)) = parts.split_last() else {
            return false;
        };
        let wanted: Vec<&str> = self.folders().collect();
        matches_glob(self.name, name)
            && if self.is_deep {
                folders.windows(wanted.len()).any(|found| found == wanted)
            } else {
                folders.ends_with(&wanted)
            }
    }

    fn depth(&self) -> usize {
        self.folders().count()
    }

    fn folders(&self) -> impl Iterator<Item = &'static str> {
        self.folder.split('/').filter(|part| !part.is_empty())
    }
}

impl fmt::Display for PlanPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let between = match self.folder {
            "" => "",
            _ if self.is_deep => "/**/",
            _ => "/",
        };
        write!(f, "{}{between}{}", self.folder, self.name)
    }
}

impl Dialect {
    /// Dialect of the place with most folders for a path: `.kiro/specs` is Kiro's, `specs` is Spec Kit's.
    pub fn of_place(path: &str) -> Option<Self> {
        let places = Self::ALL.iter().flat_map(|dialect| {
            dialect
                .rules()
                .places()
                .iter()
                .map(move |at| (at, *dialect))
        });
        places
            .filter(|(place, _)| place.holds(path))
            .max_by_key(|(place, _)| place.depth())
            .map(|(_, dialect)| dialect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_says_whose_plans_stand_there() {
        for (path, expected) in [
            ("specs/001-login/tasks.md", Some(Dialect::SpecKit)),
            (
                "./packages/a/specs/001-login/tasks.md",
                Some(Dialect::SpecKit),
            ),
            (".kiro/specs/login/tasks.md", Some(Dialect::Kiro)),
            ("/home/a/r/.kiro/specs/login/tasks.md", Some(Dialect::Kiro)),
            (
                "openspec/changes/add-login/tasks.md",
                Some(Dialect::OpenSpec),
            ),
            (
                "C:\\r\\openspec\\changes\\archive\\a\\tasks.md",
                Some(Dialect::OpenSpec),
            ),
            (".taskmaster/tasks/tasks.json", Some(Dialect::TaskMaster)),
            ("tasks/tasks.json", Some(Dialect::TaskMaster)),
            (".planning/phases/01-a/01-02-PLAN.md", Some(Dialect::Gsd)),
            (
                "docs/superpowers/plans/2026-01-01-login.md",
                Some(Dialect::Superpowers),
            ),
            ("/r/.sisyphus/plans/a.md", Some(Dialect::Sisyphus)),
            ("conductor/tracks/a/plan.md", Some(Dialect::Conductor)),
            (
                "_bmad-output/implementation-artifacts/1-2-login.md",
                Some(Dialect::Bmad),
            ),
            ("_bmad-output/planning-artifacts/prd.md", None),
            ("agent-os/specs/a/tasks.md", Some(Dialect::AgentOs)),
            (".agent-os/specs/a/tasks.md", Some(Dialect::AgentOs)),
            ("backlog/tasks/task-1 - Log in.md", Some(Dialect::Backlog)),
            ("prd.json", Some(Dialect::Ralph)),
            ("/r/packages/a/prd.json", Some(Dialect::Ralph)),
            ("docs/superpowers/plans/old/login.md", None),
            ("openspec/changes/add-login/design.md", None),
            ("specs.md/tasks.markdown", None),
            ("xspecs/a/tasks.md", None),
            ("tasks/deep/tasks.json", None),
            ("tasks.md", None),
            ("-", None),
            ("", None),
        ] {
            assert_eq!(Dialect::of_place(path), expected, "{path}");
        }
    }

    #[test]
    fn a_place_is_written_as_a_pattern() {
        let written = |dialect: Dialect| {
            dialect
                .rules()
                .places()
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
        };
        assert_eq!(written(Dialect::Kiro), [".kiro/specs/**/tasks.md"]);
        assert_eq!(
            written(Dialect::Superpowers),
            ["docs/superpowers/plans/*.md"]
        );
        assert_eq!(
            written(Dialect::Ralph).first().map(String::as_str),
            Some("prd.json")
        );
    }
}
