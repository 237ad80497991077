//! Proof that the core needs neither std nor an allocator.

use anyhow::Result;

use crate::command::{self, cargo, program, root};

/// Builds the core for every std-less target that is installed here, and always links it into a
/// library without std.
///
/// The linked crate has a panic handler and no allocator. Were std anywhere below it, the compiler
/// would find two panic handlers; were `alloc`, it would miss an allocator.
pub(crate) fn check() -> Result<()> {
    let crate_dir = root().join("xtask/no-std");
    command::run(cargo().current_dir(crate_dir).args(["build", "--quiet", "--release"]))?;
    for target in TARGETS.iter().filter(|target| is_installed(target)) {
        let package = ["build", "--quiet", "--package", "gorl-core", "--no-default-features"];
        command::run(cargo().args(package).args(["--target", target]))?;
    }
    Ok(())
}

/// rustc names a folder for any target that it knows; the folder exists when it can build for it.
fn is_installed(target: &str) -> bool {
    let mut rustc = program("rustc");
    rustc.args(["--print", "target-libdir", "--target", target]);
    command::output(&mut rustc).is_ok_and(|dir| std::path::Path::new(dir.trim()).is_dir())
}

/// Targets without std, or without a clock in it, on which a limiter makes sense.
const TARGETS: [&str; 5] = [
    "wasm32-unknown-unknown",
    "x86_64-unknown-none",
    "aarch64-unknown-none",
    "thumbv7em-none-eabihf",
    "riscv32imac-unknown-none-elf",
];

#[cfg(test)]
mod tests {
    use super::is_installed;

    #[test]
    fn a_target_that_is_not_installed_is_told_apart() {
        let version = crate::command::output(super::program("rustc").arg("-vV")).unwrap();
        let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
        assert!(is_installed(host));
        assert!(!is_installed("no-such-target"));
    }
}
