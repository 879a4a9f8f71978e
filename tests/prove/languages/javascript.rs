//! JavaScript with the runner of node.

use omo_tests::scene::folder_of;

use super::{Case, Files, lab_with, play};

const CART: &str =
    "export const total = (lines) => lines.reduce((sum, line) => sum + line.price, 0);\n";
const FIXED_CART: &str = "export const total = (lines) => lines.reduce((sum, line) => sum + line.price * line.count, 0);\n";
const CART_TEST: &str = "import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { total } from '../src/cart.js';

describe('cart', () => {
  test('an empty one costs nothing', () => assert.equal(total([]), 0));
});
";

const FILES: Files = &[
    (
        "package.json",
        Some(
            "{\n  \"name\": \"shop\",\n  \"type\": \"module\",\n  \"scripts\": { \"test\": \"node --test\" }\n}\n",
        ),
    ),
    ("src/cart.js", Some(CART)),
    (
        "src/price/discount.js",
        Some("export const reduced = (price) => price - price / 10;\n"),
    ),
    ("test/cart.test.js", Some(CART_TEST)),
    (
        "test/price/discount.test.js",
        Some(
            "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { reduced } from '../../src/price/discount.js';\n\ntest('a tenth is taken off', () => assert.equal(reduced(100), 90));\n",
        ),
    ),
];

const CASES: &[Case] = &[
    Case {
        name: "a fix with a test",
        change: &[
            ("src/cart.js", Some(FIXED_CART)),
            (
                "test/pieces.test.js",
                Some(
                    "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { total } from '../src/cart.js';\n\ntest('each piece is paid', () => assert.equal(total([{ price: 5, count: 3 }]), 15));\n",
                ),
            ),
        ],
        without: "red",
        reason: "1 test fails without the change",
        notes: &[],
        tests: &[
            ("each piece is paid", "failed", "passed"),
            ("cart > an empty one costs nothing", "passed", "passed"),
            ("a tenth is taken off", "passed", "passed"),
        ],
    },
    Case {
        name: "a test that asserts nothing",
        change: &[
            ("src/cart.js", Some(FIXED_CART)),
            (
                "test/pieces.test.js",
                Some(
                    "import { test } from 'node:test';\nimport { total } from '../src/cart.js';\n\ntest('each piece is paid', () => { total([{ price: 5, count: 3 }]); });\n",
                ),
            ),
        ],
        without: "green",
        reason: "green without the change, too",
        notes: &[],
        tests: &[("each piece is paid", "passed", "passed")],
    },
    Case {
        name: "a refactoring",
        change: &[(
            "src/cart.js",
            Some(
                "export function total(lines) {\n  let sum = 0;\n  for (const { price } of lines) sum += price;\n  return sum;\n}\n",
            ),
        )],
        without: "green",
        reason: "green without the change, too",
        notes: &[],
        tests: &[("cart > an empty one costs nothing", "passed", "passed")],
    },
    Case {
        name: "a feature in a module that was there",
        change: &[
            (
                "src/cart.js",
                Some(
                    "export const total = (lines) => lines.reduce((sum, line) => sum + line.price, 0);\nexport const pieces = (lines) => lines.reduce((sum, line) => sum + line.count, 0);\n",
                ),
            ),
            (
                "test/pieces.test.js",
                Some(
                    "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { pieces } from '../src/cart.js';\n\ntest('pieces are counted', () => assert.equal(pieces([{ price: 5, count: 3 }]), 3));\n",
                ),
            ),
        ],
        without: "notBuilt",
        reason: "it cannot be built without the change: `pieces` is missing",
        notes: &[],
        tests: &[
            ("pieces are counted", "absent", "passed"),
            ("cart > an empty one costs nothing", "passed", "passed"),
        ],
    },
    Case {
        name: "a feature in a module of its own",
        change: &[
            (
                "src/tax.js",
                Some("export const withTax = (price) => price + price / 5;\n"),
            ),
            (
                "test/tax.test.js",
                Some(
                    "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { withTax } from '../src/tax.js';\n\ntest('a fifth is added', () => assert.equal(withTax(100), 120));\n",
                ),
            ),
        ],
        without: "notBuilt",
        reason: "it cannot be built without the change: `tax` is missing",
        notes: &[],
        tests: &[("a fifth is added", "absent", "passed")],
    },
    Case {
        name: "a feature that is removed with its tests",
        change: &[
            ("src/price/discount.js", None),
            ("test/price/discount.test.js", None),
        ],
        without: "green",
        reason: "green without the change, too",
        notes: &["1 test file is gone with the change, on both sides: test/price/discount.test.js"],
        tests: &[("cart > an empty one costs nothing", "passed", "passed")],
    },
];

#[test]
#[ignore = "needs the built plugin and node: cargo xtask test"]
fn changes_to_a_package_of_node_are_told_apart() {
    play(
        "npm test",
        FILES,
        CASES,
        || lab_with(folder_of("node")),
        |_| Ok(()),
    )
    .unwrap();
}
