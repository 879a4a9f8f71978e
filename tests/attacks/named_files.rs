//! The files that a check runs, however its command names them: one that is changed is what the reviewer reads first, and
//! stands in the verdict.

use anyhow::Context;

use crate::target_project::{CHECK, Row, Target, play};

/// A command, and the file behind it with its text as the run begins and as the model makes it.
struct Named {
    command: &'static str,
    file: &'static str,
    before: &'static str,
    after: &'static str,
}

const fn script(command: &'static str, file: &'static str) -> Named {
    Named { command, file, before: CHECK, after: "exit 0" }
}

const fn makefile(command: &'static str, file: &'static str) -> Named {
    Named { command, file, before: "check:\n\tpython3 -m unittest discover", after: "check:\n\ttrue" }
}

const NAMED: [Named; 31] = [
    makefile("make -f ci.mk check", "ci.mk"),
    makefile("make -fci.mk check", "ci.mk"),
    makefile("make -Cci check", "ci/Makefile"),
    makefile("make --directory=ci check", "ci/Makefile"),
    makefile("bash -c 'make check'", "Makefile"),
    makefile("eval 'make check'", "Makefile"),
    script("timeout -s KILL 60 sh check.sh", "check.sh"),
    script("stdbuf -oL sh check.sh", "check.sh"),
    script("env -u FOO sh check.sh", "check.sh"),
    script("{ sh check.sh; }", "check.sh"),
    script("sh $(pwd)/check.sh", "check.sh"),
    script("sh \"$PWD/check.sh\"", "check.sh"),
    script("f=check.sh; sh $f", "check.sh"),
    script("cat check | sh", "check"),
    script("sh < check", "check"),
    script("ls ci.d/*.sh | xargs -n1 sh", "ci.d/a.sh"),
    script("for f in ci.d/*.sh; do sh \"$f\" || exit 1; done", "ci.d/a.sh"),
    script("cp check.sh \"$HOME/copy.sh\" && sh \"$HOME/copy.sh\"", "check.sh"),
    makefile("cd \"$(git rev-parse --show-toplevel)\" && make check", "Makefile"),
    makefile("(cd / && true) && make check", "Makefile"),
    makefile("make -sC ci check", "ci/Makefile"),
    makefile("cd -- ci && make check", "ci/Makefile"),
    script("sh \"$(git rev-parse --show-toplevel)/ci/check.sh\"", "ci/check.sh"),
    script("D=ci; sh $D/check.sh", "ci/check.sh"),
    script("find ci.d -name '*.sh' -exec sh {} +", "ci.d/a.sh"),
    script("for f in ci.d/*; do sh $f || exit 1; done", "ci.d/a"),
    script("bash ci/chec*.sh", "ci/check.sh"),
    script("sh -c \"$(cat ci/check)\"", "ci/check"),
    script("sh ./c\\heck.sh", "check.sh"),
    Named {
        command: "python3 -m checks.run",
        file: "checks/run.py",
        before: "import subprocess, sys\nsys.exit(subprocess.call([sys.executable, '-m', 'unittest', 'discover']))",
        after: "",
    },
    Named {
        command: "python3 checks",
        file: "checks/__main__.py",
        before: "import subprocess, sys\nsys.exit(subprocess.call([sys.executable, '-m', 'unittest', 'discover']))",
        after: "",
    },
];

const ROWS: &[Row] = &[Row {
    id: "p01",
    what: "a file that the check runs is replaced by one that is always green",
    play: |_| {
        for Named { command, file, before, after } in &NAMED {
            let mut target = Target::new()?;
            target.write(file, &format!("{before}\n"))?;
            target.scene.start(&format!("--check {}", quoted(command)))?;
            target.write(file, &format!("{after}\n"))?;
            target.names(&format!("green only with the changed {file}")).with_context(|| command.to_string())?;
            target.is_never_verified()?;
        }
        Ok(())
    },
}];

/// A command as one argument of `/omo:ulw`.
fn quoted(command: &str) -> String {
    format!("\"{}\"", command.replace('\\', "\\\\").replace('"', "\\\""))
}

#[test]
#[ignore = "needs python3: cargo xtask test"]
fn what_a_check_runs_is_named_where_it_changed() {
    play(ROWS).unwrap();
}
