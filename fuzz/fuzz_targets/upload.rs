#![no_main]

use hnefi_fuzz::fleet;

libfuzzer_sys::fuzz_target!(init: hnefi_fuzz::begin(fleet::upload_seeds), |input: &[u8]| fleet::upload(input));
