//! TypeScript with Vitest, which is installed in the project.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use omo_tests::scene::folder_of;

use super::{Case, Files, lab_with, play};

const CART: &str = "export interface Line {
  price: number;
  count: number;
}

export const total = (lines: Line[]): number => lines.reduce((sum, line) => sum + line.price, 0);
";
const FIXED_CART: &str = "export interface Line {
  price: number;
  count: number;
}

export const total = (lines: Line[]): number => lines.reduce((sum, line) => sum + line.price * line.count, 0);
";
const OTHER_CART: &str = "export interface Line {
  price: number;
  count: number;
}

export function total(lines: Line[]): number {
  let sum = 0;
  for (const line of lines) sum += line.price;
  return sum;
}
";
const CART_THAT_COUNTS: &str = "export interface Line {
  price: number;
  count: number;
}

export const total = (lines: Line[]): number => lines.reduce((sum, line) => sum + line.price, 0);

export const pieces = (lines: Line[]): number => lines.reduce((sum, line) => sum + line.count, 0);
";

const FILES: Files = &[
    (
        "package.json",
        Some(
            "{\n  \"name\": \"shop\",\n  \"type\": \"module\",\n  \"scripts\": { \"test\": \"vitest run\" }\n}\n",
        ),
    ),
    (".gitignore", Some("node_modules/\n")),
    (
        "tsconfig.json",
        Some("{ \"compilerOptions\": { \"strict\": true, \"module\": \"nodenext\" } }\n"),
    ),
    (
        "vitest.config.ts",
        Some(
            "import { defineConfig } from 'vitest/config';\n\nexport default defineConfig({ test: { globals: false } });\n",
        ),
    ),
    ("src/cart.ts", Some(CART)),
    (
        "src/cart.test.ts",
        Some(
            "import { describe, expect, it } from 'vitest';\nimport { total } from './cart';\n\ndescribe('cart', () => {\n  it('costs nothing when empty', () => expect(total([])).toBe(0));\n});\n",
        ),
    ),
    (
        "src/price/discount.ts",
        Some("export const reduced = (price: number): number => price - price / 10;\n"),
    ),
    (
        "test/discount.spec.ts",
        Some(
            "import { expect, test } from 'vitest';\nimport { reduced } from '../src/price/discount';\n\ntest('a tenth is taken off', () => expect(reduced(100)).toBe(90));\n",
        ),
    ),
];

const CASES: &[Case] = &[
    Case {
        name: "a fix with a test",
        change: &[
            ("src/cart.ts", Some(FIXED_CART)),
            (
                "src/pieces.test.ts",
                Some(
                    "import { describe, expect, it } from 'vitest';\nimport { total } from './cart';\n\ndescribe('pieces', () => {\n  it('are paid', () => expect(total([{ price: 5, count: 3 }])).toBe(15));\n});\n",
                ),
            ),
        ],
        without: "red",
        reason: "1 test fails without the change",
        notes: &[],
        tests: &[("src/pieces.test.ts > pieces > are paid", "failed", "passed")],
    },
    Case {
        name: "a test that asserts nothing",
        change: &[
            ("src/cart.ts", Some(FIXED_CART)),
            (
                "src/pieces.test.ts",
                Some(
                    "import { it } from 'vitest';\nimport { total } from './cart';\n\nit('is paid', () => void total([{ price: 5, count: 3 }]));\n",
                ),
            ),
        ],
        without: "green",
        reason: "green without the change, too",
        notes: &[],
        tests: &[],
    },
    Case {
        name: "a refactoring",
        change: &[("src/cart.ts", Some(OTHER_CART))],
        without: "green",
        reason: "green without the change, too",
        notes: &[],
        tests: &[],
    },
    Case {
        name: "a feature in a module that was there",
        change: &[
            ("src/cart.ts", Some(CART_THAT_COUNTS)),
            (
                "src/pieces.test.ts",
                Some(
                    "import { expect, it } from 'vitest';\nimport { pieces } from './cart';\n\nit('counts pieces', () => expect(pieces([{ price: 5, count: 3 }])).toBe(3));\n",
                ),
            ),
        ],
        without: "red",
        reason: "1 test fails without the change",
        notes: &[],
        tests: &[("src/pieces.test.ts > counts pieces", "failed", "passed")],
    },
    Case {
        name: "a feature in a module of its own",
        change: &[
            (
                "src/tax.ts",
                Some("export const withTax = (price: number): number => price + price / 5;\n"),
            ),
            (
                "src/tax.test.ts",
                Some(
                    "import { expect, it } from 'vitest';\nimport { withTax } from './tax';\n\nit('adds a fifth', () => expect(withTax(100)).toBe(120));\n",
                ),
            ),
        ],
        without: "notBuilt",
        reason: "it cannot be built without the change: `tax` is missing",
        notes: &[],
        tests: &[],
    },
    Case {
        name: "a feature that is removed with its tests",
        change: &[
            ("src/price/discount.ts", None),
            ("test/discount.spec.ts", None),
        ],
        without: "green",
        reason: "green without the change, too",
        notes: &["1 test file is gone with the change, on both sides: test/discount.spec.ts"],
        tests: &[],
    },
];

#[test]
#[ignore = "needs the built plugin and node and Vitest: cargo xtask test"]
fn changes_are_told_apart_by_vitest() {
    play(
        "npm test",
        FILES,
        CASES,
        || lab_with(folder_of("node")),
        install,
    )
    .unwrap();
}

/// Copies what was installed into a project, and not what only leads there: the runner writes beside itself.
pub(crate) fn install(project: &Path) -> Result<()> {
    #[expect(
        clippy::disallowed_methods,
        reason = "`cargo xtask test` names the packages that it installed"
    )]
    let modules = std::env::var_os("OMO_TEST_VITEST");
    let modules = PathBuf::from(
        modules.context("OMO_TEST_VITEST names no installed Vitest; use `cargo xtask test`")?,
    );
    let status = Command::new("cp")
        .arg("-R")
        .arg(modules)
        .arg(project.join("node_modules"))
        .status()?;
    ensure!(status.success(), "cp: {status}");
    Ok(())
}
