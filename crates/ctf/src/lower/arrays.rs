//! Arrays of fixed and of variable length, and the text that arrays of characters are.

use super::fields::Fields;
use super::types::{Lowered, Purpose, Types};
use crate::schema::{ArrayClass, Encoding, FieldClass, Length, Location, TextClass};
use crate::text_error::Result;
use crate::tsdl::{ArrayLength, Path};

impl Types<'_> {
    /// Wraps a class in arrays; the last length is the innermost. Each is a field class of its own.
    pub(super) fn arrays(
        &mut self,
        fields: &Fields<'_>,
        mut lowered: Lowered,
        lengths: &[ArrayLength<'_>],
    ) -> Result<Lowered> {
        for length in lengths.iter().rev() {
            let (length, count, offset) = match length {
                ArrayLength::Fixed { count, offset } => (Length::Static(*count), Some(*count), *offset),
                ArrayLength::Field(path) => {
                    (Length::Dynamic(self.length_of(fields, path)?), None, path.offset)
                }
            };
            self.budget.charge(1, offset)?;
            let measure = lowered.measure.times(count, offset)?;
            let class = match lowered {
                Lowered { class, character: true, .. } => {
                    FieldClass::Text(TextClass { length, align: class.align(), encoding: Encoding::Utf8 })
                }
                Lowered { class, .. } => {
                    FieldClass::Array(ArrayClass { length, element: Box::new(class), min_align: 1 })
                }
            };
            lowered = Lowered { class, character: false, measure };
        }
        Ok(lowered)
    }

    /// The field that holds a length.
    fn length_of(&mut self, fields: &Fields<'_>, path: &Path<'_>) -> Result<Location> {
        self.find_field(fields, path, Purpose::Length).map(|(location, _)| location)
    }
}
