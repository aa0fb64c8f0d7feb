//! The event classes of a generation on a machine, and how given values are made to fit them.
//!
//! Joins the tables of [`super::events`] and [`super::calls`]; [`super::stream_writer`] encodes by it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::calls;
use super::events;
use super::generation::Generation;
use super::spec::{self, Dialect};
use crate::assign::Given;
use crate::classes::NetLayout;
use crate::lttng::LttngTrace;
use crate::net;
use crate::value::FieldValue;

/// The packet events that record headers, from 2.9 on.
const WITH_HEADERS: [&str; 2] = ["net_dev_queue", "net_if_receive_skb"];
/// What every event records of the running thread where contexts were asked for.
const CONTEXT: &str = "i32 tid, i32 pid, comm procname";

/// All event classes of a trace.
#[derive(Debug)]
pub(crate) struct Catalogue {
    dialect: Dialect,
    /// Fields by name of the class.
    classes: BTreeMap<String, Cow<'static, str>>,
    with_headers: bool,
}

impl Catalogue {
    pub(crate) fn new(generation: Generation, long_bits: u32) -> Self {
        let other = events::of(generation).map(|(name, fields)| (name.to_owned(), Cow::Borrowed(fields)));
        Self {
            dialect: Dialect { long_bits, signed_chars: generation.signed_chars() },
            classes: calls::of(generation).into_iter().chain(other).collect(),
            with_headers: generation >= Generation::V2_13,
        }
    }

    /// Leaves out some classes, as if their events had not been enabled.
    pub(crate) fn without(mut self, names: &[String]) -> Self {
        self.classes.retain(|name, _| !names.contains(name));
        self
    }

    /// Declares them all.
    pub(crate) fn declare(&self, trace: &mut LttngTrace, contexts: bool) {
        trace.only(&[]);
        for (name, fields) in &self.classes {
            trace.define(name, &spec::tsdl(fields, self.dialect));
        }
        for name in WITH_HEADERS.into_iter().filter(|_| self.with_headers) {
            trace.define(name, &net::fields(NetLayout::V2_13));
        }
        if contexts {
            trace.context(&spec::tsdl(CONTEXT, self.dialect));
        }
    }

    /// Brings the values of unsigned fields into their range, modulo.
    pub(crate) fn fit(&self, class: &str, given: &mut [Given<'_>]) {
        let Some(fields) = self.classes.get(class) else { return };
        for (name, value) in given {
            let field = spec::fields(fields).find(|field| field.name == *name);
            if let Some(bits) = field.and_then(|field| field.unsigned_bits(self.dialect)) {
                wrap(value, bits);
            }
        }
    }
}

fn wrap(value: &mut FieldValue, bits: u32) {
    match value {
        FieldValue::Integer(number) => *number = number.rem_euclid(1 << bits),
        FieldValue::Array(elements) => elements.iter_mut().for_each(|element| wrap(element, bits)),
        FieldValue::Text(_) | FieldValue::Float(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsigned_fields_wrap() {
        let check = |class: &str, field: &'static str, value: i64, long_bits, expect: i128| {
            let mut given = [(field, FieldValue::from(value))];
            Catalogue::new(Generation::V2_13, long_bits).fit(class, &mut given);
            assert_eq!(given[0].1, FieldValue::Integer(expect), "{class} {field}");
        };
        check("syscall_entry_close", "fd", -1, 64, 0xffff_ffff);
        check("syscall_entry_openat", "dfd", -100, 64, -100);
        check("syscall_entry_openat", "mode", 0x1_0000, 64, 0);
        check("syscall_entry_brk", "brk", -1, 32, 0xffff_ffff);
        check("syscall_entry_brk", "brk", -1, 64, 0xffff_ffff_ffff_ffff);
    }
}
