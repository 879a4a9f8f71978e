//! The `Stop` hook.

fn main() -> std::process::ExitCode {
    omo_hooks::edge::run(&omo_hooks::stop::HOOK)
}
