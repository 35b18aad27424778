#![no_main]

use hnefi_fuzz::metrics;

libfuzzer_sys::fuzz_target!(init: hnefi_fuzz::begin(metrics::seeds), |input: &[u8]| metrics::metrics(input));
