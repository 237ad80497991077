//! Access logs: one line, and a whole log as `gorl replay` reads it.

use gorl_cli::{Rehearsal, parse_line, rehearse};

/// What a gzipped log starts with.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Reads the bytes as a line of an access log, and replays them as a whole log.
pub fn access_log(bytes: &[u8]) {
    one_line(bytes);
    for (key, resource) in [("ip", None), ("user-agent", Some("path"))] {
        if let Some(counts) = rehearse(bytes, key, resource) {
            add_up(&counts);
            if !bytes.starts_with(&GZIP) {
                agree(bytes, &counts);
            }
        }
    }
}

/// What a line says is written in it.
fn one_line(line: &[u8]) {
    let Ok(entry) = parse_line(line) else { return };
    assert!(line.starts_with(entry.host) && !entry.host.is_empty());
    let texts =
        [entry.user, entry.method, entry.path, entry.status, entry.referer, entry.user_agent];
    for text in texts.into_iter().flatten() {
        assert!(line.as_ptr_range().contains(&text.as_ptr()) || text.is_empty());
        assert!(text.len() < line.len());
    }
}

/// Every line and every request is counted once.
fn add_up(counts: &Rehearsal) {
    assert_eq!(counts.lines, counts.failed + counts.without_key + counts.requests, "{counts:?}");
    assert!(counts.keys <= counts.requests, "{counts:?}");
    for (admitted, denied) in counts.decided {
        assert_eq!(admitted + denied, counts.requests, "{counts:?}");
        // The first request of a key is never denied.
        assert!(admitted >= counts.keys, "{counts:?}");
    }
}

/// Counted in another way, the lines are as many.
fn agree(bytes: &[u8], counts: &Rehearsal) {
    let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let (mut all, mut access, mut bad) = (0, 0, 0);
    for line in lines {
        all += 1;
        if line.trim_ascii_start().first() != Some(&b'{') {
            access += 1;
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            bad += u64::from(parse_line(line).is_err());
        }
    }
    assert_eq!(counts.lines, all);
    // Whether a line of JSON is good is not known here.
    assert!((bad..=bad + all - access).contains(&counts.failed), "{bad} and {counts:?}");
}
