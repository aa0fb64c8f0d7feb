//! A chart that is not over time: latencies of messages, from host to host.

use isochrone_analysis::nearest_rank;
use serde_json::json;

use super::answer::{self, Answer, OutputRequest, Parameters, TreeQuery};
use super::json::{Int32, Object};
use super::outputs::OutputKind;
use super::styles;
use super::xy::{SeriesQuery, axis};

/// Bins, if the request has no number.
const BINS: u32 = 40;

/// Bins at most.
const MAX_BINS: u32 = 2000;

/// Directed links between hosts, one entry each.
pub(super) async fn tree(request: OutputRequest, Parameters(_): Parameters<TreeQuery>) -> Answer {
    request
        .model(OutputKind::GenericXy, |view| {
            let entries = view.directions()?.into_iter().enumerate().map(|(number, (from, to))| {
                let label = format!("{} → {}", view.hosts[from].name, view.hosts[to].name);
                json!({
                    "id": number, "parentId": -1, "labels": [label], "hasData": true, "isDefault": true,
                    "style": styles::of_series(number, "bar"),
                })
            });
            Ok(answer::tree(&[("Link", "From host to host", "STRING")], &entries.collect::<Vec<_>>(), -1))
        })
        .await
}

pub(super) async fn series(request: OutputRequest, Parameters(query): Parameters<SeriesQuery>) -> Answer {
    let Object(range) = query.requested_timerange;
    let bins = i64::from(range.samples(BINS).min(MAX_BINS));
    let name = request.output.name;
    let job = move |view: &crate::view::ExperimentView<'_>| {
        let window = range.window(view);
        let (directions, all) = (view.directions()?, &view.messages()?.all);
        let latencies = |(from, to): (usize, usize)| {
            let messages = all.iter().filter(move |message| message.is_between(from, to));
            let times = messages.map(|message| message.common);
            let sent_inside = times.filter(move |[sent, _]| window.start <= *sent && *sent < window.end);
            sent_inside.map(|[sent, received]| received.saturating_since(sent))
        };
        // All series have the same bins: those that hold all but the slowest hundredth.
        let mut sorted: Vec<i64> = directions.iter().flat_map(|&direction| latencies(direction)).collect();
        sorted.sort_unstable();
        let first = sorted.first().copied().unwrap_or(0);
        let last = nearest_rank(&sorted, 99).copied().unwrap_or(0).max(first);
        let width = ((last - first) / bins + 1).max(1);
        let ranges = (0..bins).map(|bin| {
            let (start, end) = (first + bin * width, first + (bin + 1) * width - 1);
            let end = if bin == bins - 1 { sorted.last().copied().unwrap_or(0).max(end) } else { end };
            json!({"start": start, "end": end})
        });
        let ranges: Vec<_> = ranges.collect();
        let mut series = Vec::new();
        for (number, direction) in directions.iter().enumerate() {
            if !query.requested_items.contains(&Int32(number as i64)) {
                continue;
            }
            let mut counts = vec![0_u64; bins as usize];
            for latency in latencies(*direction) {
                counts[((latency - first) / width).clamp(0, bins - 1) as usize] += 1;
            }
            let names = [direction.0, direction.1].map(|host| view.hosts[host].name.as_str());
            series.push(json!({
                "seriesId": number, "seriesName": names.join(" → "), "xRanges": ranges, "yValues": counts,
                "style": styles::of_series(number, "bar"),
                "xValuesDescription": axis("Latency", "ns", "TIME_RANGE"),
                "yValuesDescription": axis("Messages", "", "NUMBER"),
            }));
        }
        Ok(json!({"title": name, "series": series}))
    };
    request.model(OutputKind::GenericXy, job).await
}
