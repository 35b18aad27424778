#![no_main]

use hnefi_fuzz::texts;

libfuzzer_sys::fuzz_target!(init: hnefi_fuzz::begin(texts::replay_seeds), |input: &[u8]| texts::replay(input));
