//! `cargo xtask bench --workers`: what runs of many workers cost. Slurm runs on Linux alone.

#[cfg(target_os = "linux")]
#[path = "many_workers_run.rs"]
mod run;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    run::run()
}

#[cfg(not(target_os = "linux"))]
fn main() -> std::process::ExitCode {
    std::process::ExitCode::FAILURE
}
