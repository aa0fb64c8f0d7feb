//! Where traces and their store are, and what their clocks are worth, as far as another process can open the same on another machine: by paths
//! that mean the same there.

use std::path::PathBuf;

use anyhow::Context;
use isochrone::shared::{Clock, Ready, corrections};
use isochrone_experiment::{Inputs, Opened, TimeBase, fresh_store};
use isochrone_sync::apply::Clocks;
use isochrone_sync::artefact::Artefact;
use serde::{Deserialize, Serialize};

use crate::traced::Traced;

/// What has to be opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The traces and captures, in the order in which they were named: absolute paths.
    paths: Vec<PathBuf>,
    /// The store of them, an absolute path.
    store: PathBuf,
    /// Whose clock times are on.
    clocks: Corrections,
}

/// Whose clock times are on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum Corrections {
    /// Each host's own.
    Own,
    /// The references' of a `sync.json` that was named: its text.
    Kept(String),
    /// The references' that the packets in these very traces lead to: the text of a `sync.json`.
    Here(String),
}

impl Origin {
    /// That of open traces. `clock`: what was asked for.
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

    /// Opens what another process has opened. `O(n log n)` in the packets; no event is read.
    ///
    /// # Errors
    /// It is not there, or not as it is there.
    pub(crate) fn open(&self) -> anyhow::Result<Traced> {
        let inputs = Inputs::open(&self.paths);
        let store = fresh_store(&self.store, &inputs).with_context(|| {
            format!(
                "{}: on this machine, not a store of the traces as they are; all machines of a cluster need the same files at the same paths",
                self.store.display()
            )
        })?;
        let of_text = |text: &str| anyhow::Ok(Clocks::new(&Artefact::from_json(text)?)?);
        let base = match &self.clocks {
            Corrections::Own => TimeBase::Own,
            Corrections::Kept(text) => TimeBase::Kept(of_text(text)?),
            Corrections::Here(text) => TimeBase::Stored(of_text(text)?),
        };
        let opened = Opened::new(inputs, base, &|_| ())?;
        Ok(Traced::new(opened, store, Some(self.clone())))
    }
}
