//! Hosts and their clocks: which traces share a time line.
//!
//! Corrections belong to clocks. A clock is known by the uuid in the CTF metadata (LTTng puts the boot id there), so that
//! the kernel and user-space traces of one boot, its rotation archives and its containers share one.

use std::collections::BTreeMap;

use isochrone_ctf::Trace;
use isochrone_ctf::schema::ClockClass;

/// A clock and the traces it stamps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostClock {
    /// The clock's uuid; else the host's name; else the path of the only trace.
    pub id: String,
    /// Name of the host for people, unlike that of any other clock.
    pub host: String,
    /// All names that the traces give the host (containers share their kernel's clock), sorted.
    pub hostnames: Vec<String>,
    /// Unix time of the clock's zero, from the first trace, ns.
    pub offset_ns: i64,
    /// Indices of its traces.
    pub traces: Vec<usize>,
}

/// Identity of the clock that stamps a trace: uuid, else host name, else path. `None` where nothing is stamped, or
/// where streams are stamped by different clocks.
pub fn clock_id(trace: &Trace) -> Option<String> {
    let clock = trace.schema().single_clock()?;
    Some(match (clock.uuid, hostname(trace)) {
        (Some(uuid), _) => uuid.to_string(),
        (None, Some(host)) => host.to_owned(),
        (None, None) => trace.path().display().to_string(),
    })
}

/// The host's name in the trace's environment.
pub fn hostname(trace: &Trace) -> Option<&str> {
    trace.schema().environment_text("hostname").filter(|name| !name.is_empty())
}

/// Unix time of a clock's zero in 64-bit ns; `None` where it does not fit.
pub fn offset_ns(clock: &ClockClass) -> Option<i64> {
    i64::try_from(clock.offset_ns()).ok()
}

/// Groups traces by clock, in the order of their first traces. Traces without a usable clock are left out.
pub fn group<'t>(traces: impl IntoIterator<Item = (usize, &'t Trace)>) -> Vec<HostClock> {
    let mut clocks: Vec<HostClock> = Vec::new();
    for (index, trace) in traces {
        let Some(id) = clock_id(trace) else { continue };
        let Some(offset_ns) = trace.schema().single_clock().and_then(offset_ns) else { continue };
        let name = hostname(trace).map_or_else(|| directory_name(trace), str::to_owned);
        match clocks.iter_mut().find(|c| c.id == id) {
            Some(clock) => {
                clock.traces.push(index);
                clock.hostnames.push(name);
            }
            None => {
                let (host, hostnames) = (name.clone(), vec![name]);
                clocks.push(HostClock { id, host, hostnames, offset_ns, traces: vec![index] });
            }
        }
    }
    for clock in &mut clocks {
        clock.hostnames.sort_unstable();
        clock.hostnames.dedup();
    }
    tell_apart(&mut clocks);
    clocks
}

/// Two boots of a host, or two clones of a machine, have one name and two clocks: they are numbered.
fn tell_apart(clocks: &mut [HostClock]) {
    let mut named: BTreeMap<String, u32> = BTreeMap::new();
    for clock in clocks {
        let count = named.entry(clock.host.clone()).or_default();
        *count += 1;
        if *count > 1 {
            clock.host = format!("{}#{count}", clock.host);
        }
    }
}

fn directory_name(trace: &Trace) -> String {
    let path = trace.path().canonicalize().unwrap_or_else(|_| trace.path().to_owned());
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}
