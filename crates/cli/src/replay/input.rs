//! Reads the logs: files, gzipped files and standard input, line by line into traffic.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use gorl_config::Routes;

use super::gzip;
use super::plan::Who;
use super::progress::Progress;
use super::traffic::{TooMany, Traffic, TrafficBuilder};
use crate::args::ReplayArgs;
use crate::failure::Failure;
use crate::field::{Record, RecordReader};
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
    /// What else was odd about a log that could be read.
    pub(crate) notes: Vec<String>,
    /// Names the first log without a single good line, and says so; later logs are not read.
    pub(crate) unusable: Option<String>,
    /// Good lines without the key's field.
    pub(crate) without_key: u64,
}

/// How many unreadable lines are shown; they are mostly alike.
const SHOWN_FAILURES: usize = 5;

/// How often, in lines, the progress bar is looked after.
const PROGRESS_LINES: u64 = 4_096;

const BUFFER: usize = 1 << 17;

/// Stands for the resource of requests that have none.
const NO_RESOURCE: &[u8] = b"-";

/// What is wanted of each line beside its key and the resource that is named on the command line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    /// The columns of the traffic.
    pub(crate) columns: &'a [Who],
    /// What says the resource by method and path.
    pub(crate) routes: Option<&'a Routes>,
}

/// Reads all logs, one after the other.
pub(crate) fn read(
    args: &ReplayArgs,
    wanted: Wanted<'_>,
    progress: &Progress,
) -> Result<Reading, Failure> {
    let mut collector = Collector::new(args, wanted);
    let bar = progress.reading(total_bytes(&args.logs));
    let (mut sources, mut notes, mut unusable) = (Vec::new(), Vec::new(), None);
    for path in &args.logs {
        let name = source_name(path);
        let failed = |error: io::Error| Failure::new(format!("{name}: {error}"));
        let input: Box<dyn Read> = if path.as_os_str() == "-" {
            Box::new(bar.wrap_read(io::stdin().lock()))
        } else {
            Box::new(bar.wrap_read(File::open(path).map_err(failed)?))
        };
        let trailing = Rc::new(Cell::new(false));
        let lines = Lines::new(decoded(input, &trailing).map_err(failed)?);
        let before = (collector.lines, collector.failed);
        collector.read(lines, &name, progress)?;
        if trailing.get() {
            notes
                .push(format!("{name}: what follows the gzipped text is no gzip and was left out"));
        }
        unusable = no_log(&name, collector.lines - before.0, collector.failed - before.1);
        sources.push(name);
        if unusable.is_some() {
            break;
        }
    }
    Ok(Reading { sources, notes, unusable, ..collector.finish() })
}

/// Reads one log that is at hand, as if it were a file.
pub(crate) fn read_bytes(
    args: &ReplayArgs,
    wanted: Wanted<'_>,
    bytes: &[u8],
    progress: &Progress,
) -> Result<Reading, Failure> {
    let mut collector = Collector::new(args, wanted);
    let input = decoded(Box::new(Cursor::new(bytes.to_vec())), &Rc::default());
    let lines = Lines::new(input.map_err(|error| Failure::new(error.to_string()))?);
    collector.read(lines, "bytes", progress)?;
    Ok(collector.finish())
}

/// What is wrong with a log of so many lines of which so many failed, if nothing of it is good.
fn no_log(name: &str, lines: u64, failed: u64) -> Option<String> {
    if lines == 0 {
        return Some(format!("{name}: no lines to read"));
    }
    (failed == lines).then(|| {
        format!("{name}: no line could be read as an access log (common or combined) or as JSON")
    })
}

struct Collector<'a> {
    records: RecordReader,
    builder: TrafficBuilder,
    /// For each column of the traffic, which of a record's further fields it holds; none for the one in
    /// which all requests are alike.
    columns: Vec<Option<usize>>,
    routes: Option<&'a Routes>,
    lines: u64,
    failed: u64,
    first_failures: Vec<String>,
    without_key: u64,
}

impl<'a> Collector<'a> {
    fn new(args: &'a ReplayArgs, wanted: Wanted<'a>) -> Self {
        let mut also: Vec<&str> = Vec::new();
        let columns = wanted.columns.iter().map(|who| match who {
            Who::Each(field) => {
                also.push(field);
                Some(also.len() - 1)
            }
            _ => None,
        });
        let columns: Vec<_> = columns.collect();
        let resource = args.resource.as_deref();
        if wanted.routes.is_some() {
            also.extend(["method", "path"]);
        }
        let has_resource = resource.is_some() || wanted.routes.is_some();
        Self {
            records: RecordReader::new(&args.key, resource, &also, &args.names),
            builder: TrafficBuilder::new(has_resource, columns.len()),
            columns,
            routes: wanted.routes,
            lines: 0,
            failed: 0,
            first_failures: Vec::new(),
            without_key: 0,
        }
    }

    /// What was read, of logs without a name.
    fn finish(self) -> Reading {
        Reading {
            traffic: self.builder.build(),
            sources: Vec::new(),
            lines: self.lines,
            failed: self.failed,
            first_failures: self.first_failures,
            notes: Vec::new(),
            unusable: None,
            without_key: self.without_key,
        }
    }

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
                            Some(_) => {
                                let columns = (&*self.columns, self.routes);
                                let pushed = push(&mut self.builder, columns, &record);
                                pushed.map_err(|error| Failure::new(error.to_string()))?;
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

/// Hands a record on, with its key under every limit that has keys of its own.
fn push(
    builder: &mut TrafficBuilder,
    (columns, routes): (&[Option<usize>], Option<&Routes>),
    record: &Record<'_>,
) -> Result<(), TooMany> {
    let key = record.key.as_deref().unwrap_or_default();
    let resource = match routes {
        Some(routes) => routed(routes, record).as_bytes(),
        None => record.resource.as_deref().unwrap_or(NO_RESOURCE),
    };
    builder.push(record.at_ns, key, resource)?;
    for (column, field) in columns.iter().enumerate() {
        let key = match field {
            Some(field) => record.also.get(*field).and_then(Option::as_deref),
            None => Some(&[][..]),
        };
        builder.push_also(column, key)?;
    }
    Ok(())
}

/// The resource that the routes find for a record, whose last further fields are method and path; empty
/// when they find none.
fn routed<'a>(routes: &'a Routes, record: &Record<'_>) -> &'a str {
    let [.., method, Some(path)] = &*record.also else { return "" };
    let method = String::from_utf8_lossy(method.as_deref().unwrap_or_default());
    routes.find(&method, &String::from_utf8_lossy(path)).unwrap_or_default()
}

/// Unpacks the input when its first bytes say that it is gzipped, whatever its name says.
///
/// `trailing` is set when, by the end, bytes were found that belong to no member of the gzip.
fn decoded(
    mut input: Box<dyn Read>,
    trailing: &Rc<Cell<bool>>,
) -> io::Result<BufReader<Box<dyn Read>>> {
    let mut start = Vec::new();
    input.by_ref().take(gzip::MAGIC.len() as u64).read_to_end(&mut start)?;
    let gzipped = start == gzip::MAGIC;
    let whole = BufReader::with_capacity(BUFFER, Cursor::new(start).chain(input));
    let text: Box<dyn Read> = if gzipped {
        Box::new(gzip::Members::new(whole, Rc::clone(trailing)))
    } else {
        Box::new(whole)
    };
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
        decoded(Box::new(Cursor::new(bytes)), &Rc::default())
            .unwrap()
            .read_to_string(&mut out)
            .unwrap();
        out
    }

    fn gzipped(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn gzip_is_told_by_its_bytes() {
        assert_eq!(text(b"plain".to_vec()), "plain");
        assert_eq!(text(b"".to_vec()), "");
        assert_eq!(text(b"\x1f".to_vec()), "\x1f");
        assert_eq!(text(gzipped("one\n")), "one\n");
    }
}
