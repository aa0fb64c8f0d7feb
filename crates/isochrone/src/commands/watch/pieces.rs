//! What is otherwise where `isochrone watch` gets mapped pieces in place of chunks: which analyses, options
//! and corrections these have, and the tables of files that hold several chunks.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use isochrone_analysis::{AnalysisKind, AnalysisSet, Options};
use isochrone_corrections::Clocks;
use isochrone_experiment::chunks::ChunkHead;
use isochrone_experiment::{
    HostProgress, ModelledHost, Opened, Question, Spread, TimeBase, head_of_pieces, read_corrections, reports,
};
use isochrone_export::openmetrics::{Family, families};
use isochrone_files::InputTrace;
use isochrone_timing::{TimedHost, Times, recorded};

use super::Watching;
use super::metrics::of_hosts;
use crate::arguments::{Decides, Watch};
use crate::commands::analysis::{add_notes, options as given_options, refuse, style};
use crate::commands::{answers, chunks, host_selection, open};
use crate::output::{Console, warn_partial};
use crate::render::complaints;
use crate::render::plain::Plain;

/// What the pieces were mapped for that are there, and the file that says so; `None`: there are none.
pub(super) fn head(arguments: &Watch, console: &Console) -> Option<(ChunkHead, PathBuf)> {
    match head_of_pieces(&arguments.analyze.traces) {
        Ok(head) => head,
        Err(errors) => {
            // They may be on their way.
            for error in errors.iter().filter(|_| arguments.once) {
                warn_partial!(console, "{}; left out", Plain(error));
            }
            None
        }
    }
}

/// The options of the analyses: those that pieces were mapped with decide what is kept.
pub(super) fn options(arguments: &Watch, head: Option<&(ChunkHead, PathBuf)>) -> anyhow::Result<Options> {
    let analyze = &arguments.analyze;
    let mut options = given_options(analyze);
    options.filter.hosts.clone_from(&analyze.hosts);
    match of_analyses(head) {
        None => Ok(options),
        Some(head) => {
            refuse("mapped pieces", analyze, Decides::Kept)?;
            Ok(head.asked.options.with_tables_of(&options))
        }
    }
}

/// The analyses that are mapped for those that were asked for.
pub(super) fn kinds<'a>(
    arguments: &'a Watch,
    head: Option<&'a (ChunkHead, PathBuf)>,
) -> anyhow::Result<&'a [AnalysisKind]> {
    let names = &arguments.names;
    if let (Some(_), Some(stepped)) = (of_analyses(head), names.stepped.first()) {
        anyhow::bail!(
            "{}: steps are made of all spans, and these pieces were mapped for analyses: map `spans`",
            stepped.name()
        );
    }
    head.map_or(Ok(&names.kinds), |(head, _)| chunks::mapped_kinds(&names.kinds, head))
}

/// The corrections of the clocks: those that were given, or, where times were asked for, those that pieces
/// were mapped with.
pub(super) fn corrections(
    arguments: &Watch,
    head: Option<&(ChunkHead, PathBuf)>,
) -> anyhow::Result<Option<(Clocks, String)>> {
    let analyze = &arguments.analyze;
    match of_analyses(head).filter(|head| head.asked.times != Times::default()) {
        Some(head) => match (chunks::base(analyze, &head.asked)?, &head.asked.corrections) {
            (TimeBase::Kept(clocks), Some(text)) => Ok(Some((clocks, text.clone()))),
            _ => Ok(None),
        },
        None => Ok(analyze.clock.sync.as_deref().map(read_corrections).transpose()?),
    }
}

fn of_analyses(head: Option<&(ChunkHead, PathBuf)>) -> Option<&ChunkHead> {
    head.map(|(head, _)| head).filter(|head| !head.has_spans)
}

impl Watching<'_> {
    /// Reads all pieces, some of which hold several chunks; publishes their metrics, and shows their tables.
    pub(super) fn show_whole(&mut self) -> anyhow::Result<()> {
        let Some(head) = self.head else { return Ok(()) };
        let Watch { analyze, names, .. } = self.arguments;
        let kinds = chunks::mapped_kinds(&names.kinds, head)?;
        let base = match chunks::base(analyze, &head.asked)? {
            // Each host is on its own clock, as it is when chunks are watched.
            TimeBase::Usual => TimeBase::Own,
            other => other,
        };
        let quiet = self.console.silenced();
        let opened = open(&self.files, base, &quiet)?;
        let experiment = opened.experiment();
        for (is_warning, text) in complaints::unknown_times(&experiment, experiment.hosts()) {
            self.note_once(is_warning, text);
        }
        let consequence = host_selection::NOT_COMPARABLE;
        let hosts = host_selection::choose(&opened, &experiment, &analyze.hosts, consequence, &quiet)?;
        let options = self.metrics_options();
        let spread = Spread { threads: analyze.threads, pieces: None };
        let question = Question { kinds, options: &options, times: head.asked.times, periods: None };
        let modelled = answers::modelled(&question, &hosts, spread, &quiet)?;
        let mut all = reports(&modelled, &options, spread);
        self.choose(&mut all);
        let progress: Vec<HostProgress> =
            hosts.iter().zip(&modelled).filter_map(|(host, model)| progress(&opened, host, model)).collect();
        let published: Vec<Family> = of_hosts(&progress).into_iter().chain(families(&all)).collect();
        self.metrics.show(&published)?;
        for report in &mut all {
            report.sort_and_limit(self.options);
        }
        add_notes(analyze, &mut all, &recorded(&hosts), &[]);
        style(analyze).print(&all, head.asked.times.at, hosts.len(), self.console)
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
