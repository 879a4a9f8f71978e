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
    tasks: &[
        ("T001", Before),
        ("T002", Check),
        ("T003", Check),
        ("T004", Check),
        ("T005", Review),
    ],
    words: &[
        ("T002", "words/reader.txt"),
        ("T003", "words/finder.txt"),
        ("T005", "words/notes.txt"),
    ],
    ticks: &[
        ("- [ ] T002", "- [x] T002"),
        ("- [ ] T003", "- [x] T003"),
        ("- [ ] T004", "- [x] T004"),
    ],
    end: "3 of 5 tasks done, 1 done before, unchecked, 1 unproved and reviewed.",
};

pub(super) const OPENSPEC: Format = Format {
    files: &[(
        "openspec/changes/words/tasks.md",
        include_str!("openspec.md"),
    )],
    target: "openspec/changes/words",
    tasks: &[
        ("1.1", Before),
        ("1.2", Check),
        ("2.1", Check),
        ("3.1", Check),
    ],
    words: &[("1.2", "words/store.txt"), ("2.1", "words/page.txt")],
    ticks: &[
        ("- [ ] 1.2", "- [x] 1.2"),
        ("- [ ] 2.1", "- [x] 2.1"),
        ("- [ ] 3.1", "- [x] 3.1"),
    ],
    end: "3 of 4 tasks done, 1 done before, unchecked.",
};

pub(super) const KIRO: Format = Format {
    files: &[(".kiro/specs/words/tasks.md", include_str!("kiro.md"))],
    target: ".kiro/specs/words",
    tasks: &[("1", Before), ("2.1", Check), ("2.2", Check), ("3", Review)],
    words: &[
        ("2.1", "words/greeting.txt"),
        ("2.2", "words/farewell.txt"),
        ("3", "words/notes.txt"),
    ],
    // The last one of a group ticks the group.
    ticks: &[
        ("- [ ] 2. ", "- [x] 2. "),
        ("- [ ] 2.1", "- [x] 2.1"),
        ("- [ ] 2.2", "- [x] 2.2"),
    ],
    end: "2 of 4 tasks done, 1 done before, unchecked, 1 unproved and reviewed.",
};

const GREETING: &str = "words/greeting.txt";
const FAREWELL: &str = "words/farewell.txt";

pub(super) const SISYPHUS: Format = Format {
    files: &[
        (".sisyphus/plans/words.md", include_str!("sisyphus.md")),
        (
            ".sisyphus/boulder.json",
            "{\"active_plan\": \"/elsewhere/.sisyphus/plans/words.md\"}\n",
        ),
    ],
    target: ".sisyphus",
    tasks: &[("1", Before), ("2", Check), ("3", Check), ("F1", Check)],
    words: &[("2", GREETING), ("3", FAREWELL)],
    ticks: &[
        ("- [ ] 2.", "- [x] 2."),
        ("- [ ] 3.", "- [x] 3."),
        ("- [ ] F1.", "- [x] F1."),
    ],
    end: "3 of 4 tasks done, 1 done before, unchecked.",
};

pub(super) const CONDUCTOR: Format = Format {
    files: &[(
        "conductor/tracks/words_1/plan.md",
        include_str!("conductor.md"),
    )],
    target: "conductor/tracks/words_1",
    tasks: &[("1", Before), ("2", Check), ("3", Check)],
    words: &[("2", GREETING), ("3", FAREWELL)],
    ticks: &[
        (
            "- [ ] Task: Write the greeting",
            "- [x] Task: Write the greeting",
        ),
        (
            "- [ ] Create `words/greeting",
            "- [x] Create `words/greeting",
        ),
        (
            "- [ ] Run `grep -q done words/greeting",
            "- [x] Run `grep -q done words/greeting",
        ),
        (
            "- [ ] Task: Write the farewell",
            "- [x] Task: Write the farewell",
        ),
        (
            "- [ ] Create `words/farewell",
            "- [x] Create `words/farewell",
        ),
        (
            "- [ ] Run `grep -q done words/farewell",
            "- [x] Run `grep -q done words/farewell",
        ),
    ],
    end: "2 of 3 tasks done, 1 done before, unchecked.",
};

pub(super) const BMAD: Format = Format {
    files: &[("docs/stories/1.1.story.md", include_str!("bmad.md"))],
    target: "docs/stories/1.1.story.md",
    tasks: &[("1", Before), ("2", Check), ("3", Check)],
    words: &[("2", GREETING), ("3", FAREWELL)],
    ticks: &[
        ("- [ ] Task 2", "- [x] Task 2"),
        ("- [ ] 2.1", "- [x] 2.1"),
        ("- [ ] 2.2", "- [x] 2.2"),
        ("- [ ] Task 3", "- [x] Task 3"),
        ("- [ ] 3.1", "- [x] 3.1"),
        ("- [ ] 3.2", "- [x] 3.2"),
    ],
    end: "2 of 3 tasks done, 1 done before, unchecked.",
};

pub(super) const AGENT_OS: Format = Format {
    files: &[(
        "agent-os/specs/2026-01-01-words/tasks.md",
        include_str!("agent-os.md"),
    )],
    target: "agent-os/specs/2026-01-01-words",
    tasks: &[("1.1", Before), ("1.2", Check), ("2.1", Check)],
    words: &[("1.2", GREETING), ("2.1", FAREWELL)],
    ticks: &[
        ("- [ ] 1.0", "- [x] 1.0"),
        ("- [ ] 1.2", "- [x] 1.2"),
        ("- [ ] 2.0", "- [x] 2.0"),
        ("- [ ] 2.1", "- [x] 2.1"),
    ],
    end: "2 of 3 tasks done, 1 done before, unchecked.",
};

pub(super) const BACKLOG: Format = Format {
    files: &[(
        "backlog/tasks/task-7 - Write-the-greeting.md",
        include_str!("backlog.md"),
    )],
    target: "backlog/tasks",
    tasks: &[("task-7", Check)],
    words: &[("task-7", GREETING)],
    ticks: &[("status: To Do", "status: Done")],
    end: "1 of 1 tasks done.",
};

pub(super) const RALPH: Format = Format {
    files: &[("prd.json", include_str!("ralph.json"))],
    target: "prd.json",
    tasks: &[("US-001", Before), ("US-002", Check), ("US-003", Check)],
    words: &[("US-002", GREETING), ("US-003", FAREWELL)],
    ticks: &[
        (
            "\"priority\": 2,\n      \"passes\": false",
            "\"priority\": 2,\n      \"passes\": true",
        ),
        (
            "\"priority\": 3,\n      \"passes\": false",
            "\"priority\": 3,\n      \"passes\": true",
        ),
    ],
    end: "2 of 3 tasks done, 1 done before, unchecked.",
};
