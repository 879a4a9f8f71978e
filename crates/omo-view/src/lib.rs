//! A run as people see it: [`run_view::RunView`] holds all that is shown, and each renderer takes it and nothing else.
//!
//! Pure: data in, text out.
pub mod page;
pub mod run_view;
pub mod screen;
pub mod table;
pub mod text;
pub mod tone;
