//! Whose clock times are on.

use std::path::PathBuf;

use clap::Args;
use isochrone_experiment::{ReadError, TimeBase};

/// Whose clock times are on. Several hosts are synchronized unless something else is said.
#[derive(Debug, Clone, Args)]
pub struct Clock {
    /// Use the corrections of this file, which `isochrone sync -o` wrote [default: several hosts are synchronized on the way]
    #[arg(long, value_name = "FILE", conflicts_with = "no_sync", help_heading = "Times")]
    pub sync: Option<PathBuf>,
    /// Leave each host on its own clock
    #[arg(long, help_heading = "Times")]
    pub no_sync: bool,
}

impl Clock {
    /// The time base. A file is read now, before any trace is.
    ///
    /// # Errors
    /// The file is no `sync.json`.
    pub fn time_base(&self) -> Result<TimeBase, ReadError> {
        match &self.sync {
            Some(path) => TimeBase::read(path),
            None if self.no_sync => Ok(TimeBase::Own),
            None => Ok(TimeBase::Usual),
        }
    }
}
