//! Mapped pieces in place of chunks: which of those that came are new, which came late, and what all of them
//! come to.
//!
//! A piece waits and is mapped as its chunk would be. But pieces are there for long, whatever was mapped: if
//! one comes whose time was taken for missing, and all others of its host are still there, the host is mapped
//! again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use isochrone_analysis::{AnalysisSet, HostContext, Need, Options, Report};
use isochrone_hosts::ReadReport;
use isochrone_kernel::Finished;
use isochrone_pipeline::{Border, Piece};

use super::arrived::{Arrived, Identity, Moved};
use super::chunks::Opened;
use super::{Change, HostWatch, Watch, WatchError, join, journal};
use crate::model::{ModelError, ModelledHost};
use crate::pieces::HostFacts;
use crate::question::reports;

/// A chunk: its session, and its number there.
type Key = (PathBuf, u64);

/// The pieces that have come.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    arrived: Arrived,
    /// Those that were taken, by what chunks they are of.
    taken: BTreeMap<Key, Identity>,
    /// Files that have another piece of a chunk that was taken.
    doubles: BTreeSet<PathBuf>,
}

/// All that is known of a host: what was mapped, and what waits.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) facts: HostFacts,
    lacking: Vec<Need>,
    model: Finished<AnalysisSet>,
    pub(super) report: ReadReport,
}

impl Watch<'_> {
    /// Looks for new pieces, and deletes those that are not needed any more.
    pub(super) fn find_pieces(&mut self, is_last: bool) -> Vec<Change> {
        let mut changes = Vec::new();
        let Some((head, first)) = &self.watched.pieces else { return changes };
        let gone = self.pieces.arrived.find(&self.watched.directories, (head, first), is_last, &mut changes);
        gone.into_iter().for_each(|moved| self.moved(&moved));
        let mut late: BTreeMap<String, Vec<Opened>> = BTreeMap::new();
        let mut mapped: Vec<PathBuf> = Vec::new();
        let mut new: Vec<Opened> = Vec::new();
        for (identity, opened, paths) in self.pieces.arrived.chunks() {
            let key = (opened.chunk.session.clone(), opened.chunk.number);
            let host = self.hosts.get(&opened.host);
            let is_past = host.is_some_and(|host| host.is_past(&key));
            match self.pieces.taken.get(&key) {
                Some(known) if known == identity => {
                    if is_past {
                        mapped.extend(paths.iter().cloned());
                    }
                    continue;
                }
                Some(_) => {
                    if self.pieces.doubles.insert(opened.chunk.path.clone()) {
                        let why = "another piece of the same chunk is there".to_owned();
                        changes.push(Change::Refused { chunk: opened.chunk.path, why });
                    }
                    continue;
                }
                None => {}
            }
            let is_missing = host.is_some_and(|host| host.done.missing.contains(&key));
            // A process before this one has mapped it.
            if is_past && self.watched.state.is_some() && !is_missing {
                mapped.extend(paths.iter().cloned());
            } else if is_past || host.is_some_and(|host| host.is_behind(&opened)) {
                late.entry(opened.host.clone()).or_default().push(opened);
                continue;
            } else {
                new.push(opened);
            }
            self.pieces.taken.insert(key, identity.clone());
        }
        for opened in new {
            let host = self.hosts.entry(opened.host.clone()).or_default();
            host.progressed.get_or_insert_with(Instant::now);
            host.shown = None;
            host.waiting.push(opened);
            host.waiting.sort_by_key(|it| (it.switched, it.begin, it.chunk.clone()));
        }
        for (id, late) in late {
            self.take_late(&id, &late, &mut changes);
        }
        let needed: BTreeSet<&Path> =
            self.hosts.values().flat_map(|host| &host.done.recent).map(|it| it.path.as_path()).collect();
        mapped.retain(|path| !needed.contains(path.as_path()));
        self.watched.retention.delete(mapped);
        changes
    }

    /// Maps a host again of which pieces came whose time has been mapped, if all that was mapped is there.
    fn take_late(&mut self, id: &str, late: &[Opened], changes: &mut Vec<Change>) {
        let key = |opened: &Opened| (opened.chunk.session.clone(), opened.chunk.number);
        let come: BTreeSet<Key> = late.iter().map(key).collect();
        let all = self.pieces.arrived.chunks().filter(|(_, opened, _)| opened.host == id);
        let all: BTreeMap<Key, (Identity, Opened)> =
            all.map(|(identity, opened, _)| (key(&opened), (identity.clone(), opened))).collect();
        let Some(host) = self.hosts.get_mut(id) else { return };
        let is_mapped = |key: &&Key| host.is_past(key) && !come.contains(*key);
        let is_whole = all.keys().filter(is_mapped).count() as u64 == host.done.chunks;
        for opened in late {
            let path = opened.chunk.path.clone();
            changes.push(if is_whole { Change::Filled(path) } else { Change::Late(path) });
        }
        for (key, (identity, _)) in &all {
            self.pieces.taken.entry(key.clone()).or_insert_with(|| identity.clone());
        }
        if is_whole {
            let mut waiting: Vec<Opened> = all.into_values().map(|(_, opened)| opened).collect();
            waiting.sort_by_key(|it| (it.switched, it.begin, it.chunk.clone()));
            let done = host.done.anew(|key| come.contains(key));
            *host = HostWatch { done, waiting, progressed: Some(Instant::now()), ..HostWatch::default() };
        }
    }

    /// A path is gone: another one has the same content, or none has.
    fn moved(&mut self, (from, to): &Moved) {
        for host in self.hosts.values_mut() {
            let Some(to) = to else {
                let gone: Vec<Opened> = host.waiting.extract_if(.., |it| it.chunk.path == *from).collect();
                for Opened { chunk, .. } in gone {
                    host.shown = None;
                    self.pieces.taken.remove(&(chunk.session, chunk.number));
                }
                continue;
            };
            host.done.moved(from, to);
            for waiting in host.waiting.iter_mut().filter(|it| it.chunk.path == *from) {
                waiting.chunk.path.clone_from(to);
            }
        }
    }

    /// Files of mapped pieces that hold several chunks: what these come to is not known chunk by chunk.
    pub fn files_of_several(&self) -> Vec<PathBuf> {
        self.pieces.arrived.several().map(Path::to_owned).collect()
    }

    /// One file of each content, of all mapped pieces that are of use.
    pub fn files(&self) -> Vec<PathBuf> {
        self.pieces.arrived.paths().map(Path::to_owned).collect()
    }

    /// The tables of all pieces that are there, those that wait among them. Of a host of which none has come
    /// since, what was known is used again.
    pub(super) fn reports_of_all(
        &mut self,
        options: &Options,
        changes: &mut Vec<Change>,
    ) -> Result<Vec<Report>, WatchError> {
        let ids: Vec<String> = self.hosts.keys().cloned().collect();
        for id in &ids {
            if self.hosts.get(id).is_some_and(|host| host.shown.is_none()) {
                let shown = self.show(id, changes)?;
                if let Some(host) = self.hosts.get_mut(id) {
                    host.shown = shown;
                }
            }
        }
        let clocks = self.watched.corrections.as_ref().map(|(clocks, _)| clocks);
        let take = |(id, host): (&String, &mut HostWatch)| {
            host.shown.as_ref()?.facts.timing(clocks, false)?;
            Some((id.clone(), host.shown.take()?))
        };
        let all: Vec<(String, Shown)> = self.hosts.iter_mut().filter_map(take).collect();
        let names = self.names();
        let (mut modelled, mut rest) = (Vec::with_capacity(all.len()), Vec::with_capacity(all.len()));
        for (id, Shown { facts, lacking, model, report }) in all {
            let Some(timing) = facts.timing(self.clocks(), false) else { continue };
            let own = names.get(id.as_str()).cloned().unwrap_or_else(|| facts.name.clone());
            let name = timing.clock().map_or(own, |clock| clock.entry.host.clone());
            let host = ModelledHost::of_finished(name, timing, lacking.clone(), (model, report));
            modelled.push((host, rest.len()));
            rest.push((id, facts, lacking));
        }
        modelled.sort_by(|(a, _), (b, _)| HostContext::name(a).cmp(HostContext::name(b)));
        let (modelled, order): (Vec<ModelledHost<'_, AnalysisSet>>, Vec<usize>) =
            modelled.into_iter().unzip();
        let made = reports(&modelled, &self.asked.options.with_tables_of(options), self.watched.spread);
        let kept: Vec<(usize, Finished<AnalysisSet>, ReadReport)> =
            order.into_iter().zip(modelled).map(|(at, host)| (at, host.model, host.report)).collect();
        for (at, model, report) in kept {
            let (id, facts, lacking) = &rest[at];
            let shown = Shown { facts: facts.clone(), lacking: lacking.clone(), model, report };
            if let Some(host) = self.hosts.get_mut(id) {
                host.shown = Some(shown);
            }
        }
        Ok(made)
    }

    /// What was mapped of a host, and what waits.
    fn show(&self, id: &str, changes: &mut Vec<Change>) -> Result<Option<Shown>, WatchError> {
        let Some(host) = self.hosts.get(id) else { return Ok(None) };
        let mut part = host.mapped.as_ref().map(journal::copy).transpose()?;
        let mut facts = host.facts.clone();
        if !host.waiting.is_empty() && !host.is_over() {
            let from = part.as_ref().map_or(Border::Begin, |part| part.piece.to);
            let left: Vec<&Path> = host.waiting.iter().map(|it| it.chunk.path.as_path()).collect();
            if let Some((here, tail)) = self.map_piece(id, &left, Piece { from, to: Border::End }, changes)? {
                changes.extend(tail.report.diagnostics.iter().cloned().map(Change::Broken));
                part = Some(join(&here.name, part, tail)?);
                facts.get_or_insert(here);
            }
        }
        let Some((facts, part)) = facts.zip(part) else { return Ok(None) };
        let lacking = facts.recorded(&facts.name).lacking();
        let (model, report) = (part.model.finish().with_threads(), part.report);
        Ok(Some(Shown { facts, lacking, model, report }))
    }

    /// What is known of the hosts, each with the name that no other host has: those that were mapped, and
    /// those whose pieces wait.
    pub(super) fn shown_facts(&self) -> Vec<(String, &HostFacts)> {
        let names = self.names();
        let known = self
            .hosts
            .iter()
            .filter_map(|(id, host)| Some((names.get(id.as_str())?.clone(), &host.shown.as_ref()?.facts)));
        known.collect()
    }
}

/// Whether the pieces of a host are why it cannot be mapped.
pub(super) fn is_of_pieces(error: &WatchError) -> bool {
    matches!(error, WatchError::Model(ModelError::Chunks { .. } | ModelError::Merge { .. }))
}

impl HostWatch {
    /// Whether the time of a chunk has been mapped, or was taken for missing.
    fn is_past(&self, (session, number): &Key) -> bool {
        *number < self.done.next(session)
    }

    /// Whether a chunk of a session of which nothing is mapped yet begins in time that has been mapped.
    fn is_behind(&self, opened: &Opened) -> bool {
        let is_new = self.done.is_new(&opened.chunk.session);
        self.is_over() || is_new && self.mapped_to().is_some_and(|to| opened.begin < to)
    }
}
