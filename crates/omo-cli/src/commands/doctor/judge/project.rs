//! Findings about the project: folder, state, git, and other tools that continue its sessions.

use super::super::facts::{
    Facts, ProjectDirKind, RecentErrors, RepositoryChecks, SessionCounts, StateFolder,
    StateFolderFacts,
};
use super::super::finding::{Finding, Level};
use omo_core::text::pluralize;

use super::{or_good, quote_path};

pub(super) fn goal(facts: &Facts) -> Vec<Finding> {
    const NAME: &str = "goal";
    const WHY: &str = "a goal continues its session as well, and two loops get in each other's way";
    let goals = match &facts.goals {
        Ok(goals) => goals,
        Err(why) => {
            return vec![Finding::new(
                NAME,
                Level::Unknown,
                why.clone(),
                WHY,
                "type /goal in the session",
            )];
        }
    };
    let problems = goals.iter().map(|goal| {
        let (level, also) = if goal.is_armed {
            (Level::Bad, ", where ultrawork is on as well")
        } else {
            (Level::Warning, "")
        };
        let found = format!(
            "/goal is on in session {}{also}: {}",
            goal.session, goal.condition
        );
        Finding::new(NAME, level, found, WHY, "type /goal clear in that session")
    });
    or_good(problems.collect(), || {
        Finding::good(
            NAME,
            "no /goal is on in a session of this project in the last day",
        )
    })
}

pub(super) fn place(facts: &Facts) -> Vec<Finding> {
    const NAME: &str = "project";
    let place = &facts.project;
    let mut problems = Vec::new();
    if place.folder.is_none() {
        let found = "the folder that this was started in is not there any more";
        problems.push(Finding::new(
            NAME,
            Level::Bad,
            found,
            "a session that works here cannot keep its state",
            "cd to the project",
        ));
    }
    if let Some((given, what)) = &place.project_dir_variable {
        let nowhere = "the state is kept below that folder, and so it cannot be kept";
        match what {
            ProjectDirKind::Missing => {
                let what = "which is not there";
                problems.push(project_dir_problem(given, Level::Bad, what, nowhere));
            }
            ProjectDirKind::NotAFolder => {
                let what = "which is not a folder";
                problems.push(project_dir_problem(given, Level::Bad, what, nowhere));
            }
            ProjectDirKind::Relative => {
                let why = "a relative path depends on where a process is; omo passes over it";
                let what = "which is not an absolute path";
                problems.push(project_dir_problem(given, Level::Warning, what, why));
            }
            ProjectDirKind::Folder => {
                let root = place.root.as_deref();
                let is_outside = place
                    .folder
                    .as_ref()
                    .zip(root)
                    .is_some_and(|(folder, root)| !folder.starts_with(root));
                if is_outside {
                    let why = "omo looks at that project and not at the folder that you are in";
                    let what = "and this folder is not in it";
                    problems.push(project_dir_problem(given, Level::Warning, what, why));
                }
            }
        }
    }
    let root = place.root.as_deref();
    let is_top = root.is_some_and(|root| root.parent().is_none());
    if is_top || (root.is_some() && root == place.home.as_deref()) {
        let what = if is_top {
            "the top of all folders"
        } else {
            "your home folder"
        };
        let why =
            "all sessions below it share one state, and a check of the files would read all of it";
        let found = format!("the project is {what}");
        problems.push(Finding::new(
            NAME,
            Level::Warning,
            found,
            why,
            "start the client in the folder of a project",
        ));
    }
    if let Some(folder) = &place.unwritable {
        let found = format!("{} cannot be written", folder.display());
        let why = "the state of a run is kept there: no run can be held in this project, and `ulw` says so";
        problems.push(Finding::new(
            NAME,
            Level::Bad,
            found,
            why,
            format!("chmod u+w {}", quote_path(folder)),
        ));
    }
    or_good(problems, || {
        Finding::good(
            NAME,
            root.map_or_else(|| "none".to_owned(), |root| root.display().to_string()),
        )
    })
}

fn project_dir_problem(given: &str, level: Level, defect: &str, why: &str) -> Finding {
    let given = omo_core::text::sanitize(given, 200);
    let found = format!("CLAUDE_PROJECT_DIR is {given}, {defect}");
    Finding::new("project", level, found, why, "unset CLAUDE_PROJECT_DIR")
}

pub(super) fn state(facts: &Facts) -> Vec<Finding> {
    const NAME: &str = "state";
    let folder = match &facts.state {
        StateFolderFacts::Absent => {
            return vec![Finding::good(
                NAME,
                "no session here has used ultrawork yet",
            )];
        }
        StateFolderFacts::Refused(why) => {
            let why_not = "while that is so omo holds no session here";
            return vec![Finding::new(
                NAME,
                Level::Bad,
                why.clone(),
                why_not,
                "move it away, or give it back to yourself: chown, chmod",
            )];
        }
        StateFolderFacts::Open(folder) => folder,
    };
    let problems = state_problems(NAME, folder);
    let SessionCounts { all, armed } = folder.sessions;
    or_good(problems, || {
        Finding::good(
            NAME,
            format!(
                "{}, {armed} on ({})",
                pluralize(all, "session"),
                folder.path.display()
            ),
        )
    })
}

fn state_problems(name: &'static str, folder: &StateFolder) -> Vec<Finding> {
    let mut problems = Vec::new();
    if let Some(why) = &folder.broken {
        let why_not =
            "while it cannot be read omo holds no session here; the next `ulw` moves it aside";
        problems.push(Finding::new(
            name,
            Level::Bad,
            why.clone(),
            why_not,
            "omo stop --session ID moves it aside and starts over",
        ));
    }
    for entry in &folder.broken_entries {
        let why = "that session is not held";
        let id = entry.split(':').next().unwrap_or_default();
        problems.push(Finding::new(
            name,
            Level::Bad,
            format!("session {entry}"),
            why,
            format!("omo stop --session {id}"),
        ));
    }
    if let Some(why) = &folder.lock {
        let why_not = "a stopped process may hold it, and while it does omo holds no session here";
        let fix = format!(
            "fuser -v {}, then end that process",
            quote_path(&folder.path.join("runtime.lock"))
        );
        problems.push(Finding::new(name, Level::Bad, why.clone(), why_not, fix));
    }
    if let Some(first) = folder.open_to_others.first() {
        let found = format!("others may read or write {}", first.display());
        let why = "what a verdict rests on is for you alone to write";
        problems.push(Finding::new(
            name,
            Level::Warning,
            found,
            why,
            format!("chmod -R go-rwx {}", quote_path(&folder.path)),
        ));
    }
    if let Some(last) = folder.corrupt.last() {
        let kept = pluralize(folder.corrupt.len(), "copy");
        let found = format!("{kept} of a state that did not parse: {last}");
        let why = "something else than omo wrote into the state, or a disk was full";
        let fix = format!(
            "look at it, then: rm {}/{}*",
            quote_path(&folder.path),
            "runtime.local.json.corrupt-"
        );
        problems.push(Finding::new(name, Level::Warning, found, why, fix));
    }
    problems
}

pub(super) fn git(facts: &Facts) -> Vec<Finding> {
    const NAME: &str = "git";
    const FOLDER: &str = ".sisyphus/cc-omo";
    let git = &facts.git;
    if !git.is_there {
        let why = "without it no result of a check is bound to the files, and each claim runs every check again";
        return vec![Finding::new(
            NAME,
            Level::Warning,
            "there is no git on PATH",
            why,
            "install git",
        )];
    }
    if !git.in_work_tree {
        return vec![Finding::good(
            NAME,
            "found; the project is not a worktree, so no result of a check is reused",
        )];
    }
    let Some(tracked) = &git.tracked else {
        return vec![Finding::good(
            NAME,
            "found; the project has no state folder to ignore",
        )];
    };
    if tracked.files > 0 {
        let found = format!(
            "git tracks {} of {FOLDER}",
            pluralize(tracked.files, "file")
        );
        let why = "the state of your sessions would be committed, and every write of it would make evidence stale";
        return vec![Finding::new(
            NAME,
            Level::Bad,
            found,
            why,
            format!("git rm -r --cached {FOLDER}"),
        )];
    }
    if !tracked.ignores {
        let why = "the state of your sessions could be committed, and every write of it makes evidence stale";
        let fix = format!("echo '*' | tee {FOLDER}/.gitignore");
        return vec![Finding::new(
            NAME,
            Level::Warning,
            format!("git does not ignore {FOLDER}"),
            why,
            fix,
        )];
    }
    vec![Finding::good(NAME, format!("found; {FOLDER} is ignored"))]
}

pub(super) fn log(facts: &Facts) -> Vec<Finding> {
    const NAME: &str = "log";
    vec![match &facts.errors {
        None => Finding::good(NAME, "no hook has met an error in the last week"),
        Some(RecentErrors { count, last }) => {
            let found = format!(
                "{} in the last week, the last one: {last}",
                pluralize(*count, "error")
            );
            let why = "a hook that meets an error lets the session be and says nothing there";
            let fix = "fix what it names; the lines are in .sisyphus/cc-omo/hooks.log";
            Finding::new(NAME, Level::Warning, found, why, fix)
        }
    }]
}

pub(super) fn repository(facts: &Facts) -> Vec<Finding> {
    const NAME: &str = "omo.toml";
    vec![match &facts.repository_checks {
        RepositoryChecks::Absent => Finding::good(NAME, "none"),
        RepositoryChecks::Broken(why) => {
            let why_not = "none of its checks runs";
            Finding::new(
                NAME,
                Level::Bad,
                why.clone(),
                why_not,
                "fix the file, then: omo check approve",
            )
        }
        RepositoryChecks::NotApproved(number) => {
            let found = format!(
                "{} {} not approved as it is now",
                pluralize(*number, "check"),
                if *number == 1 { "is" } else { "are" }
            );
            let why = "what a repository asks for runs only once you approved exactly that";
            Finding::new(NAME, Level::Warning, found, why, "omo check approve")
        }
        RepositoryChecks::Approved(number) => {
            Finding::good(NAME, format!("{} approved", pluralize(*number, "check")))
        }
    }]
}
