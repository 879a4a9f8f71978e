//! Findings about the user's key, approvals and configuration.

use omo_core::messages::client_settings::feedback_offer;
use omo_state::config::FeedbackMode;

use super::super::facts::{Client, Facts, UserFolder};
use super::super::finding::{Finding, Level};
use super::{or_good, quote_path};

pub(super) fn trust(facts: &Facts) -> Vec<Finding> {
    const NAME: &str = "trust";
    let (path, open_to_others, problems) = match &facts.user_folder {
        UserFolder::NoHome => {
            let why =
                "without a key nothing can be sealed or approved, and no run is ever verified";
            return vec![Finding::new(
                NAME,
                Level::Bad,
                "no home folder is known",
                why,
                "set HOME",
            )];
        }
        UserFolder::Absent(path) => {
            return vec![Finding::good(
                NAME,
                format!("nothing was kept in {} yet", path.display()),
            )];
        }
        UserFolder::Unwritable { path, folder } => {
            let found = format!(
                "{} cannot be made: {} cannot be written",
                path.display(),
                folder.display()
            );
            let why =
                "without a key nothing can be sealed or approved, and no run is ever verified";
            return vec![Finding::new(
                NAME,
                Level::Bad,
                found,
                why,
                format!("chmod u+w {}", quote_path(folder)),
            )];
        }
        UserFolder::Open {
            path,
            open_to_others,
            problems,
        } => (path, open_to_others, problems),
    };
    let broken = problems.iter().map(|(problem, file)| {
        let why =
            "without a key nothing is sealed, without approvals no check of a repository runs";
        let fix = format!(
            "mv {0} {0}.old, and a new one is made when it is needed",
            quote_path(file)
        );
        Finding::new(NAME, Level::Bad, problem.clone(), why, fix)
    });
    let open = open_to_others.iter().map(|file| {
        let found = format!("others may read or write {}", file.display());
        let why = "who has the key can forge a verdict";
        Finding::new(
            NAME,
            Level::Bad,
            found,
            why,
            format!("chmod -R go-rwx {}", quote_path(path)),
        )
    });
    or_good(broken.chain(open).collect(), || {
        Finding::good(NAME, format!("for you alone ({})", path.display()))
    })
}

pub(super) fn config(facts: &Facts) -> Vec<Finding> {
    const NAME: &str = "config";
    let (file, problems) = &facts.config;
    let problems = problems.iter().map(|problem| {
        let why =
            "what it says there does not count, and ultrawork is not turned on from a terminal";
        Finding::new(
            NAME,
            Level::Bad,
            problem.clone(),
            why,
            "fix the line, or remove it to use the default",
        )
    });
    let no_keyword = file.iter().filter(|_| facts.is_without_keyword).map(|file| {
        let found = format!("`keywords = []` in {}", file.display());
        let why = "the words `ulw` and `ultrawork` in a prompt do nothing; only /omo:ulw turns ultrawork on";
        Finding::new(NAME, Level::Warning, found, why, "remove the line, unless you mean it")
    });
    or_good(problems.chain(no_keyword).collect(), || {
        let file = file.as_ref().map_or_else(
            || "no home folder is known".to_owned(),
            |file| file.display().to_string(),
        );
        Finding::good(NAME, file)
    })
}

/// Note on the look of a continuation, a plain line or like an error: neither is bad.
pub(super) fn feedback(facts: &Facts) -> Vec<Finding> {
    let file = facts.config.0.as_ref().map_or_else(
        || "config.toml".to_owned(),
        |file| file.display().to_string(),
    );
    let is_calm = match facts.feedback {
        FeedbackMode::Auto => {
            !matches!(facts.client, Client::Found { version, .. } if !version.is_calm())
        }
        FeedbackMode::Block => false,
        FeedbackMode::Context => true,
    };
    let found = if is_calm {
        "Claude Code shows a continuation as what omo says".to_owned()
    } else {
        feedback_offer(&file)
    };
    vec![Finding::good("feedback", found)]
}
