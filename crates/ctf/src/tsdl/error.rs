//! The one error of this front end, and the way from a byte offset to something a person can read.
//!
//! The functions here also serve the lowering: its complaints carry offsets into the same text.

/// How many characters of a source line [`excerpt`] shows at most: wide enough for any line a writer
/// makes, narrow enough that metadata without line breaks does not flood the terminal.
const MAX_EXCERPT: usize = 120;

/// Where and why a metadata text is not TSDL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// Byte offset in the text at which the problem was noticed.
    pub offset: usize,
    /// What was expected and what is there instead, in one sentence without a full stop.
    pub message: String,
}

impl SyntaxError {
    /// An error at a byte offset.
    pub fn new(offset: usize, message: impl Into<String>) -> Self {
        Self { offset, message: message.into() }
    }
}

/// The line and the column of a byte offset, both counted from 1; columns are counted in characters.
///
/// An offset beyond the text counts as its end, one inside a character as the start of that character.
pub fn line_column(text: &str, offset: usize) -> (usize, usize) {
    line_columns(text, &[offset])[0]
}

/// The same for many offsets in any order, in one pass over the text: a text may give a warning for each of its lines.
pub fn line_columns(text: &str, offsets: &[usize]) -> Vec<(usize, usize)> {
    let mut ascending: Vec<usize> = (0..offsets.len()).collect();
    ascending.sort_unstable_by_key(|&index| offsets[index]);
    let mut places = vec![(1, 1); offsets.len()];
    let (mut line, mut column, mut seen) = (1, 1, 0);
    for index in ascending {
        let place = floor(text, offsets[index]);
        for character in text[seen..place].chars() {
            (line, column) = if character == '\n' { (line + 1, 1) } else { (line, column + 1) };
        }
        seen = place;
        places[index] = (line, column);
    }
    places
}

/// The source line of a byte offset with a caret under the place, ready to print, no newline at the end.
///
/// Of a very long line only the surroundings of the place are shown. Tabs and control characters
/// become spaces: the caret stays under its character, and a hostile text cannot steer the terminal.
pub fn excerpt(text: &str, offset: usize) -> String {
    let place = floor(text, offset);
    let (before, after) = text.split_at_checked(place).unwrap_or((text, ""));
    let before = before.rsplit('\n').next().unwrap_or_default();
    let after = after.split('\n').next().unwrap_or_default();

    let columns_before = before.chars().count();
    let skipped = columns_before.saturating_sub(MAX_EXCERPT / 2);
    let mut line = String::new();
    if skipped > 0 {
        line.push('…');
    }
    let visible = |c: char| if c.is_control() { ' ' } else { c };
    line.extend(before.chars().skip(skipped).map(visible));
    let caret = line.chars().count();
    let mut rest = after.chars();
    line.extend(rest.by_ref().take(MAX_EXCERPT - MAX_EXCERPT / 2).map(visible));
    line.truncate(line.trim_end().len());
    if rest.next().is_some() {
        line.push('…');
    }
    format!("{line}\n{:caret$}^", "")
}

/// The largest character boundary that is not beyond the offset.
fn floor(text: &str, offset: usize) -> usize {
    let mut place = offset.min(text.len());
    while !text.is_char_boundary(place) {
        place -= 1;
    }
    place
}
