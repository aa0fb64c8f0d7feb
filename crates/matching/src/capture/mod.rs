//! Captures (pcap, pcapng) as what hosts and switches saw of the network.
//!
//! A capture has a clock of its own: its stamps are of the host's wall clock (`CLOCK_REALTIME`), not of the
//! clock that LTTng stamps with, so that even a capture and a trace of one host are two clocks. `vantage`
//! says from which side a capture looks at each packet, as `observed` finds in its frames and `shared` in
//! those of several captures; `contents` what its frames hold, `two_clocks` whether one clock stamped them;
//! `reader` gives its sightings. Files are found by `isochrone-files` and read by `isochrone-capture`.

mod contents;
mod observed;
mod reader;
mod shared;
mod two_clocks;
mod vantage;

use std::collections::HashSet;
use std::io::Read;
use std::net::IpAddr;

use isochrone_capture::{Capture, Frame};
use isochrone_ctf::Diagnostic;
use isochrone_files::InputCapture;
use isochrone_net::{Seen, captured};
use isochrone_time::{RawNs, Window};
use rayon::prelude::*;

use crate::beyond::{Beyond, date, is_beyond};
use crate::stamps::{StampGrid, Stamps};
pub use contents::Contents;
use isochrone_corrections::artefact::CapturedEntry;
use isochrone_corrections::artefact::{Refused, RefusedKind};
use isochrone_hosts::Progress;
use isochrone_hosts::clocks::{HostClock, disambiguate};
use observed::Observer;
pub use reader::CaptureReader;
pub use shared::PacketSample;
use two_clocks::Answers;
pub use vantage::{DeclaredVantage, Station, VantagePoint, VantagePoints};

impl CaptureFacts {
    /// What is odd about its stamps, if all lie in the first ms of a second: it seems to hold µs where it
    /// says that it holds ns.
    pub fn odd_unit(&self) -> Option<&'static str> {
        const MIN_PACKETS: u64 = 16;
        let span = self.span?;
        let is_long = span.end.saturating_since(span.start) > 2 * SECOND_NS;
        (self.packets >= MIN_PACKETS && is_long && self.fraction_ns < 1_000_000).then_some(
            "all its stamps lie in the first ms of a second: it seems to hold µs where it says that it \
             holds ns",
        )
    }

    /// Its entry in `sync.json`.
    pub fn entry(&self) -> CapturedEntry {
        let inline = self.places.is_inline();
        CapturedEntry {
            place: self.places.to_string(),
            sent: self.sent,
            late_ns: self.places.late_ns(),
            inline,
        }
    }
}

/// A second.
const SECOND_NS: i64 = 1_000_000_000;

/// What one look over a capture gave.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CaptureFacts {
    /// Frames that could be read, whatever is in them.
    pub packets: u64,
    /// Bytes of the file that were read.
    pub bytes: u64,
    /// From the earliest to the latest instant that any stamp can mean.
    pub span: Option<Window<RawNs>>,
    /// What its stamps have in common, and what is declared of them.
    pub(crate) stamps: Option<Stamps>,
    /// The same of the frames that clocks can be computed with: [`isochrone_clock::MAX_ABS_NS`]. Nothing
    /// where all frames are stamped beyond that, or by two clocks.
    pub usable: Option<Window<RawNs>>,
    /// What its frames hold.
    pub contents: Contents,
    /// How far two clocks are apart that stamped its frames, ns, where its two directions show it.
    pub apart_ns: Option<i64>,
    /// Frames beyond what clocks are computed with.
    beyond: Beyond,
    /// Whether an IP address says whose frames are, as a user said it.
    by_address: bool,
    /// From which side it looks at packets.
    pub places: VantagePoints,
    /// Its interfaces, by their numbers in the file.
    pub interfaces: Vec<InterfaceFacts>,
    /// Some of its packets, the same of all captures.
    pub sample: PacketSample,
    /// Messages that rest on its stamps of frames that were sent.
    pub sent: u64,
    /// The greatest part of a second that a stamp of ns shows, ns; of coarser stamps, a whole one.
    pub fraction_ns: i64,
    /// What could not be read, or is odd.
    pub diagnostics: Vec<Diagnostic>,
    /// Why it could not be read again or at all.
    pub error: Option<String>,
}

/// What one look over a capture gave of one of its interfaces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InterfaceFacts {
    /// As the file calls it.
    pub name: Option<String>,
    /// Number of its link type.
    pub link_type: u16,
    /// Frames that could be read.
    pub packets: u64,
    /// From the earliest to the latest instant that any of its stamps can mean.
    pub span: Option<Window<RawNs>>,
}

/// Adds a clock for each capture, named like its host. Where another clock has that name, the capture's is
/// numbered. The result does not depend on the order of the captures.
pub fn add_clocks(clocks: &mut Vec<HostClock>, captures: &[InputCapture]) {
    let mut order: Vec<usize> = (0..captures.len()).collect();
    order.sort_by_cached_key(|&index| (captures[index].host(), captures[index].path.clone()));
    clocks.extend(order.into_iter().map(|index| HostClock::named(captures[index].host(), vec![index])));
    disambiguate(clocks, |clock| &mut clock.host);
    // Known by the same name throughout: that of the host may be the id of another clock.
    for clock in clocks.iter_mut().filter(|clock| !clock.captures.is_empty()) {
        clock.id.clone_from(&clock.host);
    }
    disambiguate(clocks, |clock| &mut clock.id);
    clocks.sort_by(|a, b| a.host.cmp(&b.host));
}

/// Looks over captures, several at a time. Linear in their size; memory does not depend on it.
pub fn survey(captures: &[InputCapture], progress: Progress<'_>) -> Vec<CaptureFacts> {
    captures.par_iter().map(|capture| look_over(capture, progress)).collect()
}

fn look_over(input: &InputCapture, progress: Progress<'_>) -> CaptureFacts {
    let mut facts = CaptureFacts::default();
    let mut capture = match Capture::open(&input.path) {
        Ok(capture) => capture,
        Err(error) => return CaptureFacts { error: Some(error.reason().to_string()), ..facts },
    };
    let (mut observer, mut answers) = (Observer::default(), Answers::default());
    let (mut grid, mut allowed) = (StampGrid::default(), None);
    while let Some(frame) = capture.next() {
        if input.interface.is_none_or(|interface| interface == frame.interface) {
            let (begin, end) = (frame.stamp.earliest_ns, frame.stamp.latest_ns);
            let stamp = Window::new(RawNs(begin), RawNs(end));
            widen(&mut facts.span, stamp);
            if is_beyond(stamp.start) || is_beyond(stamp.end) {
                facts.beyond.add((frame.record, frame.offset), begin.into(), begin.into());
            } else {
                widen(&mut facts.usable, stamp);
                grid.see(begin);
                let (least, most) = allowed.get_or_insert((begin.abs_diff(end), begin.abs_diff(end)));
                (*least, *most) = ((*least).min(begin.abs_diff(end)), (*most).max(begin.abs_diff(end)));
            }
            facts.packets += 1;
            let fraction = if begin == end { begin.rem_euclid(SECOND_NS) } else { SECOND_NS };
            facts.fraction_ns = facts.fraction_ns.max(fraction);
            if let Some(interface) = interface_of(&mut facts.interfaces, &capture, &frame) {
                interface.packets += 1;
                widen(&mut interface.span, stamp);
            }
            facts.contents.add(&frame);
            answers.add(&frame);
            observer.add(&frame);
            if let Seen::Packet(packet) = captured::seen(&frame) {
                facts.sample.add(&frame, &packet);
            }
        }
        reader::report(&mut facts.bytes, capture.position(), progress);
    }
    progress(capture.position() - facts.bytes);
    facts.bytes = capture.position();
    facts.stamps = allowed.map(|allowed| Stamps::of_capture(grid, allowed));
    facts.places = observer.decide();
    facts.apart_ns = answers.apart();
    facts.usable = facts.usable.filter(|_| facts.apart_ns.is_none());
    facts.diagnostics = capture.diagnostics().to_vec();
    facts
}

fn widen(span: &mut Option<Window<RawNs>>, stamp: Window<RawNs>) {
    let span = span.get_or_insert(stamp);
    *span = Window::new(span.start.min(stamp.start), span.end.max(stamp.end));
}

impl CaptureFacts {
    /// Why nothing of it can be used for a synchronization though it could be read.
    pub fn why_useless(&self) -> Option<String> {
        let span = self.span?;
        if let Some(apart) = self.apart_ns {
            return Some(two_clocks::why(apart));
        }
        if self.usable.is_none() {
            let (begin, end) = (date(span.start.ns().into()), date(span.end.ns().into()));
            let limit = date(isochrone_clock::MAX_ABS_NS.into());
            return Some(format!("its packets are dated {begin} to {end}, beyond {limit}: it is left out"));
        }
        self.contents.why_useless(self.by_address)
    }
}

/// Where the interface of a frame is counted, which the capture has just given.
fn interface_of<'f>(
    interfaces: &'f mut Vec<InterfaceFacts>,
    capture: &Capture<impl Read>,
    frame: &Frame,
) -> Option<&'f mut InterfaceFacts> {
    if interfaces.len() <= frame.interface && frame.interface < isochrone_capture::MAX_INTERFACES {
        interfaces.resize_with(frame.interface + 1, InterfaceFacts::default);
    }
    let found = interfaces.get_mut(frame.interface)?;
    if found.packets == 0
        && let Some(info) = capture.interface(frame)
    {
        (found.name, found.link_type) = (info.name.map(str::to_owned), info.link_type);
    }
    Some(found)
}

/// Looks over captures. `taken` says of them, by the names of their hosts, where they were taken.
pub(crate) fn look(captures: &[InputCapture], taken: &[(String, DeclaredVantage)]) -> Vec<CaptureFacts> {
    let mut facts = survey(captures, &|_| {});
    let names: Vec<String> = captures.iter().map(InputCapture::host).collect();
    for ((name, capture), facts) in names.iter().zip(captures).zip(&mut facts) {
        for (_, taken) in taken.iter().filter(|(host, _)| host == name) {
            facts.places.say(*taken);
            facts.by_address = taken.is_by_address();
        }
        if facts.usable.is_some() {
            facts.diagnostics.extend(facts.beyond.diagnostic(&capture.path, "packet"));
        }
        for span in [&mut facts.span, &mut facts.usable].into_iter().flatten() {
            span.start = span.start.saturating_sub(facts.places.late_ns());
        }
    }
    shared::decide(&names, &mut facts);
    facts
}

/// Sets for captures which IP addresses are those of hosts that record their packets themselves: by name of
/// the host, as its traces show.
pub(crate) fn beside(
    captures: &[InputCapture],
    facts: &mut [CaptureFacts],
    traced: &[(&HostClock, HashSet<IpAddr>)],
) {
    for (capture, facts) in captures.iter().zip(facts) {
        let name = capture.host();
        let others = traced.iter().filter(|(clock, _)| !clock.hostnames.contains(&name));
        let addresses = others.flat_map(|(_, addresses)| addresses.iter().copied()).collect();
        facts.places.recorded_elsewhere(&addresses);
    }
}

/// Readers of the captures of all clocks, for sightings with the numbers of their clocks.
pub(crate) fn readers<'p>(
    captures: &[InputCapture],
    clocks: &[HostClock],
    facts: &mut [CaptureFacts],
    progress: Progress<'p>,
) -> Vec<CaptureReader<'p>> {
    let of_clocks = clocks.iter().enumerate();
    let order = of_clocks.flat_map(|(clock, of)| of.captures.iter().map(move |&capture| (capture, clock)));
    let mut readers = Vec::new();
    for (capture, clock) in order {
        let Some(span) = facts[capture].usable else { continue };
        let places = facts[capture].places.clone();
        match CaptureReader::open(capture, &captures[capture], places, clock, span, progress) {
            Ok(reader) => readers.push(reader.by_address(facts[capture].by_address)),
            Err(error) => facts[capture].error = Some(error.reason().to_string()),
        }
    }
    readers
}

/// The captures of a clock without a usable packet.
pub fn refused<'i>(
    captures: &'i [InputCapture],
    facts: &'i [CaptureFacts],
) -> impl Iterator<Item = Refused> + 'i {
    captures.iter().zip(facts).filter_map(|(capture, facts)| {
        let why = match (&facts.error, facts.packets) {
            (Some(error), _) => error.clone(),
            (None, 0) => "it holds no packets with times".to_owned(),
            (None, _) => facts.why_useless()?,
        };
        Some(Refused { what: RefusedKind::Trace, name: capture.path.display().to_string(), why })
    })
}

/// What a user should know of captures: where each was taken, what of it is not used, and which have a host's
/// name and not its clock. `all`: protocols that that are not matched, rare ones, too.
pub fn notes(
    captures: &[InputCapture],
    clocks: &[HostClock],
    facts: &[CaptureFacts],
    all: bool,
) -> Vec<String> {
    let mut notes = Vec::new();
    for clock in clocks {
        for &index in &clock.captures {
            let (path, facts) = (captures[index].path.display(), &facts[index]);
            let name = captures[index].host();
            if facts.why_useless().is_none() {
                let hint = facts.places.hint(&name).map(|hint| format!("; {hint}")).unwrap_or_default();
                let of = captures[index].interface.map(|interface| format!(" (interface {interface})"));
                notes.push(format!("{path}{}: {}{hint}", of.unwrap_or_default(), facts.places));
                let of_contents = facts.contents.notes(facts.by_address, all);
                notes.extend(of_contents.into_iter().map(|note| format!("{path}: {note}")));
            }
            notes.extend(merged(&captures[index], facts));
            notes.extend(facts.odd_unit().map(|odd| format!("{path}: {odd}")));
            if clock.host != name {
                notes.push(format!(
                    "{path} is treated as a clock of its own, called {}, beside the one called {name}: \
                     captures are stamped by \
                     the wall clock",
                    clock.host
                ));
            }
        }
    }
    notes
}

/// A file that holds what several machines captured, by the look of it.
fn merged(capture: &InputCapture, facts: &CaptureFacts) -> Option<String> {
    let apart = facts.sample.twice_apart_ns()?;
    let (path, name) = (capture.path.display(), capture.host());
    let seen = facts.interfaces.iter().filter(|interface| interface.packets > 0).count();
    let what =
        format!("{path}: most packets are there twice, about {} ms apart", (apart + 500_000) / 1_000_000);
    Some(match seen {
        0 | 1 => format!(
            "{what}: if captures of several machines were merged, name the files that they were made of, \
             so that each has its own clock"
        ),
        several => format!(
            "{what}: if captures of several machines were merged, --per-interface {name} makes a clock of \
             each of its {several} interfaces"
        ),
    })
}
