//! The plans of the table: where each lies, what its tasks write, what proves them, and where their state is kept.

/// What a task rests on at the end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    /// A command: its own, or that of its group.
    Check,
    /// The word of a reviewer: it stays unproved.
    Review,
    /// The plan says that it is done.
    Before,
}

/// A plan as its tool writes it, and what becomes of it.
pub(super) struct Format {
    /// Its files and their texts, first the one that may keep the state.
    pub files: &'static [(&'static str, &'static str)],
    /// What is typed.
    pub target: &'static str,
    /// Its tasks.
    pub tasks: &'static [(&'static str, Proof)],
    /// What its tasks write.
    pub words: &'static [(&'static str, &'static str)],
    /// What omo changes in its first file.
    pub ticks: &'static [(&'static str, &'static str)],
    /// What the person reads at the end.
    pub end: &'static str,
}

use Proof::{Before, Check, Review};

pub(super) const SUPERPOWERS: Format = Format {
    files: &[("docs/superpowers/plans/2026-01-12-words.md", include_str!("superpowers.md"))],
    target: "docs/superpowers/plans/2026-01-12-words.md",
    tasks: &[("1", Check), ("2", Review), ("3", Check)],
    // The last one is that of the task that its user adds.
    words: &[("1", "words/reader.txt"), ("2", "words/notes.txt"), ("3", "words/finder.txt"), ("4", "words/index.txt")],
    ticks: &[
        ("- [ ] **Step 1: Look for", "- [x] **Step 1: Look for"),
        ("- [ ] **Step 2: Write the reader", "- [x] **Step 2: Write the reader"),
        ("- [ ] **Step 3", "- [x] **Step 3"),
        ("- [ ] **Step 4", "- [x] **Step 4"),
        ("- [ ] **Step 1: Write the finder", "- [x] **Step 1: Write the finder"),
        ("- [ ] **Step 2: Look for", "- [x] **Step 2: Look for"),
    ],
    end: "2 of 3 tasks done, 1 unproved.",
};

/// The same, with a task that its user adds while it is executed.
pub(super) const SUPERPOWERS_EDITED: Format = Format {
    tasks: &[("1", Check), ("2", Review), ("3", Check), ("4", Check)],
    ticks: &[
        ("- [ ] **Step 1: Look for", "- [x] **Step 1: Look for"),
        ("- [ ] **Step 2: Write the reader", "- [x] **Step 2: Write the reader"),
        ("- [ ] **Step 3", "- [x] **Step 3"),
        ("- [ ] **Step 4", "- [x] **Step 4"),
        ("- [ ] **Step 1: Write the finder", "- [x] **Step 1: Write the finder"),
        ("- [ ] **Step 2: Look for", "- [x] **Step 2: Look for"),
        ("- [ ] **Step 1: Write the index", "- [x] **Step 1: Write the index"),
    ],
    end: "3 of 4 tasks done, 1 unproved.",
    ..SUPERPOWERS
};

pub(super) const DEV_WORKFLOW: Format = Format {
    files: &[("docs/06-plans/2026-01-12-words-plan.md", include_str!("dev-workflow.md"))],
    target: "docs/06-plans/2026-01-12-words-plan.md",
    tasks: &[("1-tests", Check), ("1-impl", Check), ("2", Check)],
    words: &[("1-tests", "words/reader-test.txt"), ("1-impl", "words/reader.txt"), ("2", "words/notes.txt")],
    ticks: &[],
    end: "3 of 3 tasks done",
};

pub(super) const SPEC_KIT: Format = Format {
    files: &[("specs/001-words/tasks.md", include_str!("spec-kit.md"))],
    target: "specs/001-words",
    tasks: &[("T001", Before), ("T002", Check), ("T003", Check), ("T004", Check), ("T005", Review)],
    words: &[("T002", "words/reader.txt"), ("T003", "words/finder.txt"), ("T005", "words/notes.txt")],
    ticks: &[("- [ ] T002", "- [x] T002"), ("- [ ] T003", "- [x] T003"), ("- [ ] T004", "- [x] T004")],
    end: "3 of 5 tasks done, 1 done before, unchecked, 1 unproved.",
};

pub(super) const OPENSPEC: Format = Format {
    files: &[("openspec/changes/words/tasks.md", include_str!("openspec.md"))],
    target: "openspec/changes/words",
    tasks: &[("1.1", Before), ("1.2", Check), ("2.1", Check), ("3.1", Check)],
    words: &[("1.2", "words/store.txt"), ("2.1", "words/page.txt")],
    ticks: &[("- [ ] 1.2", "- [x] 1.2"), ("- [ ] 2.1", "- [x] 2.1"), ("- [ ] 3.1", "- [x] 3.1")],
    end: "3 of 4 tasks done, 1 done before, unchecked.",
};

pub(super) const KIRO: Format = Format {
    files: &[(".kiro/specs/words/tasks.md", include_str!("kiro.md"))],
    target: ".kiro/specs/words",
    tasks: &[("1", Before), ("2.1", Check), ("2.2", Check), ("3", Review)],
    words: &[("2.1", "words/greeting.txt"), ("2.2", "words/farewell.txt"), ("3", "words/notes.txt")],
    // The last one of a group ticks the group.
    ticks: &[("- [ ] 2. ", "- [x] 2. "), ("- [ ] 2.1", "- [x] 2.1"), ("- [ ] 2.2", "- [x] 2.2")],
    end: "2 of 4 tasks done, 1 done before, unchecked, 1 unproved.",
};

pub(super) const TASK_MASTER: Format = Format {
    files: &[(".taskmaster/tasks/tasks.json", include_str!("task-master.json"))],
    target: ".taskmaster/tasks/tasks.json",
    tasks: &[("1", Before), ("2", Check), ("3.1", Review), ("3.2", Check), ("3", Review)],
    words: &[("2", "words/reader.txt"), ("3.1", "words/index.txt"), ("3.2", "words/search.txt")],
    ticks: &[
        (
            "\"dependencies\": [1],\n        \"status\": \"pending\"",
            "\"dependencies\": [1],\n        \"status\": \"done\"",
        ),
        (
            "\"dependencies\": [1],\n            \"status\": \"pending\"",
            "\"dependencies\": [1],\n            \"status\": \"done\"",
        ),
    ],
    end: "2 of 5 tasks done, 1 done before, unchecked, 2 unproved.",
};

pub(super) const GSD: Format = Format {
    files: &[(".planning/phases/01-words/01-01-PLAN.md", include_str!("gsd.md"))],
    target: ".planning/phases/01-words/01-01-PLAN.md",
    tasks: &[("1", Check), ("2", Review), ("3", Check)],
    words: &[("1", "words/reader.txt"), ("2", "words/notes.txt"), ("3", "words/finder.txt")],
    ticks: &[],
    end: "2 of 3 tasks done, 1 unproved.",
};

pub(super) const GSD_FOLDER: Format = Format {
    files: &[
        (".planning/phases/02-words/02-02-PLAN.md", include_str!("gsd/02-02-PLAN.md")),
        (".planning/phases/02-words/02-01-PLAN.md", include_str!("gsd/02-01-PLAN.md")),
        (".planning/phases/02-words/02-01-SUMMARY.md", "# Summary\n\nThe reader is written.\n"),
        (".planning/phases/02-words/02-03-PLAN.md", include_str!("gsd/02-03-PLAN.md")),
    ],
    target: ".planning/phases/02-words",
    tasks: &[("02-01.1", Before), ("02-02.1", Check), ("02-02.2", Check), ("02-03.1", Check)],
    words: &[("02-02.1", "words/index.txt"), ("02-02.2", "words/notes.txt"), ("02-03.1", "words/finder.txt")],
    ticks: &[],
    end: "3 of 4 tasks done, 1 done before, unchecked.",
};
