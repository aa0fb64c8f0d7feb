//! Clock classes.

use uuid::Uuid;

use super::place::Place;
use crate::lower::Complaint;
use crate::lower::notes::Notes;
use crate::schema::{ClockClass, ClockOrigin};

type Result<T> = std::result::Result<T, Complaint>;

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
pub(super) fn read<'j>(place: &Place<'j, '_>, notes: &mut Notes) -> Result<(&'j str, ClockClass)> {
    place.only(&PROPERTIES, notes)?;
    let id = match place.get("id") {
        Some(id) => id.text()?,
        None => {
            let name = place.get("name").ok_or_else(|| place.complaint("`id` is missing"))?;
            super::release_candidate(notes, place.offset, "a clock class without `id`");
            name.text()?
        }
    };
    let name = place.text_of("name")?.unwrap_or_else(|| id.to_owned());
    let mut uid = place.text_of("uid")?;
    let mut uuid = uid.as_deref().and_then(|uid| Uuid::try_parse(uid).ok());
    if let Some(written) = place.get("uuid") {
        super::release_candidate(notes, place.offset, "the `uuid` of a clock class");
        uuid = Some(written.uuid()?);
        uid = uid.or(uuid.map(|uuid| uuid.to_string()));
    }
    let frequency = place.unsigned_of("frequency")?.unwrap_or(1_000_000_000);
    if frequency == 0 {
        return Err(place.complaint(format!("the clock `{name}` has a frequency of 0")));
    }
    let (absolute, origin) = match place.get("origin") {
        None => (false, None),
        Some(origin) if origin.value.is_object() => {
            origin.only(&["namespace", "name", "uid"], notes)?;
            let text = |name| Ok(origin.need(name)?.text()?.to_owned());
            let (name, uid) = (text("name")?, text("uid")?);
            (false, Some(ClockOrigin { namespace: origin.text_of("namespace")?, name, uid }))
        }
        Some(origin) => match origin.text()? {
            "unix-epoch" => (true, None),
            other => return Err(origin.complaint(format!("`{other}` is not an origin of a clock"))),
        },
    };
    let (mut offset_s, mut offset_cycles) = (0, 0);
    if let Some(offset) = place.get("offset-from-origin") {
        offset.only(&["seconds", "cycles"], notes)?;
        let part = |name| match offset.get(name) {
            None => Ok(0),
            Some(number) => i64::try_from(number.integer()?)
                .map_err(|_| number.complaint("an offset of a clock has 64 bits with a sign")),
        };
        (offset_s, offset_cycles) = (part("seconds")?, part("cycles")?);
    }
    let clock = ClockClass {
        name,
        uuid,
        namespace: place.text_of("namespace")?,
        uid,
        description: place.text_of("description")?,
        frequency,
        precision: place.unsigned_of("precision")?.unwrap_or(0),
        accuracy: place.unsigned_of("accuracy")?,
        offset_s,
        offset_cycles,
        absolute,
        origin,
    };
    Ok((id, clock))
}
