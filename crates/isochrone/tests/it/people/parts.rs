//! `cut`: parts of traces as traces, which read as the same part of the whole; `events --count`.

use std::collections::BTreeMap;
use std::process::Command;

use super::{check, hosts, on_hosts, run, shop};

/// The options of a cut, all of which `events` has, too.
const CUTS: [&[&str]; 8] = [
    &["--begin", "+2s", "--end", "+2.5s"],
    &["--begin", "-1s"],
    &["--end", "06:11:22"],
    &["--event", "sched_*", "--begin", "06:11:25", "--end", "06:11:27"],
    &["--where", "prev_comm == \"appsrv\" || $event == \"net_dev_queue\"", "--end", "+5s"],
    &["--cpu", "0", "--procname", "redis-server,appsrv"],
    &["--event", "nothing_of_it"],
    &[],
];

#[test]
fn a_cut_reads_as_the_same_part_of_the_whole() {
    for cut in CUTS {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("cut");
        let target = target.to_str().unwrap();
        let written = on_hosts(&[&["cut", "-q", "--no-sync", "-o", target][..], cut].concat());
        check(&written, 0, &[]);
        let whole = on_hosts(&[&["events", "-q", "--no-sync"][..], cut].concat());
        let part = run(&["events", "-q", "--no-sync", target]);
        // The first event on a screen has no time since the one before it.
        let lines = |text: &str| text.lines().map(|line| line[19..].to_owned()).collect::<Vec<_>>();
        assert_eq!(lines(&part.out).get(1..), lines(&whole.out).get(1..), "{cut:?}: {}", part.err);
        let count = format!("{} events in ", whole.out.lines().count());
        let last = written.out.lines().last().unwrap().replace(',', "");
        assert!(last.starts_with(&count), "{cut:?}: {last}, not {count}");
        // babeltrace2 reads as many.
        let peer = Command::new("babeltrace2").arg(target).output().unwrap();
        assert!(peer.status.success(), "{cut:?}: {}", String::from_utf8_lossy(&peer.stderr));
        assert_eq!(String::from_utf8_lossy(&peer.stdout).lines().count(), whole.out.lines().count());
    }
}

#[test]
fn a_cut_on_the_common_clock_is_of_all_hosts() {
    let directory = tempfile::tempdir().unwrap();
    let (sync, target) = (directory.path().join("sync.json"), directory.path().join("cut"));
    let (sync, target) = (sync.to_str().unwrap(), target.to_str().unwrap());
    check(&on_hosts(&["sync", "-q", "-o", sync]), 0, &[]);
    let window = ["--begin", "06:11:25", "--end", "06:11:25.5"];
    check(&on_hosts(&[&["cut", "-q", "--sync", sync, "-o", target][..], &window].concat()), 0, &[]);
    let whole = on_hosts(&[&["events", "-q", "--sync", sync, "--format", "csv"][..], &window].concat());
    let part = run(&["events", "-q", "--sync", sync, "--format", "csv", target]);
    assert_eq!(part.out, whole.out, "{}", part.err);
}

/// What runs at the end of a cut does not run on beyond it.
#[test]
fn a_cut_does_not_know_the_time_beyond_it() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("cut");
    let target = target.to_str().unwrap();
    let window = ["--begin", "06:11:25", "--end", "06:11:25.25"];
    check(&run(&[&["cut", "-q", "-o", target][..], &window, &[&shop("app")]].concat()), 0, &[]);
    let said = run(&["analyze", "cputop", "-q", "--format", "json", target]);
    let report: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let at = |index: usize| report["range"][index].as_i64().unwrap();
    assert!(at(1) - at(0) <= 250_000_000, "{said}", said = said.out);
}

#[test]
fn a_cut_of_some_events_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("cut");
    let target = target.to_str().unwrap();
    check(&run(&["cut", "-q", "-o", target, "--tid", "199", &shop("app")]), 0, &[]);
    let said = run(&["analyze", "cputop", target]);
    assert!(said.err.contains("a part of another trace: only the events that were selected by --tid 199"));
    // Classes that were left out are not there: what an analysis lacks is named.
    let small = directory.path().join("small");
    let small = small.to_str().unwrap();
    check(&run(&["cut", "-q", "-o", small, "--event", "sched_switch", &shop("app")]), 0, &[]);
    let said = run(&["analyze", "syscallstats", small]);
    assert!(said.err.contains("syscall"), "{}", said.err);
    // A trace that is named itself.
    let (named, copies) = (shop("app/kernel"), directory.path().join("named"));
    let said = run(&["cut", "-q", "-o", copies.to_str().unwrap(), "--event", "sched_switch", &named]);
    check(&said, 0, &[]);
    let first = format!("{named} -> {}\n", copies.join("kernel_").display());
    assert!(said.out.starts_with(&first), "{}", said.out);
    // Nothing is written over, or among the traces.
    check(&run(&["cut", "-q", "-o", small, &shop("app")]), 2, &["exists already; nothing was written"]);
    check(&run(&["cut", "-q", "-o", target]), 2, &["required arguments"]);
}

#[test]
fn counts_are_those_of_the_events() {
    let options: [&[&str]; 4] = [
        &[],
        &["--begin", "+1s", "--end", "+3s"],
        &["--event", "sched_*", "--limit", "3"],
        &["--where", "ret < 0"],
    ];
    for option in options {
        let without_limit: Vec<&str> =
            option.iter().copied().filter(|it| !["--limit", "3"].contains(it)).collect();
        let events =
            on_hosts(&[&["events", "-q", "--no-sync", "--format", "json"][..], &without_limit].concat());
        let mut expect: BTreeMap<(String, String), u64> = BTreeMap::new();
        for line in events.out.lines() {
            let event: serde_json::Value = serde_json::from_str(line).unwrap();
            let text = |name: &str| event[name].as_str().unwrap().to_owned();
            *expect.entry((text("host"), text("event"))).or_default() += 1;
        }
        let mut expect: Vec<_> = expect.into_iter().collect();
        expect.sort_by(|(a, many), (b, few)| few.cmp(many).then_with(|| a.cmp(b)));
        if option.len() > without_limit.len() {
            expect.truncate(3);
        }
        let counted =
            on_hosts(&[&["events", "-q", "--no-sync", "--count", "--format", "json"][..], option].concat());
        let rows = counted.out.lines().map(|line| {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            let text = |name: &str| row[name].as_str().unwrap().to_owned();
            ((text("host"), text("event")), row["count"].as_u64().unwrap())
        });
        assert_eq!(rows.collect::<Vec<_>>(), expect, "{option:?}");
    }
}

#[test]
fn counts_by_fields() {
    let [client, ..] = hosts();
    let said = run(&[
        "events",
        "-q",
        "--count",
        "--by",
        "$event,ret",
        "--event",
        "*_exit_read",
        "--limit",
        "3",
        &client,
    ]);
    insta::assert_snapshot!(said.out);
    let csv =
        run(&["events", "-q", "--count", "--by", "next_comm", "--format", "csv", "--limit", "2", &client]);
    assert!(csv.out.starts_with("next_comm,count\n,"), "{}", csv.out);
    check(
        &run(&["events", "--count", "--by", "next_com", &client]),
        2,
        &["--by: no event has a field `next_com`"],
    );
    check(&run(&["events", "--by", "ret", &client]), 2, &["--count"]);
    // A field that some events have, where what each event has is meant.
    check(
        &run(&["events", "--count", "--by", "event", &client]),
        0,
        &["the field $evt.event;", "--by '$event'"],
    );
    // A field that is named twice is counted once.
    let once = run(&["events", "-q", "--count", "--by", "ret,$host", &client]);
    assert_eq!(run(&["events", "-q", "--count", "--by", "ret,$host,ret,$evt.ret", &client]).out, once.out);
}

/// Tracers open their buffers before the first event: of the database more than a second.
#[test]
fn relative_times_count_from_the_first_and_the_last_event() {
    let [client, app, db] = ["client", "app", "db"].map(shop);
    for hosts in [&[&*db][..], &[&*client, &*app, &*db]] {
        let events = |options: &[&str]| {
            let said =
                run(&[&["events", "-q", "--no-sync", "--format", "json"][..], options, hosts].concat());
            check(&said, 0, &[]);
            said.out.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        let all = events(&[]);
        let time = |line: &String| {
            let (time, _) = line.strip_prefix("{\"time_ns\":").unwrap().split_once(',').unwrap();
            time.parse::<i64>().unwrap()
        };
        let (first, last) = (time(&all[0]), time(&all[all.len() - 1]));
        let part = |from: i64, to: i64| {
            let is_in = |line: &&String| (from..to).contains(&time(line));
            all.iter().filter(is_in).cloned().collect::<Vec<_>>()
        };
        let s = 1_000_000_000;
        assert_eq!(events(&["--begin", "+0s", "--end", "+1s"]), part(first, first + s));
        assert_eq!(events(&["--begin", "+1.5s", "--end", "-1s"]), part(first + s * 3 / 2, last - s));
        assert_eq!(events(&["--begin", "-1ms"]), part(last - s / 1_000, i64::MAX));
        for outside in [["--end", &first.to_string()], ["--begin", &(last + 1).to_string()]] {
            let said = run(&[&["events", "-q", "--no-sync"][..], &outside, hosts].concat());
            check(&said, 2, &["outside the traces, which run from 2026-11-20 06:1"]);
            assert_eq!(said.out, "");
        }
    }
    // Corrections alone do not say when the first event is.
    let traces = shop("");
    let convert = |time| run(&["convert", "-q", "--from", "h3", "--to", "h1", time, "--traces", &traces]);
    check(&convert("06:10:20"), 0, &[]);
    check(&convert("+1s"), 2, &["a time after the start of the traces, which is unknown here"]);
}
