//! What traces show of who steers the clock: `watch` looks at the events of one stream, in the pass that
//! finds packets; [`evidence`] puts streams together; [`daemons`] knows the programs. What is concluded from
//! it is in `isochrone_sync`.

pub mod daemons;
pub mod evidence;
mod watch;

use isochrone_ctf::plan::StreamPlan;
use isochrone_hosts::{Host, LossKind};
use isochrone_time::{RawNs, Window};

pub use evidence::{StreamEvidence, add_trace};
pub(crate) use watch::SteeringWatch;

use crate::missing::missing;

/// When streams of a host lack anything that could have a part of the list of processes, as far as that is
/// known before reading: see [`StreamEvidence::uncovered`].
pub(crate) fn unlisted(host: &Host<'_>) -> Vec<Window<RawNs>> {
    let lists = |plan: &StreamPlan| {
        plan.events.iter().any(|class| class.name.as_deref() == Some(watch::LISTED_PROCESS))
    };
    missing(host, lists, |what| what != LossKind::Disorder)
}
