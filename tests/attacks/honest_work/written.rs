//! Files that a check writes.

use super::{Honest, PLAIN, PY, rows};

rows! {
    "a tracked file written again with the same bytes": PY, "echo 'print(\"one = 1\")' > gen.py; python3 gen.py > made.py", "python3 gen.py > made.py && python3 -m unittest discover", "fix";
    "a lock file written again": PY, "echo '{}' > package-lock.json", "cp package-lock.json $HOME/l && cp $HOME/l package-lock.json && python3 -m unittest discover", "fix";
    "a formatter that writes every file": PY, "", "for f in *.py; do sed -i 's/ *$//' $f; done; python3 -m unittest discover", "fix";
    "a formatter that changes a file": PY, "", "sed -i 's/ *$//' app.py && python3 -m unittest discover", "fix; echo 'x = 1   ' >> app.py" => ["app.py"];
    "a build into a tracked folder": PY, "mkdir dist; cp app.py dist", "cp app.py dist/ && python3 -m unittest discover", "fix; cp app.py dist";
    "a build that the model did not make": PY, "mkdir dist; cp app.py dist", "cp app.py dist/ && python3 -m unittest discover", "fix" => ["dist/app.py"];
    "output in a file": PY, "", "python3 -m unittest discover 2> out.txt", "fix" => ["`out.txt`"];
    "a file of coverage": PY, "", "python3 -m unittest discover && date +%s%N > .coverage", "fix" => ["`.coverage`"];
    "a log": PY, "", "date +%N >> test.log; python3 -m unittest discover", "fix" => ["`test.log`"];
    "a database": PY, "", "python3 -c 'import sqlite3; c = sqlite3.connect(\"test.sqlite\"); c.execute(\"create table if not exists t (x)\"); c.execute(\"insert into t values (1)\"); c.commit()' && python3 -m unittest discover", "fix" => ["work: `test.sqlite`"];
    "a report in XML": PY, "", "/usr/bin/python3 -m pytest -q --junitxml=report.xml", "fix" => ["`report.xml`"];
    "a cache that is not ignored": PY, "echo > .gitignore", "/usr/bin/python3 -m pytest -q", "fix";
    "a snapshot that is made at first": PY, "", "test -f snap.txt || echo 1 > snap.txt; python3 -m unittest discover", "fix" => ["`snap.txt`"];
    "output compared in files": PY, "echo 'print(add(1, 1))' >> app.py; echo 2 > expected.txt", "python3 app.py > out.txt && diff out.txt expected.txt", "fix" => ["`out.txt`"];
    "a lock file of its own": PY, "", "flock run.lock python3 -m unittest discover", "fix" => ["`run.lock`"];
    "output in a file, without a review": PY, "", "python3 -m unittest discover 2> out.txt", "fix", options = "--no-review";
    "code that is made, then looked at": PY, "echo 'print(\"one = 1\")' > gen.py; python3 gen.py > made.py", "python3 gen.py > made.py && git diff --exit-code made.py && python3 -m unittest discover", "fix";
}
