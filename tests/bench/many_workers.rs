//! `cargo xtask bench --workers`: what runs of many workers cost. Slurm runs on Linux alone.

#[cfg(target_os = "linux")]
#[path = "many_workers_run.rs"]
mod run;

fn main() -> std::process::ExitCode {
    #[cfg(target_os = "linux")]
    return run::run();
    #[cfg(not(target_os = "linux"))]
    std::process::ExitCode::FAILURE
}
