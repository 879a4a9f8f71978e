//! What the fuzzer makes up goes to `omo_fuzz::hook_input`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| omo_fuzz::hook_input::check(data));
