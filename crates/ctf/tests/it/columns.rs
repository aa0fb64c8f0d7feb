//! Columns of integers hold what the events say, wherever their fields lie.

use std::path::{Path, PathBuf};

use crate::common::shared::shared;
use crate::common::{event, write};
use isochrone_ctf::plan::{EventPlan, Node, NodeKind, StreamPlan};
use isochrone_ctf::schema::Scope;
use isochrone_ctf::{Columns, Event, FieldRef, Trace};

/// The columns of these fields (paths with dots) in a trace of one class; `None` where there can be none.
fn columns(text: &str, bytes: &[u8], fields: &[&str]) -> Option<Vec<Vec<i64>>> {
    let directory = write(text, &[("stream", bytes)]);
    let trace = Trace::open(directory.path()).unwrap();
    let plan = trace.stream_plan(0);
    let class = &plan.events[0];
    let find = |path: &&str| {
        let steps: Vec<&str> = path.split('.').collect();
        class.payload_field(plan, &steps).unwrap()
    };
    let fields: Vec<FieldRef> = fields.iter().map(find).collect();
    let mut columns = Columns::new(plan, class, &fields)?;
    for event in trace.events(0) {
        assert!(columns.push(&event));
        check_row(&columns, &event, &fields);
    }
    assert_eq!(columns.width(), fields.len());
    assert!(columns.column(fields.len()).is_empty());
    let column = |field| columns.column(field).iter().map(|value| *value as i64).collect();
    Some((0..fields.len()).map(column).collect())
}

/// The last row holds the fields of this event.
fn check_row(columns: &Columns, event: &Event<'_>, fields: &[FieldRef]) {
    for (index, field) in fields.iter().enumerate() {
        let value = *columns.column(index).last().unwrap();
        let expect = match columns.is_signed(index) {
            true => event.signed(field).unwrap() as u64,
            false => event.unsigned(field).unwrap(),
        };
        assert_eq!(value, expect, "field {index} of {:?}: {field:?}", event.name());
    }
}

#[test]
fn fields_at_every_kind_of_place() {
    let check = |fields: &str, bytes: &[u8], wanted: &[&str], expect: Option<&[&[i64]]>| {
        let expect = expect.map(|columns| columns.iter().map(|column| column.to_vec()).collect());
        assert_eq!(columns(&event(fields), bytes, wanted), expect, "{fields}");
    };
    check("u8 a; u16 b;", &[1, 2, 3, 4, 5, 6], &["a", "b"], Some(&[&[1, 4], &[0x302, 0x605]]));
    // In the order of the list, one of them twice.
    check("u8 a; u8 b;", &[1, 2], &["b", "a", "b"], Some(&[&[2], &[1], &[2]]));
    check("u8 a;", &[1, 2], &[], Some(&[]));
    check("integer { size = 16; signed = true; byte_order = be; } a;", &[0xff, 0xfe], &["a"], Some(&[&[-2]]));
    // Bits, in both orders, also over more than eight bytes.
    let bits = "integer { size = 4; align = 1; } a; integer { size = 64; align = 1; } b; integer { size = 4; align = 1; signed = true; } c;";
    check(bits, &[0x21, 0, 0, 0, 0, 0, 0, 0, 0xf0], &["a", "b", "c"], Some(&[&[1], &[2], &[-1]]));
    let big = "integer { size = 4; align = 1; byte_order = be; } a; integer { size = 12; align = 1; byte_order = be; } b;";
    check(big, &[0x12, 0x34], &["b", "a"], Some(&[&[0x234], &[1]]));
    // After text, after an array, and after both.
    check(
        "u8 a; string s; u16 b; u8 c;",
        b"\x01ab\0\x02\x00\x03",
        &["c", "a", "b"],
        Some(&[&[3], &[1], &[2]]),
    );
    let array = "u8 n; u16 s[n]; u8 a; string t; integer { size = 32; align = 32; } b;";
    check(array, b"\x01xx\x07y\0\0\0\x09\0\0\0", &["a", "b", "n"], Some(&[&[7], &[9], &[1]]));
    // After a variant whose options differ in size, and not inside it.
    let variant = "enum : u8 { x, y } t; variant <t> { u8 x; struct { u16 z; u8 w; } y; } v; integer { size = 8; align = 1; } a;";
    let two = [0, 5, 6, 1, 1, 2, 3, 4];
    check(variant, &two, &["a", "t"], Some(&[&[6, 4], &[0, 1]]));
    check(variant, &two, &["v.x"], None);
    check(variant, &two, &["v.y.w"], None);
    check(variant, &two, &["v"], None);
    check("struct { u8 a; struct { u8 b; } d; } c;", &[1, 2], &["c.d.b", "c.a"], Some(&[&[2], &[1]]));
    check("struct { u8 a; } c; string s;", &[1, 0], &["c"], None);
    check("struct { u8 a; } c; string s;", &[1, 0], &["s"], None);
}

#[test]
fn rare_integers() {
    let class = |kind: &str, rest: &str| format!(r#"{{"type": "{kind}-integer"{rest}}}"#);
    let bits = |order: &str| {
        let rest = format!(r#", "length": 8, "byte-order": "little-endian", "bit-order": "{order}""#);
        class("fixed-length-unsigned", &rest)
    };
    let members = [
        ("a", class("variable-length-unsigned", "")),
        ("b", class("variable-length-signed", "")),
        ("c", bits("last-to-first")),
        ("d", bits("first-to-last")),
    ];
    let member = |(name, class): &(&str, String)| format!(r#"{{"name": "{name}", "field-class": {class}}}"#);
    let members: Vec<_> = members.iter().map(member).collect();
    let payload = format!(r#"{{"type": "structure", "member-classes": [{}]}}"#, members.join(", "));
    let text = [
        r#"{"type": "preamble", "version": 2}"#,
        r#"{"type": "data-stream-class"}"#,
        &format!(r#"{{"type": "event-record-class", "name": "x", "payload-field-class": {payload}}}"#),
    ]
    .map(|fragment| format!("\u{1e}{fragment}\n"))
    .concat();
    let found = columns(&text, &[0x81, 0x01, 0x7f, 0x80, 0x02], &["b", "a", "d", "c"]);
    assert_eq!(found.unwrap(), [[-1], [129], [2], [1]]);
}

#[test]
fn rows_are_kept_until_they_are_cleared() {
    let bytes: Vec<u8> = (0..1000_u32).flat_map(|n| [n as u8, (n >> 8) as u8]).collect();
    let directory = write(&event("u8 low; u8 high;"), &[("stream", &bytes)]);
    let trace = Trace::open(directory.path()).unwrap();
    let plan = trace.stream_plan(0);
    let class = &plan.events[0];
    let fields = ["low", "high"].map(|name| class.payload_field(plan, &[name]).unwrap());
    let mut columns = Columns::new(plan, class, &fields).unwrap();
    assert_eq!((columns.rows(), columns.column(0)), (0, &[][..]));
    for repetition in 0..2 {
        trace.events(0).for_each(|event| assert!(columns.push(&event)));
        assert_eq!(columns.rows(), 1000);
        for (row, (low, high)) in columns.column(0).iter().zip(columns.column(1)).enumerate() {
            assert_eq!(low | high << 8, row as u64, "{repetition}");
        }
        columns.clear();
        assert_eq!((columns.rows(), columns.column(1)), (0, &[][..]));
    }
    // Fields and events of another trace's class, even if it looks the same, are others.
    let other = Trace::open(directory.path()).unwrap();
    assert!(!columns.push(&other.events(0).next().unwrap()));
    assert_eq!(columns.rows(), 0);
    assert!(Columns::new(other.stream_plan(0), &other.stream_plan(0).events[0], &fields).is_none());
}

/// Adds the integers of a structure and of the structures in it.
fn add_integers(
    plan: &StreamPlan,
    class: &EventPlan,
    scope: Scope,
    path: &mut Vec<String>,
    node: &Node,
    fields: &mut Vec<FieldRef>,
) {
    match &node.kind {
        NodeKind::Integer { .. } | NodeKind::VarInteger { .. } => {
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            fields.extend(class.field(plan, scope, &path));
        }
        NodeKind::Struct(members) => {
            for (name, member) in members {
                path.push(name.declared().to_owned());
                add_integers(plan, class, scope, path, member, fields);
                path.pop();
            }
        }
        _ => {}
    }
}

/// Pushes all events of a trace into columns of all their integers; gives the number of values.
fn check_trace(path: &Path) -> usize {
    let Ok(trace) = Trace::open(path) else { return 0 };
    let mut values = 0;
    for stream in 0..trace.streams().len() {
        let plan = trace.stream_plan(stream);
        let of_class = |class: &EventPlan| {
            let mut fields = Vec::new();
            let scopes = [
                (Scope::CommonContext, &plan.common_context),
                (Scope::SpecificContext, &class.specific_context),
                (Scope::Payload, &class.payload),
            ];
            for (scope, node) in scopes {
                if let Some(node) = node {
                    add_integers(plan, class, scope, &mut Vec::new(), node, &mut fields);
                }
            }
            (Columns::new(plan, class, &fields).unwrap(), fields)
        };
        let mut classes: Vec<_> = plan.events.iter().map(of_class).collect();
        for event in trace.events(stream) {
            let (columns, fields) = &mut classes[event.class().index];
            assert!(columns.push(&event));
            check_row(columns, &event, fields);
            values += fields.len();
        }
    }
    values
}

/// Directories below (or at) this one that hold a trace.
fn traces(path: &Path, found: &mut Vec<PathBuf>) {
    if path.join("metadata").is_file() {
        found.push(path.to_owned());
    }
    for entry in std::fs::read_dir(path).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_dir()) {
        traces(&entry.path(), found);
    }
}

#[test]
fn traces_of_tracers() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    traces(&project.join("examples/shop"), &mut found);
    if cfg!(shared_data) {
        traces(&shared("ctf/traces"), &mut found);
    }
    let values: usize = found.iter().map(|path| check_trace(path)).sum();
    assert!(values > 10_000, "only {values} values in {} traces", found.len());
}
