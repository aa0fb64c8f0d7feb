//! The merge invariant of all analyses, on random spans: the merged results of pieces in any order, each with
//! its own names for threads at first, are the result of the whole, byte for byte.

use isochrone_kernel::calls::{Effect, Use};
use isochrone_kernel::{Half, OffCpuReason};
use isochrone_time::RawNs;
use proptest::prelude::*;
use proptest::sample::select;

use crate::options::{Calls, Filter, Interrupts, Options};
use crate::registry::AnalysisKind;
use crate::testing::{
    call, feed, file, half, idle, irq, latency, line, lines, migration, off_cpu, packet, pages, pieced,
    request, scratch, slice, softirq, tables, thread, unknown, window,
};
use crate::window::When;
use isochrone_kernel::Span;
use isochrone_kernel::scratch::Scratch;

fn span() -> impl Strategy<Value = Span> {
    let who = (1..4).prop_map(thread);
    let name = select(vec!["read", "write", "close"]);
    let error = select(vec![0, 3, -1, -2, -4000, i64::MIN + 1, i64::MAX]);
    let reason = select(vec![
        OffCpuReason::Preempted,
        OffCpuReason::Blocked,
        OffCpuReason::Uninterruptible,
        OffCpuReason::Stopped,
    ]);
    // Wide ones, and ones that end before they begin.
    let ns = prop_oneof![8 => 0..60i64, 1 => -2..0i64, 1 => Just(1 << 40)];
    let times = (0..100i64, ns).prop_map(|(begin, ns): (i64, i64)| (begin, begin + ns));
    (0..15, who, times, 0..2u32, name, error, reason, any::<bool>()).prop_map(
        |(which, who, (begin, end), cpu, name, ret, reason, is)| match which {
            0 if is => slice(cpu, idle(cpu), begin, end),
            0 => slice(cpu, who, begin, end),
            1 => unknown(cpu, is.then_some(who), begin, end),
            2 => call(who, name, begin, end, ret),
            3 => half(who, is.then_some(name), begin, if end % 2 == 0 { Half::Begin } else { Half::End }),
            4 => irq(cpu, cpu as i32, name, begin, end),
            5 => softirq(cpu, cpu, is.then_some(begin - 3), begin, end),
            6 => latency(who, cpu, ret as i32 % 3, begin, end),
            7 => migration(who, begin, cpu),
            8 => off_cpu(who, reason, begin, end),
            9 => Span::File(Box::new(file(who, 3, name, begin, end))),
            10 => request(cpu, is.then_some(who), ret.clamp(0, 3) as u32, is, (begin, end)),
            11 => pages(who, begin, ret.clamp(1, 3) as u64, is),
            12 => packet(begin, name, ret.clamp(0, 3) as u32, is),
            13 => line(who, name, "3, 4", Effect::Transfer { from: 3, to: 4 }, (begin, end, ret)),
            _ => line(who, name, "3, 3", Effect::Use { fd: 3, what: Use::Read }, (begin, end, ret)),
        },
    )
}

fn options_and_times() -> impl Strategy<Value = (Options, When)> {
    let some = |value: i64| prop::option::of(Just(value));
    let flags = any::<[bool; 6]>();
    (flags, prop::option::of(0..4usize), some(20), some(80), prop::option::of(0..100i64)).prop_map(
        |([by_process, linear, around, few, hard, one_cpu], limit, begin, end, at)| {
            let filter = Filter {
                tids: if few { vec![2, 3] } else { Vec::new() },
                cpus: if one_cpu { vec![1] } else { Vec::new() },
                min_ns: few.then_some(3),
                min_bytes: hard.then_some(2),
                ..Filter::default()
            };
            let calls =
                Calls { errors: if hard { vec![1, 2] } else { Vec::new() }, around, ..Calls::default() };
            let interrupts =
                Interrupts { hard: hard.then(|| vec![crate::options::Interrupt::Number(1)]), soft: None };
            let options = Options {
                filter,
                limit,
                by_process,
                interrupts,
                calls,
                bars: 3,
                linear,
                scratch: if around { scratch() } else { Scratch::default() },
                ..Options::default()
            };
            (
                options,
                When {
                    window: window(begin.unwrap_or(i64::MIN), end.unwrap_or(i64::MAX)),
                    at: at.map(RawNs),
                },
            )
        },
    )
}

/// Spans, each with the piece that it is in.
fn dealt() -> impl Strategy<Value = Vec<(Span, usize)>> {
    prop::collection::vec((span(), 0..4usize), 0..40)
}

proptest! {
    #[test]
    fn pieces_make_the_whole(dealt in dealt(), (options, when) in options_and_times()) {
        let all: Vec<Span> = dealt.iter().map(|(span, _)| span.clone()).collect();
        let mut pieces = vec![Vec::new(); 4];
        for (span, piece) in dealt {
            pieces[piece].push(span);
        }
        for &kind in AnalysisKind::ALL {
            let whole = feed(kind, &all, &options, when);
            let pieced = pieced(kind, &pieces, &options, when);
            prop_assert_eq!(lines(&tables(&pieced, &options)), lines(&tables(&whole, &options)), "{}", kind.name());
            let bytes = |set| postcard::to_stdvec(set).unwrap();
            prop_assert_eq!(bytes(&pieced), bytes(&whole), "{}", kind.name());
        }
    }
}

proptest! {
    /// Rows that a limit leaves out may never be made; those that are shown, and how many there are, are as
    /// if all had been.
    #[test]
    fn a_limit_cuts_what_there_is(
        dealt in dealt(),
        (options, when) in options_and_times(),
        most in 0..5usize,
    ) {
        let all: Vec<Span> = dealt.into_iter().map(|(span, _)| span).collect();
        for &kind in AnalysisKind::ALL {
            let cut = |limit| {
                let options = Options { limit, ..options.clone() };
                let mut tables = tables(&feed(kind, &all, &options, when), &options);
                for table in &mut tables {
                    table.cut(most);
                }
                let totals: Vec<Option<u64>> = tables.iter().map(|table| table.total_rows).collect();
                (lines(&tables), totals)
            };
            prop_assert_eq!(cut(Some(most)), cut(None), "{}", kind.name());
        }
    }
}

#[test]
fn kinds_have_names() {
    for &kind in AnalysisKind::ALL {
        assert_eq!(AnalysisKind::of(kind.name()), Some(kind));
        assert!(!kind.about().is_empty());
    }
    assert!(AnalysisKind::ALL.is_sorted_by_key(|kind| kind.name()));
    assert_eq!(AnalysisKind::of("nothing"), None);
}
