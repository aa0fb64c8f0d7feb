//! The first look: one screen, without a command's name; and analyses by their names alone.

use isochrone_testkit::{Generation, KernelScript};
use unicode_width::UnicodeWidthStr;

use super::{check, hosts, on_hosts, run, run_in, run_with};

#[test]
fn traces_alone_are_an_overview() {
    let [client, app, db] = hosts();
    let said = run(&["-q", &client, &app, &db]);
    assert_eq!(said.status, Some(0), "{}", said.err);
    assert_eq!(said.out, on_hosts(&["overview", "-q"]).out);
    let labels =
        ["Traces", "Recorded", "Missing", "Lost", "Clocks", "Bottleneck", "Requests", "Programs", "Next"];
    let found: Vec<&str> = said
        .out
        .lines()
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(found, labels, "{}", said.out);
    for part in [
        "3 hosts, ",
        "switches, wake-ups, system calls, packets, interrupts, disk requests",
        "page faults; `isochrone info` says how to record it",
        "h2: CPU: 43 % of the time of requests",
        "1 of 3 hosts: nothing is saturated",
        "24 requests: median ",
        "clockg (253) on h1: 298.9 ms, 3.0 % of its CPUs",
        "isochrone critical-path --request 20 ",
    ] {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&said.out).contains(part), "`{part}` is not in: {}", said.out);
    }
    assert!(said.out.lines().count() <= 30, "one screen: {}", said.out);
}

#[test]
fn an_overview_fits() {
    let [client, app, db] = hosts();
    for columns in [60, 80, 140] {
        let said = run_in(Some(columns), &["overview", "-q", &client, &app, &db]);
        // Paths are not broken.
        let lines = said.out.lines().filter(|line| !line.contains('/'));
        let widest = lines.map(UnicodeWidthStr::width).max().unwrap();
        assert!(widest <= columns as usize, "{widest} of {columns}: {}", said.out);
    }
}

#[test]
fn what_is_lost_or_alone_is_said() {
    let [.., db] = hosts();
    let one = run(&["-q", &db]);
    assert_eq!(one.status, Some(0), "{}", one.err);
    assert!(one.out.contains("Clocks     one host\n"), "{}", one.out);
    let apart = on_hosts(&["overview", "-q", "--no-sync"]);
    assert!(apart.out.contains("times of different hosts cannot be compared"), "{}", apart.out);
    let other = on_hosts(&["overview", "-q", "--host", "h2"]);
    assert!(other.out.contains("1 host, "), "{}", other.out);
    check(&on_hosts(&["overview", "--host", "h9"]), 2, &["no host is called `h9`"]);
}

#[test]
fn analyze_may_be_left_out() {
    for names in ["cputop", "cputop,syscallstats"] {
        let [short, long] = [&["-q", names][..], &["-q", "analyze", names]].map(on_hosts);
        assert_eq!((short.status, &short.out), (Some(0), &long.out), "{}", short.err);
    }
    // What is neither a command nor a file stays an error.
    check(&run(&["cputopp"]), 2, &["unrecognized subcommand 'cputopp'"]);
    check(&run_with(&[], &["/nowhere"]), 2, &["unrecognized subcommand '/nowhere'"]);
}

/// Where events are missing, programs used at least what is known; what cannot be read makes it partial.
#[test]
fn a_poor_trace_is_said_to_be_poor() {
    let directory = tempfile::tempdir().unwrap();
    let mut host = KernelScript::new("h1", Generation::V2_13).contexts(true);
    host.process(10, "db");
    host.at(100).switch(0, 10).after(900).switch(10, 0).after(100).page_alloc(0);
    host.write(&directory.path().join("whole")).unwrap();
    host.lose(0, 300, 900, 5);
    host.write(&directory.path().join("lossy")).unwrap();
    let shown = |name: &str| run(&["-q", directory.path().join(name).to_str().unwrap()]);
    let (whole, lossy) = (shown("whole"), shown("lossy"));
    assert!(whole.out.contains("db (10) on h1: 900 ns, "), "{}", whole.out);
    assert!(
        lossy.out.contains("db (10) on h1: ≥ ") && lossy.out.contains("Lost       h1: "),
        "{}",
        lossy.out
    );
    let broken = directory.path().join("broken");
    std::fs::create_dir(&broken).unwrap();
    std::fs::write(broken.join("metadata"), "/* CTF 1.8 */ trace {").unwrap();
    check(&run(&[directory.path().to_str().unwrap()]), 1, &["broken"]);
}
