//! Time graphs: threads of all hosts, CPUs and disks, critical paths of requests.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{Answer, Failure, MaybeRange, OfOutput, Parameters, TimeRange, completed};
use super::json::{Object, Whole, Whole32, there};
use super::outputs::{OutputKind, Shows};
use super::styles;
use crate::error::ApiError;
use crate::shown::filter::{Facts, Filter};
use crate::shown::rows::{Kind, Row};
use crate::shown::state_at::{Which, duration};
use crate::shown::states::{Shape, Window, style_name};
use crate::shown::{Clock, Shown};

/// Entries of one request.
const MOST_ITEMS: usize = 10_000;

/// Requests that are listed: the first ones.
const MOST_REQUESTS: usize = 10_000;

/// Paths that one request shows: each is found in the store.
const MOST_PATHS: usize = 500;

/// Arrows of one answer.
const MOST_ARROWS: usize = 5000;

/// Samples, unless it is said.
const SAMPLES: u32 = 1000;

/// The kinds of rows of an output.
fn kinds(shows: Shows) -> &'static [Kind] {
    match shows {
        Shows::Threads => &[Kind::Host, Kind::Process, Kind::Thread, Kind::Phase],
        _ => &[Kind::Host, Kind::Cpu, Kind::Disk],
    }
}

pub(super) async fn tree(of: OfOutput, Parameters(asked): Parameters<MaybeRange>) -> Answer {
    of.must_be(&[OutputKind::TimeGraph])?;
    let shows = of.named.output.shows;
    of.model(move |shown| {
        let window = asked.requested_timerange.map_or(shown.extent, |range| range.0.window(shown));
        match shows {
            Shows::Requests => request_tree(shown, window),
            _ => Ok(row_tree(shown, shows, window)),
        }
    })
    .await
}

/// Rows that live in a window, with those above them.
fn row_tree(shown: &Shown<'_>, shows: Shows, window: (i64, i64)) -> Value {
    let hosts = shown.hosts_shown();
    let is_alive =
        |row: &&Row| row.begin.unwrap_or(i64::MIN) <= window.1 && window.0 <= row.end.unwrap_or(i64::MAX);
    let of_kind = shown.rows.all.iter().filter(|row| kinds(shows).contains(&row.kind));
    let entries: Vec<Value> = of_kind
        .filter(|row| row.kind == Kind::Host || is_alive(row))
        .map(|row| {
            let clock = match (row.kind, hosts.get(row.host)) {
                (Kind::Host, Some(host)) if host.is_reference => "reference".to_owned(),
                (Kind::Host, Some(host)) => {
                    host.likely_ns.map(|ns| format!("± {}", duration(ns))).unwrap_or_default()
                }
                _ => String::new(),
            };
            let host = shown.hosts[row.host].name.as_str();
            let mut metadata = json!({"host": [host]});
            for (name, value) in [
                ("tid", row.tid.map(i64::from)),
                ("pid", row.pid.map(i64::from)),
                ("cpu", row.cpu.map(i64::from)),
            ] {
                if let Some(value) = value {
                    metadata[name] = json!([value]);
                }
            }
            if let Some(container) = &row.container {
                metadata["container"] = json!([container]);
            }
            json!({
                "id": row.id, "parentId": row.parent.map_or(-1, i64::from),
                "labels": [row.label, row.tid.map(|tid| tid.to_string()).unwrap_or_default(), clock],
                "start": shown.unix(row.begin.unwrap_or(shown.extent.0)),
                "end": shown.unix(row.end.unwrap_or(shown.extent.1)),
                "hasData": !matches!(row.kind, Kind::Host | Kind::Process), "metadata": metadata,
            })
        })
        .collect();
    let headers = json!([
        {"name": "Name", "tooltip": "Host, process, thread", "dataType": "STRING"},
        {"name": "TID", "tooltip": "Number of the thread", "dataType": "NUMBER"},
        {"name": "Clock", "tooltip": "Likely error of the host's clock", "dataType": "STRING"},
    ]);
    json!({"entries": entries, "headers": headers, "autoExpandLevel": 2})
}

/// Requests that a window overlaps, below their services.
fn request_tree(shown: &Shown<'_>, window: (i64, i64)) -> Result<Value, ApiError> {
    let all = shown.listed()?;
    let inside = |it: &&crate::shown::requests::Listed| it.begin <= window.1 && window.0 <= it.end;
    let mut services: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    let mut requests = Vec::new();
    for it in all.iter().filter(inside).take(MOST_REQUESTS) {
        let life = services.entry(&it.service).or_insert((it.begin, it.end));
        *life = (life.0.min(it.begin), life.1.max(it.end));
        requests.push(it);
    }
    // Requests have their numbers; services come after all of them.
    let first = all.iter().map(|it| it.request).max().unwrap_or(0) + 1;
    let number = |service: &str| first + services.keys().position(|it| *it == service).unwrap_or(0);
    let mut entries: Vec<Value> = services
        .iter()
        .map(|(service, (begin, end))| {
            let label = if service.is_empty() { "requests" } else { service };
            json!({"id": number(service), "parentId": -1, "labels": [label, "", ""], "start": shown.unix(*begin),
                   "end": shown.unix(*end), "hasData": false})
        })
        .collect();
    entries.extend(requests.into_iter().map(|it| {
        json!({"id": it.request, "parentId": number(&it.service), "start": shown.unix(it.begin), "end": shown.unix(it.end),
               "labels": [format!("{} {} → {}", it.request, it.client, it.server), duration(it.total_ns), ""], "hasData": true})
    }));
    let headers = json!([
        {"name": "Request", "tooltip": "Client and server", "dataType": "STRING"},
        {"name": "Duration", "tooltip": "From the first call to the last", "dataType": "STRING"},
        {"name": "", "tooltip": "", "dataType": "STRING"},
    ]);
    Ok(json!({"entries": entries, "headers": headers, "autoExpandLevel": 1}))
}

/// What is looked for among states.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct AskedFilter {
    filter_expressions_map: BTreeMap<String, Vec<String>>,
    #[serde(default, deserialize_with = "there")]
    strategy: Option<Strategy>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Strategy {
    Sampled,
    Deep,
}

#[derive(Debug, Deserialize)]
pub(super) struct AskedStates {
    requested_timerange: Object<TimeRange>,
    requested_items: Vec<Whole32>,
    #[serde(default, deserialize_with = "there")]
    filter_query_parameters: Option<Object<AskedFilter>>,
}

pub(super) async fn states(of: OfOutput, Parameters(asked): Parameters<AskedStates>) -> Answer {
    of.must_be(&[OutputKind::TimeGraph])?;
    if asked.requested_items.len() > MOST_ITEMS {
        return Err(Failure::wrong("Too many items at once").because(format!("at most {MOST_ITEMS}")));
    }
    let shows = of.named.output.shows;
    let Object(range) = asked.requested_timerange;
    let (filter, is_deep) = asked.filter_query_parameters.map_or_else(Default::default, |Object(it)| {
        (Filter::of(&it.filter_expressions_map), it.strategy == Some(Strategy::Deep))
    });
    of.model(move |shown| {
        let (begin, end) = range.window(shown);
        let window = Window { begin, end, pixels: range.samples(SAMPLES), clock: Clock::Common };
        let items: Vec<i64> = asked.requested_items.iter().map(|it| it.0).collect();
        let rows = match shows {
            Shows::Requests => path_states(shown, &items, window, &filter)?,
            _ => row_states(shown, shows, &items, window, &filter, is_deep)?,
        };
        Ok(json!({"rows": rows}))
    })
    .await
}

fn row_states(
    shown: &Shown<'_>,
    shows: Shows,
    items: &[i64],
    window: Window,
    filter: &Filter,
    is_deep: bool,
) -> Result<Vec<Value>, ApiError> {
    let is_shown = |id: &u32| shown.rows.get(*id).is_some_and(|row| kinds(shows).contains(&row.kind));
    let ids: Vec<u32> = items.iter().filter_map(|&id| u32::try_from(id).ok()).filter(is_shown).collect();
    let all = shown.tagged_states(&ids, window, filter, is_deep)?;
    let of_row = |(id, shapes): (&u32, Vec<(i32, Shape)>)| {
        let of_shape = |(tags, shape): (i32, Shape)| {
            let key = style_name(shape.style);
            state(shown, (shape.begin, shape.end), shape.label.as_deref(), key, tags)
        };
        let states: Vec<Value> = shapes.into_iter().map(of_shape).collect();
        json!({"entryId": id, "states": states})
    };
    Ok(ids.iter().zip(all).map(of_row).collect())
}

fn state(shown: &Shown<'_>, (begin, end): (i64, i64), label: Option<&str>, key: &str, tags: i32) -> Value {
    let mut state = json!({
        "start": shown.unix(begin), "end": shown.unix(end), "style": {"parentKey": key, "values": {}},
    });
    if let Some(label) = label.filter(|label| !label.is_empty()) {
        state["label"] = json!(label);
    }
    if tags != 0 {
        state["tags"] = json!(tags);
    }
    state
}

/// The steps of the paths of requests.
fn path_states(
    shown: &Shown<'_>,
    items: &[i64],
    window: Window,
    filter: &Filter,
) -> Result<Vec<Value>, ApiError> {
    let mut rows = Vec::new();
    for &item in items {
        let number = usize::try_from(item).unwrap_or(usize::MAX);
        // What is no request, or elsewhere, has no states.
        let Some(request) = shown.request(number)? else { continue };
        let (begin, end) = (shown.since(request.begin.into()), shown.since(request.end.into()));
        if begin >= window.end || end < window.begin {
            continue;
        }
        if rows.len() == MOST_PATHS {
            return Err(ApiError::wrong(format!("at most {MOST_PATHS} requests at once")));
        }
        let steps = shown.steps_of(request)?;
        let mut states = Vec::new();
        let mut drawn = i64::MIN;
        for step in steps.iter().filter(|step| step.end > window.begin && step.begin < window.end) {
            // Of the steps within one pixel the first one stands for all.
            if step.end < drawn {
                continue;
            }
            drawn = step.begin.saturating_add(window.pixel());
            let label = match step.row {
                Some(row) => shown.rows.title(row),
                None => shown.hosts[step.host].name.clone(),
            };
            let texts = [("state", step.cause), ("label", &*label), ("detail", &*step.detail)];
            let tags = match filter.is_empty() {
                true => 0,
                false => filter.tags(Facts { texts: &texts, duration: step.end - step.begin }),
            };
            states.push(state(
                shown,
                (step.begin, step.end),
                Some(&label),
                styles::of_cause(step.cause),
                tags,
            ));
        }
        rows.push(json!({"entryId": item, "states": states}));
    }
    Ok(rows)
}

#[derive(Debug, Deserialize)]
pub(super) struct AskedArrows {
    requested_timerange: Object<TimeRange>,
}

pub(super) async fn arrows(of: OfOutput, Parameters(asked): Parameters<AskedArrows>) -> Answer {
    of.must_be(&[OutputKind::TimeGraph])?;
    if of.named.output.shows != Shows::Threads {
        return Ok(completed(&json!([])));
    }
    let Object(range) = asked.requested_timerange;
    of.model(move |shown| {
        let of = |messages| shown.arrows(messages, range.window(shown), Clock::Common, MOST_ARROWS).1;
        let arrows = of(&shown.messages.all).into_iter().chain(of(&shown.messages.mpi));
        // What an idle CPU received has no thread: it ends at the host.
        let entry = |id: u32| match shown.rows.get(id) {
            Some(row) if row.kind == Kind::Cpu => shown.rows.of_host(row.host).unwrap_or(id),
            _ => id,
        };
        let all: Vec<Value> = arrows
            .map(|arrow| {
                let key = if arrow.7 == 1 { styles::INVERTED } else { styles::MESSAGE };
                json!({"sourceId": entry(arrow.0), "targetId": entry(arrow.1), "start": shown.unix(arrow.2),
                       "end": shown.unix(arrow.3), "style": {"parentKey": key, "values": {}}})
            })
            .collect();
        Ok(json!(all))
    })
    .await
}

#[derive(Debug, Deserialize)]
pub(super) struct AskedTooltip {
    #[serde(rename = "requested_times")]
    times: Vec<Whole>,
    #[serde(rename = "requested_items")]
    items: Vec<Whole32>,
    #[serde(rename = "requested_element")]
    element: Object<Element>,
}

/// What the pointer is over.
#[derive(Debug, Deserialize)]
struct Element {
    #[serde(rename = "elementType")]
    kind: ElementType,
    time: Whole,
    duration: Whole,
    #[serde(default, deserialize_with = "there", rename = "entryId")]
    _entry: Option<Whole>,
    #[serde(default, deserialize_with = "there", rename = "destinationId")]
    _destination: Option<Whole>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
enum ElementType {
    #[serde(rename = "STATE", alias = "state")]
    State,
    #[serde(rename = "ANNOTATION", alias = "annotation")]
    Annotation,
    #[serde(rename = "ARROW", alias = "arrow")]
    Arrow,
}

pub(super) async fn tooltip(of: OfOutput, Parameters(asked): Parameters<AskedTooltip>) -> Answer {
    of.must_be(&[OutputKind::TimeGraph])?;
    let shows = of.named.output.shows;
    of.model(move |shown| {
        let Object(element) = &asked.element;
        let at = asked.times.first().map_or(element.time.0, |it| it.0);
        let at = shown.since(at.into());
        let item = asked.items.first().map(|it| it.0);
        let fields = match element.kind {
            ElementType::State if shows == Shows::Requests => of_step(shown, item, at)?,
            ElementType::State => of_state(shown, item, at)?,
            ElementType::Arrow => of_message(shown, element),
            ElementType::Annotation => Vec::new(),
        };
        Ok(Value::Object(fields.into_iter().map(|(name, value)| (name, Value::String(value))).collect()))
    })
    .await
}

type Fields = Vec<(String, String)>;

fn of_state(shown: &Shown<'_>, item: Option<i64>, at: i64) -> Result<Fields, ApiError> {
    let Some(row) = item.and_then(|item| u32::try_from(item).ok()) else { return Ok(Fields::new()) };
    let found = match shown.state_at(row, at, Clock::Common, Which::At) {
        Ok(found) => found,
        // Between states there is nothing to say.
        Err(error) if error.status == axum::http::StatusCode::NOT_FOUND => return Ok(Fields::new()),
        Err(error) => return Err(error),
    };
    let mut fields = vec![("State".to_owned(), found.state.to_owned())];
    fields.extend(found.fields);
    fields.push(("Duration".to_owned(), duration(found.end.saturating_sub(found.begin))));
    fields.push(("Common clock".to_owned(), found.times.common));
    fields.push(("Own clock".to_owned(), found.times.own));
    fields.extend(found.times.likely.map(|it| ("Likely error".to_owned(), it)));
    fields.extend(found.times.sure.map(|it| ("Guaranteed".to_owned(), it)));
    Ok(fields)
}

fn of_step(shown: &Shown<'_>, item: Option<i64>, at: i64) -> Result<Fields, ApiError> {
    let Some(number) = item.and_then(|item| usize::try_from(item).ok()) else { return Ok(Fields::new()) };
    let Some(request) = shown.request(number)? else { return Ok(Fields::new()) };
    let steps = shown.steps_of(request)?;
    let Some(step) = steps.iter().find(|step| step.begin <= at && at < step.end) else {
        return Ok(Fields::new());
    };
    let mut fields = vec![
        ("Cause".to_owned(), step.cause.to_owned()),
        ("Thread".to_owned(), step.row.map(|row| shown.rows.title(row)).unwrap_or_default()),
        ("Duration".to_owned(), duration(step.end - step.begin)),
    ];
    if !step.detail.is_empty() {
        fields.push(("Detail".to_owned(), step.detail.clone()));
    }
    fields.extend(step.uncertainty_ns.map(|ns| ("Uncertainty".to_owned(), format!("± {}", duration(ns)))));
    Ok(fields)
}

fn of_message(shown: &Shown<'_>, element: &Element) -> Fields {
    let sent = shown.since(element.time.0.into());
    let received = sent.saturating_add(element.duration.0);
    let found = shown.messages.all.iter().find(|it| it.common == [sent, received]);
    let Some(message) = found else { return Fields::new() };
    let titles = message.rows.map(|row| shown.rows.title(row));
    let mut fields = vec![
        ("Message".to_owned(), titles.join(" → ")),
        ("Latency".to_owned(), duration(element.duration.0)),
    ];
    if let Some((lo, hi, likely)) = shown.surely(message, Clock::Common) {
        fields.push(("Likely error".to_owned(), format!("± {}", duration(likely))));
        fields.push(("Guaranteed".to_owned(), format!("−{} … +{}", duration(-lo), duration(hi))));
    }
    fields
}
