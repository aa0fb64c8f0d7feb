//! Hand-made spans and a hand-made host, and what all analyses have to be: the same however their spans are
//! cut apart.

use std::borrow::Cow;
use std::io;
use std::sync::Mutex;

use isochrone_kernel::calls::{Effect, Entry, Exit, ExitOutput, Opener, Use};
use isochrone_kernel::files::{Bound, ClosedBy, FileKind, FileSpan, OpenedBy, Socket, Uses};
use isochrone_kernel::scratch::{Scratch, Storage};
use isochrone_kernel::{
    BlockRequest, Half, Irq, Migration, Missed, Name, NetPacket, OffCpu, OffCpuReason, OwnedHalfSyscall,
    OwnedSyscall, PIECE_BEGIN, PageAllocation, PageFault, Period, Phase, SchedLatency, Slice, Softirq, Span,
    Spans, ThreadAliases, ThreadId, Unknown,
};

use isochrone_periods::Value;
use isochrone_time::{RawNs, UnixNs, Window};

use crate::analysis_set::{AnalysisSet, reports};
use crate::host::{HostContext, ThreadIdentity};
use crate::needs::Need;
use crate::options::Options;
use crate::output::table::{Cell, Table};
use crate::registry::AnalysisKind;
use crate::steps::Steps;
use crate::window::When;

/// The window from one raw time to another.
pub(crate) fn window(start: i64, end: i64) -> Window<RawNs> {
    Window::new(RawNs(start), RawNs(end))
}

/// The thread of a number.
pub(crate) fn thread(tid: i32) -> ThreadId {
    ThreadId::Thread { tid, born: PIECE_BEGIN }
}

/// The idle task of a CPU.
pub(crate) fn idle(cpu: u32) -> ThreadId {
    ThreadId::Idle(cpu)
}

pub(crate) fn slice(cpu: u32, thread: ThreadId, begin: i64, end: i64) -> Span {
    let [begin, end] = [begin, end].map(RawNs);
    Span::Slice(Slice { cpu, thread, priority: Some(20), begin, end })
}

pub(crate) fn unknown(cpu: u32, thread: Option<ThreadId>, begin: i64, end: i64) -> Span {
    let [begin, end] = [begin, end].map(RawNs);
    Span::Unknown(Unknown { cpu, thread, begin, end })
}

pub(crate) fn migration(thread: ThreadId, at: i64, to: u32) -> Span {
    Span::Migration(Migration { thread, at: RawNs(at), to })
}

/// A wait for a CPU after a wake-up by thread 1.
pub(crate) fn latency(who: ThreadId, cpu: u32, priority: i32, begin: i64, end: i64) -> Span {
    let [begin, end] = [begin, end].map(RawNs);
    Span::SchedLatency(SchedLatency { thread: who, waker: Some(thread(1)), cpu, priority, begin, end })
}

pub(crate) fn off_cpu(thread: ThreadId, reason: OffCpuReason, begin: i64, end: i64) -> Span {
    let [begin, end] = [begin, end].map(RawNs);
    Span::OffCpu(OffCpu { thread, reason, begin, end, waker: None })
}

pub(crate) fn irq(cpu: u32, number: i32, name: &str, begin: i64, end: i64) -> Span {
    let [begin, end] = [begin, end].map(RawNs);
    Span::Irq(Irq { cpu, number, name: name.into(), ret: 1, begin, end })
}

pub(crate) fn softirq(cpu: u32, vector: u32, raised: Option<i64>, begin: i64, end: i64) -> Span {
    let [begin, end] = [begin, end].map(RawNs);
    Span::Softirq(Softirq { cpu, vector, raised: raised.map(RawNs), begin, end })
}

/// A period that captured its number at its begin, and 1 at its end.
pub(crate) fn period(
    name: &str,
    number: u64,
    parent: Option<(u64, &str)>,
    thread: ThreadId,
    (begin, end): (i64, i64),
) -> Span {
    let captured = |name: &str, value: u64| vec![(name.into(), Value::Number(value.into()))];
    Span::Period(Box::new(Period {
        name: name.into(),
        number,
        parent: parent.map(|(number, name)| (number, name.into())),
        thread,
        begin: RawNs(begin),
        end: RawNs(end),
        is_cut: false,
        begin_captures: captured("irq", number),
        end_captures: captured("ret", 1),
    }))
}

pub(crate) fn phase(name: &str, thread: ThreadId, begin: i64, end: i64) -> Span {
    Span::Phase(Phase { name: name.into(), thread, begin: RawNs(begin), end: RawNs(end) })
}

/// A call that returns on CPU 0, without a line.
pub(crate) fn call(thread: ThreadId, name: &str, begin: i64, end: i64, ret: i64) -> Span {
    let [begin, end] = [begin, end].map(RawNs);
    let entry = Entry { name: name.into(), effect: Effect::default(), arguments: None };
    let exit = Exit { name: Some(name.into()), ret, output: ExitOutput::default(), arguments: None };
    Span::Syscall(Box::new(OwnedSyscall { thread, cpu: 0, begin, end, entry, exit }))
}

/// A call that returns on CPU 0, with its arguments as text and what it does to descriptors.
pub(crate) fn line(
    who: ThreadId,
    name: &str,
    text: &str,
    effect: Effect,
    (begin, end, ret): (i64, i64, i64),
) -> Span {
    let mut call = call(who, name, begin, end, ret);
    if let Span::Syscall(call) = &mut call {
        call.entry.arguments = Some(text.into());
        call.entry.effect = effect;
    }
    call
}

pub(crate) fn half(thread: ThreadId, name: Option<&str>, at: i64, half: Half) -> Span {
    let at = RawNs(at);
    Span::HalfSyscall(OwnedHalfSyscall { thread, cpu: 0, name: name.map(Name::from), at, half, entry: None })
}

/// A descriptor of process 2 that was opened and closed.
pub(crate) fn file(thread: ThreadId, fd: i32, name: &str, begin: i64, end: i64) -> FileSpan {
    FileSpan {
        thread,
        process: Some(2),
        fd,
        begin: RawNs(begin),
        end: RawNs(end),
        begin_bound: Bound::Hard,
        end_bound: Bound::Hard,
        kind: FileKind::File,
        name: name.into(),
        opened_by: OpenedBy::Call(Opener::Open),
        closed_by: ClosedBy::Close,
        close_on_exec: false,
        is_doubtful: false,
        doubtful_from: None,
        uses: Uses::default(),
    }
}

/// A request to a disk that was issued and completed.
pub(crate) fn request(
    device: u32,
    thread: Option<ThreadId>,
    sectors: u32,
    is_write: bool,
    (issued, completed): (i64, i64),
) -> Span {
    Span::BlockRequest(BlockRequest {
        device,
        sector: 100,
        sectors,
        is_write,
        bytes: None,
        thread,
        inserted: None,
        issued: Some(RawNs(issued)),
        completed: Some(RawNs(completed)),
        error: 0,
        is_partial: false,
    })
}

pub(crate) fn pages(thread: ThreadId, at: i64, pages: u64, is_free: bool) -> Span {
    Span::PageAllocation(PageAllocation { at: RawNs(at), thread, pages, is_free })
}

/// A fault of the program, and when it is over.
pub(crate) fn page_fault(who: ThreadId, at: i64, address: u64, end: Option<i64>) -> Span {
    Span::PageFault(Box::new(PageFault {
        thread: who,
        cpu: 0,
        begin: RawNs(at),
        end: end.map(RawNs),
        address,
        ip: 0x40_1000,
        code: None,
        is_user: true,
    }))
}

/// A packet while thread 1 ran on CPU 0.
pub(crate) fn packet(at: i64, device: &str, bytes: u32, is_sent: bool) -> Span {
    let device = device.into();
    let carried = isochrone_net::Carried::default();
    Span::Packet(NetPacket {
        at: RawNs(at),
        cpu: 0,
        thread: thread(1),
        device,
        bytes,
        buffer: None,
        flow: None,
        carried,
        is_sent,
    })
}

/// I/O of the two threads of process 2: descriptor 3 is `/x`, 9 an internet socket without an address.
pub(crate) fn io_spans() -> Vec<Span> {
    let open = |path: &str| Effect::Open { call: Opener::Openat, dir: None, path: path.into(), flags: 0 };
    let uses = |fd, what| Effect::Use { fd, what };
    let socket = FileKind::Socket(Box::new(Socket { family: Some(2), ..Socket::default() }));
    let sda = 8 << 20;
    vec![
        line(thread(2), "openat", "", open("/x"), (10, 13, 3)),
        line(thread(2), "openat", "", open("/none"), (14, 15, -2)),
        line(thread(2), "read", "", uses(3, Use::Read), (20, 30, 100)),
        line(thread(3), "read", "", uses(3, Use::Read), (31, 36, -11)),
        line(thread(2), "sendto", "", uses(9, Use::Write), (40, 44, 300)),
        line(thread(2), "sendfile", "", Effect::Transfer { from: 3, to: 9 }, (50, 56, 200)),
        line(thread(3), "fsync", "", uses(3, Use::Other), (60, 80, 0)),
        line(thread(2), "close", "", Effect::Close { fd: 3 }, (89, 90, 0)),
        call(thread(2), "getpid", 91, 92, 2),
        request(sda, Some(thread(2)), 8, true, (60, 70)),
        request(sda, Some(thread(3)), 2, false, (50, 54)),
        request(sda, Some(thread(2)), 0, true, (70, 75)),
        request(252 << 20 | 1, None, 1, true, (80, 83)),
        Span::File(Box::new(file(thread(2), 3, "/x", 13, 90))),
        Span::File(Box::new(FileSpan { kind: socket, ..file(thread(2), 9, "", 1, 100) })),
    ]
}

/// A host with three threads: init (1) and worker (2) with a second thread (3), and events from 0 to 100. Its
/// clock showed 0 at 1000 ns after the begin of 1970.
pub(crate) struct Simple {
    name: String,
    lacking: Vec<Need>,
    missed: Missed,
}

impl Simple {
    /// One that did not record some events.
    pub(crate) fn without(lacking: &[Need]) -> Self {
        Self { lacking: lacking.to_vec(), ..Self::new("h") }
    }

    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), lacking: Vec::new(), missed: Missed::default() }
    }
}

impl HostContext for Simple {
    fn name(&self) -> &str {
        &self.name
    }

    fn window(&self) -> Option<Window<RawNs>> {
        Some(window(0, 100))
    }

    fn unix(&self, raw: RawNs) -> UnixNs {
        UnixNs(i128::from(raw.ns()) + 1000)
    }

    fn thread(&self, id: ThreadId) -> Option<ThreadIdentity<'_>> {
        let who = |pid, comm: &'static str, leader| ThreadIdentity {
            pid: Some(pid),
            leader: Some(thread(leader)),
            comm: Some(Cow::Borrowed(comm)),
            is_kernel: Some(false),
            ..ThreadIdentity::default()
        };
        match id.tid()? {
            1 => Some(ThreadIdentity { ppid: Some(0), ..who(1, "init", 1) }),
            2 => Some(ThreadIdentity { ppid: Some(1), born: Some(RawNs(10)), ..who(2, "worker", 2) }),
            3 => Some(ThreadIdentity {
                ppid: Some(1),
                born: Some(RawNs(20)),
                died: Some(RawNs(90)),
                ..who(2, "worker", 2)
            }),
            _ => None,
        }
    }

    fn missed(&self) -> &Missed {
        &self.missed
    }

    fn comm_at(&self, thread: ThreadId, _: RawNs) -> Option<&str> {
        (thread.tid() == Some(1)).then_some("init")
    }

    fn lacks(&self, need: Need) -> bool {
        self.lacking.contains(&need)
    }

    fn disk(&self, device: u32) -> Option<&Name> {
        const SDA: Name = Name::const_new("sda");
        (device == 8 << 20).then_some(const { &SDA })
    }

    fn threads(&self) -> Vec<ThreadId> {
        [1, 2, 3].map(thread).to_vec()
    }
}

/// A place outside of tables and logs, which is in memory all the same.
pub(crate) fn scratch() -> Scratch {
    struct InMemory(Mutex<Vec<u8>>);

    impl Storage for InMemory {
        fn append(&self, bytes: &[u8]) -> io::Result<u64> {
            let mut all = self.0.lock().unwrap();
            all.extend(bytes);
            Ok((all.len() - bytes.len()) as u64)
        }

        fn read(&self, from: u64, into: &mut [u8]) -> io::Result<()> {
            let from = from as usize;
            into.copy_from_slice(&self.0.lock().unwrap()[from..from + into.len()]);
            Ok(())
        }
    }

    Scratch::new(InMemory(Mutex::default()))
}

/// The steps of all tests.
fn steps() -> Steps {
    Steps { every_ns: 50, edges: [0, 50, 100].map(RawNs).into() }
}

/// What all of `spans` make.
pub(crate) fn feed(kind: AnalysisKind, spans: &[Span], options: &Options, when: When) -> AnalysisSet {
    let mut set = AnalysisSet::new(&[kind], options, when);
    set.set_steps(&steps());
    for span in spans {
        span.emit(&mut set);
    }
    set
}

/// The tables of one host named `h`.
pub(crate) fn tables(set: &AnalysisSet, options: &Options) -> Vec<Table> {
    let host = Simple::new("h");
    reports(&[(&host, set)], options, false).into_iter().flat_map(|report| report.tables).collect()
}

/// Tables as lines: `NAME: COLUMN …`, then the rows; `?` is what is unknown.
pub(crate) fn lines(tables: &[Table]) -> Vec<String> {
    let text = |cell: &Cell| match cell {
        Cell::Unknown | Cell::NotApplicable => "?".to_owned(),
        Cell::Int(value) => value.to_string(),
        Cell::Float(value) => value.to_string(),
        Cell::Text(_) | Cell::Call(_) => cell.as_text().unwrap_or_default().into_owned(),
    };
    let mut lines = Vec::new();
    for table in tables {
        let columns: Vec<&str> = table.columns.iter().map(|column| &*column.name).collect();
        lines.push(format!("{}: {}", table.name, columns.join(" ")));
        lines.extend(table.rows.iter().map(|row| row.iter().map(text).collect::<Vec<_>>().join(" ")));
    }
    lines
}

/// Merges what several consumers collected of `pieces`. In each of them thread 2 is called otherwise at
/// first, as one that ran when the piece began is.
pub(crate) fn pieced(kind: AnalysisKind, pieces: &[Vec<Span>], options: &Options, when: When) -> AnalysisSet {
    let mut whole = AnalysisSet::new(&[kind], options, when);
    whole.set_steps(&steps());
    for (index, piece) in (0..).zip(pieces) {
        let nickname = ThreadId::Unidentified { cpu: index, since: PIECE_BEGIN };
        let (mut there, mut back) = (ThreadAliases::default(), ThreadAliases::default());
        there.add(thread(2), nickname);
        back.add(nickname, thread(2));
        let mut piece = piece.clone();
        for span in &mut piece {
            span.rename(&there);
        }
        let mut result = feed(kind, &piece, options, when);
        result.rename(&back);
        // By way of a file.
        let bytes = postcard::to_stdvec(&result).unwrap();
        whole.absorb(postcard::from_bytes(&bytes).unwrap());
    }
    whole
}

/// Checks the tables of one analysis of one host, and that they are the same with every span in a piece of
/// its own.
pub(crate) fn check(kind: AnalysisKind, spans: &[Span], options: &Options, when: When, expect: &[&str]) {
    let whole = feed(kind, spans, options, when);
    assert_eq!(lines(&tables(&whole, options)), expect, "{options:?} {when:?}");
    let pieces: Vec<Vec<Span>> = spans.iter().rev().map(|span| vec![span.clone()]).collect();
    let pieced = pieced(kind, &pieces, options, when);
    assert_eq!(lines(&tables(&pieced, options)), expect, "in pieces");
    assert_eq!(postcard::to_stdvec(&pieced).unwrap(), postcard::to_stdvec(&whole).unwrap(), "in pieces");
}
