//! What is missing is said once, where it ends, for any cuts.

use std::path::Path;

use crate::common::{Raw, Said, open, same_for_all_cuts, write_raw};
use isochrone_hosts::{Hosts, LossKind, Note, ReadReport};
use isochrone_testkit::LttngTrace;

/// CPU, from, to, what.
type Lost = (u32, i64, i64, LossKind);

/// Losses, gaps, what was read, and what there is to say.
type Lack = (Vec<Lost>, Vec<(i64, i64)>, ReadReport, Vec<Note>);

/// What the traces below a directory lack.
fn said(directory: &Path) -> Lack {
    let traces = open(directory);
    let hosts = Hosts::group(&traces);
    let host = &hosts.hosts[0];
    let mapped = same_for_all_cuts(host);
    let (mut losses, mut gaps) = (Vec::new(), Vec::new());
    let mut now = i64::MIN;
    for said in mapped.model {
        match said {
            Said::Event(time, ..) => now = time.ns(),
            Said::Gap(from, to) => gaps.push((from.ns(), to.ns())),
            Said::LossBegin(begin) => {
                assert!(now < begin.at.ns() || now == i64::MIN, "{begin:?} comes after {now}");
            }
            Said::Loss(loss) => {
                assert!(now <= loss.to.ns(), "{loss:?} comes after {now}");
                losses.push((
                    host.sources()[loss.source].cpu.unwrap(),
                    loss.from.ns(),
                    loss.to.ns(),
                    loss.what,
                ));
            }
        }
    }
    (losses, gaps, mapped.report, host.notes())
}

fn packet(number: u64, discarded: u64, times: &[u64]) -> Raw {
    let (begin, end) = (times[0], times[times.len() - 1]);
    Raw { begin, end, number, discarded, times: times.to_vec(), breaks: false }
}

#[test]
fn losses_within_a_stream() {
    let check = |streams: &[Vec<Raw>], expect: &[Lost]| {
        let directory = tempfile::tempdir().unwrap();
        write_raw(directory.path(), streams);
        let (losses, gaps, report, notes) = said(directory.path());
        assert_eq!(losses, expect);
        assert_eq!((gaps, report.losses), (vec![], expect.len() as u64));
        assert!(notes.iter().all(|note| matches!(note, Note::Lost { .. })), "{notes:?}");
    };
    let other = || vec![packet(0, 0, &[1, 5, 20, 25, 50])];
    check(&[vec![packet(0, 0, &[10, 20]), packet(1, 0, &[30, 40])], other()], &[]);
    let discarded = vec![packet(0, 0, &[10, 20]), packet(1, 3, &[30, 40]), packet(2, 3, &[41, 45])];
    check(&[discarded, other()], &[(0, 20, 40, LossKind::Events(3))]);
    let skipped = vec![packet(0, 0, &[10, 20]), packet(3, 0, &[30, 40])];
    check(&[other(), skipped], &[(1, 20, 30, LossKind::Packets(2))]);
    // Before the first packet: only where it is the first one.
    check(&[vec![packet(0, 2, &[10, 20])], other()], &[(0, 1, 20, LossKind::Events(2))]);
    check(&[vec![packet(4, 2, &[10, 20])], other()], &[]);
    // At the end, and several at a time.
    let both = vec![packet(0, 0, &[10, 20]), packet(2, 1, &[50])];
    check(&[both, other()], &[(0, 20, 50, LossKind::Events(1)), (0, 20, 50, LossKind::Packets(1))]);
}

#[test]
fn packets_that_break() {
    let directory = tempfile::tempdir().unwrap();
    let broken = Raw { end: 30, breaks: true, ..packet(0, 0, &[10, 20]) };
    let last = Raw { begin: 60, end: 70, number: 2, breaks: true, ..Raw::default() };
    write_raw(
        directory.path(),
        &[vec![broken, packet(1, 0, &[40, 50]), last], vec![packet(0, 0, &[1, 30, 45, 80])]],
    );
    let (losses, _, report, _) = said(directory.path());
    assert_eq!(losses, [(0, 20, 30, LossKind::UndecodableTail), (0, 60, 70, LossKind::UndecodableTail)]);
    assert_eq!((report.broken_packets, report.diagnostics.len()), (2, 2));
    assert!(report.diagnostics[0].contains("s_0: packet 0, byte "), "{}", report.diagnostics[0]);
}

/// A host of two CPUs with an event every 10 ns from 1000 to 5990, rotated at 2000, 3000 and 4000.
fn rotated(directory: &Path) {
    let mut host = LttngTrace::kernel("web");
    host.cpus(2);
    for n in 0..500_u64 {
        host.event((n % 2) as u32, 1_000 + n * 10, "irq_handler_exit", &[("ret", 1.into())]);
    }
    host.write_rotated(directory, &[2_000, 3_000, 4_000]).unwrap();
}

#[test]
fn a_missing_chunk_is_a_gap() {
    let directory = tempfile::tempdir().unwrap();
    rotated(directory.path());
    std::fs::remove_dir_all(directory.path().join("archives/1")).unwrap();
    let (losses, gaps, report, notes) = said(directory.path());
    // CPU 0 has the events at 1980 and 3000, CPU 1 those at 1990 and 3010.
    assert_eq!(gaps, [(1991, 3000)]);
    let expect = [
        (0, 1980, 1990, LossKind::Packets(1)),
        (1, 1990, 1990, LossKind::Packets(1)),
        (1, 3000, 3010, LossKind::All),
    ];
    assert_eq!(losses, expect);
    assert_eq!(report.events, 400);
    let notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        [
            "a chunk is missing: nothing is known from 1991 ns to 3000 ns",
            "2 packets were lost: what happened meanwhile is unknown"
        ]
    );
}

#[test]
fn a_missing_stream_is_a_loss_of_its_cpu() {
    let check = |chunk: u32, expect: &[Lost], missing: usize| {
        let directory = tempfile::tempdir().unwrap();
        rotated(directory.path());
        let archive = directory.path().join(format!("archives/{chunk}/kernel"));
        std::fs::remove_file(archive.join("ch_1")).unwrap();
        std::fs::remove_file(archive.join("index/ch_1.idx")).unwrap();
        let (losses, gaps, _, notes) = said(directory.path());
        assert_eq!((losses.as_slice(), gaps.as_slice()), (expect, [].as_slice()), "{chunk}");
        let streams = notes
            .iter()
            .filter(|note| matches!(note, Note::MissingStreams { files, .. } if files == &["ch_1"]));
        assert_eq!(streams.count(), missing, "{notes:?}");
    };
    check(0, &[(1, 1000, 2010, LossKind::All)], 1);
    check(1, &[(1, 1990, 3010, LossKind::Packets(1))], 0);
    check(3, &[(1, 3990, 5990, LossKind::All)], 1);
}

#[test]
fn snapshots_may_hold_the_same_packets() {
    let root = tempfile::tempdir().unwrap();
    let packets = [packet(0, 0, &[10, 20]), packet(1, 0, &[30, 40]), packet(2, 0, &[50, 60])];
    write_raw(&root.path().join("a"), &[packets[..2].to_vec()]);
    write_raw(&root.path().join("b"), &[packets[1..].to_vec()]);
    write_raw(&root.path().join("c"), &[packets[1..2].to_vec()]);
    let (losses, _, report, _) = said(root.path());
    assert_eq!((losses, report.events), (vec![], 6));
}
