//! A progress bar for inputs that take a while, on a terminal only.

use std::cell::Cell;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What is done sooner needs no bar, which would only flicker.
const QUIET: Duration = Duration::from_millis(400);

/// Shows a bar on standard error once the work takes long enough; on no terminal, never.
pub(crate) struct Progress {
    bar: ProgressBar,
    target: fn() -> ProgressDrawTarget,
    started: Instant,
    shown: Cell<bool>,
}

impl Progress {
    pub(crate) fn new() -> Self {
        // This target hides itself when standard error is not a terminal.
        Self::on(ProgressDrawTarget::stderr)
    }

    fn on(target: fn() -> ProgressDrawTarget) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        Self { bar, target, started: Instant::now(), shown: Cell::new(false) }
    }

    /// Starts a phase that counts bytes, of an unknown number when the input is a pipe.
    pub(crate) fn reading(&self, total_bytes: Option<u64>) -> &ProgressBar {
        let template = match total_bytes {
            Some(_) => "reading {wide_bar} {bytes} of {total_bytes}, {eta} left",
            None => "reading {spinner} {bytes}",
        };
        self.phase(template, total_bytes);
        &self.bar
    }

    /// Starts a phase that counts decisions.
    pub(crate) fn deciding(&self, total: u64) {
        self.phase("{msg:14} {wide_bar} {human_pos} of {human_len} decisions", Some(total));
    }

    pub(crate) fn strategy(&self, name: &'static str) {
        self.bar.set_message(name);
    }

    pub(crate) fn advance(&self, by: u64) {
        self.bar.inc(by);
        self.show_when_due();
    }

    /// To be called now and then in work that advances by itself.
    pub(crate) fn show_when_due(&self) {
        if !self.shown.get() && self.started.elapsed() > QUIET {
            self.shown.set(true);
            self.bar.set_draw_target((self.target)());
        }
    }

    /// Takes the bar off the terminal, so that other output starts on a clean line.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    fn phase(&self, template: &str, total: Option<u64>) {
        // Every change below draws, and one phase's figures under the words of the other are wrong.
        self.bar.set_draw_target(ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template(template);
        self.bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        self.bar.reset();
        match total {
            Some(total) => self.bar.set_length(total),
            None => self.bar.unset_length(),
        }
        if self.shown.get() {
            self.bar.set_draw_target((self.target)());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Mutex, PoisonError};

    use indicatif::TermLike;

    use super::*;

    static DRAWN: Mutex<String> = Mutex::new(String::new());

    /// A terminal that remembers all that was ever on it.
    #[derive(Debug)]
    struct Paper;

    impl Paper {
        fn add(text: &str) {
            let mut drawn = DRAWN.lock().unwrap_or_else(PoisonError::into_inner);
            drawn.push_str(text);
            drawn.push('\n');
        }
    }

    impl TermLike for Paper {
        fn width(&self) -> u16 {
            80
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> io::Result<()> {
            Self::add(text);
            Ok(())
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            Self::add(text);
            Ok(())
        }
        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn bytes_are_never_shown_as_decisions() {
        let progress = Progress::on(|| ProgressDrawTarget::term_like(Box::new(Paper)));
        progress.shown.set(true);
        progress.reading(Some(7_654_321)).inc(7_654_321);
        progress.clear();
        progress.deciding(44);
        progress.strategy("token_bucket");
        progress.advance(11);
        progress.clear();
        let drawn = DRAWN.lock().unwrap_or_else(PoisonError::into_inner);
        let decisions: Vec<&str> =
            drawn.lines().filter(|line| line.contains("decisions")).collect();
        assert!(drawn.contains("MiB") && !decisions.is_empty(), "{drawn}");
        for line in decisions {
            assert!(line.contains(" of 44 decisions"), "{drawn}");
        }
    }
}
