//! Shows what came of a run as one HTML file: no network, no script, and nothing of what others wrote is markup.
//!
//! Pure: it gets a page as data and returns text. `model` is what it gets; `tone` alone says what is green.

mod graph_layout;
pub mod model;
pub mod tone;
