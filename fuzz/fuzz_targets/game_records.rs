#![no_main]

use hnefi_fuzz::games;

libfuzzer_sys::fuzz_target!(init: hnefi_fuzz::begin(games::seeds), |input: &[u8]| games::records(input));
