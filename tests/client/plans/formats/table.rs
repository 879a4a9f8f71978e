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
