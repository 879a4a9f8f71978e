//! The address that security reports go to.

use crate::{read, toml};

#[test]
fn reports_go_to_the_repository() {
    let manifest = toml("Cargo.toml");
    let repository = manifest["workspace"]["package"]["repository"]
        .as_str()
        .unwrap();
    assert!(
        read("SECURITY.md").contains(&format!("({repository}/security/advisories/new)")),
        "{repository}"
    );
}
