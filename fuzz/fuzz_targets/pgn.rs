#![no_main]

use hnefi_fuzz::texts;

libfuzzer_sys::fuzz_target!(init: hnefi_fuzz::begin(texts::pgn_seeds), |input: &[u8]| texts::pgn(input));
