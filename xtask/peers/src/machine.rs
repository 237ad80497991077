//! What the figures were taken on, without which they say little.

use std::fs;
use std::process::Command;
use std::thread;

/// Lines that name the processor, the kernel, the compiler and the versions compared.
pub(crate) fn describe() -> Vec<String> {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = field(&cpuinfo, "model name").unwrap_or("unknown processor");
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let rustc = Command::new("rustc").arg("--version").output();
    let rustc = rustc.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
    vec![
        format!("machine:  {cpu}, {cores} cores, Linux {}", kernel.trim()),
        format!("compiler: {}", rustc.trim()),
        format!("compared: gorl {}, governor {}", version("gorl"), version("governor")),
    ]
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find(|line| line.starts_with(name))?.split_once(": ").map(|(_, value)| value)
}

/// The version that the lock file holds for a package.
fn version(package: &str) -> &'static str {
    let name = format!("name = \"{package}\"");
    let mut lines = include_str!("../Cargo.lock").lines().skip_while(|line| *line != name);
    lines.nth(1).and_then(|line| line.split('"').nth(1)).unwrap_or("unknown")
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn versions_come_from_the_lock_file() {
        assert!(version("governor").starts_with("0."));
        assert_eq!(version("no such package"), "unknown");
    }
}
