//! Whose system calls are: of the thread that their events name, or else that runs on their CPU.

use isochrone_analysis::Need;
use isochrone_experiment::{Inputs, ModelledHost, Opened, Spread, Wanted, model};
use isochrone_kernel::{Recorder, Span};
use isochrone_testkit::{Generation, KernelScript};

/// Two threads of one CPU in calls that overlap.
fn script(contexts: bool) -> KernelScript {
    let mut script = KernelScript::new("h", Generation::V2_13).contexts(contexts);
    script.process(10, "a").process(20, "b");
    let read = |fd: i32| [("fd", fd.into()), ("count", 100.into())];
    script.at(1_000).switch(0, 10).after(10).enter("read", &read(3));
    script.at(2_000).switch(10, 20).after(10).enter("read", &read(4));
    script.at(3_000).switch(20, 10).after(10).exit("read", 10);
    script.at(9_000).switch(10, 20).after(10).exit("read", 20);
    script
}

/// Start, end and result of each whole call, how many halves there are, and whether the host lacks callers.
fn calls(script: &KernelScript) -> (Vec<(i64, i64, i64)>, usize, bool) {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("trace");
    script.write(&path).unwrap();
    let opened = Opened::unsynchronized(Inputs::open(&[path]));
    let experiment = opened.experiment();
    let hosts: Vec<_> = experiment.hosts().iter().collect();
    let lacks = hosts[0].recorded().lacking().contains(&Need::Callers);
    let read = model(&hosts, Spread::default(), &Wanted::default(), |_, _| Recorder::default, None).pop();
    let host: ModelledHost<'_, Recorder> = read.unwrap().unwrap();
    let (mut whole, mut halves) = (Vec::new(), 0);
    for span in &host.model.spans.0 {
        match span {
            Span::Syscall(call) => whole.push((call.begin.0, call.end.0, call.exit.ret)),
            Span::HalfSyscall(_) => halves += 1,
            _ => {}
        }
    }
    whole.sort_unstable();
    (whole, halves, lacks)
}

#[test]
fn exits_are_of_the_entries_of_their_thread() {
    let both = vec![(1_010, 3_010, 10), (2_010, 9_010, 20)];
    assert_eq!(calls(&script(true)), (both.clone(), 0, false));
    assert_eq!(calls(&script(false)), (both.clone(), 0, false));
    assert_eq!(calls(&script(true).untraced(&["sched_switch"])), (both, 0, false));
    // Neither shows which exit is of which entry.
    assert_eq!(calls(&script(false).untraced(&["sched_switch"])), (Vec::new(), 4, true));
}
