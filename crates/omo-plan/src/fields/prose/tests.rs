//! Files and commands that sentences of plans name.

use super::*;

fn shown(text: &str) -> (String, String) {
    let document = MarkdownDocument::read("");
    let found = read_prose(&document, text, &[]);
    let files = found
        .files
        .iter()
        .map(|file| format!("{}{}", if file.is_optional { "?" } else { "" }, file.path));
    let checks = found.checks.iter().map(|check| check.command.clone());
    (
        files.collect::<Vec<_>>().join(";"),
        checks.collect::<Vec<_>>().join(";"),
    )
}

#[test]
fn files_are_those_that_a_sentence_says_are_changed() {
    for (text, expected) in [
        ("Create the parser in src/parse/mod.rs", "src/parse/mod.rs"),
        ("Add `serde` to `Cargo.toml`", "Cargo.toml"),
        ("Write rules into `/Makefile` at the top", "Makefile"),
        ("Review layout of docs/map.md", "?docs/map.md"),
        (
            "Add a table per notes.md to docs/map.md.",
            "?notes.md;docs/map.md",
        ),
        (
            "Update main.rs of the tool in src/bin/main.rs",
            "src/bin/main.rs;?main.rs",
        ),
        ("Use Node.js and `Foo.bar()` at https://a.example/b.js", ""),
        ("Create `<dir>/a.rs` and `src/{name}.rs`", ""),
        ("Create `src/app/` and ../out.rs and ~/x.sh", ""),
        ("`app/[id]/page.tsx`を作る", "app/[id]/page.tsx"),
        ("_Files: a/b.ts, a/c.ts_", "a/b.ts;a/c.ts"),
        ("Fix `a.rs:10-20` and .gitignore", "a.rs;.gitignore"),
        (
            "Add a form to app/(shop)/(cart)/page.tsx (new)",
            "app/(shop)/(cart)/page.tsx",
        ),
        (
            "Update `src/routes/(app)/[id]/+page.svelte`: a hint",
            "src/routes/(app)/[id]/+page.svelte",
        ),
        ("Change save(a.b) and list/(all) of lib/(x", ""),
        (
            "Add a check in src/Cart.php::total() and in `src/cart.py::Cart`",
            "src/Cart.php;src/cart.py",
        ),
    ] {
        let (files, _) = shown(text);
        let sorted = |list: &str| {
            let mut list: Vec<String> = list.split(';').map(str::to_owned).collect();
            list.sort();
            list
        };
        assert_eq!(sorted(&files), sorted(expected), "{text}");
    }
}

#[test]
fn checks_are_the_commands_that_show_that_a_task_is_done() {
    for (text, expected) in [
        (
            "Run `cargo test -p a` and fix what fails",
            "cargo test -p a",
        ),
        (
            "Verify everything (`npm run lint`, `npm test`)",
            "npm run lint;npm test",
        ),
        ("Run `npm install` to update the lock file", ""),
        ("Start with `npm run dev` and check the page", ""),
        ("Add a script `npm run check` to package.json", ""),
        (
            "Implement the parser; verify `cargo test parse` passes",
            "cargo test parse",
        ),
        (
            "Write `words/1.txt` and run `grep -q one words/1.txt`",
            "grep -q one words/1.txt",
        ),
        ("Make the installer run `grep -q x a.txt` first", ""),
        ("Add a job that runs `cargo test`", ""),
        (
            "Run all tests with uv run pytest tests/ -k \"a and b\"",
            "uv run pytest tests/ -k \"a and b\"",
        ),
        ("Run the linter (npm run lint)", "npm run lint"),
        ("Run pytest to see that all is well", ""),
        ("`pnpm quality` による品質チェック", "pnpm quality"),
        ("Run `cargo test <name>` for each", ""),
        ("Run `(cd api && make test)`", "(cd api && make test)"),
        ("Run npm run lint in the folder web", "npm run lint"),
        (
            "Run the gate: `npm test`, `npm run cycles`, and `npm install`",
            "npm test;npm run cycles",
        ),
        (
            "文案自检：`python3 tools/check_texts.py`",
            "python3 tools/check_texts.py",
        ),
        ("Run mypy type check on the api", ""),
        ("Verify the login with test account ann@example.com", ""),
        ("Verify all targets with `make help`", "make help"),
    ] {
        assert_eq!(shown(text).1, expected, "{text}");
    }
}
