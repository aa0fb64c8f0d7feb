//! Follows a trace that is being written, and shows its events as their packets come:
//!
//! ```text
//! cargo run --example follow -- TRACE [SECONDS]
//! ```
//!
//! Ends when nothing has come for so many seconds; without them it goes on for ever. The trace need not be there yet.
//!
//! What one look at the trace finds is shown in the order of time. Of what the next one finds, some may be earlier: a
//! tracer writes the packets of its streams one by one, and a stream with few events may be minutes behind. Who needs
//! one order over all must hold events back until every stream has a later packet.

use std::collections::HashSet;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use isochrone_ctf::merge::Merge;
use isochrone_ctf::schema::Scope;
use isochrone_ctf::text::TextVisitor;
use isochrone_ctf::{Event, Position, Trace};

/// Time between two looks.
const PAUSE: Duration = Duration::from_millis(200);

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let mut arguments = std::env::args_os().skip(1);
    let path = PathBuf::from(arguments.next().ok_or("usage: follow TRACE [SECONDS]")?);
    let seconds = arguments.next().map(|text| text.to_string_lossy().parse()).transpose()?;
    let patience = seconds.map_or(Duration::MAX, Duration::from_secs);
    let mut follower = Follower { trace: open(&path, patience)?, read: Vec::new(), said: HashSet::new() };
    follower.show(false)?;
    let mut last = Instant::now();
    while last.elapsed() < patience {
        std::thread::sleep(PAUSE);
        if !follower.trace.refresh()?.is_empty() {
            last = Instant::now();
        }
        follower.show(false)?;
    }
    // Now what waited for a description that has not come is lost.
    follower.show(true)
}

/// Opens a trace as soon as it can be: a tracer makes its directory and the first part of its metadata step by step.
fn open(path: &Path, patience: Duration) -> Outcome<Trace> {
    let begin = Instant::now();
    loop {
        match Trace::open(path) {
            Err(_) if begin.elapsed() < patience => std::thread::sleep(PAUSE),
            opened => return Ok(opened?),
        }
    }
}

struct Follower {
    trace: Trace,
    /// How far each stream has been read.
    read: Vec<Position>,
    /// Complaints that have been shown.
    said: HashSet<String>,
}

impl Follower {
    /// Shows what is new. `ends`: nothing more will come.
    fn show(&mut self, ends: bool) -> Outcome<()> {
        let trace = &self.trace;
        // New streams are read from their begin.
        self.read.resize(trace.streams().len(), Position::default());
        let new = self.read.iter().enumerate().map(|(stream, &from)| {
            let events = trace.events_from(stream, from);
            (stream, if ends { events } else { events.while_growing() })
        });
        let time = |stream, event: &Event<'_>| Some(trace.clock(stream)?.ns_from_origin(event.cycles()?));
        let mut merge = Merge::new(new, time);
        let mut out = BufWriter::new(io::stdout().lock());
        let mut fields = Vec::new();
        for (stream, time, event) in merge.by_ref() {
            let time = time.map_or("-".to_owned(), |ns| ns.to_string());
            let (file, name) = (&trace.streams()[stream].file, event.name().unwrap_or("(unnamed)"));
            fields.clear();
            event.visit(Scope::Payload, &mut TextVisitor::new(&mut fields))?;
            write!(out, "{time} {file} {name} ")?;
            out.write_all(&fields)?;
            out.write_all(b"\n")?;
        }
        out.flush()?;
        for (stream, events) in merge.sources() {
            self.read[stream] = events.position();
        }
        for diagnostic in merge.diagnostics() {
            writeln!(io::stderr(), "{diagnostic}")?;
        }
        // Those of the trace are said again at each look; and a packet that is only half there will be whole soon.
        for diagnostic in trace.diagnostics().iter().filter(|diagnostic| ends || !diagnostic.is_loss()) {
            if self.said.insert(diagnostic.to_string()) {
                writeln!(io::stderr(), "{diagnostic}")?;
            }
        }
        Ok(())
    }
}
