//! Go: packages with their tests beside them.

use omo_tests::scene::folder_of;

use super::{Case, Files, lab_with, play};

const CART: &str = "package cart

type Line struct{ Price, Count int }

func Total(lines []Line) int {
	total := 0
	for _, line := range lines {
		total += line.Price
	}
	return total
}
";
const FIXED_CART: &str = "package cart

type Line struct{ Price, Count int }

func Total(lines []Line) int {
	total := 0
	for _, line := range lines {
		total += line.Price * line.Count
	}
	return total
}
";
const OTHER_CART: &str = "package cart

type Line struct{ Price, Count int }

func Total(lines []Line) int {
	if len(lines) == 0 {
		return 0
	}
	return lines[0].Price + Total(lines[1:])
}
";
const CART_THAT_COUNTS: &str = "package cart

type Line struct{ Price, Count int }

func Total(lines []Line) int {
	total := 0
	for _, line := range lines {
		total += line.Price
	}
	return total
}

func Pieces(lines []Line) (count int) {
	for _, line := range lines {
		count += line.Count
	}
	return count
}
";
const CART_TEST: &str = "package cart

import \"testing\"

func TestEmpty(t *testing.T) {
	if Total(nil) != 0 {
		t.Fatal(\"an empty cart costs something\")
	}
}
";

const FILES: Files = &[
    ("go.mod", Some("module example.org/shop\n\ngo 1.18\n")),
    ("cart/cart.go", Some(CART)),
    ("cart/cart_test.go", Some(CART_TEST)),
    (
        "internal/discount/discount.go",
        Some("package discount\n\nfunc Reduced(price int) int { return price - price/10 }\n"),
    ),
    (
        "internal/discount/discount_test.go",
        Some(
            "package discount\n\nimport \"testing\"\n\nfunc TestTenth(t *testing.T) {\n\tif Reduced(100) != 90 {\n\t\tt.Fatal()\n\t}\n}\n",
        ),
    ),
];

const CASES: &[Case] = &[
    Case {
        name: "a fix with a test",
        change: &[
            ("cart/cart.go", Some(FIXED_CART)),
            (
                "cart/pieces_test.go",
                Some(
                    "package cart\n\nimport \"testing\"\n\nfunc TestPieces(t *testing.T) {\n\tif Total([]Line{{5, 3}}) != 15 {\n\t\tt.Fatal(\"not each piece is paid\")\n\t}\n}\n",
                ),
            ),
        ],
        without: "red",
        reason: "1 test fails without the change",
        notes: &[],
        tests: &[
            ("example.org/shop/cart.TestPieces", "failed", "passed"),
            ("example.org/shop/cart.TestEmpty", "passed", "passed"),
            (
                "example.org/shop/internal/discount.TestTenth",
                "passed",
                "passed",
            ),
        ],
    },
    Case {
        name: "a test that asserts nothing",
        change: &[
            ("cart/cart.go", Some(FIXED_CART)),
            (
                "cart/pieces_test.go",
                Some(
                    "package cart\n\nimport \"testing\"\n\nfunc TestPieces(t *testing.T) {\n\t_ = Total([]Line{{5, 3}})\n}\n",
                ),
            ),
        ],
        without: "green",
        reason: "green without the change, too",
        notes: &[],
        tests: &[("example.org/shop/cart.TestPieces", "passed", "passed")],
    },
    Case {
        name: "a refactoring",
        change: &[("cart/cart.go", Some(OTHER_CART))],
        without: "green",
        reason: "green without the change, too",
        notes: &[],
        tests: &[("example.org/shop/cart.TestEmpty", "passed", "passed")],
    },
    Case {
        name: "a feature in a package that was there",
        change: &[
            ("cart/cart.go", Some(CART_THAT_COUNTS)),
            (
                "cart/pieces_test.go",
                Some(
                    "package cart\n\nimport \"testing\"\n\nfunc TestPieces(t *testing.T) {\n\tif Pieces([]Line{{5, 3}}) != 3 {\n\t\tt.Fatal()\n\t}\n}\n",
                ),
            ),
        ],
        without: "notBuilt",
        reason: "it cannot be built without the change: `Pieces` is missing",
        notes: &[],
        tests: &[
            ("example.org/shop/cart.TestPieces", "absent", "passed"),
            (
                "example.org/shop/internal/discount.TestTenth",
                "passed",
                "passed",
            ),
        ],
    },
    Case {
        name: "a feature in a package of its own",
        change: &[
            (
                "internal/tax/tax.go",
                Some("package tax\n\nfunc With(price int) int { return price + price/5 }\n"),
            ),
            (
                "cart/tax_test.go",
                Some(
                    "package cart\n\nimport (\n\t\"testing\"\n\n\t\"example.org/shop/internal/tax\"\n)\n\nfunc TestTax(t *testing.T) {\n\tif tax.With(100) != 120 {\n\t\tt.Fatal()\n\t}\n}\n",
                ),
            ),
        ],
        without: "notBuilt",
        reason: "it cannot be built without the change: `tax` is missing",
        notes: &[],
        tests: &[("example.org/shop/cart.TestTax", "absent", "passed")],
    },
    Case {
        name: "a feature that is removed with its tests",
        change: &[
            ("internal/discount/discount.go", None),
            ("internal/discount/discount_test.go", None),
        ],
        without: "green",
        reason: "green without the change, too",
        notes: &[
            "1 test file is gone with the change, on both sides: internal/discount/discount_test.go",
        ],
        tests: &[("example.org/shop/cart.TestEmpty", "passed", "passed")],
    },
];

#[test]
#[ignore = "needs the built plugin and go: cargo xtask test"]
fn changes_to_a_module_of_go_are_told_apart() {
    // Go builds its own library once for all of them.
    let cache = tempfile::tempdir().unwrap();
    let lab = || Ok(lab_with(folder_of("go"))?.env("GOCACHE", &cache.path().to_string_lossy()));
    play("go test ./...", FILES, CASES, lab, |_| Ok(())).unwrap();
}
