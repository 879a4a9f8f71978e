//! The `Stop` hook, and the keeper of the gates that it runs.

fn main() -> std::process::ExitCode {
    omo_exec::keeper::run_if_asked();
    omo_hooks::edge::run(&omo_hooks::stop::HOOK)
}
