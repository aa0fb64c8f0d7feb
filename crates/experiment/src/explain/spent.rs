//! What the time of a call, a phase or a period went to: by cause, and by who ended a wait or took the CPU.

use std::collections::BTreeMap;

use isochrone_kernel::Name;
use isochrone_store::{Cause, StoreError, ThreadRow};
use isochrone_time::RawNs;

use super::part::{Actor, Part, Relation};

/// A call, a phase or a period of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Span {
    pub(super) thread: ThreadRow,
    pub(super) start: RawNs,
    pub(super) end: RawNs,
}

/// What time went to.
type Key = (Cause, Name, Relation, Option<Actor>);

/// The sums of a span.
#[derive(Debug, Clone, Default)]
pub(super) struct Spent {
    /// How often, and for how long, ns.
    parts: BTreeMap<Key, (u64, u64)>,
    /// From here on nothing is added yet; `None`: from the start.
    since: Option<RawNs>,
}

impl Spent {
    /// Adds the states that end by the end of a part; what goes on there is added when it has ended.
    pub(super) fn add_until(&mut self, part: &Part<'_>, span: Span, border: RawNs) -> Result<(), StoreError> {
        let open = self.add(part, span, border)?;
        self.since = Some(open.unwrap_or(border).max(span.start));
        Ok(())
    }

    /// Adds all states until the end of the span.
    pub(super) fn add_rest(&mut self, part: &Part<'_>, span: Span) -> Result<(), StoreError> {
        self.add(part, span, RawNs::MAX)?;
        Ok(())
    }

    /// Adds states that end by an instant; returns the start of the first one that does not.
    fn add(&mut self, part: &Part<'_>, span: Span, border: RawNs) -> Result<Option<RawNs>, StoreError> {
        let from = self.since.unwrap_or(span.start);
        let rows = part.rows(span.thread);
        let first = rows.partition_point(|row| row.end <= from);
        for (index, row) in rows.iter().enumerate().skip(first) {
            if row.start >= span.end {
                break;
            }
            if row.end > border {
                return Ok(Some(row.start.max(from)));
            }
            let ns = (row.end.min(span.end) - row.start.max(from)) as u64;
            let (cause, detail) = part.loaded.cause(row)?;
            let (relation, actor) = part.actor(span.thread, index)?;
            let (count, total) = self.parts.entry((cause, detail, relation, actor)).or_default();
            *count += 1;
            *total += ns;
        }
        Ok(None)
    }

    /// The parts of a time of so many ns, the longest first; what no state covers is unknown.
    pub(super) fn into_parts(mut self, total: u64) -> Vec<(Key, (u64, u64))> {
        let covered: u64 = self.parts.values().map(|(_, ns)| ns).sum();
        let unknown = total.saturating_sub(covered);
        if unknown > 0 {
            let key = (Cause::Unknown, Name::default(), Relation::None, None);
            let (count, ns) = self.parts.entry(key).or_default();
            (*count, *ns) = ((*count).max(1), *ns + unknown);
        }
        let mut parts: Vec<_> = self.parts.into_iter().collect();
        parts.sort_by_key(|(_, (_, ns))| std::cmp::Reverse(*ns));
        parts
    }
}
