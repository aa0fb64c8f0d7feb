//! The events of system calls: which class a call has in a generation, and which of the given fields.
//!
//! [`super::calls`] has the tables.

use super::at::Fields;
use super::calls::{self, Call};
use super::generation::{Generation, split_compat};
use super::simulator::{EmittedEvent, given};
use super::spec;
use crate::assign::Given;
use crate::value::FieldValue;

/// Where arguments are said to lie that are no numbers.
const TEXT: u64 = 0x7ffe_0000;
/// Arguments of a call without a class of its own.
const ARGUMENTS: usize = 6;

/// The entry of a call.
pub(crate) fn entry<'s>(generation: Generation, call: &str, fields: &'s Fields) -> EmittedEvent<'s> {
    let Some(known) = calls::find(call) else { return (generation.entry_class(call), given(fields)) };
    if known.has_class(generation) {
        let name = generation.entry_class(call);
        let fields = told(fields, known.entry(generation), |other| known.entry(other).into());
        (name, fields)
    } else {
        let values = [("id", known.number.into()), ("args", arguments(&known, fields))];
        (generation.entry_class(&unknown(call)), values.into())
    }
}

/// The exit of a call; the first of the fields is the result.
pub(crate) fn exit<'s>(generation: Generation, call: &str, fields: &'s Fields) -> EmittedEvent<'s> {
    let Some(known) = calls::find(call) else { return (generation.exit_class(call), given(fields)) };
    if !generation.names_exits() || known.has_class(generation) {
        let name = generation.exit_class(call);
        let here = known.exit(generation);
        (name, told(fields, &here, |other| known.exit(other)))
    } else {
        let ret = fields.iter().filter(|(name, _)| name == "ret").map(|(_, value)| ("ret", value.clone()));
        let values = [("id", known.number.into()), ("args", arguments(&known, &Fields::new()))];
        (generation.exit_class(&unknown(call)), values.into_iter().chain(ret).collect())
    }
}

fn unknown(call: &str) -> String {
    format!("{}unknown", split_compat(call).0)
}

/// The given fields without those that only other generations have.
fn told<'s, 't>(
    fields: &'s Fields,
    here: &str,
    elsewhere: impl Fn(Generation) -> std::borrow::Cow<'t, str>,
) -> Vec<Given<'s>> {
    let has = |spec: &str, name: &str| spec::fields(spec).any(|field| field.name == name);
    let mut kept = given(fields);
    kept.retain(|(name, _)| {
        has(here, name) || !Generation::ALL.into_iter().any(|other| has(&elsewhere(other), name))
    });
    kept
}

/// The arguments of a call in their order as words.
fn arguments(call: &Call, fields: &Fields) -> FieldValue {
    let names = spec::fields(call.entry(Generation::V2_14)).map(|field| field.name);
    let value = |name: &str| match fields.iter().find(|(given, _)| given == name) {
        Some((_, FieldValue::Integer(value))) => FieldValue::Integer(*value),
        Some(_) => TEXT.into(),
        None => 0.into(),
    };
    let mut values: Vec<FieldValue> = names.map(value).take(ARGUMENTS).collect();
    values.resize(ARGUMENTS, 0.into());
    FieldValue::Array(values)
}
