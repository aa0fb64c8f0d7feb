//! Work that takes long: how far it is, and whether anybody still wants its result.
//!
//! Used by: what maps pieces of hosts (`isochrone-pipeline`) and what reads windows of a store
//! (`isochrone-crosshost`) for somebody who may leave meanwhile, as the page's server does.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How far some work is, and whether it was stopped. Units are those of who does it: bytes of events that are
/// read, windows of a store.
#[derive(Debug, Default)]
pub struct Work {
    done: AtomicU64,
    total: AtomicU64,
    is_stopped: AtomicBool,
}

impl Work {
    /// There is so much more to do.
    pub fn expect(&self, units: u64) {
        self.total.fetch_add(units, Ordering::Relaxed);
    }

    /// So much more is done.
    pub fn add(&self, units: u64) {
        self.done.fetch_add(units, Ordering::Relaxed);
    }

    /// What is done, and what there is to do in all; never more than that. Both are 0 where it is not known
    /// yet.
    pub fn progress(&self) -> (u64, u64) {
        let total = self.total.load(Ordering::Relaxed);
        (self.done.load(Ordering::Relaxed).min(total), total)
    }

    /// Nobody wants the result any more: what does the work ends at the next chance, with an error.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    /// Whether it was stopped. It stays so.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }
}
