//! The Redis server that tests start for themselves: found, or installed where that is our place.

use std::path::Path;

use anyhow::{Result, bail};

use crate::command::{self, output, program};

/// Sees to it that `redis-server` can be started, or says what to install.
pub(crate) fn ensure() -> Result<()> {
    if is_there() {
        return Ok(());
    }
    if !(Path::new("/etc/debian_version").exists() && is_root()) {
        bail!("{MISSING}");
    }
    command::run(program("apt-get").args(["update"]))?;
    // The tests start servers of their own, so the package need not start one for the machine.
    let mut install = program("apt-get");
    install.args(["install", "--yes", "--no-install-recommends", "redis-server"]);
    command::run(install.env("RUNLEVEL", "1").env("DEBIAN_FRONTEND", "noninteractive"))?;
    if !is_there() {
        bail!("{MISSING}");
    }
    Ok(())
}

fn is_there() -> bool {
    command::succeeds(program("redis-server").arg("--version"))
}

fn is_root() -> bool {
    output(program("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}

const MISSING: &str = "redis-server is not installed, and the tests of the Redis store start their \
                       own; install Redis 7 or later: `apt-get install redis-server` on Debian \
                       and Ubuntu, `brew install redis` on macOS";
