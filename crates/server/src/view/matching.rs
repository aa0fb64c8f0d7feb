//! States and expressions: the rows with states that fulfil one, and in a picture the states that do not.
//!
//! Used by the search box of the page and the filter box of viewers, in the language of `filter.rs`.

use std::cmp::Reverse;

use isochrone_experiment::Work;
use isochrone_kernel::Name;
use isochrone_time::{SinceOrigin, Window};
use serde::{Deserialize, Serialize};

use super::filter::{Facts, Filter};
use super::rows::{GraphRow, RowKind};
use super::states::{Shape, Viewport, style_name};
use super::{Clock, ExperimentView};
use crate::error::{ApiError, Result};
use crate::works::next_part;

/// The bit of styles that are drawn pale.
const DIMMED: u8 = 0x80;

/// Factor by which a search looks closer than what is drawn, in windows with too many states to look at each.
const DEEPER: u32 = 16;

/// Pixels of a search without a picture.
const PIXELS: u32 = 2000;

/// Rows whose states are in memory at once.
const ROWS_AT_ONCE: usize = 100;

/// States that are listed.
const MAX_LISTED: usize = 20_000;

/// States that are looked up one by one in windows with too many to look at each.
const MAX_LOOKED_UP: usize = 2000;

/// Which of the states come first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Order {
    #[default]
    Time,
    Longest,
}

/// A state that fulfils an expression: row, style, label, begin and end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Match(u32, u8, Option<Name>, SinceOrigin, SinceOrigin);

/// What a number of states says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Count {
    /// Each state of the window was looked at.
    Whole,
    /// There are too many to look at each: there are at least so many.
    AtLeast,
    /// There are too many to look at each, and the expression asks for what only each of them has.
    Unknown,
}

/// The rows with states that fulfil an expression.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Found {
    /// In the order of the tree.
    rows: Vec<u32>,
    /// Number of states that fulfil it.
    states: usize,
    /// How long they take in all, in the window or not; `None`: unknown, because not each was looked at.
    total_ns: Option<i64>,
    /// What the number says.
    kind: Count,
    /// The first of them in an order.
    matches: Vec<Match>,
}

impl Found {
    /// Leaves the first ones in an order.
    fn cut(&mut self, order: Order, limit: usize) {
        self.matches.sort_by_key(|it| match order {
            Order::Time => (Reverse(0), it.3, it.0),
            Order::Longest => (Reverse(it.4 - it.3), it.3, it.0),
        });
        self.matches.truncate(limit);
    }
}

/// Facts that all states of a row have in common.
struct RowFacts<'a> {
    host: &'a str,
    process: &'a str,
    comm: &'a str,
    kind: &'static str,
    tid: String,
    pid: String,
    cpu: String,
}

impl RowFacts<'_> {
    fn tags(&self, shape: &Shape, filter: &Filter) -> i32 {
        let label = shape.label.as_deref().unwrap_or_default();
        let texts = [
            ("state", style_name(shape.style)),
            ("label", label),
            ("name", label),
            ("host", self.host),
            ("process", self.process),
            ("comm", self.comm),
            ("kind", self.kind),
            ("thread", &self.tid),
            ("tid", &self.tid),
            ("pid", &self.pid),
            ("cpu", &self.cpu),
        ];
        filter.tags(Facts { texts: &texts, duration: shape.end.saturating_since(shape.start) })
    }
}

impl ExperimentView<'_> {
    fn row_facts<'a>(&'a self, row: &'a GraphRow) -> RowFacts<'a> {
        let parent = row.parent.and_then(|parent| self.rows.get(parent));
        let text = |number: Option<i64>| number.map(|number| number.to_string()).unwrap_or_default();
        RowFacts {
            host: &self.hosts[row.host].name,
            process: parent.filter(|it| it.kind == RowKind::Process).map_or(&row.label, |it| &it.label),
            comm: &row.label,
            kind: row.kind.name(),
            tid: text(row.tid.map(i64::from)),
            pid: text(row.pid.map(i64::from)),
            cpu: text(row.cpu.map(i64::from)),
        }
    }

    /// The whole of a state that the edge of a window may cut.
    fn whole(&self, id: u32, shape: &Shape, viewport: Viewport) -> Result<Option<Shape>> {
        let Window { start, end } = viewport.window;
        if shape.start > start && shape.end < end {
            return Ok(None);
        }
        let (from, to) = (shape.start.max(start), shape.end.min(end));
        let whole = self.whole_shape(id, from.saturating_add((to - from) / 2), viewport.clock)?;
        Ok(whole.filter(|whole| whole.style == shape.style))
    }

    /// The states of some rows with their tags under a filter: 0 for those that fulfil it. A deep search
    /// looks at every state where the window has few enough of them, else closer than what is drawn; of the
    /// states in one pixel, it gives one that fulfils the filter.
    pub(crate) fn tagged_states(
        &self,
        rows: &[u32],
        viewport: Viewport,
        filter: &Filter,
        is_deep: bool,
    ) -> Result<Vec<Vec<(i32, Shape)>>> {
        let pixels = match is_deep && !filter.is_empty() {
            true => self.search_pixels(viewport),
            false => viewport.pixels,
        };
        let all = self.states(rows, Viewport { pixels, ..viewport })?;
        let is_whole = pixels == u32::MAX && filter.asks_duration();
        let of_row = |(id, shapes): (&u32, Vec<Shape>)| {
            let facts = self.rows.get(*id).filter(|_| !filter.is_empty()).map(|row| self.row_facts(row));
            let tags = |shape: Shape| -> Result<(i32, Shape)> {
                let Some(facts) = &facts else { return Ok((0, shape)) };
                // How long it is does not depend on the window.
                let whole = if is_whole { self.whole(*id, &shape, viewport)? } else { None };
                Ok((facts.tags(whole.as_ref().unwrap_or(&shape), filter), shape))
            };
            let tagged: Vec<_> = shapes.into_iter().map(tags).collect::<Result<_>>()?;
            Ok(if pixels == viewport.pixels { tagged } else { sampled(tagged, viewport.pixel()) })
        };
        rows.iter().zip(all).map(of_row).collect()
    }

    /// The states of some rows as the page draws them: those that do not fulfil a filter are [`DIMMED`].
    pub(crate) fn dimmed_states(
        &self,
        rows: &[u32],
        viewport: Viewport,
        filter: &Filter,
    ) -> Result<Vec<Vec<Shape>>> {
        let tagged = self.tagged_states(rows, viewport, filter, true)?;
        let dimmed = |(tags, shape): (i32, Shape)| match tags {
            0 => shape,
            _ => Shape { style: shape.style | DIMMED, ..shape },
        };
        Ok(tagged.into_iter().map(|of_row| of_row.into_iter().map(dimmed).collect()).collect())
    }

    /// Number of pixels of a search: the largest, one per state, in windows with few enough states.
    fn search_pixels(&self, viewport: Viewport) -> u32 {
        match self.is_large(viewport.window) {
            true => viewport.pixels.saturating_mul(DEEPER),
            false => u32::MAX,
        }
    }

    /// The rows with states in a window that fulfil an expression, and the first `limit` of these states in
    /// an order, whole. Linear in the states of the window.
    ///
    /// # Errors
    /// The text is not an expression, or the store cannot be read.
    pub(crate) fn matching(
        &self,
        text: &str,
        window: Window<SinceOrigin>,
        clock: Clock,
        (order, limit): (Order, usize),
        work: &Work,
    ) -> Result<Found> {
        let filter = Filter::expression(text).ok_or_else(|| {
            let example = "`duration > 10ms && state == blocked`, `label matches open.* || pid == 199`";
            ApiError::wrong(format!("`{text}` is not an expression, as {example} are"))
        })?;
        let pixels = self.search_pixels(Viewport { window, pixels: PIXELS, clock });
        self.found(&filter, Viewport { window, pixels, clock }, (order, limit), work)
    }

    /// As [`Self::matching`], of a viewport: with the most pixels, each state is looked at.
    fn found(
        &self,
        filter: &Filter,
        viewport: Viewport,
        (order, limit): (Order, usize),
        work: &Work,
    ) -> Result<Found> {
        let (limit, clock) = (limit.min(MAX_LISTED), viewport.clock);
        let kind = match viewport.pixels {
            u32::MAX => Count::Whole,
            _ if filter.asks_label() => Count::Unknown,
            _ => Count::AtLeast,
        };
        let total_ns = (kind == Count::Whole).then_some(0);
        let mut all = Found { rows: Vec::new(), states: 0, total_ns, kind, matches: Vec::new() };
        if kind == Count::Unknown {
            return Ok(all);
        }
        let rows = self.rows.all.iter().filter(|row| row.kind.has_states());
        let ids: Vec<u32> = rows.map(|row| row.id).collect();
        work.expect(ids.chunks(ROWS_AT_ONCE).len() as u64);
        // Neighbouring pixels are joined: how long their states are is looked up.
        let mut looked_up = (kind == Count::AtLeast && filter.asks_duration()).then_some(0);
        for ids in ids.chunks(ROWS_AT_ONCE) {
            next_part(work)?;
            for (id, states) in ids.iter().zip(self.tagged_states(ids, viewport, filter, false)?) {
                let (before, mut last) = (all.states, None);
                for (_, shape) in states.into_iter().filter(|(tags, _)| *tags == 0) {
                    let shape = match (&mut looked_up, kind) {
                        (Some(count), _) => {
                            let Some(found) = self.looked_up(*id, &shape, filter, clock, count)? else {
                                continue;
                            };
                            found
                        }
                        (None, Count::Whole) => self.whole(*id, &shape, viewport)?.unwrap_or(shape),
                        (None, _) => shape,
                    };
                    if looked_up.is_some() && last.replace(shape.start) == Some(shape.start) {
                        continue;
                    }
                    all.states += 1;
                    all.total_ns = all.total_ns.map(|total| total + (shape.end - shape.start));
                    if limit > 0 {
                        all.matches.push(Match(*id, shape.style, shape.label, shape.start, shape.end));
                    }
                }
                if all.states > before {
                    all.rows.push(*id);
                }
                // They never take more memory than a few answers.
                if all.matches.len() > 4 * limit {
                    all.cut(order, limit);
                }
            }
        }
        all.cut(order, limit);
        if kind == Count::AtLeast && looked_up.is_none() {
            self.look_up_listed(&mut all, filter, clock, order)?;
        }
        Ok(all)
    }

    /// The state in the middle of what a level of zoom has, if it fulfils a filter. `count`: of those that
    /// were looked up.
    fn looked_up(
        &self,
        id: u32,
        shape: &Shape,
        filter: &Filter,
        clock: Clock,
        count: &mut usize,
    ) -> Result<Option<Shape>> {
        if *count == MAX_LOOKED_UP {
            return Ok(None);
        }
        *count += 1;
        let middle = shape.start.saturating_add((shape.end - shape.start) / 2);
        let facts = self.rows.get(id).map(|row| self.row_facts(row));
        let whole = self.whole_shape(id, middle, clock)?.zip(facts);
        Ok(whole.filter(|(whole, facts)| facts.tags(whole, filter) == 0).map(|(whole, _)| whole))
    }

    /// Puts the states themselves in the place of what a level of zoom has of them, in a list.
    fn look_up_listed(&self, all: &mut Found, filter: &Filter, clock: Clock, order: Order) -> Result<()> {
        let mut count = 0;
        let mut found = Vec::new();
        for Match(id, style, label, start, end) in std::mem::take(&mut all.matches) {
            let shape = Shape { style, start, end, label };
            if let Some(whole) = self.looked_up(id, &shape, filter, clock, &mut count)? {
                found.push(Match(id, whole.style, whole.label, whole.start, whole.end));
            }
        }
        found.sort_by_key(|it| (it.0, it.3));
        found.dedup_by_key(|it| (it.0, it.3));
        all.matches = found;
        all.cut(order, MAX_LOOKED_UP);
        Ok(())
    }
}

/// One state for each sample: those that fulfil the filter before the others.
fn sampled(states: Vec<(i32, Shape)>, pixel: i64) -> Vec<(i32, Shape)> {
    let mut kept: Vec<(i32, Shape)> = Vec::new();
    for (tags, shape) in states {
        match kept.last_mut() {
            Some((last_tags, last)) if shape.end < last.start.saturating_add(pixel) => {
                last.end = shape.end;
                if tags < *last_tags {
                    (*last_tags, last.style, last.label) = (tags, shape.style, shape.label);
                }
            }
            _ => kept.push((tags, shape)),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::ask_example;

    const LONG_WAITS: &str = "state == wait-cpu && duration > 5ms";

    /// Each listed state is whole and fulfils the expression, whatever part of it is in the window.
    #[test]
    fn states_are_listed_whole() {
        ask_example(|view| {
            let ask = |window, order, limit| {
                view.matching(LONG_WAITS, window, Clock::Common, (order, limit), &Work::default())
            };
            let all = ask(view.extent, Order::Longest, 1000)?;
            assert!(all.kind == Count::Whole && all.states > 20 && all.matches.len() == all.states);
            let lasts: Vec<i64> = all.matches.iter().map(|it| it.4 - it.3).collect();
            assert!(lasts.is_sorted_by(|a, b| a >= b) && lasts.iter().all(|&ns| ns > 5_000_000));
            assert_eq!(all.total_ns, Some(lasts.iter().sum::<i64>()));
            let Match(row, _, _, begin, end) = all.matches[0].clone();
            let exact = view.state_at(row, begin, Clock::Common, super::super::state_at::Which::At)?;
            assert_eq!((exact.begin, exact.end, exact.state), (begin, end, "wait-cpu"));
            // A millisecond in it.
            let middle = begin.saturating_add((end - begin) / 2);
            let inside = ask(Window::new(middle, middle.saturating_add(1_000_000)), Order::Time, 1000)?;
            assert!(inside.matches.contains(&all.matches[0]), "{inside:?}");
            let few = ask(view.extent, Order::Time, 3)?;
            assert_eq!((few.states, few.matches.len()), (all.states, 3));
            assert!(few.matches.iter().all(|it| it.3 <= all.matches.iter().map(|it| it.3).max().unwrap()));
            assert_eq!(ask(view.extent, Order::Time, 0)?.matches, []);
            Ok(())
        });
    }

    /// Where not each state is looked at, no more are counted than there are, and none is listed that there
    /// is not.
    #[test]
    fn what_is_not_whole_is_at_least() {
        ask_example(|view| {
            let work = Work::default();
            for text in [
                LONG_WAITS,
                "duration > 20ms",
                "duration < 50us && state == usermode",
                "state == syscall",
                "state != blocked && host == db",
                "!(duration > 1ms)",
                "wait-cpu",
                "kind == cpu && duration > 100ms",
            ] {
                let filter = Filter::expression(text).unwrap();
                let found = |pixels| {
                    let viewport = Viewport { window: view.extent, pixels, clock: Clock::Common };
                    view.found(&filter, viewport, (Order::Longest, MAX_LISTED), &work)
                };
                let whole = found(u32::MAX)?;
                assert_eq!(whole.kind, Count::Whole);
                for pixels in [20, 300, 5000] {
                    let some = found(pixels)?;
                    assert_eq!((some.kind, some.total_ns), (Count::AtLeast, None));
                    assert!(some.states <= whole.states, "{text}: {} of {}", some.states, whole.states);
                    assert!(some.rows.iter().all(|row| whole.rows.contains(row)), "{text} {pixels}");
                    let is_listed = |it: &Match| whole.states > MAX_LISTED || whole.matches.contains(it);
                    assert!(some.matches.iter().all(is_listed), "{text} {pixels}");
                }
            }
            for text in ["label == read", "state == syscall && name matches futex.*", "!openat"] {
                let filter = Filter::expression(text).unwrap();
                let viewport = Viewport { window: view.extent, pixels: 300, clock: Clock::Common };
                let unknown = view.found(&filter, viewport, (Order::Time, 9), &work)?;
                assert_eq!((unknown.kind, unknown.states), (Count::Unknown, 0), "{text}");
            }
            Ok(())
        });
    }
}
