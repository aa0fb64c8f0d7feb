//! The synchronization panel: hosts, links, formulas, and the picture of a link.

use isochrone_corrections::artefact::{Artefact, LinkEntry, Quality, SuspectEntry};
use isochrone_corrections::picture::{self, BoundsAt, Dot, LinkPicture};
use isochrone_time::{RawNs, SinceOrigin};
use serde::Serialize;
use serde_json::{Value, json};

use super::overview::ClockBreak;
use super::{Clock, ExperimentView};
use crate::error::{ApiError, Result};

/// Points of a picture, each way.
const MAX_POINTS: usize = 20_000;

/// Rows of bounds of a picture.
const BOUNDS: i64 = 400;

/// The picture of a link: offset against time, with the estimate taken out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Picture {
    a: String,
    b: String,
    forth: Vec<Dot>,
    back: Vec<Dot>,
    upper: Vec<Dot>,
    lower: Vec<Dot>,
    bounds: Vec<BoundsAt<SinceOrigin>>,
    /// Instant, delay in ns, reason.
    suspects: Vec<(SinceOrigin, i64, String)>,
    breaks: Vec<ClockBreak>,
}

/// A link between two hosts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct LinkSummary {
    pub(crate) a: String,
    pub(crate) b: String,
    pub(crate) quality: &'static str,
    pub(crate) a_to_b: u64,
    pub(crate) b_to_a: u64,
    ambiguous: u64,
    suspects: u64,
    dropped: u64,
    inversions: u64,
    rate_ppm: (Option<f64>, Option<f64>),
    offset_at_middle_ns: (Option<i64>, Option<i64>),
    min_rtt_ns: Option<i64>,
    /// Likely error in the middle of the trace of the first host.
    pub(crate) likely_ns: Option<i64>,
    /// Half of the guaranteed interval there.
    pub(crate) sure_ns: Option<i64>,
}

impl ExperimentView<'_> {
    /// The result of the synchronization: of this one, or of the one that the store keeps.
    fn artefact(&self) -> Result<Option<Artefact>> {
        if let Some(outcome) = self.opened.synchronized() {
            return Ok(Some(outcome.artefact.clone()));
        }
        // Where corrections were given, what the store has is not what is shown.
        if !self.opened.is_synchronized() {
            return Ok(None);
        }
        let text = self.store.clocks()?;
        Ok(text.and_then(|text| Artefact::from_json(&text).ok()))
    }

    /// Hosts, links, formulas, breaks, suspects, and what was refused.
    pub(crate) fn synchronization(&self) -> Result<Value> {
        let artefact = self.artefact()?;
        let formulas = self.hosts.iter().filter_map(|host| {
            let entry = &host.timing.clock()?.entry;
            let formula = entry.formula();
            let mut kinds: Vec<&str> = entry.assumptions.iter().map(|it| it.kind.as_str()).collect();
            kinds.dedup();
            let kinds = kinds.join(", ");
            let assumption = match entry.assumptions.first().map(|it| it.why.as_str()) {
                Some(why) if !why.is_empty() => format!("{kinds}: {why}"),
                _ => kinds,
            };
            Some(json!({
                "host": host.name, "slope": formula.slope, "offset_ns": formula.offset_ns,
                "assumption": assumption,
            }))
        });
        let suspects = artefact.iter().flat_map(|it| &it.suspects).map(|suspect| {
            let host = self.host_index(&suspect.link.0);
            let at = host.map(|host| self.at(host, RawNs(suspect.sent_raw_ns), Clock::Common));
            json!({"link": suspect.link, "at": at, "why": suspect.why})
        });
        let refused = artefact.iter().flat_map(|it| &it.refused);
        let refused = refused.map(|it| json!({"what": it.what, "name": it.name, "why": it.why}));
        Ok(json!({
            "hosts": self.host_summaries(), "links": self.links()?, "formulas": formulas.collect::<Vec<_>>(),
            "breaks": self.breaks(), "suspects": suspects.collect::<Vec<_>>(),
            "refused": refused.collect::<Vec<_>>(),
        }))
    }

    /// All links between hosts, as far as they are known.
    pub(crate) fn links(&self) -> Result<Vec<LinkSummary>> {
        let artefact = self.artefact()?;
        let links = artefact.as_ref().map(|it| it.links.as_slice()).unwrap_or_default();
        Ok(links.iter().map(|link| self.link_summary(link)).collect())
    }

    fn link_summary(&self, link: &LinkEntry) -> LinkSummary {
        let bounds = self.bounds_of_link(link);
        let count = &link.messages;
        let quality = match link.quality {
            Quality::Accurate => "accurate",
            Quality::Approximate => "approximate",
            Quality::Incomplete => "incomplete",
            Quality::Absent => "absent",
            Quality::Refused => "refused",
        };
        LinkSummary {
            a: link.a.clone(),
            b: link.b.clone(),
            quality,
            a_to_b: count.a_to_b,
            b_to_a: count.b_to_a,
            ambiguous: count.ambiguous,
            suspects: count.suspect,
            dropped: count.dropped,
            inversions: link.inversions,
            rate_ppm: link.rate_ppm,
            offset_at_middle_ns: link.offset_at_middle_ns,
            min_rtt_ns: link.min_rtt_ns,
            likely_ns: bounds.map(|(.., likely)| likely),
            sure_ns: bounds.map(|(lo, hi, _)| (hi - lo) / 2),
        }
    }

    /// The distance of the clock of b from what is shown in the middle of the trace of a: proven bounds,
    /// likely error.
    fn bounds_of_link(&self, link: &LinkEntry) -> Option<(i64, i64, i64)> {
        let (a, b) = (self.host_index(&link.a)?, self.host_index(&link.b)?);
        let range = self.hosts[a].range;
        let middle = range.start + (range.end - range.start) / 2;
        let clock = |host: usize| self.hosts[host].timing.clock();
        picture::between(self.opened.clocks()?, clock(a)?, clock(b)?, middle)
    }

    /// The bounds between the clocks of two hosts, over the trace of the first, on the common clock.
    fn bounds_between(&self, first: usize, second: usize) -> Vec<BoundsAt<SinceOrigin>> {
        let clock = |host: usize| self.hosts[host].timing.clock();
        let Some(((clocks, a), b)) = self.opened.clocks().zip(clock(first)).zip(clock(second)) else {
            return Vec::new();
        };
        let bounds = picture::bounds(clocks, a, b, self.hosts[first].range, BOUNDS).into_iter();
        let at = |raw| self.at(first, raw, Clock::Common);
        bounds.map(|(raw, lo, hi, e95)| (at(raw), lo, hi, e95)).collect()
    }

    /// The picture of the link between two hosts.
    ///
    /// # Errors
    /// There are no such hosts.
    pub(crate) fn picture(&self, a: &str, b: &str, points: usize) -> Result<Picture> {
        let index = |name: &str| {
            self.host_index(name).ok_or_else(|| ApiError::missing(format!("no host is called `{name}`")))
        };
        let (first, second) = (index(a)?, index(b)?);
        let all = &self.messages()?.all;
        let times = |from: usize, to: usize| {
            let messages = all.iter().filter(move |message| message.is_between(from, to));
            messages.map(|message| message.common)
        };
        let forth = times(first, second).map(|[sent, received]| (sent.ns(), received - sent)).collect();
        let back = times(second, first).map(|[sent, received]| (received.ns(), sent - received)).collect();
        let suspect = |suspect: &SuspectEntry| {
            let (from, to) = (self.host_index(&suspect.link.0)?, self.host_index(&suspect.link.1)?);
            let sign = match (from, to) {
                _ if (from, to) == (first, second) => 1,
                _ if (from, to) == (second, first) => -1,
                _ => return None,
            };
            let sent = self.at(from, RawNs(suspect.sent_raw_ns), Clock::Common);
            let received = self.at(to, RawNs(suspect.received_raw_ns), Clock::Common);
            Some((sent, sign * (received - sent), suspect.why.clone()))
        };
        let suspects = self.artefact()?.iter().flat_map(|it| &it.suspects).filter_map(suspect).collect();
        let breaks = self.breaks().into_iter().filter(|it| it.host == first || it.host == second).collect();
        let bounds = self.bounds_between(first, second);
        let LinkPicture { forth, back, upper, lower } =
            LinkPicture::new(forth, back, points.clamp(2, MAX_POINTS));
        Ok(Picture { a: a.to_owned(), b: b.to_owned(), forth, back, upper, lower, bounds, suspects, breaks })
    }
}
