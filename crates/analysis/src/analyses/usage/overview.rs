//! What people see first: a line for each host, disk, interface and process, drawn over time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use isochrone_kernel::Name;

use super::series::Traced;
use super::{Usage, Used};
use crate::analysis::HostResult;
use crate::host::ThreadIdentity;
use crate::machine_io::disk_name;
use crate::options::Options;
use crate::output::table::{Cell, Table, Unit, Visibility};

/// Characters of a line.
const WIDTH: usize = 60;
/// Processes that are shown of a host, those that used the CPUs most, where people read and no other limit is
/// requested.
const PROCESSES: usize = 10;

/// What the figures of a line are.
#[derive(Debug, Clone, Copy)]
enum Sort {
    Ns,
    Bytes,
    Pages,
}

/// Adds the lines of a host to the table.
struct Lines<'t> {
    host: Cell,
    steps: Vec<Traced>,
    table: &'t mut Table,
}

impl Lines<'_> {
    /// A line of the figures of steps. Those that are not given are 0, or unknown where nothing is known of
    /// the step. None where nothing is more than 0.
    fn add(&mut self, resource: &str, of: Cell, sort: Sort, figures: impl Iterator<Item = (u32, u64)>) {
        let mut given: BTreeMap<u32, u128> = BTreeMap::new();
        for (step, figure) in figures {
            *given.entry(step).or_default() += u128::from(figure);
        }
        let known = |it: &Traced| match given.get(&it.step).copied().unwrap_or_default() {
            0 if it.is_dark => None,
            figure => Some(figure),
        };
        let all: Vec<Option<u128>> = self.steps.iter().map(known).collect();
        let sum = all.iter().flatten().sum::<u128>();
        if sum == 0 {
            return;
        }
        let total = || Cell::from(sum);
        let [ns, bytes, pages] = match sort {
            Sort::Ns => [total(), Cell::NotApplicable, Cell::NotApplicable],
            Sort::Bytes => [Cell::NotApplicable, total(), Cell::NotApplicable],
            Sort::Pages => [Cell::NotApplicable, Cell::NotApplicable, total()],
        };
        let line = Cell::text(&sparkline(&all, WIDTH));
        self.table.row(vec![self.host.clone(), Cell::text(resource), of, ns, bytes, pages, line]);
    }
}

/// The table, of all hosts.
pub(super) fn table(hosts: &[HostResult<'_, Usage>], options: &Options) -> Table {
    let mut table = Table::new("overview", "Usage over time", &[])
        .with_columns(Unit::None, &["host", "resource", "of"])
        .with_columns(Unit::Ns, &["busy_ns"])
        .with_columns(Unit::Bytes, &["bytes"])
        .with_columns(Unit::Count, &["pages"])
        .with_columns(Unit::None, &["line"])
        .show(&["line"], Visibility::Trailing);
    for result in hosts {
        let mut lines = Lines { host: result.name(), steps: Traced::of(result), table: &mut table };
        of_machine(result, &mut lines);
        of_processes(result, options, &mut lines);
    }
    table
}

fn of_machine(result: &HostResult<'_, Usage>, lines: &mut Lines<'_>) {
    let of = result.of;
    lines.add("CPU", Cell::NotApplicable, Sort::Ns, of.cpus.iter().map(|(&(_, step), cpu)| (step, cpu.busy)));
    let threads = of.all_threads();
    for (name, pages) in [
        ("memory allocated", (|used| used.allocated) as fn(&Used) -> u64),
        ("page faults", |used| used.faults),
    ] {
        if threads.values().any(|used| pages(used) > 0) {
            let of_steps = threads.iter().map(|(&step, used)| (step, pages(used)));
            lines.add(name, Cell::NotApplicable, Sort::Pages, of_steps);
        }
    }
    let devices: BTreeSet<u32> = of.disks.unordered().map(|(&(device, _), _)| device).collect();
    for device in devices {
        let at = || of.disks.unordered().filter(move |((of, _), _)| *of == device);
        let name = disk_name(result.host, device);
        let read = at().map(|(&(_, step), at)| (step, at.complete.read_bytes));
        lines.add("disk read", name.clone(), Sort::Bytes, read);
        let written = at().map(|(&(_, step), at)| (step, at.complete.written_bytes));
        lines.add("disk written", name, Sort::Bytes, written);
    }
    let names: BTreeSet<&Name> = of.interfaces.keys().map(|(name, _)| name).collect();
    for name in names {
        let at = || of.interfaces.iter().filter(move |((of, _), _)| of == name);
        let received = at().map(|((_, step), traffic)| (*step, traffic.received_bytes));
        lines.add("received", name.into(), Sort::Bytes, received);
        let sent = at().map(|((_, step), traffic)| (*step, traffic.sent_bytes));
        lines.add("sent", name.into(), Sort::Bytes, sent);
    }
}

fn of_processes(result: &HostResult<'_, Usage>, options: &Options, lines: &mut Lines<'_>) {
    let processes = Usage::processes(result, options);
    let used = |steps: &BTreeMap<u32, Used>| steps.values().map(|used| u128::from(used.cpu_ns)).sum::<u128>();
    let mut ranked: Vec<_> =
        processes.iter().map(|(process, steps)| (used(steps), *process, steps)).collect();
    ranked.retain(|(ns, ..)| *ns > 0);
    // Stable: those that used as much stay in their order.
    ranked.sort_by_key(|(ns, ..)| Reverse(*ns));
    for (_, process, steps) in ranked.into_iter().take(options.top.map_or(usize::MAX, |_| PROCESSES)) {
        let who = ThreadIdentity::of(result.host, process);
        let pid = who.tid.map_or_else(|| "?".to_owned(), |tid| tid.to_string());
        let name = format!("{} ({pid})", who.comm.as_deref().unwrap_or("?"));
        lines.add("CPU", Cell::text(&name), Sort::Ns, steps.iter().map(|(&step, used)| (step, used.cpu_ns)));
    }
}

/// Figures as characters of growing height, the greatest the highest; zero is the lowest, and nothing else
/// is. Figures that share a character where there are more than `width` are added up; where none of them is
/// known, it is `?`.
fn sparkline(figures: &[Option<u128>], width: usize) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let each = figures.len().div_ceil(width.max(1)).max(1);
    let sum = |some: &[Option<u128>]| some.iter().flatten().copied().reduce(|sum, one| sum + one);
    let sums: Vec<Option<u128>> = figures.chunks(each).map(sum).collect();
    let greatest = sums.iter().flatten().copied().max().unwrap_or_default().max(1);
    // 1 to 7, rounded up: what is more than nothing is never shown as nothing.
    let height = |sum: u128| (sum.saturating_mul(7).div_ceil(greatest) as usize).min(7);
    sums.into_iter().map(|sum| sum.map_or('?', |sum| HEIGHTS[height(sum)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights() {
        let check = |figures: &[u128], width, expect: &str| {
            let figures: Vec<_> = figures.iter().map(|&figure| Some(figure)).collect();
            assert_eq!(sparkline(&figures, width), expect, "{figures:?} {width}");
        };
        check(&[], 4, "");
        check(&[0, 0], 4, "▁▁");
        check(&[0, 1, 700, 350], 4, "▁▂█▅");
        check(&[1, 1, 0, 0, 4], 3, "▅▁█");
        check(&[u64::MAX.into(), 0], 4, "█▁");
        assert_eq!(sparkline(&[Some(0), None, Some(7), None], 4), "▁?█?");
        assert_eq!(sparkline(&[Some(1), None, None, None, Some(3)], 3), "▄?█");
    }
}
