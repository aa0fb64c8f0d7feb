//! Charts over time: CPU, disks, network and memory of hosts.

use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{Answer, Failure, MaybeRange, OfOutput, Parameters, TimeRange};
use super::json::{Object, Whole32, there};
use super::outputs::{OutputKind, Shows};
use super::styles;

/// Points of a series, unless it is said.
const POINTS: u32 = 500;

/// What a kind of `shown/usage.rs` is called.
fn title(kind: &str) -> &'static str {
    match kind {
        "cpu" => "CPU",
        "disk-read" => "disk, read",
        "disk-write" => "disk, written",
        "net-sent" => "network, sent",
        "net-received" => "network, received",
        _ => "memory",
    }
}

/// The kinds of an output.
fn kinds(of: &OfOutput) -> Result<&'static [&'static str], Failure> {
    of.must_be(&[OutputKind::Xy])?;
    match of.named.output.shows {
        Shows::Usage(kinds) => Ok(kinds),
        _ => Err(Failure::missing("There is no such output")),
    }
}

/// The entry of a series: of a host by its place, and of a kind.
fn entry(host: usize, kind: usize, kinds: usize) -> i64 {
    (host * (kinds + 1) + kind + 1) as i64
}

/// Series of hosts, below one entry for each host.
pub(super) async fn tree(of: OfOutput, Parameters(_): Parameters<MaybeRange>) -> Answer {
    let kinds = kinds(&of)?;
    of.model(move |shown| {
        let mut entries = Vec::new();
        for (host, it) in shown.hosts.iter().enumerate() {
            let parent = entry(host, 0, kinds.len()) - 1;
            entries.push(json!({"id": parent, "parentId": -1, "labels": [it.name], "hasData": false, "isDefault": false}));
            for (number, kind) in kinds.iter().enumerate() {
                entries.push(json!({
                    "id": entry(host, number, kinds.len()), "parentId": parent, "labels": [title(kind)], "hasData": true,
                    "isDefault": true, "style": styles::of_series(host * kinds.len() + number, "line"),
                }));
            }
        }
        let headers = json!([{"name": "Series", "tooltip": "Host, and what of it", "dataType": "STRING"}]);
        Ok(json!({"entries": entries, "headers": headers, "autoExpandLevel": -1}))
    })
    .await
}

/// Series in a range: of charts over time and over other things.
#[derive(Debug, Deserialize)]
pub(super) struct Asked {
    pub(super) requested_timerange: Object<TimeRange>,
    pub(super) requested_items: Vec<Whole32>,
    #[serde(default, deserialize_with = "there", rename = "filter_query_parameters")]
    _filter: Option<Object<super::time_graph::AskedFilter>>,
}

pub(super) async fn series(of: OfOutput, Parameters(asked): Parameters<Asked>) -> Answer {
    let kinds = kinds(&of)?;
    let name = of.named.output.name;
    let Object(range) = asked.requested_timerange;
    of.model(move |shown| {
        let window = range.window(shown);
        let usage = match window.0 < window.1 {
            true => shown.usage(window, range.samples(POINTS) as usize)?,
            false => Vec::new(),
        };
        let mut series = Vec::new();
        for it in &usage {
            let Some(kind) = kinds.iter().position(|kind| *kind == it.kind) else { continue };
            let id = entry(it.host, kind, kinds.len());
            if !asked.requested_items.contains(&Whole32(id)) {
                continue;
            }
            // What is unknown is no point.
            let known = it.x.iter().zip(&it.y).filter_map(|(at, value)| Some((*at, (*value)?)));
            let (x, y): (Vec<i64>, Vec<f64>) = known.map(|(at, value)| (shown.unix(at), short(value))).unzip();
            series.push(json!({
                "seriesId": id, "seriesName": format!("{} {}", it.name, title(it.kind)), "xValues": x, "yValues": y,
                "style": styles::of_series(it.host * kinds.len() + kind, "line"),
                "xValuesDescription": axis("Time", "ns", "TIMESTAMP"),
                "yValuesDescription": axis(title(it.kind), it.unit, "NUMBER"),
            }));
        }
        Ok(json!({"title": name, "series": series}))
    })
    .await
}

/// A number of nine digits: the viewers' reader of JSON takes numbers of more than 15 characters for whole ones.
fn short(value: f64) -> f64 {
    format!("{value:.8e}").parse().unwrap_or(value)
}

/// What an axis shows.
pub(super) fn axis(label: &str, unit: &str, kind: &str) -> Value {
    json!({"label": label, "unit": unit, "dataType": kind})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for value in [0.0, 1.0 / 3.0, 100.0, 1e9 / 7.0, -2e-7 / 3.0, 1e12 / 3.0] {
            let text = serde_json::to_string(&short(value)).unwrap();
            assert!(text.len() <= 15, "{text}");
            assert!((short(value) - value).abs() <= value.abs() * 1e-8, "{text}");
        }
    }
}
