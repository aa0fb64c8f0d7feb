//! `isochrone watch`: analyses of rotated sessions, chunk by chunk as they are finished.

mod figures;
mod steps;

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

use super::analyze::{check_options, in_words, options, shown, with_notes};
use super::signals::stop_on_signals;
use super::{check_output, refuse_missing};
use crate::ExitStatus;
use crate::arguments::{Analyze, TableFormat, Watch, WatchNames};
use crate::output::tell;
use crate::render::plain::{Plain, plain};
use figures::{Figures, make_directory, of_hosts};
use steps::Steps;

/// How often it is seen whether somebody has asked this process to end.
const NOTICE: Duration = Duration::from_millis(200);

pub(crate) fn run(arguments: &Watch, quiet: bool) -> anyhow::Result<ExitStatus> {
    let Watch { names: WatchNames { kinds, stepped }, analyze, .. } = arguments;
    anyhow::ensure!(
        !kinds.contains(&AnalysisKind::Usage),
        "usage divides the time between the first and the last event, and cannot be watched"
    );
    let kinds_named = kinds.iter().map(|kind| kind.name());
    let chosen: Vec<&str> = kinds_named.chain(stepped.iter().map(|it| it.name())).collect();
    check_options(analyze, &chosen, quiet)?;
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
    let figures = Figures {
        file: arguments.metrics_file.clone(),
        backfill: arguments.backfill.clone(),
        ..Figures::default()
    };
    let watch = isochrone_experiment::Watch::new(watched).map_err(error_in_words)?;
    let steps = match stepped.as_slice() {
        [] => None,
        stepped => Some(Steps::new(&watch, (stepped, &options, spread), quiet)?),
    };
    if let Some(listen) = arguments.listen {
        let shared = Arc::clone(&figures.shared);
        let current = move || shared.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let address = serve_metrics(listen, CONTENT_TYPE, current);
        let address = address.with_context(|| format!("cannot listen on {listen}"))?;
        if !quiet {
            tell!("note: figures are at {address}");
        }
    }
    let mut watching =
        Watching { arguments, options: &options, watch, steps, figures, is_known_kept: false, quiet };
    match arguments.once {
        true => watching.once(),
        false => watching.until_stopped(&is_stopped),
    }
}

/// A watch, and to whom it is shown.
struct Watching<'w> {
    arguments: &'w Watch,
    options: &'w Options,
    watch: isochrone_experiment::Watch<'w>,
    /// Where something is asked that needs them.
    steps: Option<Steps<'w>>,
    figures: Figures,
    /// Whether what the journal held has been written to where figures are kept.
    is_known_kept: bool,
    quiet: bool,
}

impl Watching<'_> {
    /// Maps what is there, and shows all of it.
    fn once(&mut self) -> anyhow::Result<ExitStatus> {
        let (_, ending) = self.look(true, &AtomicBool::new(false))?;
        let ending = ending.max(self.step(true)?);
        self.keep_last()?;
        self.show(true)?;
        Ok(ending)
    }

    /// Maps chunks as they come, and shows the tables whenever they have changed.
    fn until_stopped(&mut self, is_stopped: &AtomicBool) -> anyhow::Result<ExitStatus> {
        let (notices, _watcher) = self.notices();
        // What a journal holds is shown before anything new comes.
        let (mut is_new, mut ending) = (self.watch.facts().next().is_some(), ExitStatus::Done);
        let mut is_said = false;
        while !is_stopped.load(Ordering::Relaxed) {
            let (is_mapped, here) = self.look(false, is_stopped)?;
            ending = ending.max(here);
            if self.watch.is_empty() && !std::mem::replace(&mut is_said, true) && !self.quiet {
                self.tell_what_it_waits_for();
            }
            if is_mapped || is_new {
                self.show(false)?;
            } else {
                self.publish(None)?;
            }
            is_new = false;
            wait(&notices, self.arguments.poll, is_stopped);
        }
        Ok(ending)
    }

    /// Says what is missing where nothing can be mapped.
    fn tell_what_it_waits_for(&self) {
        let watched: Vec<String> =
            self.arguments.analyze.traces.iter().map(|path| Plain(path.display()).to_string()).collect();
        tell!(
            "note: no chunk of a rotated session is below {} yet; it is waited for. `lttng enable-rotation --timer 30s` makes chunks of a session; traces that are not rotated are for `isochrone analyze`",
            watched.join(", ")
        );
    }

    /// Maps all chunks that can be, one after the other. Whether there was one, and whether something was lost.
    fn look(&mut self, is_last: bool, is_stopped: &AtomicBool) -> anyhow::Result<(bool, ExitStatus)> {
        let mut changes = self.watch.find().map_err(error_in_words)?;
        if !std::mem::replace(&mut self.is_known_kept, true) {
            self.keep_known()?;
        }
        let (mut is_mapped, mut ending) = (false, ExitStatus::Done);
        while !is_stopped.load(Ordering::Relaxed) {
            let host = self.watch.advance(is_last, &mut changes).map_err(error_in_words)?;
            ending = ending.max(Self::told(&changes));
            changes.clear();
            let Some(id) = host else { break };
            is_mapped = true;
            self.keep(&id)?;
            ending = ending.max(self.step(is_last)?);
        }
        Ok((is_mapped, ending))
    }

    /// What of tables becomes figures: all rows, unless somebody has said how many.
    fn of_figures(&self) -> Options {
        Options { top: None, ..self.options.clone() }
    }

    /// Makes the steps that can be made.
    fn step(&mut self, is_last: bool) -> anyhow::Result<ExitStatus> {
        let Self { arguments, watch, steps, figures, quiet, .. } = self;
        let Some(steps) = steps else { return Ok(ExitStatus::Done) };
        steps.make(watch, is_last, figures, |reports, hosts| {
            shown(&arguments.analyze).print(&reports, None, hosts, *quiet)
        })
    }

    /// Writes what is known of all hosts to where figures are kept: a process that was killed may not have come to that.
    fn keep_known(&self) -> anyhow::Result<()> {
        let hosts: Vec<String> = self.watch.facts().map(|facts| facts.id.clone()).collect();
        hosts.iter().try_for_each(|id| self.keep(id))
    }

    /// Writes what is known of all hosts, to their last event, to where figures are kept.
    fn keep_last(&self) -> anyhow::Result<()> {
        if self.figures.backfill.is_none() {
            return Ok(());
        }
        for (id, name, end) in self.watch.ends() {
            let reports =
                self.watch.reports_of(Some(&id), &self.of_figures(), true).map_err(error_in_words)?;
            self.figures.keep_last(&name, end, &reports)?;
        }
        Ok(())
    }

    /// Writes what is known of a host to where figures are kept.
    fn keep(&self, id: &str) -> anyhow::Result<()> {
        if self.figures.backfill.is_none() {
            return Ok(());
        }
        let reports = self.watch.reports_of(Some(id), &self.of_figures(), false).map_err(error_in_words)?;
        let progress = self.watch.progress().into_iter().find(|progress| progress.id == id);
        progress.map_or(Ok(()), |progress| self.figures.keep_host(&progress, &reports))
    }

    /// What tells of new chunks; nothing, where the system cannot: then they are looked for.
    fn notices(&self) -> (Receiver<()>, Option<notify::RecommendedWatcher>) {
        let (sender, notices) = channel();
        let told = move |event: notify::Result<notify::Event>| {
            // A look opens directories itself, which is no reason for another one.
            let is_news = |kind: &EventKind| {
                !kind.is_access() || *kind == EventKind::Access(AccessKind::Close(AccessMode::Write))
            };
            // Nobody listens any more when this process ends.
            let _ = event.map(|event| is_news(&event.kind).then(|| sender.send(())));
        };
        let watcher = notify::recommended_watcher(told).and_then(|mut watcher| {
            for directory in &self.arguments.analyze.traces {
                watcher.watch(directory, RecursiveMode::Recursive)?;
            }
            Ok(watcher)
        });
        if let Err(error) = &watcher
            && !self.quiet
        {
            tell!("note: the system does not tell of new chunks ({}); they are looked for", Plain(error));
        }
        (notices, watcher.ok())
    }

    /// Says what happened. Whether something was lost.
    fn told(changes: &[Change]) -> ExitStatus {
        let mut ending = ExitStatus::Done;
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
                    tell!("warning: {session}: {which} missing: what happened then is unknown");
                }
                Change::Late(chunk) => {
                    tell!(
                        "warning: {}: came when it was taken for missing; left out",
                        Plain(chunk.display())
                    );
                    ending = ExitStatus::Partly;
                }
                Change::Refused { chunk, why } => {
                    tell!("warning: {}: {}; left out", Plain(chunk.display()), Plain(why));
                    ending = ExitStatus::Partly;
                }
                Change::Unreadable { directory, why } => {
                    tell!("warning: {}: {}: chunks may be in it", Plain(directory.display()), Plain(why));
                    ending = ExitStatus::Partly;
                }
                Change::Broken(diagnostic) => {
                    tell!("warning: {}", Plain(diagnostic));
                    ending = ExitStatus::Partly;
                }
            }
        }
        ending
    }

    /// Shows the tables of what has been mapped.
    fn show(&self, is_last: bool) -> anyhow::Result<()> {
        let mut all = self.watch.reports(&self.of_figures(), is_last).map_err(error_in_words)?;
        self.publish(Some(&all))?;
        for report in &mut all {
            report.arrange(self.options);
        }
        if self.arguments.names.kinds.is_empty() {
            return Ok(());
        }
        if all.is_empty() {
            if !self.quiet {
                tell!("note: no chunk has been mapped yet");
            }
            return Ok(());
        }
        let facts = self.watch.named_facts();
        let recorded: Vec<Recorded<'_>> = facts.iter().map(|(name, facts)| facts.recorded(name)).collect();
        with_notes(&self.arguments.analyze, &mut all, &recorded, &[]);
        shown(&self.arguments.analyze).print(&all, None, facts.len(), self.quiet)
    }

    /// Hands on the figures; without reports, those that were handed on before stay.
    fn publish(&self, reports: Option<&[Report]>) -> anyhow::Result<()> {
        if reports.is_none() && !self.figures.are_new() {
            return Ok(());
        }
        let mut all: Vec<Family> = of_hosts(&self.watch.progress());
        all.extend(families(reports.unwrap_or_default()));
        all.extend(self.steps.iter().flat_map(Steps::families));
        self.figures.show(&all)
    }
}

/// Waits until the system tells of something, or for so long.
fn wait(notices: &Receiver<()>, longest: Duration, is_stopped: &AtomicBool) {
    let begin = Instant::now();
    while begin.elapsed() < longest && !is_stopped.load(Ordering::Relaxed) {
        let left = longest.saturating_sub(begin.elapsed()).min(NOTICE);
        match notices.recv_timeout(left) {
            Ok(()) => {
                // A rotation moves many files: one look is enough for all that has been told.
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
        Some(option) => anyhow::bail!("{option} does not apply to watch: it is of whole traces"),
        None => Ok(()),
    }
}

/// Names of hosts come from traces.
fn error_in_words(error: WatchError) -> anyhow::Error {
    match error {
        WatchError::Model(error @ ModelError::Uncorrected(_)) => {
            anyhow::anyhow!("--sync: {}", plain(&error.to_string()))
        }
        WatchError::Model(error) => in_words(error),
        other => anyhow::anyhow!("{}", Plain(other)),
    }
}
