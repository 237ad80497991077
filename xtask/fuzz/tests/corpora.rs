//! Every kept input of every target, without a fuzzer.

use std::fs;
use std::path::Path;

use gorl_fuzz::TARGETS;

#[test]
fn every_kept_input_still_holds() {
    for (name, body) in TARGETS {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
        let mut inputs = 0;
        for entry in fs::read_dir(&corpus).expect("each target has a corpus") {
            let path = entry.expect("a folder can be listed").path();
            let bytes = fs::read(&path).expect("an input can be read");
            // Shown only when the test fails: the last one is the one that does not hold.
            println!("{}", path.display());
            body(&bytes);
            inputs += 1;
        }
        assert!(inputs > 0, "{} is empty", corpus.display());
    }
}

#[test]
fn no_bytes_and_a_single_byte_hold() {
    for (_, body) in TARGETS {
        body(b"");
        for byte in 0..=u8::MAX {
            body(&[byte]);
        }
    }
}
