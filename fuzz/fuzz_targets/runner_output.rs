//! What the fuzzer makes up goes to `omo_fuzz::runner_output`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| omo_fuzz::runner_output::check(data));
