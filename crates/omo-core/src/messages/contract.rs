//! The contract of a run, which the model reads when its user turns ultrawork on.

use crate::limits::RunLimits;
use crate::session::UlwTrigger;

/// Maximum characters of the contract: the client cuts a hook's text at 10,000.
pub(crate) const CONTRACT_CHARS: usize = 1_500;
pub(crate) const SHORT_CONTRACT_CHARS: usize = 600;
pub const CONTRACT_MARK: &str = "<ultrawork-mode>";

const CONTRACT_BODY: &str = "\
How a run goes:
1. Explore: 2 to 5 leaf agents in parallel (Explore, for example) read the code and report, so that the coordinator's context stays small.
2. Plan: 1 to 3 atomic changes, each with the check that will show that it works.
3. Execute and persist: make them; keep the checklist or notes of the task current.
4. Verify: run the checks (tests, build, types), fix what fails and run them again; what failed before the work began is written down as such.
5. Claim: once all of it is done and checked, the final message ends with `<promise>DONE</promise>` alone on its last line; omo then runs the user's checks and may ask for a review. If it cannot be done, `<promise>BLOCKED: the reason</promise>` there is an honest end and is accepted at once.
The user ends the run at any time by typing `ulw off` or with /omo:stop-continuation; Esc pauses it.
</ultrawork-mode>";

const SHORT_CONTRACT_BODY: &str = "\
As before: explore with leaf agents, plan small changes with their checks, make them, verify, and end the final message with `<promise>DONE</promise>` alone on its last line, or with `<promise>BLOCKED: the reason</promise>`. The user ends the run by typing `ulw off` or with /omo:stop-continuation.
</ultrawork-mode>";

/// Maximum characters of the line that varies; `opening` is tested to keep it.
const OPENING_CHARS: usize = 240;
const _: () = assert!(CONTRACT_BODY.len() + OPENING_CHARS <= CONTRACT_CHARS);
const _: () = assert!(SHORT_CONTRACT_BODY.len() + OPENING_CHARS <= SHORT_CONTRACT_CHARS);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContractForm {
    Full,
    Short,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldState {
    Held,
    /// The run could not be written, or no Stop hook can run.
    NotHeld,
}

/// The contract in full or short form, behind a line about this run.
pub fn contract(
    trigger: UlwTrigger,
    limits: RunLimits,
    form: ContractForm,
    held: HoldState,
) -> String {
    let body = match form {
        ContractForm::Full => CONTRACT_BODY,
        ContractForm::Short => SHORT_CONTRACT_BODY,
    };
    format!(
        "{CONTRACT_MARK}\n{}\n{body}",
        opening(trigger, limits, held)
    )
}

fn opening(trigger: UlwTrigger, limits: RunLimits, held: HoldState) -> String {
    let trigger_words = match trigger {
        UlwTrigger::Keyword => "with the word `ulw` in this prompt",
        UlwTrigger::Command => "with /omo:ulw",
        UlwTrigger::Cli => "with `omo ulw on`",
    };
    let RunLimits {
        max_blocks,
        max_minutes,
        ..
    } = limits.clamped();
    let consequence = match held {
        HoldState::Held => format!(
            "A turn that ends without a claim is continued, at most {max_blocks} times within {max_minutes} minutes."
        ),
        HoldState::NotHeld => {
            "omo has told its user that this session is not held: nothing continues a turn that ends early.".to_owned()
        }
    };
    format!("The user turned on ultrawork (the omo plugin) {trigger_words}. {consequence}")
}

pub fn task_goes_on() -> String {
    "The task that this session had before was not proved done. It goes on, with its checks and the commit that it \
     began on; what this prompt asks for is added to it."
        .to_owned()
}

/// Note for the model that no run starts in plan mode.
pub fn plan_mode_note() -> String {
    format!(
        "{CONTRACT_MARK}\nThe user typed the ultrawork keyword in plan mode. No run was started: in plan mode nothing \
         can be edited, so a session is not held there. A good plan names 1 to 3 atomic changes, each with its check. \
         The run starts when the user types the keyword again outside plan mode; telling them so is useful.\n</ultrawork-mode>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::LIMITS;

    #[test]
    fn its_length_holds_for_the_greatest_numbers() {
        let mut limits = RunLimits::default();
        assert!(LIMITS.iter().all(|row| limits.set(row, row.highest)));
        for trigger in [UlwTrigger::Keyword, UlwTrigger::Command, UlwTrigger::Cli] {
            for held in [HoldState::Held, HoldState::NotHeld] {
                assert!(
                    opening(trigger, limits, held).chars().count()
                        < OPENING_CHARS - CONTRACT_MARK.len() - 2
                );
                assert!(
                    contract(trigger, limits, ContractForm::Full, held)
                        .chars()
                        .count()
                        <= CONTRACT_CHARS
                );
                assert!(
                    contract(trigger, limits, ContractForm::Short, held)
                        .chars()
                        .count()
                        <= SHORT_CONTRACT_CHARS
                );
            }
        }
    }
}
