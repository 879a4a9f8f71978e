//! Sources with the functions that are emptied in them, and what a check says then.

use std::path::PathBuf;
use std::process::Command;

use omo_core::check::session_check::{CheckEnd, judge_check};
use omo_core::check::test_runner::TestOutputReader;

use super::script::{FileAnswer, JAVASCRIPT, PYTHON, ScriptInput, ScriptLanguage};
use super::*;

/// Statement that throws.
const RUST: &str = " if true { unimplemented!(\"hollowed by omo\") } ";
const RAISE: &str = "raise NotImplementedError(\"hollowed by omo\")";
const THROW: &str = "if (1) throw new Error(\"hollowed by omo\");";

const ALL: HollowLimits = HollowLimits {
    max_functions: 9,
    only_new: false,
};
const NEW: HollowLimits = HollowLimits {
    only_new: true,
    ..ALL
};

/// A name for the row, the file as it was, as it is and as it is emptied; `~` is what throws.
type Row = (&'static str, &'static str, &'static str, &'static str);

fn require(
    rows: &[Row],
    throw: &str,
    functions: &[&str],
    hollow: impl Fn(&str, &str) -> Result<Hollowed, NotHollow>,
) {
    let mut found = Vec::new();
    for (name, base, now, expected) in rows {
        match hollow(base, now) {
            Ok(hollowed) => {
                assert_eq!(hollowed.text, expected.replace('~', throw), "{name}");
                found.extend(hollowed.functions);
            }
            Err(why) => assert_eq!((*now, why), (*expected, NotHollow::NoFunction), "{name}"),
        }
    }
    assert_eq!(found, functions);
}

#[test]
fn functions_of_rust_that_differ_are_emptied_before_their_first_statement() {
    let rows: &[Row] = &[
        ("new", "", "fn a() -> u8 { 1 }", "fn a() -> u8 {~ 1 }"),
        (
            "altered",
            "fn b() { x() }\nfn c() { x() }",
            "fn b() { x() }\nfn c() { y() }",
            "fn b() { x() }\nfn c() {~ y() }",
        ),
        (
            "only moved and commented",
            "fn a() { x() }",
            "\n// So.\nfn a() {\n    // It is.\n    x()\n}",
            "\n// So.\nfn a() {\n    // It is.\n    x()\n}",
        ),
        (
            "async, generic, of a trait",
            "",
            "async fn d<T: A>(t: T) -> impl B { t }",
            "async fn d<T: A>(t: T) -> impl B {~ t }",
        ),
        (
            "methods",
            "",
            "impl<T> S<T> { fn e(&self) { f() } }",
            "impl<T> S<T> { fn e(&self) {~ f() } }",
        ),
        (
            "defaults",
            "",
            "trait R { fn f(); fn g() { h() } }",
            "trait R { fn f(); fn g() {~ h() } }",
        ),
        (
            "in a module",
            "",
            "mod m { fn h() { ö() } }",
            "mod m { fn h() {~ ö() } }",
        ),
        (
            "attributes in it",
            "",
            "fn i() { #![allow(dead_code)] j() }",
            "fn i() { #![allow(dead_code)]~ j() }",
        ),
        (
            "constants",
            "",
            "const fn k() -> u8 { 1 }",
            "const fn k() -> u8 { 1 }",
        ),
        ("nothing in it", "", "fn l() {}", "fn l() {}"),
        (
            "a macro",
            "",
            "macro_rules! m { () => { fn n() { o() } } }",
            "macro_rules! m { () => { fn n() { o() } } }",
        ),
        (
            "tests",
            "",
            "#[test]\nfn t() { p() }\n#[cfg(test)]\nmod q { fn r() { s() } }",
            "#[test]\nfn t() { p() }\n#[cfg(test)]\nmod q { fn r() { s() } }",
        ),
    ];
    let names = ["a", "c", "d", "S::e", "R::g", "m::h", "i"];
    require(rows, RUST, &names, |base, now| {
        rust::hollow(Some(base), now, ALL)
    });
}

#[test]
fn no_more_functions_are_emptied_than_are_asked_for() {
    let hollowed = rust::hollow(
        None,
        "fn a() { b() }\nfn b() { c() }\nfn c() { d() }",
        HollowLimits {
            max_functions: 1,
            ..ALL
        },
    )
    .unwrap();
    assert_eq!(
        (hollowed.functions, hollowed.left_out),
        (vec!["a".to_owned()], 2)
    );
}

#[test]
fn files_that_are_no_rust_or_lie_too_deep_are_refused() {
    assert_eq!(
        rust::hollow(None, "fn a( {", ALL),
        Err(NotHollow::NotParsed)
    );
    let deep = format!(
        "fn a() {{ let _ = {}1{}; }}",
        "(".repeat(100_000),
        ")".repeat(100_000)
    );
    assert_eq!(rust::hollow(None, &deep, ALL), Err(NotHollow::TooLarge));
    assert_eq!(
        rust::hollow(None, &" ".repeat(2 * 1024 * 1024), ALL),
        Err(NotHollow::TooLarge)
    );
}

/// Of a function that was there and one that was not the second alone is new.
fn require_only_new(hollow: impl Fn(HollowLimits) -> Result<Hollowed, NotHollow>) {
    assert_eq!(hollow(ALL).unwrap().functions, ["a", "b"]);
    assert_eq!(hollow(NEW).unwrap().functions, ["b"]);
}

#[test]
fn functions_of_rust_that_were_there_can_be_left_alone() {
    require_only_new(|limits| {
        rust::hollow(Some("fn a() { 1 }"), "fn a() { 2 }\nfn b() { 3 }", limits)
    });
}

#[test]
#[ignore = "needs python3 and node: cargo xtask test"]
fn functions_that_were_there_can_be_left_alone() {
    let python = ("a.py", "def a(): x()", "def a(): y()\ndef b(): z()");
    require_only_new(|limits| by_script(&PYTHON, &[python], limits).remove(0));
    let javascript = (
        "a.js",
        "const a = () => x",
        "const a = () => y, b = () => z",
    );
    require_only_new(|limits| by_script(&JAVASCRIPT, &[javascript], limits).remove(0));
}

/// Has the script of a language empty files.
fn by_script(
    language: &ScriptLanguage,
    files: &[(&str, &str, &str)],
    limits: HollowLimits,
) -> Vec<Result<Hollowed, NotHollow>> {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join(language.name);
    std::fs::write(&script, language.script).unwrap();
    let paths: Vec<PathBuf> = files.iter().map(|(path, ..)| PathBuf::from(path)).collect();
    let sources: Vec<Source> = files
        .iter()
        .zip(&paths)
        .map(|((_, base, now), path)| Source {
            path,
            base: Some(base),
            now,
        })
        .collect();
    let question = serde_json::to_vec(&ScriptInput::new(&sources, limits)).unwrap();
    std::fs::write(folder.path().join("question.json"), question).unwrap();
    let mut words = language.program.split(' ');
    let mut command = Command::new(words.next().unwrap());
    let output = command
        .args(words)
        .arg(&script)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let answer = std::fs::read(folder.path().join("answer.json"));
    let answer =
        answer.unwrap_or_else(|_| panic!("no answer: {}", String::from_utf8_lossy(&output.stderr)));
    let answers: Vec<FileAnswer> = serde_json::from_slice(&answer).unwrap();
    answers.into_iter().map(Into::into).collect()
}

fn by_script_alone(
    language: &ScriptLanguage,
    path: &str,
    base: &str,
    now: &str,
) -> Result<Hollowed, NotHollow> {
    by_script(language, &[(path, base, now)], ALL).remove(0)
}

#[test]
#[ignore = "needs python3: cargo xtask test"]
fn functions_of_python_that_differ_are_emptied_before_their_first_statement() {
    let rows: &[Row] = &[
        (
            "new",
            "",
            "def a():\n    return 1\n",
            "def a():\n    ~\n    return 1\n",
        ),
        (
            "altered",
            "def b(): x()\ndef c(): x()\n",
            "def b(): x()\ndef c(): y()\n",
            "def b(): x()\ndef c(): ~; y()\n",
        ),
        (
            "only moved",
            "def a():\n    x()\n",
            "# So.\ndef a():\n\n    x()\n",
            "# So.\ndef a():\n\n    x()\n",
        ),
        (
            "async, a generator",
            "",
            "async def d():\n\tyield 'ö'\n",
            "async def d():\n\t~\n\tyield 'ö'\n",
        ),
        (
            "behind a docstring",
            "",
            "def e():\n  '''E.'''\n  if f: g()\n",
            "def e():\n  '''E.'''\n  ~\n  if f: g()\n",
        ),
        (
            "methods",
            "",
            "class C:\n  @property\n  def h(self):\n    @i\n    def j(): k()\n",
            "class C:\n  @property\n  def h(self):\n    ~\n    @i\n    def j(): k()\n",
        ),
        (
            "behind a condition",
            "",
            "try:\n  def l(): m()\nexcept E: pass\n",
            "try:\n  def l(): ~; m()\nexcept E: pass\n",
        ),
        (
            "stubs and overloads",
            "",
            "@overload\ndef n(): ...\ndef o():\n  '''O.'''\ndef p(): pass\n",
            "@overload\ndef n(): ...\ndef o():\n  '''O.'''\ndef p(): pass\n",
        ),
        (
            "what an import runs",
            "",
            "@q\ndef r(): s()\ndef q(t): return t\n",
            "@q\ndef r(): ~; s()\ndef q(t): return t\n",
        ),
        (
            "what a program runs",
            "",
            "def u(): v()\nif __name__ == '__main__': u()\n",
            "def u(): ~; v()\nif __name__ == '__main__': u()\n",
        ),
        (
            "tests",
            "",
            "class T(unittest.TestCase):\n  def w(self): x()\ndef test_y(): z()\n",
            "class T(unittest.TestCase):\n  def w(self): x()\ndef test_y(): z()\n",
        ),
    ];
    let names = ["a", "c", "d", "e", "C.h", "l", "r", "u"];
    require(rows, RAISE, &names, |base, now| {
        by_script_alone(&PYTHON, "a.py", base, now)
    });
}

#[test]
#[ignore = "needs node: cargo xtask test"]
fn functions_of_javascript_that_differ_are_emptied_before_their_first_statement() {
    let rows: &[Row] = &[
        (
            "new",
            "",
            "export function a() { return 1; }",
            "export function a() { ~  return 1; }",
        ),
        (
            "altered",
            "const b = () => x, c = () => x",
            "const b = () => x, c = () => y",
            "const b = () => x, c = () => { ~ return (y); }",
        ),
        (
            "only moved",
            "function a() { x() }",
            "// So.\nfunction a() {\n  x() }",
            "// So.\nfunction a() {\n  x() }",
        ),
        (
            "async, a generator",
            "",
            "async function* d() { yield 'ö' }",
            "async function* d() { ~  yield 'ö' }",
        ),
        (
            "an object",
            "",
            "const e = () => ({ f: 1 });",
            "const e = () => { ~ return (({ f: 1 })); };",
        ),
        (
            "methods",
            "",
            "class C { static g = async (h) => h; get i() { return 1 } }",
            "class C { static g = async (h) => { ~ return (h); }; get i() { ~  return 1 } }",
        ),
        (
            "a constructor",
            "",
            "class D extends C { constructor() { super(); j() } }",
            "class D extends C { constructor() { super();; ~  j() } }",
        ),
        (
            "behind a directive",
            "",
            "exports.k = function () { 'use strict'; l() }",
            "exports.k = function () { 'use strict';; ~  l() }",
        ),
        (
            "in what wraps it",
            "",
            "const m = memo(() => n)",
            "const m = memo(() => { ~ return (n); })",
        ),
        (
            "what loading runs",
            "",
            "function o() { p() }\nexport const q = o()",
            "function o() { p() }\nexport const q = o()",
        ),
        (
            "a test",
            "",
            "test('r', () => { s() })",
            "test('r', () => { s() })",
        ),
        ("nothing in it", "", "function t() {}", "function t() {}"),
    ];
    let names = ["a", "c", "d", "e", "C.g", "C.i", "D.constructor", "k", "m"];
    require(rows, THROW, &names, |base, now| {
        by_script_alone(&JAVASCRIPT, "a.js", base, now)
    });
}

#[test]
#[ignore = "needs python3 and node: cargo xtask test"]
fn a_file_that_cannot_be_read_keeps_no_other_one_from_being_emptied() {
    let deep = format!("a = {}1{}\n", "(".repeat(100_000), ")".repeat(100_000));
    let minus = format!("a = {}1\n", "- ".repeat(100_000));
    let answers = by_script(
        &PYTHON,
        &[
            ("a.py", "", &deep),
            ("b.py", "", "def ("),
            ("c.py", "", &minus),
            ("d.py", "", "def a(): b()\ndef c(): d()\n"),
        ],
        HollowLimits {
            max_functions: 1,
            ..ALL
        },
    );
    let refused = |answer: &Result<Hollowed, NotHollow>| matches!(answer, Err(NotHollow::Other(_)));
    assert!(answers[..3].iter().all(refused), "{answers:?}");
    let last = answers[3].as_ref().unwrap();
    assert_eq!(
        (last.functions.as_slice(), last.left_out),
        (&["a".to_owned()][..], 1)
    );
    let answers = by_script(
        &JAVASCRIPT,
        &[
            ("a.js", "", &deep),
            ("b.js", "", "function ("),
            ("c.tsx", "", "const a = <b/>"),
            ("d.js", "", "const a = () => b"),
        ],
        ALL,
    );
    assert!(
        answers[..3].iter().all(refused) && answers[3].is_ok(),
        "{answers:?}"
    );
}

#[test]
fn only_a_test_or_what_is_thrown_says_that_a_check_notices() {
    let side = |status: i32, output: &str| {
        let mut reader = TestOutputReader::default();
        reader.read(output.as_bytes());
        let report = reader.report();
        let end = CheckEnd::Exited(status);
        let (verdict, detail) = judge_check(&end, report.counts);
        SideOutcome {
            end,
            verdict,
            detail,
            report,
            lines: output.lines().map(str::to_owned).collect(),
        }
    };
    let with = side(0, "1..2\nok 1 - a\nok 2 - b\n");
    let said = |status, output: &str| {
        judge(
            "check",
            &with,
            &side(status, output),
            &["total".to_owned()],
            0,
        )
    };
    assert!(matches!(
        said(0, "1..2\nok 1 - a\nok 2 - b\n"),
        HollowAnswer::Green { .. }
    ));
    assert_eq!(said(1, "1..2\nok 1 - a\nnot ok 2 - b\n"), HollowAnswer::Red);
    assert_eq!(
        said(
            1,
            "thread 'main' panicked at a.rs:1:\nnot implemented: hollowed by omo\n"
        ),
        HollowAnswer::Red
    );
    for output in [
        "Diff in src/a.rs\n",
        "error[E0308]: mismatched types\n",
        "3 | raise E(\"hollowed by omo\")\n",
    ] {
        assert!(
            matches!(said(1, output), HollowAnswer::Unknown(_)),
            "{output}"
        );
    }
}
