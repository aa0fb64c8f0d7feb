//! Tables as trees: time of threads by state, system calls, clocks and links.

use isochrone_store::State;
use serde_json::{Value, json};

use super::answer::{Answer, MaybeRange, OfOutput, Parameters};
use super::outputs::{OutputKind, Shows};
use crate::error::ApiError;
use crate::shown::Shown;
use crate::shown::state_at::duration;

/// States of threads that are listed: all but those of the dead.
const STATES: [State; 8] = [
    State::UserMode,
    State::Syscall,
    State::Interrupted,
    State::Running,
    State::WaitCpu,
    State::Blocked,
    State::WaitFork,
    State::Unknown,
];

pub(super) async fn tree(of: OfOutput, Parameters(asked): Parameters<MaybeRange>) -> Answer {
    of.must_be(&[OutputKind::DataTree])?;
    let shows = of.named.output.shows;
    of.model(move |shown| {
        let window = asked.requested_timerange.map_or(shown.extent, |range| range.0.window(shown));
        let (headers, entries) = match shows {
            Shows::States => states(shown, window)?,
            Shows::Calls => calls(shown, window)?,
            _ => synchronization(shown)?,
        };
        Ok(json!({"headers": headers, "entries": entries, "autoExpandLevel": -1}))
    })
    .await
}

/// A column: its name, its tooltip, what it holds.
fn header((name, tooltip, kind): (&str, &str, &str)) -> Value {
    json!({"name": name, "tooltip": tooltip, "dataType": kind})
}

/// A row of a tree.
fn entry(id: i64, parent: i64, labels: &[String]) -> Value {
    json!({"id": id, "parentId": parent, "labels": labels, "hasData": false})
}

type Tree = (Vec<Value>, Vec<Value>);

fn states(shown: &Shown<'_>, window: (i64, i64)) -> Result<Tree, ApiError> {
    let mut headers = vec![header(("Thread", "", "STRING")), header(("TID", "", "NUMBER"))];
    headers.extend(STATES.map(|state| header((state.name(), "Time in this state, ns", "DURATION"))));
    let sums = shown.statistics(None, window)?;
    let cells = |name: String, tid: String, by_state: &[i64; State::ALL.len()]| {
        let mut cells = vec![name, tid];
        cells.extend(STATES.map(|state| by_state[state as usize].to_string()));
        cells
    };
    let mut entries = Vec::new();
    for (place, host) in shown.hosts.iter().enumerate() {
        let of_host: Vec<_> = sums
            .threads
            .iter()
            .filter_map(|it| Some((it, shown.rows.get(it.row)?)))
            .filter(|(_, row)| row.host == place)
            .collect();
        let mut total = [0; State::ALL.len()];
        for (thread, _) in &of_host {
            for (sum, ns) in total.iter_mut().zip(thread.by_state) {
                *sum += ns;
            }
        }
        let top = shown.rows.of_host(place).map_or(-1, i64::from);
        entries.push(entry(top, -1, &cells(host.name.clone(), String::new(), &total)));
        for (thread, row) in of_host {
            let tid = row.tid.map(|tid| tid.to_string()).unwrap_or_default();
            entries.push(entry(thread.row.into(), top, &cells(row.label.clone(), tid, &thread.by_state)));
        }
    }
    Ok((headers, entries))
}

fn calls(shown: &Shown<'_>, window: (i64, i64)) -> Result<Tree, ApiError> {
    let headers = [
        ("System call", "", "STRING"),
        ("Count", "Calls that were in progress in the range", "NUMBER"),
        ("Total", "Time in these calls within the range, ns", "DURATION"),
        ("Maximum", "Duration of the longest one, ns", "DURATION"),
    ];
    let sums = shown.statistics(None, window)?;
    let rows = sums.calls.iter().enumerate().map(|(number, call)| {
        let cells =
            [call.call.clone(), call.count.to_string(), call.total_ns.to_string(), call.max_ns.to_string()];
        entry(number as i64, -1, &cells)
    });
    Ok((headers.map(header).to_vec(), rows.collect()))
}

fn synchronization(shown: &Shown<'_>) -> Result<Tree, ApiError> {
    let headers = [
        ("Host or link", "", "STRING"),
        ("Quality", "What the messages of a link prove", "STRING"),
        ("Messages", "There and back", "STRING"),
        ("Likely error", "e95", "STRING"),
        ("Guaranteed", "Half of the interval", "STRING"),
    ];
    let around = |ns: Option<i64>| ns.map_or_else(|| "?".to_owned(), |ns| format!("± {}", duration(ns)));
    let mut entries = Vec::new();
    for host in shown.hosts_shown() {
        let quality = if host.is_reference { "reference" } else { "" };
        let cells =
            [host.name, quality.to_owned(), String::new(), around(host.likely_ns), around(host.sure_ns)];
        entries.push(entry(entries.len() as i64, -1, &cells));
    }
    for link in shown.links()? {
        let cells = [
            format!("{} ↔ {}", link.a, link.b),
            link.quality.to_owned(),
            format!("{} / {}", link.a_to_b, link.b_to_a),
            around(link.likely_ns),
            around(link.sure_ns),
        ];
        entries.push(entry(entries.len() as i64, -1, &cells));
    }
    Ok((headers.map(header).to_vec(), entries))
}
