//! The state of a row at an instant, with all that is known of it; and the one before and after it.

use isochrone_store::{State, StateRow};
use jiff::Timestamp;
use serde::Serialize;

use super::rows::{Kind, Row};
use super::states::{Window, style_name};
use super::{Clock, Shown};
use crate::error::ApiError;

/// A state, whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct StateAt {
    pub(crate) row: u32,
    pub(crate) label: String,
    pub(crate) state: &'static str,
    pub(crate) style: u8,
    pub(crate) begin: i64,
    pub(crate) end: i64,
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) times: Times,
}

/// An instant on both clocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Times {
    pub(crate) own: String,
    pub(crate) common: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sure: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) likely: Option<String>,
}

/// Which state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// The one at the instant.
    At,
    Next,
    Previous,
}

/// Half of the width of the window in which neighbours of states that are no threads' are looked for, at first, ns.
const NEAR_NS: i64 = 1_000_000;

impl Shown<'_> {
    /// A row of a number.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn row(&self, id: u32) -> Result<&Row, ApiError> {
        self.rows.get(id).ok_or_else(|| ApiError::missing(format!("there is no row {id}")))
    }

    /// The state of a row around an instant since the origin, or its neighbour.
    ///
    /// # Errors
    /// There is no such row, it has no state then, or the store cannot be read.
    pub(crate) fn state_at(&self, id: u32, at: i64, clock: Clock, which: Which) -> Result<StateAt, ApiError> {
        let row = self.row(id)?;
        match row.kind {
            Kind::Thread => self.thread_at(row, at, clock, which),
            Kind::Cpu | Kind::Disk | Kind::Phase => self.shape_at(row, at, clock, which),
            Kind::Host | Kind::Process => {
                Err(ApiError::missing(format!("{} has no states of its own", self.rows.title(id))))
            }
        }
    }

    fn thread_at(&self, row: &Row, at: i64, clock: Clock, which: Which) -> Result<StateAt, ApiError> {
        let store = &self.hosts[row.host].store;
        let raw = self.raw(row.host, at, clock);
        let found = store.whole_state(row.number, raw)?;
        let found = match (which, found) {
            (Which::At, found) => found,
            (Which::Next, Some(state)) => store.next_state(&state)?,
            (Which::Previous, Some(state)) => store.previous_state(&state)?,
            (_, None) => None,
        };
        let none = || ApiError::missing(format!("{} has no state there", self.rows.title(row.id)));
        let state = found.filter(|state| state.state != State::Dead).ok_or_else(none)?;
        let seen = if which == Which::At { raw } else { state.begin };
        Ok(StateAt {
            row: row.id,
            label: self.rows.title(row.id),
            state: state.state.name(),
            style: state.state as u8,
            begin: self.at(row.host, state.begin, clock),
            end: self.at(row.host, state.end, clock),
            fields: self.fields(row, &state)?,
            times: self.times(row.host, seen),
        })
    }

    /// What is known of a state of a thread.
    fn fields(&self, row: &Row, state: &StateRow) -> Result<Vec<(String, String)>, ApiError> {
        let store = &self.hosts[row.host].store;
        let mut fields: Vec<(String, String)> = Vec::new();
        let mut put = |name: &str, value: String| fields.push((name.to_owned(), value));
        if let Some(cpu) = state.cpu {
            put("CPU", cpu.to_string());
        }
        if let Some(name) = state.syscall.as_ref().filter(|name| !name.is_empty()) {
            let calls = store.calls_between(&[row.number], (state.begin, state.begin.saturating_add(1)))?;
            let call = calls.iter().find(|call| call.begin <= state.begin && state.begin < call.end);
            match call {
                Some(call) => {
                    let on = call.fd.map(|fd| format!("fd {fd}")).unwrap_or_default();
                    put("call", format!("{name}({on}) = {}", call.ret));
                    put("call takes", duration(call.end - call.begin));
                }
                None => put("call", format!("{name}()")),
            }
        }
        if let Some(container) = &row.container {
            put("container", container.clone());
        }
        if let (Some(fd), Some(pid)) = (state.fd, row.pid) {
            let files = store.open_files(state.begin, Some(pid))?;
            let is_sure = |from: Option<i64>| from.is_none_or(|from| state.begin < from);
            if let Some(file) = files.iter().find(|file| file.fd == fd && is_sure(file.doubtful_from)) {
                let ends = match (&file.local, &file.peer) {
                    (Some(local), Some(peer)) => format!("{local} ↔ {peer}"),
                    (Some(one), None) | (None, Some(one)) => one.to_string(),
                    (None, None) => String::new(),
                };
                let name = if file.name.is_empty() { ends } else { file.name.clone() };
                put(&format!("fd {fd}"), if name.is_empty() { "?".to_owned() } else { name });
            }
        }
        if state.state == State::WaitCpu {
            let cause = store.wake_cause(row.number, state.begin)?;
            let by = state.waker.and_then(|waker| self.rows.of_thread(row.host, waker));
            if let Some(by) = by.filter(|_| cause.is_none_or(|cause| cause.name() == "thread")) {
                put("woken by", self.rows.title(by));
            } else if let Some(cause) = cause {
                put("woken by", cause.name().to_owned());
            }
        }
        Ok(fields)
    }

    /// The state of a row that is no thread, from what is drawn of it.
    fn shape_at(&self, row: &Row, at: i64, clock: Clock, which: Which) -> Result<StateAt, ApiError> {
        let none = || ApiError::missing(format!("{} has no state there", self.rows.title(row.id)));
        let whole = self.extent.1.saturating_sub(self.extent.0).max(NEAR_NS);
        let mut near = NEAR_NS;
        loop {
            let (begin, end) = (at.saturating_sub(near), at.saturating_add(near));
            let window = Window { begin, end, pixels: u32::MAX, clock };
            let shapes = self.states(&[row.id], window)?.pop().unwrap_or_default();
            let shape = match which {
                Which::At => shapes.into_iter().find(|shape| shape.begin <= at && at < shape.end),
                Which::Next => shapes.into_iter().find(|shape| shape.begin > at),
                Which::Previous => shapes.into_iter().rfind(|shape| shape.end <= at),
            };
            // What is cut by the window may be longer.
            let is_whole = |begin_is: i64, end_is: i64| begin_is > begin && end_is < end;
            match shape {
                Some(shape) if is_whole(shape.begin, shape.end) || near > whole => {
                    return Ok(StateAt {
                        row: row.id,
                        label: self.rows.title(row.id),
                        state: style_name(shape.style),
                        style: shape.style,
                        begin: shape.begin,
                        end: shape.end,
                        fields: shape
                            .label
                            .map(|label| ("what".to_owned(), label.to_string()))
                            .into_iter()
                            .collect(),
                        times: self.times(row.host, self.raw(row.host, at, clock)),
                    });
                }
                _ if near > whole => return Err(none()),
                _ => near = near.saturating_mul(16),
            }
        }
    }

    /// A raw time of a host on both clocks, in words.
    pub(crate) fn times(&self, host: usize, raw: i64) -> Times {
        let here = &self.hosts[host];
        let stamp = here.timing.stamp(raw);
        Times {
            own: instant(here.unix(raw, Clock::Own)),
            common: instant(stamp.unix_ns),
            sure: stamp
                .bounds_around()
                .map(|(lo, hi)| format!("−{} … +{}", duration(lo.saturating_neg()), duration(hi))),
            likely: stamp.e95.map(|likely| format!("± {}", duration(likely))),
        }
    }
}

/// A Unix time in UTC, with all its nanoseconds.
pub(crate) fn instant(unix: i128) -> String {
    match Timestamp::from_nanosecond(unix) {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M:%S.%9f").to_string(),
        Err(_) => format!("{unix} ns"),
    }
}

/// A duration with four digits or so, and its unit.
pub(crate) fn duration(ns: i64) -> String {
    let value = ns as f64;
    match ns.unsigned_abs() {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{:.3} µs", value / 1e3),
        1_000_000..1_000_000_000 => format!("{:.3} ms", value / 1e6),
        _ => format!("{:.6} s", value / 1e9),
    }
}
