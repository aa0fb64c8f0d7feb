//! The merge invariant: for all cuts of a history and all orders of merges, bytes and spans are the same.

use std::io;
use std::sync::Mutex;

use isochrone_net::Flow;
use proptest::prelude::*;

use super::{DumpOwner, FileOp, FileSpan, Files};
use crate::calls::{Created, Effect, EpollChange, EpollReady, ExitOutput, Opener, Paired, Use};
use crate::id::{PIECE_BEGIN, ThreadAliases, ThreadId, Time};
use crate::scratch::{Scratch, Storage};
use crate::span::{Poll, Spans};

#[derive(Default)]
struct Memory(Mutex<Vec<u8>>);

impl Storage for Memory {
    fn append(&self, bytes: &[u8]) -> io::Result<u64> {
        let mut all = self.0.lock().unwrap();
        all.extend_from_slice(bytes);
        Ok((all.len() - bytes.len()) as u64)
    }

    fn read(&self, from: u64, into: &mut [u8]) -> io::Result<()> {
        into.copy_from_slice(&self.0.lock().unwrap()[from as usize..][..into.len()]);
        Ok(())
    }
}

#[derive(Debug, Default)]
struct Emitted(Vec<FileSpan>, Vec<Poll>);

impl Spans for Emitted {
    fn file(&mut self, span: &FileSpan) {
        self.0.push(span.clone());
    }
    fn poll(&mut self, poll: &Poll) {
        self.1.push(poll.clone());
    }
    fn rename(&mut self, aliases: &ThreadAliases) {
        self.0.iter_mut().for_each(|span| span.rename(aliases));
        self.1.iter_mut().for_each(|poll| aliases.change(&mut poll.thread));
    }
    fn absorb(&mut self, mut right: Self) {
        self.0.append(&mut right.0);
        self.1.append(&mut right.1);
    }
}

const THREADS: i32 = 4;

fn thread(tid: i32) -> ThreadId {
    ThreadId::Thread { tid, born: PIECE_BEGIN }
}

/// A history: operations, and when threads were unidentified.
#[derive(Debug, Clone)]
struct History {
    ops: Vec<Planned>,
    /// A thread is unidentified in `from..until`.
    windows: Vec<(i32, usize, usize)>,
}

#[derive(Debug, Clone)]
struct Planned {
    op: FileOp,
    /// Of a call: where its entry is, as an index of an operation; negative: before the trace.
    entry: i64,
}

impl History {
    /// The operation as the piece that begins at `first` sees it.
    fn op(&self, index: usize, first: usize) -> FileOp {
        let planned = &self.ops[index];
        let mut op = planned.op.clone();
        if let FileOp::Call { effect, flow, .. } = &mut op
            && planned.entry < first as i64
        {
            (*effect, *flow) = (None, None);
        }
        let mut aliases = ThreadAliases::default();
        for (place, &(tid, from, until)) in self.windows.iter().enumerate() {
            if (from..until).contains(&index) {
                aliases.add(thread(tid), alias(place));
            }
        }
        op.rename(&aliases);
        op
    }

    /// The aliases known from `first..last`.
    fn aliases(&self, first: usize, last: usize) -> ThreadAliases {
        let mut aliases = ThreadAliases::default();
        for (place, &(tid, _, until)) in self.windows.iter().enumerate() {
            if (first..last).contains(&until) {
                aliases.add(alias(place), thread(tid));
            }
        }
        aliases
    }

    fn piece(&self, first: usize, last: usize, settled: bool) -> (Files, Emitted, usize, usize) {
        let mut files = Files::with_scratch(settled, Scratch::new(Memory::default()));
        let mut emitted = Emitted::default();
        for index in first..last {
            let aliases = self.aliases(index, index + 1);
            files.rename(&aliases);
            files.settle(&mut emitted);
            files.note(self.op(index, first), &mut emitted);
        }
        (files, emitted, first, last)
    }

    fn join(
        &self,
        left: (Files, Emitted, usize, usize),
        right: (Files, Emitted, usize, usize),
    ) -> (Files, Emitted, usize, usize) {
        let (mut files, mut emitted, first, seam) = left;
        let (mut there, more, _, last) = right;
        let aliases = self.aliases(first, last);
        files.rename(&aliases);
        files.settle(&mut emitted);
        there.rename(&aliases);
        for index in seam..last {
            let FileOp::Call { thread, at, effect: Some(effect), flow, .. } = &self.op(index, 0) else {
                continue;
            };
            if (first as i64..seam as i64).contains(&self.ops[index].entry) {
                there.fill(aliases.of(*thread), *at, effect, flow.as_deref());
            }
        }
        files.append(there, &mut emitted);
        emitted.absorb(more);
        (files, emitted, first, last)
    }
}

fn alias(place: usize) -> ThreadId {
    ThreadId::Unidentified { cpu: place as u32, since: PIECE_BEGIN }
}

fn effect() -> impl Strategy<Value = Effect> {
    let fd = 0..6_i32;
    let flag = any::<bool>();
    prop_oneof![
        8 => (fd.clone(), 0..3_u8).prop_map(|(fd, what)| {
            let what = [Use::Read, Use::Write, Use::Other][usize::from(what)];
            Effect::Use { fd, what }
        }),
        3 => (proptest::option::of(fd.clone()), flag).prop_map(|(dir, cloexec)| Effect::Open {
            call: Opener::Openat,
            dir,
            path: if dir == Some(3) { "/d".into() } else { "x".into() },
            flags: if cloexec { 0o200_0000 } else { 0 },
        }),
        1 => flag.prop_map(|close_on_exec| Effect::Create { call: Opener::Eventfd2, what: Created::Event, close_on_exec }),
        1 => Just(Effect::Create {
            call: Opener::Socket,
            what: Created::Socket { family: 2, kind: 1, protocol: 0 },
            close_on_exec: false,
        }),
        1 => Just(Effect::Pair { call: Opener::Pipe, what: Paired::Pipe, close_on_exec: false }),
        3 => fd.clone().prop_map(|fd| Effect::Close { fd }),
        1 => (0..6_u32, 0..8_u32, 0..8_u32).prop_map(|(first, last, flags)| Effect::CloseRange { first, last, flags }),
        2 => (fd.clone(), proptest::option::of(fd.clone()), flag).prop_map(|(fd, to, close_on_exec)| {
            Effect::Duplicate { call: Opener::Dup3, fd, to, close_on_exec }
        }),
        1 => (fd.clone(), flag).prop_map(|(fd, on)| Effect::CloseOnExec { fd, on }),
        1 => fd.clone().prop_map(|fd| Effect::Connect { fd, peer: None }),
        1 => fd.clone().prop_map(|fd| Effect::Listen { fd }),
        1 => fd.clone().prop_map(|fd| Effect::Accept { call: Opener::Accept, fd, close_on_exec: true }),
        1 => (fd.clone(), fd.clone()).prop_map(|(from, to)| Effect::Transfer { from, to }),
        2 => (fd.clone(), fd.clone(), 0..4_u64).prop_map(|(set, fd, data)| Effect::EpollControl {
            set,
            fd,
            change: match data {
                3 => EpollChange::Remove,
                data => EpollChange::Set { events: 1, data: Some(data) },
            },
        }),
        1 => fd.clone().prop_map(|set| Effect::EpollWait { set }),
        1 => Just(Effect::Unshare { flags: 0x400 }),
        1 => Just(Effect::Nothing),
    ]
}

fn flow(port: u16) -> Flow {
    Flow { protocol: 6, source: ([10, 0, 0, 1], port).into(), destination: ([10, 0, 0, 2], 80).into() }
}

fn op() -> impl Strategy<Value = (FileOp, u8)> {
    let who = || (0..THREADS).prop_map(thread);
    let ret = prop_oneof![6 => 0..6_i64, 1 => Just(-2_i64), 1 => Just(-9_i64), 1 => Just(-115_i64)];
    // Sometimes with a packet.
    let flow = || (0..8_u16).prop_map(|port| (port < 3).then(|| Box::new(flow(port))));
    let call = (who(), effect(), ret, 0..6_i32, flow()).prop_map(|(thread, effect, ret, other, flow)| {
        let output = match effect {
            Effect::Pair { .. } if ret >= 0 => ExitOutput::Pair(ret as i32, other),
            Effect::EpollWait { .. } if ret > 0 => {
                ExitOutput::EpollReady([EpollReady { data: other as u64, events: 1 }].into())
            }
            _ => ExitOutput::Nothing,
        };
        let name = match &effect {
            Effect::Pair { call, .. } | Effect::Open { call, .. } | Effect::Create { call, .. } => {
                Some(call.name().into())
            }
            Effect::Close { .. } => Some("close".into()),
            _ => None,
        };
        FileOp::Call { thread, at: Time(0), effect: Some(effect), name, ret, output, flow }
    });
    let op = prop_oneof![
        20 => call,
        2 => (who(), who(), any::<bool>())
            .prop_map(|(parent, child, shares_table)| FileOp::Fork {
                parent,
                child,
                at: Time(0),
                shares_table,
                is_guess: !shares_table
            }),
        1 => who().prop_map(|thread| FileOp::Exec { thread, at: Time(0) }),
        1 => who().prop_map(|thread| FileOp::Exit { thread, at: Time(0) }),
        4 => (who(), 0..3_i32).prop_map(|(thread, pid)| FileOp::Member { thread, pid }),
        1 => (who(), 0..3_u64).prop_map(|(thread, table)| FileOp::DumpOwner { thread, table }),
        1 => (0..3_u64, 0..6_i32).prop_map(|(table, fd)| FileOp::DumpFile {
            owner: DumpOwner::Table(table),
            at: Time(0),
            fd,
            flags: Some(0o200_0000),
            name: "/dumped".into(),
        }),
        1 => (who(), 0..6_i32).prop_map(|(thread, fd)| FileOp::DumpFile {
            owner: DumpOwner::Thread(thread),
            at: Time(0),
            fd,
            flags: None,
            name: "socket:[1]".into(),
        }),
        1 => Just(FileOp::Lost { at: Time(0) }),
        1 => (0..9_i64).prop_map(|to| FileOp::LossBegins { at: Time(0), to: Time(to) }),
    ];
    // How far before the call its entry is.
    (op, 0..20_u8)
}

fn time_of(op: &mut FileOp) -> Option<&mut Time> {
    match op {
        FileOp::Call { at, .. }
        | FileOp::Fork { at, .. }
        | FileOp::Exec { at, .. }
        | FileOp::Exit { at, .. }
        | FileOp::DumpFile { at, .. }
        | FileOp::LossBegins { at, .. }
        | FileOp::Lost { at } => Some(at),
        FileOp::Member { .. } | FileOp::DumpOwner { .. } => None,
    }
}

fn history() -> impl Strategy<Value = History> {
    let windows = proptest::collection::vec((0..THREADS, 0..40_usize, 1..15_usize), 0..3);
    (proptest::collection::vec(op(), 0..60), windows).prop_map(|(ops, windows)| {
        let mut now = 0;
        let mut before = None;
        let ops = ops.into_iter().enumerate().map(|(index, (mut op, distance))| {
            // Times may be equal, but not within one thread.
            let thread = match &op {
                FileOp::Call { thread, .. } => Some(*thread),
                _ => None,
            };
            if index % 3 != 0 || thread.is_none() || thread == before {
                now += 10;
            }
            before = thread;
            if let Some(at) = time_of(&mut op) {
                *at = Time(now);
            }
            Planned { op, entry: index as i64 - i64::from(distance) }
        });
        let ops = ops.collect();
        let mut last = [0; THREADS as usize];
        let mut apart = Vec::new();
        for (tid, from, length) in windows {
            // Windows of one thread do not overlap.
            let from = from.max(last[tid as usize]);
            last[tid as usize] = from + length + 1;
            apart.push((tid, from, from + length));
        }
        History { ops, windows: apart }
    })
}

/// Joins pieces in an order that `choices` define.
fn joined(
    history: &History,
    cuts: &[usize],
    choices: &[usize],
    settled: bool,
) -> (Files, Emitted, usize, usize) {
    let mut borders: Vec<usize> = cuts.iter().map(|cut| cut % (history.ops.len() + 1)).collect();
    borders.extend([0, history.ops.len()]);
    borders.sort_unstable();
    let mut pieces: Vec<_> = borders
        .windows(2)
        .enumerate()
        .map(|(index, pair)| history.piece(pair[0], pair[1], settled && index == 0))
        .collect();
    let mut choices = choices.iter().cycle();
    while pieces.len() > 1 {
        let at = choices.next().copied().unwrap_or_default() % (pieces.len() - 1);
        let right = pieces.remove(at + 1);
        let left = pieces.remove(at);
        // Pieces are passed on as bytes.
        let left = (again(&left.0), left.1, left.2, left.3);
        pieces.insert(at, history.join(left, right));
    }
    pieces.remove(0)
}

fn again(files: &Files) -> Files {
    postcard::from_bytes(&bytes(files)).unwrap()
}

fn bytes(files: &Files) -> Vec<u8> {
    postcard::to_stdvec(files).unwrap()
}

fn finished(piece: (Files, Emitted, usize, usize)) -> (Vec<FileSpan>, Vec<Poll>) {
    let (files, mut emitted, ..) = piece;
    files.finish(Time(1_000_000), &mut emitted);
    emitted.0.sort();
    emitted.1.sort_by_key(|poll| (poll.at, poll.thread, poll.set));
    (emitted.0, emitted.1)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn any_partition_makes_the_same(
        history in history(),
        cuts in proptest::collection::vec(any::<usize>(), 0..6),
        choices in proptest::collection::vec(any::<usize>(), 1..6),
        settled in any::<bool>(),
    ) {
        let whole = history.piece(0, history.ops.len(), settled);
        let merged = joined(&history, &cuts, &choices, settled);
        prop_assert_eq!(&merged.0, &whole.0);
        prop_assert_eq!(bytes(&merged.0), bytes(&whole.0));
        prop_assert_eq!(finished(merged), finished(whole));
    }
}
