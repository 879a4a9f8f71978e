//! Python: unittest, and pytest.

use std::path::PathBuf;
use std::process::Command;

use omo_tests::scene::folder_of;

use super::{Case, Files, lab_with, play};

const CART: &str = "def total(lines):\n    return sum(price for price, count in lines)\n";
const FIXED_CART: &str =
    "def total(lines):\n    return sum(price * count for price, count in lines)\n";
const OTHER_CART: &str = "def total(lines):\n    result = 0\n    for line in lines:\n        result += line[0]\n    return result\n";
const CART_THAT_COUNTS: &str = "def total(lines):\n    return sum(price for price, count in lines)\n\n\ndef pieces(lines):\n    return sum(count for price, count in lines)\n";
const TAX: &str = "def with_tax(price):\n    return price + price // 5\n";
const DISCOUNT: &str = "def reduced(price):\n    return price - price // 10\n";

const UNITTEST_FILES: Files = &[
    (
        "pyproject.toml",
        Some("[project]\nname = \"shop\"\nversion = \"0.1\"\n"),
    ),
    (".gitignore", Some("__pycache__/\n")),
    ("shop/__init__.py", Some("")),
    ("shop/cart.py", Some(CART)),
    ("shop/price/__init__.py", Some("")),
    ("shop/price/discount.py", Some(DISCOUNT)),
    ("tests/__init__.py", Some("")),
    (
        "tests/test_cart.py",
        Some(
            "import unittest\n\nfrom shop.cart import total\n\n\nclass Cart(unittest.TestCase):\n    def test_empty(self):\n        self.assertEqual(total([]), 0)\n",
        ),
    ),
    (
        "tests/test_discount.py",
        Some(
            "import unittest\n\nfrom shop.price.discount import reduced\n\n\nclass Discount(unittest.TestCase):\n    def test_tenth(self):\n        \"\"\"A tenth is taken off.\"\"\"\n        self.assertEqual(reduced(100), 90)\n",
        ),
    ),
];

const UNITTEST_CASES: &[Case] = &[
    Case {
        name: "a fix with a test",
        change: &[
            ("shop/cart.py", Some(FIXED_CART)),
            (
                "tests/test_pieces.py",
                Some(
                    "import unittest\n\nfrom shop.cart import total\n\n\nclass Pieces(unittest.TestCase):\n    def test_each_is_paid(self):\n        self.assertEqual(total([(5, 3)]), 15)\n",
                ),
            ),
        ],
        without: "red",
        reason: "1 test fails without the change",
        notes: &[],
        tests: &[
            (
                "tests.test_pieces.Pieces.test_each_is_paid",
                "failed",
                "passed",
            ),
            ("tests.test_cart.Cart.test_empty", "passed", "passed"),
            (
                "tests.test_discount.Discount.test_tenth",
                "passed",
                "passed",
            ),
        ],
    },
    Case {
        name: "a test that asserts nothing",
        change: &[
            ("shop/cart.py", Some(FIXED_CART)),
            (
                "tests/test_pieces.py",
                Some(
                    "import unittest\n\nfrom shop.cart import total\n\n\nclass Pieces(unittest.TestCase):\n    def test_each_is_paid(self):\n        total([(5, 3)])\n",
                ),
            ),
        ],
        without: "green",
        reason: "green without the change, too",
        notes: &[],
        tests: &[(
            "tests.test_pieces.Pieces.test_each_is_paid",
            "passed",
            "passed",
        )],
    },
    Case {
        name: "a refactoring",
        change: &[("shop/cart.py", Some(OTHER_CART))],
        without: "green",
        reason: "green without the change, too",
        notes: &[],
        tests: &[("tests.test_cart.Cart.test_empty", "passed", "passed")],
    },
    Case {
        name: "a feature in a module that was there",
        change: &[
            ("shop/cart.py", Some(CART_THAT_COUNTS)),
            (
                "tests/test_pieces.py",
                Some(
                    "import unittest\n\nfrom shop.cart import pieces\n\n\nclass Pieces(unittest.TestCase):\n    def test_count(self):\n        self.assertEqual(pieces([(5, 3)]), 3)\n",
                ),
            ),
        ],
        without: "notBuilt",
        reason: "it cannot be built without the change: `pieces` is missing",
        notes: &[],
        tests: &[("tests.test_pieces.Pieces.test_count", "absent", "passed")],
    },
    Case {
        name: "a feature in a module of its own",
        change: &[
            ("shop/tax.py", Some(TAX)),
            (
                "tests/test_tax.py",
                Some(
                    "import unittest\n\nfrom shop.tax import with_tax\n\n\nclass Tax(unittest.TestCase):\n    def test_fifth(self):\n        self.assertEqual(with_tax(100), 120)\n",
                ),
            ),
        ],
        without: "notBuilt",
        reason: "it cannot be built without the change: `tax` is missing",
        notes: &[],
        tests: &[("tests.test_tax.Tax.test_fifth", "absent", "passed")],
    },
    Case {
        name: "a feature that is removed with its tests",
        change: &[
            ("shop/price/discount.py", None),
            ("tests/test_discount.py", None),
        ],
        without: "green",
        reason: "green without the change, too",
        notes: &["1 test file is gone with the change, on both sides: tests/test_discount.py"],
        tests: &[("tests.test_cart.Cart.test_empty", "passed", "passed")],
    },
];

const PYTEST_FILES: Files = &[
    (
        "pyproject.toml",
        Some(
            "[project]\nname = \"shop\"\nversion = \"0.1\"\n\n[tool.pytest.ini_options]\npythonpath = [\"src\"]\n",
        ),
    ),
    (".gitignore", Some("__pycache__/\n.pytest_cache/\n")),
    ("src/shop/__init__.py", Some("")),
    ("src/shop/cart.py", Some(CART)),
    ("src/shop/price/__init__.py", Some("")),
    ("src/shop/price/discount.py", Some(DISCOUNT)),
    (
        "tests/test_cart.py",
        Some("from shop.cart import total\n\n\ndef test_empty():\n    assert total([]) == 0\n"),
    ),
    (
        "tests/price/test_discount.py",
        Some(
            "from shop.price.discount import reduced\n\n\ndef test_tenth():\n    assert reduced(100) == 90\n",
        ),
    ),
];

const PYTEST_CASES: &[Case] = &[
    Case {
        name: "a fix with a test",
        change: &[
            ("src/shop/cart.py", Some(FIXED_CART)),
            (
                "tests/test_pieces.py",
                Some(
                    "import pytest\n\nfrom shop.cart import total\n\n\n@pytest.mark.parametrize('count', [1, 3])\ndef test_each_is_paid(count):\n    assert total([(5, count)]) == 5 * count\n",
                ),
            ),
        ],
        without: "red",
        reason: "1 test fails without the change",
        notes: &[],
        tests: &[
            (
                "tests/test_pieces.py::test_each_is_paid[3]",
                "failed",
                "passed",
            ),
            (
                "tests/test_pieces.py::test_each_is_paid[1]",
                "passed",
                "passed",
            ),
            (
                "tests/price/test_discount.py::test_tenth",
                "passed",
                "passed",
            ),
        ],
    },
    Case {
        name: "a test that asserts nothing",
        change: &[
            ("src/shop/cart.py", Some(FIXED_CART)),
            (
                "tests/test_pieces.py",
                Some(
                    "from shop.cart import total\n\n\ndef test_each_is_paid():\n    total([(5, 3)])\n",
                ),
            ),
        ],
        without: "green",
        reason: "green without the change, too",
        notes: &[],
        tests: &[(
            "tests/test_pieces.py::test_each_is_paid",
            "passed",
            "passed",
        )],
    },
    Case {
        name: "a refactoring",
        change: &[("src/shop/cart.py", Some(OTHER_CART))],
        without: "green",
        reason: "green without the change, too",
        notes: &[],
        tests: &[("tests/test_cart.py::test_empty", "passed", "passed")],
    },
    Case {
        name: "a feature in a module that was there",
        change: &[
            ("src/shop/cart.py", Some(CART_THAT_COUNTS)),
            (
                "tests/test_pieces.py",
                Some(
                    "from shop.cart import pieces\n\n\ndef test_count():\n    assert pieces([(5, 3)]) == 3\n",
                ),
            ),
        ],
        without: "notBuilt",
        reason: "it cannot be built without the change: `pieces` is missing",
        notes: &[],
        tests: &[("tests/test_pieces.py::test_count", "absent", "passed")],
    },
    Case {
        name: "a feature in a module of its own",
        change: &[
            ("src/shop/tax.py", Some(TAX)),
            (
                "tests/test_tax.py",
                Some(
                    "from shop.tax import with_tax\n\n\ndef test_fifth():\n    assert with_tax(100) == 120\n",
                ),
            ),
        ],
        without: "notBuilt",
        reason: "it cannot be built without the change: `tax` is missing",
        notes: &[],
        tests: &[("tests/test_tax.py::test_fifth", "absent", "passed")],
    },
    Case {
        name: "a feature that is removed with its tests",
        change: &[
            ("src/shop/price/discount.py", None),
            ("tests/price/test_discount.py", None),
        ],
        without: "green",
        reason: "green without the change, too",
        notes: &[
            "1 test file is gone with the change, on both sides: tests/price/test_discount.py",
        ],
        tests: &[("tests/test_cart.py::test_empty", "passed", "passed")],
    },
];

#[test]
#[ignore = "needs the built plugin and python3: cargo xtask test"]
fn changes_are_told_apart_by_unittest() {
    play(
        "python3 -m unittest -v",
        UNITTEST_FILES,
        UNITTEST_CASES,
        || lab_with(folder_of("python3")),
        |_| Ok(()),
    )
    .unwrap();
}

#[test]
#[ignore = "needs the built plugin and pytest: cargo xtask test"]
fn changes_are_told_apart_by_pytest() {
    play(
        "python3 -m pytest",
        PYTEST_FILES,
        PYTEST_CASES,
        || lab_with(folder_with_pytest()),
        |_| Ok(()),
    )
    .unwrap();
}

/// The folder of a Python that has pytest: the first one of this user, or the system's own.
fn folder_with_pytest() -> Option<PathBuf> {
    let has_pytest = |folder: &PathBuf| {
        let probe = Command::new(folder.join("python3"))
            .args(["-c", "import pytest"])
            .output();
        probe.is_ok_and(|output| output.status.success())
    };
    folder_of("python3")
        .into_iter()
        .chain([PathBuf::from("/usr/bin")])
        .find(has_pytest)
}
