//! What a user asks the analyses for.

use isochrone_kernel::ThreadId;
use isochrone_kernel::scratch::Scratch;
use isochrone_time::RawNs;
use serde::{Deserialize, Serialize};
use wildmatch::WildMatch;

use crate::host::{HostContext, ThreadIdentity};

/// All options. The defaults leave nothing out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// Which things count.
    pub filter: Filter,
    /// Maximum number of rows of each table; `None`: all.
    pub limit: Option<usize>,
    /// Maximum number of rows of a table that is sorted by a value, where there is no limit for all; `None`:
    /// all.
    pub top: Option<usize>,
    /// The column by which tables that have it are sorted: see [`crate::Table::sort`].
    pub sort: Option<String>,
    /// CPU time by process instead of by thread.
    pub by_process: bool,
    /// Which interrupts.
    pub interrupts: Interrupts,
    /// Which system calls the log of them has.
    pub calls: Calls,
    /// Maximum number of rows of each distribution.
    pub bars: usize,
    /// How long each step is of what is shown over time, ns; `None`: such that there are some dozens.
    pub every_ns: Option<u64>,
    /// Distributions in rows of equal width, as lttng-analyses has them, instead of rows that grow with the
    /// value. Each different duration is kept then.
    pub linear: bool,
    /// Whether analyses of periods are about periods that definitions describe; else about the phases of
    /// programs.
    pub periods: bool,
    /// Where rows of logs go that are too many for memory.
    #[serde(skip)]
    pub scratch: Scratch,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            filter: Filter::default(),
            limit: None,
            top: None,
            sort: None,
            by_process: false,
            interrupts: Interrupts::default(),
            calls: Calls::default(),
            bars: 20,
            every_ns: None,
            linear: false,
            periods: false,
            scratch: Scratch::default(),
        }
    }
}

impl Options {
    /// The part of them that decides what is kept while a trace is read: all that is not in it decides how
    /// tables are made of that, so that pieces which were mapped with this part alone answer with any options
    /// that have the same part.
    #[must_use]
    pub fn of_mapping(&self) -> Self {
        self.with_tables_of(&Self { scratch: self.scratch.clone(), ..Self::default() })
    }

    /// Options that keep what these do, and make tables as `other` does.
    #[must_use]
    pub fn with_tables_of(&self, other: &Self) -> Self {
        let Self { filter, interrupts, calls, every_ns, linear, periods, .. } = self.clone();
        let Filter { cpus, min_ns, max_ns, min_bytes, max_bytes, .. } = filter;
        let filter = Filter { cpus, min_ns, max_ns, min_bytes, max_bytes, ..other.filter.clone() };
        Self { filter, interrupts, calls, every_ns, linear, periods, ..other.clone() }
    }

    /// Number of rows that are needed of a log, in the order of time; `None`: all. Threads are filtered
    /// while rows are made.
    pub(crate) fn rows_of_log(&self) -> Option<usize> {
        self.limit.filter(|_| self.sort.is_none() && !self.filter.has_threads())
    }

    /// Number of rows that are needed of a table that is sorted by a value; `None`: all.
    pub(crate) fn rows_of_top(&self) -> Option<usize> {
        self.limit.or(self.top).filter(|_| self.sort.is_none())
    }
}

/// Kinds of options that apply to some analyses only; times, hosts and the form of tables apply to all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OptionKind {
    /// [`Filter::tids`], [`Filter::pids`], [`Filter::names`].
    Threads,
    /// [`Filter::cpus`].
    Cpus,
    /// [`Filter::min_ns`], [`Filter::max_ns`].
    Durations,
    /// [`Filter::min_bytes`], [`Filter::max_bytes`].
    Sizes,
    /// [`Filter::fds`].
    Fds,
    /// [`Options::interrupts`].
    Interrupts,
    /// [`Calls::names`].
    Calls,
    /// [`Calls::errors`].
    Errors,
    /// [`Calls::around`].
    Around,
    /// [`Options::by_process`].
    Processes,
    /// [`Options::bars`], [`Options::linear`].
    Distributions,
    /// [`Options::every_ns`].
    Steps,
    /// [`crate::When::at`].
    Instant,
    /// [`Options::periods`]: its rows are periods.
    Periods,
}

/// Which things count. An empty list: all.
///
/// CPUs and durations are looked at when spans come; hosts and threads when tables are made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Filter {
    /// Names of hosts.
    pub hosts: Vec<String>,
    /// Numbers of threads.
    pub tids: Vec<i32>,
    /// Numbers of processes.
    pub pids: Vec<i32>,
    /// Threads and processes of one host each, by number, beside those of [`Self::tids`] and
    /// [`Self::pids`]. Pieces do not have them, as they decide tables alone.
    #[serde(skip)]
    pub of_hosts: OfHosts,
    /// Names of threads, in which `*` stands for anything and `?` for one character.
    pub names: Vec<WildMatch>,
    /// CPUs.
    pub cpus: Vec<u32>,
    /// Numbers of file descriptors: those that `fds` lists.
    pub fds: Vec<i32>,
    /// Shortest call, interrupt or wait, ns. CPU time is not concerned.
    pub min_ns: Option<u64>,
    /// Longest, ns.
    pub max_ns: Option<u64>,
    /// Minimum number of bytes that a call or a request to a disk moves. Calls that move none do not count
    /// where this is given.
    pub min_bytes: Option<u64>,
    /// Maximum number of bytes.
    pub max_bytes: Option<u64>,
}

/// Numbers that mean something on one host: names of hosts, numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OfHosts {
    /// Numbers of threads.
    pub tids: Vec<(String, i32)>,
    /// Numbers of processes.
    pub pids: Vec<(String, i32)>,
}

impl Filter {
    /// Whether a host counts.
    pub fn keeps_host(&self, name: &str) -> bool {
        self.hosts.is_empty() || self.hosts.iter().any(|host| host == name)
    }

    /// Whether a file descriptor of a number counts.
    pub fn keeps_fd(&self, fd: i32) -> bool {
        self.fds.is_empty() || self.fds.contains(&fd)
    }

    /// Whether any threads are left out.
    pub fn has_threads(&self) -> bool {
        let OfHosts { tids, pids } = &self.of_hosts;
        let has_numbers = !self.tids.is_empty() || !self.pids.is_empty();
        has_numbers || !tids.is_empty() || !pids.is_empty() || !self.names.is_empty()
    }

    /// Whether a thread of a host counts, by its number and its process, where they are known, and by one
    /// of its names.
    pub fn keeps_thread<'n>(
        &self,
        host: &str,
        tid: Option<i32>,
        pid: Option<i32>,
        names: impl IntoIterator<Item = &'n str>,
    ) -> bool {
        let is_one = |number: Option<i32>, anywhere: &[i32], of_hosts: &[(String, i32)]| {
            let is_free = anywhere.is_empty() && of_hosts.is_empty();
            let is_of = |number: &i32| of_hosts.iter().any(|(on, of)| of == number && on == host);
            is_free || number.is_some_and(|number| anywhere.contains(&number) || is_of(&number))
        };
        is_one(tid, &self.tids, &self.of_hosts.tids)
            && is_one(pid, &self.pids, &self.of_hosts.pids)
            && (self.names.is_empty()
                || names.into_iter().any(|comm| self.names.iter().any(|name| name.matches(comm))))
    }

    /// Who a thread of a host is, if it counts: by its number, its process and its name, by all of them that
    /// are requested.
    pub fn who<'h>(&self, host: &'h dyn HostContext, thread: ThreadId) -> Option<ThreadIdentity<'h>> {
        Some(ThreadIdentity::of(host, thread)).filter(|who| self.keeps(host, who))
    }

    /// As [`Self::who`], of a time, raw ns: by the name that the thread had then.
    pub fn who_at<'h>(
        &self,
        host: &'h dyn HostContext,
        thread: ThreadId,
        at: RawNs,
    ) -> Option<ThreadIdentity<'h>> {
        Some(ThreadIdentity::at(host, thread, at)).filter(|who| self.keeps(host, who))
    }

    fn keeps(&self, host: &dyn HostContext, who: &ThreadIdentity<'_>) -> bool {
        self.keeps_thread(host.name(), who.tid, who.pid, who.comm.as_deref())
    }
}

/// Which interrupts: all where neither list is given; else those that are in one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Interrupts {
    /// Hardware interrupts; empty: all of them.
    pub hard: Option<Vec<Interrupt<i32>>>,
    /// Softirqs; empty: all of them.
    pub soft: Option<Vec<Interrupt<u32>>>,
}

/// An interrupt as people name it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Interrupt<N> {
    /// By its number, or the vector of a softirq.
    Number(N),
    /// By the name of its handler, or of the softirq (`NET_RX_SOFTIRQ` or `net_rx`), in which `*` stands for
    /// anything and `?` for one character.
    Name(WildMatch),
}

/// Which calls the log has. An empty list: all.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Calls {
    /// Names of calls, `openat`, in which `*` stands for anything and `?` for one character.
    pub names: Vec<WildMatch>,
    /// Errors that they ended in, by their numbers: see [`isochrone_strace::errno_of`].
    pub errors: Vec<u16>,
    /// Whether to show what all CPUs ran when each of them ended. What every CPU ran at any time is kept for
    /// that.
    pub around: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Simple;

    #[test]
    fn threads_by_number_and_name() {
        let check = |tids: &[i32], names: &[&str], expect: &[i32]| {
            let filter = Filter {
                tids: tids.to_vec(),
                names: names.iter().map(|name| WildMatch::new(name)).collect(),
                ..Filter::default()
            };
            let host = Simple::new("h");
            let kept: Vec<i32> = host.threads().iter().filter_map(|&id| filter.who(&host, id)?.tid).collect();
            assert_eq!(kept, expect, "{tids:?} {names:?}");
        };
        // The threads are init (1), worker (2) and worker (3).
        check(&[], &[], &[1, 2, 3]);
        check(&[3, 1, 77], &[], &[1, 3]);
        check(&[], &["work*"], &[2, 3]);
        check(&[], &["work"], &[]);
        check(&[], &["init", "nobody"], &[1]);
        check(&[1, 2], &["worker"], &[2]);
    }
}
