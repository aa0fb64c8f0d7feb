//! Generations of LTTng's kernel tracer, and what differs between them beside the fields of events.
//!
//! [`super::events`] and [`super::calls`] say which fields each of them writes.

/// A version of LTTng-modules, standing for its neighbours, on the Linux that it was used with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Generation {
    /// 2.1 on Linux 3.6: `sys_*` and `exit_syscall`, `softirq_*`, `sched_wakeup` with `success`, no processes in
    /// `sched_process_fork`.
    V2_1,
    /// 2.5 on Linux 3.10: as 2.1; forks record processes, the dumps of file descriptors their flags.
    V2_5,
    /// 2.8 on Linux 4.4: `syscall_entry_*` and `syscall_exit_*`, `irq_softirq_*`, `sched_waking`, namespaces.
    V2_8,
    /// 2.13 on Linux 6.1: dumps record tables of file descriptors, and namespaces in events of their own. Calls that
    /// are younger than Linux 3.10 are `unknown`.
    #[default]
    V2_13,
    /// 2.14: as 2.13, but `close_range`, `memfd_create`, `clone3` and the like have classes of their own.
    V2_14,
}

impl Generation {
    /// All of them, the oldest first.
    pub const ALL: [Self; 5] = [Self::V2_1, Self::V2_5, Self::V2_8, Self::V2_13, Self::V2_14];

    /// Minor version of the tracer.
    pub fn minor(self) -> u32 {
        match self {
            Self::V2_1 => 1,
            Self::V2_5 => 5,
            Self::V2_8 => 8,
            Self::V2_13 => 13,
            Self::V2_14 => 14,
        }
    }

    /// The release of Linux that it is used with here: what states of threads mean depends on it.
    pub fn kernel_release(self) -> &'static str {
        match self {
            Self::V2_1 => "3.6.11",
            Self::V2_5 => "3.10.24",
            Self::V2_8 => "4.4.0-31-generic",
            Self::V2_13 => "6.1.0-13-amd64",
            Self::V2_14 => "6.8.0-45-generic",
        }
    }

    /// `prev_state` of a thread that was preempted.
    pub fn preempted(self) -> i64 {
        match self {
            Self::V2_1 => 0,
            Self::V2_5 => 1024,
            Self::V2_8 => 2048,
            Self::V2_13 | Self::V2_14 => 256,
        }
    }

    /// `prev_state` of a thread that has ended.
    pub fn dead(self) -> i64 {
        if self <= Self::V2_8 { 64 } else { 32 }
    }

    /// Whether entries and exits of system calls are named by the call: `syscall_entry_openat`. Older tracers have
    /// `sys_openat` and one `exit_syscall` for all.
    pub fn names_exits(self) -> bool {
        self >= Self::V2_8
    }

    /// Whether `sched_waking` records a wake-up where it is decided.
    pub fn has_waking(self) -> bool {
        self >= Self::V2_8
    }

    /// Whether page faults are recorded.
    pub fn has_page_faults(self) -> bool {
        self >= Self::V2_8
    }

    /// What the tracer adds to priorities in wake-ups, but in no other event: old ones record the kernel's own number.
    pub(crate) fn wakeup_priority(self, priority: i32) -> i32 {
        if self <= Self::V2_5 { priority + 100 } else { priority }
    }

    /// Whether `char` is written as a signed number.
    pub(crate) fn signed_chars(self) -> bool {
        !matches!(self, Self::V2_5 | Self::V2_8)
    }

    /// Name of the event class of a softirq's event: `raise`, `entry`, `exit`.
    pub(crate) fn softirq_class(self, what: &str) -> String {
        let prefix = if self <= Self::V2_5 { "softirq" } else { "irq_softirq" };
        format!("{prefix}_{what}")
    }

    /// Name of the event class of a timer's event: `entry`, `exit`.
    pub(crate) fn timer_class(self, is_high: bool, what: &str) -> String {
        let prefix = match (is_high, self <= Self::V2_5) {
            (false, _) => "timer",
            (true, true) => "hrtimer",
            (true, false) => "timer_hrtimer",
        };
        format!("{prefix}_expire_{what}")
    }

    /// Whether interrupts of the CPU's own controller have events.
    pub fn has_vectors(self) -> bool {
        self >= Self::V2_8
    }

    /// Whether calls that wait for descriptors tell which ones.
    pub fn shows_waits(self) -> bool {
        self >= Self::V2_13
    }

    /// Whether packets are told with their headers.
    pub fn has_headers(self) -> bool {
        self >= Self::V2_13
    }

    /// Name of the event class of a page's event: `alloc`, `free`.
    pub(crate) fn page_class(self, what: &str) -> String {
        let prefix = if self <= Self::V2_5 { "mm_page" } else { "kmem_mm_page" };
        format!("{prefix}_{what}")
    }

    /// Name of the event class of a call's entry. Calls of 32-bit programs have the prefix `compat_`.
    pub(crate) fn entry_class(self, call: &str) -> String {
        let (compat, call) = split_compat(call);
        let middle = if self.names_exits() { "syscall_entry_" } else { "sys_" };
        format!("{compat}{middle}{call}")
    }

    /// Name of the event class of a call's exit.
    pub(crate) fn exit_class(self, call: &str) -> String {
        let (compat, call) = split_compat(call);
        if self.names_exits() { format!("{compat}syscall_exit_{call}") } else { "exit_syscall".to_owned() }
    }
}

/// The prefix of calls of 32-bit programs, or nothing, and the name of the call.
pub(crate) fn split_compat(call: &str) -> (&'static str, &str) {
    match call.strip_prefix("compat_") {
        Some(rest) => ("compat_", rest),
        None => ("", call),
    }
}
