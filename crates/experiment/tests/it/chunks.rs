//! Chunks that are mapped alone, where nothing else of their session is, and put together in any order: what
//! is read of them is what is read of the session, without the chunks that are not there.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use isochrone_analysis::HostContext;
use isochrone_ctf::Trace;
use isochrone_experiment::chunks::{ChunkHead, Excerpts, merge_chunks, write_chunks};
use isochrone_experiment::pieces::{Asked, Part, Pass, map_spans};
use isochrone_experiment::{Inputs, ModelError, ModelledHost, Opened, Spread, Wanted, model, scratch};
use isochrone_files::piece::{NewSection, PieceFile, SectionWriter};
use isochrone_kernel::Recorder;
use isochrone_testkit::{Random, RandomKernel};

/// This many seeds, unless `ISOCHRONE_SEEDS` says otherwise.
fn seeds(usual: u64) -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = number("ISOCHRONE_FIRST_SEED").unwrap_or(0);
    first..first + number("ISOCHRONE_SEEDS").unwrap_or(usual)
}

/// Within this time all CPUs turn from a chunk to the next, ns of the script.
const SEAM: u64 = 5_000;

/// Writes what random hosts do as chunks of a rotated session: each CPU turns to the next chunk at another
/// instant, up to 50 ms after the first one. `has_late`: one may come up late.
fn rotate(kernel: &RandomKernel, session: &Path, chunks: usize, has_late: bool, random: &mut Random) {
    let [plain, cut] = [(), ()].map(|()| tempfile::tempdir().unwrap());
    let script = |directory: &Path, turns: &[Vec<u64>], channels: bool, late: Option<(u32, u64)>| {
        let mut script = kernel.script();
        if channels {
            script = script.channels(&[("rest", &[]), ("sched", &["sched_"]), ("irq", &["irq_"])]);
        }
        if let Some((cpu, time)) = late {
            script.comes_up(cpu, time);
            script.at(time + 1);
            script.new_packet(cpu);
        }
        for (cpu, turns) in (0..).zip(turns) {
            for &turn in turns {
                script.at(turn);
                script.new_packet(cpu);
            }
        }
        script.write(directory).unwrap();
        Trace::open(directory).unwrap()
    };
    let channels = random.permille(300);
    let trace = script(plain.path(), &[], channels, None);
    let packets = || trace.streams().iter().flat_map(|stream| &stream.packets);
    let first = packets().filter_map(isochrone_ctf::Packet::begin).min().unwrap_or(0);
    let last = packets().filter_map(isochrone_ctf::Packet::end).max().unwrap_or(0);
    let turn = |chunk: usize| first + (last - first) * chunk as u64 / chunks as u64;
    let turns: Vec<Vec<u64>> =
        (0..16).map(|_| (1..chunks).map(|chunk| turn(chunk) + random.below(SEAM)).collect()).collect();
    let cpus = trace.streams().iter().filter_map(|stream| cpu_of(&stream.file)).max().unwrap_or(0);
    // A CPU that comes up late is one that no other CPU's number exceeds: else its file would be missed.
    // Where it comes up while others turn, no chunk alone shows that.
    let late = (has_late && cpus > 0 && random.permille(350))
        .then(|| (cpus as u32, first + random.below(last - first)))
        .filter(|(_, at)| (1..chunks).all(|chunk| !(turn(chunk)..turn(chunk) + SEAM).contains(at)));
    let trace = script(cut.path(), &turns[..=cpus], channels, late);
    // Random hosts do in a millisecond what takes ten seconds here.
    let mut metadata = std::fs::read(trace.path().join("metadata")).unwrap();
    let (fast, slow) = (b"freq = 1000000000", b"freq =     100000");
    let frequency = metadata.windows(fast.len()).position(|text| text == fast).unwrap();
    metadata[frequency..frequency + slow.len()].copy_from_slice(slow);
    for chunk in 0..chunks {
        let directory = session.join("archives").join(chunk.to_string()).join("kernel");
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join("metadata"), &metadata).unwrap();
        for stream in trace.streams() {
            let turns = &turns[cpu_of(&stream.file).unwrap_or(0)];
            let is_in = |begin: u64| turns.iter().filter(|&&turn| turn <= begin).count() == chunk;
            let of_chunk = stream.packets.iter().filter(|packet| packet.begin().is_some_and(is_in));
            let mut content: Vec<u8> =
                of_chunk.flat_map(|packet| trace.packet_bytes(packet)).copied().collect();
            // What was copied from a host that crashed ends somewhere.
            if random.permille(40) {
                content.truncate(content.len() - random.below(content.len().min(200) as u64) as usize);
            }
            let begins = stream.packets.first().and_then(isochrone_ctf::Packet::begin);
            let is_there = late.is_none_or(|(cpu, time)| {
                cpu_of(&stream.file) != Some(cpu as usize)
                    || turns.get(chunk).is_none_or(|&turn| turn > begins.unwrap_or(time))
            });
            if is_there {
                std::fs::write(directory.join(&stream.file), content).unwrap();
            }
        }
    }
}

/// The CPU of a stream file.
fn cpu_of(file: &str) -> Option<usize> {
    file.rsplit_once('_')?.1.parse().ok()
}

/// Maps what lies at a path, and nothing else. Gives the number of its cores.
pub(crate) fn map_alone(path: &Path, piece: &Path) -> usize {
    let opened = Opened::unsynchronized(Inputs::open(&[path.to_owned()]));
    let experiment = opened.experiment();
    let hosts: Vec<_> = experiment.hosts().iter().collect();
    let head = ChunkHead { asked: Asked::spans(), has_spans: true };
    let one = Spread { threads: NonZeroUsize::new(1), pieces: None };
    let map = |pass: Pass<'_>| map_spans(&head.asked, &hosts, &[], pass, &scratch());
    let (mapped, excerpts) = Excerpts::beside(&experiment, &hosts, Pass::of(Part::Core, one), map);
    let mapped: Vec<_> = mapped.into_iter().filter_map(|piece| piece.unwrap()).collect();
    write_chunks(&experiment, &head, excerpts.unwrap(), &mapped, piece).unwrap();
    // Excerpts of the events that were read for the models are those of the events read again.
    let again = piece.with_extension("again");
    write_chunks(&experiment, &head, Excerpts::new(&experiment, &hosts).unwrap(), &mapped, &again).unwrap();
    assert!(std::fs::read(piece).unwrap() == std::fs::read(&again).unwrap(), "{}", path.display());
    std::fs::remove_file(again).unwrap();
    mapped.len()
}

/// All that is read of some paths, in one form; of traces that are cut into some pieces.
fn read(paths: &[PathBuf], pieces: usize) -> Result<String, ModelError> {
    let spread = Spread { threads: NonZeroUsize::new(1), pieces: NonZeroUsize::new(pieces) };
    let opened = Opened::unsynchronized(Inputs::open(paths));
    let experiment = opened.experiment();
    let mut all = String::new();
    if let Some(chunks) = experiment.chunks() {
        for host in experiment.hosts() {
            let unfit: Vec<_> = chunks.unfit(&host.traced).map(|(_, difference)| difference).collect();
            for difference in unfit {
                all += &format!("{difference}\n");
            }
        }
    }
    let hosts: Vec<_> = experiment.hosts().iter().collect();
    for host in model(&hosts, spread, &Wanted::default(), |_, _| Recorder::default, None) {
        let host: ModelledHost<'_, Recorder> = host?;
        let mut spans: Vec<String> = host.model.spans.0.iter().map(|span| format!("{span:?}")).collect();
        spans.sort_unstable();
        let threads: Vec<String> = host.model.threads.iter().map(|thread| format!("{thread:?}")).collect();
        all += &format!("{} {:?} {:?}\n{}\n", host.name(), host.window(), host.report, host.model.events);
        all += &[spans, threads].concat().join("\n");
    }
    Ok(all)
}

/// The first line in which two texts differ.
fn difference(expected: &str, found: &str) -> Option<String> {
    let mut lines = expected.lines().zip(found.lines());
    let differs = lines.find(|(a, b)| a != b).map(|(a, b)| format!("\n{a}\n{b}"));
    differs.or((expected != found)
        .then(|| format!("{} and {} lines", expected.lines().count(), found.lines().count())))
}

#[test]
fn chunks_mapped_alone_are_the_session() {
    let (mut cores, mut failures) = (0, Vec::new());
    for seed in seeds(40) {
        let mut random = Random::new(seed ^ 0x00c4_0c4e);
        let kernel = RandomKernel::of_any_kind(seed, &mut random).missing_cpus(0);
        let kernel = kernel.packet_events(1 + random.below(30));
        let [session, pieces] = [(), ()].map(|()| tempfile::tempdir().unwrap());
        let chunks = 1 + random.below(5) as usize;
        // Some chunks never come.
        let is_dropped: Vec<bool> = (0..chunks).map(|_| chunks > 1 && random.permille(150)).collect();
        rotate(&kernel, session.path(), chunks, !is_dropped.contains(&true), &mut random);
        let archives = session.path().join("archives");
        let mut files = Vec::new();
        for (chunk, &is_dropped) in is_dropped.iter().enumerate() {
            let path = archives.join(chunk.to_string());
            if is_dropped {
                std::fs::remove_dir_all(&path).unwrap();
                continue;
            }
            let piece = pieces.path().join(format!("{chunk}.piece"));
            cores += map_alone(&path, &piece);
            files.insert(random.below(files.len() as u64 + 1) as usize, piece);
        }
        if files.is_empty() {
            continue;
        }
        let whole = read(std::slice::from_ref(&archives), 1).unwrap();
        let cut = read(std::slice::from_ref(&archives), 2 + random.below(6) as usize);
        let found = read(&files, 1);
        let merged = pieces.path().join("merged");
        merge_chunks(&files, &merged).unwrap();
        for found in [cut, found, read(&[merged], 1)] {
            let differs = match found {
                Ok(found) => difference(&whole, &found),
                Err(error) => Some(error.to_string()),
            };
            if let Some(differs) = differs {
                failures.push(format!(
                    "seed {seed}: {chunks} chunks, dropped {is_dropped:?}: {kernel:?}: {differs}"
                ));
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} failures: {}",
        failures.len(),
        failures[..failures.len().min(3)].join("\n")
    );
    assert!(cores > 20, "{cores} cores");
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared")]
fn excerpts_of_real_traces_are_those_of_events_read_again() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let directory = tempfile::tempdir().unwrap();
    let mut mapped = 0;
    for part in ["vm/rot2", "vm/phases3", "vm/web2", "vm/lossy2", "vm/mpi4", "ust", "ctf", "lttng-analyses"] {
        mapped += map_alone(&shared.join(part), &directory.path().join("piece"));
    }
    assert!(mapped > 10, "{mapped}");
}

/// A file of two chunks with other bytes in it: as it is, or in the content of a section that is sealed
/// again.
fn damaged(whole: &Path, to: &Path, random: &mut Random) {
    if random.permille(300) {
        let mut bytes = std::fs::read(whole).unwrap();
        match random.permille(500) {
            true => bytes.truncate(random.below(bytes.len() as u64) as usize),
            false => {
                let at = random.below(bytes.len() as u64) as usize;
                bytes[at] ^= 1 << random.below(8);
            }
        }
        return std::fs::write(to, bytes).unwrap();
    }
    let file = PieceFile::open(whole).unwrap();
    let mut sections = SectionWriter::new(std::fs::File::create(to).unwrap()).unwrap();
    let chosen = random.below(file.sections.len() as u64) as usize;
    for (number, section) in file.sections.iter().enumerate() {
        let mut content = file.read(section).unwrap();
        if number == chosen {
            for _ in 0..=random.below(4) {
                let at = random.below(content.len() as u64) as usize;
                content[at] = random.below(256) as u8;
            }
            if random.permille(100) {
                content.truncate(random.below(content.len() as u64) as usize);
            }
        }
        let mut new = NewSection::new().unwrap();
        new.write_all(&content).unwrap();
        sections.add(section.kind, section.version, new).unwrap();
    }
    sections.finish().unwrap();
}

#[test]
fn damaged_files_of_chunks_are_refused_or_read() {
    let directory = tempfile::tempdir().unwrap();
    let mut random = Random::new(7);
    let kernel = RandomKernel::of_any_kind(3, &mut random).missing_cpus(0);
    rotate(&kernel, directory.path(), 2, false, &mut random);
    let files = [0, 1].map(|chunk| {
        let piece = directory.path().join(format!("{chunk}.piece"));
        map_alone(&directory.path().join("archives").join(chunk.to_string()), &piece);
        piece
    });
    let [whole, bad] = ["whole", "bad"].map(|name| directory.path().join(name));
    merge_chunks(&files, &whole).unwrap();
    let mut refused = 0;
    for _ in 0..300 {
        damaged(&whole, &bad, &mut random);
        let inputs = Inputs::open(std::slice::from_ref(&bad));
        let opened = Opened::unsynchronized(inputs);
        let experiment = opened.experiment();
        let hosts: Vec<_> = experiment.hosts().iter().collect();
        let spread = Spread { threads: NonZeroUsize::new(1), pieces: None };
        let models = model(&hosts, spread, &Wanted::default(), |_, _| Recorder::default, None);
        refused += usize::from(hosts.is_empty() || models.iter().any(Result::is_err));
    }
    assert!(refused > 50, "{refused} of 300");
}
