//! What is known, before reading, to be missing of the streams of a host that show something.

use isochrone_ctf::plan::StreamPlan;
use isochrone_hosts::{Host, LossKind};
use isochrone_time::{RawNs, Window};

/// When something is missing of the streams of a host that show something, as far as that is known before
/// reading, raw ns. `counts`: which losses do. Linear in the event classes of all streams and in the losses.
pub(crate) fn missing(
    host: &Host<'_>,
    shows: impl Fn(&StreamPlan) -> bool,
    counts: impl Fn(LossKind) -> bool,
) -> Vec<Window<RawNs>> {
    let sources = host.sources().iter();
    let shown: Vec<bool> = sources.map(|source| shows(source.trace().stream_plan(source.stream))).collect();
    let losses = host.losses().iter().chain(host.uncovered());
    let losses = losses.filter(|loss| shown[loss.source] && counts(loss.what));
    let lost = losses.map(|loss| Window::new(loss.from, loss.to));
    // What a CPU does that has no stream is in no trace.
    let is_unseen = host.absent_streams().iter().any(|absent| match absent.channel {
        None => true,
        Some(channel) => channel.plan(host.traces()).is_some_and(&shows),
    });
    let unseen = is_unseen.then_some(Window::ALL);
    lost.chain(host.gaps().iter().copied()).chain(unseen).collect()
}
