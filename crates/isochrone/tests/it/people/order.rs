//! Which of two instants was first: what is proven, likely and open, by times and by events.

use serde_json::Value;

use super::{check, on_hosts, run, shop};

fn traces() -> [String; 3] {
    ["client", "app", "db"].map(shop)
}

fn order(arguments: &[&str]) -> super::Said {
    let [client, app, db] = traces();
    run(&[&["order"], arguments, &["--traces", &client, &app, &db]].concat())
}

fn answer(arguments: &[&str]) -> Value {
    let said = order(&[arguments, &["--format", "json"]].concat());
    serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}", said.err))
}

#[test]
fn three_answers() {
    let verdict = |late: &str| {
        let said = order(&["h1", "06:11:30.6503", "h2", late]);
        check(&said, 0, &[]);
        said.out
    };
    let proven = verdict("06:11:30.6513");
    assert!(
        proven.starts_with("proven: h1 06:11:30.650300000 was before h2 06:11:30.651300000\n  by 1.000 ms; "),
        "{proven}"
    );
    let likely = verdict("06:11:30.6505");
    let head =
        "likely: h1 06:11:30.650300000 was before h2 06:11:30.650500000, with a probability of 0.994\n  by ";
    assert!(likely.starts_with(head), "{likely}");
    assert!(
        likely.contains("\n  a proof would need more than 2") && likely.ends_with(" µs between them\n"),
        "{likely}"
    );
    let open = verdict("06:11:30.65031");
    let head = "open: either of h1 06:11:30.650300000 and h2 06:11:30.650310000 may have been first\n  by the estimate h1 was first, by 10.0";
    assert!(open.starts_with(head), "{open}");
    // Whichever is named first.
    let turned = order(&["h2", "06:11:30.6513", "h1", "06:11:30.6503"]);
    assert_eq!(turned.out.lines().next(), proven.lines().next());
}

/// The answer is that of the bounds that `convert` gives, or tighter by the link's own messages.
#[test]
fn the_figures_are_those_of_the_clocks() {
    let row = answer(&["h1", "06:11:30.6503", "h2", "06:11:30.6505"]);
    assert_eq!(
        (&row["verdict"], &row["earlier"], &row["reason"]),
        (&"likely".into(), &"first".into(), &Value::Null)
    );
    let own = row["first"]["own_time_ns"].to_string();
    let [client, app, db] = traces();
    let converted = run(&[
        "convert", "--format", "json", "--from", "h1", "--to", "h2", &own, "--traces", &client, &app, &db,
    ]);
    let converted: Value = serde_json::from_str(&converted.out).unwrap();
    let ns = |value: &Value| value.as_i64().unwrap();
    let second = ns(&row["second"]["own_time_ns"]);
    let (lo, hi) = (ns(&converted[0]["bounds_ns"][0]), ns(&converted[0]["bounds_ns"][1]));
    let (least, most) = (ns(&row["gap_bounds_ns"][0]), ns(&row["gap_bounds_ns"][1]));
    assert!(least >= second - hi - 3 && most <= second - lo + 3, "{row} {converted}");
    assert_eq!(ns(&row["proven_beyond_ns"]), ns(&row["gap_ns"]) - least);
    // As far apart as is said, and a little more, is proven.
    let apart = second + ns(&row["proven_beyond_ns"]) - ns(&row["gap_ns"]) + 2_000;
    let farther = answer(&["h1", "06:11:30.6503", "h2", &apart.to_string()]);
    assert_eq!(farther["verdict"], "proven", "{farther}");
}

#[test]
fn times_are_those_that_are_asked_for() {
    let common = answer(&["h1", "06:11:30.6503", "h3", "06:11:30.7"]);
    let text = |side: &str, what: &str| common[side][what].to_string();
    let own = answer(&["--own", "h1", &text("first", "own_time_ns"), "h3", &text("second", "own_time_ns")]);
    assert_eq!((&own["verdict"], &own["earlier"]), (&common["verdict"], &common["earlier"]));
    let raw = |side: &str| common[side]["raw_ns"][0].to_string();
    let raw = answer(&["--raw", "h1", &raw("first"), "h3", &raw("second")]);
    assert_eq!((&raw["verdict"], &raw["earlier"]), (&common["verdict"], &common["earlier"]));
    // What is no time of the common clock may be one of the host's own.
    let said = order(&["h1", "06:10:30.6503", "h3", "06:11:30.7"]);
    check(&said, 1, &[]);
    let told = "\n  nothing is known: the time of h1 lies outside what was traced, from 2026-11-20 06:11:2";
    assert!(said.out.starts_with("open: ") && said.out.contains(told), "{}", said.out);
    assert!(
        said.out.ends_with("; as a time of the host's own clock (--own) it would lie inside\n"),
        "{}",
        said.out
    );
}

#[test]
fn events_are_named() {
    let fork = "h2:sched_process_fork@06:11:23.680996320";
    let said = order(&["--event", fork, "--event", "h3:sched_process_fork@06:11:23.717761622"]);
    check(&said, 0, &[]);
    let head = "proven: h2 sched_process_fork at 06:11:23.680996320 was before h3 sched_process_fork at 06:11:23.717761622\n";
    assert!(said.out.starts_with(head), "{}", said.out);
    let by_condition = order(&[
        "--event",
        "h2:$event == \"sched_process_fork\" && child_tid == 199",
        "h3",
        "06:11:23.717761622",
    ]);
    check(&by_condition, 0, &[]);
    assert!(
        by_condition.out.starts_with("proven: h2 sched_process_fork at 06:11:23.680996320 was before h3 06:")
    );
    // Those of one host have the order of its clock.
    let one = order(&["--event", fork, "--event", "h2:sched_switch#1"]);
    check(&one, 0, &[]);
    assert!(one.out.starts_with("proven: ") && one.out.contains("by its own clock"), "{}", one.out);
    let wrong = |event: &str, told: &[&str]| check(&order(&["--event", event, "--event", fork]), 2, told);
    wrong("h2:sched_switch", &[" such events; add @TIME or #N", "\n  [06:11:2", " h2 sched_switch: "]);
    wrong(
        "h2:sched_process_fork@06:11:23.68",
        &["no such event at this time; the nearest are", "23.680996320]"],
    );
    wrong("h2:no_such_event", &["h2 has no such event"]);
    wrong("h2:sched_process_fork#999", &["h2 has only "]);
    wrong("h9:sched_switch", &["no host is called `h9`"]);
    wrong("h2:no_such_field == 1", &["--event: no event has a field `no_such_field`"]);
}

/// Without a tie there is no order, and the status says so.
#[test]
fn what_cannot_be_known_has_a_reason() {
    let (client, db) = (shop("client"), shop("db"));
    let said = run(&["order", "h1", "06:10:30.65", "h3", "06:10:26", "--traces", &client, &db]);
    check(&said, 1, &[]);
    assert!(
        said.out.ends_with("\n  no chain of messages ties h1 to h3: their times cannot be compared\n"),
        "{}",
        said.out
    );
    let one = run(&["order", "h1", "06:10:30.65", "h1", "06:10:26", "--traces", &client, &db]);
    check(&one, 0, &[]);
    assert!(
        one.out.starts_with(
            "proven: h1 06:10:26.000000000 was before h1 06:10:30.650000000\n  by 4.650 s, by its own clock\n"
        ),
        "{}",
        one.out
    );
    for (arguments, told) in [
        (&["h1", "06:10:30"][..], "two instants are compared: HOST TIME HOST TIME"),
        (&["h1", "06:10:30", "h2"], "two instants are compared"),
        (&["h1", "06:10:30", "h9", "06:10:30"], "no host is called `h9`; there are h1, h2, h3"),
        (&["h1", "soon", "h2", "06:10:30"], "`soon` is not a valid time"),
    ] {
        check(&order(arguments), 2, &[told]);
    }
    check(&run(&["order", "h1", "06:10:30", "h2", "06:10:30"]), 2, &["required arguments were not provided"]);
}

/// Lists of messages have their own times, and kept corrections say what the way says.
#[test]
fn of_lists_and_kept_corrections() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let mut list = "2\n".to_owned();
    for count in 0..200_i64 {
        // On no grid, which could be a tick.
        let at = count * 500_000_000 + count * count % 977;
        list += &format!("0 1 {at} {}\n1 0 {} {at}\n", at + 7_000_100_000, at + 6_999_900_000);
    }
    std::fs::write(path("list"), list).unwrap();
    let check_list = |from: &[&str]| {
        let said = run(&[&["order", "0", "50.0", "1", "57.001"], from].concat());
        assert_eq!(said.status, Some(0), "{}", said.err);
        assert!(
            said.out.starts_with("proven: 0 50.000000000 s was before 1 57.001000000 s\n"),
            "{}",
            said.out
        );
    };
    check_list(&["--messages", &path("list")]);
    let _ = run(&["sync", "-q", "--messages", &path("list"), "-o", &path("list.json")]);
    check_list(&["--sync", &path("list.json")]);
    check(&on_hosts(&["sync", "-q", "-o", &path("sync.json")]), 0, &[]);
    let asked = ["h1", "06:11:30.6503", "h2", "06:11:30.6505"];
    let kept = run(&[&["order"], &asked[..], &["--sync", &path("sync.json")]].concat());
    assert_eq!(kept.out, order(&asked).out);
}
