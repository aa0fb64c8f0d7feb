//! The clock blocks of a metadata text.

use std::collections::HashSet;

use super::blocks::assignments;
use super::notes::Notes;
use super::{Complaint, attributes};
use crate::schema::ClockClass;
use crate::tsdl::{Assignment, Block};

type Result<T> = std::result::Result<T, Complaint>;

/// Reads the clock blocks of a text. Streams refer to them, so that they are read before all else.
pub(super) fn read<'a>(
    blocks: impl Iterator<Item = &'a Block<'a>>,
    notes: &mut Notes,
) -> Result<Vec<ClockClass>> {
    let mut clocks: Vec<ClockClass> = Vec::new();
    let mut names = HashSet::new();
    for block in blocks {
        let mut clock = ClockClass::monotonic("");
        for Assignment { path, value } in assignments(block) {
            match path.parts.as_slice() {
                ["name"] => clock.name = attributes::text(value)?,
                ["uuid"] => clock.uuid = Some(attributes::uuid(value)?),
                ["description"] => clock.description = Some(attributes::text(value)?),
                ["freq"] => clock.frequency = attributes::unsigned(value)?,
                ["precision"] => clock.precision = attributes::unsigned(value)?,
                ["offset_s"] => clock.offset_s = attributes::signed(value)?,
                ["offset"] => clock.offset_cycles = attributes::signed(value)?,
                ["absolute"] => clock.absolute = attributes::boolean(value)?,
                _ => notes.add(path.offset, format!("the attribute `{path}` of a clock is unknown; ignored")),
            }
        }
        if clock.name.is_empty() {
            return Err(Complaint::new(block.offset, "a clock needs a name"));
        }
        if clock.frequency == 0 {
            return Err(Complaint::new(
                block.offset,
                format!("the clock `{}` has a frequency of 0", clock.name),
            ));
        }
        if !names.insert(clock.name.clone()) {
            return Err(Complaint::new(block.offset, format!("two clocks are called `{}`", clock.name)));
        }
        clocks.push(clock);
    }
    Ok(clocks)
}
