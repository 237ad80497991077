//! The servers that tests start for themselves: found, or installed where that is our place.

use std::path::Path;

use anyhow::{Result, bail};

use crate::command::{self, output, program};

/// A server, by its package of Debian.
struct Server {
    package: &'static str,
    is_there: fn() -> bool,
    missing: &'static str,
}

const REDIS: Server = Server {
    package: "redis-server",
    is_there: || command::succeeds(program("redis-server").arg("--version")),
    missing: "redis-server is not installed, and the tests of the Redis store start their own; install \
              Redis 7 or later: `apt-get install redis-server` on Debian and Ubuntu, `brew install \
              redis` on macOS",
};

const MEMCACHED: Server = Server {
    package: "memcached",
    is_there: || command::succeeds(program("memcached").arg("--version")),
    missing: "memcached is not installed, and the tests of custom stores start their own; install it: \
              `apt-get install memcached` on Debian and Ubuntu, `brew install memcached` on macOS",
};

const POSTGRESQL: Server = Server {
    package: "postgresql",
    is_there: has_postgresql,
    missing: "PostgreSQL is not installed, and the tests of custom stores start their own; install it: \
              `apt-get install postgresql` on Debian and Ubuntu, `brew install postgresql` on macOS",
};

/// Sees to it that all servers of the tests can be started, or says what to install.
pub(crate) fn ensure_all() -> Result<()> {
    ensure(&[REDIS, MEMCACHED, POSTGRESQL])
}

/// Sees to it that `redis-server` can be started, or says what to install.
pub(crate) fn ensure_redis() -> Result<()> {
    ensure(&[REDIS])
}

fn ensure(servers: &[Server]) -> Result<()> {
    let missing: Vec<&Server> = servers.iter().filter(|server| !(server.is_there)()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    if Path::new("/etc/debian_version").exists() && is_root() {
        command::run(program("apt-get").args(["update"]))?;
        // The tests start servers of their own, so no package need start one for the machine.
        let mut install = program("apt-get");
        install.args(["install", "--yes", "--no-install-recommends"]);
        install.args(missing.iter().map(|server| server.package));
        command::run(install.env("RUNLEVEL", "1").env("DEBIAN_FRONTEND", "noninteractive"))?;
    }
    let missing = missing.iter().filter(|server| !(server.is_there)());
    let missing: Vec<&str> = missing.map(|server| server.missing).collect();
    if !missing.is_empty() {
        bail!("{}", missing.join("\n"));
    }
    Ok(())
}

/// On the path, or where Debian keeps it: off the path, by version.
fn has_postgresql() -> bool {
    let of_debian = || {
        let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
        let mut folders = versions.map(|version| version.path().join("bin/initdb"));
        folders.any(|initdb| initdb.exists())
    };
    command::succeeds(program("initdb").arg("--version")) || of_debian()
}

fn is_root() -> bool {
    output(program("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}
