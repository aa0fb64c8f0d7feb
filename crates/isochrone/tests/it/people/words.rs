//! The words of reports, messages and help: those of the field, short, and none that the review found odd.

use std::fs;
use std::path::Path;

use isochrone_analysis::AnalysisKind;
use isochrone_testkit::LttngTrace;

use super::{check, on_hosts, run, shop};

#[test]
fn the_report_begins_with_three_short_lines() {
    let said = on_hosts(&["sync"]);
    let head: Vec<&str> = said.out.lines().take(3).collect();
    let expect = [
        "3 hosts on the clock of h2, by 774 messages; no message arrives before it was sent (1 excluded)",
        "  guaranteed usually within 212.7 µs (h1), at worst 332.7 µs",
        "  likely usually within 66.25 µs (e95)",
    ];
    assert_eq!(head, expect);
    let columns = "reference time from own time t, ns since boot  guaranteed (usually)     (worst)      (best)  likely (e95)";
    let excluded = "Excluded as implausible, 1 message:\n h3 → h2: ";
    let why = "its delay is shorter than that of the fastest other messages by 13 times their jitter";
    for text in [columns, "+59.728003 s ± 199.5 µs", "  notes\n", "  1 excluded\n", excluded, why] {
        assert!(said.out.contains(text), "`{text}` is not in: {}", said.out);
    }
    for odd in ["± ±", "? …", "besides", "at best", "most likely", "off by at most", "hardly", "suspect"]
    {
        assert!(!said.out.contains(odd), "`{odd}` is in: {}", said.out);
    }
}

/// A clock that is far off is so by hours or years, not by milliards of seconds.
#[test]
fn large_offsets_have_large_units() {
    let directory = tempfile::tempdir().unwrap();
    let copy = directory.path().join("kernel");
    fs::create_dir(&copy).unwrap();
    let original = format!("{}/kernel", shop("client"));
    fs::copy(Path::new(&original).join("ch_0"), copy.join("ch_0")).unwrap();
    let metadata = fs::read(Path::new(&original).join("metadata")).unwrap();
    let offset = b"1795155002608724159";
    let place = metadata.windows(offset.len()).position(|window| window == offset).unwrap();
    let edit = |offset: &[u8; 19], expect: &str| {
        let edited = [&metadata[..place], offset, &metadata[place + offset.len()..]].concat();
        fs::write(copy.join("metadata"), edited).unwrap();
        let said = run(&["sync", copy.to_str().unwrap(), &shop("app")]);
        assert!(said.out.contains(expect), "`{expect}` is not in: {}", said.out);
    };
    edit(b"0000000000000000000", "  56.9 years ahead  ");
    edit(b"1795158602608724159", "  59.0 min behind  ");
}

#[test]
fn messages_are_plain() {
    let app = shop("app");
    let directory = tempfile::tempdir().unwrap();
    let junk = directory.path().join("junk.pcap");
    fs::write(&junk, "nothing of the kind").unwrap();
    let junk = junk.to_str().unwrap();
    for (arguments, told) in [
        (
            &["events", "--begin", "soon", &app][..],
            "`soon` is not a valid time: give a time of day (06:11:25.5)",
        ),
        (&["analyze", "syscalls", "--errno", "NOPE", &app], "unknown errno `NOPE`"),
        (&["analyze", "cputop", "--tid", "abc", &app], "not a number of a thread"),
        (&["analyze", "cputop", "--threads", "0", &app], "not a number from 1 on"),
        (
            &["analyze", "cputop,states", &app],
            "`states` is read from a store and cannot be combined with other analyses",
        ),
        (&["sync", "-o", "/no/such/sync.json", &app], "is not a directory"),
        (&["sync", "--clock", "steered:x", &app], "`x` is not a whole number of ppm"),
        (&["info", junk], "neither a trace (a directory with a file `metadata`), nor a recording"),
        (&["info", "/no/such/trace"], "cannot read /no/such/trace: no such file or directory"),
    ] {
        let said = run(arguments);
        check(&said, 2, &[told]);
        for odd in ["invalid digit", "non-zero type", "os error", " is no ", "it is no"] {
            assert!(!said.err.contains(odd), "{arguments:?}: {}", said.err);
        }
    }
    let nothing = run(&["analyze", "schedtop", "-q", "--min", "1000s", &app]);
    assert!(nothing.out.ends_with("\nScheduling top\n no rows\n"), "{}", nothing.out);
}

#[test]
fn helps_are_plain() {
    let help = run(&["--help"]).out;
    let names =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let commands: Vec<&str> = names
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(commands.len() > 8 && commands.contains(&"states"), "{commands:?}");
    assert!(help.contains("info           Summarize traces"), "{help}");
    for command in commands {
        // Lines are broken where there is no room.
        let help = run(&[command, "--help"]).out.split_whitespace().collect::<Vec<_>>().join(" ");
        for odd in [
            "so many",
            "is answered with",
            "packets of the network",
            "Tell what",
            "passed over",
            "knows better",
            "profits from",
            "made if",
            "is no ",
            "hardly",
        ] {
            assert!(!help.contains(odd), "{command}: `{odd}` is in: {help}");
        }
    }
    let analyze = run(&["analyze", "--help"]).out;
    assert!(analyze.contains("Show at most N rows of each table"), "{analyze}");
    assert!(analyze.contains("an unknown name lists the valid ones"), "{analyze}");
    assert!(!analyze.contains(".rows[0]"), "{analyze}");
}

/// One summary for a session, its chunks where they are asked for.
#[test]
fn a_rotated_session_is_summarized_as_one() {
    let directory = tempfile::tempdir().unwrap();
    let mut trace = LttngTrace::kernel("web1");
    trace.cpus(2);
    for second in 1..9_u64 {
        trace.event((second % 2) as u32, second * 1_000_000_000, "sched_switch", &[("next_tid", 9.into())]);
    }
    trace.write_rotated(directory.path(), &[3_000_000_000, 6_000_000_000]).unwrap();
    let path = directory.path().to_str().unwrap();
    let whole = run(&["info", "-q", path]).out;
    let head = format!(
        "{path}/archives/*/kernel: web1, kernel, CTF 1.8, 3 chunks of a rotated session (--verbose shows each)\n"
    );
    assert!(whole.starts_with(&head), "{whole}");
    for text in
        ["  holds        8 events (1 a second) in ", " (7.000 s)\n", "\n  sched_switch         8  100.0 %"]
    {
        assert!(whole.contains(text), "`{text}` is not in: {whole}");
    }
    assert_eq!(whole.matches("  holds  ").count(), 1, "{whole}");
    let each = run(&["info", "-q", "--verbose", path]).out;
    let events =
        each.lines().filter_map(|line| line.strip_prefix("  holds        ")?.split(' ').next()?.parse().ok());
    let events: Vec<u64> = events.collect();
    assert_eq!((events.len(), events.iter().sum::<u64>()), (3, 8), "{each}");
    assert!(each.contains("/archives/1/kernel: web1, kernel, CTF 1.8\n"), "{each}");
    check(
        &run(&["info", "--verbose", "--format", "json", path]),
        2,
        &["--verbose does not apply to --format json"],
    );
    // A trace that was not rotated looks as it always did.
    let app = shop("app");
    assert_eq!(run(&["info", "-q", "--verbose", &app]).out, run(&["info", "-q", &app]).out);
}

/// Hosts of one name are told apart by numbers, and it is said which is which.
#[test]
fn hosts_of_one_name_are_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    let paths = ["a", "b"].map(|name| directory.path().join(name));
    for (path, clock) in paths.iter().zip(1_u128..) {
        let mut trace = LttngTrace::kernel("web1");
        let mut spec = trace.clock_spec();
        spec.uuid = Some(uuid::Uuid::from_u128(clock));
        trace.clock(spec);
        trace.event(0, 100, "sched_switch", &[("next_tid", 9.into())]);
        trace.write(path).unwrap();
    }
    let [a, b] = paths.each_ref().map(|path| path.to_str().unwrap());
    for command in [&["analyze", "cputop"][..], &["events"], &["sync"]] {
        let said = run(&[command, &["--no-sync", a, b][usize::from(command == ["sync"])..]].concat());
        let told = format!("note: several hosts are called web1; web1#2 is the one of {b}");
        assert!(said.err.contains(&told), "{command:?}: {}", said.err);
        assert_eq!(said.err.matches("several hosts").count(), 1, "{command:?}: {}", said.err);
    }
}

/// What the README says of speed is what was measured.
#[test]
fn figures_of_the_readme_are_those_of_the_comparison() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = |name: &str| fs::read_to_string(root.join(name)).unwrap();
    let (readme, compare) = (page("README.md"), page("docs/COMPARE.md"));
    let table = compare.split_once("| analysis | lttng-analyses, M events/s |").unwrap().1;
    let table = table.split_once("\n\n").unwrap().0;
    let ratios: Vec<u32> = table
        .lines()
        .skip(2)
        .map(|row| row.rsplit(" | ").next().unwrap().trim_end_matches(" |").parse().unwrap())
        .collect();
    let (least, most) = (ratios.iter().min().unwrap(), ratios.iter().max().unwrap());
    assert!(readme.contains(&format!("{least} to {most} times as fast")), "{ratios:?}");
    assert!(readme.contains("times are in UTC unless `--timezone` says otherwise"));
}

/// Each analysis has a page, with an example (which `readme.rs` runs), with what it needs, or which page says so.
#[test]
fn each_analysis_has_a_page() {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/analyses");
    let kinds = AnalysisKind::ALL.iter().map(|kind| kind.name());
    let others =
        ["states", "phases", "critical-path", "accounting", "blocking", "bottleneck", "ipc", "messages"];
    let known: Vec<&str> = kinds.chain(others).collect();
    for name in &known {
        let page = fs::read_to_string(pages.join(format!("{name}.md"))).unwrap_or_default();
        assert!(page.contains("```console\n$ isochrone "), "{name} has no example");
        let is_said = ["**Needs**", "**It needs**", "## What it needs", "it needs"]
            .iter()
            .any(|words| page.contains(words));
        assert!(is_said, "{name}: what does it need?");
    }
    let count = fs::read_dir(&pages).unwrap().count();
    assert_eq!(count, known.len(), "a page of no analysis");
}
