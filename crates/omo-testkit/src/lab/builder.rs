//! Builder of a lab: its folders, the user's files, and every variable of the session.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::{Lab, write};
use crate::model::MockModel;

/// A key that opens nothing. The client asks about keys it has not seen by their last 20 letters.
const KEY: &str = "scripted-model-has-no-key";

/// Nothing listens there: a lab without a model reaches no server.
pub(super) const UNREACHABLE_MODEL: &str = "http://127.0.0.1:9";

/// The folders of ordinary tools; an `omo` or `claude` of the user's is in none of them.
const TOOLS: &str = "/usr/local/bin:/usr/bin:/bin";

/// Settings of a lab.
#[derive(Debug, Clone)]
pub struct LabBuilder {
    folder: String,
    git: bool,
    model: String,
    settings: Option<Value>,
    plugins: Vec<PathBuf>,
    path: Vec<PathBuf>,
    environment: Vec<(String, String)>,
}

impl LabBuilder {
    pub(super) fn new() -> Self {
        Self {
            folder: String::from("lab"),
            git: true,
            model: String::from(UNREACHABLE_MODEL),
            settings: None,
            plugins: Vec::new(),
            path: Vec::new(),
            environment: Vec::new(),
        }
    }

    /// The model at the other end.
    #[must_use]
    pub fn model(mut self, model: &MockModel) -> Self {
        self.model = model.url();
        self
    }

    /// The name of the folder around home and project, for example with spaces or `ü`.
    #[must_use]
    pub fn folder(mut self, name: &str) -> Self {
        name.clone_into(&mut self.folder);
        self
    }

    /// Leaves the project without a git repository.
    #[must_use]
    pub fn without_git(mut self) -> Self {
        self.git = false;
        self
    }

    /// The user's `settings.json`.
    #[must_use]
    pub fn settings(mut self, settings: Value) -> Self {
        self.settings = Some(settings);
        self
    }

    /// A plugin folder that the client loads.
    #[must_use]
    pub fn plugin(mut self, folder: impl Into<PathBuf>) -> Self {
        self.plugins.push(folder.into());
        self
    }

    /// A folder in front of `PATH`.
    #[must_use]
    pub fn path(mut self, folder: impl Into<PathBuf>) -> Self {
        self.path.push(folder.into());
        self
    }

    /// One more variable, or another value for one of ours.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Makes the folders.
    pub fn build(self) -> Result<Lab> {
        let temp = tempfile::Builder::new()
            .prefix("omo-")
            .tempdir()
            .context("make a temporary folder")?;
        // Trust is kept under the real path, and a temporary folder may lie behind a link.
        let base = fs::canonicalize(temp.path())?.join(&self.folder);
        let (home, project) = (base.join("home"), base.join("project"));
        fs::create_dir_all(home.join(".claude"))?;
        fs::create_dir_all(&project)?;
        write(
            &home.join(".claude.json"),
            &onboarded_client_file(&project).to_string(),
        )?;
        if let Some(settings) = self.user_settings() {
            write(&home.join(".claude/settings.json"), &settings.to_string())?;
        }
        let lab = Lab {
            temp,
            environment: self.environment(&home)?,
            home,
            project,
            plugins: self.plugins,
        };
        if self.git {
            lab.git(&["init", "-q", "-b", "main"])?;
            lab.git(&["commit", "-q", "--allow-empty", "-m", "init"])?;
        }
        Ok(lab)
    }

    /// Content of the user's `settings.json`. Animations are off where a client may be started:
    /// they take five hundredths of a processor from every client that waits, and show nothing that
    /// a test looks at.
    fn user_settings(&self) -> Option<Value> {
        let mut settings = self.settings.clone();
        if self.model != UNREACHABLE_MODEL
            && let Some(settings) = settings.get_or_insert_with(|| json!({})).as_object_mut()
        {
            settings
                .entry("prefersReducedMotion")
                .or_insert(json!(true));
        }
        settings
    }

    fn environment(&self, home: &Path) -> Result<BTreeMap<String, String>> {
        let tools = std::env::split_paths(TOOLS);
        let path = std::env::join_paths(self.path.iter().cloned().chain(tools))?;
        let own = [
            ("PATH", path.to_string_lossy().into_owned()),
            ("HOME", home.to_string_lossy().into_owned()),
            ("TERM", "xterm-256color".into()),
            ("LANG", "C.UTF-8".into()),
            // The client refuses to bypass permissions as root outside a sandbox.
            ("IS_SANDBOX", "1".into()),
            ("ANTHROPIC_BASE_URL", self.model.clone()),
            ("ANTHROPIC_API_KEY", KEY.into()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".into()),
            ("DISABLE_TELEMETRY", "1".into()),
            ("DISABLE_AUTOUPDATER", "1".into()),
            ("DISABLE_ERROR_REPORTING", "1".into()),
        ];
        let own = own.map(|(name, value)| (name.to_owned(), value));
        let wished = self.environment.iter().cloned();
        Ok(own.into_iter().chain(wished).collect())
    }
}

/// The client's own file for a user who has seen every first-run question.
fn onboarded_client_file(project: &Path) -> Value {
    let asked = KEY.get(KEY.len().saturating_sub(20)..).unwrap_or(KEY);
    json!({
        "hasCompletedOnboarding": true,
        "lastOnboardingVersion": "2.1.328",
        "theme": "dark",
        "numStartups": 5,
        "bypassPermissionsModeAccepted": true,
        "customApiKeyResponses": {"approved": [asked], "rejected": []},
        "officialMarketplaceAutoInstallAttempted": true,
        "projects": {
            project.to_string_lossy(): {
                "hasTrustDialogAccepted": true,
                "hasCompletedProjectOnboarding": true,
                "projectOnboardingSeenCount": 5,
                "allowedTools": [],
            }
        },
    })
}
