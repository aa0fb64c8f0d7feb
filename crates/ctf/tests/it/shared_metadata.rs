//! Traces with equal metadata share what these mean.

use crate::common::{event, write};
use isochrone_ctf::{Schemas, Trace};

#[test]
fn equal_metadata_are_understood_once() {
    // With something odd in it.
    let text = event("u8 n;").replace("trace {", "trace { sparkle = 1;");
    let schemas = Schemas::default();
    let [a, b] = [(); 2].map(|()| write(&text, &[("s", &[7])]));
    let other = write(&event("u16 n;"), &[("s", &[7, 0])]);
    let open = |directory: &tempfile::TempDir| Trace::open_with(directory.path(), &schemas).unwrap();
    let (a, b, other) = (open(&a), open(&b), open(&other));
    assert!(std::ptr::eq(a.schema(), b.schema()) && std::ptr::eq(a.plan(), b.plan()));
    assert!(!std::ptr::eq(a.schema(), other.schema()));
    assert_ne!(a.schema(), other.schema());
    assert_eq!(a.metadata_text(), b.metadata_text());
    for trace in [&a, &b] {
        let [odd] = trace.diagnostics() else { panic!("{:?}", trace.diagnostics()) };
        assert_eq!(odd.path, trace.path().join("metadata"));
        assert_eq!(trace.events(0).count(), 1);
    }
}

#[test]
fn metadata_that_change_are_those_of_one_trace() {
    let schemas = Schemas::default();
    let directories = [(); 2].map(|()| write(&event("u8 n;"), &[]));
    let [mut a, b] = directories.each_ref().map(|d| Trace::open_with(d.path(), &schemas).unwrap());
    let longer = format!(
        "{} event {{ name = y; id = 1; }};",
        event("u8 n;").replace("name = x;", "name = x; id = 0;")
    );
    std::fs::write(directories[0].path().join("metadata"), longer).unwrap();
    assert!(a.refresh().unwrap().metadata);
    assert_eq!([&a, &b].map(|trace| trace.schema().streams[0].events.len()), [2, 1]);
}
