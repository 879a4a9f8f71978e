//! Runs whose every text is written to become a part of the page.

use anyhow::Result;
use omo_testkit::Lab;
use omo_tests::parallel_repository::Ground;
use omo_tests::scene::{Scene, plugin};

use crate::page_of_last_run;

/// What stands on which page, letter by letter.
pub(crate) const TEXTS: [(&str, &[&str]); 2] = [
    (
        "hostile-plan",
        &[
            "<script>globalThis.hostileTitle=1</script>",
            "\"><img src=x onerror=\"globalThis.hostileStep=1\">",
            "</style><script>globalThis.hostileChanges=1</script>",
            // What a check printed was neutralized where it was kept.
            "‹/svg›‹script›globalThis.hostileOutput=1‹/script›",
            "</pre></details><script>globalThis.hostileDifference=1</script>",
            "<svg onload=globalThis.hostileFile=1>.txt",
            "\\u{202e}",
        ],
    ),
    (
        "hostile-ultrawork",
        &[
            "<script>globalThis.hostileTask=1</script>",
            "</style><script>globalThis.hostileLog=1</script>",
            "</blockquote><script>globalThis.hostileReview=1</script>",
            "<iframe srcdoc=\"<script>parent.hostileCommand=1</script>\">",
        ],
    ),
];

const PLAN: &str = "# <script>globalThis.hostileTitle=1</script> \u{202e}reversed\u{2066}

## Context

Why.

## Implementation Plan

### Step 1: \"><img src=x onerror=\"globalThis.hostileStep=1\">

- **Files:** `a.txt` (new)
- **Changes:** </style><script>globalThis.hostileChanges=1</script>
- **Verify:** `sh print.sh && test -f a.txt`
- **On failure:** revert
- **Checkpoint:** `git commit -m \"<script>globalThis.hostileCommit=1</script>\"`

### Step 2: </title><base href=//example.org><meta http-equiv=refresh content=0>

- **Files:** `b.txt` (new)
- **Changes:** Write.
- **Verify:** `sh print.sh; test -f never.txt`
- **On failure:** revert
- **Checkpoint:** `git commit -m \"b\"`

## Execution Strategy

### Session 1: </svg><script>globalThis.hostileSession=1</script>

- **Steps:** 1, 2
- **Wave:** 1
- **Depends on:** none
- **Scope fence:**
  - Touch: `a.txt`, `b.txt`
  - Never touch: `secret.txt`

### Execution Order

- **Wave 1:** Session 1
";
/// What a terminal would obey, and where the check is red ten megabytes in lines of markup.
const PRINT: &str = "printf '\\033]0;title\\007\\033[2J\\342\\200\\256\\n'
[ -f done.txt ] || yes '<b onmouseover=globalThis.hostileLine=1>' | head -c 10000000
printf '\\n</svg><script>globalThis.hostileOutput=1</script>\\n'
";

/// A run of a plan with a step that passes and one that fails.
pub(crate) fn plan() -> Result<String> {
    let ground = Ground::with_plan(PLAN)?;
    ground.lab.write("print.sh", PRINT)?;
    ground.git(&["add", "."])?;
    ground.git(&["commit", "-q", "-m", "print"])?;
    let writes = "printf '</pre></details><script>globalThis.hostileDifference=1</script>\\n' > a.txt\n\
                  echo x > '<svg onload=globalThis.hostileFile=1>.txt'\n";
    ground.set_task_script(1, writes)?;
    ground.set_task_script(2, "echo 2 > b.txt\n")?;
    ground.open(&[])?;
    ground.omo(&["run", "watch"])?.exits_with(1)?;
    page_of_last_run(&ground.lab)
}

/// An ultrawork run that ends unproved, with a review that rejects.
pub(crate) fn ultrawork() -> Result<String> {
    let mut scene = Scene::in_lab(&plugin(), Lab::builder().build()?)?;
    scene.lab.write(
        "print.sh",
        &PRINT.replace(
            "</svg><script>globalThis.hostileOutput",
            "</style><script>globalThis.hostileLog",
        ),
    )?;
    scene.prompt(
        "/omo:ulw --check \"sh print.sh; test -f done.txt\" --check \"echo '<iframe srcdoc=\\\"<script>parent.hostileCommand=1</script>\\\">'\" \
         <script>globalThis.hostileTask=1</script>",
    )?;
    scene.lab.write("done.txt", "x\n")?;
    scene.claim_fails()?;
    scene.reviewer_reports(
        "</blockquote><script>globalThis.hostileReview=1</script>\n\n<promise>REJECTED</promise>",
    )?;
    scene.claim_fails()?;
    std::fs::remove_file(scene.lab.project().join("done.txt"))?;
    scene.claim_fails()?;
    scene.claim_ends("released")?;
    page_of_last_run(&scene.lab)
}
