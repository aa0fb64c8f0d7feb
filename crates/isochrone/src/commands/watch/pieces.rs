//! `isochrone watch` of mapped pieces: whenever some have come, the tables and metrics of all of them so far.
//!
//! Pieces come in any order, late, twice, or never. Nothing is kept beside them: the figures are those of
//! `isochrone analyze` of all pieces that are there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::SystemTime;

use isochrone_analysis::{AnalysisSet, Options};
use isochrone_experiment::{HostProgress, ModelledHost, Opened, Question, Spread, TimeBase, reports};
use isochrone_export::openmetrics::{Family, families};
use isochrone_files::InputTrace;
use isochrone_files::piece::{PieceFile, Section, is_chunks};
use isochrone_timing::{TimedHost, recorded};

use super::metrics::{Metrics, of_hosts};
use super::wait;
use crate::arguments::{Decides, Watch};
use crate::commands::analyze::{add_notes, style};
use crate::commands::pieces::refuse;
use crate::commands::{answers, chunks, host_selection, open};
use crate::output::{Console, note, warn_partial, warning};
use crate::render::plain::{Plain, PlainLines};

/// Deeper directories are not looked into.
const MAX_DEPTH: usize = 12;

/// A version of a file: another one has another length or time.
type Version = (u64, Option<SystemTime>);

/// The pieces that have come.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    /// What each file is; `None`: it cannot be read as a piece, and may still be written to.
    files: BTreeMap<PathBuf, (Version, Option<Identity>)>,
    /// Versions that were reported as damaged.
    reported: BTreeSet<(PathBuf, u64)>,
}

/// What distinguishes a file from others: the identities of its sections. Files of one identity have the
/// same content.
type Identity = Vec<(u32, u32, u64, u64)>;

fn version(metadata: &Metadata) -> Version {
    (metadata.len(), metadata.modified().ok())
}

impl Pieces {
    /// Looks for pieces below some directories; returns whether the set of them has changed. `is_last`: no
    /// more will come, so that what cannot be read is reported at once. Reads the heads of files that are new.
    pub(super) fn find(&mut self, directories: &[PathBuf], is_last: bool, console: &Console) -> bool {
        let found = found(directories);
        let before = self.used();
        let old = std::mem::take(&mut self.files);
        for (path, version) in found {
            let known = old.get(&path).filter(|(known, _)| *known == version);
            let identity = match known {
                Some((_, Some(identity))) => Some(identity.clone()),
                _ => match PieceFile::open(&path) {
                    Ok(file) => Some(file.sections.iter().map(Section::identity).collect()),
                    Err(error) => {
                        // It may be on its way: one that does not grow any more is damaged.
                        let is_still = known.is_some() || is_last;
                        if is_still && self.reported.insert((path.clone(), version.0)) {
                            warn_partial!(console, "{}; left out", Plain(&error));
                        }
                        None
                    }
                },
            };
            self.files.insert(path, (version, identity));
        }
        self.used() != before
    }

    /// The files to read: each content once.
    pub(super) fn used(&self) -> Vec<PathBuf> {
        let mut seen = BTreeSet::new();
        let known = self.files.iter().filter_map(|(path, (_, identity))| Some((path, identity.as_ref()?)));
        known.filter(|(_, identity)| seen.insert(*identity)).map(|(path, _)| path.clone()).collect()
    }
}

/// The files of mapped chunks at and below some directories.
fn found(directories: &[PathBuf]) -> BTreeMap<PathBuf, Version> {
    let mut found = BTreeMap::new();
    for directory in directories {
        look(directory, 0, &mut found);
    }
    found
}

/// Finds the files of mapped chunks at and below a directory. Hidden ones are on their way.
fn look(directory: &Path, depth: usize, found: &mut BTreeMap<PathBuf, Version>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if kind.is_dir() && depth < MAX_DEPTH {
            look(&path, depth + 1, found);
        } else if kind.is_file() && is_chunks(&path) {
            found.extend(entry.metadata().ok().map(|it| (path, version(&it))));
        }
    }
}

/// Whether there are pieces below some directories.
pub(super) fn are_there(directories: &[PathBuf]) -> bool {
    !found(directories).is_empty()
}

/// What is watched, and where the figures go.
pub(super) struct PieceWatch<'w> {
    pub(super) arguments: &'w Watch,
    pub(super) options: &'w Options,
    pub(super) metrics: &'w Metrics,
    pub(super) console: &'w Console,
}

impl PieceWatch<'_> {
    /// Refuses what pieces cannot answer, in words that say what can.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        let Watch { names, state, backfill, .. } = self.arguments;
        if let Some(stepped) = names.stepped.first() {
            let name = stepped.name();
            anyhow::bail!(
                "{name}: steps of time are made of chunks, and these are mapped pieces: `isochrone {name}` \
                 of the pieces answers for all of their time"
            );
        }
        anyhow::ensure!(state.is_none(), "--state does not apply to pieces: nothing is kept beside them");
        anyhow::ensure!(backfill.is_none(), "--backfill does not apply to pieces");
        Ok(())
    }

    /// Shows what all pieces that are there come to.
    pub(super) fn once(&self) -> anyhow::Result<()> {
        self.check()?;
        let mut pieces = Pieces::default();
        pieces.find(&self.arguments.analyze.traces, true, self.console);
        self.show(&pieces.used(), &mut BTreeSet::new())
    }

    /// Shows what all pieces so far come to, whenever some have come, until the process is to end.
    pub(super) fn until_stopped(
        &self,
        notices: &Receiver<()>,
        is_stopped: &AtomicBool,
    ) -> anyhow::Result<()> {
        self.check()?;
        let (mut pieces, mut noted) = (Pieces::default(), BTreeSet::new());
        while !is_stopped.load(Ordering::Relaxed) {
            if pieces.find(&self.arguments.analyze.traces, false, self.console)
                && let Err(error) = self.show(&pieces.used(), &mut noted)
            {
                // The next pieces may be others; what was published stays.
                warn_partial!(self.console, "{}", PlainLines(format_args!("{error:#}")));
            }
            wait(notices, self.arguments.poll, is_stopped);
        }
        Ok(())
    }

    /// Reads files, publishes their metrics, and shows their tables. `noted`: what was said of them before.
    fn show(&self, files: &[PathBuf], noted: &mut BTreeSet<String>) -> anyhow::Result<()> {
        let Self { arguments: Watch { analyze, names, .. }, console, .. } = self;
        let Some(head) = chunks::head(files)? else { return Ok(()) };
        let kinds = chunks::mapped_kinds(&names.kinds, &head)?;
        let base = match chunks::base(analyze, &head.asked)? {
            // Each host is on its own clock, as it is when chunks are watched.
            TimeBase::Usual => TimeBase::Own,
            other => other,
        };
        let opened = open(files, base, &console.silenced())?;
        let experiment = opened.experiment();
        for (is_warning, text) in chunks::findings(&experiment) {
            if noted.insert(text.clone()) {
                match is_warning {
                    true => warning!("{text}"),
                    false => note!(console, "{text}"),
                }
            }
        }
        let quiet = console.silenced();
        let consequence = host_selection::NOT_COMPARABLE;
        let hosts = host_selection::choose(&opened, &experiment, &analyze.hosts, consequence, &quiet)?;
        let asked = Options { top: None, ..self.options.clone() };
        let options = match head.has_spans {
            true => asked,
            false => {
                refuse("mapped pieces", analyze, Decides::Kept)?;
                head.asked.options.with_tables_of(&asked)
            }
        };
        let spread = Spread { threads: analyze.threads, pieces: None };
        let question = Question { kinds, options: &options, times: head.asked.times, periods: None };
        let modelled = answers::modelled(&question, &hosts, spread, &quiet)?;
        let mut all = reports(&modelled, &options, spread);
        all.retain(|report| names.kinds.iter().any(|kind| kind.name() == report.analysis));
        all.sort_by_key(|report| names.kinds.iter().position(|kind| kind.name() == report.analysis));
        let progress: Vec<HostProgress> =
            hosts.iter().zip(&modelled).filter_map(|(host, model)| progress(&opened, host, model)).collect();
        let published: Vec<Family> = of_hosts(&progress).into_iter().chain(families(&all)).collect();
        self.metrics.show(&published)?;
        for report in &mut all {
            report.sort_and_limit(self.options);
        }
        add_notes(analyze, &mut all, &recorded(&hosts), &[]);
        style(analyze).print(&all, head.asked.times.at, hosts.len(), console)
    }
}

/// The directory of the chunk that a trace was in.
fn chunk_of(input: &InputTrace) -> Option<&Path> {
    input.path().ancestors().nth(input.inner.components().count())
}

/// How much of a host has come.
fn progress(
    opened: &Opened,
    host: &TimedHost<'_>,
    model: &ModelledHost<'_, AnalysisSet>,
) -> Option<HostProgress> {
    let traces = host.traced.trace_indices.iter().filter_map(|&index| opened.inputs().traces.get(index));
    let chunks: BTreeSet<&Path> = traces.filter_map(chunk_of).collect();
    let timing = host.timing?;
    Some(HostProgress {
        id: host.traced.id.clone(),
        host: host.name().to_owned(),
        chunks: chunks.len() as u64,
        waiting: 0,
        events: model.report.events,
        losses: model.report.losses,
        watermark: host.traced.extent().map(|(_, end)| timing.unix(end)),
    })
}
