//! Plans of `<task>` elements, as GSD writes them.

use super::PlanDialect;

/// Plans of `<task>` elements, as GSD writes them.
#[derive(Debug)]
pub struct GsdDialect;

impl PlanDialect for GsdDialect {
    fn name(&self) -> &'static str {
        "gsd"
    }
}
