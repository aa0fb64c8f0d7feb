//! Dumps of public traces against the digests of babeltrace2 2.1.1.

#![allow(clippy::print_stderr)] // A test says what it compared.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::common::read;
use crate::common::shared::{shared, traces};
use isochrone_ctf::write::{Selection, cut_trace};
use isochrone_ctf::{Lost, Packet, Trace, dump};
use sha2::{Digest, Sha256};

/// Where the corpus table's path lies, if it is here.
fn locate(shared: &Path, name: &str) -> Option<PathBuf> {
    let candidates = [
        shared.join("traces").join(name),
        shared.join(name),
        shared.join(name.replacen("tc/synctraces", "../scp", 1)),
    ];
    candidates.into_iter().find(|path| path.join("metadata").is_file())
}

/// Digest of a trace's dump and the number of diagnostics; the error where the trace is refused.
fn digest(path: &Path) -> Result<(String, usize), String> {
    let trace = Trace::open(path).map_err(|error| error.to_string())?;
    let mut text = Vec::new();
    let lost = dump::dump(&trace, &mut text).unwrap();
    Ok((format!("{:x}", Sha256::digest(&text)), trace.diagnostics().len() + lost.len()))
}

/// Traces that must be here, and whose dumps must be equal to the byte.
const EQUAL: [&str; 7] = [
    "tc/synctraces/scp_src",
    "tc/synctraces/scp_dest",
    "tc/many-threads",
    "tc/bug446190",
    "tc/flipping-endianness",
    "bitfields/le",
    "bitfields/be",
];

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn dumps_equal_the_reference() {
    let shared = shared("ctf");
    let table = std::fs::read_to_string(shared.join("corpus.tsv")).unwrap();
    let known =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ctf-differences.tsv"));
    let known = known.unwrap();
    let known: BTreeMap<&str, &str> = known.lines().skip(1).filter_map(|row| row.split_once('\t')).collect();
    let mut equal = Vec::new();
    for row in table.lines().skip(1) {
        let columns: Vec<&str> = row.split('\t').collect();
        let (name, format, status, expected) = (columns[0], columns[1], columns[5], columns[13]);
        if status != "ok" || !format.starts_with("CTF1.8") {
            continue;
        }
        let Some(path) = locate(&shared, name) else { continue };
        let digest = digest(&path).map_or_else(|_| "-".to_owned(), |(digest, _)| digest);
        match known.get(name).and_then(|rest| rest.split('\t').next()) {
            Some(own) => {
                assert_eq!(digest, own, "{name}: not the difference that docs/ctf-differences.tsv lists");
            }
            None => {
                assert_eq!(digest, expected, "{name}");
                equal.push(name.to_owned());
            }
        }
    }
    for name in EQUAL {
        assert!(equal.iter().any(|equal| equal == name), "{name} is not in the corpus");
    }
    eprintln!("{} CTF 1.8 traces equal, {} known differences", equal.len(), known.len());
}

/// Traces of the corpus that are wrong by mistake: their JSON has trailing commas, or a structure has two
/// members of one name.
fn is_wrong_by_mistake(outcome: &Result<(String, usize), String>) -> bool {
    let mistakes =
        ["this is not JSON: trailing comma", "this is not JSON: expected value", "two members are called"];
    outcome.as_ref().is_err_and(|error| mistakes.iter().any(|mistake| error.contains(mistake)))
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn ctf_2_is_read() {
    let shared = shared("ctf");
    let table = std::fs::read_to_string(shared.join("corpus.tsv")).unwrap();
    let mut equal = 0;
    for row in table.lines().skip(1) {
        let columns: Vec<&str> = row.split('\t').collect();
        let (name, format, status, expected) = (columns[0], columns[1], columns[5], columns[13]);
        let Some(path) = locate(&shared, name).filter(|_| format.starts_with("CTF2")) else { continue };
        let outcome = digest(&path);
        eprintln!("{name}: {outcome:?}");
        match (status, outcome) {
            ("ok", Ok((digest, _))) if digest == expected => equal += 1,
            ("ok", outcome) => panic!("{name} differs from the reference: {outcome:?}"),
            // What is meant to be wrong is noticed, what is not is read.
            (_, outcome) if name.ends_with("_nok") && !GOOD.iter().any(|(good, ..)| *good == name) => {
                assert!(!matches!(outcome, Ok((_, 0))), "{name} seems to be in order");
            }
            (_, outcome) => assert!(outcome.is_ok() || is_wrong_by_mistake(&outcome), "{name}: {outcome:?}"),
        }
    }
    assert!(equal >= 19, "only {equal} CTF 2 traces equal the reference");
}

/// Traces that babeltrace2 refuses and that are right: their events, and why they are.
const GOOD: [(&str, usize, &str); 16] = [
    ("actf/CTF2-PMETA-1.0-be", 1, "a checksum of scheme 0 is none"),
    ("actf/CTF2-PMETA-1.0-le", 1, "a checksum of scheme 0 is none"),
    ("actf/ev_rec_common_ctxt", 1, "packets need no time at their begin"),
    ("actf/ev_rec_hdr", 2, "packets need no time at their begin"),
    ("actf/ev_spec_ctxt", 1, "packets need no time at their begin"),
    ("actf/fxd_len_bit_arr", 1, "a property that means nothing costs nothing"),
    ("actf/fxd_len_enum_uint64", 1, "labels reach up to the last number of 64 bits"),
    (
        "actf/fxd_len_int_unsupported_len_nok",
        1,
        "integers of 128 bits, which the suite's own reader does not support",
    ),
    ("actf/optional_bool", 2, "a truth value decides about an optional field"),
    ("tc/CTF2-7.0-lttng-crash", 400, "RC 7 is read, with notes"),
    ("tc/CTF2-7.0-smalltrace", 2, "RC 7 is read, with notes"),
    ("tc/funky_trace", 100_002, "times need not fit 64 bits of nanoseconds"),
    ("ts/tests/1.8/regression/metadata/pass/clock-negative-offset", 0, "offsets have signs"),
    ("ts/tests/1.8/regression/stream/pass/integer-large-size", 1, "an integer of 1024 bits is bytes"),
    (
        "ts/tests/1.8/regression/metadata/pass/sequence-typedef-length",
        0,
        "a length is looked for where its type is defined first (CTF 1.8 section 4.2.2)",
    ),
    (
        "ts/tests/1.8/regression/stream/pass/variant-missing-enum-mappings",
        1,
        "an option that no label names is never chosen (CTF 1.8 section 4.2.2)",
    ),
];

/// The rows of the corpus whose traces are here: name, status, events and path.
fn rows(shared: &Path) -> Vec<(String, String, usize, PathBuf)> {
    let table = std::fs::read_to_string(shared.join("corpus.tsv")).unwrap();
    let rows = table.lines().skip(1).filter_map(|row| {
        let columns: Vec<&str> = row.split('\t').collect();
        let (name, status, events) = (columns[0], columns[5], columns[6].parse().unwrap_or(0));
        Some((name.to_owned(), status.to_owned(), events, locate(shared, name)?))
    });
    rows.collect()
}

/// Events that a reader gets, and how many diagnostics and losses; the error where the trace is refused.
fn counts(path: &Path) -> Result<(usize, usize, usize), String> {
    let trace = Trace::open(path).map_err(|error| error.to_string())?;
    let (mut count, mut diagnostics) = (0, trace.diagnostics().to_vec());
    for stream in 0..trace.streams().len() {
        let mut events = trace.events(stream);
        count += events.by_ref().count();
        diagnostics.extend_from_slice(events.diagnostics());
    }
    Ok((count, diagnostics.len(), diagnostics.iter().filter(|d| d.is_loss()).count()))
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn what_is_refused_elsewhere_is_read_or_said_to_be_wrong() {
    let shared = shared("ctf");
    let mut good = 0;
    for (name, status, events, path) in rows(&shared) {
        if status != "error" {
            continue;
        }
        let outcome = counts(&path);
        if let Some((_, events, why)) = GOOD.iter().find(|(known, ..)| *known == name) {
            let read = outcome.as_ref().map(|&(count, _, losses)| (count, losses));
            assert_eq!(read, Ok((*events, 0)), "{name}: {why}");
            good += 1;
        } else {
            assert!(!matches!(outcome, Ok((_, 0, _))), "{name}: nothing is said about it");
            // Whatever is before the fault is read, as elsewhere.
            let read = outcome.as_ref().map_or(0, |(count, ..)| *count);
            assert!(read >= events, "{name}: {read} events of {events}: {outcome:?}");
        }
    }
    assert_eq!(good, GOOD.len());
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn the_conformance_suite_of_metadata() {
    let shared = shared("ctf");
    let suite = "ts/tests/1.8/regression/metadata/";
    let (mut passed, mut failed) = (0, 0);
    for (name, _, _, path) in rows(&shared) {
        let Some(case) = name.strip_prefix(suite) else { continue };
        let outcome = counts(&path);
        if case.starts_with("pass/") {
            let notes_expected =
                ["pass/string-literal-escape", "pass/unknown-attribute-warnings"].contains(&case);
            let read = outcome.as_ref().map(|&(_, diagnostics, losses)| (diagnostics > 0, losses));
            assert_eq!(read, Ok((notes_expected, 0)), "{case}: {outcome:?}");
            passed += 1;
        } else {
            // Refused, or read with a note where no event depends on what is wrong.
            assert!(!matches!(outcome, Ok((_, 0, _))), "{case}: nothing is said about it");
            failed += 1;
        }
    }
    assert!(passed >= 38 && failed >= 63, "only {passed} that pass and {failed} that fail");
}

/// How many events some packets of a trace report as discarded, in ascending order.
fn discarded_in(trace: &Trace, is_of: &dyn Fn(&Packet) -> bool) -> Vec<u64> {
    let mut all = Vec::new();
    for (stream, of) in trace.streams().iter().enumerate() {
        for loss in trace.losses(stream) {
            if let (Lost::Events(events), Some(packet)) = (loss.lost, of.packets.get(loss.before_packet))
                && is_of(packet)
            {
                all.push(events);
            }
        }
    }
    all.sort_unstable();
    all
}

/// The middle third of each trace, by time, reads as it does in the whole.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn cuts_read_as_the_same_part() {
    let (mut count, mut lossy) = (0, 0);
    for path in traces(&["ctf", "ust", "vm/rot2", "vm/lossy2"]) {
        let Ok(trace) = Trace::open(&path) else { continue };
        if trace.streams().iter().flat_map(|stream| &stream.packets).count() > 2000 {
            continue;
        }
        let whole = read(&path).unwrap();
        // Times of other forms, and what cannot be decoded, are the business of other tests.
        let times: Option<Vec<u64>> =
            whole.events.iter().map(|line| line.split(' ').next()?.parse().ok()).collect();
        let Some((first, last)) =
            times.as_ref().and_then(|all| all.iter().min().copied().zip(all.iter().max().copied()))
        else {
            continue;
        };
        let is_lossy = whole.diagnostics.iter().any(|diagnostic| diagnostic.starts_with("Loss"));
        let (from, to) = (first + (last - first) / 3, first + (last - first) / 3 * 2);
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("cut");
        let window = |_, cycles: u64| match cycles {
            _ if cycles < from => Ordering::Less,
            _ if cycles >= to => Ordering::Greater,
            _ => Ordering::Equal,
        };
        let selection =
            Selection { window: &window, has_class: &|_| true, keeps: &mut |_| true, words: None };
        let written = cut_trace(&trace, &target, selection);
        if is_lossy && written.is_err() {
            continue;
        }
        written.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let expect = whole.events.iter().zip(times.unwrap());
        let expect: Vec<&String> =
            expect.filter(|(_, time)| (from..to).contains(time)).map(|it| it.0).collect();
        // Streams may come in another order.
        let sorted = |mut events: Vec<String>| {
            events.sort();
            events
        };
        let cut = sorted(read(&target).unwrap().events);
        assert_eq!(cut, sorted(expect.into_iter().cloned().collect()), "{}", path.display());
        // Events that packets in it report as discarded, and no others.
        let overlaps = |packet: &Packet| {
            packet.begin().is_none_or(|begin| begin < to) && packet.end().is_none_or(|end| end >= from)
        };
        let discarded = discarded_in(&Trace::open(&target).unwrap(), &|_| true);
        assert_eq!(discarded, discarded_in(&trace, &overlaps), "{}", path.display());
        lossy += usize::from(!discarded.is_empty());
        count += 1;
    }
    assert!(count > 20 && lossy > 0, "{count}, {lossy} lossy");
}
