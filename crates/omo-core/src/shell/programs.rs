//! What is known of programs by their names.

/// The name of a program without its folder, its version and the ending that it has on Windows.
pub fn program_name(program: &str) -> &str {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let name = [".exe", ".cmd", ".bat"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    let bare = name.trim_end_matches(|char: char| char.is_ascii_digit() || char == '.');
    // `gcc-13`, and not what is no name without it: `.`.
    let bare = if bare.len() < name.len() { bare.strip_suffix('-').unwrap_or(bare) } else { bare };
    if bare.is_empty() { name } else { bare }
}

/// Whether a program runs the shell commands that it is given.
pub fn is_shell(name: &str) -> bool {
    matches!(name, "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash" | "fish" | "busybox")
}

/// Whether a program only reads, compares or compiles the files that it is given: it runs none of them, and no tests.
pub fn is_reader(name: &str) -> bool {
    READERS.split_ascii_whitespace().any(|reader| reader == name) || is_cross_compiler(name)
}

/// Whether this is a compiler for another system: `x86_64-linux-gnu-gcc`.
fn is_cross_compiler(name: &str) -> bool {
    name.rsplit_once('-').is_some_and(|(_, last)| matches!(last, "gcc" | "g++" | "cc" | "clang"))
}

/// Whether a program runs the command that it is given as words: `timeout 60 ./check`, `uv run pytest`.
pub fn is_wrapper(name: &str, arguments: &[impl AsRef<str>]) -> bool {
    const WRAPPERS: &str = "\
        timeout gtimeout env nice nohup setsid stdbuf exec time ionice chrt taskset sudo doas command builtin \
        xvfb-run strace ltrace flock unbuffer chronic valgrind cross-env dotenv npx bunx pnpx xargs parallel rlwrap \
        fakeroot unshare chroot setarch script";
    const RUNNERS: &str = "\
        npm pnpm yarn bun uv poetry pdm pipenv hatch rye bundle mise conda micromamba asdf rbenv pyenv direnv pixi";
    if RUNNERS.split_ascii_whitespace().any(|runner| runner == name) {
        let mut verbs = arguments.iter().map(AsRef::as_ref).filter(|word| !word.starts_with('-'));
        let verb = verbs.next().unwrap_or_default();
        return match name {
            // What they run is a script of `package.json`.
            "npm" | "pnpm" | "yarn" | "bun" => matches!(verb, "exec" | "dlx" | "x"),
            // What they run is a task of their own file.
            "mise" => matches!(verb, "exec" | "x"),
            _ => matches!(verb, "exec" | "run" | "x"),
        };
    }
    WRAPPERS.split_ascii_whitespace().any(|wrapper| wrapper == name)
}

const READERS: &str = "\
    true false : test [ [[ ]] echo printf printenv exit export unset set cd pushd popd pwd sleep wait date which type \
    hash cat head tail grep egrep fgrep rg ag ack diff cmp comm wc ls stat file du df sort uniq cut tr jq yq md5sum \
    sha1sum sha256sum sha512sum cksum rm mkdir rmdir touch git hg mypy pyright ruff flake pylint black isort bandit eslint prettier \
    stylelint biome oxlint tsc gcc g++ cc c++ clang clang++ rustc rustfmt javac gofmt goimports golangci-lint \
    staticcheck shellcheck shfmt yamllint xmllint hadolint markdownlint \
    sed awk gawk mawk nawk xxd od hexdump nl tee basename dirname realpath readlink strings chmod chown \
    pyflakes pycodestyle pydocstyle vulture yapf autopep basedpyright ty codespell typos cspell rubocop standardrb \
    luacheck selene stylua esbuild tsup swc rollup webpack parcel standard xo jshint mpicc mpic++ gfortran ld ar nm \
    objdump strip clang-tidy clang-format cppcheck cpplint ktlint swiftlint swiftformat checkstyle phpstan psalm phpcs \
    taplo dprint actionlint tflint sqlfluff protoc buf";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_its_name_alone() {
        for (program, expected) in [
            ("python3.11", "python"),
            ("/usr/bin/gcc-13", "gcc"),
            ("clang++-17", "clang++"),
            (".", "."),
            ("x.cmd", "x"),
        ] {
            assert_eq!(program_name(program), expected, "{program}");
        }
        assert!(is_reader("x86_64-linux-gnu-gcc") && !is_reader("run-tests"));
    }
}
