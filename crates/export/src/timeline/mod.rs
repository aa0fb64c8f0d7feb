//! A timeline as viewers show it: rows with slices, instants, counters and flows. `walk` emits it, a module for each format
//! ([`crate::perfetto`], [`crate::chrome`]) writes it.
//!
//! Nothing here knows hosts, stores or clocks: times are Unix ns on one clock.

mod lanes;

use std::io;

pub(crate) use lanes::Lanes;

/// A row: what a [`Timeline`] calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Row(pub u64);

/// What a row is, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place<'a> {
    /// A heading for what belongs to a host as a whole.
    Host {
        /// Its place among the hosts.
        host: u32,
        /// Its name.
        name: &'a str,
    },
    /// A process: its threads follow.
    Process {
        /// The place of its host among the hosts.
        host: u32,
        /// Its pid there.
        pid: i32,
        /// Its name.
        name: &'a str,
        /// The name of its host.
        host_name: &'a str,
    },
    /// A thread of a process.
    Thread {
        /// The place of its host among the hosts.
        host: u32,
        /// Pid of its process there.
        pid: i32,
        /// Its tid there.
        tid: i32,
        /// Its name.
        name: &'a str,
    },
    /// A row of slices under another row.
    Under {
        /// The other row.
        parent: Row,
        /// Its name: rows of one name under one row are shown as one.
        name: &'a str,
    },
    /// A figure over time under another row.
    Counter {
        /// The other row.
        parent: Row,
        /// Its name.
        name: &'static str,
        /// Its unit.
        unit: &'static str,
    },
}

/// The value of a detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// A text.
    Text(&'a str),
    /// A number.
    Int(i64),
}

/// The end of a flow that a slice or an instant is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// The flow of this number begins here.
    Begins(u64),
    /// It ends here.
    Ends(u64),
}

/// What is shown: of a slice, from its begin on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shown<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its kind.
    pub category: &'static str,
    /// Details.
    pub details: &'a [(&'static str, Value<'a>)],
    /// A flow that begins or ends here.
    pub flow: Option<Flow>,
}

/// A format that timelines are written in. What is passed is written at once.
///
/// Slices of a row nest: [`end`](Self::end) ends the one that began last. Times of a row do not go back, except those of instants and of counters.
/// All functions fail where what they write to cannot be written.
pub trait Timeline {
    /// Adds a row.
    fn row(&mut self, place: &Place<'_>) -> io::Result<Row>;

    /// Begins a slice.
    fn begin(&mut self, row: Row, at: i64, shown: &Shown<'_>) -> io::Result<()>;

    /// Ends the slice that began last.
    fn end(&mut self, row: Row, at: i64) -> io::Result<()>;

    /// Something at an instant.
    fn instant(&mut self, row: Row, at: i64, shown: &Shown<'_>) -> io::Result<()>;

    /// The value of a counter from an instant on.
    fn counter(&mut self, row: Row, at: i64, value: f64) -> io::Result<()>;

    /// What the clock of a host (its place among the hosts, and its name) showed at an instant.
    fn clock(&mut self, host: (u32, &str), at: i64, raw: i64) -> io::Result<()>;

    /// Ends the file. Nothing may follow.
    fn finish(&mut self) -> io::Result<()>;
}

/// How far apart numbers of processes and threads of different hosts are: formats have one space of them, and hosts have the same numbers.
/// Linux has none above 2²².
const BETWEEN_HOSTS: i64 = 10_000_000;

/// The most hosts that have numbers of their own: they are of 31 bits.
pub const MOST_HOSTS: usize = 200;

/// The number of a process or a thread of a host, for formats that know no hosts: those of the first host are its own.
///
/// ```
/// assert_eq!(isochrone_export::timeline::number_of(0, 842), 842);
/// assert_eq!(isochrone_export::timeline::number_of(2, 842), 20_000_842);
/// ```
pub fn number_of(host: u32, number: i32) -> i64 {
    i64::from(host) * BETWEEN_HOSTS + i64::from(number)
}
