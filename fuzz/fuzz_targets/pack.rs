#![no_main]

use hnefi_fuzz::pack;

libfuzzer_sys::fuzz_target!(init: hnefi_fuzz::begin(pack::seeds), |input: &[u8]| pack::pack(input));
