//! The `SessionStart` hook.

fn main() -> std::process::ExitCode {
    omo_hooks::edge::run(&omo_hooks::session_start::HOOK)
}
