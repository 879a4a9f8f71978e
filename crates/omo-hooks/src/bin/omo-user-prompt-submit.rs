//! The `UserPromptSubmit` hook.

fn main() -> std::process::ExitCode {
    omo_hooks::edge::run(&omo_hooks::user_prompt_submit::HOOK)
}
