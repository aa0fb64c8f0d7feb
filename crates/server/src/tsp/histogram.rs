//! A chart that is not over time: how many messages took how long, from host to host.

use serde_json::json;

use super::answer::{Answer, MaybeRange, OfOutput, Parameters};
use super::json::{Object, Whole32};
use super::outputs::OutputKind;
use super::styles;
use super::xy::{Asked, axis};

/// Bins, unless it is said.
const BINS: u32 = 40;

/// Bins at most.
const MOST_BINS: u32 = 2000;

/// Directed links between hosts: one for each.
pub(super) async fn tree(of: OfOutput, Parameters(_): Parameters<MaybeRange>) -> Answer {
    of.must_be(&[OutputKind::GenericXy])?;
    of.model(|shown| {
        let mut entries = Vec::new();
        for (number, (from, to)) in shown.directions().into_iter().enumerate() {
            let label = format!("{} → {}", shown.hosts[from].name, shown.hosts[to].name);
            entries.push(json!({
                "id": number, "parentId": -1, "labels": [label], "hasData": true, "isDefault": true,
                "style": styles::of_series(number, "bar"),
            }));
        }
        let headers = json!([{"name": "Link", "tooltip": "From host to host", "dataType": "STRING"}]);
        Ok(json!({"entries": entries, "headers": headers, "autoExpandLevel": -1}))
    })
    .await
}

pub(super) async fn series(of: OfOutput, Parameters(asked): Parameters<Asked>) -> Answer {
    of.must_be(&[OutputKind::GenericXy])?;
    let Object(range) = asked.requested_timerange;
    let bins = i64::from(range.samples(BINS).min(MOST_BINS));
    let name = of.named.output.name;
    of.model(move |shown| {
        let window = range.window(shown);
        let directions = shown.directions();
        let latencies = |direction: (usize, usize)| {
            let (from, to) = direction;
            let is_its = move |it: &&crate::shown::messages::Message| {
                it.hosts == [from as u16, to as u16] && window.0 <= it.common[0] && it.common[0] < window.1
            };
            shown.messages.all.iter().filter(is_its).map(|it| it.common[1].saturating_sub(it.common[0]))
        };
        // All series have the same bins: those that hold all but the slowest hundredth.
        let mut all: Vec<i64> = directions.iter().flat_map(|&it| latencies(it)).collect();
        all.sort_unstable();
        let first = all.first().copied().unwrap_or(0);
        let last = isochrone_analysis::nearest_rank(&all, 99).copied().unwrap_or(0).max(first);
        let width = ((last - first) / bins + 1).max(1);
        let ranges: Vec<_> = (0..bins)
            .map(|bin| {
                let end = if bin == bins - 1 {
                    all.last().copied().unwrap_or(0).max(first + bins * width - 1)
                } else {
                    first + (bin + 1) * width - 1
                };
                json!({"start": first + bin * width, "end": end})
            })
            .collect();
        let mut series = Vec::new();
        for (number, direction) in directions.iter().enumerate() {
            if !asked.requested_items.contains(&Whole32(number as i64)) {
                continue;
            }
            let mut counts = vec![0_u64; bins as usize];
            for latency in latencies(*direction) {
                counts[((latency - first) / width).clamp(0, bins - 1) as usize] += 1;
            }
            let names = [direction.0, direction.1].map(|host| shown.hosts[host].name.as_str());
            series.push(json!({
                "seriesId": number, "seriesName": names.join(" → "), "xRanges": ranges, "yValues": counts,
                "style": styles::of_series(number, "bar"),
                "xValuesDescription": axis("Latency", "ns", "TIME_RANGE"),
                "yValuesDescription": axis("Messages", "", "NUMBER"),
            }));
        }
        Ok(json!({"title": name, "series": series}))
    })
    .await
}
