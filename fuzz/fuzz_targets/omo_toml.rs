//! What the fuzzer makes up goes to `omo_fuzz::omo_toml`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| omo_fuzz::omo_toml::check(data));
