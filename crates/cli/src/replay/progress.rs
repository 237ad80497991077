//! A progress bar for inputs that take a while, on a terminal only.

use std::cell::Cell;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What is done sooner needs no bar, which would only flicker.
const QUIET: Duration = Duration::from_millis(400);

/// Shows a bar on standard error once the work takes long enough; on no terminal, never.
pub(crate) struct Progress {
    bar: ProgressBar,
    started: Instant,
    shown: Cell<bool>,
}

impl Progress {
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        Self { bar, started: Instant::now(), shown: Cell::new(false) }
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
            // This target hides itself when standard error is not a terminal.
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    /// Takes the bar off the terminal, so that other output starts on a clean line.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    fn phase(&self, template: &str, total: Option<u64>) {
        let style = ProgressStyle::with_template(template);
        self.bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        self.bar.reset();
        match total {
            Some(total) => self.bar.set_length(total),
            None => self.bar.unset_length(),
        }
    }
}
