//! `events --follow`: the events of some threads and processes, and of all that they create.
//!
//! Events come in the order of time: the threads that are followed grow with each fork, and an event without contexts is of the thread that
//! was switched to last on its CPU.

use isochrone_ctf::{Event, FieldRef};
use rustc_hash::{FxHashMap, FxHashSet};

/// A class of events: trace, stream class, event class.
pub(super) type Class = (usize, usize, usize);

/// The threads that are followed on each host.
pub(super) struct Follower {
    requested: Vec<i64>,
    /// Threads that were created by those, by host and number.
    created: FxHashSet<(String, i64)>,
    /// The running thread by host and CPU.
    running: FxHashMap<(String, u32), i64>,
    /// By trace, stream class and event class.
    classes: FxHashMap<Class, Fields>,
}

/// The fields of the events of a class with their own thread and those that they name.
#[derive(Debug, Default)]
struct Fields {
    /// The context `tid`, then `pid`.
    own: [Option<FieldRef>; 2],
    /// In `sched_*`: the threads that the event is about.
    named: Vec<FieldRef>,
    /// In a switch: the next thread.
    next: Option<FieldRef>,
    /// In a fork: parents (thread, process), child (thread).
    parents: Vec<FieldRef>,
    child: Option<FieldRef>,
    /// At the end of a thread: its number, which may be reused.
    ends: Option<FieldRef>,
}

impl Fields {
    fn of(event: &Event<'_>) -> Self {
        let (class, stream, name) = (event.class(), event.stream_plan(), event.name().unwrap_or_default());
        let get = |field: &str| class.payload_field(stream, &[field]);
        let all = |fields: &[&str]| fields.iter().filter_map(|field| get(field)).collect();
        let own = [["tid", "vtid"], ["pid", "vpid"]]
            .map(|names| names.iter().find_map(|name| class.context_field(stream, name)));
        let fields = Self { own, ..Self::default() };
        match name {
            "sched_switch" => Self { named: all(&["prev_tid", "next_tid"]), next: get("next_tid"), ..fields },
            "sched_process_fork" => {
                Self { parents: all(&["parent_tid", "parent_pid"]), child: get("child_tid"), ..fields }
            }
            "sched_process_free" => Self { named: all(&["tid"]), ends: get("tid"), ..fields },
            _ if name.starts_with("sched_") => Self { named: all(&["tid"]), ..fields },
            _ => fields,
        }
    }
}

impl Follower {
    /// Follows threads and processes by number.
    pub(super) fn new(requested: &[i32]) -> Self {
        Self {
            requested: requested.iter().copied().map(i64::from).collect(),
            created: FxHashSet::default(),
            running: FxHashMap::default(),
            classes: FxHashMap::default(),
        }
    }

    /// Whether an event is of a thread that is followed, or about one. To be called for every event, in order.
    pub(super) fn is_followed(
        &mut self,
        class: Class,
        host: &str,
        cpu: Option<u32>,
        event: &Event<'_>,
    ) -> bool {
        let fields = self.classes.entry(class).or_insert_with(|| Fields::of(event));
        let number = |field: &FieldRef| event.signed(field);
        let is_followed = |number: i64| {
            self.requested.contains(&number) || self.created.contains(&(host.to_owned(), number))
        };
        let [tid, pid] = fields.own.each_ref().map(|field| field.as_ref().and_then(number));
        let here = cpu.map(|cpu| (host.to_owned(), cpu));
        let runs = here.as_ref().and_then(|here| self.running.get(here)).copied();
        // Contexts take precedence over the last switch.
        let is_own = match (tid, pid) {
            (None, None) => runs.is_some_and(is_followed),
            own => [own.0, own.1].into_iter().flatten().any(is_followed),
        };
        let is_about = fields.named.iter().filter_map(number).any(is_followed);
        let creates = is_own || fields.parents.iter().filter_map(number).any(is_followed);
        let child = fields.child.as_ref().and_then(number);
        if let (Some(here), Some(next)) = (here, fields.next.as_ref().and_then(number)) {
            self.running.insert(here, next);
        }
        let ends = fields.ends.as_ref().and_then(number);
        if let Some(ended) = ends {
            self.created.remove(&(host.to_owned(), ended));
        }
        match child {
            Some(child) if creates => {
                self.created.insert((host.to_owned(), child));
                true
            }
            _ => is_own || is_about,
        }
    }
}
