//! How far the opening of traces has come: set by `opening.rs`, shown by the requests.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

/// A stage of the opening of traces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// Headers of packets are read.
    Opening,
    /// Packets of the network are matched and clocks are solved.
    Synchronizing,
    /// The store is made.
    Indexing,
    /// Requests are answered.
    Ready,
    /// The traces cannot be shown, for this reason.
    Failed(String),
}

impl Stage {
    /// Its name in answers.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Opening => "opening",
            Self::Synchronizing => "synchronizing",
            Self::Indexing => "indexing",
            Self::Ready => "ready",
            Self::Failed(_) => "failed",
        }
    }
}

/// A stage and the number of bytes that it has read.
#[derive(Debug)]
pub(crate) struct Progress {
    stage: Mutex<Stage>,
    done: AtomicU64,
    total: AtomicU64,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self { stage: Stage::Opening.into(), done: AtomicU64::new(0), total: AtomicU64::new(0) }
    }

    /// Starts a stage that reads `total` bytes.
    pub(crate) fn start(&self, stage: Stage, total: u64) {
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage;
    }

    /// Ends in failure.
    pub(crate) fn fail(&self, why: String) {
        self.start(Stage::Failed(why), 0);
    }

    /// Adds to the number of bytes that have been read.
    pub(crate) fn add(&self, bytes: u64) {
        self.done.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn stage(&self) -> Stage {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn json(&self) -> Value {
        let stage = self.stage();
        let total = self.total.load(Ordering::Relaxed);
        let done = self.done.load(Ordering::Relaxed).min(total);
        let message = if let Stage::Failed(why) = &stage { why.as_str() } else { "" };
        json!({"name": stage.name(), "done": done, "total": total, "message": message})
    }
}
