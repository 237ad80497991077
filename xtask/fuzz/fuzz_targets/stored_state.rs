//! Hands the fuzzer's bytes to `gorl_fuzz::stored_state`.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| gorl_fuzz::stored_state(bytes));

#[cfg(not(fuzzing))]
fn main() {
    eprintln!("this was built without a fuzzer; run `cargo xtask fuzz stored_state`");
    std::process::exit(2);
}
