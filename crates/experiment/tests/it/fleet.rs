//! Pieces of many hosts, each with many chunks that were mapped alone: merged in one go, they are the hosts.
//!
//! `ISOCHRONE_FLEET=1000x100` takes that many hosts and chunks of each, and prints what each stage took. Of
//! fleets with more chunks than a process can map into its memory as traces, some hosts are compared. What is
//! made stays in the directory `ISOCHRONE_FLEET_DIR`, and is used again.

#![allow(clippy::print_stdout)] // Says what it measured.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use isochrone_analysis::HostContext;
use isochrone_experiment::chunks::merge_chunks;
use isochrone_experiment::{Experiment, Inputs, ModelledHost, Opened, Spread, TimeBase, Wanted, model};
use isochrone_kernel::Recorder;
use isochrone_pipeline::map_in_order;
use isochrone_sync::Options;
use isochrone_testkit::{Cluster, Family, Random, Simulation};

use crate::chunks::map_alone;

/// Hosts, and chunks of each.
fn size() -> (usize, u64) {
    let text = std::env::var("ISOCHRONE_FLEET").unwrap_or_else(|_| "6x8".to_owned());
    let (hosts, chunks) = text.split_once('x').expect("HOSTSxCHUNKS");
    (hosts.parse().unwrap(), chunks.parse().unwrap())
}

/// Chunks of a fleet at most that are compared all: each takes mappings of memory, of which a process has
/// 65,530.
const MAX_COMPARED: u64 = 10_000;
/// Hosts that are compared of larger fleets, and that are in memory at a time.
const SOME_HOSTS: usize = 20;

/// Of each host its window and what is in its model, which are on its own clock.
fn models(experiment: &Experiment<'_>) -> BTreeMap<String, String> {
    let hosts: Vec<_> = experiment.hosts().iter().collect();
    let mut all = BTreeMap::new();
    for hosts in hosts.chunks(SOME_HOSTS) {
        for host in model(hosts, Spread::default(), &Wanted::default(), |_, _| Recorder::default, None) {
            let host: ModelledHost<'_, Recorder> = host.unwrap();
            let spans = host.model.spans.0.len();
            let text = format!("{:?} {:?} {} {spans}", host.window(), host.report, host.model.events);
            all.insert(host.name().to_owned(), text);
        }
    }
    all
}

fn open(paths: &[PathBuf], base: TimeBase) -> Opened {
    let inputs = Inputs::open(paths);
    assert!(inputs.refused.is_empty(), "{:?}", inputs.refused);
    Opened::new(inputs, base, &|_| ()).unwrap()
}

fn corrections(opened: &Opened) -> String {
    let clocks = opened.clocks().unwrap().iter();
    format!("{:?}", clocks.map(|it| (&it.entry.host, it.interval.rows())).collect::<Vec<_>>())
}

/// Runs a stage, and prints how long it took and the most memory that the process had meanwhile.
fn stage<T>(name: &str, run: impl FnOnce() -> T) -> T {
    // 5: the high-water mark of memory begins anew.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let start = Instant::now();
    let made = run();
    let took: Duration = start.elapsed();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("?").trim();
    println!("{name}: {took:.1?}, at most {peak}");
    made
}

/// Writes the chunks of a host, and maps each alone. Gives the pieces.
fn map_host(
    (cluster, simulation, chunks): (&Cluster, &Simulation, u64),
    number: usize,
    session: &Path,
    pieces: &Path,
) -> Vec<PathBuf> {
    let host = &cluster.hosts[number];
    let made: Vec<PathBuf> = (0..chunks).map(|chunk| pieces.join(format!("{}-{chunk}", host.name))).collect();
    if made.iter().all(|piece| piece.exists()) {
        return made;
    }
    let mut trace = cluster.trace(simulation, number, Family::IPV4, |_| ()).unwrap();
    let turn = |chunk: u64| host.clock.raw(chunk as i64 * 1_000_000_000) as u64;
    trace.write_rotated(session, &(1..chunks).map(turn).collect::<Vec<_>>()).unwrap();
    for (chunk, piece) in made.iter().enumerate() {
        map_alone(&session.join("archives").join(chunk.to_string()), piece);
    }
    made
}

/// Writes the chunks of all hosts, and maps each alone. Gives the pieces in a random order; of hosts that are
/// not compared, the chunks are deleted.
fn map_fleet((hosts, chunks): (usize, u64), compared: usize, sessions: &Path, pieces: &Path) -> Vec<PathBuf> {
    let cluster = Cluster::star(hosts).seconds(chunks).messages(chunks * 10);
    let mapped: Vec<Vec<PathBuf>> = stage("mapped", || {
        let simulation = cluster.simulate().unwrap();
        map_in_order((0..hosts).collect(), Spread::default().threads(), |number| {
            let session = sessions.join(&cluster.hosts[number].name);
            let made = map_host((&cluster, &simulation, chunks), number, &session, pieces);
            if number >= compared {
                let _ = std::fs::remove_dir_all(&session);
            }
            made
        })
    });
    let (mut random, mut files) = (Random::new(7), Vec::new());
    for piece in mapped.into_iter().flatten() {
        files.push(piece);
        let other = random.below(files.len() as u64) as usize;
        let last = files.len() - 1;
        files.swap(last, other);
    }
    let bytes = |path: &Path| std::fs::metadata(path).map_or(0, |it| it.len());
    let total: u64 = files.iter().map(|path| bytes(path)).sum();
    println!("{} pieces of {hosts} hosts, {total} bytes", files.len());
    files
}

#[test]
fn pieces_of_many_hosts_are_the_hosts() {
    let (hosts, chunks) = size();
    let own = tempfile::tempdir().unwrap();
    let directory = std::env::var_os("ISOCHRONE_FLEET_DIR").map_or_else(|| own.path().into(), PathBuf::from);
    let [sessions, pieces, merged] = ["sessions", "pieces", "merged"].map(|name| directory.join(name));
    let compared = if hosts as u64 * chunks <= MAX_COMPARED { hosts } else { SOME_HOSTS };
    if !merged.exists() {
        std::fs::create_dir_all(&pieces).unwrap();
        let files = map_fleet((hosts, chunks), compared, &sessions, &pieces);
        stage("merged", || merge_chunks(&files, &merged).unwrap());
    }
    let merged = [merged];
    stage("opened", || drop(Inputs::open(&merged)));
    let synchronize = || TimeBase::Synchronize(Box::<Options>::default());
    let opened = stage("opened and synchronized", || open(&merged, synchronize()));
    let found = stage("read", || models(&opened.experiment()));
    assert_eq!(found.len(), hosts);
    if compared == hosts {
        let whole = open(&[sessions], synchronize());
        assert!(corrections(&opened) == corrections(&whole), "other corrections");
        assert!(found == models(&whole.experiment()), "the merged pieces are not the sessions");
        return;
    }
    let whole = open(&[sessions], TimeBase::Own);
    let expected = models(&whole.experiment());
    assert!(expected.len() == compared && expected.iter().all(|(name, text)| found.get(name) == Some(text)));
}
