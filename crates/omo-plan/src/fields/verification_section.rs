//! Reads checks of the whole plan from a section such as `## Verification`.

use omo_core::check::task_check::TaskCheck;

use super::prose::read_row_checks;
use super::shell_commands::{ScriptCommands, read_script};
use super::stated_checks::read_shell_block;
use super::unused_commands::{refused_check, unused_commands};
use crate::document::{MarkdownDocument, line_ranges};
use crate::model::{Plan, RefusedCheck};
use crate::pattern::Pattern;

static TITLE: Pattern = Pattern::new(
    r"^[^\p{L}]*(?i-u:(?:(?:final|overall|full|end-to-end|plan)\s+)?(?:verification|validation|how to verify)(?:\s+(?:steps|checks|commands|plan))?)[\s:*]*$",
);
const MAX_CHECKS: usize = 50;
const MAX_SECTIONS: usize = 20;
const MAX_ROWS: usize = 1_000;

/// Adds commands below such a heading to `plan.final_checks`, unless the section has tasks.
pub(crate) fn read_verification_section(document: &MarkdownDocument<'_>, plan: &mut Plan) {
    let Plan {
        tasks,
        final_checks: found,
        refused_checks: refused,
        ..
    } = plan;
    let mut sections = 0;
    for (heading, section) in document.headings.iter().zip(document.section_ranges()) {
        let lines = document.line_number(section.start)
            ..=document.line_number(section.end.saturating_sub(1));
        if sections >= MAX_SECTIONS {
            break;
        }
        let is_about_task = tasks.iter().any(|task| {
            let [first, last] = task.lines;
            lines.contains(&first) || first <= *lines.start() && *lines.start() <= last
        });
        if heading.level > 2 || !TITLE.is_match(heading.text) || is_about_task {
            continue;
        }
        sections += 1;
        let blocks = document
            .code_blocks
            .iter()
            .filter(|code| section.contains(&code.span.start));
        let scripts = blocks.filter_map(|code| read_shell_block(document, code));
        let scripts: Vec<ScriptCommands> = scripts.map(|script| read_script(&script)).collect();
        let unused = scripts
            .iter()
            .flat_map(|script| &script.unused)
            .take(MAX_CHECKS);
        refused.extend(unused.map(|command| refused_check(None, command)));
        let in_code = scripts
            .iter()
            .flat_map(|script| &script.checks)
            .map(|command| TaskCheck::new(command));
        let rows = line_ranges(document.text, section.clone())
            .filter(|line| document.code_at(line.start).is_none());
        let rows: Vec<&str> = rows
            .map(|line| document.slice(line))
            .take(MAX_ROWS)
            .collect();
        let unused = rows
            .iter()
            .flat_map(|row| unused_commands(row))
            .take(MAX_CHECKS);
        refused.extend(unused.map(|(command, concern)| RefusedCheck {
            task: None,
            command,
            concern,
        }));
        let in_text = rows.iter().flat_map(|row| read_row_checks(row));
        for check in in_code.chain(in_text) {
            if found.len() < MAX_CHECKS && !found.contains(&check) {
                found.push(check);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_concern::CommandConcern;
    use crate::model::{Dialect, PlanSource, Task};

    fn read(text: &str, tasks: Vec<Task>) -> Plan {
        let mut plan = Plan {
            tasks,
            ..Plan::new(Dialect::OpenSpec, PlanSource::new("p.md", "", 0))
        };
        read_verification_section(&MarkdownDocument::read(text), &mut plan);
        plan
    }

    #[test]
    fn what_proves_nothing_there_is_named() {
        let plan = read(
            "# P\n\n## Verification\n\n```sh\nnpm install\nnpm test\n```\n- Run `npm run dev`\n",
            Vec::new(),
        );
        let refused = plan
            .refused_checks
            .iter()
            .map(|known| (known.command.as_str(), known.concern));
        let expected = [
            ("npm install", CommandConcern::Prepares),
            ("npm run dev", CommandConcern::NeverEnds),
        ];
        assert_eq!(refused.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_commands_of_the_whole_are_read_and_those_of_tasks_are_not() {
        for (text, expected) in [
            (
                "# P\n\n## Verification\n\n```bash\nnpm test\nnpm install\nnpm run lint\n```\n",
                vec!["npm test", "npm run lint"],
            ),
            (
                "# P\n\n## Final Verification:\n\n- Run `make check`\n- look at the page\n",
                vec!["make check"],
            ),
            ("# P\n\n### Verification\n\nRun `make check`\n", vec![]),
            (
                "# P\n\n## Verification of users\n\nRun `make check`\n",
                vec![],
            ),
        ] {
            let plan = read(text, Vec::new());
            let commands: Vec<&str> = plan
                .final_checks
                .iter()
                .map(|check| check.command.as_str())
                .collect();
            assert_eq!(commands, expected, "{text}");
        }
        let text = "# P\n\n## Verification\n\n- [ ] 1.1 Run `make check`\n";
        let task = Task {
            lines: [5, 5],
            ..Task::new("1.1", "Run")
        };
        assert!(
            read(text, vec![task]).final_checks.is_empty(),
            "it is a task"
        );
    }
}
