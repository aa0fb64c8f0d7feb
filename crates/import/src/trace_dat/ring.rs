//! Pages of the kernel's ring buffer, as recordings hold them (`kernel/trace/ring_buffer.c`).

use crate::bytes::Order;
use crate::class::Machine;

/// What a page holds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Item<'p> {
    /// Events were lost before the page; how many, if that was counted.
    Lost(Option<u64>),
    /// An event: its time in units of the clock, and its record.
    Event(u64, &'p [u8]),
}

/// Events were lost before the page.
const MISSED: u64 = 1 << 31;
/// Behind its data stands how many.
const COUNTED: u64 = 1 << 30;
/// The bits of a time that an absolute one in a page leaves out.
const HIGH: u64 = 0xf8 << 56;

/// What the first word of an entry says that it is, where it is no length.
const PADDING: u32 = 29;
const EXTENSION: u32 = 30;
const STAMP: u32 = 31;

/// The page is not what the kernel writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Damaged;

/// Passes what is on a page to `each`, in its order. What comes before the damage of a page has been passed.
///
/// # Errors
/// The page is damaged, or `each` fails.
pub(crate) fn read<'p, E: From<Damaged>>(
    page: &'p [u8],
    Machine { order, long }: Machine,
    mut each: impl FnMut(Item<'p>) -> Result<(), E>,
) -> Result<(), E> {
    let number = |at: usize, size: usize| -> Result<u64, Damaged> {
        page.get(at..).and_then(|rest| rest.get(..size)).map(|bytes| order.number(bytes)).ok_or(Damaged)
    };
    let mut now = number(0, 8)?;
    let commit = number(8, long)?;
    let start = 8 + long;
    let end =
        start + usize::try_from(commit & !(MISSED | COUNTED) & u64::from(u32::MAX)).map_err(|_| Damaged)?;
    if commit & MISSED != 0 {
        let count = number(end, long).ok().filter(|_| commit & COUNTED != 0);
        each(Item::Lost(count))?;
    }
    let data = page.get(..end).ok_or(Damaged)?;
    let mut at = start;
    while at < data.len() {
        let word = number(at, 4)? as u32;
        let (kind, delta) = match order {
            Order::Little => (word & 31, word >> 5),
            Order::Big => (word >> 27, word & 0x7ff_ffff),
        };
        let next = |at: usize| data.get(at..at + 4).map(|bytes| order.number(bytes)).ok_or(Damaged);
        match kind {
            // The rest of the page.
            PADDING if delta == 0 => break,
            PADDING => {
                now = now.wrapping_add(delta.into());
                at += 4 + next(at + 4)? as usize;
            }
            EXTENSION => {
                now = now.wrapping_add(next(at + 4)? << 27 | u64::from(delta));
                at += 8;
            }
            STAMP => {
                let low = next(at + 4)? << 27 | u64::from(delta);
                now = low | now & HIGH;
                at += 8;
            }
            length => {
                now = now.wrapping_add(delta.into());
                let (from, size) = match length {
                    0 => (at + 8, (next(at + 4)? as usize).checked_sub(4).ok_or(Damaged)?),
                    words => (at + 4, words as usize * 4),
                };
                let record = data.get(from..).and_then(|rest| rest.get(..size)).ok_or(Damaged)?;
                each(Item::Event(now, record))?;
                // Lengths that are written out need not be whole words.
                at = from + size.next_multiple_of(4);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: Machine = Machine { order: Order::Little, long: 8 };

    fn page(time: u64, flags: u64, data: &[u8], behind: &[u8]) -> Vec<u8> {
        let mut page = time.to_le_bytes().to_vec();
        page.extend_from_slice(&(data.len() as u64 | flags).to_le_bytes());
        page.extend_from_slice(data);
        page.extend_from_slice(behind);
        page
    }

    fn entry(kind: u32, delta: u32, rest: &[u8]) -> Vec<u8> {
        let mut entry = (delta << 5 | kind).to_le_bytes().to_vec();
        entry.extend_from_slice(rest);
        entry
    }

    fn items(page: &[u8]) -> (Vec<String>, Result<(), Damaged>) {
        let mut items = Vec::new();
        let result = read(page, MACHINE, |item| {
            items.push(match item {
                Item::Lost(count) => format!("lost {count:?}"),
                Item::Event(time, record) => format!("{time} {record:?}"),
            });
            Ok::<(), Damaged>(())
        });
        (items, result)
    }

    #[test]
    fn kinds_of_entries() {
        let mut data = entry(1, 5, &[1, 2, 3, 4]);
        data.extend(entry(EXTENSION, 1, &2_u32.to_le_bytes()));
        let mut long = 8_u32.to_le_bytes().to_vec();
        long.extend_from_slice(&[9, 9, 9, 9]);
        data.extend(entry(0, 0, &long));
        data.extend(entry(PADDING, 3, &4_u32.to_le_bytes()));
        data.extend(entry(STAMP, 7, &1_u32.to_le_bytes()));
        data.extend(entry(1, 0, &[5, 5, 5, 5]));
        data.extend(entry(PADDING, 0, &[0; 12]));
        let far = 105 + (2 << 27) + 1;
        let expect = [
            "105 [1, 2, 3, 4]".to_owned(),
            format!("{far} [9, 9, 9, 9]"),
            format!("{} [5, 5, 5, 5]", (1 << 27) + 7),
        ];
        assert_eq!(items(&page(100, 0, &data, b"")), (expect.to_vec(), Ok(())));
    }

    #[test]
    fn losses() {
        let data = entry(1, 0, &[0; 4]);
        let event = "1 [0, 0, 0, 0]".to_owned();
        let check = |flags, behind: &[u8], expect: &str| {
            assert_eq!(items(&page(1, flags, &data, behind)).0, [expect.to_owned(), event.clone()]);
        };
        check(MISSED | COUNTED, &77_u64.to_le_bytes(), "lost Some(77)");
        check(MISSED, b"", "lost None");
    }

    #[test]
    fn what_is_damaged_is_an_error() {
        let check = |page: &[u8]| assert_eq!(items(page).1, Err(Damaged), "{page:?}");
        check(&[0; 10]);
        check(&page(1, 0, &entry(3, 0, &[0; 4]), b""));
        check(&page(1, 0, &entry(0, 0, &3_u32.to_le_bytes()), b""));
        check(&page(1, 1 << 20, &entry(1, 0, &[0; 4]), b""));
    }
}
