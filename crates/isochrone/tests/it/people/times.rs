//! Every time that a command prints is accepted by every command.

use super::{check, on_hosts, run, shop};

/// The first event of `app`, as each command shows it.
const FORMS: [&str; 9] = [
    "06:11:21.414973651",
    "[06:11:21.414973651]",
    "2026-11-20 06:11:21.414973651",
    "2026-11-20 06:11:21.414973651 UTC",
    "2026-11-20T06:11:21.414973651Z",
    "2026-11-20T06:11:21.414973651",
    "2026-11-20T07:11:21.414973651+01:00",
    "1795155081.414973651",
    "1795155081414973651",
];

#[test]
fn all_forms_by_all_commands() {
    let app = shop("app");
    let last = run(&["events", "-q", "--end", "06:11:21.415", &app]).out;
    assert_eq!(last.lines().count(), 1);
    assert!(last.starts_with("[06:11:21.414973651] "), "{last}");
    for form in FORMS {
        let events = run(&["events", "-q", "--begin", form, "--end", "06:11:21.415", &app]);
        assert_eq!(events.out, last, "{form}: {}", events.err);
        let analyze = run(&["analyze", "cputop", "-q", "--begin", form, &app]);
        let begin = "cputop: 2026-11-20 06:11:21.414973651 to ";
        assert!(analyze.out.starts_with(begin), "{form}: {}{}", analyze.out, analyze.err);
        let at = run(&["analyze", "processes", "-q", "--at", form, &app]);
        assert!(at.out.starts_with("processes: at 2026-11-20 06:11:21.414973651 UTC"), "{form}: {}", at.err);
        let convert = run(&["convert", "--from", "h2", form, "--traces", &app]);
        let expect = "h2 1795155081.414973651 (2026-11-20 06:11:21.414973651) = h2 ";
        assert!(convert.out.starts_with(expect), "{form}: {}{}", convert.out, convert.err);
    }
    // Without seconds.
    let minute = run(&["analyze", "cputop", "-q", "--begin", "06:11", &app]);
    assert_eq!(minute.status, Some(0), "{}", minute.err);
}

#[test]
fn times_of_other_zones() {
    if jiff::tz::TimeZone::get("Europe/Berlin").is_err() {
        return;
    }
    let app = shop("app");
    let berlin = ["--timezone", "Europe/Berlin", &app];
    let events =
        run(&[&["events", "-q", "--begin", "07:11:25", "--end", "07:11:25.1"][..], &berlin].concat());
    let utc = run(&["events", "-q", "--gmt", "--begin", "06:11:25", "--end", "06:11:25.1", &app]);
    assert!(utc.out.starts_with("[06:11:25.0"), "{}", utc.out);
    assert_eq!(events.out, utc.out.replace("[06:11:25", "[07:11:25"), "{}", events.err);
    let heading =
        "cputop: 2026-11-20 07:11:21.414973651 to 2026-11-20 07:11:31.366339510 Europe/Berlin (9.951 s)\n";
    let cputop = run(&[&["analyze", "cputop", "-q"][..], &berlin].concat());
    assert!(cputop.out.starts_with(heading), "{}", cputop.out);
    let info = run(&[&["info"][..], &berlin].concat());
    assert!(info.out.contains("2026-11-20 07:11:21.414973651"), "{}", info.out);
    let wrong = run(&["events", "--timezone", "Mars/Olympus", &app]);
    check(&wrong, 2, &["not a known time zone: give UTC, local"]);
    check(&run(&["events", "--gmt", "--timezone", "UTC", &app]), 2, &["cannot be used with"]);
}

#[test]
fn times_outside_of_the_traces() {
    let app = shop("app");
    // From the first event to the last; packets start a second earlier.
    let outside = [
        "outside the traces, which run from 2026-11-20 06:11:21.414973651",
        " to 2026-11-20 06:11:31.366339510",
    ];
    for arguments in [
        &["analyze", "processes", "--at", "23:00:00"][..],
        &["analyze", "syscalls", "--at", "23:00:00"],
        &["analyze", "cputop", "--begin", "06:15:00"],
        &["analyze", "cputop", "--end", "06:11:00"],
        &["events", "--begin", "2030-01-01T00:00:00Z"],
        &["events", "--end", "2020-01-01"],
    ] {
        let said = run(&[arguments, &[&app]].concat());
        check(&said, 2, &outside);
        assert_eq!(said.out, "", "{arguments:?}");
    }
    check(
        &run(&["events", "--begin", "06:11:26", "--end", "06:11:25", &app]),
        2,
        &["--end is not after --begin"],
    );
    check(&on_hosts(&["analyze", "states", "--begin", "07:00"]), 2, &["outside the traces"]);
}
