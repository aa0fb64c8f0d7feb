//! The messages of a store, matched, with who ran at their ends, and what the clocks of their hosts show.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use isochrone_corrections::artefact::RefusedKind;
use isochrone_matching::{End, Matched, MpiEnd, MpiMatched, Recordings, clocks_of};
use isochrone_net::Origin;
use isochrone_store::{
    HostEntry, Message, MessageEnd, MessagesWriter, MpiMessage, MpiWriter, StoreError, StoreWriter,
    TableEntry,
};
use isochrone_sync::{Options, Sinks, SyncError, synchronize_into};
use isochrone_timing::TimedHost;

use super::IndexError;
use crate::experiment::Experiment;

/// Messages whose ends are looked up together, host by host and by time: each batch of packets is read about
/// once for them, and the tables of one host are open at a time.
const LOOKED_UP: usize = 1 << 17;

/// The table of messages, and the corrections, if there are any, with whether they are the whole result of
/// the synchronization.
type Written = (TableEntry, Option<(TableEntry, bool)>);

/// Matches the packets of all hosts and the messages of MPI programs, and writes the messages and what their
/// clocks show. Hosts have the numbers of their order here; `entries` are what was written of them. Memory:
/// what matching needs, and [`LOOKED_UP`] messages.
pub(super) fn write(
    experiment: &Experiment<'_>,
    hosts: &[&TimedHost<'_>],
    entries: &mut [HostEntry],
    store: &mut StoreWriter,
) -> Result<Written, IndexError> {
    // By index of the trace and number of the stream: host and CPU.
    let mut sources: HashMap<(usize, usize), (u32, Option<u32>)> = HashMap::new();
    for (number, host) in (0..).zip(hosts) {
        for source in host.traced.sources() {
            let trace = host.traced.trace_indices[source.trace_number];
            sources.insert((trace, source.stream), (number, source.cpu));
        }
    }
    let end = |end: &End| {
        let Origin::Trace(trace) = end.place.origin else { return None };
        let &(host, cpu) = sources.get(&(trace as usize, end.place.stream as usize))?;
        Some(MessageEnd { host, at: end.raw, cpu, thread: None })
    };
    let mut packets = Packets { writer: store.messages()?, pending: Vec::new(), error: None };
    let packet_sink = &mut |message: &Matched| {
        if let (Some(sent), Some(received)) = (end(&message.sent), end(&message.received)) {
            packets.push([sent, received], entries, store);
        }
    };
    let mut programs = Programs::default();
    // Clocks have the identities of hosts.
    let clocks = clocks_of(experiment.inputs);
    let host_of = |end: &MpiEnd| {
        let id = &clocks.get(end.clock)?.id;
        hosts.iter().position(|host| host.traced.id == *id).map(|index| index as u32)
    };
    let mpi_sink = &mut |message: &MpiMatched| {
        let MpiMatched { sent, received, .. } = message;
        if let (Some(sender), Some(receiver)) = (host_of(sent), host_of(received)) {
            programs.push(message, [sender, receiver], store);
        }
    };
    // Of one host there are no packets between hosts, and nothing to correct; ranks of MPI programs may be on
    // it.
    let is_alone = hosts.len() < 2 && experiment.inputs.captures.is_empty();
    let outcome = match is_alone {
        true => {
            Recordings::new(experiment.inputs, &clocks).mpi_messages(mpi_sink);
            None
        }
        false => {
            let sinks = Sinks { packets: packet_sink, mpi: mpi_sink };
            Some(synchronize_into(experiment.inputs, &Options::default(), &|_| (), sinks))
        }
    };
    let messages = packets.finish(entries, store)?;
    programs.finish(entries, store)?;
    match outcome.transpose() {
        Ok(Some(outcome)) => {
            let clocks = store.clocks(&outcome.artefact.to_json()?, outcome.artefact.clocks.len() as u64)?;
            // Traces that were refused are refused whenever they are opened.
            let mut refused = outcome.refused.iter().filter(|refused| refused.what != RefusedKind::Trace);
            let are_all = refused.next().is_none() && outcome.advice.is_empty();
            Ok((messages, Some((clocks, are_all))))
        }
        // Hosts that have nothing to do with each other have no messages either.
        Ok(None) | Err(SyncError::NothingToDo { .. }) => Ok((messages, None)),
        Err(error) => Err(error.into()),
    }
}

/// Packets between hosts on their way into the store.
struct Packets {
    writer: MessagesWriter,
    pending: Vec<[MessageEnd; 2]>,
    /// The first error, returned by [`Self::finish`].
    error: Option<StoreError>,
}

impl Packets {
    /// Adds a message between some of the hosts, which are by number.
    fn push(&mut self, ends: [MessageEnd; 2], entries: &[HostEntry], store: &StoreWriter) {
        self.pending.push(ends);
        if self.pending.len() >= LOOKED_UP
            && let Err(error) = self.write(entries, store)
        {
            self.error.get_or_insert(error);
        }
    }

    /// Looks up who ran at the pending messages, in the order of time on each host, and writes them.
    fn write(&mut self, entries: &[HostEntry], store: &StoreWriter) -> Result<(), StoreError> {
        let mut messages = std::mem::take(&mut self.pending);
        let mut ends: Vec<(bool, &mut MessageEnd)> =
            messages.iter_mut().flat_map(|[sent, received]| [(true, sent), (false, received)]).collect();
        ends.sort_unstable_by_key(|(is_sent, end)| (end.host, end.at, *is_sent));
        for of_host in ends.chunk_by_mut(|(_, a), (_, b)| a.host == b.host) {
            let host = of_host.first().and_then(|(_, end)| entries.get(end.host as usize));
            let Some(runners) = host.map(|host| store.runners(host)).transpose()? else { continue };
            for (is_sent, end) in of_host {
                if let Some(cpu) = end.cpu {
                    end.thread = runners.at(end.at, cpu, *is_sent)?;
                }
            }
        }
        for [sent, received] in messages {
            self.writer.push(Message::new(sent, received));
        }
        Ok(())
    }

    fn finish(mut self, entries: &[HostEntry], store: &StoreWriter) -> Result<TableEntry, StoreError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        self.write(entries, store)?;
        self.writer.finish()
    }
}

/// Messages of MPI programs on their way into the store.
#[derive(Default)]
struct Programs {
    /// Made for the first message: most hosts have none.
    writer: Option<Result<MpiWriter, StoreError>>,
    /// By number of the host and tid: the ranks that it had.
    ranks: BTreeMap<(u32, i32), BTreeSet<i64>>,
}

impl Programs {
    /// `hosts`: the numbers of those of both ends.
    fn push(&mut self, message: &MpiMatched, hosts: [u32; 2], store: &StoreWriter) {
        let MpiMatched { sent, received, communicator, tag, .. } = message;
        for (end, host) in [sent, received].into_iter().zip(hosts) {
            if let Some(tid) = end.thread {
                self.ranks.entry((host, tid)).or_default().insert(end.rank);
            }
        }
        if let Ok(writer) = self.writer.get_or_insert_with(|| store.mpi()) {
            writer.push(MpiMessage {
                sent_host: hosts[0],
                sent_at: sent.at,
                sent_tid: sent.thread,
                sender: sent.rank,
                received_host: hosts[1],
                received_at: received.at,
                received_tid: received.thread,
                receiver: received.rank,
                communicator: *communicator,
                tag: *tag,
                bytes: sent.bytes,
            });
        }
    }

    fn finish(self, entries: &mut [HostEntry], store: &mut StoreWriter) -> Result<(), StoreError> {
        if let Some(writer) = self.writer {
            store.add_mpi(writer?.finish()?);
        }
        for ((host, tid), ranks) in self.ranks {
            if let (Some(entry), 1, Some(&rank)) =
                (entries.get_mut(host as usize), ranks.len(), ranks.first())
            {
                entry.ranks.insert(tid, rank);
            }
        }
        Ok(())
    }
}
