//! What goes well: the command typed in a session with the installed plugin, four sessions of the real client in two
//! waves, and one branch at the end.

use omo_testkit::ModelTurn;
use omo_testkit::model::RecordedRequest;

use super::scripted_workers::write;
use super::{PLAN, Payer, STEPS, Site};
use crate::plans::{ACCEPT_EDITS, code};

#[test]
fn a_typed_plan_of_four_sessions_is_worked_on_by_the_client_and_comes_to_one_branch() {
    let site = Site::new(Payer::Subscription);
    let main = site.fixture.lab.project().to_str().unwrap().to_owned();
    site.works
        .set(1, [ModelTurn::bash("env"), write("a.txt", "1")]);
    site.works.set(
        3,
        [
            write(&format!("{main}/c.txt"), "beyond"),
            write("c.txt", "3"),
        ],
    );
    let typed = format!("/omo:execute-local --allow 'Bash(env:*)' {PLAN}");
    let shown = site.fixture.print(&typed, &ACCEPT_EDITS);
    let code = code(shown.result().expect("the client says why nothing ran"));
    let run = site
        .fixture
        .print(&format!("{typed} --approve {code}"), &ACCEPT_EDITS);
    site.is_whole();
    for (step, _) in STEPS {
        let task = site.task(&step.to_string());
        assert_eq!(
            (task.attempts, task.lost_workers),
            (1, 0),
            "step {step}: {task:?}"
        );
        assert!(
            site.git(&["log", "--format=%s"])
                .lines()
                .any(|line| line == format!("feat: write {step}"))
        );
    }
    let said = run.result().unwrap();
    assert!(said.contains("Result: COMPLETED"), "{said}");
    sessions_are_their_own(&site, run.session_id().unwrap());
    let denied = site
        .requests_of("session-2")
        .iter()
        .map(RecordedRequest::tool_results_text)
        .any(|reported| {
            reported.contains("This session works in a worktree of its own, and ")
                && reported.contains("c.txt")
        });
    assert!(
        denied,
        "the fence let a session write into its user's checkout"
    );
}

/// What each session of the plan was started with and told: its own work, and nothing of what the plugin tells a person.
fn sessions_are_their_own(site: &Site, outer: &str) {
    for group in ["session-1", "session-2", "session-3", "session-4"] {
        let requests = site.requests_of(group);
        let all = requests.last().expect("it was worked on").all_text();
        assert!(
            all.contains("`ulw part "),
            "the keyword is not in its prompt:\n{all}"
        );
        assert!(
            all.contains(" is yours. What it asks for:"),
            "no first task with the prompt:\n{all}"
        );
        for reported in [
            "ultrawork-mode",
            "Stop hook",
            "UserPromptSubmit",
            "hook additional context",
        ] {
            assert!(
                !all.contains(reported),
                "{group} was told {reported}:\n{all}"
            );
        }
        // They are there, and tell it which session it is.
        assert_eq!(
            all.matches("hook success: CLAUDE_SESSION_ID: ").count(),
            1,
            "{all}"
        );
    }
    let seen: String = site
        .requests_of("session-1")
        .iter()
        .map(RecordedRequest::tool_results_text)
        .collect();
    let run = omo_tests::parallel_plan::last_run(&site.fixture.lab)
        .unwrap()
        .id()
        .to_owned();
    let tree = site
        .fixture
        .lab
        .project()
        .join(format!(".claude/worktrees/omo-{run}-session-1"));
    for line in [
        format!("OMO_RUN={run}"),
        "OMO_WORKER=session-1".to_owned(),
        format!("OMO_ROOT={}", tree.display()),
    ] {
        assert!(
            seen.lines().any(|known| known == line),
            "{line} is not in:\n{seen}"
        );
    }
    assert!(
        !seen.contains(outer),
        "it takes itself for a part of the session that the plan was typed in"
    );
}
