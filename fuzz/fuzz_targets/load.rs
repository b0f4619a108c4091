//! The fuzzer: see `forms`.

#![no_main]

use libfuzzer_sys::fuzz_target;

mod forms;

fuzz_target!(|data: &[u8]| forms::load(data));
