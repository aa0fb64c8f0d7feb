//! Lives of processes, and where on disks their requests were.

use isochrone_crosshost::{AccessesOfProcess, DiskAccess, DiskAccesses, LifeStep, ProcessLife};
use isochrone_export::html::{Access, AccessPicture, Block, Life, MAX_ACCESSES, Step};
use isochrone_time::{SinceOrigin, UnixNs, Window};

use super::Findings;
use crate::render::{figures, time};

/// Maximum number of disks that are drawn: those with the most requests.
const MAX_DISKS: usize = 4;
/// Maximum number of processes of a disk that have their own colours.
const NAMED: usize = 7;

/// The lives of the processes that used the CPUs most, and what they used over time.
pub(super) fn lives(findings: &Findings<'_, '_>) -> Option<Block> {
    let [begin, end] = findings.range?;
    let all = &findings.lives.lives;
    let since = |at: UnixNs| SinceOrigin(at.clamp(begin, end).saturating_since(begin));
    let span = |of: Window<UnixNs>| Window::new(since(of.start), since(of.end));
    let step = |step: &LifeStep| {
        let length = (step.span.end - step.span.start).max(1) as f64;
        let percent = |ns: u64| ns as f64 * 100.0 / length;
        Step { span: span(step.span), value: percent(step.cpu_ns), unknown: percent(step.unknown_ns) }
    };
    let life = |it: &ProcessLife| Life {
        name: format!(
            "{} {} ({})",
            findings.cluster.host_name(it.host),
            it.comm.as_deref().unwrap_or("?"),
            it.pid
        ),
        span: span(it.span),
        is_seen: it.is_seen,
        busy: it.steps.iter().map(step).collect(),
        cpu: cpu(it),
        faults: it.page_faults.map(|faults| {
            let mark = if faults.is_whole { "" } else { "≥ " };
            format!("{mark}{}", figures::count(faults.count))
        }),
    };
    let caption = format!(
        "Lives of {} of {} processes that ran, those with the most CPU time; green is how much of a CPU they \
         used, grey how much more it may have been. Edges are starts and ends that were seen. ≥: at least, \
         because it is unknown what ran, or events are missing. Times are since {} {}.",
        all.len(),
        figures::count(findings.lives.total),
        time::full(begin),
        time::zone_name()
    );
    (!all.is_empty()).then(|| Block::Lives(all.iter().map(life).collect(), caption))
}

/// CPU time in words: at least so much, where what is unknown would change the figure.
fn cpu(life: &ProcessLife) -> String {
    let text = |ns: u64| figures::duration(i64::try_from(ns).unwrap_or(i64::MAX));
    let (known, most) = (text(life.cpu_ns), text(life.cpu_ns.saturating_add(life.unknown_ns)));
    if known == most { known } else { format!("≥ {known}") }
}

/// Where on each disk requests were, over time.
pub(super) fn accesses(findings: &Findings<'_, '_>) -> Vec<Block> {
    let Some([begin, _]) = findings.range else { return Vec::new() };
    let drawn = findings.accesses.iter().take(MAX_DISKS).filter(|disk| disk.all.len() > 1);
    let picture = |disk: &DiskAccesses| {
        let ranked = disk.processes();
        let name = |it: &AccessesOfProcess| match it.pid {
            Some(pid) => {
                format!("{} ({pid})", findings.cluster.comm_of_process(disk.host, pid).unwrap_or("?"))
            }
            None => "unknown".to_owned(),
        };
        let mut processes: Vec<String> = ranked.iter().take(NAMED).map(name).collect();
        if ranked.len() > NAMED {
            processes.push(format!("{} others", ranked.len() - NAMED));
        }
        let place = |pid| ranked.iter().position(|one| one.pid == pid).unwrap_or(NAMED).min(NAMED);
        let access = |one: &DiskAccess| Access {
            at: SinceOrigin(one.at.saturating_since(begin)),
            offset: one.offset,
            bytes: one.bytes,
            process: place(one.pid),
            is_write: one.is_write,
        };
        let accesses = disk.some(MAX_ACCESSES).map(access).collect();
        let heading = format!("Requests to {} of {}", disk.disk, findings.cluster.host_name(disk.host));
        Block::Accesses(heading, AccessPicture { processes, accesses }, caption(disk))
    };
    drawn.map(picture).collect()
}

/// How many requests follow each other on the disk, and how far the others are apart.
fn caption(disk: &DiskAccesses) -> String {
    let (count, seeks) = (disk.all.len(), disk.seeks());
    let start = if seeks.follow == 1 { "starts" } else { "start" };
    let cut = match count > MAX_ACCESSES {
        true => format!(" {} of them are drawn, evenly chosen.", figures::count(MAX_ACCESSES)),
        false => String::new(),
    };
    format!(
        "{} by their first byte on the disk, when they were issued: dots read, rings write. {} {start} where \
         the one before ends, {} elsewhere, {} away from there on average.{cut}",
        figures::plural(count, "request"),
        figures::count(seeks.follow),
        figures::count(seeks.elsewhere),
        figures::bytes(seeks.mean_bytes as f64)
    )
}
