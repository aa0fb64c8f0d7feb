//! The main job: traces, captures or a list of messages in, artefact out.

use std::path::Path;

use isochrone_clock::published::{self, RejectedLine, Request};
use isochrone_clock::{MAX_ABS_NS, Network, Span, solve};
use isochrone_corrections::Clocks;
use isochrone_corrections::artefact::{Artefact, Refused, RefusedKind};
use isochrone_files::Inputs;
use isochrone_hosts::Progress;
use isochrone_hosts::clocks::{self, HostClock};
use isochrone_matching::capture::{self, CaptureFacts};
use isochrone_matching::stamps::{Resolution, StampGrid, Stamps};
use isochrone_matching::text_messages::{Fault, Line, TextError, TextMessages};
use isochrone_matching::traffic::Traffic;
use isochrone_matching::{
    Message, MessageSink, MpiMatched, MpiSummary, Reading, Recordings, Summary, TraceFacts, clocks_of,
    unmatched,
};
use isochrone_time::{RawNs, Window};

use crate::advice::{self, Advice};
use crate::assemble::Assembly;
use crate::clock_groups::ClockGroups;
use crate::error::{SyncError, find_host, said_of};
use crate::links::{self, Links};
use crate::notes;
use crate::options::Options;
use crate::steering::{Choices, Origin, Verdict};

/// Bytes of a list of messages between two reports of progress.
const PROGRESS_INTERVAL_BYTES: u64 = 1 << 20;

/// The artefact, and what else a report shows.
#[derive(Debug)]
pub struct Outcome {
    /// The result.
    pub artefact: Artefact,
    /// Its clocks and links, ready to be applied.
    pub clocks: Clocks,
    /// By the number of a clock in messages ([`isochrone_matching::End::clock`]), or of a host in a list of
    /// messages: its number in `clocks` and in the artefact; nothing for clocks without events.
    pub numbers: Vec<Option<usize>>,
    /// What each trace gave, by input trace; traces without a clock gave nothing.
    pub facts: Vec<TraceFacts>,
    /// What each capture gave, by input capture.
    pub captures: Vec<CaptureFacts>,
    /// What became of the packets, by the numbers of the clocks before those without events were left out.
    pub packets: Summary,
    /// What became of the messages of MPI programs, by the same numbers; nothing where none were traced.
    pub mpi: Option<MpiSummary>,
    /// Hosts with missing data, and how to record it.
    pub advice: Vec<Advice>,
    /// What was found useless beyond [`Inputs::refused`]; the artefact names all of them.
    pub refused: Vec<Refused>,
    /// Things worth knowing that cost nothing, beyond [`Inputs::notes`].
    pub notes: Vec<String>,
    /// Whether something was refused or damaged, or hosts fall into islands.
    pub partial: bool,
}

/// Reads all traces and captures, matches their packets, and puts their clocks on one. Of the messages
/// nothing is kept; [`synchronize_with`] gives them to a sink.
///
/// # Errors
/// There is nothing to work on, or the reference is unknown. Everything that costs only a part comes back as
/// a value.
pub fn synchronize(inputs: &Inputs, options: &Options, progress: Progress<'_>) -> Result<Outcome, SyncError> {
    synchronize_with(inputs, options, progress, &mut |_| {})
}

/// As [`synchronize`], with every message given to `sink` as it is found, in an order that has no meaning:
/// also those that turn out to be suspect in the end ([`Artefact::suspects`]). Clocks have the numbers that
/// [`Outcome::numbers`] translates; traces and captures have theirs among the inputs.
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

/// Receivers of messages.
pub struct Sinks<'s> {
    /// Those that are packets.
    pub packets: MessageSink<'s>,
    /// Those of MPI programs, within hosts too, after the packets.
    pub mpi: &'s mut dyn FnMut(&MpiMatched),
}

/// As [`synchronize_with`], with a sink for messages of MPI programs besides that for packets.
///
/// # Errors
/// As there.
pub fn synchronize_into(
    inputs: &Inputs,
    options: &Options,
    progress: Progress<'_>,
    sinks: Sinks<'_>,
) -> Result<Outcome, SyncError> {
    let Sinks { packets, mpi } = sinks;
    inputs.check_captures(options.vantage.iter().map(|(name, _)| name))?;
    let stamped = clocks_of(inputs);
    let recordings = Recordings::new(inputs, &stamped);
    let mut refused = recordings.unclocked();
    let groups = ClockGroups::new(&stamped, &options.trusted)?;
    let choices = Choices::new(&stamped, &options.clocks)?;
    let resolves = said_of(&stamped, &options.resolution)?;
    let mut links = Links::new(groups, &choices.declared_free()).with_exchanges(options.wants_exchanges());
    let mut reading = recordings.read(&options.vantage, progress, &mut |matched| {
        if options.has(matched) {
            links.add(matched.message());
            links.exchange(matched);
            packets(matched);
        }
    });
    let mpi = recordings.mpi_messages(&mut |matched| {
        if let Some(message) = matched.message() {
            links.add(message);
        }
        mpi(matched);
    });
    let missing_data = notes::missing_data(recordings.hosts());
    refused.extend(capture::refused(&inputs.captures, &reading.captures));

    let why = unmatched::reasons(&stamped, &reading.packets, &inputs.captures, &reading.captures);
    let (mut clocks, mut spans, mut verdicts, mut resolutions) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut numbers: Vec<Option<usize>> = Vec::with_capacity(stamped.len());
    for (index, clock) in stamped.iter().enumerate() {
        let Some(span) = reading.span(inputs, clock) else {
            refused.extend(reading.eventless(inputs, clock));
            numbers.push(None);
            continue;
        };
        let origin = if clock.traces.is_empty() { Origin::Capture } else { Origin::Traces };
        let of_kernel =
            clock.traces.iter().filter(|&&trace| clocks::is_of_kernel(&inputs.traces[trace].trace));
        let shown = of_kernel.map(|&trace| std::mem::take(&mut reading.steering[trace])).collect();
        verdicts.push(choices.verdict(index, clock, origin, shown, span)?);
        let stamps = reading.stamps(inputs, clock);
        resolutions.push(stamps.unwrap_or_default().resolution(resolves[index]));
        numbers.push(Some(clocks.len()));
        clocks.push(clock.clone());
        spans.push(span);
    }
    let is_damaged = reading.is_damaged(inputs);
    let Reading { facts, traffic, captures, packets, .. } = reading;
    let links = links.explained(why).finish(&packets, &numbers);
    let tied = |index: &usize| mpi.as_ref().is_some_and(|mpi| mpi.tied.contains(index));
    let tied = (0..numbers.len()).filter(tied).filter_map(|index| numbers[index]).collect();
    let advice = advice::for_hosts(&clocks, &traffic, &verdicts, &tied);
    let evidence = Evidence { clocks, spans, verdicts, resolutions, links, packets, refused, missing_data };
    let Solved { mut artefact, clocks, packets, mut refused, notes } =
        solve_and_assemble(inputs, evidence, options)?;
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
    artefact.refused = inputs.refused.iter().chain(&refused).cloned().collect();
    for (entry, clock) in artefact.clocks.iter_mut().zip(&clocks) {
        for (trace, &capture) in entry.traces.iter_mut().skip(clock.traces.len()).zip(&clock.captures) {
            trace.captured = Some(captures[capture].entry());
        }
    }
    let partial = is_damaged || is_partial(&artefact);
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

/// Reads all traces and captures and matches their packets, and no more: each message is given to `sink` as
/// in [`synchronize_with`].
///
/// # Errors
/// There is nothing to work on, or what is said of captures is of none.
pub fn match_only(
    inputs: &Inputs,
    options: &Options,
    progress: Progress<'_>,
    sink: MessageSink<'_>,
) -> Result<Matching, SyncError> {
    inputs.check_captures(options.vantage.iter().map(|(name, _)| name))?;
    let clocks = clocks_of(inputs);
    let recordings = Recordings::new(inputs, &clocks);
    let reading = recordings.read(&options.vantage, progress, sink);
    let missing_data = notes::missing_data(recordings.hosts());
    let mut refused = recordings.unclocked();
    refused.extend(capture::refused(&inputs.captures, &reading.captures));
    for clock in clocks.iter().filter(|clock| reading.span(inputs, clock).is_none()) {
        refused.extend(reading.eventless(inputs, clock));
    }
    if clocks.is_empty() {
        return Err(SyncError::NothingToDo { refused });
    }
    let mut traffic = vec![Traffic::default(); clocks.len()];
    for (shown, clock) in traffic.iter_mut().zip(&clocks) {
        clock.traces.iter().for_each(|&trace| shown.join(reading.traffic[trace]));
        clock.captures.iter().for_each(|&capture| shown.join(reading.captured[capture]));
    }
    let why =
        unmatched::reasons(&clocks, &reading.packets, &inputs.captures, &reading.captures).into_values();
    let of_captures = capture::notes(&inputs.captures, &clocks, &reading.captures, true);
    let notes = of_captures.into_iter().chain(missing_data).chain(why).collect();
    let partial = reading.is_damaged(inputs) || !refused.is_empty() || !inputs.refused.is_empty();
    drop(recordings);
    let Reading { facts, captures, packets, .. } = reading;
    Ok(Matching { clocks, traffic, packets, facts, captures, refused, notes, partial })
}

/// Reads a list of messages and puts the clocks of its hosts on one. Each host `N` is a clock that is called
/// `N`, counts from the epoch, and spans the times of its messages. Memory does not depend on the length of
/// the list.
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

/// As [`synchronize_messages`], with every message given to `sink`, under the numbers that hosts have in the
/// list, which [`Outcome::numbers`] translates.
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
    let mut links = Links::new(ClockGroups::new(&named, &options.trusted)?, &choices.declared_free())
        .with_exchanges(options.wants_exchanges());
    let mut spans = vec![None; named.len()];
    let mut grids = vec![StampGrid::default(); named.len()];
    let mut reported = 0;
    let (mut beyond, mut first_beyond) = (0_u64, None);
    while let Some(line) = list.next() {
        match line? {
            Line::Message(message) => {
                sink(&message);
                let message = renumbered(message, &places);
                for (place, time) in [(message.sender, message.sent), (message.receiver, message.received)] {
                    let span = spans[place].get_or_insert(Window::new(time, time));
                    *span = Window::new(span.start.min(time), span.end.max(time));
                    grids[place].see(time.ns());
                }
                links.add(message);
                links.exchange_listed(message, list.numbers());
            }
            Line::Beyond { sender, receiver, error } => {
                links.count_out_of_range(places[sender], places[receiver]);
                beyond += 1;
                first_beyond.get_or_insert(error);
            }
        }
        if list.position() - reported > PROGRESS_INTERVAL_BYTES {
            progress(list.position() - reported);
            reported = list.position();
        }
    }
    // Hosts without messages are no clocks.
    let mut evidence = Evidence::default();
    let mut numbers = Vec::with_capacity(named.len());
    for (index, (clock, span)) in named.into_iter().zip(spans).enumerate() {
        numbers.push(span.map(|_| evidence.clocks.len()));
        match span {
            Some(span) => {
                let verdict = choices.verdict(index, &clock, Origin::Messages, Vec::new(), span)?;
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
    let Solved { mut artefact, packets, refused, notes, .. } =
        solve_and_assemble(&Inputs::default(), evidence, options)?;
    artefact.refused.clone_from(&refused);
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
    spans: Vec<Window<RawNs>>,
    /// By clock.
    verdicts: Vec<Verdict>,
    /// By clock.
    resolutions: Vec<Resolution>,
    links: Links,
    packets: Summary,
    /// What was found useless so far.
    refused: Vec<Refused>,
    /// What the traces of hosts lack, in words.
    missing_data: Vec<String>,
}

/// The solution, as the artefact states it.
struct Solved {
    /// All but what was refused.
    artefact: Artefact,
    clocks: Vec<HostClock>,
    packets: Summary,
    refused: Vec<Refused>,
    notes: Vec<String>,
}

/// From messages to the artefact: the same, wherever they come from.
fn solve_and_assemble(inputs: &Inputs, evidence: Evidence, options: &Options) -> Result<Solved, SyncError> {
    let Evidence { clocks, spans, verdicts, resolutions, mut links, packets, mut refused, missing_data } =
        evidence;
    if clocks.is_empty() {
        return Err(SyncError::NothingToDo { refused });
    }
    let reference = options.reference.as_deref().map(|name| find_host(&clocks, name)).transpose()?;
    let of_others = options.published.map(|_| links.pairs());
    let late: Vec<u32> = resolutions.iter().map(|resolution| resolution.late_ns).collect();
    links.arrive_later(&late);
    // The last event of a clock can be that much later than its stamp.
    let later = |(span, &late): (&Window<RawNs>, &u32)| Span {
        begin: span.start.ns(),
        end: (span.end.ns() + i64::from(late)).min(MAX_ABS_NS),
    };
    let spans: Vec<Span> = spans.iter().zip(&late).map(later).collect();
    let corridors = links.corridors();
    let groups = links.groups();
    let shared = groups.verdicts(&clocks, verdicts);
    let network = Network {
        clocks: groups.spans(&spans),
        links: corridors,
        model: options.model,
        assumptions: shared.iter().map(Verdict::assumptions).collect::<Result<_, _>>()?,
        reference: reference.map(|clock| groups.group(clock)),
    };
    let (solution, published) = match options.published.zip(of_others) {
        None => (solve(network)?, None),
        Some(_) if !groups.is_trivial() => return Err(SyncError::MethodWithTrust),
        Some(((method, digits), pairs)) => {
            let mut order: Vec<usize> = (0..clocks.len()).collect();
            order.sort_by(|&a, &b| clocks[a].id.cmp(&clocks[b].id));
            let question = Request { method, digits, order: &order, reference };
            let published = published::solve(&question, &pairs);
            let (solution, unplaced) = published::with_lines(&network, &published)?;
            refused.extend(unplaced.iter().map(|found| unplaced_host(&clocks, found)));
            (solution, Some(published))
        }
    };
    refused.extend(links::refused(&clocks, groups, &solution));
    let solution = links.ungroup(solution, &spans, reference);
    let entries = links.groups().of_clocks(shared).zip(&solution.assumed);
    let assumptions: Vec<_> = entries.map(|(verdict, used)| verdict.entries(used)).collect();
    let mut notes = notes::about(inputs, &clocks, &missing_data, &links, &packets, &solution, options);
    notes.extend(notes::contradicted(&clocks, &assumptions, &solution.breaks));
    notes.extend(notes::coarse(&clocks, &resolutions));
    let of_solution = Assembly {
        inputs,
        clocks: &clocks,
        solution: &solution,
        links: &links,
        assumptions,
        resolutions: &resolutions,
        reference,
        published: published.as_ref(),
    };
    let artefact = of_solution.artefact(options);
    Ok(Solved { artefact, clocks, packets, refused, notes })
}

/// A host whose line, by a method of others, is of no use.
fn unplaced_host(clocks: &[HostClock], found: &RejectedLine) -> Refused {
    let why = match found.backwards {
        true => "by the method its clock would run backwards: it is left on its own time",
        false => "by the method its times would be out of range: it is left on its own time",
    };
    Refused { what: RefusedKind::Host, name: clocks[found.clock].host.clone(), why: why.to_owned() }
}
