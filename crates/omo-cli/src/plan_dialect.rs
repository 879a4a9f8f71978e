//! `--dialect NAME`: the format of a plan, where its user knows better than omo.

use omo_plan::model::Dialect;

pub(crate) fn parse_dialect(name: &str) -> Result<Dialect, String> {
    let known = Dialect::of_files().find(|dialect| dialect.word() == name);
    known.ok_or_else(|| {
        let names: Vec<&str> = Dialect::of_files().map(Dialect::word).collect();
        format!("the formats are {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dialect_is_named_by_its_own_name_alone() {
        for dialect in Dialect::of_files() {
            assert_eq!(parse_dialect(dialect.word()), Ok(dialect));
        }
        for name in ["", "Kiro", "tasks-json", "\u{1b}[2J"] {
            let why = parse_dialect(name).unwrap_err();
            assert!(
                why.starts_with("the formats are ") && why.contains(", openspec"),
                "{why}"
            );
        }
    }
}
