//! Metadata from a schema, in the language of its version; and those of a copy, which are the original's with another
//! clock.

use crate::error::{Error, Reason};
use crate::schema::{ClockClass, Schema};
use crate::trace::Trace;
use crate::tsdl::{self, BlockKind, Item};

/// Something that the language of a schema's version has no words for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("metadata of this version of CTF cannot express {0}")]
pub struct Inexpressible(String);

impl From<String> for Inexpressible {
    fn from(what: String) -> Self {
        Self(what)
    }
}

impl From<&str> for Inexpressible {
    fn from(what: &str) -> Self {
        Self(what.to_owned())
    }
}

/// The metadata that declare a schema: TSDL for version 1, the JSON of CTF 2 for version 2. Reading them gives the schema
/// again, which has been tried when this returns. Linear in the schema.
///
/// # Errors
/// The language cannot express a part of the schema.
///
/// ```
/// let text = "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };
///             event { name = tick; fields := struct { integer { size = 32; } n; }; };";
/// let schema = isochrone_ctf::parse_metadata(text)?;
/// let written = isochrone_ctf::write::metadata(&schema)?;
/// assert_eq!(isochrone_ctf::parse_metadata(&written)?, schema);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn metadata(schema: &Schema) -> Result<String, Inexpressible> {
    let text = if schema.version.0 >= 2 { super::json::text(schema)? } else { super::tsdl::text(schema)? };
    match crate::parse_metadata(&text) {
        Ok(read) if read == *schema => Ok(text),
        Ok(_) => Err("all of this schema: what was written is read as another one".into()),
        Err(error) => Err(format!("all of this schema: what was written is refused ({error})").into()),
    }
}

/// The metadata of a trace with another clock of the same name. TSDL keeps its text but for the clock.
pub(super) fn metadata_with(trace: &Trace, class: &ClockClass) -> Result<String, Error> {
    let unwritable = |message: &str| Error::new(trace.path(), Reason::Unwritable(message.to_owned()));
    let [clock] = trace.schema().clocks.as_slice() else {
        return Err(unwritable("it must have exactly one clock"));
    };
    let name = clock.name.clone();
    if trace.schema().version.0 >= 2 {
        // There a uuid is the text of a uid.
        let uid = class.uuid.map(|uuid| uuid.to_string()).or_else(|| class.uid.clone());
        let clocks = vec![ClockClass { name, uid, ..class.clone() }];
        let schema = Schema { clocks, ..trace.schema().clone() };
        return metadata(&schema).map_err(|error| unwritable(&error.to_string()));
    }
    let text = trace.metadata_text();
    let ast = tsdl::parse(text).map_err(|e| unwritable(&e.message))?;
    let blocks: Vec<_> = ast
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Block(block) if block.kind == BlockKind::Clock => Some(block.offset..block.end),
            _ => None,
        })
        .collect();
    let [block] = blocks.as_slice() else {
        return Err(unwritable("it must have exactly one clock"));
    };
    let signature = if text.starts_with("/* CTF 1.8") { "" } else { "/* CTF 1.8 */\n" };
    let (before, after) = (&text[..block.start], &text[block.end..]);
    Ok(format!("{signature}{before}{}{after}", super::tsdl::clock_block(&name, class)))
}
