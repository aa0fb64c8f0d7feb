//! What an expression finds: the rows that have states for which it holds, and in a picture the states for which it does not.
//!
//! Asked by the search box of the page and the filter box of viewers, in the language of `filter.rs`.

use serde::Serialize;

use super::filter::{Facts, Filter};
use super::rows::{Kind, Row};
use super::states::{Shape, Window, style_name};
use super::{Clock, Shown};
use crate::error::ApiError;

/// The bit of styles that are drawn pale.
const DIMMED: u8 = 0x80;

/// How much closer a search looks than what is drawn, where a window has too many states to look at each.
const DEEPER: u32 = 16;

/// Pixels of a picture, where there is none.
const PIXELS: u32 = 2000;

/// Rows whose states are in memory at once.
const ROWS_AT_ONCE: usize = 100;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Found {
    /// In the order of the tree.
    rows: Vec<u32>,
    /// How many states there are for which it holds.
    states: usize,
    /// Whether each state was looked at.
    is_whole: bool,
}

/// What expressions know of all states of a row.
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
        filter.tags(Facts { texts: &texts, duration: shape.end.saturating_sub(shape.begin) })
    }
}

impl Shown<'_> {
    fn row_facts<'a>(&'a self, row: &'a Row) -> RowFacts<'a> {
        let parent = row.parent.and_then(|parent| self.rows.get(parent));
        let number = |number: Option<i32>| number.map(|number| number.to_string()).unwrap_or_default();
        RowFacts {
            host: &self.hosts[row.host].name,
            process: parent.filter(|it| it.kind == Kind::Process).map_or(&row.label, |it| &it.label),
            comm: &row.label,
            kind: row.kind.name(),
            tid: number(row.tid),
            pid: number(row.pid),
            cpu: row.cpu.map(|cpu| cpu.to_string()).unwrap_or_default(),
        }
    }

    /// The states of some rows, with what a filter says of each: tags, none if it is what is asked for. A deep search looks at every state where the window
    /// has few enough of them, else closer than what is drawn; then of the states of one pixel those that are asked for are shown.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn tagged_states(
        &self,
        rows: &[u32],
        window: Window,
        filter: &Filter,
        is_deep: bool,
    ) -> Result<Vec<Vec<(i32, Shape)>>, ApiError> {
        let close = match is_deep && !filter.is_empty() {
            true => self.closest(window),
            false => window.pixels,
        };
        let all = self.states(rows, Window { pixels: close, ..window })?;
        let of_row = |(id, shapes): (&u32, Vec<Shape>)| {
            let Some(row) = self.rows.get(*id).filter(|_| !filter.is_empty()) else {
                return shapes.into_iter().map(|shape| (0, shape)).collect();
            };
            let facts = self.row_facts(row);
            let tagged =
                shapes.into_iter().map(|shape| (facts.tags(&shape, filter), shape)).collect::<Vec<_>>();
            if close == window.pixels { tagged } else { sampled(tagged, window.pixel()) }
        };
        Ok(rows.iter().zip(all).map(of_row).collect())
    }

    /// The states of some rows as the page draws them: those for which a filter does not hold are [`DIMMED`].
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn dimmed_states(
        &self,
        rows: &[u32],
        window: Window,
        filter: &Filter,
    ) -> Result<Vec<Vec<Shape>>, ApiError> {
        let tagged = self.tagged_states(rows, window, filter, true)?;
        let dimmed = |(tags, shape): (i32, Shape)| match tags {
            0 => shape,
            _ => Shape { style: shape.style | DIMMED, ..shape },
        };
        Ok(tagged.into_iter().map(|of_row| of_row.into_iter().map(dimmed).collect()).collect())
    }

    /// How many pixels a search looks at: as many as there are states, where that is possible.
    fn closest(&self, window: Window) -> u32 {
        match self.is_large((window.begin, window.end)) {
            true => window.pixels.saturating_mul(DEEPER),
            false => u32::MAX,
        }
    }

    /// The rows that have states in a window for which an expression holds. Linear in the states of the window.
    ///
    /// # Errors
    /// The text is no expression, or the store cannot be read.
    pub(crate) fn matching(
        &self,
        text: &str,
        (begin, end): (i64, i64),
        clock: Clock,
    ) -> Result<Found, ApiError> {
        let filter = Filter::expression(text).ok_or_else(|| {
            let example = "`duration > 10ms && state == blocked`, `label matches open.* || pid == 199`";
            ApiError::wrong(format!("`{text}` is no expression, as {example} are"))
        })?;
        let window = Window { begin, end, pixels: PIXELS, clock };
        let close = Window { pixels: self.closest(window), ..window };
        let mut found = Found { rows: Vec::new(), states: 0, is_whole: close.pixels == u32::MAX };
        let ids: Vec<u32> =
            self.rows.all.iter().filter(|row| row.kind.has_states()).map(|row| row.id).collect();
        for some in ids.chunks(ROWS_AT_ONCE) {
            for (id, shapes) in some.iter().zip(self.states(some, close)?) {
                let Some(row) = self.rows.get(*id) else { continue };
                let facts = self.row_facts(row);
                let count = shapes.iter().filter(|shape| facts.tags(shape, &filter) == 0).count();
                if count > 0 {
                    found.rows.push(*id);
                    found.states += count;
                }
            }
        }
        Ok(found)
    }
}

/// One state for each sample: those that are looked for before the others.
fn sampled(states: Vec<(i32, Shape)>, pixel: i64) -> Vec<(i32, Shape)> {
    let mut kept: Vec<(i32, Shape)> = Vec::new();
    for (tags, shape) in states {
        match kept.last_mut() {
            Some((last_tags, last)) if shape.end < last.begin.saturating_add(pixel) => {
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
