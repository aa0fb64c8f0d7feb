//! Diagnostics of one file, gathered so that a broken one does not fill the memory with them.

use crate::error::{Diagnostic, Severity};

/// Diagnostics of one file or stream that are kept as they are; a file of broken packets would give one for every few
/// bytes. More than a screen of them is not read.
const MAX_DIAGNOSTICS: usize = 100;

/// Diagnostics in order; after [`MAX_DIAGNOSTICS`] comes one that counts all others.
#[derive(Debug, Default)]
pub(crate) struct Complaints {
    kept: Vec<Diagnostic>,
    more: u64,
}

impl Complaints {
    /// Takes one more. It is only made if it is kept; `severity` must be its own.
    pub(crate) fn add(&mut self, severity: Severity, make: impl FnOnce() -> Diagnostic) {
        if self.kept.len() < MAX_DIAGNOSTICS {
            self.kept.push(make());
            return;
        }
        self.more += 1;
        let message = format!("and {} more like these", self.more);
        match self.kept.get_mut(MAX_DIAGNOSTICS) {
            Some(summary) => {
                summary.message = message;
                summary.severity = summary.severity.max(severity);
            }
            None => {
                let path = make().path;
                self.kept.push(Diagnostic { severity, path, packet: None, offset: None, message });
            }
        }
    }

    pub(crate) fn as_slice(&self) -> &[Diagnostic] {
        &self.kept
    }

    pub(crate) fn into_vec(self) -> Vec<Diagnostic> {
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_counted() {
        let make = |severity, n: u64| {
            let (path, message) = ("file".into(), "broken".to_owned());
            Diagnostic { severity, path, packet: Some(n), offset: None, message }
        };
        let check = |count: u64, expect: &str| {
            let mut complaints = Complaints::default();
            for n in 0..count {
                let severity = if n + 1 == count { Severity::Loss } else { Severity::Note };
                complaints.add(severity, || make(severity, n));
            }
            let last = complaints.into_vec().pop().unwrap();
            assert_eq!((last.to_string().as_str(), last.severity), (expect, Severity::Loss));
        };
        check(1, "file: packet 0: broken");
        check(100, "file: packet 99: broken");
        check(101, "file: and 1 more like these");
        check(5000, "file: and 4900 more like these");
    }
}
