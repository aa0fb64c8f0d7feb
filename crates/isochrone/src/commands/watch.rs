//! `isochrone watch`: analyses of rotated sessions, chunk by chunk as they are finished.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use isochrone_analysis::{AnalysisKind, Options, Report};
use isochrone_experiment::pieces::HostFacts;
use isochrone_experiment::{Change, HostProgress, ModelError, Spread, WatchError, Watched, read_corrections};
use isochrone_export::openmetrics::{CONTENT_TYPE, Family, Sample, families, text};
use isochrone_server::serve_metrics;
use notify::{RecursiveMode, Watcher as _};

use super::analyze::{Recorded, check_options, in_words, options, shown, with_notes};
use super::signals::stop_on_signals;
use super::{refuse_missing, writable};
use crate::ExitStatus;
use crate::arguments::{Analyze, Names, TableFormat, Watch};
use crate::output::tell;
use crate::render::plain::{Plain, plain};

/// How often it is seen whether somebody has asked this process to end.
const NOTICE: Duration = Duration::from_millis(200);

/// What figures are shown to, beside stdout.
struct Metrics {
    shared: Arc<Mutex<String>>,
    file: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Watch, quiet: bool) -> anyhow::Result<ExitStatus> {
    let Watch { names, analyze, .. } = arguments;
    let Names::Kinds(kinds) = names else {
        anyhow::bail!("states and phases are read from a store of whole traces, and cannot be watched");
    };
    anyhow::ensure!(
        !kinds.contains(&AnalysisKind::Usage),
        "usage divides the time between the first and the last event, and cannot be watched"
    );
    let chosen: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
    check_options(analyze, &chosen, quiet)?;
    refuse(analyze)?;
    refuse_missing(&analyze.traces)?;
    if let Some(file) = &arguments.metrics_file {
        writable(file.parent().unwrap_or(Path::new("")))?;
    }
    let corrections = analyze.clock.sync.as_deref().map(read_corrections).transpose()?;
    let mut options = options(analyze);
    options.filter.hosts.clone_from(&analyze.hosts);
    let watched = Watched {
        directories: analyze.traces.clone(),
        state: arguments.state.clone(),
        kinds,
        options: &options,
        corrections,
        patience: arguments.wait_missing,
        delete_after: arguments.delete_after,
        spread: Spread { threads: analyze.threads, pieces: None },
    };
    let is_stopped = stop_on_signals()?;
    let metrics = Metrics { shared: Arc::default(), file: arguments.metrics_file.clone() };
    let watch = isochrone_experiment::Watch::new(watched).map_err(error_in_words)?;
    if let Some(listen) = arguments.listen {
        let shared = Arc::clone(&metrics.shared);
        let current = move || shared.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let address = serve_metrics(listen, CONTENT_TYPE, current);
        let address = address.with_context(|| format!("cannot listen on {listen}"))?;
        if !quiet {
            tell!("note: figures are at {address}");
        }
    }
    let mut watching = Watching { arguments, options: &options, watch, metrics, quiet };
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
    metrics: Metrics,
    quiet: bool,
}

impl Watching<'_> {
    /// Maps what is there, and shows all of it.
    fn once(&mut self) -> anyhow::Result<ExitStatus> {
        let changes = self.watch.look(true).map_err(error_in_words)?;
        let (_, ending) = Self::told(&changes);
        self.show(true)?;
        Ok(ending)
    }

    /// Maps chunks as they come, and shows the tables whenever they have changed.
    fn until_stopped(&mut self, is_stopped: &AtomicBool) -> anyhow::Result<ExitStatus> {
        let (notices, _watcher) = self.notices();
        // What a journal holds is shown before anything new comes.
        let (mut is_new, mut ending) = (self.watch.facts().next().is_some(), ExitStatus::Done);
        while !is_stopped.load(Ordering::Relaxed) {
            let changes = self.watch.look(false).map_err(error_in_words)?;
            let (is_mapped, here) = Self::told(&changes);
            ending = ending.max(here);
            if is_mapped || is_new {
                self.show(false)?;
            } else {
                self.publish(&[])?;
            }
            is_new = false;
            wait(&notices, self.arguments.poll, is_stopped);
        }
        Ok(ending)
    }

    /// What tells of new chunks; nothing, where the system cannot: then they are looked for.
    fn notices(&self) -> (Receiver<()>, Option<notify::RecommendedWatcher>) {
        let (sender, notices) = channel();
        let told = move |event: notify::Result<notify::Event>| {
            // Nobody listens any more when this process ends.
            let _ = event.map(|_| sender.send(()));
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

    /// Says what a look brought. Whether a chunk was mapped, and whether something was lost.
    fn told(changes: &[Change]) -> (bool, ExitStatus) {
        let (mut is_mapped, mut ending) = (false, ExitStatus::Done);
        for change in changes {
            match change {
                Change::Mapped { .. } => is_mapped = true,
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
                Change::Broken(diagnostic) => {
                    tell!("warning: {}", Plain(diagnostic));
                    ending = ExitStatus::Partly;
                }
            }
        }
        (is_mapped, ending)
    }

    /// Shows the tables.
    fn show(&self, is_last: bool) -> anyhow::Result<()> {
        let mut all = self.watch.reports(self.options, is_last).map_err(error_in_words)?;
        self.publish(&all)?;
        if all.is_empty() {
            if !self.quiet {
                tell!("note: no chunk has been mapped yet");
            }
            return Ok(());
        }
        let facts: Vec<&HostFacts> = self.watch.facts().collect();
        let recorded: Vec<Recorded<'_>> = facts
            .iter()
            .map(|facts| Recorded {
                name: &facts.name,
                events: facts.events.iter().map(String::as_str).collect(),
            })
            .collect();
        with_notes(&self.arguments.analyze, &mut all, &recorded, &[]);
        shown(&self.arguments.analyze).print(&all, None, facts.len(), self.quiet)
    }

    /// Hands on the figures; without reports, those that were handed on before stay.
    fn publish(&self, reports: &[Report]) -> anyhow::Result<()> {
        let Metrics { shared, file } = &self.metrics;
        if reports.is_empty() && !shared.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
            return Ok(());
        }
        let mut all = own_families(&self.watch.progress());
        all.extend(families(reports));
        let shown = text(&all);
        if let Some(file) = file {
            replace(file, &shown).with_context(|| format!("cannot write {}", Plain(file.display())))?;
        }
        *shared.lock().unwrap_or_else(PoisonError::into_inner) = shown;
        Ok(())
    }
}

/// What makes a sample of a host with its labels.
type OfHost<'f> = &'f dyn Fn(&HostProgress, &[(&str, &str)]) -> Option<Sample>;

/// How far each host is, as figures.
fn own_families(progress: &[HostProgress]) -> Vec<Family> {
    let family = |name: &str, help: &str, is_counter, sample: OfHost<'_>| {
        let one = |host: &HostProgress| sample(host, &[("host", host.host.as_str())]);
        Family {
            name: format!("isochrone_watch_{name}"),
            help: help.to_owned(),
            is_counter,
            samples: progress.iter().filter_map(one).collect(),
        }
    };
    vec![
        family("chunks", "Chunks that were mapped", true, &|host, labels| {
            Some(Sample::count(labels, host.chunks))
        }),
        family("events", "Events in them", true, &|host, labels| Some(Sample::count(labels, host.events))),
        family("losses", "Times in which something is missing", true, &|host, labels| {
            Some(Sample::count(labels, host.losses))
        }),
        family("waiting", "Chunks that wait for others", false, &|host, labels| {
            Some(Sample::count(labels, host.waiting))
        }),
        family("watermark_seconds", "All before this Unix time is in the figures", false, &|host, labels| {
            host.watermark.map(|at| Sample::seconds(labels, at))
        }),
    ]
}

/// Writes a file whole or not at all: a collector may read it at any time.
fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let hidden = file.with_file_name(format!(".{name}.{}.unfinished", std::process::id()));
    fs::write(&hidden, text)?;
    fs::rename(hidden, file)
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
    let given = [
        ("--begin", analyze.begin.is_some()),
        ("--end", analyze.end.is_some()),
        ("--at", analyze.at.is_some()),
        ("--every", analyze.every.is_some()),
        ("--around", analyze.around),
        ("--bounds", analyze.bounds),
        ("--period", !analyze.periods.is_empty()),
        ("--chunks", analyze.chunks.is_some()),
        ("--format lami", analyze.format == TableFormat::Lami),
        ("--metadata", analyze.metadata),
        ("--mi-version", analyze.mi_version),
        ("--test-compatibility", analyze.test_compatibility),
        ("--output-progress", analyze.output_progress),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => anyhow::bail!("{option} does not apply to watch: it is of whole traces"),
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
