//! Any text as a condition, and its lines as definitions of periods and, behind an empty line, of captures: each refused or understood, and
//! what is understood comes to something whatever the fields are.
#![no_main]

use isochrone_periods::{Condition, Definitions, Found, Value};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    condition(text);
    let (periods, captures) = text.split_once("\n\n").unwrap_or((text, ""));
    let lines = |text| str::lines(text).collect::<Vec<&str>>();
    let Ok(definitions) = Definitions::parse(&lines(periods), &lines(captures)) else { return };
    assert_eq!(definitions.iter().len(), lines(periods).len());
    for definition in definitions.iter() {
        assert!(definition.parent().is_none_or(|parent| definitions.get(parent).is_some()));
    }
});

fn condition(text: &str) {
    let Ok(condition) = Condition::parse(text) else { return };
    // A long text, numbers, and none.
    let values =
        [Value::text(text.as_bytes()), Value::Number(text.len() as i128), Value::Real(f64::NAN.into())];
    for value in &values {
        let _ = condition.truth(&|_| Found::Value(value));
    }
    let _ = (condition.truth(&|_| Found::Missing), condition.truth(&|_| Found::Open));
    assert!(condition.fields().iter().count() <= text.len());
}
