#![no_main]

use hnefi_fuzz::notation;

libfuzzer_sys::fuzz_target!(init: hnefi_fuzz::begin(notation::fen_seeds), |input: &[u8]| notation::fen(input));
