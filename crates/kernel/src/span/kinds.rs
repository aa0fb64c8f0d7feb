//! The one list of all kinds of spans, and what is made from it: the trait of consumers, an enum, a recorder of all.
//!
//! Everything that depends on all kinds (the dispatch of analyses, recorders, the store's tables) is made from
//! [`span_kinds!`], so that a new kind is one entry here, and a compile error wherever it must be handled.
//!
//! [`span_kinds!`]: crate::span_kinds

use std::borrow::Borrow;

use serde::{Deserialize, Serialize};

use super::{OwnedHalfSyscall, OwnedSyscall};
use crate::files::FileSpan;
use crate::id::ThreadAliases;
use crate::{
    BlockRequest, HalfSyscall, Irq, Migration, NetPacket, OffCpu, PacketTaken, PageAllocation, Period, Phase,
    Poll, Retired, SchedLatency, Slice, Softirq, Syscall, ThreadChange, ThreadEvent, Unknown, Wakeup,
};

/// Calls a macro with the list of all kinds of spans. An entry: its doc, the method of [`Spans`] that consumes it, the
/// variant of [`Span`] that keeps it, the type that is passed by reference, the type that is kept.
///
/// ```
/// use isochrone_kernel::{Spans, span_kinds};
/// /// Counts spans of all kinds.
/// #[derive(Default)]
/// struct Count(u64);
/// macro_rules! count {
///     ($($(#[$doc:meta])* $method:ident $Variant:ident $Type:ty => $Owned:ty;)*) => {
///         impl Spans for Count {
///             $(fn $method(&mut self, _: &$Type) { self.0 += 1; })*
///             fn rename(&mut self, _: &isochrone_kernel::ThreadAliases) {}
///             fn absorb(&mut self, right: Self) { self.0 += right.0; }
///         }
///     };
/// }
/// span_kinds!(count);
/// ```
#[macro_export]
macro_rules! span_kinds {
    ($callback:ident) => {
        $callback! {
            /// A thread was on a CPU.
            slice Slice $crate::Slice => $crate::Slice;
            /// It is unknown what a CPU did.
            unknown Unknown $crate::Unknown => $crate::Unknown;
            /// A system call.
            syscall Syscall $crate::Syscall<'_> => Box<$crate::OwnedSyscall>;
            /// A system call of which one end is missing.
            half_syscall HalfSyscall $crate::HalfSyscall<'_> => $crate::OwnedHalfSyscall;
            /// A wait for descriptors is over.
            poll Poll $crate::Poll => $crate::Poll;
            /// A hardware interrupt.
            irq Irq $crate::Irq => $crate::Irq;
            /// A softirq.
            softirq Softirq $crate::Softirq => $crate::Softirq;
            /// A thread waited for a CPU after it had been woken.
            sched_latency SchedLatency $crate::SchedLatency => $crate::SchedLatency;
            /// A thread is woken.
            wakeup Wakeup $crate::Wakeup => $crate::Wakeup;
            /// A thread begins, ends, or becomes another one.
            thread_event ThreadEvent $crate::ThreadEvent => $crate::ThreadEvent;
            /// A thread has ended, and is dropped from the model.
            retired Retired $crate::Retired => Box<$crate::Retired>;
            /// A thread was moved to another CPU.
            migration Migration $crate::Migration => $crate::Migration;
            /// A thread was off all CPUs.
            off_cpu OffCpu $crate::OffCpu => $crate::OffCpu;
            /// A request to a disk.
            block_request BlockRequest $crate::BlockRequest => $crate::BlockRequest;
            /// A packet of the network.
            packet Packet $crate::NetPacket => $crate::NetPacket;
            /// A network device has taken a packet from its queue.
            packet_taken PacketTaken $crate::PacketTaken => $crate::PacketTaken;
            /// Memory was allocated or freed.
            page_allocation PageAllocation $crate::PageAllocation => $crate::PageAllocation;
            /// A phase of a program.
            phase Phase $crate::Phase => $crate::Phase;
            /// A period, as a definition says.
            period Period $crate::Period => Box<$crate::Period>;
            /// A file descriptor was closed, or the trace ends.
            file File $crate::files::FileSpan => Box<$crate::files::FileSpan>;
        }
    };
}

macro_rules! define {
    ($($(#[$doc:meta])* $method:ident $Variant:ident $Type:ty => $Owned:ty;)*) => {
        /// A consumer of spans: all methods do nothing by default.
        ///
        /// Spans come in no specified order: those that cross the border of two pieces come when the pieces are merged. So a
        /// consumer adds up what does not depend on the order, or keeps spans and sorts them at the end. Then its result does
        /// not depend on how the trace was cut.
        pub trait Spans {
            $($(#[$doc])* fn $method(&mut self, _: &$Type) {})*

            /// Whether it consumes descriptors ([`Self::file`], and [`Self::poll`] of epoll sets): without them, nothing follows
            /// what calls do to descriptors. The same for all pieces of a trace.
            fn wants_files(&self) -> bool {
                true
            }

            /// Renames threads: what is kept for each old id is to be kept for the new one.
            fn rename(&mut self, aliases: &ThreadAliases);

            /// Appends the consumer of the next piece of the trace, in which all ids are resolved already.
            fn absorb(&mut self, right: Self)
            where
                Self: Sized;
        }

        /// A span of any kind, with all its fields.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        pub enum Span {
            $($(#[$doc])* $Variant($Owned),)*
        }

        impl Span {
            /// Emits it to a consumer.
            pub fn emit(&self, spans: &mut impl Spans) {
                match self {
                    $(Self::$Variant(kept) => spans.$method(kept.lend().borrow()),)*
                }
            }

            /// Renames threads.
            pub fn rename(&mut self, aliases: &ThreadAliases) {
                match self {
                    $(Self::$Variant(kept) => kept.rename(aliases),)*
                }
            }
        }

        impl Spans for Recorder {
            $(fn $method(&mut self, span: &$Type) {
                self.0.push(Span::$Variant(span.keep()));
            })*

            fn rename(&mut self, aliases: &ThreadAliases) {
                if !aliases.is_empty() {
                    self.0.iter_mut().for_each(|span| span.rename(aliases));
                }
            }

            fn absorb(&mut self, mut right: Self) {
                self.0.append(&mut right.0);
            }
        }
    };
}

/// A consumer that keeps all spans, in the order of arrival: for tests, and for traces that fit into memory.
///
/// ```
/// use isochrone_kernel::{Migration, Recorder, Span, Spans, ThreadId};
/// let mut recorder = Recorder::default();
/// let migration = Migration { thread: ThreadId::Idle(0), at: 5, to: 1 };
/// recorder.migration(&migration);
/// assert_eq!(recorder.0, [Span::Migration(migration)]);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorder(pub Vec<Span>);

span_kinds!(define);

/// Drops all spans.
impl Spans for () {
    fn rename(&mut self, _: &ThreadAliases) {}
    fn absorb(&mut self, (): Self) {}
}

/// A span as it is passed.
trait BorrowedSpan {
    /// The type that owns all its fields.
    type OwnedSpan;

    fn keep(&self) -> Self::OwnedSpan;
}

/// A span as it is kept.
trait OwnedSpan {
    /// As it is passed.
    type Borrowed<'k>
    where
        Self: 'k;

    fn lend(&self) -> Self::Borrowed<'_>;

    fn rename(&mut self, aliases: &ThreadAliases);
}

/// Kinds whose kept type is the passed one, with the threads that they name.
macro_rules! alike {
    ($($Type:ty: $it:ident, $aliases:ident => $rename:expr;)*) => {$(
        impl BorrowedSpan for $Type {
            type OwnedSpan = Self;

            fn keep(&self) -> Self {
                self.clone()
            }
        }

        impl OwnedSpan for $Type {
            type Borrowed<'k> = &'k Self;

            fn lend(&self) -> &Self {
                self
            }

            fn rename(&mut self, $aliases: &ThreadAliases) {
                let $it = self;
                $rename
            }
        }
    )*};
}

alike! {
    Slice: it, aliases => aliases.change(&mut it.thread);
    Unknown: it, aliases => aliases.change_some(&mut it.thread);
    Poll: it, aliases => aliases.change(&mut it.thread);
    Irq: _it, _renames => {};
    Softirq: _it, _renames => {};
    SchedLatency: it, aliases => {
        aliases.change(&mut it.thread);
        aliases.change_some(&mut it.waker);
    };
    Wakeup: it, aliases => {
        aliases.change(&mut it.thread);
        aliases.change(&mut it.waker);
    };
    ThreadEvent: it, aliases => {
        aliases.change(&mut it.thread);
        match &mut it.what {
            ThreadChange::Forked { parent: other, .. } | ThreadChange::Renumbered { was: other } => {
                aliases.change(other);
            }
            ThreadChange::Executed { .. } | ThreadChange::Exits | ThreadChange::Died => {}
        }
    };
    Migration: it, aliases => aliases.change(&mut it.thread);
    OffCpu: it, aliases => {
        aliases.change(&mut it.thread);
        aliases.change_some(&mut it.waker);
    };
    BlockRequest: it, aliases => aliases.change_some(&mut it.thread);
    NetPacket: it, aliases => aliases.change(&mut it.thread);
    PacketTaken: _it, _renames => {};
    PageAllocation: it, aliases => aliases.change(&mut it.thread);
    Phase: it, aliases => aliases.change(&mut it.thread);
}

impl BorrowedSpan for Syscall<'_> {
    type OwnedSpan = Box<OwnedSyscall>;

    fn keep(&self) -> Self::OwnedSpan {
        Box::new(self.owned())
    }
}

impl OwnedSpan for Box<OwnedSyscall> {
    type Borrowed<'k> = Syscall<'k>;

    fn lend(&self) -> Syscall<'_> {
        self.borrowed()
    }

    fn rename(&mut self, aliases: &ThreadAliases) {
        aliases.change(&mut self.thread);
    }
}

impl BorrowedSpan for HalfSyscall<'_> {
    type OwnedSpan = OwnedHalfSyscall;

    fn keep(&self) -> Self::OwnedSpan {
        self.owned()
    }
}

impl OwnedSpan for OwnedHalfSyscall {
    type Borrowed<'k> = HalfSyscall<'k>;

    fn lend(&self) -> HalfSyscall<'_> {
        self.borrowed()
    }

    fn rename(&mut self, aliases: &ThreadAliases) {
        aliases.change(&mut self.thread);
    }
}

impl BorrowedSpan for Retired {
    type OwnedSpan = Box<Self>;

    fn keep(&self) -> Self::OwnedSpan {
        Box::new(self.clone())
    }
}

impl OwnedSpan for Box<Retired> {
    type Borrowed<'k> = &'k Retired;

    fn lend(&self) -> &Retired {
        self
    }

    fn rename(&mut self, aliases: &ThreadAliases) {
        aliases.change(&mut self.thread);
    }
}

impl BorrowedSpan for Period {
    type OwnedSpan = Box<Self>;

    fn keep(&self) -> Self::OwnedSpan {
        Box::new(self.clone())
    }
}

impl OwnedSpan for Box<Period> {
    type Borrowed<'k> = &'k Period;

    fn lend(&self) -> &Period {
        self
    }

    fn rename(&mut self, aliases: &ThreadAliases) {
        aliases.change(&mut self.thread);
    }
}

impl BorrowedSpan for FileSpan {
    type OwnedSpan = Box<Self>;

    fn keep(&self) -> Self::OwnedSpan {
        Box::new(self.clone())
    }
}

impl OwnedSpan for Box<FileSpan> {
    type Borrowed<'k> = &'k FileSpan;

    fn lend(&self) -> &FileSpan {
        self
    }

    fn rename(&mut self, aliases: &ThreadAliases) {
        FileSpan::rename(self, aliases);
    }
}
