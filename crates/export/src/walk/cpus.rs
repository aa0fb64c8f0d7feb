//! What CPUs did: which thread ran, of which time that is unknown, interrupts and softirqs.

use std::cmp::Reverse;

use isochrone_analysis::InterruptSource;
use isochrone_kernel::Name;
use isochrone_store::{HandlerSpan, SliceSpan};

use super::ExportError;
use super::host::Host;
use crate::timeline::{Place, Shown, Timeline, Value};

/// Passes what the CPUs of a host did in a part of its time.
pub(super) fn emit<T: Timeline>(
    host: &mut Host<'_>,
    part: (i64, i64),
    to: &mut T,
) -> Result<(), ExportError> {
    running(host, part, to)?;
    interrupts(host, part, to)
}

/// What a time of a CPU is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Ran {
    Thread(u32),
    Unidentified,
    /// It is not known what ran.
    Unknown,
}

fn running<T: Timeline>(host: &mut Host<'_>, part: (i64, i64), to: &mut T) -> Result<(), ExportError> {
    let is_here = |begin: i64| (part.0..part.1).contains(&begin);
    let cut = |begin: i64, end: i64| (begin.max(part.0), end.min(part.1));
    let mut all: Vec<(u32, i64, Reverse<i64>, Ran)> = Vec::new();
    let (mut busy, mut unknown) = (Vec::new(), Vec::new());
    let threads = host.store.threads();
    let is_idle = |number: Option<u32>| {
        number.and_then(|it| threads.get(it as usize)).is_some_and(|it| it.tid.is_none())
    };
    host.store.slices(part, |slice| {
        let SliceSpan { cpu, thread, begin, end } = slice;
        if is_idle(thread) {
            return;
        }
        busy.push(cut(begin, end));
        if is_here(begin) {
            all.push((cpu, begin, Reverse(end), thread.map_or(Ran::Unidentified, Ran::Thread)));
        }
    })?;
    host.store.unknown(part, |it| {
        unknown.push(cut(it.begin, it.end));
        if is_here(it.begin) {
            all.push((it.cpu, it.begin, Reverse(it.end), Ran::Unknown));
        }
    })?;
    for (begin, end) in busy {
        host.figures.busy(begin, end);
    }
    for (begin, end) in unknown {
        host.figures.unknown(begin, end);
    }
    all.sort_unstable();
    for (cpu, begin, Reverse(end), ran) in all {
        let (begin, end) = (host.common(begin), host.common(end));
        let there = host.cpu(cpu, to)?;
        let parent = there.row();
        let row =
            there.running.place((begin, end), to, |to| to.row(&Place::Under { parent, name: "running" }))?;
        match ran {
            Ran::Unknown => {
                to.begin(
                    row,
                    begin,
                    &Shown { name: "unknown", category: "unknown", details: &[], flow: None },
                )?;
            }
            Ran::Unidentified => {
                to.begin(row, begin, &Shown { name: "?", category: "cpu", details: &[], flow: None })?;
            }
            Ran::Thread(number) => {
                let thread = host.store.threads().get(number as usize);
                let tid = thread.and_then(|thread| thread.tid).unwrap_or_default();
                let details = [("tid", Value::Int(tid.into()))];
                let name = host.name_of(Some(number));
                to.begin(row, begin, &Shown { name, category: "cpu", details: &details, flow: None })?;
            }
        }
    }
    Ok(())
}

fn interrupts<T: Timeline>(host: &mut Host<'_>, part: (i64, i64), to: &mut T) -> Result<(), ExportError> {
    let mut all: Vec<HandlerSpan> = Vec::new();
    let mut keep = |handler: HandlerSpan| {
        if (part.0..part.1).contains(&handler.begin) {
            all.push(handler);
        }
    };
    host.store.irqs(part, &mut keep)?;
    host.store.softirqs(part, &mut keep)?;
    let key = |it: &HandlerSpan| (it.cpu, it.begin, Reverse(it.end), it.name.is_some(), it.number);
    all.sort_by_key(key);
    for handler in &all {
        let (begin, end) = (host.common(handler.begin), host.common(handler.end));
        let there = host.cpu(handler.cpu, to)?;
        // Lanes and what adds one to them are both the CPU's.
        let mut lanes = std::mem::take(&mut there.interrupts);
        let row = lanes.place((begin, end), to, |to| there.interrupts_row(to))?;
        there.interrupts = lanes;
        let (source, category) = match &handler.name {
            Some(name) => (InterruptSource::Hard { number: handler.number, name: Name::clone(name) }, "irq"),
            None => (InterruptSource::Soft(handler.number.unsigned_abs()), "softirq"),
        };
        let shown = Shown { name: &source.to_string(), category, details: &[], flow: None };
        to.begin(row, begin, &shown)?;
    }
    Ok(())
}
