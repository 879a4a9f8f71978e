//! What holds of a page: each rule names what is wrong with what the browser tells of one.

use serde_json::Value;

/// Gives what is wrong with a page.
pub(crate) type Rule = fn(&Value) -> Vec<String>;

/// Every element that a page is made of.
const ELEMENTS: [&str; 53] = [
    "html",
    "head",
    "meta",
    "title",
    "style",
    "body",
    "a",
    "header",
    "nav",
    "main",
    "section",
    "article",
    "footer",
    "h1",
    "h2",
    "h3",
    "p",
    "span",
    "strong",
    "bdi",
    "b",
    "ins",
    "del",
    "code",
    "pre",
    "blockquote",
    "ul",
    "ol",
    "li",
    "dl",
    "dt",
    "dd",
    "div",
    "details",
    "summary",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "svg",
    "defs",
    "pattern",
    "marker",
    "g",
    "path",
    "rect",
    "circle",
    "text",
    "tspan",
    "caption",
    "time",
];
/// Every attribute that such an element may have.
const ATTRIBUTES: [&str; 41] = [
    "lang",
    "charset",
    "http-equiv",
    "content",
    "name",
    "class",
    "id",
    "href",
    "open",
    "role",
    "tabindex",
    "scope",
    "aria-label",
    "aria-labelledby",
    "aria-hidden",
    "viewBox",
    "width",
    "height",
    "x",
    "y",
    "cx",
    "cy",
    "r",
    "rx",
    "d",
    "transform",
    "text-anchor",
    "patternUnits",
    "patternTransform",
    "refX",
    "refY",
    "markerWidth",
    "markerHeight",
    "orient",
    "marker-end",
    "datetime",
    "dir",
    "start",
    "colspan",
    "aria-describedby",
    "aria-current",
];

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Each of these that is wrong, with the name of its page.
fn wrong(page: &Value, findings: impl IntoIterator<Item = (bool, String)>) -> Vec<String> {
    let name = text(&page["name"]);
    findings
        .into_iter()
        .filter(|(is_wrong, _)| *is_wrong)
        .map(|(_, what)| format!("{name}: {what}"))
        .collect()
}

/// Whether it is the page of all runs, which has a verdict for each and no plan.
fn is_of_all_runs(page: &Value) -> bool {
    page["expected"]["tone"] == ""
}

/// The verdict, its tone, the parts and a card for each task are there.
pub(crate) fn says_what_came_of_it(page: &Value) -> Vec<String> {
    let (content, expected) = (&page["content"], &page["expected"]);
    let (shown, verdict) = (text(&content["shown"]), text(&content["verdict"]));
    let tone = format!("verdict {}", text(&expected["tone"]));
    let (tone, heading) = (
        tone.trim_end(),
        if is_of_all_runs(page) {
            "Runs"
        } else {
            "Proof"
        },
    );
    let cards = list(&content["cards"]);
    let headings: Vec<&str> = list(&content["headings"]).iter().map(text).collect();
    let mut findings = vec![
        (
            content["tone"] != tone,
            format!("its tone is {} and not {tone}", content["tone"]),
        ),
        (
            verdict.len() < 4 && !is_of_all_runs(page),
            format!("its verdict is {verdict:?}"),
        ),
        (
            !headings.contains(&heading),
            format!("its headings are {headings:?}"),
        ),
        (
            expected["cards"] != cards.len(),
            format!("it has {} cards and not {}", cards.len(), expected["cards"]),
        ),
        (
            cards.iter().any(|card| text(&card["heading"]).len() < 3),
            "a card says nothing".to_owned(),
        ),
    ];
    for (place, said) in list(&expected["says"]).iter().map(text).enumerate() {
        let stands = if place == 0 {
            verdict.contains(said) || shown.contains(said)
        } else {
            shown.contains(said)
        };
        findings.push((
            !stands,
            format!("it does not say {said:?}: {verdict}\n{shown}"),
        ));
    }
    wrong(page, findings)
}

/// Each link leads to something on the page, and each task of the graph to its card.
pub(crate) fn links_lead_somewhere(page: &Value) -> Vec<String> {
    let links = list(&page["content"]["links"]);
    let cards = list(&page["content"]["cards"]);
    let of_graph = |card: &Value| {
        let target = format!("#{}", text(&card["id"]));
        links
            .iter()
            .any(|link| link["isOfGraph"] == true && link["target"] == target)
    };
    let dead = links
        .iter()
        .filter(|link| link["exists"] != true)
        .map(|link| (true, format!("{link} leads nowhere")));
    let alone = cards
        .iter()
        .filter(|card| cards.len() > 1 && !is_of_all_runs(page) && !of_graph(card));
    wrong(
        page,
        dead.chain(alone.map(|card| (true, format!("{card} is not in the plan's picture")))),
    )
}

/// Nothing but the file is asked for, and the browser has nothing to say.
pub(crate) fn loads_and_logs_nothing(page: &Value) -> Vec<String> {
    let findings = [page, &page["withoutPolicy"]]
        .into_iter()
        .flat_map(|told| [&told["requests"], &told["logged"]]);
    wrong(
        page,
        findings.map(|found| {
            (
                list(found).iter().next().is_some() || !found.is_array(),
                found.to_string(),
            )
        }),
    )
}

/// The page has no element and no attribute but its own, with its policy and without, and no text has run.
pub(crate) fn is_made_of_known_elements(page: &Value) -> Vec<String> {
    let mut findings = Vec::new();
    for told in [&page["content"], &page["withoutPolicy"]] {
        let elements = told["elements"].as_object().into_iter().flatten();
        let elements: Vec<_> = elements.collect();
        findings.push((elements.len() < 20, "it has next to no elements".to_owned()));
        for (element, attributes) in elements {
            findings.push((
                !ELEMENTS.contains(&element.as_str()),
                format!("it has an element {element}"),
            ));
            for attribute in list(attributes).iter().map(text) {
                findings.push((
                    !ATTRIBUTES.contains(&attribute),
                    format!("{element} has {attribute}"),
                ));
            }
        }
        findings.push((
            !list(&told["traces"]).is_empty(),
            format!("a script ran: {}", told["traces"]),
        ));
    }
    wrong(page, findings)
}

/// The rules of axe hold, in light and dark, wide and narrow.
pub(crate) fn is_accessible(page: &Value) -> Vec<String> {
    let views = list(&page["views"]);
    let few = views.len() < 4
        || views
            .iter()
            .any(|view| view["rulesPassed"].as_u64().unwrap_or_default() < 20);
    let violations = views.iter().flat_map(|view| {
        list(&view["violations"])
            .iter()
            .map(move |found| (view, found))
    });
    let violations =
        violations.map(|(view, found)| (true, format!("{}: {}", text(&view["name"]), text(found))));
    wrong(
        page,
        violations.chain([(few, "the rules were not tried".to_owned())]),
    )
}

/// Nothing of the page lies beside its window, folded or not.
pub(crate) fn fits_its_window(page: &Value) -> Vec<String> {
    let views = list(&page["views"]).iter();
    wrong(
        page,
        views.map(|view| {
            (
                view["overflow"] != 0,
                format!("{}: {} px too wide", view["name"], view["overflow"]),
            )
        }),
    )
}

/// Paper has the text of the page, also what is folded, and all of its width.
pub(crate) fn can_be_printed(page: &Value) -> Vec<String> {
    let paper = &page["paper"];
    let shown = text(&paper["shown"]);
    let flat = |text: &str| text.split_whitespace().collect::<String>();
    let flat_shown = flat(shown);
    let headings = list(&page["content"]["headings"]).iter().map(text);
    let missing = headings.filter(|heading| !flat_shown.contains(&flat(heading)));
    let missing: Vec<_> = missing
        .map(|heading| (true, format!("{heading:?} is not on paper")))
        .collect();
    let has = |what: &str| paper[what].as_u64().unwrap_or_default() > 0;
    wrong(
        page,
        missing.into_iter().chain([
            (!has("sheets") || !has("fonts"), format!("{paper}")),
            (
                paper["overflow"] != 0,
                format!("{} px too wide for its paper", paper["overflow"]),
            ),
            (
                paper["folds"]["shown"] != paper["folds"]["closed"],
                format!("closed on paper: {}", paper["folds"]),
            ),
        ]),
    )
}

/// Tab leads to each link, each fold and each picture that can be moved, and one sees where it is.
pub(crate) fn is_reached_by_keys(page: &Value) -> Vec<String> {
    let keyboard = &page["keyboard"];
    let unseen = list(&keyboard["unseen"])
        .iter()
        .map(|name| (true, format!("the focus is not seen on {name}")));
    let count = |name: &str| keyboard[name].as_u64().unwrap_or_default();
    let is_lost = count("expected") < 2 || count("reached") != count("expected");
    wrong(
        page,
        unseen.chain([(
            is_lost,
            format!(
                "{} of {} are reached",
                keyboard["reached"], keyboard["expected"]
            ),
        )]),
    )
}

/// Without scripts, which a page has none of, it says the same.
pub(crate) fn reads_the_same_without_scripts(page: &Value) -> Vec<String> {
    let (shown, without) = (
        text(&page["content"]["shown"]),
        text(&page["shownWithoutScript"]),
    );
    wrong(
        page,
        [(
            shown.len() < 40 || shown != without,
            format!("with scripts:\n{shown}\nwithout:\n{without}"),
        )],
    )
}
