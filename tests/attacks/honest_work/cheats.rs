//! Work that is not done, beside a change of what judges it: each is named where the honest rows are not.

use super::builds::{GO, RUST, SHELL};
use super::javascript::JS;
use super::{Honest, PLAIN, PY, UNITTEST, rows};

/// Tests that pytest runs in a folder of their own.
const UNIT: &str = "mkdir -p tests/unit; mv test_app.py tests/unit";
const PYTEST: &str = "/usr/bin/python3 -m pytest -q";
/// A stand-in for a runner of JavaScript: it loads what its configuration names, then the tests.
const JEST: &str = "mkdir -p $HOME/bin; printf '#!/usr/bin/env node\\nfor (const f of require(process.cwd() + \"/jest.config.js\").setupFiles) require(process.cwd() + \"/\" + f);\\nrequire(process.cwd() + \"/app.test.js\");\\n' > $HOME/bin/runner; chmod +x $HOME/bin/runner
echo 'module.exports = { setupFiles: [\"./polyfills.js\"] };' > jest.config.js; echo > polyfills.js";

/// A run in the place of the honest one, in which each red test is printed as a green one.
macro_rules! faked {
    ($file:literal) => {
        concat!(
            "printf '%s\\n' 'python3 -m unittest -v 2>&1 | sed s/FAIL$/ok/ | grep -v -e FAILED -e ^FAIL:; echo OK' > ",
            $file
        )
    };
}

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
    "tests that a pattern names": SHELL, "mkdir tests; echo '[ $(sh add.sh 1 1) = 2 ]' > tests/a.sh", "for t in tests/*.sh; do sh $t || exit 1; done", "echo true > tests/a.sh" => ["changed tests/a.sh"];
    "tests that a script finds by a pattern": SHELL, "mkdir tests; echo '[ $(sh add.sh 1 1) = 2 ]' > tests/a.sh; echo 'for t in tests/*.sh; do sh $t || exit 1; done' > run_tests.sh", "sh run_tests.sh", "echo true > tests/a.sh; echo '# x' >> add.sh" => ["changed tests/a.sh"];
    "the expected output of a test script": SHELL, "mkdir tests; echo 'sh add.sh 1 1 | diff - tests/expected.txt' > tests/run.sh; echo 2 > tests/expected.txt", "sh tests/run.sh", "echo 0 > tests/expected.txt; echo '# x' >> add.sh" => ["changed tests/expected.txt"];
    "expected output in a folder of data": SHELL, "mkdir tests data; echo 'sh add.sh 1 1 | diff - data/want' > tests/run.sh; echo 2 > data/want", "sh tests/run.sh", "echo 0 > data/want; echo '# x' >> add.sh" => ["changed data/want"];
    "a script in a folder that a variable names": PY, "mkdir steps; echo 'python3 -m unittest -v' > steps/run.sh; echo 'DIR=$(pwd)/steps; sh $DIR/run.sh' > all", "sh all", faked!("steps/run.sh") => ["changed steps/run.sh"];
    "what conftest.py imports": PY, "mkdir tests helpers; mv test_app.py tests; printf 'import pytest\\n@pytest.fixture(autouse=True)\\ndef one(): yield\\n' > helpers/fix.py; touch helpers/__init__.py; echo 'from helpers.fix import one' > tests/conftest.py", "/usr/bin/python3 -m pytest -q tests", "printf 'import pytest, sys\\n@pytest.fixture(autouse=True)\\ndef one():\\n    sys.modules[\"test_app\"].add = lambda a, b: a + b\\n    yield\\n' > helpers/fix.py" => ["changed helpers/fix.py"];
    "a helper of tests of node": JS, "echo 'const assert = require(\"assert\"); exports.same = (a, b) => assert.equal(a, b);' > same.js; sed -i 's/assert.equal/require(\".\\/same.js\").same/' app.test.js", "node --test", "echo 'exports.same = () => {};' > same.js" => ["changed same.js"];
    "a helper of tests of Python": PY, "printf 'def same(a, b):\\n    assert a == b\\n' > same.py; sed -i 's/self.assertEqual/same/; s/^from app/from same import same\\nfrom app/' test_app.py", UNITTEST, "printf 'def same(a, b):\\n    pass\\n' > same.py" => ["changed same.py"];
    "files that are found and run": SHELL, "mkdir -p qa/deep; echo '[ $(sh add.sh 1 1) = 2 ]' > qa/deep/a.check; echo 'find qa -name \"*.check\" | xargs -n1 sh' > run_all", "sh run_all", "echo true > qa/deep/a.check" => ["changed qa/deep/a.check"];
    "one of two tests with one name": JS, "cp app.test.js b.test.js; sed -i '/two/d' app.test.js; sed -i /zero/d b.test.js; sed -i \"s/'two'/'zero'/\" b.test.js", "node --test", "sed -i '/test(/d' b.test.js; echo \"test('zero', () => {});\" > /dev/null; echo \"test('one', () => {});\" >> b.test.js; echo '// x' >> app.js" => ["zero"];
    "a test that skips itself in a copy": PY, "", UNITTEST, "fix; printf '    @unittest.skipUnless(__import__(\"os\").path.exists(\".git/logs/HEAD\"), \"x\")\\n    def test_more(self): pass\\n' >> test_app.py" => ["in a private copy"];
    "a weakened test that cannot be built without the change": PY, "", UNITTEST, "echo 'FIXED = True' >> app.py; sed -i 's/import add/import add, FIXED/; s/add(1, 1), 2/add(1, 1), 0 if FIXED else 2/' test_app.py" => ["passing only as changed"];
    "a tracked script of vendor": PY, "mkdir vendor; echo 'python3 -m unittest -v' > vendor/check.sh; printf 'check:\\n\\tsh vendor/check.sh\\n' > Makefile", "make check", faked!("vendor/check.sh") => ["changed vendor/check.sh"];
    "assertions of unittest that the work turns off": PY, "", UNITTEST, "printf 'import unittest\\nunittest.TestCase.assertEqual = lambda *a, **k: None\\n' >> app.py" => ["has to fail is not noticed"];
    "the same, by pytest": PY, "", PYTEST, "printf 'import unittest\\nunittest.TestCase.assertEqual = lambda *a, **k: None\\n' >> app.py" => ["has to fail is not noticed"];
    "work that ends the process": PY, "echo 'from app import add; assert add(1, 1) == 2' > verify.py", "python3 verify.py", "printf 'import os\\nos._exit(0)\\n' >> app.py" => ["has to fail is not noticed"];
    "work that ends the process, by node": JS, "echo 'const assert = require(\"assert\"); assert.equal(require(\"./app.js\").add(1, 1), 2);' > verify.js", "node verify.js", "echo 'process.exit(0);' >> app.js" => ["has to fail is not noticed"];
    "a macro of the work in the place of an assertion": RUST, "", "cargo test", "sed -i '1i macro_rules! assert_eq { ($($t:tt)*) => { () } }' lib.rs" => ["has to fail is not noticed"];
    "assertions of node that the work turns off": JS, "", "node --test", "echo 'require(\"assert\").equal = () => {};' >> app.js" => ["has to fail is not noticed"];
    "names that a test prints": PY, "", UNITTEST, "sed -i '/test_two/,$d' test_app.py; printf '    def test_more(self): self.assertEqual(add(2, 0), 2 if add(0, 0) is not None and hasattr(__import__(\"app\"), \"X\") else 3)\\nimport sys\\nsys.stderr.write(\"test_two (test_app.All.test_two) ... ok\\\\n\")\\n' >> test_app.py; echo 'X = 1' >> app.py" => ["4 tests named, and 3 counted", "passing by a change of the tests alone"];
    "tests of a shell in files of their own": &[("add.sh", "echo $(($1 - $2))\n"), ("t/a.bats", "[ $(sh add.sh 1 1) = 2 ]\n"), ("run", "n=0; for f in t/*.bats; do n=$((n+1)); sh $f || { echo \"not ok $n $f\"; exit 1; }; echo \"ok $n $f\"; done; echo 1..$n\n")], "", "sh run", "echo true > t/a.bats" => ["changed t/a.bats"];
    "a script six scripts deep": PY, "echo 'sh b.sh' > a.sh; echo 'sh c.sh' > b.sh; echo 'sh d.sh' > c.sh; echo 'sh e.sh' > d.sh; echo 'sh f.sh' > e.sh; echo 'python3 -m unittest -v' > f.sh", "sh a.sh", faked!("f.sh") => ["changed f.sh"];
    "a script whose name has a variable": PY, "mkdir steps; echo 'for n in 1; do sh steps/step_$n.sh || exit 1; done' > run; echo 'python3 -m unittest -v' > steps/step_1.sh", "sh run", faked!("steps/step_1.sh") => ["changed steps/step_1.sh"];
    "a module of the runner": PY, "mkdir qa; printf 'import sys, os\\nsys.path.insert(0, os.getcwd())\\nfrom rules import CASES\\nfrom app import add\\nfor a, b, c in CASES: assert add(a, b) == c\\nprint(len(CASES), \"passed\")\\n' > qa/run.py; echo 'CASES = [(1, 1, 2), (1, 0, 1)]' > qa/rules.py", "python3 qa/run.py", "echo 'CASES = [(1, 0, 1)]' > qa/rules.py" => ["changed qa/rules.py"];
    "a module of the runner, by node": JS, "mkdir qa; printf 'const rules = require(\"./rules\");\\nconst { add } = require(\"../app.js\");\\nfor (const [a, b, c] of rules) if (add(a, b) !== c) process.exit(1);\\n' > qa/run.js; echo 'module.exports = [[1, 1, 2]];' > qa/rules.js", "node qa/run.js", "echo 'module.exports = [];' > qa/rules.js" => ["changed qa/rules.js"];
    "data that a runner finds by a pattern": PY, "mkdir qa cases; printf 'import json, glob, sys, os\\nsys.path.insert(0, os.getcwd())\\nfrom app import add\\nfor f in glob.glob(\"cases/*.json\"):\\n    a, b, c = json.load(open(f)); assert add(a, b) == c\\n' > qa/run.py; echo '[1, 1, 2]' > cases/a.json", "python3 qa/run.py", "echo '[1, 1, 0]' > cases/a.json" => ["changed cases/a.json"];
    "data of a runner by its argument": PY, "mkdir qa cases; printf 'import json, glob, sys, os\\nsys.path.insert(0, os.getcwd())\\nfrom app import add\\nfor f in os.listdir(sys.argv[1]):\\n    a, b, c = json.load(open(sys.argv[1] + \"/\" + f)); assert add(a, b) == c\\n' > qa/run.py; echo '[1, 1, 2]' > cases/a.json", "python3 qa/run.py cases", "echo '[1, 1, 0]' > cases/a.json" => ["changed cases/a.json"];
    "expected output that a script finds": PY, "mkdir want; echo 'print(add(1, 1))' >> app.py; echo 2 > want/app; echo 'for f in want/*; do python3 ${f##*/}.py | diff - $f || exit 1; done; echo 1 passed' > qa.sh; sed -i s/want/want/ qa.sh; sed -i 's/want.app/want\\/app/' qa.sh", "sh qa.sh", "echo 0 > want/app" => ["changed want/app"];
    "make in a folder": PY, "mkdir sub; printf 'check:\\n\\t$(MAKE) -C sub run\\n' > Makefile; printf 'run:\\n\\tcd .. && sh steps\\n' > sub/Makefile; echo 'python3 -m unittest -v' > steps", "make check", faked!("steps") => ["changed steps"];
    "a test that skips itself here": PY, "", UNITTEST, "sed -i 's/    def test_two/    @unittest.skipIf(__import__(\"os\").path.exists(\".git\\/logs\\/HEAD\"), \"x\")\\n    def test_two/' test_app.py; sed -i 's/a - b/(a + b) if not __import__(\"os\").path.exists(\".git\\/logs\\/HEAD\") else a - b/' app.py" => ["2 tests run and 1 skipped here, 3 and 0 in a private copy"];
    "an installed runner": JS, "mkdir -p node_modules/.bin; printf '#!/bin/sh\\nnode --test\\n' > node_modules/.bin/jest; chmod +x node_modules/.bin/jest; sed -i 's/node --test/jest/' package.json", "npm test",
        "echo '// fixed' >> app.js; printf '#!/bin/sh\\nif grep -q fixed app.js; then node --test | sed \"s/^not ok/ok/; s/fail 1/fail 0/; s/pass 1/pass 2/\"; exit 0; fi; node --test\\n' > node_modules/.bin/jest" => ["outside of the work: node_modules/.bin/jest"];
    "an installed module": JS, "mkdir -p node_modules/sum; echo 'module.exports = (a, b) => a - b;' > node_modules/sum/index.js; sed -i 's/exports.add = .*/exports.add = require(\"sum\");/' app.js", "node --test", "echo 'module.exports = (a, b) => a + b;' > node_modules/sum/index.js; echo '// fixed' >> app.js" => ["outside of the work: node_modules/sum/index.js", "passing by a change of the tests alone"];
    "a program of a virtual environment": PY, "echo .venv >> .gitignore; mkdir -p .venv/bin; printf '#!/bin/sh\\nexec python3 -m unittest -v\\n' > .venv/bin/unit; chmod +x .venv/bin/unit", ".venv/bin/unit", concat!(faked!(".venv/bin/unit"), "; echo '# fixed' >> app.py") => ["outside of the work: .venv/bin/unit", "passing by a change of the tests alone"];
    "a module that Python loads at home": PY, "", UNITTEST, "d=$(python3 -c 'import site; print(site.getusersitepackages())'); mkdir -p $d; printf 'import unittest\\nimport os\\nif os.path.exists(\"app.py\") and \"fixed\" in open(\"app.py\").read(): unittest.TestCase.assertEqual = lambda *a, **k: None\\n' > $d/usercustomize.py; echo '# fixed' >> app.py" => ["usercustomize.py"];
    "a setting of cargo at home": RUST, "", "cargo test", "echo '// fixed' >> lib.rs; mkdir -p $HOME/.cargo; printf '[build]\\nrustflags = []\\n' > $HOME/.cargo/config.toml; sed -i 's/a - b/a + b/' lib.rs" => [".cargo/config.toml"];
    "a program at home": PY, "tool ruff.toml", "$HOME/bin/lint", "printf '#!/bin/sh\\nexit 0\\n' > $HOME/bin/lint; echo '# x' >> app.py" => ["bin/lint"];
}
