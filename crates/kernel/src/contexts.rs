//! Contexts that interrupt a CPU's thread: softirqs, interrupts, timers; and the thread's current system
//! call.
//!
//! Part of a `PartialState`: determines the cause of a wake-up and whether the running thread sends a packet.
//! There is one [`Level`] for each family of contexts, and Linux never nests two contexts of one family; so
//! the state of a level is its last event, and two pieces join level by level. A switch and both ends of a
//! system call happen in thread context: then all levels are empty. Until one of them comes, a piece may not
//! know which contexts have been active since before it; wake-ups and packets of that time wait for the piece
//! before.

use isochrone_net::Flow;
use serde::{Deserialize, Serialize};

use crate::call_owner::CallOwner;
use crate::id::{ThreadAliases, Time};
use crate::span::{Cause, Spans, Wakeup};

/// The level of a context, the outermost first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Softirq,
    /// A timer of the timer wheel, which runs in a softirq.
    Timer,
    Irq,
    /// An interrupt of the CPU's own controller: its timer, another CPU, an error.
    Vector,
    HrTimer,
}

/// Number of [`Level`]s.
const LEVELS: usize = 5;
/// A bit for each level.
const ALL: u8 = (1 << LEVELS) - 1;

/// A context that may be active.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// The handler of the interrupt with this number.
    Irq(i32),
    /// The softirq with this vector.
    Softirq(u32),
    /// A timer of the timer wheel (`timer_expire_entry`).
    Timer,
    /// A high-resolution timer (`hrtimer_expire_entry`).
    HrTimer,
    /// The interrupt of the CPU's own timer.
    LocalTimer,
    /// An interrupt by another CPU, or by the CPU itself, with its vector.
    Ipi(i32),
    /// Another interrupt of the CPU's own controller, with its vector.
    Vector(i32),
}

impl Context {
    fn level(self) -> Level {
        match self {
            Self::Softirq(_) => Level::Softirq,
            Self::Timer => Level::Timer,
            Self::Irq(_) => Level::Irq,
            Self::LocalTimer | Self::Ipi(_) | Self::Vector(_) => Level::Vector,
            Self::HrTimer => Level::HrTimer,
        }
    }

    fn cause(self) -> Cause {
        match self {
            Self::Irq(number) => Cause::Irq(number),
            Self::Softirq(vector) => Cause::Softirq(vector),
            Self::Timer | Self::HrTimer | Self::LocalTimer => Cause::Timer,
            Self::Ipi(vector) => Cause::Ipi(vector),
            Self::Vector(vector) => Cause::Vector(vector),
        }
    }
}

/// The contexts of one CPU in one piece.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Contexts {
    /// Levels whose state this piece knows; the piece before knows the others. Bits.
    known: u8,
    /// Known levels whose state is unknown because events are missing.
    lost: u8,
    /// Levels where a context is known to be active: `active` has it. Most calls and switches find none.
    busy: u8,
    /// Begin and cause of the context that is known to be active at a level; `None` at all other levels.
    active: [Option<(Time, Cause)>; LEVELS],
    call: Call,
    /// What waits for the piece before.
    head: Option<Box<Head>>,
}

/// The system call that the CPU's current thread has been in since its last switch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Call {
    /// Known only to the piece before.
    #[default]
    Before,
    None,
    Open {
        owner: CallOwner,
        /// Whether a packet was sent in it.
        has_sent: bool,
    },
}

/// What happened while a context of the piece before may have been active, with the levels of such contexts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Head {
    /// With the cause that holds if no context was active.
    wakes: Vec<(u8, Wakeup)>,
    /// The first packet for each such set of levels.
    sent: Vec<(u8, Flow)>,
}

/// The state of some levels.
enum Innermost {
    Context(Cause),
    Nothing,
    Lost,
    /// Known only to the piece before.
    Before,
}

impl Contexts {
    /// The contexts of a CPU in a piece that is missing.
    pub(crate) fn missing() -> Self {
        let mut missing = Self::default();
        missing.on_loss();
        missing
    }

    pub(crate) fn enter(&mut self, context: Context, at: Time) {
        self.set(context.level(), Some((at, context.cause())));
    }

    pub(crate) fn leave(&mut self, context: Context) {
        self.set(context.level(), None);
    }

    fn set(&mut self, level: Level, what: Option<(Time, Cause)>) {
        let bit = 1 << level as usize;
        self.known |= bit;
        self.lost &= !bit;
        self.busy = self.busy & !bit | if what.is_some() { bit } else { 0 };
        self.active[level as usize] = what;
    }

    /// Another thread runs: no context is active.
    #[inline]
    pub(crate) fn switch(&mut self) {
        self.in_thread();
        self.call = Call::None;
    }

    /// The thread enters a system call.
    #[inline]
    pub(crate) fn call(&mut self, owner: CallOwner) {
        self.in_thread();
        self.call = Call::Open { owner, has_sent: false };
    }

    /// The thread's system call returns.
    #[inline]
    pub(crate) fn call_returns(&mut self) {
        self.switch();
    }

    #[inline]
    fn in_thread(&mut self) {
        (self.known, self.lost) = (ALL, 0);
        if self.busy != 0 {
            self.busy = 0;
            self.active = Default::default();
        }
    }

    /// Events are missing.
    pub(crate) fn on_loss(&mut self) {
        self.switch();
        self.lost = ALL;
    }

    /// Returns the state of some levels.
    fn innermost(&self, levels: u8) -> Innermost {
        let in_levels = |bits: u8| bits & levels != 0;
        let busy = (0..LEVELS).filter(|&level| in_levels(self.busy & 1 << level));
        let inner = busy
            .filter_map(|level| Some((self.active[level]?, level)))
            .max_by_key(|&((at, _), level)| (at, level));
        match inner {
            Some(((_, cause), _)) => Innermost::Context(cause),
            None if in_levels(self.lost) => Innermost::Lost,
            None if in_levels(!self.known) => Innermost::Before,
            None => Innermost::Nothing,
        }
    }

    /// Handles a wake-up whose cause in thread context is in `wake`. Returns it with its cause, or `None` if
    /// it waits for the piece before. `is_first`: no piece comes before.
    pub(crate) fn wake(&mut self, wake: Wakeup, is_first: bool) -> Option<Wakeup> {
        self.wake_in(ALL, wake, is_first)
    }

    fn wake_in(&mut self, levels: u8, wake: Wakeup, is_first: bool) -> Option<Wakeup> {
        let cause = match self.innermost(levels) {
            Innermost::Context(cause) => cause,
            Innermost::Nothing => wake.cause,
            Innermost::Before if !is_first => {
                self.head.get_or_insert_default().wakes.push((levels & !self.known, wake));
                return None;
            }
            Innermost::Lost | Innermost::Before => Cause::Unknown,
        };
        Some(Wakeup { cause, ..wake })
    }

    /// Handles a sent packet. Returns the owner of the call that sends it, if it is sent in a call and is the
    /// first one of that call.
    pub(crate) fn sent(&mut self, flow: Flow, is_first: bool) -> Option<CallOwner> {
        self.sent_in(ALL, flow, is_first)
    }

    fn sent_in(&mut self, levels: u8, flow: Flow, is_first: bool) -> Option<CallOwner> {
        match (self.innermost(levels), &mut self.call) {
            (Innermost::Nothing, Call::Open { owner, has_sent: has_sent @ false }) => {
                *has_sent = true;
                return Some(*owner);
            }
            (Innermost::Before, _) if !is_first => {
                let levels = levels & !self.known;
                let sent = &mut self.head.get_or_insert_default().sent;
                if sent.iter().all(|&(other, _)| other != levels) {
                    sent.push((levels, flow));
                }
            }
            _ => {}
        }
        None
    }

    /// Appends the contexts of the next piece. Returns the first packet that the call in flight at the border
    /// sends in the next piece, with the call's owner.
    pub(crate) fn append(
        &mut self,
        right: Self,
        is_first: bool,
        spans: &mut impl Spans,
    ) -> Option<(CallOwner, Flow)> {
        let Self { known, lost, busy, active, call, head } = right;
        let head = head.map(|head| *head).unwrap_or_default();
        for (levels, wake) in head.wakes {
            if let Some(wake) = self.wake_in(levels, wake, is_first) {
                spans.wakeup(&wake);
            }
        }
        let mut first = None;
        for (levels, flow) in head.sent {
            if let Some(owner) = self.sent_in(levels, flow, is_first) {
                first = Some((owner, flow));
            }
        }
        self.known |= known;
        self.lost = self.lost & !known | lost;
        self.busy = self.busy & !known | busy;
        for (level, context) in active.into_iter().enumerate() {
            if known & 1 << level != 0 {
                self.active[level] = context;
            }
        }
        if call != Call::Before {
            self.call = call;
        }
        first
    }

    pub(crate) fn rename(&mut self, aliases: &ThreadAliases) {
        if let Call::Open { owner, .. } = &mut self.call {
            *owner = owner.renamed(aliases);
        }
        for (_, wake) in self.head.iter_mut().flat_map(|head| &mut head.wakes) {
            aliases.change(&mut wake.thread);
            aliases.change(&mut wake.waker);
        }
    }

    /// Emits what waited for events before the trace.
    pub(crate) fn finish(&self, spans: &mut impl Spans) {
        for &(_, wake) in self.head.iter().flat_map(|head| &head.wakes) {
            spans.wakeup(&Wakeup { cause: Cause::Unknown, ..wake });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{PIECE_BEGIN, ThreadId};

    /// Checks the cause of each `wake` of a script, for all cuts; `is_first`: the script begins with the
    /// trace.
    fn check(script: &str, is_first: bool, expect: &[Cause]) {
        let steps: Vec<&str> = script.split(' ').collect();
        for first in 0..=steps.len() {
            for second in first..=steps.len() {
                let mut emitted = Told::default();
                let mut pieces = [Contexts::default(), Contexts::default(), Contexts::default()];
                for (at, step) in steps.iter().enumerate() {
                    let piece = usize::from(at >= first) + usize::from(at >= second);
                    play(&mut pieces[piece], step, Time(at as i64), is_first && piece == 0, &mut emitted);
                }
                let [mut left, mut middle, right] = pieces;
                if first % 2 == 0 {
                    left.append(middle, is_first, &mut emitted);
                    left.append(right, is_first, &mut emitted);
                } else {
                    middle.append(right, false, &mut emitted);
                    left.append(middle, is_first, &mut emitted);
                }
                left.finish(&mut emitted);
                emitted.0.sort_by_key(|wake| wake.at);
                let causes: Vec<Cause> = emitted.0.iter().map(|wake| wake.cause).collect();
                assert_eq!(causes, expect, "{script}, cut at {first} and {second}");
            }
        }
    }

    #[derive(Default)]
    struct Told(Vec<Wakeup>);

    impl Spans for Told {
        fn wakeup(&mut self, wake: &Wakeup) {
            self.0.push(*wake);
        }
        fn rename(&mut self, _: &ThreadAliases) {}
        fn absorb(&mut self, _: Self) {}
    }

    fn play(contexts: &mut Contexts, step: &str, at: Time, is_first: bool, emitted: &mut Told) {
        let context = |name: &str| match name {
            "irq" => Context::Irq(27),
            "net" => Context::Softirq(3),
            "softirq" => Context::Softirq(1),
            "wheel" => Context::Timer,
            "hrtimer" => Context::HrTimer,
            "local" => Context::LocalTimer,
            _ => Context::Ipi(253),
        };
        match step {
            "switch" => contexts.switch(),
            "call" => contexts.call(CallOwner::Cpu(0)),
            "lose" => contexts.on_loss(),
            "wake" => {
                let thread = ThreadId::Thread { tid: 7, born: PIECE_BEGIN };
                let wake =
                    Wakeup { thread, at, cpu: 0, target_cpu: None, waker: thread, cause: Cause::Thread };
                emitted.0.extend(contexts.wake(wake, is_first));
            }
            _ => match step.strip_prefix('/') {
                Some(name) => contexts.leave(context(name)),
                None => contexts.enter(context(step), at),
            },
        }
    }

    #[test]
    fn the_innermost_context_wakes() {
        use Cause::{Ipi, Irq, Softirq, Thread, Timer};
        check("switch wake irq wake /irq wake", true, &[Thread, Irq(27), Thread]);
        check("switch softirq wheel wake /wheel wake /softirq wake", true, &[Timer, Softirq(1), Thread]);
        check("switch local hrtimer wake /hrtimer wake /local wake", true, &[Timer, Timer, Thread]);
        // A softirq is interrupted, and continues.
        check("call net wake irq wake /irq wake /net wake", true, &[Softirq(3), Irq(27), Softirq(3), Thread]);
        check("call ipi wake /ipi wake", true, &[Ipi(253), Thread]);
        // An interrupt within a timer is further inside than the timer.
        check("switch softirq wheel irq wake /irq wake", true, &[Irq(27), Timer]);
        // The next thread of a switch is in no interrupt, whether or not the end of the interrupt was seen.
        check("switch irq switch wake", true, &[Thread]);
    }

    #[test]
    fn what_nobody_saw_is_unknown() {
        use Cause::{Irq, Softirq, Thread, Unknown};
        for is_first in [true, false] {
            check("wake irq wake /irq wake call wake", is_first, &[Unknown, Irq(27), Unknown, Thread]);
            check(
                "call lose wake net wake /net wake switch wake",
                is_first,
                &[Unknown, Softirq(3), Unknown, Thread],
            );
            check("switch net lose wake", is_first, &[Unknown]);
        }
    }

    /// The first packet of a call is the call's own, if no context is active.
    #[test]
    fn calls_send_packets() {
        let flow = |port| Flow {
            protocol: 6,
            source: ([10, 0, 0, 1], port).into(),
            destination: ([10, 0, 0, 2], 80).into(),
        };
        let check = |script: &str, expect: Option<u16>| {
            let steps: Vec<&str> = script.split(' ').collect();
            for cut in 0..=steps.len() {
                let mut pieces = [Contexts::default(), Contexts::default()];
                let mut sent = Vec::new();
                for (at, step) in steps.iter().enumerate() {
                    let piece = &mut pieces[usize::from(at >= cut)];
                    match step.parse::<u16>() {
                        Ok(port) => {
                            sent.extend(piece.sent(flow(port), at < cut).map(|_| port));
                        }
                        Err(_) => play(piece, step, Time(at as i64), at < cut, &mut Told::default()),
                    }
                }
                let [mut left, right] = pieces;
                let late = left.append(right, true, &mut Told::default());
                sent.extend(late.map(|(_, flow)| flow.source.port()));
                assert_eq!(sent, Vec::from_iter(expect), "{script}, cut at {cut}");
            }
        };
        check("call 1 2 switch 3", Some(1));
        check("call net 1 /net 2 3", Some(2));
        check("switch 1", None);
        check("call switch 1", None);
        check("call lose 1", None);
        check("1 call", None);
        check("call irq 1 net 2 /net /irq 3", Some(3));
    }
}
