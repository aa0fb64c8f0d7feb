//! Arguments as strace shows them: `AT_FDCWD, "/etc/passwd", O_RDONLY|O_CLOEXEC`.
//!
//! What `show` and `tables` have is shown by name; everything else as the class of its field defines it.

use std::fmt::Write as _;

use isochrone_ctf::Event;
use isochrone_ctf::plan::{EventPlan, NodeKind};
use isochrone_ctf::schema::Scope;

use crate::show::{self, Show};
use crate::values::{ArgumentValues, ValueWriter};
use crate::writer::Writer;
use crate::{number, tables};

/// How the arguments of a class are shown, each by its place: with the index of a way that needs nothing but
/// a number.
#[derive(Debug)]
pub struct Arguments {
    shows: Vec<(Show, Option<u8>)>,
    is_exit: bool,
}

impl Arguments {
    /// Of an entry.
    pub fn of_entry(call: &str, class: &EventPlan) -> Self {
        Self::new(call, class, show::of_entry, false)
    }

    /// Of an exit: what the call filled in.
    pub fn of_exit(call: &str, class: &EventPlan) -> Self {
        Self::new(call, class, show::of_exit, true)
    }

    fn new(call: &str, class: &EventPlan, show: fn(&str, &str, bool) -> Show, is_exit: bool) -> Self {
        let Some(NodeKind::Struct(members)) = class.payload.as_ref().map(|payload| &payload.kind) else {
            return Self { shows: Vec::new(), is_exit };
        };
        let has_address = members.iter().any(|(name, _)| matches!(name.shown(), "sport" | "dport"));
        let shows = members.iter().map(|(name, node)| {
            let unsigned = matches!(&node.kind, NodeKind::Integer { class, .. } if !class.signed);
            match name.shown() {
                // It precedes the address, which `Writer` puts together.
                "family" if has_address => Show::Names(tables::FAMILY),
                // The address itself is shown.
                "uservaddr" | "addrlen" if has_address => Show::Skip,
                name => show(call, name, unsigned),
            }
        });
        Self { shows: shows.map(|show| (show, number::index(show))).collect(), is_exit }
    }

    /// The arguments of an event.
    pub fn values(&self, event: &Event<'_>) -> ArgumentValues {
        let mut writer = Writer::new(&self.shows, self.is_exit);
        // Cannot fail: the event was walked when it was found.
        event.visit(Scope::Payload, &mut writer).unwrap_or_default();
        writer.finish()
    }
}

/// Numbers whose meaning is not known.
pub fn hexadecimal(numbers: &[i64]) -> ArgumentValues {
    let mut values = ValueWriter::default();
    for (index, number) in numbers.iter().enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        // Writing to a string cannot fail.
        write!(values.text, "{comma}{number:#x}").unwrap_or_default();
    }
    values.finish()
}

/// Name of a family of addresses.
pub fn family_name(family: i64) -> Option<&'static str> {
    tables::name(tables::FAMILY, family)
}

/// Name of a signal; those of real time have none.
pub fn signal_name(number: i32) -> Option<&'static str> {
    tables::name(tables::SIGNAL, number.into())
}

/// Name of a type of sockets.
pub fn socket_type_name(kind: i64) -> Option<&'static str> {
    tables::name(tables::SOCKET_TYPE, kind)
}
