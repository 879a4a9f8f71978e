//! Target systems of archives, and the linker for each on this machine.

/// Targets of a release. The machine's own is added if missing.
pub(super) const TARGETS: [&str; 5] = [
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-musl",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-gnu",
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Linker {
    Default,
    Program(&'static str),
    /// zig, which knows the system libraries of macOS, started with these words.
    Zig(&'static [&'static str]),
}

/// Linker of a target on this host, or the reason why there is none. `has` tests a command.
pub(super) fn linker(
    host: &str,
    target: &str,
    has: impl Fn(&[&str]) -> bool,
) -> Result<Linker, &'static str> {
    let processor = |triple: &str| triple.split('-').next().map(str::to_owned);
    let is_own =
        host == target || (host.contains("-linux-") && processor(host) == processor(target));
    if target.ends_with("-linux-musl") {
        // rustc brings all that a static program needs, the linker included.
        return Ok(if is_own {
            Linker::Default
        } else {
            Linker::Program("rust-lld")
        });
    }
    if host == target || (host.ends_with("-apple-darwin") && target.ends_with("-apple-darwin")) {
        return Ok(Linker::Default);
    }
    if target == "x86_64-pc-windows-gnu" {
        let gcc = "x86_64-w64-mingw32-gcc";
        return if has(&[gcc, "--version"]) {
            Ok(Linker::Default)
        } else {
            Err("x86_64-w64-mingw32-gcc is not installed")
        };
    }
    if target.ends_with("-apple-darwin") && !host.contains("windows") {
        let ways: [&[&str]; 2] = [&["zig"], &["python3", "-m", "ziglang"]];
        let way = ways
            .into_iter()
            .find(|way| has(&[*way, &["version"]].concat()));
        return way
            .map(Linker::Zig)
            .ok_or("needs a Mac, or zig (`pip install ziglang`)");
    }
    Err("cannot be linked on this machine")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINUX: &str = "x86_64-unknown-linux-gnu";

    #[test]
    fn each_target_is_linked_by_what_is_there() {
        let zig: &[&str] = &["zig"];
        let python: &[&str] = &["python3", "-m", "ziglang"];
        // Host, target, present commands, expected linker.
        for (host, target, there, expected) in [
            (
                LINUX,
                "x86_64-unknown-linux-musl",
                &[][..],
                Ok(Linker::Default),
            ),
            (
                LINUX,
                "aarch64-unknown-linux-musl",
                &[],
                Ok(Linker::Program("rust-lld")),
            ),
            (
                "aarch64-apple-darwin",
                "aarch64-unknown-linux-musl",
                &[],
                Ok(Linker::Program("rust-lld")),
            ),
            (
                "aarch64-apple-darwin",
                "x86_64-apple-darwin",
                &[],
                Ok(Linker::Default),
            ),
            (
                "x86_64-pc-windows-msvc",
                "x86_64-pc-windows-msvc",
                &[],
                Ok(Linker::Default),
            ),
            (
                "x86_64-pc-windows-msvc",
                "x86_64-apple-darwin",
                &["zig"],
                Err("cannot be linked on this machine"),
            ),
            (
                LINUX,
                "x86_64-pc-windows-gnu",
                &["x86_64-w64-mingw32-gcc"],
                Ok(Linker::Default),
            ),
            (
                LINUX,
                "x86_64-pc-windows-gnu",
                &[],
                Err("x86_64-w64-mingw32-gcc is not installed"),
            ),
            (
                LINUX,
                "aarch64-apple-darwin",
                &["zig"],
                Ok(Linker::Zig(zig)),
            ),
            (
                LINUX,
                "aarch64-apple-darwin",
                &["python3"],
                Ok(Linker::Zig(python)),
            ),
            (
                LINUX,
                "aarch64-apple-darwin",
                &[],
                Err("needs a Mac, or zig (`pip install ziglang`)"),
            ),
        ] {
            let has = |command: &[&str]| {
                command
                    .first()
                    .is_some_and(|program| there.contains(program))
            };
            assert_eq!(
                linker(host, target, has),
                expected,
                "{target} on {host} with {there:?}"
            );
        }
    }
}
