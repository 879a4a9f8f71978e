//! Repositories of another user: what git refuses, omo refuses.

use std::process::Command;

use omo_git::ownership::{DubiousOwnership, require_trusted};
use omo_git::repository::GitRepository;

use crate::worktree::Project;

#[test]
#[ignore = "needs root: cargo xtask test"]
fn a_repository_of_another_user_is_refused_as_git_refuses_it() {
    let project = Project::new();
    assert_eq!(require_trusted(&project.top), Ok(()));
    // What the repository says of itself does not count.
    project.git(&["config", "safe.directory", "*"]);
    let own = |owner: &str| {
        assert!(
            Command::new("chown")
                .args(["-R", owner])
                .arg(&project.top)
                .status()
                .unwrap()
                .success()
        );
    };
    own("1234:1234");
    assert_eq!(
        require_trusted(&project.top),
        Err(DubiousOwnership::Refused(project.top.clone()))
    );
    assert!(GitRepository::find(&project.top).is_none());
    own("0:0");
    assert!(require_trusted(&project.top).is_ok());
}
