//! What a command pins, in tables.

mod bounds;
mod not_pinned;
mod pinned;

use omo_core::check::session_check::CheckOrigin;

use super::budget::MAX_TEXT_BYTES as MAX_BYTES;
use super::*;

/// A project in a home.
struct Scene(tempfile::TempDir);

impl Scene {
    fn new(files: &[(&str, &str)]) -> Self {
        let scene = Self(tempfile::tempdir().unwrap());
        for (path, text) in files {
            scene.write(path, text);
        }
        std::fs::create_dir_all(scene.root()).unwrap();
        scene
    }

    fn root(&self) -> PathBuf {
        self.0.path().join("app")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn pins(&self, run: &str) -> BTreeMap<String, String> {
        pins_below(&self.root(), run, Some(self.0.path().to_owned()))
    }
}

pub(super) fn pins_below(root: &Path, run: &str, home: Option<PathBuf>) -> BTreeMap<String, String> {
    let check = Check { command: run.to_owned(), ..Check::default() };
    read_check(&check, root, home, &search([PathBuf::from("/usr/bin")])).pins()
}

fn search<const COUNT: usize>(folders: [PathBuf; COUNT]) -> SearchPath {
    folders.into_iter().collect()
}

fn pins(root: &Path, run: &str) -> Vec<String> {
    let check = Check::new(None, run, CheckOrigin::User).unwrap();
    find_pins(&check, root, &search([root.join("bin"), PathBuf::from("/usr/bin")])).into_keys().collect()
}

/// What differs between what was pinned and what is there now: the first such file.
fn first_changed<'a>(pinned: &'a BTreeMap<String, String>, now: &'a BTreeMap<String, String>) -> Option<&'a str> {
    // What was not looked at to its end says nothing of any other file.
    if let Some((unbounded, _)) = now.get_key_value(UNBOUNDED) {
        return Some(unbounded);
    }
    // What cannot be read cannot be shown to be the same.
    let is_other = |(path, digest): &(&String, &String)| {
        *digest != ABSENT && (*digest == UNREADABLE || now.get(*path) != Some(digest))
    };
    let gone_or_other = pinned.iter().find(is_other);
    let new = || now.iter().find(|(path, _)| !pinned.contains_key(*path));
    gone_or_other.or_else(new).map(|(path, _)| path.as_str())
}

#[test]
fn files_that_a_command_names_or_reads_are_pinned() {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path();
    for (path, text) in [
        ("check.sh", "x"),
        ("scripts/t.py", "x"),
        ("Makefile", "x"),
        ("package.json", r#"{"scripts":{"test":"x"}}"#),
        ("web/package.json", r#"{"scripts":{"test":"x"}}"#),
        ("bin/cargo", "x"),
        (".venv/bin/pytest", "x"),
        ("conftest.py", "x"),
        ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = \"-q\"\n"),
        ("py/difflib.py", "x"),
        ("py/unittest/__init__.py", "x"),
        ("py/app.py", "x"),
        ("test", "x"),
    ] {
        std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        std::fs::write(root.join(path), text).unwrap();
    }
    for (run, expected) in [
        ("./check.sh --fast", vec!["check.sh"]),
        ("sh check.sh && python3 scripts/t.py", vec!["check.sh", "scripts/t.py"]),
        ("make lint", vec!["Makefile"]),
        ("CI=1 npm run x", vec!["package.json (scripts)"]),
        ("npm --prefix web run x", vec!["web/package.json (scripts)"]),
        ("cargo build", vec!["bin/cargo"]),
        ("cargo test", vec!["bin/cargo"]),
        ("pytest scripts/t.py", vec!["conftest.py", "pyproject.toml (pytest)"]),
        ("node --test scripts/t.py", vec![]),
        ("sh -c ./check.sh", vec!["check.sh"]),
        ("bash -euo pipefail check.sh", vec!["check.sh"]),
        ("timeout 60 ./check.sh", vec!["check.sh"]),
        ("cd web && npm test", vec!["web/node_modules/.bin/x", "web/package.json (scripts)"]),
        ("cd scripts && python3 t.py", vec!["scripts/t.py"]),
        ("cargo build && ./target/debug/app --check", vec!["bin/cargo"]),
        ("./later.sh", vec!["later.sh"]),
        (". ./check.sh", vec!["check.sh"]),
        ("env A=1 cargo build", vec!["bin/cargo"]),
        ("true; (cargo build)", vec!["bin/cargo"]),
        ("npx eslint .", vec!["node_modules/.bin/eslint", "package.json (scripts)"]),
        (".venv/bin/pytest", vec![".venv/bin/pytest", "conftest.py", "pyproject.toml (pytest)"]),
        ("python3 -m pytest scripts", vec!["conftest.py", "pyproject.toml (pytest)"]),
        ("cd py && python3 -m unittest", vec!["py/difflib.py", "py/unittest/__init__.py"]),
        ("cat /etc/passwd ../x $(rm) missing.sh; ../outside.sh", vec![]),
    ] {
        assert_eq!(pins(root, run), expected, "{run}");
    }
}

#[test]
fn what_runs_is_pinned_wherever_it_stands_and_what_is_tested_is_not() {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path();
    for (path, text) in [
        ("check.sh", "x"),
        ("checker", "#!/bin/sh\n"),
        ("app.py", "x"),
        ("README.md", "x"),
        ("ci.mk", "x"),
        ("web/Makefile", "x"),
        ("web/package.json", r#"{"scripts":{"test":"node t.js","pretest":"sh prepare.sh"}}"#),
        ("checks/run.py", "x"),
        ("tool/__main__.py", "x"),
        ("ci.d/a.sh", "x"),
        ("ci.d/b.sh", "x"),
        ("cmd/main.go", "x"),
        ("my.ini", "x"),
        ("setup.js", "x"),
        ("index.js", "x"),
        ("pom.xml", "<project><dependencies/><build><x/></build></project>"),
        ("noxfile.py", "x"),
    ] {
        std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        std::fs::write(root.join(path), text).unwrap();
    }
    for (run, expected) in [
        ("make -f ci.mk check", vec!["ci.mk"]),
        ("make -fci.mk", vec!["ci.mk"]),
        ("make --file=ci.mk", vec!["ci.mk"]),
        ("make -Cweb", vec!["web/Makefile"]),
        ("make --directory=web", vec!["web/Makefile"]),
        ("bash -c \"cd web && make\"", vec!["web/Makefile"]),
        ("bash -euc 'sh check.sh'", vec!["check.sh"]),
        ("eval \"sh check.sh\"", vec!["check.sh"]),
        ("timeout -s KILL 60 sh check.sh", vec!["check.sh"]),
        ("stdbuf -oL sh check.sh", vec!["check.sh"]),
        ("env -u FOO sh check.sh", vec!["check.sh"]),
        ("sudo -u x ./checker", vec!["checker"]),
        ("xvfb-run checker", vec!["checker"]),
        ("{ sh check.sh; }", vec!["check.sh"]),
        ("sh $(pwd)/check.sh", vec!["check.sh"]),
        ("sh \"$PWD/check.sh\"", vec!["check.sh"]),
        ("f=check.sh; sh $f", vec!["check.sh"]),
        ("cat check.sh | sh", vec!["check.sh"]),
        ("sh < check.sh", vec!["check.sh"]),
        ("sh <<END\nsh check.sh\nEND", vec!["check.sh"]),
        ("ls ci.d/*.sh | xargs -n1 sh", vec!["ci.d/a.sh", "ci.d/b.sh"]),
        ("for f in ci.d/*.sh; do sh \"$f\"; done", vec!["ci.d/a.sh", "ci.d/b.sh"]),
        ("python3 -m checks.run", vec!["checks/run.py"]),
        ("python3 tool", vec!["tool/__main__.py"]),
        ("python3 -m later", vec!["later.py", "later/__main__.py"]),
        ("node index", vec!["index.js"]),
        ("node --test --import ./setup.js tests/a.js", vec!["setup.js"]),
        ("npx tsx index.js", vec!["index.js", "node_modules/.bin/tsx"]),
        ("go run ./cmd", vec!["cmd/main.go"]),
        (
            "npm --prefix=web test",
            vec!["web/node_modules/.bin/node", "web/prepare.sh", "web/t.js", "web/package.json (scripts)"],
        ),
        ("yarn workspace web test", vec!["web/prepare.sh", "web/t.js", "web/package.json (scripts)"]),
        ("pytest -c my.ini app.py", vec!["my.ini"]),
        ("mvn -q test", vec!["pom.xml (build)"]),
        ("nox -s tests", vec!["noxfile.py"]),
        ("grep -q x README.md && test -f done && wc -c app.py", vec![]),
        ("mypy app.py && gcc -c foo.c", vec![]),
        ("python3 -m mypy app.py", vec![]),
        ("pytest --junitxml=my.ini app.py > out.log", vec![]),
        ("sh check.sh app.py", vec!["check.sh"]),
        ("./check.sh app.py", vec!["check.sh"]),
        ("markdown-link-check README.md", vec![]),
        ("uv run pytest app.py && timeout 60 pytest -q app.py", vec![]),
        ("deno test app.py && bundle exec rspec app.py", vec![]),
        ("coverage run check.sh", vec!["check.sh"]),
        ("uv run coverage run -m checks.run", vec!["checks/run.py"]),
    ] {
        let mut expected = expected;
        expected.retain(|file| !file.contains("node_modules/.bin/node"));
        expected.sort_unstable();
        assert_eq!(pins(root, run), expected, "{run}");
    }
}

#[test]
fn files_behind_many_are_held_to_as_one() {
    let temp = tempfile::tempdir().unwrap();
    let (root, search) = (temp.path(), SearchPath::default());
    for index in 0..100 {
        std::fs::write(root.join(format!("{index:03}.sh")), "x").unwrap();
    }
    let check = Check::new(None, "for f in *.sh; do sh $f; done", CheckOrigin::User).unwrap();
    let pinned = find_pins(&check, root, &search);
    assert_eq!(pinned.len(), 33);
    assert_eq!(first_changed(&pinned, &find_pins(&check, root, &search)), None);
    std::fs::write(root.join("099.sh"), "exit 0").unwrap();
    assert!(
        first_changed(&pinned, &find_pins(&check, root, &search))
            .is_some_and(|named| named.ends_with(" files behind it"))
    );
}

#[test]
fn the_script_of_a_package_is_followed_to_what_it_runs() {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path();
    let search = search([PathBuf::from("/usr/bin")]);
    let write = |path: &str, text: &str| {
        std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        std::fs::write(root.join(path), text).unwrap();
    };
    write("package.json", r#"{"scripts":{"test":"npm run unit","unit":"jest --ci","lint":"eslint ."}}"#);
    let check = |run: &str| Check::new(None, run, CheckOrigin::User).unwrap();
    assert!(runs_tests(&check("npm test"), root) && runs_tests(&check("yarn unit"), root));
    for run in ["bash -ec 'cd web && npx jest'", "bash -c pytest", "eval \"cargo test\""] {
        assert!(runs_tests(&check(run), root), "{run}");
    }
    assert!(!runs_tests(&check("npm run lint"), root) && !runs_tests(&check("npm run none"), root));
    let check = check("npm test");
    let pinned = find_pins(&check, root, &search);
    assert_eq!(pinned.get("node_modules/.bin/jest").map(String::as_str), Some(ABSENT), "{pinned:?}");
    write("node_modules/.bin/jest", "x");
    assert_eq!(first_changed(&pinned, &find_pins(&check, root, &search)), None, "installed since");
    let pinned = find_pins(&check, root, &search);
    write("node_modules/.bin/jest", "exit 0");
    assert_eq!(first_changed(&pinned, &find_pins(&check, root, &search)), Some("node_modules/.bin/jest"));
    write("node_modules/.bin/jest", "x");
    for (path, text) in [(".npmrc", "script-shell=/bin/true"), ("jest.config.js", "x")] {
        write(path, text);
        assert_eq!(first_changed(&pinned, &find_pins(&check, root, &search)), Some(path));
        std::fs::remove_file(root.join(path)).unwrap();
    }
}

#[test]
fn a_large_file_is_held_to_its_end() {
    let temp = tempfile::tempdir().unwrap();
    let (root, search) = (temp.path(), SearchPath::default());
    let check = Check::new(None, "sh check.sh", CheckOrigin::User).unwrap();
    let mut text = vec![b'#'; usize::try_from(MAX_BYTES).unwrap() + 1];
    std::fs::write(root.join("check.sh"), &text).unwrap();
    let pinned = find_pins(&check, root, &search);
    assert_eq!(first_changed(&pinned, &find_pins(&check, root, &search)), None);
    *text.last_mut().unwrap() = b'x';
    std::fs::write(root.join("check.sh"), &text).unwrap();
    assert_eq!(first_changed(&pinned, &find_pins(&check, root, &search)), Some("check.sh"));
    assert_eq!(hex_digest_of_reader(&*text, MAX_BYTES), None);
    let unreadable = BTreeMap::from([("check.sh".to_owned(), UNREADABLE.to_owned())]);
    assert_eq!(first_changed(&unreadable, &unreadable), Some("check.sh"));
}

#[test]
fn a_change_a_loss_and_a_newcomer_are_noticed_and_a_dependency_is_none() {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path();
    let search = search([root.join("bin"), PathBuf::from("/usr/bin")]);
    let check = Check::new(None, "npm test; ./check.sh", CheckOrigin::User).unwrap();
    std::fs::write(root.join("package.json"), r#"{"scripts":{"test":"x"}}"#).unwrap();
    std::fs::write(root.join("check.sh"), "x").unwrap();
    let pinned = find_pins(&check, root, &search);
    let differs = || first_changed(&pinned, &find_pins(&check, root, &search)).map(str::to_owned);
    std::fs::write(root.join("package.json"), r#"{"scripts":{"test":"x"},"dependencies":{"a":"1"}}"#).unwrap();
    assert_eq!(differs(), None);
    std::fs::write(root.join("package.json"), r#"{"scripts":{"test":"true"}}"#).unwrap();
    assert_eq!(differs().as_deref(), Some("package.json (scripts)"));
    std::fs::write(root.join("package.json"), r#"{"scripts":{"test":"x"}}"#).unwrap();
    let later = Check::new(None, "./later.sh", CheckOrigin::User).unwrap();
    let absent = find_pins(&later, root, &search);
    std::fs::write(root.join("later.sh"), "x").unwrap();
    assert_eq!(first_changed(&absent, &find_pins(&later, root, &search)), None, "named before it was there");
    std::fs::write(root.join("check.sh"), "exit 0").unwrap();
    assert_eq!(differs().as_deref(), Some("check.sh"));
    std::fs::remove_file(root.join("check.sh")).unwrap();
    assert_eq!(differs().as_deref(), Some("check.sh"));
    std::fs::write(root.join("check.sh"), "x").unwrap();
    std::fs::create_dir(root.join("bin")).unwrap();
    std::fs::write(root.join("bin/npm"), "exit 0").unwrap();
    assert_eq!(differs().as_deref(), Some("bin/npm"));
}
