//! `isochrone info` as a user meets it: exact figures of traces that were made for it, and of the public corpus.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::common::shared;
use assert_cmd::Command;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Runs `info` from the root of the project; its status must be 0.
fn info(format: &str, path: &str) -> String {
    info_without(&[], format, path)
}

/// The same of a trace that lacks these stream files, of which only the indexes are there: it must name them, and nothing else.
fn info_without(missing: &[&str], format: &str, path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::cargo_bin("isochrone").unwrap();
    let output = command.current_dir(root).args(["info", "-q", "--format", format, path]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let is_named =
        |(line, file): (&str, &&str)| line.contains(&format!("{path}/{file}: there is no such stream file"));
    assert!(
        said.lines().count() == missing.len() && said.lines().zip(missing).all(is_named),
        "{path}: {said}"
    );
    assert_eq!(output.status.code(), Some(i32::from(!missing.is_empty())), "{path}");
    String::from_utf8(output.stdout).unwrap()
}

/// The JSON of the only trace, as text and read.
fn as_json(path: &Path) -> (String, Value) {
    as_json_without(&[], path)
}

/// The same of a trace that lacks these stream files.
fn as_json_without(missing: &[&str], path: &Path) -> (String, Value) {
    let text = info_without(missing, "json", path.to_str().unwrap());
    let mut document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["traces"].as_array().unwrap().len(), 1);
    (text, document["traces"][0].take())
}

/// The text, without the first line, which names the path.
fn as_text(path: &Path) -> String {
    let text = info("text", path.to_str().unwrap());
    let (first, rest) = text.split_once('\n').unwrap();
    assert!(first.contains(path.to_str().unwrap()), "{first}");
    rest.to_owned()
}

fn trace(metadata: &str, files: &[(&str, Vec<u8>)]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("metadata"), metadata).unwrap();
    for (name, bytes) in files {
        fs::write(directory.path().join(name), bytes).unwrap();
    }
    directory
}

/// Metadata of streams with counters of losses, one class per clock of `stamped` (none: no clock); each has one event class.
fn metadata(clocks: &str, stamped: &[Option<&str>]) -> String {
    let mut text = "/* CTF 1.8 */
        typealias integer { size = 64; align = 8; } := u64;
        trace { major = 1; minor = 8; byte_order = le; uuid = \"00000000-0000-0000-0000-000000000007\";
            packet.header := struct { integer { size = 32; align = 8; } stream_id; }; };\n"
        .to_owned()
        + clocks;
    for (id, clock) in stamped.iter().enumerate() {
        // What is called a timestamp is one, even where no clock is declared.
        let (map, time) = match clock {
            Some(clock) => (format!("map = clock.{clock}.value;"), "timestamp"),
            None => (String::new(), "number"),
        };
        text += &format!(
            "typealias integer {{ size = 64; align = 8; {map} }} := time{id};
            stream {{ id = {id};
                packet.context := struct {{ time{id} {time}_begin; time{id} {time}_end; u64 content_size;
                    u64 packet_size; u64 events_discarded; u64 packet_seq_num; }};
                event.header := struct {{ time{id} {time}; }}; }};
            event {{ name = \"tick{id}\"; stream_id = {id}; fields := struct {{ integer {{ size = 8; }} n; }}; }};\n"
        );
    }
    text
}

/// A packet of a stream of [`metadata`], with events at these times.
#[derive(Clone, Copy)]
struct Packet<'t> {
    class: u32,
    begin: u64,
    end: u64,
    discarded: u64,
    sequence: u64,
    events: &'t [u64],
}

fn bytes(packets: &[Packet<'_>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for packet in packets {
        bytes.extend(packet.class.to_le_bytes());
        let bits = (4 + 6 * 8 + 9 * packet.events.len() as u64) * 8;
        for number in [packet.begin, packet.end, bits, bits, packet.discarded, packet.sequence] {
            bytes.extend(number.to_le_bytes());
        }
        for time in packet.events {
            bytes.extend(time.to_le_bytes());
            bytes.push(7);
        }
    }
    bytes
}

const QUIET: Packet<'_> = Packet { class: 0, begin: 0, end: 0, discarded: 0, sequence: 0, events: &[] };

#[test]
fn the_overview_of_a_kernel_trace() {
    let expect = "\
examples/shop/client/kernel: h1, kernel, CTF 1.8
  tracer       lttng-modules 2.13.9
  system       Linux 6.1.0-56-cloud-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.192-2 (2026-11-16)
  environment  trace_buffering_scheme = \"global\", trace_creation_datetime = \"20261120T061020+0000\", trace_name = \"s\"
  clock        monotonic (f40f69c3-f448-4e6e-b33b-f9e20e9d64f0), 1,000,000,000 Hz, 0 is 2026-11-20 06:10:02.608724159
  time         2026-11-20 06:10:21.712925289 … 2026-11-20 06:10:31.715004885 (10.00 s)
  holds        70,495 events (7,048 a second) in 4 packets of 1 stream, 3,526,656 bytes
  for sync     network packets with headers, 120 sent, 120 received; those of TCP can be matched

  stream  packets  events      bytes  from       to
  ch_0          4  70,495  3,526,656  0 ns  10.00 s

  events of class             count   share    bytes   share
  kmem_mm_page_alloc         10,825  15.4 %  627,850  17.8 %
  kmem_mm_page_free          10,567  15.0 %  528,350  15.0 %
  sched_switch                2,882   4.1 %  247,852   7.0 %
  irq_softirq_raise           2,375   3.4 %   80,750   2.3 %
  irq_softirq_exit            2,354   3.3 %   80,036   2.3 %
  irq_softirq_entry           2,354   3.3 %   80,036   2.3 %
  syscall_entry_mmap          2,016   2.9 %  133,056   3.8 %
  syscall_exit_mmap           2,016   2.9 %   76,608   2.2 %
  timer_hrtimer_start         1,718   2.4 %  113,388   3.2 %
  sched_wakeup                1,669   2.4 %   96,802   2.7 %
  sched_waking                1,669   2.4 %   96,802   2.7 %
  timer_hrtimer_expire_exit   1,478   2.1 %   56,164   1.6 %
  … and 143 more classes (--format json shows all)
";
    assert_eq!(info("text", "examples/shop/client"), expect);
    // Several traces are told apart by an empty line before each path.
    let all = info("text", "examples/shop");
    for path in ["\nexamples/shop/client/kernel: h1, ", "\n\nexamples/shop/db/kernel: h3, "] {
        assert_eq!(all.matches(path).count(), 1, "{all}");
    }
}

#[test]
fn every_key_is_documented() {
    let documentation = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json-output.md");
    let documentation = fs::read_to_string(documentation).unwrap();
    let (_, section) = documentation.split_once("## `isochrone info").unwrap();
    let section = section.split_once("\n## ").map_or(section, |(section, _)| section);
    let files = [("a", bytes(&[Packet { discarded: 1, events: &[1], ..QUIET }]))];
    let trace = trace(&metadata("clock { name = c; };", &[Some("c")]), &files);
    let (_, json) = as_json(trace.path());
    let mut keys = BTreeSet::new();
    for object in ["/clocks/0", "/stream_list/0", "/losses/0", "/event_classes/0", ""] {
        keys.extend(json.pointer(object).unwrap().as_object().unwrap().keys());
    }
    assert_eq!(keys.len(), 42, "{keys:?}");
    for key in keys {
        assert!(section.contains(&format!("`{key}`")), "{key} is not documented");
    }
}

#[test]
fn times_beyond_64_bits_are_exact() {
    let clock = "clock { name = c; freq = 3; offset_s = 9223372036854775807; offset = 1; precision = 2; };";
    let packet = Packet { begin: 5, end: 8, events: &[5, 7], ..QUIET };
    let trace = trace(&metadata(clock, &[Some("c")]), &[("a", bytes(&[packet]))]);
    let (text, json) = as_json(trace.path());
    // (2⁶³ − 1) s, and 1, 1 + 5 and 1 + 7 thirds of a second.
    for exact in [
        "\"offset_ns\": 9223372036854775807333333333",
        "\"begin_ns\": 9223372036854775809000000000",
        "\"end_ns\": 9223372036854775809666666666",
    ] {
        assert!(text.contains(exact), "{text}");
    }
    assert_eq!(json["clock"]["offset_s"], 9_223_372_036_854_775_807_i64);
    assert_eq!((&json["clock"]["offset_cycles"], &json["clock"]["precision"]), (&json!(1), &json!(2)));
    assert_eq!((&json["clock"]["frequency_hz"], &json["clock"]["uuid"]), (&json!(3), &Value::Null));
    let text = as_text(trace.path());
    let (second, ns) = ("9223372036854775809", "000000000");
    assert!(
        text.contains("c (no uuid), 3 Hz, ± 2 cycles, 0 is 9223372036854775807.333333333 s since 1970\n")
    );
    assert!(
        text.contains(&format!("{second}.{ns} s since 1970 … {second}.666666666 s since 1970 (666.7 ms)"))
    );
}

#[test]
fn without_a_clock_the_packet_shows_where_something_is_missing() {
    let packets = [
        Packet { sequence: 3, events: &[1, 2], ..QUIET },
        Packet { sequence: 5, discarded: 17, events: &[3], ..QUIET },
    ];
    let trace = trace(&metadata("", &[None]), &[("a", bytes(&packets))]);
    let (_, json) = as_json(trace.path());
    assert_eq!((&json["clock"], &json["clocks"]), (&Value::Null, &json!([])));
    assert_eq!(
        (&json["begin_ns"], &json["end_ns"], &json["events"]),
        (&Value::Null, &Value::Null, &json!(3))
    );
    let gap = |kind: &str, count: u64| json!({"stream": 0, "file": "a", "kind": kind, "count": count, "packet": 1, "begin_ns": null, "end_ns": null});
    assert_eq!(json["losses"], json!([gap("events", 17), gap("packets", 1)]));
    let expect = "  clock        none
  holds        3 events in 2 packets of 1 stream, 131 bytes
  lost         17 events and 1 packet in 2 gaps: the tracer could not write them
  for sync     nothing: no network packet was traced with its headers

  stream  packets  events  bytes  lost events  lost packets
  a             2       3    131           17             1

  worst losses in       lost  at packet  from  until  within
  a                 1 packet          1     ?      ?       ?
  a                17 events          1     ?      ?       ?

  events of class  count    share  bytes    share
  tick0                3  100.0 %     27  100.0 %
";
    assert_eq!(as_text(trace.path()), expect);
}

#[test]
fn each_stream_has_its_own_clock() {
    let clocks = "clock { name = slow; freq = 1000; offset_s = 10; absolute = true; description = \"a wall\"; };
        clock { name = fast; uuid = \"00000000-0000-0000-0000-00000000000f\"; freq = 4000000000; offset_s = 12; };
        clock { name = idle; };";
    let files = [
        ("a", bytes(&[Packet { events: &[1500, 1700], begin: 1500, end: 1800, discarded: 4, ..QUIET }])),
        ("b", bytes(&[Packet { class: 1, events: &[2, 7], ..QUIET }])),
        ("c", bytes(&[Packet { class: 2, events: &[9], ..QUIET }])),
    ];
    let trace = trace(&metadata(clocks, &[Some("slow"), Some("fast"), None]), &files);
    let (_, json) = as_json(trace.path());
    assert_eq!(json["clock"], Value::Null);
    let names: Vec<_> = json["clocks"].as_array().unwrap().iter().map(|clock| &clock["name"]).collect();
    assert_eq!(names, ["slow", "fast", "idle"]);
    assert_eq!(
        (&json["clocks"][0]["absolute"], &json["clocks"][0]["description"]),
        (&json!(true), &json!("a wall"))
    );
    assert_eq!(json["clocks"][1]["id"], json["clocks"][1]["uuid"]);
    // Half a nanosecond and 1.75: rounded down.
    let list = json["stream_list"].as_array().unwrap();
    let times: Vec<_> = list.iter().map(|s| json!([s["clock"], s["begin_ns"], s["end_ns"]])).collect();
    let expect = [
        json!([0, 11_500_000_000_u64, 11_700_000_000_u64]),
        json!([1, 12_000_000_000_u64, 12_000_000_001_u64]),
        json!([null, null, null]),
    ];
    assert_eq!(times, expect);
    assert_eq!(
        (&json["begin_ns"], &json["end_ns"]),
        (&json!(11_500_000_000_u64), &json!(12_000_000_001_u64))
    );
    assert_eq!(
        (&json["losses"][0]["begin_ns"], &json["losses"][0]["end_ns"]),
        (&Value::Null, &json!(11_800_000_000_u64))
    );
    let expect = "  clock        slow (no uuid), 1,000 Hz, 0 is 1970-01-01 00:00:10.000000000
               fast (00000000-0000-0000-0000-00000000000f), 4,000,000,000 Hz, 0 is 1970-01-01 00:00:12.000000000
               idle (no uuid), 1,000,000,000 Hz, no offset
  time         1970-01-01 00:00:11.500000000 … 1970-01-01 00:00:12.000000001 (500.0 ms)
  holds        5 events (9 a second) in 3 packets of 3 streams, 201 bytes
  lost         4 events in 1 gap: the tracer could not write them
  for sync     nothing: no network packet was traced with its headers

  stream  class  clock  packets  events  bytes      from        to  lost events
  a           0   slow        1       2     70      0 ns  200.0 ms            4
  b           1   fast        1       2     70  500.0 ms  500.0 ms            0
  c           2   none        1       1     61                                0

  worst losses in      lost  at packet  from                          until  within
  a                4 events          0     ?  1970-01-01 00:00:11.800000000       ?

  events of class  count   share  bytes   share
  tick0                2  40.0 %     18  40.0 %
  tick1                2  40.0 %     18  40.0 %
  tick2                1  20.0 %      9  20.0 %
";
    assert_eq!(as_text(trace.path()), expect);
}

#[test]
fn ctf_2_has_identities_of_its_own() {
    let fragments = [
        r#"{"type": "preamble", "version": 2}"#,
        r#"{"type": "trace-class", "uid": "the trace", "environment": {"hostname": "web", "n": -7}}"#,
        r#"{"type": "clock-class", "id": "a", "namespace": "org", "name": "crystal", "uid": "1", "precision": 3,
            "frequency": 1000, "accuracy": 9, "origin": {"name": "lab", "uid": "7"}, "offset-from-origin": {"seconds": -5, "cycles": 4500}}"#,
        r#"{"type": "data-stream-class", "default-clock-class-id": "a", "event-record-header-field-class":
            {"type": "structure", "member-classes": [{"name": "t", "field-class": {"type": "fixed-length-unsigned-integer",
            "length": 8, "byte-order": "little-endian", "roles": ["default-clock-timestamp"]}}]}}"#,
        r#"{"type": "event-record-class"}"#,
    ];
    let trace = trace(&format!("\u{1e}{}\n", fragments.join("\n\u{1e}")), &[("a", vec![100, 200])]);
    let (_, json) = as_json(trace.path());
    assert_eq!(
        (&json["ctf_version"], &json["uuid"], &json["uid"]),
        (&json!("2.0"), &Value::Null, &json!("the trace"))
    );
    assert_eq!((&json["host"], &json["environment"]), (&json!("web"), &json!({"hostname": "web", "n": -7})));
    let clock = json!({
        "id": "org/crystal/1", "name": "crystal", "uuid": null, "namespace": "org", "uid": "1", "description": null,
        "frequency_hz": 1000, "precision": 3, "offset_s": -5, "offset_cycles": 4500, "offset_ns": -500_000_000,
        "absolute": false, "accuracy": 9, "origin": {"namespace": null, "name": "lab", "uid": "7"}
    });
    assert_eq!((&json["clock"], &json["clocks"]), (&clock, &json!([clock])));
    assert_eq!((&json["begin_ns"], &json["end_ns"]), (&json!(-400_000_000), &json!(-300_000_000)));
    assert_eq!(json["event_classes"], json!([{"name": null, "id": 0, "count": 2, "bytes": 2}]));
    let text = as_text(trace.path());
    for expect in [
        "  environment  n = -7\n",
        "crystal (org/crystal/1), 1,000 Hz, ± 3 cycles, 0 is 1969-12-31 23:59:59.500000000\n",
        "\n  (unnamed, id 0)  ",
    ] {
        assert!(text.contains(expect), "{text}");
    }
}

#[test]
fn streams_may_be_empty() {
    let clock = metadata("clock { name = c; offset_s = 1; };", &[Some("c")]);
    let silent = bytes(&[QUIET]);
    let busy = bytes(&[Packet { events: &[4], ..QUIET }]);
    let files = [("busy", busy), ("none", Vec::new()), ("silent", silent), ("void", Vec::new())];
    let directory = trace(&clock, &files);
    let (_, json) = as_json(directory.path());
    assert_eq!(json["empty_files"], json!(["none", "void"]));
    assert_eq!((&json["streams"], &json["packets"], &json["bytes"]), (&json!(2), &json!(2), &json!(61 + 52)));
    let silent = json!({
        "class_id": 0, "stream_id": null, "file": "silent", "clock": 0, "packets": 1, "bytes": 52, "events": 0,
        "begin_ns": null, "end_ns": null, "discarded_events": 0, "discarded_packets": 0
    });
    assert_eq!(json["stream_list"][1], silent);
    let text = as_text(directory.path());
    assert!(text.contains("\n  no packets in none, void\n"), "{text}");
    assert!(text.contains("\n  silent        1       0     52\n"), "{text}");

    // Metadata and nothing else.
    let directory = trace(&clock, &[]);
    let (_, json) = as_json(directory.path());
    assert_eq!(
        (&json["stream_list"], &json["empty_files"], &json["begin_ns"]),
        (&json!([]), &json!([]), &Value::Null)
    );
    let expect = "  clock        c (no uuid), 1,000,000,000 Hz, 0 is 1970-01-01 00:00:01.000000000
  holds        0 events in 0 packets of 0 streams, 0 bytes
  for sync     nothing: no network packet was traced with its headers
";
    assert_eq!(as_text(directory.path()), expect);
}

#[test]
fn losses_are_summed_without_overflow() {
    let worst = Packet { discarded: u64::MAX, ..QUIET };
    let files = [("a", bytes(&[worst])), ("b", bytes(&[worst]))];
    let trace = trace(&metadata("", &[None]), &files);
    let (text, json) = as_json(trace.path());
    assert!(text.contains("\"discarded_events\": 36893488147419103230,"), "{text}");
    assert_eq!(json["losses"][1]["count"], u64::MAX);
    assert!(as_text(trace.path()).contains("36,893,488,147,419,103,230 events in 2 gaps"));
}

#[test]
fn long_lists_end_and_the_worst_gaps_come_first() {
    let clocks: Vec<String> = (0..11).map(|n| format!("clock {{ name = c{n}; }};\n")).collect();
    let environment: Vec<String> = (0..14).map(|n| format!("v{n:02} = {n};\n")).collect();
    let head = format!("{} env {{ {} }};\n", clocks.concat(), environment.concat());
    let packets: Vec<Packet<'_>> =
        (0..20).map(|n| Packet { begin: n, end: n, discarded: n * n, sequence: 2 * n, ..QUIET }).collect();
    let names: Vec<String> = (0..30).map(|n| format!("s{n:02}")).collect();
    let mut files: Vec<_> = names.iter().map(|name| (name.as_str(), bytes(&[QUIET]))).collect();
    files[29].1 = bytes(&packets);
    files.extend(["e0", "e1", "e2", "e3", "e4", "e5", "e6", "e7", "e8"].map(|name| (name, Vec::new())));
    let trace = trace(&metadata(&head, &[Some("c0")]), &files);
    let text = as_text(trace.path());
    for expect in [
        ", v11 = 11, … and 2 more\n",
        "               c7 (no uuid), 1,000,000,000 Hz, no offset\n  … and 3 more clocks (--format json shows all)\n",
        "  no packets in e0, e1, e2, e3, e4, e5, e6, e7, … and 1 more\n",
        "  lost         361 events and 19 packets in 38 gaps: the tracer could not write them\n",
        "\n  … and 14 more streams (--format json shows all)\n",
        "\n  … and 26 more gaps (--format json shows all)\n",
    ] {
        assert!(text.contains(expect), "{expect}{text}");
    }
    let (_, table) = text.split_once("worst losses in").unwrap();
    let lost: Vec<String> = table
        .lines()
        .skip(1)
        .take(12)
        .map(|row| {
            let words: Vec<&str> = row.split_whitespace().collect();
            words[1..4].join(" ")
        })
        .collect();
    let packets = (1..7).map(|n| format!("1 packet {n}"));
    let events = (0..6).map(|n| format!("{} events {}", 37 - 2 * n, 19 - n));
    assert_eq!(lost, packets.chain(events).collect::<Vec<_>>());
    let (_, json) = as_json(trace.path());
    let lengths =
        ["clocks", "stream_list", "losses", "empty_files"].map(|key| json[key].as_array().unwrap().len());
    assert_eq!((lengths, json["environment"].as_object().unwrap().len()), ([11, 30, 38, 9], 14));
}

#[test]
fn what_a_trace_says_cannot_steer_a_terminal() {
    let head = "env { hostname = \"a\\033[2J\"; bell = \"\\a\\n\"; };";
    let text = metadata(head, &[None]).replace("tick0", "tick\\033c");
    let trace = trace(&text, &[("a\u{1b}b", bytes(&[Packet { events: &[1], discarded: 1, ..QUIET }]))]);
    let text = info("text", trace.path().to_str().unwrap());
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
    for expect in
        [": a\\u{1b}[2J, CTF 1.8\n", "bell = \"\\u{7}\\n\"\n", "\n  a\\u{1b}b  ", "\n  tick\\u{1b}c  "]
    {
        assert!(text.contains(expect), "{expect} {text}");
    }
    // The JSON says the same, and says it exactly.
    let (_, json) = as_json(trace.path());
    assert_eq!((&json["host"], &json["stream_list"][0]["file"]), (&json!("a\u{1b}[2J"), &json!("a\u{1b}b")));
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn hello_lost_says_where_its_events_are_missing() {
    let shared = shared();
    let path = shared.join("data/ctf/traces/tc/hello-lost");
    let (_, json) = as_json(&path);
    assert_eq!((&json["events"], &json["discarded_events"]), (&json!(32_300), &json!(967_700)));
    let gaps = json["losses"].as_array().unwrap();
    assert_eq!(gaps.len(), 562);
    assert!(gaps.iter().all(|gap| gap["file"] == "channel1_2" && gap["kind"] == "events"));
    assert_eq!(gaps.iter().map(|gap| gap["count"].as_u64().unwrap()).sum::<u64>(), 967_700);
    let text = as_text(&path);
    let expect = "
  lost         967,700 events in 562 gaps: the tracer could not write them
  for sync     nothing: no network packet was traced with its headers

  stream      packets  events      bytes  from        to  lost events
  channel1_0        2       0      8,192                            0
  channel1_1        2       0      8,192                            0
  channel1_2      851  32,300  3,485,696  0 ns  279.7 ms      967,700
  channel1_3        2       0      8,192                            0

  worst losses in            lost  at packet                           from                          until    within
  channel1_2       235,238 events        524  2013-08-15 18:51:05.022792236  2013-08-15 18:51:05.073359726  50.57 ms
";
    assert!(text.contains(expect), "{text}");
}

/// Traces of the corpus whose reference counts what is told beside them; all others agree in every figure.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn figures_are_those_of_babeltrace2() {
    let shared = shared();
    let shared = shared.join("data/ctf");
    let table = fs::read_to_string(shared.join("corpus.tsv")).unwrap();
    let mut compared = 0;
    for row in table.lines().skip(1) {
        let columns: Vec<&str> = row.split('\t').collect();
        let (name, status) = (columns[0], columns[5]);
        let candidates = [shared.join("traces").join(name), shared.join(name)];
        let Some(path) = candidates.into_iter().find(|path| path.join("metadata").is_file()) else {
            continue;
        };
        // Refused for good reasons: see docs/ctf-differences.tsv.
        if status != "ok" || name.contains("metadata/fail/array-size-") {
            continue;
        }
        let missing: Vec<&str> =
            columns[4].strip_prefix("MISSING ").map_or_else(Vec::new, |names| names.split(',').collect());
        let (_, json) = as_json_without(&missing, &path);
        let number = |column: usize| columns[column].parse::<u64>().ok();
        for (key, column) in [("events", 6), ("streams", 9), ("packets", 10)] {
            assert_eq!(json[key].as_u64(), number(column), "{name}: {key}");
        }
        // The reference converts times in floating point where a clock does not count ns.
        let slack = u64::from(json["clock"]["frequency_hz"] != 1_000_000_000);
        for (key, column) in [("begin_ns", 7), ("end_ns", 8)] {
            let (ours, theirs) = (json[key].as_u64(), number(column));
            let close =
                ours.zip(theirs).map_or(ours == theirs, |(ours, theirs)| ours.abs_diff(theirs) <= slack);
            assert!(close, "{name}: {key} is {ours:?}, not {theirs:?}");
        }
        for (kind, column) in [("events", 11), ("packets", 12)] {
            let gaps = json["losses"].as_array().unwrap().iter().filter(|gap| gap["kind"] == kind);
            let counts: Vec<u64> = gaps.map(|gap| gap["count"].as_u64().unwrap()).collect();
            let shown = format!("{}/{}", counts.len(), counts.iter().sum::<u64>());
            assert_eq!(shown, columns[column], "{name}: {kind}");
            assert_eq!(json[format!("discarded_{kind}")].as_u64(), Some(counts.iter().sum()), "{name}");
        }
        compared += 1;
    }
    assert!(compared >= 100, "only {compared} traces");
}

/// Where something is missing, against the canonical dump, whose digest is babeltrace2's.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn gaps_are_those_of_the_dump() {
    let shared = shared();
    for name in [
        "tc/hello-lost",
        "tc/CTF2-7.0-ev-disc-no-ts-begin-end",
        "bt/succeed/ev-disc-no-ts-begin-end",
        "bt/packet-seq-num/2-streams-lost-in-1",
        "bt/packet-seq-num/2-streams-lost-in-2",
        "bt/packet-seq-num/no-lost",
        "bt/packet-seq-num/no-lost-not-starting-at-0",
    ] {
        let path = shared.join("data/ctf/traces").join(name);
        let output =
            Command::cargo_bin("isochrone").unwrap().arg("dump").arg("-q").arg(&path).output().unwrap();
        let (mut stream, mut expect) = (Value::Null, Vec::new());
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            match record[0].as_str().unwrap() {
                "S" => stream = record[3].clone(),
                kind @ ("DE" | "DP") => {
                    let kind = if kind == "DE" { "events" } else { "packets" };
                    expect.push(json!([stream, kind, record[1], record[2], record[3]]));
                }
                _ => {}
            }
        }
        let (_, json) = as_json(&path);
        let keys = ["file", "kind", "count", "begin_ns", "end_ns"];
        let gaps = json["losses"].as_array().unwrap().iter();
        let gaps: Vec<Value> =
            gaps.map(|gap| keys.map(|key| gap[key].clone()).into_iter().collect()).collect();
        assert_eq!(gaps, expect, "{name}");
    }
}
