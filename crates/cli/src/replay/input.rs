//! Reads the logs: files, gzipped files and standard input, line by line into traffic.

use std::fs::{self, File};
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use super::progress::Progress;
use super::traffic::{Traffic, TrafficBuilder};
use crate::args::ReplayArgs;
use crate::failure::Failure;
use crate::field::RecordReader;
use crate::lines::{Line, Lines, MAX_LINE};

/// What was read, and what could not be.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) traffic: Traffic,
    /// The names of the logs.
    pub(crate) sources: Vec<String>,
    /// Lines that are not blank.
    pub(crate) lines: u64,
    /// Those of them that are no line of a log.
    pub(crate) failed: u64,
    /// The first of those with the reason, as `FILE:LINE: reason`.
    pub(crate) first_failures: Vec<String>,
    /// Good lines without the key's field.
    pub(crate) without_key: u64,
}

/// How many unreadable lines are shown; they are mostly alike.
const SHOWN_FAILURES: usize = 5;

/// How often, in lines, the progress bar is looked after.
const PROGRESS_LINES: u64 = 4_096;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const BUFFER: usize = 1 << 17;

/// Stands for the resource of requests that have none.
const NO_RESOURCE: &[u8] = b"-";

/// Reads all logs, one after the other.
pub(crate) fn read(args: &ReplayArgs, progress: &Progress) -> Result<Reading, Failure> {
    let records = RecordReader::new(&args.key, args.resource.as_deref(), &args.names);
    let mut collector = Collector {
        records,
        builder: TrafficBuilder::new(args.resource.is_some()),
        lines: 0,
        failed: 0,
        first_failures: Vec::new(),
        without_key: 0,
    };
    let bar = progress.reading(total_bytes(&args.logs));
    let mut sources = Vec::new();
    for path in &args.logs {
        let name = source_name(path);
        let failed = |error: io::Error| Failure::new(format!("{name}: {error}"));
        let input: Box<dyn Read> = if path.as_os_str() == "-" {
            Box::new(bar.wrap_read(io::stdin().lock()))
        } else {
            Box::new(bar.wrap_read(File::open(path).map_err(failed)?))
        };
        let lines = Lines::new(decoded(input).map_err(failed)?);
        collector.read(lines, &name, progress)?;
        sources.push(name);
    }
    Ok(Reading {
        traffic: collector.builder.build(),
        sources,
        lines: collector.lines,
        failed: collector.failed,
        first_failures: collector.first_failures,
        without_key: collector.without_key,
    })
}

struct Collector {
    records: RecordReader,
    builder: TrafficBuilder,
    lines: u64,
    failed: u64,
    first_failures: Vec<String>,
    without_key: u64,
}

impl Collector {
    fn read(
        &mut self,
        mut lines: Lines<BufReader<Box<dyn Read>>>,
        name: &str,
        progress: &Progress,
    ) -> Result<(), Failure> {
        for number in 1_u64.. {
            if number % PROGRESS_LINES == 0 {
                progress.show_when_due();
            }
            let line = lines.next().map_err(|error| Failure::new(format!("{name}: {error}")))?;
            match line {
                None => break,
                Some(Line::TooLong) => {
                    self.lines += 1;
                    self.fail(name, number, &format!("longer than {MAX_LINE} bytes"));
                }
                Some(Line::Text(line)) if line.trim_ascii().is_empty() => {}
                Some(Line::Text(line)) => {
                    self.lines += 1;
                    match self.records.read(line) {
                        Err(error) => self.fail(name, number, &error.to_string()),
                        Ok(record) => match record.key {
                            None => self.without_key += 1,
                            Some(key) => {
                                let resource = record.resource.as_deref().unwrap_or(NO_RESOURCE);
                                self.builder
                                    .push(record.at_ns, &key, resource)
                                    .map_err(|error| Failure::new(error.to_string()))?;
                            }
                        },
                    }
                }
            }
        }
        Ok(())
    }

    fn fail(&mut self, name: &str, number: u64, reason: &str) {
        self.failed += 1;
        if self.first_failures.len() < SHOWN_FAILURES {
            self.first_failures.push(format!("{name}:{number}: {reason}"));
        }
    }
}

/// Unpacks the input when its first bytes say that it is gzipped, whatever its name says.
fn decoded(mut input: Box<dyn Read>) -> io::Result<BufReader<Box<dyn Read>>> {
    let mut start = Vec::new();
    input.by_ref().take(GZIP_MAGIC.len() as u64).read_to_end(&mut start)?;
    let gzipped = start == GZIP_MAGIC;
    let whole = BufReader::with_capacity(BUFFER, Cursor::new(start).chain(input));
    let text: Box<dyn Read> =
        if gzipped { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) };
    Ok(BufReader::with_capacity(BUFFER, text))
}

/// The size of all logs, unless one of them is a pipe.
fn total_bytes(logs: &[PathBuf]) -> Option<u64> {
    logs.iter()
        .map(|path| fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|file| file.len()))
        .sum()
}

fn source_name(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".to_owned() } else { path.display().to_string() }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn text(bytes: Vec<u8>) -> String {
        let mut out = String::new();
        decoded(Box::new(Cursor::new(bytes))).unwrap().read_to_string(&mut out).unwrap();
        out
    }

    fn gzip(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn gzip_is_told_by_its_bytes_and_may_have_several_members() {
        assert_eq!(text(b"plain".to_vec()), "plain");
        assert_eq!(text(b"".to_vec()), "");
        assert_eq!(text(b"\x1f".to_vec()), "\x1f");
        let mut both = gzip("one\n");
        both.extend(gzip("two\n"));
        assert_eq!(text(both), "one\ntwo\n");
    }
}
