//! Exits of system calls.

use isochrone_ctf::plan::{EventPlan, NodeKind};
use isochrone_ctf::{Event, FieldRef, Trace};
use isochrone_strace::Arguments;

use super::fields::{AddressFields, Numbers, number, word_bits};
use super::waiting::WaitedFields;
use super::{Exit, ExitOutput, numbers};
use crate::id::Name;

/// Decodes the exits of one event class.
#[derive(Debug)]
pub struct ExitDecoder {
    name: Option<Name>,
    ret: Option<FieldRef>,
    /// Whether the result is an unsigned number of 32 bits: errors are at its end.
    narrow: bool,
    output: ExitFields,
    /// The number of a call without an event class of its own, and whether it is one of a 32-bit program.
    unknown: Option<(FieldRef, bool)>,
    arguments: Option<Arguments>,
}

/// The fields besides the result.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // There is one for each event class, not for each event.
enum ExitFields {
    Nothing,
    Pair(FieldRef),
    Peer(AddressFields),
    Ready(WaitedFields),
    EpollReady(WaitedFields),
}

impl ExitDecoder {
    /// Makes a decoder for an event class of a stream (by its index in [`Trace::streams`]); `None`: its
    /// events are no exits of calls. `with_arguments`: whether [`Exit::arguments`] are wanted.
    pub fn new(trace: &Trace, stream: usize, class: &EventPlan, with_arguments: bool) -> Option<Self> {
        let class_name = class.name.as_deref()?;
        let (rest, compat) = match class_name.strip_prefix("compat_") {
            Some(rest) => (rest, true),
            None => (class_name, false),
        };
        let name = if rest == "exit_syscall" { None } else { Some(rest.strip_prefix("syscall_exit_")?) };
        let stream = trace.stream_plan(stream);
        let field = |name: &str| class.payload_field(stream, &[name]);
        let unknown = match name {
            Some("unknown") => {
                let narrow = compat || word_bits(class) == Some(32);
                field("id").map(|id| (id, narrow))
            }
            _ => None,
        };
        let output = match name {
            Some("pipe" | "pipe2") => field("fildes").map(ExitFields::Pair),
            Some("socketpair") => field("socket").map(ExitFields::Pair),
            Some("poll" | "ppoll" | "select" | "pselect6") => {
                Some(ExitFields::Ready(WaitedFields::find(stream, class)))
            }
            Some("epoll_wait" | "epoll_pwait" | "epoll_pwait2") => {
                Some(ExitFields::EpollReady(WaitedFields::find(stream, class)))
            }
            Some("accept" | "accept4") => AddressFields::find(stream, class).map(ExitFields::Peer),
            _ => None,
        };
        Some(Self {
            ret: field("ret"),
            narrow: is_narrow(class),
            output: output.unwrap_or(ExitFields::Nothing),
            unknown,
            arguments: name.filter(|_| with_arguments).map(|name| Arguments::of_exit(name, class)),
            name: name.map(Name::from),
        })
    }

    /// Decodes an event of the class.
    #[inline]
    pub fn decode(&self, event: &Event<'_>) -> Exit {
        let ret = self.ret.as_ref().and_then(|field| number(event, field)).unwrap_or_default();
        let ret = if self.narrow && ret > i64::from(u32::MAX - 4095) { i64::from(ret as i32) } else { ret };
        let output = match &self.output {
            ExitFields::Nothing => ExitOutput::Nothing,
            _ if ret < 0 => ExitOutput::Nothing,
            ExitFields::Pair(field) => match Numbers::read(event, field) {
                Numbers { values, count: 2, .. } => ExitOutput::Pair(values[0] as i32, values[1] as i32),
                _ => ExitOutput::Nothing,
            },
            ExitFields::Ready(_) | ExitFields::EpollReady(_) if ret == 0 => ExitOutput::Nothing,
            ExitFields::Ready(fields) => fields.ready(event).map_or(ExitOutput::Nothing, ExitOutput::Ready),
            ExitFields::EpollReady(fields) => {
                fields.epoll_ready(event).map_or(ExitOutput::Nothing, ExitOutput::EpollReady)
            }
            ExitFields::Peer(fields) => fields.read(event).map_or(ExitOutput::Nothing, ExitOutput::Peer),
        };
        let name = match &self.unknown {
            None => self.name.clone(),
            Some((field, narrow)) => {
                // The return from a signal handler has lost its number, -1: it ends whatever call is open.
                let id = number(event, field).unwrap_or(-1) as i32;
                (id >= 0).then(|| numbers::name(id, *narrow))
            }
        };
        let arguments = match &self.arguments {
            Some(arguments) if self.unknown.is_none() && !(-4095..0).contains(&ret) => {
                Some(arguments.values(event)).filter(|values| !values.is_empty())
            }
            _ => None,
        };
        Exit { name, ret, output, arguments }
    }
}

/// Whether the result is an unsigned number of 32 bits.
fn is_narrow(class: &EventPlan) -> bool {
    let node = class.payload.as_ref().and_then(|payload| payload.member("ret"));
    match node.map(|(_, node)| &node.kind) {
        Some(NodeKind::Integer { class, .. }) => class.size == 32 && !class.signed,
        _ => false,
    }
}
