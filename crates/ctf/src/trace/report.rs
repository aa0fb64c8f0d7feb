//! What is known of a trace beside its metadata and packets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use isochrone_diagnostic::Diagnostic;
use serde::{Deserialize, Serialize};

use super::Trace;
use super::missing::{MissingFile, Proven};

/// What the files and indexes of a trace show beside its packets: what is wrong with them, and the packets
/// that indexes list and that are not there. An excerpt has neither the indexes nor the same bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceReport {
    /// Their paths are those inside the trace directory; what is not UTF-8 in them is replaced.
    diagnostics: Vec<Diagnostic>,
    /// By index of the stream.
    absent: BTreeMap<usize, Vec<Proven>>,
    missing: Vec<MissingFile>,
}

impl Trace {
    /// What its files and indexes show beside its packets. Linear in that.
    pub fn report(&self) -> TraceReport {
        let Self { path, diagnostics, absent, missing, .. } = self;
        let inside = |diagnostic: &Diagnostic| {
            let inner = diagnostic.path.strip_prefix(path).unwrap_or(&diagnostic.path);
            Diagnostic { path: PathBuf::from(inner.to_string_lossy().as_ref()), ..diagnostic.clone() }
        };
        let diagnostics = diagnostics.iter().map(inside).collect();
        TraceReport { diagnostics, absent: absent.clone(), missing: missing.clone() }
    }

    /// The same trace with the report of another one that has the same streams, of which it is an excerpt, in
    /// place of its own. `None` where the report cannot be of these streams. Linear in the report.
    #[must_use]
    pub fn with_report(self, report: TraceReport) -> Option<Self> {
        let TraceReport { mut diagnostics, absent, missing } = report;
        let is_of = |stream: usize, class_id: u64| {
            stream < self.streams().len() && self.stream_class(stream).id == class_id
        };
        let are_possible = absent.iter().all(|(&stream, proven)| {
            proven.iter().all(|it| it.begin <= it.end && is_of(stream, it.class_id))
        });
        let are_possible = are_possible
            && missing.iter().all(|file| {
                let is_its = |stream| is_of(stream, file.stream_class);
                file.begin <= file.end && file.stream.is_none_or(is_its)
            });
        for diagnostic in &mut diagnostics {
            diagnostic.path = moved(&diagnostic.path, Path::new(""), &self.path);
        }
        are_possible.then_some(Self { missing, absent, diagnostics, ..self })
    }
}

/// The path of what is in another directory now.
pub(super) fn moved(path: &Path, from: &Path, to: &Path) -> PathBuf {
    match path.strip_prefix(from) {
        Ok(inner) if inner.as_os_str().is_empty() => to.to_owned(),
        Ok(inner) => to.join(inner),
        Err(_) => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_moved() {
        let check = |path: &str, from: &str, expect: &str| {
            assert_eq!(moved(Path::new(path), Path::new(from), Path::new("to")), Path::new(expect), "{path}");
        };
        check("s", "", "to/s");
        check("", "", "to");
        check("/tmp/x/s", "/tmp/x", "to/s");
        check("/tmp/x", "/tmp/x", "to");
        check("/tmp/y/s", "/tmp/x", "/tmp/y/s");
    }
}
