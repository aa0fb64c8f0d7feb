//! Messages between hosts, as flows: each with its latency, and with what the clocks of both hosts leave open of it.

use isochrone_store::{Message, MessageEnd, StoreError};
use isochrone_time::{RawNs, Window};

use super::host::Host;
use super::{ExportError, ExportInput};
use crate::timeline::{Event, Flow, Timeline, Track, Value};

/// Passes all messages between the hosts: a look-up of interrupts for each.
pub(super) fn emit<T: Timeline>(
    input: &ExportInput<'_, '_>,
    hosts: &mut [Host<'_>],
    flows: &mut u64,
    to: &mut T,
) -> Result<(), ExportError> {
    let mut failed: Result<(), ExportError> = Ok(());
    input.store.messages(|message| {
        if failed.is_ok() {
            failed = message_flow(input, hosts, &message, flows, to);
        }
    })?;
    failed
}

/// Index of the host of an end of a message, if it is exported and the end lies in its window.
fn host_of(hosts: &[Host<'_>], end: &MessageEnd) -> Option<usize> {
    let index = hosts.iter().position(|host| host.number == end.host)?;
    hosts[index].window.contains(end.at).then_some(index)
}

fn message_flow<T: Timeline>(
    input: &ExportInput<'_, '_>,
    hosts: &mut [Host<'_>],
    message: &Message,
    flows: &mut u64,
    to: &mut T,
) -> Result<(), ExportError> {
    let (sent, received) = (&message.sent(), &message.received());
    let (Some(from), Some(at)) = (host_of(hosts, sent), host_of(hosts, received)) else { return Ok(()) };
    *flows += 1;
    let track = track_of(&mut hosts[from], sent, true, to)?;
    let args = [("to", Value::Text(&hosts[at].name)), ("sent_raw_ns", Value::Int(sent.at.0))];
    let flow = Some(Flow::Start(*flows));
    let event = Event { args: &args, flow, ..Event::new("message sent", "message") };
    to.instant(track, hosts[from].common(sent.at), &event)?;
    let track = track_of(&mut hosts[at], received, false, to)?;
    let mut args =
        vec![("from", Value::Text(&hosts[from].name)), ("received_raw_ns", Value::Int(received.at.0))];
    args.extend(latency(input, &hosts[from], &hosts[at], message));
    let flow = Some(Flow::End(*flows));
    let event = Event { args: &args, flow, ..Event::new("message received", "message") };
    to.instant(track, hosts[at].common(received.at), &event)?;
    Ok(())
}

/// The latency of a message, and its bounds, as the report `messages` has them; empty where the clocks cannot be compared.
fn latency(
    input: &ExportInput<'_, '_>,
    from: &Host<'_>,
    at: &Host<'_>,
    message: &Message,
) -> Vec<(&'static str, Value<'static>)> {
    let (Some(sender), Some(receiver)) = (from.timing.clock(), at.timing.clock()) else { return Vec::new() };
    if sender.entry.island != receiver.entry.island {
        return Vec::new();
    }
    let (sent, received) = (message.sent(), message.received());
    let latency = at.common(received.at).saturating_since(from.common(sent.at));
    let mut all = vec![("latency_ns", Value::Int(latency))];
    let related = input.clocks.and_then(|clocks| clocks.related(sender, receiver, sent.at));
    let related = related.filter(|related| related.proven);
    if let Some((related, uncertainty)) = related.and_then(|it| Some((it, it.uncertainty()?))) {
        let (least, greatest) = related.latency_until(received.at);
        all.extend(least.map(|least| ("latency_lo_ns", Value::Int(least))));
        all.extend(greatest.map(|greatest| ("latency_hi_ns", Value::Int(greatest))));
        all.push(("uncertainty_ns", Value::Int(uncertainty)));
    }
    all
}

/// The track of an end of a message: of the thread that sent it, else of the interrupts of the CPU, which send and receive too; of the
/// host, where no CPU is known.
fn track_of<T: Timeline>(
    host: &mut Host<'_>,
    end: &MessageEnd,
    is_sent: bool,
    to: &mut T,
) -> Result<Track, ExportError> {
    let Some(cpu) = end.cpu else { return Ok(host.track) };
    if is_sent
        && !is_interrupted(host, end.at, cpu)?
        && let Some(track) = host.track_of(end.thread)
    {
        return Ok(track);
    }
    Ok(host.interrupts_of(cpu, to)?)
}

/// Whether a CPU handles an interrupt or a softirq at an instant.
fn is_interrupted(host: &Host<'_>, at: RawNs, cpu: u32) -> Result<bool, StoreError> {
    let instant = Window::new(at, at.saturating_add(1));
    let mut is_handling = false;
    host.store.softirqs(instant, |it| is_handling |= it.cpu == cpu)?;
    host.store.irqs(instant, |it| is_handling |= it.cpu == cpu)?;
    Ok(is_handling)
}
