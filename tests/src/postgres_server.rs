//! A PostgreSQL of a test's own: in a folder and on a free loopback port, ended with the test.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::Scratch;
use crate::redis_server::free_port;

/// A server that lives as long as this value.
#[derive(Debug)]
pub struct PostgresServer {
    child: Child,
    port: u16,
    _folder: Scratch,
}

/// Who runs it where the tests run as the superuser, whom it refuses; Debian's package makes the user.
const USER: &str = "postgres";

/// What it says when it serves.
const READY: &str = "ready to accept connections";

impl PostgresServer {
    /// Makes a database, starts a server and waits until it serves.
    ///
    /// # Panics
    ///
    /// If there is no PostgreSQL: a test that cannot run fails, and says what it needs.
    #[must_use]
    pub fn start() -> Self {
        let programs = programs();
        let folder = Scratch::new();
        let data = folder.path().join("data");
        std::fs::create_dir(&data).expect("a folder for the database");
        if is_root() {
            for path in [folder.path(), &data] {
                let own = Command::new("chown").arg(USER).arg(path).status();
                assert!(own.is_ok_and(|status| status.success()), "the folder becomes {USER}'s");
            }
        }
        let made = as_user(&programs.join("initdb"))
            .args(["--auth=trust", "--no-sync", "--username=postgres", "--encoding=UTF8", "-D"])
            .arg(&data)
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .status();
        assert!(made.is_ok_and(|status| status.success()), "initdb makes a database");
        let port = free_port();
        let mut child = as_user(&programs.join("postgres"))
            .arg("-D")
            .arg(&data)
            .args(["-p", &port.to_string(), "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"])
            .args(["-c", "unix_socket_directories=", "-c", "log_destination=stderr"])
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("postgres starts");
        let mut log = BufReader::new(child.stderr.take().expect("its log"));
        let (mut line, mut said) = (String::new(), String::new());
        while log.read_line(&mut line).is_ok_and(|length| length > 0) {
            if line.contains(READY) {
                std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
                return Self { child, port, _folder: folder };
            }
            said.push_str(&line);
            line.clear();
        }
        let ended = child.wait();
        panic!("postgres ended before it served ({ended:?}):\n{said}");
    }

    /// How to connect to it.
    #[must_use]
    pub fn config(&self) -> String {
        format!("host=127.0.0.1 port={} user=postgres dbname=postgres", self.port)
    }

    /// Ends the server, and what it has started, at once.
    pub fn stop(&mut self) {
        // SIGQUIT ends the children as well; SIGKILL would leave them.
        let _ = Command::new("kill").args(["-QUIT", &self.child.id().to_string()]).status();
        let _ = self.child.wait();
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Where the programs are: Debian keeps them off the path, by version.
fn programs() -> PathBuf {
    let on_path = std::env::var_os("PATH").and_then(|path| {
        std::env::split_paths(&path).find(|folder| folder.join("initdb").exists())
    });
    let of_debian = || {
        let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
        let folders = versions.flatten().map(|version| version.path().join("bin"));
        folders.filter(|folder| folder.join("initdb").exists()).max()
    };
    on_path.or_else(of_debian).expect(
        "there is no `initdb`; install PostgreSQL, on Debian and Ubuntu by `apt-get install postgresql`",
    )
}

/// The program, by another user if this one is the superuser. It stays the child of the tests.
fn as_user(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid", USER, "--regid", USER, "--clear-groups", "--"]).arg(program);
    command
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|id| id.stdout.trim_ascii() == b"0")
}
