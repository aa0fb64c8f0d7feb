//! Open traces with their store, as queries need them: shared by all threads that read, for as long as one of
//! them does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use anyhow::Context;
use datafusion::common::{DataFusionError, internal_datafusion_err};
use isochrone_corrections::Clocks;
use isochrone_corrections::artefact::Artefact;
use isochrone_ctf::Diagnostic;
use isochrone_experiment::{Experiment, Inputs, Opened, TimeBase, TimedTrace, fresh_store, sources};
use isochrone_store::{HostEntry, HostStore, Store};
use isochrone_timing::{TimedHost, Timing};
use self_cell::self_cell;

use crate::error::QueryError;
use crate::origin::{Corrections, Origin};

/// What is made of open traces once.
pub(crate) struct View<'o> {
    /// The hosts.
    pub(crate) experiment: Experiment<'o>,
    /// The traces with known clocks.
    pub(crate) traces: Vec<TimedTrace<'o>>,
    /// By index of the trace and number of the stream: the first packet that no other trace repeats.
    pub(crate) first_packets: HashMap<(usize, usize), usize>,
}

self_cell!(
    struct Viewed {
        owner: Opened,
        #[covariant]
        dependent: View,
    }
);

/// Traces with their store.
pub struct Traced {
    viewed: Viewed,
    /// How another process opens the same, where one has to.
    origin: Option<Origin>,
    store: Store,
    /// The hosts in the store that have a clock, in the order of their names.
    hosts: Vec<StoredHost>,
    /// What could not be read since the last call of [`Traced::take_complaints`].
    complaints: Mutex<Vec<Diagnostic>>,
}

/// A host in the store.
#[derive(Debug)]
pub(crate) struct StoredHost {
    /// Its display name.
    pub(crate) name: Arc<str>,
    /// Its entry.
    pub(crate) entry: HostEntry,
    /// Its index in the experiment.
    index: usize,
    tables: OnceLock<HostStore>,
}

impl std::fmt::Debug for Traced {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Traced").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

impl Traced {
    /// Takes open traces and the store of them. `origin`: for a cluster. `O(n log n)` in the packets; no
    /// event is read.
    pub fn new(opened: Opened, store: Store, origin: Option<Origin>) -> Self {
        let viewed = Viewed::new(opened, |opened| {
            let experiment = opened.experiment();
            let traces = experiment.traces().traces;
            let first_packets =
                experiment.hosts().iter().flat_map(|host| host.traced.first_packets()).collect();
            View { experiment, traces, first_packets }
        });
        let mut hosts = Vec::new();
        for (index, host) in viewed.borrow_dependent().experiment.hosts().iter().enumerate() {
            let entry = store.manifest().hosts.iter().find(|entry| entry.id == host.traced.id);
            if let (Some(entry), Some(_)) = (entry, host.timing) {
                let (name, entry) = (Arc::from(host.name()), entry.clone());
                hosts.push(StoredHost { name, entry, index, tables: OnceLock::new() });
            }
        }
        Self { viewed, origin, store, hosts, complaints: Mutex::default() }
    }

    /// Opens what another process has opened. `O(n log n)` in the packets; no event is read.
    ///
    /// # Errors
    /// It is not there, or not as it is there.
    pub(crate) fn open(origin: &Origin) -> anyhow::Result<Self> {
        let inputs = Inputs::open(&origin.paths);
        let store = fresh_store(&origin.store, &inputs).with_context(|| {
            format!(
                "{}: on this machine, not a store of the traces as they are; all machines of a cluster need the same files at the same paths",
                origin.store.display()
            )
        })?;
        let of_text = |text: &str| anyhow::Ok(Clocks::new(&Artefact::from_json(text)?)?);
        let base = match &origin.clocks {
            Corrections::Own => TimeBase::Own,
            Corrections::Kept(text) => TimeBase::Kept(of_text(text)?),
            Corrections::Here(text) => TimeBase::Stored(of_text(text)?),
        };
        let opened = Opened::new(inputs, base, &|_| ())?;
        Ok(Self::new(opened, store, Some(origin.clone())))
    }

    /// The traces.
    pub(crate) fn view(&self) -> &View<'_> {
        self.viewed.borrow_dependent()
    }

    /// How another process opens the same.
    ///
    /// # Errors
    /// None has to.
    pub(crate) fn origin(&self) -> Result<&Origin, DataFusionError> {
        self.origin
            .as_ref()
            .ok_or_else(|| internal_datafusion_err!("these traces are for this process alone"))
    }

    /// Whether the files are as they were when they were opened.
    pub(crate) fn is_fresh(&self) -> bool {
        sources(self.viewed.borrow_owner().inputs()).is_ok_and(|now| now == self.store.manifest().sources)
    }

    /// The corrections, unless all hosts stay on their own clocks.
    pub(crate) fn clocks(&self) -> Option<&Clocks> {
        self.viewed.borrow_owner().clocks()
    }

    /// The store.
    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// The hosts.
    pub(crate) fn hosts(&self) -> &[StoredHost] {
        &self.hosts
    }

    /// The host of a name.
    pub(crate) fn host_named(&self, name: &str) -> Option<&StoredHost> {
        self.hosts.iter().find(|host| &*host.name == name)
    }

    /// A host as the experiment has it.
    pub(crate) fn timed(&self, host: &StoredHost) -> &TimedHost<'_> {
        &self.view().experiment.hosts()[host.index]
    }

    /// What raw times of a host mean.
    pub(crate) fn timing(&self, host: &StoredHost) -> Timing<'_> {
        let own = Timing::Own { offset_ns: host.entry.offset_ns };
        // Those without are not among the hosts.
        self.timed(host).timing.unwrap_or(own)
    }

    /// The tables of a host, which are opened when they are first needed.
    ///
    /// # Errors
    /// They cannot be read.
    pub(crate) fn tables<'s>(&self, host: &'s StoredHost) -> Result<&'s HostStore, QueryError> {
        if let Some(tables) = host.tables.get() {
            return Ok(tables);
        }
        let tables = self.store.host(&host.entry)?;
        Ok(host.tables.get_or_init(|| tables))
    }

    /// Keeps what could not be read.
    pub(crate) fn complain(&self, diagnostics: &[Diagnostic]) {
        self.complaints.lock().unwrap_or_else(PoisonError::into_inner).extend(diagnostics.iter().cloned());
    }

    /// What could not be read since the last call.
    pub fn take_complaints(&self) -> Vec<Diagnostic> {
        std::mem::take(&mut *self.complaints.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
