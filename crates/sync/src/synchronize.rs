//! The main job: traces, captures or a list of messages in, artefact out.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::path::Path;

use isochrone_clock::published::{self, Question, Unplaced};
use isochrone_clock::{MAX_ABS_NS, Network, Span, solve};
use isochrone_ctf::{Diagnostic, Trace};
use isochrone_hosts::Host;
use isochrone_net::{Direction, Origin as Input};

use crate::Progress;
use crate::advice::{self, Advice};
use crate::apply::Clocks;
use crate::artefact::Artefact;
use crate::assemble::assemble;
use crate::capture::{self, CaptureFacts};
use crate::error::{SyncError, find_host, said_of};
use crate::extract::{Stamped, losses, sources, told};
use crate::facts::TraceFacts;
use crate::input::Inputs;
use crate::links::{self, Links};
use crate::matching::{Message, MessageSink, Summary};
use crate::mpi::{self, MpiMatched, MpiSummary};
use crate::notes;
use crate::options::Options;
use crate::refused::{Refused, RefusedKind};
use crate::resolution::{Resolution, StampGrid, Stamps};
use crate::rounds::{PacketSource, match_sources};
use crate::steering::{Choices, Origin, StreamEvidence, Verdict};
use crate::text_messages::{Fault, Line, TextError, TextMessages};
use crate::traffic::Traffic;
use crate::trusted::Trust;
use crate::unmatched::{self, Captures};
use crate::useless::{eventless, unclocked};
use isochrone_hosts::clocks::{self, HostClock};

/// Progress over a list of messages is reported in pieces of so many bytes.
const TELL_AFTER: u64 = 1 << 20;

/// The artefact and what a report says beside it.
#[derive(Debug)]
pub struct Outcome {
    /// The result.
    pub artefact: Artefact,
    /// Its clocks and links, ready to be applied.
    pub clocks: Clocks,
    /// By the number of a clock in messages ([`crate::matching::End::clock`]), or of a host in a list of messages: its number in
    /// `clocks` and in the artefact; nothing for clocks without events.
    pub numbers: Vec<Option<usize>>,
    /// What each trace gave, by input trace; traces without a clock gave nothing.
    pub facts: Vec<TraceFacts>,
    /// What each capture gave, by input capture.
    pub captures: Vec<CaptureFacts>,
    /// What became of the packets, by the numbers of the clocks before those without events were left out.
    pub packets: Summary,
    /// What became of the messages of MPI programs, by the same numbers; nothing where none were traced.
    pub mpi: Option<MpiSummary>,
    /// Hosts that lack something, and how to record it.
    pub advice: Vec<Advice>,
    /// What was found useless beyond [`Inputs::refused`]; the artefact names all of them.
    pub refused: Vec<Refused>,
    /// Things worth knowing that cost nothing, beyond [`Inputs::notes`].
    pub notes: Vec<String>,
    /// Whether something was refused or damaged, or hosts fall into islands.
    pub partial: bool,
}

/// Reads all traces and captures, matches their packets, and puts their clocks on one. Of the messages nothing is kept;
/// [`synchronize_with`] gives them to a sink.
///
/// # Errors
/// There is nothing to work on, or the reference is unknown. Everything that costs only a part comes back as a value.
pub fn synchronize(inputs: &Inputs, options: &Options, progress: Progress<'_>) -> Result<Outcome, SyncError> {
    synchronize_with(inputs, options, progress, &mut |_| {})
}

/// As [`synchronize`], with every message given to `sink` as it is found, in an order that has no meaning: also those that turn
/// out to be suspect in the end ([`Artefact::suspects`]). Clocks have the numbers that [`Outcome::numbers`] translates; traces
/// and captures have theirs among the inputs.
///
/// # Errors
/// As there.
pub fn synchronize_with(
    inputs: &Inputs,
    options: &Options,
    progress: Progress<'_>,
    sink: MessageSink<'_>,
) -> Result<Outcome, SyncError> {
    synchronize_into(inputs, options, progress, Sinks { packets: sink, mpi: &mut |_| {} })
}

/// Who gets the messages.
pub struct Sinks<'s> {
    /// Those that are packets.
    pub packets: MessageSink<'s>,
    /// Those of MPI programs, within hosts too, after the packets.
    pub mpi: &'s mut dyn FnMut(&MpiMatched),
}

/// As [`synchronize_with`], with a sink for messages of MPI programs beside that for packets.
///
/// # Errors
/// As there.
pub fn synchronize_into(
    inputs: &Inputs,
    options: &Options,
    progress: Progress<'_>,
    sinks: Sinks<'_>,
) -> Result<Outcome, SyncError> {
    check_captures(inputs, options)?;
    let stamped = clocks_of(inputs);
    let mut refused = unclocked(inputs, &stamped);
    let trust = Trust::new(&stamped, &options.trusted)?;
    let choices = Choices::new(&stamped, &options.clocks)?;
    let resolves = said_of(&stamped, &options.resolution)?;
    let links = Links::new(trust, &choices.declared_free()).with_exchanges(options.wants_exchanges());
    let Reading { facts, traffic, mut steering, captures, messages, packets, mpi, lacking, .. } =
        read(inputs, &stamped, links, options, (progress, sinks));
    refused.extend(capture::refused(&inputs.captures, &captures));

    let captured = Captures { inputs: &inputs.captures, facts: &captures };
    let why = unmatched::reasons(&stamped, &packets, &captured);
    let (mut clocks, mut spans, mut verdicts, mut resolutions) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut numbers: Vec<Option<usize>> = Vec::with_capacity(stamped.len());
    for (index, clock) in stamped.into_iter().enumerate() {
        let Some(span) = span(inputs, &clock, &facts, &captures) else {
            refused.extend(eventless(inputs, &clock, &facts));
            numbers.push(None);
            continue;
        };
        let origin = if clock.traces.is_empty() { Origin::Capture } else { Origin::Traces };
        let of_kernel =
            clock.traces.iter().filter(|&&trace| clocks::is_of_kernel(&inputs.traces[trace].trace));
        let shown = of_kernel.map(|&trace| std::mem::take(&mut steering[trace])).collect();
        verdicts.push(choices.verdict((index, &clock), origin, shown, span)?);
        let stamps = Stamps::of_clock(inputs, &clock, &facts, &captures);
        resolutions.push(stamps.unwrap_or_default().resolution(resolves[index]));
        numbers.push(Some(clocks.len()));
        clocks.push(clock);
        spans.push(span);
    }
    let links = messages.explained(why).finish(&packets, &numbers);
    let tied = |index: &usize| mpi.as_ref().is_some_and(|mpi| mpi.tied.contains(index));
    let tied = (0..numbers.len()).filter(tied).filter_map(|index| numbers[index]).collect();
    let advice = advice::for_hosts(&clocks, &traffic, &verdicts, &tied);
    let evidence = Evidence { clocks, spans, verdicts, resolutions, links, packets, refused, lacking };
    let Settled { mut artefact, clocks, packets, mut refused, notes } = settle(inputs, evidence, options)?;
    // Of a link, the stamps of one end may say more than its messages.
    for clock in &clocks {
        let Some(odd) = clock.captures.iter().find_map(|&capture| captures[capture].odd_unit()) else {
            continue;
        };
        let ends = |name: &str| name.split(" – ").any(|end| end == clock.host);
        for link in refused.iter_mut().filter(|found| found.what == RefusedKind::Link && ends(&found.name)) {
            link.why = format!("{}: {odd}", clock.host);
        }
    }

    let noted = capture::notes(&inputs.captures, &clocks, &captures, false);
    let of_mpi = mpi.iter().flat_map(|mpi| mpi.notes.iter().cloned());
    let notes = noted.into_iter().chain(of_mpi).chain(notes).collect();
    artefact.refused = inputs.refused.iter().chain(&refused).map(Into::into).collect();
    for (entry, clock) in artefact.clocks.iter_mut().zip(&clocks) {
        for (trace, &capture) in entry.traces.iter_mut().skip(clock.traces.len()).zip(&clock.captures) {
            trace.captured = Some(captures[capture].entry());
        }
    }
    let partial = is_damaged(inputs, &facts, &captures) || is_partial(&artefact);
    let clocks = Clocks::new(&artefact)?;
    Ok(Outcome { artefact, clocks, numbers, facts, captures, packets, mpi, advice, refused, notes, partial })
}

/// What a pass over traces and captures shows of their packets, before anything is computed.
#[derive(Debug)]
pub struct Matching {
    /// The clocks, by their numbers in messages.
    pub clocks: Vec<HostClock>,
    /// By clock: what its traces show of packets.
    pub traffic: Vec<Traffic>,
    /// What became of the packets.
    pub packets: Summary,
    /// What each trace gave, by input trace.
    pub facts: Vec<TraceFacts>,
    /// What each capture gave, by input capture.
    pub captures: Vec<CaptureFacts>,
    /// What was found useless beyond [`Inputs::refused`].
    pub refused: Vec<Refused>,
    /// Things worth knowing that cost nothing.
    pub notes: Vec<String>,
    /// Whether something was refused or damaged.
    pub partial: bool,
}

/// Reads all traces and captures and matches their packets, and no more: each message is given to `sink` as in
/// [`synchronize_with`].
///
/// # Errors
/// There is nothing to work on, or what is said of captures is of none.
pub fn match_only(
    inputs: &Inputs,
    options: &Options,
    progress: Progress<'_>,
    sink: MessageSink<'_>,
) -> Result<Matching, SyncError> {
    check_captures(inputs, options)?;
    let clocks = clocks_of(inputs);
    let mut refused = unclocked(inputs, &clocks);
    let links = Links::new(Trust::new(&clocks, &[])?, &[]);
    let Reading { facts, traffic: by_trace, captured, captures, packets, lacking, .. } =
        read(inputs, &clocks, links, options, (progress, Sinks { packets: sink, mpi: &mut |_| {} }));
    refused.extend(capture::refused(&inputs.captures, &captures));
    for clock in &clocks {
        if span(inputs, clock, &facts, &captures).is_none() {
            refused.extend(eventless(inputs, clock, &facts));
        }
    }
    if clocks.is_empty() {
        return Err(SyncError::NothingToDo { refused });
    }
    let mut traffic = vec![Traffic::default(); clocks.len()];
    for (shown, clock) in traffic.iter_mut().zip(&clocks) {
        clock.traces.iter().for_each(|&trace| shown.join(by_trace[trace]));
        clock.captures.iter().for_each(|&capture| shown.join(captured[capture]));
    }
    let captured = Captures { inputs: &inputs.captures, facts: &captures };
    let why = unmatched::reasons(&clocks, &packets, &captured).into_values();
    let of_captures = capture::notes(&inputs.captures, &clocks, &captures, true);
    let notes = of_captures.into_iter().chain(lacking).chain(why).collect();
    let partial = is_damaged(inputs, &facts, &captures) || !refused.is_empty() || !inputs.refused.is_empty();
    Ok(Matching { clocks, traffic, packets, facts, captures, refused, notes, partial })
}

/// The clocks that stamp the traces and captures, in the order of their numbers in messages.
pub fn clocks_of(inputs: &Inputs) -> Vec<HostClock> {
    let traces: Vec<&Trace> = inputs.traces.iter().map(|input| &input.trace).collect();
    let mut stamped = clocks::group(&traces);
    capture::add_clocks(&mut stamped, &inputs.captures);
    stamped
}

fn check_captures(inputs: &Inputs, options: &Options) -> Result<(), SyncError> {
    let is_unknown = |name: &String| inputs.captures.iter().all(|capture| capture.host() != *name);
    match options.vantage.iter().find(|(name, _)| is_unknown(name)) {
        Some((name, _)) => Err(SyncError::UnknownCapture(name.clone())),
        None => Ok(()),
    }
}

/// Whether something could not be read.
fn is_damaged(inputs: &Inputs, facts: &[TraceFacts], captures: &[CaptureFacts]) -> bool {
    let opened = inputs.traces.iter().flat_map(|input| input.trace.diagnostics());
    let of_captures = captures.iter().flat_map(|facts| &facts.diagnostics);
    let read = facts.iter().flat_map(TraceFacts::diagnostics).chain(of_captures);
    opened.chain(read).any(Diagnostic::is_loss)
}

/// Reads a list of messages and puts the clocks of its hosts on one. Each host `N` is a clock that is called `N`, counts
/// from the epoch, and spans the times of its messages. Memory does not depend on the length of the list.
///
/// # Errors
/// The list cannot be read, there is no message in it, or the reference is unknown.
pub fn synchronize_messages(
    path: &Path,
    options: &Options,
    progress: Progress<'_>,
) -> Result<Outcome, SyncError> {
    synchronize_messages_with(path, options, progress, &mut |_| {})
}

/// As [`synchronize_messages`], with every message given to `sink`, under the numbers that hosts have in the list, which
/// [`Outcome::numbers`] translates.
///
/// # Errors
/// As there.
pub fn synchronize_messages_with(
    path: &Path,
    options: &Options,
    progress: Progress<'_>,
    sink: &mut dyn FnMut(&Message),
) -> Result<Outcome, SyncError> {
    let mut list = TextMessages::open(path)?;
    // Pairs of clocks are ordered as their names are.
    let mut names: Vec<(String, usize)> = (0..list.hosts()).map(|host| (host.to_string(), host)).collect();
    names.sort_unstable();
    let mut places = vec![0; names.len()];
    names.iter().enumerate().for_each(|(place, &(_, host))| places[host] = place);
    let named: Vec<HostClock> =
        names.into_iter().map(|(name, _)| HostClock::named(name, Vec::new())).collect();
    let choices = Choices::new(&named, &options.clocks)?;
    let resolves = said_of(&named, &options.resolution)?;
    let mut links = Links::new(Trust::new(&named, &options.trusted)?, &choices.declared_free())
        .with_exchanges(options.wants_exchanges());
    let mut spans = vec![None; named.len()];
    let mut grids = vec![StampGrid::default(); named.len()];
    let mut told = 0;
    let (mut beyond, mut first_beyond) = (0_u64, None);
    while let Some(line) = list.next() {
        match line? {
            Line::Message(message) => {
                sink(&message);
                let message = renumbered(message, &places);
                for (place, time) in [(message.sender, message.sent), (message.receiver, message.received)] {
                    let span = spans[place].get_or_insert(Span { begin: time, end: time });
                    *span = Span { begin: span.begin.min(time), end: span.end.max(time) };
                    grids[place].see(time);
                }
                links.add(message);
                links.exchange_listed(message, list.numbers());
            }
            Line::Beyond { sender, receiver, error } => {
                links.drop(places[sender], places[receiver]);
                beyond += 1;
                first_beyond.get_or_insert(error);
            }
        }
        if list.position() - told > TELL_AFTER {
            progress(list.position() - told);
            told = list.position();
        }
    }
    // Hosts without messages are no clocks.
    let mut evidence = Evidence::default();
    let mut numbers = Vec::with_capacity(named.len());
    for (index, (clock, span)) in named.into_iter().zip(spans).enumerate() {
        numbers.push(span.map(|_| evidence.clocks.len()));
        match span {
            Some(span) => {
                let verdict = choices.verdict((index, &clock), Origin::Messages, Vec::new(), span)?;
                evidence.verdicts.push(verdict);
                evidence.resolutions.push(Stamps::of_list(grids[index]).resolution(resolves[index]));
                evidence.clocks.push(clock);
                evidence.spans.push(span);
            }
            None => {
                let why = "no message is from it or for it".to_owned();
                evidence.refused.push(Refused { what: RefusedKind::Host, name: clock.host, why });
            }
        }
    }
    if evidence.clocks.is_empty() {
        let nothing = || TextError { path: path.to_owned(), line: None, why: Fault::NoMessages };
        return Err(first_beyond.unwrap_or_else(nothing).into());
    }
    if let Some(TextError { line, why, .. }) = first_beyond {
        let line = line.unwrap_or_default();
        let why = format!("{beyond} messages are left out for their times, the first in line {line}: {why}");
        evidence.refused.push(Refused { what: RefusedKind::List, name: path.display().to_string(), why });
    }
    evidence.links = links.finish(&evidence.packets, &numbers);
    let Settled { mut artefact, packets, refused, notes, .. } =
        settle(&Inputs::default(), evidence, options)?;
    artefact.refused = refused.iter().map(Into::into).collect();
    let partial = is_partial(&artefact);
    let (facts, captures, advice) = (Vec::new(), Vec::new(), Vec::new());
    let numbers = places.iter().map(|&place| numbers[place]).collect();
    let clocks = Clocks::new(&artefact)?;
    Ok(Outcome {
        artefact,
        clocks,
        numbers,
        facts,
        captures,
        packets,
        mpi: None,
        advice,
        refused,
        notes,
        partial,
    })
}

/// Whether something was not used, or not all hosts are on one clock.
fn is_partial(artefact: &Artefact) -> bool {
    !artefact.refused.is_empty() || !artefact.contradictions.is_empty() || artefact.islands.len() > 1
}

fn renumbered(message: Message, numbers: &[usize]) -> Message {
    let Message { sender, receiver, .. } = message;
    Message { sender: numbers[sender], receiver: numbers[receiver], ..message }
}

/// What is known before the clocks are solved.
#[derive(Default)]
struct Evidence {
    clocks: Vec<HostClock>,
    /// By clock.
    spans: Vec<Span>,
    /// By clock.
    verdicts: Vec<Verdict>,
    /// By clock.
    resolutions: Vec<Resolution>,
    links: Links,
    packets: Summary,
    /// What was found useless so far.
    refused: Vec<Refused>,
    /// What the traces of hosts lack, in words.
    lacking: Vec<String>,
}

/// What is known after that.
struct Settled {
    /// All but what was refused.
    artefact: Artefact,
    clocks: Vec<HostClock>,
    packets: Summary,
    refused: Vec<Refused>,
    notes: Vec<String>,
}

/// From messages to the artefact: the same, wherever they come from.
fn settle(inputs: &Inputs, evidence: Evidence, options: &Options) -> Result<Settled, SyncError> {
    let Evidence { clocks, spans, verdicts, resolutions, mut links, packets, mut refused, lacking } =
        evidence;
    if clocks.is_empty() {
        return Err(SyncError::NothingToDo { refused });
    }
    let asked = options.reference.as_deref();
    let reference = asked.map(|name| find_host(&clocks, name)).transpose()?;
    let of_others = options.published.map(|_| links.pairs());
    let late: Vec<u32> = resolutions.iter().map(|resolution| resolution.late_ns).collect();
    links.arrive_later(&late);
    // The last event of a clock can be that much later than its stamp.
    let later =
        |(span, &late): (&Span, &u32)| Span { end: (span.end + i64::from(late)).min(MAX_ABS_NS), ..*span };
    let spans: Vec<Span> = spans.iter().zip(&late).map(later).collect();
    let corridors = links.corridors();
    let trust = links.trust();
    let shared = trust.verdicts(&clocks, verdicts);
    let network = Network {
        clocks: trust.spans(&spans),
        links: corridors,
        model: options.model,
        assumptions: shared.iter().map(Verdict::assumptions).collect::<Result<_, _>>()?,
        reference: reference.map(|clock| trust.group(clock)),
    };
    let (solution, published) = match options.published.zip(of_others) {
        None => (solve(network)?, None),
        Some(_) if !trust.is_trivial() => return Err(SyncError::MethodWithTrust),
        Some(((method, digits), pairs)) => {
            let mut order: Vec<usize> = (0..clocks.len()).collect();
            order.sort_by(|&a, &b| clocks[a].id.cmp(&clocks[b].id));
            let question = Question { method, digits, order: &order, reference };
            let published = published::solve(&question, &pairs);
            let (solution, unplaced) = published::placed(&network, &published)?;
            refused.extend(unplaced.iter().map(|found| unplaced_host(&clocks, found)));
            (solution, Some(published))
        }
    };
    refused.extend(links::refused(&clocks, trust, &solution));
    let solution = links.expanded(solution, &spans, reference);
    let entries = links.trust().of_clocks(shared).zip(&solution.assumed);
    let assumptions: Vec<_> = entries.map(|(verdict, used)| verdict.entries(used)).collect();
    let mut notes = notes::about(inputs, &clocks, &lacking, (&links, &packets), &solution, options);
    notes.extend(notes::contradicted(&clocks, &assumptions, &solution.breaks));
    notes.extend(notes::coarse(&clocks, &resolutions));
    let of_clocks = (assumptions, &resolutions[..]);
    let artefact =
        assemble(inputs, &clocks, &solution, (&links, of_clocks), reference, options, published.as_ref());
    Ok(Settled { artefact, clocks, packets, refused, notes })
}

/// A host whose line, by a method of others, is of no use.
fn unplaced_host(clocks: &[HostClock], found: &Unplaced) -> Refused {
    let why = match found.backwards {
        true => "by the method its clock would run backwards: it is left on its own time",
        false => "by the method its times would be out of range: it is left on its own time",
    };
    Refused { what: RefusedKind::Host, name: clocks[found.clock].host.clone(), why: why.to_owned() }
}

/// What one pass over all traces gives.
pub(crate) struct Reading {
    /// By input trace.
    pub(crate) facts: Vec<TraceFacts>,
    /// By input trace.
    traffic: Vec<Traffic>,
    /// By input capture.
    captured: Vec<Traffic>,
    /// By input trace.
    pub(crate) steering: Vec<Vec<StreamEvidence>>,
    /// By input capture.
    pub(crate) captures: Vec<CaptureFacts>,
    messages: Links,
    packets: Summary,
    mpi: Option<MpiSummary>,
    /// What the traces of hosts lack, in words.
    lacking: Vec<String>,
}

/// Passes the messages of MPI programs to `sink`, those within a host too, without a look at anything else: what
/// [`synchronize_into`] finds of them. Reads the streams that have such events twice; others not at all.
pub fn mpi_messages(inputs: &Inputs, sink: &mut dyn FnMut(&MpiMatched)) {
    let clocks = clocks_of(inputs);
    let order = traces_of(&clocks);
    let (traces, hosts) = (stamped(inputs, &order), hosts_of(inputs, &clocks));
    let offsets: Vec<i64> = clocks.iter().map(|clock| clock.offset_ns).collect();
    let first: HashMap<_, _> = hosts.iter().flat_map(Host::first_packets).collect();
    let first = |at: usize, stream: usize| first.get(&(order[at].0, stream)).copied().unwrap_or(0);
    mpi::messages(&traces, &first, &hosts, &offsets, sink);
}

/// The traces of all clocks: their numbers among the inputs, each with that of its clock.
fn traces_of(clocks: &[HostClock]) -> Vec<(usize, usize)> {
    let mut order = Vec::new();
    for (number, clock) in clocks.iter().enumerate() {
        order.extend(clock.traces.iter().map(|&trace| (trace, number)));
    }
    order
}

fn stamped<'i>(inputs: &'i Inputs, order: &[(usize, usize)]) -> Vec<Stamped<'i>> {
    let stamped =
        |&(number, clock): &(usize, usize)| Stamped { trace: &inputs.traces[number].trace, number, clock };
    order.iter().map(stamped).collect()
}

fn hosts_of<'i>(inputs: &'i Inputs, clocks: &[HostClock]) -> Vec<Host<'i>> {
    let all: Vec<&Trace> = inputs.traces.iter().map(|input| &input.trace).collect();
    clocks.iter().map(|clock| Host::new(clock, &all)).collect()
}

/// Reads the traces and captures of all clocks side by side, and matches their packets.
pub(crate) fn read(
    inputs: &Inputs,
    clocks: &[HostClock],
    mut messages: Links,
    options: &Options,
    (progress, sinks): (Progress<'_>, Sinks<'_>),
) -> Reading {
    let order = traces_of(clocks);
    let (traces, hosts) = (stamped(inputs, &order), hosts_of(inputs, clocks));
    let offsets: Vec<i64> = clocks.iter().map(|clock| clock.offset_ns).collect();
    let losses = hosts.iter().map(losses).collect();
    let first: HashMap<_, _> = hosts.iter().flat_map(Host::first_packets).collect();
    let first = |at: usize, stream: usize| first.get(&(order[at].0, stream)).copied().unwrap_or(0);
    let mut streams = sources(&traces, &first, true, progress);
    let mut captures = capture::look(&inputs.captures, &options.vantage);
    if !captures.is_empty() {
        let addresses = sent_from(&traces, clocks.len());
        let traced: Vec<_> = clocks.iter().zip(addresses).collect();
        capture::beside(&inputs.captures, &mut captures, &traced);
    }
    let mut readers = capture::readers(&inputs.captures, clocks, &mut captures, progress);
    let streams_too = streams.iter_mut().map(|s| s as &mut dyn PacketSource);
    let mut sources: Vec<&mut dyn PacketSource> =
        streams_too.chain(readers.iter_mut().map(|r| r as &mut dyn PacketSource)).collect();
    let mut sent = vec![0; inputs.captures.len()];
    let packets = match_sources(&mut sources, &offsets, losses, &mut |matched| {
        messages.add(matched.message());
        messages.exchange(matched);
        if let Input::Capture(capture) = matched.sent.place.origin
            && let Some(sent) = sent.get_mut(capture as usize)
        {
            *sent += 1;
        }
        (sinks.packets)(matched);
    });
    let mpi = mpi::messages(&traces, &first, &hosts, &offsets, &mut |matched| {
        if let Some(message) = matched.message() {
            messages.add(message);
        }
        (sinks.mpi)(matched);
    });
    let mut captured = vec![Traffic::default(); inputs.captures.len()];
    for reader in &readers {
        captured[reader.number()] = reader.traffic();
    }
    for (capture, sent) in captures.iter_mut().zip(sent) {
        capture.sent = sent;
    }
    let mut facts = vec![TraceFacts::default(); inputs.traces.len()];
    let mut traffic = vec![Traffic::default(); inputs.traces.len()];
    let mut steering = vec![Vec::new(); inputs.traces.len()];
    let found = told(streams, order.len());
    let told = found.facts.into_iter().zip(found.traffic).zip(found.steering);
    for ((trace, _), ((found, shown), evidence)) in order.into_iter().zip(told) {
        facts[trace] = found;
        traffic[trace] = shown;
        steering[trace] = evidence;
    }
    let lacking = notes::lacking(&hosts);
    Reading { facts, traffic, captured, steering, captures, messages, packets, mpi, lacking }
}

/// How much of each trace is looked at for the addresses of its host: sightings of a stream, and raw ns.
const LOOK_AHEAD: (usize, i64) = (64, 10_000_000_000);

/// By clock: IP addresses that packets were sent from, as the begin of its traces shows.
fn sent_from(traces: &[Stamped<'_>], clocks: usize) -> Vec<HashSet<IpAddr>> {
    let mut addresses = vec![HashSet::new(); clocks];
    for mut source in sources(traces, &|_, _| 0, true, &|_| {}) {
        let Some((begin, _)) = source.span() else { continue };
        let mut seen = Vec::new();
        source.read_until(begin.saturating_add(LOOK_AHEAD.1), LOOK_AHEAD.0, &mut seen);
        let sent = seen.iter().filter(|sighting| sighting.direction == Direction::Sent);
        addresses[source.clock()].extend(sent.filter_map(|sighting| Some(sighting.packet.addresses?.0)));
    }
    addresses
}

/// First and last event of a clock over all its traces and captures, raw ns.
pub(crate) fn span(
    inputs: &Inputs,
    clock: &HostClock,
    facts: &[TraceFacts],
    captures: &[CaptureFacts],
) -> Option<Span> {
    let captured = clock.captures.iter().filter_map(|&capture| captures[capture].usable);
    let of = |pick: fn(&TraceFacts) -> Option<u64>| {
        clock.traces.iter().filter_map(move |&trace| {
            let stamps = inputs.traces[trace].trace.schema().single_clock()?;
            i64::try_from(stamps.raw_ns(pick(&facts[trace])?)).ok()
        })
    };
    let traced = of(TraceFacts::first).min().zip(of(TraceFacts::last).max());
    let traced = traced.map(|(begin, end)| Span { begin, end });
    captured.chain(traced).reduce(|a, b| Span { begin: a.begin.min(b.begin), end: a.end.max(b.end) })
}
