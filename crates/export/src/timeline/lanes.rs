//! Tracks for spans that may overlap: slices of a track have to nest.

use std::io;

use isochrone_time::{UnixNs, Window};

use super::{Event, Timeline, Track, TrackKind};

/// Tracks of one kind. A span goes to the first one in which it nests.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    lanes: Vec<Lane>,
}

#[derive(Debug)]
struct Lane {
    track: Track,
    /// Ends of slices that have started, the innermost last.
    open: Vec<UnixNs>,
}

impl Lanes {
    /// Lanes that start with a track.
    pub(crate) fn of(track: Track) -> Self {
        Self { lanes: vec![Lane { track, open: Vec::new() }] }
    }

    /// The first track, if there is any.
    pub(crate) fn first(&self) -> Option<Track> {
        self.lanes.first().map(|lane| lane.track)
    }

    /// Starts the slice of the next span, which does not start before any that was passed earlier (of equal starts, the longest comes
    /// first), after ending what has ended by then. `more`: the track to add where it nests in none.
    pub(crate) fn slice<T: Timeline>(
        &mut self,
        span: Window<UnixNs>,
        event: &Event<'_>,
        more: TrackKind<'_>,
        to: &mut T,
    ) -> io::Result<()> {
        let track = self.track(span, more, to)?;
        to.start(track, span.start, event)
    }

    fn track<T: Timeline>(
        &mut self,
        span: Window<UnixNs>,
        more: TrackKind<'_>,
        to: &mut T,
    ) -> io::Result<Track> {
        for lane in &mut self.lanes {
            while let Some(&ended) = lane.open.last().filter(|&&ended| ended <= span.start) {
                to.end(lane.track, ended)?;
                lane.open.pop();
            }
            if lane.open.last().is_none_or(|&outer| span.end <= outer) {
                lane.open.push(span.end);
                return Ok(lane.track);
            }
        }
        let track = to.track(&more)?;
        self.lanes.push(Lane { track, open: vec![span.end] });
        Ok(track)
    }

    /// Ends all slices.
    pub(crate) fn finish<T: Timeline>(&mut self, to: &mut T) -> io::Result<()> {
        for lane in &mut self.lanes {
            while let Some(ended) = lane.open.pop() {
                to.end(lane.track, ended)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use isochrone_time::RawNs;

    use super::*;

    /// The slices that were ended, and the number of tracks.
    #[derive(Debug, Default)]
    struct Ended {
        tracks: u64,
        started: Vec<u64>,
        ends: Vec<(u64, i128)>,
    }

    impl Timeline for Ended {
        fn track(&mut self, _: &TrackKind<'_>) -> io::Result<Track> {
            self.tracks += 1;
            Ok(Track(self.tracks))
        }
        fn start(&mut self, track: Track, _: UnixNs, _: &Event<'_>) -> io::Result<()> {
            self.started.push(track.0);
            Ok(())
        }
        fn end(&mut self, track: Track, at: UnixNs) -> io::Result<()> {
            self.ends.push((track.0, at.0));
            Ok(())
        }
        fn instant(&mut self, _: Track, _: UnixNs, _: &Event<'_>) -> io::Result<()> {
            Ok(())
        }
        fn counter(&mut self, _: Track, _: UnixNs, _: f64) -> io::Result<()> {
            Ok(())
        }
        fn clock(&mut self, _: u32, _: UnixNs, _: RawNs) -> io::Result<()> {
            Ok(())
        }
        fn finish(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// `tracks`: the one that each span goes to; `ends`: what is ended, in order.
    fn check(spans: &[(i128, i128)], tracks: &[u64], ends: &[(u64, i128)]) {
        let (mut lanes, mut to) = (Lanes::default(), Ended::default());
        for &(start, end) in spans {
            let span = Window::new(UnixNs(start), UnixNs(end));
            let more = TrackKind::Under { parent: Track(0), name: "" };
            lanes.slice(span, &Event::new("", ""), more, &mut to).unwrap();
        }
        lanes.finish(&mut to).unwrap();
        assert_eq!((to.started.as_slice(), to.ends.as_slice()), (tracks, ends), "{spans:?}");
    }

    #[test]
    fn spans_that_nest_share_a_track() {
        check(&[], &[], &[]);
        // One after the other, also without a gap; the end comes before the next start.
        check(&[(0, 5), (5, 9)], &[1, 1], &[(1, 5), (1, 9)]);
        check(&[(0, 9), (2, 4), (4, 9)], &[1, 1, 1], &[(1, 4), (1, 9), (1, 9)]);
        // An instant.
        check(&[(3, 3), (3, 4)], &[1, 1], &[(1, 3), (1, 4)]);
        // Overlapping ones are on tracks of their own.
        check(&[(0, 5), (3, 8), (6, 7)], &[1, 2, 1], &[(1, 5), (1, 7), (2, 8)]);
        check(&[(0, 5), (3, 8), (4, 9)], &[1, 2, 3], &[(1, 5), (2, 8), (3, 9)]);
    }
}
