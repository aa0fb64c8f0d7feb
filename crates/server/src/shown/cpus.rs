//! What CPUs did: their slices, interrupts and softirqs in small windows, sums of buckets in large ones.

use isochrone_analysis::InterruptSource;
use isochrone_kernel::Name;
use isochrone_store::StoreError;
use rustc_hash::FxHashMap;

use super::states::{Shape, Style, Window};
use super::{Host, Shown};
use crate::error::ApiError;

/// Buckets of the time of a host.
const BUCKETS: i64 = 1 << 14;

/// Slices and runs of handlers that are drawn one by one.
const MOST_SPANS: i128 = 200_000;

/// A span of a CPU: begin, end, style, label.
type Span = (i64, i64, Style, Option<Name>);

/// What a bucket of a CPU was spent on, ns: idle, running, interrupts, softirqs.
type Bucket = [u64; 4];

const STYLES: [Style; 4] = [Style::Idle, Style::Running, Style::Irq, Style::Softirq];

/// Sums of all CPUs of a host, by bucket.
#[derive(Debug, Default)]
pub(crate) struct CpuLoad {
    width: i64,
    first: i64,
    cpus: FxHashMap<u32, Vec<Bucket>>,
}

impl CpuLoad {
    /// Adds up all slices and runs of handlers of a host. Linear in them.
    fn new(host: &Host<'_, '_>) -> Result<Self, StoreError> {
        let (first, last) = host.range;
        let width = (last.saturating_sub(first) / BUCKETS + 1).max(1);
        let mut load = Self { width, first, cpus: FxHashMap::default() };
        let all = (i64::MIN, i64::MAX);
        let threads = host.store.threads();
        let is_idle = |thread: Option<u32>| {
            thread.and_then(|it| threads.get(it as usize)).is_some_and(|row| row.idle_of_cpu.is_some())
        };
        host.store.slices(all, |it| {
            load.add(it.cpu, (it.begin, it.end), usize::from(!is_idle(it.thread)));
        })?;
        // A handler runs in the time of a slice: what is more than the bucket is taken off it when it is shown.
        host.store.irqs(all, |it| load.add(it.cpu, (it.begin, it.end), 2))?;
        host.store.softirqs(all, |it| load.add(it.cpu, (it.begin, it.end), 3))?;
        Ok(load)
    }

    fn add(&mut self, cpu: u32, (begin, end): (i64, i64), what: usize) {
        let buckets = self.cpus.entry(cpu).or_insert_with(|| vec![Bucket::default(); BUCKETS as usize]);
        let mut at = begin.max(self.first);
        while at < end {
            let place = (at - self.first) / self.width;
            let Some(bucket) = buckets.get_mut(place as usize) else { return };
            let next = (self.first + (place + 1) * self.width).min(end);
            bucket[what] += (next - at) as u64;
            at = next;
        }
    }
}

impl Shown<'_> {
    /// What a CPU did in a window: who ran, or idle, and the handlers that interrupted it.
    pub(crate) fn cpu(&self, host: usize, cpu: u32, window: Window) -> Result<Vec<Shape>, ApiError> {
        let here = &self.hosts[host];
        let (begin, end) = self.raw_window(host, (window.begin, window.end), window.clock);
        let (begin, end) = (begin.max(here.range.0), end.min(here.range.1));
        if begin >= end {
            return Ok(Vec::new());
        }
        let of_cpus = |table: &str| ["slices", "irqs", "softirqs"].contains(&table);
        if here.rows_about((begin, end), of_cpus) > MOST_SPANS {
            return self.cpu_by_bucket(host, cpu, (begin, end), window);
        }
        // Innermost first: a hard interrupt interrupts a softirq, which interrupts a thread.
        let mut layers: [Vec<Span>; 3] = Default::default();
        here.store.irqs((begin, end), |it| {
            if it.cpu == cpu {
                let name = it.name.filter(|name| !name.is_empty());
                let label = name.unwrap_or_else(|| Name::from(format!("irq {}", it.number)));
                layers[0].push((it.begin, it.end, Style::Irq, Some(label)));
            }
        })?;
        here.store.softirqs((begin, end), |it| {
            if it.cpu == cpu {
                let label = InterruptSource::Soft(it.number as u32).to_string().into();
                layers[1].push((it.begin, it.end, Style::Softirq, Some(label)));
            }
        })?;
        let threads = here.store.threads();
        here.store.slices((begin, end), |it| {
            if it.cpu == cpu {
                let thread = it.thread.and_then(|number| threads.get(number as usize));
                let (style, label) = match thread {
                    Some(thread) if thread.idle_of_cpu.is_some() => (Style::Idle, None),
                    Some(thread) => (Style::Running, thread.comm.as_deref().map(Name::from)),
                    None => (Style::Unknown, None),
                };
                layers[2].push((it.begin, it.end, style, label));
            }
        })?;
        for layer in &mut layers {
            layer.sort_by_key(|(begin, ..)| *begin);
        }
        let flat = flatten(&layers, (begin, end));
        let shape = |(begin, end, style, label): Span| Shape {
            style: style as u8,
            begin: self.at(host, begin, window.clock),
            end: self.at(host, end, window.clock),
            label,
        };
        Ok(to_pixels(flat.into_iter().map(shape), window.pixel()))
    }

    fn cpu_by_bucket(
        &self,
        host: usize,
        cpu: u32,
        (begin, end): (i64, i64),
        window: Window,
    ) -> Result<Vec<Shape>, ApiError> {
        let load = self.load(host)?;
        let Some(buckets) = load.cpus.get(&cpu) else { return Ok(Vec::new()) };
        let first = ((begin - load.first) / load.width).max(0);
        let last = (end - load.first) / load.width + 1;
        let step = (window.pixel() / load.width).max(1);
        let mut out: Vec<Shape> = Vec::new();
        let mut at = first;
        while at < last {
            let next = (at + step).min(last);
            let mut sums = Bucket::default();
            for place in at..next {
                let bucket = buckets.get(place as usize).copied().unwrap_or_default();
                for (sum, part) in sums.iter_mut().zip(bucket) {
                    *sum += part;
                }
            }
            // Handlers run within slices.
            let handled = sums[2] + sums[3];
            let from_running = handled.min(sums[1]);
            sums[1] -= from_running;
            sums[0] = sums[0].saturating_sub(handled - from_running);
            let known: u64 = sums.iter().sum();
            let whole = ((next - at) * load.width) as u64;
            let most = (0..4).max_by_key(|&place| sums[place]).unwrap_or_default();
            let style = if whole.saturating_sub(known) > sums[most] { Style::Unknown } else { STYLES[most] };
            let shape = Shape {
                style: style as u8,
                begin: self.at(host, (load.first + at * load.width).max(begin), window.clock),
                end: self.at(host, (load.first + next * load.width).min(end), window.clock),
                label: None,
            };
            match out.last_mut() {
                Some(last) if last.style == shape.style => last.end = shape.end,
                _ => out.push(shape),
            }
            at = next;
        }
        Ok(out)
    }

    /// The sums of a host, made when they are asked for first.
    fn load(&self, host: usize) -> Result<&CpuLoad, ApiError> {
        let host = &self.hosts[host];
        if let Some(load) = host.load.get() {
            return Ok(load);
        }
        let load = CpuLoad::new(host)?;
        Ok(host.load.get_or_init(|| load))
    }

    /// The part of the time of a host's CPUs that threads ran in, by steps of a window (raw ns); `None` where little is known of a step.
    pub(crate) fn busy(
        &self,
        host: usize,
        (begin, end): (i64, i64),
        points: usize,
    ) -> Result<Vec<(i64, Option<f64>)>, ApiError> {
        let load = self.load(host)?;
        let cpus = self.hosts[host].store.entry().cpus.len().max(1) as u64;
        let span = end.saturating_sub(begin).max(1);
        let mut out = Vec::with_capacity(points);
        for point in 0..points as i64 {
            let from = begin + (i128::from(span) * i128::from(point) / points as i128) as i64;
            let to = begin + (i128::from(span) * i128::from(point + 1) / points as i128) as i64;
            let first = ((from - load.first).div_euclid(load.width)).max(0);
            let last = ((to - load.first).div_euclid(load.width)).max(first) + 1;
            let (mut busy, mut known) = (0_u64, 0_u64);
            for buckets in load.cpus.values() {
                for place in first..last {
                    let bucket = buckets.get(place as usize).copied().unwrap_or_default();
                    busy += bucket[1];
                    known += bucket[0] + bucket[1];
                }
            }
            let whole = (last - first) as u64 * load.width as u64 * cpus;
            let share =
                (known > 0 && known * 2 >= whole.min(known * 2)).then(|| 100.0 * busy as f64 / known as f64);
            out.push((from, share));
        }
        Ok(out)
    }
}

/// Spans of several layers as one row: where several are, the first layer counts.
fn flatten(layers: &[Vec<Span>; 3], (from, to): (i64, i64)) -> Vec<Span> {
    let mut borders: Vec<i64> = layers.iter().flatten().flat_map(|(begin, end, ..)| [*begin, *end]).collect();
    borders.extend([from, to]);
    borders.retain(|border| (from..=to).contains(border));
    borders.sort_unstable();
    borders.dedup();
    let mut next = [0; 3];
    let mut out: Vec<Span> = Vec::new();
    for pair in borders.windows(2) {
        let &[begin, end] = pair else { continue };
        let mut found = None;
        for (layer, next) in layers.iter().zip(&mut next) {
            while layer.get(*next).is_some_and(|(_, end, ..)| *end <= begin) {
                *next += 1;
            }
            // Handlers of one kind can nest: the last to begin counts.
            let inside = layer[*next..].iter().take_while(|(from, ..)| *from <= begin);
            found = found.or(inside.filter(|(_, to, ..)| *to >= end).last());
        }
        let (style, label) =
            found.map_or((Style::Unknown, None), |(.., style, label)| (*style, label.clone()));
        match out.last_mut() {
            Some(last) if last.1 == begin && last.2 == style && last.3 == label => last.1 = end,
            _ => out.push((begin, end, style, label)),
        }
    }
    out
}

/// Shapes of one row, joined where several share a pixel: that which fills most of it counts.
fn to_pixels(shapes: impl Iterator<Item = Shape>, pixel: i64) -> Vec<Shape> {
    let mut out: Vec<Shape> = Vec::new();
    // The pixel that is being filled: its end, and what fills most of it.
    let mut open: Option<(i64, Shape, i64)> = None;
    for shape in shapes {
        let length = shape.end - shape.begin;
        if let Some((until, most, best)) = &mut open {
            if length < pixel && shape.begin < *until {
                let end = shape.end;
                if length > *best {
                    let begin = most.begin;
                    (*best, *most) = (length, Shape { begin, ..shape });
                }
                most.end = end;
                continue;
            }
            out.push(most.clone());
            open = None;
        }
        if length < pixel {
            open = Some((shape.begin + pixel, shape, length));
        } else {
            out.push(shape);
        }
    }
    out.extend(open.map(|(_, shape, _)| shape));
    out
}
