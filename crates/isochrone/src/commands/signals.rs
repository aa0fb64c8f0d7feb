//! Signals that ask a process to end: what was begun is ended properly.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::Context as _;
use isochrone_sync::unfinished;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// Whether somebody has asked this process to end. The second time it ends at once, whatever it does.
///
/// # Errors
/// Signals cannot be caught.
pub(super) fn stop_on_signals() -> anyhow::Result<Arc<AtomicBool>> {
    let is_stopped = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        flag::register_conditional_default(signal, Arc::clone(&is_stopped))
            .and_then(|_| flag::register(signal, Arc::clone(&is_stopped)))
            .context("signals cannot be caught")?;
    }
    Ok(is_stopped)
}

/// The end of this process by a signal, from [`leave_nothing_on_signals`] on.
#[derive(Debug)]
pub struct EndsAtOnce(Arc<AtomicBool>);

impl EndsAtOnce {
    /// From now on something else handles signals.
    pub fn leave_to_others(&self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

/// From now on a signal ends this process at once, and what it had begun to write is removed.
///
/// # Errors
/// Signals cannot be caught.
pub fn leave_nothing_on_signals() -> anyhow::Result<EndsAtOnce> {
    let mut signals = Signals::new([SIGINT, SIGTERM]).context("signals cannot be caught")?;
    let ends = EndsAtOnce(Arc::new(AtomicBool::new(true)));
    let is_here = Arc::clone(&ends.0);
    thread::spawn(move || {
        for signal in signals.forever().take_while(|_| is_here.load(Ordering::SeqCst)) {
            unfinished::remove_all();
            isochrone_store::remove_unfinished();
            // Both signals can be emulated.
            let _ = emulate_default_handler(signal);
        }
    });
    Ok(ends)
}
