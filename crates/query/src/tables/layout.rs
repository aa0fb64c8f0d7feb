//! Which columns the tables of spans have, and what of a store each of them is made of.

use std::net::{IpAddr, Ipv6Addr};

use isochrone_kernel::{Cause, OffCpuReason};

/// A table of a store as a table of queries.
#[derive(Debug)]
pub(crate) struct Layout {
    /// Its name.
    pub(crate) name: &'static str,
    /// The table of the store that it is made of.
    pub(crate) stored: &'static str,
    /// Its columns after `host`.
    pub(crate) columns: &'static [Item],
    /// The column of the store, and its value, that rows have to have.
    pub(crate) only: Option<(&'static str, &'static str)>,
    /// The columns of its first and its last time, which the store knows of each batch; both may be the same.
    pub(crate) times: Option<(&'static str, &'static str)>,
}

/// One or several columns.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Item {
    /// A column of the store, under its own name.
    Same(&'static str),
    /// A column of the store, under another name.
    As(&'static str, &'static str),
    /// An instant (four columns): its name, the column of raw times.
    Instant(&'static str, &'static str),
    /// `duration_ns`: from `begin` to `end` on the host's clock.
    Duration,
    /// A thread: what its columns begin with, the column of the store. Number, pid, tid, comm.
    Thread(&'static str, &'static str),
    /// A number as a word.
    Word(&'static str, &'static str, fn(u8) -> &'static str),
    /// An error that a call returned, as its name.
    Errno(&'static str, &'static str),
    /// The address of a socket, without its port.
    Address(&'static str, &'static str),
    /// The port of a socket's address.
    Port(&'static str, &'static str),
    /// Those that several tables have.
    All(&'static [Item]),
}

use Item::{Address, All, As, Duration, Errno, Instant, Port, Same, Thread, Word};

/// A span from `begin` to `end`.
const BEGIN: Item = Instant("begin_time", "begin");
const END: Item = Instant("end_time", "end");
const AT: Item = Instant("time", "at");
const WHO: Item = Thread("", "thread");

const SPAN: Option<(&str, &str)> = Some(("begin_time", "end_time"));
const MOMENT: Option<(&str, &str)> = Some(("time", "time"));

/// The life of a descriptor, and what was done with it.
const USED: Item = All(&[
    WHO,
    BEGIN,
    END,
    Duration,
    Same("is_begin_seen"),
    Same("is_end_seen"),
    Same("opened_by"),
    Same("closed_by"),
    Same("is_doubtful"),
    Same("reads"),
    Same("read_bytes"),
    Same("writes"),
    Same("written_bytes"),
    Same("others"),
    Same("errors"),
]);

/// All of them.
pub(crate) const LAYOUTS: &[Layout] = &[
    Layout {
        name: "slices",
        stored: "slices",
        columns: &[Same("cpu"), WHO, Same("priority"), BEGIN, END, Duration],
        only: None,
        times: SPAN,
    },
    Layout {
        name: "unknown_times",
        stored: "unknown",
        columns: &[Same("cpu"), BEGIN, END, Duration],
        only: None,
        times: SPAN,
    },
    Layout {
        name: "syscalls",
        stored: "syscalls",
        columns: &[
            WHO,
            Same("cpu"),
            Same("name"),
            Same("fd"),
            Same("ret"),
            Errno("error", "ret"),
            BEGIN,
            END,
            Duration,
        ],
        only: None,
        times: SPAN,
    },
    Layout {
        name: "half_syscalls",
        stored: "half_syscalls",
        columns: &[WHO, Same("cpu"), Same("name"), Same("fd"), Same("is_begin"), AT],
        only: None,
        times: MOMENT,
    },
    Layout {
        name: "irqs",
        stored: "irqs",
        columns: &[Same("cpu"), As("irq", "number"), Same("name"), Same("ret"), BEGIN, END, Duration],
        only: None,
        times: SPAN,
    },
    Layout {
        name: "softirqs",
        stored: "softirqs",
        columns: &[Same("cpu"), Same("vector"), Instant("raised_time", "raised"), BEGIN, END, Duration],
        only: None,
        times: SPAN,
    },
    Layout {
        name: "wakeups",
        stored: "wakeups",
        columns: &[
            WHO,
            Thread("waker_", "waker"),
            Same("cpu"),
            Same("target_cpu"),
            Word("cause", "cause", cause),
            Same("source"),
            AT,
        ],
        only: None,
        times: MOMENT,
    },
    Layout {
        name: "latencies",
        stored: "latencies",
        columns: &[WHO, Thread("waker_", "waker"), Same("cpu"), Same("priority"), BEGIN, END, Duration],
        only: None,
        times: SPAN,
    },
    Layout {
        name: "off_cpu",
        stored: "off",
        columns: &[WHO, Thread("waker_", "waker"), Word("why", "why", why), BEGIN, END, Duration],
        only: None,
        times: SPAN,
    },
    Layout {
        name: "migrations",
        stored: "migrations",
        columns: &[WHO, Same("to_cpu"), AT],
        only: None,
        times: MOMENT,
    },
    Layout {
        name: "thread_events",
        stored: "thread_events",
        columns: &[WHO, Same("what"), Thread("other_", "other"), Same("name"), AT],
        only: None,
        times: MOMENT,
    },
    Layout {
        name: "polls",
        stored: "polls",
        columns: &[
            WHO,
            As("epoll_fd", "set"),
            Same("waited"),
            Same("waited_count"),
            Same("ready"),
            Same("ready_count"),
            AT,
        ],
        only: None,
        times: MOMENT,
    },
    Layout {
        name: "fds",
        stored: "files",
        columns: &[Same("process"), Same("fd"), Same("kind"), As("path", "name"), USED],
        only: None,
        times: SPAN,
    },
    Layout {
        name: "sockets",
        stored: "files",
        columns: &[
            Same("process"),
            Same("fd"),
            Address("local_address", "local"),
            Port("local_port", "local"),
            Address("peer_address", "peer"),
            Port("peer_port", "peer"),
            USED,
        ],
        only: Some(("kind", "socket")),
        times: SPAN,
    },
    Layout {
        name: "block_requests",
        stored: "block_requests",
        columns: &[
            Same("device"),
            Same("sector"),
            Same("sectors"),
            Same("is_write"),
            WHO,
            Same("bytes"),
            BEGIN,
            END,
            Duration,
            Instant("inserted_time", "inserted"),
            Instant("issued_time", "issued"),
            Instant("completed_time", "completed"),
            Same("error"),
            Same("is_partial"),
        ],
        only: None,
        times: SPAN,
    },
    Layout {
        name: "packets",
        stored: "packets",
        columns: &[Same("cpu"), WHO, Same("device"), Same("bytes"), Same("is_sent"), AT],
        only: None,
        times: MOMENT,
    },
    Layout {
        name: "packet_flows",
        stored: "packet_flows",
        columns: &[
            Same("cpu"),
            Same("is_sent"),
            Same("protocol"),
            Same("source"),
            Same("source_port"),
            Same("destination"),
            Same("destination_port"),
            Same("payload"),
            Same("seq"),
            Same("flags"),
            AT,
        ],
        only: None,
        times: MOMENT,
    },
    Layout {
        name: "pages",
        stored: "pages",
        columns: &[WHO, Same("pages"), Same("is_free"), AT],
        only: None,
        times: MOMENT,
    },
    Layout {
        name: "phases",
        stored: "phases",
        columns: &[WHO, Same("name"), BEGIN, END, Duration],
        only: None,
        times: SPAN,
    },
    Layout {
        name: "losses",
        stored: "losses",
        columns: &[Same("cpu"), Same("what"), Same("count"), BEGIN, END],
        only: None,
        times: SPAN,
    },
];

/// What wakes, in a word.
fn cause(number: u8) -> &'static str {
    // The word is the same whatever the number of its source.
    Cause::of(number, Some(0)).name()
}

/// Why a thread is off the CPUs.
fn why(number: u8) -> &'static str {
    OffCpuReason::of(number).map_or("unknown", OffCpuReason::name)
}

/// The address and the port in the text of a socket's address; not those of sockets that are named by a path.
pub(crate) fn address_and_port(text: &str) -> Option<(&str, u16)> {
    let (address, port) = text.rsplit_once(':')?;
    let address = address.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(address);
    address.parse::<IpAddr>().ok()?;
    Some((address, port.parse().ok()?))
}

/// An address as it is stored, as text: IPv4 where it is mapped.
pub(crate) fn address_text(octets: &[u8]) -> Option<String> {
    let octets: [u8; 16] = octets.try_into().ok()?;
    Some(IpAddr::V6(Ipv6Addr::from(octets)).to_canonical().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let check = |text, expect| assert_eq!(address_and_port(text), expect, "{text}");
        check("10.0.0.1:80", Some(("10.0.0.1", 80)));
        check("[fe80::1]:443", Some(("fe80::1", 443)));
        check("/run/x.sock", None);
        check("/run/x:80", None);
        check("", None);
        assert_eq!(address_text(&[0; 16]).as_deref(), Some("::"));
        let mapped = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 1];
        assert_eq!(address_text(&mapped).as_deref(), Some("10.0.0.1"));
        assert_eq!(address_text(&[1]), None);
    }
}
