#![no_main]

use hnefi_fuzz::notation;

libfuzzer_sys::fuzz_target!(init: hnefi_fuzz::begin(notation::rules_record_seeds), |input: &[u8]| notation::rules_record(input));
