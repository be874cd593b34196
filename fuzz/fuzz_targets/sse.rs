#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| kontext_fuzz::sse(data));
