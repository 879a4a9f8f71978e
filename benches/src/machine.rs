//! What a run was made on: figures without that say little.

use std::fs;
use std::thread::available_parallelism;

use crate::peers::answer;

/// Where and when a run was made. What cannot be found out is "unknown".
pub struct Machine {
    /// When, in UTC.
    pub date: String,
    /// What the hooks and the empty process were built for.
    pub target: String,
    /// The compiler.
    pub rustc: String,
    /// The system and its version.
    pub kernel: String,
    /// The processor.
    pub cpu: String,
    /// How many of its cores this process may use.
    pub cores: usize,
}

impl Machine {
    /// This one, now.
    pub fn this(target: String) -> Self {
        let or_unknown = |text: Option<String>| text.unwrap_or_else(|| "unknown".to_owned());
        Self {
            date: omo_testkit::timestamp(),
            target,
            rustc: or_unknown(answer("rustc", ["--version"])),
            kernel: or_unknown(answer("uname", ["-sr"])),
            cpu: or_unknown(cpu()),
            cores: available_parallelism().map_or(0, Into::into),
        }
    }
}

fn cpu() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    Some(value?.1.trim().to_owned())
}
