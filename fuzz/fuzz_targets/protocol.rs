#![no_main]

use hnefi_fuzz::protocol;

libfuzzer_sys::fuzz_target!(init: hnefi_fuzz::begin(protocol::seeds), |input: &[u8]| protocol::lines(input));
