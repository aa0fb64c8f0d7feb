//! Phases of a program as requests: the thumbnail service of real machines, through the storage server that it asks.

use crate::common::{ask, json, shared};
use isochrone_crosshost::{Cause, RequestQuery, Requests, Served, path, requests};
use wildmatch::WildMatch;

const MS: i64 = 1_000_000;

/// The log of the service has its times around the events; where the virtual machine stood still in between, by so much.
const STALL: i64 = 9 * MS;

/// Every `open` asks the storage server, which sleeps 8 ms and computes 2 ms, as it is built to.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn phases_are_followed_to_other_hosts() {
    let truth = json(&shared("phases3/truth.json"));
    let log = truth["hosts"]["h2"]["phase_log"].as_array().unwrap();
    ask(&[shared("phases3")], |cluster| {
        let of = Requests::Phases(vec![WildMatch::new("*phase op?n")]);
        let found = requests(cluster, &RequestQuery { of, ..RequestQuery::default() }).unwrap();
        assert_eq!(found.len(), log.len());
        let mut expected: Vec<(i64, i32, i64)> = log
            .iter()
            .map(|entry| {
                let [start, end] = [0, 1].map(|place| entry["open"][place].as_i64().unwrap());
                (start, entry["tid"].as_i64().unwrap() as i32, end - start)
            })
            .collect();
        expected.sort_unstable();
        for (request, (_, tid, ns)) in found.iter().zip(expected) {
            assert_eq!(request.service, Some(Served::Phase("thumb:phase open".into())));
            let client = request.client.unwrap();
            assert_eq!((cluster.host_name(client.host), cluster.tid(client)), ("h2", Some(tid)));
            let stall = if request.number == 1 { STALL } else { MS };
            assert!((request.duration() - ns).abs() < stall, "{}: {ns}", request.number);
            let mut at = request.start;
            for (step, _) in &request.path {
                assert_eq!(step.start, at, "{}", request.number);
                at = step.end;
            }
            assert_eq!(at, request.end);
            let spent = |host: &str, cause: Cause| -> i64 {
                let of = request.spent.iter().filter(|(on, _)| on.cause == cause);
                of.filter(|(on, _)| cluster.host_name(on.host) == host).map(|(_, ns)| ns).sum()
            };
            let slept = spent("h3", Cause::Sleep);
            // The virtual machine wakes it up to 3 ms late.
            assert!((8 * MS..12 * MS).contains(&slept), "{}: {slept}", request.number);
            assert!(spent("h3", Cause::Cpu) >= 2 * MS, "{}: {:?}", request.number, request.spent);
            assert!(spent("h2", Cause::Network) > 0 && spent("h3", Cause::Network) > 0);
        }
        // Sums alone are the same, and a path can be had later.
        let of = Requests::Phases(vec![WildMatch::new("thumb:phase open")]);
        let sums =
            requests(cluster, &RequestQuery { of, only_sums: true, ..RequestQuery::default() }).unwrap();
        for (request, sums) in found.iter().zip(&sums) {
            assert!(sums.path.is_empty());
            assert_eq!(sums.spent, request.spent);
            assert_eq!(path(cluster, sums).unwrap(), request.path);
        }
    });
}
