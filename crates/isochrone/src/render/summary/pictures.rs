//! Lives of processes, and where on disks their requests were.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use isochrone_crosshost::{DiskAccess, ProcessLife, lives as lives_of};
use isochrone_export::html::{Access, AccessPicture, Block, Life, MAX_ACCESSES, MAX_LIVES};
use isochrone_time::{SinceOrigin, UnixNs, Window};

use super::Findings;
use super::over_time::{Row, groups};
use crate::render::{figures, time};

/// Maximum number of disks that are drawn: those with the most requests.
const MAX_DISKS: usize = 4;
/// Maximum number of processes of a disk that have their own colours.
const NAMED: usize = 7;
/// Bytes of a sector, whatever the disk has.
const SECTOR: u64 = 512;

/// The lives of the processes that used the CPUs most, and what they used over time.
pub(super) fn lives(findings: &Findings<'_, '_>) -> Option<Block> {
    let [begin, end] = findings.range?;
    let table = findings.table("usage", "processes")?;
    let mut used: BTreeMap<String, Vec<Row<'_>>> = BTreeMap::new();
    for (name, rows) in groups(table, &["host", "pid"]) {
        used.entry(name).or_default().extend(rows);
    }
    let all = lives_of(findings.cluster).into_iter().map(|life| {
        let key = format!("{} {}", findings.cluster.host_name(life.host), life.pid);
        let rows = used.remove(&key).unwrap_or_default();
        let cpu: f64 = rows.iter().map(|row| row.figure("cpu_ns")).sum();
        (cpu as i64, life, rows)
    });
    let mut all: Vec<(i64, ProcessLife, Vec<_>)> = all.filter(|(cpu, ..)| *cpu > 0).collect();
    let count = all.len();
    all.sort_by_key(|(cpu, life, _)| (Reverse(*cpu), life.host, life.pid));
    all.truncate(MAX_LIVES);
    // Those that are shown, in the order in which they started.
    all.sort_by_key(|(_, life, _)| (life.host, life.span.start, life.pid));
    let with_faults = hosts_with_faults(findings);
    let since = |at: UnixNs| SinceOrigin(at.clamp(begin, end).saturating_since(begin));
    let life = |(cpu, life, rows): &(i64, ProcessLife, Vec<Row<'_>>)| Life {
        name: format!(
            "{} {} ({})",
            findings.cluster.host_name(life.host),
            life.comm.as_deref().unwrap_or("?"),
            life.pid
        ),
        span: Window::new(since(life.span.start), since(life.span.end)),
        is_seen: life.is_seen,
        busy: rows.iter().map(|row| row.step(findings, (row.figure("percent"), 0.0))).collect(),
        cpu: figures::duration(*cpu),
        faults: with_faults
            .get(findings.cluster.host_name(life.host))
            .map(|&is_whole| faults(rows, is_whole)),
    };
    let caption = format!(
        "Lives of {} of {} processes, those that used the CPUs most; green is how much of a CPU they \
         used. Edges are starts and ends that were seen. Times are since {} {}.",
        all.len(),
        figures::count(count),
        time::full(begin),
        time::zone_name()
    );
    (!all.is_empty()).then(|| Block::Lives(all.iter().map(life).collect(), caption))
}

/// The hosts that recorded page faults, and whether none may be missing.
fn hosts_with_faults(findings: &Findings<'_, '_>) -> BTreeMap<String, bool> {
    let hosts = findings.table("usage", "host").map(|table| groups(table, &["host"])).unwrap_or_default();
    let known = hosts.into_iter().filter_map(|(host, rows)| {
        let known = rows.iter().filter(|row| row.is_known("page_faults")).count();
        (known > 0).then_some((host, known == rows.len()))
    });
    known.collect()
}

/// The page faults in the rows of a process, in words. `is_whole`: none may be missing.
fn faults(rows: &[Row<'_>], is_whole: bool) -> String {
    let sum: f64 = rows.iter().map(|row| row.figure("page_faults")).sum();
    let mark = if is_whole { "" } else { "≥ " };
    format!("{mark}{}", figures::count(sum as u64))
}

/// Where on each disk requests were, over time.
pub(super) fn accesses(findings: &Findings<'_, '_>) -> Vec<Block> {
    let Some([begin, _]) = findings.range else { return Vec::new() };
    let mut disks: Vec<(&(usize, String), &Vec<DiskAccess>)> = findings.accesses.iter().collect();
    disks.sort_by_key(|(key, of_disk)| (Reverse(of_disk.len()), *key));
    let drawn = disks.into_iter().take(MAX_DISKS).filter(|(_, of_disk)| of_disk.len() > 1);
    let picture = |((host, disk), all): (&(usize, String), &Vec<DiskAccess>)| {
        let mut bytes: BTreeMap<Option<i32>, u64> = BTreeMap::new();
        for one in all {
            *bytes.entry(one.pid).or_default() += u64::from(one.sectors) * SECTOR;
        }
        let mut ranked: Vec<(Option<i32>, u64)> = bytes.into_iter().collect();
        ranked.sort_by_key(|&(pid, bytes)| (Reverse(bytes), pid));
        let name = |(pid, _): &(Option<i32>, u64)| match pid {
            Some(pid) => {
                let comm = findings.cluster.comm_of_process(*host, *pid).unwrap_or("?");
                format!("{comm} ({pid})")
            }
            None => "unknown".to_owned(),
        };
        let mut processes: Vec<String> = ranked.iter().take(NAMED).map(name).collect();
        if ranked.len() > NAMED {
            processes.push(format!("{} others", ranked.len() - NAMED));
        }
        let place = |pid| ranked.iter().position(|one| one.0 == pid).unwrap_or(NAMED).min(NAMED);
        let access = |one: &DiskAccess| Access {
            at: SinceOrigin(one.at.saturating_since(begin)),
            offset: one.sector * SECTOR,
            bytes: u64::from(one.sectors) * SECTOR,
            process: place(one.pid),
        };
        let accesses = all.iter().take(MAX_ACCESSES).map(access).collect();
        let heading = format!("Requests to {disk} of {}", findings.cluster.host_name(*host));
        Block::Accesses(heading, AccessPicture { processes, accesses }, caption(all))
    };
    drawn.map(picture).collect()
}

/// How many requests follow each other on the disk, and how far the others are apart.
fn caption(all: &[DiskAccess]) -> String {
    let distances = all.windows(2).map(|two| {
        let end = two[0].sector.saturating_add(two[0].sectors.into());
        end.abs_diff(two[1].sector)
    });
    let (mut follow, mut seeks, mut sum) = (0_u64, 0_u64, 0_u128);
    for distance in distances {
        match distance {
            0 => follow += 1,
            distance => (seeks, sum) = (seeks + 1, sum + u128::from(distance)),
        }
    }
    let far = figures::bytes((sum * u128::from(SECTOR)) as f64 / seeks.max(1) as f64);
    let cut = match all.len() > MAX_ACCESSES {
        true => format!(" The first {} are drawn.", figures::count(MAX_ACCESSES)),
        false => String::new(),
    };
    format!(
        "{} by their first byte on the disk, when they were issued. {} start where the one before ends; \
         the others are {far} away from there on average.{cut}",
        figures::plural(all.len(), "request"),
        figures::count(follow)
    )
}
