//! What a recording by trace-cmd says of its events, before them: the formats of events, and the options
//! ([`super::options`]).

use super::options::{Options, Section};
use super::source::{Compression, Source};
use crate::bytes::{Bytes, Cut, Order};
use crate::class::Machine;
use crate::error::ImportError;
use crate::event_format::EventFormat;

/// The first bytes of a file, in which all is that is not described by itself.
const FIRST: u64 = 256;
/// The part of a file of version 6 that describes its events may be this large: beside them, it has the
/// addresses of the kernel's functions.
const MAX_HEAD: u64 = 256 << 20;

/// How a file begins, and perf's description of events.
struct Start<'b> {
    version: String,
    machine: Machine,
    page_size: u32,
    /// What follows.
    bytes: Bytes<'b>,
}

impl<'b> Start<'b> {
    fn read(data: &'b [u8]) -> Result<Self, Cut> {
        let mut bytes = Bytes::new(data.get(super::MAGIC.len()..).unwrap_or_default(), Order::Little);
        let version = bytes.text()?;
        let order = if bytes.u8()? == 0 { Order::Little } else { Order::Big };
        let long = if bytes.u8()? == 4 { 4 } else { 8 };
        let mut bytes = Bytes::new(bytes.rest(), order);
        let page_size = bytes.u32()?;
        Ok(Self { version, machine: Machine { order, long }, page_size, bytes })
    }
}

/// What a file says of its events.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) machine: Machine,
    pub(crate) formats: Vec<EventFormat>,
    pub(crate) options: Options,
}

impl Head {
    pub(crate) fn read(source: &mut Source) -> Result<Self, ImportError> {
        let first = source.read_most("the start of the file", 0, FIRST)?;
        let cut = |error: Cut| error.of("the start of the file", 0);
        let Start { version, machine, page_size, mut bytes } = Start::read(&first).map_err(cut)?;
        match &*version {
            "6" => {
                let start = (first.len() - bytes.rest().len()) as u64;
                Self::of_version_6(source, machine, page_size, start)
            }
            "7" => {
                let algorithm = bytes.text().map_err(cut)?;
                bytes.text().map_err(cut)?;
                source.compression = match &*algorithm {
                    "zstd" => Some(Compression::Zstd),
                    "zlib" => Some(Compression::Zlib),
                    "none" => None,
                    _ => return Err(ImportError::Compression(algorithm)),
                };
                let options = bytes.u64().map_err(cut)?;
                Self::of_version_7(source, machine, options)
            }
            _ => Err(ImportError::Version(version)),
        }
    }

    fn of_version_7(source: &Source, machine: Machine, mut offset: u64) -> Result<Self, ImportError> {
        let mut head = Self { machine, formats: Vec::new(), options: Options::default() };
        // Lists of options lie one after the other as they were written: one that leads back is damaged.
        let mut seen = Vec::new();
        while offset != 0 {
            if seen.contains(&offset) {
                return Err(ImportError::Cut { what: "the list of options", offset });
            }
            seen.push(offset);
            let section = Section::read(source, machine.order, "the list of options", offset)?;
            offset = head.options.add_all(source, machine, &section)?;
        }
        for at in std::mem::take(&mut head.options.ftrace_events) {
            let section = Section::read(source, machine.order, "formats of ftrace's own events", at)?;
            let mut bytes = Bytes::new(&section.data, machine.order);
            head.add_group("ftrace", &mut bytes).map_err(|error| error.of("formats of events", at))?;
        }
        for at in std::mem::take(&mut head.options.event_formats) {
            let section = Section::read(source, machine.order, "formats of events", at)?;
            let mut bytes = Bytes::new(&section.data, machine.order);
            head.add_groups(&mut bytes).map_err(|error| error.of("formats of events", at))?;
        }
        Ok(head)
    }

    fn of_version_6(
        source: &Source,
        machine: Machine,
        page_size: u32,
        start: u64,
    ) -> Result<Self, ImportError> {
        let data = source.read_most("the description of events", start, MAX_HEAD)?;
        let mut bytes = Bytes::new(&data, machine.order);
        let mut head = Self { machine, formats: Vec::new(), options: Options::default() };
        let cpus =
            head.description(&mut bytes).map_err(|error| error.of("the description of events", start))?;
        let at = |bytes: &Bytes<'_>| start + (data.len() - bytes.rest().len()) as u64;
        let here = at(&bytes);
        head.options
            .of_version_6(source, machine, page_size, cpus, &mut bytes)
            .map_err(|error| error.of("the options", here))?;
        Ok(head)
    }

    /// What perf has, too: the layout of pages, formats, addresses, texts; returns the number of CPUs.
    fn description(&mut self, bytes: &mut Bytes<'_>) -> Result<u32, Cut> {
        self.formats_of(bytes)?;
        let addresses = bytes.u32()?;
        bytes.take(addresses.into())?;
        let texts = bytes.u32()?;
        bytes.take(texts.into())?;
        let names = bytes.u64()?;
        bytes.take(names)?;
        bytes.u32()
    }

    /// The layout of pages and the formats of all events.
    fn formats_of(&mut self, bytes: &mut Bytes<'_>) -> Result<(), Cut> {
        for _ in 0..2 {
            bytes.text()?;
            let size = bytes.u64()?;
            bytes.take(size)?;
        }
        self.add_group("ftrace", bytes)?;
        self.add_groups(bytes)
    }

    fn add_groups(&mut self, bytes: &mut Bytes<'_>) -> Result<(), Cut> {
        for _ in 0..bytes.u32()? {
            let system = bytes.text()?;
            self.add_group(&system, bytes)?;
        }
        Ok(())
    }

    fn add_group(&mut self, system: &str, bytes: &mut Bytes<'_>) -> Result<(), Cut> {
        for _ in 0..bytes.u32()? {
            let size = bytes.u64()?;
            let text = String::from_utf8_lossy(bytes.take(size)?);
            self.formats.extend(EventFormat::parse(system, &text));
        }
        Ok(())
    }
}

/// The formats of events in the tracing data of perf, which begin like a file of version 6, and the machine.
pub(crate) fn of_perf(data: &[u8]) -> Result<(Machine, Vec<EventFormat>), ImportError> {
    const WHAT: &str = "perf's description of events";
    let cut = |error: Cut| error.of(WHAT, 0);
    if !data.starts_with(super::MAGIC) {
        return Err(cut(Cut));
    }
    let Start { machine, mut bytes, .. } = Start::read(data).map_err(cut)?;
    let mut head = Head { machine, formats: Vec::new(), options: Options::default() };
    head.formats_of(&mut bytes).map_err(cut)?;
    Ok((machine, head.formats))
}
