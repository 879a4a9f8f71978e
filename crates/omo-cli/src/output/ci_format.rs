//! `--format github|junit`: results of checks for a CI service, alone on stdout.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use clap::{Args, ValueEnum};
use omo_core::check::ci_report::{CiCheck, github_annotations, github_summary, junit_xml};
use omo_state::env;

use crate::error::CommandError;

#[derive(Debug, Args)]
pub(crate) struct CiOptions {
    /// For a CI service: github (annotations) or junit (XML)
    #[arg(
        long,
        value_enum,
        value_name = "FORM",
        hide_possible_values = true,
        conflicts_with = "json"
    )]
    pub format: Option<CiFormat>,
    /// Add the results to the summary of the GitHub step
    #[arg(long, requires = "format")]
    pub summary: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CiFormat {
    Github,
    Junit,
}

impl CiOptions {
    pub(crate) fn print(
        &self,
        command: &str,
        root: &Path,
        checks: &[CiCheck],
    ) -> Result<(), CommandError> {
        let Some(format) = self.format else {
            return Ok(());
        };
        let text = match format {
            CiFormat::Github => github_annotations(checks, |path| root.join(path).is_file()),
            CiFormat::Junit => junit_xml(command, checks),
        };
        std::io::stdout().lock().write_all(text.as_bytes())?;
        let file = env::variables()
            .into_iter()
            .find(|(name, _)| name == "GITHUB_STEP_SUMMARY");
        if let Some((_, file)) = file.filter(|(_, file)| self.summary && !file.is_empty()) {
            let added = OpenOptions::new().append(true).create(true).open(&file);
            added.and_then(|mut added| added.write_all(github_summary(checks).as_bytes()))?;
        }
        Ok(())
    }
}
