//! What one CPU runs instead of its thread: softirqs, interrupts, timers, and the call that its thread is in.
//!
//! Part of a `PartialState`: it says what causes a wake-up and whether a packet is sent by the running thread. There is a [`Place`] for each
//! family of contexts, and in none of them does Linux nest one context in another of its family; so what is known of a place is
//! what happened there last, and two pieces join place by place. A switch, and both ends of a system call, happen in a thread: then
//! all places are empty. Until one of them comes, a piece may not know what has been under way since before it; wake-ups and packets
//! of that time wait for the piece before.

use isochrone_net::Flow;
use serde::{Deserialize, Serialize};

use crate::id::{ThreadAliases, Time};
use crate::in_flight::CallOwner;
use crate::span::{Cause, Spans, Wakeup};

/// Where a context is, the outermost first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Softirq,
    /// A timer of the timer wheel, which runs in a softirq.
    Timer,
    Irq,
    /// An interrupt of the CPU's own controller: its timer, another CPU, an error.
    Vector,
    HrTimer,
}

/// Number of [`Place`]s.
const PLACES: usize = 5;
/// A bit for each place.
const ALL: u8 = (1 << PLACES) - 1;

/// What may be under way.
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
    fn place(self) -> Place {
        match self {
            Self::Softirq(_) => Place::Softirq,
            Self::Timer => Place::Timer,
            Self::Irq(_) => Place::Irq,
            Self::LocalTimer | Self::Ipi(_) | Self::Vector(_) => Place::Vector,
            Self::HrTimer => Place::HrTimer,
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
    /// Places of which the piece knows more than the one before; bits.
    known: u8,
    /// Known ones of which nobody knows what is there, because events are missing.
    lost: u8,
    /// Those where a context is known to be under way: `here` says which. Most calls and switches find none.
    busy: u8,
    /// Since when which cause is there; `None` in all places but those where a context is known to be under way.
    here: [Option<(Time, Cause)>; PLACES],
    call: Call,
    /// What waits for the piece before.
    head: Option<Box<Head>>,
}

/// The call that the CPU's thread has been in since it came to the CPU last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Call {
    /// The one that the piece before knows.
    #[default]
    Before,
    None,
    Open {
        owner: CallOwner,
        /// Whether a packet was sent in it.
        has_sent: bool,
    },
}

/// What happened while a context of the piece before may have been under way, with the places where that may have been.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Head {
    /// With the cause that holds if no context was under way.
    wakes: Vec<(u8, Wakeup)>,
    /// The first packet for each such set of places.
    sent: Vec<(u8, Flow)>,
}

/// What is under way in some places.
enum Under {
    Context(Cause),
    Nothing,
    Lost,
    /// The piece before knows.
    Before,
}

impl Contexts {
    /// Those of a CPU from which everything is missing.
    pub(crate) fn missing() -> Self {
        let mut missing = Self::default();
        missing.lose();
        missing
    }

    pub(crate) fn enter(&mut self, context: Context, at: Time) {
        self.set(context.place(), Some((at, context.cause())));
    }

    pub(crate) fn leave(&mut self, context: Context) {
        self.set(context.place(), None);
    }

    fn set(&mut self, place: Place, what: Option<(Time, Cause)>) {
        let bit = 1 << place as usize;
        self.known |= bit;
        self.lost &= !bit;
        self.busy = self.busy & !bit | if what.is_some() { bit } else { 0 };
        self.here[place as usize] = what;
    }

    /// Another thread runs.
    #[inline]
    pub(crate) fn switch(&mut self) {
        self.in_thread();
        self.call = Call::None;
    }

    /// The thread makes a call.
    #[inline]
    pub(crate) fn call(&mut self, owner: CallOwner) {
        self.in_thread();
        self.call = Call::Open { owner, has_sent: false };
    }

    /// Its call returns.
    #[inline]
    pub(crate) fn call_returns(&mut self) {
        self.switch();
    }

    #[inline]
    fn in_thread(&mut self) {
        (self.known, self.lost) = (ALL, 0);
        if self.busy != 0 {
            self.busy = 0;
            self.here = Default::default();
        }
    }

    /// Events are missing.
    pub(crate) fn lose(&mut self) {
        self.switch();
        self.lost = ALL;
    }

    /// What is under way in some places.
    fn under_way(&self, places: u8) -> Under {
        let in_places = |bits: u8| bits & places != 0;
        let here = (0..PLACES).filter(|&place| in_places(self.busy & 1 << place));
        let innermost = here
            .filter_map(|place| Some((self.here[place]?, place)))
            .max_by_key(|&((at, _), place)| (at, place));
        match innermost {
            Some(((_, cause), _)) => Under::Context(cause),
            None if in_places(self.lost) => Under::Lost,
            None if in_places(!self.known) => Under::Before,
            None => Under::Nothing,
        }
    }

    /// A wake-up, with the cause that holds in a thread: returned with its cause, unless that is to be waited for. `is_first`: no piece comes
    /// before.
    pub(crate) fn wake(&mut self, wake: Wakeup, is_first: bool) -> Option<Wakeup> {
        self.wake_in(ALL, wake, is_first)
    }

    fn wake_in(&mut self, places: u8, wake: Wakeup, is_first: bool) -> Option<Wakeup> {
        let cause = match self.under_way(places) {
            Under::Context(cause) => cause,
            Under::Nothing => wake.cause,
            Under::Before if !is_first => {
                self.head.get_or_insert_default().wakes.push((places & !self.known, wake));
                return None;
            }
            Under::Lost | Under::Before => Cause::Unknown,
        };
        Some(Wakeup { cause, ..wake })
    }

    /// A packet is sent. Returns who keeps the call that sends it, if a call does and it is the first one that it sends.
    pub(crate) fn sent(&mut self, flow: Flow, is_first: bool) -> Option<CallOwner> {
        self.sent_in(ALL, flow, is_first)
    }

    fn sent_in(&mut self, places: u8, flow: Flow, is_first: bool) -> Option<CallOwner> {
        match (self.under_way(places), &mut self.call) {
            (Under::Nothing, Call::Open { owner, has_sent: has_sent @ false }) => {
                *has_sent = true;
                return Some(*owner);
            }
            (Under::Before, _) if !is_first => {
                let places = places & !self.known;
                let sent = &mut self.head.get_or_insert_default().sent;
                if sent.iter().all(|&(other, _)| other != places) {
                    sent.push((places, flow));
                }
            }
            _ => {}
        }
        None
    }

    /// Adds what came next. Returns what the first call of this piece that goes on there has sent there, and who keeps it here.
    pub(crate) fn append(
        &mut self,
        right: Self,
        is_first: bool,
        spans: &mut impl Spans,
    ) -> Option<(CallOwner, Flow)> {
        let Self { known, lost, busy, here, call, head } = right;
        let head = head.map(|head| *head).unwrap_or_default();
        for (places, wake) in head.wakes {
            if let Some(wake) = self.wake_in(places, wake, is_first) {
                spans.wakeup(&wake);
            }
        }
        let mut first = None;
        for (places, flow) in head.sent {
            if let Some(owner) = self.sent_in(places, flow, is_first) {
                first = Some((owner, flow));
            }
        }
        self.known |= known;
        self.lost = self.lost & !known | lost;
        self.busy = self.busy & !known | busy;
        for (place, there) in here.into_iter().enumerate() {
            if known & 1 << place != 0 {
                self.here[place] = there;
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

    /// Emits what waited for something before the trace.
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

    /// What wakes a thread at each `wake` of a script, however it is cut; `is_first`: the script begins with the trace.
    fn check(script: &str, is_first: bool, expect: &[Cause]) {
        let steps: Vec<&str> = script.split(' ').collect();
        for first in 0..=steps.len() {
            for second in first..=steps.len() {
                let mut emitted = Told::default();
                let mut pieces = [Contexts::default(), Contexts::default(), Contexts::default()];
                for (at, step) in steps.iter().enumerate() {
                    let piece = usize::from(at >= first) + usize::from(at >= second);
                    play(&mut pieces[piece], step, at as Time, is_first && piece == 0, &mut emitted);
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
            "lose" => contexts.lose(),
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
        // A softirq is interrupted, and goes on.
        check("call net wake irq wake /irq wake /net wake", true, &[Softirq(3), Irq(27), Softirq(3), Thread]);
        check("call ipi wake /ipi wake", true, &[Ipi(253), Thread]);
        // An interrupt within a timer is further inside than the timer.
        check("switch softirq wheel irq wake /irq wake", true, &[Irq(27), Timer]);
        // Whoever is switched to is in no interrupt, whether or not the end of that was seen.
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

    /// The first packet of a call is its own, if no context is under way.
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
                        Err(_) => play(piece, step, at as Time, at < cut, &mut Told::default()),
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
