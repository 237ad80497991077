//! Runs the built program for the tests.
#![allow(dead_code, reason = "each test program uses its own part of this")]

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `gorl` with these arguments and this standard input.
pub(crate) fn gorl(args: &[&str], input: impl AsRef<[u8]>) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_gorl"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("standard input is a pipe");
    let input = input.as_ref().to_vec();
    // From a thread of its own, since neither side may wait for the other to empty a full pipe.
    // The program may end before it has read everything, which is for the caller to judge.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("the program ends");
    writer.join().expect("the writer ends");
    ran(&output)
}

pub(crate) fn ran(output: &Output) -> Ran {
    Ran {
        status: output.status.code(),
        stdout: String::from_utf8(output.stdout.clone()).expect("output is UTF-8"),
        stderr: String::from_utf8(output.stderr.clone()).expect("errors are UTF-8"),
    }
}

/// A path inside this package.
pub(crate) fn here(path: &str) -> String {
    format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))
}

/// A fresh path for a file that a test writes, in the build's own scratch folder.
pub(crate) fn scratch(name: &str) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let unique = format!("{}-{}-{name}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(unique)
}

/// A file with this content.
pub(crate) fn file(name: &str, content: impl AsRef<[u8]>) -> String {
    let path = scratch(name);
    std::fs::write(&path, content).expect("the scratch folder is writable");
    path.to_str().expect("the path is UTF-8").to_owned()
}

/// A line of an access log at this second of a quiet day.
pub(crate) fn line(second: u32, ip: &str, user: &str, path: &str) -> String {
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!(
        "{ip} - {user} [01/Mar/2024:{hour:02}:{minute:02}:{second:02} +0000] \"GET {path} HTTP/1.1\" 200 5\n"
    )
}
