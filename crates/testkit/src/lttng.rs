//! Traces written by hand: a few lines of a test become a trace as LTTng writes it.
//!
//! [`LttngTrace`] collects what happens on each CPU; [`crate::metadata`] spells its metadata, [`crate::stream`] its
//! packets.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;

use isochrone_ctf::index::{self, IndexEntry};
use isochrone_ctf::schema::ByteOrder;
use isochrone_ctf::write::PacketWriter;
use uuid::{Builder, Uuid};

use crate::classes::{self, KERNEL_CLASSES, NetLayout};
use crate::compiled::Compiled;
use crate::error::{Misuse, TestkitError};
use crate::metadata::{Channel, ClockSpec, Description, EventHeader, EventText, in_packets};
use crate::random::digest;
use crate::stream::{CpuLog, Geometry, HeadValues, Packet};
use crate::value::FieldValue;

/// Packets of the tracer end at multiples of this many bytes.
const PAGE_BYTES: u64 = 4096;

/// A trace in the making: described first, then filled with events, then written.
///
/// A mistake on the way (an unknown name, a time that goes back) is kept and reported by [`Self::write`].
///
/// ```
/// use isochrone_testkit::LttngTrace;
/// # let directory = tempfile::tempdir()?;
/// let mut host = LttngTrace::kernel("web");
/// host.cpus(2);
/// host.event(0, 1_000, "sched_switch", &[("prev_comm", "sh".into()), ("prev_tid", 7.into())]);
/// host.event(1, 1_500, "irq_handler_entry", &[("irq", 9.into()), ("name", "acpi".into())]);
/// host.write(directory.path())?;
/// let trace = isochrone_ctf::Trace::open(directory.path())?;
/// assert_eq!(trace.streams().len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct LttngTrace {
    description: Description,
    /// Subdirectory of the session: `kernel` or `ust`.
    domain: &'static str,
    net_layout: NetLayout,
    packet_bytes: u64,
    metadata_in_packets: bool,
    cpus: Vec<CpuLog>,
    compiled: Option<Compiled>,
    misuse: Option<Misuse>,
}

impl LttngTrace {
    /// A kernel trace of this host with the event classes of [`KERNEL_CLASSES`]: little-endian, packed, compact event
    /// headers, one CPU, packets of 16 KiB, a clock of 1 GHz whose uuid follows from the host's name.
    pub fn kernel(host: &str) -> Self {
        let mut trace = Self::empty(host, "kernel", "lttng-modules");
        for (id, name) in (0..).zip(KERNEL_CLASSES) {
            let fields = classes::fields(name, trace.net_layout).unwrap_or_default();
            trace.description.events.push(EventText { id, name: name.to_owned(), fields });
        }
        trace
    }

    /// A user-space trace of this host without event classes: [`Self::define`] them. Its clock is that of the host's
    /// kernel trace.
    pub fn user_space(host: &str) -> Self {
        Self::empty(host, "ust", "lttng-ust")
    }

    fn empty(host: &str, domain: &'static str, tracer: &str) -> Self {
        let texts = [("hostname", host), ("domain", domain), ("sysname", "Linux"), ("tracer_name", tracer)];
        let numbers = [("tracer_major", 2), ("tracer_minor", 13), ("tracer_patchlevel", 9)];
        let texts = texts.map(|(name, value)| (name.to_owned(), value.into()));
        let numbers = numbers.map(|(name, value)| (name.to_owned(), value.into()));
        let uuid_of = |what: &str| Builder::from_random_bytes(digest(&format!("{host}/{what}"))).into_uuid();
        let description = Description {
            uuid: uuid_of(domain),
            environment: texts.into_iter().chain(numbers).collect(),
            clock: ClockSpec { uuid: Some(uuid_of("clock")), offset_ns: 0, frequency: 1_000_000_000 },
            header: EventHeader::default(),
            byte_order: ByteOrder::Little,
            aligned: false,
            context: None,
            events: Vec::new(),
            channels: vec![Channel::only()],
        };
        Self {
            description,
            domain,
            net_layout: NetLayout::default(),
            packet_bytes: 4 * PAGE_BYTES,
            metadata_in_packets: false,
            cpus: vec![CpuLog::default()],
            compiled: None,
            misuse: None,
        }
    }

    /// Replaces the clock.
    pub fn clock(&mut self, clock: ClockSpec) -> &mut Self {
        self.describe(|this| this.description.clock = clock)
    }

    /// The clock that the metadata will declare: to be changed in part and put back.
    pub fn clock_spec(&self) -> ClockSpec {
        self.description.clock
    }

    /// Replaces the identity of the trace.
    pub fn uuid(&mut self, uuid: Uuid) -> &mut Self {
        self.describe(|this| this.description.uuid = uuid)
    }

    /// Sets an entry of the environment: text or an integer.
    pub fn environment(&mut self, name: &str, value: FieldValue) -> &mut Self {
        self.describe(|this| {
            let environment = &mut this.description.environment;
            match environment.iter_mut().find(|(known, _)| known == name) {
                Some(entry) => entry.1 = value,
                None => environment.push((name.to_owned(), value)),
            }
        })
    }

    /// The form of event headers.
    pub fn header(&mut self, header: EventHeader) -> &mut Self {
        self.describe(|this| this.description.header = header)
    }

    /// The byte order of the traced machine.
    pub fn byte_order(&mut self, byte_order: ByteOrder) -> &mut Self {
        self.describe(|this| this.description.byte_order = byte_order)
    }

    /// The byte order that the metadata will declare.
    pub(crate) fn declared_byte_order(&self) -> ByteOrder {
        self.description.byte_order
    }

    /// Whether numbers are aligned to their size, as tracers on ARM do, or packed.
    pub fn aligned(&mut self, aligned: bool) -> &mut Self {
        self.describe(|this| this.description.aligned = aligned)
    }

    /// The number of CPUs.
    pub fn cpus(&mut self, count: u32) -> &mut Self {
        self.describe(|this| this.cpus.resize_with(count as usize, CpuLog::default))
    }

    /// The largest packet; rounded up to 4 KiB. An event that is larger gets a packet of its size.
    pub fn packet_size(&mut self, bytes: u64) -> &mut Self {
        self.describe(|this| this.packet_bytes = bytes.max(1).next_multiple_of(PAGE_BYTES))
    }

    /// Whether the metadata are written in packets, as the tracer itself writes them, or as plain text.
    pub fn metadata_in_packets(&mut self, in_packets: bool) -> &mut Self {
        self.describe(|this| this.metadata_in_packets = in_packets)
    }

    /// The layout of the network events, and the tracer's version with it.
    pub fn net_layout(&mut self, layout: NetLayout) -> &mut Self {
        self.describe(|this| {
            this.net_layout = layout;
            for event in &mut this.description.events {
                if let Some(fields) = classes::fields(&event.name, layout) {
                    event.fields = fields;
                }
            }
        });
        let minor = match layout {
            NetLayout::V2_9 => 9,
            NetLayout::V2_11 => 11,
            NetLayout::V2_13 => 13,
        };
        self.environment("tracer_minor", minor.into())
    }

    /// Keeps only these event classes, as when nothing else was enabled.
    pub fn only(&mut self, names: &[&str]) -> &mut Self {
        self.describe(|this| this.description.events.retain(|event| names.contains(&event.name.as_str())))
    }

    /// Adds an event class, or replaces one: its fields in TSDL. Names are declared with the leading underscore that
    /// LTTng writes (`integer { size = 32; align = 8; } _fd;`).
    pub fn define(&mut self, name: &str, tsdl_fields: &str) -> &mut Self {
        let known = self.description.events.iter().find(|event| event.name == name).map(|event| event.id);
        let next = self.description.events.iter().map(|event| event.id + 1).max().unwrap_or(0);
        self.define_with_id(known.unwrap_or(next), name, tsdl_fields)
    }

    /// As [`Self::define`], with this id: ids from 31 on need the long form of compact headers.
    pub fn define_with_id(&mut self, id: u64, name: &str, tsdl_fields: &str) -> &mut Self {
        let event = EventText { id, name: name.to_owned(), fields: tsdl_fields.to_owned() };
        self.describe(|this| {
            this.description.events.retain(|known| known.name != event.name);
            this.description.events.push(event);
        })
    }

    /// Gives every event a context: its fields in TSDL. Events set them by names that begin with `context.`.
    pub fn context(&mut self, tsdl_fields: &str) -> &mut Self {
        self.describe(|this| this.description.context = Some(tsdl_fields.to_owned()))
    }

    /// The channels, each with the begins of the names of its events. Only scripts write several.
    pub(crate) fn channels(&mut self, channels: Vec<Channel>) -> &mut Self {
        self.describe(|this| this.description.channels = channels)
    }

    fn describe(&mut self, change: impl FnOnce(&mut Self)) -> &mut Self {
        if self.compiled.is_none() {
            change(self);
        } else {
            self.misuse.get_or_insert(Misuse::Late);
        }
        self
    }

    /// Records an event: the time in cycles of the trace's clock, the fields by the names that people see, joined by
    /// dots (`network_header.ipv4.saddr`). Fields that are not named are zero or empty. On each CPU, events come in the
    /// order of time.
    pub fn event(&mut self, cpu: u32, cycles: u64, name: &str, fields: &[(&str, FieldValue)]) -> &mut Self {
        if self.misuse.is_none() {
            self.misuse = self.try_event(cpu, cycles, name, fields).err();
        }
        self
    }

    fn try_event(
        &mut self,
        cpu: u32,
        cycles: u64,
        name: &str,
        fields: &[(&str, FieldValue)],
    ) -> Result<(), Misuse> {
        let last = self.cpu(cpu)?.last();
        if cycles < last {
            return Err(Misuse::BackInTime { cpu, cycles, last });
        }
        self.compile()?;
        let Some(compiled) = &self.compiled else { return Ok(()) };
        let class = compiled.class(name)?;
        let body = compiled.body(name, class, fields)?;
        self.cpu(cpu)?.event(cycles, class, body);
        Ok(())
    }

    /// Ends the current packet of a CPU here. Where none has begun, an empty one is written.
    pub fn end_packet(&mut self, cpu: u32) -> &mut Self {
        self.on_cpu(cpu, CpuLog::cut)
    }

    /// Counts events that the tracer could not write: the packet that ends next on the CPU counts them.
    pub fn discard(&mut self, cpu: u32, count: u64) -> &mut Self {
        self.on_cpu(cpu, |log| log.discard(count))
    }

    /// Events recorded so far.
    pub fn events(&self) -> u64 {
        self.cpus.iter().map(CpuLog::events).sum()
    }

    fn on_cpu(&mut self, cpu: u32, act: impl FnOnce(&mut CpuLog)) -> &mut Self {
        match self.cpu(cpu) {
            Ok(log) => act(log),
            Err(misuse) => {
                self.misuse.get_or_insert(misuse);
            }
        }
        self
    }

    fn cpu(&mut self, cpu: u32) -> Result<&mut CpuLog, Misuse> {
        let cpus = self.cpus.len() as u32;
        self.cpus.get_mut(cpu as usize).ok_or(Misuse::NoCpu { cpu, cpus })
    }

    /// The description, ready for writing packets without recording events first.
    pub(crate) fn into_compiled(mut self) -> Result<(Uuid, Compiled), Misuse> {
        self.compile()?;
        let uuid = self.description.uuid;
        self.misuse.map_or(Ok(()), Err)?;
        self.compiled.map(|compiled| (uuid, compiled)).ok_or(Misuse::Late)
    }

    fn compile(&mut self) -> Result<(), Misuse> {
        if self.compiled.is_none() {
            self.compiled = Some(Compiled::new(self.description.text())?);
        }
        Ok(())
    }

    /// Writes the trace into a directory: `metadata`, `ch_<cpu>` and `index/ch_<cpu>.idx`. It can be written again.
    ///
    /// # Errors
    /// The trace was misused, or a file cannot be written.
    pub fn write(&mut self, directory: &Path) -> Result<(), TestkitError> {
        self.write_chunks(&[], |_| directory.to_owned())
    }

    /// Writes the trace as a session that was rotated when the clock showed these cycles (ascending): one directory
    /// `archives/<number>/kernel` for each part. Packets end at the rotations, their numbers go on across them.
    ///
    /// # Errors
    /// The trace was misused, or a file cannot be written.
    pub fn write_rotated(&mut self, directory: &Path, rotations: &[u64]) -> Result<(), TestkitError> {
        let domain = self.domain;
        let archives = directory.join("archives");
        self.write_chunks(rotations, |chunk| archives.join(chunk.to_string()).join(domain))
    }

    fn write_chunks(
        &mut self,
        rotations: &[u64],
        directory: impl Fn(usize) -> std::path::PathBuf,
    ) -> Result<(), TestkitError> {
        if let Some(misuse) = &self.misuse {
            return Err(misuse.clone().into());
        }
        self.compile()?;
        let Some(compiled) = &self.compiled else { return Ok(()) };
        let Description { header, aligned, uuid, .. } = self.description;
        let geometry = Geometry { header, aligned, packet_bits: self.packet_bytes * 8 };
        let mut packets: Vec<_> =
            self.cpus.iter().map(|log| log.packets(compiled, geometry, rotations)).collect();
        begin_and_end_together(&mut packets);
        for chunk in 0..=rotations.len() {
            let directory = directory(chunk);
            create_directories(&directory.join("index"))?;
            write_file(&directory.join("metadata"), &self.metadata(compiled))?;
            for (cpu, (log, packets)) in (0..).zip(self.cpus.iter().zip(&packets)) {
                let head = HeadValues { uuid: *uuid.as_bytes(), channel: 0, cpu };
                let of_chunk = packets.iter().filter(|packet| packet.chunk == chunk);
                write_stream(&directory, log, &head, of_chunk, compiled)?;
            }
        }
        Ok(())
    }

    fn metadata(&self, compiled: &Compiled) -> Vec<u8> {
        let Description { uuid, byte_order, .. } = self.description;
        if self.metadata_in_packets {
            in_packets(&compiled.text, uuid, byte_order)
        } else {
            compiled.text.as_bytes().to_vec()
        }
    }
}

/// A tracer starts and stops all CPUs together, whatever happens on them.
fn begin_and_end_together(packets: &mut [Vec<Packet>]) {
    let begin = packets.iter().filter_map(|of_cpu| Some(of_cpu.first()?.begin)).min();
    let end = packets.iter().filter_map(|of_cpu| Some(of_cpu.last()?.end)).max();
    let Some((begin, end)) = begin.zip(end) else { return };
    for of_cpu in packets {
        if let Some(first) = of_cpu.first_mut() {
            first.begin = begin;
        }
        if let Some(last) = of_cpu.last_mut() {
            last.end = end;
        }
    }
}

/// Writes a stream file and its index.
fn write_stream<'p>(
    directory: &Path,
    log: &CpuLog,
    head: &HeadValues,
    packets: impl Iterator<Item = &'p Packet>,
    compiled: &Compiled,
) -> Result<(), TestkitError> {
    let name = format!("ch_{}", head.cpu);
    let path = directory.join(&name);
    let io = |source| TestkitError::io(&path, source);
    let mut file = BufWriter::new(File::create(&path).map_err(io)?);
    let mut writer = PacketWriter::new(&compiled.plan, 0);
    let mut entries: Vec<IndexEntry> = Vec::new();
    for packet in packets {
        log.encode(packet, head, compiled, &mut writer)?;
        // Asked for nothing, the writer rounds up to pages.
        let written = writer.finish(packet.end, 0)?;
        file.write_all(written.bytes).map_err(io)?;
        entries.push(written.entry);
    }
    file.flush().map_err(io)?;
    write_file(&directory.join("index").join(format!("{name}.idx")), &index::write(&entries))
}

fn create_directories(path: &Path) -> Result<(), TestkitError> {
    fs::create_dir_all(path).map_err(|source| TestkitError::io(path, source))
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), TestkitError> {
    fs::write(path, bytes).map_err(|source| TestkitError::io(path, source))
}
