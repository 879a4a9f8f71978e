//! The files that say what a runner does, beside the command itself.

use omo_core::check::command_line::is_shell;

/// What a tool is told by files of the project.
///
/// Left out are `CMakeLists.txt`, `meson.build`, `build.zig`, `Package.swift` and `Dockerfile`: each new source is
/// written into them, so that they are the work as much as the sources are.
pub(super) fn steering_files(tool: &str) -> &'static [&'static str] {
    match tool {
        "make" | "gmake" => &["GNUmakefile", "makefile", "Makefile"],
        "pytest" | "py.test" => &[
            "pytest.toml",
            ".pytest.toml",
            "pytest.ini",
            ".pytest.ini",
            "pyproject.toml",
            "tox.ini",
            "setup.cfg",
            "conftest.py",
            "tests/conftest.py",
        ],
        "coverage" => &[".coveragerc", "pyproject.toml", "tox.ini", "setup.cfg"],
        "tox" => &["tox.ini", "pyproject.toml", "setup.cfg", "tox.toml"],
        "nox" => &["noxfile.py"],
        "invoke" | "inv" => &["tasks.py", "tasks/__init__.py", "invoke.yaml", "invoke.yml"],
        "fab" => &["fabfile.py", "fabfile/__init__.py", "fabric.yml"],
        "doit" => &["dodo.py", "pyproject.toml"],
        "mise" => &["mise.toml", ".mise.toml", "mise.local.toml", ".mise/config.toml", ".config/mise.toml"],
        "pixi" => &["pixi.toml", "pyproject.toml"],
        "devbox" => &["devbox.json"],
        "lein" => &["project.clj"],
        "stack" => &["stack.yaml"],
        "docker" | "podman" | "docker-compose" | "podman-compose" => {
            &["compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"]
        }
        "hatch" => &["hatch.toml", "pyproject.toml"],
        "poe" | "pdm" | "rye" => &["pyproject.toml"],
        "pre-commit" => &[".pre-commit-config.yaml"],
        "just" => &["justfile", "Justfile", "JUSTFILE", ".justfile"],
        "task" => &[
            "Taskfile.yml",
            "Taskfile.yaml",
            "taskfile.yml",
            "taskfile.yaml",
            "Taskfile.dist.yml",
            "Taskfile.dist.yaml",
            "taskfile.dist.yml",
            "taskfile.dist.yaml",
            "pyproject.toml",
        ],
        "rake" => &["Rakefile", "rakefile", "Rakefile.rb", "rakefile.rb"],
        "rspec" => &[".rspec", ".rspec-local", "spec/spec_helper.rb", "spec/rails_helper.rb"],
        "mvn" | "mvnw" | "mvnd" => &["pom.xml", ".mvn/maven.config", ".mvn/jvm.config", ".mvn/extensions.xml"],
        "gradle" | "gradlew" => &[
            "build.gradle",
            "build.gradle.kts",
            "settings.gradle",
            "settings.gradle.kts",
            "gradle.properties",
            "gradle/wrapper/gradle-wrapper.properties",
        ],
        "ant" => &["build.xml"],
        "sbt" => &["build.sbt", "project/plugins.sbt", "project/build.properties", ".sbtopts", ".jvmopts"],
        "mix" => &["mix.exs"],
        "composer" => &["composer.json"],
        "phpunit" => &["phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"],
        "dotnet" => &[".runsettings", "Directory.Build.props", "Directory.Build.targets"],
        "ctest" => &["CTestConfig.cmake", "CTestCustom.cmake"],
        "bazel" | "bazelisk" => &[".bazelrc", "BUILD.bazel", "WORKSPACE", "WORKSPACE.bazel", "MODULE.bazel"],
        "ninja" => &["build.ninja"],
        "scons" => &["SConstruct"],
        "mage" => &["magefile.go"],
        "earthly" => &["Earthfile"],
        "cargo-make" | "makers" => &["Makefile.toml"],
        "cargo" => &[".cargo/config.toml", ".cargo/config", "rust-toolchain", "rust-toolchain.toml"],
        "nextest" => &[".config/nextest.toml"],
        tool => files_of_javascript(tool),
    }
}

fn files_of_javascript(tool: &str) -> &'static [&'static str] {
    match tool {
        "npm" | "npx" | "pnpm" | "yarn" | "bun" | "bunx" | "lerna" | "nx" | "turbo" => &[
            "package.json",
            ".npmrc",
            ".yarnrc",
            ".yarnrc.yml",
            "pnpm-workspace.yaml",
            "bunfig.toml",
            "lerna.json",
            "nx.json",
            "turbo.json",
        ],
        "jest" => &[
            "jest.config.js",
            "jest.config.ts",
            "jest.config.mjs",
            "jest.config.cjs",
            "jest.config.cts",
            "jest.config.mts",
            "jest.config.json",
        ],
        "vitest" => &[
            "vitest.config.js",
            "vitest.config.ts",
            "vitest.config.mjs",
            "vitest.config.mts",
            "vitest.config.cjs",
            "vitest.config.cts",
            "vitest.workspace.js",
            "vitest.workspace.ts",
            "vite.config.js",
            "vite.config.ts",
            "vite.config.mjs",
            "vite.config.mts",
        ],
        "mocha" => &[".mocharc.js", ".mocharc.cjs", ".mocharc.json", ".mocharc.jsonc", ".mocharc.yml", ".mocharc.yaml"],
        "ava" => &["ava.config.js", "ava.config.cjs", "ava.config.mjs"],
        "playwright" => &["playwright.config.js", "playwright.config.ts", "playwright.config.mjs"],
        "cypress" => &["cypress.config.js", "cypress.config.ts"],
        "karma" => &["karma.conf.js", "karma.conf.ts"],
        "grunt" => &["Gruntfile.js", "Gruntfile.cjs", "Gruntfile.ts"],
        "gulp" => &["gulpfile.js", "gulpfile.mjs", "gulpfile.cjs", "gulpfile.ts"],
        "ng" => &["angular.json"],
        "nyc" => &[".nycrc", ".nycrc.json", "nyc.config.js"],
        "wtr" | "web-test-runner" => &["web-test-runner.config.mjs", "web-test-runner.config.js"],
        "deno" => &["deno.json", "deno.jsonc"],
        _ => &[],
    }
}

/// Whether this is a tool that files of the project steer, or a runner of tests. It is not held to the files that it is
/// given by name, but by an option: they are what it tests or builds.
pub(super) fn is_tool(name: &str) -> bool {
    const OTHERS: &str = "\
        go unittest tap tape jasmine qunit uvu nightwatch testcafe wdio bats busted prove nose nosetests trial behave \
        robot cucumber minitest pest codecept swift zig ctest meson cmake npm-run-all run-s run-p concurrently";
    !steering_files(name).is_empty() || OTHERS.split_ascii_whitespace().any(|other| other == name)
}

/// Whether a program runs the script that it is given.
pub(super) fn is_interpreter(name: &str) -> bool {
    const OTHERS: &str = "\
        python pypy node deno bun tsx ts-node vite-node zx esno jiti babel-node perl ruby php lua luajit java julia \
        elixir groovy kotlin tclsh expect nu dotnet-script Rscript pwsh powershell";
    is_shell(name) || OTHERS.split_ascii_whitespace().any(|other| other == name)
}

/// Whether a command of the shell runs the script that it is given, in the same shell.
pub(super) fn is_sourcing_command(program: &str) -> bool {
    matches!(program, "source" | ".")
}

/// The values of the options of a tool that name what steers it.
pub(super) fn steering_options<'a>(tool: &str, arguments: &[&'a str]) -> Vec<&'a str> {
    const LONG: &str = "\
        config config-file configuration configuration-file rcfile settings file makefile justfile taskfile rakefile \
        require import loader experimental-loader preload env-file setup-file init-script build-file project-file \
        bootstrap plugin reporter recipe from-file";
    let is_long = |name: &str| LONG.split_ascii_whitespace().any(|known| known == name);
    let next = |at: usize| arguments.get(at + 1).copied();
    let letters = short_options(tool);
    let values = arguments.iter().enumerate().filter_map(|(at, word)| {
        if let Some(long) = word.strip_prefix("--") {
            return match long.split_once('=') {
                Some((name, value)) => is_long(name).then_some(value),
                None => next(at).filter(|_| is_long(long)),
            };
        }
        // The value stands behind the letter, which may stand behind others: `-nf check.sed`.
        let short = word.strip_prefix('-')?;
        let (flags, glued) = short.split_at(short.find(letters)?);
        let glued = glued.get(1..).unwrap_or_default();
        let is_plain = flags.bytes().all(|flag| flag.is_ascii_alphabetic());
        let value = if glued.is_empty() { next(at) } else { Some(glued.trim_start_matches('=')) };
        value.filter(|_| is_plain)
    });
    values.collect()
}

/// The letters of the options that name what steers a tool. What a letter means is another thing for each tool: a
/// compiler's `-c` names no configuration.
fn short_options(tool: &str) -> &'static [char] {
    match tool {
        "make" | "gmake" | "jq" | "awk" | "gawk" | "mawk" | "nawk" | "sed" | "just" | "rake" | "nox" | "ant"
        | "ninja" | "scons" | "earthly" | "doit" | "mvn" | "mvnw" | "docker" | "podman" | "docker-compose"
        | "podman-compose" => &['f'],
        "pytest" | "py.test" => &['c', 'p'],
        "task" => &['t'],
        "jest" | "vitest" | "playwright" | "tox" | "invoke" | "inv" | "fab" | "pre-commit" | "phpunit" | "rollup"
        | "webpack" | "golangci-lint" => &['c'],
        "mocha" | "node" | "ruby" | "tsx" | "ts-node" | "rspec" => &['r'],
        "gradle" | "gradlew" => &['b', 'c', 'I'],
        _ => &[],
    }
}

/// The variables that name files that a program runs before anything else.
pub(super) fn names_scripts(variable: &str) -> bool {
    matches!(variable, "BASH_ENV" | "ENV" | "MAKEFILES" | "PYTHONSTARTUP")
}

/// The tool that reads its options from a variable.
pub(super) fn tool_of_options(variable: &str) -> Option<&'static str> {
    Some(match variable {
        "PYTEST_ADDOPTS" => "pytest",
        "NODE_OPTIONS" => "node",
        "MAKEFLAGS" | "GNUMAKEFLAGS" => "make",
        "RUBYOPT" => "ruby",
        _ => return None,
    })
}

/// Whether a tool looks for a file in the folders above the one that it runs in as well.
pub(super) fn is_looked_for_above(tool: &str, file: &str) -> bool {
    matches!(
        tool,
        "cargo"
            | "nextest"
            | "pytest"
            | "py.test"
            | "just"
            | "task"
            | "rake"
            | "rspec"
            | "mvn"
            | "gradle"
            | "mise"
            | "ng"
    ) || matches!(file, ".npmrc" | ".yarnrc" | ".yarnrc.yml" | "lerna.json" | "nx.json" | "turbo.json")
}

/// Whether a tool loads modules of Python from the folder that it runs in.
pub(super) fn is_python(tool: &str) -> bool {
    matches!(tool, "python" | "pypy" | "pytest" | "py.test" | "coverage")
}
