//! The `StopFailure` hook.

fn main() -> std::process::ExitCode {
    omo_hooks::edge::run(&omo_hooks::stop_failure::HOOK)
}
