//! The document with the tables of all benches.

use std::fs;
use std::path::Path;

/// Columns of Markdown, but for tables: `.ci/check` counts them.
const WIDTH: usize = 100;

/// A text with the lines that are too long broken at spaces; a row of a table stays one line.
fn wrapped(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let mut columns = 0;
        for word in line.split(' ') {
            let width = word.chars().count();
            let space = match columns {
                0 => "",
                _ if line.starts_with('|') || columns + 1 + width <= WIDTH => " ",
                _ => "\n",
            };
            columns = if space == "\n" { width } else { columns + space.len() + width };
            out.extend([space, word]);
        }
        out.push('\n');
    }
    out
}

/// Replaces a part of `docs/COMPARE.md`: the text between the comments `NAME: begin` and `NAME: end`.
pub fn rewrite(name: &str, text: &str) {
    let (begin, end) = (format!("<!-- {name}: begin -->\n"), format!("<!-- {name}: end -->"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/COMPARE.md");
    let document = fs::read_to_string(&path).unwrap();
    let (before, rest) = document.split_once(&begin).unwrap();
    let (_, after) = rest.split_once(&end).unwrap();
    fs::write(&path, format!("{before}{begin}{}{end}{after}", wrapped(text))).unwrap();
}
