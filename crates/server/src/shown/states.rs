//! States of rows in a window, at most about one per pixel.

use isochrone_kernel::Name;
use isochrone_store::{State, StateRow};

use super::rows::{Kind, Row};
use super::{Clock, Shown};
use crate::error::ApiError;

/// How a state is drawn. The first nine are those of threads, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Style {
    Unknown = 0,
    /// Of a thread; and a CPU that runs one.
    Running = State::Running as u8,
    Idle = 9,
    Irq = 10,
    Softirq = 11,
    DiskRead = 12,
    DiskWrite = 13,
    Phase = 14,
}

/// The name of a style, by its number.
pub(crate) fn style_name(style: u8) -> &'static str {
    const OTHERS: [&str; 6] = ["idle", "irq", "softirq", "disk-read", "disk-write", "phase"];
    match State::of(style) {
        Some(state) => state.name(),
        None => OTHERS.get(usize::from(style) - State::ALL.len()).copied().unwrap_or_default(),
    }
}

/// A state of a row, since the origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) style: u8,
    pub(crate) begin: i64,
    pub(crate) end: i64,
    pub(crate) label: Option<Name>,
}

/// What is asked of the time graph.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    pub(crate) begin: i64,
    pub(crate) end: i64,
    pub(crate) pixels: u32,
    pub(crate) clock: Clock,
}

impl Window {
    /// Duration of a pixel, ns.
    pub(crate) fn pixel(&self) -> i64 {
        (self.end.saturating_sub(self.begin) / i64::from(self.pixels.max(1))).max(1)
    }
}

impl Shown<'_> {
    /// The states of some rows, in their order. Rows that show nothing (processes, hosts) have none, and neither have those that do not exist.
    pub(crate) fn states(&self, rows: &[u32], window: Window) -> Result<Vec<Vec<Shape>>, ApiError> {
        let mut shapes: Vec<Vec<Shape>> = vec![Vec::new(); rows.len()];
        for host in 0..self.hosts.len() {
            let here: Vec<(usize, &Row)> = rows
                .iter()
                .enumerate()
                .filter_map(|(place, &id)| Some((place, self.rows.get(id)?)))
                .filter(|(_, row)| row.host == host)
                .collect();
            self.threads(host, &here, window, &mut shapes)?;
            let mut cpus: Vec<u32> = here.iter().filter_map(|(_, row)| row.cpu).collect();
            cpus.sort_unstable();
            cpus.dedup();
            let of_cpus = self.cpus(host, &cpus, window)?;
            for (place, row) in &here {
                if let Some(Ok(at)) = row.cpu.map(|cpu| cpus.binary_search(&cpu)) {
                    shapes[*place].clone_from(&of_cpus[at]);
                }
            }
            for &(place, row) in &here {
                shapes[place] = match row.kind {
                    Kind::Disk => self.disk(host, row.number, window)?,
                    Kind::Phase => self.phases(host, row.number, window)?,
                    Kind::Cpu | Kind::Thread | Kind::Host | Kind::Process => continue,
                };
            }
        }
        Ok(shapes)
    }

    /// The states of the threads among some rows.
    fn threads(
        &self,
        host: usize,
        rows: &[(usize, &Row)],
        window: Window,
        shapes: &mut [Vec<Shape>],
    ) -> Result<(), ApiError> {
        let mut threads: Vec<(u32, usize)> = rows
            .iter()
            .filter(|(_, row)| row.kind == Kind::Thread)
            .map(|(place, row)| (row.number, *place))
            .collect();
        if threads.is_empty() {
            return Ok(());
        }
        threads.sort_unstable();
        let numbers: Vec<u32> = threads.iter().map(|(number, _)| *number).collect();
        let raw = self.raw_window(host, (window.begin, window.end), window.clock);
        if raw.0 >= raw.1 {
            return Ok(());
        }
        let mut numbers_once = numbers.clone();
        numbers_once.dedup();
        for state in self.hosts[host].store.pixels(&numbers_once, raw, window.pixels)? {
            if state.state == State::Dead {
                continue;
            }
            let first = numbers.partition_point(|&number| number < state.thread);
            for (_, place) in threads[first..].iter().take_while(|(number, _)| *number == state.thread) {
                shapes[*place].push(self.shape(host, &state, window.clock));
            }
        }
        Ok(())
    }

    /// A state of a thread as it is drawn.
    pub(crate) fn shape(&self, host: usize, state: &StateRow, clock: Clock) -> Shape {
        Shape {
            style: state.state as u8,
            begin: self.at(host, state.begin, clock),
            end: self.at(host, state.end, clock),
            label: state.syscall.clone().filter(|name| !name.is_empty()),
        }
    }

    fn disk(&self, host: usize, device: u32, window: Window) -> Result<Vec<Shape>, ApiError> {
        let raw = self.raw_window(host, (window.begin, window.end), window.clock);
        let mut all = Vec::new();
        self.hosts[host].store.block_requests(raw, |request| {
            if request.device == device {
                let style = if request.is_write { Style::DiskWrite } else { Style::DiskRead };
                all.push((request.issued.unwrap_or(request.begin), request.end, style as u8, None));
            }
        })?;
        Ok(self.thinned(host, all, window))
    }

    fn phases(&self, host: usize, thread: u32, window: Window) -> Result<Vec<Shape>, ApiError> {
        let raw = self.raw_window(host, (window.begin, window.end), window.clock);
        let found = self.hosts[host].store.phases_of(thread, raw)?;
        let of_thread = found
            .into_iter()
            .map(|phase| (phase.begin, phase.end, Style::Phase as u8, Some(phase.name)))
            .collect();
        Ok(self.thinned(host, of_thread, window))
    }

    /// Spans of one row, each cut by the begin of the next, without those that begin in the pixel that another one fills.
    fn thinned(
        &self,
        host: usize,
        mut spans: Vec<(i64, i64, u8, Option<Name>)>,
        window: Window,
    ) -> Vec<Shape> {
        spans.sort_by_key(|(begin, ..)| *begin);
        let pixel = window.pixel();
        let mut out: Vec<Shape> = Vec::new();
        for (begin, end, style, label) in spans {
            let (begin, end) = (self.at(host, begin, window.clock), self.at(host, end, window.clock));
            match out.last_mut() {
                Some(last) if end.max(begin) < last.begin.saturating_add(pixel) => {
                    last.end = last.end.max(end);
                    continue;
                }
                Some(last) => last.end = last.end.min(begin).max(last.begin),
                None => {}
            }
            out.push(Shape { style, begin, end: end.max(begin), label });
        }
        out
    }
}
