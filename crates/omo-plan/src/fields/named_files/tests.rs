//! Files in every form, and what is wrong with paths.

use super::*;

#[test]
fn files_are_known_in_every_form() {
    for (text, expected) in [
        ("- Create: `src/a.rs`", "Create src/a.rs"),
        ("- **Modify:** `b.rs:10-20`", "Modify b.rs 10-20"),
        ("- Test: `tests/c.rs:7`", "Test tests/c.rs 7"),
        ("- Delete: `d.rs`", "Delete d.rs"),
        ("- `src/build.py`", "Modify src/build.py"),
        ("- `src/e.rs` (new)", "Create src/e.rs"),
        ("`a.rs` (new), `b.rs`", "Create a.rs;Modify b.rs"),
        ("`a.rs` *(new)*; `b.rs` (delete)", "Create a.rs;Delete b.rs"),
        (
            "`a.rs` (new, 40 lines), `b.rs` (lines 3-5)",
            "Create a.rs;Modify b.rs 3-5",
        ),
        (
            "`a.rs`, src/b.rs (new), `c.rs`",
            "Modify a.rs;Create src/b.rs;Modify c.rs",
        ),
        (
            "`a.rs`, `b.rs`, and `c.rs`",
            "Modify a.rs;Modify b.rs;Modify c.rs",
        ),
        ("`a.rs` as `b` is, c.rs", "Modify a.rs"),
        (
            "src/a.rs, src/b.rs (new)",
            "Modify src/a.rs;Create src/b.rs",
        ),
        (
            "`Makefile`, `.gitignore`",
            "Modify Makefile;Modify .gitignore",
        ),
        ("**/*.toml", "Modify **/*.toml"),
        ("`docs/på melding.md`\n\n---", "Modify docs/på melding.md"),
        (
            "`a.rs`, `b.rs` and `c.rs`",
            "Modify a.rs;Modify b.rs;Modify c.rs",
        ),
        ("- Modify: `a.rs` — the `open()` of it", "Modify a.rs"),
        ("- Create `a b.txt`", "Create a b.txt"),
        (
            "- Modify: src/a.rs, src/b.rs (lines)",
            "Modify src/a.rs;Modify src/b.rs",
        ),
        (
            "- Create:\n  - `a.rs`\n  - `b.rs`\n- Modify:\n  - `c.rs`",
            "Create a.rs;Create b.rs;Modify c.rs",
        ),
        ("- tests/a.rs", "Modify tests/a.rs"),
        ("Create `a.rs`; Test `b.rs`", "Create a.rs;Test b.rs"),
        (
            "Create: `a.rs` (x, y), Modify: `b.rs`",
            "Create a.rs;Modify b.rs",
        ),
        (
            "- Test: `a.py::test_it`, `b.py:~10+`",
            "Test a.py;Test b.py ~10+",
        ),
        (
            "- Modify: `a.rs#L3-L9`, `b.rs` lines 3-5",
            "Modify a.rs L3-L9;Modify b.rs 3-5",
        ),
        ("- 新建：`a.rs`\n- 修改: `b.rs`", "Create a.rs;Modify b.rs"),
        (
            "- Test: `tests/a.rs`\n  - `ReadsLines`, `reads_lines`",
            "Test tests/a.rs",
        ),
        (
            "- Modify: `LICENSE`, `CODE_OWNERS`, `Makefile`",
            "Modify LICENSE;Modify CODE_OWNERS;Modify Makefile",
        ),
        ("- Keep: `a.rs` as it is", ""),
        ("- Modify: `npm run build`, `open()`", ""),
        ("none", ""),
        ("- N/A (no files).", ""),
        ("```\n- Create: `x`\n```", ""),
    ] {
        let document = MarkdownDocument::read(text);
        let found = read_files(&document, 0..text.len());
        let shown = found.iter().map(|(file, _)| {
            format!(
                "{:?} {} {}",
                file.action,
                file.path,
                file.lines.as_deref().unwrap_or_default()
            )
            .trim()
            .to_owned()
        });
        assert_eq!(shown.collect::<Vec<_>>().join(";"), expected, "{text}");
        for (file, span) in found {
            assert!(
                text[span.clone()].trim_matches('`').starts_with(&file.path),
                "{text}: {span:?}"
            );
        }
    }
}

#[test]
fn what_is_wrong_with_a_path_is_told() {
    for (path, code) in [
        ("src/a.rs", None),
        ("src/", None),
        (".github/x.yml", None),
        ("../a", Some(Code::PathOutsideRepository)),
        ("/etc/passwd", Some(Code::PathOutsideRepository)),
        ("/home/me/project/src/a.rs", Some(Code::PathAbsolute)),
        ("C:\\work\\a.rs", Some(Code::PathAbsolute)),
        (
            "/home/me/../../etc/passwd",
            Some(Code::PathOutsideRepository),
        ),
        (
            "/home/me/project/.git/config",
            Some(Code::PathOutsideRepository),
        ),
        ("/a", Some(Code::PathOutsideRepository)),
        ("~/.bashrc", Some(Code::PathOutsideRepository)),
        (".git/hooks/x", Some(Code::PathInGitDir)),
        ("sub/.GIT/config", Some(Code::PathInGitDir)),
        ("src/*.rs", Some(Code::GlobInFiles)),
        ("./src/a.rs", Some(Code::PathNotNormal)),
        ("src//a.rs", Some(Code::PathNotNormal)),
    ] {
        assert_eq!(path_problem(path).map(|found| found.0), code, "{path}");
    }
    let told = path_problem("a\\\u{1b}[2Jb").map(|found| found.1);
    assert_eq!(told.as_deref(), Some("`a\\ [2Jb` is `a/ [2Jb`"));
}
