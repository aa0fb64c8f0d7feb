//! Synchronization of hosts whose traces come chunk by chunk: what earlier chunks have shown is kept, and
//! each new one adds to it.
//!
//! `experiment` feeds it while sessions are watched. What is kept is bounded: of each pair of clocks a
//! corridor, of each clock when it was seen and what showed who steers it. The clock that is the reference of
//! the first solution stays the reference, so that times do not jump when another one would be a little
//! better.

use isochrone_clock::{ClockError, MAX_ABS_NS, Side, Synchronizer};
use isochrone_hosts::clocks::{HostClock, disambiguate, is_of_kernel};
use isochrone_net::Origin;
use serde::{Deserialize, Serialize};

use crate::assemble::Assembly;
use crate::clock_groups::ClockGroups;
use crate::error::{SyncError, said_of};
use crate::links::Links;
use crate::options::Options;
use crate::steering::{self, Choices, Verdict};
use isochrone_corrections::artefact::{Artefact, MessageCounts};
use isochrone_files::{InputTrace, Inputs};
use isochrone_matching::stamps::Stamps;
use isochrone_matching::steering::{StreamEvidence, add_trace};
use isochrone_matching::{Message, Recordings, clocks_of};
use isochrone_time::{RawNs, Window};

/// What the chunks so far say of the clocks of their hosts.
#[derive(Debug)]
pub struct Continued {
    options: Options,
    clocks: Vec<Known>,
    links: Links,
    synchronizer: Synchronizer,
    /// The clock that all times are on, once there was a solution.
    reference: Option<usize>,
}

/// A clock.
#[derive(Debug, Clone)]
struct Known {
    clock: HostClock,
    span: Option<Window<RawNs>>,
    /// What its stamps have in common.
    stamps: Option<Stamps>,
    /// What its kernel traces have shown of who steers it, joined where they follow each other.
    evidence: Vec<Vec<StreamEvidence>>,
}

/// The state of [`Continued`] in a form that can be stored: [`Continued::kept`].
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct KeptSync {
    clocks: Vec<KeptClock>,
    links: Vec<KeptLink>,
    reference: Option<usize>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct KeptClock {
    id: String,
    host: String,
    hostnames: Vec<String>,
    offset_ns: i64,
    has_uuid: bool,
    span: Option<Window<RawNs>>,
    #[serde(default)]
    stamps: Option<Stamps>,
    evidence: Vec<Vec<StreamEvidence>>,
}

/// The messages of a pair of clocks that can still matter: from a to b, from b to a.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct KeptLink {
    pair: (usize, usize),
    counts: MessageCounts,
    upper: Vec<(RawNs, RawNs)>,
    lower: Vec<(RawNs, RawNs)>,
}

impl Continued {
    /// Without any clock.
    ///
    /// # Errors
    /// The model makes no sense.
    pub fn new(options: Options) -> Result<Self, SyncError> {
        let synchronizer = Synchronizer::new(0, options.model)?;
        Ok(Self { options, clocks: Vec::new(), links: Links::default(), synchronizer, reference: None })
    }

    /// Continues from what was kept. It has those messages that bounds can rest on: bounds are as before, and
    /// estimates lie within them. Linear in what was kept.
    ///
    /// # Errors
    /// It contradicts itself.
    pub fn from_kept(options: Options, kept: KeptSync) -> Result<Self, SyncError> {
        let mut all = Self::new(options)?;
        for KeptClock { id, host, hostnames, offset_ns, has_uuid, span, stamps, evidence } in kept.clocks {
            let (traces, captures) = (Vec::new(), Vec::new());
            let clock = HostClock { id, host, hostnames, offset_ns, traces, captures, has_uuid };
            let number = all.number(&clock)?;
            let known = &mut all.clocks[number];
            (known.span, known.evidence) = (span, evidence);
            known.stamps = stamps;
        }
        for KeptLink { pair: (a, b), counts, upper, lower } in kept.links {
            if a >= b || b >= all.clocks.len() {
                return Err(ClockError::BadClock { clock: b }.into());
            }
            for (sent, received) in upper {
                all.message(Message { sender: a, sent, receiver: b, received })?;
            }
            for (received, sent) in lower {
                all.message(Message { sender: b, sent, receiver: a, received })?;
            }
            all.links.set_counts((a, b), counts);
        }
        all.reference = kept.reference.filter(|&reference| reference < all.clocks.len());
        Ok(all)
    }

    /// All of it in a form that can be stored.
    pub fn kept(&self) -> KeptSync {
        let clock = |known: &Known| KeptClock {
            id: known.clock.id.clone(),
            host: known.clock.host.clone(),
            hostnames: known.clock.hostnames.clone(),
            offset_ns: known.clock.offset_ns,
            has_uuid: known.clock.has_uuid,
            span: known.span,
            stamps: known.stamps,
            evidence: known.evidence.clone(),
        };
        let links = self.links.all().map(|(pair, corridor, counts)| {
            let points =
                |side| corridor.points(side).map(|point| (RawNs(point.x()), RawNs(point.y()))).collect();
            KeptLink { pair, counts, upper: points(Side::Upper), lower: points(Side::Lower) }
        });
        KeptSync {
            clocks: self.clocks.iter().map(clock).collect(),
            links: links.collect(),
            reference: self.reference,
        }
    }

    /// Takes what new traces show. `inputs` has them, and those before and alongside them that packets may
    /// have come from or gone to; `is_new` says which were not among the new ones before. Messages of MPI
    /// programs are not followed from chunk to chunk. Linear in the events of `inputs`.
    ///
    /// # Errors
    /// Times that cannot be computed with.
    pub fn take(&mut self, inputs: &Inputs, is_new: impl Fn(&InputTrace) -> bool) -> Result<(), SyncError> {
        let stamped = clocks_of(inputs);
        let new: Vec<bool> = inputs.traces.iter().map(is_new).collect();
        let numbers: Vec<usize> = stamped.iter().map(|clock| self.number(clock)).collect::<Result<_, _>>()?;
        let is_new = |origin: Origin| match origin {
            Origin::Trace(trace) => new.get(trace as usize).copied().unwrap_or_default(),
            Origin::Capture(_) => false,
        };
        let options = self.options.clone();
        let mut result = Ok(());
        let recordings = Recordings::new(inputs, &stamped);
        let reading = recordings.read(&options.vantage, &|_| (), &mut |matched| {
            // Both ends of a message are there for the first time when one of them is in a new trace.
            if is_new(matched.sent.place.origin) || is_new(matched.received.place.origin) {
                let Message { sender, sent, receiver, received } = matched.message();
                let (sender, receiver) = (numbers[sender], numbers[receiver]);
                let added = self.message(Message { sender, sent, receiver, received });
                if result.is_ok() {
                    result = added;
                }
            }
        });
        result?;
        for (clock, number) in stamped.iter().zip(numbers) {
            let known = &mut self.clocks[number];
            if let Some(here) = reading.span(inputs, clock) {
                let all = known.span.get_or_insert(here);
                *all = Window::new(all.start.min(here.start), all.end.max(here.end));
            }
            if let Some(here) = reading.stamps(inputs, clock) {
                known.stamps.get_or_insert(here).merge(&here);
            }
            let shown = clock.traces.iter().filter(|&&it| new[it] && is_of_kernel(&inputs.traces[it].trace));
            shown.for_each(|&trace| add_trace(&mut known.evidence, reading.steering[trace].clone()));
        }
        Ok(())
    }

    /// The corrections by all that was taken; `None` before anything was.
    ///
    /// # Errors
    /// Times that cannot be computed with.
    pub fn artefact(&mut self) -> Result<Option<Artefact>, SyncError> {
        if self.clocks.is_empty() {
            return Ok(None);
        }
        let mut clocks: Vec<HostClock> = self.clocks.iter().map(|known| known.clock.clone()).collect();
        disambiguate(&mut clocks, |clock| &mut clock.host);
        let choices = Choices::new(&clocks, &self.options.clocks)?;
        let resolves = said_of(&clocks, &self.options.resolution)?;
        let mut resolutions = Vec::with_capacity(clocks.len());
        let mut verdicts: Vec<Verdict> = Vec::with_capacity(clocks.len());
        for (number, (known, clock)) in self.clocks.iter().zip(&clocks).enumerate() {
            let span = known.span.unwrap_or_default();
            let verdict =
                choices.verdict(number, clock, steering::Origin::Traces, known.evidence.clone(), span)?;
            let resolution = known.stamps.unwrap_or_default().resolution(resolves[number]);
            self.synchronizer.arrives_later(number, resolution.late_ns)?;
            resolutions.push(resolution);
            self.synchronizer.assume(number, verdict.assumptions()?)?;
            self.synchronizer.see(number, span.start.ns())?;
            self.synchronizer.see(number, (span.end.ns() + i64::from(resolution.late_ns)).min(MAX_ABS_NS))?;
            verdicts.push(verdict);
        }
        self.synchronizer.set_reference(self.reference)?;
        let solution = self.synchronizer.solution()?;
        let entries =
            verdicts.iter().zip(&solution.assumed).map(|(verdict, used)| verdict.entries(used)).collect();
        let of_solution = Assembly {
            inputs: &Inputs::default(),
            clocks: &clocks,
            solution,
            links: &self.links,
            assumptions: entries,
            resolutions: &resolutions,
            reference: self.reference,
            published: None,
        };
        let artefact = of_solution.artefact(&self.options);
        // For a single clock nothing has to be chosen yet.
        if self.reference.is_none() && artefact.islands.iter().any(|island| island.hosts.len() > 1) {
            self.reference = clocks.iter().position(|clock| clock.host == artefact.reference);
        }
        Ok(Some(artefact))
    }

    /// The number of a clock, which is new if no trace of it was seen before.
    fn number(&mut self, clock: &HostClock) -> Result<usize, SyncError> {
        if let Some(number) = self.clocks.iter().position(|known| known.clock.id == clock.id) {
            return Ok(number);
        }
        let clock = HostClock { traces: Vec::new(), captures: Vec::new(), ..clock.clone() };
        self.clocks.push(Known { clock, span: None, stamps: None, evidence: Vec::new() });
        let clocks: Vec<HostClock> = self.clocks.iter().map(|known| known.clock.clone()).collect();
        self.links.set_clocks(ClockGroups::new(&clocks, &[])?, clocks.len());
        Ok(self.synchronizer.add_clock())
    }

    fn message(&mut self, message: Message) -> Result<(), SyncError> {
        self.links.add(message);
        let Message { sender, sent, receiver, received } = message;
        match self.synchronizer.message(sender, sent.ns(), receiver, received.ns()) {
            // The link counts it as one that cannot be computed with.
            Ok(()) | Err(ClockError::TimeOutOfRange(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isochrone_corrections::Clocks;

    const SECOND: i64 = 1_000_000_000;

    /// The second clock is five seconds ahead and gains 20 ppm.
    fn ahead(time: i64) -> i64 {
        time + 5 * SECOND + time / 50_000
    }

    /// Two clocks that send each other a message a second, from one second to another.
    fn send(all: &mut Continued, (from, to): (i64, i64)) {
        for name in ["a", "b"] {
            all.number(&HostClock::named(name.to_owned(), Vec::new())).unwrap();
        }
        for second in from..to {
            let (sent, delay) = (second * SECOND, 50_000 + second * 7919 % 300_000);
            let forth = (0, sent, 1, ahead(sent + delay));
            let back = (1, ahead(sent + SECOND / 2), 0, sent + SECOND / 2 + delay);
            for (sender, sent, receiver, received) in [forth, back] {
                let (sent, received) = (RawNs(sent), RawNs(received));
                all.message(Message { sender, sent, receiver, received }).unwrap();
            }
        }
        let last = to * SECOND;
        for (known, end) in all.clocks.iter_mut().zip([last, ahead(last)]) {
            let start = known.span.map_or(RawNs(end - (to - from) * SECOND), |span| span.start);
            known.span = Some(Window::new(start, RawNs(end)));
        }
    }

    fn clocks(all: &mut Continued) -> Clocks {
        Clocks::new(&all.artefact().unwrap().unwrap()).unwrap()
    }

    fn points(kept: &KeptSync) -> usize {
        kept.links.iter().map(|link| link.upper.len() + link.lower.len()).sum()
    }

    #[test]
    fn days_take_no_more_room_than_hours() {
        let mut all = Continued::new(Options::default()).unwrap();
        let mut most = Vec::new();
        for hour in 0..72 {
            send(&mut all, (hour * 3600, (hour + 1) * 3600));
            most.push(points(&all.kept()));
        }
        // At most 16,384 windows. Each time twice as many messages have come, two of them become one, whose
        // hulls have about one point more a side: the expected number grows with the logarithm of the
        // messages.
        for doubled in [(8, 18), (9, 19), (18, 38), (19, 39)] {
            let (before, after) = (most[doubled.0], most[doubled.1]);
            assert!(after < before + 16_384 * 2, "{doubled:?} in {most:?}");
        }
        assert!(most[71] < most[6] * 4, "{most:?}");
        assert_eq!(all.kept().links[0].counts.a_to_b, 72 * 3600);
    }

    #[test]
    fn what_is_kept_is_enough_to_go_on() {
        let mut all = Continued::new(Options::default()).unwrap();
        send(&mut all, (0, 600));
        let before = clocks(&mut all);
        let mut other = Continued::from_kept(Options::default(), all.kept()).unwrap();
        assert_eq!(other.reference, all.reference);
        for known in [&mut all, &mut other] {
            send(known, (600, 1200));
        }
        let [one, two] = [&mut all, &mut other].map(clocks);
        assert_eq!(one.get(0).unwrap().reference, before.get(0).unwrap().reference);
        let of = |clocks: &Clocks, second: i64| {
            let [a, b] = [0, 1].map(|number| clocks.get(number).unwrap());
            let related = clocks.related(a, b, RawNs(second * SECOND)).unwrap();
            (related.bounds.0.unwrap().0, related.bounds.1.unwrap().0)
        };
        for second in (10..1190).step_by(59) {
            let (one, two) = (of(&one, second), of(&two, second));
            let truth = ahead(second * SECOND);
            for (lo, hi) in [one, two] {
                assert!(lo <= truth && truth <= hi, "{second}: {lo} {truth} {hi}");
            }
            let (width, other) = (one.1 - one.0, two.1 - two.0);
            assert!((width - other).abs() <= width / 50 + 2, "{second}: {width} and {other}");
        }
        let wrong = KeptLink { pair: (1, 0), ..all.kept().links[0].clone() };
        let wrong = KeptSync { links: vec![wrong], ..all.kept() };
        assert!(Continued::from_kept(Options::default(), wrong).is_err());
    }

    #[test]
    fn of_nothing_comes_nothing() {
        let mut all = Continued::new(Options::default()).unwrap();
        assert!(all.artefact().unwrap().is_none());
        all.take(&Inputs::default(), |_| true).unwrap();
        assert!(all.artefact().unwrap().is_none());
    }
}
