//! What several tests of matching need: sightings as a source, all messages of some hosts, and the traces
//! beside the project.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use isochrone_corrections::Clocks;
use isochrone_corrections::artefact::Artefact;
use isochrone_ctf::Trace;
use isochrone_files::Inputs;
use isochrone_hosts::clocks;
use isochrone_matching::{Message, Summary};
use isochrone_matching::{PacketSource, extract, match_sources};
use isochrone_net::Sighting;
use isochrone_testkit::Cluster;
use isochrone_time::{RawNs, Window};

/// Where this part of the public data lies. Tests that need it are ignored where it is absent, as `build.rs`
/// finds.
pub fn shared(part: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(part);
    assert!(path.is_dir(), "{} is not there", path.display());
    path
}

/// Sightings of one clock in the order of time.
pub struct Listed {
    clock: usize,
    sightings: Vec<Sighting>,
    at: usize,
}

impl PacketSource for Listed {
    fn clock(&self) -> usize {
        self.clock
    }

    fn span(&self) -> Option<Window<RawNs>> {
        Some(Window::new(self.sightings.first()?.time, self.sightings.last()?.time))
    }

    fn read_until(&mut self, limit: RawNs, most: usize, out: &mut Vec<Sighting>) -> Option<RawNs> {
        while let Some(next) = self.sightings.get(self.at) {
            if next.time > limit || out.len() >= most {
                return Some(next.time);
            }
            out.push(next.clone());
            self.at += 1;
        }
        None
    }
}

/// The messages among some sightings, sorted, read in rounds as they come.
pub fn messages(sightings: &[Sighting], offsets_ns: &[i64]) -> (Vec<Message>, Summary) {
    let listed = |clock: usize| {
        let mut sightings: Vec<_> = sightings.iter().filter(|s| s.clock == clock).cloned().collect();
        sightings.sort_by_key(|sighting| sighting.time);
        Listed { clock, sightings, at: 0 }
    };
    let mut listed: Vec<Listed> = (0..offsets_ns.len()).map(listed).collect();
    let mut sources: Vec<&mut dyn PacketSource> =
        listed.iter_mut().map(|source| source as &mut dyn PacketSource).collect();
    let mut messages = Vec::new();
    let summary =
        match_sources(&mut sources, offsets_ns, Vec::new(), &mut |found| messages.push(found.message()));
    messages.sort_unstable();
    (messages, summary)
}

/// The names of the hosts at or below some paths, by clock, and what their packets give.
pub fn messages_of(arguments: &[PathBuf]) -> (Vec<String>, Vec<Message>, Summary) {
    let inputs = Inputs::open(arguments);
    let traces: Vec<&Trace> = inputs.traces.iter().map(|input| &input.trace).collect();
    let clocks = clocks::group(&traces);
    let mut stamped = Vec::new();
    for (number, clock) in clocks.iter().enumerate() {
        stamped.extend(clock.traces.iter().map(|&trace| (traces[trace], number)));
    }
    let sightings = extract(&stamped, &|_| {}).sightings;
    let offsets: Vec<i64> = clocks.iter().map(|clock| clock.offset_ns).collect();
    let (messages, summary) = messages(&sightings, &offsets);
    (clocks.into_iter().map(|clock| clock.host).collect(), messages, summary)
}

/// A scenario as a directory.
pub fn unpacked(path: &Path, scratch: &Path) -> PathBuf {
    let name = path.file_name().unwrap().to_str().unwrap();
    let Some(plain_name) = name.strip_suffix(".tar.zst") else { return path.to_owned() };
    if !scratch.join(plain_name).is_dir() {
        let mut tar =
            Command::new("tar").arg("-xf-").current_dir(scratch).stdin(Stdio::piped()).spawn().unwrap();
        std::io::Write::write_all(&mut tar.stdin.take().unwrap(), &plain(path)).unwrap();
        assert!(tar.wait().unwrap().success());
    }
    scratch.join(plain_name)
}

/// What is packed in a file.
pub fn plain(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    zstd::Decoder::new(std::fs::File::open(path).unwrap()).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

/// The bounds between every two hosts hold the truth, either way, and so do the rows of their link, and the
/// instants between.
pub fn check_pairs(cluster: &Cluster, artefact: &Artefact) {
    let number = |name: &str| cluster.hosts.iter().position(|host| host.name == name).unwrap();
    let clocks = Clocks::new(artefact).unwrap();
    for from in clocks.iter() {
        for to in clocks.iter().filter(|to| to.number != from.number && to.entry.island == from.entry.island)
        {
            let (a, b) = (from.entry.host.as_str(), to.entry.host.as_str());
            let truth = cluster.truth(number(a), number(b)).unwrap();
            let rows = from.interval.rows();
            let (begin, end) = (rows[0].raw, rows[rows.len() - 1].raw);
            let links = artefact.links.iter().filter(|link| (link.a.as_str(), link.b.as_str()) == (a, b));
            let of_link = links.flat_map(|link| &link.interval).map(|row| row.0).filter(|raw| *raw <= end);
            let mut known = 0;
            for raw in (0..=50).map(|step| begin + (end - begin) / 50 * step).chain(of_link) {
                let related = clocks.related(from, to, RawNs(raw)).unwrap();
                let (lo, hi) = related.bounds;
                let (lo, hi) = (lo.map_or(i64::MIN / 2, RawNs::ns), hi.map_or(i64::MAX / 2, RawNs::ns));
                let true_raw = truth(raw);
                // The simulated clocks are rounded down to whole ns, twice on the way.
                assert!(
                    lo - 2 <= true_raw && true_raw <= hi + 2,
                    "{a} to {b} at {raw}: {true_raw} {related:?}"
                );
                known += usize::from(hi - lo < 1_000_000_000);
            }
            assert!(known > 25, "{a} to {b}: bounds are known at {known} instants");
        }
    }
}
