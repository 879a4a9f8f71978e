//! What checks say with empty bodies of the functions that a change added or altered, of each kind in each language.

use std::path::Path;

use anyhow::{Result, ensure};
use omo_testkit::LabBuilder;
use omo_tests::scene::folder_of;

use crate::languages::{lab_with, typescript};
use crate::project::{Files, Project};

/// A change, its test, and what is said: `red`, `green` with the functions that nothing is shown about, or why it could not
/// be told.
type Row = (&'static str, &'static str, &'static str, &'static str);

/// A language: where its code and its tests stand, and how they run.
struct Language {
    check: &'static str,
    files: Files<'static>,
    /// The file that changes, what stands in it before, and above what is changed.
    code: (&'static str, &'static str),
    /// The file with the test, and what stands above it.
    test: (&'static str, &'static str),
}

/// Plays every row where a program is, and names those that went wrong. `prepare` is asked for each project.
fn play(language: &Language, program: &str, prepare: impl Fn(&Path) -> Result<()>, rows: &[Row]) {
    let mut wrong = Vec::new();
    for row in rows {
        if let Err(error) =
            lab_with(folder_of(program)).and_then(|lab| play_row(language, lab, &prepare, row))
        {
            wrong.push(format!("{}: {error:#}", row.0));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} rows failed:\n{}",
        wrong.len(),
        rows.len(),
        wrong.join("\n")
    );
}

fn play_row(
    language: &Language,
    lab: LabBuilder,
    prepare: impl Fn(&Path) -> Result<()>,
    (_, code, test, said): &Row,
) -> Result<()> {
    let ((code_path, above_code), (test_path, above_test)) = (language.code, language.test);
    let mut files = language.files.to_vec();
    files.push((code_path, Some(above_code)));
    let project = Project::in_lab(lab, &files)?;
    prepare(project.lab.project())?;
    let (code, test) = (format!("{above_code}{code}"), format!("{above_test}{test}"));
    project.change(&[(code_path, Some(&code)), (test_path, Some(&test))])?;
    let answer = project.prove(language.check)?;
    let hollow = &answer.check()["hollow"];
    let is_red = answer.check()["without"] == "red";
    let names = |names: &serde_json::Value| {
        let names: Vec<&str> = names
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(serde_json::Value::as_str)
            .collect();
        format!("green {}", names.join(", "))
    };
    let (is_so, status) = match *said {
        "red" => (hollow == "red", 0),
        // A test that fails without the change counts, and the functions are named beside it.
        _ if said.starts_with("green") => (
            names(&hollow["green"]["functions"]) == *said,
            i32::from(!is_red),
        ),
        _ => (
            hollow["unknown"]
                .as_str()
                .is_some_and(|why| why.contains(said)),
            5,
        ),
    };
    ensure!(
        is_so && answer.status == status,
        "not {said}: {} {:#}\n{}",
        answer.status,
        answer.json,
        answer.stderr
    );
    Ok(())
}

const GO: Language = Language {
    check: "go test ./...",
    files: &[("go.mod", Some("module example.org/shop\n\ngo 1.18\n"))],
    code: ("shop.go", "package shop\n\nfunc One() int { return 1 }\n"),
    test: (
        "shop_test.go",
        "package shop\n\nimport \"testing\"\n\nvar _ = testing.Short\n",
    ),
};

const GO_ROWS: &[Row] = &[
    (
        "honest, in a table",
        "func Total(a int) int { return a + 1 }",
        "func TestTotal(t *testing.T) {\n\tfor _, c := range []struct{ a, b int }{{1, 2}, {2, 3}} {\n\t\tif Total(c.a) != c.b { t.Error(c) }\n\t}\n}",
        "red",
    ),
    (
        "names it only",
        "func Total() int { return 2 }",
        "func TestTotal(t *testing.T) { _ = Total }",
        "green Total",
    ),
    (
        "a method",
        "type Cart[T any] struct{ lines []T }\nfunc (c *Cart[T]) Count() int { return len(c.lines) }",
        "func TestCount(t *testing.T) {\n\tif (&Cart[int]{}).Count() != 0 { t.Fail() }\n}",
        "red",
    ),
    (
        "recovered",
        "func Total() int { return 2 }",
        "func TestTotal(t *testing.T) { defer func() { recover() }(); Total() }",
        "green Total",
    ),
];

#[test]
#[ignore = "needs the built plugin and go: cargo xtask test"]
fn empty_bodies_of_go_are_noticed_or_named() {
    play(&GO, "go", |_| Ok(()), GO_ROWS);
}

const RUST: Language = Language {
    check: "cargo test",
    files: &[
        (
            "Cargo.toml",
            Some("[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
        ),
        (
            "Cargo.lock",
            Some("version = 4\n\n[[package]]\nname = \"shop\"\nversion = \"0.1.0\"\n"),
        ),
        (".gitignore", Some("target\n")),
    ],
    code: ("src/lib.rs", "pub fn one() -> u32 {\n    1\n}\n"),
    test: ("tests/total.rs", "#![allow(unused_imports)]\n"),
};

const RUST_ROWS: &[Row] = &[
    (
        "honest",
        "pub fn total(a: u32) -> u32 { a + 1 }",
        "use shop::total;\n#[test] fn t() { assert_eq!(total(1), 2) }",
        "red",
    ),
    (
        "imports only",
        "pub fn total() -> u32 { 2 }",
        "use shop::total;\n#[test] fn t() {}",
        "green total",
    ),
    (
        "asserts nothing",
        "pub fn total() -> u32 { 2 }",
        "#[test] fn t() { let _: fn() -> u32 = shop::total; }",
        "green total",
    ),
    (
        "mocks the function itself",
        "pub fn total() -> u32 { 2 }",
        "use shop::total as real;\nfn total() -> u32 { 2 }\n#[test] fn t() { assert_eq!(total(), 2) }",
        "green total",
    ),
    (
        "a property",
        "pub fn total(a: u32) -> u32 { a + 1 }",
        "#[test] fn t() { for a in 0..99 { assert!(shop::total(a) > a) } }",
        "red",
    ),
    (
        "a function that only calls others",
        "pub fn total() -> u32 { one() }",
        "#[test] fn t() { assert_eq!(shop::total(), 1) }",
        "red",
    ),
    (
        "generated code",
        "macro_rules! made { ($name:ident) => { pub fn $name() -> u32 { 2 } } }\nmade!(total);",
        "#[test] fn t() { assert_eq!(shop::total(), 2) }",
        "the change has no function of Go, Rust, Python, JavaScript or TypeScript that can be emptied",
    ),
    (
        "async, and never polled",
        "pub async fn total() -> u32 { 2 }",
        "#[test] fn t() { drop(shop::total()) }",
        "green total",
    ),
    (
        "a type that is not named",
        "pub fn total() -> impl Iterator<Item = u32> { [1].into_iter() }",
        "#[test] fn t() { assert_eq!(shop::total().sum::<u32>(), 1) }",
        "red",
    ),
    (
        "behind a macro",
        "pub fn total(a: u32) -> u32 { a }\n#[macro_export] macro_rules! sum { ($a:expr) => { $crate::total($a) } }",
        "#[test] fn t() { assert_eq!(shop::sum!(1), 1) }",
        "red",
    ),
    (
        "attributes, and lints that are errors",
        "#[deny(warnings)] pub mod strict { use std::cmp::max;\n#[must_use] #[inline] pub fn total(a: u32) -> u32 { max(a, 1) } }",
        "#[test] fn t() { assert_eq!(shop::strict::total(0), 1) }",
        "red",
    ),
    (
        "several of one name, one of them tested",
        "pub trait Total { fn total(self) -> u32; }\nimpl Total for u8 { fn total(self) -> u32 { 1 } }\nimpl Total for u16 { fn total(self) -> u32 { 1 } }",
        "use shop::Total;\n#[test] fn t() { assert_eq!(1u8.total(), 1) }",
        "red",
    ),
    (
        "methods",
        "pub struct Cart;\nimpl Cart { pub fn new() -> Self { Self }\n pub fn price(&self) -> u32 { 2 } }",
        "use shop::Cart;\n#[test] fn t() {}",
        "green Cart::new, Cart::price",
    ),
    (
        "a crash that a test hides",
        "pub fn total() -> u32 { 2 }",
        "#[test] fn t() { drop(std::panic::catch_unwind(shop::total)) }",
        "green total",
    ),
    (
        "a crash that one test hides and another does not",
        "pub fn total() -> u32 { 2 }",
        "#[test] fn t() { drop(std::panic::catch_unwind(shop::total)) }\n#[test] fn u() { assert_eq!(shop::total(), 2) }",
        "red",
    ),
];

#[test]
#[ignore = "needs the built plugin: cargo xtask test"]
fn empty_bodies_of_rust_are_noticed_or_named() {
    play(&RUST, "cargo", |_| Ok(()), RUST_ROWS);
}

const PYTHON: Language = Language {
    check: "python3 -m unittest",
    files: &[(".gitignore", Some("__pycache__/\n"))],
    code: (
        "shop.py",
        "import functools\n\n\ndef one():\n    return 1\n\n\n",
    ),
    test: (
        "test_shop.py",
        "import asyncio, unittest\nfrom unittest import mock\nimport shop\n\n\nclass Shop(unittest.TestCase):\n",
    ),
};

const PYTHON_ROWS: &[Row] = &[
    (
        "honest",
        "def total(a): return a + 1",
        " def test_a(self): self.assertEqual(shop.total(1), 2)",
        "red",
    ),
    (
        "imports only",
        "def total(): return 2",
        " def test_a(self):\n  from shop import total",
        "green total",
    ),
    (
        "asserts nothing",
        "def total(): return 2",
        " def test_a(self): self.assertTrue(callable(shop.total))",
        "green total",
    ),
    (
        "mocks the function itself",
        "def total(): return 2",
        " @mock.patch('shop.total', return_value=2)\n def test_a(self, _): self.assertEqual(shop.total(), 2)",
        "green total",
    ),
    (
        "a property",
        "def total(a): return a + 1",
        " def test_a(self):\n  for a in range(99):\n   with self.subTest(a=a): self.assertGreater(shop.total(a), a)",
        "red",
    ),
    (
        "a function that only calls others",
        "def total(): return one()",
        " def test_a(self): self.assertEqual(shop.total(), 1)",
        "red",
    ),
    (
        "generated code",
        "exec('def total(): return 2')",
        " def test_a(self): self.assertEqual(shop.total(), 2)",
        "the change has no function of Go, Rust, Python, JavaScript or TypeScript that can be emptied",
    ),
    (
        "async, and never awaited",
        "async def total(): return 2",
        " def test_a(self): shop.total().close()",
        "green total",
    ),
    (
        "async",
        "async def total(): return 2",
        " def test_a(self): self.assertEqual(asyncio.run(shop.total()), 2)",
        "red",
    ),
    (
        "a generator",
        "def total():\n    yield 2",
        " def test_a(self): self.assertEqual(list(shop.total()), [2])",
        "red",
    ),
    (
        "what an import calls",
        "TABLE = dict()\ndef total(): return 2\nTABLE['total'] = total()",
        " def test_a(self): self.assertEqual(shop.total(), 2)",
        "the change has no function of Go, Rust, Python, JavaScript or TypeScript that can be emptied",
    ),
    (
        "decorators, and imports only",
        "def logged(inner):\n    return functools.wraps(inner)(lambda: inner())\n\n\n@logged\ndef total():\n    return 2",
        " def test_a(self): self.assertTrue(shop.total)",
        "green total",
    ),
    (
        "overloads",
        "@functools.singledispatch\ndef total(a): return 1\n\n\n@total.register\ndef of_text(a: str): return 2",
        " def test_a(self): self.assertEqual(shop.total(''), 2)",
        "red",
    ),
    (
        "methods",
        "class Cart:\n    @classmethod\n    def new(cls): return cls()\n\n    def price(self): return 2",
        " def test_a(self): self.assertTrue(shop.Cart)",
        "green Cart.new, Cart.price",
    ),
    (
        "a crash that a test hides",
        "def total(): return 2",
        " def test_a(self):\n  try: shop.total()\n  except Exception: pass",
        "green total",
    ),
    (
        "a crash that one test hides and another does not",
        "def total(): return 2",
        " def test_a(self):\n  try: shop.total()\n  except Exception: pass\n def test_b(self): self.assertEqual(shop.total(), 2)",
        "red",
    ),
];

#[test]
#[ignore = "needs the built plugin and python3: cargo xtask test"]
fn empty_bodies_of_python_are_noticed_or_named() {
    play(&PYTHON, "python3", |_| Ok(()), PYTHON_ROWS);
}

const JAVASCRIPT: Language = Language {
    check: "node --test",
    files: &[("package.json", Some("{ \"type\": \"module\" }\n"))],
    code: ("shop.js", "export function one() {\n  return 1;\n}\n"),
    test: (
        "shop.test.js",
        "import assert from 'node:assert/strict';\nimport { mock, test } from 'node:test';\nimport * as shop from './shop.js';\n",
    ),
};

const JAVASCRIPT_ROWS: &[Row] = &[
    (
        "honest",
        "export const total = (a) => a + 1;",
        "test('a', () => assert.equal(shop.total(1), 2));",
        "red",
    ),
    (
        "imports only",
        "export const total = () => 2;",
        "import { total } from './shop.js';\ntest('a', () => {});",
        "green total",
    ),
    (
        "asserts nothing",
        "export function total() { return 2; }",
        "import { total } from './shop.js';\ntest('a', () => assert.ok(total));",
        "green total",
    ),
    (
        "mocks the function itself",
        "export const cart = { total() { return 2; } };",
        "test('a', () => { mock.method(shop.cart, 'total', () => 2); assert.equal(shop.cart.total(), 2); });",
        "green total",
    ),
    (
        "a property",
        "export const total = (a) => a + 1;",
        "test('a', () => { for (let a = 0; a < 99; a += 1) assert.ok(shop.total(a) > a); });",
        "red",
    ),
    (
        "a function that only calls others",
        "export const total = () => one();",
        "test('a', () => assert.equal(shop.total(), 1));",
        "red",
    ),
    (
        "generated code",
        "export const total = new Function('return 2');",
        "test('a', () => assert.equal(shop.total(), 2));",
        "the change has no function of Go, Rust, Python, JavaScript or TypeScript that can be emptied",
    ),
    (
        "async, and not awaited",
        "export async function total() { return 2; }",
        "test('a', () => { shop.total().catch(() => {}); });",
        "green total",
    ),
    (
        "async",
        "export async function total() { return 2; }",
        "test('a', async () => assert.equal(await shop.total(), 2));",
        "red",
    ),
    (
        "a generator",
        "export function* total() { yield 2; }",
        "test('a', () => assert.deepEqual([...shop.total()], [2]));",
        "red",
    ),
    (
        "in what wraps it, and imports only",
        "const logged = (inner) => () => inner();\nexport const total = logged(() => 2);",
        "test('a', () => assert.ok(shop.total));",
        "green total",
    ),
    (
        "methods",
        "export class Cart { static new() { return new Cart(); }\n  get price() { return 2; } }",
        "import { Cart } from './shop.js';\ntest('a', () => {});",
        "green Cart.new, Cart.price",
    ),
    (
        "a crash that a test hides",
        "export const total = () => 2;",
        "test('a', () => { try { shop.total(); } catch {} });",
        "green total",
    ),
    (
        "a crash that one test hides and another does not",
        "export const total = () => 2;",
        "test('a', () => { try { shop.total(); } catch {} });\ntest('b', () => assert.equal(shop.total(), 2));",
        "red",
    ),
];

#[test]
#[ignore = "needs the built plugin and node: cargo xtask test"]
fn empty_bodies_of_javascript_are_noticed_or_named() {
    play(&JAVASCRIPT, "node", |_| Ok(()), JAVASCRIPT_ROWS);
}

const TYPESCRIPT: Language = Language {
    check: "node_modules/.bin/vitest run",
    files: &[
        ("package.json", Some("{ \"type\": \"module\" }\n")),
        (".gitignore", Some("node_modules/\n")),
    ],
    code: (
        "src/shop.ts",
        "export function one(): number {\n  return 1;\n}\n",
    ),
    test: (
        "src/shop.test.ts",
        "import { expect, test, vi } from 'vitest';\nimport * as shop from './shop';\n",
    ),
};

const TYPESCRIPT_ROWS: &[Row] = &[
    (
        "honest",
        "export const total = (a: number): number => a + 1;",
        "test('a', () => expect(shop.total(1)).toBe(2));",
        "red",
    ),
    (
        "imports only",
        "export const total = (a: number): number => a + 1;",
        "test('a', () => expect(typeof shop.total).toBe('function'));",
        "green total",
    ),
    (
        "mocks the function itself",
        "export function total(): number { return 2; }",
        "vi.mock('./shop', () => ({ total: () => 2 }));\ntest('a', () => expect(shop.total()).toBe(2));",
        "green total",
    ),
    (
        "overloads",
        "export function total(a: string): string;\nexport function total<T>(a: T): T { return a; }",
        "test('a', () => expect(shop.total('')).toBe(''));",
        "red",
    ),
    (
        "methods",
        "export abstract class Cart<T> { constructor(private a: T) {}\n  abstract b(): T; get price(): T { return this.a; } }",
        "test('a', () => expect(shop.Cart).toBeDefined());",
        "green Cart.constructor, Cart.price",
    ),
];

#[test]
#[ignore = "needs the built plugin and node and Vitest: cargo xtask test"]
fn empty_bodies_of_typescript_are_noticed_or_named() {
    play(&TYPESCRIPT, "node", typescript::install, TYPESCRIPT_ROWS);
}
