//! Hands the fuzzer's bytes to `gorl_fuzz::config`.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| gorl_fuzz::config(bytes));

#[cfg(not(fuzzing))]
fn main() {
    eprintln!("this was built without a fuzzer; run `cargo xtask fuzz config`");
    std::process::exit(2);
}
