//! Models of pieces that were cut at random, merged in a random order, and compared byte for byte.

use std::collections::HashSet;
use std::sync::Arc;

use isochrone_hosts::{Host, Item};
use isochrone_kernel::{Border, PartialState, Threads};
use isochrone_periods::Definitions;
use isochrone_pipeline::{
    Cuts, MapMerge as _, Piece, PieceMerger, PieceModel, Plan, SpanMapper, Step, map_piece,
};
use isochrone_testkit::Random;
use isochrone_time::RawNs;

use super::recorders::{self, Both};
use isochrone_kernel::{Recorder, Span};

/// A model of a piece.
pub type Mapped = PieceModel<PartialState<Both>>;

/// Periods of all sorts: with parents, with ends that compare with begins, without ends, of programs and of
/// the kernel.
const PERIODS: [&str; 7] = [
    r#"switch : $event == "sched_switch" && next_tid != 0
        : $event == "sched_switch" && prev_tid == $begin.$evt.next_tid && $cpu == $begin.$evt.$cpu"#,
    r#"irq(switch) : $event =* "irq_handler_entry" && cpu_id == $parent.$begin.$evt.cpu_id
        : $event == "irq_handler_exit" && cpu_id == $begin.$evt.cpu_id"#,
    r#"soft(irq) : $event =* "*softirq_raise" && vec != 1 : $event =* "*softirq_exit" && vec == $begin.$evt.vec"#,
    r#"wake : $event =* "sched_wak*" : $event == "sched_switch" && next_tid == $begin.$evt.tid"#,
    r#"call(switch) : $event =* "sys*entry_*" && $cpu == $parent.$begin.$evt.$cpu
        : $event =* "*exit*" && $cpu == $begin.$evt.$cpu && ret >= 0"#,
    r#" : $event == "sched_switch" && prev_tid == 0"#,
    r#"thumb : $event =* "*_begin" : $event =* "*_end" && $ctx.vtid == $begin.$evt.$ctx.vtid && req == $begin.$evt.req"#,
];

const CAPTURES: [&str; 3] = [
    "irq : $evt.name, current = $parent.$begin.$evt.next_comm : ret = $evt.ret",
    "thumb : $evt.req, $evt.$name : $evt.$name, bytes = $evt.bytes",
    "wake : who = $evt.comm : cpu = $evt.$pkt_ctx.cpu_id",
];

fn to_spans() -> SpanMapper<fn() -> Both> {
    let periods = Arc::new(Definitions::parse(&PERIODS, &CAPTURES).unwrap());
    SpanMapper::new(Both::default as fn() -> Both).lines(true).periods(Some(periods))
}

/// The model of each piece of a plan.
pub fn map(host: &Host<'_>, cuts: &Cuts) -> Vec<Mapped> {
    map_steps(host, Plan::new(host, cuts).steps())
}

pub fn map_steps(host: &Host<'_>, steps: &[Step]) -> Vec<Mapped> {
    steps.iter().map(|&step| map_piece(host, step, &to_spans(), None)).collect()
}

/// The model of a piece that is missing.
pub fn gap(host: &Host<'_>, from: RawNs, to: RawNs) -> Mapped {
    let piece = Piece { from: Border::At(from), to: Border::At(to) };
    PieceModel {
        piece,
        model: to_spans().gap(host, from, to),
        report: isochrone_hosts::ReadReport::default(),
    }
}

pub fn whole(host: &Host<'_>) -> Mapped {
    map(host, &Cuts::Whole).pop().unwrap()
}

/// A copy that has been on disk.
pub fn stored(part: &Mapped) -> Mapped {
    postcard::from_bytes(&postcard::to_stdvec(part).unwrap()).unwrap()
}

/// Merges neighbours, which arrive in a random order.
pub fn merge(parts: Vec<Mapped>, random: &mut Random) -> Mapped {
    let mut parts = parts;
    let mut merger = PieceMerger::default();
    while !parts.is_empty() {
        let part = parts.swap_remove(random.below(parts.len() as u64) as usize);
        let part = if random.permille(200) { stored(&part) } else { part };
        merger.add(part, PartialState::merge).unwrap();
    }
    merger.finish().unwrap()
}

/// Merges two neighbours.
pub fn merge_two(left: Mapped, right: Mapped) -> Mapped {
    let mut both = PieceMerger::default();
    both.add(left, PartialState::merge).unwrap();
    both.add(right, PartialState::merge).unwrap();
    both.finish().unwrap()
}

/// Merges two neighbours anywhere, as long as there are any: all bracketings.
pub fn bracket(mut parts: Vec<Mapped>, random: &mut Random) -> Mapped {
    while parts.len() > 1 {
        let at = random.below(parts.len() as u64 - 1) as usize;
        let right = parts.remove(at + 1);
        let left = parts.remove(at);
        let both = merge_two(left, right);
        parts.insert(at, if random.permille(200) { stored(&both) } else { both });
    }
    parts.pop().unwrap()
}

/// What a model is: its bytes, and those of what it has emitted in the end.
pub struct Bytes {
    model: Vec<u8>,
    finished: Vec<u8>,
    lines: Vec<String>,
    threads: Threads,
    rest: String,
}

pub fn bytes(mut part: Mapped) -> Bytes {
    recorders::sort(&mut part.model.spans_mut().recorded.0);
    let model = postcard::to_stdvec(&part).unwrap();
    let finished = part.model.finish();
    let rest = format!(
        "{:?} {} events, {} losses of {}, gaps {:?}, missing {:?}, periods {:?}",
        finished.range,
        finished.events,
        finished.losses,
        finished.events_lost,
        finished.gaps,
        finished.missing_cpus,
        finished.period_tallies
    );
    let mut spans = finished.spans;
    recorders::sort(&mut spans.recorded.0);
    let finished_bytes = postcard::to_stdvec(&spans).unwrap();
    let lines = spans.recorded.0.iter().map(|recorded| format!("{recorded:?}")).collect();
    Bytes { model, finished: finished_bytes, lines, threads: finished.threads, rest }
}

/// Says where two models differ; `None` where they do not.
pub fn difference(whole: &Bytes, other: &Bytes) -> Option<String> {
    if whole.finished != other.finished {
        let (lacks, more) = (without(&whole.lines, &other.lines), without(&other.lines, &whole.lines));
        let counts = (other.lines.len(), whole.lines.len());
        return Some(format!("{} spans, not {}; lacks {lacks:#?}; has {more:#?}", counts.0, counts.1));
    }
    if whole.threads != other.threads {
        let of = |threads: &Threads| threads.iter().map(|one| format!("{one:?}")).collect::<Vec<_>>();
        let (a, b) = (of(&whole.threads), of(&other.threads));
        return Some(format!("threads: lacks {:#?}; has {:#?}", without(&a, &b), without(&b, &a)));
    }
    if whole.rest != other.rest {
        return Some(format!("{}\nnot\n{}", other.rest, whole.rest));
    }
    (whole.model != other.model)
        .then(|| format!("models of {} bytes, not {}", other.model.len(), whole.model.len()))
}

/// The first few lines that others do not have.
fn without<'l>(lines: &'l [String], others: &[String]) -> Vec<&'l str> {
    let others: HashSet<&String> = others.iter().collect();
    lines.iter().filter(|line| !others.contains(line)).map(String::as_str).take(6).collect()
}

/// All that a finished model has emitted.
pub fn recorded(part: Mapped) -> (Vec<Span>, Option<(RawNs, RawNs)>) {
    let finished = part.model.finish();
    let Recorder(recorded) = finished.spans.recorded;
    (recorded, finished.range)
}

/// Raw times of all events and losses.
pub fn times(host: &Host<'_>) -> Vec<RawNs> {
    let time = |item| match item {
        Item::Event { time, .. } => time,
        Item::Loss(loss) => loss.to,
        Item::LossBegin(begin) => begin.at,
    };
    host.read(Piece::WHOLE.window()).map(time).collect()
}

/// Cuts at random: in time, at packets, at events, right after them.
pub fn random_cuts(times: &[RawNs], random: &mut Random) -> Cuts {
    let most = if random.permille(300) { 60 } else { 8 };
    let pieces = 2 + random.below(most) as usize;
    let pick = |random: &mut Random| times[random.below(times.len() as u64) as usize];
    match random.below(8) {
        0 => Cuts::Times(pieces),
        1 => Cuts::Bytes(pieces),
        2 => Cuts::Packets(pieces),
        3 | 4 => Cuts::At((0..pieces).map(|_| pick(random)).collect()),
        5 => Cuts::At((0..pieces).map(|_| pick(random).saturating_add(1)).collect()),
        6 => {
            // Close together: pieces of a few events.
            let first = random.below(times.len() as u64) as usize;
            let last = (first + pieces * 2).min(times.len());
            Cuts::At(times[first..last].to_vec())
        }
        _ => Cuts::Archives,
    }
}
