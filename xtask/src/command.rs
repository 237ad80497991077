//! Running other programs: in the workspace's root, shown to the reader, their failure an error.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// The root of the workspace, whatever folder the command was given in.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// The cargo that runs this program, so that a chosen toolchain stays chosen.
pub(crate) fn cargo() -> Command {
    program(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// A program that starts in the root of the workspace.
pub(crate) fn program(name: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(name);
    command.current_dir(root());
    command
}

/// Shows the command, runs it with its output passed through, and turns a failure into an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let shown = show(command);
    eprintln!("\n$ {shown}");
    let status = command.status().with_context(|| format!("cannot start `{shown}`"))?;
    if !status.success() {
        bail!("`{shown}` failed ({status})");
    }
    Ok(())
}

/// Runs the command in silence and returns what it printed.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let shown = show(command);
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start `{shown}`"))?;
    if !output.status.success() {
        bail!("`{shown}` failed ({})", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{shown}` printed other than UTF-8"))
}

/// Whether the command can be started and succeeds; what it prints is dropped.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|s| s.success())
}

/// The command as one would type it in the root: where, variables, and `cargo` without its path.
fn show(command: &Command) -> String {
    let variables = command.get_envs().filter_map(|(name, value)| {
        let value = value?.to_string_lossy();
        Some(format!("{}={}", name.to_string_lossy(), quote(&value)))
    });
    let name = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let elsewhere =
        command.get_current_dir().and_then(|dir| dir.strip_prefix(root()).ok().map(Path::to_owned));
    let elsewhere = elsewhere.filter(|dir| !dir.as_os_str().is_empty());
    let elsewhere = elsewhere.map(|dir| format!("cd {} &&", dir.display()));
    let words =
        std::iter::once(name).chain(command.get_args()).map(|w| quote(&w.to_string_lossy()));
    elsewhere.into_iter().chain(variables).chain(words).collect::<Vec<_>>().join(" ")
}

fn quote(word: &str) -> String {
    if word.contains(' ') { format!("\"{word}\"") } else { word.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{program, run, show, succeeds};

    #[test]
    fn a_command_is_shown_as_typed() {
        let mut command = program("/usr/bin/cargo");
        command.args(["test", "-p", "gorl"]).env("RUSTFLAGS", "--cfg gorl_loom");
        assert_eq!(show(&command), "RUSTFLAGS=\"--cfg gorl_loom\" cargo test -p gorl");
    }

    #[test]
    fn a_command_elsewhere_says_where() {
        let mut command = program("cargo");
        command.current_dir(super::root().join("xtask/peers")).arg("test");
        assert_eq!(show(&command), "cd xtask/peers && cargo test");
    }

    #[test]
    fn a_failing_program_is_an_error() {
        assert!(run(&mut program("false")).is_err());
        assert!(!succeeds(&mut program("false")));
        assert!(!succeeds(&mut program("a-program-that-does-not-exist")));
    }
}
