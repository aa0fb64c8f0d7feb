//! The Trace Server Protocol without a network, on the example.

use axum::body::Body;
use axum::http::{Method, Request, StatusCode, header};
use isochrone_store::State;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::outputs::{Content, OUTPUTS, OutputKind};
use crate::tests::{get, send, send_whole};

/// The answer to a request with parameters.
fn ask(method: Method, path: &str, parameters: &Value) -> (StatusCode, Value) {
    let request = Request::builder()
        .method(method)
        .uri(format!("/tsp/api{path}"))
        .header(header::HOST, "localhost:1")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(json!({"parameters": parameters}).to_string()));
    let (status, body) = send(request.unwrap());
    (status, serde_json::from_slice(&body).unwrap_or_default())
}

fn post(path: &str, parameters: &Value) -> Value {
    let (status, answer) = ask(Method::POST, path, parameters);
    assert_eq!(status, StatusCode::OK, "{path} {parameters}: {answer}");
    answer
}

/// The experiment that the server was started with.
fn experiment() -> Value {
    let (status, all) = get("/tsp/api/experiments");
    assert_eq!(status, StatusCode::OK);
    let all = all.as_array().unwrap();
    all.iter().find(|it| it["name"] == "shop").unwrap().clone()
}

/// The model of an output of the experiment.
fn model(path: &str, parameters: &Value) -> Value {
    let id = experiment()["UUID"].as_str().unwrap().to_owned();
    let answer = post(&format!("/experiments/{id}/outputs/{path}"), parameters);
    assert_eq!(answer["status"], "COMPLETED", "{path}: {answer}");
    answer["model"].clone()
}

fn whole_range(samples: u32) -> Value {
    let experiment = experiment();
    json!({"start": experiment["start"], "end": experiment["end"], "nbTimes": samples})
}

#[test]
fn the_server_says_what_it_is() {
    assert_eq!(get("/tsp/api/health"), (StatusCode::OK, json!({"status": "UP"})));
    let (_, identity) = get("/tsp/api/identifier");
    assert_eq!((&identity["tspVersion"], &identity["productId"]), (&json!("0.6.0"), &json!("isochrone")));
    let (_, page) = get("/api/experiment");
    let experiment = experiment();
    assert_eq!(experiment["indexingStatus"], "COMPLETED");
    let origin: i64 = page["origin_unix_ns"].as_str().unwrap().parse().unwrap();
    assert_eq!(experiment["start"].as_i64(), page["begin"].as_i64().map(|it| it + origin));
    assert_eq!(experiment["end"].as_i64(), page["end"].as_i64().map(|it| it + origin));
    assert_eq!(experiment["traces"].as_array().map(Vec::len), Some(1));
}

/// The page's statistics of all rows in a window.
fn statistics(begin: i64, end: i64) -> Value {
    let request = Request::builder()
        .method(Method::POST)
        .uri("/api/statistics")
        .header(header::HOST, "localhost:1")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(json!({"begin": begin, "end": end, "rows": null}).to_string()));
    let (status, body) = send(request.unwrap());
    assert_eq!(status, StatusCode::OK);
    serde_json::from_slice(&body).unwrap()
}

/// Trees of data have the sums of the page's statistics, whatever the window.
#[test]
fn data_trees_are_exact() {
    let find = |content| OUTPUTS.iter().find(|it| it.content == content).map(|it| it.id).unwrap();
    let experiment: Value = get("/api/experiment").1;
    let origin: i64 = experiment["origin_unix_ns"].as_str().unwrap().parse().unwrap();
    let (begin, end) = (experiment["begin"].as_i64().unwrap(), experiment["end"].as_i64().unwrap());
    let third = (end - begin) / 3;
    for (begin, end) in [(begin, end), (begin + third, begin + 2 * third), (end - third / 7, end)] {
        let sums = statistics(begin, end);
        let range = json!({"start": begin + origin, "end": end + origin, "nbTimes": 9});
        let tree = |id: &str| model(&format!("data/{id}/tree"), &json!({"requested_timerange": range}));
        let states = tree(find(Content::States));
        let threads = sums["threads"].as_array().unwrap();
        assert!(threads.len() > 20);
        for thread in threads {
            let entries = states["entries"].as_array().unwrap();
            let entry = entries.iter().find(|it| it["id"] == thread["row"]).unwrap();
            for (column, header) in states["headers"].as_array().unwrap().iter().enumerate().skip(2) {
                let number = State::ALL.iter().position(|it| header["name"] == it.name()).unwrap();
                assert_eq!(
                    entry["labels"][column],
                    thread["by_state"][number].to_string(),
                    "{header} {thread}"
                );
            }
        }
        let calls = tree(find(Content::Calls));
        let labels: Vec<&Value> =
            calls["entries"].as_array().unwrap().iter().map(|it| &it["labels"]).collect();
        let expect: Vec<Value> = sums["calls"]
            .as_array()
            .unwrap()
            .iter()
            .map(|call| {
                json!([
                    call["call"],
                    call["count"].to_string(),
                    call["total_ns"].to_string(),
                    call["max_ns"].to_string()
                ])
            })
            .collect();
        assert!(labels.iter().copied().eq(&expect), "{labels:?} {expect:?}");
    }
}

#[test]
fn every_output_has_what_its_kind_promises() {
    for output in &OUTPUTS {
        let id = output.id;
        match output.kind {
            OutputKind::TimeGraph => {
                let tree = model(&format!("timeGraph/{id}/tree"), &json!({}));
                let entries = tree["entries"].as_array().unwrap();
                assert!(!entries.is_empty(), "{id}");
                let ids: Vec<&Value> = entries.iter().map(|it| &it["id"]).collect();
                let headers = tree["headers"].as_array().unwrap().len();
                for entry in entries {
                    assert!(entry["parentId"] == -1 || ids.contains(&&entry["parentId"]), "{id} {entry}");
                    assert_eq!(entry["labels"].as_array().unwrap().len(), headers, "{id} {entry}");
                    assert!(entry["start"].as_i64() <= entry["end"].as_i64(), "{id} {entry}");
                }
                let asked = json!({"requested_timerange": whole_range(500), "requested_items": ids});
                let states = model(&format!("timeGraph/{id}/states"), &asked);
                let styles = model(&format!("{id}/style"), &json!({}));
                let rows = states["rows"].as_array().unwrap();
                let all: Vec<&Value> =
                    rows.iter().flat_map(|row| row["states"].as_array().unwrap()).collect();
                assert!(all.len() > 20, "{id}: {}", all.len());
                for state in &all {
                    let key = state["style"]["parentKey"].as_str().unwrap();
                    assert!(!styles["styles"][key].is_null(), "{id} has no style {key}");
                    assert!(state["start"].as_i64() <= state["end"].as_i64());
                }
                for row in rows {
                    let states = row["states"].as_array().unwrap();
                    assert!(
                        states.windows(2).all(|it| it[0]["end"].as_i64() <= it[1]["start"].as_i64()),
                        "{id} {}",
                        row["entryId"]
                    );
                }
                model(&format!("timeGraph/{id}/arrows"), &json!({"requested_timerange": whole_range(500)}));
                let asked = json!({"requested_timerange": whole_range(500)});
                assert!(model(&format!("{id}/annotations"), &asked)["annotations"].is_object());
            }
            OutputKind::Xy | OutputKind::GenericXy => {
                let kind = if output.kind == OutputKind::Xy { "XY" } else { "genericXY" };
                let tree = model(&format!("{kind}/{id}/tree"), &json!({}));
                let ids: Vec<&Value> =
                    tree["entries"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
                let mut range = whole_range(100);
                if kind == "genericXY" {
                    range["nbSamples"] = range.as_object_mut().unwrap().remove("nbTimes").unwrap();
                }
                let asked = json!({"requested_timerange": range, "requested_items": ids});
                let xy = model(&format!("{kind}/{id}/xy"), &asked);
                let series = xy["series"].as_array().unwrap();
                // The example has no disks, and its memory was not traced.
                assert!(!series.is_empty() || id.ends_with("disk") || id.ends_with("memory"), "{id}");
                for it in series {
                    let x = if kind == "XY" { &it["xValues"] } else { &it["xRanges"] };
                    let (x, y) = (x.as_array().unwrap(), it["yValues"].as_array().unwrap());
                    assert!(x.len() == y.len() && !x.is_empty(), "{id}");
                    assert!(ids.contains(&&it["seriesId"]));
                }
            }
            OutputKind::Table => {
                let columns = model(&format!("table/{id}/columns"), &json!({}));
                assert_eq!(columns.as_array().unwrap().len(), 5);
            }
            OutputKind::DataTree => {
                let tree = model(&format!("data/{id}/tree"), &json!({}));
                let headers = tree["headers"].as_array().unwrap().len();
                let entries = tree["entries"].as_array().unwrap();
                assert!(entries.len() > 3, "{id}");
                assert!(entries.iter().all(|it| it["labels"].as_array().unwrap().len() == headers), "{id}");
            }
        }
    }
}

#[test]
fn states_are_those_of_the_page() {
    let tree = model("timeGraph/isochrone.threads/tree", &json!({}));
    let (_, page) = get("/api/rows");
    let page = page["rows"].as_array().unwrap();
    for entry in tree["entries"].as_array().unwrap() {
        let row = &page[entry["id"].as_u64().unwrap() as usize];
        assert_eq!(row["label"], entry["labels"][0]);
        assert!(row["kind"] != "cpu");
    }
    let messages =
        model("timeGraph/isochrone.threads/arrows", &json!({"requested_timerange": whole_range(1)}));
    let (_, counts) = get("/api/message-counts");
    assert_eq!(messages.as_array().map(|it| it.len() as u64), counts["count"].as_u64());
}

#[test]
fn what_is_looked_for_is_not_dimmed() {
    let tree = model("timeGraph/isochrone.threads/tree", &json!({}));
    let ids: Vec<&Value> = tree["entries"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
    for strategy in ["SAMPLED", "DEEP"] {
        let asked = json!({
            "requested_timerange": whole_range(300), "requested_items": ids,
            "filter_query_parameters": {"strategy": strategy, "filter_expressions_map": {"1": ["state == syscall && label == epoll_wait"]}},
        });
        let states = model("timeGraph/isochrone.threads/states", &asked);
        let mut seen = [0, 0];
        for row in states["rows"].as_array().unwrap() {
            for state in row["states"].as_array().unwrap() {
                let is_it = state["label"] == "epoll_wait" && state["style"]["parentKey"] == "syscall";
                assert_eq!(state["tags"].as_i64().unwrap_or(0) == 0, is_it, "{state}");
                seen[usize::from(is_it)] += 1;
            }
        }
        assert!(seen[0] > 0, "{strategy}");
        if strategy == "DEEP" {
            assert!(seen[1] > 0, "{strategy} {seen:?}");
        }
    }
}

#[test]
fn tooltips_say_what_is_there() {
    let arrow =
        &model("timeGraph/isochrone.threads/arrows", &json!({"requested_timerange": whole_range(1)}))[0];
    let (start, end) = (arrow["start"].as_i64().unwrap(), arrow["end"].as_i64().unwrap());
    let tooltip = |kind: &str, time: i64, item: &Value| {
        let asked = json!({
            "requested_times": [time], "requested_items": [item],
            "requested_element": {"elementType": kind, "time": time, "duration": end - start},
        });
        model("timeGraph/isochrone.threads/tooltip", &asked)
    };
    let message = tooltip("ARROW", start, &arrow["sourceId"]);
    assert!(
        message["Message"].as_str().unwrap().contains('→') && message["Guaranteed"].is_string(),
        "{message}"
    );
    let state = tooltip("STATE", start, &arrow["sourceId"]);
    assert!(state["State"].is_string() && state["Common clock"].is_string(), "{state}");
    assert_eq!(tooltip("STATE", start, &json!(-7)), json!({}));
}

#[test]
fn the_table_of_events_is_read_by_number_by_time_and_by_search() {
    let lines = |parameters: Value| model("table/isochrone.events/lines", &parameters);
    let first = lines(json!({"requested_table_index": 0, "requested_table_count": 30}));
    let total = first["size"].as_u64().unwrap();
    let (begin, end) = {
        let (_, page) = get("/api/experiment");
        (page["begin"].as_i64().unwrap(), page["end"].as_i64().unwrap())
    };
    let (_, page) = get(&format!("/api/events?begin={begin}&end={}&limit=30", end + 1));
    for (line, event) in first["lines"].as_array().unwrap().iter().zip(page["events"].as_array().unwrap()) {
        assert_eq!(line["cells"][3]["content"], event["name"]);
        assert_eq!(line["cells"][4]["content"], event["text"]);
    }
    // Far in, and across what is kept of places.
    let part = lines(json!({"requested_table_index": 8_000, "requested_table_count": 400}));
    let again = lines(
        json!({"requested_table_index": 8_300, "requested_table_count": 100, "requested_table_column_ids": [3, 0]}),
    );
    for (a, b) in part["lines"].as_array().unwrap()[300..].iter().zip(again["lines"].as_array().unwrap()) {
        assert_eq!(
            (&a["index"], &a["cells"][3], &a["cells"][0]),
            (&b["index"], &b["cells"][0], &b["cells"][1])
        );
    }
    let last = lines(json!({"requested_table_index": total - 1, "requested_table_count": 10}));
    assert_eq!(last["lines"].as_array().map(Vec::len), Some(1));
    let at = experiment()["end"].as_i64().unwrap();
    let at_end = lines(json!({"requested_times": [at], "requested_table_count": 1}));
    assert_eq!(at_end["lowIndex"].as_u64(), Some(total - 1), "{at_end}");
    let search = |direction: &str, index: u64| {
        lines(
            json!({"requested_table_index": index, "requested_table_count": 1, "table_search_direction": direction,
                     "table_search_expressions": {"3": "^sched_swi", "1": "h2"}}),
        )
    };
    let next = search("NEXT", 9_000);
    let line = &next["lines"][0];
    assert!(line["tags"] == 8 && line["index"].as_u64() >= Some(9_000), "{next}");
    assert_eq!(
        (&line["cells"][1]["content"], &line["cells"][3]["content"]),
        (&json!("h2"), &json!("sched_switch"))
    );
    let found = line["index"].as_u64().unwrap();
    assert_eq!(search("PREVIOUS", found)["lines"][0]["index"].as_u64(), Some(found));
    let before = search("PREVIOUS", found - 1)["lines"][0]["index"].as_u64().unwrap();
    assert!(before < 9_000, "the next one from 9,000 on is {found}, and {before} is between");
    let none = lines(
        json!({"requested_table_index": 0, "requested_table_count": 5, "table_search_direction": "NEXT",
                            "table_search_expressions": {"3": "no_such_event"}}),
    );
    assert_eq!(none["lines"], json!([]));
}

#[test]
fn events_are_counted_when_a_viewer_asks_for_the_experiment() {
    let path = format!("/tsp/api/experiments/{}", experiment()["UUID"].as_str().unwrap());
    let counted = || get(&path).1["nbEvents"].as_u64().unwrap();
    let began = std::time::Instant::now();
    while counted() == 0 {
        assert!(began.elapsed().as_secs() < 60, "nobody counts");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(counted() > 100_000);
}

#[test]
fn traces_and_experiments_come_and_go() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/shop");
    let app = post("/traces", &json!({"uri": format!("file://{root}/app"), "name": "one of three"}));
    assert_eq!(app["name"], "one of three");
    assert!(app["start"].as_i64() > Some(0) && app["start"].as_i64() < app["end"].as_i64(), "{app}");
    assert_eq!(post("/traces", &json!({"uri": format!("{root}/app"), "name": "one of three"})), app);
    // What is not below what was named, or is no trace, is not there.
    for (uri, expect) in [
        ("/etc", StatusCode::NOT_FOUND),
        (concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/shop/../../docs"), StatusCode::NOT_FOUND),
        ("/no/such/directory", StatusCode::NOT_FOUND),
        (concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/shop/truth.json"), StatusCode::NOT_ACCEPTABLE),
        ("", StatusCode::NOT_FOUND),
    ] {
        let (status, answer) = ask(Method::POST, "/traces", &json!({"uri": uri}));
        assert_eq!(status, expect, "{uri} {answer}");
        assert!(answer["title"].is_string());
    }
    let (status, answer) =
        ask(Method::POST, "/traces", &json!({"uri": format!("{root}/db"), "name": "one of three"}));
    assert_eq!((status, &answer["trace"]), (StatusCode::CONFLICT, &app));
    let made = post("/experiments", &json!({"name": "app alone", "traces": [app["UUID"]]}));
    assert_eq!(
        post("/experiments", &json!({"name": "app alone", "traces": [app["UUID"]]}))["UUID"],
        made["UUID"]
    );
    let shop = &experiment()["traces"][0]["UUID"];
    let (status, _) = ask(Method::POST, "/experiments", &json!({"name": "app alone", "traces": [shop]}));
    assert_eq!(status, StatusCode::CONFLICT);
    let unknown = "01234567-89ab-cdef-0123-456789abcdef";
    let (status, _) = ask(Method::POST, "/experiments", &json!({"name": "other", "traces": [unknown]}));
    assert_eq!(status, StatusCode::NOT_FOUND);
    let path = format!("/experiments/{}", made["UUID"].as_str().unwrap());
    // Until it is indexed, outputs say that they are not ready; then they are.
    let tree = format!("{path}/outputs/timeGraph/isochrone.threads/tree");
    let mut answer = post(&tree, &json!({}));
    while answer["status"] == "RUNNING" {
        std::thread::sleep(std::time::Duration::from_millis(20));
        answer = post(&tree, &json!({}));
    }
    assert_eq!(answer["status"], "COMPLETED");
    let trace = format!("/traces/{}", app["UUID"].as_str().unwrap());
    assert_eq!(ask(Method::DELETE, &trace, &json!({})).0, StatusCode::CONFLICT);
    assert_eq!(ask(Method::DELETE, &path, &json!({})).0, StatusCode::OK);
    assert_eq!(ask(Method::DELETE, &path, &json!({})).0, StatusCode::NOT_FOUND);
    assert_eq!(ask(Method::DELETE, &trace, &json!({})).0, StatusCode::OK);
    assert_eq!(get(&format!("/tsp/api{trace}")).0, StatusCode::NOT_FOUND);
    assert!(std::path::Path::new(root).join("app").is_dir(), "nothing is removed from the disk");
}

#[test]
fn bookmarks_are_kept() {
    let id = experiment()["UUID"].as_str().unwrap().to_owned();
    let path = format!("/experiments/{id}/bookmarks");
    let made = post(&path, &json!({"name": "here", "start": 1, "end": 2}));
    let one = format!("{path}/{}", made["uuid"].as_str().unwrap());
    assert_eq!(get(&format!("/tsp/api{one}")).1, made);
    let (_, changed) = ask(Method::PUT, &one, &json!({"name": "there", "start": 3, "end": 4}));
    assert_eq!((&changed["name"], &changed["uuid"]), (&json!("there"), &made["uuid"]));
    assert_eq!(get(&format!("/tsp/api{path}")).1, json!([changed]));
    assert_eq!(ask(Method::DELETE, &one, &json!({})), (StatusCode::OK, changed));
    assert_eq!(ask(Method::DELETE, &one, &json!({})).0, StatusCode::NOT_FOUND);
}

#[test]
fn viewers_of_this_machine_are_let_in_and_others_are_not() {
    let check = |method: Method, path: &str, origin: &str, expect: StatusCode| {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, "localhost:1")
            .header(header::ORIGIN, origin)
            .body(Body::empty());
        let (status, headers, _) = send_whole(request.unwrap());
        assert_eq!(status, expect, "{path} {origin}");
        let allowed = headers.get(header::ACCESS_CONTROL_ALLOW_ORIGIN).map(|it| it.to_str().unwrap());
        assert_eq!(allowed, expect.is_success().then_some(origin), "{path} {origin}");
    };
    check(Method::GET, "/tsp/api/health", "vscode-webview://0a1b", StatusCode::OK);
    check(Method::GET, "/tsp/api/health", "http://localhost:3000", StatusCode::OK);
    check(Method::OPTIONS, "/tsp/api/experiments", "http://localhost:3000", StatusCode::NO_CONTENT);
    check(Method::GET, "/tsp/api/health", "http://evil.example", StatusCode::FORBIDDEN);
    check(Method::OPTIONS, "/tsp/api/experiments", "http://evil.example", StatusCode::FORBIDDEN);
    check(Method::GET, "/api/experiment", "http://localhost:3000", StatusCode::FORBIDDEN);
}

/// Any JSON of moderate depth, with the names that parameters have.
fn any_json() -> impl Strategy<Value = Value> {
    let number = prop_oneof![any::<i64>(), -3_i64..400, Just(1_795_154_041_000_000_000)];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number.prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[ -~]{0,8}".prop_map(Value::from),
    ];
    let name = prop::sample::select(vec![
        "requested_timerange",
        "requested_items",
        "requested_times",
        "requested_element",
        "start",
        "end",
        "nbTimes",
        "nbSamples",
        "requested_table_index",
        "requested_table_count",
        "requested_table_column_ids",
        "table_search_expressions",
        "table_search_direction",
        "filter_query_parameters",
        "filter_expressions_map",
        "1",
        "4",
        "elementType",
        "time",
        "duration",
        "uri",
        "name",
    ]);
    leaf.prop_recursive(4, 32, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(name.clone(), inner, 0..6)
                .prop_map(|map| map.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
        ]
    })
}

/// Parameters as they should be, with numbers of all kinds.
fn any_parameters() -> impl Strategy<Value = Value> {
    let time = prop_oneof![any::<i64>(), 1_795_154_000_000_000_000_i64..1_795_155_400_000_000_000];
    let item = prop_oneof![-1_i64..500, any::<i64>()];
    (time.clone(), time, any::<i32>(), prop::collection::vec(item, 0..6), "[ -~]{0,12}").prop_map(
        |(start, end, count, items, text)| {
            json!({
                "requested_timerange": {"start": start, "end": end, "nbTimes": count}, "requested_items": items,
                "requested_times": [start], "requested_element": {"elementType": "STATE", "time": start, "duration": end},
                "requested_table_count": count.rem_euclid(50), "requested_table_index": items.first(),
                "table_search_expressions": {"3": text}, "table_search_direction": "PREVIOUS",
                "filter_query_parameters": {"strategy": "DEEP", "filter_expressions_map": {"1": [text], "4": ["duration > 3us"]}},
            })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn no_parameters_make_the_program_fail(parameters in prop_oneof![any_json(), any_parameters()], output in 0..OUTPUTS.len()) {
        let id = experiment()["UUID"].as_str().unwrap().to_owned();
        let output = &OUTPUTS[output];
        let paths: &[&str] = match output.kind {
            OutputKind::TimeGraph => &["timeGraph/{}/tree", "timeGraph/{}/states", "timeGraph/{}/arrows", "timeGraph/{}/tooltip", "{}/annotations"],
            OutputKind::Xy => &["XY/{}/tree", "XY/{}/xy"],
            OutputKind::GenericXy => &["genericXY/{}/tree", "genericXY/{}/xy"],
            OutputKind::Table => &["table/{}/columns", "table/{}/lines"],
            OutputKind::DataTree => &["data/{}/tree"],
        };
        for path in paths {
            let path = format!("/experiments/{id}/outputs/{}", path.replace("{}", output.id));
            let (status, answer) = ask(Method::POST, &path, &parameters);
            prop_assert!(status == StatusCode::OK || status == StatusCode::BAD_REQUEST, "{} {} {}", path, parameters, answer);
        }
    }
}
