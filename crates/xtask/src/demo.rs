//! `cargo xtask demo`: one whole ultrawork run with the real hook binaries.
//!
//! Model and client are stand-ins, so that the demo runs anywhere: the model's turns are written down below, and its
//! changes to the project are real. All output of `omo`, and the shown state, comes from the binaries that were just
//! built.

use anstream::println;
use anstyle::{AnsiColor, Style};
use anyhow::{Context, Result, bail, ensure};
use omo_core::messages::checks::review_prompt;
use omo_testkit::stand_in::{HookAnswer, SubagentStopInput};
use omo_testkit::{HookRun, Lab, StandIn};
use serde_json::{Value, json};

use crate::plugin;

const CHECK: &str = "sh test.sh";
const DONE: &str = "<promise>DONE</promise>";

pub(crate) fn run() -> Result<()> {
    let plugin = plugin::build_for_development()?;
    let lab = Lab::builder().plugin(&plugin.path).build()?;
    let mut play = Play {
        session: StandIn::new(&lab, &plugin.path)?,
        lab: &lab,
    };
    title("1. A run: `ulw` turns it on, and the session is held until its work is proved");
    play.run_to_its_proof()?;
    title("2. Letting go: one command frees the session at once");
    play.let_go()?;
    title("What was decided, as `omo log` shows it");
    play.show_log(&plugin.path.join("bin").join("omo"))?;
    println!(
        "\nNow with the real client:  claude --plugin-dir {}",
        plugin.path.display()
    );
    Ok(())
}

struct Play<'a> {
    lab: &'a Lab,
    session: StandIn,
}

impl Play<'_> {
    fn run_to_its_proof(&mut self) -> Result<()> {
        let lab = self.lab;
        lab.write(
            "test.sh",
            "test \"$(sh greet.sh Ada)\" = \"Hello, Ada!\" && echo ok\n",
        )?;
        let start = self.session.session_start("startup")?;
        Self::hook("SessionStart", &start)?;
        self.person(&format!(
            "/omo:ulw --check \"{CHECK}\" write greet.sh so that the check passes"
        ))?;
        self.show_state()?;

        self.model("I looked at test.sh: greet.sh has to greet the name it is given. I will write it next.")?;
        self.show_state()?;

        self.works("Write", &json!({"file_path": "greet.sh"}), || {
            lab.write("greet.sh", "echo \"Hello, you!\"\n")?;
            Ok("greet.sh written".to_owned())
        })?;
        self.model(&format!(
            "greet.sh is written, and I am sure that it works.\n\n{DONE}"
        ))?;
        self.show_state()?;

        self.works("Write", &json!({"file_path": "greet.sh"}), || {
            lab.write("greet.sh", "echo \"Hello, $1!\"\n")?;
            Ok("greet.sh written".to_owned())
        })?;
        self.model(&format!("Now it greets by name.\n\n{DONE}"))?;
        self.show_state()?;

        self.reviewer(
            "greet.sh greets the name that it is given; test.sh checks just that.\n\n<promise>VERIFIED</promise>",
        )?;
        self.model("The reviewer agrees.")?;
        self.show_state()
    }

    /// Ends the agent `omo:oracle`, which the model has started, with its report.
    fn reviewer(&mut self, text: &str) -> Result<()> {
        says("omo:oracle", AnsiColor::Blue, text);
        let material = format!("review-{}.md", self.session.session());
        let prompt = review_prompt(&self.lab.state_folder().join(material).display().to_string());
        let run = self.session.subagent_stop(&SubagentStopInput {
            agent_id: String::new(),
            agent_type: "omo:oracle".to_owned(),
            last_message: text.to_owned(),
            stop_hook_active: false,
            prompts: vec![prompt],
        })?;
        Self::hook("SubagentStop", &run)
    }

    fn let_go(&mut self) -> Result<()> {
        self.person("ulw now greet in ten languages")?;
        self.model("One of ten is there.")?;
        self.person("/omo:stop-continuation enough for today")?;
        self.model("Two of ten are there.")?;
        self.show_state()
    }

    /// A prompt of the person, through `UserPromptSubmit`.
    fn person(&mut self, text: &str) -> Result<()> {
        says("you", AnsiColor::Cyan, text);
        let run = self.session.prompt(text)?;
        if let Some(context) = run.answer()?.context() {
            // The client writes a hook's message to the model into the transcript.
            self.session
                .transcript()
                .hook_context("UserPromptSubmit", context)?;
        }
        Self::hook("UserPromptSubmit", &run)
    }

    fn model(&mut self, text: &str) -> Result<()> {
        says("model", AnsiColor::Magenta, text);
        self.session.transcript().assistant(text)?;
        let run = self.session.stop(text)?;
        Self::hook("Stop", &run)
    }

    /// A tool call of the model with its real effect.
    fn works(
        &mut self,
        tool: &str,
        input: &Value,
        work: impl FnOnce() -> Result<String>,
    ) -> Result<()> {
        let call = self.session.transcript().tool_use(tool, input)?;
        let result = work()?;
        self.session.transcript().tool_result(&call, &result)?;
        says(
            "tool",
            AnsiColor::Magenta,
            &format!("{tool} {input} -> {result}"),
        );
        Ok(())
    }

    fn hook(event: &str, run: &HookRun) -> Result<()> {
        if !run.status.success() {
            bail!("the {event} hook failed: {run:?}");
        }
        let took = format!("{event}, {:.1} ms", run.duration.as_secs_f64() * 1_000.0);
        let text = match run.answer()? {
            HookAnswer::Nothing if event == "SubagentStop" => {
                "says nothing, and writes the verdict down".to_owned()
            }
            HookAnswer::Nothing => "says nothing: the turn ends".to_owned(),
            HookAnswer::PlainText(text) => format!("tells the model:\n{text}"),
            answer @ HookAnswer::Json(_) => {
                let user = answer
                    .system_message()
                    .map(|text| format!("tells you: {text}"));
                let verb = if event == "Stop" {
                    "the session goes on"
                } else {
                    "answers without the model"
                };
                let block = answer.reason().map(|text| format!("{verb}:\n{text}"));
                let model = answer
                    .context()
                    .map(|text| format!("tells the model:\n{text}"));
                let parts: Vec<String> = [user, block, model].into_iter().flatten().collect();
                ensure!(!parts.is_empty(), "an answer that the demo does not know");
                parts.join("\n")
            }
        };
        says(&format!("omo ({took})"), AnsiColor::Green, &text);
        Ok(())
    }

    fn show_state(&self) -> Result<()> {
        let state = self.lab.state().context("read the state file")?;
        let pointer = |field: &str| format!("/sessions/{}/{field}", self.session.session());
        let field = |name: &str| {
            state
                .pointer(&pointer(name))
                .unwrap_or(&Value::Null)
                .to_string()
        };
        let text = format!(
            "enabled {}, stopBlocks {}, phase {}, attempts {}, disabled {}, verdict {}",
            field("ulw/enabled"),
            field("ulw/stopBlocks"),
            field("verification/phase"),
            field("verification/attempts"),
            field("stopContinuation/disabled"),
            field("verdict/kind"),
        );
        says("state", AnsiColor::Yellow, &text);
        Ok(())
    }

    fn show_log(&self, omo: &std::path::Path) -> Result<()> {
        let mut log = self.lab.command(omo);
        let output = log
            .arg("log")
            .current_dir(self.lab.project())
            .output()
            .context("run omo log")?;
        if !output.status.success() {
            bail!("`omo log` failed: {output:?}");
        }
        println!("{}", String::from_utf8_lossy(&output.stdout).trim_end());
        Ok(())
    }
}

fn title(text: &str) {
    let bold = Style::new().bold();
    println!("\n{bold}{text}{bold:#}\n");
}

/// A speaker's words, further lines aligned with the first.
fn says(who: &str, color: AnsiColor, text: &str) {
    let style = color.on_default().bold();
    println!("{style}{who}>{style:#} {}", text.replace('\n', "\n    "));
}
