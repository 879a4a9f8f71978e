//! The program of all hooks: its name, `argv[0]`, selects the event.
//!
//! The client starts links to it, such as `omo-stop`; a launcher gives the name as the first
//! argument.

use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

use omo_core::session::HookEvent;
use omo_hooks::runtime;

fn main() -> ExitCode {
    omo_process::keeper::run_if_asked();
    omo_checks::baseline::run_if_asked();
    let mut names = std::env::args_os().take(2);
    // A newer hook file of the client may name unknown events.
    match names.find_map(|name| event_of(&name)) {
        Some(event) => runtime::run_hook(event),
        None => ExitCode::SUCCESS,
    }
}

fn event_of(name: &OsStr) -> Option<HookEvent> {
    let name = Path::new(name).file_stem()?;
    HookEvent::ALL
        .into_iter()
        .find(|event| name == event.program())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_has_one_hook_under_its_name_wherever_the_program_lies() {
        for event in HookEvent::ALL {
            for name in [
                event.program().to_owned(),
                format!("/a b/{}", event.program()),
                format!("{}.exe", event.program()),
            ] {
                assert_eq!(event_of(OsStr::new(&name)), Some(event), "{name}");
            }
        }
        for name in [
            "omo-hook",
            "omo",
            "stop",
            "",
            "/proc/self/exe",
            "omo-stop/bin",
        ] {
            assert!(event_of(OsStr::new(name)).is_none(), "{name}");
        }
    }
}
