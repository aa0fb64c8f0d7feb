//! What pieces can hold of a host.

use std::path::Path;

use isochrone_analysis::AnalysisSet;
use isochrone_kernel::Spans;
use isochrone_pipeline::{SpanLog, store};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{FORM, FORM_OF_SPANS};

/// A consumer of spans that travels in pieces.
pub trait Held: Spans + Send + Serialize + DeserializeOwned {
    /// The form of files that hold it: each consumer has its own.
    const FORM: u64;

    /// Whether two were made for the same question.
    fn is_like(&self, other: &Self) -> bool;
}

impl Held for AnalysisSet {
    const FORM: u64 = FORM;

    fn is_like(&self, other: &Self) -> bool {
        Self::is_like(self, other)
    }
}

impl Held for SpanLog {
    const FORM: u64 = FORM_OF_SPANS;

    fn is_like(&self, _: &Self) -> bool {
        true
    }
}

/// Whether a file holds pieces with spans, of this version of the program.
pub fn holds_spans(path: &Path) -> bool {
    store::form_of(path) == Some(FORM_OF_SPANS)
}
