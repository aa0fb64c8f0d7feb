//! The classes of I/O.

use super::{TableClass, number, of};

pub(in crate::lami) static SYSCALL_LATENCY_STATS: TableClass = TableClass {
    name: "syscall-latency-stats",
    title: "System call latency statistics",
    columns: &[
        of("string", "System call category"),
        number("Call count", "calls"),
        of("duration", "Minimum call latency"),
        of("duration", "Average call latency"),
        of("duration", "Maximum call latency"),
        of("duration", "System call latency standard deviation"),
    ],
};

pub(in crate::lami) static DISK_LATENCY_STATS: TableClass = TableClass {
    name: "disk-latency-stats",
    title: "Partition latency statistics",
    columns: &[
        of("disk", "Partition"),
        number("Access count", "accesses"),
        of("duration", "Minimum access latency"),
        of("duration", "Average access latency"),
        of("duration", "Maximum access latency"),
        of("duration", "System access latency standard deviation"),
    ],
};

pub(in crate::lami) static FREQ: TableClass = TableClass {
    name: "freq",
    title: "I/O request latency distribution",
    columns: &[
        of("duration", "Latency (lower bound)"),
        of("duration", "Latency (upper bound)"),
        number("Request count", "requests"),
    ],
};

pub(in crate::lami) static TOP_SYSCALL: TableClass = TableClass {
    name: "top-syscall",
    title: "Top system call latencies",
    columns: &[
        of("time-range", "Call time range"),
        of("bool", "System call out of range?"),
        of("duration", "Call duration"),
        of("syscall", "System call"),
        of("size", "Read/write size"),
        of("process", "Process"),
        of("path", "File path"),
        of("fd", "File descriptor"),
    ],
};

pub(in crate::lami) static LOG: TableClass = TableClass {
    name: "log",
    title: "I/O operations log",
    columns: &[
        of("time-range", "Call time range"),
        of("bool", "System call out of range?"),
        of("duration", "Call duration"),
        of("syscall", "System call"),
        of("size", "Read/write size"),
        of("process", "Process"),
        of("path", "File path"),
        of("fd", "File descriptor"),
    ],
};

pub(in crate::lami) static PER_PROCESS_TOP: TableClass = TableClass {
    name: "per-process-top",
    title: "Per-process top I/O operations",
    columns: &[
        of("process", "Process"),
        of("size", "Total operations size"),
        of("size", "Disk operations size"),
        of("size", "Network operations size"),
        of("size", "Unknown operations size"),
    ],
};

pub(in crate::lami) static PER_FILE_TOP: TableClass = TableClass {
    name: "per-file-top",
    title: "Per-file top I/O operations",
    columns: &[
        of("path", "File path/info"),
        of("size", "Operations size"),
        of("string", "File descriptor owners"),
    ],
};

pub(in crate::lami) static PER_PROCESS_TOP_BLOCK: TableClass = TableClass {
    name: "per-process-top-block",
    title: "Per-process top block I/O operations",
    columns: &[of("process", "Process"), of("size", "Operations size")],
};

pub(in crate::lami) static PER_DISK_TOP_SECTOR: TableClass = TableClass {
    name: "per-disk-top-sector",
    title: "Per-disk top sector I/O operations",
    columns: &[of("disk", "Disk"), number("Sector count", "sectors")],
};

pub(in crate::lami) static PER_DISK_TOP_REQUEST: TableClass = TableClass {
    name: "per-disk-top-request",
    title: "Per-disk top I/O requests",
    columns: &[of("disk", "Disk"), number("Request count", "I/O requests")],
};

pub(in crate::lami) static PER_DISK_TOP_RPS: TableClass = TableClass {
    name: "per-disk-top-rps",
    title: "Per-disk top I/O request time/sector",
    columns: &[of("disk", "Disk"), of("duration", "Request time/sector")],
};

pub(in crate::lami) static PER_NETIF_TOP: TableClass = TableClass {
    name: "per-netif-top",
    title: "Per-network interface top I/O operations",
    columns: &[of("netif", "Network interface"), of("size", "Operations size")],
};
