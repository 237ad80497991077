//! The time that a process was running.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};

/// User and system time of a process of this machine, to a hundredth of a second.
pub(crate) fn cpu(id: u32) -> Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat"))?;
    // The name of the program, in parentheses, may hold spaces.
    let (_, fields) = stat.rsplit_once(") ").context("the format of /proc/PID/stat")?;
    let ticks = |place: usize| -> Result<u64> {
        Ok(fields.split(' ').nth(place).context("the fields of /proc/PID/stat")?.parse()?)
    };
    // The 14th and 15th field of all.
    Ok(Duration::from_millis((ticks(11)? + ticks(12)?) * 10))
}
