//! What is assumed of clocks, by traces of hosts with and without a time daemon.

use isochrone_corrections::artefact::AssumptionEntry;
use isochrone_files::Inputs;
use isochrone_sync::{ClockChoice, Options, SyncError, synchronize};
use isochrone_testkit::{FieldValue, Generation, KernelScript};
use tempfile::TempDir;

const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;
/// When the host's trace begins.
const BEGIN: u64 = 100 * S;

/// A host with a shell, and a daemon or other program of this name as process 20.
fn host(generation: Generation, program: &str) -> KernelScript {
    let mut script = KernelScript::new("h1", generation).cpus(2);
    script.process(1, "systemd").process(10, "sh").process(20, program);
    script
}

/// It is listed at the begin with all that are there, and both CPUs go on for 60 s.
fn listed(script: &mut KernelScript) {
    script.at(BEGIN).dump();
    alive(script);
}

/// A thread runs each second.
fn alive(script: &mut KernelScript) {
    for second in 0..60 {
        for cpu in 0..2 {
            let at = BEGIN + second * S + 100 * MS;
            let thread = if cpu == 0 { 10 } else { 1 };
            script.at(at).cpu(cpu).switch(0, thread).after(MS).switch(thread, 0);
        }
    }
}

/// The program runs for 3 ms, and calls meanwhile.
fn calls(script: &mut KernelScript, call: &str, at: u64, ret: i64) {
    let fields: [(&str, FieldValue); 1] = [("which_clock", 0.into())];
    let fields = if call == "adjtimex" { &fields[..0] } else { &fields };
    script.at(at).cpu(0).switch(0, 20);
    script.at(at + MS).cpu(0).enter(call, fields).after(MS / 10).exit(call, ret);
    script.at(at + 3 * MS).cpu(0).switch(20, 0);
}

fn assumed_with(scripts: &[&KernelScript], options: &Options) -> Result<Vec<AssumptionEntry>, SyncError> {
    let root = TempDir::new().unwrap();
    for (index, script) in scripts.iter().enumerate() {
        script.write(&root.path().join(index.to_string())).unwrap();
    }
    let outcome = synchronize(&Inputs::open(&[root.path().to_owned()]), options, &|_| {})?;
    Ok(outcome.artefact.clocks[0].assumptions.clone())
}

/// Kinds and changes, each from a time in ms since the begin, and the reason of the last one.
fn assumed(script: &KernelScript) -> (Vec<(i64, String, Option<u64>)>, String) {
    let entries = assumed_with(&[script], &Options::default()).unwrap();
    let shown = |entry: &AssumptionEntry| {
        ((entry.raw_ns.0 - BEGIN as i64) / MS as i64, entry.kind.clone(), entry.changes)
    };
    (entries.iter().map(shown).collect(), entries.last().unwrap().why.clone())
}

fn check(script: &KernelScript, expect: &[(i64, &str, Option<u64>)], why: &str) {
    let (found, reason) = assumed(script);
    let found: Vec<_> = found.iter().map(|(at, kind, changes)| (*at, kind.as_str(), *changes)).collect();
    assert_eq!(found, expect, "{reason}");
    assert!(reason.contains(why), "{reason} is not {why}");
}

const CALLS: [&str; 8] = [
    "syscall_entry_clock_adjtime",
    "syscall_exit_clock_adjtime",
    "syscall_entry_adjtimex",
    "syscall_exit_adjtimex",
    "sys_clock_adjtime",
    "sys_adjtimex",
    "compat_sys_adjtimex",
    "compat_sys_clock_adjtime",
];

#[test]
fn without_a_daemon_a_clock_runs_free() {
    for generation in Generation::ALL {
        let mut script = host(generation, "nginx");
        listed(&mut script);
        check(&script, &[(0, "free", None)], "no time daemon is in the list of processes or ever ran");
        // Calls alone show it, too.
        let script = script.untraced(&["sched_switch"]);
        check(&script, &[(0, "free", None)], "nothing called clock_adjtime");
        let neither: Vec<&str> = CALLS.into_iter().chain(["sched_switch"]).collect();
        check(&script.untraced(&neither), &[(0, "unknown", None)], "neither sched_switch nor clock_adjtime");
    }
}

#[test]
fn without_a_list_nothing_is_known() {
    let mut script = host(Generation::V2_13, "nginx");
    alive(&mut script);
    check(&script, &[(100, "unknown", None)], "no list of processes");
    listed(&mut script);
    let cut = script.clone().untraced(&["lttng_statedump_end"]);
    check(&cut, &[(0, "unknown", None)], "a part of the list of processes is missing");
    // Tracers may not say where the list begins and ends.
    let unmarked = script.clone().untraced(&["lttng_statedump_start", "lttng_statedump_end"]);
    check(&unmarked, &[(0, "free", None)], "");
    script.lose(1, BEGIN - MS, BEGIN + 2 * MS, 5);
    check(&script, &[(0, "unknown", None)], "events were lost while the list of processes was written");
}

#[test]
fn a_list_of_some_cpus_is_not_all() {
    let mut script = host(Generation::V2_13, "nginx");
    // It may be written on any CPU.
    script.at(BEGIN).cpu(1).dump();
    alive(&mut script);
    check(&script, &[(0, "free", None)], "");
    let one = script.without_streams(&[0]);
    check(&one, &[(0, "unknown", None)], "or a CPU was not recorded then");
}

#[test]
fn between_its_calls_chronyd_leaves_the_clock_alone() {
    for generation in Generation::ALL {
        for call in ["clock_adjtime", "adjtimex"] {
            let mut script = host(generation, "chronyd").contexts(generation >= Generation::V2_8);
            listed(&mut script);
            for at in [5, 21, 22] {
                calls(&mut script, call, BEGIN + at * S, 0);
            }
            // These change nothing.
            calls(&mut script, call, BEGIN + 30 * S, -1);
            let why = "chronyd is in the list of processes; it changes the rate only by its calls";
            check(&script, &[(0, "stepwise", Some(3))], why);
            // It also runs without a call.
            check(&script.clone().untraced(&CALLS), &[(0, "stepwise", Some(4))], "only while it runs");
            let neither: Vec<&str> = CALLS.into_iter().chain(["sched_switch"]).collect();
            check(&script.clone().untraced(&neither), &[(0, "steered", None)], "are not traced");
            script.lose(1, BEGIN + 40 * S + 200 * MS, BEGIN + 40 * S + 300 * MS, 1);
            check(&script, &[(0, "steered", None)], "events were lost that may have been its calls");
        }
    }
}

#[test]
fn before_it_is_started_the_clock_runs_free() {
    let start = |program: &str| {
        let mut script = KernelScript::new("h1", Generation::V2_13).cpus(2);
        script.process(1, "systemd").process(10, "sh").thread(20, 20, program);
        // A thread of a later event is not there at the begin.
        script.at(BEGIN).event("lttng_statedump_start", &[]);
        script.at(BEGIN + 1).dump_process(1).dump_process(10);
        script.at(BEGIN + 2).event("lttng_statedump_end", &[]);
        alive(&mut script);
        script
    };
    let mut script = start("chronyd");
    calls(&mut script, "clock_adjtime", BEGIN + 20 * S, 0);
    calls(&mut script, "clock_adjtime", BEGIN + 40 * S, 0);
    check(&script, &[(0, "free", None), (20_000, "stepwise", Some(2))], "chronyd was started");
    check(
        &script.clone().untraced(&CALLS),
        &[(0, "free", None), (20_000, "stepwise", Some(2))],
        "while it runs",
    );
    // It may have been started in a loss.
    script.lose(1, BEGIN + 10 * S + 200 * MS, BEGIN + 10 * S + 300 * MS, 1);
    let (found, _) = assumed(&script);
    assert!(
        matches!(&found[..], [(0, free, _), (10_000..10_201, kind, _)] if free == "free" && kind == "steered"),
        "{found:?}"
    );

    let mut script = start("ntpd");
    calls(&mut script, "adjtimex", BEGIN + 30 * S, 0);
    check(&script, &[(0, "free", None), (30_000, "steered", None)], "the kernel change the rate at any time");

    let mut script = start("tune");
    calls(&mut script, "adjtimex", BEGIN + 30 * S, 0);
    let why = "tune, which is not a known time daemon, called clock_adjtime";
    check(&script, &[(0, "free", None), (30_001, "steered", None)], why);
}

#[test]
fn who_is_no_daemon_of_calls_may_steer_at_any_time() {
    let mut script = host(Generation::V2_13, "systemd-timesyn");
    listed(&mut script);
    check(&script, &[(0, "steered", None)], "systemd-timesyn is in the list of processes");
    let mut script = host(Generation::V2_13, "tune");
    listed(&mut script);
    calls(&mut script, "clock_adjtime", BEGIN + 7 * S, 0);
    check(&script, &[(0, "steered", None)], "tune, which is not a known time daemon");
    let mut script = host(Generation::V2_13, "node_exporter");
    listed(&mut script);
    calls(&mut script, "clock_adjtime", BEGIN + 7 * S, 0);
    check(&script, &[(0, "free", None)], "no time daemon");
    // It is unknown whose call it is.
    let mut script = host(Generation::V2_13, "nginx").untraced(&["sched_switch"]);
    listed(&mut script);
    calls(&mut script, "clock_adjtime", BEGIN + 7 * S, 0);
    check(&script, &[(0, "steered", None)], "an unidentified thread");
}

#[test]
fn clocks_that_do_not_stamp_traces_do_not_matter() {
    let mut script = host(Generation::V2_13, "ptp4l");
    listed(&mut script);
    let hardware: [(&str, FieldValue); 1] = [("which_clock", (-38).into())];
    script.at(BEGIN + 5 * S).cpu(0).switch(0, 20).enter("clock_adjtime", &hardware);
    script.at(BEGIN + 5 * S + MS).cpu(0).exit("clock_adjtime", 0).switch(20, 0);
    check(&script, &[(0, "stepwise", Some(0))], "ptp4l");
}

#[test]
fn a_call_may_end_on_another_cpu() {
    let mut script = host(Generation::V2_13, "chronyd").contexts(true);
    listed(&mut script);
    script.at(BEGIN + 5 * S).cpu(0).switch(0, 20).enter("adjtimex", &[]).switch(20, 0);
    script.at(BEGIN + 5 * S + 4 * MS).cpu(1).switch(0, 20).exit("adjtimex", 0).switch(20, 0);
    check(&script, &[(0, "stepwise", Some(1))], "its calls");
}

#[test]
fn users_know_better() {
    let mut script = host(Generation::V2_13, "ntpd");
    listed(&mut script);
    let with = |clocks: &[(Option<&str>, ClockChoice)], script: &KernelScript| {
        let clocks = clocks.iter().map(|&(host, choice)| (host.map(str::to_owned), choice)).collect();
        let entries = assumed_with(&[script], &Options { clocks, ..Options::default() })?;
        let [only] = &entries[..] else { panic!("{entries:?}") };
        assert_eq!(only.why, "--clock says so");
        Ok((only.kind.clone(), only.ppm, only.changes))
    };
    let kind = |kind: &str, ppm, changes| (kind.to_owned(), ppm, changes);
    let check = |choice, expect| assert_eq!(with(&[(Some("h1"), choice)], &script).unwrap(), expect);
    check(ClockChoice::Free, kind("free", None, None));
    check(ClockChoice::Steered(20), kind("steered", Some(20.0), None));
    check(ClockChoice::Unknown, kind("unknown", Some(500.0), None));
    check(ClockChoice::Calls, kind("stepwise", None, Some(0)));
    let silent = script.clone().untraced(&CALLS);
    let error: SyncError = with(&[(None, ClockChoice::Calls)], &silent).unwrap_err();
    assert!(
        error.to_string().starts_with("--clock h1=calls: the traces of h1 show neither calls"),
        "{error}"
    );
    let error = with(&[(Some("h9"), ClockChoice::Free)], &script).unwrap_err();
    assert_eq!(error.to_string(), "no host is called `h9`; there are h1");
}

/// Real hosts: kinds and numbers of changes of each, in their order.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn real_hosts_show_who_steers_them() {
    let root = crate::common::shared("vm");
    let scratch = TempDir::new().unwrap();
    let check = |name: &str, expect: &[&[(&str, Option<u64>)]]| {
        let scenario = crate::common::unpacked(&root.join(name), scratch.path());
        let outcome = synchronize(&Inputs::open(&[scenario]), &Options::default(), &|_| {}).unwrap();
        let shown = |entry: &AssumptionEntry| (entry.kind.clone(), entry.changes);
        let of_clocks =
            outcome.artefact.clocks.iter().map(|clock| clock.assumptions.iter().map(shown).collect());
        let found: Vec<Vec<(String, Option<u64>)>> = of_clocks.collect();
        let expect: Vec<Vec<_>> = expect
            .iter()
            .map(|clock| clock.iter().map(|&(kind, changes)| (kind.to_owned(), changes)).collect())
            .collect();
        assert_eq!(found, expect, "{name}");
    };
    let free: &[(&str, Option<u64>)] = &[("free", None)];
    let steered: &[(&str, Option<u64>)] = &[("steered", None)];
    for name in ["web2", "hog2", "rot2", "lossy2", "udp2", "ipv6_2", "web2gso", "pause2"] {
        check(name, &[free; 2]);
    }
    for name in ["chain3", "phases3", "pause3.tar.zst"] {
        check(name, &[free; 3]);
    }
    // No daemon, and yet the rates were changed by hand, which only messages show.
    check("slew3.tar.zst", &[steered; 3]);
    check("mpi4", &[free; 4]);
    check("ping5", &[free; 5]);
    // The program that set the clock was there from the begin.
    check("step2", &[free, steered]);
    let calls = |count| [("stepwise", Some(count))];
    check("chrony3.tar.zst", &[&calls(0), &calls(12), &calls(19)]);
    let started = |runs| [("free", None), ("stepwise", Some(runs))];
    check("ntp3.tar.zst", &[&calls(80), &started(78), &started(70)]);
    let pll: &[(&str, Option<u64>)] = &[("free", None), ("steered", None)];
    check("ntppll3.tar.zst", &[free, pll, pll]);
    let unknown: &[(&str, Option<u64>)] = &[("unknown", None)];
    check("snap2.tar.zst", &[unknown; 2]);
}
