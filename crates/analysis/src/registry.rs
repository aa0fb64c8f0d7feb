//! The list of all analyses. A line here and a file in `analyses/` make another one.

use isochrone_kernel::{SpanKind, Spans, ThreadAliases, span_kinds};
use serde::{Deserialize, Serialize};

use crate::analyses::{
    CpuTop, Fds, IoLatencyFreq, IoLatencyStats, IoLatencyTop, IoLog, IoUsageTop, IrqFreq, IrqLog, IrqStats,
    MemTop, PageFaults, PeriodFreq, PeriodLog, PeriodStats, PeriodTop, Processes, SchedFreq, SchedLog,
    SchedStats, SchedTop, SyscallStats, Syscalls, Usage,
};
use crate::analysis::{Analysis, HostResult};
use crate::needs::Need;
use crate::options::{OptionKind, Options};
use crate::output::note::Note;
use crate::output::table::Table;
use crate::steps::Steps;
use crate::window::When;

/// Makes the names, the accumulators and the dispatch of the list. Dispatch is by `match`, so that what an
/// analysis does with a span is compiled into the loop, and nothing at all for spans that it does not
/// consume.
macro_rules! registry {
    ($($Type:ident $name:literal: $about:literal,)*) => {
        /// Which analysis.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum AnalysisKind {
            $(#[doc = $about] $Type,)*
        }

        impl AnalysisKind {
            /// All of them, by name.
            pub const ALL: &'static [Self] = &[$(Self::$Type,)*];

            /// What it is called.
            pub fn name(self) -> &'static str {
                match self { $(Self::$Type => $name,)* }
            }

            /// What it shows, in a line.
            pub fn about(self) -> &'static str {
                match self { $(Self::$Type => $about,)* }
            }

            /// The analysis of a name.
            pub fn of(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$Type),)* _ => None }
            }

            /// Whether it can show the state at one instant: then it gets all spans, whatever window and
            /// filters are asked for.
            pub fn answers_instant(self) -> bool {
                match self { $(Self::$Type => $Type::AT_INSTANT,)* }
            }

            /// Whether a kind of options applies to it.
            pub fn accepts(self, option: OptionKind) -> bool {
                match self { $(Self::$Type => $Type::ACCEPTS.contains(&option),)* }
            }

            /// What has to be traced for it.
            pub fn needs(self) -> &'static [Need] {
                match self { $(Self::$Type => $Type::NEEDS,)* }
            }

            /// The kinds of spans that it consumes, if a store has of them what it needs. Empty: it needs
            /// the trace.
            pub fn stored(self) -> &'static [SpanKind] {
                match self { $(Self::$Type => $Type::STORED,)* }
            }

            /// Whether it consumes descriptors.
            pub(crate) fn wants_files(self) -> bool {
                match self { $(Self::$Type => $Type::FILES,)* }
            }

            /// Whether it shows what threads and CPUs did at that instant.
            pub(crate) fn shows_snapshot(self) -> bool {
                match self { $(Self::$Type => $Type::SNAPSHOT,)* }
            }

            /// Its tables and notes of the results of hosts.
            pub(crate) fn tables<'h>(
                self,
                hosts: &[HostResult<'h, Accumulator>],
                options: &Options,
            ) -> (Vec<Table>, Vec<Note>) {
                match self {
                    $(Self::$Type => {
                        let of_type = |result: &HostResult<'h, Accumulator>| -> Option<HostResult<'h, $Type>> {
                            match result.of {
                                Accumulator::$Type(of) => Some(result.with(of)),
                                #[allow(unreachable_patterns)] // With a list of one analysis there is no other.
                                _ => None,
                            }
                        };
                        let hosts: Vec<_> = hosts.iter().filter_map(of_type).collect();
                        ($Type::tables(&hosts, options), $Type::notes(&hosts))
                    })*
                }
            }
        }

        /// What one of the analyses has collected of a host.
        #[derive(Debug, Serialize, Deserialize)]
        pub enum Accumulator {
            $(#[doc = $about] $Type($Type),)*
        }

        impl Accumulator {
            /// One without spans so far.
            pub fn new(kind: AnalysisKind, options: &Options, when: When) -> Self {
                match kind { $(AnalysisKind::$Type => Self::$Type($Type::new(options, when)),)* }
            }

            /// Cuts the time into steps: see [`Analysis::set_steps`].
            pub(crate) fn set_steps(&mut self, steps: &Steps) {
                match self { $(Self::$Type(all) => all.set_steps(steps),)* }
            }

            /// Whose it is.
            pub fn kind(&self) -> AnalysisKind {
                match self { $(Self::$Type(_) => AnalysisKind::$Type,)* }
            }
        }
    };
}

/// Calls a macro with some arguments and the list of all analyses.
macro_rules! analyses {
    ($callback:ident $($argument:tt)*) => {
        $callback! {
            $($argument)*
            CpuTop "cputop": "CPU time by thread and by CPU",
            Fds "fds": "File descriptors: when open, what went through them; or those open at an instant",
            IoLatencyFreq "iolatencyfreq": "Distribution of the durations of I/O calls and of requests to disks",
            IoLatencyStats "iolatencystats": "I/O calls and requests to disks: how many, how long",
            IoLatencyTop "iolatencytop": "The longest I/O calls",
            IoLog "iolog": "Every I/O call with its file and its bytes",
            IoUsageTop "iousagetop": "Bytes by thread, file, disk and network interface",
            IrqFreq "irqfreq": "Distribution of the durations of interrupts",
            IrqLog "irqlog": "Every interrupt",
            IrqStats "irqstats": "Interrupts: how many, how long",
            MemTop "memtop": "Memory pages that were allocated and freed, by thread",
            PageFaults "pagefaults": "Page faults by thread, file and instruction: minor, major, waits",
            PeriodFreq "periodfreq": "Distribution of the durations of periods (--period), or of phases of programs",
            PeriodLog "periodlog": "Every period, or every phase of a program",
            PeriodStats "periodstats": "Periods: how many, how long, by parent, by what was captured",
            PeriodTop "periodtop": "The longest periods, or phases of programs",
            Processes "processes": "Threads: whose, when they lived, what they used; or what each did at an instant",
            SchedFreq "schedfreq": "Distribution of the waits for a CPU",
            SchedLog "schedlog": "Every wait for a CPU",
            SchedStats "schedstats": "Waits for a CPU: how many, how long, by thread and by priority",
            SchedTop "schedtop": "The longest waits for a CPU",
            Syscalls "syscalls": "Every system call with its arguments; or those in progress at an instant",
            SyscallStats "syscallstats": "System calls by thread: how many, how long, what came of them",
            Usage "usage": "CPU, memory, disks and network over time, by host, process, disk and interface",
        }
    };
}

analyses!(registry);

/// Calls a method of whichever analysis it is.
macro_rules! call {
    ($all:ident.$method:ident($it:ident): $($Type:ident $name:literal: $about:literal,)*) => {
        match $all { $(Accumulator::$Type(all) => all.$method($it),)* }
    };
}

/// Absorbs the result of the same analysis.
macro_rules! absorb {
    ($left:ident, $right:ident: $($Type:ident $name:literal: $about:literal,)*) => {
        match ($left, $right) {
            $((Accumulator::$Type(left), Accumulator::$Type(right)) => left.absorb(right),)*
            #[allow(unreachable_patterns)] // With a list of one analysis there is no other.
            _ => debug_assert!(false, "two analyses"),
        }
    };
}

macro_rules! dispatch {
    ($($(#[$doc:meta])* $method:ident $Variant:ident $Span:ty => $Owned:ty;)*) => {
        impl Spans for Accumulator {
            $(fn $method(&mut self, it: &$Span) {
                analyses!(call self.$method(it):);
            })*

            fn rename(&mut self, aliases: &ThreadAliases) {
                analyses!(call self.rename(aliases):);
            }

            /// Of another kind: nothing is absorbed. `AnalysisSet` makes sure that there is none.
            fn absorb(&mut self, right: Self) {
                analyses!(absorb self, right:);
            }
        }
    };
}

span_kinds!(dispatch);
