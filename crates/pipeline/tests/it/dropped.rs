//! Pieces that are missing: what does not depend on them is emitted alike, and what does is unknown, not
//! wrong.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use crate::common::{open, shared, unpacked};
use crate::partitions::hosts::{kernel, seeds};
use crate::partitions::model::{bracket, bytes, difference, gap, map_steps, merge, recorded, times, whole};
use isochrone_hosts::{Host, Hosts};
use isochrone_kernel::calls::Opener;
use isochrone_kernel::files::{ClosedBy, FileKind, FileSpan, OpenedBy};
use isochrone_kernel::{BlockRequest, Half, ThreadId};
use isochrone_kernel::{Span, ThreadChange};
use isochrone_pipeline::{Border, Cuts, Plan};
use isochrone_testkit::Random;
use isochrone_time::RawNs;

/// Threads by their numbers: the begin of a life may be in what is missing.
fn who(thread: ThreadId) -> String {
    match thread {
        ThreadId::Idle(cpu) => format!("idle {cpu}"),
        ThreadId::Thread { tid, .. } => tid.to_string(),
        ThreadId::Unidentified { .. } => "unidentified".to_owned(),
    }
}

/// A span as a line that knows no lives, with the time that it needs to be known: from what it depends on to
/// its end. `is_named`: whether to say who was running when it was emitted; that may be unknown until the
/// CPU's next switch. Wakers are left out for that reason.
fn line(
    recorded: &Span,
    away: &HashMap<String, Vec<RawNs>>,
    is_named: bool,
) -> Option<(String, RawNs, RawNs)> {
    let runner = |thread| if is_named { who(thread) } else { "unidentified".to_owned() };
    // Since when a thread has been off the CPUs.
    let since = |thread: &str, at: RawNs| {
        let all = away.get(thread).map_or(&[][..], Vec::as_slice);
        all[..all.partition_point(|&left| left <= at)].last().copied().unwrap_or(RawNs::MIN)
    };
    Some(match recorded {
        Span::Slice(it) => {
            (format!("slice {} {} {}..{}", it.cpu, who(it.thread), it.begin, it.end), it.begin, it.end)
        }
        Span::Syscall(it) => {
            let text = format!(
                "call {} {} {}..{} {:?} {:?}",
                runner(it.thread),
                it.cpu,
                it.begin,
                it.end,
                it.entry,
                it.exit
            );
            (text, it.begin, it.end)
        }
        Span::Irq(it) => (format!("{it:?}"), it.begin, it.end),
        Span::Softirq(it) => (format!("{it:?}"), it.raised.unwrap_or(it.begin), it.end),
        Span::SchedLatency(it) => {
            let thread = who(it.thread);
            let text = format!("latency {thread} {} {} {}..{}", it.cpu, it.priority, it.begin, it.end);
            let since = since(&thread, it.begin);
            (text, since, it.end)
        }
        Span::Migration(it) => (format!("migration {} {} {}", who(it.thread), it.at, it.to), it.at, it.at),
        Span::OffCpu(it) => {
            let text = format!("off {} {:?} {}..{}", who(it.thread), it.reason, it.begin, it.end);
            (text, it.begin, it.end)
        }
        Span::BlockRequest(it) => {
            // What is known by half depends on what is missing, and so does who inserted it.
            let (begin, end) = (it.issued?, it.completed?);
            let BlockRequest { device, sector, sectors, is_write, .. } = it;
            (format!("request {device} {sector} {sectors} {is_write} {begin}..{end}"), begin, end)
        }
        Span::ObjectUse(it) if it.is_event => {
            (format!("signal {} {} {:?}", it.at, runner(it.thread), it.object), it.at, it.at)
        }
        Span::PacketTaken(it) => (format!("{it:?}"), it.at, it.at),
        Span::Packet(it) => {
            let text = format!(
                "packet {} {} {} {} {} {}",
                it.at,
                it.cpu,
                runner(it.thread),
                it.device,
                it.bytes,
                it.is_sent
            );
            (text, it.at, it.at)
        }
        Span::PageAllocation(it) => {
            (format!("pages {} {} {} {}", it.at, runner(it.thread), it.pages, it.is_free), it.at, it.at)
        }
        Span::PageFault(it) => {
            let (begin, end) = (it.begin, it.end?);
            let text = format!("fault {} {} {begin}..{end}", runner(it.thread), it.address);
            (text, begin, end)
        }
        // One within another depends on that one too, whose begin it does not say.
        Span::Period(it) => {
            let since = if it.parent.is_some() { RawNs::MIN } else { it.begin };
            (format!("period {} {}..{}", it.name, it.begin, it.end), since, it.end)
        }
        Span::Phase(it) => {
            (format!("phase {} {} {}..{}", it.name, runner(it.thread), it.begin, it.end), it.begin, it.end)
        }
        Span::Wakeup(it) => {
            let text = format!("wakeup {} {} {} {:?}", who(it.thread), it.at, it.cpu, it.target_cpu);
            (text, it.at, it.at)
        }
        Span::ThreadEvent(it) => {
            let what = match &it.what {
                ThreadChange::Forked { parent, comm } => format!("forked by {} as {comm}", who(*parent)),
                ThreadChange::Renumbered { was } => format!("was {}", who(*was)),
                what => format!("{what:?}"),
            };
            // Some tracers do not record of which thread it is.
            let thread = match it.what {
                ThreadChange::Executed { .. } => runner(it.thread),
                _ => who(it.thread),
            };
            (format!("thread {thread} {} {what}", it.at), it.at, it.at)
        }
        // What is known by half, and what is known of files and of threads in the end, depends on all of the
        // past; waits are told with their calls.
        Span::Mapping(_)
        | Span::HalfSyscall(_)
        | Span::Unknown(_)
        | Span::File(_)
        | Span::Retired(_)
        | Span::Poll(_)
        | Span::ObjectUse(_) => {
            return None;
        }
    })
}

/// When each thread left its CPU.
fn away(all: &[Span]) -> HashMap<String, Vec<RawNs>> {
    let mut away: HashMap<String, Vec<RawNs>> = HashMap::new();
    for recorded in all {
        match recorded {
            Span::Slice(it) => away.entry(who(it.thread)).or_default().push(it.end),
            Span::Unknown(it) => {
                if let Some(thread) = it.thread {
                    away.entry(who(thread)).or_default().push(it.end);
                }
            }
            _ => {}
        }
    }
    for all in away.values_mut() {
        all.sort_unstable();
    }
    away
}

/// Every CPU is busy, idle or unknown at any time from the first to the last event, and never two of them.
fn check_cpus(all: &[Span], (begin, end): (RawNs, RawNs), what: &str) {
    let mut cpus: BTreeMap<u32, Vec<(RawNs, RawNs)>> = BTreeMap::new();
    for recorded in all {
        match recorded {
            Span::Slice(it) => cpus.entry(it.cpu).or_default().push((it.begin, it.end)),
            Span::Unknown(it) => cpus.entry(it.cpu).or_default().push((it.begin, it.end)),
            _ => {}
        }
    }
    for (cpu, mut spans) in cpus {
        spans.sort_unstable();
        let mut now = begin;
        for (from, to) in spans {
            assert!(from == now && to >= from, "{what}: CPU {cpu}: {from}..{to} follows {now}");
            now = to;
        }
        assert_eq!(now, end, "{what}: CPU {cpu}");
    }
}

/// What is emitted without the piece between two times, beside what is emitted of all.
fn check_gap(all: &[Span], rest: &[Span], (from, to): (RawNs, RawNs), what: &str) {
    let (away_all, away_rest) = (away(all), away(rest));
    let lines = |of: &[Span], away, is_named| {
        of.iter().filter_map(|recorded| line(recorded, away, is_named)).map(|it| it.0).collect::<HashSet<_>>()
    };
    let left = lines(rest, &away_rest, true);
    let mut known = lines(all, &away_all, true);
    known.extend(lines(all, &away_all, false));
    for recorded in all {
        let Some((text, begin, end)) = line(recorded, &away_all, true) else { continue };
        if end < from || begin >= to {
            let is_there =
                left.contains(&text) || left.contains(&line(recorded, &away_all, false).unwrap().0);
            assert!(is_there, "{what}: without {from}..{to}: {recorded:?}");
        }
    }
    let cut: HashSet<(u32, String, RawNs)> = all
        .iter()
        .filter_map(|recorded| match recorded {
            Span::Slice(it) if it.end >= from => Some((it.cpu, who(it.thread), it.begin)),
            _ => None,
        })
        .collect();
    for recorded in rest {
        let Some((text, ..)) = line(recorded, &away_rest, true) else { continue };
        if known.contains(&text) {
            continue;
        }
        let is_cut = match recorded {
            Span::Slice(it) => {
                // Who came is not who left: a thread that got another number meanwhile. It ran all the same.
                let is_doubted = all.iter().any(
                    |other| matches!(other, Span::Unknown(all) if (all.cpu, all.begin) == (it.cpu, it.begin)),
                );
                it.end == from && (is_doubted || cut.contains(&(it.cpu, who(it.thread), it.begin)))
            }
            // It is not known any more that it was raised.
            Span::Softirq(it) => {
                it.begin >= to && raised(all, it.cpu, it.vector, it.begin).is_some_and(|at| at < to)
            }
            _ => false,
        };
        assert!(is_cut, "{what}: without {from}..{to} only: {recorded:?}");
    }
    for recorded in rest {
        let Span::HalfSyscall(half) = recorded else { continue };
        let is_known = all.iter().any(|other| match other {
            Span::HalfSyscall(it) => (&it.name, it.at, it.half) == (&half.name, half.at, half.half),
            Span::Syscall(it) if it.begin < to && it.end >= from => match half.half {
                Half::Begin => it.begin == half.at && it.begin < from,
                Half::End => it.end == half.at && it.end >= to,
            },
            _ => false,
        });
        assert!(is_known, "{what}: without {from}..{to} only: {recorded:?}");
    }
}

/// Files that were closed before are emitted alike. Others may be emitted otherwise, but none is opened by a
/// call that was not, unless it is emitted as doubtful.
fn check_files(all: &[Span], rest: &[Span], (from, to): (RawNs, RawNs), what: &str) {
    let opening = |it: &FileSpan| (who(it.thread), it.fd, it.begin, it.opened_by);
    let life = |it: &FileSpan| (opening(it), it.end, it.closed_by, it.name.clone());
    let is_unidentified = |it: &FileSpan| it.thread.tid().is_none();
    let recorded: HashSet<_> = files(rest).map(life).collect();
    // Where it is unknown until a switch, which is missing, which thread runs on some CPU, it is not known in
    // whose table he does something.
    let is_all_known = !files(rest).any(is_unidentified);
    // That two threads have one table, and a descriptor of one is that of the other, may be shown by what is
    // missing.
    let is_certain = |it: &FileSpan| it.end < from && it.closed_by != ClosedBy::Unseen && is_all_known;
    for it in files(all).filter(|it| is_certain(it)) {
        assert!(recorded.contains(&life(it)), "{what}: without {from}..{to}: {it:?}");
    }
    let openings: HashSet<_> = files(all).map(opening).collect();
    // Who has the table of whom, and so what is inherited, may depend on what is missing. Of a call whose
    // entry is missing is emitted what it makes as a rule: a dup2 of a number to itself makes nothing.
    let is_sure = |it: &FileSpan| {
        let is_seen = matches!(it.opened_by, OpenedBy::Call(call) if call != Opener::Dup2 || it.kind != FileKind::Unknown);
        is_seen && !it.is_doubtful
    };
    for it in files(rest).filter(|it| is_sure(it) && !is_unidentified(it)) {
        assert!(openings.contains(&opening(it)), "{what}: without {from}..{to} only: {it:?}");
    }
}

fn files(of: &[Span]) -> impl Iterator<Item = &FileSpan> {
    of.iter().filter_map(|recorded| match recorded {
        Span::File(it) => Some(&**it),
        _ => None,
    })
}

fn raised(all: &[Span], on: u32, of: u32, at: RawNs) -> Option<RawNs> {
    all.iter().find_map(|recorded| match recorded {
        Span::Softirq(it) if (it.cpu, it.vector, it.begin) == (on, of, at) => it.raised,
        _ => None,
    })
}

/// Drops a piece of a host at random.
fn check_host(host: &Host<'_>, random: &mut Random, what: &str) {
    let times = times(host);
    let mut cuts: Vec<RawNs> = (0..6).map(|_| times[random.below(times.len() as u64) as usize]).collect();
    cuts.sort_unstable();
    cuts.dedup();
    if cuts.len() < 2 || cuts[0] == times[0] {
        return;
    }
    let plan = Plan::new(host, &Cuts::At(cuts.clone()));
    let place = 1 + random.below(plan.steps().len() as u64 - 2) as usize;
    let missing = plan.steps()[place].piece;
    let (Border::At(from), Border::At(to)) = (missing.from, missing.to) else { panic!("{missing:?}") };
    let dropped = || {
        let mut parts = map_steps(host, plan.steps());
        parts[place] = gap(host, from, to);
        parts
    };
    let expect =
        bytes(dropped().into_iter().reduce(|left, right| bracket(vec![left, right], random)).unwrap());
    for parts in [merge(dropped(), random), bracket(dropped(), random)] {
        if let Some(difference) = difference(&expect, &bytes(parts)) {
            panic!("{what}: without {from}..{to} of {cuts:?}: {difference}");
        }
    }
    let (all, whole_range) = recorded(whole(host));
    let (rest, range) = recorded(bracket(dropped(), random));
    let (Some(whole_range), Some(range)) = (whole_range, range) else { return };
    check_cpus(&all, whole_range, what);
    check_cpus(&rest, range, &format!("{what} without {from}..{to}"));
    // At the end of the trace all that is open ends.
    if range == whole_range {
        check_gap(&all, &rest, (from, to), what);
        check_files(&all, &rest, (from, to), what);
    }
}

#[test]
fn missing_pieces_of_random_hosts() {
    for seed in seeds(40) {
        let (kernel, mut random) = kernel(seed);
        let directory = tempfile::tempdir().unwrap();
        kernel.clone().losses(0).missing_cpus(0).write(directory.path()).unwrap();
        let traces = open(directory.path());
        let hosts = Hosts::group(&traces);
        for _ in 0..2 {
            check_host(&hosts.hosts[0], &mut random, &format!("seed {seed}: {kernel:?}"));
        }
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn missing_pieces_of_real_hosts() {
    let mut random = Random::new(5);
    let mut check = |path: PathBuf, rounds: u64| {
        let traces = open(&path);
        for host in &Hosts::group(&traces).hosts {
            for _ in 0..rounds {
                check_host(host, &mut random, &format!("{}: {}", path.display(), host.name));
            }
        }
    };
    let small = ["scp/scp_src", "vm/hog2", "vm/phases3", "vm/rot2", "ust/rotated", "ctf/traces/tc/bug446190"];
    let large = ["ctf/traces/tc/many-threads", "vm/web2", "vm/chain3"];
    for part in small {
        check(shared(part), 4);
    }
    for part in large {
        check(shared(part), 1);
    }
    let directory = tempfile::tempdir().unwrap();
    check(unpacked("vm/disk1", directory.path()), 2);
}

/// Without the stream of a CPU, that CPU is unknown for all of the time, and what others did is emitted
/// alike.
#[test]
fn missing_streams() {
    for seed in seeds(20) {
        let (kernel, _) = kernel(seed);
        let kernel = kernel.cpus(3).losses(0);
        let [of_all, of_rest] = [0, 1].map(|missing| {
            let directory = tempfile::tempdir().unwrap();
            kernel.clone().missing_cpus(missing).write(directory.path()).unwrap();
            let traces = open(directory.path());
            recorded(whole(&Hosts::group(&traces).hosts[0]))
        });
        let ((all, Some(_)), (rest, Some(range))) = (of_all, of_rest) else { panic!("seed {seed}") };
        check_cpus(&rest, range, &format!("seed {seed}"));
        let cpus = |recorded: &Span| match recorded {
            Span::Slice(it) => Some((it.cpu, format!("{} {}", who(it.thread), it.begin), it.end)),
            Span::Irq(it) => Some((it.cpu, format!("{it:?}"), it.end)),
            Span::Softirq(it) => Some((it.cpu, format!("{it:?}"), it.end)),
            _ => None,
        };
        let there: HashSet<u32> = rest.iter().filter_map(cpus).map(|it| it.0).collect();
        let expect: HashSet<_> =
            all.iter().filter_map(cpus).filter(|it| there.contains(&it.0) && it.2 < range.1).collect();
        let found: HashSet<_> = rest.iter().filter_map(cpus).filter(|it| it.2 < range.1).collect();
        assert_eq!(found, expect, "seed {seed}: {kernel:?}");
        for recorded in &rest {
            if let Span::Unknown(it) = recorded
                && !there.contains(&it.cpu)
            {
                assert_eq!((it.thread, it.begin, it.end), (None, range.0, range.1), "seed {seed}");
            }
        }
    }
}
