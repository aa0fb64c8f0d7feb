//! Metadata from a schema, in the language of its version; and those of a copy, which are the original's with
//! another clock.

use super::ctf_2::with_normal_offset;
use super::sharing::is_same;
use crate::error::{Error, Reason};
use crate::json_metadata::origin_name;
use crate::metadata::MAX_METADATA;
use crate::schema::{ClockClass, Schema, Scope};
use crate::trace::Trace;
use crate::tsdl::{self, BlockKind, Item};

/// The longest text that is written: what [`Trace::open`] reads.
pub(super) const MAX_BYTES: usize = MAX_METADATA as usize;

/// The complaint about a longer one.
pub(super) fn too_long() -> Inexpressible {
    format!("all of this schema: the text would be longer than the {MAX_BYTES} bytes that are read").into()
}

/// Something that the language of a schema's version has no words for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("metadata of this version of CTF cannot express {0}")]
pub struct Inexpressible(String);

/// Result of writing a part of the metadata.
pub(super) type Result<T, E = Inexpressible> = std::result::Result<T, E>;

/// Where a field is, for people: names from the root of its scope, and the ids of the classes that has it.
pub(super) fn field_location(
    scope: Option<Scope>,
    path: &[&str],
    event: Option<u64>,
    stream: Option<u64>,
) -> String {
    let scope = scope.map_or("", origin_name);
    let field = match path {
        [] => scope.to_owned(),
        path => format!("`{}` of the {scope}", path.join(".")),
    };
    let event = event.map(|id| format!(", event {id}")).unwrap_or_default();
    let stream = stream.map(|id| format!(", stream {id}")).unwrap_or_default();
    format!("{field}{event}{stream}")
}

impl Inexpressible {
    /// The same with the part of the metadata that it is in.
    pub(super) fn inside(self, part: &str) -> Self {
        Self(format!("{} (in {part})", self.0))
    }
}

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

/// The metadata that declare a schema: TSDL for version 1, the JSON of CTF 2 for version 2. Reading them
/// gives the schema again, which has been tried when this returns.
///
/// Linear in the field classes of the schema and in the text (and `n log n` in the options of a variant).
/// What fields of CTF 2 share – mappings, user attributes – is written once for each kind of field that has
/// it.
///
/// # Errors
/// The language cannot express a part of the schema, or the text would be longer than 64 MiB, which no reader
/// accepts. Such a text is not made to its end.
///
/// ```
/// let text = "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };
///             event { name = tick; fields := struct { integer { size = 32; } n; }; };";
/// let schema = isochrone_ctf::parse_metadata(text)?;
/// let written = isochrone_ctf::write::metadata(&schema)?;
/// assert_eq!(isochrone_ctf::parse_metadata(&written)?, schema);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn metadata(schema: &Schema) -> Result<String> {
    let text = if schema.version.0 >= 2 { super::json::text(schema)? } else { super::tsdl::text(schema)? };
    if text.len() > MAX_BYTES {
        return Err(too_long());
    }
    let read = crate::parse_metadata(&text)
        .map_err(|error| format!("all of this schema: what was written is refused ({error})"))?;
    if is_same(read, schema) {
        Ok(text)
    } else {
        Err("all of this schema: what was written is read as another one".into())
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
        let clock = with_normal_offset(ClockClass { name, uid, ..class.clone() });
        let schema = |clock| Schema { clocks: vec![clock], ..trace.schema().clone() };
        let text = clock.and_then(|clock| metadata(&schema(clock)));
        return text.map_err(|error| unwritable(&error.to_string()));
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
