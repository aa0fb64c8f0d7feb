//! One look at what is there: which chunks are new, which of them are of no use, and what is odd about them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::chunks::{self, Chunk, Opened};
use super::{Change, HostWatch, Watch, WatchError};

impl Watch<'_> {
    /// Looks for new chunks, or pieces, and deletes those that are not needed any more. `is_last`: nothing
    /// more will come, so that a piece that cannot be read is reported at once.
    ///
    /// # Errors
    /// A directory of chunks that was named cannot be listed.
    pub fn find(&mut self, is_last: bool) -> Result<Vec<Change>, WatchError> {
        if self.watched.pieces.is_some() {
            return Ok(self.find_pieces(is_last));
        }
        let mut changes = Vec::new();
        let chunks::Found { chunks: found, unreadable } = chunks::find(&self.watched.directories)
            .map_err(|(path, source)| WatchError::Directory { path, source })?;
        for (directory, why) in &unreadable {
            if !self.unreadable.contains(directory) {
                changes.push(Change::Unreadable { directory: directory.clone(), why: why.clone() });
            }
        }
        self.unreadable = unreadable.into_keys().collect();
        // What is gone is forgotten.
        self.seen.retain(|path| path.exists());
        let mut mapped = Vec::new();
        for chunk in &found {
            let session = chunk.session.clone();
            let of = self.hosts.values().map(|host| &host.done).find(|done| done.next(&session) > 0);
            if let Some(done) = of.filter(|done| chunk.number < done.next(&session)) {
                if !done.missing.contains(&(session, chunk.number)) {
                    mapped.push(chunk.path.clone());
                } else if self.seen.insert(chunk.path.clone()) {
                    changes.push(Change::Late(chunk.path.clone()));
                }
                continue;
            }
            if self.seen.insert(chunk.path.clone()) {
                self.take(chunk, &found, &mut changes);
            }
        }
        let needed: BTreeSet<&Path> =
            self.hosts.values().flat_map(|host| &host.done.recent).map(|it| it.path.as_path()).collect();
        mapped.retain(|path| !needed.contains(path.as_path()));
        self.watched.retention.delete(mapped);
        Ok(changes)
    }

    /// Opens a chunk that is new; it waits then to be mapped.
    fn take(&mut self, chunk: &Chunk, found: &BTreeSet<Chunk>, changes: &mut Vec<Change>) {
        let path = chunk.path.clone();
        let mut refuse = |why: String| changes.push(Change::Refused { chunk: path.clone(), why });
        let (opened, damage) = match chunks::open(chunk.clone()) {
            Ok(Some(opened)) => opened,
            Ok(None) => return refuse("no packet is in it".to_owned()),
            Err(why) => return refuse(why),
        };
        let host = self.hosts.entry(opened.host.clone()).or_default();
        host.progressed.get_or_insert_with(Instant::now);
        if let Some(twin) = twin(host, &opened, found) {
            return refuse(format!("it has what {} has", twin.display()));
        }
        changes.extend(damage.into_iter().map(Change::Broken));
        host.waiting.push(opened);
        host.waiting.sort_by_key(|it| (it.switched, it.begin, it.chunk.clone()));
    }

    /// Whether no chunk of any host has come.
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }
}

/// The chunk of the same session that has the same: of two that follow each other, one begins and ends later. Those that were mapped are looked for on
/// the disk, where one begins and ends before what was mapped.
fn twin(host: &HostWatch, opened: &Opened, found: &BTreeSet<Chunk>) -> Option<PathBuf> {
    let is_twin = |other: &Opened| {
        other.chunk.session == opened.chunk.session
            && (other.begin, other.switched, other.end) == (opened.begin, opened.switched, opened.end)
    };
    let waiting = host.waiting.iter().find(|other| is_twin(other));
    let is_past = || host.mapped_to().is_some_and(|to| opened.end <= to);
    let on_disk = || {
        let earlier =
            found.iter().filter(|it| it.session == opened.chunk.session && it.number < opened.chunk.number);
        let mut others = earlier.filter_map(|it| Some(chunks::open(it.clone()).ok()??.0));
        others.find(is_twin).map(|other| other.chunk.path)
    };
    waiting.map(|other| other.chunk.path.clone()).or_else(|| is_past().then(on_disk)?)
}
