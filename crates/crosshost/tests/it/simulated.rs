//! Requests of simulated clusters whose critical path is known: tiers, fan-out and fan-in, servers that poll or hand on to a pool, helper
//! threads, disks, timers, lost events. The number of
//! clusters is `ISOCHRONE_REQUEST_CLUSTERS`.

use crate::common::simulated::{Known, Simulated};
use crate::common::{ask, ask_unsynchronized};
use isochrone_crosshost::{Cause, Cluster, Request, RequestQuery, Requests, Step, ThreadRef, requests};

fn clusters() -> u64 {
    std::env::var("ISOCHRONE_REQUEST_CLUSTERS").map_or(40, |count| count.parse().unwrap())
}

/// What no path may do: leave holes, overlap, or go back in time by more than its packets' uncertainty.
fn check_form(request: &Request) {
    let mut at = request.start;
    for (step, _) in &request.path {
        assert_eq!(step.start, at, "request {}", request.number);
        assert!(step.start < step.end);
        at = step.end;
    }
    assert_eq!(at, request.end);
}

/// Host, tid, cause, and how long.
type Shaped = (String, Option<i32>, Cause, i64);

/// The steps of a path by host, tid and cause, neighbours that are alike joined.
fn shape(cluster: &Cluster<'_>, request: &Request) -> Vec<Shaped> {
    let mut shape: Vec<Shaped> = Vec::new();
    for (step, _) in &request.path {
        let Step { host, thread, cause, .. } = *step;
        let tid = thread.and_then(|thread| cluster.tid(ThreadRef { host, thread }));
        let name = cluster.host_name(host).to_owned();
        match shape.last_mut() {
            Some(last) if (&last.0, last.1, last.2) == (&name, tid, cause) => last.3 += step.duration(),
            _ => shape.push((name, tid, cause, step.duration())),
        }
    }
    shape
}

fn expected(path: &[Known]) -> Vec<Shaped> {
    let mut shape: Vec<Shaped> = Vec::new();
    for &(host, tid, cause, start, end) in path {
        let (name, took) = (format!("h{host}"), end as i64 - start as i64);
        match shape.last_mut() {
            Some(last) if (&last.0, last.1, last.2) == (&name, tid, cause) => last.3 += took,
            _ => shape.push((name, tid, cause, took)),
        }
    }
    shape
}

#[test]
fn paths_are_those_that_were_made() {
    let mut all = 0;
    for seed in 0..clusters() {
        let mut cluster = Simulated::new(seed);
        cluster.requests(12);
        let directory = tempfile::tempdir().unwrap();
        let traces = cluster.write(directory.path());
        ask(&traces, |opened| {
            let of = Requests::Service("8001".parse().unwrap());
            let found = requests(opened, &RequestQuery { of, ..RequestQuery::default() }).unwrap();
            assert_eq!(found.len(), cluster.paths.len(), "cluster {seed}");
            // Hosts that are asked once or twice in all exchange no certain message: they are islands of their own, and the path ends there.
            let asked = |host: usize| {
                cluster.paths.iter().filter(|path| path.iter().any(|step| step.0 == host)).count()
            };
            if (1..cluster.len()).all(|host| asked(host) >= 4) {
                // All others are parts of these.
                assert_eq!(requests(opened, &RequestQuery::default()).unwrap(), found, "cluster {seed}");
            }
            for (request, path) in found.iter().zip(&cluster.paths) {
                check_form(request);
                if path.iter().any(|step| asked(step.0) < 4) {
                    continue;
                }
                // The first packets of connections are no messages: nothing keeps the clocks from showing them as received before they
                // were sent, and their step is empty then.
                let (packets, found): (Vec<_>, Vec<_>) =
                    shape(opened, request).into_iter().partition(|step| step.2 == Cause::Network);
                let (sent, expected): (Vec<_>, Vec<_>) =
                    expected(path).into_iter().partition(|step| step.2 == Cause::Network);
                let steps = |shape: &[Shaped]| {
                    shape.iter().map(|(host, tid, cause, _)| (host.clone(), *tid, *cause)).collect::<Vec<_>>()
                };
                if packets.len() < sent.len() {
                    // What is left is in its order. Where the path is cut in the middle of a wait for a helper, nothing shows that the helper
                    // worked for the request: then it is a wait for it.
                    let (mut found, expected) = (steps(&found), steps(&expected));
                    if found.get(1).is_some_and(|step| step.2 == Cause::Lock) {
                        found.remove(1);
                    }
                    let mut rest = expected.iter();
                    assert!(
                        found.iter().all(|step| rest.any(|other| other == step)),
                        "cluster {seed}: {found:?}"
                    );
                    continue;
                }
                assert_eq!(steps(&found), steps(&expected), "cluster {seed} request {}", request.number);
                for (found, expected) in found.iter().zip(&expected) {
                    // What lies on one host is exact but for the rate of its clock, which four messages in some hundredths of a second
                    // leave open by up to some ten thousand ppm.
                    let difference = (found.3 - expected.3).abs();
                    assert!(difference <= expected.3 / 40 + 2, "cluster {seed}: {found:?} {expected:?}");
                }
                all += 1;
                let uncertainty = request.path.iter().filter_map(|(step, _)| step.uncertainty).max();
                let uncertainty = uncertainty.expect("packets between hosts");
                for (found, sent) in packets.iter().zip(&sent) {
                    let difference = (found.3 - sent.3).abs();
                    assert!(
                        difference <= 2 * uncertainty,
                        "cluster {seed}: {found:?} {sent:?} {uncertainty}"
                    );
                }
            }
        });
    }
    // Of most requests; in the others a first packet, or an island, is in the way.
    assert!(all > clusters() * 12 / 2, "{all}");
}

#[test]
fn what_is_lost_is_unknown_or_left_out() {
    let mut unknown = 0;
    for seed in 0..clusters() {
        let mut cluster = Simulated::new(seed);
        cluster.requests(12);
        // In the middle of a request, on each host in turn, the events of the servers' CPU.
        let host = 1 + seed as usize % (cluster.len() - 1);
        let path = &cluster.paths[5];
        let (from, to) = (path[0].3, path[path.len() - 1].4);
        let third = (to - from) / 3;
        let [from, to] = [from + third, to - third].map(|time| cluster.raw(host, time));
        cluster.hosts[host].script.lose_scripted(seed as u32 % 2, from, to);
        let directory = tempfile::tempdir().unwrap();
        let traces = cluster.write(directory.path());
        ask(&traces, |opened| {
            let found = requests(opened, &RequestQuery::default()).unwrap();
            for request in &found {
                check_form(request);
            }
            unknown += found
                .iter()
                .filter(|request| request.path.iter().any(|(step, _)| step.cause == Cause::Unknown))
                .count();
        });
    }
    assert!(unknown > 0);
}

/// Hosts whose clocks nothing ties together: requests are found by the calls of both ends, and what went on on the other host is not invented.
#[test]
fn nothing_is_followed_to_other_islands() {
    for seed in 0..clusters() {
        let mut cluster = Simulated::new(seed);
        cluster.requests(4);
        let directory = tempfile::tempdir().unwrap();
        let traces = cluster.write(directory.path());
        ask_unsynchronized(&traces, |opened| {
            let of = Requests::Service("8001".parse().unwrap());
            let found = requests(opened, &RequestQuery { of, ..RequestQuery::default() }).unwrap();
            assert_eq!(found.len(), cluster.paths.len(), "cluster {seed}");
            for request in &found {
                check_form(request);
                let host = request.client.unwrap().host;
                assert!(request.path.iter().all(|(step, _)| step.host == host), "cluster {seed}");
                assert!(request.path.iter().all(|(step, _)| step.uncertainty.is_none()), "cluster {seed}");
            }
        });
    }
}
