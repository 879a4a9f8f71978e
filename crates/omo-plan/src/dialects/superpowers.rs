//! Plans of `### Task N:` whose steps are checkboxes, as superpowers writes them.

use super::PlanDialect;

/// Plans of `### Task N:` whose steps are checkboxes, as superpowers writes them.
#[derive(Debug)]
pub struct SuperpowersDialect;

impl PlanDialect for SuperpowersDialect {
    fn name(&self) -> &'static str {
        "superpowers"
    }
}
