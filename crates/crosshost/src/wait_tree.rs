//! The report `blocking --tree`: the waits of processes, below each what the thread that ended it did
//! meanwhile, and below its waits in turn what ended these; over hosts, like waits added up.
//!
//! What is below a wait is the states of the thread that ended it, in the time of the wait on the common
//! clock: they add up to the wait.

use std::collections::BTreeMap;

use isochrone_analysis::{Cell, Report, Table, Unit, VERSION, Visibility};
use isochrone_kernel::Name;
use isochrone_store::{Cause, State, StateRow, StoreError};
use isochrone_time::{UnixNs, Window};

use crate::cluster::Cluster;
use crate::path::ThreadRef;
use crate::timeline::ClusterWindow;
use crate::waits::{Wait, explained, waits_of_parts};

/// Waits inside waits that are followed.
const MAX_DEPTH: usize = 12;
/// What is less than this part of the waits of its process is shown as one row, and nothing below it ...
const LEAST: i64 = 100;
/// ... unless it is more than this part of what it is below.
const OF_ABOVE: i64 = 20;

/// A process: index of its host, and pid.
type Process = (usize, Option<i32>);

/// What a thread of a process did, or waited for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Did {
    who: Process,
    /// `None`: it did not exist yet.
    cause: Option<Cause>,
    call: Option<Name>,
    /// The file of the descriptor, or what is at the address of a page fault.
    file: Option<String>,
    /// Whose thread ended the wait.
    ended_by: Option<Process>,
}

/// Like times, added up.
#[derive(Debug, Default)]
struct Node {
    count: u64,
    total: i64,
    longest: i64,
    below: BTreeMap<Did, Node>,
}

impl Node {
    fn add(&mut self, ns: i64) {
        self.count += 1;
        self.total += ns;
        self.longest = self.longest.max(ns);
    }
}

/// The table `tree` of the waits that end in a window, Unix ns, of threads that `is_asked` says. Linear in
/// the spans of the window for each thread whose waits are followed and each level.
///
/// # Errors
/// The store cannot be read.
pub fn wait_tree(
    cluster: &Cluster<'_>,
    window: Option<Window<UnixNs>>,
    is_asked: impl Fn(ThreadRef) -> bool,
    is_synchronized: bool,
) -> Result<Report, StoreError> {
    let whole = cluster.window(window);
    let roots = roots(cluster, whole, is_asked)?;
    Ok(Report {
        analysis: "blocking",
        version: VERSION,
        sync: is_synchronized,
        range: Some([whole.start, whole.end]),
        tables: vec![table(cluster, roots)],
        notes: Vec::new(),
    })
}

/// The waits of [`wait_tree`] as stacks: for each like wait, the time, ns, that is not in a longer stack. A
/// stack begins with the host and the program that waited; each further frame is what it waited for, or what
/// the program that ended the wait did meanwhile. Processes of one program are one.
///
/// # Errors
/// The store cannot be read.
pub fn wait_stacks(
    cluster: &Cluster<'_>,
    window: Option<Window<UnixNs>>,
    is_asked: impl Fn(ThreadRef) -> bool,
    mut with: impl FnMut(&[String], u64),
) -> Result<(), StoreError> {
    let whole = cluster.window(window);
    let roots = roots(cluster, whole, is_asked)?;
    for (who, node) in &roots {
        stacks(cluster, node, &mut vec![program(cluster, *who)], &mut with);
    }
    Ok(())
}

fn stacks(
    cluster: &Cluster<'_>,
    node: &Node,
    stack: &mut Vec<String>,
    with: &mut impl FnMut(&[String], u64),
) {
    let above: i64 = node.below.values().map(|it| it.total).sum();
    if let Ok(own @ 1..) = u64::try_from(node.total - above) {
        with(stack, own);
    }
    for (did, below) in &node.below {
        let who = if stack.len() > 1 { format!("{}: ", program(cluster, did.who)) } else { String::new() };
        stack.push(format!("{who}{}", without_numbers(&what(did))));
        stacks(cluster, below, stack, with);
        stack.pop();
    }
}

/// The waits of each process.
fn roots(
    cluster: &Cluster<'_>,
    whole: Window<UnixNs>,
    is_asked: impl Fn(ThreadRef) -> bool,
) -> Result<BTreeMap<Process, Node>, StoreError> {
    let mut roots: BTreeMap<Process, Node> = BTreeMap::new();
    waits_of_parts(cluster, whole, is_asked, |loaded, since, wait| {
        let span = Window::new(
            cluster.hosts[wait.who.host].common(wait.start),
            cluster.hosts[wait.who.host].common(wait.end),
        );
        let root = roots.entry(process(cluster, wait.who)).or_default();
        root.add(span.end.saturating_since(span.start));
        // A long wait starts before the part of the spans that is in memory.
        if wait.ended_by.is_some() && span.start < since {
            let longer = ClusterWindow::load(cluster, span)?;
            add(&longer, wait, span, root, 1);
        } else {
            add(loaded, wait, span, root, 1);
        }
        Ok(())
    })?;
    Ok(roots)
}

fn process(cluster: &Cluster<'_>, who: ThreadRef) -> Process {
    (who.host, cluster.hosts[who.host].pid(who.thread))
}

/// Adds a wait, of which a span on the common clock counts, below a node.
fn add(loaded: &ClusterWindow<'_, '_>, wait: &Wait, span: Window<UnixNs>, to: &mut Node, depth: usize) {
    let cluster = loaded.cluster;
    let host = &cluster.hosts[wait.who.host];
    let pid = host.pid(wait.who.thread);
    let memory = || Some(host.fault(wait.who.thread, wait.start)?.memory.as_str());
    let file = wait.fd.zip(pid).and_then(|(fd, pid)| host.name_of(pid, fd, wait.start));
    let file = file.or(wait.through.object.name()).or_else(memory);
    let did = Did {
        who: (wait.who.host, pid),
        cause: Some(wait.cause),
        call: wait.call.clone(),
        file: file.map(str::to_owned),
        ended_by: wait.ended_by.map(|by| process(cluster, by)),
    };
    let node = to.below.entry(did).or_default();
    node.add(span.end.saturating_since(span.start));
    let Some(by) = wait.ended_by.filter(|_| depth < MAX_DEPTH) else { return };
    if cluster.are_comparable(wait.who.host, by.host) {
        meanwhile(loaded, by, span, node, depth + 1);
    }
}

/// Adds what a thread did in a span of the common clock.
fn meanwhile(
    loaded: &ClusterWindow<'_, '_>,
    who: ThreadRef,
    span: Window<UnixNs>,
    to: &mut Node,
    depth: usize,
) {
    let host = &loaded.cluster.hosts[who.host];
    let states = loaded.timelines[who.host].states(who.thread);
    let first = states.partition_point(|row| host.common(row.end) <= span.start);
    let mut at = span.start;
    if let Some(forked) =
        host.thread(who.thread).filter(|it| it.is_start_seen).map(|it| host.common(it.start))
        && at < forked
    {
        let end = forked.min(span.end);
        put(loaded, who, None, Window::new(at, end), to);
        at = end;
    }
    for row in &states[first..] {
        let start = host.common(row.start).max(at);
        let end = host.common(row.end).min(span.end);
        if start >= span.end {
            break;
        }
        unknown(loaded, who, Window::new(at, start), to);
        let part = Window::new(start, end.max(start));
        at = part.end;
        if row.state == State::Blocked {
            add(loaded, &explained(loaded, who, row), part, to, depth);
        } else {
            state(loaded, who, row, part, to);
        }
    }
    unknown(loaded, who, Window::new(at, span.end), to);
}

/// Adds a state that is no wait for anything but a CPU.
fn state(
    loaded: &ClusterWindow<'_, '_>,
    who: ThreadRef,
    row: &StateRow,
    part: Window<UnixNs>,
    to: &mut Node,
) {
    let cause = match row.state {
        State::WaitCpu | State::WaitFork => Cause::WaitCpu,
        State::Interrupted => Cause::Irq,
        state if state.is_on_cpu() => Cause::Cpu,
        _ => Cause::Unknown,
    };
    put(loaded, who, Some(cause), part, to);
}

fn unknown(loaded: &ClusterWindow<'_, '_>, who: ThreadRef, part: Window<UnixNs>, to: &mut Node) {
    put(loaded, who, Some(Cause::Unknown), part, to);
}

fn put(
    loaded: &ClusterWindow<'_, '_>,
    who: ThreadRef,
    cause: Option<Cause>,
    part: Window<UnixNs>,
    to: &mut Node,
) {
    let ns = part.end.saturating_since(part.start);
    if ns > 0 {
        let who = process(loaded.cluster, who);
        let did = Did { who, cause, call: None, file: None, ended_by: None };
        to.below.entry(did).or_default().add(ns);
    }
}

fn table(cluster: &Cluster<'_>, roots: BTreeMap<Process, Node>) -> Table {
    let mut table = Table::new("tree", "What processes waited for, and what ended that did meanwhile", &[])
        .with_columns(Unit::None, &["what"])
        .with_columns(Unit::Count, &["count"])
        .with_columns(Unit::Ns, &["total_ns", "max_ns"])
        .with_columns(Unit::None, &["depth", "host", "pid", "comm", "cause", "syscall", "file", "ended_by"])
        .show(&["depth", "host", "pid", "comm", "cause", "syscall", "file", "ended_by"], Visibility::Hidden);
    let mut roots: Vec<_> = roots.into_iter().collect();
    roots.sort_by(|a, b| b.1.total.cmp(&a.1.total).then_with(|| a.0.cmp(&b.0)));
    for (who, node) in roots {
        row(cluster, &mut table, &node, &shown(cluster, who), (0, Some(who), None));
        rows(cluster, &mut table, &node, node.total / LEAST, 1);
    }
    table
}

/// The rows below a node; `least`: the time, ns, of what is followed.
fn rows(cluster: &Cluster<'_>, table: &mut Table, node: &Node, least: i64, depth: usize) {
    let mut below: Vec<_> = node.below.iter().collect();
    below.sort_by(|a, b| b.1.total.cmp(&a.1.total).then_with(|| a.0.cmp(b.0)));
    let is_shown = |it: &Node| it.total >= least || it.total.saturating_mul(OF_ABOVE) >= node.total;
    let (large, small): (Vec<_>, Vec<_>) = below.into_iter().partition(|(_, it)| is_shown(it));
    for (did, below) in large {
        row(cluster, table, below, &words(cluster, did, depth), (depth, Some(did.who), Some(did)));
        if below.total >= least {
            rows(cluster, table, below, least, depth + 1);
        }
    }
    let mut others = Node::default();
    for (_, it) in &small {
        others.count += it.count;
        others.total += it.total;
        others.longest = others.longest.max(it.longest);
    }
    if !small.is_empty() {
        row(cluster, table, &others, &format!("{} others", small.len()), (depth, None, None));
    }
}

fn row(
    cluster: &Cluster<'_>,
    table: &mut Table,
    node: &Node,
    words: &str,
    (depth, who, did): (usize, Option<Process>, Option<&Did>),
) {
    let none = || Cell::NotApplicable;
    let text = |text: Option<&str>| text.map_or_else(none, Cell::text);
    let comm = who.and_then(|(host, pid)| cluster.comm_of_process(host, pid?));
    table.row(vec![
        Cell::text(&format!("{:indent$}{words}", "", indent = 2 * depth)),
        node.count.into(),
        node.total.into(),
        node.longest.into(),
        (depth as u64).into(),
        who.map_or_else(none, |(host, _)| cluster.host_cell(Some(host))),
        who.map_or_else(none, |(_, pid)| pid.into()),
        who.map_or_else(none, |_| comm.map_or(Cell::Unknown, Cell::text)),
        text(did.and_then(|did| did.cause).map(Cause::name)),
        text(did.and_then(|did| did.call.as_deref())),
        text(did.and_then(|did| did.file.as_deref())),
        text(did.and_then(|did| Some(shown(cluster, did.ended_by?))).as_deref()),
    ]);
}

/// The host and the program of a process.
fn program(cluster: &Cluster<'_>, (host, pid): Process) -> String {
    let comm = pid.and_then(|pid| cluster.comm_of_process(host, pid)).unwrap_or("?");
    format!("{} {comm}", cluster.host_name(host))
}

/// A process as people write it.
fn shown(cluster: &Cluster<'_>, (host, pid): Process) -> String {
    let number = pid.map_or_else(|| "?".to_owned(), |pid| pid.to_string());
    format!("{} {number}", program(cluster, (host, pid)))
}

fn words(cluster: &Cluster<'_>, did: &Did, depth: usize) -> String {
    // The first level is of the process in the row above.
    let mut text = if depth > 1 { format!("{}: ", shown(cluster, did.who)) } else { String::new() };
    text += &what(did);
    if let Some(by) = did.ended_by {
        text += &format!(", ended by {}", shown(cluster, by));
    }
    text
}

/// What a thread did, in words.
fn what(did: &Did) -> String {
    let mut text = did.cause.map_or("not started yet", Cause::name).to_owned();
    if let Some(call) = &did.call {
        text += &format!(" in {call}");
    }
    if let Some(file) = &did.file {
        text += &format!(" ({file})");
    }
    text
}

/// First port of those that systems give to the clients of connections.
const FIRST_OF_CLIENTS: u16 = 32_768;

/// A text with `*` for the ports of clients and the numbers of sockets and pipes, which are others for each
/// connection: waits for like connections are one.
fn without_numbers(text: &str) -> String {
    let word = |word: &str| {
        let end = word.trim_end_matches(')').len();
        let (bare, rest) = word.split_at(end);
        let is_number = |digits: &str| digits.parse::<u64>().is_ok();
        match (bare.rsplit_once(':'), bare.split_once(":[")) {
            (_, Some((kind @ ("socket" | "pipe" | "(socket" | "(pipe"), number)))
                if number.strip_suffix(']').is_some_and(is_number) =>
            {
                format!("{kind}:[*]{rest}")
            }
            (Some((address, port)), _)
                if address.trim_matches(['(', '[', ']']).parse::<std::net::IpAddr>().is_ok()
                    && port.parse().is_ok_and(|port: u16| port >= FIRST_OF_CLIENTS) =>
            {
                format!("{address}:*{rest}")
            }
            _ => word.to_owned(),
        }
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_connections_are_left_out() {
        let check = |text: &str, expect: &str| assert_eq!(without_numbers(text), expect);
        check(
            "network in connect (AF_INET SOCK_STREAM 10.0.0.1:35954 → 10.0.0.2:8080)",
            "network in connect (AF_INET SOCK_STREAM 10.0.0.1:* → 10.0.0.2:8080)",
        );
        check(
            "socket in read ([fd00::1]:40000 → [fd00::2]:80)",
            "socket in read ([fd00::1]:* → [fd00::2]:80)",
        );
        check("pipe in read (pipe:[4711])", "pipe in read (pipe:[*])");
        check("disk in read (/data/a.1:50000)", "disk in read (/data/a.1:50000)");
        check("wait-cpu", "wait-cpu");
    }
}
