//! How far the opening of traces has come. Talks to: `session.rs`, which goes through the stages, and the requests that show them.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

/// What is being done with traces before they can be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// Headers of packets are read.
    Opening,
    /// Packets of the network are matched and clocks are solved.
    Synchronizing,
    /// The store is made.
    Indexing,
    /// All is there.
    Ready,
    /// It cannot be looked at: why, in words.
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

/// A stage and the bytes that it has read, as it goes on.
#[derive(Debug)]
pub(crate) struct Progress {
    stage: std::sync::Mutex<Stage>,
    done: AtomicU64,
    total: AtomicU64,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self { stage: Stage::Opening.into(), done: AtomicU64::new(0), total: AtomicU64::new(0) }
    }

    /// Begins a stage of so many bytes.
    pub(crate) fn begin(&self, stage: Stage, total: u64) {
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
        *self.stage.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = stage;
    }

    /// So many bytes more have been read.
    pub(crate) fn add(&self, bytes: u64) {
        self.done.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn stage(&self) -> Stage {
        self.stage.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    pub(crate) fn json(&self) -> Value {
        let stage = self.stage();
        let total = self.total.load(Ordering::Relaxed);
        let done = self.done.load(Ordering::Relaxed).min(total);
        let message = if let Stage::Failed(why) = &stage { why.as_str() } else { "" };
        json!({"name": stage.name(), "done": done, "total": total, "message": message})
    }
}
