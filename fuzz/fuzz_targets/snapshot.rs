#![no_main]

use hnefi_fuzz::fleet;

libfuzzer_sys::fuzz_target!(init: hnefi_fuzz::begin(fleet::snapshot_seeds), |input: &[u8]| fleet::snapshot(input));
