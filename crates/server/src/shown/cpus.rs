//! What CPUs did: their slices, interrupts and softirqs in small windows, sums of pixels in larger ones, of buckets that are kept in those with more than can be
//! looked at in a moment.

use std::thread;

use isochrone_analysis::InterruptSource;
use isochrone_kernel::Name;
use isochrone_store::StoreError;
use rustc_hash::FxHashMap;

use super::states::{Shape, Style, Window};
use super::{Host, Shown};
use crate::error::ApiError;

/// Buckets of the whole time of a host for each CPU, and for all of them: 32 bytes each.
const MOST_BUCKETS: usize = 1 << 16;
const LEAST_BUCKETS: usize = 1 << 14;
const ALL_BUCKETS: usize = 1 << 19;

/// Slices and runs of handlers of a window that are drawn one by one, and that are added up by pixels.
const MOST_DRAWN: i128 = 60_000;
const MOST_ADDED: i128 = 600_000;

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
    buckets: usize,
    cpus: FxHashMap<u32, Vec<Bucket>>,
}

impl CpuLoad {
    fn empty((begin, end): (i64, i64), buckets: usize) -> Self {
        let width = (end.saturating_sub(begin) / buckets.max(1) as i64 + 1).max(1);
        Self { width, first: begin, buckets, cpus: FxHashMap::default() }
    }

    /// Adds up all slices and runs of handlers of a window, raw ns. Linear in them; on three threads, as the tables are.
    fn new(host: &Host<'_, '_>, window: (i64, i64), buckets: usize) -> Result<Self, StoreError> {
        let mut load = Self::empty(window, buckets);
        // A handler runs in the time of a slice: what is more than the bucket is taken off it when it is shown.
        let (irqs, softirqs) = thread::scope(|scope| {
            let irqs = scope.spawn(|| {
                let mut load = Self::empty(window, buckets);
                host.store.irqs(window, |it| load.add(it.cpu, (it.begin, it.end), 2)).map(|()| load)
            });
            let softirqs = scope.spawn(|| {
                let mut load = Self::empty(window, buckets);
                host.store.softirqs(window, |it| load.add(it.cpu, (it.begin, it.end), 3)).map(|()| load)
            });
            let threads = host.store.threads();
            let is_idle: Vec<bool> = threads.iter().map(|row| row.idle_of_cpu.is_some()).collect();
            let slices = host.store.slices(window, |it| {
                let is_idle = it.thread.and_then(|it| is_idle.get(it as usize)).is_some_and(|it| *it);
                load.add(it.cpu, (it.begin, it.end), usize::from(!is_idle));
            });
            (irqs.join().map(|of| slices.and(of)), softirqs.join())
        });
        // A panic of theirs is this one's, and costs the request.
        for of in [irqs, softirqs] {
            load.absorb(of.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok(load)
    }

    fn absorb(&mut self, other: Self) {
        for (cpu, buckets) in other.cpus {
            let into = self.cpus.entry(cpu).or_insert_with(|| vec![Bucket::default(); self.buckets]);
            for (into, from) in into.iter_mut().zip(buckets) {
                for (sum, part) in into.iter_mut().zip(from) {
                    *sum += part;
                }
            }
        }
    }

    fn add(&mut self, cpu: u32, (begin, end): (i64, i64), what: usize) {
        let buckets = self.cpus.entry(cpu).or_insert_with(|| vec![Bucket::default(); self.buckets]);
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

impl Host<'_, '_> {
    /// The sums of its whole time, made when they are asked for first. Whoever asks meanwhile waits for them.
    pub(super) fn load(&self) -> Result<&CpuLoad, ApiError> {
        let make = || {
            let cpus = self.store.entry().cpus.len().max(1);
            let buckets = (ALL_BUCKETS / cpus).clamp(LEAST_BUCKETS, MOST_BUCKETS);
            CpuLoad::new(self, self.range, buckets).map_err(|error| error.to_string())
        };
        self.load.get_or_init(make).as_ref().map_err(|why| ApiError::internal(why.clone()))
    }
}

impl Shown<'_> {
    /// What some CPUs of a host did in a window, in their order: who ran, or idle, and the handlers that interrupted it.
    pub(crate) fn cpus(
        &self,
        host: usize,
        cpus: &[u32],
        window: Window,
    ) -> Result<Vec<Vec<Shape>>, ApiError> {
        let here = &self.hosts[host];
        let (begin, end) = self.raw_window(host, (window.begin, window.end), window.clock);
        let raw = (begin.max(here.range.0), end.min(here.range.1));
        if raw.0 >= raw.1 || cpus.is_empty() {
            return Ok(vec![Vec::new(); cpus.len()]);
        }
        let of_cpus = |table: &str| ["slices", "irqs", "softirqs"].contains(&table);
        let spans = here.rows_about(raw, of_cpus);
        let by_bucket = |load: &CpuLoad| {
            cpus.iter().map(|&cpu| self.cpu_by_bucket(host, cpu, raw, window, load)).collect()
        };
        if spans > MOST_ADDED {
            return Ok(by_bucket(here.load()?));
        }
        if spans > MOST_DRAWN {
            let pixels = ((raw.1 - raw.0) / window.pixel()).clamp(1, MOST_BUCKETS as i64);
            return Ok(by_bucket(&CpuLoad::new(here, raw, pixels as usize)?));
        }
        self.cpus_one_by_one(host, cpus, raw, window)
    }

    fn cpus_one_by_one(
        &self,
        host: usize,
        cpus: &[u32],
        raw: (i64, i64),
        window: Window,
    ) -> Result<Vec<Vec<Shape>>, ApiError> {
        let here = &self.hosts[host];
        // Innermost first: a hard interrupt interrupts a softirq, which interrupts a thread.
        let mut layers: Vec<[Vec<Span>; 3]> = vec![Default::default(); cpus.len()];
        let place = |cpu: u32| cpus.iter().position(|&it| it == cpu);
        here.store.irqs(raw, |it| {
            if let Some(place) = place(it.cpu) {
                let name = it.name.filter(|name| !name.is_empty());
                let label = name.unwrap_or_else(|| Name::from(format!("irq {}", it.number)));
                layers[place][0].push((it.begin, it.end, Style::Irq, Some(label)));
            }
        })?;
        here.store.softirqs(raw, |it| {
            if let Some(place) = place(it.cpu) {
                let label = InterruptSource::Soft(it.number as u32).to_string().into();
                layers[place][1].push((it.begin, it.end, Style::Softirq, Some(label)));
            }
        })?;
        let threads = here.store.threads();
        here.store.slices(raw, |it| {
            if let Some(place) = place(it.cpu) {
                let thread = it.thread.and_then(|number| threads.get(number as usize));
                let (style, label) = match thread {
                    Some(thread) if thread.idle_of_cpu.is_some() => (Style::Idle, None),
                    Some(thread) => (Style::Running, thread.comm.as_deref().map(Name::from)),
                    None => (Style::Unknown, None),
                };
                layers[place][2].push((it.begin, it.end, style, label));
            }
        })?;
        let shape = |(begin, end, style, label): Span| Shape {
            style: style as u8,
            begin: self.at(host, begin, window.clock),
            end: self.at(host, end, window.clock),
            label,
        };
        let shapes = layers.iter_mut().map(|layers| {
            for layer in &mut *layers {
                layer.sort_by_key(|(begin, ..)| *begin);
            }
            to_pixels(flatten(layers, raw).into_iter().map(shape), window.pixel())
        });
        Ok(shapes.collect())
    }

    fn cpu_by_bucket(
        &self,
        host: usize,
        cpu: u32,
        (begin, end): (i64, i64),
        window: Window,
        load: &CpuLoad,
    ) -> Vec<Shape> {
        let Some(buckets) = load.cpus.get(&cpu) else { return Vec::new() };
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
        out
    }

    /// The part of the time of a host's CPUs that threads ran in, by steps of a window (raw ns); `None` where little is known of a step.
    pub(crate) fn busy(
        &self,
        host: usize,
        (begin, end): (i64, i64),
        points: usize,
    ) -> Result<Vec<(i64, Option<f64>)>, ApiError> {
        let load = self.hosts[host].load()?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shown::Clock;
    use crate::tests::ask_example;

    /// What is drawn at an instant.
    fn style_at(shapes: &[Shape], at: i64) -> Option<u8> {
        let place = shapes.partition_point(|shape| shape.end <= at);
        shapes.get(place).filter(|shape| shape.begin <= at).map(|shape| shape.style)
    }

    #[test]
    fn cpus_look_alike_one_by_one_and_added_up() {
        let alike = ask_example(|shown| {
            let window =
                Window { begin: shown.extent.0, end: shown.extent.1, pixels: 800, clock: Clock::Common };
            let mut alike = Vec::new();
            for (place, host) in shown.hosts.iter().enumerate() {
                let cpus = &host.store.entry().cpus;
                let one_by_one = shown.cpus_one_by_one(place, cpus, host.range, window)?;
                for buckets in [800, LEAST_BUCKETS] {
                    let load = CpuLoad::new(host, host.range, buckets)?;
                    for (cpu, exact) in cpus.iter().zip(&one_by_one) {
                        let added = shown.cpu_by_bucket(place, *cpu, host.range, window, &load);
                        assert!(added.windows(2).all(|pair| pair[0].end == pair[1].begin), "no holes");
                        let instants =
                            (0..800).map(|at| window.begin + at * window.pixel() + window.pixel() / 2);
                        let same = instants.filter(|&at| style_at(&added, at) == style_at(exact, at)).count();
                        alike.push((place, *cpu, buckets, same));
                    }
                }
            }
            Ok(alike)
        });
        assert_eq!(alike.len(), 6);
        // Within a pixel that several states share, either may be shown.
        assert!(alike.iter().all(|(.., same)| *same > 720), "of 800 each: {alike:?}");
    }

    #[test]
    fn what_is_added_up_is_all_that_was_recorded() {
        let (slices, added) = ask_example(|shown| {
            let host = &shown.hosts[0];
            let mut slices = 0;
            host.store.slices(host.range, |it| {
                slices += it.end.min(host.range.1) - it.begin.max(host.range.0);
            })?;
            let load = CpuLoad::new(host, host.range, 1000)?;
            let added: u64 = load.cpus.values().flatten().map(|bucket| bucket[0] + bucket[1]).sum();
            Ok((slices as u64, added))
        });
        assert_eq!(slices, added);
    }
}
