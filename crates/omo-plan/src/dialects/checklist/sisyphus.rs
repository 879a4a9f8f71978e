//! Plans of oh-my-opencode: `- [ ] 1. …` below `## TODOs`, each with its labels and acceptance criteria.
//!
//! `**Blocked By**:` names all needs of a task. References and `Must NOT do` name no changed file.

use super::{ChecklistDialect, NUMBERED, TaskItems};
use crate::dialects::PlanPlace;
use crate::model::Dialect;
use crate::pattern::Pattern;

static SIGN: Pattern = Pattern::new(r"^#{1,3} (?:TODOs|Final Verification Wave)\b");

/// Format of `.sisyphus/plans/*.md`.
pub static SISYPHUS: ChecklistDialect = ChecklistDialect {
    dialect: Dialect::Sisyphus,
    name: "sisyphus",
    places: &[
        PlanPlace::in_folder(".sisyphus/plans", "*.md"),
        PlanPlace::in_folder(".omo/plans", "*.md"),
    ],
    tasks: TaskItems::NumberedOuter,
    sign: Some(&SIGN),
    context: &[
        "must not",
        "recommended agent",
        "parallelization",
        "references",
        "evidence",
    ],
    states_all_needs: true,
    ..NUMBERED
};

pub const BOULDER_FILE: &str = "boulder.json";

/// Name of the plan in a [`BOULDER_FILE`], whose path may be that of another machine.
pub fn active_plan_name(text: &[u8]) -> Option<String> {
    let boulder: serde_json::Value = serde_json::from_slice(text).ok()?;
    let name = boulder
        .get("active_plan")?
        .as_str()?
        .rsplit(['/', '\\'])
        .next()?;
    (name.len() > 3).then(|| name.to_owned())
}
