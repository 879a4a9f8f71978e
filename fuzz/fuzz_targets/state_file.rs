//! What the fuzzer makes up goes to `omo_fuzz::state_file`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| omo_fuzz::state_file::check(data));
