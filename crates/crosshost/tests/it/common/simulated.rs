//! A cluster whose requests have a known critical path: a client, servers in tiers, each thread with a CPU of its own.
//!
//! A bench includes this file, too.
//!
//! The simulation writes what LTTng would have recorded on each host, on the host's own clock, and keeps beside it who held the request when.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};

use isochrone_crosshost::Cause;
use isochrone_testkit::{FieldValue, Generation, KernelScript, Random};

/// Softirqs.
const NET_RX: u32 = 3;
/// µs in ns.
const US: u64 = 1_000;

/// A step of a path as it was: host, tid (`None`: a packet), cause, start and end of the true time.
pub type Known = (usize, Option<i32>, Cause, u64, u64);

/// A thread: its host, its number, its CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thread {
    host: usize,
    tid: i32,
    cpu: u32,
}

/// A connection from a thread to a server's thread.
#[derive(Debug, Clone, Copy)]
struct Link {
    client: (SocketAddrV4, i32),
    server: (SocketAddrV4, i32),
    to: Thread,
    /// Sequence numbers of both directions.
    seq: [u32; 2],
}

/// How a server takes requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Server {
    /// A thread waits in `read`, and answers.
    Reads,
    /// A thread waits in `epoll_wait` for all connections, reads what is there, and answers.
    Polls,
    /// A thread waits in `read` and wakes a worker of a pool, which answers.
    HandsOn,
}

#[derive(Debug)]
pub struct Host {
    server: Server,
    pub script: KernelScript,
    offset: u64,
    ppm: i64,
    cpus: u32,
    next_fd: i32,
}

/// The cluster.
#[derive(Debug)]
pub struct Simulated {
    pub hosts: Vec<Host>,
    random: Random,
    links: Vec<(Thread, Link)>,
    helpers: Vec<(Thread, Thread)>,
    /// Of servers that hand on: the thread that answers.
    workers: Vec<(Thread, Thread)>,
    /// Whether two servers work at the same time: then neither asks others, who might be asked by both.
    is_parallel: bool,
    pub client: Thread,
    /// The true path of each request.
    pub paths: Vec<Vec<Known>>,
}

impl Simulated {
    /// A client on host 0, a server on each other host; each server is a client of the next ones. `seed` chooses the rest.
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed ^ 0xc0_55);
        let count = 2 + random.below(4) as usize;
        let mut hosts = Vec::new();
        for number in 0..count {
            let script = KernelScript::new(&format!("h{number}"), Generation::V2_13).cpus(4).contexts(true);
            let offset = 1_000_000_000 + random.below(50_000_000_000);
            let server = [Server::Reads, Server::Polls, Server::HandsOn][random.below(3) as usize];
            hosts.push(Host { server, script, offset, ppm: random.either_way(40), cpus: 0, next_fd: 3 });
        }
        let client = Thread { host: 0, tid: 10, cpu: 0 };
        let mut cluster = Self {
            hosts,
            random,
            links: Vec::new(),
            helpers: Vec::new(),
            workers: Vec::new(),
            is_parallel: false,
            client,
            paths: Vec::new(),
        };
        let mut servers = Vec::new();
        // Half of the hosts have no state dump: what their descriptors are is found by their packets.
        for host in cluster.hosts.iter_mut().filter(|host| host.offset % 2 == 0) {
            host.script.at(host.offset + 5 * US).dump();
        }
        for host in 0..count {
            let thread = cluster.thread(host, 10, 10, if host == 0 { "client" } else { "server" });
            if host > 0 {
                servers.push(thread);
                let helper = cluster.thread(host, 11, 10, "helper");
                cluster.helpers.push((thread, helper));
                if cluster.hosts[host].server == Server::HandsOn {
                    let worker = cluster.thread(host, 12, 10, "worker");
                    cluster.workers.push((thread, worker));
                    // It has the helper of its process.
                    cluster.helpers.push((worker, helper));
                }
            }
        }
        cluster.connect(client, servers[0]);
        for number in 0..servers.len() {
            for next in number + 1..servers.len() {
                cluster.connect(cluster.answers(servers[number]), servers[next]);
            }
        }
        // All wait: the client for its first request, servers and helpers for theirs.
        cluster.at(client, 60 * US).switch(0, client.tid);
        for thread in servers {
            let link =
                cluster.links.iter().find(|(_, link)| link.to == thread).map(|(_, link)| *link).unwrap();
            cluster.at(thread, 60 * US).switch(0, thread.tid);
            cluster.wait_for_requests(thread, link.server.1, 70 * US);
            let worker = cluster.answers(thread);
            if worker != thread {
                cluster.at(worker, 60 * US).switch(0, worker.tid);
                cluster.enter_futex(worker, 70 * US);
            }
            let helper = cluster.helper(thread);
            cluster.at(helper, 60 * US).switch(0, helper.tid);
            cluster.enter_futex(helper, 70 * US);
        }
        cluster
    }

    fn thread(&mut self, host: usize, tid: i32, pid: i32, comm: &str) -> Thread {
        let there = &mut self.hosts[host];
        let thread = Thread { host, tid, cpu: there.cpus };
        there.cpus += 1;
        if tid == pid {
            there.script.process(pid, comm);
        } else {
            there.script.thread(tid, pid, comm);
        }
        thread
    }

    /// The thread that answers what a server's thread receives.
    fn answers(&self, server: Thread) -> Thread {
        self.workers.iter().find(|(thread, _)| *thread == server).map_or(server, |(_, worker)| *worker)
    }

    /// A server's thread waits for its next request.
    fn wait_for_requests(&mut self, thread: Thread, fd: i32, time: u64) {
        if self.hosts[thread.host].server != Server::Polls {
            return self.read(thread, fd, time);
        }
        self.at(thread, time).enter("epoll_wait", &[("epfd", 99.into())]);
        self.at(thread, time + 2 * US).switch(thread.tid, 0);
    }

    fn helper(&self, of: Thread) -> Thread {
        self.helpers.iter().find(|(thread, _)| *thread == of).unwrap().1
    }

    fn connect(&mut self, from: Thread, to: Thread) {
        let address =
            |host: usize, port: u16| SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, host as u8 + 1), port);
        let number = self.links.len() as u16;
        let mut fd = |thread: Thread| {
            let there = &mut self.hosts[thread.host];
            let fd = there.next_fd;
            there.next_fd += 1;
            let (offset, name) = (there.offset, format!("socket:[{}]", 1_000 + fd));
            there.script.at(offset + 10 * US + fd as u64).cpu(thread.cpu).dump_file(10, fd, 2, &name);
            fd
        };
        let client = (address(from.host, 40_000 + number), fd(from));
        let server = (address(to.host, 8_000 + to.host as u16), fd(to));
        let seq = [1_000 * (u32::from(number) + 1), 500_000 * (u32::from(number) + 1)];
        self.links.push((from, Link { client, server, to, seq }));
    }

    /// The raw time of a host's clock.
    pub fn raw(&self, host: usize, time: u64) -> u64 {
        let there = &self.hosts[host];
        (there.offset as i64 + time as i64 + time as i64 * there.ppm / 1_000_000) as u64
    }

    fn at(&mut self, thread: Thread, time: u64) -> isochrone_testkit::At<'_> {
        let raw = self.raw(thread.host, time);
        let mut at = self.hosts[thread.host].script.at(raw);
        at.cpu(thread.cpu);
        at
    }

    /// A time from some µs to some µs.
    fn some(&mut self, least: u64, most: u64) -> u64 {
        self.random.within((least * US, most * US))
    }

    fn enter_futex(&mut self, thread: Thread, time: u64) {
        self.at(thread, time).enter("futex", &[("op", 0.into())]);
        self.at(thread, time + 2 * US).switch(thread.tid, 0);
    }

    /// Enters a read and waits.
    fn read(&mut self, thread: Thread, fd: i32, time: u64) {
        self.at(thread, time).enter("read", &[("fd", fd.into())]);
        self.at(thread, time + 2 * US).switch(thread.tid, 0);
    }

    /// Writes to a connection from the thread's CPU; the segment is queued inside the call. Returns when.
    fn send(&mut self, thread: Thread, number: usize, is_answer: bool, time: u64) -> u64 {
        let link = self.links[number].1;
        let (local, peer) = if is_answer { (link.server, link.client) } else { (link.client, link.server) };
        let queued = time + self.some(5, 30);
        let after = queued + self.some(5, 30);
        let seq = link.seq[usize::from(is_answer)];
        let fields = segment(local.0, peer.0, seq, link.seq[usize::from(!is_answer)]);
        self.at(thread, time).enter("write", &[("fd", local.1.into()), ("count", BYTES.into())]);
        self.at(thread, queued).event("net_dev_queue", &with_device(&fields, BYTES + 66));
        self.at(thread, after).exit("write", i64::from(BYTES));
        self.links[number].1.seq[usize::from(is_answer)] += BYTES;
        queued
    }

    /// A segment arrives at a thread that waits for it, which wakes and reads it. Returns when the thread was woken and when it runs.
    fn arrive(&mut self, thread: Thread, number: usize, is_answer: bool, time: u64) -> (u64, u64) {
        let link = self.links[number].1;
        let (local, peer) = if is_answer { (link.client, link.server) } else { (link.server, link.client) };
        let seq = link.seq[usize::from(is_answer)] - BYTES;
        let fields = segment(peer.0, local.0, seq, link.seq[usize::from(!is_answer)]);
        let woken = time + self.some(3, 20);
        let runs = woken + self.some(5, 400);
        self.at(thread, time - US).softirq_entry(NET_RX);
        self.at(thread, time).event("net_if_receive_skb", &with_device(&fields, BYTES + 52));
        self.at(thread, woken).wake(thread.tid, thread.cpu);
        self.at(thread, woken + US).softirq_exit(NET_RX);
        self.at(thread, runs).switch(0, thread.tid);
        if !is_answer && self.hosts[thread.host].server == Server::Polls {
            self.at(thread, runs + US).exit("epoll_wait", 1);
            self.at(thread, runs + 2 * US).enter("read", &[("fd", local.1.into())]);
            self.at(thread, runs + 3 * US).exit("read", i64::from(BYTES));
        } else {
            self.at(thread, runs + US).exit("read", i64::from(BYTES));
        }
        (woken, runs)
    }

    /// A thread asks a server and waits: from when it runs until it runs again with the answer. `steps` gets the path; the thread has held it
    /// since `since`.
    fn ask(&mut self, thread: Thread, number: usize, time: u64, since: u64, steps: &mut Vec<Known>) -> u64 {
        let link = self.links[number].1;
        let queued = self.send(thread, number, false, time);
        steps.push((thread.host, Some(thread.tid), Cause::Cpu, since, queued));
        self.read(thread, link.client.1, queued + 100 * US);
        let answered = self.serve(number, queued, steps);
        let came = answered + self.some(50, 900);
        steps.push((link.to.host, None, Cause::Network, answered, came));
        let (woken, runs) = self.arrive(thread, number, true, came);
        steps.push((thread.host, Some(thread.tid), Cause::Softirq, came, woken));
        steps.push((thread.host, Some(thread.tid), Cause::WaitCpu, woken, runs));
        runs
    }

    /// A thread asks two servers and waits for the first, then for the second: the path is that of the answer that it waits for last.
    /// Returns when it runs with both.
    fn ask_both(
        &mut self,
        thread: Thread,
        numbers: [usize; 2],
        time: u64,
        since: u64,
        steps: &mut Vec<Known>,
    ) -> u64 {
        let [first, second] = numbers;
        let asked = self.send(thread, first, false, time);
        let asked = [asked, self.send(thread, second, false, asked + 70 * US)];
        self.read(thread, self.links[first].1.client.1, asked[1] + 100 * US);
        let mut branches = [Vec::new(), Vec::new()];
        let mut came = [0; 2];
        self.is_parallel = true;
        for (place, branch) in branches.iter_mut().enumerate() {
            branch.push((thread.host, Some(thread.tid), Cause::Cpu, since, asked[place]));
            let answered = self.serve(numbers[place], asked[place], branch);
            // No sooner than the thread waits.
            came[place] = (answered + self.some(50, 900)).max(asked[1] + 150 * US);
            branch.push((self.links[numbers[place]].1.to.host, None, Cause::Network, answered, came[place]));
        }
        self.is_parallel = false;
        // Not at once: handlers of one CPU follow each other.
        if came[1].abs_diff(came[0]) < 1_000 * US {
            came[1] = came[0] + 1_000 * US;
            if let Some(last) = branches[1].last_mut() {
                last.4 = came[1];
            }
        }
        let last = usize::from(came[1] > came[0]);
        if last == 0 {
            self.arrive_unawaited(thread, second, came[1]);
        }
        let (woken, mut runs) = self.arrive(thread, first, true, came[0]);
        let mut end = (woken, runs);
        let fd = self.links[second].1.client.1;
        if last == 1 {
            self.read(thread, fd, runs + 5 * US);
            end = self.arrive(thread, second, true, came[1]);
        } else {
            self.at(thread, runs + 5 * US).enter("read", &[("fd", fd.into())]);
            self.at(thread, runs + 6 * US).exit("read", i64::from(BYTES));
        }
        runs = end.1;
        steps.append(&mut branches[last]);
        steps.push((thread.host, Some(thread.tid), Cause::Softirq, came[last], end.0));
        steps.push((thread.host, Some(thread.tid), Cause::WaitCpu, end.0, runs));
        runs
    }

    /// A segment arrives for which its thread does not wait: it waits for another one.
    fn arrive_unawaited(&mut self, thread: Thread, number: usize, time: u64) {
        let link = self.links[number].1;
        let seq = link.seq[1] - BYTES;
        let fields = segment(link.server.0, link.client.0, seq, link.seq[0]);
        self.at(thread, time - US).softirq_entry(NET_RX);
        self.at(thread, time).event("net_if_receive_skb", &with_device(&fields, BYTES + 52));
        self.at(thread, time + US).softirq_exit(NET_RX);
    }

    /// A server serves a request that was queued at an instant. Returns when its answer is queued.
    fn serve(&mut self, number: usize, queued: u64, steps: &mut Vec<Known>) -> u64 {
        let link = self.links[number].1;
        let client = self.links[number].0;
        let receiver = link.to;
        let came = queued + self.some(150, 900);
        steps.push((client.host, None, Cause::Network, queued, came));
        let (woken, mut runs) = self.arrive(receiver, number, false, came);
        steps.push((receiver.host, Some(receiver.tid), Cause::Softirq, came, woken));
        steps.push((receiver.host, Some(receiver.tid), Cause::WaitCpu, woken, runs));
        let server = self.answers(receiver);
        if server != receiver {
            runs = self.hand_on(receiver, server, link.server.1, runs, steps);
        }
        let mut since = runs;
        let mut now = runs + self.some(20, 3_000);
        for _ in 0..self.random.below(4) {
            match self.random.below(4) {
                0 => (since, now) = self.sleep(server, now, since, steps),
                1 => (since, now) = self.disk(server, now, since, steps),
                2 => (since, now) = self.help(server, now, since, steps),
                _ => {
                    let further: Vec<usize> = (0..self.links.len())
                        .filter(|&next| self.links[next].0 == server && !self.is_parallel)
                        .collect();
                    let first = self.random.below(further.len().max(1) as u64) as usize;
                    match further.as_slice() {
                        [] => {}
                        [one, two, ..] if first == 0 => {
                            since = self.ask_both(server, [*one, *two], now, since, steps);
                            now = since;
                        }
                        some => {
                            since = self.ask(server, some[first], now, since, steps);
                            now = since;
                        }
                    }
                }
            }
            now += self.some(20, 2_000);
        }
        let answered = self.send(server, number, true, now);
        steps.push((server.host, Some(server.tid), Cause::Cpu, since, answered));
        // It waits for its next request, from whomever.
        if server == receiver {
            self.wait_for_requests(server, link.server.1, answered + 100 * US);
        } else {
            self.enter_futex(server, answered + 100 * US);
        }
        answered
    }

    /// The thread that received a request wakes the worker that answers it, and waits for the next one. Returns when the worker runs.
    fn hand_on(&mut self, from: Thread, to: Thread, fd: i32, since: u64, steps: &mut Vec<Known>) -> u64 {
        let wakes = since + self.some(10, 200);
        let runs = wakes + self.some(25, 300);
        self.at(from, wakes - 3 * US).enter("futex", &[("op", 1.into())]);
        self.at(from, wakes).wake(to.tid, to.cpu);
        self.at(from, wakes + 2 * US).exit("futex", 1);
        self.wait_for_requests(from, fd, wakes + 10 * US);
        self.at(to, runs).switch(0, to.tid);
        self.at(to, runs + US).exit("futex", 0);
        steps.push((from.host, Some(from.tid), Cause::Cpu, since, wakes));
        steps.push((to.host, Some(to.tid), Cause::WaitCpu, wakes, runs));
        runs
    }

    fn sleep(&mut self, thread: Thread, now: u64, since: u64, steps: &mut Vec<Known>) -> (u64, u64) {
        let (out, woken) = (now + 5 * US, now + self.some(100, 9_000));
        let runs = woken + self.some(5, 200);
        self.at(thread, now).enter("clock_nanosleep", &[]);
        self.at(thread, out).switch(thread.tid, 0);
        self.at(thread, woken - US).hrtimer_entry();
        self.at(thread, woken).wake(thread.tid, thread.cpu);
        self.at(thread, woken + US).hrtimer_exit();
        self.at(thread, runs).switch(0, thread.tid);
        self.at(thread, runs + US).exit("clock_nanosleep", 0);
        steps.push((thread.host, Some(thread.tid), Cause::Cpu, since, out));
        steps.push((thread.host, Some(thread.tid), Cause::Sleep, out, woken));
        steps.push((thread.host, Some(thread.tid), Cause::WaitCpu, woken, runs));
        (runs, runs + 3 * US)
    }

    fn disk(&mut self, thread: Thread, now: u64, since: u64, steps: &mut Vec<Known>) -> (u64, u64) {
        let sector = 8 * self.random.below(1 << 20);
        let (out, woken) = (now + 9 * US, now + self.some(200, 12_000));
        let runs = woken + self.some(5, 200);
        self.at(thread, now).enter("pread64", &[("fd", 90.into())]);
        self.at(thread, now + 4 * US).block_issue(8 << 20, sector, 8);
        self.at(thread, out).switch(thread.tid, 0);
        self.at(thread, woken - 2 * US).irq_entry(27, "virtio0-req.0");
        self.at(thread, woken - US).block_complete(8 << 20, sector, 8);
        self.at(thread, woken).wake(thread.tid, thread.cpu);
        self.at(thread, woken + US).irq_exit(27);
        self.at(thread, runs).switch(0, thread.tid);
        self.at(thread, runs + US).exit("pread64", 4096);
        steps.push((thread.host, Some(thread.tid), Cause::Cpu, since, out));
        steps.push((thread.host, Some(thread.tid), Cause::Disk, out, woken));
        steps.push((thread.host, Some(thread.tid), Cause::WaitCpu, woken, runs));
        (runs, runs + 3 * US)
    }

    /// A helper thread works for the request meanwhile: it is woken, runs, and wakes the server.
    fn help(&mut self, thread: Thread, now: u64, since: u64, steps: &mut Vec<Known>) -> (u64, u64) {
        let helper = self.helper(thread);
        let (wakes, out) = (now + 4 * US, now + 20 * US);
        let helps = wakes + self.some(25, 300);
        let woken = helps + self.some(50, 5_000);
        let runs = woken + self.some(5, 200);
        self.at(thread, now).enter("futex", &[("op", 1.into())]);
        self.at(thread, wakes).wake(helper.tid, helper.cpu);
        self.at(thread, now + 8 * US).exit("futex", 1);
        self.at(thread, now + 12 * US).enter("futex", &[("op", 0.into())]);
        self.at(thread, out).switch(thread.tid, 0);
        self.at(helper, helps).switch(0, helper.tid);
        self.at(helper, helps + US).exit("futex", 0);
        self.at(helper, woken - 3 * US).enter("futex", &[("op", 1.into())]);
        self.at(helper, woken).wake(thread.tid, thread.cpu);
        self.at(helper, woken + 2 * US).exit("futex", 1);
        self.enter_futex(helper, woken + 20 * US);
        self.at(thread, runs).switch(0, thread.tid);
        self.at(thread, runs + US).exit("futex", 0);
        steps.push((thread.host, Some(thread.tid), Cause::Cpu, since, wakes));
        steps.push((helper.host, Some(helper.tid), Cause::WaitCpu, wakes, helps));
        steps.push((helper.host, Some(helper.tid), Cause::Cpu, helps, woken));
        steps.push((thread.host, Some(thread.tid), Cause::WaitCpu, woken, runs));
        (runs, runs + 3 * US)
    }

    /// Makes requests one after the other.
    pub fn requests(&mut self, count: usize) {
        let client = self.client;
        let mut now = 1_000 * US;
        for _ in 0..count {
            let mut steps = Vec::new();
            let start = now;
            let runs = self.ask(client, 0, start, start, &mut steps);
            steps.push((client.host, Some(client.tid), Cause::Cpu, runs, runs + US));
            self.paths.push(steps);
            now = runs + self.some(2_000, 20_000);
        }
        self.at(client, now).switch(client.tid, 0);
    }

    /// How many hosts there are.
    pub fn len(&self) -> usize {
        self.hosts.len()
    }

    /// Writes the traces of all hosts. Returns their paths, in the order of the hosts.
    pub fn write(&self, directory: &Path) -> Vec<PathBuf> {
        let write = |(number, host): (usize, &Host)| {
            let path = directory.join(format!("h{number}")).join("kernel");
            host.script.write(&path).unwrap();
            path
        };
        self.hosts.iter().enumerate().map(write).collect()
    }
}

/// Bytes of each request and each answer.
const BYTES: u32 = 100;

type Field = (&'static str, FieldValue);

fn with_device(fields: &[Field], length: u32) -> Vec<Field> {
    let mut all: Vec<Field> = vec![("skbaddr", 1.into()), ("len", length.into()), ("name", "eth0".into())];
    all.extend(fields.iter().cloned());
    all
}

/// The headers of a TCP segment with data.
fn segment(from: SocketAddrV4, to: SocketAddrV4, seq: u32, ack: u32) -> Vec<Field> {
    vec![
        ("network_header_type", "ipv4".into()),
        ("network_header.ipv4.version", 4.into()),
        ("network_header.ipv4.ihl", 5.into()),
        ("network_header.ipv4.tot_len", (BYTES + 40).into()),
        ("network_header.ipv4.protocol", 6.into()),
        ("network_header.ipv4.saddr", from.ip().octets().into()),
        ("network_header.ipv4.daddr", to.ip().octets().into()),
        ("network_header.ipv4.transport_header_type", "tcp".into()),
        ("network_header.ipv4.transport_header.tcp.source_port", from.port().into()),
        ("network_header.ipv4.transport_header.tcp.dest_port", to.port().into()),
        ("network_header.ipv4.transport_header.tcp.seq", seq.into()),
        ("network_header.ipv4.transport_header.tcp.ack_seq", ack.into()),
        ("network_header.ipv4.transport_header.tcp.data_offset", 5.into()),
        ("network_header.ipv4.transport_header.tcp.flags", 0x18.into()),
    ]
}
