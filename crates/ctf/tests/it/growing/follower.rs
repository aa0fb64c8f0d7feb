//! A reader that follows a trace, and what a fresh one makes of it.

use std::collections::BTreeMap;
use std::path::Path;

use isochrone_ctf::schema::Scope;
use isochrone_ctf::{Growth, Position, StreamEvents, Trace, ValueVisitor};

use super::wholes::Whole;

/// What names a stream: id of its class, its number, its file where it has no number.
pub type Name = (u64, Option<u64>, String);

fn name(trace: &Trace, stream: usize) -> Name {
    let of = &trace.streams()[stream];
    let file = if of.id.is_none() { of.file.clone() } else { String::new() };
    (trace.stream_class(stream).id, of.id, file)
}

/// Events as text, by the streams that they are of.
pub type Events = BTreeMap<Name, Vec<String>>;

fn take(name: Name, events: &mut StreamEvents<'_>, into: &mut Events) {
    into.entry(name).or_default().extend(events.map(|event| {
        let mut visitor = ValueVisitor::default();
        event.visit(Scope::Payload, &mut visitor).unwrap();
        format!("{:?} {:?} {:?}", event.cycles(), event.name(), visitor.into_value())
    }));
}

/// What a fresh reader makes of the trace: its events, and all complaints.
pub fn fresh(path: &Path) -> (Events, Vec<String>) {
    let trace = Trace::open(path).unwrap();
    let mut read = Events::new();
    let mut lost = complaints(&trace);
    for stream in 0..trace.streams().len() {
        let mut events = trace.events(stream);
        take(name(&trace, stream), &mut events, &mut read);
        lost.extend(events.diagnostics().iter().map(ToString::to_string));
    }
    (read, lost)
}

/// Complaints of a trace in bytewise order, but for the order of packets.
pub fn complaints(trace: &Trace) -> Vec<String> {
    let mut complaints: Vec<_> = trace.diagnostics().iter().map(ToString::to_string).collect();
    complaints.retain(|complaint| !complaint.contains("packets were"));
    complaints.sort();
    complaints
}

/// What is known of each packet: number in the file, place, sizes, times.
pub type PacketFacts = (u32, u64, u64, u64, Option<u64>, Option<u64>);

fn packets(trace: &Trace, stream: usize) -> Vec<PacketFacts> {
    let of = &trace.streams()[stream].packets;
    of.iter().map(|p| (p.number, p.offset, p.total_bits, p.content_bits, p.begin(), p.end())).collect()
}

/// A reader that follows a trace.
#[derive(Default)]
pub struct Follower {
    pub trace: Option<Trace>,
    places: Vec<Position>,
    pub read: Events,
    pub lost: Vec<String>,
    /// All packets of each stream.
    packets: Vec<Vec<PacketFacts>>,
}

impl Follower {
    /// Looks at the trace and reads what is new.
    pub fn look(&mut self, path: &Path, ends: bool) {
        let growth = match &mut self.trace {
            Some(trace) => Some(trace.refresh().unwrap()),
            None => {
                self.trace = Trace::open(path).ok();
                None
            }
        };
        if self.trace.is_some() {
            self.packets_stay(growth);
        }
        let Some(trace) = &self.trace else { return };
        self.places.resize(trace.streams().len(), Position::default());
        for (stream, place) in self.places.iter_mut().enumerate() {
            let events = trace.events_from(stream, *place);
            let mut events = if ends { events } else { events.while_growing() };
            take(name(trace, stream), &mut events, &mut self.read);
            self.lost.extend(events.diagnostics().iter().map(ToString::to_string));
            assert_eq!(events.next().map(|event| event.cycles()), None);
            *place = events.position();
        }
    }

    /// What is known keeps its place, and all that is new is reported.
    fn packets_stay(&mut self, growth: Option<Growth>) {
        let trace = self.trace.as_ref().unwrap();
        let now: Vec<_> = (0..trace.streams().len()).map(|stream| packets(trace, stream)).collect();
        if let Some(Growth { packets, extended, .. }) = growth {
            assert_eq!(packets.len(), now.len());
            for (stream, (new, now)) in packets.iter().zip(&now).enumerate() {
                let before = self.packets.get(stream).map_or(&[][..], Vec::as_slice);
                assert_eq!(*new, before.len()..now.len());
                for (number, (before, now)) in before.iter().zip(now).enumerate() {
                    assert_eq!(before == now, !extended.contains(&(stream, number)));
                }
            }
        }
        self.packets = now;
    }

    /// A fresh reader finds the same at this moment.
    pub fn agrees_with_fresh(&self, path: &Path, whole: &Whole) {
        let (Some(followed), Ok(opened)) = (&self.trace, Trace::open(path)) else { return };
        assert_eq!(complaints(followed), complaints(&opened), "{}", whole.name);
        let of = |trace: &Trace| -> BTreeMap<Name, Vec<PacketFacts>> {
            let of_stream = |stream| {
                let mut packets = packets(trace, stream);
                if !whole.one_file_streams {
                    packets.sort_unstable();
                }
                (name(trace, stream), packets)
            };
            (0..trace.streams().len()).map(of_stream).collect()
        };
        assert_eq!(of(followed), of(&opened), "{}", whole.name);
    }
}
