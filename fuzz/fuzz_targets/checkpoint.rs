#![no_main]

use hnefi_fuzz::checkpoint;

libfuzzer_sys::fuzz_target!(init: hnefi_fuzz::begin(checkpoint::seeds), |input: &[u8]| checkpoint::checkpoint(input));
