//! What other programs wrote down about a plan that they executed, as events of a run.
