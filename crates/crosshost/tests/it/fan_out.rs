//! Requests that fan out over four hosts, against what the programs logged themselves: see `chain4.json` of the scenario.

use std::collections::BTreeSet;

use crate::common::{ask, json, unpacked};
use isochrone_crosshost::{Cause, Cluster, Request, RequestQuery, Step, requests, thread_path};
use isochrone_time::Window;

/// Requests whose client looked at the clock late. A request ends when the read returns that has the whole answer. The client's log ends when it
/// asks for the time, after two system calls of its own (CPU time, wait for a CPU) by which it warms up: in these it was interrupted, or
/// lost its CPU, in between.
const LATE: [i64; 5] = [19, 23, 24, 25, 35];

/// What the client did by itself after a request, until it asked for the time, ns: the request's last step is its own, and so is all that
/// follows, or there is something of the request that is not in it.
fn until_stamp(cluster: &Cluster<'_>, request: &Request, logged_ns: i64) -> Option<i64> {
    let client = request.client?;
    let until = request.start + logged_ns;
    if until <= request.end {
        return None;
    }
    let after = thread_path(cluster, client, Window::new(request.end, until)).unwrap();
    let is_own = |step: &Step| {
        let is_client = (step.host, step.thread) == (client.host, Some(client.thread));
        is_client && matches!(step.cause, Cause::Cpu | Cause::WaitCpu)
    };
    after.path.iter().all(|(step, _)| is_own(step)).then_some(until.saturating_since(request.end))
}

/// How long the client was on a CPU, or waited for one, between the stamps after it had sent a request and after it had the answer, ns.
fn logged_own(log: &[serde_json::Value], id: i64) -> i64 {
    let of_step = |name: &str| {
        let stamp = log.iter().find(|stamp| stamp["id"] == id && stamp["step"] == name).unwrap();
        stamp["cpu"].as_i64().unwrap() + stamp["rq"].as_i64().unwrap()
    };
    of_step("c_recv") - of_step("c_sent")
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn requests_of_chain4() {
    let directory = tempfile::tempdir().unwrap();
    let root = unpacked("chain4b", directory.path());
    let truth = json(&root.join("chain4.json"));
    let mut expected: Vec<_> = truth["requests"].as_array().unwrap().iter().collect();
    expected.sort_by_key(|request| request["start_ns"].as_i64());
    let log = std::fs::read_to_string(root.join("logs/h1.c4.jsonl")).unwrap();
    let log: Vec<serde_json::Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let hosts = ["h1", "h2", "h3", "h4"].map(|host| root.join(host));
    ask(&hosts, |cluster| {
        let found = requests(cluster, &RequestQuery::default()).unwrap();
        assert_eq!((found.len(), expected.len()), (40, 40));
        let mut wrong = Vec::new();
        for (request, expected) in found.iter().zip(&expected) {
            let id = expected["id"].as_i64().unwrap();
            let client = request.client.and_then(|client| cluster.tid(client));
            assert_eq!(client.map(i64::from), expected["client_tid"].as_i64(), "{id}");
            let server = request.server.and_then(|server| cluster.tid(server));
            assert_eq!(server.map(i64::from), expected["front_tid"].as_i64(), "{id}");
            let mut check =
                |what: &str, found: i64, expected: &serde_json::Value, at_least: f64, share: f64| {
                    let (found, expected) = (found as f64 / 1e6, expected.as_f64().unwrap() / 1e6);
                    if (found - expected).abs() > at_least.max(expected * share) {
                        wrong.push(format!("{id}: {what} {found:.3} ms, expected {expected:.3} ms"));
                    }
                };
            let mut total = request.duration();
            if LATE.contains(&id) {
                let logged = expected["total_ns"].as_i64().unwrap();
                let own = until_stamp(cluster, request, logged).expect("the client's own time");
                // By the log itself, too, it used the CPU or waited for it for so long after it had sent the request.
                assert!(own <= logged_own(&log, id), "{id}: {own}");
                total += own;
            }
            check("total", total, &expected["total_ns"], 1.0, 0.01);
            let sum = |cause| {
                let of = request.path.iter().filter(|(step, _)| step.cause == cause);
                of.map(|(step, _)| step.duration()).sum()
            };
            let breakdown = &expected["breakdown_ns"];
            check("sleep", sum(Cause::Sleep), &breakdown["backend_sleep"], 2.0, 0.05);
            check("lock", sum(Cause::Lock), &breakdown["lock_wait"], 2.0, 0.05);
            check("disk", sum(Cause::Disk), &breakdown["disk_wait"], 2.0, 0.05);
            // The backends on the path: the one that decided, or both, one after the other.
            let on_path: BTreeSet<&str> =
                request.path.iter().map(|(step, _)| cluster.host_name(step.host)).collect();
            let decided = match expected["determined_by"].as_str() {
                Some(host) => BTreeSet::from(["h1", "h2", host]),
                None => BTreeSet::from(["h1", "h2", "h3", "h4"]),
            };
            if on_path != decided {
                wrong.push(format!("{id}: by {on_path:?}, expected {decided:?}"));
            }
            // Who held the lock, and who took the CPU.
            for (step, text) in &request.path {
                if step.cause == Cause::Lock && step.duration() > 1_000_000 {
                    assert!(text.contains("held by back-"), "{id}: {text}");
                }
            }
            let waits_for_hog = request.path.iter().any(|(step, text)| {
                step.cause == Cause::WaitCpu && step.duration() > 20_000_000 && text.contains("c4hog")
            });
            let by_hog = expected["path"].as_array().unwrap().iter().any(|step| {
                step["preempted_by"].as_array().is_some_and(|by| !by.is_empty())
                    && step["runq_ns"].as_i64().unwrap_or(0) > 22_000_000
            });
            if by_hog && !waits_for_hog {
                wrong.push(format!("{id}: the hog is not named"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    });
}
