//! What is known of programs by their names.

use super::is_line_option;

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

/// Whether an interpreter is asked to look at the files that it is given, and not to run them.
pub fn is_syntax_check(name: &str, arguments: &[&str]) -> bool {
    let first = arguments.first().copied().unwrap_or_default();
    let has = |wanted: &str| arguments.iter().take_while(|word| word.starts_with('-')).any(|word| *word == wanted);
    match name {
        "node" | "tsx" | "zx" => has("--check") || (name == "node" && has("-c")),
        "php" => has("-l") || has("--syntax-check"),
        "ruby" | "perl" => {
            // `-Mstrict` has the letter as well.
            let is_check =
                |word: &&str| word.contains('c') && word.bytes().skip(1).all(|byte| b"cwWvtT".contains(&byte));
            arguments.iter().take_while(|word| word.starts_with('-')).any(is_check)
        }
        "deno" => matches!(first, "check" | "lint" | "fmt" | "doc" | "info" | "cache"),
        "bun" => matches!(first, "build"),
        "lua" | "luac" => name == "luac" && has("-p"),
        _ if is_shell(name) => {
            let is_flags = |word: &&&str| word.starts_with('-') && !word.starts_with("--") && !is_line_option(word);
            let mut flags = arguments.iter().take_while(|word| word.starts_with('-')).filter(is_flags);
            flags.any(|word| word.contains('n') && !word.contains('o')) || has("--no-execute")
        }
        _ => false,
    }
}

/// Whether a command may make programs: what it makes is another file each time.
pub fn is_builder(name: &str, arguments: &[&str]) -> bool {
    const BUILDERS: &str = "\
        make gmake cc gcc g++ c++ clang clang++ mpicc mpic++ gfortran rustc cmake ninja meson tsc ld scons bazel \
        bazelisk ghc swiftc javac nim nimble crystal ocamlc ocamlopt dune dmd ldc kotlinc native-image gradle gradlew \
        mvn mvnw just task mage";
    let has = |wanted: &[&str]| arguments.iter().any(|word| wanted.contains(word));
    match name {
        "go" | "cargo" | "zig" | "swift" | "dotnet" | "stack" | "cabal" | "deno" | "bun" | "v" | "odin" => {
            has(&["build", "b", "install", "test", "t", "compile", "publish", "build-exe", "build-lib", "run"])
        }
        "npm" | "pnpm" | "yarn" => arguments.iter().any(|word| word.contains("build") || word.contains("compile")),
        _ => BUILDERS.split_ascii_whitespace().any(|builder| builder == name) || is_cross_compiler(name),
    }
}

/// Whether a program runs the command that it is given as words: `timeout 60 ./check`, `uv run pytest`.
pub fn is_wrapper(name: &str, arguments: &[&str]) -> bool {
    const WRAPPERS: &str = "\
        timeout gtimeout env nice nohup setsid stdbuf exec time ionice chrt taskset sudo doas command builtin \
        xvfb-run strace ltrace flock unbuffer chronic valgrind cross-env dotenv npx bunx pnpx xargs parallel rlwrap \
        fakeroot unshare chroot setarch script";
    const RUNNERS: &str = "\
        npm pnpm yarn bun uv poetry pdm pipenv hatch rye bundle mise conda micromamba asdf rbenv pyenv direnv pixi";
    if RUNNERS.split_ascii_whitespace().any(|runner| runner == name) {
        let verb = arguments.iter().find(|word| !word.starts_with('-')).copied().unwrap_or_default();
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

    #[test]
    fn an_interpreter_that_only_looks_runs_nothing() {
        for (run, expected) in [
            ("bash -n x.sh", true),
            ("bash -en x.sh", true),
            ("bash -o noexec x.sh", false),
            ("bash x.sh -n", false),
            ("sh -c x", false),
            ("node --check x.js", true),
            ("node x.js --check", false),
            ("php -l x.php", true),
            ("ruby -wc x.rb", true),
            ("perl -c x.pl", true),
            ("perl -e exec", false),
            ("perl -Mstrict x.pl", false),
            ("deno check x.ts", true),
            ("deno run x.ts", false),
            ("bun build x.ts", true),
            ("python -c x", false),
        ] {
            let words: Vec<&str> = run.split(' ').collect();
            assert_eq!(is_syntax_check(words[0], &words[1..]), expected, "{run}");
        }
    }
}
