//! States of rows in a window, at most about one per pixel.

use std::cmp::Reverse;

use isochrone_kernel::Name;
use isochrone_store::{State, StateRow, ThreadRow};
use isochrone_time::{RawNs, SinceOrigin, Window};

use super::rows::{GraphRow, RowKind};
use super::{Clock, ExperimentView};
use crate::error::Result;

/// The style of a state. The first nine are those of threads, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Style {
    Unknown = 0,
    /// Of a thread; and of a CPU that runs one.
    Running = State::Running as u8,
    Idle = 9,
    Irq = 10,
    Softirq = 11,
    DiskRead = 12,
    DiskWrite = 13,
    Phase = 14,
}

/// The name of a style, by its number.
pub(crate) fn style_name(style: u8) -> &'static str {
    const OTHERS: [&str; 6] = ["idle", "irq", "softirq", "disk-read", "disk-write", "phase"];
    match State::of(style) {
        Some(state) => state.name(),
        None => OTHERS.get(usize::from(style) - State::ALL.len()).copied().unwrap_or_default(),
    }
}

/// A state of a row as it is drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) style: u8,
    pub(crate) start: SinceOrigin,
    pub(crate) end: SinceOrigin,
    pub(crate) label: Option<Name>,
}

/// A state of a CPU, a disk or a phase in the raw time of its host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: RawNs,
    pub(super) end: RawNs,
    pub(super) style: Style,
    pub(super) label: Option<Name>,
}

/// The part of the time graph that is drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Viewport {
    pub(crate) window: Window<SinceOrigin>,
    pub(crate) pixels: u32,
    pub(crate) clock: Clock,
}

impl Viewport {
    /// Duration of a pixel, ns.
    pub(crate) fn pixel(&self) -> i64 {
        (self.window.end.saturating_since(self.window.start) / i64::from(self.pixels.max(1))).max(1)
    }
}

impl ExperimentView<'_> {
    /// The states of some rows, in their order. Processes, hosts and rows that do not exist have none. Each
    /// table of a host is read once, however many rows are drawn from it; but phases once per row.
    pub(crate) fn states(&self, rows: &[u32], viewport: Viewport) -> Result<Vec<Vec<Shape>>> {
        let mut shapes: Vec<Vec<Shape>> = vec![Vec::new(); rows.len()];
        for host in 0..self.hosts.len() {
            let of_host: Vec<(usize, &GraphRow)> = rows
                .iter()
                .enumerate()
                .filter_map(|(index, &id)| Some((index, self.rows.get(id)?)))
                .filter(|(_, row)| row.host == host)
                .collect();
            self.threads(host, &of_host, viewport, &mut shapes)?;
            let sorted = |number: fn(&GraphRow) -> Option<u32>| {
                let mut numbers: Vec<u32> = of_host.iter().filter_map(|(_, row)| number(row)).collect();
                numbers.sort_unstable();
                numbers.dedup();
                numbers
            };
            let cpus = sorted(|row| row.cpu);
            let of_cpus = self.cpus(host, &cpus, viewport)?;
            let devices = sorted(|row| row.device);
            let of_devices = self.disks(host, &devices, viewport)?;
            for (index, row) in of_host {
                shapes[index] = match row.kind {
                    RowKind::Cpu => one_of(&cpus, &of_cpus, row.cpu),
                    RowKind::Disk => one_of(&devices, &of_devices, row.device),
                    RowKind::Phase => self.phases(host, row.thread, viewport)?,
                    RowKind::Thread | RowKind::Host | RowKind::Process => continue,
                };
            }
        }
        Ok(shapes)
    }

    /// The states of the threads among some rows of a host.
    fn threads(
        &self,
        host: usize,
        rows: &[(usize, &GraphRow)],
        viewport: Viewport,
        shapes: &mut [Vec<Shape>],
    ) -> Result<()> {
        let threads = rows.iter().filter(|(_, row)| row.kind == RowKind::Thread);
        let mut threads: Vec<(ThreadRow, usize)> =
            threads.filter_map(|(index, row)| Some((row.thread?, *index))).collect();
        threads.sort_unstable();
        let mut numbers: Vec<ThreadRow> = threads.iter().map(|(number, _)| *number).collect();
        numbers.dedup();
        let raw = self.raw_window(host, viewport.window, viewport.clock);
        if numbers.is_empty() || raw.is_empty() {
            return Ok(());
        }
        for state in self.hosts[host].store.pixels(&numbers, raw, viewport.pixels)? {
            if state.state == State::Dead {
                continue;
            }
            let first = threads.partition_point(|(number, _)| *number < state.thread);
            for (_, index) in threads[first..].iter().take_while(|(number, _)| *number == state.thread) {
                shapes[*index].push(self.shape_of_state(host, &state, viewport.clock));
            }
        }
        Ok(())
    }

    /// A state of a thread as it is drawn.
    pub(super) fn shape_of_state(&self, host: usize, state: &StateRow, clock: Clock) -> Shape {
        Shape {
            style: state.state as u8,
            start: self.at(host, state.start, clock),
            end: self.at(host, state.end, clock),
            label: state.syscall.clone().filter(|name| !name.is_empty()),
        }
    }

    /// A span as it is drawn.
    pub(super) fn shape_of_span(&self, host: usize, span: Span, clock: Clock) -> Shape {
        Shape {
            style: span.style as u8,
            start: self.at(host, span.start, clock),
            end: self.at(host, span.end, clock),
            label: span.label,
        }
    }

    /// The requests to some block devices, which are sorted.
    fn disks(&self, host: usize, devices: &[u32], viewport: Viewport) -> Result<Vec<Vec<Shape>>> {
        if devices.is_empty() {
            return Ok(Vec::new());
        }
        let raw = self.raw_window(host, viewport.window, viewport.clock);
        let mut spans: Vec<Vec<Span>> = vec![Vec::new(); devices.len()];
        self.hosts[host].store.block_requests(raw, |request| {
            if let Ok(index) = devices.binary_search(&request.device) {
                let style = if request.is_write { Style::DiskWrite } else { Style::DiskRead };
                let start = request.issued.unwrap_or(request.start);
                spans[index].push(Span { start, end: request.end, style, label: None });
            }
        })?;
        Ok(spans.into_iter().map(|spans| self.thinned(host, spans, viewport)).collect())
    }

    fn phases(&self, host: usize, thread: Option<ThreadRow>, viewport: Viewport) -> Result<Vec<Shape>> {
        let Some(thread) = thread else { return Ok(Vec::new()) };
        let raw = self.raw_window(host, viewport.window, viewport.clock);
        let phases = self.hosts[host].store.phases_of(thread, raw)?;
        let spans = phases.into_iter().map(|phase| Span {
            start: phase.start,
            end: phase.end,
            style: Style::Phase,
            label: Some(phase.name),
        });
        Ok(self.thinned(host, spans.collect(), viewport))
    }

    /// Spans of one row, as [`layered`] has them, without those that start in the pixel that another one
    /// fills.
    fn thinned(&self, host: usize, spans: Vec<Span>, viewport: Viewport) -> Vec<Shape> {
        let pixel = viewport.pixel();
        let mut out: Vec<Shape> = Vec::new();
        for span in layered(spans) {
            let shape = self.shape_of_span(host, span, viewport.clock);
            let end = shape.end.max(shape.start);
            match out.last_mut() {
                Some(last) if end < last.start.saturating_add(pixel) => {
                    last.end = last.end.max(shape.end);
                    continue;
                }
                Some(last) => last.end = last.end.min(shape.start).max(last.start),
                None => {}
            }
            out.push(Shape { end, ..shape });
        }
        out
    }
}

/// Spans that overlap, as parts that do not, in their order: at any instant the one that started last of
/// those that have not ended. `O(n log n)`.
fn layered(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|span| (span.start, Reverse(span.end)));
    let (mut open, mut parts): (Vec<Span>, Vec<Span>) = (Vec::new(), Vec::new());
    let mut now = RawNs::MIN;
    // The parts up to an instant.
    let mut reach = |open: &mut Vec<Span>, to: RawNs| {
        while let Some(last) = open.last().filter(|_| now < to) {
            let end = last.end.min(to);
            if now < end {
                parts.push(Span { start: now, end, ..last.clone() });
                now = end;
            }
            if last.end <= now {
                open.pop();
            }
        }
        now = now.max(to);
        parts.len()
    };
    let mut instants = Vec::new();
    for span in spans {
        let before = reach(&mut open, span.start);
        if span.start < span.end {
            open.push(span);
        } else {
            instants.push((before, span));
        }
    }
    reach(&mut open, RawNs::MAX);
    let mut instants = instants.into_iter().peekable();
    let mut all = Vec::with_capacity(parts.len() + instants.len());
    for (index, part) in parts.into_iter().enumerate() {
        while let Some((_, instant)) = instants.next_if(|(before, _)| *before <= index) {
            all.push(instant);
        }
        all.push(part);
    }
    all.extend(instants.map(|(_, instant)| instant));
    all
}

/// The shapes of a number among sorted numbers.
fn one_of(numbers: &[u32], shapes: &[Vec<Shape>], number: Option<u32>) -> Vec<Shape> {
    let index = number.and_then(|number| numbers.binary_search(&number).ok());
    index.and_then(|index| shapes.get(index)).cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use isochrone_experiment::{Experiment, Indexing, Inputs, Opened, Spread, TimeBase, index_if_stale};
    use isochrone_store::Store;
    use isochrone_testkit::{Generation, KernelScript};

    use super::*;
    use crate::view::CommandLine;

    /// At each instant it is the one that started last, and what goes on below it is drawn again behind it.
    #[test]
    fn parts_of_spans_do_not_overlap() {
        let mut random = isochrone_testkit::Random::new(7);
        for _ in 0..500 {
            let spans: Vec<Span> = (0..random.below(8))
                .map(|number| {
                    let start = random.below(20) as i64;
                    let end = RawNs(start + random.below(9) as i64);
                    let label = Some(Name::from(number.to_string()));
                    Span { start: RawNs(start), end, style: Style::Phase, label }
                })
                .collect();
            let parts = layered(spans.clone());
            assert!(parts.is_sorted_by(|a, b| a.end <= b.start), "{spans:?}: {parts:?}");
            for at in (0..30).map(RawNs) {
                let has = |span: &&Span| span.start <= at && at < span.end;
                // Of those that start together, the shortest is above; the order of equal ones has no
                // meaning.
                let key = |span: &&Span| (span.start, Reverse(span.end));
                let expect = spans.iter().filter(has).max_by_key(key).map(|span| (span.start, span.end));
                let found = parts.iter().find(has).and_then(|part| part.label.clone());
                let of = |label: Name| spans.iter().find(|span| span.label.as_ref() == Some(&label));
                assert_eq!(found.and_then(of).map(|span| (span.start, span.end)), expect, "{spans:?} {at}");
            }
            let instants = |all: &[Span]| all.iter().filter(|span| span.start == span.end).count();
            assert_eq!(instants(&parts), instants(&spans));
        }
    }

    /// Disks of one request are drawn from one scan of the table, each with its own requests.
    #[test]
    fn each_disk_has_its_own_requests() {
        let directory = tempfile::tempdir().unwrap();
        let [trace, path] = ["trace", "store"].map(|name| directory.path().join(name));
        let mut script = KernelScript::new("h1", Generation::V2_13);
        script.process(10, "sh");
        script.at(100).cpu(0).switch(0, 10);
        for (dev, start) in [(1_u32, 1000), (2, 2000), (1, 3000)] {
            script.at(start).cpu(0).block_issue(dev, 8, 8);
            script.at(start + 500).cpu(0).block_complete(dev, 8, 8);
        }
        script.at(5000).cpu(0).switch(10, 0);
        script.write(&trace).unwrap();
        let opened = Opened::new(Inputs::open(&[trace]), TimeBase::Usual, &|_| {}).unwrap();
        let own = Experiment::new(opened.inputs(), None);
        index_if_stale(&own, &path, Spread::default(), Indexing { progress: None, waits: None }).unwrap();
        let (store, experiment) = (Store::open(&path).unwrap(), opened.experiment());
        let view = ExperimentView::new(&opened, &experiment, &store, CommandLine::default()).unwrap();
        let disks = view.rows.all.iter().filter(|row| row.kind == RowKind::Disk);
        let ids: Vec<u32> = disks.map(|row| row.id).collect();
        let viewport = Viewport { window: view.extent, pixels: 1000, clock: Clock::Common };
        let all = view.states(&ids, viewport).unwrap();
        let lengths: Vec<Vec<i64>> =
            all.iter().map(|shapes| shapes.iter().map(|shape| shape.end - shape.start).collect()).collect();
        assert_eq!(lengths, [vec![500, 500], vec![500]]);
        for (id, shapes) in ids.iter().zip(&all) {
            assert_eq!(&view.states(&[*id], viewport).unwrap(), std::slice::from_ref(shapes));
        }
    }
}
