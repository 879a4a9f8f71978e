//! Amounts of money, counted in millionths of a US dollar.

/// An amount for people, such as `$0.43`, rounded up to a cent.
pub fn format_dollars(micros: u64) -> String {
    let cents = micros.div_ceil(10_000);
    format!("${}.{:02}", cents / 100, cents % 100)
}

/// An amount for programs, with as many decimals as it has, such as `0.5`.
pub fn decimal_dollars(micros: u64) -> String {
    let (whole, part) = (micros / 1_000_000, micros % 1_000_000);
    if part == 0 {
        whole.to_string()
    } else {
        format!("{whole}.{part:06}")
            .trim_end_matches('0')
            .to_owned()
    }
}
