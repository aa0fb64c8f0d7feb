//! What requests spend their time on: sums of the steps of their paths, by thread name and cause.

use std::collections::BTreeMap;

use isochrone_kernel::Name;
use isochrone_store::Cause;

use crate::cluster::Cluster;
use crate::path::Step;
use crate::path::ThreadRef;

/// Whose time, and what it was spent on. Threads of one name are one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpentOn {
    /// Index of the host; of packets that of their sender.
    pub host: usize,
    /// Name of the thread; `None` of what the kernel does by itself, of packets, and of threads without a
    /// name.
    pub comm: Option<Name>,
    /// The cause.
    pub cause: Cause,
}

impl SpentOn {
    /// What a step's time was spent on.
    pub fn of(cluster: &Cluster<'_>, step: &Step) -> Self {
        let comm =
            step.thread.and_then(|thread| cluster.comm_at(ThreadRef { host: step.host, thread }, step.start));
        Self { host: step.host, comm: comm.map(Name::from), cause: step.cause }
    }
}

/// The sums of some steps, ns, sorted.
pub(crate) fn sums<'s>(
    cluster: &Cluster<'_>,
    steps: impl IntoIterator<Item = &'s Step>,
) -> Box<[(SpentOn, i64)]> {
    let mut sums: BTreeMap<SpentOn, i64> = BTreeMap::new();
    for step in steps {
        *sums.entry(SpentOn::of(cluster, step)).or_default() += step.duration();
    }
    sums.into_iter().collect()
}
