//! The walk from the end of a request back to its begin, from each wait to what ended it.
//!
//! The walk is at a thread and an instant, and goes back in time. While the thread was on a CPU or waited for one, that is what the time
//! was spent on. Where it waited for something else, the event that woke it says what ended the wait:
//!
//! * a packet: the walk goes on where its message was sent, at the thread that sent it. A packet that a softirq sent (the answer to a
//!   SYN) leads to the packet that it answers;
//! * a thread: the walk tries that thread. If it comes back to a thread that waits (because that thread woke, forked or asked it), what
//!   lies between is the path. If not, the waker worked for somebody else, and the time is a wait for it: a lock, a pipe …;
//! * a timer, a disk: the wait is explained.
//!
//! A thread that received a message of an MPI program waited for who sent it, if that was sent after the call began: whatever it did meanwhile, because
//! libraries of MPI poll. The walk goes on at the sender.
//!
//! A server that was busy when a request arrived was not woken by it: the thread that sends the answer holds the request since the last
//! packet that it can have read of it, and there the walk goes on at the client. What a host did while a thread of another one
//! waited for it is the path also where it does not lead back; then the walk goes on at the thread that waited, before its wait.
//!
//! Steps follow each other on the common clock without holes and overlaps. An estimate by which a packet arrived before it was sent
//! makes its step empty and shortens the one before.
//!
//! The method is the backward resolution of F. Giraldeau and M. Dagenais (*Wait analysis of distributed systems using kernel tracing*,
//! IEEE Transactions on Parallel and Distributed Systems 27, 2016), with requests in the place of intervals of one thread.

use isochrone_analysis::Need;
use isochrone_experiment::Cause;
use isochrone_kernel::Cause as WakeCause;
use isochrone_store::{PacketSpan, State, StateRow, WakeupSpan};

use crate::mpi::MpiMessage;
use crate::request::Party;
use crate::timeline::{Timeline, Window};
use crate::wait::{About, Arrival, of_message, of_packet, vector};

/// Waits inside waits that are followed: as many tiers and helper threads as a request goes through.
const MOST_WAITS: usize = 64;

/// What is done between the reception of a packet and the wake-up of who waits for it.
pub(crate) const RECEIVES: &str = "receives it";
/// The same, where the softirq received packets of several connections, and it was chosen of these by their order.
pub(crate) const MAY_RECEIVE: &str = "receives it, or a packet of another connection";

/// Steps of a walk: a request of more is cut, and the rest is unknown.
const MOST_STEPS: usize = 1 << 20;

/// A part of a path: what was done, or waited for, in one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Place of the host; of a packet that of its sender.
    pub host: usize,
    /// Number of the thread; `None` of what the kernel does by itself, and of packets.
    pub thread: Option<u32>,
    /// The cause.
    pub cause: Cause,
    /// Begin on the clock that is asked for, Unix ns.
    pub begin: i64,
    /// End, Unix ns.
    pub end: i64,
    /// Of a packet between hosts: how far its time can be from what the clocks say, ns.
    pub uncertainty: Option<i64>,
    /// Of a packet: how much of the time, from its begin on, it was in the queue of the sender's device, ns. `None`: that was not
    /// recorded, or it is no packet.
    pub queued: Option<i64>,
}

/// Where a walk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) host: usize,
    pub(crate) thread: u32,
    /// Raw ns of the host.
    pub(crate) at: i64,
}

/// A thread that waits, since when.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    host: usize,
    thread: u32,
}

/// How a part of a walk ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// It is at its lower bound.
    Floor,
    /// It is back at a thread that waits: its place in the list, and the raw time at which that thread caused what followed.
    Back(usize, i64),
}

/// Where to go on from a packet.
enum Origin {
    /// At the thread that sent it.
    Thread(Place),
    /// Nobody who is traced, or who is known.
    Unknown,
}

/// Walks back through a window of time.
#[derive(Debug)]
pub(crate) struct Walk<'w, 'c, 'e> {
    window: &'w Window<'c, 'e>,
    waiting: Vec<Waiting>,
    /// The last step first.
    steps: Vec<(Step, About)>,
    /// Where the next step ends, Unix ns.
    now: i64,
    /// Where the path begins, Unix ns.
    begin: i64,
}

/// The path of a request that ends at a thread and began at an instant (Unix ns): its steps in the order of time, without holes.
pub(crate) fn walk(window: &Window<'_, '_>, end: Place, begin: i64) -> Vec<(Step, About)> {
    let now = window.cluster.hosts[end.host].common(end.at);
    let mut walk = Walk { window, waiting: Vec::new(), steps: Vec::new(), now, begin };
    walk.back(end, None, begin);
    walk.emit(end.host, None, Cause::Unknown, begin, About::Nothing);
    walk.steps.reverse();
    walk.steps
}

impl Walk<'_, '_, '_> {
    fn timeline(&self, host: usize) -> &Timeline {
        &self.window.timelines[host]
    }

    fn common(&self, host: usize, raw: i64) -> i64 {
        self.window.cluster.hosts[host].common(raw)
    }

    /// Adds a step from an instant (Unix ns) to where the last one begins. Empty steps are left out.
    fn emit(&mut self, host: usize, thread: Option<u32>, cause: Cause, from: i64, about: About) {
        let begin = from.max(self.begin);
        if begin >= self.now {
            return;
        }
        let end = std::mem::replace(&mut self.now, begin);
        if let Some((last, known)) = self.steps.last_mut()
            && (last.host, last.thread, last.cause, &*known) == (host, thread, cause, &about)
            && last.begin == end
        {
            last.begin = begin;
            return;
        }
        self.steps.push((Step { host, thread, cause, begin, end, uncertainty: None, queued: None }, about));
    }

    /// Cuts what is before an instant, Unix ns.
    fn clip(&mut self, floor: i64) {
        while self.now < floor {
            let Some((last, _)) = self.steps.last_mut() else { return };
            if last.end > floor {
                last.queued = last.queued.map(|queued| (queued - (floor - last.begin)).max(0));
                last.begin = floor;
                self.now = floor;
            } else {
                self.now = last.end;
                self.steps.pop();
            }
        }
    }

    /// Goes back from a place to a thread that waits. `floor` (Unix ns): when the last of them began to wait. What it waited for may
    /// have been caused before: so the walk goes on until the first wait that ended before the floor, and what does not lead back by
    /// then does not at all. `arrival`: of the request that the thread works for.
    fn back(&mut self, place: Place, mut arrival: Option<Arrival>, floor: i64) -> End {
        let Place { mut host, mut thread, mut at } = place;
        loop {
            if self.now <= self.begin || self.steps.len() >= MOST_STEPS {
                return End::Floor;
            }
            let is_below = self.now <= floor;
            let Some(state) = self.timeline(host).state_before(thread, at).cloned() else {
                let fork = self.timeline(host).fork(thread).copied().filter(|fork| fork.at <= at);
                let Some((parent, forked)) = fork.and_then(|fork| Some((fork.parent?, fork.at))) else {
                    self.emit(host, Some(thread), Cause::Unknown, floor, About::Nothing);
                    return End::Floor;
                };
                if let Some(place) = self.waits(host, parent) {
                    return End::Back(place, forked);
                }
                (thread, at) = (parent, forked);
                continue;
            };
            let arrived = arrival.as_ref().filter(|arrival| arrival.host == host).map(|it| it.packet.at);
            let is_in = |arrived: i64| (state.begin..at).contains(&arrived);
            let lower = arrived.filter(|&arrived| is_in(arrived)).unwrap_or(state.begin);
            let is_wait = state.state == State::Blocked || self.window.ends_as_wait(host, &state, at);
            if is_wait {
                if is_below && arrived.is_none() {
                    return self.caused_by(host, &state, at);
                }
                match self.through_wait(host, &state, at, lower) {
                    Some(End::Back(place, sent)) if place == self.waiting.len() => {
                        // It has led back to this very thread.
                        at = sent;
                        if arrived.is_none_or(|arrived| arrived < at) {
                            continue;
                        }
                        // It had caused the wait's end before the request came: what follows that is not of it.
                    }
                    Some(end @ End::Back(..)) => return end,
                    Some(End::Floor) | None => at = lower,
                }
            } else {
                let cause = match state.state {
                    state if state.is_on_cpu() => Cause::Cpu,
                    State::WaitCpu | State::WaitFork
                        if self.window.cluster.hosts[host].has(&[Need::Switches]) =>
                    {
                        Cause::WaitCpu
                    }
                    _ => Cause::Unknown,
                };
                let party = Party { host, thread };
                if let Some(message) = self.window.cluster.mpi_received(party, (lower, at)) {
                    if is_below {
                        return End::Floor;
                    }
                    let received = self.common(host, message.received);
                    self.emit(host, Some(thread), cause, received, About::Nothing);
                    match self.try_message(message) {
                        End::Back(place, sent) if place == self.waiting.len() => at = sent,
                        End::Floor => at = message.since,
                        end @ End::Back(..) => return end,
                    }
                } else if let Some(packet) = self.window.came_in_call(host, thread, (lower, at)) {
                    let came = self.common(host, packet.at);
                    self.emit(host, Some(thread), cause, came, About::Nothing);
                    match self.try_packet(host, thread, &packet, came) {
                        End::Back(place, sent) if place == self.waiting.len() => at = sent,
                        End::Floor => at = packet.at,
                        end @ End::Back(..) => return end,
                    }
                } else {
                    self.emit(host, Some(thread), cause, self.common(host, lower), About::Nothing);
                    at = lower;
                }
            }
            if let Some(came) = arrival.take_if(|arrival| arrival.host == host && arrival.packet.at >= at) {
                match self.origin(host, &came.packet) {
                    Origin::Thread(place) => {
                        if let Some(waits) = self.waits(place.host, place.thread) {
                            return End::Back(waits, place.at);
                        }
                        arrival = self.window.request_of(place, &came.packet);
                        Place { host, thread, at } = place;
                    }
                    Origin::Unknown => {
                        self.emit(host, None, Cause::Network, floor, of_packet(&came.packet, None));
                        return End::Floor;
                    }
                }
            }
        }
    }

    /// The softirq that received the packet by which a wait ended, and whether that packet is the one for certain.
    fn reception(&self, host: usize, wakeup: &WakeupSpan) -> About {
        let is_sure = self.window.is_sure_packet(host, wakeup);
        About::Handler(if is_sure { RECEIVES } else { MAY_RECEIVE }.to_owned())
    }

    /// The place of a thread among those that wait.
    fn waits(&self, host: usize, thread: u32) -> Option<usize> {
        self.waiting.iter().rposition(|waiting| (waiting.host, waiting.thread) == (host, thread))
    }

    /// Whether what ended a wait was caused by a thread that waits.
    fn caused_by(&mut self, host: usize, state: &StateRow, until: i64) -> End {
        let Some(wakeup) = self.window.wakeup(host, state, until) else { return End::Floor };
        let cause = match self.window.packet_of(host, &wakeup) {
            Some(packet) => {
                let came = self.common(host, packet.at);
                let about = self.reception(host, &wakeup);
                self.emit(host, Some(state.thread), Cause::Softirq, came, about);
                match self.origin(host, &packet) {
                    Origin::Thread(place) => place,
                    Origin::Unknown => return End::Floor,
                }
            }
            None => match wakeup.waker {
                Some(thread) if wakeup.cause == WakeCause::Thread => Place { host, thread, at: wakeup.at },
                _ => return End::Floor,
            },
        };
        self.waits(cause.host, cause.thread).map_or(End::Floor, |waits| End::Back(waits, cause.at))
    }

    /// Explains a wait that lasts until `until` (raw ns), down to `lower` (raw ns). `None`: it is explained by itself.
    /// An end at a place as great as the number of threads that wait is the thread itself.
    fn through_wait(&mut self, host: usize, state: &StateRow, until: i64, lower: i64) -> Option<End> {
        let thread = state.thread;
        let floor = self.common(host, lower);
        let Some(wakeup) = self.window.wakeup(host, state, until) else {
            self.wait(host, state, floor, (None, None));
            return None;
        };
        if let Some(packet) = self.window.packet_of(host, &wakeup) {
            let came = self.common(host, packet.at);
            let about = self.reception(host, &wakeup);
            self.emit(host, Some(thread), Cause::Softirq, came.max(floor), about);
            return Some(self.try_packet(host, thread, &packet, floor));
        }
        if state.state == State::Unknown && !matches!(wakeup.cause, WakeCause::Thread) {
            self.emit(host, Some(thread), Cause::Unknown, floor, About::Nothing);
            return None;
        }
        match wakeup.cause {
            WakeCause::Timer | WakeCause::Softirq(vector::TIMER | vector::HRTIMER) => {
                self.emit(host, Some(thread), Cause::Sleep, floor, self.window.about_wait(host, state, None));
            }
            WakeCause::Irq(_) | WakeCause::Softirq(vector::BLOCK) => {
                self.wait_for_device(host, state, &wakeup, floor);
            }
            _ => match self.window.waker(host, &wakeup).filter(|&waker| waker != thread) {
                Some(waker) => return self.try_waker(host, state, (waker, &wakeup), floor),
                None => self.wait(host, state, floor, (Some(&wakeup), None)),
            },
        }
        None
    }

    /// Goes on at the sender of a packet that ended a wait.
    fn try_packet(&mut self, host: usize, thread: u32, packet: &PacketSpan, floor: i64) -> End {
        if self.waiting.len() >= MOST_WAITS {
            self.emit(host, Some(thread), Cause::Unknown, floor, About::Nothing);
            return End::Floor;
        }
        self.waiting.push(Waiting { host, thread });
        let end = match self.origin(host, packet) {
            Origin::Thread(place) => match self.waits(place.host, place.thread) {
                Some(waits) => End::Back(waits, place.at),
                None => {
                    let arrival = self.window.request_of(place, packet);
                    self.back(place, arrival, floor)
                }
            },
            Origin::Unknown => End::Floor,
        };
        self.waiting.pop();
        if end == End::Floor {
            self.clip(floor);
            // From somebody who is not traced, or who did not do it because of this thread.
            self.emit(host, Some(thread), Cause::Network, floor, of_packet(packet, Some(host)));
        }
        end
    }

    /// Goes on at the sender of a message of an MPI program, if it was sent after the receiver had begun to wait for it.
    fn try_message(&mut self, message: &MpiMessage) -> End {
        let MpiMessage { sender, receiver, .. } = *message;
        let floor = self.common(receiver.host, message.since);
        let left = self.common(sender.host, message.sent);
        let count = self.steps.len();
        self.emit(sender.host, None, Cause::Network, left.max(floor), of_message(message));
        if self.steps.len() > count
            && let Some((step, _)) = self.steps.last_mut()
            && sender.host != receiver.host
        {
            step.uncertainty = self.window.cluster.uncertainty((sender.host, message.sent), receiver.host);
        }
        if left <= floor {
            return End::Floor;
        }
        let mut end = End::Floor;
        if self.waiting.len() < MOST_WAITS {
            self.waiting.push(Waiting { host: receiver.host, thread: receiver.thread });
            let place = Place { host: sender.host, thread: sender.thread, at: message.sent };
            end = match self.waits(sender.host, sender.thread) {
                Some(waits) => End::Back(waits, message.sent),
                None => self.back(place, None, floor),
            };
            self.waiting.pop();
        }
        if end == End::Floor {
            self.clip(floor);
            self.emit(sender.host, Some(sender.thread), Cause::Unknown, floor, About::Nothing);
        }
        end
    }

    /// Tries the thread that ended a wait: if the walk does not come back to one that waits, it worked for somebody else.
    fn try_waker(
        &mut self,
        host: usize,
        state: &StateRow,
        (waker, wakeup): (u32, &WakeupSpan),
        floor: i64,
    ) -> Option<End> {
        let at = wakeup.at;
        let (steps, now) = (self.steps.len(), self.now);
        // `sched_waking` comes before `sched_wakeup`, by which the wait ends: in between, the thread is put into a queue.
        let woken = self.common(host, at).max(floor);
        let last = self.steps.last().cloned();
        self.emit(host, Some(state.thread), Cause::WaitCpu, woken, About::Nothing);
        if self.waiting.len() < MOST_WAITS {
            self.waiting.push(Waiting { host, thread: state.thread });
            let end = match self.waits(host, waker) {
                Some(place) if place + 1 < self.waiting.len() => End::Back(place, at),
                _ => self.back(Place { host, thread: waker, at }, None, floor),
            };
            self.waiting.pop();
            if matches!(end, End::Back(..)) {
                return Some(end);
            }
        }
        self.steps.truncate(steps);
        if let (Some(kept), Some(last)) = (self.steps.last_mut(), last) {
            *kept = last;
        }
        self.now = now;
        self.wait(host, state, floor, (Some(wakeup), Some(waker)));
        None
    }

    /// A wait that a device ended: a disk, where one of its requests was complete just then.
    fn wait_for_device(&mut self, host: usize, state: &StateRow, wakeup: &WakeupSpan, floor: i64) {
        let (cause, about) = self.window.device(host, state, wakeup);
        self.emit(host, Some(state.thread), cause, floor, about);
    }

    /// A wait of which no more is known than its call.
    fn wait(
        &mut self,
        host: usize,
        state: &StateRow,
        floor: i64,
        (ended, waker): (Option<&WakeupSpan>, Option<u32>),
    ) {
        let cause = match state.state {
            State::Unknown => Cause::Unknown,
            _ => self.window.cause_of(host, state, ended),
        };
        self.emit(host, Some(state.thread), cause, floor, self.window.about_wait(host, state, waker));
    }

    /// Where a packet that a host received comes from; adds the steps of its way.
    fn origin(&mut self, host: usize, packet: &PacketSpan) -> Origin {
        let (mut host, mut packet) = (host, packet.clone());
        // The answer of a softirq leads to what it answers.
        for _ in 0..MOST_WAITS {
            let Some((from, sent)) = self.window.sent(host, &packet) else { return Origin::Unknown };
            self.carry(from, &sent, host, &packet);
            let there = self.timeline(from);
            let softirq = there.softirq_at(sent.cpu, sent.at).filter(|softirq| softirq.begin <= sent.at);
            let Some(softirq) = softirq.cloned() else {
                return match self.window.sender(from, &sent) {
                    Some(thread) => Origin::Thread(Place { host: from, thread, at: sent.at }),
                    None => Origin::Unknown,
                };
            };
            let before = there.received_on(sent.cpu, (softirq.begin, sent.at)).next().cloned();
            // What it answers goes the other way; that of another connection only let the queue move on.
            let is_answer = |before: &PacketSpan| match (before.flow, sent.flow) {
                (Some((before, _)), Some((sent, _))) => {
                    (before.source, before.destination) == (sent.destination, sent.source)
                }
                _ => false,
            };
            match before.filter(is_answer).filter(|_| self.window.is_of_kernel(from, &sent)) {
                Some(before) => {
                    let about = About::Handler("answers by itself".to_owned());
                    self.emit(from, None, Cause::Softirq, self.common(from, before.at), about);
                    (host, packet) = (from, before);
                }
                None => {
                    return match self.window.owner(from, &sent) {
                        Some(thread) => Origin::Thread(Place { host: from, thread, at: sent.at }),
                        None => Origin::Unknown,
                    };
                }
            }
        }
        Origin::Unknown
    }

    /// Adds the way of a packet.
    fn carry(&mut self, from: usize, sent: &PacketSpan, to: usize, received: &PacketSpan) {
        let count = self.steps.len();
        let left = self.common(from, sent.at);
        let about = of_packet(received, Some(to));
        self.emit(from, None, Cause::Network, left, about);
        if self.steps.len() == count {
            return;
        }
        let uncertainty = self.window.cluster.uncertainty((from, sent.at), to).filter(|_| from != to);
        let taken = self.timeline(from).taken(sent).map(|at| self.common(from, at));
        if let Some((step, _)) = self.steps.last_mut() {
            step.uncertainty = uncertainty;
            // The driver may return when the packet has already arrived.
            step.queued = taken.map(|at| at.clamp(step.begin, step.end) - step.begin);
        }
    }
}
