//! `isochrone watch`: analyses of rotated sessions, chunk by chunk as they are finished.

mod hand_over;
mod in_place;
mod lines;
mod metrics;
mod pieces;
mod share;
mod steps;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use isochrone_analysis::{AnalysisKind, Options, Recorded, Report};
use isochrone_experiment::chunks::ChunkHead;
use isochrone_experiment::{Change, ModelError, Retention, Spread, WatchError, Watched};
use isochrone_export::openmetrics::{CONTENT_TYPE, Family, families};
use isochrone_server::serve_metrics;
use notify::event::{AccessKind, AccessMode};
use notify::{EventKind, RecursiveMode, Watcher as _};

use super::analysis::{add_notes, check_options, model_error, style};
use super::signals::stop_on_signals;
use super::{check_output, refuse_missing};
use crate::arguments::{Analyze, TableFormat, Watch, WatchNames};
use crate::output::{Console, note, warn_partial, warning};
use crate::render::complaints;
use crate::render::plain::{Plain, PlainLines, plain};
use metrics::{Metrics, make_directory, of_hosts};
use steps::Steps;

/// Interval of checks whether this process was told to end.
const CHECK_INTERVAL: Duration = Duration::from_millis(200);

/// What was said of pieces is remembered until there is this much of it.
const MAX_NOTED: usize = 10_000;

pub(crate) fn run(arguments: Watch, console: &Console) -> anyhow::Result<()> {
    match arguments.in_place.map {
        Some(_) => in_place::run(arguments, console),
        None => watch(&arguments, console),
    }
}

fn watch(arguments: &Watch, console: &Console) -> anyhow::Result<()> {
    let Watch { names: WatchNames { kinds, stepped }, analyze, .. } = arguments;
    anyhow::ensure!(
        !kinds.contains(&AnalysisKind::Usage),
        "usage divides the time between the first and the last event, and cannot be watched"
    );
    let kinds_named = kinds.iter().map(|kind| kind.name());
    let chosen: Vec<&str> = kinds_named.chain(stepped.iter().map(|it| it.name())).collect();
    check_options(analyze, &chosen, console)?;
    refuse(analyze)?;
    refuse_missing(&analyze.traces)?;
    if let Some(file) = &arguments.metrics_file {
        check_output(file, &[&analyze.traces[..], analyze.clock.sync.as_slice()].concat())
            .context("--metrics-file")?;
    }
    if let Some(directory) = &arguments.backfill {
        make_directory(directory)?;
    }
    let is_stopped = stop_on_signals()?;
    let metrics = Metrics {
        file: arguments.metrics_file.clone(),
        backfill: arguments.backfill.clone(),
        ..Metrics::default()
    };
    let mut is_listening = false;
    loop {
        let head = pieces::head(arguments, console);
        let options = pieces::options(arguments, head.as_ref())?;
        let spread = Spread { threads: analyze.threads, pieces: None };
        let watched = Watched {
            directories: analyze.traces.clone(),
            state: arguments.state.clone(),
            kinds: pieces::kinds(arguments, head.as_ref())?,
            options: &options,
            pieces: head.clone(),
            corrections: pieces::corrections(arguments, head.as_ref())?,
            patience: arguments.wait_missing,
            retention: Retention { age: arguments.delete_after, bytes: arguments.delete_above },
            has_steps: !stepped.is_empty(),
            is_published: !stepped.is_empty() || arguments.backfill.is_some(),
            spread,
        };
        let watch = isochrone_experiment::Watch::new(watched).map_err(watch_error)?;
        let steps = match stepped.as_slice() {
            [] => None,
            stepped => Some(Steps::new(&watch, stepped, &options, spread)?),
        };
        if let Some(listen) = arguments.listen.filter(|_| !std::mem::replace(&mut is_listening, true)) {
            let shared = Arc::clone(&metrics.shared);
            let current = move || shared.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let address = serve_metrics(listen, CONTENT_TYPE, current);
            let address = address.with_context(|| format!("cannot listen on {listen}"))?;
            note!(console, "metrics are at {address}");
        }
        let mut watching = Watching {
            arguments,
            options: &options,
            watch,
            head: head.as_ref().map(|(head, _)| head),
            files: Vec::new(),
            noted: BTreeSet::new(),
            steps,
            metrics: &metrics,
            is_journal_kept: false,
            console,
        };
        if arguments.once {
            return watching.once();
        }
        let (notices, _watcher) = notices(&analyze.traces, console);
        // Where pieces came in place of chunks, these are watched.
        if !watching.until_stopped(&notices, &is_stopped)? {
            return Ok(());
        }
    }
}

/// A watch, and its outputs.
struct Watching<'w> {
    arguments: &'w Watch,
    options: &'w Options,
    watch: isochrone_experiment::Watch<'w>,
    /// What the pieces were mapped for that come in place of chunks; `None`: chunks come.
    head: Option<&'w ChunkHead>,
    /// The pieces at the last look.
    files: Vec<PathBuf>,
    /// What was said of pieces.
    noted: BTreeSet<String>,
    /// Steps, if something is computed of them.
    steps: Option<Steps<'w>>,
    metrics: &'w Metrics,
    /// Whether the metrics of what the journal held have been kept.
    is_journal_kept: bool,
    console: &'w Console,
}

impl Watching<'_> {
    /// Maps the existing chunks, and shows their tables.
    fn once(&mut self) -> anyhow::Result<()> {
        self.map_chunks(true, &AtomicBool::new(false))?;
        self.step(true)?;
        self.keep_last()?;
        self.show(true)
    }

    /// Maps chunks as they come, and shows the tables whenever they have changed. Returns whether there are
    /// mapped pieces instead.
    fn until_stopped(&mut self, notices: &Receiver<()>, is_stopped: &AtomicBool) -> anyhow::Result<bool> {
        // The content of a journal is shown before anything new.
        let mut is_new = self.watch.facts().next().is_some();
        let mut is_reported = false;
        while !is_stopped.load(Ordering::Relaxed) {
            let is_mapped = self.map_chunks(false, is_stopped)?;
            let is_empty = self.watch.is_empty() && self.files.is_empty();
            if self.head.is_none() && is_empty && pieces::head(self.arguments, self.console).is_some() {
                return Ok(true);
            }
            if is_empty && !std::mem::replace(&mut is_reported, true) {
                note_missing_chunks(&self.arguments.analyze.traces, self.console);
            }
            match self.show_if(is_mapped || is_new) {
                // The next pieces may be others; what was published stays.
                Err(error) if self.head.is_some() => {
                    warn_partial!(self.console, "{}", PlainLines(format_args!("{error:#}")));
                }
                shown => shown?,
            }
            is_new = false;
            wait(notices, self.arguments.poll, is_stopped);
        }
        Ok(false)
    }

    fn show_if(&mut self, is_changed: bool) -> anyhow::Result<()> {
        if is_changed { self.show(false) } else { self.publish(None, false) }
    }

    /// Maps all chunks that can be mapped; returns whether there was one, or the pieces are others.
    fn map_chunks(&mut self, is_last: bool, is_stopped: &AtomicBool) -> anyhow::Result<bool> {
        let mut changes = self.watch.find(is_last).map_err(watch_error)?;
        if !std::mem::replace(&mut self.is_journal_kept, true) {
            self.keep_all()?;
        }
        let files = self.watch.files();
        let mut is_changed = std::mem::replace(&mut self.files, files) != self.files;
        // Of all pieces once, the tables are made at once.
        let are_tables_enough = self.head.is_some() && !self.is_by_chunk();
        if are_tables_enough && (is_last || !self.watch.files_of_several().is_empty()) {
            self.report(&changes);
            return Ok(is_changed);
        }
        while !is_stopped.load(Ordering::Relaxed) {
            let host = self.watch.advance(is_last, &mut changes).map_err(watch_error)?;
            self.report(&changes);
            changes.clear();
            let Some(id) = host else { break };
            is_changed = true;
            self.keep(&id)?;
            self.step(is_last)?;
        }
        Ok(is_changed)
    }

    /// Whether something is made of each chunk: steps, figures of the past, a journal.
    fn is_by_chunk(&self) -> bool {
        let Watch { state, backfill, .. } = self.arguments;
        self.steps.is_some() || state.is_some() || backfill.is_some()
    }

    /// Options of the tables of metrics, which have all rows, unless there is a limit.
    fn metrics_options(&self) -> Options {
        Options { top: None, ..self.options.clone() }
    }

    /// Makes the steps that can be made.
    fn step(&mut self, is_last: bool) -> anyhow::Result<()> {
        let Self { arguments, watch, steps, metrics, console, .. } = self;
        let Some(steps) = steps else { return Ok(()) };
        steps.make(watch, is_last, metrics, console, |reports, hosts| {
            style(&arguments.analyze).print(&reports, None, hosts, console)
        })
    }

    /// Keeps the metrics of all hosts, which a process that was killed may not have done.
    fn keep_all(&self) -> anyhow::Result<()> {
        let hosts: Vec<String> = self.watch.facts().map(|facts| facts.id.clone()).collect();
        hosts.iter().try_for_each(|id| self.keep(id))
    }

    /// Keeps the metrics of all hosts at their last event.
    fn keep_last(&self) -> anyhow::Result<()> {
        if self.metrics.backfill.is_none() {
            return Ok(());
        }
        for (id, name, end) in self.watch.ends() {
            let reports = self.watch.reports_of(Some(&id), &self.metrics_options(), true);
            let mut reports = reports.map_err(watch_error)?;
            self.choose(&mut reports);
            self.metrics.keep_last(&name, end, &reports)?;
        }
        Ok(())
    }

    /// Keeps the metrics of a host.
    fn keep(&self, id: &str) -> anyhow::Result<()> {
        if self.metrics.backfill.is_none() {
            return Ok(());
        }
        let reports = self.watch.reports_of(Some(id), &self.metrics_options(), false);
        let mut reports = reports.map_err(watch_error)?;
        self.choose(&mut reports);
        let progress = self.watch.progress(false).into_iter().find(|progress| progress.id == id);
        progress.map_or(Ok(()), |progress| self.metrics.keep_host(&progress, &reports))
    }

    /// Reports what happened.
    fn report(&mut self, changes: &[Change]) {
        let console = self.console;
        for change in changes {
            match change {
                Change::Mapped { .. } => {}
                // What is missing between pieces is said with its time.
                Change::Missing { .. } if self.head.is_some() && !self.is_by_chunk() => {}
                Change::Filled(_) if self.steps.is_none() => {}
                Change::Missing { session, numbers: (from, to) } => {
                    let session = Plain(session.display());
                    let which = if to - from == 1 {
                        format!("chunk {from} is")
                    } else {
                        format!("chunks {from} to {} are", to - 1)
                    };
                    warning!("{session}: {which} missing: that time is unknown");
                }
                Change::Late(chunk) => {
                    warn_partial!(
                        console,
                        "{}: appeared when it had been declared missing; left out",
                        Plain(chunk.display())
                    );
                }
                Change::Filled(piece) => {
                    warn_partial!(
                        console,
                        "{}: appeared when it had been declared missing; it is in the tables, and in no step \
                         that was published",
                        Plain(piece.display())
                    );
                }
                Change::Unknown(time) => {
                    let (is_warning, text) = complaints::unknown_time(time);
                    self.note_once(is_warning, text);
                }
                Change::Refused { chunk, why } => {
                    warn_partial!(console, "{}: {}; left out", Plain(chunk.display()), Plain(why));
                }
                Change::Unreadable { directory, why } => warn_unreadable(directory, why, console),
                // Pieces are mapped with what waits, and once more.
                Change::Broken(diagnostic) if self.head.is_some() => {
                    if self.noted.insert(diagnostic.clone()) {
                        warn_partial!(console, "{}", Plain(diagnostic));
                    }
                }
                Change::Broken(diagnostic) => {
                    warn_partial!(console, "{}", Plain(diagnostic));
                }
            }
        }
        if self.is_by_chunk() {
            for file in self.watch.files_of_several() {
                let file = Plain(file.display()).to_string();
                if self.noted.insert(file.clone()) {
                    warn_partial!(
                        console,
                        "{file}: several chunks are in it, and what is made chunk by chunk needs a piece \
                         of each; left out"
                    );
                }
            }
        }
        // What was said long ago may be said again.
        if self.noted.len() > MAX_NOTED {
            self.noted.clear();
        }
    }

    /// Says something of pieces, unless it was said.
    fn note_once(&mut self, is_warning: bool, text: String) {
        if self.noted.contains(&text) {
            return;
        }
        match is_warning {
            true => warning!("{text}"),
            false => note!(self.console, "{text}"),
        }
        self.noted.insert(text);
    }

    /// Shows the tables of what has been mapped; of pieces, of all that are there.
    fn show(&mut self, is_last: bool) -> anyhow::Result<()> {
        if self.head.is_some() && !self.is_by_chunk() && !self.watch.files_of_several().is_empty() {
            return self.show_whole();
        }
        let is_last = is_last || self.head.is_some();
        let mut changes = Vec::new();
        let options = self.metrics_options();
        let reports = self.watch.reports(&options, is_last, &mut changes);
        self.report(&changes);
        let mut all = reports.map_err(watch_error)?;
        self.choose(&mut all);
        self.publish(Some(&all), is_last)?;
        for report in &mut all {
            report.sort_and_limit(self.options);
        }
        if self.arguments.names.kinds.is_empty() {
            return Ok(());
        }
        let facts = self.watch.named_facts();
        if all.is_empty() || facts.is_empty() {
            note!(self.console, "no chunk has been mapped yet");
            return Ok(());
        }
        let recorded: Vec<Recorded<'_>> = facts.iter().map(|(name, facts)| facts.recorded(name)).collect();
        add_notes(&self.arguments.analyze, &mut all, &recorded, &[]);
        let at = self.head.and_then(|head| head.asked.times.at);
        style(&self.arguments.analyze).print(&all, at, facts.len(), self.console)
    }

    /// Leaves of the reports of pieces those that were asked for, in that order.
    fn choose(&self, all: &mut Vec<Report>) {
        if self.head.is_some() {
            let kinds = &self.arguments.names.kinds;
            let place = |report: &Report| kinds.iter().position(|kind| kind.name() == report.analysis);
            all.retain(|report| place(report).is_some());
            all.sort_by_key(place);
        }
    }

    /// Publishes the metrics; without reports, only if nothing has been published yet.
    fn publish(&self, reports: Option<&[Report]>, is_last: bool) -> anyhow::Result<()> {
        if reports.is_none() && !self.metrics.is_unpublished() {
            return Ok(());
        }
        let mut all: Vec<Family> = of_hosts(&self.watch.progress(is_last));
        all.extend(families(reports.unwrap_or_default()));
        all.extend(self.steps.iter().flat_map(Steps::families));
        self.metrics.show(&all)
    }
}

fn warn_unreadable(directory: &Path, why: &str, console: &Console) {
    warn_partial!(console, "{}: {}: it may have chunks", Plain(directory.display()), Plain(why));
}

/// Notes that there are no chunks yet.
fn note_missing_chunks(directories: &[PathBuf], console: &Console) {
    let watched: Vec<String> = directories.iter().map(|path| Plain(path.display()).to_string()).collect();
    note!(
        console,
        "no chunk of a rotated session is below {} yet; waiting for one. `lttng enable-rotation --timer 30s` \
         makes chunks of a session; traces that are not rotated are for `isochrone analyze`",
        watched.join(", ")
    );
}

/// Notices of the system on new chunks below some directories; where it gives none, chunks are searched for.
/// They come as long as the watcher is held.
fn notices(directories: &[PathBuf], console: &Console) -> (Receiver<()>, Option<notify::RecommendedWatcher>) {
    let (sender, notices) = channel();
    let handler = move |event: notify::Result<notify::Event>| {
        // The search itself opens directories, which is not news.
        let is_news = |kind: &EventKind| {
            !kind.is_access() || *kind == EventKind::Access(AccessKind::Close(AccessMode::Write))
        };
        // There is no receiver when this process ends.
        let _ = event.map(|event| is_news(&event.kind).then(|| sender.send(())));
    };
    let watcher = notify::recommended_watcher(handler).and_then(|mut watcher| {
        for directory in directories {
            watcher.watch(directory, RecursiveMode::Recursive)?;
        }
        Ok(watcher)
    });
    if let Err(error) = &watcher {
        note!(console, "the system does not report new chunks ({}); they are searched for", Plain(error));
    }
    (notices, watcher.ok())
}

/// Waits for a notice of the system, at most `longest`.
fn wait(notices: &Receiver<()>, longest: Duration, is_stopped: &AtomicBool) {
    let start = Instant::now();
    while start.elapsed() < longest && !is_stopped.load(Ordering::Relaxed) {
        let left = longest.saturating_sub(start.elapsed()).min(CHECK_INTERVAL);
        match notices.recv_timeout(left) {
            Ok(()) => {
                // A rotation moves many files: one search is enough for all notices.
                while notices.try_recv().is_ok() {}
                return;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(left),
        }
    }
}

/// Refuses options that need whole traces.
fn refuse(analyze: &Analyze) -> anyhow::Result<()> {
    let not_watched = analyze.given.iter().find(|option| !option.is_watched).map(|option| option.name);
    let of_lami = (analyze.format == TableFormat::Lami).then_some("--format lami");
    match not_watched.or(of_lami) {
        Some(option) => anyhow::bail!("{option} does not apply to watch: it needs whole traces"),
        None => Ok(()),
    }
}

/// An error with the names of hosts, which come from traces, escaped.
pub(super) fn watch_error(error: WatchError) -> anyhow::Error {
    match error {
        WatchError::Model(error @ ModelError::Uncorrected(_)) => {
            anyhow::anyhow!("--sync: {}", plain(&error.to_string()))
        }
        WatchError::Model(error) => model_error(error),
        other => anyhow::anyhow!("{}", Plain(other)),
    }
}
