//! Signals that ask a process to end: what was begun is ended properly.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
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

/// Whoever asks this process to end ends it at once, and what it had begun to write is removed.
///
/// # Errors
/// Signals cannot be caught.
pub(crate) fn leave_nothing_on_signals() -> anyhow::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM]).context("signals cannot be caught")?;
    thread::spawn(move || {
        for signal in signals.forever() {
            unfinished::remove_all();
            isochrone_store::remove_unfinished();
            // Both signals can be emulated.
            let _ = emulate_default_handler(signal);
        }
    });
    Ok(())
}
