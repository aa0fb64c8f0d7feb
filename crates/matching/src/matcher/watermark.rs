//! The watermark: up to which common time all sources have been read, so that the sightings of a packet are
//! complete.

use isochrone_time::RawNs;

use super::alignment::Alignment;
use super::stored_sighting::{StoredSighting, bit};
use super::windows_before;

/// How far the clocks have been read, in common time.
#[derive(Debug)]
pub(super) struct Watermark {
    over_all: i64,
    /// By the lowest clock of each island.
    of_islands: Vec<i64>,
    /// Whether matches tie all clocks together.
    whole: bool,
    /// Whether there is room to keep packets that have been answered for clocks that nothing ties so far: a
    /// switch, say, that has seen them too.
    patient: bool,
    /// What ends before is given up, whatever may come.
    forced: Option<i64>,
}

impl Watermark {
    /// `read`: by clock, the raw time up to which it has been read.
    pub(super) fn new(alignment: &Alignment, read: &[RawNs], patient: bool) -> Self {
        let mut of_islands = vec![i64::MAX; read.len()];
        for (clock, &time) in read.iter().enumerate() {
            let watermark = &mut of_islands[alignment.island(clock)];
            *watermark = (*watermark).min(alignment.common(clock, time));
        }
        let over_all = of_islands.iter().copied().min().unwrap_or(i64::MAX);
        Self { over_all, of_islands, whole: alignment.is_whole(), patient, forced: None }
    }

    /// Also gives up the older half of what is kept.
    pub(super) fn crowded(self, alignment: &Alignment, kept: &[StoredSighting]) -> Self {
        Self { forced: median(alignment, kept), ..self }
    }

    pub(super) fn is_forced(&self) -> bool {
        self.forced.is_some()
    }

    /// Whether nothing can come any more to sightings of one key, the last of them at a common time.
    pub(super) fn is_past(&self, alignment: &Alignment, sightings: &[StoredSighting], last: i64) -> bool {
        if let Some(forced) = self.forced {
            return last <= forced;
        }
        let island = alignment.island(sightings[0].clock as usize);
        let tied = sightings.iter().all(|kept| alignment.island(kept.clock as usize) == island);
        let watermark = match tied {
            true if is_answered(sightings) && (self.whole || !self.patient) => self.of_islands[island],
            // What may answer it on a clock that is not tied may be read at any time.
            true if !self.whole && self.over_all < i64::MAX => return false,
            _ => self.over_all,
        };
        last <= windows_before(watermark, 1)
    }

    /// The common time before which no sightings are kept for their equals.
    pub(super) fn of_waiting(&self) -> i64 {
        let settled = self.whole || self.over_all == i64::MAX;
        self.forced.unwrap_or(i64::MIN).max(if settled { self.over_all } else { i64::MIN })
    }
}

/// Whether some departure and some arrival are of two clocks.
fn is_answered(sightings: &[StoredSighting]) -> bool {
    let mut sides =
        [0, bit::SENT].map(|sent| sightings.iter().filter(move |kept| kept.bits & bit::SENT == sent));
    match (sides[0].next(), sides[1].next()) {
        (Some(arrival), Some(_)) => sightings.iter().any(|kept| kept.clock != arrival.clock),
        _ => false,
    }
}

/// The common time in the middle of some sightings.
pub(super) fn median(alignment: &Alignment, sightings: &[StoredSighting]) -> Option<i64> {
    let common = |kept: &StoredSighting| alignment.common(kept.clock as usize, kept.time);
    let mut times: Vec<i64> = sightings.iter().map(common).collect();
    let middle = times.len() / 2;
    (middle > 0).then(|| *times.select_nth_unstable(middle).1)
}
