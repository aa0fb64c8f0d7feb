//! The tables of steps: a row for each step and what it is about.

use std::collections::{BTreeMap, BTreeSet};

use isochrone_kernel::Name;

use super::{AtDisk, CpuTime, Usage};
use crate::analysis::HostResult;
use crate::disk;
use crate::host::ThreadIdentity;
use crate::machine_io::Traffic;
use crate::needs::Need;
use crate::options::Options;
use crate::table::{Cell, Table, Unit, percent};

/// When a step is.
const TIMES: [(&str, Unit); 2] = [("begin_ns", Unit::Time), ("end_ns", Unit::Time)];

/// A table of steps.
fn table(
    name: &'static str,
    title: &'static str,
    about: &[&'static str],
    figures: &[(&'static str, Unit)],
) -> Table {
    let about: Vec<_> =
        std::iter::once("host").chain(about.iter().copied()).map(|name| (name, Unit::None)).collect();
    Table::new(name, title, &[&about, &TIMES[..], figures].concat()).detail()
}

/// The cells of [`TIMES`].
fn times(result: &HostResult<'_, Usage>, step: u32) -> [Cell; 2] {
    let (begin, end) = result.of.steps.instants(step, |raw| result.host.unix_ns(raw));
    [begin.into(), end.into()]
}

/// A step in which a host was traced.
struct Traced {
    step: u32,
    /// How long the host was traced in it, raw ns: the first and the last are cut.
    ns: u64,
    /// Whether nothing is known of any CPU: whatever else happened then is not known, either.
    is_dark: bool,
}

impl Traced {
    /// All of a host.
    fn of(result: &HostResult<'_, Usage>) -> Vec<Self> {
        let mut known: BTreeMap<u32, bool> = BTreeMap::new();
        for (&(_, step), cpu) in &result.of.cpus {
            *known.entry(step).or_default() |= cpu.busy > 0 || cpu.idle > 0;
        }
        // A host whose switches were not recorded may show other things all the same.
        let has_switches = known.values().any(|&is_known| is_known);
        let is_dark = |step| has_switches && known.get(&step).is_some_and(|&is_known| !is_known);
        let ((begin, end), steps) = (result.window, &result.of.steps);
        let mut parts: Vec<(u32, u64)> = steps.parts(begin, end).collect();
        // A step that begins with the last event has nothing else.
        let rest = steps.at(end).filter(|step| parts.last().is_none_or(|(last, _)| last < step));
        parts.extend(rest.map(|step| (step, 0)));
        parts.into_iter().map(|(step, ns)| Self { step, ns, is_dark: is_dark(step) }).collect()
    }

    /// Cells of what is known only where anything is.
    fn cells<const N: usize>(&self, cells: [Cell; N]) -> [Cell; N] {
        if self.is_dark { cells.map(|_| Cell::Null) } else { cells }
    }

    /// How many requests were at a disk at once, on average over the time that was traced.
    fn in_flight(&self, ns: u64) -> Cell {
        (ns as f64 / self.ns.max(1) as f64).into()
    }
}

/// The busy part of all that is to know of a CPU in a step; of CPUs.
fn busy(cpu: &CpuTime) -> Cell {
    percent(cpu.busy.into(), u128::from(cpu.busy) + u128::from(cpu.idle) + u128::from(cpu.unknown))
}

/// All of them, of all hosts.
pub(super) fn tables(hosts: &[HostResult<'_, Usage>], options: &Options) -> [Table; 5] {
    let mut all = [host_table(), cpu_table(), process_table(), disk_table(), interface_table()];
    let [host, cpus, processes, disks, interfaces] = &mut all;
    for result in hosts {
        let traced = Traced::of(result);
        host_rows(result, &traced, host);
        cpu_rows(result, cpus);
        process_rows(result, &traced, options, processes);
        disk_rows(result, &traced, disks);
        interface_rows(result, &traced, interfaces);
    }
    all
}

fn host_table() -> Table {
    const FIGURES: &[(&str, Unit)] = &[
        ("cpu_ns", Unit::Ns),
        ("idle_ns", Unit::Ns),
        ("unknown_ns", Unit::Ns),
        ("percent", Unit::Percent),
        ("read_bytes", Unit::Bytes),
        ("written_bytes", Unit::Bytes),
        ("requests", Unit::Count),
        ("mean_in_flight", Unit::None),
        ("received_bytes", Unit::Bytes),
        ("sent_bytes", Unit::Bytes),
        ("allocated_pages", Unit::Count),
        ("freed_pages", Unit::Count),
        ("net_pages", Unit::Count),
    ];
    table("host", "Hosts over time", &[], FIGURES)
}

/// What all of some things did in each step.
fn by_step<'a, T: Copy + Default + 'a>(
    steps: u32,
    all: impl Iterator<Item = (u32, &'a T)>,
    join: impl Fn(&mut T, T),
) -> Vec<T> {
    let mut sums = vec![T::default(); steps as usize];
    for (step, one) in all {
        if let Some(sum) = sums.get_mut(step as usize) {
            join(sum, *one);
        }
    }
    sums
}

fn host_rows(result: &HostResult<'_, Usage>, traced: &[Traced], table: &mut Table) {
    let of = result.of;
    let steps = of.steps.count();
    let cpus = by_step(steps, of.cpus.iter().map(|((_, step), one)| (*step, one)), CpuTime::absorb);
    let disks = by_step(steps, of.disks.unordered().map(|((_, step), one)| (*step, one)), AtDisk::absorb);
    let traffic = by_step(steps, of.interfaces.iter().map(|((_, step), one)| (*step, one)), Traffic::absorb);
    let memory = of.memory();
    let mut net_pages = 0i128;
    for traced in traced {
        let (step, place) = (traced.step, traced.step as usize);
        let (Some(cpu), Some(disk), Some(traffic)) = (cpus.get(place), disks.get(place), traffic.get(place))
        else {
            continue;
        };
        let (allocated, freed) = memory.get(&step).copied().unwrap_or_default();
        net_pages += i128::from(allocated) - i128::from(freed);
        let requests = disk.complete.reads + disk.complete.writes + disk.complete.flushes;
        let mut cells = vec![result.name()];
        cells.extend(times(result, step));
        cells.extend([cpu.busy.into(), cpu.idle.into(), cpu.unknown.into(), busy(cpu)]);
        let others = [
            result.known(Need::Disks, disk.complete.read_bytes),
            result.known(Need::Disks, disk.complete.written_bytes),
            result.known(Need::Disks, requests),
            result.known(Need::Disks, traced.in_flight(disk.in_flight)),
            result.known(Need::Packets, result.known(Need::Received, traffic.received_bytes)),
            result.known(Need::Packets, result.known(Need::Sent, traffic.sent_bytes)),
            result.known(Need::Pages, allocated),
            result.known(Need::Pages, result.known(Need::Frees, freed)),
            result.known(Need::Pages, result.known(Need::Frees, net_pages)),
        ];
        cells.extend(traced.cells(others));
        table.row(cells);
    }
}

fn cpu_table() -> Table {
    const FIGURES: &[(&str, Unit)] =
        &[("busy_ns", Unit::Ns), ("idle_ns", Unit::Ns), ("unknown_ns", Unit::Ns), ("percent", Unit::Percent)];
    table("cpus", "CPUs over time", &["cpu"], FIGURES)
}

fn cpu_rows(result: &HostResult<'_, Usage>, table: &mut Table) {
    for (&(cpu, step), time) in &result.of.cpus {
        let mut cells = vec![result.name(), cpu.into()];
        cells.extend(times(result, step));
        cells.extend([time.busy.into(), time.idle.into(), time.unknown.into(), busy(time)]);
        table.row(cells);
    }
}

fn process_table() -> Table {
    const FIGURES: &[(&str, Unit)] = &[
        ("cpu_ns", Unit::Ns),
        ("percent", Unit::Percent),
        ("read_bytes", Unit::Bytes),
        ("written_bytes", Unit::Bytes),
        ("disk_read_bytes", Unit::Bytes),
        ("disk_written_bytes", Unit::Bytes),
        ("allocated_pages", Unit::Count),
        ("freed_pages", Unit::Count),
    ];
    table("processes", "Processes over time", &["pid", "comm"], FIGURES)
}

/// Steps in which a process did nothing are left out: most do nothing most of the time.
fn process_rows(result: &HostResult<'_, Usage>, traced: &[Traced], options: &Options, table: &mut Table) {
    let traced: BTreeMap<u32, u64> = traced.iter().map(|it| (it.step, it.ns)).collect();
    for (process, steps) in Usage::processes(result, options) {
        let [pid, _, comm] = ThreadIdentity::of(result.host, process).process_cells();
        for (step, used) in steps {
            let mut cells = vec![result.name(), pid.clone(), comm.clone()];
            cells.extend(times(result, step));
            let share = percent(used.cpu_ns.into(), traced.get(&step).copied().unwrap_or_default().into());
            cells.extend([
                result.known(Need::Switches, used.cpu_ns),
                result.known(Need::Switches, share),
                result.known(Need::Calls, used.read),
                result.known(Need::Calls, used.written),
                result.known(Need::Disks, result.known(Need::Askers, used.disk.read_bytes)),
                result.known(Need::Disks, result.known(Need::Askers, used.disk.written_bytes)),
                result.known(Need::Pages, used.allocated),
                result.known(Need::Pages, result.known(Need::Frees, used.freed)),
            ]);
            table.row(cells);
        }
    }
}

fn disk_table() -> Table {
    const FIGURES: &[(&str, Unit)] = &[
        ("read_bytes", Unit::Bytes),
        ("written_bytes", Unit::Bytes),
        ("requests", Unit::Count),
        ("flushes", Unit::Count),
        ("in_flight_ns", Unit::Ns),
        ("mean_in_flight", Unit::None),
    ];
    table("disks", "Disks over time", &["disk"], FIGURES)
}

fn disk_rows(result: &HostResult<'_, Usage>, traced: &[Traced], table: &mut Table) {
    let devices: BTreeSet<u32> = result.of.disks.unordered().map(|(&(device, _), _)| device).collect();
    for device in devices {
        for traced in traced {
            let at = result.of.disks.get(&(device, traced.step)).copied().unwrap_or_default();
            let mut cells = vec![result.name(), disk::name(result.host, device)];
            cells.extend(times(result, traced.step));
            let figures = [
                at.complete.read_bytes.into(),
                at.complete.written_bytes.into(),
                (at.complete.reads + at.complete.writes).into(),
                at.complete.flushes.into(),
                at.in_flight.into(),
                traced.in_flight(at.in_flight),
            ];
            cells.extend(traced.cells(figures));
            table.row(cells);
        }
    }
}

fn interface_table() -> Table {
    const FIGURES: &[(&str, Unit)] = &[
        ("received_bytes", Unit::Bytes),
        ("sent_bytes", Unit::Bytes),
        ("received_packets", Unit::Count),
        ("sent_packets", Unit::Count),
    ];
    table("interfaces", "Network interfaces over time", &["interface"], FIGURES)
}

fn interface_rows(result: &HostResult<'_, Usage>, traced: &[Traced], table: &mut Table) {
    let names: BTreeSet<&Name> = result.of.interfaces.keys().map(|(name, _)| name).collect();
    for name in names {
        for traced in traced {
            let traffic = result.of.interfaces.get(&(name.clone(), traced.step)).copied().unwrap_or_default();
            let mut cells = vec![result.name(), name.into()];
            cells.extend(times(result, traced.step));
            let figures =
                [traffic.received_bytes, traffic.sent_bytes, traffic.received, traffic.sent].map(Cell::from);
            cells.extend(traced.cells(figures));
            table.row(cells);
        }
    }
}
