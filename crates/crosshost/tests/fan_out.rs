//! Requests that fan out over four hosts, against what the programs logged themselves: see `chain4.json` of the scenario.
#![allow(clippy::unwrap_used)] // A test may panic.

mod common;

use std::collections::BTreeSet;

use common::{ask, json, unpacked};
use isochrone_crosshost::{Asked, Cause, requests};

/// Requests whose client stamped their end late: it was interrupted after the exit of `read`, which ends a request, and before it asked
/// for the time. By how much their totals are greater, ms.
const LATE: [(i64, f64); 5] = [(19, 2.1), (23, 1.3), (24, 3.8), (25, 2.0), (35, 5.6)];

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn requests_of_chain4() {
    let directory = tempfile::tempdir().unwrap();
    let root = unpacked("chain4b", directory.path());
    let truth = json(&root.join("chain4.json"));
    let mut expected: Vec<_> = truth["requests"].as_array().unwrap().iter().collect();
    expected.sort_by_key(|request| request["start_ns"].as_i64());
    let hosts = ["h1", "h2", "h3", "h4"].map(|host| root.join(host));
    ask(&hosts, |cluster| {
        let found = requests(cluster, &Asked::default()).unwrap();
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
            let late = LATE.iter().find(|(late, _)| *late == id).map_or(1.0, |(_, ms)| *ms);
            check("total", request.duration(), &expected["total_ns"], late, 0.01);
            let sum = |cause| {
                let of = request.path.iter().filter(|(step, _)| step.cause == cause);
                of.map(|(step, _)| step.end - step.begin).sum()
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
                if step.cause == Cause::Lock && step.end - step.begin > 1_000_000 {
                    assert!(text.contains("held by back-"), "{id}: {text}");
                }
            }
            let waits_for_hog = request.path.iter().any(|(step, text)| {
                step.cause == Cause::WaitCpu && step.end - step.begin > 20_000_000 && text.contains("c4hog")
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
