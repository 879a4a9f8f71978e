//! The `SessionEnd` hook.

fn main() -> std::process::ExitCode {
    omo_hooks::edge::run(&omo_hooks::session_end::HOOK)
}
