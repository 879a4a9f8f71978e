//! What the fuzzer makes up goes to `omo_fuzz::prompt_text`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| omo_fuzz::prompt_text::check(data));
