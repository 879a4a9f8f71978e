//! What the fuzzer makes up goes to `omo_fuzz::ledger`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| omo_fuzz::ledger::check(data));
