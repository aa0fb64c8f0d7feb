//! What explanations need of a class of events: looked up once a class.

use isochrone_ctf::plan::NodeKind;
use isochrone_ctf::{Event, FieldRef};

/// What is needed of a class of events.
#[derive(Debug)]
pub(super) struct Class {
    pub(super) tid: Option<FieldRef>,
    pub(super) fds: Vec<(String, FieldRef)>,
    /// What a call returns: a descriptor, if it made one.
    pub(super) ret: Option<FieldRef>,
    pub(super) kind: Kind,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Switch,
    CallExit,
    /// The end of a phase: the name of its two tracepoints.
    PhaseEnd(String),
    Other,
}

impl Class {
    pub(super) fn of(event: &Event<'_>, is_user: bool, fd_fields: &[String]) -> Self {
        let (class, stream, name) = (event.class(), event.stream_plan(), event.name().unwrap_or_default());
        let kind = match name {
            "sched_switch" if !is_user => Kind::Switch,
            "exit_syscall" if !is_user => Kind::CallExit,
            _ if !is_user && CALL_EXITS.iter().any(|head| name.starts_with(head)) => Kind::CallExit,
            _ if is_user => phase(name).map_or(Kind::Other, |stem| Kind::PhaseEnd(stem.to_owned())),
            _ => Kind::Other,
        };
        let is_fd = |field: &str| {
            // The dump names descriptors of other processes.
            fd_fields.iter().any(|name| name == field)
                || is_descriptor(field) && !name.starts_with("lttng_statedump_")
        };
        let members = match class.payload.as_ref().map(|payload| &payload.kind) {
            Some(NodeKind::Struct(members)) => &members[..],
            _ => &[],
        };
        let names = members.iter().map(|(name, _)| name.shown()).filter(|name| is_fd(name));
        Self {
            tid: class
                .context_field(stream, "vtid")
                .filter(|_| is_user)
                .or_else(|| class.context_field(stream, "tid")),
            fds: names
                .filter_map(|name| Some((name.to_owned(), class.payload_field(stream, &[name])?)))
                .collect(),
            ret: class.payload_field(stream, &["ret"]).filter(|_| kind == Kind::CallExit),
            kind,
        }
    }
}

/// How the exits of calls are called.
const CALL_EXITS: [&str; 2] = ["syscall_exit_", "compat_syscall_exit_"];

/// Whether a field is a descriptor, by its name: `fd`, `oldfd`, `in_fd`, `fd_in`.
fn is_descriptor(field: &str) -> bool {
    field.ends_with("fd") || field.starts_with("fd_")
}

/// The name of the two tracepoints of a phase, of the one that ends it.
fn phase(name: &str) -> Option<&str> {
    let head = ["end", "exit", "stop"].iter().find_map(|word| name.strip_suffix(word))?;
    head.ends_with(['_', ':']).then(|| head.trim_end_matches(['_', ':']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_are_descriptors() {
        let check = |field, expect| assert_eq!(is_descriptor(field), expect, "{field}");
        check("fd", true);
        check("oldfd", true);
        check("in_fd", true);
        check("fd_out", true);
        check("fds", false);
        check("count", false);
    }

    #[test]
    fn ends_of_phases() {
        let check = |name, expect| assert_eq!(phase(name), expect, "{name}");
        check("thumb:phase_end", Some("thumb:phase"));
        check("mpi:end", Some("mpi"));
        check("app:work_stop", Some("app:work"));
        check("app:append", None);
        check("app:begin", None);
    }
}
