//! Requests that a client sends before the last answer has come: which of the calls on a connection belong to which of them.
//!
//! A connection carries two streams of bytes. The calls of both ends record how many bytes each of them moved, so a byte that the server
//! read belongs to the write with the same offset. As long as both ends moved the same bytes, requests can be separated:
//!
//! * where the server answers one before it reads the next: at the bytes at which it turned, if a write of the client starts there;
//! * where it reads several at once: if the client sent them in writes of one size, and the server answers in as many writes of one size.
//!
//! What one write sends is one request, whatever the server makes of it. All else is one request, too, and may be several.

use isochrone_time::RawNs;

use crate::socket_calls::{Part, SocketCall};

/// Turns of a client that are looked at together: as long as it always sends something before it has read all that was answered.
const MAX_TURNS: usize = 1024;

/// The calls of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestCalls<'p> {
    /// The client's first write.
    pub(crate) asks: &'p SocketCall,
    /// The read by which the client has the whole answer.
    pub(crate) has: &'p SocketCall,
    /// What the server does for it.
    pub(crate) served: Option<ServedBy<'p>>,
    /// Whether it was sent in writes of one size, and may be several.
    pub(crate) may_be_several: bool,
}

/// The calls of the server for one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ServedBy<'p> {
    /// The first read.
    pub(crate) reads: &'p SocketCall,
    /// When it works for the request: since that read, or since the answer before.
    pub(crate) start: RawNs,
    /// The first write of the answer.
    pub(crate) answers: &'p SocketCall,
    /// The last one.
    pub(crate) ends: &'p SocketCall,
}

/// How many of the next turns of both ends belong together: the client's that has sent something before it had read everything, until
/// it has, and those of the server meanwhile. `None`: something was left unread, or is not traced. `is_before`: whether the turn of the server
/// at an index starts before the given number of the client's turns are over. Linear in the turns.
pub(crate) fn round(
    client: &[Part],
    server: &[Part],
    is_before: impl Fn(usize, usize) -> bool,
) -> Option<(usize, usize)> {
    let mut moved = Moved::default();
    let mut served = 0;
    for (turns, part) in (1..).zip(client.iter().take(MAX_TURNS)) {
        moved.client(part);
        while let Some(part) = server.get(served).filter(|_| is_before(served, turns)) {
            moved.server(part);
            served += 1;
        }
        if moved.is_same() {
            return Some((turns, served));
        }
    }
    None
}

/// How many turns of a client are taken one by one where [`round`] finds nothing: half of those that it has looked at, so that all of it
/// stays linear.
pub(crate) const ONE_BY_ONE: usize = MAX_TURNS / 2;

/// The bytes that both ends moved.
#[derive(Debug, Default, Clone, Copy)]
struct Moved {
    asked: u64,
    answered: u64,
    read: u64,
    written: u64,
}

impl Moved {
    fn client(&mut self, part: &Part) {
        self.asked += sum(&part.first);
        self.answered += sum(&part.then);
    }

    fn server(&mut self, part: &Part) {
        self.read += sum(&part.first);
        self.written += sum(&part.then);
    }

    fn is_same(self) -> bool {
        (self.asked, self.answered) == (self.read, self.written)
    }
}

fn sum(uses: &[SocketCall]) -> u64 {
    uses.iter().map(|it| it.bytes).sum()
}

/// The requests of a round. Linear in its calls.
pub(crate) fn requests<'p>(client: &'p [Part], server: &'p [Part]) -> Vec<RequestCalls<'p>> {
    let mut moved = Moved::default();
    for part in client {
        moved.client(part);
    }
    for part in server {
        moved.server(part);
    }
    let several = if moved.is_same() { split_requests(client, server) } else { Vec::default() };
    if several.len() > 1 { several } else { whole(client, server).into_iter().collect() }
}

/// All calls as one request.
fn whole<'p>(client: &'p [Part], server: &'p [Part]) -> Option<RequestCalls<'p>> {
    let asked = Stream::new(client.iter().flat_map(|part| &part.first));
    let answered = Stream::new(client.iter().flat_map(|part| &part.then));
    let (asks, last) = (asked.uses.first().copied()?, answered.uses.last().copied()?);
    let mut served = None;
    let mut has = last;
    if let (Some(first), Some(end)) = (server.first(), server.last()) {
        let (reads, answers, ends) = (first.first.first()?, first.then.first()?, end.then.last()?);
        served = Some(ServedBy { reads, start: reads.end, answers, ends });
        let written: u64 = server.iter().map(|part| sum(&part.then)).sum();
        has = answered.at(written.saturating_sub(1)).unwrap_or(last);
    }
    let may_be_several = asked.uses.len() > 1 && asked.one_size().is_some();
    Some(RequestCalls { asks, has, served, may_be_several })
}

/// The requests of a round of which both ends moved the same bytes: none or one, where they cannot be separated.
fn split_requests<'p>(client: &'p [Part], server: &'p [Part]) -> Vec<RequestCalls<'p>> {
    let asked = Stream::new(client.iter().flat_map(|part| &part.first));
    let answered = Stream::new(client.iter().flat_map(|part| &part.then));
    let read = Stream::new(server.iter().flat_map(|part| &part.first));
    let written = Stream::new(server.iter().flat_map(|part| &part.then));
    // Where each request ends in both streams.
    let mut ends = Vec::new();
    let mut end = (0, 0);
    for part in server {
        end = (end.0 + sum(&part.first), end.1 + sum(&part.then));
        if asked.is_border(end.0) {
            ends.push(end);
        }
    }
    if let (1, Some(count)) = (ends.len(), asked.uses.len().checked_sub(1).filter(|&more| more > 0))
        && let (Some(size), Some(answer)) = (asked.one_size(), written.one_size())
        && written.uses.len() == count + 1
    {
        ends = (1..=count as u64 + 1).map(|number| (number * size, number * answer)).collect();
    }
    let mut requests = Vec::with_capacity(ends.len());
    let mut start = (0, 0);
    let mut before: Option<&SocketCall> = None;
    for end in ends {
        let calls = (
            asked.at(start.0),
            answered.at(end.1.saturating_sub(1)),
            read.at(start.0),
            (written.at(start.1), written.at(end.1.saturating_sub(1))),
        );
        let (Some(asks), Some(has), Some(reads), (Some(answers), Some(last))) = calls else { break };
        let since = before.filter(|before| before.thread == reads.thread).map(|before| before.end);
        let served = ServedBy {
            reads,
            start: since.map_or(reads.end, |since| since.max(reads.end)),
            answers,
            ends: last,
        };
        requests.push(RequestCalls { asks, has, served: Some(served), may_be_several: false });
        (start, before) = (end, Some(last));
    }
    requests
}

/// Calls that move bytes of one stream, one after the other.
#[derive(Debug)]
struct Stream<'p> {
    uses: Vec<&'p SocketCall>,
    /// Where each of them ends.
    ends: Vec<u64>,
}

impl<'p> Stream<'p> {
    fn new(uses: impl Iterator<Item = &'p SocketCall>) -> Self {
        let uses: Vec<&SocketCall> = uses.collect();
        let mut end = 0;
        let ends = uses
            .iter()
            .map(|it| {
                end += it.bytes;
                end
            })
            .collect();
        Self { uses, ends }
    }

    /// The call that moved the byte at an index.
    fn at(&self, index: u64) -> Option<&'p SocketCall> {
        self.uses.get(self.ends.partition_point(|&end| end <= index)).copied()
    }

    /// Whether a call ends at an index.
    fn is_border(&self, index: u64) -> bool {
        self.ends.binary_search(&index).is_ok()
    }

    /// How many bytes each of the calls moved, if all moved as many.
    fn one_size(&self) -> Option<u64> {
        let size = self.uses.first()?.bytes;
        self.uses.iter().all(|it| it.bytes == size).then_some(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket_calls::{SocketOp, parts};
    use isochrone_store::ThreadRow;

    /// The calls of both ends of a connection: `w` writes and `r` reads a number of bytes, each at ten times its index among all; capital
    /// letters are the server's.
    fn parsed(script: &str) -> [Vec<Part>; 2] {
        let calls: Vec<(bool, SocketCall)> = (0..)
            .zip(script.split_whitespace())
            .map(|(index, step)| {
                let (letter, bytes) = step.split_at(1);
                let what = if letter.eq_ignore_ascii_case("w") { SocketOp::Write } else { SocketOp::Read };
                let is_server = letter != letter.to_lowercase();
                let bytes = bytes.parse().unwrap_or(0);
                (
                    is_server,
                    SocketCall {
                        what,
                        thread: ThreadRow(1),
                        start: RawNs(index * 10),
                        end: RawNs(index * 10 + 5),
                        bytes,
                    },
                )
            })
            .collect();
        let of = |is_server: bool| {
            let uses = calls.iter().filter(|(server, _)| *server == is_server);
            uses.map(|(_, it)| *it).collect::<Vec<_>>()
        };
        [parts(&of(false), SocketOp::Write), parts(&of(true), SocketOp::Read)]
    }

    /// Checks where requests start and end for the client, and since when and until when the server works for them.
    fn check(script: &str, expect: &[(i64, i64, i64, i64)]) {
        let [client, server] = parsed(script);
        let (mut client, mut server) = (client.as_slice(), server.as_slice());
        let mut found = Vec::new();
        while !client.is_empty() {
            let is_before = |index: usize, turns: usize| {
                client.get(turns).is_none_or(|next| server[index].first[0].end < next.first[0].start)
            };
            let alone = || (1, usize::from(!server.is_empty() && is_before(0, 1)));
            let (turns, served) = round(client, server, is_before).unwrap_or_else(alone);
            let all = requests(&client[..turns], &server[..served]);
            found.extend(all.into_iter().map(|asked| {
                let (start, end) =
                    asked.served.map_or((0, 0), |served| (served.start.0, served.ends.start.0));
                (asked.asks.start.0, asked.has.start.0, start, end)
            }));
            (client, server) = (&client[turns..], &server[served..]);
        }
        assert_eq!(found, expect, "{script}");
    }

    #[test]
    fn one_after_the_other() {
        check("w64 R64 W10 r10 w64 R64 W10 r10", &[(0, 30, 15, 20), (40, 70, 55, 60)]);
        // In several writes and reads.
        check("w64 w9 R73 W10 W20 r25 r5", &[(0, 60, 25, 40)]);
        // The client does not read everything that is answered.
        check("w64 R64 W10 r4 w64 R64 W10 r4", &[(0, 30, 15, 20), (40, 70, 55, 60)]);
    }

    #[test]
    fn the_server_answers_one_before_it_reads_the_next() {
        check("w64 w70 R64 W10 R70 W20 r30", &[(0, 60, 25, 30), (10, 60, 45, 50)]);
        check("w64 w70 R64 W10 r10 R70 W20 r20", &[(0, 40, 25, 30), (10, 70, 55, 60)]);
        // A window of two.
        check(
            "w64 w64 R64 W10 r10 w64 R64 W10 r10 R64 W10 r10",
            &[(0, 40, 25, 30), (10, 80, 65, 70), (50, 110, 95, 100)],
        );
        // What one write sends is one request.
        check("w128 R64 W10 R64 W10 r20", &[(0, 50, 15, 40)]);
    }

    #[test]
    fn the_server_reads_several_at_once() {
        check("w64 w64 w64 R192 W10 W10 W10 r30", &[(0, 70, 35, 40), (10, 70, 45, 50), (20, 70, 55, 60)]);
        // Header and body.
        check("w64 w9 R73 W10 W10 r20", &[(0, 50, 25, 40)]);
        check("w64 w64 R128 W30 r30", &[(0, 40, 25, 30)]);
        let [client, server] = parsed("w64 w64 R128 W30 r30");
        assert!(requests(&client, &server)[0].may_be_several);
    }
}
