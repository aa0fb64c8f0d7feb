//! The sections of `perf.data`, held against the file before what reads them allocates memory by their sizes.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::os::unix::fs::FileExt as _;

use crate::bytes::{Bytes, Cut, Order};
use crate::error::ImportError;

/// How a file begins, in both byte orders.
pub(crate) const MAGIC: [&[u8]; 2] = [b"PERFILE2", b"2ELIFREP"];
/// Bytes of the head of a file.
const HEAD: u64 = 104;
/// The bits that say which features there are.
const FEATURES: std::ops::Range<usize> = 72..104;
/// The feature that describes kinds of events.
const EVENT_DESC: usize = 12;
/// The smallest description of a kind of events, bytes.
const SMALLEST_ATTR: u64 = 64;

/// Where something lies in the file.
#[derive(Debug, Clone, Copy)]
struct Section {
    offset: u64,
    size: u64,
}

/// Checks the sizes of all sections, and the numbers in those that memory is allocated by.
pub(crate) fn check(file: &mut File) -> Result<(), ImportError> {
    let length = file.metadata()?.len();
    let mut head = Vec::new();
    file.by_ref().take(HEAD).read_to_end(&mut head)?;
    file.rewind()?;
    let order = if head.starts_with(MAGIC[0]) { Order::Little } else { Order::Big };
    if head.len() < HEAD as usize {
        return Err(ImportError::Cut { what: "the head of the file", offset: 0 });
    }
    let number = |at: usize| order.number(&head[at..at + 8]);
    let section = |at: usize| Section { offset: number(at), size: number(at + 8) };
    let (attributes, data, types) = (section(24), section(40), section(56));
    for section in [attributes, data, types] {
        section.check(length)?;
    }
    // A bit for each feature, in words of the file's byte order.
    let words: Vec<u64> = FEATURES.step_by(8).map(number).collect();
    let features = (0..256_usize).filter(|bit| words[bit / 64] >> (bit % 64) & 1 == 1);
    let features: Vec<usize> = features.collect();
    let table = Section { offset: data.offset.saturating_add(data.size), size: features.len() as u64 * 16 };
    let table = table.read(file, length)?;
    let mut description = None;
    for (feature, bytes) in features.iter().zip(table.chunks_exact(16)) {
        let section = Section { offset: order.number(&bytes[..8]), size: order.number(&bytes[8..]) };
        section.check(length)?;
        if *feature == EVENT_DESC {
            description = Some(section);
        }
    }
    match description {
        Some(section) => {
            let bytes = section.read(file, length)?;
            walk(Bytes::new(&bytes, order))
                .map_err(|cut| cut.of("the description of kinds of events", section.offset))
        }
        // Their kinds have a size, which what is read is divided by.
        None if types.size == 0 && number(16) >= SMALLEST_ATTR => Ok(()),
        None => Err(ImportError::Cut { what: "the description of kinds of events", offset: 16 }),
    }
}

/// Walks through the descriptions of kinds of events.
fn walk(mut bytes: Bytes<'_>) -> Result<(), Cut> {
    let count = bytes.u32()?;
    let size = u64::from(bytes.u32()?);
    if size < SMALLEST_ATTR || (bytes.rest().len() as u64) / size < count.into() {
        return Err(Cut);
    }
    for _ in 0..count {
        bytes.take(size)?;
        let ids = u64::from(bytes.u32()?);
        let name = bytes.u32()?;
        bytes.take(name.into())?;
        bytes.take(ids * 8)?;
    }
    Ok(())
}

impl Section {
    fn check(self, length: u64) -> Result<(), ImportError> {
        match self.offset.checked_add(self.size).is_some_and(|end| end <= length) {
            true => Ok(()),
            false => Err(ImportError::Cut { what: "a section", offset: self.offset }),
        }
    }

    fn read(self, file: &File, length: u64) -> Result<Vec<u8>, ImportError> {
        self.check(length)?;
        let mut bytes = vec![0; self.size as usize];
        file.read_exact_at(&mut bytes, self.offset)?;
        Ok(bytes)
    }
}
