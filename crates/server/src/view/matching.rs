//! States and expressions: the rows with states that fulfil one, and in a picture the states that do not.
//!
//! Used by the search box of the page and the filter box of viewers, in the language of `filter.rs`.

use isochrone_time::{SinceOrigin, Window};
use serde::Serialize;

use super::filter::{Facts, Filter};
use super::rows::{GraphRow, RowKind};
use super::states::{Shape, Viewport, style_name};
use super::{Clock, ExperimentView};
use crate::error::{ApiError, Result};

/// The bit of styles that are drawn pale.
const DIMMED: u8 = 0x80;

/// Factor by which a search looks closer than what is drawn, in windows with too many states to look at each.
const DEEPER: u32 = 16;

/// Pixels of a search without a picture.
const PIXELS: u32 = 2000;

/// Rows whose states are in memory at once.
const ROWS_AT_ONCE: usize = 100;

/// The rows with states that fulfil an expression.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Matches {
    /// In the order of the tree.
    rows: Vec<u32>,
    /// Number of states that fulfil it.
    states: usize,
    /// Whether each state was looked at.
    is_whole: bool,
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
        let of_row = |(id, shapes): (&u32, Vec<Shape>)| {
            let facts = self.rows.get(*id).filter(|_| !filter.is_empty()).map(|row| self.row_facts(row));
            let tags = |shape: &Shape| facts.as_ref().map_or(0, |facts| facts.tags(shape, filter));
            let tagged = shapes.into_iter().map(|shape| (tags(&shape), shape)).collect();
            if pixels == viewport.pixels { tagged } else { sampled(tagged, viewport.pixel()) }
        };
        Ok(rows.iter().zip(all).map(of_row).collect())
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

    /// The rows with states in a window that fulfil an expression. Linear in the states of the window.
    ///
    /// # Errors
    /// The text is not an expression, or the store cannot be read.
    pub(crate) fn matching(&self, text: &str, window: Window<SinceOrigin>, clock: Clock) -> Result<Matches> {
        let filter = Filter::expression(text).ok_or_else(|| {
            let example = "`duration > 10ms && state == blocked`, `label matches open.* || pid == 199`";
            ApiError::wrong(format!("`{text}` is not an expression, as {example} are"))
        })?;
        let pixels = self.search_pixels(Viewport { window, pixels: PIXELS, clock });
        let viewport = Viewport { window, pixels, clock };
        let mut matches = Matches { rows: Vec::new(), states: 0, is_whole: pixels == u32::MAX };
        let rows = self.rows.all.iter().filter(|row| row.kind.has_states());
        let ids: Vec<u32> = rows.map(|row| row.id).collect();
        for ids in ids.chunks(ROWS_AT_ONCE) {
            for (id, states) in ids.iter().zip(self.tagged_states(ids, viewport, &filter, false)?) {
                let count = states.iter().filter(|(tags, _)| *tags == 0).count();
                if count > 0 {
                    matches.rows.push(*id);
                    matches.states += count;
                }
            }
        }
        Ok(matches)
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
