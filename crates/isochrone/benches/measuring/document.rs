//! The document with the tables of all benches.

use std::fs;
use std::path::Path;

/// Writes a part of `docs/COMPARE.md` anew: what lies between the comments `NAME: begin` and `NAME: end`.
pub fn rewrite(name: &str, text: &str) {
    let (begin, end) = (format!("<!-- {name}: begin -->\n"), format!("<!-- {name}: end -->"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/COMPARE.md");
    let document = fs::read_to_string(&path).unwrap();
    let (before, rest) = document.split_once(&begin).unwrap();
    let (_, after) = rest.split_once(&end).unwrap();
    fs::write(&path, format!("{before}{begin}{text}{end}{after}")).unwrap();
}
