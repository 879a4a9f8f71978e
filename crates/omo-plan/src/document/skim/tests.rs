//! The places that are found line by line are those that all of the Markdown gives.

use proptest::prelude::*;

use super::*;

/// What lines begin with, are, and end with, where it matters.
const PIECES: &[&str] = &[
    "",
    " ",
    "  ",
    "   ",
    "    ",
    "\t",
    "#",
    "# ",
    "### ",
    "####### ",
    "### Task 1: x",
    "text",
    "**Depends on:** Task 1",
    "- ",
    "* ",
    "+ ",
    "-",
    "1. ",
    "2) ",
    "12",
    "1234567890. ",
    "```",
    "````",
    "~~~",
    "```sh",
    "``` `",
    "`code`",
    "<!-- ",
    " -->",
    "-->",
    "<!-- checkpoint -->",
    "<!--x-->",
    "<div>",
    "</div>",
    "<?",
    "<!X",
    "> ",
    ">",
    "---",
    "===",
    "- - -",
    "***",
    "**",
    "*x*",
    "[a]: ",
    "[a]",
    "\"",
    "(",
    "\\",
    "&amp;",
    "|",
    "\r",
    "\0",
    "\u{c}",
    "\u{b}",
    "\u{a0}",
    "한국어",
    "- **Label:** x",
    "- [ ] x",
    "- `x`",
    "  - x",
    "Run: `x`",
];

fn check(text: &str) {
    let mut document = Document::empty(text);
    if fill(&mut document).is_some() {
        let read = Document::read(text);
        // Asked for, so that both have it.
        read.line(0);
        assert_eq!(document, read, "{text:?}");
    }
}

proptest! {
    #[test]
    fn it_finds_what_is_there(
        start in prop::sample::select(&["", "\u{feff}", "---\nx: y\n---\n", "\u{feff}---\nx: y\n---\n", "---\n"][..]),
        lines in prop::collection::vec(prop::collection::vec(prop::sample::select(PIECES), 0..4), 0..12),
        end in prop::sample::select(&["", "\n", "\n\n"][..]),
    ) {
        let lines: Vec<String> = lines.into_iter().map(|pieces| pieces.concat()).collect();
        check(&format!("{start}{}{end}", lines.join("\n")));
    }
}

#[test]
fn a_plan_as_it_is_written_is_plain() {
    let plan = "---\ntype: plan\n---\n\n# Plan\n\n**Goal:** g\n\n---\n\n<!-- section: one -->\n### Task 1: Step\n\n\
        **Files:**\n- Create: `src/a.rs` (new)\n  - with more\n\n**Steps:**\n1. Do it\n   and go on\n2. **Then** that\n\n\
        **Verify:**\n```bash\n# no heading\ncargo test\n```\nExpected: exit 0\n<!-- checkpoint -->\n";
    let mut document = Document::empty(plan);
    assert!(fill(&mut document).is_some());
    assert_eq!((document.headings.len(), document.code.len(), document.html.len()), (2, 1, 2));
    check(plan);
}

#[test]
fn what_needs_a_second_look_gets_it() {
    for text in [
        "- ```\n### Task 1: x\n",
        "```\n### Task 1: x\n",
        "> ```\n### Task 1: x\n",
        "<div>\n### Task 1: x\n",
        "#x\n---\n",
        "# A\r## B\r",
        "    ### Task 1: x\n",
    ] {
        assert!(fill(&mut Document::empty(text)).is_none(), "{text:?}");
        check(text);
    }
}
