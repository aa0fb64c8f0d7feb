//! A file of mapped pieces with any bytes in it, of analyses and of spans: refused, unless it is what was written. With a checksum that fits
//! it is refused, or merged, written and read again, and becomes tables or spans, whatever its models hold.
#![no_main]

mod damage;
mod sealed;

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use damage::{Damage, damaged};
use isochrone_analysis::{AnalysisKind, AnalysisSet, Options};
use isochrone_experiment::pieces::{Asked, Held, MappedPiece, Part, PieceSet, map_spans, traces_of_spans};
use isochrone_experiment::{Experiment, Inputs, ModelError, Question, Spread, reports};
use isochrone_timing::{TimedHost, Times};
use isochrone_kernel::Recorder;
use isochrone_pipeline::{Cuts, Plan, SpanLog, piece_file, run};
use isochrone_store::StoreWriter;
use isochrone_testkit::{Random, RandomKernel};
use libfuzzer_sys::fuzz_target;
use sealed::sealed;

const SPREAD: Spread = Spread { threads: Some(NonZeroUsize::MIN), pieces: None };

/// What was written: a piece of analyses, a piece of spans, spans alone; and what is left of the host, where that was cut.
static WHOLE: LazyLock<[(Vec<u8>, Vec<u8>); 3]> = LazyLock::new(|| {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (trace, path) = (directory.path().join("trace"), directory.path().join("file"));
    RandomKernel::of_any_kind(4, &mut Random::new(4)).write(&trace).expect("a trace");
    let inputs = Inputs::open(&[trace]);
    let experiment = Experiment::new(&inputs, None);
    let hosts: Vec<&TimedHost<'_>> = experiment.hosts().iter().collect();
    let (kinds, options, times) = (AnalysisKind::ALL, Options::default(), Times::default());
    let question = Question { kinds, options: &options, times, periods: None };
    let of_analyses = |number| {
        let set = PieceSet::new(question.asked(&hosts, None));
        written(set, question.map(&hosts, Part::Share { number, of: 2 }, SPREAD, None), &path)
    };
    let of_spans = |number| {
        let mapped = map_spans(&Asked::spans(), &hosts, &[], Part::Share { number, of: 2 }, SPREAD, None);
        written(PieceSet::new(Asked::spans()), mapped, &path)
    };
    let host = &hosts[0].traced;
    let log = run(host, &Plan::new(host, &Cuts::Times(3)), 1, SpanLog::default, None).expect("a model");
    let mut alone = Vec::new();
    piece_file::write(&mut alone, &path, 0, &(), &log.model.finish().spans).expect("a file");
    [(of_analyses(1), of_analyses(2)), (of_spans(1), of_spans(2)), (alone, Vec::new())]
});

fn written<C: Held>(
    mut set: PieceSet<C>,
    mapped: Vec<Result<Option<MappedPiece<C>>, ModelError>>,
    path: &Path,
) -> Vec<u8> {
    for piece in mapped {
        set.add(piece.expect("a piece").expect("events"), path).expect("one piece");
    }
    set.write(path).expect("a file");
    fs::read(path).expect("a file")
}

fuzz_target!(|input: (u8, Damage<'_>)| {
    let (number, damage) = input;
    let number = usize::from(number) % WHOLE.len();
    let (whole, rest) = &WHOLE[number];
    let bad = damaged(whole, damage);
    let Ok(directory) = tempfile::tempdir() else { return };
    let paths = ["file", "rest"].map(|name| directory.path().join(name));
    if fs::write(&paths[0], &bad).is_err() || fs::write(&paths[1], rest).is_err() {
        return;
    }
    let form = match number {
        0 => <AnalysisSet as Held>::FORM,
        1 => <SpanLog as Held>::FORM,
        _ => 0,
    };
    assert_eq!(exercise(number, &paths), bad == *whole);
    if let Some(sealed) = sealed(whole, &bad, form)
        && fs::write(&paths[0], sealed).is_ok()
    {
        exercise(number, &paths);
    }
});

/// Whether the first file was read alone. Then it is read with the other one, too.
fn exercise(number: usize, paths: &[PathBuf; 2]) -> bool {
    let alone = &paths[..1];
    match number {
        0 => {
            let is_read = tables(alone);
            tables(paths);
            is_read
        }
        1 => {
            let _ = traces_of_spans(alone);
            let is_read = again::<SpanLog>(alone).is_some();
            again::<SpanLog>(paths);
            is_read
        }
        _ => spans(&paths[0]),
    }
}

/// Reads pieces and writes them: who reads that writes the same.
fn again<C: Held>(paths: &[PathBuf]) -> Option<PieceSet<C>> {
    let set = PieceSet::<C>::read(paths).ok()??;
    let _ = (set.hosts().len(), set.missing());
    let other = [paths[0].with_extension("again")];
    if set.write(&other[0]).is_ok() {
        let bytes = fs::read(&other[0]).expect("it was written");
        let read = PieceSet::<C>::read(&other).expect("what was written").expect("one file");
        read.write(&other[0]).expect("what was read");
        assert!(fs::read(&other[0]).is_ok_and(|again| again == bytes));
    }
    Some(set)
}

fn tables(paths: &[PathBuf]) -> bool {
    let Some(set) = again::<AnalysisSet>(paths) else { return false };
    let options = set.asked().options.with_tables_of(&Options::default());
    if let Ok(clocks) = set.clocks() {
        let _ = reports(&set.finish(clocks.as_ref()), &options, SPREAD);
    }
    true
}

fn spans(path: &Path) -> bool {
    let Ok(((), log)) = piece_file::read::<(), SpanLog>(path, 0) else { return false };
    let heard = log.replay(Recorder::default);
    let Ok(mut store) = StoreWriter::create(&path.with_extension("store"), || ()) else { return true };
    let Ok(tables) = store.host("id", "host", 0) else { return true };
    assert_eq!(log.replay(|| tables.consumer()).is_ok(), heard.is_ok());
    true
}
