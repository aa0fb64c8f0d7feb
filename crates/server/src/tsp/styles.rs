//! The styles of states, arrows and annotations: Trace Compass's colours. The page has the same in
//! `ui/src/colours.ts`.

use axum::response::Response;
use serde_json::{Map, Value, json};

use super::answer::{AnyParameters, Failure, OutputRequest, Parameters, completed};
use super::outputs::{Content, OutputKind};
use crate::view::states::style_name;

/// A state: its name, its colour, its share of the height of a row.
type Style = (&'static str, &'static str, f64);

/// Colours and heights of states, by the numbers of `view/states.rs`, which names them.
const STATES: [(&str, f64); 15] = [
    ("#646464", 0.33),
    ("#00c800", 1.0),
    ("#0000c8", 1.0),
    ("#c80064", 0.75),
    ("#c86400", 0.5),
    ("#c8c800", 0.25),
    ("#c8c8c8", 0.5),
    ("#ffffff", 0.0),
    ("#00aa78", 1.0),
    ("#c8c8c8", 0.5),
    ("#c80064", 1.0),
    ("#c89664", 1.0),
    ("#008ca0", 1.0),
    ("#963caa", 1.0),
    ("#96aabe", 1.0),
];

/// Causes of critical paths.
const CAUSES: [Style; 14] = [
    ("cpu", "#00aa00", 1.0),
    ("cause wait-cpu", "#d76e00", 0.5),
    ("cause irq", "#c80064", 1.0),
    ("cause softirq", "#c89664", 1.0),
    ("network", "#1482dc", 0.5),
    ("disk", "#963caa", 0.5),
    ("sleep", "#a0a03c", 0.25),
    ("lock", "#dc3228", 0.5),
    ("pipe", "#009696", 0.5),
    ("socket", "#006ea0", 0.5),
    ("child", "#6e6edc", 0.5),
    ("signal", "#be5aa0", 0.5),
    ("other", "#828282", 0.25),
    ("cause unknown", "#828282", 0.33),
];

/// The key of a cause: some have the name of a state, and look differently.
pub(super) fn of_cause(cause: &str) -> &'static str {
    let is_its = |key: &str| key == cause || key.strip_prefix("cause ") == Some(cause);
    CAUSES.iter().find(|(key, ..)| is_its(key)).map_or("other", |(key, ..)| key)
}

/// The keys of arrows.
pub(super) const MESSAGE: &str = "message";
pub(super) const INVERTED: &str = "inverted message";

/// Colours of series, by their number.
const SERIES: [&str; 8] =
    ["#1482dc", "#dc6e14", "#00a050", "#c83264", "#7850c8", "#967800", "#0096a0", "#646464"];

/// The style of a series.
pub(super) fn of_series(number: usize, kind: &str) -> Value {
    let colour = SERIES[number % SERIES.len()];
    json!({"values": {"color": colour, "series-type": kind, "series-style": "solid", "width": 1.0}})
}

pub(super) async fn of_output(
    request: OutputRequest,
    Parameters(AnyParameters {}): Parameters<AnyParameters>,
) -> Result<Response, Failure> {
    let mut styles = Map::new();
    let mut add = |(name, colour, height): Style| {
        let values =
            json!({"style-name": name, "background-color": colour, "height": height, "opacity": 1.0});
        styles.insert(name.to_owned(), json!({"values": values}));
    };
    match request.output.content {
        Content::Requests => CAUSES.into_iter().for_each(&mut add),
        Content::Threads | Content::Resources => {
            let named =
                (0..).zip(STATES).map(|(style, (colour, height))| (style_name(style), colour, height));
            named.for_each(&mut add);
        }
        _ => {}
    }
    if request.output.kind == OutputKind::TimeGraph {
        for (name, colour) in [(MESSAGE, "#3c4250"), (INVERTED, "#e0001b")] {
            let values = json!({"style-name": name, "color": colour, "width": 1.0});
            styles.insert(name.to_owned(), json!({"values": values}));
        }
    }
    Ok(completed(&json!({"styles": styles})))
}
