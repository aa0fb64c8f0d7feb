//! `isochrone watch`: analyses of rotated sessions, chunk by chunk as they are finished.

mod hand_over;
mod in_place;
mod lines;
mod metrics;
mod pieces;
mod share;
mod steps;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use isochrone_analysis::{AnalysisKind, Options, Recorded, Report};
use isochrone_experiment::{Change, ModelError, Retention, Spread, WatchError, Watched, read_corrections};
use isochrone_export::openmetrics::{CONTENT_TYPE, Family, families};
use isochrone_server::serve_metrics;
use notify::event::{AccessKind, AccessMode};
use notify::{EventKind, RecursiveMode, Watcher as _};

use super::analyze::{add_notes, check_options, model_error, options, style};
use super::signals::stop_on_signals;
use super::{check_output, refuse_missing};
use crate::arguments::{Analyze, TableFormat, Watch, WatchNames};
use crate::output::{Console, note, warn_partial, warning};
use crate::render::plain::{Plain, plain};
use metrics::{Metrics, make_directory, of_hosts};
use pieces::PieceWatch;
use steps::Steps;

/// Interval of checks whether this process was told to end.
const CHECK_INTERVAL: Duration = Duration::from_millis(200);

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
    let corrections = analyze.clock.sync.as_deref().map(read_corrections).transpose()?;
    let mut options = options(analyze);
    options.filter.hosts.clone_from(&analyze.hosts);
    let spread = Spread { threads: analyze.threads, pieces: None };
    let watched = Watched {
        directories: analyze.traces.clone(),
        state: arguments.state.clone(),
        kinds,
        options: &options,
        corrections,
        patience: arguments.wait_missing,
        retention: Retention { age: arguments.delete_after, bytes: arguments.delete_above },
        has_steps: !stepped.is_empty(),
        spread,
    };
    let is_stopped = stop_on_signals()?;
    let metrics = Metrics {
        file: arguments.metrics_file.clone(),
        backfill: arguments.backfill.clone(),
        ..Metrics::default()
    };
    let watch = isochrone_experiment::Watch::new(watched).map_err(watch_error)?;
    let steps = match stepped.as_slice() {
        [] => None,
        stepped => Some(Steps::new(&watch, stepped, &options, spread)?),
    };
    if let Some(listen) = arguments.listen {
        let shared = Arc::clone(&metrics.shared);
        let current = move || shared.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let address = serve_metrics(listen, CONTENT_TYPE, current);
        let address = address.with_context(|| format!("cannot listen on {listen}"))?;
        note!(console, "metrics are at {address}");
    }
    let of_pieces = PieceWatch { arguments, options: &options, metrics: &metrics, console };
    let mut watching = Watching {
        arguments,
        options: &options,
        watch,
        steps,
        metrics: &metrics,
        is_journal_kept: false,
        console,
    };
    let are_pieces = || pieces::are_there(&analyze.traces);
    if arguments.once {
        return if are_pieces() { of_pieces.once() } else { watching.once() };
    }
    let (notices, _watcher) = notices(&analyze.traces, console);
    if are_pieces() || watching.until_stopped(&notices, are_pieces, &is_stopped)? {
        return of_pieces.until_stopped(&notices, &is_stopped);
    }
    Ok(())
}

/// A watch, and its outputs.
struct Watching<'w> {
    arguments: &'w Watch,
    options: &'w Options,
    watch: isochrone_experiment::Watch<'w>,
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
    fn until_stopped(
        &mut self,
        notices: &Receiver<()>,
        are_pieces: impl Fn() -> bool,
        is_stopped: &AtomicBool,
    ) -> anyhow::Result<bool> {
        // The content of a journal is shown before anything new.
        let mut is_new = self.watch.facts().next().is_some();
        let mut is_reported = false;
        while !is_stopped.load(Ordering::Relaxed) {
            let is_mapped = self.map_chunks(false, is_stopped)?;
            if self.watch.is_empty() && are_pieces() {
                return Ok(true);
            }
            if self.watch.is_empty() && !std::mem::replace(&mut is_reported, true) {
                note_missing_chunks(&self.arguments.analyze.traces, self.console);
            }
            if is_mapped || is_new {
                self.show(false)?;
            } else {
                self.publish(None)?;
            }
            is_new = false;
            wait(notices, self.arguments.poll, is_stopped);
        }
        Ok(false)
    }

    /// Maps all chunks that can be mapped; returns whether there was one.
    fn map_chunks(&mut self, is_last: bool, is_stopped: &AtomicBool) -> anyhow::Result<bool> {
        let mut changes = self.watch.find().map_err(watch_error)?;
        if !std::mem::replace(&mut self.is_journal_kept, true) {
            self.keep_all()?;
        }
        let mut is_mapped = false;
        while !is_stopped.load(Ordering::Relaxed) {
            let host = self.watch.advance(is_last, &mut changes).map_err(watch_error)?;
            self.report(&changes);
            changes.clear();
            let Some(id) = host else { break };
            is_mapped = true;
            self.keep(&id)?;
            self.step(is_last)?;
        }
        Ok(is_mapped)
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
            let reports =
                self.watch.reports_of(Some(&id), &self.metrics_options(), true).map_err(watch_error)?;
            self.metrics.keep_last(&name, end, &reports)?;
        }
        Ok(())
    }

    /// Keeps the metrics of a host.
    fn keep(&self, id: &str) -> anyhow::Result<()> {
        if self.metrics.backfill.is_none() {
            return Ok(());
        }
        let reports = self.watch.reports_of(Some(id), &self.metrics_options(), false).map_err(watch_error)?;
        let progress = self.watch.progress().into_iter().find(|progress| progress.id == id);
        progress.map_or(Ok(()), |progress| self.metrics.keep_host(&progress, &reports))
    }

    /// Reports what happened.
    fn report(&self, changes: &[Change]) {
        let console = self.console;
        for change in changes {
            match change {
                Change::Mapped { .. } => {}
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
                Change::Refused { chunk, why } => {
                    warn_partial!(console, "{}: {}; left out", Plain(chunk.display()), Plain(why));
                }
                Change::Unreadable { directory, why } => warn_unreadable(directory, why, console),
                Change::Broken(diagnostic) => {
                    warn_partial!(console, "{}", Plain(diagnostic));
                }
            }
        }
    }

    /// Shows the tables of what has been mapped.
    fn show(&self, is_last: bool) -> anyhow::Result<()> {
        let mut all = self.watch.reports(&self.metrics_options(), is_last).map_err(watch_error)?;
        self.publish(Some(&all))?;
        for report in &mut all {
            report.sort_and_limit(self.options);
        }
        if self.arguments.names.kinds.is_empty() {
            return Ok(());
        }
        if all.is_empty() {
            note!(self.console, "no chunk has been mapped yet");
            return Ok(());
        }
        let facts = self.watch.named_facts();
        let recorded: Vec<Recorded<'_>> = facts.iter().map(|(name, facts)| facts.recorded(name)).collect();
        add_notes(&self.arguments.analyze, &mut all, &recorded, &[]);
        style(&self.arguments.analyze).print(&all, None, facts.len(), self.console)
    }

    /// Publishes the metrics; without reports, only if nothing has been published yet.
    fn publish(&self, reports: Option<&[Report]>) -> anyhow::Result<()> {
        if reports.is_none() && !self.metrics.is_unpublished() {
            return Ok(());
        }
        let mut all: Vec<Family> = of_hosts(&self.watch.progress());
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
