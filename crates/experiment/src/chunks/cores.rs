//! The cores in files of mapped chunks, as pieces of hosts.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use isochrone_files::Inputs;
use isochrone_files::piece::{Kind, PieceError, PieceFile, Section};
use isochrone_hosts::{Host, ReadReport};
use isochrone_kernel::{PartialState, WithThreads};
use isochrone_pipeline::{Border, Difference, Piece, PieceModel, Plan, SpanLog, program_losses};
use isochrone_time::{RawNs, UnixNs, Window};
use isochrone_timing::Timing;

use super::{CORE, ChunkHead, CoreHead, MODEL, check_version, head_of};
use crate::model::Model;
use crate::pieces::Held;

/// What mapped chunks hold of hosts.
#[derive(Debug, Default)]
pub struct Chunks {
    files: Vec<PieceFile>,
    head: Option<ChunkHead>,
    /// By the ids of hosts, in the order of time.
    cores: BTreeMap<String, Vec<Core>>,
    /// Why they cannot be used.
    error: Option<String>,
}

/// A time of a host of mapped chunks of which nothing is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownTime {
    /// The host's name.
    pub host: String,
    /// From when to when, on the host's own clock.
    pub window: Window<UnixNs>,
    /// The file of the core that cannot be used, and why; `None`: a chunk is missing.
    pub why: Option<(PathBuf, Misfit)>,
}

/// Why a core cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// Other chunks show something else of its time.
    #[error(transparent)]
    Differs(Difference),
    /// Its host is cut there.
    #[error("the chunks of another session begin in its time")]
    Cut,
}

/// Whether two windows have a time in common.
fn overlap(one: Window<RawNs>, other: Window<RawNs>) -> bool {
    one.start < other.end && other.start < one.end
}

/// A core in a file.
#[derive(Debug, Clone)]
pub struct Core {
    /// What it is known by.
    pub head: CoreHead,
    file: usize,
    section: Section,
    /// Whether another one of its host is of the same time.
    is_double: bool,
}

impl Core {
    /// In what way it does not fit what the other chunks show of its host.
    fn difference(&self, host: &Host<'_>) -> Option<Difference> {
        let double = self.is_double.then_some(Difference::Streams);
        double.or_else(|| self.head.around.difference(host, self.head.window))
    }
}

/// Marks those of some cores, sorted by start, that overlap others.
fn mark_doubles(cores: &mut [Core]) {
    // Of those before, the one that ends last.
    let mut last = 0;
    for index in 1..cores.len() {
        let (window, before) = (cores[index].head.window, cores[last].head.window);
        if window.start < before.end {
            (cores[index].is_double, cores[last].is_double) = (true, true);
        }
        if window.end > before.end {
            last = index;
        }
    }
}

impl Chunks {
    /// Those of some inputs. The models are not read.
    pub fn of(inputs: &Inputs) -> Self {
        let mut all = Self { files: inputs.pieces.clone(), ..Self::default() };
        for (number, file) in inputs.pieces.iter().enumerate() {
            if let Err(error) = all.add(number, file) {
                all.error.get_or_insert(error);
            }
        }
        for cores in all.cores.values_mut() {
            let newest = |core: &Core| Reverse(core.head.model);
            cores.sort_by_key(|core| (core.head.window.start, core.head.window.end, newest(core)));
            // One that was merged into several files is one, and so is one that was mapped again.
            cores.dedup_by(|a, b| a.head.window == b.head.window && a.head.around == b.head.around);
            mark_doubles(cores);
        }
        all
    }

    fn add(&mut self, number: usize, file: &PieceFile) -> Result<(), String> {
        let head = head_of(file).map_err(|error| error.to_string())?;
        if let Some(what) = self.head.as_ref().and_then(|known| known.difference(&head)) {
            let first = self.files.first().map_or(file, |first| first);
            return Err(format!("{} and {} were mapped {what}", first.path.display(), file.path.display()));
        }
        self.head.get_or_insert(head);
        for section in file.of_kind(Kind::Core) {
            let core = core_of(file, number, section).map_err(|error| error.to_string())?;
            self.cores.entry(core.head.host.clone()).or_default().push(core);
        }
        Ok(())
    }

    /// What they were mapped for; `None` where there are none.
    pub fn head(&self) -> Option<&ChunkHead> {
        self.head.as_ref()
    }

    /// Why they cannot be used.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Those of a host, in the order of time.
    pub fn of_host(&self, id: &str) -> &[Core] {
        self.cores.get(id).map_or(&[], Vec::as_slice)
    }

    /// Cores of a host that do not fit what the other chunks show of it: their time is unknown.
    pub fn unfit<'c>(&'c self, host: &'c Host<'_>) -> impl Iterator<Item = (&'c Core, Difference)> {
        let cores = self.of_host(&host.id).iter();
        cores.filter_map(|core| Some((core, core.difference(host)?)))
    }

    /// The times in a piece of a host of which nothing is known: where a chunk is missing, and where a core
    /// cannot be used.
    pub fn unknown(&self, host: &Host<'_>, piece: Piece) -> Vec<UnknownTime> {
        let own = Timing::Own { offset_ns: host.offset_ns };
        let time = |window: Window<RawNs>, why| UnknownTime {
            host: host.name.clone(),
            window: Window::new(own.unix(window.start), own.unix(window.end)),
            why,
        };
        let gaps = host.gaps().iter().filter(|gap| overlap(**gap, piece.window()));
        let gaps = gaps.map(|gap| time(*gap, None));
        let near = self.of_host(&host.id).iter().filter(|core| overlap(core.head.window, piece.window()));
        let misfit = |core: &Core| {
            let window = core.head.window;
            let is_whole = piece.from <= Border::At(window.start) && Border::At(window.end) <= piece.to;
            match core.difference(host) {
                Some(difference) => Some(Misfit::Differs(difference)),
                None => (!is_whole).then_some(Misfit::Cut),
            }
        };
        let unfit = near.filter_map(|core| {
            let why = (self.file_of(core).path.clone(), misfit(core)?);
            Some(time(core.head.window, Some(why)))
        });
        gaps.chain(unfit).collect()
    }

    /// The files with models of earlier versions, which have flushes of disks apart from their ends.
    pub fn earlier(&self) -> BTreeSet<&Path> {
        let earlier = self.cores.values().flatten().filter(|core| core.head.model < MODEL);
        earlier.map(|core| self.file_of(core).path.as_path()).collect()
    }

    /// The file that a core is in.
    pub fn file_of(&self, core: &Core) -> &PieceFile {
        &self.files[core.file]
    }

    /// The plan of a piece of a host that has its cores as pieces; `None` where the piece is empty.
    pub(crate) fn plan(&self, host: &Host<'_>, piece: Piece) -> Option<Plan> {
        let cores = self.of_host(&host.id).iter();
        let edges = cores.flat_map(|core| [core.head.window.start, core.head.window.end]);
        Plan::of_piece_at(host, piece, edges.collect())
    }

    /// The models of a host's cores, to be taken by pieces.
    pub(crate) fn take<'c, C: Held>(&'c self, host: &Host<'_>) -> Taken<'c, C> {
        let unfit = self.unfit(host).map(|(core, _)| (core.head.window.start, core.head.window)).collect();
        Taken {
            chunks: self,
            host: host.id.clone(),
            unfit,
            error: Mutex::default(),
            consumer: std::marker::PhantomData,
        }
    }
}

/// The models of the cores of one host.
#[derive(Debug)]
pub(crate) struct Taken<'c, C> {
    chunks: &'c Chunks,
    host: String,
    /// Windows of cores that do not fit, by their starts.
    unfit: BTreeMap<RawNs, Window<RawNs>>,
    /// Why a core could not be read.
    error: Mutex<Option<String>>,
    consumer: std::marker::PhantomData<fn() -> C>,
}

impl<C: Held> Taken<'_, C> {
    /// The model of a piece, if it is a core: a missing piece if the core does not fit, or cannot be read.
    /// `make` makes the consumer of a piece.
    pub(crate) fn of_piece(
        &self,
        host: &Host<'_>,
        piece: Piece,
        make: &impl Fn() -> WithThreads<C>,
    ) -> Option<PieceModel<Model<C>>> {
        let window = piece.window();
        let cores = self.chunks.of_host(&self.host);
        let near = || cores.iter().filter(|core| overlap(core.head.window, window));
        let missing = || {
            let mut model = PartialState::gap(window.start, window.end, make());
            // It was traced, also where no event is before or after it.
            for core in near() {
                let CoreHead { window: all, events, .. } = core.head;
                let (start, end) = events.unwrap_or((all.start, all.end));
                let (start, end) = (start.max(window.start), end.min(window.end));
                if start <= end {
                    model.covers(start, end);
                }
            }
            PieceModel { piece, model, report: ReadReport::default() }
        };
        let Some(core) = cores.iter().find(|core| core.head.window == window) else {
            // Of a part of what was mapped as a whole, nothing is known.
            return near().next().is_some().then(missing);
        };
        if self.unfit.get(&window.start) == Some(&window) {
            return Some(missing());
        }
        let file = &self.chunks.file_of(core).path;
        let replayed = |model: Model<SpanLog>| {
            let made =
                model.try_with_spans(|spans| spans.try_with_inner(|log| C::of_log(log, &|| make().inner)));
            made.map_err(|damaged| format!("{}: {damaged}", file.display()))
        };
        let model = match self.chunks.head().is_some_and(|head| head.has_spans) {
            true => self.chunks.model::<SpanLog>(core).and_then(replayed),
            false => self.chunks.model::<C>(core),
        };
        let model: Result<Model<C>, String> = model.and_then(|model: Model<C>| {
            let fits = (model.begin(), model.end()) == (piece.from, piece.to);
            let fits = fits && model.spans().inner.is_like(&make().inner);
            fits.then_some(model).ok_or_else(|| format!("{}: the file contradicts itself", file.display()))
        });
        Some(match model {
            Ok(mut model) => {
                model.settle_phases(program_losses(host, window));
                PieceModel { piece, model, report: core.head.report.clone() }
            }
            Err(error) => {
                self.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                missing()
            }
        })
    }

    /// Why one of the cores could not be read.
    pub(crate) fn into_error(self) -> Option<String> {
        self.error.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Chunks {
    /// The model of a core.
    fn model<C: Held>(&self, core: &Core) -> Result<Model<C>, String> {
        let file = self.file_of(core);
        let content = file.read(&core.section).map_err(|error| error.to_string())?;
        check_model(file, core)?;
        let damaged = || core.section.damaged(&file.path, "a model cannot be decoded").to_string();
        let (_, mut body) = split(&content).ok_or_else(damaged)?;
        let model = rmp_serde::from_read(&mut body).map_err(|error| format!("{}: {error}", damaged()))?;
        if body.is_empty() { Ok(model) } else { Err(damaged()) }
    }
}

/// Whether this program reads the model of a core; `Err`: why not.
fn check_model(file: &PieceFile, core: &Core) -> Result<(), String> {
    let path = file.path.display();
    match core.head.model {
        0 => Err(format!(
            "{path}: written before models had names, which this program needs; map the chunk again \
             with this one"
        )),
        1..=MODEL => Ok(()),
        found => Err(format!(
            "{path}: the models in it have version {found}, and this program reads them up to version \
             {MODEL}; read it with a later one"
        )),
    }
}

/// Whether the models in a file are such as this program reads; `Err`: why not.
pub(crate) fn check_models(file: &PieceFile) -> Result<(), String> {
    for section in file.of_kind(Kind::Core) {
        let core = core_of(file, 0, section).map_err(|error| error.to_string())?;
        check_model(file, &core)?;
    }
    Ok(())
}

/// The head of a core, and its model's bytes.
fn split(content: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = content.split_first_chunk::<8>()?;
    rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)
}

fn core_of(file: &PieceFile, number: usize, section: &Section) -> Result<Core, PieceError> {
    check_version(file, section, "a mapped window in it", CORE)?;
    let damaged = || section.damaged(&file.path, "the head of a mapped window cannot be decoded");
    let head: CoreHead = serde_json::from_slice(&file.read_first_part(section)?).map_err(|_| damaged())?;
    match head.window.start < head.window.end {
        true => Ok(Core { head, file: number, section: *section, is_double: false }),
        false => Err(damaged()),
    }
}
