//! Requests of real traces against references that were computed independently of them.

use std::collections::BTreeMap;

use crate::common::{ask, int, json, shared, text};
use isochrone_crosshost::{Cause, RequestQuery, Requests, accounting, critical_path, requests};

/// For each request of `chain3`: its sums by cause, the hosts in the reference's order, and no hole and no overlap.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn requests_of_chain3() {
    const LIMIT_MS: f64 = 0.3;
    let reference = json(&shared("refs/chain3.json"));
    let expected = reference["requests"].as_array().unwrap();
    ask(&[shared("chain3")], |cluster| {
        let found = requests(
            cluster,
            &RequestQuery { of: Requests::Service("8080".parse().unwrap()), ..RequestQuery::default() },
        );
        let found = found.unwrap();
        assert_eq!(found.len(), expected.len());
        // Without a service, the same: the others are parts of these.
        assert_eq!(requests(cluster, &RequestQuery::default()).unwrap(), found);
        for (request, expected) in found.iter().zip(expected) {
            let mut at = request.start;
            for (step, _) in &request.path {
                assert_eq!(step.start, at, "{}", request.number);
                at = step.end;
            }
            assert_eq!(at, request.end);
            let mut sums: BTreeMap<String, i64> = BTreeMap::new();
            for (step, _) in &request.path {
                let host = cluster.host_name(step.host);
                let what = match step.cause {
                    Cause::Cpu => format!("{host}_cpu"),
                    Cause::Sleep => format!("{host}_sleep"),
                    Cause::Network => "network".to_owned(),
                    _ => "other_waiting".to_owned(),
                };
                *sums.entry(what).or_default() += step.duration();
            }
            let causes = expected["causes_ns"].as_object().unwrap();
            let known: Vec<&String> = sums.keys().filter(|what| !causes.contains_key(*what)).collect();
            assert!(known.is_empty(), "{}: {known:?}", request.number);
            for (what, expected) in causes {
                let difference = sums.get(what).copied().unwrap_or(0) as f64 - expected.as_f64().unwrap();
                assert!(difference.abs() < LIMIT_MS * 1e6, "{}: {what} {difference}", request.number);
            }
            let mut hosts: Vec<&str> =
                request.path.iter().map(|(step, _)| cluster.host_name(step.host)).collect();
            hosts.dedup();
            let mut expected: Vec<&str> = expected["path"]
                .as_array()
                .unwrap()
                .iter()
                .map(|step| step["host"].as_str().unwrap().split('>').next().unwrap())
                .collect();
            expected.dedup();
            assert_eq!(hosts, expected, "{}", request.number);
        }
        // The tracer's own daemon ran while the server waited for a CPU.
        let of_daemon = found[13]
            .path
            .iter()
            .filter(|(step, text)| step.cause == Cause::WaitCpu && text.contains("lttng-consumerd"));
        let waited: i64 = of_daemon.map(|(step, _)| step.duration()).sum();
        assert!(waited > 14_000_000, "{waited}");
        let report = critical_path(cluster, &found, true, true);
        let rows = |name: &str| report.table(name).unwrap().rows.len();
        assert_eq!((rows("requests"), rows("services")), (24, 1));
        assert_eq!(rows("path"), found.iter().map(|request| request.path.len()).sum::<usize>());
    });
}

/// Who pays in `hog2`: self, sub and total within 0.1 %, each request within 0.2 ms.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn accounting_of_hog2() {
    let reference = json(&shared("refs/hog2.json"));
    ask(&[shared("hog2")], |cluster| {
        let report = accounting(cluster, None, true).unwrap();
        let table = report.table("accounting").unwrap();
        let find = |pid: i128, parent: Option<i128>| {
            let is_it =
                |row: &Vec<_>| (int(table, row, "pid"), int(table, row, "parent_pid")) == (Some(pid), parent);
            table.rows.iter().find(is_it).unwrap()
        };
        let check = |row: &[_], column: &str, expect: f64| {
            let found = int(table, row, column).unwrap() as f64;
            assert!((found - expect).abs() <= expect / 1000.0, "{column}: {found}, expected {expect}");
        };
        for entry in reference["accounting"].as_array().unwrap() {
            let pid = |name: &str| i128::from(entry[name].as_i64().unwrap());
            let figure = |name: &str| entry[name].as_f64().unwrap();
            let client = find(pid("client_tid"), None);
            check(&client, "self_ns", figure("self_client_cpu_life_ns"));
            check(&client, "sub_ns", figure("sub_server_cpu_in_client_blocked_ns"));
            check(&client, "total_ns", figure("total_ns"));
            let server = find(pid("server_tid"), Some(pid("client_tid")));
            check(&server, "self_ns", figure("sub_server_cpu_in_client_blocked_ns"));
            assert_eq!(int(table, &server, "sub_ns"), Some(0));
            assert_eq!(text(table, &server, "parent_host").as_deref(), Some("h2"));
        }
        let table = report.table("requests").unwrap();
        let expected = reference["requests"].as_array().unwrap();
        assert_eq!(table.rows.len(), expected.len());
        for (expected, row) in expected.iter().zip(&table.rows) {
            let close = |column: &str, expect: &serde_json::Value| {
                let difference = int(table, &row, column).unwrap() as f64 - expect.as_f64().unwrap();
                assert!(difference.abs() < 200_000.0, "{}: {column} {difference}", expected["n"]);
            };
            assert_eq!(int(table, &row, "client_tid"), expected["client"]["tid"].as_i64().map(i128::from));
            close("cpu_ns", &expected["server"]["cpu_in_client_blocked_intervals_ns"]);
            close("blocked_ns", &expected["client"]["blocked_in_read_ns"]);
        }
    });
}
