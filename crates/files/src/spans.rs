//! Files of OpenTelemetry's spans: they are turned into traces of programs in a temporary directory, opened,
//! and removed again, as recordings are.
//!
//! Spans have Unix times of the wall clock of their host. Where a trace of that host is beside them, its
//! clock is theirs: its metadata say the Unix time of its zero, so that a time of one is one of the other.

use std::path::{Path, PathBuf};

use isochrone_ctf::{Packet, Schemas, Trace};
use isochrone_import::{HostOfSpans, SpanClock, SpanFile};
use isochrone_unfinished::UnfinishedDirectory;

use crate::recorded::RecordingError;
use crate::search;

/// What files of spans below a directory are called, but for what says that they are compressed. One that is
/// named itself may have any name.
const EXTENSIONS: [&str; 6] = ["json", "jsonl", "otlp", "pb", "binpb", "proto"];
/// As far apart are samples of how one clock stands to Unix time, ns.
const OFFSET_STEP_NS: u64 = 100_000;

/// Whether a file is one of spans, by how it begins.
pub(crate) fn is_spans(path: &Path) -> bool {
    SpanFile::is_one(path).unwrap_or(false)
}

/// The files of spans below a directory, by their names and how they begin.
pub(crate) fn find_spans(directory: &Path) -> Vec<PathBuf> {
    search::files(directory, &|path| {
        search::has_extension(&isochrone_compressed::plain_name(path), &EXTENSIONS) && is_spans(path)
    })
}

/// The traces of a file, each with its path there, and what is to be known of them, in words.
pub(crate) type OpenedSpans = (Vec<(PathBuf, Trace)>, Vec<String>);

/// Opens a file of spans as traces, one for each host, which say that they are at the path of the file or
/// below it. `beside`: all other traces. Linear in the file.
///
/// # Errors
/// It cannot be read, or there is no room for the traces.
pub(crate) fn open_spans(
    path: &Path,
    beside: &[&Trace],
    known: &Schemas,
) -> Result<OpenedSpans, RecordingError> {
    let file = SpanFile::open(path)?;
    let mut notes = Vec::new();
    let mut note = |text: String| notes.push(format!("{}: {text}", path.display()));
    let clocks: Vec<SpanClock> = file.hosts.iter().map(|host| clock_of(host, beside, &mut note)).collect();
    let directory = UnfinishedDirectory::temporary("isochrone-spans")?;
    let (written, early) = file.write(&clocks, directory.path())?;
    if file.untimed > 0 {
        note(format!("{} spans have no time, or end before they begin: left out", file.untimed));
    }
    if early > 0 {
        note(format!("{early} spans are earlier than the zero of the clock of their host: left out"));
    }
    if let Some(offset) = file.cut {
        note(format!("the record at byte {offset} is not all there: what comes before it is used"));
    }
    let mut traces = Vec::new();
    for (number, (directory, host)) in written.iter().zip(&file.hosts).enumerate() {
        let inner = match file.hosts.len() {
            1 => PathBuf::new(),
            _ => PathBuf::from(inner_name(number, host.name.as_deref())),
        };
        let at = search::below(path, &inner);
        traces.push((inner, Trace::open_moved(directory, &at, known)?));
    }
    Ok((traces, notes))
}

/// The clock of a host's spans: that of its traces, else Unix time.
fn clock_of(host: &HostOfSpans, beside: &[&Trace], note: &mut dyn FnMut(String)) -> SpanClock {
    let Some(name) = &host.name else {
        note(format!(
            "{} spans do not say which host they are of (`host.name`): they are of a host of their own",
            host.spans
        ));
        return SpanClock::default();
    };
    let mut found: Vec<Known> = beside.iter().filter_map(|trace| Known::of(trace, name)).collect();
    if found.is_empty() {
        if !beside.is_empty() {
            note(format!(
                "no trace beside it is of host `{name}`: its spans are on a clock of their own, Unix time"
            ));
        }
        return SpanClock::default();
    }
    if host.is_corrected {
        note(format!(
            "`isochrone export` wrote spans of `{name}`, with times of a common clock: they are on a clock \
             of their own, and not on that of the host"
        ));
        return SpanClock::default();
    }
    found.sort_by_key(|known| known.begin);
    let is_of = |known: &&Known| known.begin <= i128::from(host.end) && i128::from(host.begin) <= known.end;
    let Some(first) = found.iter().find(is_of) else {
        note(format!(
            "the spans of `{name}` are of another time than its traces: they are on a clock of their own"
        ));
        return SpanClock::default();
    };
    if found.iter().filter(is_of).any(|known| !known.is_clock_of(first)) {
        note(format!(
            "traces of `{name}` are of several clocks: its spans are on a clock of their own, Unix time"
        ));
        return SpanClock::default();
    }
    let own = found.iter().filter(|known| known.is_clock_of(first));
    let clock = own.clone().next().unwrap_or(first).clock.clone();
    if own.into_iter().any(|known| known.clock.offset_ns.abs_diff(clock.offset_ns) > OFFSET_STEP_NS) {
        note(format!(
            "the wall clock of `{name}` was set while it was recorded: its spans may be off by as much"
        ));
    }
    if host.threads < host.spans {
        note(format!(
            "the thread of {} of {} spans of `{name}` is unknown: `thread.id` is a number of the program's \
             runtime; the attribute `isochrone.tid` says the kernel's",
            host.spans - host.threads,
            host.spans
        ));
    }
    clock
}

/// What a trace says of the clock of its host.
struct Known {
    clock: SpanClock,
    /// When it begins and ends, Unix ns.
    begin: i128,
    end: i128,
}

impl Known {
    /// Of a trace of the host of this name.
    fn of(trace: &Trace, name: &str) -> Option<Self> {
        let schema = trace.schema();
        let clock = schema.single_clock()?;
        let is_it = schema.environment_text("hostname") == Some(name);
        // One that is known by something else than a uuid cannot be said to be the same.
        let can_be_named = clock.uuid.is_some() || clock.identity().is_none();
        if !is_it || !can_be_named {
            return None;
        }
        let offset = clock.offset_ns();
        let packets = || trace.streams().iter().flat_map(|stream| &stream.packets);
        let unix = |cycles| clock.raw_ns(cycles) + offset;
        Some(Self {
            clock: SpanClock {
                uuid: clock.uuid.map(|uuid| uuid.to_string()),
                offset_ns: i64::try_from(offset).ok()?,
            },
            begin: unix(packets().filter_map(Packet::begin).min()?),
            end: packets().filter_map(Packet::end).max().map_or(i128::MAX, unix),
        })
    }

    fn is_clock_of(&self, other: &Self) -> bool {
        let (own, other) = (&self.clock, &other.clock);
        let is_near = || own.offset_ns.abs_diff(other.offset_ns) <= OFFSET_STEP_NS;
        own.uuid == other.uuid && (own.uuid.is_some() || is_near())
    }
}

/// A host in the path of its trace: nothing in it that a path would take for something else.
fn inner_name(number: usize, name: Option<&str>) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let name = name.unwrap_or("unknown");
    match name.chars().all(is_plain) && !name.starts_with('.') {
        true => name.to_owned(),
        false => format!("host {number}"),
    }
}
