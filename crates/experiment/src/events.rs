//! The events of many traces in one row, each on the clock that is asked for.
//!
//! A trace that no clock of a host stamps has events all the same: so these are traces, and not hosts.

use std::collections::HashMap;

use isochrone_corrections::{Clock, Clocks};
use isochrone_ctf::merge::Merge;
use isochrone_ctf::{Event, Packet, Trace};
use isochrone_files::InputTrace;
use isochrone_hosts::{Host, clocks};
use isochrone_time::{RawNs, UnixNs};
use isochrone_timing::{Stamp, Timing};

use crate::experiment::Experiment;

const NS_PER_S: u64 = 1_000_000_000;

/// A trace, and what the times of its events mean.
#[derive(Debug)]
pub struct TimedTrace<'o> {
    /// The trace.
    pub input: &'o InputTrace,
    /// Its place among all traces that were opened.
    pub place: usize,
    /// The host that it names; nothing where it names none.
    pub host: String,
    clock: Option<&'o Clock>,
    zero_ns: Option<i64>,
    /// By stream: the Unix time of the zero of a clock that counts nanoseconds, where no correction is asked
    /// for. The usual case, in which a time is a sum.
    zeros: Vec<Option<UnixNs>>,
}

/// The traces of an experiment.
#[derive(Debug)]
pub struct TimedTraces<'o> {
    /// In the order of the inputs.
    pub traces: Vec<TimedTrace<'o>>,
    /// Those for whose clocks there is no correction although corrections are asked for.
    pub uncorrected: Vec<&'o InputTrace>,
}

impl<'o> TimedTrace<'o> {
    /// `None` where corrections are asked for and there is none for this trace, unless such traces are kept.
    /// `zero_ns`: the Unix time of the zero of its host's clock, where the traces of that host declare
    /// several ([`several_zeros`]).
    pub(crate) fn new(
        input: &'o InputTrace,
        place: usize,
        clocks: Option<&'o Clocks>,
        keeps_all: bool,
        zero_ns: Option<i64>,
    ) -> Option<Self> {
        let named = clocks::hostname(&input.trace).unwrap_or_default().to_owned();
        let clock = clocks.and_then(|clocks| clocks.of_trace(&input.trace));
        let Some(clock) = clock else {
            if clocks.is_some() && !keeps_all {
                return None;
            }
            let zero = |stream| {
                let counts_ns = input.trace.clock(stream).filter(|c| c.frequency == NS_PER_S);
                counts_ns.map(|class| UnixNs(zero_ns.map_or(class.offset_ns(), i128::from)))
            };
            let zeros = (0..input.trace.streams().len()).map(zero).collect();
            return Some(Self { input, place, host: named, clock: None, zero_ns, zeros });
        };
        // Hosts of one name are told apart by their clocks; containers (and copies) keep their own names.
        let host = match clock.entry.hostnames.as_slice() {
            [only] if *only == named => clock.entry.host.clone(),
            _ => named,
        };
        Some(Self { input, place, host, clock: Some(clock), zero_ns: None, zeros: Vec::new() })
    }

    /// The trace itself.
    pub fn trace(&self) -> &'o Trace {
        &self.input.trace
    }

    /// The correction of its clock, where corrections are asked for.
    pub fn clock(&self) -> Option<&'o Clock> {
        self.clock
    }

    /// Raw time of an event by its own clock; `None` where it has no time.
    pub fn raw(&self, event: &Event<'_>) -> Option<RawNs> {
        let class = self.input.trace.clock(event.stream())?;
        i64::try_from(class.raw_ns(event.cycles()?)).ok().map(RawNs)
    }

    /// Unix time of an event; `None` where it has no time.
    #[inline]
    pub fn unix(&self, event: &Event<'_>) -> Option<UnixNs> {
        if let Some(Some(UnixNs(zero))) = self.zeros.get(event.stream()) {
            return Some(UnixNs(zero + i128::from(event.cycles()?)));
        }
        match self.clock {
            Some(clock) => Some(clock.unix(self.raw(event)?)),
            None => self.unix_of(event.stream(), event.cycles()?),
        }
    }

    /// Unix time of an event with its bounds; `None` where it has no time.
    pub fn stamp(&self, event: &Event<'_>) -> Option<Stamp> {
        match self.clock {
            Some(clock) => Some(Timing::Common(clock).stamp(self.raw(event)?)),
            None => self.unix(event).map(Stamp::unbounded),
        }
    }

    /// Unix time of an instant of the clock of a stream, in cycles; `None` where it has no clock.
    pub fn unix_of(&self, stream: usize, cycles: u64) -> Option<UnixNs> {
        let class = self.input.trace.clock(stream)?;
        match self.clock {
            Some(clock) => Some(clock.unix(RawNs(i64::try_from(class.raw_ns(cycles)).ok()?))),
            None => Some(UnixNs(match self.zero_ns {
                Some(zero_ns) => class.raw_ns(cycles) + i128::from(zero_ns),
                None => class.ns_from_origin(cycles),
            })),
        }
    }

    /// The first packet of a stream that may have events at an instant or after it.
    fn first_packet_since(&self, stream: usize, since: UnixNs) -> usize {
        if since == UnixNs::MIN {
            return 0;
        }
        // Ends may be missing or too early: the packet before is read, too.
        let unix = |cycles| self.unix_of(stream, cycles);
        let is_before = |packet: &Packet| packet.end().and_then(unix).is_some_and(|end| end < since);
        self.input.trace.streams()[stream].packets.partition_point(is_before).saturating_sub(1)
    }

    /// Whether an event lies outside the synchronized time: the correction continues there, without bounds.
    pub fn is_outside(&self, event: &Event<'_>) -> bool {
        self.clock.is_some_and(|clock| self.raw(event).is_some_and(|raw| !clock.covers(raw)))
    }
}

/// The Unix time of the zero of a host's clock, where its traces declare several: a tracer samples it anew
/// for each domain and for each session, by a wall clock that may have been set in between. All of them are
/// of the one clock that stamps the events, so one of them counts for all: else what the kernel and a program
/// recorded would not be in the order in which it happened.
pub(crate) fn several_zeros(host: &Host<'_>) -> Option<i64> {
    let is_other = |trace: &&Trace| {
        let declared = trace.schema().single_clock().and_then(clocks::offset_ns);
        declared.is_some_and(|declared| declared != host.offset_ns)
    };
    host.traces().iter().any(is_other).then_some(host.offset_ns)
}

/// Whether what happened on one clock surely was not after what happened on another one: both of their
/// intervals and the messages between the two count. Times of one clock have their order. `O(log n)` in the
/// rows.
pub fn surely_in_order(clocks: &Clocks, first: (&Clock, RawNs), second: (&Clock, RawNs)) -> bool {
    if first.0.number == second.0.number {
        return first.1 <= second.1;
    }
    let related = clocks.related(first.0, second.0, first.1);
    related.is_some_and(|there| there.proven && there.bounds.1.is_some_and(|latest| latest <= second.1))
}

impl<'o> Experiment<'o> {
    /// Its traces one by one, each with its clock: those that were opened as they are. Excerpts of mapped
    /// chunks have a part of the events only.
    ///
    /// ```
    /// use isochrone_experiment::{Inputs, Opened};
    /// # use isochrone_testkit::{Cluster, Family};
    /// # let directory = tempfile::tempdir()?;
    /// # Cluster::chain(2).messages(10).seconds(1).write(directory.path(), Family::IPV4)?;
    /// # let paths = [directory.path().to_owned()];
    /// let opened = Opened::unsynchronized(Inputs::open(&paths));
    /// let experiment = opened.experiment();
    /// let traces = experiment.traces().traces;
    /// for (trace, unix, event) in experiment.events(&traces) {
    ///     println!("{} {unix:?} {:?}", traces[trace].host, event.name());
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn traces(&self) -> TimedTraces<'o> {
        let (mut traces, mut uncorrected) = (Vec::new(), Vec::new());
        let zeros: HashMap<usize, i64> = self
            .hosts()
            .iter()
            .filter_map(|host| Some((host, several_zeros(&host.traced)?)))
            .flat_map(|(host, zero_ns)| host.traced.trace_indices.iter().map(move |&place| (place, zero_ns)))
            .collect();
        let whole = self.inputs.traces.iter().enumerate().filter(|(_, input)| input.excerpt.is_none());
        for (place, input) in whole {
            match TimedTrace::new(input, place, self.clocks, self.keeps_all, zeros.get(&place).copied()) {
                Some(trace) => traces.push(trace),
                None => uncorrected.push(input),
            }
        }
        TimedTraces { traces, uncorrected }
    }

    /// The events of some traces in the order of time, each with the place of its trace among these and its
    /// Unix time. What snapshots of a rotated session hold twice is in it once.
    pub fn events<'e>(
        &self,
        traces: &'e [TimedTrace<'o>],
    ) -> Merge<'o, Option<UnixNs>, impl Fn(usize, &Event<'o>) -> Option<UnixNs> + use<'e, 'o>> {
        self.events_since(traces, UnixNs::MIN)
    }

    /// As [`Self::events`], without the packets that end before an instant: what lies in them before it is
    /// still there.
    pub fn events_since<'e>(
        &self,
        traces: &'e [TimedTrace<'o>],
        since: UnixNs,
    ) -> Merge<'o, Option<UnixNs>, impl Fn(usize, &Event<'o>) -> Option<UnixNs> + use<'e, 'o>> {
        let first: HashMap<(usize, usize), usize> =
            self.hosts().iter().flat_map(|host| host.traced.first_packets()).collect();
        let streams = traces.iter().enumerate().flat_map(|(number, timed)| {
            let (trace, place, first) = (timed.trace(), timed.place, &first);
            let from = move |stream| {
                let first = first.get(&(place, stream)).copied().unwrap_or(0);
                first.max(timed.first_packet_since(stream, since))
            };
            (0..trace.streams().len()).map(move |stream| (number, trace.events_from(stream, from(stream))))
        });
        Merge::new(streams, |trace: usize, event: &Event<'o>| traces[trace].unix(event))
    }
}
