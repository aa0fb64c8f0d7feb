//! `isochrone sync`: its options, and what its report says of clocks that are not straight.

use std::path::Path;
use std::process::Command;

use isochrone_testkit::{Cluster, Family, SimClock};
use serde_json::Value;
use tempfile::TempDir;

const S: i64 = 1_000_000_000;

/// Runs `sync`: its status, its report, what it says besides.
fn sync(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_isochrone")).arg("sync").args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn shop(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop").join(name).display().to_string()
}

/// Writes the traces of a cluster.
fn traces(cluster: &Cluster) -> (TempDir, String) {
    let root = TempDir::new().unwrap();
    cluster.write(root.path(), Family::IPV4).unwrap();
    let path = root.path().to_str().unwrap().to_owned();
    (root, path)
}

#[test]
fn bad_options_are_explained() {
    let (client, app) = (shop("client"), shop("app"));
    let check = |options: &[&str], told: &str| {
        let (code, out, said) = sync(&[options, &[&client, &app]].concat());
        assert_eq!((code, out.as_str()), (2, ""), "{options:?}: {said}");
        assert!(said.contains(told), "{options:?} does not say `{told}` but: {said}");
    };
    for wrong in ["-0.1", "nan", "inf", "fast", "100001"] {
        check(&["--wander", wrong], "not a number of ppm from 0 to 100000");
    }
    for wrong in ["0", "-5", "1000000", "0.5", "many"] {
        check(&["--rate-prior", wrong], "not a whole number of ppm from 1 to 999999");
    }
    for wrong in ["-0.1", "1.01", "nan", "half"] {
        check(&["--asymmetry", wrong], "not a share: give a number from 0 to 1");
    }
    for wrong in ["h1", "h1,", ",", ""] {
        check(&["--trust-clock", wrong], "name two hosts or more, with commas between them");
    }
    for wrong in ["", "fast", "h1=", "steered:0", "h1=steered:fast", "free:3"] {
        check(&["--clock", wrong], "--clock <[HOST=]ASSUMPTION>");
    }
    check(&["--trust-clock", "h1,h9"], "no host is called `h9`; there are h1, h2");
}

#[test]
fn the_model_is_what_was_asked_for() {
    let (client, app) = (shop("client"), shop("app"));
    let model = |options: &[&str]| -> (Value, i64, i64) {
        let (code, out, said) =
            sync(&[&["--format", "json", "--reference", "h2"], options, &[&client, &app]].concat());
        assert_eq!(code, 0, "{said}");
        let json: Value = serde_json::from_str(&out).unwrap();
        let rows = json["clocks"][0]["interval"].as_array().unwrap();
        let most = |of: &dyn Fn(&Value) -> i64| rows.iter().map(of).max().unwrap();
        let width = most(&|row| row[2].as_i64().unwrap() - row[1].as_i64().unwrap());
        (json["model"].clone(), width, most(&|row| row[3].as_i64().unwrap()))
    };
    let (usual, width, likely) = model(&[]);
    assert_eq!(usual, serde_json::json!({"wander_ppm": 0.1, "rate_prior_ppm": 500, "asymmetry": 0.17}));
    let (other, straight_width, _) = model(&["--wander", "0", "--rate-prior", "200"]);
    assert_eq!(other, serde_json::json!({"wander_ppm": 0.0, "rate_prior_ppm": 200, "asymmetry": 0.17}));
    assert!(straight_width < width, "{straight_width} {width}");
    let (other, wide, _) = model(&["--wander", "5.5"]);
    assert_eq!(other["wander_ppm"], 5.5);
    assert!(wide > width, "{wide} {width}");
    let (other, same, symmetric) = model(&["--asymmetry", "0"]);
    assert_eq!((&other["asymmetry"], same), (&0.0.into(), width));
    assert!(symmetric < likely, "{symmetric} {likely}");
}

#[test]
fn the_condition_is_named() {
    let (client, app) = (shop("client"), shop("app"));
    let check = |options: &[&str], told: &str| {
        let (_, out, _) = sync(&[options, &[&client, &app]].concat());
        let lines: Vec<&str> = out.lines().collect();
        assert!(lines[0].ends_with("; no message arrives before it was sent"), "{out}");
        assert!(
            lines[1].starts_with("  guaranteed usually within ") && lines[2].ends_with(" (e95)"),
            "{out}"
        );
        assert_eq!(lines[3], told, "{out}");
    };
    let nobody = "(no time daemon is in the list of processes or ever ran)";
    let free = "This holds for clocks that run free, at rates that are constant";
    check(&[], &format!("{free} within ± 0.1 ppm {nobody}."));
    check(&["--wander", "0.25"], &format!("{free} within ± 0.25 ppm {nobody}."));
    check(&["--wander", "0"], &format!("{free} {nobody}."));
    let usual = "of the usual ones (--clock says so).";
    check(
        &["--clock", "steered"],
        &format!("This holds for clocks whose rates stay within ± 500 ppm {usual}"),
    );
    check(
        &["--clock", "steered:20"],
        &format!("This holds for clocks whose rates stay within ± 20 ppm {usual}"),
    );
}

#[test]
fn what_is_assumed_of_each_clock_is_listed_where_they_differ() {
    let (client, app) = (shop("client"), shop("app"));
    let (code, out, said) = sync(&["--clock", "calls", "--clock", "h1=steered:50", &client, &app]);
    assert_eq!(code, 0, "{said}");
    assert!(out.contains("\nThis holds under what is assumed of each clock below, "), "{out}");
    let listed: Vec<&str> = out.lines().skip_while(|line| !line.starts_with("What is assumed")).collect();
    let expect = [
        "What is assumed of the clocks:",
        " h1: steered by at most ± 50 ppm: --clock says so",
        " h2: constant: --clock says so",
    ];
    assert_eq!(listed[..3], expect, "{out}");
    let (code, _, said) = sync(&["--clock", "h9=free", &client, &app]);
    assert_eq!(code, 2);
    assert!(said.contains("no host is called `h9`; there are h1, h2"), "{said}");
}

#[test]
fn hosts_that_do_not_show_who_steers_them_are_advised_together() {
    let (_root, path) = traces(&Cluster::mesh(3).seconds(20).messages(200));
    let (code, out, said) = sync(&[&path]);
    assert_eq!(code, 0, "{said}");
    assert!(
        out.contains("This holds for clocks whose rates stay within ± 500 ppm of the usual ones ("),
        "{out}"
    );
    let advice = "note: h0, h1, h2: the traces do not tell well enough who steers the clock";
    assert_eq!(said.matches("who steers the clock").count(), 1, "{said}");
    assert!(said.starts_with(advice) && said.contains("type on each of them:"), "{said}");
    assert!(said.contains(" lttng enable-event --kernel 'lttng_statedump_*'"), "{said}");
}

#[test]
fn trusted_hosts_are_shown_as_such() {
    let shared = |offset: i64| SimClock::new(offset * S, 20_000).unix_error(-3_000_000);
    let cluster = Cluster::mesh(3).seconds(20).messages(200).clock(0, shared(4_000)).clock(2, shared(90));
    let (_root, path) = traces(&cluster);
    let (code, out, said) = sync(&["--trust-clock", "h0,h2", "--clock", "free", &path]);
    assert_eq!((code, said.as_str()), (0, ""), "{out}");
    assert!(out.starts_with("3 hosts on the clock of "), "{out}");
    assert!(out.contains(" h0 – h2  trusted "), "{out}");
    // Not one clock.
    let (_, out, said) = sync(&["--trust-clock", "h1,h2", &path]);
    assert!(said.contains(" messages contradict the trust in their common clock"), "{said}");
    assert!(out.contains(" h1 – h2  approximate "), "{out}");
    assert!(out.contains("Not proven for ") || out.contains(" islands "), "{out}");
}

#[test]
fn breaks_are_reported_by_host() {
    let stepped = SimClock::new(50 * S, 10_000).step(40 * S, 2 * S).slew(90 * S, 30_000);
    let cluster = Cluster::star(4).seconds(150).messages(3_000).clock(1, stepped);
    let (_root, path) = traces(&cluster);
    let (code, out, said) = sync(&["--reference", "h0", "--clock", "free", &path]);
    assert_eq!(code, 0, "{said}");
    assert!(
        out.contains("  guaranteed usually within ") && out.contains(", except around steps of a clock\n"),
        "{out}"
    );
    assert!(out.contains("This holds under what is assumed of each clock below"), "{out}");
    assert!(out.contains(" as messages show; otherwise: --clock says so"), "{out}");
    let listed: Vec<&str> =
        out.lines().skip_while(|line| !line.starts_with("Clocks that were")).skip(1).collect();
    let (size, place) = listed[0].strip_prefix(" h1: step of +").unwrap().split_once(" s between ").unwrap();
    assert!((size.parse::<f64>().unwrap() - 2.0).abs() < 1e-3, "{out}");
    assert!(place.contains(" s on its clock (about 22:14:") || place.contains(" (about 22:13:59."), "{out}");
    assert!(
        listed[1].starts_with(" h1: off by up to ± ") && listed[1].ends_with(" around its steps"),
        "{out}"
    );
    assert!(listed[2].starts_with(" h1: slew of +") && listed[2].contains(" ppm near "), "{out}");
    // Raised for the links of this clock only.
    assert!(out.contains("; where messages show that they changed, bounds allow for ± "), "{out}");
    assert!(out.contains(" ppm for h0 – h1."), "{out}");
}

#[test]
fn wrong_messages_are_named() {
    let directory = TempDir::new().unwrap();
    let list = directory.path().join("list.txt");
    let mut text = "2\n".to_owned();
    for count in 0..400_i64 {
        let at = count * 10_000_000;
        // Delays of 50 µs and a bit, that repeats itself seldom.
        let delay = 50_000 + count * count * 7_919 % 20_000;
        // One seems to arrive 200 µs too early.
        let early = if count == 200 { 240_000 } else { 0 };
        text +=
            &format!("0 1 {at} {}\n1 0 {} {}\n", at + delay - early, at + 5_000_000, at + 5_000_000 + delay);
    }
    std::fs::write(&list, text).unwrap();
    let (code, out, said) = sync(&["--messages", list.to_str().unwrap(), "--reference", "0"]);
    assert_eq!(code, 0, "{said}");
    assert!(out.contains("\nExcluded as implausible, 1 message:\n 0 → 1: sent at 2.000000 s ("), "{out}");
    assert!(out.contains(" 1 excluded\n"), "{out}");
}

#[test]
fn loops_that_contradict_each_other_are_named() {
    let directory = TempDir::new().unwrap();
    let list = directory.path().join("list.txt");
    let mut text = "3\n".to_owned();
    // By the way over host 1, the clock of host 2 is not ahead of that of host 0; by the direct way it is, by 1 ms.
    for (a, b, ahead, delay) in [(0, 1, 0, 50_000), (1, 2, 0, 50_000), (0, 2, 1_000_000, 90_000)] {
        for count in 0..50_i64 {
            let at = count * 10_000_000 + count * count % 7;
            text += &format!("{a} {b} {at} {}\n", at + ahead + delay);
            text += &format!("{b} {a} {} {}\n", at + ahead, at + delay);
        }
    }
    std::fs::write(&list, text).unwrap();
    let (code, out, said) = sync(&["--messages", list.to_str().unwrap(), "--reference", "0"]);
    assert_eq!(code, 1, "{out}");
    assert!(
        said.contains("warning: link 0 – 2: it contradicts the other links of a loop 0 – 1 – 2"),
        "{said}"
    );
    let listed = "\nLinks that contradict each other around a loop; those that explain most of it were refused:\n 0 – 1 – 2\n";
    assert!(out.contains(listed), "{out}");
    assert!(out.contains(" 0 – 2  refused "), "{out}");
}

/// A virtual machine that was paused, by 1.500921 s as its hypervisor knows.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn a_paused_machine_is_named() {
    let shared = crate::common::shared();
    let (code, out, said) = sync(&[shared.join("data/vm/pause2").to_str().unwrap()]);
    assert_eq!(code, 0, "{said}");
    assert!(out.contains(" h2: step of −1.5009"), "{out}");
    assert!(out.contains(" µs (h2), at worst 4"), "{out}");
    assert!(out.contains(" µs, except around steps of a clock\n  likely usually within "), "{out}");
}

/// Clocks that NTP slews, and that wander.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn slewed_clocks_are_counted() {
    let directory = TempDir::new().unwrap();
    let (code, out, said) = sync(&[crate::common::unpacked("vm/slew3", directory.path()).to_str().unwrap()]);
    assert_eq!(code, 0, "{said}");
    assert!(out.contains(" ppm for h1 – h2, ± "), "{out}");
    let slews = out.lines().filter(|line| line.starts_with(" h2: slew of ")).count();
    assert_eq!(slews, 3, "{out}");
    assert!(out.contains(" h2: … and ") && out.contains(" smaller slew"), "{out}");
}
