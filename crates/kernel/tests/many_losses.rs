//! The cost of losses: time over the number of losses and over what was kept before them.
//!
//! As a table: `cargo test --release -p isochrone-kernel --test many_losses -- --ignored --nocapture`
#![allow(clippy::unwrap_used, clippy::print_stdout)] // A test may panic, and one of these reports.

use std::time::Instant;

use isochrone_kernel::calls::{Effect, Entry, Exit, ExitOutput, Opener};
use isochrone_kernel::{
    Border, CpuLoss, EventContext, KernelEvent, OffCpuReason, PartialState, PrevState, Spans, Syscall,
    TaskRef, ThreadAliases,
};
use isochrone_time::RawNs;

/// Counts emitted calls, and how often the consumer had to rename its rows.
#[derive(Debug, Default)]
struct Rows {
    calls: u64,
    aliases: u64,
}

impl Spans for Rows {
    fn syscall(&mut self, _: &Syscall<'_>) {
        self.calls += 1;
    }

    fn rename(&mut self, _: &ThreadAliases) {
        self.aliases += 1;
    }

    fn absorb(&mut self, right: Self) {
        self.calls += right.calls;
        self.aliases += right.aliases;
    }
}

/// A piece with `calls` calls that open files, ten in each slice, and `losses` losses among them: after each
/// only the next switch identifies the thread.
fn piece(begin: Border, calls: u64, losses: u64) -> PartialState<Rows> {
    let mut piece = PartialState::new(begin, Rows::default());
    let mut now: RawNs = begin.time().max(RawNs(0));
    let task = |slice: u64| TaskRef { tid: 100 + (slice % 8) as i32, comm: b"worker", priority: 20 };
    let every = calls.checked_div(losses).unwrap_or(u64::MAX).max(1);
    for number in 0..calls {
        now += 10;
        let context = |time| EventContext {
            time,
            cpu: 0,
            tid: None,
            has_kernel_tid: false,
            pid: None,
            comm: None,
            is_user: false,
            session: 0,
            has_faults: false,
        };
        if (number + 1) % every == 0 {
            piece.lost(&CpuLoss { cpu: 0, from: now - 5, to: now, events: Some(1), has_switches: true });
        }
        let call = Opener::find("openat").unwrap();
        let effect = Effect::Open { call, dir: None, path: "/etc/hosts".into(), flags: 0 };
        let entry = Entry { name: "openat".into(), effect, arguments: None };
        piece.event(&context(now), KernelEvent::SyscallEntry(entry));
        now += 10;
        let exit = Exit { name: Some("openat".into()), ret: 3, output: ExitOutput::Nothing, arguments: None };
        piece.event(&context(now), KernelEvent::SyscallExit(exit));
        if number % 10 == 9 {
            now += 10;
            let (prev, next) = (task(number / 10), task(number / 10 + 1));
            let prev_state = PrevState::OffCpu(OffCpuReason::Blocked);
            piece.event(&context(now), KernelEvent::Switch { prev, prev_state, next });
        }
    }
    piece.close(Border::At(now + 10));
    piece
}

#[test]
#[ignore = "a measurement: alone and in release mode"]
fn time_over_losses_and_rows() {
    println!("    rows  losses  first piece ms  later piece ms  merge ms");
    for (rows, losses) in [(1_000_000, 0), (500_000, 5_000), (1_000_000, 10_000), (2_000_000, 20_000)] {
        let (mut begin, mut times) = (Instant::now(), Vec::new());
        let mut lap = || times.push(std::mem::replace(&mut begin, Instant::now()).elapsed().as_millis());
        let first = piece(Border::Begin, rows / 2, losses / 2);
        lap();
        let later = piece(first.end(), rows / 2, losses / 2);
        lap();
        let all = first.merge(later).unwrap();
        lap();
        assert!(all.spans().calls > rows / 2);
        println!("{rows:8} {losses:7} {:15} {:15} {:9}", times[0], times[1], times[2]);
    }
}

/// The consumer, which may keep all rows, renames them once for each piece and for each side of a merge,
/// independent of the number of losses.
#[test]
fn rows_are_looked_through_once_a_piece() {
    let check = |losses| {
        let first = piece(Border::Begin, 2_000, losses);
        let later = piece(first.end(), 2_000, losses);
        let all = first.merge(later).unwrap();
        assert!(all.spans().calls > 2_000, "{}", all.spans().calls);
        assert!(all.spans().aliases <= 4, "{} for {losses} losses", all.spans().aliases);
    };
    check(10);
    check(500);
}
