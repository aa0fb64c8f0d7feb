//! What the tests share: reading back, and complaining if the reader complains.

use std::path::Path;

use isochrone_ctf::schema::Scope;
use isochrone_ctf::{Event, Trace, Value, ValueVisitor};

/// Opens a trace that must be without fault, its index included.
pub fn open(directory: &Path) -> Trace {
    let trace = Trace::open(directory).unwrap();
    assert_eq!(trace.diagnostics(), []);
    for name in trace.file_names() {
        assert!(directory.join("index").join(format!("{name}.idx")).is_file(), "{name} has no index");
    }
    trace
}

/// All events of a stream, which must decode to its end.
pub fn events(trace: &Trace, stream: usize) -> Vec<Event<'_>> {
    let mut events = trace.events(stream);
    let found = events.by_ref().collect();
    assert_eq!(events.diagnostics(), []);
    found
}

/// Time and name of all events of a stream.
pub fn times(trace: &Trace, stream: usize) -> Vec<(u64, String)> {
    let shown = |event: &Event<'_>| (event.cycles().unwrap(), event.name().unwrap().to_owned());
    events(trace, stream).iter().map(shown).collect()
}

/// A field of the payload by names joined with dots; `None` where the event has another option.
pub fn field(event: &Event<'_>, path: &str) -> Option<Value> {
    field_in(event, Scope::Payload, path)
}

/// A field of any scope.
pub fn field_in(event: &Event<'_>, scope: Scope, path: &str) -> Option<Value> {
    let steps: Vec<&str> = path.split('.').collect();
    let field =
        event.class().field(event.stream_plan(), scope, &steps).unwrap_or_else(|| panic!("no field {path}"));
    let mut visitor = ValueVisitor::default();
    event.visit_field(&field, &mut visitor)?;
    let value = visitor.into_value().unwrap();
    // Where the reader has a shortcut to a number, it must see the same.
    match value {
        Value::Unsigned(value) => assert_eq!(event.unsigned(&field), Some(value), "{path}"),
        Value::Signed(value) => assert_eq!(event.signed(&field), Some(value), "{path}"),
        _ => {}
    }
    Some(value)
}

/// All files below a directory with their contents, in the order of their names.
pub fn files(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(next) = pending.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else {
                let name = path.strip_prefix(directory).unwrap().display().to_string();
                found.push((name, std::fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}
