//! Packets that a stream has twice: a copy of a file next to it, a packet that was appended again. They are
//! read once.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use isochrone_diagnostic::{Diagnostic, Severity};

use super::Packet;

/// Packets of a file that were left out, by the file they are in and by the file of those that are read.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    left_out: BTreeMap<(u32, u32, Repeat), LeftOut>,
}

/// What a packet has in common with the one that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Repeat {
    /// Everything.
    All,
    /// Number and times; what is in it is something else.
    Head,
}

#[derive(Debug)]
struct LeftOut {
    count: u64,
    /// Number and byte of the first of them.
    first: (u32, u64),
}

impl Repeats {
    /// Takes packets of a stream, from the index `known` on, out that have number and times of an earlier
    /// one. The stream must number its packets, and those from `known` on must be in order. Linear, but for
    /// what is compared of packets that are alike.
    pub(super) fn take_out<'b>(
        &mut self,
        packets: &mut Vec<Packet>,
        known: usize,
        content: impl Fn(&Packet) -> &'b [u8],
    ) {
        let (old, new) = packets.split_at(known);
        let mut repeated: Vec<usize> = Vec::new();
        let mut index = known;
        for group in new.chunk_by(|a, b| a.begin() == b.begin()) {
            let begin = group[0].begin();
            // Known packets can be out of order where some came late. Then one may be read twice.
            let alike = old.partition_point(|packet| packet.begin() < begin);
            let alike = old[alike..].iter().take_while(|packet| packet.begin() == begin);
            if begin.is_some() && (group.len() > 1 || alike.clone().next().is_some()) {
                let mut kept: HashMap<(u64, u64), &Packet> = HashMap::new();
                for packet in alike {
                    first_like(&mut kept, packet);
                }
                for (number, packet) in group.iter().enumerate() {
                    let Some(first) = first_like(&mut kept, packet) else { continue };
                    let same = content(first) == content(packet);
                    self.add(packet, first, if same { Repeat::All } else { Repeat::Head });
                    repeated.push(index + number);
                }
            }
            index += group.len();
        }
        let (mut index, mut repeated) = (0, repeated.into_iter().peekable());
        if repeated.peek().is_some() {
            packets.retain(|_| {
                index += 1;
                repeated.next_if_eq(&(index - 1)).is_none()
            });
        }
    }

    fn add(&mut self, packet: &Packet, first: &Packet, repeat: Repeat) {
        let index = (packet.number, packet.offset);
        let left_out = self.left_out.entry((packet.file, first.file, repeat));
        let left_out = left_out.or_insert(LeftOut { count: 0, first: index });
        left_out.count += 1;
        left_out.first = left_out.first.min(index);
    }

    /// What was left out, file by file.
    pub(super) fn diagnostics<'n>(
        &self,
        directory: &Path,
        file_name: impl Fn(u32) -> &'n Path,
    ) -> impl Iterator<Item = Diagnostic> {
        self.left_out.iter().map(move |(&(file, of, repeat), left_out)| {
            let index = if file == of { "this file".into() } else { file_name(of).to_string_lossy() };
            let (one, count) = (left_out.count == 1, left_out.count);
            let (severity, message) = match repeat {
                Repeat::All if one => (Severity::Note, format!("the packet is in {index} already; it is read once")),
                Repeat::All => {
                    let message = format!("from here on, {count} packets are in {index} already; they are read once");
                    (Severity::Note, message)
                }
                Repeat::Head => {
                    let which = if one { "the packet has" } else { "from here on, packets have" };
                    let message =
                        format!("{which} number and times of another one in {index}, but not its content; {count} left out");
                    (Severity::Loss, message)
                }
            };
            let (packet, offset) = left_out.first;
            Diagnostic::new(severity, directory.join(file_name(file)), message).at(u64::from(packet), offset)
        })
    }
}

/// The packet like this one that came first, if another one did; `kept` are packets of one begin by what else
/// distinguishes them apart.
fn first_like<'p>(kept: &mut HashMap<(u64, u64), &'p Packet>, packet: &'p Packet) -> Option<&'p Packet> {
    // What says nothing of its size is the rest of its file.
    let end = packet.end().filter(|_| !packet.open_ended)?;
    let first = *kept.entry((end, packet.sequence)).or_insert(packet);
    (!std::ptr::eq(first, packet)).then_some(first)
}
