//! Plans of Agent OS: `- [ ] 1.1 …` below `- [ ] 1.0 …`, in task groups.

use super::{ChecklistDialect, NUMBERED, first};
use crate::dialects::PlanPlace;
use crate::model::Dialect;
use crate::pattern::Pattern;

static SIGN: Pattern = Pattern::new(r"^#{2,5} *(?i-u:task group) +\d");

/// Format of `agent-os/specs/*/tasks.md`.
pub static AGENT_OS: ChecklistDialect = ChecklistDialect {
    dialect: Dialect::AgentOs,
    name: "agent-os",
    places: &[
        PlanPlace::below("agent-os/specs", "tasks.md"),
        PlanPlace::below(".agent-os/specs", "tasks.md"),
    ],
    goal_files: &[first("spec.md"), first("planning/requirements.md")],
    form: "- [ ] 1.1 its title",
    sign: Some(&SIGN),
    ..NUMBERED
};
