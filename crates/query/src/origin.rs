//! The paths of traces and of their store, and the corrections of their clocks: with these, a process on
//! another machine opens the same, if paths mean the same there.

use std::path::PathBuf;

use isochrone::shared::{Clock, Ready, corrections};
use serde::{Deserialize, Serialize};

/// What has to be opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The traces and captures, in the order in which they were named: absolute paths.
    pub(crate) paths: Vec<PathBuf>,
    /// The store of them, an absolute path.
    pub(crate) store: PathBuf,
    /// Whose clock times are on.
    pub(crate) clocks: Corrections,
}

/// Whose clock times are on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Corrections {
    /// Each host's own.
    Own,
    /// The references' of a `sync.json` that was named: its text.
    Kept(String),
    /// The references' that the packets in these very traces lead to: the text of a `sync.json`.
    Here(String),
}

impl Origin {
    /// That of open traces. `clock`: the requested one.
    ///
    /// # Errors
    /// A `sync.json`, or the store, cannot be read.
    pub fn of(ready: &Ready, clock: &Clock) -> anyhow::Result<Self> {
        let Ready { opened, paths, store, store_path, .. } = ready;
        let clocks = match (corrections(opened, clock, || Ok(store.clocks()?))?, opened.clocks()) {
            (Some(artefact), _) if clock.sync.is_some() => Corrections::Kept(artefact.to_json()?),
            (Some(artefact), _) => Corrections::Here(artefact.to_json()?),
            (None, None) => Corrections::Own,
            (None, Some(_)) => anyhow::bail!("the store has no corrections of clocks any more"),
        };
        Ok(Self { paths: paths.clone(), store: store_path.clone(), clocks })
    }
}
