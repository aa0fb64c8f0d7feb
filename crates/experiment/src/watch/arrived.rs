//! Mapped pieces below some directories: each content once, under whatever names and however often it came.
//!
//! A piece is taken by what is in it, not by its name: of which host it is, of which session, and the number
//! of the chunk there, which the path of the chunk has where it was mapped. A file that cannot be read may be
//! on its way; one that is the same at the next look is damaged.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use isochrone_files::piece::{PieceError, PieceFile, Section, is_chunks};
use isochrone_files::{InputTrace, Inputs};
use isochrone_hosts::Hosts;
use isochrone_hosts::clocks::is_of_kernel;

use super::Change;
use super::chunks::{self, Chunk, MOST_DEPTH, Opened};
use super::names::digest;
use crate::chunks::{ChunkHead, check_models, head_of};

/// A version of a file: another one has another length or time.
type Version = (u64, Option<SystemTime>);

/// What distinguishes a content from others: the identities of the sections of the file.
pub(super) type Identity = Vec<(u32, u32, u64, u64)>;

/// A file, as it was when it was looked at last.
#[derive(Debug, Clone)]
struct Known {
    version: Version,
    /// Its content; `None`: it cannot be read as a piece, and may still be written to.
    identity: Option<Identity>,
    /// Whether it does not begin as pieces do.
    is_other: bool,
}

/// What is in files of one content.
#[derive(Debug)]
enum Content {
    /// A chunk of a host.
    Chunk(Opened),
    /// Several chunks, or chunks of several hosts.
    Several,
    /// Of no use.
    Refused,
}

/// Files of one content.
#[derive(Debug)]
struct Unit {
    paths: BTreeSet<PathBuf>,
    content: Content,
}

/// The pieces that are there.
#[derive(Debug, Default)]
pub(super) struct Arrived {
    files: BTreeMap<PathBuf, Known>,
    units: BTreeMap<Identity, Unit>,
    /// Versions of files that were reported.
    reported: BTreeSet<(PathBuf, Version)>,
    /// Directories that could not be listed.
    unreadable: BTreeSet<PathBuf>,
}

/// A path that is gone, and another one of the same content, if there is one.
pub(super) type Moved = (PathBuf, Option<PathBuf>);

impl Arrived {
    /// Looks for pieces below some directories; those of another question than `head`, that of a file, are
    /// refused. `is_last`: no more will come, so that what cannot be read is reported at once. Gives the
    /// paths that are gone. Linear in the files below the directories; of those that are new the excerpts are
    /// opened.
    pub(super) fn find(
        &mut self,
        directories: &[PathBuf],
        head: (&ChunkHead, &Path),
        is_last: bool,
        changes: &mut Vec<Change>,
    ) -> Vec<Moved> {
        let mut listed = Listed::default();
        for directory in directories {
            list(directory, 0, &mut listed);
        }
        for (directory, why) in &listed.unreadable {
            if !self.unreadable.contains(directory) {
                changes.push(Change::Unreadable { directory: directory.clone(), why: why.to_string() });
            }
        }
        self.unreadable = listed.unreadable.into_keys().collect();
        let before = std::mem::take(&mut self.files);
        self.units.values_mut().for_each(|unit| unit.paths.clear());
        for (path, version) in listed.files {
            let known = before.get(&path).filter(|known| known.version == version);
            let known = match known {
                Some(known) if known.is_other || known.identity.is_some() => known.clone(),
                _ if !is_chunks(&path) => Known { version, identity: None, is_other: true },
                _ => {
                    let is_still = known.is_some() || is_last;
                    let identity = self.open(&path, (version, is_still), head, changes);
                    Known { version, identity, is_other: false }
                }
            };
            if let Some(unit) = known.identity.as_ref().and_then(|identity| self.units.get_mut(identity)) {
                unit.paths.insert(path.clone());
            }
            self.files.insert(path, known);
        }
        self.reported.retain(|(path, _)| self.files.contains_key(path));
        let is_gone = |path: &Path, identity: &Identity| {
            self.files.get(path).is_none_or(|known| known.identity.as_ref() != Some(identity))
        };
        let gone = before.into_iter().filter_map(|(path, known)| Some((path, known.identity?)));
        let gone = gone.filter(|(path, identity)| is_gone(path, identity)).map(|(path, identity)| {
            let instead = self.units.get(&identity).and_then(|unit| unit.paths.first().cloned());
            (path, instead)
        });
        let gone = gone.collect();
        self.units.retain(|_, unit| !unit.paths.is_empty());
        gone
    }

    /// Opens a file that is new, and its excerpts if its content is.
    fn open(
        &mut self,
        path: &Path,
        (version, is_still): (Version, bool),
        head: (&ChunkHead, &Path),
        changes: &mut Vec<Change>,
    ) -> Option<Identity> {
        let mut refuse = |why: String| {
            if self.reported.insert((path.to_owned(), version)) {
                changes.push(Change::Refused { chunk: path.to_owned(), why });
            }
        };
        let file = match PieceFile::open(path) {
            Ok(file) => file,
            Err(error) => {
                if is_still {
                    refuse(without_path(&error, path));
                }
                return None;
            }
        };
        let identity: Identity = file.sections.iter().map(Section::identity).collect();
        if !self.units.contains_key(&identity) {
            let content = content_of(&file, head).unwrap_or_else(|why| {
                refuse(why);
                Content::Refused
            });
            self.units.insert(identity.clone(), Unit { paths: BTreeSet::new(), content });
        }
        Some(identity)
    }

    /// The chunks that are there, each with all files that it is in.
    pub(super) fn chunks(&self) -> impl Iterator<Item = (&Identity, Opened, &BTreeSet<PathBuf>)> {
        self.units.iter().filter_map(|(identity, unit)| {
            let Content::Chunk(opened) = &unit.content else { return None };
            let mut opened = opened.clone();
            opened.chunk.path.clone_from(unit.paths.first()?);
            Some((identity, opened, &unit.paths))
        })
    }

    /// The files of several chunks, each content once.
    pub(super) fn several(&self) -> impl Iterator<Item = &Path> {
        let several = self.units.values().filter(|unit| matches!(unit.content, Content::Several));
        several.filter_map(|unit| unit.paths.first().map(PathBuf::as_path))
    }

    /// One file of each content that is of use.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        let used = self.units.values().filter(|unit| !matches!(unit.content, Content::Refused));
        used.filter_map(|unit| unit.paths.first().map(PathBuf::as_path))
    }
}

/// What the first piece at or below some directories was mapped for, in the order of their paths, and where
/// it is; `Err`: why those that begin as pieces cannot be read. `Ok(None)`: there are none.
pub fn head_of_pieces(directories: &[PathBuf]) -> Result<Option<(ChunkHead, PathBuf)>, Vec<PieceError>> {
    let mut listed = Listed::default();
    for directory in directories {
        list(directory, 0, &mut listed);
    }
    let mut errors = Vec::new();
    for path in listed.files.into_keys().filter(|path| is_chunks(path)) {
        match PieceFile::open(&path).and_then(|file| head_of(&file)) {
            Ok(head) => return Ok(Some((head, path))),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(None) } else { Err(errors) }
}

/// What is in a file; `Err`: why it is of no use.
fn content_of(file: &PieceFile, (head, first): (&ChunkHead, &Path)) -> Result<Content, String> {
    let own = head_of(file).map_err(|error| without_path(&error, &file.path))?;
    if let Some(what) = head.difference(&own) {
        return Err(format!("it and {} were mapped {what}", first.display()));
    }
    check_models(file).map_err(|why| without_path(&why, &file.path))?;
    let inputs = Inputs::open(std::slice::from_ref(&file.path));
    if let Some(refused) = inputs.refused.first() {
        return Err(refused.why.clone());
    }
    let hosts = Hosts::group(inputs.traces.iter().map(|input| &input.trace)).hosts;
    let chunks: BTreeSet<&Path> = inputs.traces.iter().filter_map(chunk_of).collect();
    let (Some(host), Some(path)) = (hosts.first(), chunks.first()) else {
        return Err("no trace is in it".to_owned());
    };
    if hosts.len() > 1 || chunks.len() > 1 {
        return Ok(Content::Several);
    }
    let kernel = inputs.traces.iter().find(|input| is_of_kernel(&input.trace));
    let uuid = kernel.and_then(|input| input.trace.schema().uuid);
    let (session, number) = chunks::session_of(path).unwrap_or((path, 0));
    // Hosts have sessions of one path. The name begins as no path does that a chunk has.
    let ids = digest(&[host.id.clone(), uuid.map(|uuid| format!("{uuid:?}")).unwrap_or_default()]);
    let session = PathBuf::from(format!("pieces of {}: {} ({ids})", host.name, session.display()));
    let chunk = Chunk { session, number, path: file.path.clone() };
    chunks::opened(host, chunk).map(Content::Chunk).ok_or_else(|| "no packet is in it".to_owned())
}

/// The directory of the chunk that a trace was in.
fn chunk_of(input: &InputTrace) -> Option<&Path> {
    input.path().ancestors().nth(input.inner.components().count())
}

fn without_path(error: &dyn Display, path: &Path) -> String {
    let text = error.to_string();
    text.strip_prefix(&format!("{}: ", path.display())).map(str::to_owned).unwrap_or(text)
}

/// Files below some directories.
#[derive(Debug, Default)]
struct Listed {
    files: BTreeMap<PathBuf, Version>,
    unreadable: BTreeMap<PathBuf, io::Error>,
}

/// Lists the files at and below a directory. Hidden ones are on their way.
fn list(directory: &Path, depth: usize, listed: &mut Listed) {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return,
        Err(error) => {
            listed.unreadable.insert(directory.to_owned(), error);
            return;
        }
    };
    for entry in entries.flatten() {
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if kind.is_dir() && depth < MOST_DEPTH {
            list(&path, depth + 1, listed);
        } else if kind.is_file() {
            listed.files.extend(entry.metadata().ok().map(|it| (path, version(&it))));
        }
    }
}

fn version(metadata: &Metadata) -> Version {
    (metadata.len(), metadata.modified().ok())
}
