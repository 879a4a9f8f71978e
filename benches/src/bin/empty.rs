//! The cheapest process that Rust can start: what every hook is measured against.

fn main() {}
