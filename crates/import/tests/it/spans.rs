//! Files of OpenTelemetry's spans in all of their forms: what is read is what was written; what is damaged or
//! hostile is refused in words, with its place.

use std::path::{Path, PathBuf};

use isochrone_ctf::Trace;
use isochrone_import::{ImportError, SpanClock, SpanFile};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A span: trace, own id, parent, name, begin, end, attributes.
type Span<'s> = (u128, u64, u64, &'s str, u64, u64, &'s [(&'s str, Value)]);

fn attributes(all: &[(&str, Value)]) -> Vec<Value> {
    let value = |value: &Value| match value {
        Value::Number(number) => json!({ "intValue": number.to_string() }),
        Value::Bool(is) => json!({ "boolValue": is }),
        Value::Array(all) => {
            let values: Vec<Value> = all.iter().map(|it| json!({ "stringValue": it })).collect();
            json!({ "arrayValue": { "values": values } })
        }
        other => json!({ "stringValue": other }),
    };
    all.iter().map(|(key, it)| json!({ "key": key, "value": value(it) })).collect()
}

/// A record as a collector writes it.
fn record(resource: &[(&str, Value)], spans: &[Span<'_>]) -> Value {
    let span = |&(trace, id, parent, name, begin, end, all): &Span<'_>| {
        json!({
            "traceId": format!("{trace:032x}"),
            "spanId": format!("{id:016X}"),
            "parentSpanId": if parent == 0 { String::new() } else { format!("{parent:016x}") },
            "flags": 256,
            "name": name,
            "kind": 2,
            "startTimeUnixNano": begin.to_string(),
            "endTimeUnixNano": end,
            "attributes": attributes(all),
            "status": { "code": 2, "message": "it failed" },
        })
    };
    let spans: Vec<Value> = spans.iter().map(span).collect();
    json!({ "resourceSpans": [{
        "resource": { "attributes": attributes(resource) },
        "scopeSpans": [{ "scope": { "name": "shop", "version": "1" }, "spans": spans }],
    }] })
}

/// One field of protobuf with a length.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![number << 3 | 2];
    prost::encode_length_delimiter(bytes.len(), &mut out).unwrap();
    out.extend_from_slice(bytes);
    out
}

/// A record in protobuf: one resource with its spans.
fn encoded(resource: &[(&str, &str)], spans: &[Span<'_>]) -> Vec<u8> {
    let pair =
        |key: &str, value: &str| [field(1, key.as_bytes()), field(2, &field(1, value.as_bytes()))].concat();
    let attributes: Vec<u8> = resource.iter().flat_map(|(key, value)| field(1, &pair(key, value))).collect();
    let spans = spans.iter().flat_map(|&(trace, id, _, name, begin, end, _)| {
        let mut span =
            [field(1, &trace.to_be_bytes()), field(2, &id.to_be_bytes()), field(5, name.as_bytes())].concat();
        span.extend([6 << 3, 2]);
        for (number, time) in [(7, begin), (8, end)] {
            span.push(number << 3 | 1);
            span.extend(time.to_le_bytes());
        }
        // A field of a later version.
        span.extend(field(14, b"later"));
        field(2, &span)
    });
    let scope = [field(1, &field(1, b"shop")), spans.collect()].concat();
    field(1, &[field(1, &attributes), field(2, &scope)].concat())
}

/// The events of a trace: time, name, and all fields as text.
fn events(path: &Path) -> Vec<(u64, String, String)> {
    let trace = Trace::open(path).unwrap();
    assert!(trace.diagnostics().is_empty(), "{:?}", trace.diagnostics());
    let mut all = Vec::new();
    for stream in 0..trace.streams().len() {
        let mut of_stream = Vec::new();
        for event in trace.events(stream) {
            let mut texts = Vec::new();
            for context in ["vpid", "tid"] {
                let field = event.class().context_field(event.stream_plan(), context);
                if let Some(number) = field.and_then(|field| event.signed(&field)) {
                    texts.push(format!("{context}={number}"));
                }
            }
            for name in [
                "name",
                "trace_id",
                "span_id",
                "parent_span_id",
                "kind",
                "service",
                "scope",
                "attributes",
                "status",
                "status_message",
            ] {
                let field = event.class().payload_field(event.stream_plan(), &[name]);
                if let Some(text) = field.and_then(|field| event.text(&field)) {
                    texts.push(format!("{name}={}", String::from_utf8_lossy(text)));
                }
            }
            of_stream.push((event.cycles().unwrap(), event.name().unwrap().to_owned(), texts.join("|")));
        }
        assert!(of_stream.is_sorted_by_key(|event| event.0));
        all.extend(of_stream);
    }
    all.sort();
    all
}

/// The time, the name and all fields of an event.
type ReadEvent = (u64, String, String);

/// Writes a file and turns it into traces. Gives the file, and the events of each host.
fn read(bytes: &[u8]) -> Result<(SpanFile, Vec<Vec<ReadEvent>>), ImportError> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("spans");
    std::fs::write(&path, bytes).unwrap();
    if !SpanFile::is_one(&path).unwrap() {
        return Err(ImportError::NoSpans);
    }
    let file = SpanFile::open(&path)?;
    let clocks = vec![SpanClock::default(); file.hosts.len()];
    let (written, early) = file.write(&clocks, &directory.path().join("traces"))?;
    assert_eq!(early, 0);
    let events: Vec<_> = written.iter().map(|path: &PathBuf| events(path)).collect();
    for (events, host) in events.iter().zip(&file.hosts) {
        assert_eq!(events.len() as u64, 2 * host.spans);
    }
    Ok((file, events))
}

const T: u64 = 1_700_000_000_000_000_000;

#[test]
fn spans_of_two_hosts() {
    let web = [("host.name", json!("web1")), ("service.name", json!("shop")), ("process.pid", json!(77))];
    let db = [("host.name", json!("db1"))];
    let all = [("http.route", json!("/cart")), ("retry", json!(true)), ("ids", json!(["a", "b"]))];
    let own_tid = [("isochrone.tid", json!(78)), ("thread.id", json!(1))];
    let lines = [
        record(
            &web,
            &[(1, 10, 0, "GET /cart", T, T + 100, &all), (1, 11, 10, "query", T + 10, T + 10, &own_tid)],
        ),
        record(&db, &[(1, 12, 11, "SELECT", T + 20, T + 30, &[("thread.id", json!(5))])]),
    ];
    let id = "trace_id=00000000000000000000000000000001|span_id=000000000000000";
    let query = format!("vpid=77|tid=78|name=query|{id}b");
    let cart = format!("vpid=77|name=GET /cart|{id}a");
    let end = "service=shop|status=error|status_message=it failed";
    let begin = "kind=server|service=shop|scope=shop|attributes";
    let expect_web = [
        (
            T,
            "otel:span_begin",
            format!("{cart}|parent_span_id=|{begin}=http.route=/cart retry=true ids=[a, b]"),
        ),
        (
            T + 10,
            "otel:span_begin",
            format!("{query}|parent_span_id=000000000000000a|{begin}=isochrone.tid=78 thread.id=1"),
        ),
        (T + 10, "otel:span_end", format!("{query}|{end}")),
        (T + 100, "otel:span_end", format!("{cart}|{end}")),
    ];
    let compact: String = lines.iter().flat_map(|line| [line.to_string(), "\n".to_owned()]).collect();
    let pretty: String = lines.iter().map(|line| serde_json::to_string_pretty(line).unwrap()).collect();
    for text in [compact.clone(), pretty, format!("\u{feff} {compact}")] {
        let (file, events) = read(text.as_bytes()).unwrap();
        let names: Vec<_> = file.hosts.iter().map(|host| host.name.as_deref()).collect();
        assert_eq!(names, [Some("web1"), Some("db1")]);
        assert_eq!((file.hosts[0].spans, file.hosts[0].threads, file.hosts[1].threads), (2, 1, 0));
        let web: Vec<_> = events[0].iter().map(|(at, name, all)| (*at, name.as_str(), all.clone())).collect();
        assert_eq!(web, expect_web);
        // `thread.id` is no thread of the kernel.
        assert!(
            events[1].iter().all(|(_, _, fields)| !fields.contains("|tid=") && !fields.starts_with("tid="))
        );
    }
    // Compressed, too.
    let packed = zstd::encode_all(compact.as_bytes(), 1).unwrap();
    assert_eq!(read(&packed).unwrap().1[0].len(), 4);
}

#[test]
fn both_forms_of_protobuf_are_what_json_is() {
    let spans: [Span<'_>; 2] = [(7, 1, 0, "a", T, T + 5, &[]), (7, 2, 0, "b", T + 1, T + 2, &[])];
    let host = [("host.name", "web1"), ("service.name", "shop")];
    let message = encoded(&host, &spans);
    let two = [message.clone(), encoded(&[("host.name", "db1")], &spans)].concat();
    let prefixed = [&(message.len() as u32).to_be_bytes()[..], &message].concat();
    let json_host = host.map(|(key, value)| (key, json!(value)));
    let (_, of_json) = read(record(&json_host, &spans).to_string().as_bytes()).unwrap();
    let without_status = |events: &[(u64, String, String)]| -> Vec<(u64, String, String)> {
        let strip =
            |text: &str| text.replace("status=error|status_message=it failed", "status=|status_message=");
        events.iter().map(|(at, name, text)| (*at, name.clone(), strip(text))).collect()
    };
    assert_eq!(read(&message).unwrap().1[0], without_status(&of_json[0]));
    let (file, events) = read(&two).unwrap();
    assert_eq!((file.hosts.len(), &events[0]), (2, &read(&message).unwrap().1[0]));
    assert_eq!(read(&[&prefixed[..], &prefixed].concat()).unwrap().0.hosts[0].spans, 4);
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let good = record(&[("host.name", json!("web1"))], &[(1, 2, 0, "a", T, T + 1, &[])]).to_string();
    let check = |bytes: &[u8], words: &str| {
        let said = match read(bytes) {
            Ok((file, _)) => format!("cut at {:?}, {} untimed", file.cut, file.untimed),
            Err(error) => error.to_string(),
        };
        assert!(said.contains(words), "`{words}` is not in: {said}");
    };
    let second = good.len() + 1;
    check(format!("{good}\nnull").as_bytes(), &format!("the record at byte {second} cannot be read"));
    check(
        format!("{good}\n{{\"resourceSpans\": 7}}").as_bytes(),
        &format!("at byte {second} cannot be read"),
    );
    check(format!("{good}\n{}", &good[..40]).as_bytes(), &format!("cut at Some({second}), 0 untimed"));
    check(&good.as_bytes()[..40], "the record at byte 0 is not all there");
    let odd = good.replace("0000000000000002", "000000000000002");
    check(odd.as_bytes(), "an id has an odd number of digits");
    check(good.replace(&T.to_string(), "never").as_bytes(), "a number of another size was expected");
    check(br#"{"resourceSpans":[]}"#, "no span in it has a begin and an end");
    let backwards =
        record(&[], &[(1, 2, 0, "a", T, T - 1, &[]), (1, 3, 0, "b", T, T, &[]), (1, 4, 0, "c", 0, T, &[])]);
    check(backwards.to_string().as_bytes(), "cut at None, 2 untimed");
    let message = encoded(&[], &[(7, 1, 0, "a", T, T + 5, &[])]);
    check(
        &[&message[..], &[0x0a, 0xff, 0xff, 0xff, 0xff, 0x7f]].concat(),
        &format!("byte {} cannot be read as OpenTelemetry's spans: it is larger than 64 MiB", message.len()),
    );
    check(&[&message[..], &[0x12, 0x00]].concat(), "it has another field than spans");
    check(&message[..message.len() - 3], "the record at byte 0 is not all there");
    // Deeper than any reader goes.
    let deep =
        format!("{{\"resourceSpans\":[{{\"resource\":{}{}}}]}}", "[".repeat(100_000), "]".repeat(100_000));
    check(deep.as_bytes(), "the record at byte 0 cannot be read");
    let names = (0..5000).map(|host| {
        record(&[("host.name", json!(format!("h{host}")))], &[(1, 2, 0, "a", T, T, &[])]).to_string()
    });
    check(names.collect::<String>().as_bytes(), "of more than 4096 hosts");
}

#[test]
fn times_are_on_the_clock_of_the_host() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("spans.json");
    let text = record(
        &[("host.name", json!("web1"))],
        &[(1, 2, 0, "a", T, T + 1, &[]), (1, 3, 0, "b", T - 600, T - 500, &[])],
    );
    std::fs::write(&path, text.to_string()).unwrap();
    let file = SpanFile::open(&path).unwrap();
    let uuid = "9c9b7f5e-7a2b-4d56-8d3a-2f4f1b1c0a11".to_owned();
    let clock = SpanClock { uuid: Some(uuid.clone()), offset_ns: (T - 100) as i64 };
    let (written, early) = file.write(&[clock], &directory.path().join("traces")).unwrap();
    assert_eq!(early, 1);
    let trace = Trace::open(&written[0]).unwrap();
    let own = trace.schema().single_clock().unwrap();
    assert_eq!(own.identity(), Some(uuid));
    let times: Vec<u64> = trace.events(0).map(|event| event.cycles().unwrap()).collect();
    assert_eq!(times, [100, 101]);
    assert_eq!(i128::from(times[0]) + own.offset_ns(), i128::from(T));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Files with a few bytes changed are refused, or are traces.
    #[test]
    fn damaged_files_do_not_panic(
        form in 0_usize..3,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let spans: [Span<'_>; 2] = [(7, 1, 0, "a", T, T + 5, &[]), (7, 2, 1, "b", T + 1, T + 2, &[])];
        let message = encoded(&[("host.name", "web1")], &spans);
        let mut bytes = match form {
            0 => record(&[("host.name", json!("web1"))], &spans).to_string().into_bytes(),
            1 => message,
            _ => [&(message.len() as u32).to_be_bytes()[..], &message].concat(),
        };
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let _ = read(&bytes);
    }
}
