//! What the user named, opened; the hosts in it, each with its clock; and which of them are asked for.

use std::collections::HashMap;
use std::sync::Arc;

use isochrone_corrections::Clocks;
use isochrone_ctf::Trace;
use isochrone_files::{ClassContent, InputCapture, Inputs, StreamContent};
use isochrone_hosts::{Host, Hosts, Progress};
use isochrone_matching::{CaptureFacts, StreamFacts, Tally, TraceFacts, capture, survey};
use isochrone_sync::{Options, Outcome, SyncError, synchronize};
use isochrone_timing::{TimedHost, UnknownHost, check_names};

use crate::base::TimeBase;
use crate::chunks::Chunks;

/// Open traces and captures, and the clocks that their times are to be on. An [`Experiment`] borrows from it.
#[derive(Debug, Default)]
pub struct Opened {
    inputs: Inputs,
    base: Base,
}

/// A time base that is there.
#[derive(Debug, Default)]
enum Base {
    #[default]
    Own,
    Kept(Clocks),
    Stored(Clocks),
    Synchronized(Box<Outcome>),
}

impl Opened {
    /// Puts open traces on a time base. Where they have to be synchronized, all of them are read, and
    /// `progress` gets the bytes.
    ///
    /// # Errors
    /// They cannot be synchronized at all. What costs only a part of them is in [`Self::synchronized`].
    /// [`TimeBase::Usual`] has no such error: traces without events that have times stay as they are.
    pub fn new(inputs: Inputs, base: TimeBase, progress: Progress<'_>) -> Result<Self, SyncError> {
        let synchronized =
            |options: &Options| Ok(Base::Synchronized(Box::new(synchronize(&inputs, options, progress)?)));
        let base = match base {
            TimeBase::Own => Base::Own,
            TimeBase::Kept(clocks) => Base::Kept(clocks),
            TimeBase::Synchronize(options) => synchronized(&options)?,
            TimeBase::Usual | TimeBase::Stored(_) if Experiment::new(&inputs, None).hosts.len() < 2 => {
                Base::Own
            }
            TimeBase::Stored(clocks) => Base::Stored(clocks),
            TimeBase::Usual => match synchronized(&Options::default()) {
                Err(SyncError::NothingToDo { .. }) => Base::Own,
                result => result?,
            },
        };
        Ok(Self { inputs, base })
    }

    /// Open traces, every host on its own clock.
    pub fn unsynchronized(inputs: Inputs) -> Self {
        Self { inputs, base: Base::Own }
    }

    /// The traces and captures.
    pub fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// The corrections, unless all hosts stay on their own clocks.
    pub fn clocks(&self) -> Option<&Clocks> {
        match &self.base {
            Base::Own => None,
            Base::Kept(clocks) | Base::Stored(clocks) => Some(clocks),
            Base::Synchronized(here) => Some(&here.clocks),
        }
    }

    /// What a synchronization that was made here came to.
    pub fn synchronized(&self) -> Option<&Outcome> {
        match &self.base {
            Base::Synchronized(here) => Some(here),
            Base::Own | Base::Kept(_) | Base::Stored(_) => None,
        }
    }

    /// Whether the corrections were made of these very traces, here or when a store was made of them.
    pub fn is_synchronized(&self) -> bool {
        matches!(self.base, Base::Stored(_) | Base::Synchronized(_))
    }

    /// Its hosts. `O(n log n)` in the packets; no event is read.
    pub fn experiment(&self) -> Experiment<'_> {
        // A synchronization that was made of these very traces has the clocks of all events; what it does not
        // know has no events with times, and is shown as it is.
        Experiment::grouped(&self.inputs, self.clocks(), self.is_synchronized())
    }
}

/// All hosts that are looked at together, with their clocks.
#[derive(Debug)]
pub struct Experiment<'o> {
    pub(crate) inputs: &'o Inputs,
    pub(crate) clocks: Option<&'o Clocks>,
    /// Whether what has no correction stays on its own clock.
    pub(crate) keeps_all: bool,
    hosts: Vec<TimedHost<'o>>,
    left_out: Vec<usize>,
    chunks: Option<Arc<Chunks>>,
}

/// Some hosts of an experiment.
#[derive(Debug)]
pub struct Selection<'e, 'o> {
    /// Those with clocks, in the order of their names.
    pub hosts: Vec<&'e TimedHost<'o>>,
    /// Those for whose clocks there is no correction although corrections are asked for.
    pub uncorrected: Vec<&'e TimedHost<'o>>,
}

/// What one look over all events found.
#[derive(Debug)]
pub struct Survey {
    /// By trace, in the order of the inputs.
    pub traces: Vec<TraceFacts>,
    /// By capture, in the order of the inputs.
    pub captures: Vec<CaptureFacts>,
}

impl<'o> Experiment<'o> {
    /// The hosts of some traces, on the clocks of corrections or, without any, each on its own. `O(n log n)`
    /// in the packets; no event is read.
    pub fn new(inputs: &'o Inputs, clocks: Option<&'o Clocks>) -> Self {
        Self::grouped(inputs, clocks, false)
    }

    /// As [`Self::new`]. `keeps_all`: whether what has no correction stays on its own clock.
    pub(crate) fn grouped(inputs: &'o Inputs, clocks: Option<&'o Clocks>, keeps_all: bool) -> Self {
        let Hosts { hosts, left_out } = Hosts::group(inputs.traces.iter().map(|input| &input.trace));
        let chunks = (!inputs.pieces.is_empty()).then(|| Arc::new(Chunks::of(inputs)));
        let is_mapped =
            |host: &Host<'_>| host.trace_indices.iter().any(|&index| inputs.traces[index].excerpt.is_some());
        let timed = |traced: Host<'o>| {
            let kept = chunks.clone().filter(|_| is_mapped(&traced));
            TimedHost { kept: kept.map(|kept| kept as _), ..TimedHost::new(traced, clocks, keeps_all) }
        };
        let hosts = hosts.into_iter().map(timed).collect();
        Self { inputs, clocks, keeps_all, hosts, left_out, chunks }
    }

    /// What was mapped of chunks, where the traces of hosts are excerpts.
    pub fn chunks(&self) -> Option<&Chunks> {
        self.chunks.as_deref()
    }

    /// The hosts, in the order of their names.
    pub fn hosts(&self) -> &[TimedHost<'o>] {
        &self.hosts
    }

    /// The traces that no usable clock stamps: they are of no host.
    pub fn left_out(&self) -> impl Iterator<Item = &'o Trace> + '_ {
        self.left_out.iter().map(|&place| &self.inputs.traces[place].trace)
    }

    /// The hosts of these names; all, where there are none.
    ///
    /// # Errors
    /// No host has one of the names.
    pub fn select(&self, names: &[String]) -> Result<Selection<'_, 'o>, UnknownHost> {
        check_names(names, self.hosts.iter().map(|host| host.traced.name.as_str()))?;
        let is_asked = |host: &&TimedHost<'_>| names.is_empty() || names.contains(&host.traced.name);
        let (hosts, uncorrected) = self.hosts.iter().filter(is_asked).partition(|host| host.timing.is_some());
        Ok(Selection { hosts, uncorrected })
    }

    /// Counts all events and packets without a look into them. What a chunk of a rotated session counts again
    /// of the chunk before it, and what a snapshot holds again, is not in it.
    pub fn survey(&self, progress: Progress<'_>) -> Survey {
        let traces: Vec<&Trace> = self.inputs.traces.iter().map(|input| &input.trace).collect();
        let hosts = self.hosts.iter();
        let first: HashMap<(usize, usize), usize> =
            hosts.flat_map(|host| host.traced.first_packets()).collect();
        let first = |trace, stream| first.get(&(trace, stream)).copied().unwrap_or(0);
        let mut traces = survey(&traces, &first, progress);
        for (input, facts) in self.inputs.traces.iter().zip(&mut traces) {
            let content = input.excerpt.iter().flat_map(|excerpt| &excerpt.content);
            facts.streams.iter_mut().zip(content).for_each(|(facts, content)| of_whole(facts, content));
        }
        let captures = capture::survey(&self.inputs.captures, progress);
        let again = self.hosts.iter().flat_map(|host| host.traced.recounted_discards());
        for ((place, stream), events) in again {
            if let Some(facts) = traces.get_mut(place).and_then(|facts| facts.streams.get_mut(stream)) {
                facts.were_counted_before(events);
            }
        }
        Survey { traces, captures }
    }
}

/// Replaces what an excerpt has of a stream by what the stream has.
fn of_whole(facts: &mut StreamFacts, content: &StreamContent) {
    facts.bytes = content.bytes;
    for ClassContent { class, events, bytes } in &content.classes {
        if let Some(tally) = facts.classes.get_mut(*class) {
            *tally = Tally { count: *events, bytes: *bytes };
        }
    }
}

/// Bytes of all packets and captures: what progress over all of them counts to.
pub fn total_bytes(inputs: &Inputs) -> u64 {
    let packets = inputs.traces.iter().flat_map(|input| input.trace.streams()).flat_map(|s| &s.packets);
    let traced: u64 = packets.map(|packet| packet.total_bits / 8).sum();
    let captured: u64 = inputs.captures.iter().map(InputCapture::file_bytes).sum();
    traced.saturating_add(captured)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_nothing_comes_nothing() {
        let opened = Opened::default();
        let experiment = opened.experiment();
        assert!(experiment.hosts().is_empty() && experiment.left_out().next().is_none());
        assert!(experiment.select(&[]).unwrap().hosts.is_empty());
        assert_eq!(total_bytes(opened.inputs()), 0);
        let sync = TimeBase::Synchronize(Box::default());
        assert!(matches!(Opened::new(Inputs::default(), sync, &|_| ()), Err(SyncError::NothingToDo { .. })));
        // What people expect is no error where there is nothing to synchronize.
        let usual = Opened::new(Inputs::default(), TimeBase::Usual, &|_| ()).unwrap();
        assert!(usual.clocks().is_none());
    }
}
