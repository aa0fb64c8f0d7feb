//! What all formats of recordings give: a description of the machine and of its events, then the events of
//! each CPU in the order of time.

use crate::class::Machine;
use crate::clock::Clock;
use crate::error::ImportError;
use crate::event_format::EventFormat;
use crate::threads::ThreadList;

/// A recording, but for its events.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recorded<'r> {
    pub(crate) machine: Machine,
    pub(crate) formats: &'r [EventFormat],
    pub(crate) host: &'r Host,
    pub(crate) clock: Clock,
    /// Whether threads and the processes of new ones are passed on.
    pub(crate) lists_threads: bool,
}

/// Who recorded what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Host {
    pub(crate) name: String,
    /// Release of Linux.
    pub(crate) release: String,
    /// The machine's architecture, as `uname` has it.
    pub(crate) machine: String,
    pub(crate) tracer: &'static str,
    pub(crate) tracer_version: String,
}

impl Host {
    /// By the text of `uname`: system, host, release, machine.
    pub(crate) fn of_uname(text: &str, tracer: &'static str, version: &str) -> Self {
        let mut words = text.split(' ').skip(1).map(str::to_owned);
        let mut next = || words.next().unwrap_or_default();
        let (name, release, machine) = (next(), next(), next());
        Self { name, release, machine, tracer, tracer_version: version.to_owned() }
    }
}

/// Takes the events of a recording.
pub(crate) trait Sink {
    /// What comes is of a CPU, in the buffer of an instance, whose name is empty if it is the first one.
    fn stream(&mut self, instance: &str, cpu: u32) -> Result<(), ImportError>;
    /// An event: its time in ns, and its record.
    fn event(&mut self, ns: u64, record: &[u8]) -> Result<(), ImportError>;
    /// An event of a class that has no records, by its index among these: its time in ns, the thread that
    /// ran, and its contexts and fields as they are written.
    fn written(&mut self, ns: u64, class: usize, body: &[u8]) -> Result<(), ImportError>;
    /// The threads that were there before the first event.
    fn threads(&mut self, list: ThreadList);
    /// The process of a thread of which an event will say that it is new.
    fn forked(&mut self, tid: i32, pid: i32);
    /// Events were lost, and how many, if that was counted.
    fn lost(&mut self, count: Option<u64>) -> Result<(), ImportError>;
}
