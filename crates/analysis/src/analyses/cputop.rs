//! `cputop`: CPU time by thread or by process, by CPU, and of the host.
//!
//! Idle tasks are no threads here: their time is the CPU's idle time. Time in which it is unknown what a CPU
//! did (before its first switch, in a loss) is neither busy nor idle; a thread that was seen to leave the CPU
//! at its end ran for some of it.

use std::collections::{BTreeMap, BTreeSet};

use isochrone_kernel::{CanonicalMap, Migration, Slice, SpanKind, Spans, ThreadAliases, ThreadId, Unknown};
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, HostResult};
use crate::cpu_states::CpuTime;
use crate::figures::stats::duration;
use crate::needs::Need;
use crate::options::{OptionKind, Options};
use crate::output::note::Note;
use crate::output::table::{Cell, Table, Unit, percent};
use crate::window::When;

/// CPU time of a host's threads and CPUs.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct CpuTop {
    threads: CanonicalMap<ThreadId, Thread>,
    cpus: BTreeMap<u32, CpuTime>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Thread {
    cpu_ns: u64,
    unknown_ns: u64,
    migrations: u64,
    /// Those that it was switched to with.
    priorities: BTreeSet<i32>,
}

impl Thread {
    fn absorb(&mut self, mut other: Self) {
        self.cpu_ns = self.cpu_ns.saturating_add(other.cpu_ns);
        self.unknown_ns = self.unknown_ns.saturating_add(other.unknown_ns);
        self.migrations += other.migrations;
        self.priorities.append(&mut other.priorities);
    }
}

impl Spans for CpuTop {
    fn slice(&mut self, slice: &Slice) {
        let ns = duration(slice.begin, slice.end);
        let mut cpu = CpuTime::default();
        if slice.thread.is_idle() {
            cpu.idle = ns;
        } else {
            cpu.busy = ns;
            let thread = self.threads.or_default(slice.thread);
            thread.cpu_ns = thread.cpu_ns.saturating_add(ns);
            thread.priorities.extend(slice.priority);
        }
        self.cpus.entry(slice.cpu).or_default().absorb(cpu);
    }

    fn unknown(&mut self, unknown: &Unknown) {
        let ns = duration(unknown.begin, unknown.end);
        let cpu = CpuTime { unknown: ns, ..CpuTime::default() };
        self.cpus.entry(unknown.cpu).or_default().absorb(cpu);
        if let Some(thread) = unknown.thread {
            let thread = self.threads.or_default(thread);
            thread.unknown_ns = thread.unknown_ns.saturating_add(ns);
        }
    }

    fn migration(&mut self, migration: &Migration) {
        self.threads.or_default(migration.thread).migrations += 1;
    }

    fn rename(&mut self, aliases: &ThreadAliases) {
        self.threads.rekey(|&thread| aliases.of(thread), Thread::absorb);
    }

    fn absorb(&mut self, right: Self) {
        self.threads.absorb(right.threads, Thread::absorb);
        for (cpu, right) in right.cpus {
            self.cpus.entry(cpu).or_default().absorb(right);
        }
    }
}

impl Analysis for CpuTop {
    const STORED: &'static [SpanKind] = &[SpanKind::Slice, SpanKind::Unknown, SpanKind::Migration];
    const ACCEPTS: &'static [OptionKind] = &[OptionKind::Threads, OptionKind::Cpus, OptionKind::Processes];
    const NEEDS: &'static [Need] = &[Need::Switches];

    fn new(_: &Options, _: When) -> Self {
        Self::default()
    }

    fn tables(hosts: &[HostResult<'_, Self>], options: &Options) -> Vec<Table> {
        vec![processes(hosts, options), cpus(hosts), total(hosts)]
    }

    fn notes(hosts: &[HostResult<'_, Self>]) -> Vec<Note> {
        let unknown = hosts.iter().filter_map(|result| {
            let unknown = result.of.cpus.values().fold(0, |sum: u64, cpu| sum.saturating_add(cpu.unknown));
            (unknown > 0).then(|| (result.host.name(), unknown))
        });
        let mut note = Note::default().text("what CPUs did is not known for ");
        let mut is_first = true;
        for (host, unknown) in unknown {
            let comma = if std::mem::take(&mut is_first) { "" } else { ", " };
            note = note.text(comma).ns(unknown).text(&format!(" on {host}"));
        }
        match is_first {
            true => Vec::new(),
            false => {
                vec![note.text(": neither busy nor idle time (before the first switch, or events were lost)")]
            }
        }
    }
}

fn processes(hosts: &[HostResult<'_, CpuTop>], options: &Options) -> Table {
    let title = if options.by_process { "Per-process usage" } else { "Per-TID usage" };
    let mut table = Table::new("processes", title, &[])
        .with_columns(Unit::None, &["host", "pid", "tid", "comm"])
        .with_columns(Unit::Ns, &["cpu_ns", "unknown_ns"])
        .with_columns(Unit::Count, &["migrations"])
        .with_columns(Unit::Percent, &["percent"])
        .with_columns(Unit::None, &["priorities"]);
    for result in hosts {
        let mut groups: BTreeMap<ThreadId, Thread> = BTreeMap::new();
        for (&thread, used) in result.of.threads.unordered().filter(|(thread, _)| !thread.is_idle()) {
            let Some(group) = result.group(thread, options) else { continue };
            groups.entry(group).or_default().absorb(used.clone());
        }
        for (group, used) in groups {
            let priorities: Vec<String> = used.priorities.iter().map(i32::to_string).collect();
            let times = [used.cpu_ns, used.unknown_ns].map(|ns| result.known(Need::Switches, ns));
            let row = result.group_row(group, options).cells(times);
            let row = row.cell(result.known(Need::Migrations, used.migrations));
            let part = percent(used.cpu_ns.into(), result.asked_ns.into());
            let row = row.cell(result.known(Need::Switches, part));
            table.add(row.cell(Cell::text(&priorities.join(" "))));
        }
    }
    // Stable: those that used as much stay in the order of hosts and threads.
    table.sort("cpu_ns");
    table.draw("percent", 0).top()
}

/// The table with the columns of [`times`].
fn times_table(table: Table) -> Table {
    let table = table.with_columns(Unit::Ns, &["busy_ns", "idle_ns", "unknown_ns"]);
    table.with_columns(Unit::Percent, &["percent"]).draw("percent", 0)
}

/// The times of CPUs, and the part of a whole that they were busy.
fn times(cpu: &CpuTime, whole: u128) -> [Cell; 4] {
    [cpu.busy.into(), cpu.idle.into(), cpu.unknown.into(), percent(cpu.busy.into(), whole)]
}

fn cpus(hosts: &[HostResult<'_, CpuTop>]) -> Table {
    let mut table =
        times_table(Table::new("cpus", "Per-CPU usage", &[]).with_columns(Unit::None, &["host", "cpu"]));
    for result in hosts {
        for (&cpu, used) in &result.of.cpus {
            table.add(result.row().cell(cpu).cells(times(used, result.asked_ns.into())));
        }
    }
    table
}

fn total(hosts: &[HostResult<'_, CpuTop>]) -> Table {
    let table = Table::new("total", "Total CPU usage", &[("host", Unit::None), ("cpus", Unit::Count)]);
    let mut table = times_table(table);
    for result in hosts {
        let mut all = CpuTime::default();
        result.of.cpus.values().for_each(|cpu| all.absorb(*cpu));
        let cpus = result.of.cpus.len() as u64;
        let whole = u128::from(result.asked_ns) * u128::from(cpus);
        table.add(result.row().cell(cpus).cells(times(&all, whole)));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Filter;
    use crate::registry::AnalysisKind;
    use crate::testing::{check, idle, migration, slice, thread, unknown, window};
    use isochrone_kernel::Span;

    /// 100 ns of two CPUs: the second shows nothing before its first switch at 30.
    fn spans() -> Vec<Span> {
        vec![
            slice(0, thread(1), 0, 40),
            slice(0, idle(0), 40, 50),
            slice(0, thread(2), 50, 100),
            unknown(1, Some(thread(3)), 0, 30),
            slice(1, thread(1), 30, 50),
            slice(1, idle(1), 50, 100),
            migration(thread(1), 25, 1),
        ]
    }

    #[test]
    fn by_thread_and_cpu() {
        check(
            AnalysisKind::CpuTop,
            &spans(),
            &Options::default(),
            When::default(),
            &[
                "processes: host pid tid comm cpu_ns unknown_ns migrations percent priorities",
                "h 1 1 init 60 0 1 60 20",
                "h 2 2 worker 50 0 0 50 20",
                "h 2 3 worker 0 30 0 0 ",
                "cpus: host cpu busy_ns idle_ns unknown_ns percent",
                "h 0 90 10 0 90",
                "h 1 20 50 30 20",
                "total: host cpus busy_ns idle_ns unknown_ns percent",
                "h 2 110 60 30 55",
            ],
        );
    }

    #[test]
    fn by_process() {
        check(
            AnalysisKind::CpuTop,
            &spans(),
            &Options { by_process: true, limit: Some(2), ..Options::default() },
            When::default(),
            &[
                "processes: host pid tid comm cpu_ns unknown_ns migrations percent priorities",
                "h 1 1 init 60 0 1 60 20",
                "h 2 2 worker 50 30 0 50 20",
                "cpus: host cpu busy_ns idle_ns unknown_ns percent",
                "h 0 90 10 0 90",
                "h 1 20 50 30 20",
                "total: host cpus busy_ns idle_ns unknown_ns percent",
                "h 2 110 60 30 55",
            ],
        );
    }

    #[test]
    fn of_a_window_and_a_cpu() {
        check(
            AnalysisKind::CpuTop,
            &spans(),
            &Options {
                filter: Filter { cpus: vec![1], tids: vec![1, 3], ..Filter::default() },
                ..Options::default()
            },
            When { window: window(20, 45), at: None },
            &[
                "processes: host pid tid comm cpu_ns unknown_ns migrations percent priorities",
                "h 1 1 init 15 0 1 60 20",
                "h 2 3 worker 0 10 0 0 ",
                "cpus: host cpu busy_ns idle_ns unknown_ns percent",
                "h 1 15 0 10 60",
                "total: host cpus busy_ns idle_ns unknown_ns percent",
                "h 1 15 0 10 60",
            ],
        );
    }
}
