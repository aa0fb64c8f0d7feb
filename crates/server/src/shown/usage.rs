//! What hosts used over time: CPUs, disks, network, memory.

use serde::Serialize;

use super::{Clock, Shown};
use crate::error::ApiError;

/// Bytes of a page of memory: what Linux has on all machines that traces came from so far.
const PAGE_BYTES: f64 = 4096.0;

/// Points of a series.
const MOST_POINTS: usize = 2000;

/// A figure over time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Series {
    pub(crate) host: usize,
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) x: Vec<i64>,
    pub(crate) y: Vec<Option<f64>>,
}

impl Shown<'_> {
    /// All figures of all hosts in a window since the origin, by steps of equal length: the value of a step is at its begin.
    ///
    /// # Errors
    /// The window is empty, or the store cannot be read.
    pub(crate) fn usage(&self, (begin, end): (i64, i64), points: usize) -> Result<Vec<Series>, ApiError> {
        if begin >= end {
            return Err(ApiError::wrong("the end is not after the begin"));
        }
        let points = points.clamp(1, MOST_POINTS);
        let mut all = Vec::new();
        for (place, host) in self.hosts.iter().enumerate() {
            let raw = self.raw_window(place, (begin, end), Clock::Common);
            let raw = (raw.0.max(host.range.0), raw.1.min(host.range.1));
            if raw.0 >= raw.1 {
                continue;
            }
            let busy = self.busy(place, raw, points)?;
            let x: Vec<i64> = busy.iter().map(|(at, _)| self.at(place, *at, Clock::Common)).collect();
            let series = |kind, unit, y: Vec<Option<f64>>| Series {
                host: place,
                name: host.name.clone(),
                kind,
                unit,
                x: x.clone(),
                y,
            };
            all.push(series("cpu", "percent", busy.iter().map(|(_, share)| *share).collect()));
            let span = (raw.1 - raw.0) as f64;
            let step = |at: i64| {
                let place = (at.clamp(raw.0, raw.1) - raw.0) as f64 / span * points as f64;
                (place as usize).min(points - 1)
            };
            let per_second = 1e9 / (span / points as f64);
            let rates = |sums: &[f64]| sums.iter().map(|sum| Some(sum * per_second)).collect::<Vec<_>>();
            let mut disk = [vec![0.0; points], vec![0.0; points]];
            let mut has_disk = false;
            host.store.block_requests(raw, |request| {
                has_disk = true;
                let bytes = f64::from(request.bytes.unwrap_or(0));
                disk[usize::from(request.is_write)][step(request.end)] += bytes;
            })?;
            if has_disk {
                all.push(series("disk-read", "bytes/s", rates(&disk[0])));
                all.push(series("disk-write", "bytes/s", rates(&disk[1])));
            }
            let mut net = [vec![0.0; points], vec![0.0; points]];
            let packets = host.store.packets(raw)?;
            for packet in &packets {
                net[usize::from(!packet.is_sent)][step(packet.at)] += f64::from(packet.bytes);
            }
            if !packets.is_empty() {
                all.push(series("net-sent", "bytes/s", rates(&net[0])));
                all.push(series("net-received", "bytes/s", rates(&net[1])));
            }
            let mut pages = vec![0.0; points];
            let mut has_pages = false;
            host.store.pages(raw, |it| {
                has_pages = true;
                let sign = if it.is_free { -1.0 } else { 1.0 };
                pages[step(it.at)] += sign * it.pages as f64;
            })?;
            if has_pages {
                let mut sum = 0.0;
                let y = pages.iter().map(|change| {
                    sum += change;
                    Some(sum * PAGE_BYTES)
                });
                let y = y.collect();
                all.push(series("memory", "bytes", y));
            }
        }
        Ok(all)
    }
}
