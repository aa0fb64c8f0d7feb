//! Captures (pcap, pcapng) as what hosts and switches saw of the network.
//!
//! A capture has a clock of its own: its stamps are of the host's wall clock (`CLOCK_REALTIME`), not of the clock that
//! LTTng stamps with, so that even a capture and a trace of one host are two clocks. `vantage` says from which side a
//! capture looks at each packet, `contents` what its frames hold, `two_clocks` whether one clock stamped them; `reader` gives its sightings. Files are found by
//! `find` and read by `isochrone-capture`.

mod contents;
pub(crate) mod find;
mod reader;
mod two_clocks;
mod vantage;

use std::collections::HashSet;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use isochrone_capture::Capture;
use isochrone_clock::Span;
use isochrone_ctf::{Diagnostic, Severity};
use rayon::prelude::*;

use crate::Progress;
use crate::beyond::{Beyond, date, is_beyond};
use crate::refused::{Refused, RefusedKind};
use crate::resolution::{StampGrid, Stamps};
pub use contents::Contents;
use isochrone_hosts::clocks::{HostClock, tell_apart};
pub use reader::CaptureReader;
use two_clocks::Answers;
use vantage::Observer;
pub use vantage::{DeclaredVantage, VantagePoint, VantagePoints};

/// A capture and how it was named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputCapture {
    /// The argument that led to it.
    pub argument: PathBuf,
    /// The file.
    pub path: PathBuf,
}

/// Whether a file begins as a capture does; one that cannot be read does not.
pub fn is_capture(path: &Path) -> bool {
    isochrone_capture::is_capture(path).unwrap_or(false)
}

/// What one look over a capture gave.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CaptureFacts {
    /// Frames that could be read, whatever is in them.
    pub packets: u64,
    /// Bytes of the file that were read.
    pub bytes: u64,
    /// The earliest and the latest instant that any stamp can mean, raw ns.
    pub span: Option<Span>,
    /// What its stamps have in common, and what is declared of them.
    pub(crate) stamps: Option<Stamps>,
    /// The same of the frames that clocks can be computed with: [`isochrone_clock::MAX_ABS_NS`]. Nothing where all frames are stamped beyond that, or by two clocks.
    pub usable: Option<Span>,
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
    /// What could not be read, or is odd.
    pub diagnostics: Vec<Diagnostic>,
    /// Why it could not be read again or at all.
    pub error: Option<String>,
}

impl InputCapture {
    /// What the host (or switch) is called: the name of the file without its extension.
    pub fn host(&self) -> String {
        let stem = self.path.file_stem().or(self.path.file_name());
        stem.map_or_else(|| self.path.display().to_string(), |stem| stem.to_string_lossy().into_owned())
    }

    /// Length of the file, bytes; 0 where the system does not say.
    pub fn file_bytes(&self) -> u64 {
        std::fs::metadata(&self.path).map_or(0, |metadata| metadata.len())
    }
}

/// Adds a clock for each capture, named like its host. Where another clock has that name, the capture's is numbered. The
/// result does not depend on the order of the captures.
pub fn add_clocks(clocks: &mut Vec<HostClock>, captures: &[InputCapture]) {
    let mut order: Vec<usize> = (0..captures.len()).collect();
    order.sort_by_cached_key(|&index| (captures[index].host(), captures[index].path.clone()));
    clocks.extend(order.into_iter().map(|index| HostClock::named(captures[index].host(), vec![index])));
    tell_apart(clocks, |clock| &mut clock.host);
    // Known by the same name throughout: that of the host may be the id of another clock.
    for clock in clocks.iter_mut().filter(|clock| !clock.captures.is_empty()) {
        clock.id.clone_from(&clock.host);
    }
    tell_apart(clocks, |clock| &mut clock.id);
    clocks.sort_by(|a, b| a.host.cmp(&b.host));
}

/// Looks over captures, several at a time. Linear in their size; memory does not depend on it.
pub fn survey(captures: &[InputCapture], progress: Progress<'_>) -> Vec<CaptureFacts> {
    captures.par_iter().map(|capture| look_over(&capture.path, progress)).collect()
}

fn look_over(path: &Path, progress: Progress<'_>) -> CaptureFacts {
    let mut facts = CaptureFacts::default();
    let mut capture = match Capture::open(path) {
        Ok(capture) => capture,
        Err(error) => return CaptureFacts { error: Some(error.reason().to_string()), ..facts },
    };
    let (mut observer, mut answers) = (Observer::default(), Answers::default());
    let (mut grid, mut allowed) = (StampGrid::default(), None);
    while let Some(frame) = capture.next() {
        let (begin, end) = (frame.stamp.earliest_ns, frame.stamp.latest_ns);
        widen(&mut facts.span, begin, end);
        if is_beyond(begin) || is_beyond(end) {
            facts.beyond.add((frame.record, frame.offset), begin.into(), begin.into());
        } else {
            widen(&mut facts.usable, begin, end);
            grid.see(begin);
            let (least, most) = allowed.get_or_insert((begin.abs_diff(end), begin.abs_diff(end)));
            (*least, *most) = ((*least).min(begin.abs_diff(end)), (*most).max(begin.abs_diff(end)));
        }
        facts.packets += 1;
        facts.contents.add(&frame);
        answers.add(&frame);
        observer.add(&frame);
        reader::tell(&mut facts.bytes, capture.position(), progress);
    }
    progress(capture.position() - facts.bytes);
    facts.bytes = capture.position();
    facts.stamps = allowed.map(|allowed| Stamps::of_capture(grid, allowed));
    facts.places = observer.decide();
    facts.apart_ns = answers.apart();
    facts.usable = facts.usable.filter(|_| facts.apart_ns.is_none());
    facts.diagnostics = capture.diagnostics().iter().map(diagnostic).collect();
    facts
}

fn widen(span: &mut Option<Span>, begin: i64, end: i64) {
    let span = span.get_or_insert(Span { begin, end });
    *span = Span { begin: span.begin.min(begin), end: span.end.max(end) };
}

impl CaptureFacts {
    /// Why nothing of it can be used for a synchronization though it could be read.
    pub fn why_useless(&self) -> Option<String> {
        let span = self.span?;
        if let Some(apart) = self.apart_ns {
            return Some(two_clocks::why(apart));
        }
        if self.usable.is_none() {
            let (begin, end) = (date(span.begin.into()), date(span.end.into()));
            let limit = date(isochrone_clock::MAX_ABS_NS.into());
            return Some(format!("its packets are dated {begin} to {end}, beyond {limit}: it is left out"));
        }
        self.contents.why_useless(self.by_address)
    }
}

/// As those of traces are shown.
fn diagnostic(found: &isochrone_capture::Diagnostic) -> Diagnostic {
    Diagnostic {
        severity: if found.is_loss { Severity::Loss } else { Severity::Note },
        path: found.path.clone(),
        packet: found.record,
        offset: found.offset,
        message: found.message.clone(),
    }
}

/// Looks over captures. `taken` says of them, by the names of their hosts, where they were taken.
pub(crate) fn look(captures: &[InputCapture], taken: &[(String, DeclaredVantage)]) -> Vec<CaptureFacts> {
    let mut facts = survey(captures, &|_| {});
    for (capture, facts) in captures.iter().zip(&mut facts) {
        let host = capture.host();
        for (_, taken) in taken.iter().filter(|(name, _)| *name == host) {
            facts.places.say(*taken);
            facts.by_address = taken.is_by_address();
        }
        if facts.usable.is_some() {
            facts.diagnostics.extend(facts.beyond.diagnostic(&capture.path, "packet"));
        }
    }
    facts
}

/// Sets for captures which IP addresses are those of hosts that record their packets themselves: by name of the host, as its traces
/// show.
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
        let path = &captures[capture].path;
        match CaptureReader::open((capture, path), facts[capture].places.clone(), (clock, span), progress) {
            Ok(reader) => readers.push(reader.by_address(facts[capture].by_address)),
            Err(error) => facts[capture].error = Some(error.reason().to_string()),
        }
    }
    readers
}

/// The captures of a clock without a usable packet.
pub(crate) fn refused<'i>(
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

/// What a user should know of captures: where each was taken, what of it is not used, and which have a host's name and not its clock. `all`: protocols that
/// are not matched too of which there are few.
pub(crate) fn notes(
    captures: &[InputCapture],
    clocks: &[HostClock],
    facts: &[CaptureFacts],
    all: bool,
) -> Vec<String> {
    let mut notes = Vec::new();
    for clock in clocks {
        for &index in &clock.captures {
            let (path, facts) = (captures[index].path.display(), &facts[index]);
            if facts.why_useless().is_none() {
                let of_contents = facts.contents.notes(facts.by_address, all);
                let told = std::iter::once(facts.places.to_string()).chain(of_contents);
                notes.extend(told.map(|note| format!("{path}: {note}")));
            }
            let name = captures[index].host();
            if clock.host != name {
                notes.push(format!(
                    "{path} is treated as a clock of its own, called {}, beside the one called {name}: captures are stamped by \
                     the wall clock",
                    clock.host
                ));
            }
        }
    }
    notes
}
