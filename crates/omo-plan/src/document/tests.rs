//! Places in a text.

use super::*;

fn headings(text: &str) -> Vec<(usize, &str)> {
    MarkdownDocument::read(text)
        .headings
        .iter()
        .map(|heading| (heading.level, heading.text))
        .collect()
}

#[test]
fn only_headings_of_the_page_itself_count() {
    let text = "# A\n\n> ## quoted\n\n- ## listed\n\n```\n## code\n```\n\n<!--\n## comment\n-->\n\n    ## indented\n\n   ### B #\n";
    assert_eq!(headings(text), [(1, "A"), (3, "B")]);
    assert_eq!(headings("Text\n---\n\nText\n===\n"), []);
    assert_eq!(headings("## C# ##\n### #\n####x\n"), [(2, "C#"), (3, "")]);
}

#[test]
fn places_are_bytes_of_the_file_whatever_ends_its_lines() {
    for (text, places) in [
        ("\u{feff}# A\n## B\n", [3..6, 7..11]),
        ("# A\r\n## B\r\n", [0..3, 5..9]),
        ("# A\r## B\r", [0..3, 4..8]),
        ("---\nx: 1\n---\n# A\n## B", [13..16, 17..21]),
    ] {
        let document = MarkdownDocument::read(text);
        let found: Vec<_> = document
            .headings
            .iter()
            .map(|heading| heading.span.clone())
            .collect();
        assert_eq!(found, places, "{text:?}");
        let line = document.line_number(places[1].start);
        assert_eq!(line, document.line_number(places[0].start) + 1, "{text:?}");
        assert!(
            document.headings.iter().all(|heading| !heading.is_indented),
            "{text:?}"
        );
    }
}

#[test]
fn a_section_ends_at_the_next_heading_of_its_level() {
    let text = "# A\n## B\n### C\n## D\n# E\n";
    let document = MarkdownDocument::read(text);
    let sections: Vec<_> = document
        .section_ranges()
        .into_iter()
        .map(|span| document.slice(span))
        .collect();
    assert_eq!(
        sections,
        [
            "# A\n## B\n### C\n## D\n",
            "## B\n### C\n",
            "### C\n",
            "## D\n",
            "# E\n"
        ]
    );
}

#[test]
fn a_front_matter_is_read_where_it_is_closed() {
    let document =
        MarkdownDocument::read("---\ntype: plan\ncontract_version: \"2\"\n- x: y\n---\n# A\n");
    assert_eq!(
        document
            .front_matter_field("Contract_Version")
            .map(|field| field.value),
        Some("2")
    );
    assert_eq!(document.front_matter.len(), 2);
    let document = MarkdownDocument::read("---\ntype: plan\n# A\n");
    assert_eq!(
        (document.front_matter.len(), document.headings.len()),
        (0, 1)
    );
}

#[test]
fn code_is_known_with_what_it_holds() {
    let text = "- item\n  ```sh\n  a\n    b\n  ```\n\n~~~~\n```\n~~~\n~~~~\n\n    indented\n";
    let document = MarkdownDocument::read(text);
    let found: Vec<_> = document
        .code_blocks
        .iter()
        .map(|code| (code.info, document.dedented_code(code), code.is_open))
        .collect();
    assert_eq!(
        found,
        [
            (Some("sh"), "a\n  b".to_owned(), false),
            (Some(""), "```\n~~~".to_owned(), false),
            (None, "indented".to_owned(), false)
        ]
    );
    assert!(document.unclosed_fence().is_none());
    let inside = text.find("~~~\n~~~~").unwrap();
    assert!(document.code_at(inside).is_some() && document.code_at(0).is_none());
}

#[test]
fn an_open_fence_is_told() {
    for text in ["# A\n```\n# B\n", "````\n```\n", "~~~\n```\n"] {
        let document = MarkdownDocument::read(text);
        assert!(document.unclosed_fence().is_some(), "{text:?}");
    }
    assert!(
        MarkdownDocument::read("a\n\n```\n")
            .unclosed_fence()
            .is_none(),
        "it hides nothing"
    );
    assert!(
        MarkdownDocument::read("- x\n  ```\n  a\n\ntext\n")
            .unclosed_fence()
            .is_none()
    );
}

#[test]
fn every_line_is_one_of_the_text() {
    let text = "a\r\nb\rc\n\nd";
    let rows: Vec<_> = line_ranges(text, 0..text.len())
        .map(|row| &text[row])
        .collect();
    assert_eq!(rows, ["a", "b", "c", "", "d"]);
    assert_eq!(line_ranges("a\n", 0..2).count(), 1);
    assert_eq!(line_ranges("", 0..0).count(), 0);
}
