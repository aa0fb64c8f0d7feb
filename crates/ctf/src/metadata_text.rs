//! From a metadata text to the schema: which of the two languages it is, and errors and notes with their
//! lines and columns.

use std::path::Path;

use isochrone_diagnostic::Diagnostic;

use crate::error::{Error, Reason};
use crate::schema::Schema;
use crate::text_error::{self, TextError};
use crate::{json_metadata, lower};

/// The schema of a metadata text, TSDL or JSON. Linear in the text and in the field classes it stands for,
/// whose number is limited.
///
/// # Errors
/// The text is neither, or says something impossible; the error names line and column.
pub(crate) fn schema(text: &str, path: &Path) -> Result<(Schema, Vec<Diagnostic>), Error> {
    let error = |offset: usize, message: String| {
        let (line, column) = text_error::line_column(text, offset);
        let excerpt = text_error::excerpt(text, offset);
        Error::new(path, Reason::Metadata { line, column, message, excerpt })
    };
    let lowered = if json_metadata::is_json(text) { json_metadata::lower(text) } else { lower::lower(text) };
    let (schema, warnings) = lowered.map_err(|e| error(e.offset, e.message))?;
    let offsets: Vec<usize> = warnings.iter().map(|warning| warning.offset).collect();
    let places = text_error::line_columns(text, &offsets);
    let warnings = warnings.into_iter().zip(places).map(|(TextError { message, .. }, (line, column))| {
        Diagnostic::note(path, format!("line {line}, column {column}: {message}"))
    });
    Ok((schema, warnings.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_error(text: &str, expect: &str) {
        let error = schema(text, Path::new("metadata")).unwrap_err().to_string();
        assert_eq!(error.lines().next().unwrap(), expect);
    }

    #[test]
    fn errors_name_the_place() {
        check_error(
            "trace { byte_order = le; };\nevent { name = x; fields := struct { uint8_t a; }; };",
            "metadata:2:38: no type is called `uint8_t`",
        );
        check_error(
            "trace { byte_order = middle; };",
            "metadata:1:22: a byte order is `le`, `be`, `network` or `native`, not `middle`",
        );
        check_error(
            "event { fields := struct { integer { size = 0; } a; }; };",
            "metadata:1:45: an integer of 0 bits: 1 to 65536 are possible",
        );
        check_error(
            "event { fields := struct { string s; integer { size = 8; } x[s]; }; };",
            "metadata:1:62: `s` is not an unsigned integer: it cannot be a length",
        );
        check_error(
            "event { fields := struct { integer { size = 8; } x[n]; integer { size = 8; } n; }; };",
            "metadata:1:52: no field before this one is called `n`",
        );
        check_error(
            "event { id = 1; }; event { id = 1; };",
            "metadata:1:20: two events of the stream have the id 1",
        );
        check_error("event { stream_id = 7; };", "metadata:1:1: no stream has the id 7");
    }

    #[test]
    fn types_that_multiply_are_limited() {
        let mut text = "typealias integer { size = 8; } := t0;".to_owned();
        for n in 1..64 {
            text += &format!("typedef struct {{ t{0} a; t{0} b; }} t{n};", n - 1);
        }
        text += "event { fields := struct { t63 x; }; };";
        let error = schema(&text, Path::new("metadata")).unwrap_err().to_string();
        assert!(error.contains("more than 1048576 field classes"), "{error}");
    }

    #[test]
    fn empty_metadata_are_no_trace() {
        for text in ["", "/* CTF 1.8 */\n"] {
            check_error(
                text,
                "metadata:1:1: the metadata are empty: was the session stopped before its traces were copied?",
            );
        }
    }

    #[test]
    fn the_language_is_recognised() {
        check_error("\u{1e}{\"type\":\"preamble\"}", "metadata:1:2: `version` is missing (fragment 1)");
    }
}
