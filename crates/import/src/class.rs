//! What becomes of the events of one kind: the class that LTTng would have given them, and which bytes of a
//! record make the fields of an event.

use crate::bytes::{Order, until_nul};
use crate::calls::{self, End};
use crate::event_format::{EventFormat, Field, Form};
use crate::names;
use crate::packet::{self, Direction};

/// The machine that was recorded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Machine {
    pub(crate) order: Order,
    /// Bytes of a `long`.
    pub(crate) long: usize,
}

/// The events of one kind.
#[derive(Debug)]
pub(crate) struct Class {
    /// The name that LTTng would have given them.
    pub(crate) name: String,
    /// The contexts in TSDL, beside those that all classes have.
    pub(crate) context: String,
    /// The fields in TSDL.
    pub(crate) fields: String,
    steps: Vec<Step>,
    machine: Machine,
    /// Where a record has the number of the thread that ran.
    thread: (usize, usize),
    /// Of events that hold packets: where a record has the packet's address.
    pub(crate) packet: Option<usize>,
}

/// How the bytes of a field are made from those of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// The low bytes of a number: where it starts, its size, how many of them.
    Number(usize, usize, usize),
    /// A priority: LTTng's begin at 0, which is 100 in the kernel.
    Priority(usize),
    /// A text in an array.
    Text(usize, usize),
    /// A text elsewhere: where four bytes say where, and whether it is counted from their end.
    TextAt(usize, bool),
    /// Elements elsewhere, with how many there are before them: the size of one.
    ElementsAt(usize, bool, usize),
    /// The letters of an operation of a disk.
    Operation(usize, usize),
    /// The number of the thread that ran.
    Thread,
    /// The start of a packet.
    Packet(Direction, usize),
}

/// The kernel's number of the first priority that is not of real time.
const REAL_TIME: u32 = 100;

/// Why a record cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Damaged;

impl Class {
    /// Without fields. `None`: the format lacks what all events of the kernel have.
    fn empty(format: &EventFormat, name: &str, machine: Machine) -> Option<Self> {
        let thread = format.field("common_pid").map(|field| (field.offset, field.size))?;
        Some(Self { thread, ..Self::without_record(name, String::new(), machine) })
    }

    /// Of events that no record is made into.
    pub(crate) fn without_record(name: &str, fields: String, machine: Machine) -> Self {
        Self {
            name: name.to_owned(),
            context: String::new(),
            fields,
            steps: Vec::new(),
            machine,
            thread: (0, 0),
            packet: None,
        }
    }

    /// With the process of the new thread as last field: LTTng has it.
    pub(crate) fn with_child_process(mut self) -> Self {
        self.fields += &format!("{} _child_pid; ", integer(4, true));
        self
    }

    /// Of the events of a format. `None`: none are written, as others have what they say. `probed`: which way
    /// the packets go that probes have the headers of.
    pub(crate) fn new(format: &EventFormat, machine: Machine, probed: &[Direction]) -> Option<Self> {
        if let Some(probe) = packet::probe(format) {
            let whole = |name: &str, field: &Field| {
                let text = format!("{} _{name}; ", integer(field.size, false));
                (text, Step::Number(field.offset, field.size, field.size))
            };
            let (address, address_step) = whole("skbaddr", probe.address);
            let (length, length_step) = whole("len", probe.length);
            let packet = Step::Packet(probe.direction, probe.header.offset);
            return Some(Self {
                fields: format!("{address}{length}{}", packet::fields(machine.order)),
                steps: vec![address_step, length_step, packet],
                packet: Some(probe.address.offset),
                ..Self::empty(format, packet::event_name(probe.direction), machine)?
            });
        }
        if packet::without_headers(format).is_some_and(|direction| probed.contains(&direction)) {
            return None;
        }
        let mut class = Self::empty(format, &names::event(format), machine)?;
        let is_own = |field: &&Field| !field.name.starts_with("common_") && field.name != "__syscall_nr";
        for field in format.fields.iter().filter(is_own) {
            class.add(format, field);
        }
        if format.system == "block" && format.field("rwbs").is_some() {
            class.fields += "integer { size = 32; align = 8; signed = 1; } _tid; ";
            class.steps.push(Step::Thread);
        }
        Some(class)
    }

    /// Of an end of one call, of those that a format has by number. `None`: the format is another one.
    pub(crate) fn of_call(format: &EventFormat, end: End, call: &str, machine: Machine) -> Option<Self> {
        let mut class = Self::empty(format, &format!("{}{call}", end.prefix()), machine)?;
        // Those that the number is of have no names; without a name it is the number that is left.
        let fields: &[&str] = match end {
            End::Entry if call == calls::UNKNOWN => &["id", "args"],
            End::Entry => &["args"],
            End::Exit if call == calls::UNKNOWN => &["id", "ret"],
            End::Exit => &["ret"],
        };
        for name in fields {
            class.add(format, format.field(name)?);
        }
        Some(class)
    }

    /// Adds a field, if it is of a type that is known.
    fn add(&mut self, format: &EventFormat, field: &Field) {
        let Field { offset, size, form, .. } = *field;
        let name = names::field(format, field);
        let is_char = field.element_size(self.machine.long) == Some(1) && field.kind.contains("char");
        let relative = form == Form::Relative;
        let (text, step) = match form {
            _ if format.system == "block" && name == "rwbs" => {
                let step = Step::Operation(offset, size);
                (format!("{} _{name}; ", integer(4, false)), step)
            }
            Form::One if format.system == "sched" && name.ends_with("prio") && size == 4 => {
                (format!("{} _{name}; ", integer(4, true)), Step::Priority(offset))
            }
            Form::One => {
                let is_call = format.system == "syscalls" && format.name.starts_with("sys_enter_");
                // What it points at was not recorded: LTTng has the text there.
                if size == 0 || size > 8 || is_call && field.kind.ends_with("char *") {
                    return;
                }
                let narrow = is_call.then(|| names::argument(&field.kind)).flatten();
                let (kept, is_signed) = narrow.unwrap_or((size, field.is_signed));
                let kept = kept.min(size);
                (format!("{} _{name}; ", integer(kept, is_signed)), Step::Number(offset, size, kept))
            }
            Form::Array if is_char => (format!("string _{name}; "), Step::Text(offset, size)),
            Form::Array => {
                let Some(element) = field.element_size(self.machine.long) else { return };
                let text = format!("{} _{name}[{}]; ", integer(element, field.is_signed), size / element);
                (text, Step::Number(offset, size, size / element * element))
            }
            Form::Data | Form::Relative if is_char => {
                (format!("string _{name}; "), Step::TextAt(offset, relative))
            }
            Form::Data | Form::Relative => {
                let Some(element) = field.element_size(self.machine.long) else { return };
                let (count, each) = (integer(4, false), integer(element, field.is_signed));
                let text = format!("{count} __{name}_length; {each} _{name}[__{name}_length]; ");
                (text, Step::ElementsAt(offset, relative, element))
            }
        };
        self.fields += &text;
        self.steps.push(step);
    }

    /// The number of the thread that ran.
    pub(crate) fn thread_of(&self, record: &[u8]) -> Result<u32, Damaged> {
        let (offset, size) = self.thread;
        Ok(self.machine.order.number(part(record, offset, size)?) as u32)
    }

    /// Appends the contexts and the fields of an event.
    ///
    /// # Errors
    /// The record is shorter than its fields: nothing is appended that a reader sees.
    pub(crate) fn put(&self, record: &[u8], device: &[u8], out: &mut Vec<u8>) -> Result<(), Damaged> {
        let order = self.machine.order;
        let thread = self.thread_of(record)?;
        out.extend_from_slice(&order.four(thread));
        for step in &self.steps {
            match *step {
                Step::Number(offset, size, kept) => {
                    let bytes = part(record, offset, size)?;
                    out.extend_from_slice(if kept == size { bytes } else { order.low(bytes, kept) });
                }
                Step::Priority(offset) => {
                    let priority = order.number(part(record, offset, 4)?) as u32;
                    out.extend_from_slice(&order.four(priority.wrapping_sub(REAL_TIME)));
                }
                Step::Text(offset, size) => put_text(part(record, offset, size)?, out),
                Step::TextAt(offset, relative) => put_text(elsewhere(record, offset, relative, order)?, out),
                Step::ElementsAt(offset, relative, element) => {
                    let bytes = elsewhere(record, offset, relative, order)?;
                    let count = bytes.len() / element;
                    out.extend_from_slice(&order.four(count as u32));
                    out.extend_from_slice(&bytes[..count * element]);
                }
                Step::Operation(offset, size) => {
                    let letters = until_nul(part(record, offset, size)?);
                    out.extend_from_slice(&order.four(names::operation(letters)));
                }
                Step::Thread => out.extend_from_slice(&order.four(thread)),
                Step::Packet(direction, offset) => {
                    let header = record.get(offset..).ok_or(Damaged)?;
                    packet::put(direction, header, device, out);
                }
            }
        }
        Ok(())
    }
}

/// An integer in TSDL.
pub(crate) fn integer(bytes: usize, is_signed: bool) -> String {
    format!("integer {{ size = {}; align = 8; signed = {}; }}", bytes * 8, u8::from(is_signed))
}

fn part(record: &[u8], offset: usize, size: usize) -> Result<&[u8], Damaged> {
    record.get(offset..).and_then(|rest| rest.get(..size)).ok_or(Damaged)
}

/// Data that four bytes say the length of (in the high half) and where it lies (in the low half).
fn elsewhere(record: &[u8], offset: usize, relative: bool, order: Order) -> Result<&[u8], Damaged> {
    let word = order.number(part(record, offset, 4)?) as usize;
    let (length, at) = (word >> 16, word & 0xffff);
    part(record, if relative { offset + 4 + at } else { at }, length)
}

fn put_text(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(until_nul(bytes));
    out.push(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: Machine = Machine { order: Order::Little, long: 8 };

    fn class(system: &str, text: &str) -> Class {
        Class::new(&EventFormat::parse(system, text).unwrap(), MACHINE, &[]).unwrap()
    }

    const IRQ: &str = "name: irq_handler_entry\nID: 7\n\
        field:int common_pid; offset:4; size:4; signed:1;\n\
        field:int irq; offset:8; size:4; signed:1;\n\
        field:__data_loc char[] name; offset:12; size:4; signed:1;\n";

    #[test]
    fn a_text_elsewhere() {
        let class = class("irq", IRQ);
        let int = "integer { size = 32; align = 8; signed = 1; }";
        assert_eq!(class.fields, format!("{int} _irq; string _name; "));
        let record = [7, 0, 0, 0, 5, 0, 0, 0, 9, 0, 0, 0, 16, 0, 4, 0, b'e', b't', b'h', 0];
        let mut out = Vec::new();
        class.put(&record, b"", &mut out).unwrap();
        assert_eq!(out, [5, 0, 0, 0, 9, 0, 0, 0, b'e', b't', b'h', 0]);
        assert_eq!(class.put(&record[..18], b"", &mut Vec::new()), Err(Damaged));
    }

    #[test]
    fn an_argument_is_as_wide_as_its_type() {
        let class = class(
            "syscalls",
            "name: sys_enter_openat\nID: 8\n\
             field:int common_pid; offset:4; size:4; signed:1;\n\
             field:int __syscall_nr; offset:8; size:4; signed:1;\n\
             field:int dfd; offset:16; size:8; signed:0;\n\
             field:const char * filename; offset:24; size:8; signed:0;\n\
             field:size_t count; offset:32; size:8; signed:0;\n",
        );
        let (int, long) = (integer(4, true), integer(8, false));
        assert_eq!(
            (&*class.name, &*class.fields),
            ("syscall_entry_openat", &*format!("{int} _dfd; {long} _count; "))
        );
        let mut record = [0_u8; 40];
        record[16..24].copy_from_slice(&(-100_i64).to_le_bytes());
        let mut out = Vec::new();
        class.put(&record, b"", &mut out).unwrap();
        assert_eq!(out[4..8], (-100_i32).to_le_bytes());
        assert_eq!(out.len(), 4 + 4 + 8);
    }
}
