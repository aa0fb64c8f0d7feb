//! Hardware interrupts and softirqs of one CPU.
//!
//! Part of a `PartialState`. Handlers nest, but not one within itself: each number and each vector has a
//! track of its own.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::id::{Name, Time};
use crate::span::{Irq, Softirq, Spans};

/// The interrupts of one CPU in one piece.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Interrupts {
    /// Events were lost: a track that is not here waits for nothing of earlier pieces.
    cut: bool,
    hard: BTreeMap<i32, Hard>,
    soft: BTreeMap<u32, Soft>,
}

impl Interrupts {
    /// The interrupts of a CPU in a piece that is missing.
    pub(crate) fn missing() -> Self {
        Self { cut: true, ..Self::default() }
    }

    fn hard(&mut self, number: i32) -> &mut Hard {
        self.hard.entry(number).or_insert_with(|| Hard::new(self.cut))
    }

    fn soft(&mut self, vector: u32) -> &mut Soft {
        self.soft.entry(vector).or_insert_with(|| Soft::new(self.cut))
    }

    pub(crate) fn enter(&mut self, number: i32, name: &[u8], at: Time) {
        let name = Name::from_utf8_lossy(name);
        let track = self.hard(number);
        track.begun = true;
        track.open = Some((name, at));
    }

    pub(crate) fn exit(&mut self, cpu: u32, number: i32, ret: i64, at: Time, spans: &mut impl Spans) {
        self.hard(number).exit(cpu, number, HardExit { at, ret }, spans);
    }

    pub(crate) fn soft_raise(&mut self, vector: u32, at: Time) {
        self.soft(vector).raised.get_or_insert(at);
    }

    pub(crate) fn soft_enter(&mut self, vector: u32, at: Time) {
        self.soft(vector).enter(at);
    }

    pub(crate) fn soft_exit(&mut self, cpu: u32, vector: u32, at: Time, spans: &mut impl Spans) {
        self.soft(vector).exit(cpu, vector, at, spans);
    }

    /// Events are missing.
    pub(crate) fn on_loss(&mut self) {
        self.cut = true;
        self.hard.values_mut().for_each(|track| track.append_state(Hard::new(true)));
        self.soft.values_mut().for_each(|track| track.append_state(Soft::new(true)));
    }

    /// Appends the next piece.
    pub(crate) fn append(&mut self, cpu: u32, mut right: Self, spans: &mut impl Spans) {
        if right.cut {
            // Tracks without events in the right piece are cut there, too.
            for &number in self.hard.keys() {
                right.hard(number);
            }
            for &vector in self.soft.keys() {
                right.soft(vector);
            }
        }
        for (number, track) in right.hard {
            self.hard(number).append(cpu, number, track, spans);
        }
        for (vector, track) in right.soft {
            self.soft(vector).append(cpu, vector, track, spans);
        }
        self.cut |= right.cut;
    }

    /// Emits what waited for events before the trace.
    pub(crate) fn finish(&self, cpu: u32, spans: &mut impl Spans) {
        for (&vector, track) in &self.soft {
            if let Some(Entry { at, raised, end: Some(end) }) = track.first {
                spans.softirq(&Softirq { cpu, vector, raised, begin: at, end });
            }
        }
    }
}

/// The runs of one handler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Hard {
    /// The exit of a run that began in an earlier piece.
    head: Option<HardExit>,
    /// Whether `open` does not depend on earlier pieces.
    begun: bool,
    open: Option<(Name, Time)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct HardExit {
    at: Time,
    ret: i64,
}

impl Hard {
    fn new(cut: bool) -> Self {
        Self { head: None, begun: cut, open: None }
    }

    fn exit(&mut self, cpu: u32, number: i32, exit: HardExit, spans: &mut impl Spans) {
        if let Some((name, begin)) = self.open.take() {
            spans.irq(&Irq { cpu, number, name, ret: exit.ret, begin, end: exit.at });
        } else if !self.begun {
            self.head = Some(exit);
            self.begun = true;
        }
    }

    fn append(&mut self, cpu: u32, number: i32, right: Self, spans: &mut impl Spans) {
        if let Some(exit) = right.head {
            self.exit(cpu, number, exit, spans);
        }
        self.append_state(right);
    }

    fn append_state(&mut self, right: Self) {
        if right.begun {
            self.begun = true;
            self.open = right.open;
        }
    }
}

/// The runs of one softirq.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Soft {
    /// The exit of a run that began in an earlier piece.
    head: Option<Time>,
    /// The first run: it may have been raised in an earlier piece.
    first: Option<Entry>,
    /// Whether `open` does not depend on earlier pieces.
    begun: bool,
    /// Whether `raised` does not depend on earlier pieces.
    raises_known: bool,
    open: Option<OpenSoftirq>,
    /// When it was raised first since its last run.
    raised: Option<Time>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    at: Time,
    raised: Option<Time>,
    end: Option<Time>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum OpenSoftirq {
    /// The first run.
    First,
    /// A later run.
    Run { at: Time, raised: Option<Time> },
}

impl Soft {
    fn new(cut: bool) -> Self {
        Self { head: None, first: None, begun: cut, raises_known: cut, open: None, raised: None }
    }

    fn enter(&mut self, at: Time) {
        let raised = self.raised.take();
        self.open = Some(if self.raises_known {
            OpenSoftirq::Run { at, raised }
        } else {
            self.first = Some(Entry { at, raised, end: None });
            OpenSoftirq::First
        });
        self.raises_known = true;
        self.begun = true;
    }

    fn exit(&mut self, cpu: u32, vector: u32, end: Time, spans: &mut impl Spans) {
        match self.open.take() {
            Some(OpenSoftirq::First) => {
                if let Some(first) = &mut self.first {
                    first.end = Some(end);
                }
            }
            Some(OpenSoftirq::Run { at, raised }) => {
                spans.softirq(&Softirq { cpu, vector, raised, begin: at, end });
            }
            None if !self.begun => {
                self.head = Some(end);
                self.begun = true;
            }
            None => {}
        }
    }

    fn append(&mut self, cpu: u32, vector: u32, mut right: Self, spans: &mut impl Spans) {
        if let Some(end) = right.head {
            self.exit(cpu, vector, end, spans);
        }
        if let Some(first) = right.first {
            let raised = self.raised.or(first.raised);
            if self.raises_known {
                // The first run of the right piece was not the first of both.
                if let Some(end) = first.end {
                    spans.softirq(&Softirq { cpu, vector, raised, begin: first.at, end });
                }
                if right.open == Some(OpenSoftirq::First) {
                    right.open = Some(OpenSoftirq::Run { at: first.at, raised });
                }
            } else {
                self.first = Some(Entry { raised, ..first });
            }
        }
        self.append_state(right);
    }

    fn append_state(&mut self, right: Self) {
        if right.begun {
            self.begun = true;
            self.open = right.open;
        }
        if right.raises_known {
            self.raises_known = true;
            self.raised = right.raised;
        } else {
            self.raised = self.raised.or(right.raised);
        }
    }
}
