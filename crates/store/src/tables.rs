//! The tables of a store: one for each kind of span, with a row for each span, and those that are derived from them.
//!
//! Times are raw ns of the host's clock. `thread` and the like are numbers of rows of `thread_names`, which refer to rows of
//! `threads`: a thread may have had another id when its spans were written. In zoom levels and in `open_calls` they are rows
//! of `threads`.

use isochrone_kernel::Name;
use isochrone_kernel::files::Uses;

use crate::cell::NameId;
use crate::table::rows;

rows! {
    /// Threads on CPUs.
    SliceRow SliceView "slices" by begin, end { cpu: u32, thread: u32, priority: Option<i32>, begin: i64, end: i64, }
    /// Times of CPUs of which it is unknown what ran.
    UnknownRow UnknownView "unknown" by begin, end { cpu: u32, thread: Option<u32>, begin: i64, end: i64, }
    /// System calls.
    SyscallRow SyscallView "syscalls" by begin, end of Calls {
        thread: u32, cpu: u32, begin: i64, end: i64, name: NameId, fd: Option<i32>, ret: i64,
    }
    /// System calls of which one end is missing: the entry (`is_begin`) or the exit is there.
    HalfSyscallRow HalfSyscallView "half_syscalls" by at of Calls {
        thread: u32, cpu: u32, at: i64, is_begin: bool, name: Option<NameId>, fd: Option<i32>,
    }
    /// Hardware interrupts.
    IrqRow IrqView "irqs" by begin, end of Interrupts { cpu: u32, number: i32, name: NameId, ret: i64, begin: i64, end: i64, }
    /// Softirqs.
    SoftirqRow SoftirqView "softirqs" by begin, end { cpu: u32, vector: u32, raised: Option<i64>, begin: i64, end: i64, }
    /// Waits for a CPU.
    LatencyRow LatencyView "latencies" by begin, end {
        thread: u32, waker: Option<u32>, cpu: u32, priority: i32, begin: i64, end: i64,
    }
    /// Wake-ups; `cause`: [`isochrone_kernel::Cause::number`], `source`: the number or vector of it.
    WakeupRow WakeupView "wakeups" by at {
        thread: u32, waker: u32, cpu: u32, target_cpu: Option<u32>, at: i64, cause: u8, source: Option<i32>,
    }
    /// Begins and ends of threads: `what` is `forked` (by `other`), `executed`, `renumbered` (from `other`), `exits`, `died`;
    /// `name` is that of the thread, or of the program.
    ThreadEventRow ThreadEventView "thread_events" by at {
        thread: u32, at: i64, what: Name, other: Option<u32>, name: Option<Name>,
    }
    /// Threads that were moved to other CPUs.
    MigrationRow MigrationView "migrations" by at { thread: u32, at: i64, to_cpu: u32, }
    /// Threads off the CPUs; `why`: [`isochrone_kernel::OffCpuReason::number`].
    OffRow OffView "off" by begin, end { thread: u32, waker: Option<u32>, why: u8, begin: i64, end: i64, }
    /// Requests to disks, from the first of the three times to the last.
    BlockRequestRow BlockRequestView "block_requests" by begin, end {
        device: u32, sector: u64, sectors: u32, is_write: bool, thread: Option<u32>, begin: i64, end: i64, bytes: Option<u32>,
        inserted: Option<i64>, issued: Option<i64>, completed: Option<i64>, error: i32, is_partial: bool,
    }
    /// Packets of the network.
    PacketRow PacketView "packets" by at of Devices {
        at: i64, cpu: u32, thread: u32, device: NameId, bytes: u32, is_sent: bool, buffer: Option<u64>,
    }
    /// Packets that devices have taken from their queues: `buffer` is that of the packet in `packets`.
    PacketTakenRow PacketTakenView "packets_taken" by at { at: i64, cpu: u32, buffer: u64, }
    /// Sources and destinations of packets of `packets`, if recorded: addresses of IPv6, or IPv4-mapped ones.
    PacketFlowRow PacketFlowView "packet_flows" by at {
        at: i64, cpu: u32, is_sent: bool, protocol: u8, source: [u8; 16], source_port: u16, destination: [u8; 16], destination_port: u16,
        payload: Option<u32>, seq: Option<u32>, flags: Option<u8>,
    }
    /// Memory that was allocated or freed.
    PagesRow PagesView "pages" by at { at: i64, thread: u32, pages: u64, is_free: bool, }
    /// Phases of programs.
    PhaseRow PhaseView "phases" by begin, end of Phases { thread: u32, name: NameId, begin: i64, end: i64, }
    /// File descriptors. `open_from` is `begin`, or the least time that exists if that was not seen: it was open at any time
    /// before.
    FileRow FileView "files" by open_from, end of Files {
        thread: u32, process: Option<i32>, fd: i32, open_from: i64, begin: i64, end: i64, is_begin_seen: bool, is_end_seen: bool,
        kind: Option<NameId>, name: Name, opened_by: Option<NameId>, closed_by: Option<NameId>, close_on_exec: bool,
        is_doubtful: bool, doubtful_from: Option<i64>, reads: u64, read_bytes: u64, writes: u64, written_bytes: u64, others: u64, errors: u64,
        local: Option<Name>, peer: Option<Name>,
    }
    /// Waits for descriptors (`poll`, `select`, `epoll_wait`) that are over: `waited` and `ready` are lists of descriptors,
    /// `3 5 7`, of 64 at most; the counts include the others.
    PollRow PollView "polls" by at {
        thread: u32, at: i64, set: Option<i32>, waited: Name, waited_count: u32, ready: Name, ready_count: u32,
    }
}

rows! {
    /// Threads: `number` is that of the row. An idle task has a CPU and no tid. `pid_namespace` is
    /// the innermost pid namespace, of level 0 if it is that of the host.
    ThreadTableRow ThreadView "threads" by begin, end {
        number: u32, tid: Option<i32>, idle_of_cpu: Option<u32>, pid: Option<i32>, begin: i64, end: i64, comm: Option<Name>,
        parent: Option<i32>, is_kernel: Option<bool>, is_begin_seen: bool, is_end_seen: bool, exited: Option<i64>, woken: Option<i64>,
        known_new_until: Option<i64>,
        pid_namespace: Option<u64>, pid_namespace_level: Option<u32>, vpid: Option<i32>, vtid: Option<i32>,
    }
    /// The ids of threads when their spans were written, by number: the row of `threads`, if known.
    ThreadNameRow ThreadNameView "thread_names" { number: u32, thread: Option<u32>, }
    /// The names of threads that had several, by number of the row of `threads`, each with the time since which it was seen.
    CommRow CommView "comms" { number: u32, since: i64, comm: Name, }
    /// Times from the end of one call of a thread (or the begin of the trace) to the begin of the next (or the end), of which an
    /// end is missing: `begin` and `name` are those of a call that the thread is in, if `is_sure`.
    OpenCallRow OpenCallView "open_calls" by from, until of Calls {
        thread: u32, from: i64, until: i64, is_sure: bool, begin: Option<i64>, name: Option<NameId>, fd: Option<i32>,
    }
    /// Times in which events of the kernel may be missing, on any CPU: disjoint.
    MissedRow MissedView "missed" by begin, end { begin: i64, end: i64, }
    /// A zoom level of states.
    ZoomRow ZoomView "states-zoom" by begin, end { thread: u32, state: u8, begin: i64, end: i64, filled: i64, }
    /// Messages between hosts, by their numbers: raw times on the clocks of both, and the CPUs whose streams have the events.
    MessageRow MessageView "messages" by sent_at {
        sent_host: u32, sent_at: i64, sent_cpu: Option<u32>, received_host: u32, received_at: i64,
        received_cpu: Option<u32>,
    }
    /// Messages of MPI programs, by the numbers of their hosts: raw times on the clocks of both, threads as the kernel numbers them, and ranks.
    MpiRow MpiView "mpi" by sent_at {
        sent_host: u32, sent_at: i64, sent_tid: Option<i32>, sender: i64, received_host: u32, received_at: i64,
        received_tid: Option<i32>, receiver: i64, communicator: u64, tag: i64, bytes: u64,
    }
    /// Times in which events of a host are missing.
    LossRow LossView "losses" by begin, end {
        begin: i64, end: i64, cpu: Option<u32>, what: Name, count: Option<u64>, }
}

impl FileRow {
    /// The uses of the descriptor.
    pub(crate) fn uses(&self) -> Uses {
        let &Self { reads, read_bytes, writes, written_bytes, others, errors, .. } = self;
        Uses { reads, read_bytes, writes, written_bytes, others, errors }
    }
}
