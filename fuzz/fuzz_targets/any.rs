//! The target that `HNEFI_TARGET` names.
#![no_main]

libfuzzer_sys::fuzz_target!(init: hnefi_fuzz::begin(), |input: &[u8]| hnefi_fuzz::run(input));
