//! Clock classes.

use uuid::Uuid;

use super::json_ref::JsonRef;
use crate::schema::{ClockClass, ClockOrigin};
use crate::text_error::{Notes, Result};

const PROPERTIES: [&str; 11] = [
    "id",
    "name",
    "namespace",
    "uid",
    "uuid",
    "description",
    "frequency",
    "precision",
    "accuracy",
    "origin",
    "offset-from-origin",
];

/// Reads a clock class; gives the id that data stream classes name it by.
pub(super) fn read<'j>(node: &JsonRef<'j, '_>, notes: &mut Notes) -> Result<(&'j str, ClockClass)> {
    node.only(&PROPERTIES, notes)?;
    let id = match node.get("id") {
        Some(id) => id.text()?,
        None => {
            let name = node.get("name").ok_or_else(|| node.error("`id` is missing"))?;
            super::release_candidate(notes, node.offset, "a clock class without `id`");
            name.text()?
        }
    };
    let name = node.text_of("name")?.unwrap_or_else(|| id.to_owned());
    let mut uid = node.text_of("uid")?;
    let mut uuid = uid.as_deref().and_then(|uid| Uuid::try_parse(uid).ok());
    if let Some(written) = node.get("uuid") {
        super::release_candidate(notes, node.offset, "the `uuid` of a clock class");
        uuid = Some(written.uuid()?);
        uid = uid.or(uuid.map(|uuid| uuid.to_string()));
    }
    let frequency = node.unsigned_of("frequency")?.unwrap_or(1_000_000_000);
    if frequency == 0 {
        return Err(node.error(format!("the clock `{name}` has a frequency of 0")));
    }
    let (absolute, origin) = match node.get("origin") {
        None => (false, None),
        Some(origin) if origin.value.is_object() => {
            origin.only(&["namespace", "name", "uid"], notes)?;
            let text = |name| Ok(origin.need(name)?.text()?.to_owned());
            let (name, uid) = (text("name")?, text("uid")?);
            (false, Some(ClockOrigin { namespace: origin.text_of("namespace")?, name, uid }))
        }
        Some(origin) => match origin.text()? {
            "unix-epoch" => (true, None),
            other => return Err(origin.error(format!("`{other}` is not an origin of a clock"))),
        },
    };
    let (mut offset_s, mut offset_cycles) = (0, 0);
    if let Some(offset) = node.get("offset-from-origin") {
        offset.only(&["seconds", "cycles"], notes)?;
        let part = |name| match offset.get(name) {
            None => Ok(0),
            Some(number) => i64::try_from(number.integer()?)
                .map_err(|_| number.error("an offset of a clock has 64 bits with a sign")),
        };
        (offset_s, offset_cycles) = (part("seconds")?, part("cycles")?);
    }
    let clock = ClockClass {
        name,
        uuid,
        namespace: node.text_of("namespace")?,
        uid,
        description: node.text_of("description")?,
        frequency,
        precision: node.unsigned_of("precision")?.unwrap_or(0),
        accuracy: node.unsigned_of("accuracy")?,
        offset_s,
        offset_cycles,
        absolute,
        origin,
    };
    Ok((id, clock))
}
