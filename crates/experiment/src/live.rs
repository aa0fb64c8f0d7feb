//! Traces that are still being written, read in the order of time: events come out as soon as nothing earlier
//! can come any more.
//!
//! Who gets the bytes (`isochrone_ctf::live`) says how far each trace is known. What is read is remembered as
//! a packet and a number of events in it, so that nothing of a trace is borrowed while it grows.
//!
//! Several hosts can be synchronized on the way ([`synchronize_growing`]): what is shown is then of the time
//! that was read for the corrections of now, so that these have bounds for all of it.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use isochrone_corrections::{Clock, Clocks};
use isochrone_ctf::live::LiveTrace;
use isochrone_ctf::merge::Merge;
use isochrone_ctf::{Diagnostic, Error, Event, StreamEvents, Trace};
use isochrone_files::{InputTrace, Inputs};
use isochrone_hosts::clocks;
use isochrone_sync::{Options, Outcome, SyncError, synchronize};
use isochrone_time::{RawNs, UnixNs};
use isochrone_timing::Timing;

use crate::events::TimedTrace;

/// On which clocks growing traces are shown.
#[derive(Debug)]
pub enum LiveBase {
    /// Each host's own.
    Own,
    /// Those of corrections that were made before.
    Kept(Clocks),
    /// One, to which the hosts are synchronized on the way: nothing is shown before [`LiveEvents::correct`].
    OnTheWay,
}

/// How far new corrections moved a clock at the end of the time that those before were of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    /// The host.
    pub host: String,
    /// How much later its last instant is now, ns of the common clock.
    pub later_ns: i128,
    /// Whether that is beyond the bounds that it had.
    pub is_beyond: bool,
}

/// Growing traces, and how far they have been read.
#[derive(Debug)]
pub struct LiveEvents {
    inputs: Inputs,
    clocks: Option<Clocks>,
    /// Where hosts are synchronized on the way: the traces as they were when they were read for the
    /// corrections.
    corrected: Option<Vec<LiveTrace>>,
    /// By trace and stream.
    places: HashMap<(usize, usize), Place>,
    /// Of so many traces, since events of them were shown: the Unix times of the zeros of their clocks. Later
    /// ones may declare others.
    zeros: (usize, HashMap<usize, i64>),
    /// Metadata that could not be understood: they may be whole later.
    waiting: HashSet<PathBuf>,
    diagnostics: Vec<Diagnostic>,
}

/// How far a stream has been read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Place {
    packet: usize,
    /// Events of that packet that have come out.
    events: usize,
}

/// What is known of the time of traces that grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Through {
    /// Nothing: whatever comes may be earlier than all.
    Unknown,
    /// What is still to come is not earlier than this, Unix ns.
    Until(UnixNs),
    /// All is there.
    All,
}

impl LiveEvents {
    /// Without traces so far.
    pub fn new(base: LiveBase) -> Self {
        let (clocks, corrected) = match base {
            LiveBase::Own => (None, None),
            LiveBase::Kept(clocks) => (Some(clocks), None),
            LiveBase::OnTheWay => (None, Some(Vec::new())),
        };
        let (places, zeros, waiting, diagnostics) = Default::default();
        Self { inputs: Inputs::default(), clocks, corrected, places, zeros, waiting, diagnostics }
    }

    /// Takes the corrections by what traces had when they were as given, or that there are none: then each
    /// host is on its own clock. What was shown is not shown again. Linear in the clocks.
    pub fn correct(&mut self, clocks: Option<Clocks>, read: Vec<LiveTrace>) -> Vec<Revision> {
        self.corrected = clocks.is_some().then_some(read);
        let before = std::mem::replace(&mut self.clocks, clocks);
        let (Some(before), Some(now)) = (&before, &self.clocks) else { return Vec::new() };
        before.iter().filter_map(|old| revision(old, now)).collect()
    }

    /// The traces so far, in the order of their paths, each with what its times mean; those without a
    /// correction for their clock are left out where corrections are asked for.
    fn timed(&self) -> Vec<TimedTrace<'_>> {
        let mut timed = Vec::new();
        let zeros = self.zeros();
        for (place, input) in self.inputs.traces.iter().enumerate() {
            let declared = input.trace.schema().single_clock().and_then(clocks::offset_ns);
            let zero_ns = zeros.get(&place).copied().filter(|&zero_ns| declared != Some(zero_ns));
            timed.extend(TimedTrace::new(input, place, self.clocks.as_ref(), false, zero_ns));
        }
        timed.sort_by(|a, b| a.input.path().cmp(b.input.path()));
        timed
    }

    /// By trace: the Unix time of the zero of its clock, as where whole traces are read; where events of the
    /// clock were shown, as then.
    fn zeros(&self) -> HashMap<usize, i64> {
        let (count, known) = &self.zeros;
        if *count == self.inputs.traces.len() {
            return known.clone();
        }
        let traces: Vec<&Trace> = self.inputs.traces.iter().map(|input| &input.trace).collect();
        let mut zeros = HashMap::new();
        for clock in clocks::group(&traces) {
            let zero_ns = clock.traces.iter().find_map(|place| known.get(place)).unwrap_or(&clock.offset_ns);
            zeros.extend(clock.traces.iter().map(|&place| (place, *zero_ns)));
        }
        zeros
    }

    /// The paths of traces for whose clocks there is no correction although corrections are asked for; where
    /// hosts are synchronized on the way, of those with events. Linear in the packets.
    pub fn uncorrected(&self) -> Vec<PathBuf> {
        let timed: HashSet<usize> = self.timed().iter().map(|timed| timed.place).collect();
        let has_events =
            |trace: &Trace| (0..trace.streams().len()).any(|stream| trace.events(stream).next().is_some());
        let is_missed = |input: &InputTrace| self.corrected.is_none() || has_events(&input.trace);
        let traces = self.inputs.traces.iter().enumerate().filter(|(place, _)| !timed.contains(place));
        let missed = traces.map(|(_, input)| input).filter(|input| is_missed(input));
        missed.map(|input| input.path().to_owned()).collect()
    }

    /// The corrections that times are put on.
    pub fn clocks(&self) -> Option<&Clocks> {
        self.clocks.as_ref()
    }

    /// What could not be decoded so far.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// What was wrong with each trace when it was looked at last: packets that are none, and what its packets
    /// miss.
    pub fn of_traces(&self) -> impl Iterator<Item = &[Diagnostic]> {
        self.inputs.traces.iter().map(|input| input.trace.diagnostics())
    }

    /// Looks at traces again, and gives all events that nothing of these can come before any more, each once:
    /// `show` gets the traces as they are, the corrections, and the events. `is_known`: whether these are all
    /// traces that there can be now. Where hosts are synchronized on the way, they are those of the time that
    /// the corrections are of. Linear in what is new, and in the events of the packets that each stream is in.
    ///
    /// # Errors
    /// A directory cannot be listed, or what `show` says.
    pub fn read<E: From<Error>>(
        &mut self,
        growing: &[LiveTrace],
        is_known: bool,
        show: impl for<'t> FnOnce(
            &'t [TimedTrace<'t>],
            Option<&'t Clocks>,
            &mut dyn Iterator<Item = LiveEvent<'t>>,
        ) -> Result<(), E>,
    ) -> Result<(), E> {
        self.look(growing)?;
        let known = is_known && self.waiting.is_empty();
        // One that was read for them and has none has no events, or no clock: it is left out, and holds
        // nothing up.
        let lacks_corrections = self.corrected.as_ref().is_some_and(|read| {
            let was_read = |input: &InputTrace| read.iter().any(|trace| trace.directory == input.path());
            self.clocks.is_none() || !self.inputs.traces.iter().all(was_read)
        });
        let states = self.corrected.as_deref().unwrap_or(growing);
        let timed = self.timed();
        let until = match known && !lacks_corrections {
            true => timed.iter().map(|timed| through(timed, states)).fold(Through::All, Through::earlier),
            false => Through::Unknown,
        };
        let mut places = self.places.clone();
        let is_over = until == Through::All;
        let streams = timed.iter().enumerate().flat_map(|(number, timed)| {
            let (trace, place, places) = (timed.trace(), timed.place, &places);
            ordered(trace).into_iter().map(move |stream| {
                let at = places.get(&(place, stream)).copied().unwrap_or_default();
                (number, resumed(trace, stream, at, is_over))
            })
        });
        let mut merge = Merge::new(streams.collect::<Vec<_>>(), |number: usize, event: &Event<'_>| {
            timed[number].unix(event)
        });
        let mut ready = std::iter::from_fn(|| {
            let (number, unix, event) = merge.next()?;
            let is_ready = match until {
                Through::Unknown => false,
                Through::Until(until) => unix.is_some_and(|unix| unix < until),
                Through::All => true,
            };
            if !is_ready {
                return None;
            }
            let place = places.entry((timed[number].place, event.stream())).or_default();
            place.pass(timed[number].trace(), &event);
            Some((number, unix, event))
        });
        // What the reader does not take comes again.
        show(&timed, self.clocks.as_ref(), &mut ready)?;
        let found: Vec<Diagnostic> = merge.diagnostics().filter(|_| is_over).cloned().collect();
        self.diagnostics.extend(found);
        let has_shown = self.places != places;
        self.places = places;
        if has_shown {
            self.zeros = (self.inputs.traces.len(), self.zeros());
        }
        Ok(())
    }

    /// Opens traces that are new, and looks at the others again.
    fn look(&mut self, growing: &[LiveTrace]) -> Result<(), Error> {
        for LiveTrace { directory, is_over, .. } in growing {
            match self.inputs.traces.iter_mut().find(|input| input.path() == *directory) {
                Some(input) => {
                    input.trace.refresh()?;
                }
                None => match Trace::open(directory) {
                    Ok(trace) => {
                        self.waiting.remove(directory);
                        let inner = PathBuf::new();
                        self.inputs.traces.push(InputTrace::new(directory.clone(), inner, trace));
                    }
                    // They arrive in parts.
                    Err(_) if !is_over => {
                        self.waiting.insert(directory.clone());
                    }
                    Err(error) => return Err(error),
                },
            }
        }
        Ok(())
    }
}

/// Synchronizes what is there so far of growing traces; the reference is a host, where one is named. Linear
/// in the events.
///
/// # Errors
/// As [`synchronize`].
pub fn synchronize_growing(growing: &[LiveTrace], reference: Option<String>) -> Result<Outcome, SyncError> {
    let paths: Vec<PathBuf> = growing.iter().map(|growing| growing.directory.clone()).collect();
    synchronize(&Inputs::open(&paths), &Options { reference, ..Options::default() }, &|_| ())
}

fn revision(old: &Clock, now: &Clocks) -> Option<Revision> {
    let new = now.iter().find(|new| new.entry.id == old.entry.id)?;
    let (_, last) = old.span()?;
    let (then, now) = (Timing::Common(old).stamp(last), new.unix(last));
    let is_beyond = then.lo.is_some_and(|lo| now < lo) || then.hi.is_some_and(|hi| hi < now);
    Some(Revision { host: new.entry.host.clone(), later_ns: now - then.unix, is_beyond })
}

/// The place of a trace among those that are read, the Unix time of an event, and the event.
pub type LiveEvent<'t> = (usize, Option<UnixNs>, Event<'t>);

/// The streams of a trace in the order that they have where all are there when it is opened.
fn ordered(trace: &Trace) -> Vec<usize> {
    let mut streams: Vec<usize> = (0..trace.streams().len()).collect();
    streams.sort_by_key(|&stream| {
        let info = &trace.streams()[stream];
        (trace.stream_class(stream).id, info.id, info.file.clone())
    });
    streams
}

/// The events of a stream from a place on.
fn resumed(trace: &Trace, stream: usize, at: Place, is_over: bool) -> StreamEvents<'_> {
    let events = trace.events_from(stream, at.packet);
    let mut events = if is_over { events } else { events.while_growing() };
    events.by_ref().take(at.events).for_each(drop);
    events
}

impl Place {
    /// An event has come out.
    fn pass(&mut self, trace: &Trace, event: &Event<'_>) {
        let packets = &trace.streams()[event.stream()].packets;
        let is_here = |packet: usize| packets.get(packet).is_some_and(|it| std::ptr::eq(it, event.packet()));
        if is_here(self.packet) {
            self.events += 1;
            return;
        }
        // Packets without events are passed over.
        let next = (self.packet + 1..packets.len()).find(|&packet| is_here(packet));
        (self.packet, self.events) = (next.unwrap_or(packets.len()), 1);
    }
}

/// How far a trace is known.
fn through(timed: &TimedTrace<'_>, growing: &[LiveTrace]) -> Through {
    let state = growing.iter().find(|growing| growing.directory == timed.input.path());
    let Some(LiveTrace { through, is_over, .. }) = state else { return Through::Unknown };
    if *is_over {
        return Through::All;
    }
    let class = timed.trace().schema().single_clock();
    let unix = through.zip(class).and_then(|(cycles, class)| match timed.clock() {
        Some(clock) => i64::try_from(class.raw_ns(cycles)).ok().map(|raw| clock.unix(RawNs(raw))),
        None => Some(UnixNs(class.ns_from_origin(cycles))),
    });
    unix.map_or(Through::Unknown, Through::Until)
}

impl Through {
    fn earlier(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::All, other) | (other, Self::All) => other,
            (Self::Until(one), Self::Until(other)) => Self::Until(one.min(other)),
        }
    }
}
