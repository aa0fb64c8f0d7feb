//! The tables of a store: one for each kind of span, with a row for each span, and those that are made of them.
//!
//! Times are raw ns of the host's clock. `thread` and the like are numbers of rows of `thread_names`, which say whose row of
//! `threads` they are: a thread may have been called otherwise when its spans were written. In `states` they are rows of
//! `threads`.

use crate::table::{Column, Kind, Layout};

macro_rules! column {
    ($name:ident: $kind:ident null) => {
        Column { name: stringify!($name), kind: Kind::$kind, nullable: true }
    };
    ($name:ident: $kind:ident) => {
        Column { name: stringify!($name), kind: Kind::$kind, nullable: false }
    };
}

macro_rules! times {
    ($begin:literal, $end:literal) => {
        Some(($begin, $end))
    };
    () => {
        None
    };
}

macro_rules! tables {
    ($($(#[$doc:meta])* $NAME:ident $name:literal $(by $begin:literal, $end:literal)? {
        $($column:ident: $kind:ident $(or $null:ident)?,)*
    })*) => {$(
        $(#[$doc])*
        pub(crate) static $NAME: Layout = Layout {
            name: $name,
            columns: &[$(column!($column: $kind $($null)?),)*],
            times: times!($($begin, $end)?),
        };
    )*};
}

tables! {
    /// Threads on CPUs.
    SLICES "slices" by 3, 4 { cpu: U32, thread: U32, priority: I32 or null, begin: I64, end: I64, }
    /// What nobody knows of CPUs.
    UNKNOWN "unknown" by 2, 3 { cpu: U32, thread: U32 or null, begin: I64, end: I64, }
    /// System calls.
    SYSCALLS "syscalls" by 2, 3 { thread: U32, cpu: U32, begin: I64, end: I64, name: Text, fd: I32 or null, ret: I64, }
    /// System calls of which one end is missing: the entry (`is_begin`) or the exit is there.
    HALF_SYSCALLS "half_syscalls" by 2, 2 { thread: U32, cpu: U32, at: I64, is_begin: Bool, name: Text or null, fd: I32 or null, }
    /// Hardware interrupts.
    IRQS "irqs" by 4, 5 { cpu: U32, number: I32, name: Text, ret: I64, begin: I64, end: I64, }
    /// Softirqs.
    SOFTIRQS "softirqs" by 3, 4 { cpu: U32, vector: U32, raised: I64 or null, begin: I64, end: I64, }
    /// Waits for a CPU.
    LATENCIES "latencies" by 4, 5 { thread: U32, waker: U32 or null, cpu: U32, priority: I32, begin: I64, end: I64, }
    /// Wake-ups; `cause`: `thread`, `irq`, `softirq`, `timer`, `ipi`, `vector`, null where it is not known; `source`: number or vector of it.
    WAKEUPS "wakeups" by 4, 4 {
        thread: U32, waker: U32, cpu: U32, target_cpu: U32 or null, at: I64, cause: Text or null, source: I64 or null,
    }
    /// Begins and ends of threads: `what` is `forked` (by `other`), `executed`, `renumbered` (from `other`), `exits`, `died`; `name` is
    /// that of the thread, or of the program.
    THREAD_EVENTS "thread_events" by 1, 1 { thread: U32, at: I64, what: Text, other: U32 or null, name: Text or null, }
    /// Threads that were moved to other CPUs.
    MIGRATIONS "migrations" by 1, 1 { thread: U32, at: I64, to_cpu: U32, }
    /// Threads off the CPUs; `why`: `preempted`, `blocked`, `uninterruptible`, `stopped`.
    OFF "off" by 3, 4 { thread: U32, waker: U32 or null, why: U8, begin: I64, end: I64, }
    /// Requests to disks, from the first of the three times to the last.
    BLOCK_REQUESTS "block_requests" by 5, 6 {
        device: U32, sector: U64, sectors: U32, is_write: Bool, thread: U32 or null, begin: I64, end: I64, bytes: U32 or null,
        inserted: I64 or null, issued: I64 or null, completed: I64 or null, error: I32, is_partial: Bool,
    }
    /// Packets of the network.
    PACKETS "packets" by 0, 0 {
        at: I64, cpu: U32, thread: U32, device: Text, bytes: U32, is_sent: Bool, protocol: U8 or null, source: Text or null,
        destination: Text or null,
    }
    /// Memory that was allocated or given back.
    PAGES "pages" by 0, 0 { at: I64, thread: U32, pages: U64, is_free: Bool, }
    /// Phases of programs.
    PHASES "phases" by 2, 3 { thread: U32, name: Text, begin: I64, end: I64, }
    /// File descriptors.
    FILES "files" by 3, 4 {
        thread: U32, process: I32 or null, fd: I32, begin: I64, end: I64, is_begin_seen: Bool, is_end_seen: Bool, kind: Text or null,
        name: Text, opened_by: Text or null, closed_by: Text or null, is_doubtful: Bool, read_bytes: U64, written_bytes: U64,
        local: Text or null, peer: Text or null,
    }
    /// Waits for descriptors (`poll`, `select`, `epoll_wait`) that are over: `waited` and `ready` are lists of descriptors, `3 5 7`, of 64 at
    /// most; the counts say how many there are.
    POLLS "polls" by 1, 1 {
        thread: U32, at: I64, set: I32 or null, waited: Text, waited_count: U32, ready: Text, ready_count: U32,
    }
}

tables! {
    /// Threads: `number` is that of the row. An idle task has a CPU and no number of a thread.
    THREADS "threads" by 4, 5 {
        number: U32, tid: I32 or null, idle_of_cpu: U32 or null, pid: I32 or null, begin: I64, end: I64, comm: Text or null, parent: I32 or null,
        is_kernel: Bool or null, is_begin_seen: Bool, is_end_seen: Bool,
    }
    /// What threads were called when their spans were written, by number: whose row of `threads` that is, if it is known.
    THREAD_NAMES "thread_names" { number: U32, thread: U32 or null, }
    /// What threads did: see [`crate::State`] for the numbers of states. Sorted by thread and begin within a batch.
    STATES "states" by 2, 3 {
        thread: U32, state: U8, begin: I64, end: I64, cpu: U32 or null, syscall: Text or null, fd: I32 or null, waker: U32 or null,
    }
}

tables! {
    /// Messages between hosts, by their numbers: raw times on the clocks of both, and the CPUs whose streams have the events.
    MESSAGES "messages" by 1, 1 {
        sent_host: U32, sent_at: I64, sent_cpu: U32 or null, received_host: U32, received_at: I64,
        received_cpu: U32 or null,
    }
}

/// The columns of the zoom levels of `states`: the state that filled most of the time, and how much of it.
macro_rules! levels {
    ($($name:literal,)*) => {
        /// Zoom levels of [`STATES`], the finest first.
        pub(crate) static LEVELS: &[Layout] = &[$(Layout {
            name: $name,
            columns: &[
                column!(thread: U32),
                column!(state: U8),
                column!(begin: I64),
                column!(end: I64),
                column!(filled: I64),
            ],
            times: Some((2, 3)),
        },)*];
    };
}

levels! {
    "states-zoom0", "states-zoom1", "states-zoom2", "states-zoom3", "states-zoom4", "states-zoom5", "states-zoom6",
    "states-zoom7", "states-zoom8", "states-zoom9", "states-zoom10", "states-zoom11",
}

/// Places of the tables of spans in [`OF_SPANS`].
pub(crate) mod place {
    pub(crate) const SLICES: usize = 0;
    pub(crate) const UNKNOWN: usize = 1;
    pub(crate) const SYSCALLS: usize = 2;
    pub(crate) const HALF_SYSCALLS: usize = 3;
    pub(crate) const IRQS: usize = 4;
    pub(crate) const SOFTIRQS: usize = 5;
    pub(crate) const LATENCIES: usize = 6;
    pub(crate) const WAKEUPS: usize = 7;
    pub(crate) const THREAD_EVENTS: usize = 8;
    pub(crate) const MIGRATIONS: usize = 9;
    pub(crate) const OFF: usize = 10;
    pub(crate) const BLOCK_REQUESTS: usize = 11;
    pub(crate) const PACKETS: usize = 12;
    pub(crate) const PAGES: usize = 13;
    pub(crate) const PHASES: usize = 14;
    pub(crate) const FILES: usize = 15;
    pub(crate) const POLLS: usize = 16;
}

/// The tables of spans: [`place`] has their places.
pub(crate) static OF_SPANS: [&Layout; 17] = [
    &SLICES,
    &UNKNOWN,
    &SYSCALLS,
    &HALF_SYSCALLS,
    &IRQS,
    &SOFTIRQS,
    &LATENCIES,
    &WAKEUPS,
    &THREAD_EVENTS,
    &MIGRATIONS,
    &OFF,
    &BLOCK_REQUESTS,
    &PACKETS,
    &PAGES,
    &PHASES,
    &FILES,
    &POLLS,
];
