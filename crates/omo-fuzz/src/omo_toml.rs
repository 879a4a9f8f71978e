//! `omo.toml`, which a repository brings along, and the user's own `config.toml`.

use std::path::Path;

use omo_checks::repository_config::{FILE, RepositoryConfig};
use omo_core::check::session_check::{Check, CheckOrigin, MAX_CHECKS};
use omo_core::check::task_check::TaskCheck;
use omo_core::keyword::Keywords;
use omo_core::limits::RunLimits;
use omo_core::messages::checks::approval_request;
use omo_state::config::{self, ConfigProblem};
use omo_state::trust::content_digest;

use crate::scratch;

/// A file with an error asks for nothing; every request is possible; nothing is approved by itself; other content has
/// another digest; and the shown text is honest.
pub fn check(data: &[u8]) {
    scratch::with_file(FILE, data, |root| of_a_repository(data, root));
    if let Ok(text) = std::str::from_utf8(data) {
        of_the_user(text);
    }
}

fn of_a_repository(data: &[u8], root: &Path) {
    let Some(repository) = RepositoryConfig::read(root) else {
        return assert!(data.is_empty(), "the file was not seen");
    };
    assert!(
        !repository.is_approved(None) && !repository.is_approved(Some(root)),
        "it was not approved"
    );
    let asks_for_nothing = repository.checks.is_empty() && repository.setup.is_none();
    assert!(
        repository.problems.is_empty() || asks_for_nothing,
        "{repository:?}"
    );
    assert!(
        repository
            .setup
            .as_ref()
            .is_none_or(|setup| TaskCheck::new(setup).invalid_reason().is_none()),
        "{repository:?}"
    );
    can_be(&repository.checks, CheckOrigin::Repository);
    are_lines(&repository.problems, data);
    if data.len() <= 64 * 1024 {
        is_for_exactly_this(data, root);
    }
    let (Ok(shown) | Err(shown)) = approval_request(
        &repository.checks,
        repository.setup.as_deref(),
        &repository.pinned,
        &repository.digest,
    );
    assert!(
        !shown.contains(|char: char| char.is_control() && char != '\n'),
        "{shown:?}"
    );
}

fn is_for_exactly_this(data: &[u8], root: &Path) {
    let own = content_digest(root, data);
    assert!(own.len() == 64 && own.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let mut changed = data.to_vec();
    let middle = data.len() / 2;
    if let Some(byte) = changed.get_mut(middle) {
        *byte ^= 1;
        assert_ne!(content_digest(root, &changed), own);
        assert_ne!(content_digest(root, data.get(1..).unwrap_or_default()), own);
    }
    assert_ne!(content_digest(root, &[data, b" "].concat()), own);
    assert_ne!(content_digest(&root.join("x"), data), own);
}

fn of_the_user(text: &str) {
    let config = config::parse(text, Path::new("config.toml"));
    assert_eq!(config.limits, config.limits.clamped());
    assert_eq!(
        Keywords::new(config.keywords.words().to_vec()).as_ref(),
        Ok(&config.keywords)
    );
    let checks: Vec<Check> = config
        .checks
        .iter()
        .map(|(check, _)| check.clone())
        .collect();
    can_be(&checks, CheckOrigin::Config);
    assert!(
        config
            .checks
            .iter()
            .all(|(_, project)| project.as_ref().is_none_or(|project| project.is_absolute()))
    );
    are_lines(&config.problems, text.as_bytes());
    if config.problems.is_empty() && text.trim().is_empty() {
        assert_eq!(config.limits, RunLimits::default());
    }
}

fn can_be(checks: &[Check], origin: CheckOrigin) {
    assert!(checks.len() <= MAX_CHECKS);
    for (index, check) in checks.iter().enumerate() {
        assert!(
            check.validate().is_ok() && check.origin == origin,
            "{check:?}"
        );
        assert!(check.last.is_none(), "{check:?}");
        assert!(
            checks
                .iter()
                .skip(index + 1)
                .all(|other| other.name != check.name),
            "{check:?} has a double"
        );
    }
}

/// Each problem is one line, which names a line of the file and moves no terminal.
fn are_lines(problems: &[ConfigProblem], data: &[u8]) {
    let lines = data.split(|byte| *byte == b'\n').count();
    for problem in problems {
        assert!(
            problem.line.is_none_or(|line| (1..=lines).contains(&line)),
            "{problem:?}"
        );
        assert!(
            !problem.to_string().contains(char::is_control),
            "{problem:?}"
        );
    }
}
