//! Whether a trace of a session became shorter while it was open: then what was read of it may have been zeros.

use std::path::PathBuf;

use isochrone_ctf::Truncations;

/// Looks for files of a session that become shorter.
#[derive(Debug)]
pub(crate) struct Cut {
    /// At and below these.
    paths: Vec<PathBuf>,
    /// What had become shorter before is not this session's: it mapped what is there.
    before: Truncations,
}

impl Cut {
    pub(crate) fn new(paths: Vec<PathBuf>) -> Self {
        Self { paths, before: Truncations::now() }
    }

    /// What has become of a file, in words, if one became shorter.
    pub(crate) fn found(&self) -> Option<String> {
        let file = self
            .before
            .since()
            .into_iter()
            .find(|file| self.paths.iter().any(|path| file.starts_with(path)))?;
        Some(format!("{} became shorter while it was read: open the traces anew", file.display()))
    }
}
