//! Hosts and their clocks: which traces share a time line, and what a user may call it.
//!
//! Corrections belong to clocks. A clock is known by the uuid in the CTF metadata (LTTng puts the boot id
//! there), so that the kernel and user-space traces of one boot, its rotation archives and its containers
//! share one. Captures are stamped by the wall clock: each has a clock of its own.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use isochrone_ctf::schema::ClockClass;
use isochrone_ctf::{Packet, Trace};

/// Offsets of one clock that differ by more than this show that the wall clock was set: LTTng samples the
/// offset again for each domain, which differs by some microseconds.
pub const OFFSET_STEP_NS: i64 = 100_000;

/// A clock and the traces or captures it stamps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostClock {
    /// The clock's uuid; else the host's name; else the path of the only trace. Unlike that of any other
    /// clock.
    pub id: String,
    /// Name of the host for people, unlike that of any other clock.
    pub host: String,
    /// All names that the traces give the host (containers share their kernel's clock), sorted.
    pub hostnames: Vec<String>,
    /// Unix time of the clock's zero, from the earliest trace, ns.
    pub offset_ns: i64,
    /// Indices of its traces, the earliest first.
    pub traces: Vec<usize>,
    /// Indices of its captures.
    pub captures: Vec<usize>,
    /// Whether `id` is the clock's uuid.
    pub has_uuid: bool,
}

/// Uuid of the clock that stamps a trace, or what CTF 2 has in its position. `None` where the clock has
/// neither, nothing is stamped, or several clocks are used.
pub fn clock_uuid(trace: &Trace) -> Option<String> {
    trace.schema().single_clock()?.identity()
}

/// The host's name in the trace's environment.
pub fn hostname(trace: &Trace) -> Option<&str> {
    trace.schema().environment_text("hostname").filter(|name| !name.is_empty())
}

/// Whether the kernel's tracer wrote a trace.
pub fn is_of_kernel(trace: &Trace) -> bool {
    trace.schema().environment_text("domain") == Some("kernel")
}

/// Unix time of a clock's zero in 64-bit ns; `None` where it does not fit.
pub fn offset_ns(clock: &ClockClass) -> Option<i64> {
    i64::try_from(clock.offset_ns()).ok()
}

/// Whether two offsets can be samples of one clock's.
pub fn same_offset(a: i64, b: i64) -> bool {
    (i128::from(a) - i128::from(b)).abs() <= i128::from(OFFSET_STEP_NS)
}

/// What stands for the host's name where a trace does not record it: its directory.
pub fn name_or_directory(trace: &Trace) -> String {
    hostname(trace).map_or_else(|| directory_name(trace), str::to_owned)
}

/// Groups traces by clock, clocks by host name. Traces without a usable clock are left out. The result does
/// not depend on the order of the traces.
///
/// Without a uuid, traces of one host name share a clock only if they agree on its offset: two boots do not.
/// Two kernel traces of different host names are of two hosts, even on one clock: synchronized copies share
/// that of their reference, and machines that were resumed from one snapshot share a boot id.
pub fn group(traces: &[&Trace]) -> Vec<HostClock> {
    let mut order: Vec<usize> = (0..traces.len()).collect();
    order.sort_by_cached_key(|&index| (first_ns(traces[index]), traces[index].path()));
    let mut clocks: Vec<HostClock> = Vec::new();
    // By id, and whether it is a uuid: indices of clocks.
    let mut known: HashMap<(String, bool), Vec<usize>> = HashMap::new();
    for index in order {
        let trace = traces[index];
        let Some(offset_ns) = trace.schema().single_clock().and_then(offset_ns) else { continue };
        let name = name_or_directory(trace);
        let uuid = clock_uuid(trace);
        let has_uuid = uuid.is_some();
        let id = uuid.unwrap_or_else(|| name.clone());
        let known = known.entry((id.clone(), has_uuid)).or_default();
        let same = |&&clock: &&usize| has_uuid || same_offset(clocks[clock].offset_ns, offset_ns);
        if let Some(&clock) = known.iter().find(same) {
            clocks[clock].traces.push(index);
            clocks[clock].hostnames.push(name);
        } else {
            known.push(clocks.len());
            let (host, hostnames) = (String::new(), vec![name]);
            clocks.push(HostClock {
                id,
                host,
                hostnames,
                offset_ns,
                traces: vec![index],
                captures: Vec::new(),
                has_uuid,
            });
        }
    }
    let mut clocks: Vec<HostClock> = clocks.into_iter().flat_map(|clock| by_kernel(clock, traces)).collect();
    for clock in &mut clocks {
        clock.host = host_name(clock, traces);
        clock.hostnames.sort_unstable();
        clock.hostnames.dedup();
    }
    clocks.sort_by(|a, b| (&a.host, a.offset_ns, &a.id).cmp(&(&b.host, b.offset_ns, &b.id)));
    disambiguate(&mut clocks, |clock| &mut clock.host);
    disambiguate(&mut clocks, |clock| &mut clock.id);
    clocks.sort_by(|a, b| a.host.cmp(&b.host));
    clocks
}

/// The hosts that share a clock: one for each name in kernel traces. A trace of user space belongs to the
/// host of its name; of a container it is unknown on which of several hosts it ran, and it is one of its own.
fn by_kernel(clock: HostClock, traces: &[&Trace]) -> Vec<HostClock> {
    let name = |index: usize| name_or_directory(traces[index]);
    let kernels: BTreeSet<String> =
        clock.traces.iter().filter(|&&index| is_of_kernel(traces[index])).map(|&index| name(index)).collect();
    if kernels.len() < 2 {
        return vec![clock];
    }
    let mut hosts: BTreeMap<String, HostClock> = BTreeMap::new();
    for &index in &clock.traces {
        let name = name(index);
        let host = hosts.entry(name.clone()).or_insert_with(|| HostClock {
            id: shared_id(&clock.id, &name),
            hostnames: vec![name],
            traces: Vec::new(),
            offset_ns: traces[index].schema().single_clock().and_then(offset_ns).unwrap_or(clock.offset_ns),
            ..clock.clone()
        });
        host.traces.push(index);
    }
    hosts.into_values().collect()
}

/// What the clock of a host is known by that has its uuid in common with that of another host.
fn shared_id(uuid: &str, host: &str) -> String {
    format!("{uuid}@{host}")
}

/// Whether a trace is of the clock with an id and an offset that stamps the traces of hosts of these names.
/// The kernel of another host that has the same uuid is of it only if it has the same offset, as synchronized
/// copies have.
pub fn is_clock_of(id: &str, hostnames: &[String], offset: i64, trace: &Trace) -> bool {
    let Some(uuid) = clock_uuid(trace) else { return false };
    let own = trace.schema().single_clock().and_then(offset_ns);
    let is_other = is_of_kernel(trace)
        && !own.is_some_and(|own| same_offset(own, offset))
        && hostname(trace).is_some_and(|name| hostnames.iter().all(|known| known != name));
    id == shared_id(&uuid, &name_or_directory(trace)) || id == uuid && !is_other
}

impl HostClock {
    /// A clock that counts from the epoch and is known by the host's name alone.
    pub fn named(host: String, captures: Vec<usize>) -> Self {
        let (id, hostnames) = (host.clone(), vec![host.clone()]);
        Self { id, host, hostnames, offset_ns: 0, traces: Vec::new(), captures, has_uuid: false }
    }
}

/// When a trace begins on its own clock, raw ns; a trace without packets begins last.
fn first_ns(trace: &Trace) -> i128 {
    let begin = trace.streams().iter().flat_map(|s| &s.packets).filter_map(Packet::begin).min();
    begin.zip(trace.schema().single_clock()).map_or(i128::MAX, |(begin, clock)| clock.raw_ns(begin))
}

/// Of several names the one in a kernel trace: containers have their own only in user-space traces.
fn host_name(clock: &HostClock, traces: &[&Trace]) -> String {
    let in_kernel = |&&index: &&usize| is_of_kernel(traces[index]);
    let of_kernel =
        clock.traces.iter().filter(in_kernel).map(|&index| name_or_directory(traces[index])).min();
    of_kernel.or_else(|| clock.hostnames.iter().min().cloned()).unwrap_or_default()
}

/// Two boots of a host, or two clones of a machine, have one name and two clocks: they are numbered, in the
/// order in which they come.
pub fn disambiguate<C>(clocks: &mut [C], name: impl Fn(&mut C) -> &mut String) {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for clock in clocks {
        let name = name(clock);
        let plain = name.clone();
        let mut count = 1;
        while !taken.insert(name.clone()) {
            count += 1;
            *name = format!("{plain}#{count}");
        }
    }
}

/// Finds the clock a user means among `(host, id, hostnames)`: by the host's name or the clock's id, else by
/// one of the names in its traces.
pub fn find<'c>(
    clocks: impl Iterator<Item = (&'c str, &'c str, &'c [String])> + Clone,
    name: &str,
) -> Option<usize> {
    clocks.clone().position(|(host, id, _)| host == name || id == name).or_else(|| {
        clocks.into_iter().position(|(_, _, hostnames)| hostnames.iter().any(|host| host == name))
    })
}

fn directory_name(trace: &Trace) -> String {
    let path = trace.path().canonicalize().unwrap_or_else(|_| trace.path().to_owned());
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}
