//! Every kind of wait of a real host against what the programs that waited measured themselves.

use std::collections::BTreeMap;

use crate::common::{ask, int, json, shared, text};
use isochrone_crosshost::{blocking, dot, ipc};

/// The cause of a designed wait.
fn cause(kind: &str) -> &'static str {
    match kind {
        "pipe" => "pipe",
        "unix" | "tcp-loopback" => "socket",
        "signal" => "signal",
        "epoll-eventfd" => "other",
        "nanosleep" | "poll-timeout" => "sleep",
        "wait4" => "child",
        // Mutexes, condition variables, semaphores, flock.
        _ => "lock",
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn designed_waits_of_ipc1() {
    const LIMIT: i128 = 1_000_000;
    let truth = json(&shared("ipc1/truth.json"));
    let host = &truth["hosts"]["h1"];
    let offset = i128::from(host["ctf_clock_offset_ns"][0].as_i64().unwrap());
    let expected = host["waits"].as_array().unwrap();
    assert_eq!(expected.len(), 140);
    ask(&[shared("ipc1/h1")], |cluster| {
        let report = blocking(cluster, None, |_| true, true, true).unwrap();
        let table = report.table("waits").unwrap();
        let mut wrong = Vec::new();
        for wait in expected {
            let at = |name: &str| i128::from(wait[name].as_i64().unwrap()) + offset;
            let (kind, tid) = (wait["kind"].as_str().unwrap(), wait["tid"].as_i64().map(i128::from));
            let (from, to) = (at("t0"), at("t1"));
            let of_wait = table.rows.iter().filter(|row| {
                let end = int(table, row, "end_ns").unwrap();
                int(table, row, "tid") == tid && from < end && end <= to
            });
            // A thread that is woken may wait again, shortly: for the mutex of a condition variable.
            let longest = of_wait.max_by_key(|row| int(table, row, "wait_ns"));
            let Some(row) = longest else {
                wrong.push(format!("{wait}: no wait"));
                continue;
            };
            let found = (text(table, &row, "cause").unwrap(), text(table, &row, "ended_by_comm"));
            let took = int(table, &row, "syscall_ns").unwrap_or(0);
            let by = wait["for"].as_str().filter(|by| *by != "(timer)").map(str::to_owned);
            let waited = int(table, &row, "wait_ns").unwrap();
            // The first of one program: it was put off the CPU between its stamp and its call.
            let limit = if (tid, from - offset) == (Some(186), 10_937_157_068) { 2 * LIMIT } else { LIMIT };
            if found != (cause(kind).to_owned(), by) || (took - (to - from)).abs() > limit || waited > took {
                wrong.push(format!("{wait}: {found:?} {took} {waited}"));
            }
        }
        assert!(wrong.is_empty(), "{} of 140:\n{}", wrong.len(), wrong.join("\n"));
        // Who acts on whom.
        let report = ipc(cluster, None, true).unwrap();
        let table = report.table("relations").unwrap();
        let mut counts: BTreeMap<(String, String, String), i128> = BTreeMap::new();
        for row in &table.rows {
            let [from, to, kind] =
                ["from_comm", "to_comm", "kind"].map(|name| text(table, &row, name).unwrap());
            *counts.entry((from, to, kind)).or_default() += int(table, &row, "count").unwrap();
        }
        for (from, to, kind) in [
            ("pipe_prod", "pipe_mid", "pipe"),
            ("pipe_mid", "pipe_cons", "pipe"),
            ("unix_srv", "unix_cli", "socket"),
            ("lo_srv", "lo_cli", "socket"),
            ("sig_kill", "sig_wait", "signal"),
            ("flock_a", "flock_b", "lock"),
            ("sem_post", "sem_wait", "lock"),
            ("svs_post", "svs_wait", "lock"),
        ] {
            let count = counts.get(&(from.to_owned(), to.to_owned(), kind.to_owned()));
            assert!(count.is_some_and(|&count| count >= 10), "{from} {to} {kind}: {count:?}");
        }
        // Ten messages of 100 bytes each.
        for (from, to) in [
            ("pipe_prod", "pipe_mid"),
            ("pipe_mid", "pipe_cons"),
            ("unix_srv", "unix_cli"),
            ("unix_cli", "unix_srv"),
        ] {
            let bytes = table.rows.iter().find_map(|row| {
                let is_it =
                    ["from_comm", "to_comm"].map(|name| text(table, &row, name).unwrap()) == [from, to];
                int(table, &row, "bytes").filter(|_| is_it)
            });
            assert_eq!(bytes, Some(1000), "{from} {to}");
        }
        assert!(dot(&report).contains("pipe_prod"));
    });
}
