//! Plans that are lists of checkboxes: those of Spec Kit, OpenSpec and Kiro, nested and numbered each in its way.

use super::PlanDialect;

/// Spec Kit: `- [ ] T001 [P] [US1] …` in phases.
pub static SPEC_KIT: ChecklistDialect = ChecklistDialect { format: ChecklistFormat::SpecKit };
/// OpenSpec: `- [ ] 1.1 …` below `## 1. …`.
pub static OPEN_SPEC: ChecklistDialect = ChecklistDialect { format: ChecklistFormat::OpenSpec };
/// Kiro: `- [ ] 1. …` with `- [ ] 1.1 …` below it.
pub static KIRO: ChecklistDialect = ChecklistDialect { format: ChecklistFormat::Kiro };

/// Whose checkboxes they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChecklistFormat {
    SpecKit,
    OpenSpec,
    Kiro,
}

/// A list of checkboxes.
#[derive(Debug)]
pub struct ChecklistDialect {
    format: ChecklistFormat,
}

impl PlanDialect for ChecklistDialect {
    fn name(&self) -> &'static str {
        match self.format {
            ChecklistFormat::SpecKit => "spec-kit",
            ChecklistFormat::OpenSpec => "open-spec",
            ChecklistFormat::Kiro => "kiro",
        }
    }
}
