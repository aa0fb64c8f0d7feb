//! Roles: what the reader itself needs a field for. They count in the scope they belong to only.

use super::json_ref::JsonRef;
use super::locations::Here;
use crate::schema::{Role, Scope};
use crate::text_error::{Notes, Result};

/// Names of the roles, and where they count.
const ROLES: [(&str, Scope, Role); 12] = [
    ("packet-magic-number", Scope::PacketHeader, Role::PacketMagic),
    ("metadata-stream-uuid", Scope::PacketHeader, Role::TraceUuid),
    ("data-stream-class-id", Scope::PacketHeader, Role::StreamClassId),
    ("data-stream-id", Scope::PacketHeader, Role::StreamId),
    ("packet-total-length", Scope::PacketContext, Role::PacketTotalLength),
    ("packet-content-length", Scope::PacketContext, Role::PacketContentLength),
    ("default-clock-timestamp", Scope::PacketContext, Role::PacketBegin),
    ("packet-end-default-clock-timestamp", Scope::PacketContext, Role::PacketEnd),
    ("discarded-event-record-counter-snapshot", Scope::PacketContext, Role::DiscardedEvents),
    ("packet-sequence-number", Scope::PacketContext, Role::PacketSequenceNumber),
    ("event-record-class-id", Scope::EventHeader, Role::EventClassId),
    ("default-clock-timestamp", Scope::EventHeader, Role::Timestamp),
];

/// What a role is called.
pub(crate) fn role_name(role: Role) -> &'static str {
    ROLES.iter().find(|(.., named)| *named == role).map_or("", |(name, ..)| name)
}

/// The role of a field class, if it has one that counts here.
pub(super) fn of(class: &JsonRef<'_, '_>, here: &Here<'_>, notes: &mut Notes) -> Result<Option<Role>> {
    let Some(names) = class.get("roles") else { return Ok(None) };
    let mut found: Option<Role> = None;
    for node in names.elements()? {
        let name = node.text()?;
        let Some((_, _, role)) = ROLES.iter().find(|(role, scope, _)| *role == name && *scope == here.scope)
        else {
            notes.add(node.offset, format!("the role `{name}` means nothing where it is; ignored"));
            continue;
        };
        if here.in_array() {
            return Err(node.error(format!("no field inside an array can have the role `{name}`")));
        }
        found = Some(match (found, *role) {
            // Of a packet without padding; the reader takes one for the other.
            (Some(Role::PacketTotalLength), Role::PacketContentLength)
            | (Some(Role::PacketContentLength), Role::PacketTotalLength) => Role::PacketTotalLength,
            (Some(first), second) if first != second => {
                return Err(node.error("a field with two such roles is not supported"));
            }
            (_, role) => role,
        });
    }
    Ok(found)
}
