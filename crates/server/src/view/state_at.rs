//! The state of a row at an instant, with its details; and the one before and after it.

use isochrone_store::{PAGE_FAULT, State, StateRow};
use isochrone_time::{RawNs, SinceOrigin, UnixNs, Window};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::instead::Meanwhile;
use super::rows::{GraphRow, RowKind};
use super::states::{Shape, Viewport, style_name};
use super::{Clock, ExperimentView};
use crate::error::{ApiError, Result};

/// A whole state, not cut by a window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct StateAt {
    pub(crate) row: u32,
    pub(crate) label: String,
    pub(crate) state: &'static str,
    pub(crate) style: u8,
    pub(crate) begin: SinceOrigin,
    pub(crate) end: SinceOrigin,
    /// Names and values, for people.
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) times: Times,
    /// The row of the thread that woke the thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    waker: Option<u32>,
    /// What ran instead, of a wait for a CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    meanwhile: Option<Meanwhile>,
}

/// An instant on both clocks, as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Times {
    pub(crate) own: String,
    pub(crate) common: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sure: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) likely: Option<String>,
}

/// Which state of a row is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Which {
    /// The one at the instant.
    #[serde(skip)]
    At,
    /// The first one that starts after it.
    Next,
    /// The last one that ends before it.
    Previous,
}

/// Half of the width of the window in which states of CPUs, disks and phases are searched at first, ns.
const NEAR_NS: i64 = 1_000_000;

impl ExperimentView<'_> {
    /// The state of a row around an instant, or its neighbour.
    ///
    /// # Errors
    /// There is no such row, it has no state then, or the store cannot be read.
    pub(crate) fn state_at(&self, id: u32, at: SinceOrigin, clock: Clock, which: Which) -> Result<StateAt> {
        let row = self.row(id)?;
        let state = match row.kind {
            RowKind::Thread => self.state_of_thread(row, at, clock, which)?,
            RowKind::Cpu | RowKind::Disk | RowKind::Phase => self.state_of_shape(row, at, clock, which)?,
            RowKind::Host | RowKind::Process => {
                return Err(ApiError::missing(format!("{} has no states of its own", self.rows.title(id))));
            }
        };
        state.ok_or_else(|| ApiError::missing(format!("{} has no state there", self.rows.title(id))))
    }

    fn state_of_thread(
        &self,
        row: &GraphRow,
        at: SinceOrigin,
        clock: Clock,
        which: Which,
    ) -> Result<Option<StateAt>> {
        let store = &self.hosts[row.host].store;
        let raw = self.raw(row.host, at, clock);
        let Some(thread) = row.thread else { return Ok(None) };
        let Some(found) = store.whole_state(thread, raw)? else { return Ok(None) };
        let found = match which {
            Which::At => Some(found),
            Which::Next => store.next_state(&found)?,
            Which::Previous => store.previous_state(&found)?,
        };
        let Some(state) = found.filter(|state| state.state != State::Dead) else { return Ok(None) };
        let raw = if which == Which::At { raw } else { state.start };
        let shape = self.shape_of_state(row.host, &state, clock);
        let mut entry = self.entry(row, &shape, self.details(row, &state)?, raw);
        if state.state == State::WaitCpu {
            entry.meanwhile = self.meanwhile(row.host, &state)?;
        }
        if let Some(woken) = self.woken(row.host, &state)? {
            entry.waker = self.waker_of(row, &woken)?;
        }
        Ok(Some(entry))
    }

    /// The whole state of a row at an instant, as it is drawn.
    pub(super) fn whole_shape(&self, id: u32, at: SinceOrigin, clock: Clock) -> Result<Option<Shape>> {
        let row = self.row(id)?;
        let Some(thread) = row.thread.filter(|_| row.kind == RowKind::Thread) else {
            return self.shape_around(row, at, clock, Which::At);
        };
        let state = self.hosts[row.host].store.whole_state(thread, self.raw(row.host, at, clock))?;
        Ok(state.map(|state| self.shape_of_state(row.host, &state, clock)))
    }

    /// The wait for a CPU that begins where a thread was woken: a state itself, or what follows on one in
    /// which the thread was blocked.
    fn woken(&self, host: usize, state: &StateRow) -> Result<Option<StateRow>> {
        Ok(match state.state {
            State::WaitCpu => Some(state.clone()),
            State::Blocked => {
                let next = self.hosts[host].store.next_state(state)?;
                next.filter(|next| next.state == State::WaitCpu && next.start == state.end)
            }
            _ => None,
        })
    }

    /// The row of the thread that made a thread runnable, if a thread did.
    fn waker_of(&self, row: &GraphRow, state: &StateRow) -> Result<Option<u32>> {
        let Some(waker) = state.waker.and_then(|waker| self.rows.of_thread(row.host, waker)) else {
            return Ok(None);
        };
        let cause = self.hosts[row.host].store.wake_cause(state.thread, state.start)?;
        Ok(Some(waker).filter(|_| cause.is_none_or(|cause| cause.name() == "thread")))
    }

    /// A state with the raw time that is shown of it.
    fn entry(&self, row: &GraphRow, shape: &Shape, fields: Vec<(String, String)>, raw: RawNs) -> StateAt {
        StateAt {
            row: row.id,
            label: self.rows.title(row.id),
            state: style_name(shape.style),
            style: shape.style,
            begin: shape.start,
            end: shape.end,
            fields,
            times: self.times(row.host, raw),
            waker: None,
            meanwhile: None,
        }
    }

    /// The details of a state of a thread.
    fn details(&self, row: &GraphRow, state: &StateRow) -> Result<Vec<(String, String)>> {
        let store = &self.hosts[row.host].store;
        let mut fields: Vec<(String, String)> = Vec::new();
        let mut put = |name: &str, value: String| fields.push((name.to_owned(), value));
        if let Some(cpu) = state.cpu {
            put("CPU", cpu.to_string());
        }
        let call = state.syscall.as_ref().filter(|name| !name.is_empty());
        if call.is_some_and(|name| name == PAGE_FAULT) {
            let here = Window::new(state.start, state.start.saturating_add(1));
            if let Some(it) = store.waited_faults(here)?.at(state.thread, state.start) {
                put(PAGE_FAULT, format!("at {:#x}: {}", it.fault.address, it.memory));
            }
        } else if let Some(name) = call {
            let calls = store
                .calls_between(&[state.thread], Window::new(state.start, state.start.saturating_add(1)))?;
            let call = calls.iter().find(|call| call.start <= state.start && state.start < call.end);
            match call {
                Some(call) => {
                    let on = call.fd.map(|fd| format!("fd {fd}")).unwrap_or_default();
                    put("call", format!("{name}({on}) = {}", call.ret));
                    put("call takes", duration(call.end - call.start));
                }
                None => put("call", format!("{name}()")),
            }
        }
        if let Some(container) = &row.container {
            put("container", container.clone());
        }
        if let (Some(fd), Some(pid)) = (state.fd, row.pid) {
            let files = store.open_files(state.start, Some(pid))?;
            let is_sure = |from: Option<RawNs>| from.is_none_or(|from| state.start < from);
            if let Some(file) = files.iter().find(|file| file.fd == fd && is_sure(file.doubtful_from)) {
                let ends = match (&file.local, &file.peer) {
                    (Some(local), Some(peer)) => format!("{local} ↔ {peer}"),
                    (Some(one), None) | (None, Some(one)) => one.to_string(),
                    (None, None) => String::new(),
                };
                let name = if file.name.is_empty() { ends } else { file.name.to_string() };
                put(&format!("fd {fd}"), if name.is_empty() { "?".to_owned() } else { name });
            }
        }
        if let Some(woken) = self.woken(row.host, state)? {
            let by = if state.state == State::Blocked { "ended by" } else { "woken by" };
            if let Some(waker) = self.waker_of(row, &woken)? {
                put(by, self.rows.title(waker));
            } else if let Some(cause) = store.wake_cause(woken.thread, woken.start)? {
                put(by, cause.name().to_owned());
            }
        }
        Ok(fields)
    }

    /// The state of a CPU, a disk or a phase, from what is drawn of it.
    fn state_of_shape(
        &self,
        row: &GraphRow,
        at: SinceOrigin,
        clock: Clock,
        which: Which,
    ) -> Result<Option<StateAt>> {
        let Some(shape) = self.shape_around(row, at, clock, which)? else { return Ok(None) };
        let label = shape.label.iter().map(|label| ("what".to_owned(), label.to_string()));
        Ok(Some(self.entry(row, &shape, label.collect(), self.raw(row.host, at, clock))))
    }

    fn shape_around(
        &self,
        row: &GraphRow,
        at: SinceOrigin,
        clock: Clock,
        which: Which,
    ) -> Result<Option<Shape>> {
        let whole = self.extent.end.saturating_since(self.extent.start).max(NEAR_NS);
        let mut near = NEAR_NS;
        loop {
            let window = Window::new(at.saturating_sub(near), at.saturating_add(near));
            let viewport = Viewport { window, pixels: u32::MAX, clock };
            let shapes = self.states(&[row.id], viewport)?.pop().unwrap_or_default();
            let shape = match which {
                Which::At => shapes.into_iter().find(|shape| shape.start <= at && at < shape.end),
                Which::Next => shapes.into_iter().find(|shape| shape.start > at),
                Which::Previous => shapes.into_iter().rfind(|shape| shape.end <= at),
            };
            let is_all = near > whole;
            // What is cut by the window may be longer.
            let shape = shape.filter(|it| is_all || it.start > window.start && it.end < window.end);
            if shape.is_some() || is_all {
                return Ok(shape);
            }
            near = near.saturating_mul(16);
        }
    }

    /// A raw time of a host on both clocks.
    fn times(&self, index: usize, raw: RawNs) -> Times {
        let host = &self.hosts[index];
        let stamp = host.timing.stamp(raw);
        Times {
            own: instant(host.unix(raw, Clock::Own)),
            common: instant(stamp.unix),
            sure: stamp
                .bounds_around()
                .map(|(lo, hi)| format!("−{} … +{}", duration(lo.saturating_neg()), duration(hi))),
            likely: stamp.e95.map(|likely| format!("± {}", duration(likely))),
        }
    }
}

/// A Unix time in UTC, with all its nanoseconds.
pub(crate) fn instant(unix: UnixNs) -> String {
    match Timestamp::from_nanosecond(unix.0) {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M:%S.%9f").to_string(),
        Err(_) => format!("{unix} ns"),
    }
}

/// A duration of `ns` with about four digits, and its unit.
pub(crate) fn duration(ns: i64) -> String {
    let value = ns as f64;
    match ns.unsigned_abs() {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{:.3} µs", value / 1e3),
        1_000_000..1_000_000_000 => format!("{:.3} ms", value / 1e6),
        _ => format!("{:.6} s", value / 1e9),
    }
}
