//! Tables as trees: time of threads by state, system calls, clocks and links.

use isochrone_experiment::Work;
use isochrone_store::State;
use isochrone_time::{SinceOrigin, Window};
use serde_json::{Value, json};

use super::answer::{self, Answer, OutputRequest, Parameters, TreeQuery};
use super::outputs::{Content, OutputKind};
use crate::error::Result;
use crate::view::ExperimentView;
use crate::view::state_at::duration;

/// States of threads that are listed: all but [`State::Dead`].
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

pub(super) async fn tree(request: OutputRequest, Parameters(query): Parameters<TreeQuery>) -> Answer {
    let content = request.output.content;
    let job = move |view: &ExperimentView<'_>| match content {
        Content::States => states(view, query.window(view)),
        Content::Calls => calls(view, query.window(view)),
        _ => synchronization(view),
    };
    request.model(OutputKind::DataTree, job).await
}

/// A row of a tree.
fn entry(id: i64, parent: i64, labels: &[String]) -> Value {
    json!({"id": id, "parentId": parent, "labels": labels, "hasData": false})
}

fn states(view: &ExperimentView<'_>, window: Window<SinceOrigin>) -> Result<Value> {
    let mut columns = vec![("Thread", "", "STRING"), ("TID", "", "NUMBER")];
    columns.extend(STATES.map(|state| (state.name(), "Time in this state, ns", "DURATION")));
    let sums = view.statistics(None, window, &Work::default())?;
    let cells = |name: &str, tid: String, by_state: &[i64; State::ALL.len()]| {
        let mut cells = vec![name.to_owned(), tid];
        cells.extend(STATES.map(|state| by_state[state as usize].to_string()));
        cells
    };
    let mut entries = Vec::new();
    for (index, host) in view.hosts.iter().enumerate() {
        let rows = sums.threads.iter().filter_map(|thread| Some((thread, view.rows.get(thread.row)?)));
        let of_host: Vec<_> = rows.filter(|(_, row)| row.host == index).collect();
        let mut total = [0; State::ALL.len()];
        for (thread, _) in &of_host {
            for (sum, ns) in total.iter_mut().zip(thread.by_state) {
                *sum += ns;
            }
        }
        let top = view.rows.of_host(index).map_or(-1, i64::from);
        entries.push(entry(top, -1, &cells(&host.name, String::new(), &total)));
        for (thread, row) in of_host {
            let tid = row.tid.map(|tid| tid.to_string()).unwrap_or_default();
            entries.push(entry(thread.row.into(), top, &cells(&row.label, tid, &thread.by_state)));
        }
    }
    Ok(answer::tree(&columns, &entries, -1))
}

fn calls(view: &ExperimentView<'_>, window: Window<SinceOrigin>) -> Result<Value> {
    let columns = [
        ("System call", "", "STRING"),
        ("Count", "Calls that were in progress in the range", "NUMBER"),
        ("Total", "Time in these calls within the range, ns", "DURATION"),
        ("Maximum", "Duration of the longest one, ns", "DURATION"),
    ];
    let sums = view.statistics(None, window, &Work::default())?;
    let entries = (0..).zip(&sums.calls).map(|(number, call)| {
        let cells =
            [call.call.clone(), call.count.to_string(), call.total_ns.to_string(), call.max_ns.to_string()];
        entry(number, -1, &cells)
    });
    Ok(answer::tree(&columns, &entries.collect::<Vec<_>>(), -1))
}

fn synchronization(view: &ExperimentView<'_>) -> Result<Value> {
    let columns = [
        ("Host or link", "", "STRING"),
        ("Quality", "What the messages of a link prove", "STRING"),
        ("Messages", "There and back", "STRING"),
        ("Likely error", "e95", "STRING"),
        ("Guaranteed", "Half of the interval", "STRING"),
    ];
    let around = |ns: Option<i64>| ns.map_or_else(|| "?".to_owned(), |ns| format!("± {}", duration(ns)));
    let hosts = view.host_summaries().into_iter().map(|host| {
        let quality = if host.is_reference { "reference" } else { "" };
        [host.name, quality.to_owned(), String::new(), around(host.likely_ns), around(host.sure_ns)]
    });
    let links = view.links()?.into_iter().map(|link| {
        let messages = format!("{} / {}", link.a_to_b, link.b_to_a);
        let name = format!("{} ↔ {}", link.a, link.b);
        [name, link.quality.to_owned(), messages, around(link.likely_ns), around(link.sure_ns)]
    });
    let entries: Vec<_> = (0..).zip(hosts.chain(links)).map(|(id, cells)| entry(id, -1, &cells)).collect();
    Ok(answer::tree(&columns, &entries, -1))
}
