//! The options of a recording by trace-cmd: its clock, the machine, and where the buffers lie.

use super::source::Source;
use crate::bytes::{Bytes, Cut, Order, until_nul};
use crate::class::Machine;
use crate::clock::{Clock, Cycles};
use crate::error::ImportError;

/// Numbers of options, and of sections of version 7.
mod id {
    pub(super) const DONE: u16 = 0;
    pub(super) const DATE: u16 = 1;
    pub(super) const BUFFER: u16 = 3;
    pub(super) const CLOCK: u16 = 4;
    pub(super) const UNAME: u16 = 5;
    pub(super) const VERSION: u16 = 9;
    pub(super) const CYCLES: u16 = 14;
    pub(super) const FTRACE_EVENTS: u16 = 17;
    pub(super) const EVENT_FORMATS: u16 = 18;
}

/// Bytes of the tag before a part of version 6.
const TAG: u64 = 10;
/// A section is compressed.
const PACKED: u16 = 1;
/// Pages that a file says to be larger are not the kernel's: sub-buffers of 64 KiB are the largest.
const PAGES: std::ops::RangeInclusive<u32> = 64..=1 << 20;

/// What options say.
#[derive(Debug, Default)]
pub(crate) struct Options {
    pub(crate) buffers: Vec<Buffer>,
    /// The text of `uname`: system, host, release, machine.
    pub(crate) uname: String,
    /// Version of trace-cmd.
    pub(crate) version: String,
    clock: String,
    cycles: Option<Cycles>,
    /// Unix time of the clock's zero, ns.
    date: Option<i64>,
    /// Where sections with formats lie.
    pub(super) ftrace_events: Vec<u64>,
    pub(super) event_formats: Vec<u64>,
}

/// The buffer of an instance.
#[derive(Debug)]
pub(crate) struct Buffer {
    /// Its name; that of the first one is empty.
    pub(crate) name: String,
    /// Bytes of a page.
    pub(crate) page_size: usize,
    /// Whether its pages are compressed.
    pub(crate) is_packed: bool,
    pub(crate) cpus: Vec<CpuData>,
}

/// The data of a CPU.
#[derive(Debug)]
pub(crate) struct CpuData {
    pub(crate) cpu: u32,
    /// Where they start in the file.
    pub(crate) offset: u64,
    /// Bytes in the file.
    pub(crate) size: u64,
}

/// A section of a file of version 7.
#[derive(Debug)]
pub(super) struct Section {
    offset: u64,
    pub(super) data: Vec<u8>,
}

/// The head of a section.
struct SectionHead {
    is_packed: bool,
    size: u64,
}

impl Section {
    /// Bytes of a section's head.
    const HEAD: u64 = 16;

    fn head(
        source: &Source,
        order: Order,
        what: &'static str,
        offset: u64,
    ) -> Result<SectionHead, ImportError> {
        let head = source.read(what, offset, Self::HEAD)?;
        let (flags, size) = (order.number(&head[2..4]), order.number(&head[8..16]));
        Ok(SectionHead { is_packed: flags & u64::from(PACKED) != 0, size })
    }

    /// Reads a section, unpacked.
    pub(super) fn read(
        source: &Source,
        order: Order,
        what: &'static str,
        offset: u64,
    ) -> Result<Self, ImportError> {
        let SectionHead { is_packed, size } = Self::head(source, order, what, offset)?;
        let start = offset + Self::HEAD;
        if !is_packed {
            return Ok(Self { offset, data: source.read(what, start, size)? });
        }
        let sizes = source.read(what, start, 8)?;
        let (packed, unpacked) = (order.number(&sizes[..4]), order.number(&sizes[4..]));
        Ok(Self { offset, data: source.unpack(what, start + 8, packed, unpacked)? })
    }
}

impl Options {
    /// Adds the options of a section of version 7; returns where the next one lies, 0: nowhere.
    pub(super) fn add_all(
        &mut self,
        source: &Source,
        machine: Machine,
        section: &Section,
    ) -> Result<u64, ImportError> {
        let cut = |error: Cut| error.of("the list of options", section.offset);
        let mut bytes = Bytes::new(&section.data, machine.order);
        while !bytes.is_empty() {
            let (number, size) = (bytes.u16().map_err(cut)?, bytes.u32().map_err(cut)?);
            let data = bytes.take(size.into()).map_err(cut)?;
            let mut option = Bytes::new(data, machine.order);
            match number {
                id::DONE => return option.u64().map_err(cut),
                id::BUFFER => {
                    let buffer = self.buffer(source, machine, option)?;
                    self.buffers.push(buffer);
                }
                id::FTRACE_EVENTS => self.ftrace_events.push(option.u64().map_err(cut)?),
                id::EVENT_FORMATS => self.event_formats.push(option.u64().map_err(cut)?),
                _ => self.add(number, data, machine.order).map_err(cut)?,
            }
        }
        Ok(0)
    }

    /// Adds an option of which both versions have the same.
    fn add(&mut self, number: u16, data: &[u8], order: Order) -> Result<(), Cut> {
        let text = || String::from_utf8_lossy(until_nul(data)).into_owned();
        match number {
            // The one that is used stands in brackets.
            id::CLOCK => {
                let clocks = text();
                let used = clocks.split(' ').find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
                used.unwrap_or_default().clone_into(&mut self.clock);
            }
            id::UNAME => self.uname = text(),
            id::VERSION => self.version = text(),
            id::DATE => self.date = date(text().trim()),
            id::CYCLES => {
                let mut bytes = Bytes::new(data, order);
                let (multiplier, shift, offset) = (bytes.u32()?, bytes.u32()?, bytes.u64()?);
                self.cycles = Cycles::new(multiplier, shift, offset);
            }
            _ => {}
        }
        Ok(())
    }

    /// A buffer of version 7: where its section is, name, clock, size of pages, CPUs.
    fn buffer(
        &mut self,
        source: &Source,
        machine: Machine,
        mut bytes: Bytes<'_>,
    ) -> Result<Buffer, ImportError> {
        const WHAT: &str = "the buffer of an instance";
        let section = bytes.u64().map_err(|error| error.of(WHAT, 0))?;
        let cut = |error: Cut| error.of(WHAT, section);
        let SectionHead { is_packed, .. } = Section::head(source, machine.order, WHAT, section)?;
        let (name, clock) = (bytes.text().map_err(cut)?, bytes.text().map_err(cut)?);
        if self.clock.is_empty() {
            self.clock = clock;
        } else if !clock.is_empty() && clock != self.clock {
            return Err(ImportError::Clocks(self.clock.clone(), clock));
        }
        let page_size = page_size(bytes.u32().map_err(cut)?).ok_or_else(|| cut(Cut))?;
        let count = bytes.u32().map_err(cut)?;
        let mut cpus = Vec::new();
        for _ in 0..count {
            let (cpu, offset, size) =
                (bytes.u32().map_err(cut)?, bytes.u64().map_err(cut)?, bytes.u64().map_err(cut)?);
            cpus.push(CpuData { cpu, offset, size });
        }
        Ok(Buffer { name, page_size, is_packed, cpus })
    }

    /// The options of version 6 and where the data of its CPUs lie.
    pub(super) fn of_version_6(
        &mut self,
        source: &Source,
        machine: Machine,
        page: u32,
        cpus: u32,
        bytes: &mut Bytes<'_>,
    ) -> Result<(), Cut> {
        let mut instances = Vec::new();
        let mut tagged = bytes.take(TAG)?;
        if tagged == b"options  \0" {
            loop {
                let number = bytes.u16()?;
                if number == id::DONE {
                    break;
                }
                let size = bytes.u32()?;
                let data = bytes.take(size.into())?;
                match number {
                    id::BUFFER => {
                        let mut option = Bytes::new(data, machine.order);
                        instances.push((option.u64()?, option.text()?));
                    }
                    _ => self.add(number, data, machine.order)?,
                }
            }
            tagged = bytes.take(TAG)?;
        }
        let page_size = page_size(page).ok_or(Cut)?;
        // Recordings of latencies hold text.
        if tagged != b"flyrecord\0" {
            return Err(Cut);
        }
        let of = |name: String, bytes: &mut Bytes<'_>| {
            let mut of_cpus = Vec::new();
            for cpu in 0..cpus {
                let (offset, size) = (bytes.u64()?, bytes.u64()?);
                of_cpus.push(CpuData { cpu, offset, size });
            }
            Ok::<Buffer, Cut>(Buffer { name, page_size, is_packed: false, cpus: of_cpus })
        };
        self.buffers.push(of(String::new(), bytes)?);
        // Its clock stands behind, in the form of the option.
        if self.clock.is_empty()
            && let Ok(size) = bytes.u64()
            && let Ok(text) = bytes.take(size)
        {
            self.add(id::CLOCK, text, machine.order)?;
        }
        for (offset, name) in instances {
            let size = TAG + u64::from(cpus) * 16;
            let table = source.read("the buffer of an instance", offset, size).map_err(|_| Cut)?;
            let mut bytes = Bytes::new(&table, machine.order);
            if bytes.take(TAG)? != b"flyrecord\0" {
                return Err(Cut);
            }
            self.buffers.push(of(name, &mut bytes)?);
        }
        Ok(())
    }

    /// The clock of its times.
    pub(super) fn clock(&self) -> Result<Clock, ImportError> {
        Clock::of_ftrace(&self.clock, self.cycles, self.date)
    }
}

/// Bytes of a page, if pages can be of that size.
fn page_size(size: u32) -> Option<usize> {
    PAGES.contains(&size).then_some(size as usize)
}

/// The Unix time of the clock's zero, ns: `--date` has it in µs, as a number of C.
fn date(text: &str) -> Option<i64> {
    let micros: Option<i64> = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(|number| number as i64),
        None => text.parse().ok(),
    };
    micros?.checked_mul(1_000)
}
