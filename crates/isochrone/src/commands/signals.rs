//! Signals that end the process, which removes unfinished files first.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::Context as _;
use isochrone_unfinished as unfinished;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::output::pager;

/// Whether this process was told to end. The second time it ends at once.
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

/// The handling of signals by [`leave_nothing_on_signals`].
#[derive(Debug)]
pub struct EndsAtOnce(Arc<AtomicBool>);

impl EndsAtOnce {
    /// Leaves signals to other handlers from now on.
    pub fn leave_to_others(&self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

/// Makes a signal end this process at once, after removing unfinished files.
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
            if signal == SIGINT {
                // It comes from the terminal: a shell would read from that beside the pager.
                pager::end();
            }
            // Both signals can be emulated.
            let _ = emulate_default_handler(signal);
        }
    });
    Ok(ends)
}
