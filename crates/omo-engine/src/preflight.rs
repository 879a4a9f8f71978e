//! Preflight before sessions start: repository facts → findings, in the order of the best fix.

mod protected_paths;

use std::collections::BTreeMap;

use omo_core::text::command_text::quote_argument;
use omo_core::text::{pluralize, sanitize};
use omo_git::commit_conditions::CommitConditions;
use omo_git::integrate::UnfinishedOperation;
use omo_plan::diagnostic::Code;
use omo_plan::model::Plan;
use omo_plan::paths::{self, PlannedPaths};

use crate::execution_mode::ExecutionMode;
use crate::landing_hints::list_ending_commands;
use crate::report::dev_workflow::{CHECKPOINT_PATH, REPORT_PATH};
use protected_paths::is_protected;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreflightFacts {
    /// Output of `git version`; `None` without any.
    pub git: Option<String>,
    pub leftovers: Vec<String>,
    pub operation: Option<UnfinishedOperation>,
    pub has_identity: bool,
    pub head: PreflightHead,
    pub other_checkouts: Vec<String>,
    /// The branch whose name leaves no room for those of the sessions, such as `omo`.
    pub branch_in_way: Option<String>,
    /// Files that differ from the checked-out commit, untracked ones included, from the top.
    pub dirty: Vec<String>,
    /// Plan's path from the top, if inside. It may be uncommitted, since the ledger has its text.
    pub plan_file: Option<String>,
    pub submodules: Vec<String>,
    /// Files, from the top, with a filter that the repository's own settings name.
    pub filtered: Vec<String>,
    pub ignored: Vec<String>,
    /// Hooks, key and sparse set, as a commit in a new worktree meets them.
    pub commits: CommitConditions,
    pub mode: ExecutionMode,
    pub has_launcher: bool,
    pub has_setup: bool,
    pub checkout_bytes: u64,
    /// Free space where the work trees go, in bytes; `None` where unknown.
    pub free_bytes: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PreflightHead {
    Branch,
    Detached,
    Unborn,
    /// No branch: `git` takes the repository for one without a work tree.
    Bare,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreflightFinding {
    pub rule: PreflightRule,
    pub severity: PreflightSeverity,
    /// The finding, in one sentence without its full stop.
    pub text: String,
    pub hint: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PreflightRule {
    /// `git` is new enough (`OLDEST_GIT`).
    Git,
    Leftovers,
    Operation,
    Identity,
    /// `git` takes the checkout for a work tree.
    Bare,
    Head,
    OtherCheckouts,
    /// There is room for the branches of the sessions.
    Branches,
    /// Files that the plan touches are committed.
    Dirty,
    Submodules,
    /// Every file is the same without the programs that the repository names.
    Filters,
    /// Files that the plan changes can be committed.
    Ignored,
    /// Files that the plan changes lie in the repository.
    Outside,
    SparseSet,
    Signing,
    Hooks,
    HookPrograms,
    /// Hooks and signing of commits hold where workers are.
    LauncherGuards,
    /// Merges need no signature of the merged commits.
    MergeSettings,
    /// No setting of the environment turns hooks or signatures off.
    Environment,
    /// The plan touches no file that the client guards.
    Protected,
    PlanFile,
    Overlap,
    DiskSpace,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreflightSeverity {
    Note,
    /// A possible stop of the run for its user.
    Warning,
    /// A fault that omo fixes first.
    Fix,
    /// A fault for which no session is started.
    Stop,
}

const SPARE_BYTES: u64 = 256 * 1024 * 1024;
/// The first version of `git` that merges without a checkout.
const OLDEST_GIT: (u32, u32) = (2, 38);
const MAX_NAMES: usize = 8;

/// Findings of all rules about the repository and the plan.
pub fn check_repository(plan: &Plan, facts: &PreflightFacts) -> Vec<PreflightFinding> {
    let found = [
        check_git_version(facts),
        check_leftovers(facts),
        check_operation(facts),
        check_identity(facts),
        check_head(facts),
        check_other_checkouts(facts),
        check_branches(facts),
    ];
    let more = [
        check_submodules(plan, facts),
        check_filters(facts),
        check_ignored(facts),
        check_sparse_set(facts),
        check_signing(facts),
        check_hooks(facts),
        check_hook_programs(facts),
        check_launcher_guards(facts),
        check_merge_settings(facts),
        check_environment(facts),
        check_protected(plan),
        check_plan_file(facts),
        check_overlap(plan),
        check_disk_space(plan, facts),
    ];
    found
        .into_iter()
        .chain(check_dirty_files(plan, facts))
        .chain(more)
        .flatten()
        .collect()
}

/// Finding about paths outside of the repository: no change there could be taken back or committed.
pub fn check_outside(paths: &[String]) -> Option<PreflightFinding> {
    let text = format!(
        "the plan changes what is outside of the repository: {}",
        list_names(paths)?
    );
    let hint = "name files of the repository from its top; a link that leads out of it leads out here, too";
    Some(new_finding(
        PreflightRule::Outside,
        PreflightSeverity::Stop,
        text,
        hint,
    ))
}

/// `true` if sessions may start, once omo has made the fixes that it can make itself.
pub fn can_start(findings: &[PreflightFinding]) -> bool {
    findings
        .iter()
        .all(|finding| finding.severity != PreflightSeverity::Stop)
}

fn new_finding(
    rule: PreflightRule,
    weight: PreflightSeverity,
    text: impl Into<String>,
    hint: impl Into<String>,
) -> PreflightFinding {
    PreflightFinding {
        rule,
        severity: weight,
        text: text.into(),
        hint: hint.into(),
    }
}

/// Merges use `git merge-tree --write-tree`, which older versions lack. A `git` without a readable version may have it.
fn check_git_version(facts: &PreflightFacts) -> Option<PreflightFinding> {
    let version = facts
        .git
        .as_ref()?
        .trim()
        .strip_prefix("git version ")?
        .split_whitespace()
        .next()?;
    let mut numbers = version.split('.').map(|part| part.parse::<u32>().ok());
    let is_old = (numbers.next()??, numbers.next()??) < OLDEST_GIT;
    let (major, minor) = OLDEST_GIT;
    let text = format!(
        "git {} cannot merge what workers did; {major}.{minor} or newer is needed",
        sanitize(version, 40)
    );
    is_old.then(|| {
        new_finding(
            PreflightRule::Git,
            PreflightSeverity::Stop,
            text,
            "upgrade git, then run again; or --fg, which merges nothing",
        )
    })
}

fn check_leftovers(facts: &PreflightFacts) -> Option<PreflightFinding> {
    let text = format!("an earlier run has left {}", list_names(&facts.leftovers)?);
    Some(new_finding(
        PreflightRule::Leftovers,
        PreflightSeverity::Fix,
        text,
        "omo keeps what only they hold, and removes them first",
    ))
}

fn check_operation(facts: &PreflightFacts) -> Option<PreflightFinding> {
    let operation = facts.operation?;
    let text = format!(
        "a {} is in progress",
        operation.command().trim_start_matches("git ")
    );
    let hint = format!("{}, then run again", list_ending_commands(operation));
    Some(new_finding(
        PreflightRule::Operation,
        PreflightSeverity::Stop,
        text,
        hint,
    ))
}

fn check_identity(facts: &PreflightFacts) -> Option<PreflightFinding> {
    let text = "git does not know who you are, and what is done is committed";
    let hint =
        "`git config user.name` and `git config user.email`, each with yours, then run again";
    (!facts.has_identity)
        .then(|| new_finding(PreflightRule::Identity, PreflightSeverity::Stop, text, hint))
}

fn check_head(facts: &PreflightFacts) -> Option<PreflightFinding> {
    let (rule, text, hint) = match facts.head {
        PreflightHead::Branch => return None,
        PreflightHead::Detached => (
            PreflightRule::Head,
            "no branch is checked out (detached HEAD)",
            "`git switch -c <name>`, then run again; or --fg",
        ),
        PreflightHead::Unborn => (
            PreflightRule::Head,
            "the repository has no commit",
            "make a first commit, then run again; or --fg",
        ),
        PreflightHead::Bare => (
            PreflightRule::Bare,
            "git takes the repository for a bare one (`core.bare`), and commits nothing in your worktree",
            "`git config --show-origin core.bare` names the file: set it to false there, then run again",
        ),
    };
    Some(new_finding(rule, PreflightSeverity::Stop, text, hint))
}

/// After the branch has moved, such a work tree shows all of the run as staged to be taken back.
fn check_other_checkouts(facts: &PreflightFacts) -> Option<PreflightFinding> {
    let text = format!(
        "the branch is also checked out in another worktree: {}",
        list_names(&facts.other_checkouts)?
    );
    let folder = facts
        .other_checkouts
        .first()
        .map(|folder| sanitize(&quote_argument(folder), 300))?;
    let hint = format!(
        "a commit there would take the run back, so that your branch moves only once you say so: `git -C {folder} switch \
         --detach` frees it"
    );
    Some(new_finding(
        PreflightRule::OtherCheckouts,
        PreflightSeverity::Warning,
        text,
        hint,
    ))
}

/// `git` keeps branches in folders: next to a branch `omo` there can be none below `omo/`.
fn check_branches(facts: &PreflightFacts) -> Option<PreflightFinding> {
    let name = sanitize(facts.branch_in_way.as_ref()?, 60);
    let text = format!(
        "there is a branch `{name}`, and those of the workers are called `{name}/…`: git cannot have both"
    );
    let hint = format!("`git branch -m {name} <another name>`, then run again; or --fg");
    Some(new_finding(
        PreflightRule::Branches,
        PreflightSeverity::Stop,
        text,
        hint,
    ))
}

/// A file that omo itself has written, of this or an earlier run, is in no worker's way.
fn is_written_by_omo(path: &str) -> bool {
    [CHECKPOINT_PATH, REPORT_PATH].contains(&path)
}

/// Files that the plan touches, and the others, which a session's work tree, made of a commit, only lacks.
fn check_dirty_files(plan: &Plan, facts: &PreflightFacts) -> [Option<PreflightFinding>; 2] {
    let plan_file = facts.plan_file.as_deref().and_then(paths::normalize_path);
    // A plan may be a folder of files.
    let files = facts.dirty.iter().filter(|path| {
        let behind = plan_file.as_deref().zip(paths::normalize_path(path));
        !behind.is_some_and(|(plan, path)| {
            path.strip_prefix(plan)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    });
    let (is_open, planned) = (
        may_touch_anything(plan),
        PlannedPaths::new(planned_paths(plan)),
    );
    let (touched, others): (Vec<String>, Vec<String>) = files
        .cloned()
        .partition(|path| (is_open && !is_written_by_omo(path)) || planned.covers(path));
    let of_touched = list_names(&touched).map(|names| {
        let text = format!("working tree is not clean, and the plan touches {names}");
        new_finding(
            PreflightRule::Dirty,
            PreflightSeverity::Stop,
            text,
            format!("{}, then run again; or --fg", put_aside(&touched)),
        )
    });
    let of_others = list_names(&others).map(|names| {
        let hint = "the plan does not touch that: it stays as it is, and the workers do not see it";
        new_finding(
            PreflightRule::Dirty,
            PreflightSeverity::Note,
            format!("not committed: {names}"),
            hint,
        )
    });
    [of_touched, of_others]
}

fn put_aside(files: &[String]) -> String {
    let paths: Vec<String> = files
        .iter()
        .map(|file| sanitize(&quote_argument(file), 200))
        .collect();
    let paths = if files.len() > MAX_NAMES {
        String::new()
    } else {
        format!(" -- {}", paths.join(" "))
    };
    format!(
        "commit that, or `git stash push --include-untracked{paths}` (`git stash pop` brings it back)"
    )
}

fn check_submodules(plan: &Plan, facts: &PreflightFacts) -> Option<PreflightFinding> {
    let (touched, others): (Vec<String>, Vec<String>) = facts
        .submodules
        .iter()
        .cloned()
        .partition(|folder| names_below(plan, folder));
    if let Some(names) = list_names(&touched) {
        let text = format!("the plan changes files of submodules: {names}");
        return Some(new_finding(
            PreflightRule::Submodules,
            PreflightSeverity::Stop,
            text,
            "run it with --fg",
        ));
    }
    let text = format!(
        "submodules are empty in the worktrees of workers: {}",
        list_names(&others)?
    );
    let hint = "a setup command can fill them: `git submodule update --init`";
    Some(new_finding(
        PreflightRule::Submodules,
        PreflightSeverity::Note,
        text,
        hint,
    ))
}

/// Sessions would see an encrypted file, for example, as it is stored, and write that into the user's checkout.
fn check_filters(facts: &PreflightFacts) -> Option<PreflightFinding> {
    let files = list_names(&facts.filtered)?;
    let text =
        format!("the repository's own settings name a filter, and omo runs none of those: {files}");
    let hint = "set it up in your own settings (`git config --global`), or run it with --fg";
    Some(new_finding(
        PreflightRule::Filters,
        PreflightSeverity::Stop,
        text,
        hint,
    ))
}

/// Sessions hand on only commits: an ignored file would stay behind, and its step would have passed.
fn check_ignored(facts: &PreflightFacts) -> Option<PreflightFinding> {
    let text = format!(
        "the plan changes what git ignores, and no commit holds that: {}",
        list_names(&facts.ignored)?
    );
    let file = sanitize(&quote_argument(facts.ignored.first()?), 200);
    let hint = format!("`git check-ignore -v -- {file}` names the pattern to take out");
    let (severity, hint) = if facts.mode == ExecutionMode::Parallel {
        (
            PreflightSeverity::Stop,
            format!("{hint}; then run again, or with --fg"),
        )
    } else {
        (PreflightSeverity::Warning, hint)
    };
    Some(new_finding(PreflightRule::Ignored, severity, text, hint))
}

fn check_sparse_set(facts: &PreflightFacts) -> Option<PreflightFinding> {
    let outside = &facts.commits.outside_sparse_set;
    let text = format!(
        "the plan touches what your sparse checkout leaves out: {}",
        list_names(outside)?
    );
    let hint = "new files there are committed, and files of your repository there are not seen: `git sparse-checkout \
                add` takes their folders in";
    Some(new_finding(
        PreflightRule::SparseSet,
        PreflightSeverity::Warning,
        text,
        hint,
    ))
}

fn check_signing(facts: &PreflightFacts) -> Option<PreflightFinding> {
    let words = sanitize(facts.commits.signing_failure.as_ref()?, 200);
    let words = if words.is_empty() {
        words
    } else {
        format!(" ({words})")
    };
    let text =
        format!("commits are to be signed, and the key cannot be used without a person{words}");
    let hint = "unlock it first, such as with `ssh-add` or `gpg --sign`, or `git config commit.gpgSign false`";
    Some(new_finding(
        PreflightRule::Signing,
        PreflightSeverity::Stop,
        text,
        hint,
    ))
}

fn check_hooks(facts: &PreflightFacts) -> Option<PreflightFinding> {
    let text = format!(
        "the worktrees of workers do not have your hooks: {}",
        list_names(&facts.commits.absent_hooks)?
    );
    let hint = if facts.has_setup {
        "where your setup command does not make them, what workers commit passes without them"
    } else {
        "what workers commit passes without them: name them in `.worktreeinclude`, or have a setup command make them"
    };
    Some(new_finding(
        PreflightRule::Hooks,
        PreflightSeverity::Warning,
        text,
        hint,
    ))
}

fn check_hook_programs(facts: &PreflightFacts) -> Option<PreflightFinding> {
    let programs = facts
        .commits
        .absent_programs
        .iter()
        .map(|program| format!("{} ({})", program.path, program.hook));
    let programs = list_names(&programs.collect::<Vec<_>>()).filter(|_| !facts.has_setup)?;
    let text = format!(
        "hooks call what git ignores, and the worktrees of workers do not have it: {programs}"
    );
    let hint = "a hook that needs it refuses each commit: have a setup command install it, or name it in \
                `.worktreeinclude`";
    Some(new_finding(
        PreflightRule::HookPrograms,
        PreflightSeverity::Warning,
        text,
        hint,
    ))
}

fn check_launcher_guards(facts: &PreflightFacts) -> Option<PreflightFinding> {
    let guards = facts.commits.guards.join(", ");
    let text = format!(
        "workers of a launcher commit with the hooks and settings of their machine, not yours: {guards}"
    );
    let hint = "set them up there, or run it without --launcher; the report counts commits that are unsigned";
    let is_passed_by = facts.has_launcher && !guards.is_empty();
    is_passed_by.then(|| {
        new_finding(
            PreflightRule::LauncherGuards,
            PreflightSeverity::Warning,
            text,
            hint,
        )
    })
}

fn check_merge_settings(facts: &PreflightFacts) -> Option<PreflightFinding> {
    let settings = facts.commits.merge_settings.join(", ");
    let text = format!("the merges of a run do not ask {settings}");
    let hint = "`git log --show-signature` shows who signed its commits";
    (!settings.is_empty()).then(|| {
        new_finding(
            PreflightRule::MergeSettings,
            PreflightSeverity::Note,
            text,
            hint,
        )
    })
}

fn check_environment(facts: &PreflightFacts) -> Option<PreflightFinding> {
    let settings = facts.commits.environment.join(", ");
    let text = format!("the commits of the run obey your environment: {settings}");
    let hint =
        "unset that before the start, if the hooks and signatures of the repository are to count";
    (!settings.is_empty()).then(|| {
        new_finding(
            PreflightRule::Environment,
            PreflightSeverity::Warning,
            text,
            hint,
        )
    })
}

fn check_protected(plan: &Plan) -> Option<PreflightFinding> {
    let steps = plan.tasks.iter().filter_map(|task| {
        let file = task.files.iter().find(|file| is_protected(&file.path))?;
        Some(format!("step {} ({})", task.id, file.path))
    });
    let text = format!(
        "the client lets no worker write there by itself: {}",
        list_names(&steps.collect::<Vec<_>>())?
    );
    Some(new_finding(
        PreflightRule::Protected,
        PreflightSeverity::Stop,
        text,
        "run it with --fg, where you allow it step by step",
    ))
}

fn check_plan_file(facts: &PreflightFacts) -> Option<PreflightFinding> {
    let text = "plan is outside the repository";
    facts.plan_file.is_none().then(|| {
        new_finding(
            PreflightRule::PlanFile,
            PreflightSeverity::Stop,
            text,
            "move it inside, or run it with --fg",
        )
    })
}

fn check_overlap(plan: &Plan) -> Option<PreflightFinding> {
    let found = plan
        .diagnostics
        .iter()
        .find(|found| found.code == Code::ScopeOverlap)?;
    let text = format!("scope fence overlap detected: {}", found.text);
    let hint = "fix the plan's Execution Strategy, or run it with --fg";
    Some(new_finding(
        PreflightRule::Overlap,
        PreflightSeverity::Stop,
        text,
        hint,
    ))
}

fn check_disk_space(plan: &Plan, facts: &PreflightFacts) -> Option<PreflightFinding> {
    // Each session has one, those that run alone as well; those of a wave are removed before the next one begins.
    let mut in_stage: BTreeMap<usize, usize> = BTreeMap::new();
    for group in plan.groups.iter().filter(|group| !group.tasks.is_empty()) {
        *in_stage.entry(group.wave).or_default() += 1;
    }
    let at_once = in_stage.into_values().max().unwrap_or_default();
    // One more is for the merged work.
    let needed = facts
        .checkout_bytes
        .saturating_mul((at_once as u64).saturating_add(1))
        .saturating_add(SPARE_BYTES);
    let free = facts.free_bytes.filter(|free| *free < needed)?;
    let workers = pluralize(at_once, "worker");
    let text = format!(
        "{} MiB are free, and the worktrees of {workers} need {} MiB",
        to_mebibytes(free),
        to_mebibytes(needed)
    );
    Some(new_finding(
        PreflightRule::DiskSpace,
        PreflightSeverity::Stop,
        text,
        "make room, or run it with --fg",
    ))
}

fn to_mebibytes(bytes: u64) -> u64 {
    bytes.div_ceil(1024 * 1024)
}

fn may_touch_anything(plan: &Plan) -> bool {
    plan.groups.iter().any(|group| {
        group.may_touch.is_empty()
            && group
                .tasks
                .iter()
                .any(|id| plan.task(id).is_none_or(|task| task.files.is_empty()))
    })
}

fn names_below(plan: &Plan, folder: &str) -> bool {
    let folder = format!("{}/", folder.trim_end_matches('/'));
    planned_paths(plan).any(|known| paths::paths_overlap(known, &folder))
}

fn planned_paths(plan: &Plan) -> impl Iterator<Item = &str> {
    let files = plan
        .tasks
        .iter()
        .flat_map(|task| &task.files)
        .map(|file| file.path.as_str());
    files.chain(
        plan.groups
            .iter()
            .flat_map(|group| &group.may_touch)
            .map(String::as_str),
    )
}

/// Text such as `a, b and 3 more`; `None` for none.
fn list_names(names: &[String]) -> Option<String> {
    let shown: Vec<String> = names
        .iter()
        .take(MAX_NAMES)
        .map(|name| sanitize(name, 120))
        .collect();
    let more = names.len() - shown.len();
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    (!names.is_empty()).then(|| format!("{}{more}", shown.join(", ")))
}
