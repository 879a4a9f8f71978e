//! A run as one HTML file that loads nothing. Text from outside is never markup; only a page that
//! reloads itself has a script.

mod card_view;
mod check_view;
mod critical_path;
mod diff_view;
mod graph_layout;
mod graph_view;
mod page_view;
pub mod project_model;
mod project_view;
pub mod sample;
mod scale_steps;
mod text_budget;
mod time_scale;
mod timeline_view;
mod trend_view;

use askama::Template;

use crate::page::project_model::ProjectPage;
use crate::run_view::RunView;

/// Reload of a page whose run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageReload {
    /// Seconds between two loads.
    pub seconds: u32,
}

/// `<!DOCTYPE html>` and the tags after it, as on every page.
pub const PAGE_START: &str = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
    <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; ";

/// `RunView` as one HTML file, with a script only for `renewal`.
///
/// # Errors
///
/// Failed write of a template, only without memory.
pub fn render(page: &RunView, renewal: Option<PageReload>) -> Result<String, askama::Error> {
    page_view::page_view(page, renewal).render()
}

/// `ProjectPage` as one HTML file.
///
/// # Errors
///
/// As [`render`].
pub fn render_project(page: &ProjectPage) -> Result<String, askama::Error> {
    project_view::project_view(page).render()
}
