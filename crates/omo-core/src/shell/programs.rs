//! Table of the shell programs that omo knows, and the roles of each.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A word before a command, such as `then`.
    Keyword,
    /// A word of a compound command, such as `for`.
    Compound,
    /// A word before a command of the same shell, such as `exec`.
    Prefix,
    /// A program that runs the command behind its options, such as `timeout`.
    Wrapper,
    /// A tool with subcommands that wrap a command, such as `uv run`.
    ToolWrapper,
    /// A program with a command among its other arguments, such as `find`.
    Runner,
    Shell,
    /// A program that runs a script by its path, or from standard input.
    Interpreter,
    TaskRunner,
    TestRunner,
    /// A command that cannot fail, or that only describes the machine.
    Idle,
    Printer,
    OutputJudge,
    /// A program that reads, compares or compiles files, without running them or tests.
    Reader,
    /// A builtin that sets variables for the commands behind it.
    VariableSetter,
    /// A word by which a text is known as a shell script.
    ScriptStart,
    /// A builtin that sets the folder or the environment of the next command.
    Context,
    PlanCommand,
    /// A [`Role::PlanCommand`] that is a word of sentences as well.
    PlanWord,
    PromptCommand,
    /// A [`Role::PromptCommand`] of sentences: only a sign of a shell makes it a command.
    PromptWord,
}

/// A name may stand in several rows.
const TABLE: [(&[Role], &str); 30] = [
    (
        &[Role::Keyword, Role::Compound, Role::Prefix],
        "if then elif else while until do",
    ),
    (&[Role::Keyword, Role::Compound], "fi done case esac"),
    (&[Role::Keyword, Role::Prefix], "! {"),
    (&[Role::Keyword], "}"),
    (&[Role::Compound], "for select function"),
    (&[Role::Prefix], "coproc"),
    (&[Role::Prefix, Role::Wrapper], "builtin command exec time"),
    (
        &[Role::Wrapper],
        "\
         timeout gtimeout env nice nohup setsid stdbuf ionice chrt taskset sudo doas xvfb-run strace ltrace \
         flock unbuffer chronic valgrind cross-env dotenv npx bunx pnpx xargs parallel rlwrap fakeroot \
         unshare chroot setarch script",
    ),
    (
        &[Role::ToolWrapper],
        "\
         npm pnpm yarn bun uv poetry pdm pipenv hatch rye bundle mise conda micromamba asdf rbenv pyenv \
         direnv pixi",
    ),
    (&[Role::Runner], "busybox caffeinate find watch"),
    (
        &[Role::Shell, Role::Interpreter],
        "sh bash dash zsh ksh fish",
    ),
    (&[Role::Shell], "busybox ash"),
    (
        &[Role::Interpreter, Role::TaskRunner],
        "python pypy node ruby perl",
    ),
    (&[Role::Interpreter], "bun deno php tsx"),
    (
        &[Role::TaskRunner],
        "cargo go just make nox rake task tox gmake",
    ),
    (
        &[Role::TestRunner],
        "ctest jest make nox pytest rspec tox vitest",
    ),
    (
        &[Role::Reader, Role::Idle],
        "\
         true : echo printf printenv export unset set cd pushd popd pwd sleep wait date",
    ),
    (
        &[Role::Idle],
        "\
         env whoami hostname uname id clear alias umask shopt seq open xdg-open",
    ),
    (
        &[Role::Reader, Role::Printer],
        "cat head tail wc file du df sort uniq cut tr nl tee",
    ),
    (
        &[Role::Printer],
        "find bat less more tac column fold rev paste tree ps",
    ),
    (
        &[Role::Reader, Role::OutputJudge],
        "diff cmp comm grep egrep fgrep jq sha256sum md5sum",
    ),
    (
        &[Role::Reader],
        "\
         false test [ [[ ]] exit which type hash rg ag ack ls stat yq sha1sum sha512sum cksum rm mkdir rmdir \
         touch git hg mypy pyright ruff flake pylint black isort bandit eslint prettier stylelint biome \
         oxlint tsc gcc g++ cc c++ clang clang++ rustc rustfmt javac gofmt goimports golangci-lint \
         staticcheck shellcheck shfmt yamllint xmllint hadolint markdownlint sed awk gawk mawk nawk xxd od \
         hexdump basename dirname realpath readlink strings chmod chown pyflakes pycodestyle pydocstyle \
         vulture yapf autopep basedpyright ty codespell typos cspell rubocop standardrb luacheck selene \
         stylua esbuild tsup swc rollup webpack parcel standard xo jshint mpicc mpic++ gfortran ld ar nm \
         objdump strip clang-tidy clang-format cppcheck cpplint ktlint swiftlint swiftformat checkstyle \
         phpstan psalm phpcs taplo dprint actionlint tflint sqlfluff protoc buf",
    ),
    (
        &[Role::VariableSetter],
        "export unset declare typeset readonly local",
    ),
    (
        &[Role::ScriptStart],
        "\
         if while case for true false : [ echo printf exit export set cd source eval",
    ),
    (&[Role::Context], "export set cd pushd popd source ."),
    (
        &[Role::PlanCommand, Role::PromptCommand],
        "\
         npx bunx npm pnpm yarn uv poetry bundle conda sh bash zsh python deno ruby perl php grep jq rg wc ls \
         yq git eslint tsc gcc clang rustc javac sed awk ansible-playbook brew cargo cmake composer curl dart \
         docker dotnet flutter gh gradle helm java jest kubectl mvn mysql ninja pip pip3 podman psql pwsh \
         pytest python3 rake redis-cli sqlite3 terraform tox uvx vitest wget",
    ),
    (
        &[Role::PlanCommand],
        "\
         pnpx bun pdm pipenv pixi find node tsx diff cmp test cat head tail mypy pyright ruff pylint isort \
         bandit prettier stylelint biome oxlint gofmt golangci-lint shellcheck yamllint xmllint hadolint \
         markdownlint basedpyright codespell cspell rubocop luacheck stylua esbuild tsup rollup webpack \
         clang-tidy clang-format ktlint swiftlint swiftformat phpstan taplo dprint actionlint sqlfluff protoc \
         alembic ansible-lint artisan astro aws bats bazel busted cabal cdk clippy createdb ctest cypress dbt \
         detekt docker-compose duckdb elixir fastlane ffmpeg ffprobe flake8 fvm gcloud gitleaks gleam go \
         godot gradlew gradlew.bat hardhat hugo hurl hyperfine jekyll julia jupyter just k6 knip kubeconform \
         kustomize latexmk lein lerna lhci lua luac lychee madge make markdownlint-cli2 melos meson mix \
         mkdocs mocha mongosh mvnw newman ng nim nix nox nuxt nx opa openspec openssl pandoc phpunit \
         pip-audit playwright pre-commit prisma promtool pulumi py pyrefly rails rebar3 Rscript rspec sam sbt \
         semgrep sqlc sqlx supabase svelte-check swift swiftc tofu trivy tuist turbo vite vue-tsc wrangler \
         xcodebuild xcodegen xcrun zig",
    ),
    (
        &[Role::PlanCommand, Role::PlanWord],
        "\
         hatch stat file black buf act anvil coverage expo forge next pest specify stack task vale",
    ),
    (
        &[Role::PromptCommand],
        "\
         builtin nohup sudo strace xargs fish egrep fgrep echo printf export unset cd which ag ack du df uniq \
         tr rm mkdir rmdir gawk readlink chmod chown ps alias zgrep cp mv ln whereis man pgrep pkill killall \
         pipx apt apt-get dnf pacman systemctl journalctl rustup ssh scp rsync gzip unzip tmux vim vi nvim \
         nano emacs dig nslookup omo opencode codex aider gemini adb lsof gdb ansible",
    ),
    (
        &[Role::PromptCommand, Role::PromptWord],
        "\
         command time env bun find watch node diff type cat head tail stat file sort cut touch tee less tree \
         open go just make mix swift kill tar source code ping top service",
    ),
];

/// ```
/// use omo_core::shell::programs::{Role, has_role};
///
/// assert!(has_role("timeout", Role::Wrapper) && !has_role("make", Role::Wrapper));
/// ```
pub fn has_role(name: &str, role: Role) -> bool {
    programs_of(role).any(|known| known == name)
}

pub fn programs_of(role: Role) -> impl Iterator<Item = &'static str> {
    let rows = TABLE.iter().filter(move |(roles, _)| roles.contains(&role));
    rows.flat_map(|(_, names)| names.split_ascii_whitespace())
}

pub(crate) fn is_reader(name: &str) -> bool {
    has_role(name, Role::Reader) || is_cross_compiler(name)
}

/// `true` for a name such as `x86_64-linux-gnu-gcc`.
fn is_cross_compiler(name: &str) -> bool {
    name.rsplit_once('-')
        .is_some_and(|(_, last)| matches!(last, "gcc" | "g++" | "cc" | "clang"))
}

/// `true` for a program that runs its arguments: `timeout 60 ./check`, `uv run pytest`.
pub fn is_wrapper(name: &str, arguments: &[impl AsRef<str>]) -> bool {
    let mut verbs = arguments
        .iter()
        .map(AsRef::as_ref)
        .filter(|word| !word.starts_with('-'));
    match name {
        // `command -v` describes a command.
        "command" => !arguments
            .first()
            .is_some_and(|word| word.as_ref().eq_ignore_ascii_case("-v")),
        _ if !has_role(name, Role::ToolWrapper) => has_role(name, Role::Wrapper),
        // `run` takes a script of `package.json`.
        "npm" | "pnpm" | "yarn" | "bun" => verbs
            .next()
            .is_some_and(|verb| matches!(verb, "exec" | "dlx" | "x")),
        // `run` takes a task of its own file.
        "mise" => verbs
            .next()
            .is_some_and(|verb| matches!(verb, "exec" | "x")),
        _ => verbs
            .next()
            .is_some_and(|verb| matches!(verb, "exec" | "run" | "x")),
    }
}

pub fn without_wrappers<W: AsRef<str>>(words: &[W]) -> &[W] {
    let Some((program, arguments)) = words.split_first() else {
        return words;
    };
    if !is_wrapper(program_name(program.as_ref()), arguments) {
        return words;
    }
    let mut commands = (0..arguments.len()).filter(|at| {
        arguments.get(*at).map(AsRef::as_ref).is_some_and(|word| {
            !word.starts_with(['-', '+'])
                && !word.contains('=')
                && !word.starts_with(char::is_numeric)
        })
    });
    // The verb of a tool stands before the command: `uv run pytest`.
    let verbs = usize::from(has_role(program_name(program.as_ref()), Role::ToolWrapper));
    let command = commands.nth(verbs).unwrap_or(arguments.len());
    without_wrappers(arguments.get(command..).unwrap_or_default())
}

/// The name without folder, version and the ending on Windows.
pub fn program_name(program: &str) -> &str {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let name = [".exe", ".cmd", ".bat"]
        .iter()
        .find_map(|ending| name.strip_suffix(ending))
        .unwrap_or(name);
    let bare = name.trim_end_matches(|char: char| char.is_ascii_digit() || char == '.');
    // `gcc-13`; `.` is no version without a name.
    let bare = if bare.len() < name.len() {
        bare.strip_suffix('-').unwrap_or(bare)
    } else {
        bare
    };
    if bare.is_empty() { name } else { bare }
}

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
