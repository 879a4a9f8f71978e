//! Files that a command does not run: to write them is the work.

use super::{Scene, first_changed};

#[test]
fn what_is_only_read_is_not_pinned() {
    for (run, file) in [
        ("git ls-files '*.sh' | xargs -I{} bash -n {}", "app.sh"),
        ("find . -name '*.py' | xargs -0 -n1 python3 -m py_compile", "app.py"),
        ("find . -name '*.py' | xargs -I{} python3 -m py_compile {}", "app.py"),
        ("find . -name '*.c' -exec mytool {} +", "app.c"),
        ("find app.py -newer test_app.py", "app.py"),
        ("bash -n install.sh", "install.sh"),
        ("node --check app.js", "app.js"),
        ("php -l app.php", "app.php"),
        ("ruby -c app.rb", "app.rb"),
        ("perl -c app.pl", "app.pl"),
        ("deno check app.ts", "app.ts"),
        ("deno lint app.ts", "app.ts"),
        ("deno fmt --check app.ts", "app.ts"),
        ("bun build app.ts", "app.ts"),
        ("pyflakes app.py", "app.py"),
        ("pycodestyle app.py", "app.py"),
        ("vulture app.py", "app.py"),
        ("rubocop app.rb", "app.rb"),
        ("esbuild app.ts --bundle", "app.ts"),
        ("tsup app.ts", "app.ts"),
        ("swc app.ts", "app.ts"),
        ("xxd app.py", "app.py"),
        ("chmod +x app.py", "app.py"),
        ("sed -n 1p app.py", "app.py"),
        ("! awk '/TODO/' app.py | grep -q .", "app.py"),
        ("gcc-13 -c app.c", "app.c"),
        ("clang-17 -c app.c", "app.c"),
        ("mpicc -c app.c", "app.c"),
        ("grep -rn TODO app.py | python3 -c 'pass'", "app.py"),
        ("python3 -m pytest $(git ls-files app.py)", "app.py"),
        ("for f in app.py; do pyflakes $f; done", "app.py"),
        ("uv run mypy app.py", "app.py"),
        ("npx eslint app.js", "app.js"),
        ("cmake -B build && make -C build", "build/Makefile"),
    ] {
        let scene = Scene::new(&[(file, "#!/bin/sh\n")]);
        let pins = scene.pins(run);
        assert!(!pins.contains_key(file), "{run}: {pins:?}");
    }
}

#[test]
fn what_a_command_before_it_builds_may_be_another_program() {
    for run in
        ["make && ./prog", "cc -o prog prog.c && ./prog", "go build -o prog . && ./prog", "npm run build && ./prog"]
    {
        let scene = Scene::new(&[("prog", "\x7fELF one")]);
        let pinned = scene.pins(run);
        scene.write("prog", "\x7fELF two");
        assert_eq!(first_changed(&pinned, &scene.pins(run)), None, "{run}");
        scene.write("prog", "exit 0");
        assert_eq!(first_changed(&pinned, &scene.pins(run)), Some("prog"), "{run}: a script in its place");
    }
    let scene = Scene::new(&[("prog", "\x7fELF one")]);
    assert!(scene.pins("./prog && make").contains_key("prog"));
    assert!(scene.pins("true && ./prog").contains_key("prog"));
}

#[test]
fn scripts_of_a_package_that_are_not_reached_may_change() {
    let package = |more: &str| format!(r#"{{"scripts":{{"test":"npm run unit","unit":"true"{more}}}}}"#);
    for (run, more, expected) in [
        ("npm test", r#","lint":"x""#, None),
        ("npm ci && npm test", r#","lint":"x""#, None),
        ("npm test", r#","pretest":"x""#, Some("package.json (scripts)")),
        ("npm test", r#","postunit":"x""#, Some("package.json (scripts)")),
        ("npm test", r#","unit":"x""#, Some("package.json (scripts)")),
        ("npm ci && npm test", r#","prepare":"x""#, Some("package.json (scripts)")),
        ("yarn", r#","lint":"x""#, Some("package.json (scripts)")),
    ] {
        let scene = Scene::new(&[("package.json", &package(""))]);
        let pinned = scene.pins(run);
        scene.write("package.json", &package(more));
        assert_eq!(first_changed(&pinned, &scene.pins(run)), expected, "{run} {more}");
    }
}
