//! The Trace Server Protocol 0.6, for viewers of VS Code and Theia: the same answers as the page's, in the
//! shapes of that protocol.
//!
//! Its description is `API.yaml` of version 0.6.0 (`eclipse-cdt-cloud/trace-server-protocol`). Times are Unix
//! ns on the common clock; entries of time graphs are the rows of `view/rows.rs`. Traces and experiments are
//! in the [`Library`], the list of outputs is in `outputs.rs`, and each kind of output has a file.

mod answer;
mod bookmarks;
mod data_tree;
mod experiments;
mod histogram;
mod json;
mod markers;
mod outputs;
mod styles;
mod table;
#[cfg(test)]
mod tests;
mod time_graph;
mod traces;
mod xy;

use std::sync::Arc;

use axum::routing::{get, post, put};
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::library::Library;
use answer::Failure;

/// The version of the protocol.
const VERSION: &str = "0.6.0";

/// All requests of the protocol, below `/tsp/api`.
pub(crate) fn routes() -> Router<Arc<Library>> {
    let experiment = "/experiments/{experiment}";
    let outputs = "/experiments/{experiment}/outputs";
    let at = |rest: &str| format!("{outputs}/{rest}");
    Router::new()
        .route("/health", get(|| async { Json(json!({"status": "UP"})) }))
        .route("/identifier", get(identifier))
        .route("/traces", get(traces::list).post(traces::add))
        .route("/traces/{trace}", get(traces::one).delete(traces::remove))
        .route("/experiments", get(experiments::list).post(experiments::add))
        .route(experiment, get(experiments::one).delete(experiments::remove))
        .route(&format!("{experiment}/bookmarks"), get(bookmarks::list).post(bookmarks::add))
        .route(
            &format!("{experiment}/bookmarks/{{bookmark}}"),
            get(bookmarks::one).put(bookmarks::change).delete(bookmarks::remove),
        )
        .route(outputs, get(outputs::list))
        .route(&at("markerSets"), get(markers::sets))
        .route(&at("{output}"), get(outputs::one).post(outputs::derive))
        .route(&at("{output}/{derived}"), axum::routing::delete(outputs::underive))
        .route(&at("{output}/configTypes"), get(outputs::no_types))
        .route(&at("{output}/configTypes/{kind}"), get(outputs::no_type))
        .route(&at("{output}/annotations"), get(markers::categories).post(markers::annotations))
        .route(&at("{output}/style"), post(styles::of_output))
        .route(&at("timeGraph/{output}/tree"), post(time_graph::tree))
        .route(&at("timeGraph/{output}/states"), post(time_graph::states))
        .route(&at("timeGraph/{output}/arrows"), post(time_graph::arrows))
        .route(&at("timeGraph/{output}/tooltip"), post(time_graph::tooltip))
        .route(&at("XY/{output}/tree"), post(xy::tree))
        .route(&at("XY/{output}/xy"), post(xy::series))
        .route(&at("genericXY/{output}/tree"), post(histogram::tree))
        .route(&at("genericXY/{output}/xy"), post(histogram::series))
        .route(&at("table/{output}/columns"), post(table::columns))
        .route(&at("table/{output}/lines"), post(table::lines))
        .route(&at("data/{output}/tree"), post(data_tree::tree))
        // Nothing can be configured.
        .route("/config/types", get(|| async { Json(json!([])) }))
        .route("/config/types/{kind}", get(no_configuration))
        .route("/config/types/{kind}/configs", get(no_configuration).post(no_configuration))
        .route(
            "/config/types/{kind}/configs/{id}",
            put(no_configuration).get(no_configuration).delete(no_configuration),
        )
        .fallback(|| async { Failure::missing("There is no such request") })
}

async fn no_configuration() -> Failure {
    Failure::missing("There is no such configuration source type")
}

async fn identifier() -> Json<Value> {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    Json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "os": std::env::consts::OS,
        "osArch": std::env::consts::ARCH,
        "cpuCount": cpus,
        "productId": "isochrone",
        "launcherName": "isochrone serve",
        "tspVersion": VERSION,
    }))
}
