//! What holds for the page of all runs of a project, whatever its runs did and whatever their texts say.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails where something is missing"
)]

use omo_view::page::project_model::{ProjectPage, ProjectRun, RunDetails};
use omo_view::page::render_project;
use omo_view::page::sample::{at, card, check, empty_page, sample_project_page};
use omo_view::run_view::{CheckState, RunEnd, RunView};
use omo_view::tone::Tone;

fn html(page: &ProjectPage) -> String {
    render_project(page).unwrap()
}

fn project(runs: Vec<ProjectRun>) -> ProjectPage {
    ProjectPage {
        runs,
        ..sample_project_page()
    }
}

fn proved_page() -> RunView {
    RunView {
        tasks: vec![card("1", &[])],
        final_checks: vec![check("true", CheckState::Green)],
        ..empty_page()
    }
}

#[test]
fn nothing_can_be_loaded_or_run() {
    let page = html(&sample_project_page());
    assert!(
        page.contains("\"default-src 'none'; style-src 'sha256-") && !page.contains("script-src")
    );
    for word in [
        "<script",
        "<link",
        "<img",
        "<iframe",
        "src=",
        " style=\"",
        "http:",
        "https:",
        "<button",
    ] {
        assert!(!page.contains(word), "{word}");
    }
}

#[test]
fn hostile_texts_stay_texts_and_lead_nowhere() {
    let text = "x</style><script>alert(1)</script>\" onload=\"x' <!-- ]]>&lt;\u{202e}\u{1b}[2J\u{0}{{ x }}";
    let say = |text: &str| {
        let page = RunView {
            title: text.to_owned(),
            heading: text.to_owned(),
            request: format!("{text}\n{text}"),
            ..proved_page()
        };
        let [began, mode, effort, cost] = [text; 4].map(str::to_owned);
        let run = ProjectRun::new(
            &page,
            RunDetails {
                began,
                mode,
                effort,
                cost,
                page_file: Some(text.to_owned()),
            },
        );
        html(&ProjectPage {
            title: text.to_owned(),
            scope: text.to_owned(),
            as_of: text.to_owned(),
            problems: vec![text.to_owned()],
            ..project(vec![run.clone(), run])
        })
    };
    let tags = |html: &str| {
        html.split('<')
            .skip(1)
            .map(|rest| rest.split('>').next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let page = say(text);
    assert_eq!(tags(&page), tags(&say("harmless")));
    assert_eq!(
        page.chars()
            .find(|char| matches!(char, '\u{202e}') || char.is_control() && *char != '\n'),
        None
    );
    assert!(page.contains(r"\u{202e}"), "what is not seen is not shown");
}

#[test]
fn a_run_is_shown_in_the_tone_of_its_own_page() {
    let unproved = vec![check("true", CheckState::AlreadyGreen)];
    for (page, tone, class) in [
        (proved_page(), Tone::Proved, "card proved"),
        (
            RunView {
                final_checks: unproved,
                ..proved_page()
            },
            Tone::Unproved,
            "card unproved",
        ),
        (
            RunView {
                end: RunEnd::Failed,
                ..proved_page()
            },
            Tone::Failed,
            "card failed",
        ),
        (
            RunView {
                end: RunEnd::Running,
                ..proved_page()
            },
            Tone::Open,
            "card open",
        ),
        (
            RunView {
                end: RunEnd::Cancelled,
                ..proved_page()
            },
            Tone::Unproved,
            "card unproved",
        ),
        (empty_page(), Tone::Unproved, "card unproved"),
    ] {
        assert_eq!(page.tone(), tone);
        let html = html(&project(vec![ProjectRun::new(
            &page,
            RunDetails::default(),
        )]));
        assert!(html.contains(class), "{class}");
        let other = if tone == Tone::Proved {
            "card failed"
        } else {
            "card proved"
        };
        assert!(!html.contains(other), "{other} and not {class}");
        assert!(
            html.contains(&format!("<strong>1 {}</strong>", tone.word())),
            "{tone:?}"
        );
    }
}

#[test]
fn the_newest_runs_stand_first_and_what_is_left_off_is_counted() {
    let run = |number: i64| {
        let mut page = RunView {
            title: format!("run {number}."),
            ..proved_page()
        };
        page.timeline.began = at(number);
        page.timeline.until = at(number + 60);
        ProjectRun::new(&page, RunDetails::default())
    };
    let html = html(&ProjectPage {
        unread: 7,
        ..project((0..130).map(run).collect())
    });
    assert!(html.contains("… 37 more runs left out"), "{html}");
    let places: Vec<usize> = [129, 128, 30]
        .map(|number| html.rfind(&format!("run {number}.")).unwrap())
        .to_vec();
    assert!(places.is_sorted() && !html.contains("run 29."));
    assert_eq!(html.matches("<article").count(), 100);
    assert!(html.len() < 400_000, "{} bytes", html.len());
}

#[test]
fn the_picture_has_a_mark_a_run_and_a_table_that_says_the_same() {
    let page = html(&sample_project_page());
    let picture = page
        .split("role=\"img\"")
        .nth(1)
        .unwrap()
        .split("</svg>")
        .next()
        .unwrap();
    assert_eq!(picture.matches("<title>").count(), 24);
    let table = page
        .split("<tbody>")
        .nth(1)
        .unwrap()
        .split("</tbody>")
        .next()
        .unwrap();
    assert_eq!(table.matches("<tr>").count(), 24);
    // The newest one goes on and has no share; of the ten that ended before it six are proved.
    let row = |place: usize| table.split("<tr>").nth(place + 1).unwrap();
    assert!(
        row(0).ends_with("<td>not ended</td><td></td></tr>\n"),
        "{}",
        row(0)
    );
    assert!(row(1).contains(" %</td>"), "{}", row(1));
    assert!(page.contains("href=\"plan-r-0.html\"") && !page.contains("href=\"plan-r-1.html\""));
    // Of a single run there is nothing to compare.
    let single = html(&project(vec![ProjectRun::new(
        &proved_page(),
        RunDetails::default(),
    )]));
    assert!(
        !single.contains("role=\"img\"")
            && html(&project(Vec::new())).contains("No run is known here.")
    );
}
