//! The run that the pictures of the docs show: a plan with parallel workers, one of which needs a second attempt.

use std::fmt::Write;

use anyhow::Result;
use omo_tests::parallel_repository::Ground;

use crate::page_of_last_run;

/// The number, the title, the file, what the file is, and how many seconds it takes.
type Step = (u32, &'static str, &'static str, &'static str, &'static str);

const STEPS: [Step; 7] = [
    (
        1,
        "A token bucket",
        "src/bucket.sh",
        "take() { tokens=$((tokens - 1)); [ \"$tokens\" -ge 0 ]; }",
        "1.6",
    ),
    (
        2,
        "Refill it with time",
        "src/refill.sh",
        "refill() { tokens=$((tokens + rate * ($2 - $1))); }",
        "1.1",
    ),
    (
        3,
        "Read the limits from a file",
        "src/limits.sh",
        "limit_of() { sed -n \"s/^$1 //p\" limits.txt; }",
        "2.4",
    ),
    (
        4,
        "Limits of the public routes",
        "limits.txt",
        "/search 20\n/login 5\n/export 1",
        "0.8",
    ),
    (
        5,
        "Answer 429 over the limit",
        "src/answer.sh",
        "answer() { take && echo 200 || echo 429; }",
        "1.8",
    ),
    (
        6,
        "Say how long to wait",
        "src/wait.sh",
        "retry_after() { echo \"Retry-After: $((1 / rate + 1))\"; }",
        "1.2",
    ),
    (
        7,
        "Document the limits",
        "docs/limits.md",
        "# Limits\n\nA client that is over the limit gets 429.",
        "1.0",
    ),
];
/// The sessions: their title, their steps and their wave.
const SESSIONS: [(&str, &[u32], u32); 3] = [
    ("The bucket", &[1, 2], 1),
    ("The limits", &[3, 4], 1),
    ("The answers", &[5, 6, 7], 2),
];

fn plan_text() -> String {
    let mut text = String::from(
        "# Rate limits for the public API\n\n## Context\n\nOne client can slow down all others.\n\n## Implementation Plan\n\n",
    );
    for (number, title, file, ..) in STEPS {
        let _ = write!(
            text,
            "### Step {number}: {title}\n\n- **Files:** `{file}` (new)\n- **Changes:** {title}, as the design says.\n\
             - **Verify:** `sh tests/run.sh {file}`\n- **On failure:** revert\n- **Checkpoint:** `git commit -m \"limits: step {number}\"`\n\n"
        );
    }
    text.push_str("## Execution Strategy\n\n");
    for (place, (title, steps, wave)) in SESSIONS.iter().enumerate() {
        let files = STEPS
            .iter()
            .filter(|step| steps.contains(&step.0))
            .map(|step| format!("`{}`", step.2));
        let numbers: Vec<String> = steps.iter().map(u32::to_string).collect();
        let _ = write!(
            text,
            "### Session {}: {title}\n\n- **Steps:** {}\n- **Wave:** {wave}\n- **Depends on:** {}\n- **Scope fence:**\n  - Touch: {}\n  - Never touch: `tests/`\n\n",
            place + 1,
            numbers.join(", "),
            if *wave == 1 {
                "none"
            } else {
                "Session 1, Session 2"
            },
            files.collect::<Vec<_>>().join(", ")
        );
    }
    text.push_str("### Execution Order\n\n- **Wave 1:** Session 1, Session 2\n- **Wave 2:** Session 3\n\n## Verification\n\n- `sh tests/all.sh`\n");
    text
}

/// The tests of the project: a file that is sound as shell or as text, with how it went.
const RUN: &str = "echo \"checking $1\"
sleep 0.4
case $1 in
*.sh) sh -n \"$1\" || { echo \"$1: not ok, a syntax error\"; exit 1; } ;;
*) test -s \"$1\" || { echo \"$1: not ok, missing\"; exit 1; } ;;
esac
echo \"$1: ok\"
";
const ALL: &str = "for file in src/*.sh limits.txt docs/limits.md; do sh tests/run.sh \"$file\" || exit 1; done\n";

/// Plays the run, and gives its page.
pub(crate) fn page() -> Result<String> {
    let ground = Ground::with_plan(&plan_text())?;
    ground.lab.write("tests/run.sh", RUN)?;
    ground.lab.write("tests/all.sh", ALL)?;
    ground.git(&["add", "."])?;
    ground.git(&["commit", "-q", "-m", "tests"])?;
    for (number, _, file, content, seconds) in STEPS {
        let marker = ground.steps().join(format!("{number}.tried"));
        // The first attempt at the answer leaves a brace open.
        let spoil = if number == 5 {
            format!(
                "[ -f '{0}' ] || {{ touch '{0}'; sed -i 's/; }}$//' {file}; }}\n",
                marker.display()
            )
        } else {
            String::new()
        };
        let script = format!(
            "sleep {seconds}\nmkdir -p \"$(dirname {file})\"\ncat > {file} <<'END'\n{content}\nEND\n{spoil}"
        );
        ground.set_task_script(number, &script)?;
    }
    ground.open(&[])?;
    ground.omo(&["run", "watch"])?.exits_with(0)?;
    page_of_last_run(&ground.lab)
}
