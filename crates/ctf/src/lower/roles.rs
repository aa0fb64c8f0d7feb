//! Roles: CTF 1.8 gives the fields a reader needs by their names, the schema marks them.

use crate::schema::{FieldClass, IntegerClass, Role, StructClass};

/// Marks the fields of a packet header.
pub(super) fn mark_packet_header(class: &mut StructClass) {
    for member in &mut class.members {
        match (member.name.as_str(), &mut member.class) {
            ("magic", FieldClass::Integer(class)) => class.role = Some(Role::PacketMagic),
            ("stream_id", FieldClass::Integer(class)) => class.role = Some(Role::StreamClassId),
            ("stream_instance_id", FieldClass::Integer(class)) => class.role = Some(Role::StreamId),
            ("uuid", FieldClass::Array(class)) => {
                if let FieldClass::Integer(class) = class.element.as_mut() {
                    class.role = Some(Role::TraceUuid);
                }
            }
            _ => {}
        }
    }
}

/// Marks the fields of a packet context. Times are on the clock of the stream; what another clock says is a
/// field like any other.
pub(super) fn mark_packet_context(class: &mut StructClass, clock: Option<usize>) {
    for member in &mut class.members {
        let FieldClass::Integer(class) = &mut member.class else { continue };
        let timed = class.clock.is_none() || class.clock == clock;
        class.role = match member.name.as_str() {
            "timestamp_begin" if timed => Some(Role::PacketBegin),
            "timestamp_end" if timed => Some(Role::PacketEnd),
            "content_size" => Some(Role::PacketContentLength),
            "packet_size" => Some(Role::PacketTotalLength),
            "events_discarded" => Some(Role::DiscardedEvents),
            "packet_seq_num" => Some(Role::PacketSequenceNumber),
            _ => None,
        };
    }
    for (role, ending) in [(Role::PacketBegin, "_begin"), (Role::PacketEnd, "_end")] {
        mark_by_ending(class, role, ending, clock);
    }
}

/// Whatever is mapped to the clock and has such a name is the packet's start or end (CTF 1.8 section 8),
/// unless the usual field is there.
fn mark_by_ending(class: &mut StructClass, role: Role, ending: &str, clock: Option<usize>) {
    if class.members.iter().any(|member| member.class.role() == Some(role)) {
        return;
    }
    for member in &mut class.members {
        if let FieldClass::Integer(class) = &mut member.class
            && (class.clock.is_some() && class.clock == clock && class.role.is_none())
            && member.name.ends_with(ending)
        {
            class.role = Some(role);
            return;
        }
    }
}

/// Marks the fields of an event header: whatever is called `id`, and all that is mapped to the stream's
/// clock.
pub(super) fn mark_event_header(class: &mut StructClass, clock: Option<usize>) {
    for member in &mut class.members {
        mark_in_header(&member.name, &mut member.class, clock);
    }
}

fn mark_in_header(name: &str, class: &mut FieldClass, clock: Option<usize>) {
    match class {
        FieldClass::Integer(class) if class.clock.is_some() => {
            class.role = (class.clock == clock).then_some(Role::Timestamp);
        }
        FieldClass::Integer(class) if name == "id" => class.role = Some(Role::EventClassId),
        FieldClass::Struct(class) => mark_event_header(class, clock),
        FieldClass::Variant(class) => {
            for option in &mut class.options {
                mark_in_header(&option.name, &mut option.class, clock);
            }
        }
        _ => {}
    }
}

/// Whether a field with a role is there, at any depth of structures and variants.
pub(super) fn has(class: &StructClass, role: Role) -> bool {
    class.members.iter().any(|member| has_role(&member.class, role))
}

fn has_role(class: &FieldClass, role: Role) -> bool {
    match class {
        FieldClass::Struct(class) => has(class, role),
        FieldClass::Variant(class) => class.options.iter().any(|option| has_role(&option.class, role)),
        _ => class.role() == Some(role),
    }
}

/// Maps times to the only clock where nothing is mapped to any, as the first tracers wrote it: in an event
/// header what is called `timestamp`, in a packet context `timestamp_begin` and `timestamp_end`. Whether
/// there was any.
pub(super) fn map_times(
    packet_context: Option<&mut StructClass>,
    event_header: Option<&mut StructClass>,
) -> bool {
    let mapped = |class: &Option<&mut StructClass>| class.as_deref().and_then(first_clock).is_some();
    if mapped(&packet_context) || mapped(&event_header) {
        return false;
    }
    let in_header = event_header.is_some_and(|class| map_members(class, &["timestamp"]));
    let in_context =
        packet_context.is_some_and(|class| map_members(class, &["timestamp_begin", "timestamp_end"]));
    in_header || in_context
}

fn map_members(class: &mut StructClass, names: &[&str]) -> bool {
    let mut found = false;
    for member in &mut class.members {
        found |= map_named(&member.name, &mut member.class, names);
    }
    found
}

fn map_named(name: &str, class: &mut FieldClass, names: &[&str]) -> bool {
    match class {
        FieldClass::Integer(class) if names.contains(&name) => {
            class.clock = Some(0);
            true
        }
        FieldClass::Struct(class) => map_members(class, names),
        FieldClass::Variant(class) => {
            let mut found = false;
            for option in &mut class.options {
                found |= map_named(&option.name, &mut option.class, names);
            }
            found
        }
        _ => false,
    }
}

/// The clock that a structure's stamps are on: that of the first integer mapped to one.
pub(super) fn first_clock(class: &StructClass) -> Option<usize> {
    class.members.iter().find_map(|m| clock_in(&m.class))
}

fn clock_in(class: &FieldClass) -> Option<usize> {
    match class {
        FieldClass::Integer(IntegerClass { clock, .. }) => *clock,
        FieldClass::Struct(class) => first_clock(class),
        FieldClass::Variant(class) => class.options.iter().find_map(|o| clock_in(&o.class)),
        _ => None,
    }
}
