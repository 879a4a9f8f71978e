//! What a run was made on: figures without that say little.

use std::fs;
use std::thread::available_parallelism;

use crate::peers::answer;

/// Where and when a run was made. What cannot be found out is "unknown".
pub(crate) struct Machine {
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
    pub(crate) fn this(target: String) -> Self {
        let or_unknown = |text: Option<String>| text.unwrap_or_else(|| "unknown".to_owned());
        Self {
            date: omo_testkit::timestamp(),
            target,
            rustc: or_unknown(answer("rustc", ["--version"])),
            kernel: or_unknown(answer("uname", ["-sr"]).as_deref().and_then(version)),
            cpu: or_unknown(cpu()),
            cores: available_parallelism().map_or(0, Into::into),
        }
    }
}

/// The system with its version alone: what a builder appended says nothing to others.
fn version(release: &str) -> Option<String> {
    Some(release.split('-').next()?.trim().to_owned())
}

fn cpu() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let value = text
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    Some(value?.1.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_named_by_its_version() {
        assert_eq!(
            version("Linux 6.1.0-49-amd64\n").as_deref(),
            Some("Linux 6.1.0")
        );
        assert_eq!(version("Darwin 24.5.0").as_deref(), Some("Darwin 24.5.0"));
    }
}
