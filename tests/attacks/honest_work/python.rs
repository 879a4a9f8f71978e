//! Tests, scripts and settings of Python.

use super::{Honest, PLAIN, PY, UNITTEST, rows};

const PYTEST: &str = "/usr/bin/python3 -m pytest -q";
/// A program whose output is compared.
const PRINTS: &str = "echo 'print(add(1, 1))' >> app.py; echo 2 > expected.txt";
/// A function with three tests.
const DOUBLE: &str = "echo 'def double(a): return 2 * a' > double.py
printf 'import unittest\\nfrom double import double\\n\\nclass Double(unittest.TestCase):\\n' > test_double.py
for n in 1 2 3; do echo \"    def test_$n(self): self.assertEqual(double($n), $n + $n)\" >> test_double.py; done";
/// Tests in a folder of their own, which need a fixture.
const FIXTURE: &str = "mkdir tests; mv test_app.py tests
printf 'import pytest\\n@pytest.fixture\\ndef one(): return 1\\n' > tests/conftest.py
printf 'from app import add\\ndef test_one(one): assert add(one, 0) == 1\\n' > tests/test_one.py";

rows! {
    "unittest": PY, "", UNITTEST, "fix";
    "unittest that names each test": PY, "", "python3 -m unittest -v", "fix";
    "unittest, quiet": PY, "", "python3 -m unittest discover -q", "fix";
    "unittest of one file": PY, "", "python3 -m unittest test_app.py", "fix";
    "unittest of modules": PY, "", "env PYTHONDONTWRITEBYTECODE=1 python3 -m unittest app test_app", "fix";
    "pytest": PY, "", PYTEST, "fix";
    "pytest, very quiet": PY, "", "/usr/bin/python3 -m pytest -qq", "fix";
    "pytest without its cache": PY, "", "/usr/bin/python3 -m pytest --no-header -p no:cacheprovider -rA", "fix";
    "a program whose output is compared": PY, PRINTS, "python3 app.py | diff - expected.txt", "fix";
    "output that a shell compares": PY, PRINTS, "test \"$(python3 app.py)\" = 2", "fix";
    "output in which a line is looked for": PY, PRINTS, "python3 app.py | grep -qx 2", "fix";
    "two checks in one": PY, PRINTS, "/usr/bin/python3 -m pytest -q test_app.py && python3 app.py | cmp - expected.txt", "fix";
    "doctest": PY, "printf '%s\\n' '\"\"\"' '>>> add(1, 1)' 2 '\"\"\"' >> app.py", "python3 -m doctest app.py", "fix";
    "a script of assertions": PY, "echo 'from app import add; assert add(1, 1) == 2' > verify.py", "python3 verify.py", "fix";
    "read, counted, found and compiled first": PY, "", "grep -q return app.py && cat app.py && wc -c app.py | sort && sed -n 1p app.py && find . -name 'app.py' | xargs -n1 python3 -m py_compile && python3 -m unittest discover", "fix";
    "output kept at home": PY, "", "test -f app.py && python3 -m unittest discover > $HOME/out.log", "fix";
    "a test added": PY, "", UNITTEST, "fix; sed 's/class All/class More/' test_app.py > test_more.py";
    "a test added to a file": PY, "", PYTEST, "fix; printf 'def test_more():\n    assert add(2, 2) == 4\n' >> test_app.py";
    "a fixture for a new test": PY, "mkdir tests; mv test_app.py tests", PYTEST,
        "fix; printf 'import pytest\\n@pytest.fixture\\ndef two(): return 2\\n' > tests/conftest.py
         printf 'from app import add\\ndef test_two(two): assert add(two, 0) == 2\\n' > tests/test_two.py";
    "a fixture beside others": PY, FIXTURE, PYTEST,
        "fix; printf '@pytest.fixture\\ndef two(): return 2\\n' >> tests/conftest.py
         printf 'def test_two(two): assert add(two, 0) == 2\\n' >> tests/test_one.py";
    "a setting that the check does not need": PY, "printf '[tool.ruff]\\nline-length = 80\\n' > pyproject.toml", PYTEST,
        "fix; echo 'indent-width = 2' >> pyproject.toml; echo 'root = true' > .editorconfig";
    "a setting that the check needs": PY, "", PYTEST,
        "fix; printf '[tool.pytest.ini_options]\\npythonpath = [\"lib\"]\\n' > pyproject.toml; mkdir lib; mv app.py lib"
        => ["green only with the changed pyproject.toml"];
    "a dependency added": PY, "echo 'attrs==23.1' > requirements.txt; echo '# attrs' > uv.lock", UNITTEST,
        "fix; echo 'idna==3.4' >> requirements.txt; echo '# idna' >> uv.lock";
    "a function removed with its tests": PY, DOUBLE, UNITTEST, "fix; rm double.py test_double.py"
        => ["3 tests gone: test_double.Double.test_1"];
    "three tests merged into a table": PY, DOUBLE, UNITTEST,
        "fix; sed -i '/def test_/d' test_double.py
         printf '    def test_each(self):\\n        for n in 1, 2, 3:\\n            with self.subTest(n): self.assertEqual(double(n), n * 2)\\n' >> test_double.py"
        => ["3 tests gone: test_double.Double.test_1"];
    "tests merged, by pytest": PY, DOUBLE, PYTEST,
        "fix; printf 'import pytest\\nfrom double import double\\n@pytest.mark.parametrize(\"n\", [1, 2, 3])\\ndef test_each(n): assert double(n) == n * 2\\n' > test_double.py"
        => ["3 tests gone: test_double.py::Double::test_1"];
    "a test renamed": PY, DOUBLE, UNITTEST, "fix; sed -i 's/test_3/test_three/' test_double.py" => ["1 test gone: test_double.Double.test_3"];
    "a file of tests renamed": PY, DOUBLE, UNITTEST, "fix; git mv test_double.py test_twice.py";
    "a test skipped on purpose": PY, DOUBLE, UNITTEST,
        "fix; sed -i 's/    def test_3/    @unittest.skip(\"later\")\\n    def test_3/' test_double.py" => ["1 test skipped now: test_double.Double.test_3"];
    "a source file renamed": PY, "", UNITTEST, "fix; git mv app.py sums.py; sed -i 's/from app/from sums/' test_app.py";
    "a function moved": PY, DOUBLE, UNITTEST, "fix; cat double.py >> app.py; rm double.py; sed -i 's/from double/from app/' test_double.py";
    "code deleted": PY, "echo 'def unused(): pass' >> app.py; echo 'x = 1' > unused.py", UNITTEST, "fix; sed -i /unused/d app.py; rm unused.py";
    "a refactoring": PY, DOUBLE, "python3 -m unittest test_double", "echo 'def double(a): return a + a' > double.py";
    "words alone": PY, DOUBLE, "python3 -m unittest test_double", "echo '# Sums' > README.md; mkdir docs; echo sums > docs/a.md";
    "a file that the check names": PY, "", "python3 -m unittest test_new.py", "fix; mv test_app.py test_new.py";
    "a script that the check names": PY, "", "sh check.sh", "fix; echo 'python3 -m unittest discover' > check.sh";
    "a stub and a type checker's setting": PY, "", UNITTEST, "fix; echo 'def add(a: int, b: int) -> int: ...' > app.pyi; echo '[mypy]' > mypy.ini";
    "a port of its own": PY, "sed -i '2i import socket; s = socket.socket(); s.bind((\"127.0.0.1\", 47391))' test_app.py", UNITTEST, "fix";
    "another folder": PY, "mkdir web; mv *.py web", "cd web && python3 -m unittest discover", "cd web; fix";
    "names beyond ASCII": PY, "mkdir größe; printf 'x = 1\\n' > größe/ü.py", UNITTEST, "fix; echo 'x = 2' > größe/ü.py; echo y > 名.txt; echo z > 'a b.txt'";
    "lines of Windows": PY, "sed -i 's/$/\\r/' app.py test_app.py; echo '*.py text' > .gitattributes", UNITTEST, "fix";
    "lines of Windows put right": PY, "sed -i 's/$/\\r/' app.py test_app.py", UNITTEST, "fix; sed -i 's/\\r$//' app.py test_app.py";
    "a file of tests that is run": PY, "printf '\\nif __name__ == \"__main__\":\\n    unittest.main()\\n' >> test_app.py", "python3 test_app.py", "fix";
    "some of the tests": PY, "", "/usr/bin/pytest -x -k 'not zero'", "fix";
    "options in a file": PY, "printf '[pytest]\\naddopts = -q --tb=short\\n' > pytest.ini", "/usr/bin/pytest", "fix";
    "a test skipped from the start": PY, "printf '    @unittest.skip(\"later\")\\n    def test_later(self): pass\\n' >> test_app.py", UNITTEST, "fix";
    "a test skipped no more": PY, "sed -i 's/    def test_two/    @unittest.skip(\"later\")\\n    def test_two/' test_app.py; sed -i 's/a - b/a + b/' app.py", UNITTEST, "sed -i '/skip/d' test_app.py; echo '# x' >> app.py";
    "a folder of sources": PY, "mkdir -p src/pkg tests; mv app.py src/pkg/app.py; touch src/pkg/__init__.py; mv test_app.py tests; sed -i 's/from app/from pkg.app/' tests/test_app.py; printf '[tool.pytest.ini_options]\\npythonpath = [\"src\"]\\n' > pyproject.toml", PYTEST, "sed -i 's/a - b/a + b + 0/' src/pkg/app.py; sed -i 's/src\"/src\", \"lib\"/' pyproject.toml";
    "data of tests": PY, "echo '[1, 0, 2]' > cases.json; printf 'import json, unittest\\nfrom app import add\\nclass D(unittest.TestCase):\\n    def test_d(self):\\n        for a, b, c in [json.load(open(\"cases.json\"))]: self.assertEqual(add(a, b), c)\\n' > test_d.py", UNITTEST, "fix; echo '[1, 0, 1]' > cases.json";
    "a server beside the tests": PY, "", "python3 -m http.server 47392 --bind 127.0.0.1 >/dev/null 2>&1 & p=$!; python3 -m unittest; s=$?; kill $p; exit $s", "fix";
    "a program that may be run": PY, "sed -i '1i #!/usr/bin/env python3' app.py; echo 'if __name__ == \"__main__\": print(add(1, 1))' >> app.py; chmod +x app.py", "test \"$(./app.py)\" = 2", "fix";
    "words that are looked for": PY, "echo x > README.md", "grep -q Usage README.md", "echo Usage > README.md";
    "data that the work reads": PY, "mkdir data; echo -1 > data/sign; printf 'def add(a, b):\\n    return a + int(open(\"data/sign\").read()) * b\\n' > app.py", UNITTEST, "echo 1 > data/sign";
    "data that the work finds by a pattern": PY, "mkdir data; echo -1 > data/sign; printf 'import glob\\ndef add(a, b):\\n    return a + int(open(glob.glob(\"data/*\")[0]).read()) * b\\n' > app.py; printf 'test:\\n\\tpython3 -m unittest\\n' > Makefile", "make test", "echo 1 > data/sign";
    "assertions in the work": PY, "printf 'def add(a, b):\\n    assert a >= 0\\n    assert b >= 0\\n    assert a + b < 9\\n    return a - b\\n' > app.py", UNITTEST, "fix";
    "tests in the file of the work": PY, "cat test_app.py | sed 's/^from app.*//' >> app.py; rm test_app.py", "python3 -m unittest app", "fix";
    "work in a folder of tools": PY, "mkdir tools; cp app.py tools/app.py; sed -i 's/from app/from tools.app/' test_app.py", UNITTEST, "sed -i 's/a - b/a + b/' tools/app.py";
    "a test that was always skipped in a copy": PY, "printf '    @unittest.skipUnless(__import__(\"os\").path.exists(\".git/logs/HEAD\"), \"x\")\\n    def test_more(self): pass\\n' >> test_app.py", UNITTEST, "fix";
    "cases beside their code": PY, "mkdir cases; echo '[1, 0, 2]' > cases/a.json; printf 'import json, unittest\\nfrom app import add\\nclass D(unittest.TestCase):\\n    def test_d(self):\\n        a, b, c = json.load(open(\"cases/a.json\"))\\n        self.assertEqual(add(a, b), c)\\n' > test_d.py", UNITTEST, "fix; echo '[1, 1, 2]' > cases/a.json";
    "a program that ends itself": PY, "", UNITTEST, "fix; printf 'import sys\\ndef main():\\n    sys.exit(0 if add(1, 1) == 2 else 1)\\nif __name__ == \"__main__\":\\n    main()\\n' >> app.py";
    "a script of assertions, and an end of its own": PY, "echo 'from app import add; assert add(1, 1) == 2' > verify.py", "python3 verify.py", "fix; printf 'import atexit\\natexit.register(print)\\n' >> app.py";
    "moved tests": PY, "", PYTEST, "fix; mkdir -p tests; git mv test_app.py tests/test_sums.py; printf 'import sys, os\\nsys.path.insert(0, os.getcwd())\\n' | cat - tests/test_sums.py > x; mv x tests/test_sums.py";
    "class renamed": PY, "", UNITTEST, "fix; sed -i 's/class All/class Sums/' test_app.py";
    "a name with a time": PY, "printf 'import time, os, pytest\\nfrom app import add\\n@pytest.mark.parametrize(\"x\", [str(time.time()), os.getpid(), hex(id(object()))])\\ndef test_x(x): assert add(1, 0) == 1\\ndef test_two(): assert add(1, 1) == 2\\n' > test_app.py", PYTEST, "fix";
    "an inner unittest": PY, "printf '\\n\\nclass Inner(unittest.TestCase):\\n    def test_inner(self):\\n        class Bad(unittest.TestCase):\\n            def test_bad(self): self.fail()\\n        r = unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(Bad))\\n        self.assertFalse(r.wasSuccessful())\\n' >> test_app.py", UNITTEST, "fix";
    "the work is the command": PY, "printf 'import sys\\nsys.exit(add(1, 1) != 2)\\n' >> app.py", "python3 app.py", "fix; echo '# done' >> app.py";
    "a virtual environment that is written to": PY, "echo .venv >> .gitignore; mkdir -p .venv/bin .venv/lib/pkg; printf '#!/bin/sh\\nexec python3 -m unittest -v\\n' > .venv/bin/unit; chmod +x .venv/bin/unit", ".venv/bin/unit", "fix; mkdir -p .venv/lib/__pycache__ .venv/lib/app.dist-info; echo 1 > .venv/lib/__pycache__/a.pyc; echo 1 > .venv/lib/app.dist-info/RECORD; echo 1 > .venv/lib/pkg/new.py; touch .venv/bin/unit; mkdir -p $HOME/.cache; echo 1 > $HOME/.cache/x";
    "settings at home that no runner has": PY, "", UNITTEST, "fix; echo 1 > $HOME/.python_history; mkdir -p $HOME/.config/editor; echo 1 > $HOME/.config/editor/a.toml";
}
