//! The classes of tables that each analysis declares. Their names, titles and columns are the interface: consumers show them, and look
//! classes up by their names.

use serde::{Serialize, Serializer};

use super::columns::{
    CATEGORY, Column, FD, FILE, FILE_INFO, IRQ, OUT_OF_RANGE, PRIORITIES, RAISED, RETURNS, STATISTICS,
    bare_number, cpu, disk, duration, interface, number, process, ratio, size, statistics, string, syscall,
    time_range, timestamp,
};

/// Analyses that declare the same classes.
pub(super) struct Family {
    pub(super) analyses: &'static [&'static str],
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    pub(super) tags: &'static [&'static str],
    pub(super) classes: &'static [TableClass],
}

/// A class of tables.
#[derive(Debug, Serialize)]
pub(super) struct TableClass {
    #[serde(skip)]
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// In groups, some of which several classes have.
    #[serde(rename = "column-descriptions", serialize_with = "flattened")]
    groups: &'static [&'static [Column]],
}

const fn class(name: &'static str, title: &'static str, groups: &'static [&'static [Column]]) -> TableClass {
    TableClass { name, title, groups }
}

impl TableClass {
    /// Its columns.
    pub(super) fn columns(&self) -> impl Iterator<Item = &'static Column> {
        self.groups.iter().copied().flatten()
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // As serde calls it.
fn flattened<S: Serializer>(groups: &&[&[Column]], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(groups.iter().copied().flatten())
}

/// The family of an analysis; `None`: the analysis does not have this form.
pub(super) fn family(analysis: &str) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| family.analyses.contains(&analysis))
}

/// All families.
pub(super) static FAMILIES: &[Family] = &[
    Family {
        analyses: &["cputop"],
        title: "Top CPU usage",
        description: "CPU time by thread and by CPU, and of the host",
        tags: &["linux-kernel", "cpu", "top"],
        classes: &[
            class(
                "per-process",
                "Per-TID top CPU usage",
                &[&[
                    process("Process", ""),
                    number("Migration count", "migrations", "migrations"),
                    PRIORITIES,
                    ratio("CPU usage", "percent"),
                ]],
            ),
            class("per-cpu", "Per-CPU top CPU usage", &[&[cpu("CPU"), ratio("CPU usage", "percent")]]),
            class("total", "Total CPU usage", &[&[ratio("CPU usage", "percent")]]),
            class(
                "summary",
                "CPU usage - summary",
                &[&[time_range("Time range"), ratio("Total CPU usage", "percent")]],
            ),
        ],
    },
    Family {
        analyses: &["iolatencyfreq", "iolatencystats", "iolatencytop", "iolog", "iousagetop"],
        title: "I/O analysis",
        description: "I/O calls and requests to disks: how long, how many bytes, of which files, for whom",
        tags: &["linux-kernel", "io", "syscall", "stats", "freq", "log", "top"],
        classes: &[
            class("syscall-latency-stats", "System call latency statistics", &[&[CATEGORY], &IO_CALLS]),
            class(
                "disk-latency-stats",
                "Partition latency statistics",
                &[&[disk("Partition")], &IO_ACCESSES],
            ),
            class(
                "freq",
                "I/O request latency distribution",
                &[&[
                    duration("Latency (lower bound)", "lo_ns"),
                    duration("Latency (upper bound)", "hi_ns"),
                    number("Request count", "requests", "count"),
                ]],
            ),
            class("top-syscall", "Top system call latencies", &[&IO_CALL]),
            class("log", "I/O operations log", &[&IO_CALL]),
            class(
                "per-process-top",
                "Per-process top I/O operations",
                &[&[
                    process("Process", ""),
                    size("Total operations size", "*_bytes"),
                    size("Disk operations size", "file_*_bytes"),
                    size("Network operations size", "net_*_bytes"),
                    size("Unknown operations size", "other_*_bytes"),
                ]],
            ),
            class(
                "per-file-top",
                "Per-file top I/O operations",
                &[&[
                    FILE_INFO,
                    size("Operations size", "*_bytes"),
                    string("File descriptor owners", "owners"),
                ]],
            ),
            class(
                "per-process-top-block",
                "Per-process top block I/O operations",
                &[&[process("Process", ""), size("Operations size", "*_bytes")]],
            ),
            class(
                "per-disk-top-sector",
                "Per-disk top sector I/O operations",
                &[&[disk("Disk"), number("Sector count", "sectors", "sectors")]],
            ),
            class(
                "per-disk-top-request",
                "Per-disk top I/O requests",
                &[&[disk("Disk"), number("Request count", "I/O requests", "requests")]],
            ),
            class(
                "per-disk-top-rps",
                "Per-disk top I/O request time/sector",
                &[&[disk("Disk"), duration("Request time/sector", "avg_ns")]],
            ),
            class(
                "per-netif-top",
                "Per-network interface top I/O operations",
                &[&[interface("Network interface"), size("Operations size", "*_bytes")]],
            ),
        ],
    },
    Family {
        analyses: &["irqfreq", "irqlog", "irqstats"],
        title: "System interrupt analysis",
        description: "Interrupts and softirqs: how many, how long, how late",
        tags: &["linux-kernel", "interrupt", "stats", "freq", "log"],
        classes: &[
            class("log", "Interrupt log", &[&[time_range("Time range"), RAISED, cpu("CPU"), IRQ]]),
            class("hard-stats", "Hardware interrupt statistics", &[&[IRQ], &HANDLED]),
            class("soft-stats", "Software interrupt statistics", &[&[IRQ], &HANDLED, &RAISES]),
            class(
                "freq",
                "Interrupt handler duration frequency distribution",
                &[&[
                    duration("Duration (lower bound)", "lo_ns"),
                    duration("Duration (upper bound)", "hi_ns"),
                    number("Interrupt count", "interrupts", "count"),
                ]],
            ),
            class(
                "summary",
                "Interrupt statistics - summary",
                &[&[time_range("Time range"), number("Total interrupt count", "interrupts", "count")]],
            ),
        ],
    },
    Family {
        analyses: &["memtop"],
        title: "Top memory usage",
        description: "Memory pages that were allocated and freed, by thread",
        tags: &["linux-kernel", "memory", "top"],
        classes: &[
            class(
                "allocd",
                "Per-TID top allocated memory",
                &[&[process("Process", ""), number("Allocated pages", "pages", "allocated_pages")]],
            ),
            class(
                "freed",
                "Per-TID top freed memory",
                &[&[process("Process", ""), number("Freed pages", "pages", "freed_pages")]],
            ),
            class("total", "Total allocated/freed memory", &[&PAGES]),
            class("summary", "Memory usage - summary", &[&[time_range("Time range")], &PAGES]),
        ],
    },
    Family {
        analyses: &["schedfreq", "schedlog", "schedstats", "schedtop"],
        title: "Scheduling latencies analysis",
        description: "How long threads waited for a CPU after they had been woken",
        tags: &["linux-kernel", "sched", "stats", "freq", "top", "log"],
        classes: &[
            class("log", "Scheduling log", &[&WAIT]),
            class("top", "Scheduling top", &[&WAIT]),
            class("total_stats", "Scheduling latency stats (total)", &[&WAITS]),
            class(
                "per_tid_stats",
                "Scheduling latency stats (per-TID)",
                &[&[process("Wakee process", "")], &WAITS, &[PRIORITIES]],
            ),
            class(
                "per_prio_stats",
                "Scheduling latency stats (per-prio)",
                &[&[bare_number("Priority", "priority")], &WAITS],
            ),
            class(
                "freq",
                "Scheduling latency frequency distribution",
                &[&[
                    duration("Duration (lower bound)", "lo_ns"),
                    duration("Duration (upper bound)", "hi_ns"),
                    number("Scheduling count", "schedulings", "count"),
                ]],
            ),
        ],
    },
    Family {
        analyses: &["syscallstats"],
        title: "System call statistics",
        description: "System calls by thread: how many, how long, what came of them",
        tags: &["linux-kernel", "syscall", "stats"],
        classes: &[
            class("per-tid", "System call statistics", &[&[syscall("System call")], &CALLS, &[RETURNS]]),
            class(
                "total",
                "Per-TID system call statistics",
                &[&[process("Process", ""), number("Total system call count", "calls", "count")]],
            ),
            class(
                "summary",
                "System call statistics - summary",
                &[&[
                    time_range("Time range"),
                    process("Process", ""),
                    number("Total system call count", "calls", "count"),
                ]],
            ),
        ],
    },
];

static HANDLED: [Column; 5] = statistics(
    ("Interrupt count", "interrupts"),
    ["Minimum duration", "Average duration", "Maximum duration", "Interrupt duration standard deviation"],
    STATISTICS,
);

static RAISES: [Column; 5] = statistics(
    ("Interrupt raise count", "interrupt raises"),
    [
        "Minimum raise latency",
        "Average raise latency",
        "Maximum raise latency",
        "Interrupt raise latency standard deviation",
    ],
    ["raised_count", "raised_min_ns", "raised_avg_ns", "raised_max_ns", "raised_stdev_ns"],
);

static PAGES: [Column; 2] = [
    number("Total allocated pages", "pages", "allocated_pages"),
    number("Total freed pages", "pages", "freed_pages"),
];

static WAIT: [Column; 7] = [
    timestamp("Wakeup timestamp", "wakeup_ns"),
    timestamp("Switch timestamp", "switch_ns"),
    duration("Scheduling latency", "latency_ns"),
    bare_number("Priority", "priority"),
    cpu("Target CPU"),
    process("Wakee process", ""),
    process("Waker process", "waker_"),
];

static WAITS: [Column; 5] = statistics(
    ("Scheduling count", "schedulings"),
    ["Minimum latency", "Average latency", "Maximum latency", "Scheduling latency standard deviation"],
    STATISTICS,
);

static CALLS: [Column; 5] = statistics(
    ("Call count", "calls"),
    [
        "Minimum call duration",
        "Average call duration",
        "Maximum call duration",
        "Call duration standard deviation",
    ],
    STATISTICS,
);

static IO_CALLS: [Column; 5] = statistics(
    ("Call count", "calls"),
    [
        "Minimum call latency",
        "Average call latency",
        "Maximum call latency",
        "System call latency standard deviation",
    ],
    STATISTICS,
);

static IO_ACCESSES: [Column; 5] = statistics(
    ("Access count", "accesses"),
    [
        "Minimum access latency",
        "Average access latency",
        "Maximum access latency",
        "System access latency standard deviation",
    ],
    STATISTICS,
);

static IO_CALL: [Column; 8] = [
    time_range("Call time range"),
    OUT_OF_RANGE,
    duration("Call duration", "duration_ns"),
    syscall("System call"),
    size("Read/write size", "bytes"),
    process("Process", ""),
    FILE,
    FD,
];
