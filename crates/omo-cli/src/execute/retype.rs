//! `ExecuteRequest::typed`: a request as a line such as `/omo:execute --waves docs/plan.md`, which
//! a person types again to approve the commands of the plan.

use std::fmt::Write;

use omo_core::text::command_text::quote_shell_word;
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::request::arguments::PlanSelection;

use crate::execute::options::REVIEW_TIMES;
use crate::execute::request::{ExecuteCommand, ExecuteRequest, RequestedPlan};

impl ExecuteRequest {
    pub(crate) fn typed_anew(&self) -> String {
        Self {
            again: true,
            ..self.clone()
        }
        .typed()
    }

    pub(crate) fn typed(&self) -> String {
        let mut text = format!("/omo:{}", self.command.name());
        if let Some(mode) = self.mode.filter(|mode| *mode != ExecutionMode::StepByStep) {
            push_flag(&mut text, mode.option(), true);
        }
        push_flag(&mut text, "--fg", self.scope.is_foreground);
        push_flag(&mut text, "--resume", self.scope.is_resume);
        push_flag(&mut text, "--dry-run", self.scope.is_dry_run);
        let numbers = [
            ("--k", self.batches.k),
            ("--batch-size", self.batches.batch_size),
            ("--max-iterations", self.waves.max_iterations),
            ("--max-workers", self.waves.max_workers),
        ];
        let part = match self.scope.selection {
            PlanSelection::Whole => String::new(),
            PlanSelection::Step(number) => format!(" --step {number}"),
            PlanSelection::Session(number) => format!(" --session {number}"),
        };
        text += &part;
        text += &self.clients.to_command_line();
        if let Some(dialect) = self.dialect {
            let _ = write!(text, " --dialect {}", dialect.word());
        }
        match &self.source {
            RequestedPlan::File(path) if path.starts_with('-') => {
                let _ = write!(text, " -- {}", quote_shell_word(path));
            }
            RequestedPlan::File(path) => {
                let _ = write!(text, " {}", quote_shell_word(path));
            }
            RequestedPlan::TaskList(id) => {
                push_flag(
                    &mut text,
                    "--tasks",
                    self.command == ExecuteCommand::Execute,
                );
                if let Some(id) = id {
                    let _ = write!(text, " --session {}", quote_shell_word(id));
                }
            }
            RequestedPlan::OpenRun => {}
        }
        for (name, number) in numbers {
            if let Some(number) = number {
                let _ = write!(text, " {name} {number}");
            }
        }
        for check in &self.proof.check {
            let _ = write!(text, " --check {}", quote_shell_word(check));
        }
        if let Some((word, _)) = REVIEW_TIMES
            .iter()
            .find(|(_, time)| self.proof.review == Some(*time))
        {
            let _ = write!(text, " --review {word}");
        }
        push_flag(&mut text, "--require-checks", self.proof.require_checks);
        push_flag(&mut text, "--skip-verify", self.waves.skip_verify);
        if let Some(remote) = &self.pull_request {
            let _ = write!(text, " --pr={}", quote_shell_word(remote));
        }
        push_flag(&mut text, "--again", self.again);
        text
    }
}

fn push_flag(text: &mut String, name: &str, is_set: bool) {
    if is_set {
        let _ = write!(text, " {name}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::line::{TypedLine, read_typed_line};

    #[test]
    fn what_was_typed_is_typed_again_with_the_same_meaning() {
        use ExecuteCommand::{Execute, ExecuteLocal, ExecutePlan, UlwExec};
        for (command, line, again) in [
            (ExecuteLocal, "plan.md", "plan.md"),
            (ExecuteLocal, "--fg 'my plan.md'", "--fg 'my plan.md'"),
            (
                ExecuteLocal,
                "plan.md --approve 0123456789ab --yolo",
                "--yolo plan.md",
            ),
            (
                ExecuteLocal,
                "--dry-run --session 2 \"it's.md\"",
                "--dry-run --session 2 'it'\\''s.md'",
            ),
            (
                ExecuteLocal,
                "--max-sessions 2 --allow 'Bash(npm test:*)' --accept-api-billing plan.md",
                "--max-sessions 2 --allow 'Bash(npm test:*)' --accept-api-billing plan.md",
            ),
            (ExecuteLocal, "--again plan.md", "plan.md --again"),
            (
                ExecuteLocal,
                "--max-budget-usd 2.50 p.md",
                "--max-budget-usd 2.5 p.md",
            ),
            (ExecutePlan, "--again p.md --k=2", "p.md --k 2 --again"),
            (
                UlwExec,
                "--again --max-workers=0 --session s",
                "--session s --max-workers 0 --again",
            ),
            (UlwExec, "p.md --skip-verify", "p.md --skip-verify"),
            (
                Execute,
                "p.md --waves --max-iterations 2",
                "--waves p.md --max-iterations 2",
            ),
            (
                Execute,
                "--tasks --session s --parallel",
                "--parallel --tasks --session s",
            ),
            (Execute, "--fg p.md", "--fg p.md"),
            (Execute, "p.md --dialect kiro", "--dialect kiro p.md"),
            (
                ExecutePlan,
                "p.md --dialect=openspec --k 2",
                "--dialect openspec p.md --k 2",
            ),
            (ExecuteLocal, "p.md --dialect gsd", "--dialect gsd p.md"),
            (
                UlwExec,
                "p.md --dialect task-master",
                "--dialect task-master p.md",
            ),
            (
                Execute,
                "--check 'npm test' --review=waves p.md",
                "p.md --check 'npm test' --review waves",
            ),
            (Execute, "--pr p.md", "p.md --pr=origin"),
            (Execute, "p.md --pr=up", "p.md --pr=up"),
            (
                UlwExec,
                "--require-checks p.md --check none",
                "p.md --check none --require-checks",
            ),
        ] {
            let TypedLine::Request(request) = read_typed_line(command, line).unwrap() else {
                panic!("{line}")
            };
            let typed = request.typed();
            assert_eq!(typed, format!("/omo:{} {again}", command.name()), "{line}");
            let TypedLine::Request(once_more) = read_typed_line(command, again).unwrap() else {
                panic!("{again}")
            };
            assert_eq!(once_more.typed(), typed, "{line}");
        }
    }
}
