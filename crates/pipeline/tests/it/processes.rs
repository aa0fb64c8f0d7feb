//! Pieces mapped by processes of their own, and merged from files, are the whole.

use std::process::Command;

use crate::common::{call, map_merge_example, open, shared, shown};
use isochrone_hosts::Hosts;
use isochrone_pipeline::{Cuts, Plan};

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn any_bracketing_gives_the_same_digest() {
    let example = map_merge_example();
    let trace = shared("vm/phases3/h2");
    let traces = open(&trace);
    let hosts = Hosts::group(&traces);
    let plan = Plan::new(&hosts.hosts[0], &Cuts::Archives);
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name).display().to_string();
    let trace = trace.display().to_string();
    for (number, step) in plan.steps().iter().enumerate() {
        let (from, to) = (shown(step.piece.from), shown(step.piece.to));
        call(&example, &["map", &trace, &from, &to, &file(&number.to_string())]);
    }
    call(&example, &["map", &trace, "-", "-", &file("whole")]);
    let whole = call(&example, &["digest", &file("whole")]);
    assert!(whole.ends_with(" 128075 events\n"), "{whole}");
    // ((0 1) 2) (3 4), and 0 (1 (2 (3 4))).
    for (both, left, right) in [("a", "0", "1"), ("b", "a", "2"), ("c", "3", "4"), ("left", "b", "c")] {
        call(&example, &["merge", &file(left), &file(right), &file(both)]);
    }
    for (both, left, right) in [("d", "3", "4"), ("e", "2", "d"), ("f", "1", "e"), ("right", "0", "f")] {
        call(&example, &["merge", &file(left), &file(right), &file(both)]);
    }
    for merged in ["left", "right"] {
        assert_eq!(call(&example, &["digest", &file(merged)]), whole, "{merged}");
    }
    let strange =
        Command::new(&example).args(["merge", &file("0"), &file("2"), &file("x")]).output().unwrap();
    assert!(String::from_utf8_lossy(&strange.stderr).contains("the pieces are no neighbours"));
}
