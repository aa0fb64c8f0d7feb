//! Packets, files and trace chunks that are removed or cut: nothing is emitted that contradicts the whole
//! trace, and what is far from the hole is emitted as before.
//!
//! `ISOCHRONE_REMOVED=1000 cargo test --release -p isochrone-pipeline --test it removed::` tries so many
//! random hosts.

#![allow(clippy::print_stdout)] // Says what it measured.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{open, shared, unpacked};
use crate::partitions::hosts::kernel;
use crate::partitions::model::{map, merge, recorded};
use isochrone_ctf::Trace;
use isochrone_hosts::Hosts;
use isochrone_kernel::Span;
use isochrone_kernel::ThreadId;
use isochrone_kernel::files::{ClosedBy, FileSpan, OpenedBy};
use isochrone_pipeline::Cuts;
use isochrone_testkit::Random;
use isochrone_time::RawNs;

/// What is emitted is far from a hole if so much time is between them.
const FAR_NS: i64 = 20_000_000;
/// Of the calls and waits that are far from the hole, this share is still emitted.
const STILL_TOLD: f64 = 0.95;

/// A thread by its number: the begin of its life may be removed. `None` where it is unknown.
fn tid(thread: ThreadId) -> Option<i64> {
    match thread {
        ThreadId::Idle(cpu) => Some(-1 - i64::from(cpu)),
        ThreadId::Thread { tid, .. } => Some(tid.into()),
        ThreadId::Unidentified { .. } => None,
    }
}

/// What a host does, in a form that can be compared.
#[derive(Default)]
struct Deeds {
    /// Calls and waits of all kinds: kind, thread, begin, end.
    waits: HashSet<(&'static str, i64, RawNs, RawNs)>,
    /// By thread: when it runs, sorted.
    runs: HashMap<i64, Vec<(RawNs, RawNs)>>,
    /// By thread: when its calls begin and end, those known by half too, sorted.
    calls: HashMap<i64, Vec<RawNs>>,
    /// By CPU and thread: when it runs there, sorted; and when it is unknown which one does.
    cpus: BTreeMap<u32, Vec<(RawNs, RawNs, Option<i64>)>>,
    files: Vec<FileSpan>,
}

impl Deeds {
    fn of(all: Vec<Span>) -> Self {
        let mut deeds = Self::default();
        for recorded in all {
            match recorded {
                Span::Slice(it) => {
                    deeds.cpus.entry(it.cpu).or_default().push((it.begin, it.end, tid(it.thread)));
                    if let Some(thread) = tid(it.thread) {
                        deeds.runs.entry(thread).or_default().push((it.begin, it.end));
                    }
                }
                Span::Unknown(it) => deeds.cpus.entry(it.cpu).or_default().push((it.begin, it.end, None)),
                Span::Syscall(it) => {
                    let Some(thread) = tid(it.thread) else { continue };
                    deeds.waits.insert(("call", thread, it.begin, it.end));
                    deeds.calls.entry(thread).or_default().extend([it.begin, it.end]);
                }
                Span::HalfSyscall(it) => {
                    deeds.calls.entry(tid(it.thread).unwrap_or_default()).or_default().push(it.at);
                }
                Span::OffCpu(it) => {
                    deeds.waits.extend(tid(it.thread).map(|thread| ("off", thread, it.begin, it.end)));
                }
                Span::SchedLatency(it) => {
                    deeds.waits.extend(tid(it.thread).map(|thread| ("latency", thread, it.begin, it.end)));
                }
                Span::File(it) => deeds.files.push(*it),
                _ => {}
            }
        }
        deeds.runs.values_mut().for_each(|runs| runs.sort_unstable());
        deeds.calls.values_mut().for_each(|calls| calls.sort_unstable());
        deeds.cpus.values_mut().for_each(|spans| spans.sort_unstable());
        deeds
    }

    /// What of a damaged trace contradicts this, that of the whole one.
    fn contradicted_by(&self, damaged: &Self) -> Vec<String> {
        let mut found = Vec::new();
        for wait in damaged.waits.difference(&self.waits) {
            let &(kind, thread, begin, end) = wait;
            let inside = |times: &[RawNs]| times.iter().any(|&at| begin < at && at < end);
            let is_wrong = match kind {
                "call" => self.calls.get(&thread).is_some_and(|calls| inside(calls)),
                _ => self
                    .runs
                    .get(&thread)
                    .is_some_and(|runs| runs.iter().any(|&(from, to)| from < to && from < end && to > begin)),
            };
            if is_wrong {
                found.push(format!("{wait:?}"));
            }
        }
        for (cpu, spans) in &damaged.cpus {
            let known = self.cpus.get(cpu).map_or(&[][..], Vec::as_slice);
            for &(begin, end, thread) in spans.iter().filter(|span| span.2.is_some() && span.0 < span.1) {
                let first = known.partition_point(|span| span.1 <= begin);
                let others = known[first..].iter().take_while(|span| span.0 < end);
                let wrong = others.filter(|span| span.2.is_some() && span.2 != thread && span.0 < span.1);
                found.extend(wrong.map(|span| format!("CPU {cpu}: {thread:?} {begin}..{end}, was {span:?}")));
            }
        }
        let lives: HashSet<_> = self.files.iter().map(life).collect();
        // Another close, or another opening of the number, is inside of it.
        let is_wrong = |it: &&FileSpan| {
            !lives.contains(&life(it))
                && self.files.iter().any(|other| {
                    let is_same = (tid(other.thread), other.fd) == (tid(it.thread), it.fd);
                    is_same && (it.begin < other.begin && other.begin < it.end)
                })
        };
        let others = |it: &FileSpan| {
            let same = self
                .files
                .iter()
                .filter(|other| other.fd == it.fd && other.begin <= it.end && it.begin <= other.end);
            same.map(life).collect::<Vec<_>>()
        };
        let wrong = damaged.files.iter().filter(|it| is_sure(it)).filter(is_wrong);
        found.extend(wrong.map(|it| format!("{:?}, was {:?}", life(it), others(it))));
        found
    }

    /// Of the calls and waits that are far from a hole, how many there are and how many are still emitted.
    fn kept_by(&self, damaged: &Self, (from, to): (RawNs, RawNs)) -> (usize, usize) {
        let far =
            |wait: &&(&str, i64, RawNs, RawNs)| wait.3 < from - FAR_NS || wait.2 > to.saturating_add(FAR_NS);
        let all: Vec<_> = self.waits.iter().filter(far).collect();
        (all.len(), all.iter().filter(|wait| damaged.waits.contains(wait)).count())
    }

    /// As [`Self::kept_by`], of descriptors that are emitted without doubt.
    fn files_kept_by(&self, damaged: &Self, (from, to): (RawNs, RawNs)) -> (usize, usize) {
        let sure = |deeds: &Self| {
            let all = deeds.files.iter().filter(|it| is_sure(it));
            all.map(life)
                .filter(|it| it.3 < from - FAR_NS || it.2 > to.saturating_add(FAR_NS))
                .collect::<HashSet<_>>()
        };
        let all = sure(self);
        (all.len(), all.intersection(&sure(damaged)).count())
    }
}

/// Whose descriptor, its number, when it is opened and closed.
fn life(it: &FileSpan) -> (Option<i64>, i32, RawNs, RawNs) {
    (tid(it.thread), it.fd, it.begin, it.end)
}

/// Whether a descriptor is emitted as opened and closed without doubt.
fn is_sure(it: &FileSpan) -> bool {
    let is_seen = matches!(it.opened_by, OpenedBy::Call(_)) && it.closed_by == ClosedBy::Close;
    is_seen && !it.is_doubtful && tid(it.thread).is_some()
}

/// Deeds of all hosts of the traces below a directory, by name; none where nothing is left.
fn deeds(directory: &Path) -> BTreeMap<String, Deeds> {
    let traces = open_left(directory);
    let hosts = Hosts::group(&traces);
    // Missing chunks are pieces of their own.
    let model = |host| merge(map(host, &Cuts::Whole), &mut Random::new(1));
    hosts.hosts.iter().map(|host| (host.name.clone(), Deeds::of(recorded(model(host)).0))).collect()
}

fn open_left(directory: &Path) -> Vec<Trace> {
    let found = isochrone_ctf::find_traces(directory).map(|found| found.traces).unwrap_or_default();
    found.iter().filter_map(|path| Trace::open(path).ok()).collect()
}

/// What is found in all damages of a trace.
#[derive(Debug, Default)]
struct Tally {
    runs: usize,
    wrong: Vec<String>,
    far: usize,
    kept: usize,
    /// Descriptors that are emitted without doubt, of the whole trace and of the damaged one.
    files: (usize, usize),
}

impl Tally {
    fn add(&mut self, whole: &BTreeMap<String, Deeds>, copy: &Path, hole: (RawNs, RawNs), what: &dyn Debug) {
        self.runs += 1;
        let damaged = deeds(copy);
        for (host, damaged) in &damaged {
            let Some(whole) = whole.get(host) else { continue };
            let wrong = whole.contradicted_by(damaged);
            if !wrong.is_empty() {
                self.wrong.push(format!(
                    "{what:?} of {host}: {}, {:?}",
                    wrong.len(),
                    &wrong[..wrong.len().min(3)]
                ));
            }
            let (far, kept) = whole.kept_by(damaged, hole);
            if (kept as f64) < far as f64 * STILL_TOLD {
                println!("{what:?} of {host}: {kept} of {far} are emitted");
            }
            self.far += far;
            self.kept += kept;
            let files = whole.files_kept_by(damaged, hole);
            self.files = (self.files.0 + files.0, self.files.1 + files.1);
        }
    }

    fn check(&self, name: &str) {
        let share = self.kept as f64 / self.far.max(1) as f64;
        println!(
            "{name}: {} damages, {} with contradictions; of {} calls and waits far from the hole {:.2} % are emitted, of {} \
             sure descriptors {:.2} %",
            self.runs,
            self.wrong.len(),
            self.far,
            share * 100.0,
            self.files.0,
            self.files.1 as f64 / self.files.0.max(1) as f64 * 100.0
        );
        assert!(
            self.wrong.is_empty(),
            "{name}: {} of {}:\n{}",
            self.wrong.len(),
            self.runs,
            self.wrong.join("\n")
        );
        assert!(self.far == 0 || share >= STILL_TOLD, "{name}: {share}");
    }
}

/// All of a file's packets: begin and length in bytes, and the time without it: from the packet before to the
/// one after.
type Parts = Vec<(usize, usize, (RawNs, RawNs))>;

/// By stream file, below the directory.
fn packets(directory: &Path) -> BTreeMap<PathBuf, Parts> {
    let mut files: BTreeMap<PathBuf, Parts> = BTreeMap::new();
    for trace in open(directory) {
        for (number, stream) in trace.streams().iter().enumerate() {
            let clock = trace.clock(number).unwrap();
            let raw = |cycles: Option<u64>| cycles.map(|cycles| RawNs(clock.raw_ns(cycles) as i64));
            for (at, packet) in stream.packets.iter().enumerate() {
                let before = at.checked_sub(1).and_then(|at| raw(stream.packets[at].end()));
                let after = stream.packets.get(at + 1).and_then(|packet| raw(packet.begin()));
                let hole = (before.unwrap_or(RawNs(i64::MIN / 2)), after.unwrap_or(RawNs::MAX));
                let part = (packet.offset as usize, (packet.total_bits / 8) as usize, hole);
                files.entry(trace.packet_path(packet)).or_default().push(part);
            }
        }
    }
    files
}

/// Removes and cuts packets and files of a copy, one at a time. `index`: whether indexes stay; `some`: of so
/// many damages one is tried.
fn damage(original: &Path, copy: &Path, index: bool, some: usize, tally: &mut Tally) {
    copy_all(original, copy, index);
    let whole = deeds(copy);
    let mut turn = 0;
    for (path, parts) in packets(copy) {
        let bytes = fs::read(&path).unwrap();
        let mut one = |damaged: Option<Vec<u8>>, hole, what: &dyn Debug| {
            turn += 1;
            if turn % some != 0 {
                return;
            }
            match damaged {
                Some(damaged) => fs::write(&path, damaged).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
            tally.add(&whole, copy, hole, what);
            fs::write(&path, &bytes).unwrap();
        };
        let name = path.strip_prefix(copy).unwrap();
        let (first, last) = (parts[0].2.0, parts[parts.len() - 1].2.1);
        for (number, &(at, length, hole)) in parts.iter().enumerate() {
            let without = [&bytes[..at], &bytes[at + length..]].concat();
            one(Some(without), hole, &(name, "without packet", number));
            one(Some(bytes[..at + length / 2].to_vec()), (hole.0, last), &(name, "cut in packet", number));
        }
        one(None, (first, last), &(name, "removed"));
        one(Some(Vec::new()), (first, last), &(name, "emptied"));
    }
    fs::remove_dir_all(copy).unwrap();
}

/// Removes the chunks of rotated sessions, one at a time.
fn without_chunks(original: &Path, copy: &Path, tally: &mut Tally) {
    copy_all(original, copy, true);
    let whole = deeds(copy);
    for archives in directories(copy, "archives") {
        let mut chunks: Vec<PathBuf> =
            fs::read_dir(&archives).unwrap().map(|entry| entry.unwrap().path()).collect();
        chunks.sort();
        for chunk in chunks {
            let times = extent(&chunk);
            let aside = copy.with_extension("aside");
            fs::rename(&chunk, &aside).unwrap();
            tally.add(&whole, copy, times, &(chunk.strip_prefix(copy).unwrap(), "removed"));
            fs::rename(&aside, &chunk).unwrap();
        }
    }
    fs::remove_dir_all(copy).unwrap();
}

fn extent(chunk: &Path) -> (RawNs, RawNs) {
    let holes = packets(chunk);
    let traces = open(chunk);
    let hosts = Hosts::group(&traces);
    let all: Vec<_> = hosts.hosts.iter().filter_map(isochrone_hosts::Host::extent).collect();
    assert!(!holes.is_empty() && !all.is_empty());
    (all.iter().map(|it| it.0).min().unwrap(), all.iter().map(|it| it.1).max().unwrap())
}

/// Directories of a name at or below another.
fn directories(directory: &Path, name: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(path.ends_with(name).then(|| path.clone()));
            found.extend(directories(&path, name));
        }
    }
    found.sort();
    found
}

fn copy_all(from: &Path, to: &Path, index: bool) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if !path.is_dir() {
            fs::copy(&path, &target).unwrap();
        } else if index || !path.ends_with("index") {
            copy_all(&path, &target, index);
        }
    }
}

#[test]
fn nothing_is_invented_of_random_hosts() {
    let hosts: u64 = std::env::var("ISOCHRONE_REMOVED").ok().and_then(|n| n.parse().ok()).unwrap_or(40);
    let mut tally = Tally::default();
    for seed in 0..hosts {
        let (kernel, _) = kernel(seed);
        let root = tempfile::tempdir().unwrap();
        let original = root.path().join("whole");
        kernel.clone().losses(0).missing_cpus(0).write(&original).unwrap();
        damage(&original, &root.path().join("copy"), true, 1 + (seed % 3) as usize, &mut tally);
    }
    tally.check("random hosts");
}

/// Hosts whose events are recorded by several channels, so that a CPU may lack one and have the others.
#[test]
fn nothing_is_invented_of_hosts_with_several_channels() {
    const LAYOUTS: [&[(&str, &[&str])]; 3] = [
        &[("rest", &[]), ("sched", &["sched_"])],
        &[("sched", &[]), ("calls", &["syscall_", "compat_syscall_"]), ("net", &["net_", "napi_", "skb_"])],
        &[("rest", &[]), ("calls", &["syscall_"]), ("irq", &["irq_", "timer_"]), ("block", &["block_"])],
    ];
    let hosts: u64 = std::env::var("ISOCHRONE_REMOVED").ok().and_then(|n| n.parse().ok()).unwrap_or(24);
    for index in [true, false] {
        let mut tally = Tally::default();
        for seed in 0..hosts {
            let (kernel, mut random) = kernel(seed);
            let root = tempfile::tempdir().unwrap();
            let original = root.path().join("whole");
            let whole = kernel.cpus(2 + random.below(7) as u32).losses(0).missing_cpus(0);
            let script = whole.script().channels(LAYOUTS[(seed % 3) as usize]);
            script.write(&original).unwrap();
            damage(&original, &root.path().join("copy"), index, 1 + (seed % 5) as usize, &mut tally);
        }
        tally.check(&format!("hosts with several channels, index {index}"));
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn nothing_is_invented_of_real_hosts() {
    let root = tempfile::tempdir().unwrap();
    let check = |path: PathBuf, some: usize| {
        for index in [true, false] {
            let mut tally = Tally::default();
            damage(&path, &root.path().join("copy"), index, some, &mut tally);
            tally.check(&format!("{}, index {index}", path.display()));
        }
    };
    // One of so many damages, so that the test is short; all of them by hand.
    let some = |usual| if std::env::var_os("ISOCHRONE_REMOVED").is_some() { 1 } else { usual };
    for part in ["vm/rot2/h1", "vm/hog2/h2", "vm/web2/h1", "ust/rotated"] {
        check(shared(part), some(7));
    }
    for part in ["vm/hog2/h1", "vm/web2/h2", "vm/rot2/h2", "vm/chain3"] {
        check(shared(part), some(19));
    }
    let packed = tempfile::tempdir().unwrap();
    check(unpacked("vm/snap2", packed.path()), some(7));
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn chunks_that_are_removed() {
    let root = tempfile::tempdir().unwrap();
    for part in ["vm/rot2", "ust/rotated", "vm/phases3"] {
        let path = shared(part);
        let mut tally = Tally::default();
        without_chunks(&path, &root.path().join("copy"), &mut tally);
        tally.check(part);
    }
}
