//! A consumer that keeps all that it is told, of every kind and with all fields: what two models have told is the same when
//! their bytes are.

use isochrone_analysis::{Asked, Kind, Options, When};
use isochrone_kernel::calls::{Entry, Exit};
use isochrone_kernel::files::FileSpan;
use isochrone_kernel::{
    BlockRequest, Half, HalfSyscall, Irq, Latency, Migration, Name, NetPacket, Off, Pages, Phase, Renames,
    Slice, Softirq, Spans, Syscall, ThreadId, Time, Unknown,
};
use serde::{Deserialize, Serialize};

/// A span with all that it says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Told {
    Slice(Slice),
    Unknown(Unknown),
    Call(Box<Call>),
    Half(ThreadId, Option<Name>, Time, Half),
    Irq(Irq),
    Softirq(Softirq),
    Latency(Latency),
    Migration(Migration),
    Off(Off),
    Request(BlockRequest),
    Packet(NetPacket),
    Pages(Pages),
    Phase(Phase),
    File(Box<FileSpan>),
}

/// A system call that owns what it says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    pub thread: ThreadId,
    pub cpu: u32,
    pub begin: Time,
    pub end: Time,
    pub entry: Entry,
    pub exit: Exit,
}

impl Told {
    fn rename(&mut self, renames: &Renames) {
        let rename = |thread: &mut ThreadId| *thread = renames.of(*thread);
        let maybe = |thread: &mut Option<ThreadId>| *thread = thread.map(|thread| renames.of(thread));
        match self {
            Self::Slice(it) => rename(&mut it.thread),
            Self::Unknown(it) => maybe(&mut it.thread),
            Self::Call(it) => rename(&mut it.thread),
            Self::Half(thread, ..) => rename(thread),
            Self::Irq(_) | Self::Softirq(_) => {}
            Self::Latency(it) => {
                rename(&mut it.thread);
                maybe(&mut it.waker);
            }
            Self::Migration(it) => rename(&mut it.thread),
            Self::Off(it) => {
                rename(&mut it.thread);
                maybe(&mut it.waker);
            }
            Self::Request(it) => rename(&mut it.thread),
            Self::Packet(it) => rename(&mut it.thread),
            Self::Pages(it) => rename(&mut it.thread),
            Self::Phase(it) => rename(&mut it.thread),
            Self::File(it) => it.rename(renames),
        }
    }
}

/// All that was told, in any order until it is sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heard(pub Vec<Told>);

impl Heard {
    /// Puts it in the order of its bytes.
    pub fn sort(&mut self) {
        self.0.sort_by_cached_key(|told| postcard::to_stdvec(told).unwrap());
    }
}

macro_rules! keep {
    ($($method:ident: $Span:ty => $Kind:ident,)*) => {$(
        fn $method(&mut self, it: &$Span) {
            self.0.push(Told::$Kind(it.clone()));
        }
    )*};
}

impl Spans for Heard {
    keep! {
        slice: Slice => Slice,
        unknown: Unknown => Unknown,
        irq: Irq => Irq,
        softirq: Softirq => Softirq,
        latency: Latency => Latency,
        migration: Migration => Migration,
        off: Off => Off,
        block_request: BlockRequest => Request,
        packet: NetPacket => Packet,
        pages: Pages => Pages,
        phase: Phase => Phase,
    }

    fn syscall(&mut self, it: &Syscall<'_>) {
        let Syscall { thread, cpu, begin, end, entry, exit } = *it;
        let (entry, exit) = (entry.clone(), exit.clone());
        self.0.push(Told::Call(Box::new(Call { thread, cpu, begin, end, entry, exit })));
    }

    fn half_syscall(&mut self, it: &HalfSyscall<'_>) {
        self.0.push(Told::Half(it.thread, it.name.cloned(), it.at, it.half));
    }

    fn file(&mut self, it: &FileSpan) {
        self.0.push(Told::File(Box::new(it.clone())));
    }

    fn rename(&mut self, renames: &Renames) {
        if !renames.is_empty() {
            self.0.iter_mut().for_each(|told| told.rename(renames));
        }
    }

    fn absorb(&mut self, mut right: Self) {
        self.0.append(&mut right.0);
    }
}

/// One that keeps all and one that asks for all analyses.
#[derive(Debug, Serialize, Deserialize)]
pub struct Both {
    pub heard: Heard,
    pub asked: Asked,
}

impl Default for Both {
    fn default() -> Self {
        let asked = Asked::new(Kind::ALL, &Options::default(), When::default());
        Self { heard: Heard::default(), asked }
    }
}

macro_rules! pass_on {
    ($($method:ident: $Span:ty,)*) => {$(
        fn $method(&mut self, it: &$Span) {
            self.heard.$method(it);
            self.asked.$method(it);
        }
    )*};
}

impl Spans for Both {
    pass_on! {
        slice: Slice,
        unknown: Unknown,
        syscall: Syscall<'_>,
        half_syscall: HalfSyscall<'_>,
        irq: Irq,
        softirq: Softirq,
        latency: Latency,
        migration: Migration,
        off: Off,
        block_request: BlockRequest,
        packet: NetPacket,
        pages: Pages,
        phase: Phase,
        file: FileSpan,
    }

    fn rename(&mut self, renames: &Renames) {
        self.heard.rename(renames);
        self.asked.rename(renames);
    }

    fn absorb(&mut self, right: Self) {
        self.heard.absorb(right.heard);
        self.asked.absorb(right.asked);
    }
}
