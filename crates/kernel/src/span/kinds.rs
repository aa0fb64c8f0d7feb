//! The one list of all kinds of spans, and what is made from it: the trait of consumers, an enum, a recorder
//! of all.
//!
//! Everything that depends on all kinds (the dispatch of analyses, recorders, the store's tables) is made
//! from [`span_kinds!`], so that a new kind is one entry here, and a compile error wherever it must be
//! handled.
//!
//! [`span_kinds!`]: crate::span_kinds

use std::borrow::Borrow;

use serde::{Deserialize, Serialize};

use super::file::FileSpan;
use super::{OwnedHalfSyscall, OwnedSyscall};
use crate::id::ThreadAliases;
use crate::scratch::Scratch;
use crate::{
    HalfSyscall, Irq, Mapped, Mapping, Migration, NetPacket, ObjectUse, OffCpu, PacketTaken, PageAllocation,
    Period, Phase, Poll, Retired, SchedLatency, Slice, Softirq, Syscall, ThreadChange, ThreadEvent, Unknown,
    Wakeup,
};

// A kind whose fields only one part of the model knows is defined beside that.
pub use crate::requests::BlockRequest;
pub use crate::thread::PageFault;

/// Calls a macro with the list of all kinds of spans. An entry: its doc, the method of [`Spans`] that
/// consumes it, the variant of [`Span`] that keeps it, the type that is passed by reference, the type that is
/// kept.
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
            /// A system call whose entry or exit is missing.
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
            /// A period that a definition describes.
            period Period $crate::Period => Box<$crate::Period>;
            /// A file descriptor was closed, or the trace ends.
            file File $crate::files::FileSpan => Box<$crate::files::FileSpan>;
            /// A page fault.
            page_fault PageFault $crate::PageFault => Box<$crate::PageFault>;
            /// What the memory of a process shows changes.
            mapping Mapping $crate::Mapping => Box<$crate::Mapping>;
            /// A thread has acted on an object of the kernel that is no file.
            object_use ObjectUse $crate::ObjectUse => $crate::ObjectUse;
        }
    };
}

macro_rules! define {
    ($($(#[$doc:meta])* $method:ident $Variant:ident $Type:ty => $Owned:ty;)*) => {
        /// A consumer of spans: all methods do nothing by default.
        ///
        /// Spans come in no specified order: those that cross the border of two pieces come when the pieces
        /// are merged. So a consumer adds up what does not depend on the order, or keeps spans and sorts them
        /// at the end. Then its result does not depend on how the trace was cut.
        pub trait Spans {
            $($(#[$doc])* fn $method(&mut self, _: &$Type) {})*

            /// Whether it consumes descriptors ([`Self::file`], and [`Self::poll`] of epoll sets): without
            /// them, nothing follows what calls do to descriptors. The same for all pieces of a trace.
            fn wants_files(&self) -> bool {
                true
            }

            /// Whether it will be asked who threads were that have ended: without, nothing of them is kept
            /// ([`WithThreads`](crate::WithThreads)). The same for all pieces of a trace.
            fn wants_threads(&self) -> bool {
                true
            }

            /// Where operations on descriptors go that are too many for memory.
            fn scratch(&self) -> Scratch {
                Scratch::default()
            }

            /// Renames threads: what is kept for each old id is to be kept for the new one.
            fn rename(&mut self, aliases: &ThreadAliases);

            /// Appends the consumer of the next piece of the trace, in which all ids are resolved already.
            fn absorb(&mut self, right: Self)
            where
                Self: Sized;
        }

        /// A kind of spans.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum SpanKind {
            $($(#[$doc])* $Variant,)*
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
                    $(Self::$Variant(kept) => spans.$method(kept.borrow_span().borrow()),)*
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
                self.0.push(Span::$Variant(span.to_owned_span()));
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
/// use isochrone_time::RawNs;
/// let mut recorder = Recorder::default();
/// let migration = Migration { thread: ThreadId::Idle(0), at: RawNs(5), to: 1 };
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
trait PassedSpan {
    /// The type that owns all its fields.
    type Owned;

    fn to_owned_span(&self) -> Self::Owned;
}

/// A span as it is kept.
trait OwnedSpan {
    /// As it is passed.
    type Passed<'k>
    where
        Self: 'k;

    fn borrow_span(&self) -> Self::Passed<'_>;

    fn rename(&mut self, aliases: &ThreadAliases);
}

/// Kinds whose owned type is the passed one, or a box of it, with what renames the threads in it.
macro_rules! cloned {
    ($($Type:ty => $Owned:ty: $it:ident, $aliases:ident => $rename:expr;)*) => {$(
        impl PassedSpan for $Type {
            type Owned = $Owned;

            fn to_owned_span(&self) -> $Owned {
                <$Owned>::from(self.clone())
            }
        }

        impl OwnedSpan for $Owned {
            type Passed<'k> = &'k $Type;

            fn borrow_span(&self) -> &$Type {
                self
            }

            fn rename(&mut self, $aliases: &ThreadAliases) {
                let $it: &mut $Type = self;
                $rename
            }
        }
    )*};
}

cloned! {
    Slice => Slice: it, aliases => aliases.change(&mut it.thread);
    Unknown => Unknown: it, aliases => aliases.change_some(&mut it.thread);
    Poll => Poll: it, aliases => aliases.change(&mut it.thread);
    Irq => Irq: _it, _aliases => {};
    Softirq => Softirq: _it, _aliases => {};
    SchedLatency => SchedLatency: it, aliases => {
        aliases.change(&mut it.thread);
        aliases.change_some(&mut it.waker);
    };
    Wakeup => Wakeup: it, aliases => {
        aliases.change(&mut it.thread);
        aliases.change(&mut it.waker);
    };
    ThreadEvent => ThreadEvent: it, aliases => {
        aliases.change(&mut it.thread);
        match &mut it.what {
            ThreadChange::Forked { parent: other, .. } | ThreadChange::Renumbered { was: other } => {
                aliases.change(other);
            }
            ThreadChange::Executed { .. } | ThreadChange::Exits | ThreadChange::Died => {}
        }
    };
    Retired => Box<Retired>: it, aliases => aliases.change(&mut it.thread);
    Migration => Migration: it, aliases => aliases.change(&mut it.thread);
    OffCpu => OffCpu: it, aliases => {
        aliases.change(&mut it.thread);
        aliases.change_some(&mut it.waker);
    };
    BlockRequest => BlockRequest: it, aliases => aliases.change_some(&mut it.thread);
    NetPacket => NetPacket: it, aliases => aliases.change(&mut it.thread);
    PacketTaken => PacketTaken: _it, _aliases => {};
    PageAllocation => PageAllocation: it, aliases => aliases.change(&mut it.thread);
    Phase => Phase: it, aliases => aliases.change(&mut it.thread);
    Period => Box<Period>: it, aliases => aliases.change(&mut it.thread);
    FileSpan => Box<FileSpan>: it, aliases => it.rename(aliases);
    PageFault => Box<PageFault>: it, aliases => aliases.change(&mut it.thread);
    Mapping => Box<Mapping>: it, aliases => {
        aliases.change(&mut it.thread);
        if let Mapped::CopyOf(other) = &mut it.what {
            aliases.change(other);
        }
    };
    ObjectUse => ObjectUse: it, aliases => aliases.change(&mut it.thread);
}

impl PassedSpan for Syscall<'_> {
    type Owned = Box<OwnedSyscall>;

    fn to_owned_span(&self) -> Self::Owned {
        Box::new(self.owned())
    }
}

impl OwnedSpan for Box<OwnedSyscall> {
    type Passed<'k> = Syscall<'k>;

    fn borrow_span(&self) -> Syscall<'_> {
        self.borrowed()
    }

    fn rename(&mut self, aliases: &ThreadAliases) {
        aliases.change(&mut self.thread);
    }
}

impl PassedSpan for HalfSyscall<'_> {
    type Owned = OwnedHalfSyscall;

    fn to_owned_span(&self) -> Self::Owned {
        self.owned()
    }
}

impl OwnedSpan for OwnedHalfSyscall {
    type Passed<'k> = HalfSyscall<'k>;

    fn borrow_span(&self) -> HalfSyscall<'_> {
        self.borrowed()
    }

    fn rename(&mut self, aliases: &ThreadAliases) {
        aliases.change(&mut self.thread);
    }
}
