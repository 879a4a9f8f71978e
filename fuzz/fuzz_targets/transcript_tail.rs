//! What the fuzzer makes up goes to `omo_fuzz::transcript_tail`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| omo_fuzz::transcript_tail::check(data));
