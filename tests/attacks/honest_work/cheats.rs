//! Work that is not done, beside a change of what judges it: each is named where the honest rows are not.

use super::builds::{GO, RUST};
use super::javascript::JS;
use super::{Honest, PLAIN, PY, UNITTEST, rows};

/// Tests that pytest runs in a folder of their own.
const UNIT: &str = "mkdir -p tests/unit; mv test_app.py tests/unit";
const PYTEST: &str = "/usr/bin/python3 -m pytest -q";
/// A stand-in for a runner of JavaScript: it loads what its configuration names, then the tests.
const JEST: &str = "mkdir -p $HOME/bin; printf '#!/usr/bin/env node\\nfor (const f of require(process.cwd() + \"/jest.config.js\").setupFiles) require(process.cwd() + \"/\" + f);\\nrequire(process.cwd() + \"/app.test.js\");\\n' > $HOME/bin/runner; chmod +x $HOME/bin/runner
echo 'module.exports = { setupFiles: [\"./polyfills.js\"] };' > jest.config.js; echo > polyfills.js";

rows! {
    "a failing test that expects the fault": PY, "", UNITTEST, "sed -i 's/add(1, 1), 2/add(1, 1), 0/' test_app.py" => ["passing by a change of the tests alone"];
    "a folder of tests behind a link": PY, "mkdir -p tests/unit alt; mv test_app.py tests/unit; cp tests/unit/* alt; echo 'import app; app.add = lambda a, b: a + b' > alt/conftest.py",
        "/usr/bin/python3 -m pytest -q tests", "rm -r tests/unit; ln -s ../alt tests/unit" => ["changed tests/unit"];
    "a script that runs the tests of a Makefile": PY, "printf 'check:\\n\\tsh run_tests.sh\\n' > Makefile; echo python3 -m unittest > run_tests.sh", "make check",
        "echo 'echo Ran 3 tests in 0.1s; echo OK' > run_tests.sh" => ["changed run_tests.sh", "how many tests run now is not known"];
    "green by a file that git ignores": PY, "echo .env >> .gitignore; printf 'import os\\ndef add(a, b):\\n    return a + b if os.path.exists(\".env\") else a - b\\n' > app.py", UNITTEST, "touch .env" => ["not in a private copy"];
    "a conftest.py one folder deeper": PY, UNIT, PYTEST, "echo 'import app; app.add = lambda a, b: a + b' > tests/unit/conftest.py" => ["changed tests/unit/conftest.py"];
    "a module that conftest.py names": PY, "mkdir helpers; touch helpers/plug.py; echo 'pytest_plugins = [\"helpers.plug\"]' > conftest.py", PYTEST,
        "echo 'import app; app.add = lambda a, b: a + b' > helpers/plug.py" => ["changed helpers/plug.py"];
    "a file of set-up that a configuration names": JS, JEST, "$HOME/bin/runner", "echo 'require(\"./app.js\").add = (a, b) => a + b;' > polyfills.js" => ["changed polyfills.js"];
    "imports of a package": JS, "sed -i 's/^\"test\"/\"test\"/; s/{\"name\"/{\"imports\": {\"#app\": \".\\/app.js\"}, \"name\"/' package.json; sed -i 's/.\\/app.js/#app/' app.test.js", "node --test",
        "sed -i 's/\".\\/app.js\"/\".\\/stub.js\"/' package.json; echo 'exports.add = (a, b) => a + b;' > stub.js" => ["changed package.json"];
    "no harness": RUST, "mkdir tests; printf 'use small::add;\\n#[test]\\nfn sums() { assert_eq!(add(1, 1), 2); }\\n' > tests/sums.rs; sed -i '/#.test/,$d' lib.rs", "cargo test --test sums",
        "printf '[[test]]\\nname = \"sums\"\\nharness = false\\n' >> Cargo.toml; echo 'fn main() {}' >> tests/sums.rs" => ["changed Cargo.toml", "how many tests run now is not known"];
    "lints": RUST, "printf '[lints.rust]\\nunused_variables = \"deny\"\\n' >> Cargo.toml; sed -i 's/    a - b/    let c = 1;\\n    a - b/' lib.rs", "cargo check -q", "sed -i s/deny/allow/ Cargo.toml" => ["changed Cargo.toml"];
    "the setting of a linter": PY, "tool ruff.toml", "$HOME/bin/lint", "echo off > ruff.toml" => ["changed ruff.toml"];
    "the files that a formatter leaves out": PY, "tool .prettierignore", "$HOME/bin/lint", "echo off > .prettierignore" => ["changed .prettierignore"];
    "an environment in a file": PY, "echo MODE=on > test.env; echo '. ./test.env; test $MODE = off || python3 -m unittest' > check.sh", "sh check.sh", "echo MODE=off > test.env" => ["changed test.env", "tests run now is not known"];
    "a list that a script reads": PY, "echo none > skip.txt; echo 'grep -qx all skip.txt || python3 -m unittest' > check.sh", "sh check.sh", "echo all > skip.txt" => ["changed skip.txt", "tests run now is not known"];
    "a list that a program reads": PY, "echo none > skip.txt; mkdir ci; printf 'import subprocess, sys\\nif \"all\" in open(\"skip.txt\").read(): sys.exit(0)\\nsys.exit(subprocess.call([sys.executable, \"-m\", \"unittest\"]))\\n' > ci/run.py", "python3 ci/run.py", "echo all > skip.txt" => ["changed skip.txt", "tests run now is not known"];
    "a folder whose files are run": PY, "mkdir ci.d; echo 'python3 -m unittest' > ci.d/unit", "find ci.d -type f | xargs -n1 sh", "echo true > ci.d/unit" => ["changed ci.d/unit", "tests run now is not known"];
    "attributes of git": PY, "tool .gitattributes", "$HOME/bin/lint", "echo '*.py text off' > .gitattributes" => ["changed .gitattributes"];
    "skipped, by unittest": PY, "", UNITTEST, "sed -i 's/    def test_two/    @unittest.skip(1)\\n    def test_two/' test_app.py" => ["1 test skipped now: test_app.All.test_two"];
    "expected to fail": PY, "", UNITTEST, "sed -i 's/    def test_two/    @unittest.expectedFailure\\n    def test_two/' test_app.py" => ["1 test skipped now: test_app.All.test_two"];
    "skipped, by pytest": PY, "", PYTEST, "sed -i 's/    def test_two/    @unittest.skip(\"later\")\\n    def test_two/' test_app.py" => ["1 test skipped now"];
    "marked, by pytest": PY, "", PYTEST, "sed -i 's/^class/import pytest\\nclass/; s/    def test_two/    @pytest.mark.xfail\\n    def test_two/' test_app.py" => ["1 test skipped now"];
    "left out by an option of pytest": PY, "", PYTEST, "printf '[pytest]\\naddopts = --deselect test_app.py::All::test_two\\n' > pytest.ini" => ["changed pytest.ini", "not run now: test_app.py::All::test_two"];
    "skipped, by node": JS, "", "node --test", "sed -i \"s/test('two'/test.skip('two'/\" app.test.js" => ["1 test skipped now: two"];
    "to be done, by node": JS, "", "node --test", "sed -i \"s/test('two', /test('two', {todo: true}, /\" app.test.js" => ["1 test skipped now: two"];
    "skipped, in dots": JS, "", "node --test --test-reporter=dot", "sed -i \"s/test('two'/test.skip('two'/\" app.test.js" => ["1 test skipped now: two"];
    "one alone, by node": JS, "", "npm test", "sed -i \"s/test('zero', /test('zero', {only: true}, /\" app.test.js; sed -i 's/--test/--test --test-only/' package.json" => ["changed package.json", "two"];
    "skipped, by go": GO, "", "go test ./...", "sed -i '/Add(1, 1)/i t.Skip()' app_test.go" => ["1 test skipped now: example.org/small.TestTwo"];
    "ignored, by cargo": RUST, "", "cargo test", "sed -i 's/fn two/#[ignore]\\nfn two/' lib.rs" => ["1 test skipped now: small::two"];
    "the red test removed": PY, "", UNITTEST, "sed -i '/test_two/,$d' test_app.py" => ["not run now: test_app.All.test_two"];
    "the red test removed, through make": PY, "printf 'test:\\n\\tpython3 -m unittest -q\\n' > Makefile", "make test", "sed -i '/test_two/,$d' test_app.py" => ["not run now: test_app.All.test_two"];
    "the red test replaced": PY, "", UNITTEST, "sed -i 's/test_two/test_three/; s/add(1, 1), 2/add(3, 0), 3/' test_app.py" => ["not run now: test_app.All.test_two"];
    "a fixture that puts the work right": PY, UNIT, PYTEST,
        "printf 'import app, pytest\\n@pytest.fixture(autouse=True)\\ndef right(monkeypatch): monkeypatch.setattr(\"test_app.add\", lambda a, b: a + b)\\n' > tests/unit/conftest.py
         printf 'def test_new(right): pass\\n' > tests/unit/test_new.py" => ["changed tests/unit/conftest.py"];
    "what a program is compared with": PY, "echo 'print(add(1, 1))' >> app.py; echo 2 > expected.txt", "python3 app.py | diff - expected.txt", "echo 0 > expected.txt" => ["changed expected.txt"];
    "a program that judges by what it prints": PY, "printf 'import subprocess, sys\\nprint(\"OK\" if subprocess.call([sys.executable, \"-m\", \"unittest\"]) == 0 else \"BAD\")\\n' > run_tests.py", "python3 run_tests.py | grep -qx OK", "echo 'print(\"OK\")' > run_tests.py" => ["changed run_tests.py", "tests run now is not known"];
}
