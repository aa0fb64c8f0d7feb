//! How recordings become traces: with progress, and kept in the user's cache, beside the stores.

use std::path::PathBuf;

use isochrone_files::{Conversions, set_conversions};

use crate::commands::index;
use crate::output::Console;
use crate::progress::Progress;

struct InCache(Console);

impl Conversions for InCache {
    fn directory(&self) -> Option<PathBuf> {
        index::writable_recordings()
    }

    fn progress(&self, bytes: u64) -> Box<dyn Fn(u64)> {
        let bar = Progress::over(bytes, "reading a recording", &self.0);
        Box::new(move |done| bar.add(done))
    }
}

/// Keeps them from now on.
pub(crate) fn keep(console: &Console) {
    set_conversions(Box::new(InCache(console.clone())));
}
