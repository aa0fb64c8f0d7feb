//! What is done with metadata of any text.

use isochrone_ctf::plan::Plan;
use isochrone_ctf::{parse_metadata, write};

pub fn exercise(text: &str) {
    let Ok(schema) = parse_metadata(text) else { return };
    let _ = Plan::compile(&schema);
    if let Err(error) = write::metadata(&schema) {
        // Names that no identifier can spell, for one. But what is written is right.
        assert!(!error.to_string().contains("what was written"), "{error}");
    }
}
