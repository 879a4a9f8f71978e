//! What the fuzzer makes up goes to `omo_fuzz::plan_file`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| omo_fuzz::plan_file::check(data));
