//! Questions across hosts, each rule on a conversation that is small enough to check by eye.

use isochrone_testkit::{FieldValue, Generation, KernelScript};

use super::critical_path::{BYTES, End, US, hosts, segment, taken};
use super::run::{analyze, rows};

/// Figures on the common clock are as sure as sixteen messages make them: within so much of a hundred µs.
const CLOCK: i64 = 2 * US as i64;

/// Checks columns of figures (ns) of a table of two hosts: each within [`CLOCK`] of what is expected (µs).
fn check_figures(
    hosts: &[KernelScript; 2],
    arguments: &str,
    names: &str,
    figures: &str,
    expect: &[(&str, &[i64])],
) {
    let said = analyze(&[&hosts[0], &hosts[1]], &format!("{arguments} --format json"));
    assert_eq!(said.status, Some(0), "{}", said.stderr);
    let found_names = rows(&said.stdout, names);
    let expected_names: Vec<&str> = expect.iter().map(|(name, _)| *name).collect();
    assert_eq!(found_names, expected_names, "{arguments}");
    for (row, (name, expected)) in rows(&said.stdout, figures).iter().zip(expect) {
        let found: Vec<i64> = row.split(' ').map(|figure| figure.parse().unwrap()).collect();
        assert_eq!(found.len(), expected.len(), "{name}: {row}");
        for (found, expected) in found.iter().zip(*expected) {
            assert!((found - expected * US as i64).abs() <= CLOCK, "{name}: {row}, expected {expected:?} µs");
        }
    }
}

/// Of each packet: 100 µs from the queue to the receiver, 6 of them in the queue of h1, 4 in that of h2. The server is woken 5 µs after the
/// first request has come, by the second one not at all; the clients 5 µs after the answers.
#[test]
fn packets_in_the_queue_on_the_wire_and_received() {
    let hosts = hosts();
    check_figures(
        &hosts,
        "critical-path --table network",
        "from to packets",
        "total_ns queue_ns wire_ns receive_ns",
        &[("h1 h2 16", &[1_600, 96, 1_504, 40]), ("h2 h1 16", &[1_600, 64, 1_536, 80])],
    );
}

/// Process 10 of h1 and 20 of h2, on their CPUs from 950 µs on, each with a socket as descriptor 3.
pub(super) fn client_and_server() -> [KernelScript; 2] {
    [("h1", 10, "client"), ("h2", 20, "server")].map(|(name, pid, comm)| {
        let mut host = KernelScript::new(name, Generation::V2_13).contexts(true);
        host.process(pid, comm);
        host.at(900 * US).dump_file(pid, 3, 2, "socket:[100]");
        host.at(950 * US).switch(0, pid);
        host
    })
}

/// Thread 10 of h1 sends two requests on one connection, 25 µs apart, before it reads the first answer, every millisecond, eight times. In µs after
/// the begin of the millisecond: they leave at 10 and 35 and arrive at 110 and 135; thread 20 of h2 reads the first at 121 and answers from
/// 310 to 410, reads the second at 331 and answers from 510 to 610. `are_read_at_once`: it reads both at 121.
fn pipelined(are_read_at_once: bool) -> [KernelScript; 2] {
    let [mut h1, mut h2] = client_and_server();
    let (client, server): (End, End) = (([10, 0, 0, 1], 40_000), ([10, 0, 0, 2], 8_001));
    let fd = || vec![("fd", FieldValue::from(3))];
    let write = |bytes: u32| [fd(), vec![("count", bytes.into())]].concat();
    h2.at(960 * US).enter("read", &fd()).after(2 * US).switch(20, 0);
    for number in 0..8_u32 {
        let at = |us: u64| 1_000 * US * u64::from(1 + number) + us * US;
        for (place, (sent, arrives, answers, arrived)) in
            [(0, 110, 310, 410), (25, 135, 510, 610)].into_iter().enumerate()
        {
            let [asked, answered] = [1_000, 500_000].map(|first| first + (2 * number + place as u32) * BYTES);
            let (request, answer) =
                (segment(client, server, asked, answered), segment(server, client, answered, asked + BYTES));
            h1.at(at(sent)).enter("write", &write(BYTES)).after(10 * US).event("net_dev_queue", &request);
            h1.at(at(sent + 15))
                .event("net_dev_xmit", &taken(BYTES))
                .after(5 * US)
                .exit("write", BYTES.into());
            h2.at(at(arrives - 1)).softirq_entry(3).after(US).event("net_if_receive_skb", &request);
            h2.at(at(answers - 10))
                .enter("write", &write(BYTES))
                .after(10 * US)
                .event("net_dev_queue", &answer);
            h2.at(at(answers + 5))
                .event("net_dev_xmit", &taken(BYTES))
                .after(5 * US)
                .exit("write", BYTES.into());
            h1.at(at(arrived - 1)).softirq_entry(3).after(US).event("net_if_receive_skb", &answer);
            h1.at(at(arrived + 5)).wake(10, 0).after(US).softirq_exit(3);
            h1.at(at(arrived + 10)).switch(0, 10).after(US).exit("read", BYTES.into());
        }
        h1.at(at(50)).enter("read", &fd()).after(2 * US).switch(10, 0);
        h1.at(at(425)).enter("read", &fd()).after(2 * US).switch(10, 0);
        h2.at(at(115)).wake(20, 0).after(US).softirq_exit(3);
        let read = if are_read_at_once { 2 * BYTES } else { BYTES };
        h2.at(at(120)).switch(0, 20).after(US).exit("read", read.into());
        h2.at(at(136)).softirq_exit(3);
        if !are_read_at_once {
            h2.at(at(330)).enter("read", &fd()).after(US).exit("read", BYTES.into());
        }
        h2.at(at(530)).enter("read", &fd()).after(2 * US).switch(20, 0);
    }
    [h1, h2]
}

#[test]
fn requests_before_the_last_answer() {
    let [h1, h2] = pipelined(false);
    let said = analyze(&[&h1, &h2], "critical-path --table requests --format json");
    assert_eq!(said.status, Some(0), "{}", said.stderr);
    let totals: Vec<i64> = rows(&said.stdout, "total_ns").iter().map(|ns| ns.parse().unwrap()).collect();
    // From 0 to 421, and from 25 to 621.
    let expect = [421, 596].map(|us| us * US as i64).repeat(8);
    assert_eq!(totals.len(), expect.len(), "{}", said.stdout);
    for (found, expect) in totals.iter().zip(expect) {
        assert!((found - expect).abs() <= CLOCK, "{totals:?}");
    }
    let said = analyze(&[&h1, &h2], "critical-path --table path --format json");
    let rows = rows(&said.stdout, "request host tid cause");
    let of = |request: &str| -> Vec<String> {
        let prefix = format!("{request} ");
        rows.iter().filter_map(|row| row.strip_prefix(&prefix)).map(str::to_owned).collect()
    };
    let back = ["h2 ? network", "h1 10 softirq", "h1 10 wait-cpu", "h1 10 cpu"];
    let woken = ["h1 10 cpu", "h1 ? network", "h2 20 softirq", "h2 20 wait-cpu", "h2 20 cpu"];
    assert_eq!(of("9"), [&woken[..], &back].concat());
    // The server was busy with the first when the second came, and has it since then.
    assert_eq!(of("10"), [&["h1 10 cpu", "h1 ? network", "h2 20 cpu"][..], &back].concat());
}

/// As many writes of one size as there are answers of one size: they are told apart although the server reads them at once.
#[test]
fn requests_that_are_read_at_once() {
    let [h1, h2] = pipelined(true);
    let said = analyze(&[&h1, &h2], "critical-path --table requests --format json");
    assert_eq!(rows(&said.stdout, "request").len(), 16, "{}", said.stderr);
    // Of the client alone nothing tells them apart.
    let said = analyze(&[&h1], "critical-path --table requests --format json");
    assert_eq!(rows(&said.stdout, "request").len(), 8, "{}", said.stderr);
    assert!(
        said.stdout.contains("8 of 8 requests were sent in several writes of one size"),
        "{}",
        said.stdout
    );
}

/// What the server does from a request to its answer is put down to who asked: it runs from 120 on for the one, until it has the request of the
/// other at 331, and for that until it waits at 532.
#[test]
fn who_pays_for_a_server() {
    let hosts = hosts();
    check_figures(
        &hosts,
        "accounting --table requests",
        "client_tid server_tid",
        "cpu_ns",
        &[("10 20", &[211][..]), ("11 20", &[201])].repeat(8),
    );
}

/// The first packet of each connection and direction is no message: a copy of it may have been sent before the trace began. A message takes 100 µs either way, so a round trip on the network takes 200. A request is in the queue 10 µs after its call began, an answer too;
/// it is read 11 µs after it came, the first request, too, the second 171 µs later.
#[test]
fn how_long_messages_take() {
    let hosts = hosts();
    check_figures(
        &hosts,
        "messages --table links",
        "from to count bytes retransmissions",
        "min_ns max_ns round_trip_min_ns sending_max_ns reading_max_ns",
        &[("h1 h2 14 1400 0", &[100, 100, 200, 10, 171]), ("h2 h1 14 1400 0", &[100, 100, 200, 10, 11])],
    );
}

/// The waits of the host in `critical_path.rs`: who ended them.
#[test]
fn who_waited_for_whom() {
    let host = super::critical_path::host();
    let said = analyze(&[&host], "blocking --tid 10 --table ended --format json");
    assert_eq!(said.status, Some(0), "{}", said.stderr);
    let expect = [
        "sh sleep 1 20 ? ?",
        "sh disk 1 19 ? ?",
        "sh child 1 19 sh 40",
        "sh lock 1 11 helper 30",
        "sh pipe 1 9 web 20",
        "sh signal 1 9 web 20",
        "sh other 1 9 web 20",
        "sh lock 1 8 web 20",
    ];
    assert_eq!(rows(&said.stdout, "comm cause count total_ns by_comm by_pid"), expect);
    let said = analyze(&[&host], "blocking --tid 10 --dot");
    assert!(said.stdout.contains(r#""h1:10" -> "h1:30" [label="lock ×1, 0.0 ms"];"#), "{}", said.stdout);
    assert!(said.stdout.contains(r#""h1:10" -> "h1:disk" [label="disk ×1, 0.0 ms"];"#), "{}", said.stdout);
}
