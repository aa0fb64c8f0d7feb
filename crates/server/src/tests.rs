//! The server without a network: requests go through the same router as those of browsers.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode, header};
use isochrone_experiment::{Spread, TimeBase};
use proptest::prelude::*;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::access::Access;
use crate::error::ApiError;
use crate::http::router;
use crate::library::Library;
use crate::session::{Current, Generation, Session, SessionConfig};
use crate::sql::SqlProgram;
use crate::stage::Stage;
use crate::view::{CommandLine, ExperimentView};

/// The traces of the example, which the project carries.
pub(crate) const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/shop");

/// What opens some traces, and their session, which is being opened; the store is in a directory.
fn opening(traces: &[PathBuf], stores: PathBuf) -> (Arc<Library>, Arc<Session>) {
    let opener = Box::new(move |paths: &[PathBuf], name: String| {
        let store = stores.join(format!("{name}.store"));
        let command = CommandLine { options: String::new(), traces: "shop".to_owned() };
        Ok(SessionConfig {
            name,
            paths: paths.to_vec(),
            store,
            base: TimeBase::Usual,
            command,
            generation: Generation::default(),
            sql: SqlProgram::default(),
        })
    });
    let library = Library::new(traces, opener);
    let session = library.open(traces, "shop".to_owned(), Spread::default()).unwrap();
    (library, session)
}

/// A server of some traces, ready, and its session; the store is in a directory.
pub(crate) fn served(traces: &[PathBuf], stores: PathBuf) -> (Router, Arc<Session>) {
    let (library, session) = opening(traces, stores);
    while session.stage() != Stage::Ready {
        assert!(!matches!(session.stage(), Stage::Failed(_)), "{:?}", session.stage());
        std::thread::sleep(Duration::from_millis(10));
    }
    let access = Access::new("127.0.0.1:1".parse().unwrap(), Vec::new(), false);
    (router(Arc::new(access), library, Some(Current::new(Arc::clone(&session)))), session)
}

/// A server of the example, ready, and its session.
fn example() -> &'static (Router, Arc<Session>, tempfile::TempDir) {
    static ROUTER: OnceLock<(Router, Arc<Session>, tempfile::TempDir)> = OnceLock::new();
    ROUTER.get_or_init(|| {
        let directory = tempfile::tempdir().unwrap();
        let (router, session) = served(&[PathBuf::from(EXAMPLE)], directory.path().to_owned());
        (router, session, directory)
    })
}

/// The session of the example.
pub(crate) fn example_session() -> &'static Session {
    &example().1
}

/// What is asked of a session itself.
pub(crate) fn ask<T: Send + 'static>(
    session: &Session,
    job: impl FnOnce(&ExperimentView<'_>) -> Result<T, ApiError> + Send + 'static,
) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(session.query(job)).unwrap()
}

/// What is asked of the example itself.
pub(crate) fn ask_example<T: Send + 'static>(
    job: impl FnOnce(&ExperimentView<'_>) -> Result<T, ApiError> + Send + 'static,
) -> T {
    ask(&example().1, job)
}

/// What the server says to a request: status and body.
pub(crate) fn send(request: Request<Body>) -> (StatusCode, Vec<u8>) {
    let (status, _, body) = send_whole(request);
    (status, body)
}

/// The same, with headers.
pub(crate) fn send_whole(request: Request<Body>) -> (StatusCode, HeaderMap, Vec<u8>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let response = example().0.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        (parts.status, parts.headers, to_bytes(body, usize::MAX).await.unwrap().to_vec())
    })
}

pub(crate) fn get(path: &str) -> (StatusCode, Value) {
    let request = Request::get(path).header(header::HOST, "localhost:1").body(Body::empty()).unwrap();
    let (status, body) = send(request);
    (status, serde_json::from_slice(&body).unwrap_or_default())
}

fn post(path: &str, body: &str) -> (StatusCode, Vec<u8>) {
    let request = Request::post(path)
        .header(header::HOST, "localhost:1")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(body.to_owned()));
    send(request.unwrap())
}

/// The begin and the end of the example.
fn extent() -> (i64, i64) {
    let (_, experiment) = get("/api/experiment");
    (experiment["begin"].as_i64().unwrap(), experiment["end"].as_i64().unwrap())
}

#[test]
fn the_example_is_there() {
    let (status, experiment) = get("/api/experiment");
    assert_eq!(status, StatusCode::OK);
    assert_eq!(experiment["stage"]["name"], "ready");
    let names: Vec<&str> =
        experiment["hosts"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["h1", "h2", "h3"]);
    assert_eq!(experiment["is_synchronized"], true);
    let (_, messages) = get("/api/message-counts");
    assert!(messages["count"].as_u64() > Some(0) && messages["inverted"] == 0, "{messages}");
    let (_, rows) = get("/api/rows");
    let rows = rows["rows"].as_array().unwrap();
    assert!(rows.iter().enumerate().all(|(place, row)| row["id"] == place), "ids are places");
    assert!(rows.iter().any(|row| row["kind"] == "thread") && rows.iter().any(|row| row["kind"] == "cpu"));
}

#[test]
fn answers_name_what_they_are_of() {
    let (_, experiment) = get("/api/experiment");
    let store = experiment["store"].as_str().unwrap().to_owned();
    for path in ["/api/experiment", "/api/rows", "/api/requests", "/api/state?row=0&at=0", "/api/nothing"] {
        let request = Request::get(path).header(header::HOST, "localhost:1").body(Body::empty()).unwrap();
        let (_, headers, _) = send_whole(request);
        assert_eq!(headers["isochrone-store"], store.as_str(), "{path}");
    }
}

#[test]
fn a_sample_of_it_was_taken_before_it_was_indexed() {
    let (status, sample) = get("/api/sample");
    assert_eq!(status, StatusCode::OK);
    assert!(sample["share"].as_f64() > Some(0.1), "{}", sample["share"]);
    let (_, overview) = get("/api/overview?bins=10");
    let hosts = sample["hosts"].as_array().unwrap();
    assert_eq!(hosts.len(), 3);
    for (host, seen) in hosts.iter().zip(overview["hosts"].as_array().unwrap()) {
        assert_eq!(host["name"], seen["name"]);
        assert!(
            !host["cpus"].as_array().unwrap().is_empty() && !host["threads"].as_array().unwrap().is_empty()
        );
        for cpu in host["cpus"].as_array().unwrap() {
            for part in cpu["parts"].as_array().unwrap() {
                let part: Vec<i64> = part.as_array().unwrap().iter().map(|it| it.as_i64().unwrap()).collect();
                let sum: i64 = part[3..].iter().sum();
                assert!(part[..3].is_sorted() && (996..=1000).contains(&sum), "{part:?}");
            }
        }
    }
}

/// What takes all cores for long begins when there is something to see.
#[test]
fn nothing_is_indexed_before_the_sample_is_there() {
    let stores = tempfile::tempdir().unwrap();
    let (_library, session) = opening(&[EXAMPLE.into()], stores.path().to_owned());
    let mut stages = Vec::new();
    loop {
        // The stage first: what is there at a stage was there when it was begun.
        let stage = session.stage();
        let has_sample = session.sample.get().is_some();
        assert!(has_sample || stage == Stage::Opening, "{stage:?}");
        if stages.last() != Some(&stage) {
            stages.push(stage.clone());
        }
        match stage {
            Stage::Ready => break,
            Stage::Failed(why) => panic!("{why}"),
            _ => std::thread::yield_now(),
        }
    }
    assert!(stages.len() > 1, "it was ready at once: {stages:?}");
}

/// States of a row as the page decodes them: style, begin, end.
fn states(row: u64, (begin, end): (i64, i64), pixels: u32) -> Vec<(u8, f64, f64)> {
    let body = json!({"rows": [row], "begin": begin, "end": end, "pixels": pixels}).to_string();
    let (status, bytes) = post("/api/states", &body);
    assert_eq!(status, StatusCode::OK);
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let (rows, count) = (number(4), number(8));
    let styles = 16 + 4 * (2 * rows + 1) + 4 * count;
    let begins = (styles + count).next_multiple_of(8);
    let float = |at: usize| f64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    (0..count).map(|n| (bytes[styles + n], float(begins + 8 * n), float(begins + 8 * (count + n)))).collect()
}

#[test]
fn states_follow_each_other_at_every_zoom() {
    let (_, rows) = get("/api/rows");
    let (begin, end) = extent();
    let shown = rows["rows"].as_array().unwrap().iter();
    for row in shown.filter(|row| row["kind"] == "thread" || row["kind"] == "cpu") {
        for pixels in [1, 50, 2000] {
            let states = states(row["id"].as_u64().unwrap(), (begin, end), pixels);
            assert!(states.iter().all(|(_, begin, end)| begin <= end), "{row}");
            assert!(states.windows(2).all(|pair| pair[0].2 <= pair[1].1), "{row} {pixels}");
            assert!(
                states.len() <= 3 * pixels as usize + 3,
                "{row}: {} states on {pixels} pixels",
                states.len()
            );
        }
    }
}

#[test]
fn a_state_is_what_is_drawn_and_its_neighbours_touch_it() {
    let (_, rows) = get("/api/rows");
    let (begin, end) = extent();
    let rows = rows["rows"].as_array().unwrap();
    let mut seen = 0;
    for row in rows.iter().filter(|row| row["kind"] == "thread") {
        let id = row["id"].as_u64().unwrap();
        let all = states(id, (begin, end), 10_000);
        let Some(&(style, from, to)) = all.get(all.len() / 2).filter(|(..)| all.len() > 3) else { continue };
        let middle = i64::midpoint(from as i64, to as i64);
        let (status, state) = get(&format!("/api/state?row={id}&at={middle}"));
        assert_eq!(status, StatusCode::OK, "{state}");
        if state["style"] != style {
            // At this zoom several states share a pixel.
            continue;
        }
        seen += 1;
        let (_, next) = get(&format!("/api/step?row={id}&at={middle}&to=next"));
        assert_eq!(next["begin"], state["end"], "{state} {next}");
        let (_, back) = get(&format!("/api/step?row={id}&at={}&to=previous", next["begin"]));
        assert_eq!((&back["begin"], &back["state"]), (&state["begin"], &state["state"]));
    }
    assert!(seen > 0);
}

#[test]
fn messages_arrive_after_they_were_sent_on_the_common_clock_alone() {
    let (begin, end) = extent();
    let (_, answer) = get(&format!("/api/messages?begin={begin}&end={end}&limit=20000"));
    let messages = answer["messages"].as_array().unwrap();
    assert_eq!(answer["total"].as_u64(), Some(messages.len() as u64));
    assert!(messages.iter().all(|it| it[2].as_i64() <= it[3].as_i64() && it[7] == 0), "{answer}");
    // Bounds are around the estimate.
    assert!(messages.iter().all(|it| it[5].as_i64() <= Some(0) && it[6].as_i64() >= Some(0)));
    let row = &messages[0];
    let (status, there) = get(&format!("/api/follow?row={}&at={}&what=message", row[0], row[2]));
    assert_eq!(status, StatusCode::OK, "{there}");
}

#[test]
fn requests_have_paths_without_holes() {
    let (_, answer) = get("/api/requests");
    let requests = answer["requests"].as_array().unwrap();
    assert!(!requests.is_empty());
    for request in requests {
        let (_, path) = get(&format!("/api/path?request={}", request["request"]));
        let steps = path["steps"].as_array().unwrap();
        assert_eq!(steps.first().unwrap()["begin"], request["begin"]);
        assert_eq!(steps.last().unwrap()["end"], request["end"]);
        assert!(steps.windows(2).all(|pair| pair[0]["end"] == pair[1]["begin"]));
        let total: i64 =
            path["causes"].as_array().unwrap().iter().filter_map(|it| it["total_ns"].as_i64()).sum();
        assert_eq!(Some(total), request["total_ns"].as_i64());
    }
    assert_eq!(get("/api/path?request=0").0, StatusCode::NOT_FOUND);
}

#[test]
fn all_analyses_answer() {
    let (begin, end) = extent();
    let (_, answer) = get("/api/analyses");
    for analysis in answer["analyses"].as_array().unwrap() {
        let asked = json!({"analysis": analysis["name"], "begin": begin, "end": end, "limit": 10});
        let (status, body) = post("/api/table", &asked.to_string());
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(status, StatusCode::OK, "{analysis} {body}");
        assert!(body["command"].as_str().unwrap().starts_with("isochrone "), "{body}");
    }
}

#[test]
fn events_are_found_page_by_page() {
    let (begin, end) = extent();
    let (_, all) = get(&format!("/api/events?begin={begin}&end={end}&limit=50&search=sched_switch"));
    let (_, first) = get(&format!("/api/events?begin={begin}&end={end}&limit=20&search=sched_switch"));
    let (_, rest) = get(&format!(
        "/api/events?begin={begin}&end={end}&limit=30&search=sched_switch&after={}",
        first["next"].as_str().unwrap()
    ));
    let of = |answer: &Value| answer["events"].as_array().unwrap().clone();
    assert_eq!(of(&all), [of(&first), of(&rest)].concat());
    assert!(of(&all).iter().all(|event| event["name"] == "sched_switch" && !event["row"].is_null()));
    // Event by event, across those of one instant.
    let mut one_by_one = Vec::new();
    let mut after = String::new();
    for _ in 0..50 {
        let (_, answer) =
            get(&format!("/api/events?begin={begin}&end={end}&limit=1&search=sched_switch{after}"));
        one_by_one.extend(of(&answer));
        after = format!("&after={}", answer["next"].as_str().unwrap());
    }
    assert_eq!(one_by_one, of(&all));
    assert_eq!(get(&format!("/api/events?begin={begin}&end={end}&after=soon")).0, StatusCode::BAD_REQUEST);
    let (status, wrong) = get(&format!("/api/events?begin={begin}&end={end}&search==(("));
    assert_eq!(status, StatusCode::BAD_REQUEST, "{wrong}");
}

#[test]
fn answers_say_which_command_gives_the_same() {
    let (begin, end) = extent();
    let half = format!("begin={begin}&end={}", begin + (end - begin) / 2);
    let check = |path: &str, expect: &[&str]| {
        let (status, answer) = get(&format!("/api/{path}"));
        assert_eq!(status, StatusCode::OK, "{path}: {answer}");
        let command = answer["command"].as_str().unwrap();
        assert!(expect.iter().all(|part| command.contains(part)), "{path}: {command}");
    };
    check("requests", &["isochrone critical-path shop"]);
    check(&format!("usage?begin={begin}&end={end}&points=10"), &["isochrone analyze usage shop"]);
    check(&format!("usage?{half}&points=10"), &["isochrone analyze usage --begin ", " --end "]);
    check(&format!("resources?{half}"), &["isochrone bottleneck --begin ", " shop"]);
    let asked = format!("{{\"begin\": {begin}, \"end\": {end}, \"rows\": null}}");
    let sums: Value = serde_json::from_slice(&post("/api/statistics", &asked).1).unwrap();
    assert!(
        sums["command"].as_str().unwrap().starts_with("isochrone sql -c 'SELECT host, thread, "),
        "{sums}"
    );
    check(&format!("lives?{half}"), &["isochrone analyze usage --by-process --begin ", " shop"]);
    check(&format!("accesses?{half}"), &["isochrone sql -c 'SELECT ", " AND issued_time BETWEEN ", "' shop"]);
    check(&format!("messages?{half}"), &["isochrone messages --begin "]);
    check(&format!("messages?{half}&clock=own"), &["isochrone messages --begin ", " --no-sync shop"]);
    check(
        &format!("events?{half}&hosts=0,2&search=%3D%24event+%3D%3D+%22sched_switch%22"),
        &["isochrone events --host h1,h3 --where '$event == \"sched_switch\"' --begin ", " shop"],
    );
    check(&format!("events?{half}&search=it%27s"), &[r" shop | grep -F 'it'\''s'"]);
}

#[test]
fn resources_have_the_values_of_the_report() {
    let (begin, end) = extent();
    let (status, answer) = get(&format!("/api/resources?begin={begin}&end={end}&steps=20"));
    assert_eq!(status, StatusCode::OK, "{answer}");
    let verdicts = answer["verdicts"].as_array().unwrap();
    assert_eq!(verdicts.iter().map(|it| it["host"].as_u64().unwrap()).collect::<Vec<_>>(), [0, 1, 2]);
    let asked = json!({"analysis": "bottleneck", "begin": begin, "end": end, "limit": 5000}).to_string();
    let report: Value = serde_json::from_slice(&post("/api/table", &asked).1).unwrap();
    let tables = report["tables"].as_array().unwrap();
    let rows = |name: &str| tables.iter().find(|it| it["name"] == name).unwrap()["rows"].as_array().unwrap();
    assert_eq!(verdicts[1]["verdict"], rows("verdicts")[1][4]);
    let resources = answer["resources"].as_array().unwrap();
    assert_eq!(resources.len(), rows("resources").len());
    for (resource, row) in resources.iter().zip(rows("resources")) {
        assert_eq!((&resource["resource"], &resource["of"]), (&row[1], &row[2]));
        // Null is unknown there, and what does not apply; here that is absent.
        assert_eq!(resource.get("busy_percent").unwrap_or(&Value::Null), &row[4], "{row}");
        let steps = resource["begin"].as_array().unwrap().len();
        assert!((5..=21).contains(&steps), "{steps}");
        let lasts: Vec<f64> = (0..steps)
            .map(|step| resource["end"][step].as_f64().unwrap() - resource["begin"][step].as_f64().unwrap())
            .collect();
        assert!(lasts.iter().all(|&ns| ns > 0.0));
        let mean = |series: &str| {
            let values = resource[series].as_array()?.iter().zip(&lasts);
            let sum: Option<f64> = values.map(|(value, ns)| Some(value.as_f64()? * ns)).sum();
            Some(sum? / lasts.iter().sum::<f64>())
        };
        for (series, column) in [("busy", 4), ("waited", 7)] {
            // A series that is absent does not apply, one of nulls is unknown; both have no mean.
            match (mean(series), row[column].as_f64()) {
                (Some(mean), Some(whole)) => assert!((mean - whole).abs() < 0.02, "{mean} {row}"),
                (mean, whole) => assert_eq!(mean, whole, "{series} {row}"),
            }
        }
    }
    let disk = resources.iter().find(|it| it["resource"] == "disk").unwrap();
    let (_, rows) = get("/api/rows");
    assert_eq!(rows["rows"][disk["row"].as_u64().unwrap() as usize]["kind"], "disk");
    assert!(resources.iter().any(|it| it["resource"] == "locks" && it.get("busy").is_none()));
    assert_eq!(get(&format!("/api/resources?begin={end}&end={begin}")).0, StatusCode::BAD_REQUEST);
}

#[test]
fn lives_are_those_that_used_the_cpus_most() {
    let (begin, end) = extent();
    let ask = |begin: i64, end: i64, limit: usize| {
        let (status, answer) = get(&format!("/api/lives?begin={begin}&end={end}&steps=50&limit={limit}"));
        assert_eq!(status, StatusCode::OK, "{answer}");
        answer
    };
    let all = ask(begin, end, 1000);
    let lives = all["lives"].as_array().unwrap();
    assert_eq!(all["total"], lives.len());
    let cpu = |it: &Value| it["cpu_ns"].as_u64().unwrap();
    let (_, rows) = get("/api/rows");
    for life in lives {
        let steps = life["steps"].as_array().unwrap();
        let sum = |place: usize| steps.iter().map(|step| step[place].as_u64().unwrap()).sum::<u64>();
        assert_eq!((sum(2), sum(3)), (cpu(life), life["unknown_ns"].as_u64().unwrap()), "{life}");
        let row = &rows["rows"][life["row"].as_u64().unwrap() as usize];
        assert_eq!((&row["pid"], &row["host"]), (&life["pid"], &life["host"]));
        assert!(row["begin"] == life["begin"] && row["end"] == life["end"], "{row} {life}");
        // The example has no page faults.
        assert_eq!(life["page_faults"], Value::Null);
    }
    let few = ask(begin, end, 5);
    let mut most: Vec<u64> = lives.iter().map(cpu).collect();
    most.sort_unstable_by(|a, b| b.cmp(a));
    let mut found: Vec<u64> = few["lives"].as_array().unwrap().iter().map(cpu).collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    assert_eq!((found.as_slice(), &few["total"]), (&most[..5], &all["total"]));
    // Halves add up.
    let middle = begin + (end - begin) / 2;
    let sum = |answer: &Value| answer["lives"].as_array().unwrap().iter().map(cpu).sum::<u64>();
    let halves = sum(&ask(begin, middle, 1000)) + sum(&ask(middle, end, 1000));
    assert!(halves.abs_diff(sum(&all)) < 1000, "{halves} {}", sum(&all));
    assert_eq!(get(&format!("/api/lives?begin={end}&end={begin}")).0, StatusCode::BAD_REQUEST);
}

#[test]
fn accesses_are_by_disk_and_process() {
    let (begin, end) = extent();
    let (status, answer) = get(&format!("/api/accesses?begin={begin}&end={end}&limit=5"));
    assert_eq!(status, StatusCode::OK, "{answer}");
    let disks = answer["disks"].as_array().unwrap();
    let totals: Vec<u64> = disks.iter().map(|it| it["total"].as_u64().unwrap()).collect();
    assert!(totals.len() >= 3 && totals.is_sorted_by(|a, b| a >= b), "{totals:?}");
    for disk in disks {
        let (total, accesses) = (disk["total"].as_u64().unwrap(), disk["accesses"].as_array().unwrap());
        assert_eq!(accesses.len() as u64, total.min(5));
        let processes = disk["processes"].as_array().unwrap();
        assert_eq!(processes.iter().map(|it| it["requests"].as_u64().unwrap()).sum::<u64>(), total);
        assert_eq!(disk["follow"].as_u64().unwrap() + disk["elsewhere"].as_u64().unwrap(), total - 1);
        assert!(accesses.is_sorted_by_key(|it| it[0].as_i64()));
        for access in accesses {
            assert!(access[1].as_u64().unwrap() % 512 == 0 && access[2].as_u64() > Some(0), "{access}");
            assert!((access[3].as_u64().unwrap() as usize) < processes.len() && access[5].as_i64() > Some(0));
        }
    }
    assert_eq!(get(&format!("/api/accesses?begin={end}&end={begin}")).0, StatusCode::BAD_REQUEST);
}

#[test]
fn expressions_find_rows_and_dim_what_they_do_not_mean() {
    let (begin, end) = extent();
    let (_, rows) = get("/api/rows");
    let rows = rows["rows"].as_array().unwrap();
    let found = |text: &str| {
        let text = text.replace(' ', "+").replace('&', "%26").replace('>', "%3E").replace('=', "%3D");
        get(&format!("/api/matching?text={text}&begin={begin}&end={end}"))
    };
    let (_, blocked) = found("state == blocked && duration > 100ms && host == h2");
    assert_eq!(blocked["kind"], "whole");
    let ids = blocked["rows"].as_array().unwrap();
    assert!(!ids.is_empty() && ids.len() < rows.len());
    for id in ids {
        let row = &rows[id.as_u64().unwrap() as usize];
        assert_eq!((&row["kind"], &row["host"]), (&json!("thread"), &json!(1)), "{row}");
    }
    let (_, none) = found("duration > 1000s");
    assert_eq!((&none["rows"], &none["states"]), (&json!([]), &json!(0)));
    for (text, status) in [("duration >", StatusCode::BAD_REQUEST), ("(((", StatusCode::BAD_REQUEST)] {
        assert_eq!(found(text).0, status, "{text}");
    }
    let (status, bytes) = post(
        "/api/states",
        &json!({"rows": [ids[0]], "begin": begin, "end": end, "pixels": 500, "filter": "state == blocked && duration > 100ms"})
            .to_string(),
    );
    assert_eq!(status, StatusCode::OK);
    let count = u32::from_le_bytes(bytes[8..12].try_into().unwrap()) as usize;
    let styles = &bytes[16 + 4 * 3 + 4 * count..][..count];
    assert!(styles.iter().any(|style| style & 0x80 != 0) && styles.contains(&5), "{styles:?}");
}

#[test]
fn the_rest_answers() {
    let (begin, end) = extent();
    let window = format!("begin={begin}&end={end}");
    for path in [
        "overview?bins=100".to_owned(),
        format!("wakeups?{window}"),
        format!("usage?{window}&points=100"),
        "sync".to_owned(),
        "link?a=h1&b=h2".to_owned(),
        "raw?host=1&raw=5".to_owned(),
        "progress?ask=nothing".to_owned(),
        format!("usage?{window}&points=10&queue=true"),
    ] {
        let (status, answer) = get(&format!("/api/{path}"));
        assert_eq!(status, StatusCode::OK, "{path}: {answer}");
    }
    let area = json!({"begin": begin, "end": end, "rows": null}).to_string();
    for path in ["files", "exchanged", "phases", "instead", "services"] {
        let (status, body) = post(&format!("/api/{path}"), &area);
        assert_eq!(status, StatusCode::OK, "{path}: {}", String::from_utf8_lossy(&body));
    }
    let asked = json!({"service": "nothing", "from_ns": 0, "to_ns": 9}).to_string();
    assert_eq!(post("/api/compared", &asked).0, StatusCode::NOT_FOUND);
    let asked = json!({"query": "COPY fds TO 'x'"}).to_string();
    assert_eq!(post("/api/sql", &asked).0, StatusCode::BAD_REQUEST);
    let (status, body) = post("/api/statistics", &area);
    assert_eq!(status, StatusCode::OK);
    let sums: Value = serde_json::from_slice(&body).unwrap();
    assert!(sums["states"].as_array().is_some_and(|states| !states.is_empty()), "{sums}");
}

#[test]
fn a_window_of_all_time_has_states() {
    let rows: Vec<u32> = (0..400).collect();
    for pixels in [1, 2, 10_000] {
        let body = json!({"rows": rows, "begin": i64::MIN, "end": i64::MAX, "pixels": pixels}).to_string();
        assert_eq!(post("/api/states", &body).0, StatusCode::OK, "{pixels}");
    }
}

#[test]
fn only_names_of_this_server_are_let_in() {
    let check = |host: &str, origin: Option<&str>, expect: StatusCode| {
        let mut request = Request::get("/api/experiment").header(header::HOST, host);
        if let Some(origin) = origin {
            request = request.header(header::ORIGIN, origin);
        }
        assert_eq!(send(request.body(Body::empty()).unwrap()).0, expect, "{host} {origin:?}");
    };
    check("localhost:1", None, StatusCode::OK);
    check("localhost:1", Some("http://localhost:1"), StatusCode::OK);
    check("evil.example", None, StatusCode::FORBIDDEN);
    check("localhost:1", Some("http://evil.example"), StatusCode::FORBIDDEN);
    let none = Request::get("/api/experiment").body(Body::empty()).unwrap();
    assert_eq!(send(none).0, StatusCode::FORBIDDEN);
}

#[test]
fn a_request_that_is_too_large_is_refused_in_words() {
    let (status, body) = post("/api/states", &format!("{{\"rows\": [{}1]}}", "1, ".repeat(1 << 19)));
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert!(body["error"].as_str().is_some_and(|why| why.contains("limit")), "{body}");
}

/// Any request of the page, with numbers of all kinds.
fn any_request() -> impl Strategy<Value = (String, Option<String>)> {
    let number = prop_oneof![any::<i64>(), 0_i64..12_000_000_000, Just(-1)];
    let row = prop_oneof![0_u32..400, any::<u32>()];
    (0_usize..23, number.clone(), number, row, any::<u32>()).prop_map(|(which, begin, end, row, count)| {
        let window = format!("begin={begin}&end={end}");
        let own = if count % 2 == 0 { "clock=own" } else { "clock=common" };
        let path = match which {
            0 => format!("overview?bins={count}"),
            1 => format!("messages?{window}&{own}&limit={count}"),
            2 => format!("wakeups?{window}&{own}&rows={row}&limit={count}"),
            3 => format!("state?row={row}&at={begin}&{own}"),
            4 => format!("step?row={row}&at={begin}&to=next&{own}"),
            5 => format!("step?row={row}&at={begin}&to=previous&{own}"),
            6 => format!("follow?row={row}&at={begin}&what=waker&{own}"),
            7 => format!("follow?row={row}&at={begin}&what=message&{own}"),
            8 => format!("path?row={row}&{window}"),
            9 => format!("usage?{window}&points={count}"),
            10 => format!("events?{window}&limit={count}&after={end},{row}"),
            11 => {
                let body = json!({"rows": [row, row], "begin": begin, "end": end, "pixels": count % 20_000,
                    "filter": (count % 3 == 0).then_some("duration > 1ms")});
                return ("states".to_owned(), Some(body.to_string()));
            }
            12 => {
                let body = json!({"rows": [row], "begin": begin, "end": end});
                return ("statistics".to_owned(), Some(body.to_string()));
            }
            13 => format!("lives?{window}&steps={count}&limit={row}"),
            14 => format!("accesses?{window}&limit={count}"),
            15 => format!("resources?{window}&steps={count}"),
            17 => format!("raw?host={}&raw={begin}", count % 5),
            18 => format!("progress?ask={count}"),
            19..=21 => {
                let path = ["files", "exchanged", "services"][which - 19];
                let body = json!({"begin": begin, "end": end, "rows": [row]});
                return (path.to_owned(), Some(body.to_string()));
            }
            16 => format!("matching?text=duration%3E{count}%7C%7Ctid%3D%3D{row}&{window}&{own}"),
            _ => {
                let body = json!({"analysis": "cputop", "begin": begin, "end": end, "limit": count});
                return ("table".to_owned(), Some(body.to_string()));
            }
        };
        (path, None)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_request_makes_the_program_fail((path, body) in any_request()) {
        let path = format!("/api/{path}");
        let status = match &body {
            Some(body) => post(&path, body).0,
            None => get(&path).0,
        };
        prop_assert!(status != StatusCode::INTERNAL_SERVER_ERROR, "{} {:?}", path, body);
    }

    #[test]
    fn nonsense_is_said_to_be_wrong(path in "[a-z]{0,8}", query in "[ -~&&[^# ]]{0,40}", body in "[ -~]{0,60}") {
        let uri = format!("/api/{path}?{query}");
        if uri.parse::<axum::http::Uri>().is_ok() {
            prop_assert!(get(&uri).0 != StatusCode::INTERNAL_SERVER_ERROR, "{}", uri);
        }
        for path in ["states", "table", "statistics", "files", "sql", "compared"] {
            let path = &format!("/api/{path}");
            prop_assert!(post(path, &body).0.is_client_error(), "{} {}", path, body);
        }
    }
}
