//! Usage of CPUs, disks, network and memory of hosts over time.

use isochrone_analysis::Need;
use isochrone_experiment::Work;
use isochrone_store::State;
use isochrone_time::{RawNs, SinceOrigin, Window};
use serde::Serialize;

use super::{Clock, ExperimentView};
use crate::error::{ApiError, Result};
use crate::works::next_part;

/// Bytes of a page of memory: what Linux has on all machines that traces came from so far.
const PAGE_BYTES: f64 = 4096.0;

/// Points of a series.
const MAX_POINTS: usize = 2000;

/// A quantity over time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Series {
    pub(crate) host: usize,
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) x: Vec<SinceOrigin>,
    /// Null where it is unknown.
    pub(crate) y: Vec<Option<f64>>,
}

impl ExperimentView<'_> {
    /// All series of all hosts in a window on the common clock, in `points` steps of equal length, each at
    /// its start. `has_queue`: how many threads waited for CPUs, too, which takes longer.
    ///
    /// # Errors
    /// The window is empty, or the store cannot be read.
    pub(crate) fn usage(
        &self,
        window: Window<SinceOrigin>,
        points: usize,
        has_queue: bool,
        work: &Work,
    ) -> Result<Vec<Series>> {
        if window.is_empty() {
            return Err(ApiError::empty_window());
        }
        let points = points.clamp(1, MAX_POINTS);
        let mut all = Vec::new();
        work.expect(self.hosts.len() as u64);
        for (index, host) in self.hosts.iter().enumerate() {
            next_part(work)?;
            let raw = self.recorded(index, window, Clock::Common);
            if raw.is_empty() {
                continue;
            }
            let (steps, busy): (Vec<RawNs>, Vec<_>) = self.busy(index, raw, points)?.into_iter().unzip();
            let x: Vec<SinceOrigin> = steps.iter().map(|at| self.at(index, *at, Clock::Common)).collect();
            let mut add = |kind, unit, y: Vec<Option<f64>>| {
                all.push(Series { host: index, name: host.name.clone(), kind, unit, x: x.clone(), y });
            };
            add("cpu", "percent", busy);
            let span = (raw.end - raw.start) as f64;
            let step = |at: RawNs| {
                let step = (at.clamp(raw.start, raw.end) - raw.start) as f64 / span * points as f64;
                (step as usize).min(points - 1)
            };
            let per_second = 1e9 / (span / points as f64);
            let rates = |sums: &[f64]| sums.iter().map(|sum| Some(sum * per_second)).collect();
            let mut disk = [vec![0.0; points], vec![0.0; points]];
            let mut has_disk = false;
            host.store.block_requests(raw, |request| {
                has_disk = true;
                disk[usize::from(request.is_write)][step(request.end)] +=
                    f64::from(request.bytes.unwrap_or(0));
            })?;
            if has_disk {
                add("disk-read", "bytes/s", rates(&disk[0]));
                add("disk-write", "bytes/s", rates(&disk[1]));
            }
            let mut net = [vec![0.0; points], vec![0.0; points]];
            let packets = host.store.packets(raw)?;
            for packet in &packets {
                net[usize::from(!packet.is_sent)][step(packet.at)] += f64::from(packet.bytes);
            }
            if !packets.is_empty() {
                add("net-sent", "bytes/s", rates(&net[0]));
                add("net-received", "bytes/s", rates(&net[1]));
            }
            let mut pages = vec![0.0; points];
            let mut has_pages = false;
            host.store.pages(raw, |it| {
                has_pages = true;
                let sign = if it.is_free { -1.0 } else { 1.0 };
                pages[step(it.at)] += sign * it.pages as f64;
            })?;
            if let Some(queue) = if has_queue { self.run_queue(index, raw, points)? } else { None } {
                add("run-queue", "threads", queue);
            }
            if has_pages {
                let mut sum = 0.0;
                let so_far = |change: &f64| {
                    sum += change;
                    Some(sum * PAGE_BYTES)
                };
                add("memory", "bytes", pages.iter().map(so_far).collect());
            }
        }
        Ok(all)
    }

    /// How many threads of a host waited for a CPU, on average over each step. `None`: it was not recorded
    /// which threads run, or the window has too many spans to look at each in a moment.
    fn run_queue(&self, index: usize, raw: Window<RawNs>, points: usize) -> Result<Option<Vec<Option<f64>>>> {
        let host = &self.hosts[index];
        if host.timed.recorded().lacking().contains(&Need::Switches) || host.is_large(raw) {
            return Ok(None);
        }
        let (span, points_i128) = (i128::from(raw.end - raw.start), points as i128);
        let edge = |step: i128| (span * step / points_i128) as i64;
        let mut waited = vec![0_i64; points];
        for state in host.store.states(&self.threads_below(index, None), raw)? {
            if state.state != State::WaitCpu {
                continue;
            }
            let time = Window::new(state.start, state.end).clip(raw);
            let (from, to) = (time.start - raw.start, time.end - raw.start);
            let mut step = i128::from(from) * points_i128 / span.max(1);
            while step < points_i128 && edge(step) < to {
                waited[step as usize] += (to.min(edge(step + 1)) - from.max(edge(step))).max(0);
                step += 1;
            }
        }
        let mean = |(step, ns): (usize, &i64)| {
            let length = edge(step as i128 + 1) - edge(step as i128);
            (length > 0).then(|| *ns as f64 / length as f64)
        };
        Ok(Some(waited.iter().enumerate().map(mean).collect()))
    }
}
