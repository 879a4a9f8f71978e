//! The files that a check runs, however its command names them: one that is always green is named.

use super::{Honest, PLAIN, PY};

/// A file that judges, and that always does.
macro_rules! named {
    ($command:literal, $file:literal, $before:literal, $after:literal) => {
        Honest {
            name: $command,
            files: PY,
            before: concat!(
                "mkdir -p $(dirname ",
                $file,
                "); printf '",
                $before,
                "\\n' > ",
                $file
            ),
            check: $command,
            change: concat!("printf '", $after, "\\n' > ", $file),
            named: &[concat!("changed ", $file), "tests run now is not known"],
            ..PLAIN
        }
    };
}
macro_rules! makefile {
    ($command:literal, $file:literal) => {
        named!(
            $command,
            $file,
            "check:\\n\\tpython3 -m unittest discover",
            "check:\\n\\ttrue"
        )
    };
}
macro_rules! script {
    ($command:literal, $file:literal) => {
        named!($command, $file, "python3 -m unittest discover", "exit 0")
    };
}
macro_rules! program {
    ($command:literal, $file:literal) => {
        named!(
            $command,
            $file,
            "import subprocess, sys\\nsys.exit(subprocess.call([sys.executable, \"-m\", \"unittest\", \"discover\"]))",
            ""
        )
    };
}

pub(super) const ROWS: &[Honest] = &[
    makefile!("make -f ci.mk check", "ci.mk"),
    makefile!("make -fci.mk check", "ci.mk"),
    makefile!("make -Cci check", "ci/Makefile"),
    makefile!("make --directory=ci check", "ci/Makefile"),
    makefile!("bash -c 'make check'", "Makefile"),
    makefile!("eval 'make check'", "Makefile"),
    script!("timeout -s KILL 60 sh check.sh", "check.sh"),
    script!("stdbuf -oL sh check.sh", "check.sh"),
    script!("env -u FOO sh check.sh", "check.sh"),
    script!("{ sh check.sh; }", "check.sh"),
    script!("sh $(pwd)/check.sh", "check.sh"),
    script!("sh \"$PWD/check.sh\"", "check.sh"),
    script!("f=check.sh; sh $f", "check.sh"),
    script!("cat check | sh", "check"),
    script!("sh < check", "check"),
    script!("ls ci.d/*.sh | xargs -n1 sh", "ci.d/a.sh"),
    script!(
        "for f in ci.d/*.sh; do sh \"$f\" || exit 1; done",
        "ci.d/a.sh"
    ),
    script!(
        "cp check.sh \"$HOME/copy.sh\" && sh \"$HOME/copy.sh\"",
        "check.sh"
    ),
    makefile!(
        "cd \"$(git rev-parse --show-toplevel)\" && make check",
        "Makefile"
    ),
    makefile!("(cd / && true) && make check", "Makefile"),
    makefile!("make -sC ci check", "ci/Makefile"),
    makefile!("cd -- ci && make check", "ci/Makefile"),
    script!(
        "sh \"$(git rev-parse --show-toplevel)/ci/check.sh\"",
        "ci/check.sh"
    ),
    script!("D=ci; sh $D/check.sh", "ci/check.sh"),
    script!("find ci.d -name '*.sh' -exec sh {} +", "ci.d/a.sh"),
    script!("for f in ci.d/*; do sh $f || exit 1; done", "ci.d/a"),
    script!("bash ci/chec*.sh", "ci/check.sh"),
    script!("sh -c \"$(cat ci/check)\"", "ci/check"),
    script!("sh ./c\\heck.sh", "check.sh"),
    program!("python3 -m checks.run", "checks/run.py"),
    program!("python3 checks", "checks/__main__.py"),
];
