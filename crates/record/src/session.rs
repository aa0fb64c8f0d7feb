//! All hosts of a recording together: each step is done on all of them at once, and one host that fails
//! leaves the others as they are.

use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::checks::{self, Checked, Wanted};
use crate::probe::{self, Trips};
use crate::remote::{Answers, Remote, RemoteError, Way};
use crate::script::Tracer;
use crate::target::Target;

/// How long a host may take to say what it has: to connect, `ssh` has a time of its own.
const CHECK_TIME: Duration = Duration::from_secs(180);
/// To start a recording: the list of what is there is recorded.
const STEP_TIME: Duration = Duration::from_secs(180);
/// To stop it: buffers are written, and what was recorded may be copied.
const STOP_TIME: Duration = Duration::from_secs(1_800);
/// To say how it stands.
const STATUS_TIME: Duration = Duration::from_secs(30);
/// To begin to send what it recorded.
const COLLECT_TIME: Duration = Duration::from_secs(120);

/// A host that answered.
#[derive(Debug)]
pub struct Host {
    /// How it is reached.
    pub target: Target,
    /// What it is, and whether it is ready.
    pub checked: Checked,
    remote: Remote,
    answers: Answers,
    /// Where it answers packets of others.
    port: Option<u16>,
}

/// How a recording stands on a host. What is unknown is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Status {
    /// Bytes on its disk.
    pub bytes: Option<u64>,
    /// Free bytes there.
    pub free: Option<u64>,
    /// Events so far: LTTng does not count them.
    pub events: Option<u64>,
    /// Events that found no room in the buffers.
    pub lost: Option<u64>,
    /// What the host could do without, and did.
    pub warnings: Vec<String>,
}

impl Status {
    fn of(answers: &Answers) -> Self {
        let bytes = |key: &str| answers.number(key).map(|kb| kb << 10);
        Self {
            bytes: bytes("used_kb"),
            free: bytes("free_kb"),
            events: answers.number("events"),
            lost: answers.number("lost"),
            warnings: answers.all("warning").map(str::to_owned).collect(),
        }
    }

    /// Whether so little is free that the recording has to end.
    pub fn is_disk_full(&self) -> bool {
        self.free.is_some_and(|free| free < checks::STOP_FREE_KB << 10)
    }
}

impl Host {
    /// Where it answers packets of others, if it does.
    pub fn port(&self) -> Option<u16> {
        self.port
    }
}

/// Does a step on all of these at once, in their order.
fn each<T: Send, R: Send>(of: impl IntoIterator<Item = T>, step: impl Fn(T) -> R + Sync) -> Vec<R> {
    thread::scope(|scope| {
        let step = &step;
        let threads: Vec<_> = of.into_iter().map(|one| scope.spawn(move || step(one))).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, R>| match thread.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        threads.into_iter().map(join).collect()
    })
}

/// Connects to all hosts and asks what they have.
pub fn connect(
    targets: Vec<Target>,
    way: &Way,
    script: &str,
    wanted: &Wanted,
) -> Vec<(Target, Result<Host, RemoteError>)> {
    each(targets, |target: Target| {
        let connect = || {
            let mut remote = Remote::open(&target, way, script)?;
            let answers = remote.ask("check", CHECK_TIME)?;
            let checked = checks::check(&answers, wanted);
            Ok(Host { target: target.clone(), checked, remote, answers, port: None })
        };
        let connected = connect();
        (target, connected)
    })
}

/// Starts the recordings of all hosts, each with the tracer that was found for it.
pub fn start(hosts: &mut [Host]) -> Vec<Result<Status, RemoteError>> {
    each(hosts, |host| {
        let tracer = host.checked.tracer.unwrap_or(Tracer::Lttng).name();
        host.remote.ask(&format!("start {tracer}"), STEP_TIME).map(|answers| Status::of(&answers))
    })
}

/// Asks all hosts how they stand.
pub fn status(hosts: &mut [Host]) -> Vec<Result<Status, RemoteError>> {
    each(hosts, |host| host.remote.ask("status", STATUS_TIME).map(|answers| Status::of(&answers)))
}

/// Stops the recordings of all hosts, and says what was lost until then.
pub fn stop(hosts: &mut [Host]) -> Vec<Result<Status, RemoteError>> {
    each(hosts, |host| host.remote.ask("stop", STOP_TIME).map(|answers| Status::of(&answers)))
}

/// Collects what the hosts recorded, each in a packed file `.NAME.packed` of the directory, and ends the
/// connections. Returns where each is.
pub fn collect(hosts: Vec<Host>, into: &Path) -> Vec<(Target, Result<std::path::PathBuf, RemoteError>)> {
    each(hosts, |host: Host| {
        let file = into.join(format!(".{}.packed", host.target.directory));
        let collected = host.remote.collect(&file, COLLECT_TIME);
        if collected.is_err() {
            // A part of it is no recording.
            let _ = std::fs::remove_file(&file);
        }
        (host.target, collected.map(|_| file))
    })
}

/// Round trips between hosts.
#[derive(Debug, Clone, Default)]
pub struct Probes {
    /// The pairs, by the numbers of hosts, and what came of them.
    pub pairs: Vec<((usize, usize), Trips)>,
}

impl Probes {
    /// Makes the hosts answer packets. What a host lacks for it is returned.
    pub fn start(hosts: &mut [Host]) -> (Self, Vec<(usize, String)>) {
        let answered = each(&mut *hosts, |host| host.remote.ask("respond", STATUS_TIME));
        let mut missing = Vec::new();
        for (number, (host, answer)) in hosts.iter_mut().zip(answered).enumerate() {
            match answer {
                Ok(answers) => {
                    host.port = answers.number("port").and_then(|port| port.try_into().ok());
                    let why = answers.get("warning").unwrap_or("it answers no packets");
                    missing.extend(host.port.is_none().then(|| (number, why.to_owned())));
                }
                Err(error) => missing.push((number, error.to_string())),
            }
        }
        let can = |number: usize| hosts.get(number).is_some_and(|host| host.port.is_some());
        let pairs = probe::pairs(hosts.len()).into_iter().filter(|&(a, b)| can(a) && can(b));
        (Self { pairs: pairs.map(|pair| (pair, Trips::default())).collect() }, missing)
    }

    /// Makes so many round trips of each pair.
    pub fn send(&mut self, hosts: &mut [Host], trips: u32) {
        let addresses: Vec<String> = (0..hosts.len()).map(|number| address(hosts, number)).collect();
        let ports: Vec<Option<u16>> = hosts.iter().map(|host| host.port).collect();
        let peers = |number: usize| -> Vec<(String, u16)> {
            let of = self.pairs.iter().filter(|((a, _), _)| *a == number);
            of.filter_map(|((_, b), _)| Some((addresses[*b].clone(), ports[*b]?))).collect()
        };
        let commands: Vec<_> = (0..hosts.len()).map(peers).collect();
        let answered = each(hosts.iter_mut().zip(&commands), |(host, peers)| match peers.as_slice() {
            [] => Answers::default(),
            // What does not come back is not counted.
            peers => host.remote.ask(&probe::command(trips, peers), STATUS_TIME).unwrap_or_default(),
        });
        for (number, answers) in answered.iter().enumerate() {
            let of = self.pairs.iter_mut().filter(|((a, _), _)| *a == number);
            for ((_, sum), more) in of.zip(probe::trips(answers)) {
                sum.add(more);
            }
        }
    }
}

/// Where other hosts reach this one: the address at which it was reached; of this machine, the one that
/// others were reached from.
fn address(hosts: &[Host], number: usize) -> String {
    let host = &hosts[number];
    let of = |host: &Host, key: &str| host.answers.get(key).filter(|it| !it.is_empty()).map(str::to_owned);
    let own = of(host, "address");
    let from_others = || hosts.iter().find_map(|other| of(other, "peer"));
    own.or_else(from_others).unwrap_or_else(|| "127.0.0.1".to_owned())
}
