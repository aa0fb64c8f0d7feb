//! Charts over time: CPU, disks, network and memory of hosts.

use isochrone_experiment::Work;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{self, Answer, Failure, OutputRequest, Parameters, TimeRange, TreeQuery};
use super::json::{Int32, Object, not_null};
use super::outputs::{Content, OutputKind};
use super::styles;
use crate::error::Result;
use crate::view::ExperimentView;

/// Points of a series, if the request has no number.
const POINTS: u32 = 500;

/// The title of a kind of `view/usage.rs`.
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
fn kinds(request: &OutputRequest) -> Result<&'static [&'static str], Failure> {
    request.require(OutputKind::Xy)?;
    match request.output.content {
        Content::Usage(kinds) => Ok(kinds),
        _ => Err(Failure::missing("There is no such output")),
    }
}

/// The entry of a series: of a host by its index, and of a kind.
fn entry(host: usize, kind: usize, kinds: usize) -> i64 {
    (host * (kinds + 1) + kind + 1) as i64
}

/// Series of hosts, below one entry for each host.
pub(super) async fn tree(request: OutputRequest, Parameters(_): Parameters<TreeQuery>) -> Answer {
    let kinds = kinds(&request)?;
    let job = move |view: &ExperimentView<'_>| {
        let mut entries = Vec::new();
        for (host, it) in view.hosts.iter().enumerate() {
            let parent = entry(host, 0, kinds.len()) - 1;
            entries.push(json!({
                "id": parent, "parentId": -1, "labels": [it.name], "hasData": false, "isDefault": false,
            }));
            for (number, kind) in kinds.iter().enumerate() {
                entries.push(json!({
                    "id": entry(host, number, kinds.len()), "parentId": parent, "labels": [title(kind)],
                    "hasData": true, "isDefault": true,
                    "style": styles::of_series(host * kinds.len() + number, "line"),
                }));
            }
        }
        Ok(answer::tree(&[("Series", "Host, and what of it", "STRING")], &entries, -1))
    };
    request.model(OutputKind::Xy, job).await
}

/// Series in a range: of charts over time and over other things.
#[derive(Debug, Deserialize)]
pub(super) struct SeriesQuery {
    pub(super) requested_timerange: Object<TimeRange>,
    pub(super) requested_items: Vec<Int32>,
    #[serde(default, deserialize_with = "not_null", rename = "filter_query_parameters")]
    _filter: Option<Object<super::time_graph::FilterQuery>>,
}

pub(super) async fn series(request: OutputRequest, Parameters(query): Parameters<SeriesQuery>) -> Answer {
    let kinds = kinds(&request)?;
    let name = request.output.name;
    let Object(range) = query.requested_timerange;
    let job = move |view: &ExperimentView<'_>| -> Result<Value> {
        let window = range.window(view);
        let usage = match window.is_empty() {
            true => Vec::new(),
            false => view.usage(window, range.samples(POINTS) as usize, false, &Work::default())?,
        };
        let mut series = Vec::new();
        for it in &usage {
            let Some(kind) = kinds.iter().position(|kind| *kind == it.kind) else { continue };
            let id = entry(it.host, kind, kinds.len());
            if !query.requested_items.contains(&Int32(id)) {
                continue;
            }
            // There is no point where the value is unknown.
            let known = it.x.iter().zip(&it.y).filter_map(|(at, value)| Some((*at, (*value)?)));
            let (x, y): (Vec<i64>, Vec<f64>) =
                known.map(|(at, value)| (view.unix_i64(at), short(value))).unzip();
            series.push(json!({
                "seriesId": id, "seriesName": format!("{} {}", it.name, title(it.kind)),
                "xValues": x, "yValues": y,
                "style": styles::of_series(it.host * kinds.len() + kind, "line"),
                "xValuesDescription": axis("Time", "ns", "TIMESTAMP"),
                "yValuesDescription": axis(title(it.kind), it.unit, "NUMBER"),
            }));
        }
        Ok(json!({"title": name, "series": series}))
    };
    request.model(OutputKind::Xy, job).await
}

/// A number of nine digits: the viewers' reader of JSON takes numbers of more than 15 characters for whole
/// ones.
fn short(value: f64) -> f64 {
    format!("{value:.8e}").parse().unwrap_or(value)
}

/// The description of an axis.
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
