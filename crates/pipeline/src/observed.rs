//! Mapping while somebody else is given the events, so that they are read once.

use isochrone_hosts::{Host, HostEvents, Observer};
use isochrone_time::RawNs;

use crate::border::Piece;
use crate::piece_merger::PieceModel;
use crate::run::MapMerge;

/// Somebody who is given the events of hosts while they are mapped.
pub trait Observe: Sync {
    /// What is given the events of a piece of a host; `None`: they are not given.
    fn begin(&self, host: &Host<'_>) -> Option<Observer<'_>>;
}

/// A mapper whose events are given to somebody else, too.
pub struct Observed<'o, M> {
    /// The mapper.
    pub mapper: M,
    /// Who is given them, if anybody.
    pub by: Option<&'o dyn Observe>,
}

impl<M: MapMerge> MapMerge for Observed<'_, M> {
    type Model = M::Model;
    type Error = M::Error;

    fn map<'t>(&self, host: &Host<'t>, piece: Piece, events: &mut HostEvents<'_, 't>) -> M::Model {
        self.mapper.map(host, piece, events)
    }

    fn gap(&self, host: &Host<'_>, from: RawNs, to: RawNs) -> M::Model {
        self.mapper.gap(host, from, to)
    }

    fn mapped(&self, host: &Host<'_>, piece: Piece) -> Option<PieceModel<M::Model>> {
        self.mapper.mapped(host, piece)
    }

    fn observer(&self, host: &Host<'_>) -> Option<Observer<'_>> {
        self.by.and_then(|by| by.begin(host))
    }

    fn is_stopped(&self) -> bool {
        self.mapper.is_stopped()
    }

    fn merge(&self, left: M::Model, right: M::Model) -> Result<M::Model, M::Error> {
        self.mapper.merge(left, right)
    }
}
