//! What the fuzzer makes up goes to `omo_fuzz::plan_readers`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| omo_fuzz::plan_readers::check(data));
