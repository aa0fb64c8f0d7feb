//! The journal of a watch, and of its steps, with any bytes in it: refused, unless it is what was written. With a checksum that fits it is
//! refused, or gone on with, whatever its models hold.
#![no_main]

mod damage;
mod sealed;

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use damage::{Damage, damaged};
use isochrone_analysis::{AnalysisKind, Options};
use isochrone_experiment::pieces::FORM;
use isochrone_experiment::{Retention, Spread, Steps, Watch, WatchError, Watched};
use isochrone_testkit::LttngTrace;
use libfuzzer_sys::fuzz_target;
use sealed::sealed;

/// The files of a journal: that of a host, and that of the steps.
static WHOLE: LazyLock<[Vec<u8>; 2]> = LazyLock::new(|| {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (traces, state) = (directory.path().join("traces"), directory.path().join("state"));
    session(&traces);
    let options = Options::default();
    let mut watch = watch(vec![traces], &state, &options).expect("a watch");
    let mut changes = watch.find().expect("chunks");
    while watch.advance(false, &mut changes).expect("a chunk").is_some() {}
    let (mut steps, _) = Steps::new::<u32>(&watch).expect("steps");
    let step = steps.next(&watch, true).expect("no failure").expect("a step");
    steps.done(&mut watch, &step, &7_u32).expect("a journal");
    let files = fs::read_dir(&state).expect("a directory").map(|entry| entry.expect("a file").path());
    let host = files.into_iter().find(|path| path.extension().is_some_and(|it| it == "host"));
    [host.expect("of the host"), state.join("steps")].map(|path| fs::read(path).expect("a file"))
});

/// A process that runs now and then, in three chunks.
fn session(directory: &Path) {
    let mut trace = LttngTrace::kernel("web1");
    for at in (1_000_000_000_u64..1_060_000_000).step_by(2_000_000) {
        for (at, from, to) in [(at, 0, 1000), (at + 700_000, 1000, 0)] {
            let state = u8::from(from != 0).into();
            let fields = [
                ("prev_comm", "work".into()),
                ("prev_tid", from.into()),
                ("prev_state", state),
                ("next_comm", "work".into()),
                ("next_tid", to.into()),
            ];
            trace.event(0, at, "sched_switch", &fields);
        }
    }
    trace.write_rotated(directory, &[1_020_000_000, 1_040_000_000]).expect("traces");
    let archives = directory.join("archives");
    for chunk in 0..3 {
        let path = archives.join(chunk.to_string());
        fs::rename(path, archives.join(format!("T-T-{chunk}"))).expect("a chunk");
    }
}

fn watch<'o>(directories: Vec<PathBuf>, state: &Path, options: &'o Options) -> Result<Watch<'o>, WatchError> {
    static KINDS: LazyLock<Vec<AnalysisKind>> = LazyLock::new(|| {
        // That one cannot be watched.
        AnalysisKind::ALL.iter().copied().filter(|&kind| kind != AnalysisKind::Usage).collect()
    });
    Watch::new(Watched {
        directories,
        state: Some(state.to_owned()),
        kinds: &KINDS,
        options,
        corrections: None,
        patience: Duration::ZERO,
        // Nothing that a journal names is deleted.
        retention: Retention::default(),
        has_steps: true,
        spread: Spread { threads: Some(NonZeroUsize::MIN), pieces: None },
    })
}

fuzz_target!(|input: (bool, Damage<'_>)| {
    let (is_host, damage) = input;
    let number = usize::from(!is_host);
    let bad = damaged(&WHOLE[number], damage);
    let is_whole = bad == WHOLE[number];
    let mut files = WHOLE.each_ref().map(Vec::as_slice);
    files[number] = &bad;
    assert_eq!(exercise(files), is_whole);
    if let Some(sealed) = sealed(&WHOLE[number], &bad, FORM) {
        files[number] = &sealed;
        exercise(files);
    }
});

/// Whether a journal was read.
fn exercise(files: [&[u8]; 2]) -> bool {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let names = ["of.host", "steps"].map(|name| directory.path().join(name));
    for (path, bytes) in names.iter().zip(files) {
        fs::write(path, bytes).expect("a file");
    }
    let options = Options::default();
    let Ok(mut watch) = watch(Vec::new(), directory.path(), &options) else { return false };
    let Ok((mut steps, _)) = Steps::new::<u32>(&watch) else { return false };
    let _ = (watch.find(), watch.advance(true, &mut Vec::new()));
    let _ = (watch.progress(), watch.ends(), watch.facts().count());
    let _ = watch.reports(&options, true);
    if let Ok(Some(step)) = steps.next(&watch, true) {
        let _ = steps.done(&mut watch, &step, &7_u32);
    }
    true
}
