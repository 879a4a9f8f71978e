//! Files that a command runs, however it names them.

use super::Scene;

/// A command, the file that it runs, and the files that there are beside it.
type Row<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)]);

fn assert_pinned(rows: &[Row]) {
    for (run, file, others) in rows {
        let scene = Scene::new(others);
        scene.write(file, "x");
        scene.write(".git/HEAD", "x");
        let pins = scene.pins(run);
        assert!(pins.contains_key(*file), "{run}: {:?}", pins.keys());
    }
}

#[test]
fn the_folder_is_the_one_that_a_shell_would_be_in() {
    let web: &[(&str, &str)] = &[("web/Makefile", "x"), ("web/x", "x")];
    assert_pinned(&[
        ("(cd web && make check) && (cd api && make check)", "api/Makefile", web),
        ("(cd web && make check) && make check", "Makefile", web),
        ("cd web && make check && cd - && make check", "Makefile", web),
        ("pushd web >/dev/null && make check && popd >/dev/null && make check", "Makefile", web),
        ("cd \"$(git rev-parse --show-toplevel)\" && make check", "Makefile", &[]),
        ("cd $(git rev-parse --show-toplevel) && make check", "Makefile", &[]),
        ("sh \"$(git rev-parse --show-toplevel)/ci/check.sh\"", "ci/check.sh", &[]),
        ("make -C \"$(git rev-parse --show-toplevel)\" check", "Makefile", &[]),
        ("cd ~/app && make check", "Makefile", &[]),
        ("sh ~/app/ci.sh", "ci.sh", &[]),
        ("make -C \"$HOME/app\" check", "Makefile", &[]),
        ("sh ${HOME}/app/ci.sh", "ci.sh", &[]),
        ("cd -- web && make", "web/Makefile", &[]),
        ("make -sC web check", "web/Makefile", &[]),
        ("make -kC web check", "web/Makefile", &[]),
        ("D=ci; sh $D/check.sh", "ci/check.sh", &[]),
        ("D=ci; sh \"${D}/check.sh\"", "ci/check.sh", &[]),
        ("export D=ci && sh $D/check.sh", "ci/check.sh", &[]),
        ("cd \"$UNKNOWN\" && make check", "Makefile", &[]),
        ("cd web && sh $OLDPWD/ci.sh", "ci.sh", web),
        ("sh -c \"cd web && make check\" && make check", "Makefile", web),
        ("cd web; cd ..; make", "Makefile", web),
        ("for d in web api; do (cd $d && make check) || exit 1; done", "api/Makefile", web),
    ]);
}

#[test]
fn a_program_and_a_script_are_pinned_however_they_are_run() {
    let package: &[(&str, &str)] = &[("package.json", r#"{"main":"main.js"}"#)];
    assert_pinned(&[
        ("timeout 60 ./check", "check", &[]),
        ("env X=1 ./run", "run", &[]),
        ("exec ./check", "check", &[]),
        ("nice -n 5 ./check", "check", &[]),
        ("setsid -w ci/check", "ci/check", &[]),
        ("timeout 60 env A=1 nice ./check", "check", &[]),
        ("find ci.d -name \"*.sh\" -exec sh {} +", "ci.d/a.sh", &[]),
        ("find ci.d -name '*.sh' -exec {} \\;", "ci.d/b/a.sh", &[]),
        ("find ci.d -name \"*.sh\" | xargs -n1 sh", "ci.d/a.sh", &[]),
        ("for f in ci.d/*; do sh $f || exit 1; done", "ci.d/a", &[]),
        ("for f in ci.d/*; do \"$f\" || exit 1; done", "ci.d/a", &[]),
        ("for f in $(find ci.d -type f); do sh $f; done", "ci.d/a", &[]),
        ("ls ci.d/*.sh | while read f; do sh $f; done", "ci.d/a.sh", &[]),
        ("run-parts --exit-on-error ci.d", "ci.d/a", &[]),
        ("bash ci/chec*.sh", "ci/check.sh", &[]),
        ("eval `cat ci/check`", "ci/check", &[]),
        ("eval \"$(cat ci/check)\"", "ci/check", &[]),
        ("sh -c \"$(cat ci/check)\"", "ci/check", &[]),
        ("bash <(cat ci/check)", "ci/check", &[]),
        ("while read c; do sh -c \"$c\" || exit 1; done < ci/check", "ci/check", &[]),
        ("xargs -I{} sh -c {} < ci/check", "ci/check", &[]),
        ("sh $(ls ci/check)", "ci/check", &[]),
        (". ci/check", "ci/check", &[]),
        ("node .", "main.js", package),
        ("node scripts", "scripts/index.mjs", &[]),
        ("java ci/Check.java", "ci/Check.java", &[]),
        ("julia ci/check.jl", "ci/check.jl", &[]),
        ("npx --no-install vite-node scripts/check.ts", "scripts/check.ts", &[]),
        ("pnpm exec zx scripts/check.mjs", "scripts/check.mjs", &[]),
        ("uv run python scripts/check", "scripts/check", &[]),
        ("poetry run ./check", "check", &[]),
        ("bundle exec ruby ci/check", "ci/check", &[]),
        ("jq -en -f ci/check.jq --slurpfile a out.json", "ci/check.jq", &[]),
        ("awk -f ci/check.awk app.py", "ci/check.awk", &[]),
        ("sed -n -f ci/check.sed app.py", "ci/check.sed", &[]),
        ("BASH_ENV=ci/env bash -c true", "ci/env", &[]),
        ("ENV=ci/env make check", "ci/env", &[]),
        ("MAKEFILES=ci/pre make check", "ci/pre", &[]),
        ("make -f - check < ci/m", "ci/m", &[]),
        ("cat ci/m | make -f - check", "ci/m", &[]),
        ("sh ./c\\heck.sh", "check.sh", &[]),
        ("sh $'check.sh'", "check.sh", &[]),
        ("bash -c -- 'sh check.sh'", "check.sh", &[]),
        ("PATH=$PWD/ci:$PATH tool", "ci/tool", &[]),
        ("NODE_OPTIONS='--require ./setup.cjs' node --test", "setup.cjs", &[]),
        ("go run ./ci/...", "ci/main.go", &[]),
    ]);
}

#[test]
fn the_files_of_a_tool_are_known() {
    assert_pinned(
        &[
            ("mise run test", "mise.toml"),
            ("mise run test", ".mise.toml"),
            ("inv test", "tasks/__init__.py"),
            ("fab test", "fabfile.py"),
            ("doit", "dodo.py"),
            ("pixi run test", "pixi.toml"),
            ("devbox run test", "devbox.json"),
            ("cargo make test", "Makefile.toml"),
            ("just test", "JUSTFILE"),
            ("sbt test", "project/plugins.sbt"),
            ("lein test", "project.clj"),
            ("stack test", "stack.yaml"),
            ("bazel test //...", "BUILD.bazel"),
            ("grunt test", "Gruntfile.js"),
            ("gulp test", "gulpfile.js"),
            ("ng test", "angular.json"),
            ("jest", "jest.config.cts"),
            ("vitest run", "vitest.config.cts"),
            ("nyc mocha", ".nycrc"),
            ("wtr", "web-test-runner.config.mjs"),
            ("rspec", "spec/rails_helper.rb"),
            ("docker compose run tests", "compose.yaml"),
            ("docker-compose run tests", "docker-compose.yml"),
            ("pytest -q", "pytest.toml"),
            ("python3 -m pytest -q", ".pytest.toml"),
        ]
        .map(|(run, file)| (run, file, &[][..])),
    );
}

#[test]
fn what_python_loads_before_the_tests_is_pinned() {
    let run: &[(&str, &str)] = &[("checks/run.py", "x"), ("scripts/run.py", "x"), ("src/app.py", "x")];
    assert_pinned(&[
        ("PYTHONPATH=src python3 -m unittest", "src/sitecustomize.py", run),
        ("env PYTHONPATH=src python3 -m unittest", "src/usercustomize.py", run),
        ("export PYTHONPATH=lib:src; python3 -m unittest", "src/csv.py", run),
        ("PYTHONPATH=tools python3 -m checks", "tools/checks.py", &[]),
        ("python3 scripts/run.py", "scripts/subprocess.py", run),
        ("python3 -m pytest -q", "socket.py", &[]),
        ("python3 -m pytest -q", "random.py", &[]),
        ("pytest -q -p checks.plugin", "checks/plugin.py", &[]),
        ("python3 -m pytest -q -p plug", "plug.py", &[]),
        ("PYTEST_ADDOPTS=\"-p plug\" python3 -m pytest -q", "plug.py", &[]),
        ("python3 -m checks.run", "checks/__init__.py", run),
    ]);
    let scene =
        Scene::new(&[("a.egg-info/entry_points.txt", "[pytest11]\nx = y\n"), ("b.egg-info/entry_points.txt", "x")]);
    let pins = scene.pins("python3 -m pytest");
    assert_eq!(pins.into_keys().collect::<Vec<_>>(), ["a.egg-info/entry_points.txt (pytest11)"]);
}

#[test]
fn the_scripts_of_a_workspace_are_pinned() {
    let of = |file: &'static str| {
        move |run: &'static str, top: &'static str, script: &'static str| {
            let scene = Scene::new(&[
                ("package.json", top),
                ("pnpm-workspace.yaml", "packages:\n  - 'packages/*'\n"),
                ("packages/a/package.json", script),
                ("packages/b/package.json", r#"{"scripts":{"test":"true"}}"#),
                ("apps/app/project.json", "x"),
                ("packages/a/check.sh", "x"),
                ("e2e/package.json", r#"{"scripts":{"e2e":"node run.mjs"}}"#),
                ("e2e/run.mjs", "x"),
                ("scripts/check.mjs", "x"),
            ]);
            let pins = scene.pins(run);
            assert!(pins.contains_key(file), "{run}: {:?}", pins.keys());
        }
    };
    let top = r#"{"workspaces":["packages/*"],"scripts":{"test":"npm test --workspaces"}}"#;
    let script = r#"{"name":"@acme/a","scripts":{"test":"sh check.sh"}}"#;
    for run in [
        "npm test",
        "npm test --workspaces",
        "npm test -ws",
        "npm test -w @acme/a",
        "npm test -w packages/a",
        "pnpm -r test",
        "pnpm --filter @acme/a test",
        "yarn workspaces run test",
        "yarn workspaces foreach -A run test",
        "yarn workspace @acme/a test",
        "lerna run test",
    ] {
        of("packages/a/check.sh")(run, top, script);
        of("packages/a/package.json (scripts)")(run, top, script);
    }
    of("packages/a/package.json (scripts)")("turbo run test", top, script);
    of("apps/app/project.json")("nx test app", top, script);
    of("e2e/run.mjs")("cd e2e && npm run e2e", top, script);
    let chain = r#"{"scripts":{"test":"npm run a","a":"npm run b","b":"npm run c","c":"npm run d","d":"npm run e","e":"node scripts/check.mjs"}}"#;
    of("scripts/check.mjs")("npm test", chain, script);
    for all in ["run-s lint check", "run-p check:*", "npm-run-all check"] {
        let top = r#"{"scripts":{"check":"node scripts/check.mjs","check:a":"node scripts/check.mjs"}}"#;
        of("scripts/check.mjs")(all, top, script);
    }
}
