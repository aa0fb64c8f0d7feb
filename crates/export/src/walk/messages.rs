//! Messages between hosts, as flows: each with its latency, and with what the clocks of both hosts leave open of it.

use isochrone_store::{Message, MessageEnd, StoreError};

use super::host::Host;
use super::{ExportError, Exported};
use crate::timeline::{Flow, Row, Shown, Timeline, Value};

/// Passes all messages between the hosts: a few look-ups for each.
pub(super) fn emit<T: Timeline>(
    exported: &Exported<'_, '_>,
    hosts: &mut [Host<'_>],
    flows: &mut u64,
    to: &mut T,
) -> Result<(), ExportError> {
    let mut failed: Result<(), ExportError> = Ok(());
    exported.store.messages(|message| {
        if failed.is_ok() {
            failed = one(exported, hosts, &message, flows, to);
        }
    })?;
    failed
}

/// The host of an end of a message, if it is exported and the end lies in its window.
fn host_of(hosts: &[Host<'_>], end: &MessageEnd) -> Option<usize> {
    let place = hosts.iter().position(|host| host.number == end.host)?;
    let (first, after) = hosts[place].window;
    (first..after).contains(&end.at).then_some(place)
}

fn one<T: Timeline>(
    exported: &Exported<'_, '_>,
    hosts: &mut [Host<'_>],
    message: &Message,
    flows: &mut u64,
    to: &mut T,
) -> Result<(), ExportError> {
    let Message { sent, received } = message;
    let (Some(from), Some(at)) = (host_of(hosts, sent), host_of(hosts, received)) else { return Ok(()) };
    *flows += 1;
    let row = row_of(&mut hosts[from], sent, true, to)?;
    let details = [("to", Value::Text(&hosts[at].name)), ("sent_raw_ns", Value::Int(sent.at))];
    let flow = Some(Flow::Begins(*flows));
    let shown = Shown { name: "message sent", category: "message", details: &details, flow };
    to.instant(row, hosts[from].common(sent.at), &shown)?;
    let row = row_of(&mut hosts[at], received, false, to)?;
    let mut details =
        vec![("from", Value::Text(&hosts[from].name)), ("received_raw_ns", Value::Int(received.at))];
    details.extend(latency(exported, &hosts[from], &hosts[at], message));
    let flow = Some(Flow::Ends(*flows));
    let shown = Shown { name: "message received", category: "message", details: &details, flow };
    to.instant(row, hosts[at].common(received.at), &shown)?;
    Ok(())
}

/// How long a message took, and at least and at most, as the report `messages` says. Nothing, where the clocks cannot be compared.
fn latency(
    exported: &Exported<'_, '_>,
    from: &Host<'_>,
    at: &Host<'_>,
    message: &Message,
) -> Vec<(&'static str, Value<'static>)> {
    let (Some(sender), Some(receiver)) = (from.timing.clock(), at.timing.clock()) else { return Vec::new() };
    if sender.entry.island != receiver.entry.island {
        return Vec::new();
    }
    let Message { sent, received } = message;
    let latency = at.common(received.at).saturating_sub(from.common(sent.at));
    let mut all = vec![("latency_ns", Value::Int(latency))];
    let related = exported.clocks.and_then(|clocks| clocks.related(sender, receiver, sent.at));
    let related = related.filter(|related| related.proven);
    if let Some((related, (lo, hi))) = related.and_then(|it| Some((it, (it.bounds.0?, it.bounds.1?)))) {
        let most = related.time.saturating_sub(lo).max(hi.saturating_sub(related.time)).max(0);
        let (least, greatest) = related.latency_until(received.at);
        all.extend(least.map(|least| ("latency_lo_ns", Value::Int(least))));
        all.extend(greatest.map(|greatest| ("latency_hi_ns", Value::Int(greatest))));
        all.push(("uncertainty_ns", Value::Int(most)));
    }
    all
}

/// Where an end of a message is shown: in the thread that sent it, else in the interrupts of the CPU, which send and receive, too; at the host, where
/// no CPU is known.
fn row_of<T: Timeline>(
    host: &mut Host<'_>,
    end: &MessageEnd,
    is_sent: bool,
    to: &mut T,
) -> Result<Row, ExportError> {
    let Some(cpu) = end.cpu else { return Ok(host.row) };
    if is_sent
        && !is_interrupted(host, end.at, cpu)?
        && let Some(runner) = host.store.runner_at_packet(end.at, cpu, true)?
        && let Some(row) = host.row_of(runner.thread)
    {
        return Ok(row);
    }
    Ok(host.interrupts_of(cpu, to)?)
}

/// Whether a CPU handles an interrupt or a softirq at an instant.
fn is_interrupted(host: &Host<'_>, at: i64, cpu: u32) -> Result<bool, StoreError> {
    let instant = (at, at.saturating_add(1));
    let mut is_so = false;
    host.store.softirqs(instant, |it| is_so |= it.cpu == cpu)?;
    host.store.irqs(instant, |it| is_so |= it.cpu == cpu)?;
    Ok(is_so)
}
