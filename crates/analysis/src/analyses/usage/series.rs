//! The tables of steps: a row for each step and what it is about.

use std::collections::{BTreeMap, BTreeSet};

use isochrone_kernel::Name;
use isochrone_time::Window;

use super::{AtDisk, Usage};
use crate::analysis::HostResult;
use crate::cpu_states::CpuTime;
use crate::host::ThreadIdentity;
use crate::machine_io::{Traffic, disk_name};
use crate::needs::Need;
use crate::options::Options;
use crate::output::table::{Cell, Table, Unit, percent};

/// A table of steps: the columns `host`, `about`, and the times of the step.
fn table(name: &'static str, title: &'static str, about: &[&'static str]) -> Table {
    let table = Table::new(name, title, &[("host", Unit::None)]).with_columns(Unit::None, about);
    table.with_columns(Unit::Time, &["begin_ns", "end_ns"]).detail()
}

/// The cells of the times of a step.
fn times(result: &HostResult<'_, Usage>, step: u32) -> [Cell; 2] {
    let step = result.of.steps.instants(step, |raw| result.host.unix(raw));
    [step.start, step.end].map(|at| at.ns().into())
}

/// The cell of page faults in a step: unknown where events may be missing.
fn faults(result: &HostResult<'_, Usage>, step: u32, faults: u64) -> Cell {
    let Window { start, end } = result.of.steps.window(step);
    if result.host.missed().is_between(start, end) {
        return Cell::Unknown;
    }
    result.known(Need::PageFaults, faults)
}

/// A step in which a host was traced.
pub(super) struct Traced {
    pub(super) step: u32,
    /// How long the host was traced in it, raw ns: the first and the last are cut.
    ns: u64,
    /// Whether nothing is known of any CPU: whatever else happened then is not known, either.
    pub(super) is_dark: bool,
}

impl Traced {
    /// All of a host.
    pub(super) fn of(result: &HostResult<'_, Usage>) -> Vec<Self> {
        let mut known: BTreeMap<u32, bool> = BTreeMap::new();
        for (&(_, step), cpu) in &result.of.cpus {
            *known.entry(step).or_default() |= cpu.busy > 0 || cpu.idle > 0;
        }
        // A host whose switches were not recorded may show other things anyway.
        let has_switches = known.values().any(|&is_known| is_known);
        let is_dark = |step| has_switches && known.get(&step).is_some_and(|&is_known| !is_known);
        let (Window { start, end }, steps) = (result.window, &result.of.steps);
        let mut parts: Vec<(u32, u64)> = steps.parts(start, end).collect();
        // A step that begins with the last event has nothing else.
        let rest = steps.at(end).filter(|step| parts.last().is_none_or(|(last, _)| last < step));
        parts.extend(rest.map(|step| (step, 0)));
        parts.into_iter().map(|(step, ns)| Self { step, ns, is_dark: is_dark(step) }).collect()
    }

    /// Cells of what is known only where anything is.
    fn cells<const N: usize>(&self, cells: [Cell; N]) -> [Cell; N] {
        if self.is_dark { cells.map(|_| Cell::Unknown) } else { cells }
    }

    /// Mean number of requests that were at a disk at once, over the time that was traced.
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
    table("host", "Hosts over time", &[])
        .with_columns(Unit::Ns, &["cpu_ns", "idle_ns", "unknown_ns"])
        .with_columns(Unit::Percent, &["percent"])
        .with_columns(Unit::Bytes, &["read_bytes", "written_bytes"])
        .with_columns(Unit::Count, &["requests"])
        .with_columns(Unit::None, &["mean_in_flight"])
        .with_columns(Unit::Bytes, &["received_bytes", "sent_bytes"])
        .with_columns(Unit::Count, &["allocated_pages", "freed_pages", "net_pages", "page_faults"])
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
    let threads = of.all_threads();
    let mut net_pages = 0i128;
    for traced in traced {
        let (step, index) = (traced.step, traced.step as usize);
        let (Some(cpu), Some(disk), Some(traffic)) = (cpus.get(index), disks.get(index), traffic.get(index))
        else {
            continue;
        };
        let used = threads.get(&step).copied().unwrap_or_default();
        let (allocated, freed) = (used.allocated, used.freed);
        net_pages += i128::from(allocated) - i128::from(freed);
        let requests = disk.complete.reads + disk.complete.writes + disk.complete.flushes;
        let row =
            result.row().cells(times(result, step)).cells([cpu.busy, cpu.idle, cpu.unknown]).cell(busy(cpu));
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
        table.add(row.cells(traced.cells(others)).cells(traced.cells([faults(result, step, used.faults)])));
    }
}

fn cpu_table() -> Table {
    table("cpus", "CPUs over time", &["cpu"])
        .with_columns(Unit::Ns, &["busy_ns", "idle_ns", "unknown_ns"])
        .with_columns(Unit::Percent, &["percent"])
}

fn cpu_rows(result: &HostResult<'_, Usage>, table: &mut Table) {
    for (&(cpu, step), time) in &result.of.cpus {
        let row = result.row().cell(cpu).cells(times(result, step));
        table.add(row.cells([time.busy, time.idle, time.unknown]).cell(busy(time)));
    }
}

fn process_table() -> Table {
    table("processes", "Processes over time", &["pid", "comm"])
        .with_columns(Unit::Ns, &["cpu_ns"])
        .with_columns(Unit::Percent, &["percent"])
        .with_columns(Unit::Bytes, &["read_bytes", "written_bytes", "disk_read_bytes", "disk_written_bytes"])
        .with_columns(Unit::Count, &["allocated_pages", "freed_pages", "page_faults"])
}

/// Steps in which a process did nothing are left out: most do nothing most of the time.
fn process_rows(result: &HostResult<'_, Usage>, traced: &[Traced], options: &Options, table: &mut Table) {
    let traced: BTreeMap<u32, u64> = traced.iter().map(|it| (it.step, it.ns)).collect();
    for (process, steps) in Usage::processes(result, options) {
        let [pid, _, comm] = ThreadIdentity::of(result.host, process).process_cells();
        for (step, used) in steps {
            let row = result.row().cells([pid.clone(), comm.clone()]).cells(times(result, step));
            let share = percent(used.cpu_ns.into(), traced.get(&step).copied().unwrap_or_default().into());
            let row = row.cells([
                result.known(Need::Switches, used.cpu_ns),
                result.known(Need::Switches, share),
                result.known(Need::Calls, used.read),
                result.known(Need::Calls, used.written),
                result.known(Need::Disks, result.known(Need::Askers, used.disk.read_bytes)),
                result.known(Need::Disks, result.known(Need::Askers, used.disk.written_bytes)),
                result.known(Need::Pages, used.allocated),
                result.known(Need::Pages, result.known(Need::Frees, used.freed)),
            ]);
            table.add(row.cell(faults(result, step, used.faults)));
        }
    }
}

fn disk_table() -> Table {
    table("disks", "Disks over time", &["disk"])
        .with_columns(Unit::Bytes, &["read_bytes", "written_bytes"])
        .with_columns(Unit::Count, &["requests", "flushes"])
        .with_columns(Unit::Ns, &["in_flight_ns"])
        .with_columns(Unit::None, &["mean_in_flight"])
}

fn disk_rows(result: &HostResult<'_, Usage>, traced: &[Traced], table: &mut Table) {
    let devices: BTreeSet<u32> = result.of.disks.unordered().map(|(&(device, _), _)| device).collect();
    for device in devices {
        for traced in traced {
            let at = result.of.disks.get(&(device, traced.step)).copied().unwrap_or_default();
            let row = result.row().cell(disk_name(result.host, device)).cells(times(result, traced.step));
            let figures = [
                at.complete.read_bytes.into(),
                at.complete.written_bytes.into(),
                (at.complete.reads + at.complete.writes).into(),
                at.complete.flushes.into(),
                at.in_flight.into(),
                traced.in_flight(at.in_flight),
            ];
            table.add(row.cells(traced.cells(figures)));
        }
    }
}

fn interface_table() -> Table {
    table("interfaces", "Network interfaces over time", &["interface"])
        .with_columns(Unit::Bytes, &["received_bytes", "sent_bytes"])
        .with_columns(Unit::Count, &["received_packets", "sent_packets"])
}

fn interface_rows(result: &HostResult<'_, Usage>, traced: &[Traced], table: &mut Table) {
    let names: BTreeSet<&Name> = result.of.interfaces.keys().map(|(name, _)| name).collect();
    for name in names {
        for traced in traced {
            let traffic = result.of.interfaces.get(&(name.clone(), traced.step)).copied().unwrap_or_default();
            let row = result.row().cell(name).cells(times(result, traced.step));
            let figures =
                [traffic.received_bytes, traffic.sent_bytes, traffic.received, traffic.sent].map(Cell::from);
            table.add(row.cells(traced.cells(figures)));
        }
    }
}
