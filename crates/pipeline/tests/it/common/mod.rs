//! What the tests share: a mapper that keeps everything in order, traces written byte by byte, the traces
//! beside the project.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use isochrone_ctf::{Trace, find_traces};
use isochrone_hosts::{Host, HostEvents, Item};
use isochrone_pipeline::{Border, Cuts, MapMerge, Piece, PieceModel, Plan, map_merge};
use isochrone_time::RawNs;

/// An item of a host in a form that can be compared: time, source, own time in cycles, class, packet; or a
/// loss, or a gap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    Event(RawNs, usize, u64, u64, u64),
    LossBegin(isochrone_hosts::StreamLossBegin),
    Loss(isochrone_hosts::StreamLoss),
    Gap(RawNs, RawNs),
}

/// Keeps all that is said, and adds to each model where it begins and ends.
pub struct Keep;

impl MapMerge for Keep {
    type Model = Vec<Said>;
    type Error = String;

    fn map<'t>(&self, _: &Host<'t>, piece: Piece, events: &mut HostEvents<'_, 't>) -> Vec<Said> {
        let mut has_begun = false;
        let said = events.filter_map(|item| {
            Some(match item {
                Item::Event { time, source, event } => {
                    has_begun = true;
                    assert!(piece.window().contains(time), "{time} is not in {piece:?}");
                    let packet = event.packet();
                    Said::Event(time, source, event.cycles().unwrap(), event.class().id, packet.offset)
                }
                Item::Loss(loss) => {
                    assert!(piece.window().contains(loss.to), "{loss:?} is not in {piece:?}");
                    Said::Loss(loss)
                }
                // Said again for each piece that it reaches into.
                Item::LossBegin(begin) if !begin.is_in(piece.window()) => {
                    assert!(!has_begun && begin.loss.to >= piece.from.time(), "{begin:?} in {piece:?}");
                    return None;
                }
                Item::LossBegin(begin) => {
                    has_begun = true;
                    Said::LossBegin(begin)
                }
            })
        });
        said.collect()
    }

    fn gap(&self, _: &Host<'_>, from: RawNs, to: RawNs) -> Vec<Said> {
        vec![Said::Gap(from, to)]
    }

    fn merge(&self, mut left: Vec<Said>, right: Vec<Said>) -> Result<Vec<Said>, String> {
        left.extend(right);
        Ok(left)
    }
}

pub fn kept(host: &Host<'_>, cuts: &Cuts, threads: usize) -> PieceModel<Vec<Said>> {
    map_merge(host, &Plan::new(host, cuts), threads, &Keep, None).unwrap()
}

/// All that is said of a host; whatever the cuts, it is the same.
pub fn same_for_all_cuts(host: &Host<'_>) -> PieceModel<Vec<Said>> {
    let whole = kept(host, &Cuts::Whole, 1);
    let times: Vec<RawNs> = whole
        .model
        .iter()
        .map(|said| match said {
            Said::Event(time, ..) | Said::Gap(time, _) => *time,
            Said::Loss(loss) => loss.to,
            Said::LossBegin(begin) => begin.at,
        })
        .collect();
    let every = times.len().div_ceil(40).max(1);
    let on_events: Vec<RawNs> = times.iter().step_by(every).copied().collect();
    let after_events = on_events.iter().map(|time| time.saturating_add(1)).collect();
    let all = [
        (Cuts::Times(7), 2),
        (Cuts::Bytes(13), 3),
        (Cuts::Packets(9), 1),
        (Cuts::Packets(usize::MAX), 2),
        (Cuts::Archives, 1),
        (Cuts::At(on_events), 2),
        (Cuts::At(after_events), 1),
        (Cuts::At(vec![RawNs::MIN, RawNs(-1), RawNs(0), RawNs::MAX]), 1),
    ];
    for (cuts, threads) in all {
        let cut = kept(host, &cuts, threads);
        if let Some(place) = (0..whole.model.len()).find(|&n| cut.model.get(n) != whole.model.get(n)) {
            let near =
                |said: &[Said]| format!("{:?}", &said[place.min(said.len())..(place + 3).min(said.len())]);
            panic!("{cuts:?}: item {place}:\n{}\nnot\n{}", near(&cut.model), near(&whole.model));
        }
        assert_eq!(cut.model.len(), whole.model.len(), "{cuts:?}");
        assert_eq!(cut.report, whole.report, "{cuts:?}");
    }
    let events = whole.model.iter().filter(|said| matches!(said, Said::Event(..))).count();
    assert_eq!(events as u64, whole.report.events);
    whole
}

/// The traces at or below a directory, as their paths are.
pub fn open(directory: &Path) -> Vec<Trace> {
    let found = find_traces(directory).unwrap().traces;
    found.iter().map(|path| Trace::open(path).unwrap()).collect()
}

/// Where this part of the public data lies. Tests that need it are ignored where it is absent, as `build.rs`
/// finds.
pub fn shared(part: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(part);
    assert!(path.is_dir(), "{} is not there", path.display());
    path
}

/// The example that maps and merges pieces; `cargo test` builds it unless a target is chosen.
pub fn map_merge_example() -> PathBuf {
    let this = std::env::current_exe().unwrap();
    let path = this.parent().unwrap().parent().unwrap().join("examples/map_merge");
    assert!(path.exists(), "cargo build -p isochrone-pipeline --example map_merge must come first");
    path
}

/// Calls the example, and gives what it prints.
pub fn call(example: &Path, arguments: &[&str]) -> String {
    let output = Command::new(example).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A border as the example takes it.
pub fn shown(border: Border) -> String {
    match border {
        Border::At(time) => time.to_string(),
        Border::Begin | Border::End => "-".to_owned(),
    }
}

/// As [`shared`], for a part that lies there packed: it is unpacked into a directory.
pub fn unpacked(part: &str, directory: &Path) -> PathBuf {
    let (above, name) = part.rsplit_once('/').unwrap();
    let packed = shared(above).join(format!("{name}.tar.zst"));
    let bytes = zstd::decode_all(std::fs::File::open(packed).unwrap()).unwrap();
    let mut tar =
        Command::new("tar").arg("-xf-").current_dir(directory).stdin(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut tar.stdin.take().unwrap(), &bytes).unwrap();
    assert!(tar.wait().unwrap().success());
    directory.join(name)
}

/// A packet of a trace that is written byte by byte: begin, end, number, discarded events, times of its
/// events, whether it breaks after them.
#[derive(Debug, Clone, Default)]
pub struct Raw {
    pub begin: u64,
    pub end: u64,
    pub number: u64,
    pub discarded: u64,
    pub times: Vec<u64>,
    pub breaks: bool,
}

/// Writes a trace of one stream file per list of packets.
pub fn write_raw(directory: &Path, streams: &[Vec<Raw>]) {
    let integer = |size: u32, name: &str, more: &str| {
        format!("integer {{ size = {size}; align = 8; {more} }} {name}; ")
    };
    let map = "map = clock.c.value;";
    let context: String = [
        integer(32, "packet_size", ""),
        integer(32, "content_size", ""),
        integer(64, "timestamp_begin", map),
        integer(64, "timestamp_end", map),
        integer(64, "packet_seq_num", ""),
        integer(64, "events_discarded", ""),
        integer(32, "cpu_id", ""),
    ]
    .concat();
    let header = integer(8, "id", "") + &integer(64, "timestamp", map);
    let metadata = format!(
        "/* CTF 1.8 */ trace {{ major = 1; minor = 8; byte_order = le; uuid = \"12345678-1234-1234-1234-123456789abc\"; \
         packet.header := struct {{ {} }}; }}; env {{ hostname = \"raw\"; domain = \"kernel\"; }}; \
         clock {{ name = c; uuid = \"12345678-1234-1234-1234-123456789abd\"; freq = 1000000000; }}; \
         stream {{ packet.context := struct {{ {context} }}; event.header := struct {{ {header} }}; }}; \
         event {{ name = x; id = 0; fields := struct {{ {} }}; }};",
        integer(32, "stream_instance_id", ""),
        integer(8, "n", ""),
    );
    std::fs::create_dir_all(directory).unwrap();
    std::fs::write(directory.join("metadata"), metadata).unwrap();
    for (cpu, packets) in (0_u32..).zip(streams) {
        let bytes: Vec<u8> = packets.iter().flat_map(|packet| packet.bytes(cpu)).collect();
        std::fs::write(directory.join(format!("s_{cpu}")), bytes).unwrap();
    }
}

impl Raw {
    fn bytes(&self, cpu: u32) -> Vec<u8> {
        let mut events: Vec<u8> = Vec::new();
        for time in &self.times {
            events.push(0);
            events.extend(time.to_le_bytes());
            events.push(7);
        }
        if self.breaks {
            events.extend([99; 10]);
        }
        let bits = (4 + 4 + 4 + 8 * 4 + 4 + events.len() as u32) * 8;
        let mut bytes = cpu.to_le_bytes().to_vec();
        bytes.extend([bits, bits].iter().flat_map(|word| word.to_le_bytes()));
        let words = [self.begin, self.end, self.number, self.discarded];
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        bytes.extend(cpu.to_le_bytes());
        bytes.extend(events);
        bytes
    }
}
