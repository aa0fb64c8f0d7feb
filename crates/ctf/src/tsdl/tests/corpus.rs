//! All CTF 1.8 metadata of the shared corpus: what writers wrote is accepted, what conformance suites
//! made wrong on purpose is refused, unless only a reader that resolves names can see that it is wrong.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::parse;
use crate::text_error::{excerpt, line_column};

/// Where the corpus is, seen from this package.
const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");

/// The magic number of metadata packets.
const MAGIC: u32 = 0x75D1_1D57;

/// The length of a metadata packet header.
const HEADER: usize = 37;

/// What is no TSDL. Everything else must parse.
const REFUSED: &[&str] = &[
    "ctf/traces/bt/fail/integer-range",
    "ctf/traces/bt/fail/metadata-syntax-error",
    "ctf/traces/bt/fail/packet-based-metadata",
    "ctf/traces/ts/tests/1.8/regression/metadata/fail/array-size-keyword",
    "ctf/traces/ts/tests/1.8/regression/metadata/fail/array-size-negative",
    "ctf/traces/ts/tests/1.8/regression/metadata/fail/array-size-string",
    "ctf/traces/ts/tests/1.8/regression/metadata/fail/enum-values-token",
    "ctf/traces/ts/tests/1.8/regression/metadata/fail/event-id-struct",
    "ctf/traces/ts/tests/1.8/regression/metadata/fail/integer-range",
    "ctf/traces/ts/tests/1.8/regression/metadata/fail/lexer-literal-int-incomplete",
    "ctf/traces/ts/tests/1.8/regression/metadata/fail/lexer-unterminated-bracket",
    "ctf/traces/ts/tests/1.8/regression/metadata/fail/lexer-unterminated-declaration",
    "ctf/traces/ts/tests/1.8/regression/metadata/fail/lexer-unterminated-expression",
    "ctf/traces/ts/tests/1.8/regression/metadata/fail/lexer-unterminated-string",
    "ctf/traces/ts/tests/1.8/regression/metadata/fail/metadata-with-null-char",
    "ctf/traces/ts/tests/1.8/regression/metadata/fail/packet-based-metadata",
    "ctf/traces/ts/tests/1.8/regression/metadata/fail/typedef-reserved-keyword",
    "ctf/traces/ts/tests/1.8/regression/metadata/fail/variant-tag-integer",
    "ctf/traces/ts/tests/1.8/regression/metadata/fail/variant-tag-keyword",
];

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn corpus() {
    let root = Path::new(CORPUS);
    let mut wrong = Vec::new();
    let mut refused = Vec::new();
    let mut count = 0;
    for file in ["vm", "ust", "scp", "ctf/traces/tc", "ctf/traces/bt", "ctf/traces/ts"]
        .iter()
        .flat_map(|part| metadata_files(&root.join(part)))
    {
        let name = file.parent().and_then(|trace| trace.strip_prefix(root).ok()).unwrap_or(&file);
        let name = name.to_string_lossy().into_owned();
        let Ok(bytes) = fs::read(&file) else {
            wrong.push(format!("{name}: cannot be read"));
            continue;
        };
        let Some(text) = text_of(&bytes) else {
            continue;
        };
        count += 1;
        if let Err(error) = parse(&text) {
            let (line, column) = line_column(&text, error.offset);
            if !REFUSED.contains(&name.as_str()) {
                wrong.push(format!("{name}:{line}:{column}: {error}\n{}", excerpt(&text, error.offset)));
            }
            refused.push(name);
        }
    }
    wrong.extend(
        REFUSED
            .iter()
            .filter(|name| root.join(name).is_dir() && !refused.iter().any(|it| it == *name))
            .map(|name| format!("{name}: accepted")),
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 100, "only {count} metadata files in {CORPUS}");
}

/// All files named `metadata` in a directory and below.
fn metadata_files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![directory.to_path_buf()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                left.push(path);
            } else if path.ends_with("metadata") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The text in a metadata file, packets or not; `None` for CTF 2 and for packets that do not fit the file.
fn text_of(bytes: &[u8]) -> Option<String> {
    let number = |at: usize, big: bool| {
        let field = bytes.get(at..at + 4).and_then(|field| field.try_into().ok())?;
        Some(if big { u32::from_be_bytes(field) } else { u32::from_le_bytes(field) })
    };
    let big = number(0, true) == Some(MAGIC);
    let mut text = Vec::new();
    if big || number(0, false) == Some(MAGIC) {
        let mut at = 0;
        while at + HEADER <= bytes.len() {
            let content = number(at + 24, big)? as usize / 8;
            text.extend_from_slice(bytes.get(at + HEADER..at + content)?);
            at += (number(at + 28, big)? as usize / 8).max(HEADER);
        }
    } else {
        text.extend_from_slice(bytes);
    }
    let is_json = text.first() == Some(&0x1e);
    (!is_json).then(|| String::from_utf8_lossy(&text).into_owned())
}
