//! The walk from the end of a request back to its start, from each wait to what ended it.
//!
//! The walk is at a thread and an instant, and goes back in time. While the thread was on a CPU or waited for
//! one, that is what the time was spent on. Where it waited for something else, the event that woke it shows
//! what ended the wait:
//!
//! * a packet: the walk goes on where its message was sent, at the thread that sent it. A packet that a
//!   softirq sent (the answer to a SYN) leads to the packet that it answers;
//! * a thread: the walk tries that thread. If it comes back to a thread that waits (because that thread woke,
//!   forked or asked it), what lies between is the path. If not, the waker worked for another request, and
//!   the time is a wait for it: a lock, a pipe …;
//! * a timer, a disk: the wait is explained.
//!
//! A thread that received a message of an MPI program waited for its sender, if it was sent after the call
//! started: whatever it did meanwhile, because libraries of MPI poll. The walk goes on at the sender.
//!
//! A server that was busy when a request arrived was not woken by it: the thread that sends the answer holds
//! the request since the last packet that it can have read of it, and there the walk goes on at the client.
//! What a host did while a thread of another one waited for it is the path also where it does not lead back;
//! then the walk goes on at the thread that waited, before its wait.
//!
//! Steps follow each other on the common clock without holes and overlaps. An estimate by which a packet
//! arrived before it was sent makes its step empty and shortens the one before.
//!
//! The method is the backward resolution of F. Giraldeau and M. Dagenais (*Wait analysis of distributed
//! systems using kernel tracing*, IEEE Transactions on Parallel and Distributed Systems 27, 2016), with
//! requests in the position of intervals of one thread.

use isochrone_analysis::Need;
use isochrone_kernel::Cause as WakeCause;
use isochrone_store::{Cause, PacketSpan, State, StateRow, ThreadRow, WakeupSpan};
use isochrone_time::{RawNs, UnixNs, Window};

use crate::mpi::MpiMessage;
use crate::path::{MAY_RECEIVE, Position, RECEIVES, Step, ThreadRef};
use crate::timeline::{ClusterWindow, Timeline};
use crate::wait::{Arrival, StepDetail, of_message, of_packet, vector};

/// Waits inside waits that are followed: as many tiers and helper threads as a request goes through.
const MAX_WAITS: usize = 64;

/// Steps of a walk: a request of more is cut, and the rest is unknown.
const MAX_STEPS: usize = 1 << 20;

/// A thread that waits, since when.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    host: usize,
    thread: ThreadRow,
}

/// How a part of a walk ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// It is at its lower bound.
    ReachedBound,
    /// It is back at a thread that waits: its position in the list, and the raw time at which that thread
    /// caused what followed.
    ReachedWaiter(usize, RawNs),
}

/// Where to go on from a packet.
enum Origin {
    /// At the thread that sent it.
    Thread(Position),
    /// At no thread: the sender is not traced, or unknown.
    Unknown,
}

/// Walks back through a window of time.
#[derive(Debug)]
pub(crate) struct Walk<'w, 'c, 'e> {
    window: &'w ClusterWindow<'c, 'e>,
    waiting: Vec<Waiting>,
    /// The last step first.
    steps: Vec<(Step, StepDetail)>,
    /// End of the next step.
    now: UnixNs,
    /// Start of the path.
    start: UnixNs,
}

/// The path of a request that ends at a thread and started at an instant: its steps in the order of time,
/// without holes.
pub(crate) fn walk(window: &ClusterWindow<'_, '_>, end: Position, start: UnixNs) -> Vec<(Step, StepDetail)> {
    let now = window.cluster.hosts[end.host].common(end.at);
    let mut walk = Walk { window, waiting: Vec::new(), steps: Vec::new(), now, start };
    walk.back(end, None, start);
    walk.emit(end.host, None, Cause::Unknown, start, StepDetail::Nothing);
    walk.steps.reverse();
    walk.steps
}

impl Walk<'_, '_, '_> {
    fn timeline(&self, host: usize) -> &Timeline {
        &self.window.timelines[host]
    }

    fn common(&self, host: usize, raw: RawNs) -> UnixNs {
        self.window.cluster.hosts[host].common(raw)
    }

    /// Adds a step from an instant to the start of the last one. Empty steps are left out.
    fn emit(
        &mut self,
        host: usize,
        thread: Option<ThreadRow>,
        cause: Cause,
        from: UnixNs,
        about: StepDetail,
    ) {
        let start = from.max(self.start);
        if start >= self.now {
            return;
        }
        let end = std::mem::replace(&mut self.now, start);
        if let Some((last, known)) = self.steps.last_mut()
            && (last.host, last.thread, last.cause, &*known) == (host, thread, cause, &about)
            && last.start == end
        {
            last.start = start;
            return;
        }
        self.steps.push((Step { host, thread, cause, start, end, uncertainty: None, queued: None }, about));
    }

    /// Cuts what is before an instant.
    fn clip(&mut self, floor: UnixNs) {
        while self.now < floor {
            let Some((last, _)) = self.steps.last_mut() else { return };
            if last.end > floor {
                last.queued = last.queued.map(|queued| (queued - floor.saturating_since(last.start)).max(0));
                last.start = floor;
                self.now = floor;
            } else {
                self.now = last.end;
                self.steps.pop();
            }
        }
    }

    /// Goes back from a position to a thread that waits. `floor`: the start of the wait of the last of them.
    /// Its end may have been caused before that: the walk goes on to the first wait that ended before the
    /// floor, and ends there if it has not led back. `arrival`: that of the request the thread works for.
    fn back(&mut self, position: Position, mut arrival: Option<Arrival>, floor: UnixNs) -> End {
        let Position { mut host, mut thread, mut at } = position;
        loop {
            if self.now <= self.start || self.steps.len() >= MAX_STEPS {
                return End::ReachedBound;
            }
            let is_below = self.now <= floor;
            let Some(state) = self.timeline(host).state_before(thread, at).cloned() else {
                let fork = self.timeline(host).fork(thread).copied().filter(|fork| fork.at <= at);
                let Some((parent, forked)) = fork.and_then(|fork| Some((fork.parent?, fork.at))) else {
                    self.emit(host, Some(thread), Cause::Unknown, floor, StepDetail::Nothing);
                    return End::ReachedBound;
                };
                if let Some(waiter) = self.waiter(host, parent) {
                    return End::ReachedWaiter(waiter, forked);
                }
                (thread, at) = (parent, forked);
                continue;
            };
            let arrived = arrival.as_ref().filter(|arrival| arrival.host == host).map(|it| it.packet.at);
            let is_in = |arrived: RawNs| (state.start..at).contains(&arrived);
            let lower = arrived.filter(|&arrived| is_in(arrived)).unwrap_or(state.start);
            let is_wait = state.state == State::Blocked || self.window.ends_as_wait(host, &state, at);
            if is_wait {
                if is_below && arrived.is_none() {
                    return self.caused_by(host, &state, at);
                }
                match self.through_wait(host, &state, at, lower) {
                    Some(End::ReachedWaiter(waiter, sent)) if waiter == self.waiting.len() => {
                        // It has led back to this very thread.
                        at = sent;
                        if arrived.is_none_or(|arrived| arrived < at) {
                            continue;
                        }
                        // It had caused the wait's end before the request came: what follows that is not of
                        // it.
                    }
                    Some(end @ End::ReachedWaiter(..)) => return end,
                    Some(End::ReachedBound) | None => at = lower,
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
                let party = ThreadRef { host, thread };
                if let Some(message) = self.window.cluster.mpi_received(party, Window::new(lower, at)) {
                    if is_below {
                        return End::ReachedBound;
                    }
                    let received = self.common(host, message.received);
                    self.emit(host, Some(thread), cause, received, StepDetail::Nothing);
                    match self.try_message(message) {
                        End::ReachedWaiter(waiter, sent) if waiter == self.waiting.len() => at = sent,
                        End::ReachedBound => at = message.since,
                        end @ End::ReachedWaiter(..) => return end,
                    }
                } else if let Some(packet) = self.window.came_in_call(host, thread, Window::new(lower, at)) {
                    let came = self.common(host, packet.at);
                    self.emit(host, Some(thread), cause, came, StepDetail::Nothing);
                    match self.try_packet(host, thread, &packet, came) {
                        End::ReachedWaiter(waiter, sent) if waiter == self.waiting.len() => at = sent,
                        End::ReachedBound => at = packet.at,
                        end @ End::ReachedWaiter(..) => return end,
                    }
                } else {
                    self.emit(host, Some(thread), cause, self.common(host, lower), StepDetail::Nothing);
                    at = lower;
                }
            }
            if let Some(came) = arrival.take_if(|arrival| arrival.host == host && arrival.packet.at >= at) {
                match self.origin(host, &came.packet) {
                    Origin::Thread(position) => {
                        if let Some(waiter) = self.waiter(position.host, position.thread) {
                            return End::ReachedWaiter(waiter, position.at);
                        }
                        arrival = self.window.request_of(position, &came.packet);
                        Position { host, thread, at } = position;
                    }
                    Origin::Unknown => {
                        self.emit(host, None, Cause::Network, floor, of_packet(&came.packet, None));
                        return End::ReachedBound;
                    }
                }
            }
        }
    }

    /// The softirq that received the packet by which a wait ended, and whether that packet is the one for
    /// certain.
    fn reception(&self, host: usize, wakeup: &WakeupSpan) -> StepDetail {
        let is_sure = self.window.is_sure_packet(host, wakeup);
        StepDetail::Handler(if is_sure { RECEIVES } else { MAY_RECEIVE }.to_owned())
    }

    /// The index of a thread among those that wait.
    fn waiter(&self, host: usize, thread: ThreadRow) -> Option<usize> {
        self.waiting.iter().rposition(|waiting| (waiting.host, waiting.thread) == (host, thread))
    }

    /// Whether what ended a wait was caused by a thread that waits.
    fn caused_by(&mut self, host: usize, state: &StateRow, until: RawNs) -> End {
        let Some(wakeup) = self.window.wakeup(host, state, until) else { return End::ReachedBound };
        let cause = match self.window.packet_of(host, &wakeup) {
            Some(packet) => {
                let came = self.common(host, packet.at);
                let about = self.reception(host, &wakeup);
                self.emit(host, Some(state.thread), Cause::Softirq, came, about);
                match self.origin(host, &packet) {
                    Origin::Thread(position) => position,
                    Origin::Unknown => return End::ReachedBound,
                }
            }
            None => match wakeup.waker {
                Some(thread) if wakeup.cause == WakeCause::Thread => Position { host, thread, at: wakeup.at },
                _ => return End::ReachedBound,
            },
        };
        self.waiter(cause.host, cause.thread)
            .map_or(End::ReachedBound, |waiter| End::ReachedWaiter(waiter, cause.at))
    }

    /// Explains a wait that lasts until `until`, down to `lower`. `None`: it is explained by itself.
    /// A waiter whose index is the number of waiting threads is this thread itself.
    fn through_wait(&mut self, host: usize, state: &StateRow, until: RawNs, lower: RawNs) -> Option<End> {
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
            self.emit(host, Some(thread), Cause::Unknown, floor, StepDetail::Nothing);
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
    fn try_packet(&mut self, host: usize, thread: ThreadRow, packet: &PacketSpan, floor: UnixNs) -> End {
        if self.waiting.len() >= MAX_WAITS {
            self.emit(host, Some(thread), Cause::Unknown, floor, StepDetail::Nothing);
            return End::ReachedBound;
        }
        self.waiting.push(Waiting { host, thread });
        let end = match self.origin(host, packet) {
            Origin::Thread(position) => match self.waiter(position.host, position.thread) {
                Some(waiter) => End::ReachedWaiter(waiter, position.at),
                None => {
                    let arrival = self.window.request_of(position, packet);
                    self.back(position, arrival, floor)
                }
            },
            Origin::Unknown => End::ReachedBound,
        };
        self.waiting.pop();
        if end == End::ReachedBound {
            self.clip(floor);
            // From a host that is not traced, or from a thread that did not act because of this one.
            self.emit(host, Some(thread), Cause::Network, floor, of_packet(packet, None));
        }
        end
    }

    /// Goes on at the sender of a message of an MPI program, if it was sent after the receiver had begun to
    /// wait for it.
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
            return End::ReachedBound;
        }
        let mut end = End::ReachedBound;
        if self.waiting.len() < MAX_WAITS {
            self.waiting.push(Waiting { host: receiver.host, thread: receiver.thread });
            let position = Position { host: sender.host, thread: sender.thread, at: message.sent };
            end = match self.waiter(sender.host, sender.thread) {
                Some(waiter) => End::ReachedWaiter(waiter, message.sent),
                None => self.back(position, None, floor),
            };
            self.waiting.pop();
        }
        if end == End::ReachedBound {
            self.clip(floor);
            self.emit(sender.host, Some(sender.thread), Cause::Unknown, floor, StepDetail::Nothing);
        }
        end
    }

    /// Tries the thread that ended a wait: if the walk does not come back to one that waits, it worked for
    /// another request.
    fn try_waker(
        &mut self,
        host: usize,
        state: &StateRow,
        (waker, wakeup): (ThreadRow, &WakeupSpan),
        floor: UnixNs,
    ) -> Option<End> {
        let at = wakeup.at;
        let (steps, now) = (self.steps.len(), self.now);
        // `sched_waking` comes before `sched_wakeup`, by which the wait ends: in between, the thread is put
        // into a queue.
        let woken = self.common(host, at).max(floor);
        let last = self.steps.last().cloned();
        self.emit(host, Some(state.thread), Cause::WaitCpu, woken, StepDetail::Nothing);
        if self.waiting.len() < MAX_WAITS {
            self.waiting.push(Waiting { host, thread: state.thread });
            let end = match self.waiter(host, waker) {
                Some(waiter) if waiter + 1 < self.waiting.len() => End::ReachedWaiter(waiter, at),
                _ => self.back(Position { host, thread: waker, at }, None, floor),
            };
            self.waiting.pop();
            if matches!(end, End::ReachedWaiter(..)) {
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
    fn wait_for_device(&mut self, host: usize, state: &StateRow, wakeup: &WakeupSpan, floor: UnixNs) {
        let (cause, about) = self.window.device(host, state, wakeup);
        self.emit(host, Some(state.thread), cause, floor, about);
    }

    /// A wait of which only the call is known.
    fn wait(
        &mut self,
        host: usize,
        state: &StateRow,
        floor: UnixNs,
        (ended, waker): (Option<&WakeupSpan>, Option<ThreadRow>),
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
        for _ in 0..MAX_WAITS {
            let Some((from, sent)) = self.window.sent(host, &packet) else { return Origin::Unknown };
            self.carry(from, &sent, host, &packet);
            let there = self.timeline(from);
            let softirq = there.softirq_at(sent.cpu, sent.at).filter(|softirq| softirq.start <= sent.at);
            let Some(softirq) = softirq.cloned() else {
                return match self.window.sender(from, &sent) {
                    Some(thread) => Origin::Thread(Position { host: from, thread, at: sent.at }),
                    None => Origin::Unknown,
                };
            };
            let before =
                there.packets().received_on(sent.cpu, Window::new(softirq.start, sent.at)).next().cloned();
            // What it answers goes the other way; that of another connection only let the queue move on.
            let is_answer = |before: &PacketSpan| match (before.flow, sent.flow) {
                (Some((before, _)), Some((sent, _))) => {
                    (before.source, before.destination) == (sent.destination, sent.source)
                }
                _ => false,
            };
            match before.filter(is_answer).filter(|_| self.window.is_of_kernel(from, &sent)) {
                Some(before) => {
                    let about = StepDetail::Handler("answers by itself".to_owned());
                    self.emit(from, None, Cause::Softirq, self.common(from, before.at), about);
                    (host, packet) = (from, before);
                }
                None => {
                    return match self.window.owner(from, &sent) {
                        Some(thread) => Origin::Thread(Position { host: from, thread, at: sent.at }),
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
            step.queued = taken.map(|at| at.clamp(step.start, step.end).saturating_since(step.start));
        }
    }
}
