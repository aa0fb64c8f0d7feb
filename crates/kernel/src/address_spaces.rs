//! What addresses of processes show, as far as the calls that mapped it were seen. Reports on page faults use
//! it, when all of a trace is known.

use std::collections::BTreeMap;
use std::iter::Peekable;

use crate::calls::Sharing;
use crate::id::{Name, Time};
use crate::span::Mapped;

/// Size of a large page.
const RANGE: u64 = 2 << 20;

/// What stands for the mapping of an address where none was seen: the first address of the large page that it
/// lies in, and the one after the last.
pub fn range_around(address: u64) -> (u64, u64) {
    let start = address / RANGE * RANGE;
    (start, start.saturating_add(RANGE))
}

/// What the addresses of processes show at an instant; `P`: how a process is named. [`Mapping`]s of all
/// processes change it, in the order of their times.
///
/// ```
/// use isochrone_kernel::calls::Sharing;
/// use isochrone_kernel::{AddressSpaces, Mapped};
/// let mut spaces = AddressSpaces::default();
/// let sharing = Sharing::Private;
/// let file = |name: &str| Mapped::File { name: name.into(), made: None, sharing };
/// spaces.map(7, 0x1000, 0x3000, &file("/lib/c.so"));
/// spaces.map(7, 0x2000, 0x1000, &Mapped::Anonymous { made: None, sharing });
/// let found = spaces.find(&7, 0x3456).unwrap();
/// assert_eq!((found.start, found.end, found.file.as_deref()), (0x3000, 0x4000, Some("/lib/c.so")));
/// assert_eq!(spaces.find(&7, 0x2345).unwrap().file, None);
/// assert_eq!(spaces.find(&7, 0x4000), None);
/// ```
///
/// [`Mapping`]: crate::Mapping
#[derive(Debug, Clone)]
pub struct AddressSpaces<P>(BTreeMap<P, Space>);

/// By first address.
type Space = BTreeMap<u64, Region>;

/// A range of addresses that one call mapped, or what is left of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// First address.
    pub start: u64,
    /// The address after the last one.
    pub end: u64,
    /// The name of the file, empty if unknown; `None`: memory without one.
    pub file: Option<Name>,
    /// When it was made, of what has no path that says which one it is.
    pub made: Option<Time>,
    /// Who sees what is written there.
    pub sharing: Sharing,
}

impl<P> Default for AddressSpaces<P> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<P: Ord> AddressSpaces<P> {
    /// Changes what a range of a process shows; [`Mapped::CopyOf`] is [`Self::copy`], and ignored here.
    /// Logarithmic, and linear in the regions that it replaces.
    pub fn map(&mut self, process: P, address: u64, bytes: u64, what: &Mapped) {
        let end = address.saturating_add(bytes);
        let (file, made, sharing) = match what {
            Mapped::CopyOf(_) => return,
            Mapped::Nothing => {
                if let Some(space) = self.0.get_mut(&process) {
                    clear(space, address, end);
                }
                return;
            }
            Mapped::Anonymous { made, sharing } => (None, *made, *sharing),
            Mapped::File { name, made, sharing } => (Some(name.clone()), *made, *sharing),
        };
        let space = self.0.entry(process).or_default();
        clear(space, address, end);
        if address < end {
            space.insert(address, Region { start: address, end, file, made, sharing });
        }
    }

    /// Goes on to an instant: applies the changes until then, and forgets all at losses, after which other
    /// mappings may be there. Both are in the order of time. `at`: the time of a change.
    pub fn reach<C>(
        &mut self,
        until: Time,
        changes: &mut Peekable<impl Iterator<Item = C>>,
        losses: &mut Peekable<impl Iterator<Item = Time>>,
        at: impl Fn(&C) -> Time,
        mut apply: impl FnMut(&mut Self, C),
    ) {
        while let Some(change) = changes.next_if(|change| at(change) <= until) {
            self.forget_lost(at(&change), losses);
            apply(self, change);
        }
        self.forget_lost(until, losses);
    }

    fn forget_lost(&mut self, until: Time, losses: &mut Peekable<impl Iterator<Item = Time>>) {
        while losses.next_if(|&at| at <= until).is_some() {
            self.0.clear();
        }
    }

    /// A process starts as a copy of another one; further threads of a process share its memory. Linear in
    /// the regions.
    pub fn copy(&mut self, from: &P, to: P) {
        if *from == to {
            return;
        }
        let copy = self.0.get(from).cloned().unwrap_or_default();
        self.0.insert(to, copy);
    }

    /// The regions of a process whose mapping was seen, by address.
    pub fn of(&self, process: &P) -> impl Iterator<Item = &Region> {
        self.0.get(process).into_iter().flat_map(BTreeMap::values)
    }

    /// The region that an address of a process lies in, if its mapping was seen. Logarithmic.
    pub fn find(&self, process: &P, address: u64) -> Option<&Region> {
        let (_, region) = self.0.get(process)?.range(..=address).next_back()?;
        (address < region.end).then_some(region)
    }
}

/// Takes a range out of all regions.
fn clear(space: &mut Space, from: u64, to: u64) {
    let before = space.range(..from).next_back().map(|(&start, _)| start);
    let within = space.range(from..to.max(from)).map(|(&start, _)| start);
    let touched: Vec<u64> = before.into_iter().chain(within).collect();
    for start in touched {
        let Some(region) = space.remove(&start) else { continue };
        if region.start < from {
            let end = region.end.min(from);
            space.insert(start, Region { end, ..region.clone() });
        }
        if region.end > to {
            let start = region.start.max(to);
            space.insert(start, Region { start, ..region });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn processes_are_copied_and_cleared() {
        let mut spaces = AddressSpaces::default();
        let sharing = Sharing::Shared;
        spaces.map(1, 0x1000, 0x1000, &Mapped::File { name: "/x".into(), made: None, sharing });
        spaces.copy(&1, 2);
        spaces.map(1, 0, u64::MAX, &Mapped::Nothing);
        assert_eq!(spaces.find(&1, 0x1800), None);
        assert_eq!(spaces.find(&2, 0x1800).map(|region| region.sharing), Some(sharing));
        assert_eq!(spaces.of(&2).count(), 1);
        spaces.map(2, u64::MAX - 1, 5, &Mapped::Anonymous { made: None, sharing });
        assert_eq!(spaces.find(&2, u64::MAX - 1).map(|region| region.end), Some(u64::MAX));
    }

    proptest! {
        /// Against an array of addresses.
        #[test]
        fn each_address_shows_what_was_mapped_last(
            changes in proptest::collection::vec((0_u64..40, 0_u64..20, 0_u8..4), 0..30),
        ) {
            let mut spaces = AddressSpaces::default();
            let mut expect = [None; 64];
            for (number, &(address, bytes, what)) in changes.iter().enumerate() {
                let mapped = match what {
                    0 => Mapped::Nothing,
                    _ => {
                        let name = number.to_string().into();
                        Mapped::File { name, made: None, sharing: Sharing::Private }
                    }
                };
                spaces.map((), address, bytes, &mapped);
                let shown = (what > 0).then_some(number);
                expect[address as usize..(address + bytes) as usize].fill(shown);
            }
            for (address, expect) in (0..64).zip(expect) {
                let found = spaces.find(&(), address).and_then(|region| region.file.clone());
                prop_assert_eq!(found, expect.map(|number| Name::from(number.to_string())));
            }
        }
    }
}
