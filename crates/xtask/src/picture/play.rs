//! The run of the picture: the real client in a terminal, with a model whose turns are written down here and whose
//! changes to the project are real.

use std::path::Path;

use anyhow::{Context, Result, bail};
use omo_testkit::{Client, Lab, MockModel, ModelScript, ModelTurn, Terminal};
use serde_json::json;

/// Columns and rows of the terminal, enough for the whole run without scrolling.
const SIZE: (u16, u16) = (100, 90);
const PROMPT: &str = "ulw --check \"sh test.sh\" greet people by name in greet.sh";
const FIRST: &str = "❯ ulw --check";
const LAST: &str = "[omo] VERIFIED";
const STATUS: &str = "ulw verified";
const REVIEW: &str = "greet.sh greets the name that it is given, and nothing else changed.\n\n<promise>VERIFIED</promise>";
/// Replacement for the temporary folder of the project.
const SHOWN_PROJECT: &str = "~/greet";

const CHECK: &str = "got=$(sh greet.sh Ada)\ntest \"$got\" = \"Hello, Ada!\" && echo ok && exit\necho \"expected: Hello, Ada!\"\necho \"got:      $got\"\nexit 1\n";
const WRONG: &str = "echo \"Hello, you!\"\n";
const RIGHT: &str = "echo \"Hello, $1!\"\n";

/// Plays the run; gives its terminal lines with their colours.
pub(super) fn play(plugin: &Path, client: &Client) -> Result<String> {
    if !Terminal::available() {
        bail!("tmux is not installed, and it types for the person in the picture");
    }
    let model = MockModel::start(
        ModelScript::new()
            .agent(
                "independent reader",
                [ModelTurn::reads_what_is_reviewed(), ModelTurn::text(REVIEW)],
            )
            // On a terminal the client may move the reviewer to the background.
            .when("task-notification", ModelTurn::text("The reviewer agrees.")),
    )?;
    let status_line = format!("'{}' statusline", plugin.join("bin/omo").display());
    let lab = Lab::builder()
        .model(&model)
        .plugin(plugin)
        .env("COLORTERM", "truecolor")
        .settings(json!({"statusLine": {"type": "command", "command": status_line}}))
        .build()?;
    lab.write("test.sh", CHECK)?;
    for turn in turns(lab.project()) {
        model.push(turn);
    }
    let terminal = Terminal::start_sized(&lab, client, &[], SIZE)?;
    terminal.ready()?;
    terminal.say(PROMPT)?;
    terminal.wait_for(LAST)?;
    terminal.wait_for(STATUS)?;
    terminal.ready()?;
    let screen = terminal.coloured_screen();
    terminal.quit()?;
    let lines = cut(&screen)
        .with_context(|| format!("the run is not on the screen:\n{}", terminal.screen()))?;
    let lines = lines.replace(&*lab.project().to_string_lossy(), SHOWN_PROJECT);
    Ok(lines.replace(&*lab.home().to_string_lossy(), "~"))
}

fn turns(project: &Path) -> [ModelTurn; 6] {
    let done = "<promise>DONE</promise>";
    let writes = |content: &str| {
        ModelTurn::call(
            "Write",
            json!({"file_path": project.join("greet.sh"), "content": content}),
        )
    };
    [
        writes(WRONG),
        ModelTurn::text(format!(
            "greet.sh is written, and I am sure that it works.\n\n{done}"
        )),
        writes(RIGHT),
        ModelTurn::text(format!(
            "It has to greet the name that it is given. Now it does.\n\n{done}"
        )),
        ModelTurn::computed(|request| {
            let asked = request.last_user_text();
            let prompt = asked.rsplit("```\n").nth(1).unwrap_or_default().trim();
            let options = json!({"description": "Review the work", "subagent_type": "omo:oracle", "prompt": prompt, "run_in_background": false});
            ModelTurn::call("Agent", options)
        }),
        ModelTurn::text("The review runs."),
    ]
}

fn cut(screen: &str) -> Option<String> {
    let plain: Vec<String> = screen
        .lines()
        .map(|line| anstream::adapter::strip_str(line).to_string())
        .collect();
    let first = plain.iter().position(|line| line.contains(FIRST))?;
    let last = plain.iter().rposition(|line| line.contains(LAST))?;
    // The last notice may take more than one line.
    let length = plain
        .iter()
        .skip(last)
        .take_while(|line| !line.trim().is_empty())
        .count();
    let status = screen
        .lines()
        .nth(plain.iter().rposition(|line| line.contains(STATUS))?)?;
    let run = screen.lines().skip(first).take(last - first + length);
    Some(run.chain(["", status]).collect::<Vec<_>>().join("\n"))
}
