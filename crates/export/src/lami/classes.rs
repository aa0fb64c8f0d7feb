//! The classes of tables that each analysis declares. Their names, titles and columns are the interface: consumers show them, and look
//! classes up by their names.

pub(super) mod io;

use serde::Serialize;

/// Analyses that declare the same classes.
pub(super) struct Family {
    pub(super) analyses: &'static [&'static str],
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    pub(super) tags: &'static [&'static str],
    pub(super) classes: &'static [&'static TableClass],
}

/// A class of tables.
#[derive(Debug, Serialize)]
pub(super) struct TableClass {
    #[serde(skip)]
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    #[serde(rename = "column-descriptions")]
    pub(super) columns: &'static [Column],
}

/// A column of a class.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Column {
    pub(super) title: &'static str,
    /// The class of its values.
    pub(super) class: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unit: Option<&'static str>,
}

const fn of(class: &'static str, title: &'static str) -> Column {
    Column { title, class, unit: None }
}

/// A number of something.
const fn number(title: &'static str, unit: &'static str) -> Column {
    Column { title, class: "number", unit: Some(unit) }
}

/// All of them.
pub(super) static FAMILIES: &[Family] = &[
    Family {
        analyses: &["cputop"],
        title: "Top CPU usage",
        description: "CPU time by thread and by CPU, and of the host",
        tags: &["linux-kernel", "cpu", "top"],
        classes: &[&CPU_PER_PROCESS, &CPU_PER_CPU, &CPU_TOTAL, &CPU_SUMMARY],
    },
    Family {
        analyses: &["iolatencyfreq", "iolatencystats", "iolatencytop", "iolog", "iousagetop"],
        title: "I/O analysis",
        description: "I/O calls and requests to disks: how long, how many bytes, of which files, for whom",
        tags: &["linux-kernel", "io", "syscall", "stats", "freq", "log", "top"],
        classes: &[
            &io::SYSCALL_LATENCY_STATS,
            &io::DISK_LATENCY_STATS,
            &io::FREQ,
            &io::TOP_SYSCALL,
            &io::LOG,
            &io::PER_PROCESS_TOP,
            &io::PER_FILE_TOP,
            &io::PER_PROCESS_TOP_BLOCK,
            &io::PER_DISK_TOP_SECTOR,
            &io::PER_DISK_TOP_REQUEST,
            &io::PER_DISK_TOP_RPS,
            &io::PER_NETIF_TOP,
        ],
    },
    Family {
        analyses: &["irqfreq", "irqlog", "irqstats"],
        title: "System interrupt analysis",
        description: "Interrupts and softirqs: how many, how long, how late",
        tags: &["linux-kernel", "interrupt", "stats", "freq", "log"],
        classes: &[&IRQ_LOG, &IRQ_HARD_STATS, &IRQ_SOFT_STATS, &IRQ_FREQ, &IRQ_SUMMARY],
    },
    Family {
        analyses: &["memtop"],
        title: "Top memory usage",
        description: "Memory pages that were allocated and freed, by thread",
        tags: &["linux-kernel", "memory", "top"],
        classes: &[&MEMORY_ALLOCD, &MEMORY_FREED, &MEMORY_TOTAL, &MEMORY_SUMMARY],
    },
    Family {
        analyses: &["schedfreq", "schedlog", "schedstats", "schedtop"],
        title: "Scheduling latencies analysis",
        description: "How long threads waited for a CPU after they had been woken",
        tags: &["linux-kernel", "sched", "stats", "freq", "top", "log"],
        classes: &[
            &SCHED_LOG,
            &SCHED_TOP,
            &SCHED_TOTAL_STATS,
            &SCHED_PER_TID_STATS,
            &SCHED_PER_PRIO_STATS,
            &SCHED_FREQ,
        ],
    },
    Family {
        analyses: &["syscallstats"],
        title: "System call statistics",
        description: "System calls by thread: how many, how long, what came of them",
        tags: &["linux-kernel", "syscall", "stats"],
        classes: &[&SYSCALL_PER_TID, &SYSCALL_TOTAL, &SYSCALL_SUMMARY],
    },
];

pub(super) static CPU_PER_PROCESS: TableClass = TableClass {
    name: "per-process",
    title: "Per-TID top CPU usage",
    columns: &[
        of("process", "Process"),
        number("Migration count", "migrations"),
        of("string", "Chronological priorities"),
        of("ratio", "CPU usage"),
    ],
};

pub(super) static CPU_PER_CPU: TableClass = TableClass {
    name: "per-cpu",
    title: "Per-CPU top CPU usage",
    columns: &[of("cpu", "CPU"), of("ratio", "CPU usage")],
};

pub(super) static CPU_TOTAL: TableClass =
    TableClass { name: "total", title: "Total CPU usage", columns: &[of("ratio", "CPU usage")] };

pub(super) static CPU_SUMMARY: TableClass = TableClass {
    name: "summary",
    title: "CPU usage - summary",
    columns: &[of("time-range", "Time range"), of("ratio", "Total CPU usage")],
};

pub(super) static IRQ_LOG: TableClass = TableClass {
    name: "log",
    title: "Interrupt log",
    columns: &[
        of("time-range", "Time range"),
        of("timestamp", "Raised timestamp"),
        of("cpu", "CPU"),
        of("irq", "Interrupt"),
    ],
};

pub(super) static IRQ_HARD_STATS: TableClass = TableClass {
    name: "hard-stats",
    title: "Hardware interrupt statistics",
    columns: &[
        of("irq", "Interrupt"),
        number("Interrupt count", "interrupts"),
        of("duration", "Minimum duration"),
        of("duration", "Average duration"),
        of("duration", "Maximum duration"),
        of("duration", "Interrupt duration standard deviation"),
    ],
};

pub(super) static IRQ_SOFT_STATS: TableClass = TableClass {
    name: "soft-stats",
    title: "Software interrupt statistics",
    columns: &[
        of("irq", "Interrupt"),
        number("Interrupt count", "interrupts"),
        of("duration", "Minimum duration"),
        of("duration", "Average duration"),
        of("duration", "Maximum duration"),
        of("duration", "Interrupt duration standard deviation"),
        number("Interrupt raise count", "interrupt raises"),
        of("duration", "Minimum raise latency"),
        of("duration", "Average raise latency"),
        of("duration", "Maximum raise latency"),
        of("duration", "Interrupt raise latency standard deviation"),
    ],
};

pub(super) static IRQ_FREQ: TableClass = TableClass {
    name: "freq",
    title: "Interrupt handler duration frequency distribution",
    columns: &[
        of("duration", "Duration (lower bound)"),
        of("duration", "Duration (upper bound)"),
        number("Interrupt count", "interrupts"),
    ],
};

pub(super) static IRQ_SUMMARY: TableClass = TableClass {
    name: "summary",
    title: "Interrupt statistics - summary",
    columns: &[of("time-range", "Time range"), number("Total interrupt count", "interrupts")],
};

pub(super) static MEMORY_ALLOCD: TableClass = TableClass {
    name: "allocd",
    title: "Per-TID top allocated memory",
    columns: &[of("process", "Process"), number("Allocated pages", "pages")],
};

pub(super) static MEMORY_FREED: TableClass = TableClass {
    name: "freed",
    title: "Per-TID top freed memory",
    columns: &[of("process", "Process"), number("Freed pages", "pages")],
};

pub(super) static MEMORY_TOTAL: TableClass = TableClass {
    name: "total",
    title: "Total allocated/freed memory",
    columns: &[number("Total allocated pages", "pages"), number("Total freed pages", "pages")],
};

pub(super) static MEMORY_SUMMARY: TableClass = TableClass {
    name: "summary",
    title: "Memory usage - summary",
    columns: &[
        of("time-range", "Time range"),
        number("Total allocated pages", "pages"),
        number("Total freed pages", "pages"),
    ],
};

pub(super) static SCHED_LOG: TableClass = TableClass {
    name: "log",
    title: "Scheduling log",
    columns: &[
        of("timestamp", "Wakeup timestamp"),
        of("timestamp", "Switch timestamp"),
        of("duration", "Scheduling latency"),
        of("number", "Priority"),
        of("cpu", "Target CPU"),
        of("process", "Wakee process"),
        of("process", "Waker process"),
    ],
};

pub(super) static SCHED_TOP: TableClass = TableClass {
    name: "top",
    title: "Scheduling top",
    columns: &[
        of("timestamp", "Wakeup timestamp"),
        of("timestamp", "Switch timestamp"),
        of("duration", "Scheduling latency"),
        of("number", "Priority"),
        of("cpu", "Target CPU"),
        of("process", "Wakee process"),
        of("process", "Waker process"),
    ],
};

pub(super) static SCHED_TOTAL_STATS: TableClass = TableClass {
    name: "total_stats",
    title: "Scheduling latency stats (total)",
    columns: &[
        number("Scheduling count", "schedulings"),
        of("duration", "Minimum latency"),
        of("duration", "Average latency"),
        of("duration", "Maximum latency"),
        of("duration", "Scheduling latency standard deviation"),
    ],
};

pub(super) static SCHED_PER_TID_STATS: TableClass = TableClass {
    name: "per_tid_stats",
    title: "Scheduling latency stats (per-TID)",
    columns: &[
        of("process", "Wakee process"),
        number("Scheduling count", "schedulings"),
        of("duration", "Minimum latency"),
        of("duration", "Average latency"),
        of("duration", "Maximum latency"),
        of("duration", "Scheduling latency standard deviation"),
        of("string", "Chronological priorities"),
    ],
};

pub(super) static SCHED_PER_PRIO_STATS: TableClass = TableClass {
    name: "per_prio_stats",
    title: "Scheduling latency stats (per-prio)",
    columns: &[
        of("number", "Priority"),
        number("Scheduling count", "schedulings"),
        of("duration", "Minimum latency"),
        of("duration", "Average latency"),
        of("duration", "Maximum latency"),
        of("duration", "Scheduling latency standard deviation"),
    ],
};

pub(super) static SCHED_FREQ: TableClass = TableClass {
    name: "freq",
    title: "Scheduling latency frequency distribution",
    columns: &[
        of("duration", "Duration (lower bound)"),
        of("duration", "Duration (upper bound)"),
        number("Scheduling count", "schedulings"),
    ],
};

pub(super) static SYSCALL_PER_TID: TableClass = TableClass {
    name: "per-tid",
    title: "System call statistics",
    columns: &[
        of("syscall", "System call"),
        number("Call count", "calls"),
        of("duration", "Minimum call duration"),
        of("duration", "Average call duration"),
        of("duration", "Maximum call duration"),
        of("duration", "Call duration standard deviation"),
        of("string", "Return values count"),
    ],
};

pub(super) static SYSCALL_TOTAL: TableClass = TableClass {
    name: "total",
    title: "Per-TID system call statistics",
    columns: &[of("process", "Process"), number("Total system call count", "calls")],
};

pub(super) static SYSCALL_SUMMARY: TableClass = TableClass {
    name: "summary",
    title: "System call statistics - summary",
    columns: &[
        of("time-range", "Time range"),
        of("process", "Process"),
        number("Total system call count", "calls"),
    ],
};
