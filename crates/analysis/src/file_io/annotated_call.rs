//! A system call as a cell, whose text is made when it is shown.

use std::fmt;

use isochrone_kernel::Name;
use isochrone_strace::{ArgumentValues, CallLine, CallResult};
use serde::{Deserialize, Serialize};

use crate::file_io::fd_annotation::annotated;

/// A call, and what its descriptors are. Visibility as `strace -y` does:
/// `read(3</etc/passwd>, "root", 4) = 4`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnnotatedCall {
    /// Its name.
    pub(crate) name: Option<Name>,
    /// The arguments that it was entered with; `None`: its entry was not seen.
    pub(crate) given: Option<ArgumentValues>,
    /// Those that it filled in.
    pub(crate) filled: Option<ArgumentValues>,
    /// Its result.
    pub(crate) result: CallResult,
    /// The descriptors that it takes, as far as it is known what they are.
    pub(crate) taken: Vec<(i32, Name)>,
    /// The one that it returns.
    pub(crate) made: Option<(i32, Name)>,
}

impl fmt::Display for AnnotatedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = CallLine {
            name: self.name.as_deref(),
            given: self.given.as_ref(),
            filled: self.filled.as_ref(),
            result: self.result,
        };
        if self.taken.is_empty() && self.made.is_none() {
            return line.fmt(f);
        }
        f.write_str(&annotated(&line.to_string(), &self.taken, self.made.as_ref()))
    }
}
