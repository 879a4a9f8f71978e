//! The fence around a session of a plan: forbidden actions, and ordinary work that goes through.

use omo_engine::fence::{FenceRefusal, FenceRules, RULES_VERSION, ToolAction, WorktreeFence};
use proptest::prelude::*;

const ROOT: &str = "/home/u/shop/.claude/worktrees/omo-r1-2";

fn rules() -> FenceRules {
    FenceRules {
        version: RULES_VERSION,
        main_checkout: "/home/u/shop".to_owned(),
        writable: vec!["/tmp/omo-r1-2".to_owned()],
        readable: vec!["/home/u/shop/.git/omo/runs/r1".to_owned()],
        never_touch: ["src/db/", "*.lock", "link", "paths/{id}.yaml", "app/[id]/"]
            .map(str::to_owned)
            .to_vec(),
    }
}

/// Links lead out of the worktree from `out`, into a forbidden folder from `data`, out of that from `link`, and in a
/// circle from `circle`. The rest is in place.
fn follow(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
    {
        match part {
            ".." => _ = parts.pop(),
            "out" => parts = vec!["home", "u", "shop"],
            "data" => parts.extend(["src", "db"]),
            "link" => parts.push("src"),
            "circle" => return None,
            part => parts.push(part),
        }
    }
    Some(format!("/{}", parts.join("/")))
}

fn refusal(action: ToolAction, folder: &str) -> Option<FenceRefusal> {
    WorktreeFence {
        root: ROOT,
        rules: &rules(),
        home: Some("/home/u"),
    }
    .refusal(action, Some(folder), &follow)
}

fn of(command: &str) -> Option<FenceRefusal> {
    refusal(ToolAction::Run(command), ROOT)
}

#[test]
fn only_files_of_the_worktree_are_written() {
    let never = |path: &str, pattern: &str| {
        Some(FenceRefusal::NeverTouch(
            path.to_owned(),
            pattern.to_owned(),
        ))
    };
    let outside = |path: &str| Some(FenceRefusal::OutsideWorktree(path.to_owned()));
    let at = |path: &str| format!("{ROOT}/{path}");
    for (path, expected) in [
        (at("src/a.rs").as_str(), None),
        ("src/a.rs", None),
        (&at("src/../src/./a.rs"), None),
        ("/tmp/omo-r1-2/notes.md", None),
        (&at(".gitignore"), None),
        (
            &at("src/db/schema.rs"),
            never(&at("src/db/schema.rs"), "src/db/"),
        ),
        (
            &at("SRC/DB/schema.rs"),
            never(&at("SRC/DB/schema.rs"), "src/db/"),
        ),
        (
            &at("src/x/../db//schema.rs"),
            never(&at("src/x/../db//schema.rs"), "src/db/"),
        ),
        (
            &at("data/schema.rs"),
            never(&at("data/schema.rs"), "src/db/"),
        ),
        ("link/a.rs", never("link/a.rs", "link")),
        ("Cargo.lock", never("Cargo.lock", "*.lock")),
        (
            "paths/{id}.yaml",
            never("paths/{id}.yaml", "paths/{id}.yaml"),
        ),
        ("app/[id]/page.tsx", never("app/[id]/page.tsx", "app/[id]/")),
        ("app/about/page.tsx", None),
        ("/home/u/shop/src/a.rs", outside("/home/u/shop/src/a.rs")),
        (
            "/home/u/shop/.claude/worktrees/omo-r1-22/a",
            outside("/home/u/shop/.claude/worktrees/omo-r1-22/a"),
        ),
        (
            "/home/u/shop/.claude/worktrees/OMO-r1-2/a",
            outside("/home/u/shop/.claude/worktrees/OMO-r1-2/a"),
        ),
        (&at("../../../src/a.rs"), outside(&at("../../../src/a.rs"))),
        (&at("out/src/a.rs"), outside(&at("out/src/a.rs"))),
        (&at("out/../x"), outside(&at("out/../x"))),
        (
            &at("circle/a.rs"),
            Some(FenceRefusal::Unclear(
                "a link in the path cannot be followed",
            )),
        ),
        ("/etc/hosts", outside("/etc/hosts")),
        ("/tmp/omo-r1-3/notes.md", outside("/tmp/omo-r1-3/notes.md")),
        (&at(".git"), Some(FenceRefusal::GitInternal(at(".git")))),
        (
            &at("sub/.GIT/config"),
            Some(FenceRefusal::GitInternal(at("sub/.GIT/config"))),
        ),
    ] {
        assert_eq!(refusal(ToolAction::Write(path), ROOT), expected, "{path}");
    }
    assert_eq!(refusal(ToolAction::Write("../a.rs"), &at("src")), None);
    assert_eq!(
        refusal(ToolAction::Write("../../a.rs"), &at("src")),
        outside("../../a.rs")
    );
}

const HARMLESS: [&str; 80] = [
    "cargo test",
    "cargo test -p shop -- --nocapture 2>&1 | tail -20",
    "cargo build --manifest-path=./Cargo.toml && cargo clippy",
    "npm run build",
    "npm ci --prefix web",
    "cd src && make",
    "cd src && cat ../Cargo.toml",
    "(cd src && make) && ls src/..",
    "cd web && npm test -- ../web/a.test.js; cd -",
    "pushd src && ls && popd",
    "cat /home/u/shop/.claude/worktrees/omo-r1-2/src/../Cargo.toml",
    "cd /home/u/shop/.claude/worktrees/omo-r1-2 && cargo test",
    "cd \"$OMO_ROOT\" && ls",
    "for d in a b; do (cd $d && make); done",
    "git status",
    "git status --short --branch",
    "git diff",
    "git diff main...HEAD -- src/a.rs",
    "git --no-pager -c core.pager=cat log --oneline -5",
    "git log --oneline main..HEAD",
    "git show HEAD:src/a.rs",
    "git add -A src",
    "git commit -m 'Do not push, stash or rebase; git push is for later'",
    "git commit -m \"$(cat <<'EOF'\nSay what `git stash` does\n\ngit push /home/u/shop\nEOF\n)\"",
    "git commit -m '../x is gone, and ../../y as well'",
    "git restore src/a.rs",
    "git restore --staged .",
    "git checkout -- src/a.rs",
    "git checkout HEAD -- src/a.rs src/b.rs",
    "git reset HEAD src/a.rs",
    "git -C src status",
    "git -C . add a.rs && git rm b.rs && git mv c.rs d.rs",
    "git branch --show-current",
    "git branch --contains HEAD 2>/dev/null",
    "git rev-parse --show-toplevel",
    "git blame -L 1,5 src/a.rs",
    "git merge-base main HEAD",
    "git stash-like 2>/dev/null || true",
    "omo agent next --run r1 --group 2",
    "omo agent start 3 --run r1",
    "omo agent done --ticket 4f --note 'git config was left alone'",
    "omo agent fail --ticket 4f --reason \"it needs git worktree\"",
    "grep -rn 'git push' docs",
    "rg -n \"GIT_DIR=\" src | head",
    "echo 'cd /home/u' > notes.txt",
    "echo done # git push",
    "cat > src/a.rs <<'EOF'\nfn main() { /* git stash; cd / */ }\nEOF",
    "cat <<EOF >> README.md\nuse `date` and git push\nEOF",
    "python3 -c 'print(1)' > /dev/null",
    "python3 - <<'EOF'\nimport os\nprint('git push')\nEOF",
    "sed -i 's/../x/' src/a.rs",
    "sed -i 's#git clean#make clean#' Makefile",
    "find . -name '*.rs' -not -path './.git/*' | xargs wc -l",
    "find src -name '*.o' -exec rm {} +",
    "timeout 60 npm test",
    "env RUST_LOG=debug cargo test",
    "PORT=4002 TMPDIR=/tmp/omo-r1-2 node server.js &",
    "tail -50 /home/u/shop/.git/omo/runs/r1/checks/3.log",
    "ls /usr/lib/../include /home/u/shop-2 /srv/home/u/shop",
    "curl -s http://127.0.0.1:$PORT/a/../b",
    "case $1 in push) echo no;; esac",
    "test -f src/db/schema.rs && wc -c < src/db/schema.rs",
    "bash scripts/check.sh && sh -c 'cargo fmt --check'",
    "cd src/db && cargo test 2>&1 | tail -5",
    "cd src/db && ls >&2 && ls 2>&-",
    "time -p cargo test",
    "cd \"$PWD/src\" && cat $(pwd)/../Cargo.toml",
    "echo $((1 << 4)) > bits.txt",
    "git remote -v && git notes list",
    "echo 'git push comes later' >> notes.md",
    "echo 'the tests' | cat",
    "diff <(git show HEAD:src/a.rs) src/a.rs",
    "cargo test 2>&1 | tee >(grep -c passed > count.txt)",
    "paste <(cd src && ls) <(ls tests)",
    "echo $$ > server.pid && kill $$",
    "mkdir /tmp/omo-r1-2/$$ && echo \"shell $$\"",
    "echo ${NAME:-git push} ${NAME#*/}; ls",
    "echo \"${NAME:-(git stash; cd ..)}\"",
    "echo ${ git status; } \"${| ls src; }\"",
    "cd ${OMO_ROOT}/src && ls ..",
];

const REFUSED: [&str; 117] = [
    "git stash",
    "git stash pop",
    "git push",
    "git push origin HEAD",
    "git pull",
    "git fetch --all",
    "git worktree add ../x",
    "git worktree list",
    "git config user.name x",
    "git reset --hard",
    "git reset --hard HEAD~3",
    "git clean -fdx",
    "git checkout main",
    "git checkout -b x",
    "git checkout -",
    "git switch -c x",
    "git branch -D omo/r1/1",
    "git branch x",
    "git tag v1",
    "git update-ref refs/heads/main HEAD",
    "git symbolic-ref HEAD refs/heads/main",
    "git gc --prune=now",
    "git remote add x y",
    "git rebase main",
    "git merge main",
    "git bisect start",
    "git filter-branch --all",
    "git reflog expire --all",
    "git -C /home/u/shop status",
    "git -C ../.. log",
    "git -C src -C ../.. log",
    "git -C out status",
    "git --git-dir=/home/u/shop/.git log",
    "git --git-dir .git log",
    "git --work-tree=/tmp status",
    "git -c alias.s=stash s",
    "GIT_DIR=/home/u/shop/.git git log",
    "GIT_WORK_TREE=/x git status",
    "GIT_INDEX_FILE=/tmp/i git add .",
    "export GIT_DIR=x",
    "env GIT_DIR=/x git status",
    "cd ..",
    "cd /",
    "cd",
    "cd ~",
    "cd ~/shop && ls",
    "cd $HOME/shop && ls",
    "cd /home/u/shop && git status",
    "cd out && ls",
    "cd out/.. && ls",
    "cd src && cd ../..",
    "cd -P /tmp",
    "pushd /tmp",
    "ls ..",
    "cat ../../../package.json",
    "cat src/../../x",
    "cp src/a.rs ../x",
    "cp src/a.rs /home/u/shop/src/a.rs",
    "cp src/a.rs ~/shop/src/",
    "cat /tmp/../home/u/shop/x",
    "cp a /HOME/u/Shop/a",
    "cat /srv/out/src/a.rs",
    "cp a --target-directory=/srv/out",
    "ls --directory=/home/u/shop",
    "cc -I/home/u/shop/include a.c",
    "python3 -c \"open('/home/u/shop/a', 'w')\"",
    "echo x > /home/u/shop/a",
    "echo x > out/a",
    "echo x > ../a",
    "echo x >> src/db/schema.rs",
    "echo x >> data/schema.rs",
    "echo x > link/a.rs",
    "make --directory=../..",
    "cd $OMO_ROOT && cd ..",
    "cd ${OMO_ROOT}/src/../..",
    "echo x > .git",
    "cat ../../../Cargo.toml | head",
    "/usr/bin/git push",
    "\\git push",
    "'git' \"pu\"sh",
    "sudo -u root git push",
    "command git push",
    "echo main | xargs git checkout main",
    "find . -name x -exec git clean -fd \\;",
    "timeout -k 5 60 git stash",
    "sh -c 'git stash'",
    "bash -lc \"cd src && git push\"",
    "bash -o pipefail -c 'git push | cat'",
    "bash <<'EOF'\ngit push\nEOF",
    "eval git push",
    "trap 'git push' EXIT",
    "alias p='git push'; p",
    "echo 'git push' | sh",
    "printf 'cd ..\\ngit push\\n' | bash -s",
    "busybox sh -c 'git push'",
    "strace -f git push",
    "git remote -v update",
    "time -p git push",
    "exec -a name git push",
    "cat <<'EOF' | bash\ngit push\nEOF",
    "bits=$((1 << 4))\ngit push",
    "cat $PWD/../../../x",
    "cd $(pwd)/../../.. && ls",
    "cd \"${PWD}/..\" && ls",
    "echo x > `pwd`/src/db/schema.rs",
    "diff <(git stash list) a",
    "tee >(git push) < a",
    "cat <(cd .. && ls)",
    "ls > >(cat > ../x)",
    "echo $$; git push",
    "echo $$ && cat ../x",
    "echo ${ git push; }",
    "echo \"${| git push; }\"",
    "echo ${\tcd ..; ls; }",
    "echo ${NAME:-$(git push)}",
    "echo \"${NAME:-`git push`}\"",
    "echo ${NAME:-'}'}; git push",
];

#[test]
fn ordinary_work_goes_through() {
    for command in HARMLESS {
        assert_eq!(of(command), None, "{command}");
    }
}

#[test]
fn what_reaches_beyond_the_worktree_is_refused() {
    for command in REFUSED {
        assert!(of(command).is_some(), "{command}");
    }
}

#[test]
fn a_command_is_found_wherever_it_stands() {
    for command in REFUSED {
        let quoted = shlex::try_quote(command).unwrap();
        for within in [
            format!("ls; {command}"),
            format!("ls && {command}"),
            format!("ls || {command}"),
            format!("ls\n{command}"),
            format!("ls | {command}"),
            format!("if true; then {command}\nfi"),
            format!("({command}\n)"),
            format!("echo $({command}\n)"),
            format!("echo \"$({command}\n)\""),
            format!("sh -c {quoted}"),
            format!("env X=1 bash -ec {quoted}"),
            format!("time sh -c {quoted}"),
        ] {
            assert!(of(&within).is_some(), "{within}");
        }
    }
}

#[test]
fn where_a_session_stands_counts() {
    let src = format!("{ROOT}/src");
    assert_eq!(
        refusal(ToolAction::Run("cat ../Cargo.toml && cd .."), &src),
        None
    );
    assert!(refusal(ToolAction::Run("cat ../../Cargo.toml"), &src).is_some());
    assert_eq!(
        refusal(ToolAction::Run("ls"), "/home/u/shop"),
        Some(FenceRefusal::LeavesWorktree("/home/u/shop".to_owned()))
    );
    assert_eq!(
        refusal(ToolAction::Run(&format!("cd {ROOT} && ls")), "/home/u/shop"),
        None
    );
    assert_eq!(
        refusal(ToolAction::Write("a.rs"), "/home/u/shop"),
        Some(FenceRefusal::OutsideWorktree("a.rs".to_owned()))
    );
    assert_eq!(
        refusal(ToolAction::SpawnAgent, ROOT),
        Some(FenceRefusal::SpawnsAgent)
    );
    assert_eq!(
        of("cd - && cat ../../x"),
        None,
        "it is unknown where that is"
    );
    assert_eq!(of("cd src; (cd ..; ls); cat ../Cargo.toml"), None);
    assert_eq!(of("cd src; echo $(cd ..; pwd); cat ../Cargo.toml"), None);
}

#[test]
fn what_is_said_names_what_was_wrong_and_what_to_do() {
    for (command, expected) in [
        (
            "git stash",
            "This session works in a worktree of its own, and `git stash` reaches beyond it. `git restore FILE` restores a file, and omo brings the work together. If the step cannot be done like that, say so with `omo agent fail`.",
        ),
        (
            "cd /tmp",
            "This session works in a worktree of its own, and `/tmp` is not in it. Name files from a folder of the worktree. If the step cannot be done like that, say so with `omo agent fail`.",
        ),
    ] {
        assert_eq!(of(command).unwrap().to_string(), expected);
    }
    let wild = of(&format!("cd '/\u{1b}[2J`x`\n{}'", "y".repeat(10_000)))
        .unwrap()
        .to_string();
    assert!(
        !wild.contains(char::is_control) && wild.chars().count() < 500,
        "{wild}"
    );
}

#[test]
fn what_cannot_be_looked_through_is_refused() {
    let deep = format!("{}ls{}", "$(".repeat(1_000), ")".repeat(1_000));
    let long = format!("echo {}", "x".repeat(300_000));
    let again = format!("env {}", "eval ".repeat(40_000));
    let git = format!("env {}", "git -c ".repeat(30_000));
    for command in [deep, long, again, git] {
        assert!(
            matches!(of(&command), Some(FenceRefusal::Unclear(_))),
            "{command:.60}"
        );
    }
}

/// A quadratic comparison of words would end none of these within a test.
#[test]
fn no_command_line_costs_more_than_its_length() {
    let root = format!("{ROOT}/=").repeat(1_000);
    for command in [
        "/home/u/shop=".repeat(8_000),
        root,
        "cat <<A ".repeat(30_000),
    ] {
        assert_eq!(of(&command), None, "{command:.60}");
    }
}

proptest! {
    #[test]
    fn no_command_line_is_too_strange(command in "[ -~\n]{0,200}", folder in "[/a.]{0,20}") {
        let _ = refusal(ToolAction::Run(&command), &folder);
        let _ = refusal(ToolAction::Write(&command), &folder);
    }

    /// Without the letters of `cd` and `popd`, behind which the folder of the shell is unknown.
    #[test]
    fn shell_signs_hide_nothing_before_a_line_of_its_own(before in "[e-o $&|;>(){}!=/.-]{0,60}", at in 0..REFUSED.len()) {
        let command = REFUSED[at];
        let line = format!("{before} ; true\n{command}\n");
        prop_assert!(of(&line).is_some(), "{line}");
    }
}
