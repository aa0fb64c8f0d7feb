//! Traces of which a part was not recorded or is lost, and the states of threads: at any time the state is that of the whole trace, or
//! less is known of it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::common::cuts::{GROUPS, hosts, is_of, none, streams};
use crate::common::without::copy_without;
use serde_json::Value;

/// What a thread does from `begin` to `end`.
#[derive(Debug, Clone)]
struct Row {
    begin: i64,
    end: i64,
    state: String,
    /// CPU, call, descriptor, waker: null where it is unknown.
    more: [Value; 4],
}

/// By host and thread; those of one number follow each other.
type States = BTreeMap<(String, i64), Vec<Row>>;

fn ask(scenario: &Path, cache: &Path) -> States {
    let output = Command::new(env!("CARGO_BIN_EXE_isochrone"))
        .args(["analyze", "--no-sync", "--format", "json", "states"])
        .args(hosts(scenario))
        .env("XDG_CACHE_HOME", cache)
        .output()
        .unwrap();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut states = States::new();
    for row in report["tables"][0]["rows"].as_array().unwrap() {
        let number = |place: usize| row[place].as_i64().unwrap();
        let text = |place: usize| row[place].as_str().unwrap().to_owned();
        let more = [7, 8, 9, 10].map(|place: usize| row[place].clone());
        let (begin, end, state) = (number(5), number(6), text(4));
        states.entry((text(0), number(2))).or_default().push(Row { begin, end, state, more });
    }
    for rows in states.values_mut() {
        rows.sort_by_key(|row| row.begin);
    }
    states
}

/// Whether a state says what another one does, or less of it. `cut`: what was not recorded.
fn is_within(part: &Row, whole: &Row, cut: &str) -> bool {
    let is_on_cpu = |state: &str| ["usermode", "syscall", "interrupted", "running"].contains(&state);
    let (of_part, of_whole) = (part.state.as_str(), whole.state.as_str());
    let is_state = match of_part {
        "unknown" => true,
        "running" => is_on_cpu(of_whole),
        _ if of_part == of_whole => true,
        // Interrupts were not recorded, which a note says.
        "usermode" | "syscall" => of_whole == "interrupted" && cut.starts_with("irq_"),
        // Part of the wait before it, which a note says; of a thread that was woken and never ran, too.
        "blocked" => matches!(of_whole, "wait-cpu" | "unknown") && cut.starts_with("sched_wak"),
        _ => false,
    };
    let is_call = of_part == of_whole || ["usermode", "syscall", "running"].contains(&of_part);
    let more = part.more.iter().zip(&whole.more).enumerate();
    // The waker is that of the event that the tracer recorded.
    let compared = more.filter(|(place, _)| *place != 3 || !cut.starts_with("sched_wak"));
    is_state && (!is_call || compared.into_iter().all(|(_, (a, b))| a.is_null() || a == b))
}

fn compare(whole: &States, part: &States, why: &str, cut: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for (thread, rows) in part {
        let all = whole.get(thread).map_or(&[][..], Vec::as_slice);
        for row in rows.iter().filter(|row| row.state != "unknown") {
            let first = all.partition_point(|it| it.end <= row.begin);
            let there: Vec<&Row> = all[first..].iter().take_while(|it| it.begin < row.end).collect();
            let is_covered = there.first().is_some_and(|it| it.begin <= row.begin)
                && there.last().is_some_and(|it| it.end >= row.end);
            if let Some(other) = there.iter().find(|it| !is_within(row, it, cut)) {
                wrong.push(format!("{why}: {thread:?} {row:?}\n  whole: {other:?}"));
            } else if !is_covered {
                wrong.push(format!("{why}: {thread:?} {row:?}\n  whole: nothing"));
            }
        }
    }
    wrong.truncate(12);
    wrong
}

/// Removes one packet of a stream of LTTng, and what indexes say of it. Returns whether there is one of that number that is not the only one.
fn drop_packet(stream: &Path, number: usize) -> bool {
    // Magic, uuid, ids of the stream, then begin, end, size of the content, size of the packet.
    const SIZE_AT: usize = 32 + 24;
    let bytes = std::fs::read(stream).unwrap();
    let mut begins = Vec::new();
    let mut at = 0;
    while at + SIZE_AT + 8 <= bytes.len() {
        begins.push(at);
        at += u64::from_le_bytes(bytes[at + SIZE_AT..][..8].try_into().unwrap()) as usize / 8;
    }
    begins.push(bytes.len());
    let Some(&[from, to]) = begins.windows(2).nth(number) else { return false };
    std::fs::write(stream, [&bytes[..from], &bytes[to..]].concat()).unwrap();
    let _ = std::fs::remove_dir_all(stream.parent().unwrap().join("index"));
    begins.len() > 2
}

fn check(scenario: &Path) -> Vec<String> {
    let scratch = tempfile::tempdir().unwrap();
    let (cut, cache) = (scratch.path().join("cut"), scratch.path().join("cache"));
    let whole = ask(scenario, &cache);
    let name = scenario.file_name().unwrap().to_string_lossy().into_owned();
    let mut wrong = Vec::new();
    let mut compare_cut = |why: &str, group: &str| {
        let part = ask(&cut, &cache);
        wrong.extend(compare(&whole, &part, &format!("{name} without {why}"), group));
        std::fs::remove_dir_all(&cut).unwrap();
        std::fs::remove_dir_all(&cache).unwrap();
    };
    for group in GROUPS.iter().chain(&["*syscall_entry_*", "*syscall_exit_*", "*syscall_*_futex", "*poll*"]) {
        copy_without(scenario, &cut, &|name| is_of(group, name));
        compare_cut(group, group);
    }
    for stream in streams(scenario) {
        copy_without(scenario, &cut, &|_| false);
        std::fs::remove_file(cut.join(&stream)).unwrap();
        compare_cut(&stream.display().to_string(), "");
        for number in 1..6 {
            copy_without(scenario, &cut, &|_| false);
            if drop_packet(&cut.join(&stream), number) {
                compare_cut(&format!("packet {number} of {}", stream.display()), "");
            } else {
                std::fs::remove_dir_all(&cut).unwrap();
            }
        }
    }
    wrong
}

#[test]
fn of_the_example() {
    none(&check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop")));
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn of_recordings() {
    none(
        &crate::common::cuts::chosen(&crate::common::shared())
            .iter()
            .flat_map(|it| check(it))
            .collect::<Vec<_>>(),
    );
}
