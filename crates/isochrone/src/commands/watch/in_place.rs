//! `isochrone watch --map`: finished chunks are mapped on the host that records them, each alone, and the
//! pieces are handed to a command.
//!
//! A piece is written under its own name when it is whole and on the disk; then the journal says that its
//! chunk is mapped; then the command runs; then the journal says that the piece was handed over; then it and
//! the chunk may be deleted. A process that is killed between two of these does the second one again.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

use isochrone_analysis::AnalysisKind;
use isochrone_experiment::chunks::ChunkHead;
use isochrone_experiment::pieces::Asked;
use isochrone_experiment::{
    Change, ChunkFacts, Entry, FinishedChunk, InPlace, PieceRecord, Retention, read_corrections,
};
use isochrone_files::output::OutputError;
use isochrone_timing::Times;

use super::hand_over::{HandOver, delete};
use super::lines::Lines;
use super::share::{Share, lower_priority};
use super::{note_missing_chunks, notices, refuse, wait, warn_unreadable, watch_error};
use crate::arguments::{Analyze, Map, MapInPlace, MapNames, TableFormat, Watch};
use crate::commands::analysis::options;
use crate::commands::signals::stop_on_signals;
use crate::commands::{pieces, refuse_missing};
use crate::output::{Console, note, warn_partial, warning};
use crate::render::figures;
use crate::render::plain::{Plain, plain};

pub(super) fn run(arguments: Watch, console: &Console) -> anyhow::Result<()> {
    let Watch { mut analyze, in_place, once, poll, delete_after, delete_above, .. } = arguments;
    let MapInPlace { map: Some(names), out: Some(out), exec, .. } = in_place else { return Ok(()) };
    let lines = Lines { is_json: are_lines_json(&mut analyze)? };
    refuse(&analyze)?;
    anyhow::ensure!(
        analyze.hosts.is_empty(),
        "--host does not apply to --map: name the directories of the hosts"
    );
    refuse_missing(&analyze.traces)?;
    if let Some(nice) = in_place.nice {
        lower_priority(nice)?;
    }
    let cores = in_place.cores;
    let threads = analyze.threads.or(NonZeroUsize::new(cores.ceil() as usize));
    analyze.threads = threads;
    // Traces are opened by the threads of all. There are some already where a test runs this.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(threads.map_or(1, NonZeroUsize::get)).build_global();
    let directories = std::mem::take(&mut analyze.traces);
    let map = Map { names, analyze, output: PathBuf::new(), piece: None, from: None, to: None };
    pieces::check(&map, console)?;
    let (in_place_journal, damaged) =
        InPlace::open(directories.clone(), &out, &head(&map)?).map_err(watch_error)?;
    if damaged > 0 {
        warning!(
            "{}: {} of its journal cannot be read: what they said is done again",
            Plain(out.display()),
            figures::plural(damaged as u64, "line")
        );
    }
    let is_stopped = stop_on_signals()?;
    let retention = Retention { age: delete_after, bytes: delete_above };
    let hand_over = exec.map(|command| HandOver {
        command,
        out: in_place_journal.path_of(""),
        journal: in_place_journal.shared_journal(),
        longest_delay: in_place.retry_at_most,
        is_once: once,
        deletes: in_place.delete_pieces,
        lines,
        console: console.clone(),
        is_stopped: Arc::clone(&is_stopped),
    });
    let hand_over = hand_over.map(Handing::start);
    let mut mapping =
        Mapping { in_place: in_place_journal, map, cores, hand_over, lines, retention, console };
    mapping.resume()?;
    let (notices, _watcher) = notices(&directories, console);
    let mut is_reported = once;
    while !is_stopped.load(Ordering::Relaxed) {
        let is_empty = mapping.map_chunks(&is_stopped)?;
        if is_empty && !std::mem::replace(&mut is_reported, true) {
            note_missing_chunks(&directories, console);
        }
        if once || mapping.hand_over.as_ref().is_some_and(Handing::has_ended) {
            break;
        }
        wait(&notices, poll, &is_stopped);
    }
    let Mapping { in_place, hand_over, .. } = mapping;
    hand_over.map_or(Ok(()), Handing::end)?;
    // The last pieces may have been handed over only now.
    in_place.delete(retention);
    Ok(())
}

/// Whether lines are JSON. The option is not one of mapping.
fn are_lines_json(analyze: &mut Analyze) -> anyhow::Result<bool> {
    let format = std::mem::replace(&mut analyze.format, TableFormat::Text);
    analyze.given = analyze.given.without("--format");
    match format {
        TableFormat::Text => Ok(false),
        TableFormat::Jsonl => Ok(true),
        _ => anyhow::bail!("--format: --map prints `text`, or the lines of the journal as `jsonl`"),
    }
}

/// What the pieces will say that they were mapped for.
fn head(map: &Map) -> anyhow::Result<ChunkHead> {
    let kinds = match &map.names {
        MapNames::Kinds(kinds) => kinds,
        MapNames::Spans { arguments } => {
            return Ok(ChunkHead { asked: pieces::spans_asked(&map.analyze, *arguments)?, has_spans: true });
        }
    };
    debug_assert!(!kinds.contains(&AnalysisKind::Usage), "it is refused");
    let corrections = map.analyze.clock.sync.as_deref().map(read_corrections).transpose()?;
    let asked = Asked {
        kinds: kinds.clone(),
        options: options(&map.analyze).of_mapping(),
        times: Times::default(),
        corrections: corrections.map(|(_, text)| text),
        keeps_all: false,
        periods: None,
    };
    Ok(ChunkHead { asked, has_spans: false })
}

/// The thread that hands pieces over.
struct Handing {
    pieces: Sender<PieceRecord>,
    thread: JoinHandle<anyhow::Result<()>>,
    deletes: bool,
}

impl Handing {
    fn start(hand_over: HandOver) -> Self {
        let (pieces, received) = channel();
        let deletes = hand_over.deletes;
        Self { pieces, thread: thread::spawn(move || hand_over.run(&received)), deletes }
    }

    /// Whether it cannot go on.
    fn has_ended(&self) -> bool {
        self.thread.is_finished()
    }

    /// Waits until it has handed over what it has, or this process is to end.
    fn end(self) -> anyhow::Result<()> {
        drop(self.pieces);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// Chunks that are mapped, and where the pieces go.
struct Mapping<'m> {
    in_place: InPlace,
    /// What is mapped, of the chunk that is mapped now.
    map: Map,
    /// How many cores are used at most.
    cores: f64,
    hand_over: Option<Handing>,
    lines: Lines,
    retention: Retention,
    console: &'m Console,
}

impl Mapping<'_> {
    /// Goes on with pieces that another process has left.
    fn resume(&self) -> anyhow::Result<()> {
        if self.hand_over.as_ref().is_some_and(|hand_over| hand_over.deletes) {
            for piece in self.in_place.journal().handed_over_pieces() {
                delete(&self.in_place.path_of(&piece), self.console);
            }
        }
        let waiting = self.in_place.journal().waiting();
        for (_, record) in waiting {
            if self.hand_over.is_some() || self.in_place.path_of(&record.piece).is_file() {
                self.pass_on(record)?;
            } else {
                let entry = Entry::Lost { piece: record.piece };
                let line = self.in_place.journal().record(entry).map_err(watch_error)?;
                self.lines.journal_line(&line);
            }
        }
        Ok(())
    }

    /// Maps the chunks that are not mapped yet; returns whether there are none and never were.
    fn map_chunks(&mut self, is_stopped: &AtomicBool) -> anyhow::Result<bool> {
        let (chunks, changes) = self.in_place.find().map_err(watch_error)?;
        for change in &changes {
            if let Change::Unreadable { directory, why } = change {
                warn_unreadable(directory, why, self.console);
            }
        }
        for chunk in &chunks {
            if is_stopped.load(Ordering::Relaxed) {
                break;
            }
            self.map_chunk(chunk, is_stopped)?;
            self.in_place.delete(self.retention);
        }
        self.in_place.delete(self.retention);
        Ok(chunks.is_empty() && self.in_place.is_empty())
    }

    fn map_chunk(&mut self, chunk: &FinishedChunk, is_stopped: &AtomicBool) -> anyhow::Result<()> {
        let share = Share::new(self.cores, is_stopped);
        let ChunkFacts { host, bytes, piece, beside } = match self.in_place.look(chunk) {
            Ok(facts) => facts,
            Err(why) => return self.refuse(chunk, &why),
        };
        if let Some(other) = beside {
            warning!(
                "{} and {}: two sessions record {} at a time: the cores of their pieces do not fit, and that \
                 time is unknown; record the kernel and programs in one session",
                Plain(chunk.path.display()),
                Plain(other.display()),
                plain(&host)
            );
        }
        let path = self.in_place.path_of(&piece);
        self.map.analyze.traces = vec![chunk.path.clone()];
        self.map.output.clone_from(&path);
        // Notes are the same for each chunk.
        let mapped = pieces::map_checked(&self.map, &|| share.pause(), &self.console.silenced());
        match mapped {
            Ok(()) => {}
            // Nothing more can be written there: not the journal, either.
            Err(error) if error.is::<OutputError>() => return Err(error),
            // It was deleted meanwhile.
            Err(_) if !chunk.path.exists() => return Ok(()),
            Err(error) => return self.refuse(chunk, &format!("{error:#}")),
        }
        let cpu_ms = share.used().as_millis() as u64;
        let piece_bytes = path.metadata().map_or(0, |it| it.len());
        let record = PieceRecord { piece, host, chunk_bytes: bytes, piece_bytes, cpu_ms };
        let line = self.in_place.mapped(chunk, record.clone()).map_err(watch_error)?;
        self.lines.journal_line(&line);
        self.pass_on(record)?;
        share.pause();
        Ok(())
    }

    /// Has a piece handed over; where there is no command, it is where it is to be.
    fn pass_on(&self, record: PieceRecord) -> anyhow::Result<()> {
        if let Some(hand_over) = &self.hand_over {
            if !self.in_place.journal().is_handed_over(&record.piece) {
                // Where the thread has ended, its error is reported.
                let _ = hand_over.pieces.send(record);
            }
            return Ok(());
        }
        let entry = Entry::HandedOver { piece: record.piece.clone(), attempts: 0 };
        let line = self.in_place.journal().record(entry).map_err(watch_error)?;
        self.lines.handed_over(&record, &line, "");
        Ok(())
    }

    /// Records and reports that a chunk cannot be mapped.
    fn refuse(&mut self, chunk: &FinishedChunk, why: &str) -> anyhow::Result<()> {
        let line = self.in_place.refuse(chunk, why).map_err(watch_error)?;
        self.lines.journal_line(&line);
        warn_partial!(self.console, "{}: {}; left out", Plain(chunk.path.display()), Plain(why));
        if !self.retention.eq(&Retention::default()) {
            note!(self.console, "{}: it is not deleted", Plain(chunk.path.display()));
        }
        Ok(())
    }
}
