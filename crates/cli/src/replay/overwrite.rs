//! Keeps the page from being written over a file that it is made from.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Refuses a page that is no file of its own; to be asked before anything is read or written.
pub(crate) fn refuse(page: &Path, logs: &[PathBuf], config: Option<&Path>) -> Result<(), Failure> {
    if page.as_os_str() == "-" {
        return Err(Failure::new(
            "--html needs the name of a file, such as report.html; standard output is the table's",
        ));
    }
    // A page that does not exist yet is none of the logs, and one that cannot be looked at cannot
    // be written either.
    let Ok(written) = Identity::of_path(page) else {
        return Ok(());
    };
    for log in logs {
        let read =
            if log.as_os_str() == "-" { Identity::of_input() } else { Identity::of_path(log) };
        if read.is_ok_and(|read| read == written) {
            return Err(Failure::new(format!(
                "--html {}: this file is one of the logs to read and would be overwritten",
                page.display()
            )));
        }
    }
    if config.is_some_and(|config| Identity::of_path(config).is_ok_and(|read| read == written)) {
        return Err(Failure::new(format!(
            "--html {}: this file is the configuration to read and would be overwritten",
            page.display()
        )));
    }
    Ok(())
}

/// What makes a file the same under any name: by link, by another path or as standard input.
#[derive(Debug, PartialEq, Eq)]
struct Identity {
    #[cfg(unix)]
    device_and_inode: (u64, u64),
    #[cfg(not(unix))]
    path: PathBuf,
}

#[cfg(unix)]
impl Identity {
    fn of(file: &fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self { device_and_inode: (file.dev(), file.ino()) }
    }

    fn of_path(path: &Path) -> io::Result<Self> {
        fs::metadata(path).map(|file| Self::of(&file))
    }

    fn of_input() -> io::Result<Self> {
        use std::os::fd::AsFd;
        let input = fs::File::from(io::stdin().as_fd().try_clone_to_owned()?);
        input.metadata().map(|file| Self::of(&file))
    }
}

#[cfg(not(unix))]
impl Identity {
    fn of_path(path: &Path) -> io::Result<Self> {
        fs::canonicalize(path).map(|path| Self { path })
    }

    fn of_input() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
