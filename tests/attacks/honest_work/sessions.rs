//! Runs, reviews, and what their user does meanwhile.

use super::Turn::{Asks, Objects, Prompt, Red, Resumed, Shell, Unanswered, Verified};
use super::{Honest, PLAIN, PY, UNITTEST, rows};

/// Red at its first run of now, as it is by chance.
const FLAKY: &str = "test -f $HOME/once || { grep -q 'b + 0' app.py && touch $HOME/once; false; } && python3 -m unittest discover";

rows! {
    "no review": PY, "", UNITTEST, "fix", options = "--no-review";
    "no review, pytest": PY, "", "/usr/bin/python3 -m pytest -q", "fix; sed 's/All/More/' test_app.py > test_more.py", options = "--no-review";
    "no review, a setting without need": PY, "", UNITTEST, "fix; echo '[mypy]' > mypy.ini; echo 'root = true' > .editorconfig", options = "--no-review";
    "shown by its tests": PY, "", UNITTEST, "fix", options = "--prove";
    "shown by a new test": PY, "", UNITTEST, "fix; echo 'def twice(a): return 2 * a' >> app.py; sed 's/import add/import twice/; s/add(1, 0), 1/twice(1), 2/; s/add(0, 0)/twice(0)/; s/add(1, 1)/twice(1)/; s/All/Twice/' test_app.py > test_twice.py", options = "--prove --no-review";
    "several checks": PY, "", UNITTEST, "fix", options = "--check \"python3 -m py_compile app.py\" --check \"test -f app.py\"";
    "red, then green": PY, "", UNITTEST, "echo '# nothing yet' >> app.py", turns = &[Red, Shell("fix")];
    "by chance red once": PY, "", FLAKY, "fix", turns = &[Red] => ["was red on the same files before"];
    "rejected once": PY, "", UNITTEST, "fix", turns = &[Objects, Shell("echo '# no overflow' >> app.py")];
    "a review asked for twice": PY, "", UNITTEST, "fix", turns = &[Unanswered("")];
    "a build folder written meanwhile": PY, "echo build >> .gitignore", "mkdir -p build && cp app.py build && python3 -m unittest discover", "fix", turns = &[Unanswered("echo log > build/log.txt")];
    "a check added": PY, "", UNITTEST, "fix", turns = &[Asks("/omo:check add python3 -m py_compile app.py")];
    "two runs": PY, "", UNITTEST, "fix", turns = &[Verified, Prompt("/omo:ulw --check \"python3 -m unittest\" say more"), Shell("echo '# more' >> app.py")];
    "a session that is resumed": PY, "", UNITTEST, "fix", turns = &[Resumed];
    "a second task": PY, "", UNITTEST, "fix", turns = &[Prompt("ulw and say it in the README"), Shell("echo sums > README.md")];
    "commits, stashes and branches": PY, "", UNITTEST, "fix; git stash -q; git stash pop -q; git switch -qc work; git commit -qam fix; git commit -q --allow-empty -m empty; git commit -q --amend --allow-empty -m more
        echo x > y; git add y; git commit -qm y; git switch -q main; git merge -q --no-ff -m merge work; echo z > z; git add z";
    "another branch": PY, "", UNITTEST, "git switch -qc work; fix; git commit -qam fix";
    "a commit of its user's": PY, "", UNITTEST, "fix", turns = &[Shell("echo note > NOTES.md; git add NOTES.md; git commit -qm note")];
    "a submodule": PY, "git init -q $HOME/sub; git -C $HOME/sub commit -q --allow-empty -m s; git -c protocol.file.allow=always submodule -q add $HOME/sub sub", UNITTEST, "fix";
    "a folder of a repository": PY, "rm -rf .git; git -C .. init -q -b main; echo /home > ../.gitignore", UNITTEST, "fix; echo more > ../README.md";
    "a linked worktree": PY, "", UNITTEST, "fix; git worktree add -q $HOME/other";
    "an unreadable file": PY, "echo secret > .secret; echo .secret >> .gitignore; chmod 0 .secret", UNITTEST, "fix";
    "a tag in backticks": PY, "", UNITTEST, "fix", review = "All of it is there.\n\n`<promise>VERIFIED</promise>`";
    "a tag in bold": PY, "", UNITTEST, "fix", review = "All of it is there.\n\n**<promise>VERIFIED</promise>**";
    "a tag before an emoji": PY, "", UNITTEST, "fix", review = "All of it is there.\n<promise>VERIFIED</promise> ✅";
    "a tag in a numbered list": PY, "", UNITTEST, "fix", review = "1. The sum is right.\n2. <promise>VERIFIED</promise>";
    "a tag in backticks behind a sentence": PY, "", UNITTEST, "fix", review = "All of it is there: each test passes. `<promise>VERIFIED</promise>`.";
}
