//! Rust: tests in `tests/`, and beside the code that they test.

use omo_tests::scene::folder_of;

use super::{Case, Files, lab_with, play};

const CART: &str = "use crate::money::Cents;

#[derive(Default)]
pub struct Cart {
    lines: Vec<(Cents, u64)>,
}

impl Cart {
    pub fn add(&mut self, price: Cents, count: u64) {
        self.lines.push((price, count));
    }

    pub fn total(&self) -> Cents {
        self.lines.iter().map(|(price, _)| price).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_cart_costs_nothing() {
        assert_eq!(Cart::default().total(), 0);
    }
}
";
const FIXED_CART: &str = "use crate::money::Cents;

#[derive(Default)]
pub struct Cart {
    lines: Vec<(Cents, u64)>,
}

impl Cart {
    pub fn add(&mut self, price: Cents, count: u64) {
        self.lines.push((price, count));
    }

    pub fn total(&self) -> Cents {
        self.lines.iter().map(|(price, count)| price * count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_cart_costs_nothing() {
        assert_eq!(Cart::default().total(), 0);
    }
}
";
const FIXED_CART_WITH_A_TEST: &str = "use crate::money::Cents;

#[derive(Default)]
pub struct Cart {
    lines: Vec<(Cents, u64)>,
}

impl Cart {
    pub fn add(&mut self, price: Cents, count: u64) {
        self.lines.push((price, count));
    }

    pub fn total(&self) -> Cents {
        self.lines.iter().map(|(price, count)| price * count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_cart_costs_nothing() {
        assert_eq!(Cart::default().total(), 0);
    }

    #[test]
    fn each_piece_is_paid() {
        let mut cart = Cart::default();
        cart.add(5, 3);
        assert_eq!(cart.total(), 15);
    }
}
";
const CART_OF_LINES: &str = "use crate::money::Cents;

struct Line {
    price: Cents,
}

#[derive(Default)]
pub struct Cart {
    lines: Vec<Line>,
}

impl Cart {
    pub fn add(&mut self, price: Cents, _count: u64) {
        self.lines.push(Line { price });
    }

    pub fn total(&self) -> Cents {
        let mut total = 0;
        for line in &self.lines {
            total += line.price;
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_cart_costs_nothing() {
        assert_eq!(Cart::default().total(), 0);
    }
}
";
const CART_THAT_COUNTS: &str = "use crate::money::Cents;

#[derive(Default)]
pub struct Cart {
    lines: Vec<(Cents, u64)>,
}

impl Cart {
    pub fn add(&mut self, price: Cents, count: u64) {
        self.lines.push((price, count));
    }

    pub fn total(&self) -> Cents {
        self.lines.iter().map(|(price, _)| price).sum()
    }

    pub fn piece_count(&self) -> u64 {
        self.lines.iter().map(|(_, count)| count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_cart_costs_nothing() {
        assert_eq!(Cart::default().total(), 0);
    }

    #[test]
    fn pieces_are_counted() {
        let mut cart = Cart::default();
        cart.add(5, 3);
        assert_eq!(cart.piece_count(), 3);
    }
}
";
const DISCOUNT: &str = "use crate::money::Cents;

pub fn reduced(price: Cents) -> Cents {
    price - price / 10
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_tenth_is_taken_off() {
        assert_eq!(super::reduced(100), 90);
    }
}
";
const MONEY: &str = "pub type Cents = u64;

/// ```
/// assert_eq!(shop::money::display(105), \"1.05\");
/// ```
pub fn display(cents: Cents) -> String {
    format!(\"{}.{:02}\", cents / 100, cents % 100)
}
";
const API: &str = "use shop::{cart::Cart, money::display};

#[test]
fn a_total_is_displayed() {
    let mut cart = Cart::default();
    cart.add(250, 1);
    assert_eq!(display(cart.total()), \"2.50\");
}
";
const API_THAT_COUNTS: &str = "use shop::{cart::Cart, money::display};

#[test]
fn a_total_is_displayed() {
    let mut cart = Cart::default();
    cart.add(250, 1);
    assert_eq!(display(cart.total()), \"2.50\");
}

#[test]
fn each_piece_is_displayed() {
    let mut cart = Cart::default();
    cart.add(250, 2);
    assert_eq!(display(cart.total()), \"5.00\");
}
";
const API_THAT_ASSERTS_NOTHING: &str = "use shop::{cart::Cart, money::display};

#[test]
fn a_total_is_displayed() {
    let mut cart = Cart::default();
    cart.add(250, 1);
    assert_eq!(display(cart.total()), \"2.50\");
}

#[test]
fn each_piece_is_displayed() {
    let mut cart = Cart::default();
    cart.add(250, 2);
    let _ = display(cart.total());
}
";

const FILES: Files = &[
    (
        "Cargo.toml",
        Some(
            "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[profile.dev]\ndebug = 0\n",
        ),
    ),
    (
        "Cargo.lock",
        Some("version = 3\n\n[[package]]\nname = \"shop\"\nversion = \"0.1.0\"\n"),
    ),
    (".gitignore", Some("/target\n")),
    (
        "src/lib.rs",
        Some("pub mod cart;\npub mod discount;\npub mod money;\n"),
    ),
    ("src/cart.rs", Some(CART)),
    ("src/discount.rs", Some(DISCOUNT)),
    ("src/money.rs", Some(MONEY)),
    ("tests/api.rs", Some(API)),
    ("tests/discounts/main.rs", Some("mod season;\n")),
    (
        "tests/discounts/season.rs",
        Some("#[test]\nfn summer() {\n    assert_eq!(shop::discount::reduced(50), 45);\n}\n"),
    ),
];

const CASES: &[Case] = &[
    Case {
        name: "a fix, with a test in tests/",
        change: &[
            ("src/cart.rs", Some(FIXED_CART)),
            ("tests/api.rs", Some(API_THAT_COUNTS)),
        ],
        without: "red",
        reason: "1 test fails without the change",
        notes: &[],
        tests: &[
            ("api::each_piece_is_displayed", "failed", "passed"),
            ("api::a_total_is_displayed", "passed", "passed"),
            (
                "shop::cart::tests::an_empty_cart_costs_nothing",
                "passed",
                "passed",
            ),
        ],
    },
    Case {
        name: "a fix, with a test beside the code",
        change: &[("src/cart.rs", Some(FIXED_CART_WITH_A_TEST))],
        without: "red",
        reason: "1 test fails without the change",
        notes: &[],
        tests: &[
            ("shop::cart::tests::each_piece_is_paid", "failed", "passed"),
            (
                "shop::cart::tests::an_empty_cart_costs_nothing",
                "passed",
                "passed",
            ),
        ],
    },
    Case {
        name: "a test that asserts nothing",
        change: &[
            ("src/cart.rs", Some(FIXED_CART)),
            ("tests/api.rs", Some(API_THAT_ASSERTS_NOTHING)),
        ],
        without: "green",
        reason: "green without the change, too",
        notes: &[],
        tests: &[("api::each_piece_is_displayed", "passed", "passed")],
    },
    Case {
        name: "a refactoring",
        change: &[("src/cart.rs", Some(CART_OF_LINES))],
        without: "green",
        reason: "green without the change, too",
        notes: &[],
        tests: &[
            ("api::a_total_is_displayed", "passed", "passed"),
            (
                "shop doc::src/money.rs - money::display",
                "passed",
                "passed",
            ),
        ],
    },
    Case {
        name: "a feature, with tests in tests/",
        change: &[
            (
                "src/lib.rs",
                Some("pub mod cart;\npub mod discount;\npub mod money;\npub mod tax;\n"),
            ),
            (
                "src/tax.rs",
                Some(
                    "use crate::money::Cents;\n\npub fn with_tax(price: Cents) -> Cents {\n    price + price / 5\n}\n",
                ),
            ),
            (
                "tests/tax.rs",
                Some(
                    "use shop::tax::with_tax;\n\n#[test]\nfn a_fifth_is_added() {\n    assert_eq!(with_tax(100), 120);\n}\n",
                ),
            ),
        ],
        without: "notBuilt",
        reason: "it cannot be built without the change: `tax` is missing",
        notes: &[],
        tests: &[("tax::a_fifth_is_added", "absent", "passed")],
    },
    Case {
        name: "a feature, with a test beside the code",
        change: &[("src/cart.rs", Some(CART_THAT_COUNTS))],
        without: "notBuilt",
        reason: "it cannot be built without the change: `piece_count` is missing",
        notes: &[],
        tests: &[("shop::cart::tests::pieces_are_counted", "absent", "passed")],
    },
    Case {
        name: "a new file that has its own tests in it",
        change: &[
            (
                "src/lib.rs",
                Some("pub mod cart;\npub mod discount;\npub mod money;\npub mod tax;\n"),
            ),
            (
                "src/tax.rs",
                Some(
                    "pub fn rate() -> u32 {\n    20\n}\n\n#[test]\nfn it_is_a_fifth() {\n    assert_eq!(rate(), 20);\n}\n",
                ),
            ),
        ],
        without: "unknown",
        reason: "1 test is only there with the change",
        notes: &["the tests in src/tax.rs could not be separated: the file is new"],
        tests: &[("shop::tax::it_is_a_fifth", "absent", "passed")],
    },
    Case {
        name: "a new file with tests that assert nothing, beside a fix with its test",
        change: &[
            (
                "src/lib.rs",
                Some("pub mod cart;\npub mod discount;\npub mod money;\nmod tax;\n"),
            ),
            (
                "src/tax.rs",
                Some(
                    "#[cfg(test)]\nmod tests {\n    #[test]\n    fn nothing_is_asserted() {}\n}\n",
                ),
            ),
            ("src/cart.rs", Some(FIXED_CART_WITH_A_TEST)),
        ],
        without: "red",
        reason: "1 test fails without the change, 1 test is not there",
        notes: &["the tests in src/tax.rs could not be separated: the file is new"],
        tests: &[
            ("shop::tax::tests::nothing_is_asserted", "absent", "passed"),
            ("shop::cart::tests::each_piece_is_paid", "failed", "passed"),
            // cargo runs no other program of tests once one has failed.
            ("api::a_total_is_displayed", "unknown", "passed"),
        ],
    },
    Case {
        name: "a new file for tests alone",
        change: &[
            (
                "src/lib.rs",
                Some(
                    "pub mod cart;\n#[cfg(test)]\nmod cases;\npub mod discount;\npub mod money;\n",
                ),
            ),
            (
                "src/cases.rs",
                Some("#[test]\nfn nothing_is_asserted() {}\n"),
            ),
            ("src/cart.rs", Some(FIXED_CART)),
        ],
        without: "green",
        reason: "green without the change, too",
        notes: &[],
        tests: &[("shop::cases::nothing_is_asserted", "passed", "passed")],
    },
    Case {
        name: "a feature that is removed with its tests",
        change: &[
            ("src/lib.rs", Some("pub mod cart;\npub mod money;\n")),
            ("src/discount.rs", None),
            ("tests/discounts/main.rs", None),
            ("tests/discounts/season.rs", None),
        ],
        without: "green",
        reason: "green without the change, too",
        notes: &[
            "2 test files are gone with the change, on both sides: tests/discounts/main.rs, tests/discounts/season.rs",
        ],
        tests: &[
            (
                "shop::discount::tests::a_tenth_is_taken_off",
                "passed",
                "absent",
            ),
            ("api::a_total_is_displayed", "passed", "passed"),
        ],
    },
];

#[test]
fn changes_to_a_crate_are_told_apart() {
    play(
        "cargo test --offline",
        FILES,
        CASES,
        || lab_with(folder_of("cargo")),
        |_| Ok(()),
    )
    .unwrap();
}

/// As many tests as before: what came with a new file is not taken for what went with an old one, even where the command
/// names no test.
#[test]
fn tests_of_a_new_file_are_not_guessed_about_where_no_test_is_named() {
    let case = Case {
        name: "a module in the place of another",
        change: &[
            (
                "src/lib.rs",
                Some("pub mod cart;\npub mod money;\npub mod tax;\n"),
            ),
            ("src/discount.rs", None),
            ("src/tax.rs", Some(DISCOUNT)),
            ("tests/discounts/main.rs", None),
            ("tests/discounts/season.rs", None),
        ],
        without: "unknown",
        reason: "1 test is only there with the change, in files that are not test files, and could not be separated",
        notes: &["the tests in src/tax.rs could not be separated: the file is new"],
        tests: &[],
    };
    play(
        "cargo test --offline --quiet",
        FILES,
        &[case],
        || lab_with(folder_of("cargo")),
        |_| Ok(()),
    )
    .unwrap();
}
