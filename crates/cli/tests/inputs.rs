//! Which inputs and outputs `gorl replay` takes, and which it refuses, seen from outside.

mod support;

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use support::{file, gorl, line};

#[test]
fn a_page_never_overwrites_a_log_under_any_of_its_names() {
    let text = line(0, "h", "-", "/");
    let log = file("kept.log", &text);
    let other = file("other.log", &text);
    let dotted = log.replace("/kept", "/./kept").replacen('/', "//", 1);
    let mut names = vec![log.clone(), dotted];
    let hard = support::scratch("hard.log");
    fs::hard_link(&log, &hard).unwrap();
    names.push(hard.to_str().unwrap().to_owned());
    #[cfg(unix)]
    {
        let soft = support::scratch("soft.log");
        std::os::unix::fs::symlink(&log, &soft).unwrap();
        names.push(soft.to_str().unwrap().to_owned());
    }
    for name in &names {
        // Refused before anything is read, for the first log would be another error.
        let ran = gorl(&["replay", "/nonexistent/log", &other, &log, "--html", name], "");
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{name}");
        assert!(ran.stderr.starts_with("error: --html ") && ran.stderr.contains("overwritten"));
        assert_eq!(fs::read_to_string(&log).unwrap(), text, "{name}");
    }
}

#[cfg(unix)]
#[test]
fn a_page_never_overwrites_the_file_that_is_standard_input() {
    let text = line(0, "h", "-", "/");
    let log = file("input.log", &text);
    let ran = std::process::Command::new(env!("CARGO_BIN_EXE_gorl"))
        .args(["replay", "-", "--html", &log])
        .stdin(fs::File::open(&log).unwrap())
        .output()
        .unwrap();
    let ran = support::ran(&ran);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.starts_with("error: --html "), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(&log).unwrap(), text);
}

#[test]
fn a_page_needs_the_name_of_a_file() {
    let ran = gorl(&["replay", "-", "--html", "-"], line(0, "h", "-", "/"));
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.starts_with("error: --html needs the name of a file"), "{}", ran.stderr);
    assert!(!std::path::Path::new("-").exists());
}

#[test]
fn a_log_without_a_good_line_is_an_error_beside_a_good_one() {
    let good = file("good.log", line(0, "h", "-", "/"));
    for (bad, says) in [
        (file("prose.log", "one\ntwo\n"), ": no line could be read"),
        (file("empty.log", ""), ": no lines to read"),
        (file("blank.log", "\n \n"), ": no lines to read"),
    ] {
        for order in [[&good, &bad], [&bad, &good]] {
            let page = support::scratch("none.html");
            let ran = gorl(&["replay", order[0], order[1], "--html", page.to_str().unwrap()], "");
            assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{order:?}");
            let last = ran.stderr.lines().last().unwrap_or_default();
            assert!(last.starts_with(&format!("error: {bad}{says}")), "{}", ran.stderr);
            assert!(!page.exists());
        }
    }
}

#[test]
fn a_gzipped_log_is_read_in_spite_of_padding_and_the_user_told() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(line(0, "h", "-", "/").as_bytes()).unwrap();
    let mut bytes = encoder.finish().unwrap();
    bytes.extend([0; 1_000]);
    let log = file("padded.log.gz", bytes);
    let ran = gorl(&["replay", &log], "");
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("1 request by 1 key (ip)"), "{}", ran.stdout);
    assert_eq!(
        ran.stderr,
        format!("{log}: what follows the gzipped text is no gzip and was left out\n")
    );
}
