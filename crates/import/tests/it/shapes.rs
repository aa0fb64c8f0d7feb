//! What recordings say of losses, clocks and hosts is in the traces that they become; damaged ones are
//! refused, or are traces with less in them.

use std::path::Path;

use isochrone_ctf::Trace;
use isochrone_import::{Format, ImportError, Imported, import};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

use crate::made::{bytes, page, softirq, write};

const MISSED: u64 = 1 << 31;
const COUNTED: u64 = 1 << 30;

fn imported(recording: &Path) -> (Imported, Trace) {
    let directory = tempfile::tempdir().unwrap();
    let to = directory.path().join("trace");
    let imported = import(recording, Format::TraceDat, &to, &|_| ()).unwrap();
    (imported, Trace::open(&to).unwrap())
}

/// A recording with some options and pages of each CPU.
fn made(clocks: &str, more: &[(u16, &[u8])], cpus: &[Vec<Vec<u8>>]) -> (Imported, Trace) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.dat");
    write(&path, clocks, more, cpus);
    assert_eq!(Format::of(&path).unwrap(), Some(Format::TraceDat));
    imported(&path)
}

/// Events of a softirq, so many ns apart.
fn softirqs(count: u32, apart: u32) -> Vec<(u32, Vec<u8>)> {
    (0..count).map(|number| (apart, softirq(7, number % 10))).collect()
}

#[test]
fn hosts_clocks_and_times() {
    let cpus = [vec![page(1000, 0, &softirqs(3, 10), b"")], vec![page(1005, 0, &softirqs(2, 10), b"")]];
    let (imported, trace) = made("local [mono]", &[(1, b"0x3e8\0")], &cpus);
    assert_eq!((imported.events, imported.lost), (5, 0));
    assert!(imported.has_unix_time && !imported.is_clock_of_cpu);
    let schema = trace.schema();
    assert_eq!(schema.environment_text("hostname"), Some("web1"));
    assert_eq!(schema.environment_text("kernel_release"), Some("6.1.0"));
    // What trace-cmd records is in µs.
    assert_eq!(schema.single_clock().unwrap().offset_ns(), 1_000_000);
    let times = |stream| trace.events(stream).map(|event| event.cycles().unwrap()).collect::<Vec<_>>();
    assert_eq!(times(0), [1010, 1020, 1030]);
    assert_eq!(times(1), [1015, 1025]);
}

/// A list of threads beside a recording is LTTng's dump at its instant, on a CPU that has an event after it;
/// one that is damaged is left out.
#[test]
fn threads_are_listed_at_their_instant() {
    let list = "isochrone threads 1\nat 0.001001\n1 1 0 5 init\n2 2 0 5 kthreadd\n9 7 1 70 a b\n";
    let read = |end: &str| {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trace.dat");
        let cpus = [
            vec![page(1_000_000, 0, &softirqs(2, 100), b"")],
            vec![page(1_000_500, 0, &softirqs(2, 800), b"")],
        ];
        write(&path, "[mono]", &[], &cpus);
        std::fs::write(isochrone_import::list_beside(&path), format!("{list}{end}")).unwrap();
        imported(&path)
    };
    let (known, trace) = read("end\n");
    assert!(!known.is_list_damaged && known.events == 4, "{known:?}");
    let events = |stream| -> Vec<String> {
        let line = |event: isochrone_ctf::Event<'_>| {
            let name = event.name().unwrap();
            let number = |field| event.class().payload_field(event.stream_plan(), &[field]);
            let ids =
                ["tid", "pid", "ppid"].map(|field| number(field).and_then(|field| event.signed(&field)));
            let ids: Vec<String> = ids.iter().flatten().map(i64::to_string).collect();
            format!("{} {} {}", event.cycles().unwrap(), name.trim_start_matches("lttng_"), ids.join(" "))
        };
        trace.events(stream).map(line).collect()
    };
    // The first CPU has none after it.
    assert_eq!(events(0).len(), 2);
    let on_1: Vec<String> = events(1).into_iter().filter(|line| line.contains("statedump")).collect();
    let expect = [
        "1001000 statedump_start ",
        "1001000 statedump_process_state 1 1 0",
        "1001000 statedump_process_state 2 2 0",
        "1001000 statedump_process_state 9 7 1",
        "1001000 statedump_end ",
    ];
    assert_eq!(on_1, expect);
    let (damaged, trace) = read("en");
    assert!(damaged.is_list_damaged && damaged.events == 4, "{damaged:?}");
    assert_eq!((trace.events(0).count(), trace.events(1).count()), (2, 2));
}

#[test]
fn clocks_that_count_no_time_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.dat");
    for clock in ["counter", "uptime", "x86-tsc", "new", ""] {
        write(&path, &format!("mono [{clock}]"), &[], &[vec![page(1, 0, &softirqs(1, 1), b"")]]);
        let result = import(&path, Format::TraceDat, &directory.path().join(clock), &|_| ());
        assert!(matches!(result, Err(ImportError::Clock(_))), "{clock}: {result:?}");
    }
}

#[test]
fn cycles_become_ns() {
    // Twice as many ns as cycles, and 5 more.
    let mut cycles = [4_u32, 1].map(u32::to_le_bytes).concat();
    cycles.extend_from_slice(&5_u64.to_le_bytes());
    let (imported, trace) = made("[x86-tsc]", &[(14, &cycles)], &[vec![page(100, 0, &softirqs(1, 10), b"")]]);
    assert_eq!(imported.clock, "x86-tsc");
    assert_eq!(trace.events(0).next().unwrap().cycles(), Some(225));
}

#[test]
fn losses_are_counted_where_they_are() {
    let first = page(1000, 0, &softirqs(2, 10), b"");
    let check = |flags: u64, behind: &[u8], lost: u64, uncounted: u64| {
        let (imported, trace) =
            made("[mono]", &[], &[vec![first.clone(), page(5000, flags, &softirqs(2, 10), behind)]]);
        assert_eq!((imported.events, imported.lost, imported.uncounted), (4, lost, uncounted));
        let losses = trace.losses(0);
        assert_eq!(losses.len(), usize::from(lost > 0), "{losses:?}");
    };
    check(0, b"", 0, 0);
    check(MISSED, b"", 1, 1);
    check(MISSED | COUNTED, &77_u64.to_le_bytes(), 77, 0);
}

#[test]
fn a_damaged_page_is_a_loss() {
    let mut damaged = page(2000, 0, &softirqs(3, 10), b"");
    // The length of the second entry.
    damaged[16 + 16..16 + 20].copy_from_slice(&28_u32.to_le_bytes());
    let last = page(5000, 0, &softirqs(1, 10), b"");
    let (imported, trace) = made("[mono]", &[], &[vec![damaged, last]]);
    assert_eq!((imported.events, imported.uncounted), (2, 1));
    assert_eq!(trace.losses(0).len(), 1);
}

#[test]
fn a_cpu_that_is_cut_has_lost_events() {
    let pages =
        |time| vec![page(time, 0, &softirqs(3, 10), b""), page(time + 5000, 0, &softirqs(3, 10), b"")];
    let whole = bytes("[mono]", &[], &[pages(1000), pages(1010)]);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.dat");
    // Without the last page, and without all of the second CPU.
    for (missing, events) in [(1, 9), (2, 6)] {
        std::fs::write(&path, &whole[..whole.len() - missing * 4096]).unwrap();
        let (imported, trace) = imported(&path);
        assert_eq!((imported.events, imported.uncounted), (events, 1));
        assert_eq!(trace.losses(0).len(), 0);
        assert_eq!(trace.losses(1).len(), 1, "{missing}");
    }
}

#[test]
fn what_is_cut_or_of_another_version_is_refused() {
    let whole = bytes("[mono]", &[], &[vec![page(1000, 0, &softirqs(3, 10), b"")]]);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.dat");
    let result = |bytes: &[u8], name: &str| {
        std::fs::write(&path, bytes).unwrap();
        import(&path, Format::TraceDat, &directory.path().join(name), &|_| ())
    };
    for length in [12, 40, 400, 800] {
        let cut = result(&whole[..length], &format!("{length}"));
        assert!(matches!(cut, Err(ImportError::Cut { .. })), "{length}: {cut:?}");
    }
    let mut other = whole.clone();
    other[10] = b'9';
    assert!(matches!(result(&other, "9"), Err(ImportError::Version(_))));
    // The pages alone are cut: there is nothing in what is left.
    assert!(matches!(result(&whole[..whole.len() - 4096], "none"), Err(ImportError::NoEvents)));
    assert!(!directory.path().join("none/metadata").exists());
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        ..ProptestConfig::with_cases(2000)
    })]

    /// Whatever is changed, a recording is refused, or becomes a trace that can be read.
    #[test]
    fn changed_bytes(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let pages = vec![page(1000, 0, &softirqs(20, 10), b""), page(9000, MISSED, &softirqs(3, 10), b"")];
        let mut changed = bytes("local [mono]", &[(1, b"0x3e8\0")], &[pages.clone(), pages]);
        // Most of it is what pages are filled up with.
        let end = changed.len() / 3;
        for (index, byte) in changes {
            let at = index.index(end);
            changed[at] = byte;
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trace.dat");
        std::fs::write(&path, changed).unwrap();
        let to = directory.path().join("trace");
        if let Ok(imported) = import(&path, Format::TraceDat, &to, &|_| ()) {
            let trace = Trace::open(&to).unwrap();
            let events: usize = (0..trace.streams().len()).map(|stream| trace.events(stream).count()).sum();
            prop_assert_eq!(events as u64, imported.events);
        }
    }
}
