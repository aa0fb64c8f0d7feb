//! Messages of a store are joined with the threads and calls that sent them.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use isochrone_experiment::{Indexing, Inputs, Opened, Spread, index};
use isochrone_store::{HostStore, Message, State, Store};
use isochrone_time::Window;
use serde_json::Value;

fn shared(part: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/vm").join(part)
}

fn read(path: PathBuf) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// The store of a scenario: its hosts by number, and all messages.
fn store(part: &str, path: &Path) -> (HashMap<u32, HostStore>, Vec<Message>) {
    let opened = Opened::unsynchronized(Inputs::open(&[shared(part)]));
    index(&opened.experiment(), path, Spread::default(), Indexing::default()).unwrap();
    let store = Store::open(path).unwrap();
    store.verify().unwrap();
    let hosts = store.manifest().hosts.iter().map(|entry| (entry.number, store.host(entry).unwrap()));
    let hosts = hosts.collect();
    let mut messages = Vec::new();
    store.messages(|message| messages.push(message)).unwrap();
    (hosts, messages)
}

/// Who sent a message: the number of the thread that ran, and what it did then.
fn sender(hosts: &HashMap<u32, HostStore>, message: &Message) -> (Option<i32>, State, Option<String>) {
    let (host, sent) = (&hosts[&message.sent_host], message.sent());
    let thread = sent.thread.unwrap();
    let tid = host.threads()[thread.index()].tid;
    let Some(state) = host.state_at(thread, sent.at).unwrap() else { return (tid, State::Unknown, None) };
    if state.state == State::UserMode {
        // The last of a connection is sent when its descriptor is given up, after the exit of `close` was recorded and before the
        // thread is in user mode (task work).
        let before = host.states(&[thread], Window::new(sent.at - 10_000_000, sent.at)).unwrap();
        return (
            tid,
            state.state,
            before.into_iter().rev().find_map(|state| state.syscall).map(String::from),
        );
    }
    (tid, state.state, state.syscall.map(String::from))
}

/// Every message is found at both ends, and its sender ran then: in a call, at the end of `close`, or interrupted.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn messages_have_senders() {
    for part in ["chain3", "udp2"] {
        let root = tempfile::tempdir().unwrap();
        let (hosts, messages) = store(part, &root.path().join("store"));
        assert!(messages.len() > 100, "{part}: {}", messages.len());
        let mut doing: BTreeMap<String, usize> = BTreeMap::new();
        for message in &messages {
            for (end, is_sent) in [(message.sent(), true), (message.received(), false)] {
                let instant = Window::new(end.at, end.at + 1);
                let packets = hosts[&end.host].packets(instant).unwrap();
                let packet = packets.iter().find(|it| Some(it.cpu) == end.cpu && it.is_sent == is_sent);
                assert_eq!(packet.unwrap().thread, end.thread, "{part}: {message:?}");
            }
            let (tid, state, call) = sender(&hosts, message);
            // An idle task has no states: it was interrupted.
            let shown = match (tid, state, call) {
                (None, ..) => "idle, interrupted".to_owned(),
                (_, state, call) => format!("{state} {}", call.unwrap_or_default()),
            };
            *doing.entry(shown).or_default() += 1;
        }
        println!("{part}: {} messages, {doing:?}", messages.len());
        let is_possible = |doing: &str| {
            ["idle", "interrupted", "syscall", "usermode close"].iter().any(|state| doing.starts_with(state))
        };
        assert!(doing.keys().all(|doing| is_possible(doing)), "{part}: {doing:?}");
    }
}

/// Times of the reference and raw times of a host, ns.
type Samples = Vec<(f64, f64)>;

/// The threads that sent the data of the requests of chain3 are those that were found by hand.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn data_of_requests_were_sent_by_their_threads() {
    let root = tempfile::tempdir().unwrap();
    let (hosts, messages) = store("chain3", &root.path().join("store"));
    let (reference, truth) = (read(shared("refs/chain3.json")), read(shared("chain3/truth.json")));
    let base = reference["common_clock_base_ref_ns"].as_f64().unwrap();
    // By name: number, and samples of its clock: reference, raw.
    let clocks: HashMap<&str, (u32, Samples)> = hosts
        .values()
        .map(|host| {
            let name = host.entry().name.as_str();
            let runs = truth["hosts"][name]["run"].as_array().unwrap();
            let sample = |run: &Value| {
                let at = |place: usize| run[place].as_f64().unwrap();
                (at(0).midpoint(at(2)), at(1))
            };
            let mut samples: Samples = runs.iter().map(sample).collect();
            samples.sort_by(|a, b| a.0.total_cmp(&b.0));
            (name, (host.entry().number, samples))
        })
        .collect();
    let mut checked = 0;
    for request in reference["requests"].as_array().unwrap() {
        for pair in request["path"].as_array().unwrap().windows(2) {
            let is_data = pair[1]["what"].as_str().is_some_and(|what| what.contains("data"));
            let (Some(tid), true) = (pair[0]["tid"].as_i64(), is_data) else { continue };
            let (number, samples) = &clocks[pair[0]["host"].as_str().unwrap()];
            let at = pair[1]["t0"].as_f64().unwrap() + base;
            let after = samples.partition_point(|sample| sample.0 < at).clamp(1, samples.len() - 1);
            let (a, b) = (samples[after - 1], samples[after]);
            let raw = a.1 + (b.1 - a.1) * (at - a.0) / (b.0 - a.0);
            let of_host = messages.iter().filter(|message| message.sent_host == *number);
            let sent = of_host.min_by_key(|message| (message.sent_at.0 as f64 - raw).abs() as u64).unwrap();
            assert!(
                (sent.sent_at.0 as f64 - raw).abs() < 2_000.0,
                "{}: {}",
                pair[1],
                sent.sent_at.0 as f64 - raw
            );
            let (sender, state, call) = sender(&hosts, sent);
            assert_eq!(sender.map(i64::from), Some(tid), "{} {state} {call:?}", pair[1]);
            assert!(
                ["write", "sendto", "sendmsg", "writev"].contains(&call.as_deref().unwrap_or("none")),
                "{call:?}"
            );
            checked += 1;
        }
    }
    println!("{checked} departures of data");
    assert!(checked > 150, "{checked}");
}
