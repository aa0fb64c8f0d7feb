//! The synchronization panel: hosts, links, formulas, and the picture of a link.

use isochrone_sync::artefact::{Artefact, LinkEntry, Quality};
use isochrone_sync::picture::{self, BoundsAt, Dot, LinkPicture};
use serde::Serialize;
use serde_json::{Value, json};

use super::messages::Message;
use super::overview::BreakShown;
use super::{Clock, Shown};
use crate::error::ApiError;

/// Points of a picture, each way.
const MOST_POINTS: usize = 20_000;

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
    bounds: Vec<BoundsAt>,
    suspects: Vec<(i64, i64, String)>,
    breaks: Vec<BreakShown>,
}

/// A link between two hosts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct LinkShown {
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
    pub(crate) likely_ns: Option<i64>,
    pub(crate) sure_ns: Option<i64>,
}

impl Shown<'_> {
    /// What was found when the clocks were put on one: of this synchronization, or of the one that the store keeps.
    fn artefact(&self) -> Result<Option<Artefact>, ApiError> {
        if let Some(outcome) = self.opened.synchronized() {
            return Ok(Some(outcome.artefact.clone()));
        }
        // Where corrections were given, what the store found is not what is shown.
        if !self.opened.is_synchronized() {
            return Ok(None);
        }
        let text = self.store.clocks()?;
        Ok(text.and_then(|text| Artefact::from_json(&text).ok()))
    }

    /// Hosts, links, formulas, breaks, suspects, and what was refused.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn synchronization(&self) -> Result<Value, ApiError> {
        let artefact = self.artefact()?;
        let formulas: Vec<Value> = self
            .hosts
            .iter()
            .filter_map(|host| {
                let entry = &host.timing.clock()?.entry;
                let formula = entry.formula();
                let assumption: Vec<&str> =
                    entry.assumptions.iter().map(|assumption| assumption.kind.as_str()).collect();
                let why = entry.assumptions.first().map_or("", |assumption| assumption.why.as_str());
                let mut kinds = assumption.clone();
                kinds.dedup();
                Some(json!({
                    "host": host.name, "slope": formula.slope, "offset_ns": formula.offset_ns,
                    "assumption": if why.is_empty() { kinds.join(", ") } else { format!("{}: {why}", kinds.join(", ")) },
                }))
            })
            .collect();
        let links = self.links()?;
        let suspects = artefact.iter().flat_map(|it| &it.suspects).map(|suspect| {
            let at = self
                .host_place(&suspect.link.0)
                .map(|host| self.at(host, suspect.sent_raw_ns, Clock::Common));
            json!({"link": suspect.link, "at": at, "why": suspect.why})
        });
        let suspects: Vec<Value> = suspects.collect();
        let refused = artefact.iter().flat_map(|it| &it.refused);
        let refused: Vec<Value> =
            refused.map(|it| json!({"what": it.what, "name": it.name, "why": it.why})).collect();
        Ok(json!({
            "hosts": self.hosts_shown(), "links": links, "formulas": formulas, "breaks": self.breaks(),
            "suspects": suspects, "refused": refused, "command": self.command.of("sync"),
        }))
    }

    /// All links between hosts, as far as they are known.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn links(&self) -> Result<Vec<LinkShown>, ApiError> {
        let artefact = self.artefact()?;
        let links = artefact.as_ref().map(|it| it.links.as_slice()).unwrap_or_default();
        Ok(links.iter().map(|link| self.link_shown(link)).collect())
    }

    fn link_shown(&self, link: &LinkEntry) -> LinkShown {
        let (likely, sure) = self.link_bounds(link).unwrap_or_default();
        let count = &link.messages;
        let quality = match link.quality {
            Quality::Accurate => "accurate",
            Quality::Approximate => "approximate",
            Quality::Incomplete => "incomplete",
            Quality::Absent => "absent",
            Quality::Refused => "refused",
        };
        LinkShown {
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
            likely_ns: likely,
            sure_ns: sure,
        }
    }

    /// Likely error and half of the sure interval of a link, in the middle of the trace of its first host.
    fn link_bounds(&self, link: &LinkEntry) -> Option<(Option<i64>, Option<i64>)> {
        let (a, b) = (self.host_place(&link.a)?, self.host_place(&link.b)?);
        let (first, last) = self.hosts[a].range;
        let (lo, hi, likely) = self.between(a, b, first + (last - first) / 2)?;
        Some((Some(likely), Some((hi - lo) / 2)))
    }

    fn host_place(&self, name: &str) -> Option<usize> {
        self.hosts.iter().position(|host| host.name == name)
    }

    /// How far the clock of b can be from what is shown at an instant of a: surely before, surely after, likely.
    fn between(&self, a: usize, b: usize, raw: i64) -> Option<(i64, i64, i64)> {
        let clock = |host: usize| self.hosts[host].timing.clock();
        picture::between(self.opened.clocks()?, clock(a)?, clock(b)?, raw)
    }

    /// The bounds between the clocks of two hosts, over the trace of the first; times are those that are shown.
    fn bounds_between(&self, first: usize, second: usize) -> Vec<BoundsAt> {
        let clock = |host: usize| self.hosts[host].timing.clock();
        let range = self.hosts[first].range;
        let clocks = self.opened.clocks().zip(clock(first)).zip(clock(second));
        let bounds = match clocks {
            Some(((clocks, a), b)) => picture::bounds(clocks, a, b, range, BOUNDS),
            None => Vec::new(),
        };
        bounds
            .into_iter()
            .map(|(raw, lo, hi, e95)| (self.at(first, raw, Clock::Common), lo, hi, e95))
            .collect()
    }

    /// The picture of the link between two hosts.
    ///
    /// # Errors
    /// There are no such hosts.
    pub(crate) fn picture(&self, a: &str, b: &str, points: usize) -> Result<Picture, ApiError> {
        let place = |name: &str| {
            self.host_place(name).ok_or_else(|| ApiError::missing(format!("no host is called `{name}`")))
        };
        let (first, second) = (place(a)?, place(b)?);
        let way = |from: usize, to: usize| {
            let is_its = move |message: &&Message| message.hosts == [from as u16, to as u16];
            self.messages.all.iter().filter(is_its)
        };
        let forth: Vec<Dot> = way(first, second).map(|m| (m.common[0], m.common[1] - m.common[0])).collect();
        let back: Vec<Dot> = way(second, first).map(|m| (m.common[1], m.common[0] - m.common[1])).collect();
        let bounds = self.bounds_between(first, second);
        let mut suspects = Vec::new();
        for suspect in self.artefact()?.iter().flat_map(|it| &it.suspects) {
            let ends = [&suspect.link.0, &suspect.link.1].map(|name| self.host_place(name));
            let [Some(from), Some(to)] = ends else { continue };
            if (from, to) != (first, second) && (from, to) != (second, first) {
                continue;
            }
            let sent = self.at(from, suspect.sent_raw_ns, Clock::Common);
            let delay = self.at(to, suspect.received_raw_ns, Clock::Common) - sent;
            let sign = if from == first { 1 } else { -1 };
            suspects.push((sent, sign * delay, suspect.why.clone()));
        }
        let breaks = self.breaks().into_iter().filter(|it| it.host == first || it.host == second).collect();
        let points = points.clamp(2, MOST_POINTS);
        let LinkPicture { forth, back, upper, lower } = LinkPicture::new(forth, back, points);
        Ok(Picture { a: a.to_owned(), b: b.to_owned(), forth, back, upper, lower, bounds, suspects, breaks })
    }
}
