//! The drawing of a request across its hosts: a row for each thread that held it, one axis of time, packets between the rows.

use std::collections::BTreeMap;
use std::io::Write;

use isochrone_analysis::nearest_rank;
use isochrone_crosshost::{Cause, Cluster, Request, SpentOn, Step, ThreadRef};
use isochrone_store::ThreadRow;
use isochrone_time::UnixNs;

use super::figures;
use super::plain::plain;
use crate::output;

/// Width where that of the terminal is unknown.
const WIDTH: usize = 100;
/// Minimum width of the axis.
const MIN_WIDTH: usize = 40;
/// Maximum number of differences from other requests.
const MAX_DIFFERENCES: usize = 3;

/// The characters of causes, in the order of the legend. Packets are lines between the rows.
const MARKS: [(Cause, char, &str); 13] = [
    (Cause::Cpu, '█', "on a CPU"),
    (Cause::WaitCpu, '░', "waits for a CPU"),
    (Cause::Sleep, '▒', "sleeps"),
    (Cause::Disk, '▓', "disk"),
    (Cause::Lock, '╳', "lock"),
    (Cause::Pipe, '┄', "pipe"),
    (Cause::Socket, '┈', "socket"),
    (Cause::Child, '┆', "child"),
    (Cause::Signal, '!', "signal"),
    (Cause::Irq, '╍', "interrupts"),
    (Cause::Softirq, '╌', "softirqs"),
    (Cause::Other, '·', "other waits"),
    (Cause::Unknown, '?', "unknown"),
];

/// Draws a request, and compares it with all requests.
pub(crate) fn draw(
    cluster: &Cluster<'_>,
    all: &[Request],
    request: &Request,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    writeln!(out, "{}", output::heading(&heading(cluster, all, request)))?;
    let rows = rows(request);
    let names: Vec<String> = rows.iter().map(|party| name(cluster, *party)).collect();
    let label = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let width = output::width().unwrap_or(WIDTH).saturating_sub(label + 2).max(MIN_WIDTH);
    writeln!(out, "\n{:label$}  {}", "", axis(request.duration(), width))?;
    let drawn = canvas(request, &rows, width);
    for (name, line) in names.iter().zip(drawn) {
        writeln!(out, "{name:label$}  {}", line.trim_end())?;
    }
    writeln!(out, "\n{}", legend(request))?;
    let alike: Vec<&Request> = all.iter().filter(|other| other.service == request.service).collect();
    for line in differences(cluster, &alike, request) {
        writeln!(out, "{line}")?;
    }
    writeln!(out)?;
    Ok(())
}

fn heading(cluster: &Cluster<'_>, all: &[Request], request: &Request) -> String {
    let is_part = all.iter().any(|other| other.number > all.len());
    let mut parts = vec![match is_part {
        true => format!("request {}, one of {}", request.number, all.len()),
        false => format!("request {} of {}", request.number, all.len()),
    }];
    let parties = [request.client, request.server].into_iter().flatten();
    let who: Vec<String> =
        parties.map(|party| name(cluster, Some((party.host, Some(party.thread))))).collect();
    parts.push(who.join(" → "));
    parts.push(figures::duration(request.duration()));
    let alike = all.iter().filter(|other| other.service == request.service);
    let mut values: Vec<i64> = alike.map(Request::duration).collect();
    values.sort_unstable();
    if values.len() > 1
        && let (Some(median), Some(p95)) = (nearest_rank(&values, 50), nearest_rank(&values, 95))
    {
        parts.push(format!("(median {}, p95 {})", figures::duration(*median), figures::duration(*p95)));
    }
    if let Some(worst) = request.path.iter().filter_map(|(step, _)| step.uncertainty).max() {
        parts.push(format!("clocks ±{} at most", figures::duration(worst)));
    }
    parts.join("   ")
}

/// Host, and thread if there is one.
pub(super) type Row = Option<(usize, Option<ThreadRow>)>;

pub(super) fn name(cluster: &Cluster<'_>, row: Row) -> String {
    let Some((host, thread)) = row else { return String::new() };
    let who = match thread {
        Some(thread) => {
            let party = ThreadRef { host, thread };
            let tid = cluster.tid(party).map_or(String::new(), |tid| format!(" {tid}"));
            format!("{}{tid}", plain(cluster.comm(party).unwrap_or("?")))
        }
        None => "kernel".to_owned(),
    };
    format!("{} {who}", plain(cluster.host_name(host)))
}

/// The rows: the threads that held the request, in the order in which it came to them. What a kernel did by itself is in the next row of its
/// host.
pub(super) fn rows(request: &Request) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for (step, _) in request.path.iter().filter(|(step, _)| step.thread.is_some()) {
        let row = Some((step.host, step.thread));
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    for (step, _) in request.path.iter().filter(|(step, _)| step.cause != Cause::Network) {
        if row_of(&rows, step).is_none() {
            rows.push(Some((step.host, None)));
        }
    }
    rows
}

/// The row of a step.
pub(super) fn row_of(rows: &[Row], step: &Step) -> Option<usize> {
    match step.thread {
        Some(_) => rows.iter().position(|row| *row == Some((step.host, step.thread))),
        None => rows.iter().position(|row| row.is_some_and(|(host, _)| host == step.host)),
    }
}

fn canvas(request: &Request, rows: &[Row], width: usize) -> Vec<String> {
    let total = request.duration().max(1);
    let column =
        |at: UnixNs| (((at - request.start) * width as i128 / i128::from(total)) as usize).min(width - 1);
    // By row and column: the longest cause in it, and how long.
    let mut most: Vec<Vec<(i64, char)>> = vec![vec![(0, ' '); width]; rows.len()];
    for (step, _) in request.path.iter().filter(|(step, _)| step.cause != Cause::Network) {
        let Some(row) = row_of(rows, step) else { continue };
        let mark = MARKS.iter().find(|(cause, ..)| *cause == step.cause).map_or('?', |(_, mark, _)| *mark);
        let (first, last) = (column(step.start), column(step.end - 1));
        for (number, cell) in (first..).zip(&mut most[row][first..=last]) {
            let from = request.start + (number as i128 * i128::from(total) / width as i128) as i64;
            let to = request.start + ((number + 1) as i128 * i128::from(total) / width as i128) as i64;
            let share = step.end.min(to).saturating_since(step.start.max(from));
            if share > cell.0 {
                *cell = (share, mark);
            }
        }
    }
    let mut lines: Vec<Vec<char>> =
        most.into_iter().map(|cells| cells.into_iter().map(|(_, mark)| mark).collect()).collect();
    // A packet: from the row before it to the row after it.
    for (number, (step, _)) in request.path.iter().enumerate() {
        if step.cause != Cause::Network {
            continue;
        }
        let around = (number.checked_sub(1), Some(number + 1));
        let row = |of: Option<usize>| {
            of.and_then(|of| request.path.get(of)).and_then(|(step, _)| row_of(rows, step))
        };
        let (Some(from), Some(to)) = (row(around.0), row(around.1)) else { continue };
        let mark = match from.cmp(&to) {
            std::cmp::Ordering::Less => '╲',
            std::cmp::Ordering::Equal => continue,
            std::cmp::Ordering::Greater => '╱',
        };
        let (first, last) = (column(step.start), column(step.end - 1));
        // What a thread did is not drawn over; what it waited for may be.
        for (row, column) in [(from, first), (to, last)] {
            let cell = &mut lines[row][column];
            if [' ', '╌', '░'].contains(cell) {
                *cell = mark;
            }
        }
    }
    lines.into_iter().map(|line| line.into_iter().collect()).collect()
}

/// The axis, with labels at round numbers.
fn axis(total: i64, width: usize) -> String {
    const LABEL: usize = 10;
    let steps = (width / LABEL).max(1) as i64;
    let mut unit = 1_i64;
    let mut factors = [2, 5, 10].into_iter().cycle();
    let mut scale = 1_i64;
    while total / unit > steps {
        let factor = factors.next().unwrap_or(10);
        unit = scale * factor;
        if factor == 10 {
            scale = unit;
        }
    }
    let mut line = String::new();
    let mut at = 0;
    while at <= total {
        let column = (i128::from(at) * width as i128 / i128::from(total.max(1))) as usize;
        let label = if at == 0 {
            "0".to_owned()
        } else {
            figures::duration(at).replace(".000", "").replace(".00 ", " ").replace(".0 ", " ")
        };
        if column + label.chars().count() > width {
            break;
        }
        let missing = column.saturating_sub(line.chars().count());
        line.extend(std::iter::repeat_n(' ', missing));
        line.push_str(&label);
        at += unit;
    }
    line
}

fn legend(request: &Request) -> String {
    let mut sums: BTreeMap<Cause, i64> = BTreeMap::new();
    for (on, ns) in &request.spent {
        *sums.entry(on.cause).or_default() += ns;
    }
    let network = sums.get(&Cause::Network).map(|ns| format!("╲╱ network {}", figures::duration(*ns)));
    let marks = MARKS.iter().filter_map(|(cause, mark, name)| {
        let ns = sums.get(cause)?;
        Some(format!("{mark} {name} {}", figures::duration(*ns)))
    });
    marks.chain(network).collect::<Vec<_>>().join("   ")
}

/// Where a request spent much more than others of its service.
fn differences(cluster: &Cluster<'_>, all: &[&Request], request: &Request) -> Vec<String> {
    if all.len() < 3 {
        return Vec::new();
    }
    let spent = |request: &Request, on: &SpentOn| {
        let index = request.spent.binary_search_by(|(other, _)| other.cmp(on));
        index.map_or(0, |index| request.spent[index].1)
    };
    let mut found: Vec<(i64, String)> = Vec::new();
    for (on, ns) in &request.spent {
        let mut values: Vec<i64> = all.iter().map(|other| spent(other, on)).collect();
        values.sort_unstable();
        let Some(&median) = nearest_rank(&values, 50) else { continue };
        let more = ns - median;
        if more * 20 < request.duration() {
            continue;
        }
        let is_of = |step: &Step| SpentOn::of(cluster, step) == *on;
        let of_steps = request.path.iter().filter(|(step, text)| is_of(step) && !text.is_empty());
        let longest = of_steps.max_by_key(|(step, _)| step.duration());
        let detail = longest.map_or(String::new(), |(_, text)| format!(": {}", plain(text)));
        let what = MARKS.iter().find(|(other, ..)| *other == on.cause).map_or("network", |(_, _, name)| name);
        let who = format!(
            "{} {}",
            plain(cluster.host_name(on.host)),
            plain(on.comm.as_deref().unwrap_or_default())
        );
        let (ns, median) = (figures::duration(*ns), figures::duration(median));
        found.push((more, format!("  {}: {what} {ns} (median {median}){detail}", who.trim_end())));
    }
    found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    found.truncate(MAX_DIFFERENCES);
    let lines: Vec<String> = found.into_iter().map(|(_, line)| line).collect();
    let head = (!lines.is_empty()).then(|| "\nwhere it differs from the others:".to_owned());
    head.into_iter().chain(lines).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_round_and_fit() {
        let check = |total, width, expect: &str| assert_eq!(axis(total, width), expect, "{total} {width}");
        check(100_000_000, 40, "0                   50 ms");
        check(125_000_000, 60, "0        20 ms     40 ms    60 ms     80 ms     100 ms");
        check(0, 40, "0");
    }
}
