//! Linux: the ancestors of this process, and the variables, folder, name and user of a process.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use super::stat::stat_of;

const MAX_ANCESTORS: usize = 256;
const MAX_USERS_BYTES: u64 = 1024 * 1024;
const MAX_ENVIRONMENT_BYTES: u64 = 8 * 1024 * 1024;

/// This process and those above it, the nearest first; then the leader of its session and those above that: a
/// process whose parent has ended is still in its session.
pub fn ancestors() -> Vec<u32> {
    let own = std::process::id();
    let mut found = Vec::new();
    add_chain(own, &mut found);
    if let Some(leader) = stat(own).and_then(|stat| stat.leader.parse().ok()) {
        add_chain(leader, &mut found);
    }
    found
}

fn add_chain(mut pid: u32, found: &mut Vec<u32>) {
    while pid > 1 && !found.contains(&pid) && found.len() < MAX_ANCESTORS {
        let Some(parent) = stat(pid).and_then(|stat| stat.parent.parse().ok()) else {
            return;
        };
        found.push(pid);
        pid = parent;
    }
}

fn stat(pid: u32) -> Option<super::stat::ProcessStat> {
    stat_of(i32::try_from(pid).ok()?)
}

/// Variable that a process was started with; `None` for an empty or unreadable one.
pub fn process_variable(pid: u32, name: &str) -> Option<String> {
    let mut bytes = Vec::new();
    File::open(format!("/proc/{pid}/environ"))
        .ok()?
        .take(MAX_ENVIRONMENT_BYTES)
        .read_to_end(&mut bytes)
        .ok()?;
    let value = bytes.split(|byte| *byte == 0).find_map(|variable| {
        variable
            .strip_prefix(name.as_bytes())?
            .strip_prefix(b"=")
            .map(|value| String::from_utf8_lossy(value).into_owned())
    })?;
    (!value.is_empty()).then_some(value)
}

/// First 15 bytes of the name of a process's program: `/proc/PID/comm`.
pub fn process_name(pid: u32) -> Option<String> {
    let mut name = String::new();
    File::open(format!("/proc/{pid}/comm"))
        .ok()?
        .read_to_string(&mut name)
        .ok()?;
    Some(name.trim_end().to_owned())
}

/// Home of a process's user by `/etc/passwd`: an environment may lie.
pub fn owner_home(pid: u32) -> Option<PathBuf> {
    let user = std::fs::metadata(format!("/proc/{pid}"))
        .ok()?
        .uid()
        .to_string();
    let mut users = String::new();
    File::open("/etc/passwd")
        .ok()?
        .take(MAX_USERS_BYTES)
        .read_to_string(&mut users)
        .ok()?;
    // `name:password:number:group:comment:home:shell`.
    let mut homes = users.lines().filter_map(|line| {
        let mut fields = line.split(':').skip(2);
        (fields.next() == Some(user.as_str())).then(|| fields.nth(2).map(PathBuf::from))?
    });
    homes.next().filter(|home| home.is_absolute())
}

pub fn working_folder(pid: u32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{pid}/cwd")).ok()
}
