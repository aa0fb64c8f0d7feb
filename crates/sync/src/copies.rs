//! Synchronized copies of traces, for tools that know nothing of corrections.
//!
//! All copies of an island are on the clock description of its reference: equal times in them are equal
//! instants.
//!
//! They are written into a hidden directory first (see [`isochrone_files::output`]) and get their names when
//! all of them are whole.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use isochrone_ctf::schema::ClockClass;
use isochrone_ctf::write::{CopySummary, NewClock, copy_trace};

use isochrone_corrections::{Clock, Clocks};
use isochrone_files::output;
use isochrone_files::{InputTrace, Inputs, below};
use isochrone_time::RawNs;
use isochrone_unfinished::UnfinishedDirectory;

/// Why no copies were written.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// A trace cannot be read, rewritten or its copy stored.
    #[error(transparent)]
    Ctf(#[from] isochrone_ctf::Error),
    /// A directory cannot be made or filled.
    #[error("cannot write {}: {cause}", .path.display())]
    Io {
        /// The directory.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// Two arguments whose last path components are the same.
    #[error("{} and {} would both be written to {}", .first.display(), .second.display(), .target.display())]
    Collision {
        /// One argument.
        first: PathBuf,
        /// The other.
        second: PathBuf,
        /// Where both would go.
        target: PathBuf,
    },
    /// Only a part of the events is there.
    #[error("{}: mapped pieces hold a part of the events only: copy the traces that they were mapped of", .0.display())]
    Excerpt(PathBuf),
    /// Something is already there.
    #[error("{} exists already; nothing was written", .0.display())]
    Exists(PathBuf),
    /// Copies among the originals would be taken for traces of the same hosts.
    #[error("{} lies in {}, which is to be copied: choose another directory", .target.display(), .argument.display())]
    Inside {
        /// Where copies would go.
        target: PathBuf,
        /// The argument it lies in.
        argument: PathBuf,
    },
    /// An argument without a last component (`/`).
    #[error("{} has no name to call a copy by", .0.display())]
    Nameless(PathBuf),
    /// A trace or a capture that is stamped by the reference's clock must be known.
    #[error("no trace of the reference host {0} is among those to copy: its clock is needed")]
    NoReference(String),
}

/// A copy that was written.
#[derive(Debug)]
pub struct Copied {
    /// The trace.
    pub source: PathBuf,
    /// Its copy.
    pub target: PathBuf,
    /// What is in it.
    pub summary: CopySummary,
}

/// Checks that every copy has a place of its own, before any work is done for it.
///
/// # Errors
/// Names collide, a target exists, or copies would lie among the originals.
pub fn check(inputs: &Inputs, directory: &Path) -> Result<(), CopyError> {
    targets(inputs, directory).map(drop)
}

/// Writes copies of all traces that a correction is known for (of captures there are none) into `directory`:
/// each argument's last path component followed by `_`, its inner tree kept. Nothing is overwritten. Whatever
/// has its name is whole; a process that is killed leaves a hidden directory `.copies.partial-…`, which no
/// search for traces enters and the next one that writes there removes.
///
/// # Errors
/// Names collide, a target exists, or a file cannot be written.
pub fn write(inputs: &Inputs, clocks: &Clocks, directory: &Path) -> Result<Vec<Copied>, CopyError> {
    check(inputs, directory)?;
    let mut descriptions: HashMap<&str, ClockClass> = HashMap::new();
    for clock in clocks.iter() {
        if !descriptions.contains_key(clock.reference.as_str()) {
            descriptions.insert(&clock.reference, description(inputs, clocks, &clock.reference)?);
        }
    }
    let copied = write_each(inputs, directory, |input, target| {
        let Some(clock) = clocks.of_trace(&input.trace) else { return Ok(None) };
        let class = descriptions[clock.reference.as_str()].clone();
        // Zero of the new clock on the reference's raw time line.
        let zero = class.offset_ns() - i128::from(clock.reference_offset_ns);
        let map = |raw: i128| new_cycles(clock, raw, zero);
        copy_trace(&input.trace, target, &NewClock { class, map: &map }).map(Some)
    })?;
    Ok(copied.into_iter().map(|(source, target, summary)| Copied { source, target, summary }).collect())
}

/// Writes something for each trace into `directory`: each argument's last path component followed by `_`,
/// its inner tree kept. `write_one` gets the trace and the directory to make, whose parent is there;
/// `None`: there is nothing for this trace. Gives the trace's path, that of what was written, and what
/// `write_one` gave. Nothing is overwritten, and whatever has its name is whole.
///
/// # Errors
/// Names collide, a target exists, or a file cannot be written.
pub fn write_each<T>(
    inputs: &Inputs,
    directory: &Path,
    mut write_one: impl FnMut(&InputTrace, &Path) -> Result<Option<T>, isochrone_ctf::Error>,
) -> Result<Vec<(PathBuf, PathBuf, T)>, CopyError> {
    let io = |path: &Path| {
        let path = path.to_owned();
        |cause| CopyError::Io { path, cause }
    };
    let targets = targets(inputs, directory)?;
    fs::create_dir_all(directory).map_err(io(directory))?;
    let partial = UnfinishedDirectory::new(OsStr::new("copies"), directory).map_err(io(directory))?;
    let mut copied = Vec::new();
    let mut roots = BTreeSet::new();
    for (input, Target { root, inner }) in inputs.traces.iter().zip(targets) {
        let name = below(Path::new(&root), inner);
        let copy = partial.path().join(&name);
        make_above(partial.path(), &name).map_err(io(&copy))?;
        let Some(written) = write_one(input, &copy)? else { continue };
        copied.push((input.path().to_owned(), directory.join(name), written));
        roots.insert(root);
    }
    output::flush(partial.path()).map_err(io(partial.path()))?;
    for root in roots {
        let target = directory.join(&root);
        fs::rename(partial.path().join(root), &target).map_err(io(&target))?;
    }
    output::flush_names(directory);
    Ok(copied)
}

/// Makes the directories above a path below a directory, and never that directory itself: a signal may have
/// removed it.
fn make_above(directory: &Path, path: &Path) -> io::Result<()> {
    let mut above: Vec<&Path> =
        path.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty()).collect();
    above.reverse();
    for path in above {
        match fs::create_dir(directory.join(path)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

fn new_cycles(clock: &Clock, raw: i128, zero: i128) -> Option<u64> {
    let reference = clock.corrected(RawNs(i64::try_from(raw).ok()?));
    u64::try_from(i128::from(reference.0) - zero).ok()
}

/// Where a copy goes.
struct Target<'i> {
    /// Name of the copy of the argument.
    root: String,
    /// Path from there.
    inner: &'i Path,
}

/// Where each trace goes; all checked before anything is written.
fn targets<'i>(inputs: &'i Inputs, directory: &Path) -> Result<Vec<Target<'i>>, CopyError> {
    let mut roots: HashMap<String, &Path> = HashMap::new();
    let mut found = Vec::new();
    let place = existing_part(directory);
    for InputTrace { argument, inner, excerpt, .. } in &inputs.traces {
        if let Some(excerpt) = excerpt {
            return Err(CopyError::Excerpt(excerpt.piece.clone()));
        }
        if place.as_deref().is_some_and(|place| argument.canonicalize().is_ok_and(|a| place.starts_with(a))) {
            return Err(CopyError::Inside { target: directory.to_owned(), argument: argument.clone() });
        }
        let root = name_of(argument)?;
        let target = directory.join(&root);
        match roots.get(&root) {
            Some(&first) if first != argument => {
                let (first, second) = (first.to_owned(), argument.clone());
                return Err(CopyError::Collision { first, second, target });
            }
            Some(_) => {}
            // A link that leads nowhere is something, too.
            None if target.is_symlink() || target.exists() => return Err(CopyError::Exists(target)),
            None => {
                roots.insert(root.clone(), argument);
            }
        }
        found.push(Target { root, inner });
    }
    Ok(found)
}

/// The nearest directory at or above a path that exists, links resolved.
fn existing_part(path: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(path).ok()?;
    absolute.ancestors().find_map(|ancestor| ancestor.canonicalize().ok())
}

/// The last component of an argument, `_` appended.
fn name_of(argument: &Path) -> Result<String, CopyError> {
    let named = match argument.file_name() {
        Some(name) => Some(name.to_owned()),
        // `.`, `..` and the like have a name once they are resolved.
        None => argument.canonicalize().ok().and_then(|path| path.file_name().map(ToOwned::to_owned)),
    };
    let named = named.ok_or_else(|| CopyError::Nameless(argument.to_owned()))?;
    Ok(format!("{}_", named.to_string_lossy()))
}

/// The clock of a capture, in the words of CTF: ns since the epoch.
fn of_capture(inputs: &Inputs, clocks: &Clocks, reference: &str) -> Option<ClockClass> {
    let entry = &clocks.of_host(reference)?.entry;
    let is_its = |path: &Path| entry.traces.iter().any(|trace| Path::new(&trace.path) == path);
    inputs
        .captures
        .iter()
        .any(|capture| is_its(&capture.path))
        .then(|| ClockClass { absolute: true, ..ClockClass::monotonic("realtime") })
}

/// The clock of the copies of an island: the reference's, with a zero so early that no time is negative.
fn description(inputs: &Inputs, clocks: &Clocks, reference: &str) -> Result<ClockClass, CopyError> {
    let of_reference = |input: &&InputTrace| {
        clocks.of_trace(&input.trace).is_some_and(|clock| clock.entry.host == reference)
    };
    let class = inputs
        .traces
        .iter()
        .find(of_reference)
        .and_then(|input| input.trace.schema().single_clock())
        .cloned()
        .or_else(|| of_capture(inputs, clocks, reference))
        .ok_or_else(|| CopyError::NoReference(reference.to_owned()))?;
    let earliest = inputs
        .traces
        .iter()
        .filter_map(|input| Some((clocks.of_trace(&input.trace)?, &input.trace)))
        .filter(|(clock, _)| clock.reference == reference)
        .filter_map(|(clock, trace)| {
            let packets = trace.streams().iter().flat_map(|s| &s.packets);
            // A packet without a begin may start at the clock's zero.
            let first = packets.map(|p| p.begin().unwrap_or(0)).min()?;
            let raw = trace.schema().single_clock()?.raw_ns(first);
            Some(clock.corrected(RawNs(i64::try_from(raw).ok()?)).0)
        })
        .min();
    let offset_ns = clocks.of_host(reference).map_or(0, |clock| clock.reference_offset_ns);
    // Whole seconds, so that people still recognise the reference's own values.
    let earlier_s = earliest.map_or(0, |earliest| earliest.min(0).div_euclid(1_000_000_000));
    // The copies are on the reference's time line, so they carry its identity – unless its zero had to move:
    // that is another time line.
    let uuid =
        class.uuid.map(|uuid| uuid::Uuid::from_u128(uuid.as_u128() ^ u128::from(earlier_s.unsigned_abs())));
    let uid = class.uid.clone().map(|uid| match (uuid, earlier_s) {
        (_, 0) => uid,
        (Some(uuid), _) => uuid.to_string(),
        (None, moved) => format!("{uid}, zero moved by {moved} s"),
    });
    let accuracy = class.accuracy.filter(|_| class.absolute).map(|cycles| {
        let ns = u128::from(cycles).saturating_mul(1_000_000_000).div_ceil(u128::from(class.frequency));
        u64::try_from(ns).unwrap_or(u64::MAX)
    });
    Ok(ClockClass {
        uuid,
        uid,
        frequency: 1_000_000_000,
        precision: 0,
        // In nanoseconds, rounded up. What is said of another origin says nothing of this one.
        accuracy,
        offset_s: offset_ns.div_euclid(1_000_000_000).saturating_add(earlier_s),
        offset_cycles: offset_ns.rem_euclid(1_000_000_000),
        // Readers compare such clocks whatever their names and identities are. There is one origin at most.
        absolute: true,
        origin: None,
        ..class.clone()
    })
}
