//! Signals that ask a process to end: what was begun is ended properly.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context as _;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

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
