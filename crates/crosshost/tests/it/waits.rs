//! Every kind of wait of a real host against what the programs that waited measured themselves.

use std::collections::BTreeMap;

use crate::common::{ask, int, json, shared, text};
use isochrone_crosshost::{blocking, dot, ipc};

/// A kind of designed waits, who acts, who waits, through what, and the names of objects that have some.
type Expected = (&'static str, &'static str, &'static str, &'static str, &'static [&'static str]);

/// A condition variable of the C library is two futexes, which take turns.
const RELATIONS: &[Expected] = &[
    ("pipe", "pipe_prod", "pipe_mid", "pipe", &[]),
    ("pipe", "pipe_mid", "pipe_cons", "pipe", &[]),
    ("unix", "unix_srv", "unix_cli", "unix-socket", &[]),
    ("tcp-loopback", "lo_srv", "lo_cli", "loopback", &["127.0.0.1:5555"]),
    ("futex", "futx_a", "futx_b", "futex", &["0x4c14a0"]),
    ("signal", "sig_kill", "sig_wait", "signal", &["10 SIGUSR1"]),
    ("flock", "flock_a", "flock_b", "file-lock", &["/tmp/lockfile"]),
    ("epoll-eventfd", "evfd_send", "evfd_wait", "eventfd", &[]),
    ("condvar", "cond_sig", "cond_wait", "futex", &["0x4c1448", "0x4c144c"]),
    ("posix-sem-shm", "sem_post", "sem_wait", "shared-futex", &[]),
    ("sysv-sem", "svs_post", "svs_wait", "sysv-semaphore", &["semid 0"]),
    ("nanosleep", "", "nslp", "sleep", &[]),
    ("poll-timeout", "", "pollt", "timeout", &[]),
    ("wait4", "wp_child", "wp_parent", "child", &[]),
];

/// The name of the process of a role: that of its first thread.
fn process_of(role: &str) -> &str {
    match role {
        "futx_b" => "futx_a",
        "evfd_send" => "evfd_wait",
        "cond_sig" => "cond_wait",
        _ => role,
    }
}

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
        let mut found_waits: BTreeMap<(&str, &str), i128> = BTreeMap::new();
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
            *found_waits.entry((kind, wait["waiter"].as_str().unwrap_or_default())).or_default() += waited;
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
        for (kind, from, to, through, objects) in RELATIONS {
            let of_waiter =
                found_waits.iter().filter(|((of, waiter), _)| of.starts_with(kind) && waiter == to);
            let expect: i128 = of_waiter.map(|(_, waited)| waited).sum();
            let to = process_of(to);
            let rows = table.rows.iter().filter(|row| {
                let [is_from, is_to, is_through] =
                    [("from_comm", *from), ("to_comm", to), ("kind", *through)].map(|(name, expect)| {
                        text(table, row, name).unwrap_or_default() == process_of(expect)
                    });
                let object = text(table, row, "object").unwrap_or_default();
                is_from && is_to && is_through && (objects.is_empty() || objects.contains(&object.as_str()))
            });
            let (mut count, mut waited) = (0, 0);
            for row in rows {
                count += int(table, &row, "count").unwrap();
                waited += int(table, &row, "waited_ns").unwrap();
            }
            // They also wait for each other where it is not designed, as when one starts before the other.
            assert!(count >= 10, "{kind}: {from} {to} {through}: {count}");
            let is_so = if count == 10 { waited == expect } else { waited > expect };
            assert!(is_so, "{kind}: {from} {to} {through}: {count} times, {waited} of {expect} ns");
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
