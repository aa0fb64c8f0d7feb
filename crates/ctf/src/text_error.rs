//! Errors and notes about a metadata text, TSDL and JSON alike, and the way from a byte offset to a line and
//! a column.

use std::collections::HashSet;

/// Characters of a source line that [`excerpt`] shows: wide enough for any line that a writer makes, narrow
/// enough that metadata without line breaks do not flood the terminal.
const MAX_EXCERPT: usize = 120;

/// Notes that are kept, as many as the diagnostics of one file.
const MAX_NOTES: usize = 100;

/// An error or a note about a metadata text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct TextError {
    /// Byte offset in the text.
    pub(crate) offset: usize,
    /// What is wrong, in one sentence without a full stop.
    pub(crate) message: String,
}

/// Result of parsing or lowering a metadata text.
pub(crate) type Result<T, E = TextError> = std::result::Result<T, E>;

impl TextError {
    /// An error at a byte offset.
    pub(crate) fn new(offset: usize, message: impl Into<String>) -> Self {
        Self { offset, message: message.into() }
    }
}

/// The line and the column of a byte offset, both counted from 1; columns are counted in characters.
///
/// An offset beyond the text counts as its end, one inside a character as the start of that character.
pub(crate) fn line_column(text: &str, offset: usize) -> (usize, usize) {
    line_columns(text, &[offset])[0]
}

/// [`line_column`] of many offsets in any order, in one pass over the text: a text may give a note for each
/// of its lines.
pub(crate) fn line_columns(text: &str, offsets: &[usize]) -> Vec<(usize, usize)> {
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
pub(crate) fn excerpt(text: &str, offset: usize) -> String {
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

/// What is odd about metadata that are read anyway: the first notes, each message once, and the number of all
/// others.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    messages: HashSet<String>,
    kept: Vec<TextError>,
    more: usize,
}

impl Notes {
    /// Adds a note, unless there is one with this message.
    pub(crate) fn add(&mut self, offset: usize, message: impl Into<String>) {
        let message = message.into();
        if self.kept.len() >= MAX_NOTES {
            self.more += usize::from(!self.messages.contains(&message));
        } else if self.messages.insert(message.clone()) {
            self.kept.push(TextError::new(offset, message));
        }
    }

    /// The notes in the order of the text; after [`MAX_NOTES`] comes one that counts all others.
    pub(crate) fn into_vec(mut self) -> Vec<TextError> {
        self.kept.sort_by_key(|note| note.offset);
        if self.more > 0
            && let Some(last) = self.kept.last()
        {
            self.kept.push(TextError::new(last.offset, format!("and {} more like these", self.more)));
        }
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_counted() {
        let check = |different: usize, times: usize, kept: usize, last: &str| {
            let mut notes = Notes::default();
            for n in 0..different * times {
                notes.add(n, format!("odd {}", n % different));
            }
            let notes = notes.into_vec();
            assert_eq!((notes.len(), notes.last().unwrap().message.as_str()), (kept, last));
        };
        check(1, 5, 1, "odd 0");
        check(100, 3, 100, "odd 99");
        check(101, 1, 101, "and 1 more like these");
        check(1000, 1, 101, "and 900 more like these");
    }
}
