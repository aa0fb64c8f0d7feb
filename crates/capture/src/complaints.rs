//! What is wrong with a capture, gathered while it is read.

use std::path::PathBuf;

use crate::error::Diagnostic;

/// So many diagnostics of a file are kept; the rest is counted. A damaged file can have one for every record.
const MAX_KEPT: usize = 100;

/// Diagnostics of one file.
#[derive(Debug)]
pub(crate) struct Complaints {
    path: PathBuf,
    kept: Vec<Diagnostic>,
    /// Losses and notes beyond those kept.
    beyond: (u64, u64),
}

impl Complaints {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, kept: Vec::new(), beyond: (0, 0) }
    }

    /// A record that is lost.
    pub(crate) fn loss(&mut self, (record, offset): (u64, u64), message: String) {
        self.add(Diagnostic {
            is_loss: true,
            path: self.path.clone(),
            record: Some(record),
            offset: Some(offset),
            message,
        });
    }

    /// Something that holds of many records; `is_loss` where it cost them.
    pub(crate) fn in_all(&mut self, is_loss: bool, message: String) {
        self.add(Diagnostic { is_loss, path: self.path.clone(), record: None, offset: None, message });
    }

    fn add(&mut self, diagnostic: Diagnostic) {
        match (self.kept.len() < MAX_KEPT, diagnostic.is_loss) {
            (true, _) => self.kept.push(diagnostic),
            (false, true) => self.beyond.0 += 1,
            (false, false) => self.beyond.1 += 1,
        }
    }

    /// Says how many were not kept; called once, at the end of the file.
    pub(crate) fn finish(&mut self) {
        let (losses, notes) = std::mem::take(&mut self.beyond);
        for (count, is_loss, what) in [(losses, true, "more records are lost"), (notes, false, "more notes")]
        {
            if count > 0 {
                let message = format!("{count} {what} like these");
                self.kept.push(Diagnostic {
                    is_loss,
                    path: self.path.clone(),
                    record: None,
                    offset: None,
                    message,
                });
            }
        }
    }

    pub(crate) fn kept(&self) -> &[Diagnostic] {
        &self.kept
    }
}
