//! The arguments of a call as they were recorded: numbers, and how each is to be shown.
//! Their text is made when it is shown.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::number::{Form, Number, SHOWN};

/// Arguments of a call. Shown as strace does: `AT_FDCWD, "/etc/passwd", O_RDONLY|O_CLOEXEC`.
///
/// Memory: of a number about as many bytes as it has; of what is no number (texts, lists, addresses), those
/// of its text.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ArgumentValues(Box<[u8]>);

/// A bit beside the code of a form.
const AFTER_COMMA: u8 = 0x80;

/// An argument, or what stands between two.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
enum Part<'t> {
    /// As it stands.
    Text(&'t str),
    /// A number: the index in [`SHOWN`] of how it is shown, the code of its form, with [`AFTER_COMMA`] where
    /// that is so, and its value.
    Number(u8, u8, i64),
}

impl ArgumentValues {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// As they will be shown.
impl From<&str> for ArgumentValues {
    fn from(text: &str) -> Self {
        let mut values = ValueWriter::default();
        values.text.push_str(text);
        values.finish()
    }
}

/// Puts arguments together.
#[derive(Debug, Default)]
pub(crate) struct ValueWriter {
    values: Vec<u8>,
    /// What is written next.
    pub(crate) text: String,
}

impl ValueWriter {
    /// A number, which is shown as an entry of [`SHOWN`] says. Returns whether it is of a form that can be
    /// kept; else it is left to the caller.
    pub(crate) fn number(&mut self, show: u8, after_comma: bool, number: Number) -> bool {
        let Some(form) = number.form.code() else { return false };
        self.end_text();
        self.append(&Part::Number(show, form | if after_comma { AFTER_COMMA } else { 0 }, number.value));
        true
    }

    pub(crate) fn finish(mut self) -> ArgumentValues {
        self.end_text();
        ArgumentValues(self.values.into())
    }

    fn end_text(&mut self) {
        if !self.text.is_empty() {
            let text = std::mem::take(&mut self.text);
            self.append(&Part::Text(&text));
        }
    }

    fn append(&mut self, part: &Part<'_>) {
        // Memory is what it is written to, and it has no part that cannot be written.
        self.values = postcard::to_extend(part, std::mem::take(&mut self.values)).unwrap_or_default();
    }
}

impl fmt::Display for ArgumentValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = &*self.0;
        // What is no list of parts, from a damaged file, ends there.
        while let Ok((part, after)) = postcard::take_from_bytes(rest) {
            rest = after;
            match part {
                Part::Text(text) => f.write_str(text)?,
                Part::Number(show, form, value) => {
                    if form & AFTER_COMMA != 0 {
                        f.write_str(", ")?;
                    }
                    if let Some(show) = SHOWN.get(usize::from(show)) {
                        Number { form: Form::of_code(form), value }.show(*show, &|_| None, f)?;
                    }
                }
            }
        }
        Ok(())
    }
}

impl fmt::Debug for ArgumentValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}
