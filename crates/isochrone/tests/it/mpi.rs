//! MPI programs on real hosts (`vm/mpi4`: a grid of four ranks that exchange with their neighbours, the third of which computes four times as
//! long): every message is an edge of a path, and it is found for whom the ranks wait. The ranks poll; so nothing but the messages says that they wait.
//!
//! Without the corpus these tests are ignored; with `ISOCHRONE_REQUIRE_SHARED` set it must be there.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

use crate::common::shared;

/// Rank k is on h(k+1).
const HOSTS: [&str; 4] = ["h1", "h2", "h3", "h4"];
/// Iterations, whose numbers are the tags of their messages.
const ITERATIONS: i64 = 40;

/// A row by the names of its columns.
type Row = BTreeMap<String, Value>;

/// A table of a command.
fn table(command: &[&str], name: &str) -> Vec<Row> {
    static CACHE: OnceLock<tempfile::TempDir> = OnceLock::new();
    let cache = CACHE.get_or_init(|| tempfile::tempdir().unwrap());
    let output = Command::new(env!("CARGO_BIN_EXE_isochrone"))
        .env("XDG_CACHE_HOME", cache.path())
        .args(command)
        .args(["-q", "--format", "json", "--limit", "0"])
        .arg(shared().join("data/vm/mpi4"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let table = report["tables"].as_array().unwrap().iter().find(|table| table["name"] == name).unwrap();
    let names: Vec<&str> =
        table["columns"].as_array().unwrap().iter().map(|column| column["name"].as_str().unwrap()).collect();
    let row = |row: &Value| {
        names.iter().map(ToString::to_string).zip(row.as_array().unwrap().iter().cloned()).collect()
    };
    table["rows"].as_array().unwrap().iter().map(row).collect()
}

fn rank_of(host: &Value) -> i64 {
    HOSTS.iter().position(|name| host == name).unwrap() as i64
}

/// What the ranks logged themselves: by rank and iteration the times of the exchange, raw ns.
fn exchanges() -> BTreeMap<(i64, i64), (i64, i64)> {
    let text = std::fs::read(shared().join("data/vm/mpi4/truth.json")).unwrap();
    let truth: Value = serde_json::from_slice(&text).unwrap();
    let logs = HOSTS.iter().flat_map(|host| truth["hosts"][*host]["mpi_log"].as_array().unwrap());
    logs.map(|line| {
        let number = |name: &str| line[name].as_i64().unwrap();
        ((number("rank"), number("iter")), (number("exchange_start"), number("exchange_end")))
    })
    .collect()
}

/// All messages of the grid: sender, receiver, tag.
fn messages() -> BTreeSet<(i64, i64, i64)> {
    let of_tag = |tag| {
        let pairs = (0..3).flat_map(|rank| [(rank, rank + 1), (rank + 1, rank)]);
        pairs.map(move |(sender, receiver)| (sender, receiver, tag))
    };
    (0..ITERATIONS).flat_map(of_tag).collect()
}

/// `h3 → h2, rank 2 → rank 1, tag 7, 8192 bytes`
fn message_of(detail: &str) -> Option<(i64, i64, i64)> {
    let (_, ranks) = detail.split_once(", rank ")?;
    let (sender, rest) = ranks.split_once(" → rank ")?;
    let (receiver, rest) = rest.split_once(", tag ")?;
    let (tag, _) = rest.split_once(", ")?;
    Some((sender.parse().ok()?, receiver.parse().ok()?, tag.parse().ok()?))
}

/// The path of each reception goes back to who sent the message.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn every_message_is_an_edge() {
    let receptions = ["critical-path", "--phase", "mpi MPI_Recv"];
    let requests = table(&receptions, "requests");
    assert_eq!(requests.len(), messages().len());
    let mut last: BTreeMap<i64, Row> = BTreeMap::new();
    for step in table(&receptions, "path") {
        if step["cause"] == "network" && message_of(step["detail"].as_str().unwrap_or_default()).is_some() {
            last.insert(step["request"].as_i64().unwrap(), step);
        }
    }
    let mut found = BTreeSet::new();
    for request in &requests {
        let step = &last[&request["request"].as_i64().unwrap()];
        let message = message_of(step["detail"].as_str().unwrap()).unwrap();
        assert_eq!(rank_of(&request["client_host"]), message.1, "{request:?}: {step:?}");
        assert_eq!(rank_of(&step["host"]), message.0, "{step:?}");
        assert!(step["uncertainty_ns"].as_i64().is_some(), "{step:?}");
        assert!(found.insert(message), "{message:?} is an edge of two receptions");
    }
    assert_eq!(found, messages());
}

/// Ranks 1 and 3 wait for rank 2, and rank 0 for rank 1, which waits for rank 2.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn who_the_ranks_wait_for() {
    let waits = table(&["blocking", "--procname", "mpigrid"], "waits");
    let waits: Vec<&Row> = waits.iter().filter(|wait| wait["syscall"] == "MPI_Recv").collect();
    assert_eq!(waits.len(), messages().len());
    let (mut by, mut of) = (BTreeMap::new(), BTreeMap::new());
    for wait in &waits {
        let ns = wait["wait_ns"].as_i64().unwrap();
        let (waiter, sender) = (rank_of(&wait["host"]), rank_of(&wait["ended_by_host"]));
        assert_eq!((waiter - sender).abs(), 1, "{wait:?}");
        *by.entry(sender).or_insert(0) += ns;
        *of.entry((waiter, sender)).or_insert(0) += ns;
    }
    let most = |of: &BTreeMap<i64, i64>| *of.iter().max_by_key(|(_, ns)| **ns).unwrap().0;
    assert_eq!(most(&by), 2, "{by:?}");
    // By the events of the traces, independently added up, ms.
    for ((waiter, sender), ms) in
        [((0, 1), 4131), ((1, 0), 295), ((1, 2), 4731), ((2, 1), 1694), ((2, 3), 1534), ((3, 2), 4949)]
    {
        assert!((of[&(waiter, sender)] / 1_000_000 - ms).abs() <= 1, "{waiter} for {sender}: {of:?}");
    }
    // No rank waits longer than its own log says that it exchanged.
    let logged = exchanges();
    assert_eq!(logged.len(), 4 * ITERATIONS as usize);
    for rank in 0..4 {
        let exchanged: i64 =
            logged.iter().filter(|((of, _), _)| *of == rank).map(|(_, (begin, end))| end - begin).sum();
        let waited: i64 = of.iter().filter(|((waiter, _), _)| *waiter == rank).map(|(_, ns)| ns).sum();
        assert!(waited <= exchanged && waited * 10 > exchanged * 8, "rank {rank}: {waited} of {exchanged}");
    }
    // The same from the table that people see.
    let ended = table(&["blocking", "--procname", "mpigrid"], "ended");
    let greatest = |host: &str| {
        let rows = ended.iter().filter(|row| row["host"] == host && row["by_host"].is_string());
        rows.max_by_key(|row| row["total_ns"].as_i64()).unwrap()["by_host"].clone()
    };
    assert_eq!(["h1", "h2", "h4"].map(greatest), ["h2", "h3", "h3"].map(Value::from));
}
