//! Free memory for new processes: what the machine has left, or this process's control group if
//! less.

use std::fs;
use std::path::Path;

const MAX_DEPTH: usize = 32;

/// Free bytes; `None` on systems other than Linux.
pub fn free_memory() -> Option<u64> {
    free_memory_below(Path::new("/"))
}

fn free_memory_below(root: &Path) -> Option<u64> {
    let machine = available(&fs::read_to_string(root.join("proc/meminfo")).ok()?)?;
    Some(group_memory(root).map_or(machine, |group| group.min(machine)))
}

fn available(meminfo: &str) -> Option<u64> {
    let value = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    value
        .trim()
        .strip_suffix("kB")?
        .trim()
        .parse::<u64>()
        .ok()?
        .checked_mul(1024)
}

/// Bytes left in this process's control group (v2, or `memory` of v1) or the fullest one around it.
fn group_memory(root: &Path) -> Option<u64> {
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    let unified = groups.lines().find_map(|line| line.strip_prefix("0::/"));
    let memory = groups.lines().find_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(":/")?;
        controllers
            .split(',')
            .any(|name| name == "memory")
            .then_some(path)
    });
    let version_2 = ["memory.max", "memory.current", "inactive_file"];
    let version_1 = [
        "memory.limit_in_bytes",
        "memory.usage_in_bytes",
        "total_inactive_file",
    ];
    let folder = root.join("sys/fs/cgroup");
    let left_of_unified = unified.and_then(|path| least_left(&folder, path, version_2));
    let left_of_memory =
        memory.and_then(|path| least_left(&folder.join("memory"), path, version_1));
    left_of_unified.into_iter().chain(left_of_memory).min()
}

fn least_left(top: &Path, path: &str, files: [&str; 3]) -> Option<u64> {
    if path.split('/').any(|part| part == "..") {
        return None;
    }
    top.join(path)
        .ancestors()
        .take_while(|group| group.starts_with(top))
        .take(MAX_DEPTH)
        .filter_map(|group| bytes_left(group, files))
        .min()
}

/// The page cache that can be dropped does not count as used.
fn bytes_left(group: &Path, [limit, usage, cache]: [&str; 3]) -> Option<u64> {
    let (limit, usage) = (
        read_number(&group.join(limit))?,
        read_number(&group.join(usage))?,
    );
    let stat = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
    let cached = stat
        .lines()
        .find_map(|line| line.strip_prefix(cache)?.trim().parse::<u64>().ok());
    Some(limit.saturating_sub(usage.saturating_sub(cached.unwrap_or_default())))
}

fn read_number(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMINFO: &str =
        "MemTotal:       8000 kB\nMemFree:        100 kB\nMemAvailable:   4000 kB\n";

    fn machine(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn the_least_of_the_machine_and_its_groups_is_free() {
        let free = |files: &[(&str, &str)]| free_memory_below(machine(files).path());
        let meminfo = ("proc/meminfo", MEMINFO);
        assert_eq!(free(&[]), None);
        assert_eq!(free(&[meminfo]), Some(4_096_000));
        let group = ("proc/self/cgroup", "0::/a/b\n");
        let of_b = [
            ("sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("sys/fs/cgroup/a/b/memory.current", "10\n"),
        ];
        assert_eq!(free(&[meminfo, group, of_b[0], of_b[1]]), Some(4_096_000));
        let of_a = [
            ("sys/fs/cgroup/a/memory.max", "1000\n"),
            ("sys/fs/cgroup/a/memory.current", "900\n"),
            (
                "sys/fs/cgroup/a/memory.stat",
                "anon 7\ninactive_file 300\nslab 1\n",
            ),
        ];
        assert_eq!(
            free(&[meminfo, group, of_b[0], of_a[0], of_a[1], of_a[2]]),
            Some(400)
        );
        let older = ("proc/self/cgroup", "3:cpu,memory:/c\n1:name=systemd:/\n");
        let of_c = [
            ("sys/fs/cgroup/memory/c/memory.limit_in_bytes", "500\n"),
            ("sys/fs/cgroup/memory/c/memory.usage_in_bytes", "700\n"),
        ];
        assert_eq!(free(&[meminfo, older, of_c[0], of_c[1]]), Some(0));
    }

    #[test]
    fn what_says_nothing_bounds_nothing() {
        for text in [
            "",
            "MemAvailable: x kB",
            "MemAvailable: 99999999999999999999 kB",
            "MemAvailable: 5",
        ] {
            assert_eq!(
                free_memory_below(machine(&[("proc/meminfo", text)]).path()),
                None,
                "{text}"
            );
        }
        let odd = machine(&[
            ("proc/meminfo", MEMINFO),
            ("proc/self/cgroup", "0::/../..\n::\nx"),
        ]);
        assert_eq!(free_memory_below(odd.path()), Some(4_096_000));
    }
}
