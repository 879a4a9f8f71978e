//! The `SubagentStop` hook.

fn main() -> std::process::ExitCode {
    omo_hooks::edge::run(&omo_hooks::subagent_stop::HOOK)
}
