//! Totals by host: the table `hosts`, which analyses have besides their own where several hosts are analysed
//! together.

use crate::analysis::HostResult;
use crate::output::table::{Cell, Table, Unit};

/// Name of the table.
const NAME: &str = "hosts";

/// The table of totals by host: the column `host`, those that `with_columns` adds, and of each host the rows
/// that `rows` gives, without the host. `None` for one host alone, whose other tables have it all; without
/// any host the table shows its columns.
pub(crate) fn host_totals<A, const N: usize>(
    hosts: &[HostResult<'_, A>],
    with_columns: impl FnOnce(Table) -> Table,
    rows: impl Fn(&HostResult<'_, A>) -> Vec<[Cell; N]>,
) -> Option<Table> {
    if hosts.len() == 1 {
        return None;
    }
    let mut table = with_columns(Table::new(NAME, "Totals by host", &[("host", Unit::None)]));
    for result in hosts {
        for cells in rows(result) {
            table.add(result.row().cells(cells));
        }
    }
    Some(table)
}

#[cfg(test)]
mod tests {
    use isochrone_kernel::calls::Opener;
    use isochrone_kernel::files::{FileSpan, OpenedBy, Uses};

    use crate::analysis_set::{AnalysisSet, empty_reports, reports};
    use crate::host::HostContext;
    use crate::options::{Filter, Options};
    use crate::registry::AnalysisKind;
    use crate::testing::{Simple, call, feed, file, irq, lines, slice, softirq, thread};
    use crate::window::When;

    /// The table of two hosts, the second of which did the same twice.
    fn totals(kind: AnalysisKind, options: &Options) -> Vec<String> {
        let uses = Uses { reads: 2, read_bytes: 300, writes: 1, written_bytes: 4, others: 5, errors: 1 };
        let opened_by = OpenedBy::Call(Opener::Openat);
        let opened = FileSpan { opened_by, uses, ..file(thread(3), 3, "/etc/passwd", 10, 30) };
        let spans = [
            call(thread(1), "read", 10, 30, -11),
            call(thread(2), "close", 40, 44, 0),
            irq(0, 27, "virtio", 10, 20),
            softirq(0, 1, Some(5), 7, 8),
            slice(0, thread(1), 0, 60),
            isochrone_kernel::Span::File(Box::new(opened)),
        ];
        let once = feed(kind, &spans, options, When::default());
        let twice = feed(kind, &[&spans[..], &spans[..]].concat(), options, When::default());
        let (alpha, beta) = (Simple::new("alpha"), Simple::new("beta"));
        let hosts: [(&dyn HostContext, &AnalysisSet); 2] = [(&alpha, &once), (&beta, &twice)];
        let table = reports(&hosts, options, true)[0].table("hosts").cloned().unwrap();
        assert_eq!(table.columns, empty_reports(&[kind], options)[0].table("hosts").unwrap().columns);
        assert_eq!(reports(&hosts[..1], options, true)[0].table("hosts"), None);
        lines(&[table])
    }

    #[test]
    fn sums_of_each_host() {
        let check = |kind, options: &Options, expect: &[&str]| assert_eq!(totals(kind, options), expect);
        let all = Options::default();
        let of_one = Options { filter: Filter { tids: vec![2], ..Filter::default() }, ..Options::default() };
        let calls = "hosts: host count total_ns min_ns max_ns errors avg_ns stdev_ns p50_ns p95_ns p99_ns";
        check(
            AnalysisKind::SyscallStats,
            &all,
            &[
                calls,
                "alpha 2 24 4 20 1 12 11.313708498984761 4 20 20",
                "beta 4 48 4 20 2 12 9.237604307034012 4 20 20",
            ],
        );
        check(
            AnalysisKind::SyscallStats,
            &of_one,
            &[calls, "alpha 1 4 4 4 0 4 ? 4 4 4", "beta 2 8 4 4 0 4 0 4 4 4"],
        );
        check(
            AnalysisKind::IrqStats,
            &all,
            &[
                "hosts: host type count min_ns avg_ns max_ns stdev_ns total_ns",
                "alpha IRQ 1 10 10 10 ? 10",
                "alpha SoftIRQ 1 1 1 1 ? 1",
                "beta IRQ 2 10 10 10 0 20",
                "beta SoftIRQ 2 1 1 1 0 2",
            ],
        );
        check(
            AnalysisKind::Fds,
            &all,
            &[
                "hosts: host fds reads read_bytes writes written_bytes others errors",
                "alpha 1 2 300 1 4 5 1",
                "beta 2 4 600 2 8 10 2",
            ],
        );
        check(
            AnalysisKind::Processes,
            &of_one,
            &["hosts: host processes threads cpu_ns syscalls", "alpha 1 1 0 1", "beta 1 1 0 2"],
        );
    }
}
