//! What traces show of who steers the clock: `watch` looks at the events of one stream, in the pass that
//! finds packets; [`evidence`] puts streams together; [`daemons`] knows the programs. What is concluded from
//! it is in `isochrone_sync`.

pub mod daemons;
pub mod evidence;
mod watch;

use isochrone_ctf::plan::StreamPlan;
use isochrone_hosts::{Host, LossKind, StreamLoss};
use isochrone_time::{RawNs, Window};

pub use evidence::{StreamEvidence, add_trace};
pub(crate) use watch::SteeringWatch;

/// When streams of a host lack anything that could have a part of the list of processes, as far as that is
/// known before reading: see [`StreamEvidence::uncovered`].
pub(crate) fn unlisted(host: &Host<'_>) -> Vec<Window<RawNs>> {
    let lists = |plan: &StreamPlan| {
        plan.events.iter().any(|class| class.name.as_deref() == Some(watch::LISTED_PROCESS))
    };
    let is_of_list = |loss: &&StreamLoss| {
        let source = &host.sources()[loss.source];
        loss.what != LossKind::Disorder
            && source.is_kernel
            && lists(source.trace().stream_plan(source.stream))
    };
    let losses = host.losses().iter().chain(host.uncovered()).filter(is_of_list);
    let is_absent = host.absent_streams().iter().any(|absent| match absent.channel {
        None => true,
        Some(channel) => channel.plan(host.traces()).is_some_and(lists),
    });
    let lost = losses.map(|loss| Window::new(loss.from, loss.to));
    lost.chain(host.gaps().iter().copied()).chain(is_absent.then_some(Window::ALL)).collect()
}
