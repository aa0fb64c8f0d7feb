//! Excerpts of events that somebody else reads are those of events that are read again.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use isochrone_ctf::write::{Choose, ClassCount, ExcerptFile, ExcerptWriter, SeenPacket};
use isochrone_ctf::{Error, Event, Schemas, Trace};

use crate::common::random::Random;
use crate::common::shared::{shared, traces};

/// A choice that depends on a number, the class and the time of each event.
#[derive(Clone)]
struct Drawn {
    seed: u64,
    /// By stream.
    windows: Vec<Range<u64>>,
    /// By stream: packets until the candidates are settled.
    unsettled: Vec<u64>,
}

impl Drawn {
    fn new(trace: &Trace, random: &mut Random) -> Self {
        let windows = (0..trace.streams().len()).map(|stream| {
            let times: Vec<u64> = trace.events(stream).filter_map(|event| event.cycles()).collect();
            let mut some = || times.get(random.below(times.len() as u64 + 1) as usize).copied();
            let (one, other) = (some().unwrap_or(0), some().unwrap_or(u64::MAX));
            if trace.clock(stream).is_some() { one.min(other)..one.max(other) } else { 0..0 }
        });
        let windows: Vec<Range<u64>> = windows.collect();
        let unsettled = windows.iter().map(|_| random.below(3)).collect();
        Self { seed: random.next(), windows, unsettled }
    }

    fn wants(&self, class: usize) -> bool {
        Random(self.seed ^ class as u64).below(3) == 0
    }
}

impl Choose for Drawn {
    fn window(&self, stream: usize) -> Range<u64> {
        self.windows[stream].clone()
    }

    fn is_candidate(&self, stream: usize, class: usize) -> bool {
        self.wants(class) || !self.is_settled(stream)
    }

    fn is_settled(&self, stream: usize) -> bool {
        self.unsettled[stream] == 0
    }

    fn choose(&mut self, stream: usize, events: &[Event<'_>], flags: &mut [bool]) {
        self.unsettled[stream] = self.unsettled[stream].saturating_sub(1);
        let last = events.len().saturating_sub(1);
        for (index, (event, flag)) in events.iter().zip(flags).enumerate() {
            let at = event.cycles().unwrap_or(0);
            let is_drawn = self.wants(event.class().index) && Random(self.seed ^ at).flip();
            *flag = is_drawn || !self.windows[stream].contains(&at) || index == 0 || index == last;
        }
    }
}

/// The files of an excerpt, and the counts; `None`: it cannot be expressed.
type Written = Option<(Vec<ExcerptFile>, Vec<Vec<ClassCount>>)>;

/// Writes an excerpt, of which `put` was written before.
fn finish(writer: ExcerptWriter<'_, Drawn>, put: &HashMap<(usize, usize), Vec<u8>>) -> Written {
    let mut files = Vec::new();
    let made = |stream, packet, bytes: &mut Vec<u8>| {
        bytes.extend_from_slice(&put[&(stream, packet)]);
        Ok::<(), Error>(())
    };
    let counts = writer.finish(made, |file| {
        files.push(file);
        Ok(())
    });
    Some((files, counts.ok()?))
}

/// An excerpt of a trace without an index lacks what the trace lacks.
fn lacks_the_same(trace: &Trace, random: &mut Random, name: &str) {
    let written = finish(ExcerptWriter::new(trace, Drawn::new(trace, random)), &HashMap::new());
    let Some((files, _)) = written else { return };
    let files = files.into_iter().map(|file| (file.name, file.bytes)).collect();
    let text = trace.metadata_text().to_owned();
    let excerpt = Trace::in_memory(trace.path(), text, files, &Schemas::default()).unwrap();
    let lacks = |trace: &Trace| {
        let losses: Vec<_> = (0..trace.streams().len()).map(|stream| trace.losses(stream)).collect();
        (trace.diagnostics().iter().any(isochrone_ctf::Diagnostic::is_loss), losses)
    };
    assert_eq!(lacks(&excerpt), lacks(trace), "{name}");
}

/// Reads a trace as somebody may who looks for something: leaves out packets, stops within them, and goes on
/// there, later, or in others. Gives how many packets were written before their files.
fn check(trace: &Trace, random: &mut Random, name: &str) -> usize {
    let choice = Drawn::new(trace, random);
    let whole = finish(ExcerptWriter::new(trace, choice.clone()), &HashMap::new());
    let mut writer = ExcerptWriter::new(trace, choice);
    let streams = 0..trace.streams().len();
    let mut seen: Vec<SeenPacket> = streams.map(|stream| writer.seen_packet(stream)).collect();
    let mut put = HashMap::new();
    // By stream: the next packet, and the next event of it.
    let mut places = vec![(0, 0); trace.streams().len()];
    let (mut left, mut is_refused): (Vec<usize>, bool) = ((0..places.len()).collect(), false);
    while !left.is_empty() && !is_refused {
        let chosen = random.below(left.len() as u64) as usize;
        let stream = left[chosen];
        let (packet, from) = places[stream];
        if packet >= trace.streams()[stream].packets.len() {
            left.swap_remove(chosen);
            continue;
        }
        let (skips, stops) = (random.below(8) == 0, random.below(6) == 0);
        let until = if stops { from + random.below(20) as usize } else { usize::MAX };
        let mut read = from;
        if !skips {
            for event in trace.packet(stream, packet).skip(from).take(until - from) {
                read += 1;
                if seen[stream].see(&event) {
                    is_refused |= writer
                        .write_seen(&mut seen[stream], &event, |stream, packet, bytes| {
                            put.insert((stream, packet), bytes.to_vec());
                            Ok::<(), Error>(())
                        })
                        .is_err();
                }
            }
        }
        // Of a packet that it stopped in, the rest comes next, or never.
        places[stream] = if stops && !skips && random.flip() { (packet, read) } else { (packet + 1, 0) };
        if stops && read == from {
            places[stream] = (packet + 1, 0);
        }
    }
    match is_refused {
        true => assert!(whole.is_none(), "{name}: it can be expressed"),
        false => assert!(finish(writer, &put) == whole, "{name}: other bytes, or other counts"),
    }
    put.len()
}

/// The same of copies of a trace with some bits turned around, and files that were cut off.
fn check_damaged(path: &Path, times: u64, random: &mut Random) -> usize {
    let Ok(trace) = Trace::open(path) else { return 0 };
    let mut written = check(&trace, random, &path.display().to_string());
    let names: Vec<&str> = trace.file_names().collect();
    let files = names.iter().map(|name| (name.to_string(), std::fs::read(path.join(name)).unwrap()));
    let files: Vec<(String, Vec<u8>)> = files.collect();
    for number in (0..times).filter(|_| !files.is_empty()) {
        let mut damaged = files.clone();
        for _ in 0..=random.below(6) {
            let file = random.below(damaged.len() as u64) as usize;
            let bytes = &mut damaged[file].1;
            if !bytes.is_empty() {
                let at = random.below(bytes.len() as u64) as usize;
                bytes[at] ^= 1 << random.below(8);
            }
            if random.below(4) == 0 {
                bytes.truncate(bytes.len() - random.below(bytes.len() as u64 / 2 + 1) as usize);
            }
        }
        let metadata = trace.metadata_text().to_owned();
        let Ok(damaged) = Trace::in_memory(path, metadata, damaged, &Schemas::default()) else { continue };
        let name = format!("{} with damage {number}", path.display());
        lacks_the_same(&damaged, random, &name);
        written += check(&damaged, random, &name);
    }
    written
}

#[test]
fn excerpts_of_events_that_were_seen() {
    let shop = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop");
    let mut random = Random(1);
    let parts: Vec<PathBuf> = ["client", "app", "db"].map(|host| shop.join(host).join("kernel")).to_vec();
    let written: usize = parts.iter().map(|path| check_damaged(path, 30, &mut random)).sum();
    assert!(written > 100, "{written}");
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared")]
fn excerpts_of_other_tracers() {
    let mut random = Random(2);
    let mut written = 0;
    for path in traces(&["ctf/traces", "ust", "vm/ping5"]) {
        let size: u64 =
            std::fs::read_dir(&path).unwrap().flatten().map(|it| it.metadata().unwrap().len()).sum();
        if size < 4 << 20 {
            written += check_damaged(&path, 3, &mut random);
        }
    }
    assert!(written > 100, "{written} in {}", shared("ctf").display());
}
