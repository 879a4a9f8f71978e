//! Free memory of this process: what the machine has left, or its control group where that is less.

use std::fs;
use std::path::Path;

const MAX_DEPTH: usize = 32;

/// Free bytes; `None` where the system does not tell, as anywhere but on Linux.
pub fn free_memory() -> Option<u64> {
    free_memory_below(Path::new("/"))
}

fn free_memory_below(root: &Path) -> Option<u64> {
    let machine = available(&fs::read_to_string(root.join("proc/meminfo")).ok()?)?;
    Some(group_memory(root).map_or(machine, |group| group.min(machine)))
}

/// `MemAvailable` of `/proc/meminfo`, in bytes.
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

/// The least that a control group of this process, or one around it, has left.
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
    let of_unified = unified.and_then(|path| {
        least_left(
            &root.join("sys/fs/cgroup"),
            path,
            ["memory.max", "memory.current", "inactive_file"],
        )
    });
    let files = [
        "memory.limit_in_bytes",
        "memory.usage_in_bytes",
        "total_inactive_file",
    ];
    let of_memory =
        memory.and_then(|path| least_left(&root.join("sys/fs/cgroup/memory"), path, files));
    of_unified.into_iter().chain(of_memory).min()
}

fn least_left(top: &Path, path: &str, [limit, usage, cache]: [&str; 3]) -> Option<u64> {
    if path.split('/').any(|part| part == "..") {
        return None;
    }
    let own = top.join(path);
    let groups = own
        .ancestors()
        .take_while(|group| group.starts_with(top))
        .take(MAX_DEPTH);
    let number = |group: &Path, file: &str| {
        fs::read_to_string(group.join(file))
            .ok()?
            .trim()
            .parse::<u64>()
            .ok()
    };
    let left = |group: &Path| {
        let (limit, usage) = (number(group, limit)?, number(group, usage)?);
        let stat = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
        let cached = stat
            .lines()
            .find_map(|line| line.strip_prefix(cache)?.trim().parse::<u64>().ok());
        Some(limit.saturating_sub(usage.saturating_sub(cached.unwrap_or_default())))
    };
    groups.filter_map(left).min()
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
