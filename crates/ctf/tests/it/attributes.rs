//! User attributes of CTF 2 are kept.

use crate::common::json::U8;
use isochrone_ctf::schema::{Owner, Scope};

#[test]
fn user_attributes_are_kept() {
    let attributes = |n: u32| format!(r#""attributes": {{"my.org": {{"n": {n}}}}}"#);
    let text = [
        format!(r#"{{"type": "preamble", "version": 2, {}}}"#, attributes(1)),
        format!(r#"{{"type": "trace-class", {}}}"#, attributes(2)),
        format!(r#"{{"type": "clock-class", "id": "c", "frequency": 1000, {}}}"#, attributes(3)),
        format!(r#"{{"type": "field-class-alias", "name": "byte", "field-class": {}}}"#, with(U8, &attributes(4))),
        format!(r#"{{"type": "data-stream-class", "id": 7, {}}}"#, attributes(5)),
        format!(
            r#"{{"type": "event-record-class", "data-stream-class-id": 7, "id": 1, {}, "payload-field-class":
               {{"type": "structure", "member-classes": [
                 {{"name": "a", "field-class": "byte", {}}},
                 {{"name": "b", "field-class": {{"type": "static-length-array", "length": 1, "element-field-class": "byte"}}}}
               ], {}}}}}"#,
            attributes(6),
            attributes(7),
            attributes(8)
        ),
    ]
    .map(|fragment| format!("\u{1e}{fragment}\n"))
    .concat();
    let schema = isochrone_ctf::parse_metadata(&text).unwrap();
    let field = |steps: &[usize], holder| Owner::Field {
        stream: Some(7),
        event: Some(1),
        scope: Scope::Payload,
        steps: steps.to_vec(),
        holder,
    };
    let expect = [
        (Owner::Preamble, 1),
        (Owner::Trace, 2),
        (Owner::Clock(0), 3),
        (Owner::Stream(7), 5),
        (Owner::Event { stream: 7, id: 1 }, 6),
        (field(&[], false), 8),
        (field(&[0], false), 4),
        (field(&[0], true), 7),
        (field(&[1, 0], false), 4),
    ];
    let found: Vec<_> = schema
        .attributes
        .iter()
        .map(|(owner, attributes)| (owner.clone(), attributes["my.org"]["n"].as_u64().unwrap()))
        .collect();
    assert_eq!(found, expect);
}

/// A JSON object with one more property.
fn with(object: &str, property: &str) -> String {
    format!("{}, {property}}}", object.trim_end_matches('}'))
}
