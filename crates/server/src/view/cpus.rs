//! What CPUs did: their slices, interrupts and softirqs in small windows, sums of pixels in larger ones, and
//! in those with too many slices to look at in a moment, sums of buckets that are kept.

use std::thread;

use isochrone_analysis::InterruptSource;
use isochrone_kernel::Name;
use isochrone_store::StoreError;
use isochrone_time::{RawNs, SinceOrigin, Window};
use rustc_hash::FxHashMap;

use super::states::{Shape, Span, Style, Viewport};
use super::{ExperimentView, HostView, get_or_make};
use crate::error::Result;

/// Buckets of the whole time of a host for each CPU, and for all of them: 32 bytes each.
const MAX_BUCKETS: usize = 1 << 16;
const MIN_BUCKETS: usize = 1 << 14;
const ALL_BUCKETS: usize = 1 << 19;

/// Slices and runs of handlers of a window that are drawn one by one, and that are added up by pixels.
const MAX_DRAWN: i128 = 60_000;
const MAX_ADDED: i128 = 600_000;

/// The time of a CPU in a bucket by use, ns: idle, running, interrupts, softirqs.
type Bucket = [u64; 4];

const STYLES: [Style; 4] = [Style::Idle, Style::Running, Style::Irq, Style::Softirq];

/// Sums of all CPUs of a host, by bucket.
#[derive(Debug, Default)]
pub(crate) struct CpuLoad {
    /// Duration of a bucket, ns.
    width: i64,
    /// Start of the first bucket.
    first: RawNs,
    buckets: usize,
    cpus: FxHashMap<u32, Vec<Bucket>>,
}

impl CpuLoad {
    fn empty(window: Window<RawNs>, buckets: usize) -> Self {
        let width = (window.end.saturating_since(window.start) / buckets.max(1) as i64 + 1).max(1);
        Self { width, first: window.start, buckets, cpus: FxHashMap::default() }
    }

    /// Adds up all slices and runs of handlers of a window. Linear in them; on three threads, as the tables
    /// are.
    fn new(host: &HostView<'_>, window: Window<RawNs>, buckets: usize) -> Result<Self, StoreError> {
        let mut load = Self::empty(window, buckets);
        // A handler runs in the time of a slice: what is more than the bucket is taken off it when it is
        // shown.
        let (irqs, softirqs) = thread::scope(|scope| {
            let irqs = scope.spawn(|| {
                let mut load = Self::empty(window, buckets);
                host.store.irqs(window, |it| load.add(it.cpu, it.start, it.end, 2)).map(|()| load)
            });
            let softirqs = scope.spawn(|| {
                let mut load = Self::empty(window, buckets);
                host.store.softirqs(window, |it| load.add(it.cpu, it.start, it.end, 3)).map(|()| load)
            });
            let threads = host.store.threads();
            let is_idle: Vec<bool> = threads.iter().map(|row| row.idle_of_cpu.is_some()).collect();
            let slices = host.store.slices(window, |it| {
                let is_idle = it.thread.and_then(|it| is_idle.get(it.index())).is_some_and(|it| *it);
                load.add(it.cpu, it.start, it.end, usize::from(!is_idle));
            });
            (irqs.join().map(|of| slices.and(of)), softirqs.join())
        });
        // A panic of theirs is this one's, and costs the request.
        for of in [irqs, softirqs] {
            load.absorb(of.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok(load)
    }

    fn of_cpu(&mut self, cpu: u32) -> &mut Vec<Bucket> {
        self.cpus.entry(cpu).or_insert_with(|| vec![Bucket::default(); self.buckets])
    }

    fn absorb(&mut self, other: Self) {
        for (cpu, buckets) in other.cpus {
            self.of_cpu(cpu).iter_mut().zip(&buckets).for_each(|(into, from)| add(into, from));
        }
    }

    /// Adds a span of a CPU to the sums of `what`.
    fn add(&mut self, cpu: u32, start: RawNs, end: RawNs, what: usize) {
        let (first, width) = (self.first, self.width);
        let buckets = self.of_cpu(cpu);
        let mut at = start.max(first);
        while at < end {
            let index = (at - first) / width;
            let Some(bucket) = buckets.get_mut(index as usize) else { return };
            let next = (first + (index + 1) * width).min(end);
            bucket[what] += (next - at) as u64;
            at = next;
        }
    }

    /// The sums of a CPU over some buckets.
    fn sums(&self, cpu: u32, buckets: std::ops::Range<i64>) -> Bucket {
        let mut sums = Bucket::default();
        let of_cpu = self.cpus.get(&cpu).map(Vec::as_slice).unwrap_or_default();
        buckets.filter_map(|index| of_cpu.get(index as usize)).for_each(|bucket| add(&mut sums, bucket));
        sums
    }
}

fn add(into: &mut Bucket, from: &Bucket) {
    into.iter_mut().zip(from).for_each(|(sum, part)| *sum += part);
}

impl HostView<'_> {
    /// The sums of its whole time, made at the first request for them.
    pub(super) fn load(&self) -> Result<&CpuLoad> {
        let cpus = self.store.entry().cpus.len().max(1);
        let buckets = (ALL_BUCKETS / cpus).clamp(MIN_BUCKETS, MAX_BUCKETS);
        get_or_make(&self.load, || CpuLoad::new(self, self.range, buckets))
    }
}

impl ExperimentView<'_> {
    /// What some CPUs of a host did in a window, in their order: threads, or idle, and the handlers that
    /// interrupted them.
    pub(super) fn cpus(&self, host: usize, cpus: &[u32], viewport: Viewport) -> Result<Vec<Vec<Shape>>> {
        let of_host = &self.hosts[host];
        let raw = self.recorded(host, viewport.window, viewport.clock);
        if raw.is_empty() || cpus.is_empty() {
            return Ok(vec![Vec::new(); cpus.len()]);
        }
        let spans = of_host.rows_about(raw, |table| ["slices", "irqs", "softirqs"].contains(&table));
        let by_bucket = |load: &CpuLoad| {
            cpus.iter().map(|&cpu| self.cpu_by_bucket(host, cpu, raw, viewport, load)).collect()
        };
        if spans > MAX_ADDED {
            return Ok(by_bucket(of_host.load()?));
        }
        if spans > MAX_DRAWN {
            let pixels = ((raw.end - raw.start) / viewport.pixel()).clamp(1, MAX_BUCKETS as i64);
            return Ok(by_bucket(&CpuLoad::new(of_host, raw, pixels as usize)?));
        }
        self.cpus_one_by_one(host, cpus, raw, viewport)
    }

    fn cpus_one_by_one(
        &self,
        host: usize,
        cpus: &[u32],
        raw: Window<RawNs>,
        viewport: Viewport,
    ) -> Result<Vec<Vec<Shape>>> {
        let store = &self.hosts[host].store;
        // Innermost first: a hard interrupt interrupts a softirq, which interrupts a thread.
        let mut layers: Vec<[Vec<Span>; 3]> = vec![Default::default(); cpus.len()];
        let mut put = |cpu: u32, layer: usize, start, end, style, label: Option<Name>| {
            if let Some(index) = cpus.iter().position(|&it| it == cpu) {
                layers[index][layer].push(Span { start, end, style, label });
            }
        };
        store.irqs(raw, |it| {
            let name = it.name.filter(|name| !name.is_empty());
            let label = name.unwrap_or_else(|| Name::from(format!("irq {}", it.number)));
            put(it.cpu, 0, it.start, it.end, Style::Irq, Some(label));
        })?;
        store.softirqs(raw, |it| {
            let label = InterruptSource::Soft(it.number as u32).to_string().into();
            put(it.cpu, 1, it.start, it.end, Style::Softirq, Some(label));
        })?;
        let threads = store.threads();
        store.slices(raw, |it| {
            let thread = it.thread.and_then(|thread| threads.get(thread.index()));
            let (style, label) = match thread {
                Some(thread) if thread.idle_of_cpu.is_some() => (Style::Idle, None),
                Some(thread) => (Style::Running, thread.comm.as_deref().map(Name::from)),
                None => (Style::Unknown, None),
            };
            put(it.cpu, 2, it.start, it.end, style, label);
        })?;
        let shapes = layers.iter_mut().map(|layers| {
            for layer in &mut *layers {
                layer.sort_by_key(|span| span.start);
            }
            let spans = flatten(layers, raw).into_iter();
            to_pixels(spans.map(|span| self.shape_of_span(host, span, viewport.clock)), viewport.pixel())
        });
        Ok(shapes.collect())
    }

    fn cpu_by_bucket(
        &self,
        host: usize,
        cpu: u32,
        raw: Window<RawNs>,
        viewport: Viewport,
        load: &CpuLoad,
    ) -> Vec<Shape> {
        if !load.cpus.contains_key(&cpu) {
            return Vec::new();
        }
        let first = ((raw.start - load.first) / load.width).max(0);
        let last = (raw.end - load.first) / load.width + 1;
        let step = (viewport.pixel() / load.width).max(1);
        let mut out: Vec<Shape> = Vec::new();
        let mut at = first;
        while at < last {
            let next = (at + step).min(last);
            let mut sums = load.sums(cpu, at..next);
            // Handlers run within slices.
            let handled = sums[2] + sums[3];
            let from_running = handled.min(sums[1]);
            sums[1] -= from_running;
            sums[0] = sums[0].saturating_sub(handled - from_running);
            let known: u64 = sums.iter().sum();
            let whole = ((next - at) * load.width) as u64;
            let most = (0..4).max_by_key(|&index| sums[index]).unwrap_or_default();
            let style = if whole.saturating_sub(known) > sums[most] { Style::Unknown } else { STYLES[most] };
            let start = (load.first + at * load.width).max(raw.start);
            let end = (load.first + next * load.width).min(raw.end);
            let shape = self.shape_of_span(host, Span { start, end, style, label: None }, viewport.clock);
            match out.last_mut() {
                Some(last) if last.style == shape.style => last.end = shape.end,
                _ => out.push(shape),
            }
            at = next;
        }
        out
    }

    /// The part of the time of a host's CPUs in which threads ran, in percent, by steps of a window; `None`
    /// where little is known of a step.
    pub(super) fn busy(
        &self,
        host: usize,
        raw: Window<RawNs>,
        points: usize,
    ) -> Result<Vec<(RawNs, Option<f64>)>> {
        let load = self.hosts[host].load()?;
        let cpus = self.hosts[host].store.entry().cpus.len().max(1) as u64;
        let span = raw.end.saturating_since(raw.start).max(1);
        let step = |point: i64| raw.start + (i128::from(span) * i128::from(point) / points as i128) as i64;
        let share = |point: i64| {
            let (from, to) = (step(point), step(point + 1));
            let first = (from - load.first).div_euclid(load.width).max(0);
            let last = (to - load.first).div_euclid(load.width).max(first) + 1;
            let (mut busy, mut known) = (0_u64, 0_u64);
            for cpu in load.cpus.keys() {
                let sums = load.sums(*cpu, first..last);
                busy += sums[1];
                known += sums[0] + sums[1];
            }
            let whole = (last - first) as u64 * load.width as u64 * cpus;
            let is_known = known > 0 && known * 2 >= whole.min(known * 2);
            (from, is_known.then(|| 100.0 * busy as f64 / known as f64))
        };
        Ok((0..points as i64).map(share).collect())
    }
}

/// Spans of several layers as one row: where several are, the first layer counts.
fn flatten(layers: &[Vec<Span>; 3], raw: Window<RawNs>) -> Vec<Span> {
    let mut borders: Vec<RawNs> = layers.iter().flatten().flat_map(|span| [span.start, span.end]).collect();
    borders.extend([raw.start, raw.end]);
    borders.retain(|border| (raw.start..=raw.end).contains(border));
    borders.sort_unstable();
    borders.dedup();
    let mut next = [0; 3];
    let mut out: Vec<Span> = Vec::new();
    for pair in borders.windows(2) {
        let &[start, end] = pair else { continue };
        let mut found = None;
        for (layer, next) in layers.iter().zip(&mut next) {
            while layer.get(*next).is_some_and(|span| span.end <= start) {
                *next += 1;
            }
            // Handlers of one kind can nest: the last to start counts.
            let inside = layer[*next..].iter().take_while(|span| span.start <= start);
            found = found.or(inside.filter(|span| span.end >= end).last());
        }
        let (style, label) = found.map_or((Style::Unknown, None), |span| (span.style, span.label.clone()));
        match out.last_mut() {
            Some(last) if last.end == start && last.style == style && last.label == label => last.end = end,
            _ => out.push(Span { start, end, style, label }),
        }
    }
    out
}

/// Shapes of one row, joined where several share a pixel: that which fills most of it counts.
fn to_pixels(shapes: impl Iterator<Item = Shape>, pixel: i64) -> Vec<Shape> {
    let mut out: Vec<Shape> = Vec::new();
    // The pixel that is being filled: its end, and what fills most of it.
    let mut open: Option<(SinceOrigin, Shape, i64)> = None;
    for shape in shapes {
        let length = shape.end - shape.start;
        if let Some((until, most, best)) = &mut open {
            if length < pixel && shape.start < *until {
                let end = shape.end;
                if length > *best {
                    let start = most.start;
                    (*best, *most) = (length, Shape { start, ..shape });
                }
                most.end = end;
                continue;
            }
            out.push(most.clone());
            open = None;
        }
        if length < pixel {
            open = Some((shape.start.saturating_add(pixel), shape, length));
        } else {
            out.push(shape);
        }
    }
    out.extend(open.map(|(_, shape, _)| shape));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::ask_example;
    use crate::view::Clock;

    /// What is drawn at an instant.
    fn style_at(shapes: &[Shape], at: SinceOrigin) -> Option<u8> {
        let index = shapes.partition_point(|shape| shape.end <= at);
        shapes.get(index).filter(|shape| shape.start <= at).map(|shape| shape.style)
    }

    #[test]
    fn cpus_look_alike_one_by_one_and_added_up() {
        let alike = ask_example(|view| {
            let viewport = Viewport { window: view.extent, pixels: 800, clock: Clock::Common };
            let mut alike = Vec::new();
            for (index, host) in view.hosts.iter().enumerate() {
                let cpus = &host.store.entry().cpus;
                let one_by_one = view.cpus_one_by_one(index, cpus, host.range, viewport)?;
                for buckets in [800, MIN_BUCKETS] {
                    let load = CpuLoad::new(host, host.range, buckets)?;
                    for (cpu, exact) in cpus.iter().zip(&one_by_one) {
                        let added = view.cpu_by_bucket(index, *cpu, host.range, viewport, &load);
                        assert!(added.windows(2).all(|pair| pair[0].end == pair[1].start), "no holes");
                        let instants = (0..800)
                            .map(|at| view.extent.start + at * viewport.pixel() + viewport.pixel() / 2);
                        let same = instants.filter(|&at| style_at(&added, at) == style_at(exact, at)).count();
                        alike.push((index, *cpu, buckets, same));
                    }
                }
            }
            Ok(alike)
        });
        assert_eq!(alike.len(), 6);
        // Within a pixel that several states share, either may be view.
        assert!(alike.iter().all(|(.., same)| *same > 720), "of 800 each: {alike:?}");
    }

    #[test]
    fn what_is_added_up_is_all_that_was_recorded() {
        let (slices, added) = ask_example(|view| {
            let host = &view.hosts[0];
            let mut slices = 0;
            host.store.slices(host.range, |it| {
                slices += it.end.min(host.range.end) - it.start.max(host.range.start);
            })?;
            let load = CpuLoad::new(host, host.range, 1000)?;
            let added: u64 = load.cpus.values().flatten().map(|bucket| bucket[0] + bucket[1]).sum();
            Ok((slices as u64, added))
        });
        assert_eq!(slices, added);
    }
}
