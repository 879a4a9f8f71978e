//! Plans of Conductor: phases of `- [ ] Task: …` with sub-tasks; a manual verification is a stop.

use super::{ChecklistDialect, NUMBERED, TaskItems, first};
use crate::dialects::PlanPlace;
use crate::model::Dialect;
use crate::pattern::Pattern;

static SIGN: Pattern = Pattern::new(r"^[-*] \[.\] [*_]*Task[*_]*:");
static STOP: Pattern = Pattern::new(r"(?i-u:user manual verification)");
static COMMIT: Pattern = Pattern::new(
    r" *(?:[\[(]`?(?:checkpoint: *)?[0-9a-f]{7,40}`?[\])]|`[0-9a-f]{7,40}`|\b(?:checkpoint: *)?(?:[a-f]+[0-9]|[0-9]+[a-f])[0-9a-f]{4,38})\.?$",
);

/// Format of `conductor/tracks/*/plan.md`.
pub static CONDUCTOR: ChecklistDialect = ChecklistDialect {
    dialect: Dialect::Conductor,
    name: "conductor",
    places: &[PlanPlace::below("conductor/tracks", "plan.md")],
    goal_files: &[first("spec.md")],
    tasks: TaskItems::Outer,
    form: "- [ ] Task: its title",
    sign: Some(&SIGN),
    stop: Some(&STOP),
    tail: Some(&COMMIT),
    ticks_parts: true,
    ..NUMBERED
};
