//! Pid namespaces that a kernel trace shows besides that of the host: those of containers.

use std::collections::BTreeSet;

use isochrone_ctf::plan::{EventPlan, StreamPlan};
use isochrone_ctf::{Event, FieldRef};

/// Inode number of the host's own pid namespace (`PROC_PID_INIT_INO`, `include/linux/proc_ns.h`).
const OF_HOST: u64 = 0xefff_fffc;

/// More namespaces than this are not kept.
const MOST: usize = 1024;

/// The namespaces of a stream.
#[derive(Debug, Default)]
pub(crate) struct NamespaceWatch {
    /// By event class: the field that has the number.
    fields: Vec<Option<FieldRef>>,
    found: BTreeSet<u64>,
}

impl NamespaceWatch {
    pub(crate) fn new(plan: &StreamPlan) -> Self {
        let field = |class: &EventPlan| {
            let name = match class.name.as_deref()? {
                "lttng_statedump_process_pid_ns" => "ns_inum",
                "sched_process_fork" => "child_ns_inum",
                _ => return None,
            };
            class.payload_field(plan, &[name])
        };
        Self { fields: plan.events.iter().map(field).collect(), found: BTreeSet::new() }
    }

    /// Whether events of a class show namespaces.
    pub(crate) fn watches(&self, class: usize) -> bool {
        self.fields.get(class).is_some_and(Option::is_some)
    }

    pub(crate) fn see(&mut self, event: &Event<'_>) {
        let field = self.fields.get(event.class().index).and_then(Option::as_ref);
        if let Some(id) = field.and_then(|field| event.unsigned(field))
            && id != OF_HOST
            && self.found.len() < MOST
        {
            self.found.insert(id);
        }
    }

    pub(crate) fn into_found(self) -> BTreeSet<u64> {
        self.found
    }
}
