//! What holds for every page, whatever a run and those who wrote its texts did.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails where something is missing"
)]

use std::collections::BTreeSet;

use data_encoding::BASE64;
use omo_view::page::PageReload;
use omo_view::page::render;
use omo_view::page::sample::{card, check, empty_page, large_page, sample_page};
use omo_view::run_view::{CheckState, RunView};
use proptest::prelude::*;
use sha2::{Digest, Sha256};

/// No page is larger.
const MAX_BYTES: usize = 2_000_000;

fn html(page: &RunView) -> String {
    render(page, None).unwrap()
}

/// As [`html`], of a page that renews itself.
fn renewing_html(page: &RunView) -> String {
    render(page, Some(PageReload { seconds: 5 })).unwrap()
}

#[test]
fn every_page_begins_alike() {
    let all =
        omo_view::page::render_project(&omo_view::page::sample::sample_project_page()).unwrap();
    for page in [html(&sample_page()), renewing_html(&sample_page()), all] {
        assert!(
            page.starts_with(omo_view::page::PAGE_START),
            "{}",
            &page[..300]
        );
    }
}

/// Each tag, with its attributes: no text from outside is in one.
fn tags(html: &str) -> Vec<String> {
    let mut tags = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        let end = rest[start..].find('>').unwrap() + start;
        let tag = &rest[start..=end];
        tags.push(tag.to_owned());
        rest = &rest[end + 1..];
    }
    tags
}

/// A page of which every text says the same.
fn page_that_says(text: &str) -> RunView {
    let mut page = sample_page();
    let say = |part: &mut String| text.clone_into(part);
    let (title, sentence, request) = (&mut page.title, &mut page.heading, &mut page.request);
    [title, sentence, request, &mut page.as_of]
        .into_iter()
        .for_each(say);
    for (_, value) in &mut page.facts {
        say(value);
    }
    let own = page.tasks.iter_mut().flat_map(|card| &mut card.checks);
    for check in page.final_checks.iter_mut().chain(own) {
        [&mut check.command, &mut check.detail]
            .into_iter()
            .for_each(say);
        check.output = vec![text.to_owned(); 2];
        check.tree = Some(text.to_owned());
    }
    for review in &mut page.reviews {
        [&mut review.reviewer, &mut review.words]
            .into_iter()
            .for_each(say);
        review.tree = Some(text.to_owned());
    }
    page.not_verified.iter_mut().for_each(|item| {
        say(&mut item.reason);
        item.task = Some("none of the tasks".to_owned());
    });
    page.weakened
        .iter_mut()
        .flat_map(|change| [&mut change.by, &mut change.what])
        .for_each(say);
    page.findings
        .iter_mut()
        .chain(&mut page.next_steps)
        .for_each(say);
    for lane in &mut page.timeline.lanes {
        say(&mut lane.name);
        lane.spans.iter_mut().for_each(|span| say(&mut span.label));
        lane.marks.iter_mut().for_each(|mark| say(&mut mark.label));
    }
    for card in &mut page.tasks {
        [
            &mut card.id,
            &mut card.title,
            &mut card.goal,
            &mut card.diff,
            &mut card.evidence,
        ]
        .into_iter()
        .for_each(say);
        card.proved_by = Some(text.to_owned());
        card.history
            .iter_mut()
            .for_each(|attempt| say(&mut attempt.why));
        card.note = Some(text.to_owned());
        card.evidence_lines = vec![text.to_owned()];
        card.files = vec![text.to_owned()];
    }
    page
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn no_text_is_markup_and_none_is_unseen(
        parts in prop::collection::vec(prop_oneof![
            Just("</style><script>alert(1)</script>".to_owned()), Just("\" onload=\"x".to_owned()),
            Just("' x='".to_owned()), Just("<!--".to_owned()), Just("]]>&lt;&#0;".to_owned()),
            Just("\u{202e}\u{2066}\u{1b}[2J\u{0}\u{feff}".to_owned()), Just("{{ x }}{% x %}".to_owned()), "[^\n\r]{0,20}"
        ], 1..5)
    ) {
        // The first character decides what a line of a difference is.
        let text = format!("x{}x", parts.concat()).replace(['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}'], "");
        let page = html(&page_that_says(&text));
        let harmless = page_that_says("xxxxxxxxxxxxxxxxxx");
        prop_assert_eq!(tags(&page), tags(&html(&harmless)));
        let scripts = |html: String| html.split("<script>").map(|part| part.split("</script>").next().unwrap().to_owned()).skip(1).collect::<Vec<_>>();
        prop_assert_eq!(scripts(renewing_html(&page_that_says(&text))), scripts(renewing_html(&harmless)));
        let is_unseen = |char: &char| matches!(char, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
            || char.is_control() && *char != '\n' && *char != '\t';
        prop_assert_eq!(page.chars().find(is_unseen), None);
    }
}

#[test]
fn nothing_can_be_loaded_or_run() {
    let page = html(&sample_page());
    let style = page
        .split("<style>")
        .nth(1)
        .unwrap()
        .split("</style>")
        .next()
        .unwrap();
    let digest = BASE64.encode(Sha256::digest(style.as_bytes()).as_ref());
    let policy = format!(
        "\"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'\""
    );
    assert!(
        page.contains(&policy),
        "the policy does not allow the style sheet: {digest}"
    );
    for word in [
        "<script",
        "<link",
        "<img",
        "<iframe",
        "@import",
        "url(http",
        "src=",
        " style=\"",
        "http:",
        "https:",
    ] {
        assert!(!page.contains(word), "{word}");
    }
}

#[test]
fn only_a_page_that_renews_itself_has_a_script_and_only_that_one_may_run() {
    let page = renewing_html(&sample_page());
    let (before, rest) = page.split_once("<script>").unwrap();
    let (script, after) = rest.split_once("</script>").unwrap();
    let digest = BASE64.encode(Sha256::digest(script.as_bytes()).as_ref());
    let allowed = format!("script-src 'sha256-{digest}'; ");
    assert!(
        page.contains(&allowed),
        "the policy does not allow the script: {digest}"
    );
    for word in [
        "fetch",
        "XMLHttp",
        "import",
        "eval",
        "innerHTML",
        "insertAdjacent",
        "document.write",
        "http",
    ] {
        assert!(!script.contains(word), "{word}");
    }
    // What is left is the page without a script, with the control beside its links and other words at its end.
    let without = [before, after].concat().replacen(&allowed, "", 1);
    let control = without
        .split("<p id=\"renewal\"")
        .nth(1)
        .unwrap()
        .split("</p>")
        .next()
        .unwrap();
    assert_eq!(
        control,
        " class=\"renewal\" data-seconds=\"5\"><span>This page is written anew while the run goes on: reload it.</span> \
         <button type=\"button\" hidden>Pause</button>"
    );
    let other = html(&sample_page());
    assert_eq!(
        tags(&without).len(),
        tags(&other).len() + "<p><span></span><button></button></p>".matches('<').count()
    );
    assert!(
        !other.contains("<script") && !other.contains("script-src") && !other.contains("<button")
    );
}

#[test]
fn a_page_of_a_run_that_goes_on_says_when_it_stood_so() {
    let as_of = |as_of: &str| {
        html(&RunView {
            as_of: as_of.to_owned(),
            ..sample_page()
        })
    };
    assert!(as_of("14:03:22").contains(" · as of 14:03:22</p>"));
    assert!(!as_of("").contains("as of"));
}

#[test]
fn the_templates_escape_everything_and_quote_every_attribute() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("templates");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "html") {
            continue;
        }
        count += 1;
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(
            !text.contains("safe") && !text.contains("escape"),
            "{}",
            path.display()
        );
        let markup: String = text
            .split("{%")
            .map(|part| part.split_once("%}").map_or(part, |(_, rest)| rest))
            .collect();
        for (place, _) in markup
            .match_indices("{{")
            .filter(|(place, _)| !markup[..*place].ends_with(['<', '/']))
        {
            let tag = markup[..place]
                .rfind(['<', '>'])
                .map(|start| &markup[start..place])
                .unwrap_or_default();
            let is_quoted = tag.matches('"').count() % 2 == 1;
            assert!(
                !tag.starts_with('<') || is_quoted,
                "{}: {tag}",
                path.display()
            );
        }
    }
    assert!(count > 4);
}

#[test]
fn every_link_leads_to_something_and_headings_are_in_order() {
    for page in [
        sample_page(),
        empty_page(),
        RunView {
            tasks: vec![card("1", &[])],
            ..empty_page()
        },
    ] {
        let page = html(&page);
        let values = |name: &str| -> Vec<String> {
            let before = format!(" {name}=\"");
            page.split(&before)
                .skip(1)
                .map(|rest| rest.split('"').next().unwrap().to_owned())
                .collect()
        };
        let ids = values("id");
        assert_eq!(
            ids.len(),
            ids.iter().collect::<BTreeSet<_>>().len(),
            "an id stands twice: {ids:?}"
        );
        for link in values("href").iter().chain(&values("aria-labelledby")) {
            for target in link.trim_start_matches('#').split(' ') {
                assert!(ids.iter().any(|id| id == target), "{target} is not there");
            }
        }
        let levels = page
            .match_indices("<h")
            .filter_map(|(place, _)| page[place + 2..].chars().next()?.to_digit(10));
        let levels: Vec<u32> = levels.collect();
        assert_eq!(
            (
                levels[0],
                levels.iter().filter(|level| **level == 1).count()
            ),
            (1, 1)
        );
        assert!(
            levels.windows(2).all(|pair| pair[1] <= pair[0] + 1),
            "{levels:?}"
        );
    }
}

#[test]
fn a_large_run_stays_small_and_shows_every_task() {
    let page = html(&large_page());
    assert!(page.len() < MAX_BYTES, "{} bytes", page.len());
    assert_eq!(
        (
            page.matches("<article").count(),
            page.matches("class=\"node ").count()
        ),
        (200, 200)
    );
    assert!(!page.contains("tasks left out"));
}

#[test]
fn a_hostile_run_stays_small_and_says_what_is_missing() {
    let log = "<\u{202e}".repeat(500) + "\n";
    let log = log.repeat(10_000_000 / log.len());
    let mut page = large_page();
    page.title = log.clone();
    page.request.clone_from(&log);
    page.findings = vec!["<".repeat(100_000); 70];
    page.timeline.lanes = vec![page.timeline.lanes[0].clone(); 70];
    let mut large = page.tasks[199].clone();
    large.evidence_lines = vec!["&".repeat(1_000); 1_000];
    large.files.clone_from(&large.evidence_lines);
    page.tasks = vec![large; 300];
    for large in page.tasks.iter_mut().take(3) {
        large.checks = vec![check(&log, CheckState::Red); 3];
        large.checks[0].output = log.lines().map(str::to_owned).collect();
        large.diff = format!("@@ -1 +1 @@\n{log}");
    }
    let page = html(&page);
    assert!(page.len() < MAX_BYTES, "{} bytes", page.len());
    for missing in [
        "more tasks left out",
        "more lines left out",
        "more lanes left out",
    ] {
        assert!(page.contains(missing), "{missing}");
    }
}

/// The contrast of two colours, as the accessibility guidelines of the web measure it.
fn contrast(one: &str, other: &str) -> f64 {
    let light = |colour: &str| {
        let channel = |place: usize| {
            let value =
                f64::from(u8::from_str_radix(&colour[place..place + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 {
                value / 12.92
            } else {
                ((value + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    };
    let (one, other) = (light(one), light(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn every_text_can_be_read_in_light_and_in_dark() {
    let style = include_str!("../templates/page.css");
    let schemes: Vec<&str> = style.split(":root {").skip(1).take(2).collect();
    assert_eq!(schemes.len(), 2);
    for scheme in schemes {
        let colour =
            |name: &str| scheme.split(&format!("--{name}: ")).nth(1).unwrap()[..7].to_owned();
        let grounds = ["paper", "card", "code"];
        let tones = ["proved", "failed", "unproved", "open"];
        let mut pairs: Vec<(String, String)> = Vec::new();
        for text in ["ink", "dim"].iter().chain(&tones) {
            pairs.extend(
                grounds
                    .iter()
                    .map(|ground| ((*text).to_owned(), (*ground).to_owned())),
            );
        }
        for tone in tones {
            pairs.extend(
                [tone, "ink", "dim"].map(|text| (text.to_owned(), format!("{tone}-ground"))),
            );
        }
        for (text, ground) in pairs {
            let found = contrast(&colour(&text), &colour(&ground));
            assert!(found >= 4.5, "{text} on {ground}: {found:.2}");
        }
    }
}
