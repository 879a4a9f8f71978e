//! Plays files of shared vectors: every `must` holds, and 19 of 20 `should`.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test's helpers fail as a test does")]

use serde_json::Value;

/// Plays each row of a file; `outcome` gives what came out, and whether that is right.
pub(crate) fn hold<T: std::fmt::Debug>(file: &str, outcome: impl Fn(&Row<'_>) -> (T, bool)) {
    let file: Value = serde_json::from_str(file).unwrap();
    let rows: Vec<Row> = file["vectors"].as_array().unwrap().iter().map(Row).collect();
    let missed = |tier: &str| {
        let of_tier = rows.iter().filter(|row| row.text("tier") == tier);
        let played = of_tier.map(|row| (row.text("id"), row.text("expect"), outcome(row)));
        played.filter(|(.., (_, right))| !right).collect::<Vec<_>>()
    };
    let (must, should) = (missed("must"), missed("should"));
    let all = rows.iter().filter(|row| row.text("tier") == "should").count();
    assert!(must.is_empty(), "{must:#?}");
    assert!(should.len() * 20 <= all, "of {all}: {should:#?}");
}

/// One vector.
pub(crate) struct Row<'a>(&'a Value);

impl Row<'_> {
    /// A field that holds a text.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0[name].as_str().unwrap()
    }
}
