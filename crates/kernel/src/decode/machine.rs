//! Decodes events of the machine: interrupts, disks, the network, memory, signals.

use isochrone_ctf::{Event, FieldRef};
use isochrone_net::tracer::{self, Extractor};

use super::{Fields, Tracer, int32, text};
use crate::contexts::Context;
use crate::event::{BlockStep, FaultEvent, KernelEvent};
use crate::requests::BlockTransfer;

/// Bit of `rwbs` for a request that writes, as LTTng encodes it.
const WRITES: u64 = 1;
/// Result of a transmission that the driver refused (`NETDEV_TX_BUSY`): the packet will be handed to it once
/// more.
const BUSY: i64 = 16;

/// Results of signals that nobody gets: they are ignored, or there was no room.
const NOT_SENT: [i64; 2] = [1, 3];

/// How to read an event of this family.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // There is one for each event class, not for each event.
pub(super) enum Class {
    IrqEntry {
        number: FieldRef,
        name: FieldRef,
    },
    IrqExit {
        number: FieldRef,
        ret: Option<FieldRef>,
    },
    SoftirqRaise(FieldRef),
    SoftirqEntry(FieldRef),
    SoftirqExit(FieldRef),
    Timer {
        context: Context,
        begins: bool,
    },
    Vector {
        vector: FieldRef,
        make: fn(i32) -> Context,
        begins: bool,
    },
    Block(Block),
    Packet {
        device: FieldRef,
        bytes: FieldRef,
        is_sent: bool,
        buffer: Option<FieldRef>,
        flow: Flows,
        is_accounted: bool,
    },
    /// A packet that a device has taken, for traces that have the event of its queue, too.
    Taken {
        buffer: FieldRef,
        result: Option<FieldRef>,
    },
    PageAllocation {
        order: Option<FieldRef>,
        is_free: bool,
    },
    PageFault {
        address: FieldRef,
        ip: FieldRef,
        code: Option<FieldRef>,
        by: FaultBy,
    },
    PageFaultEnd,
    /// A packet that is handed to the driver of a device, for traces without the event of its queue.
    Transmission {
        device: FieldRef,
        bytes: FieldRef,
        result: Option<FieldRef>,
    },
    Disk {
        device: FieldRef,
        name: FieldRef,
    },
    Signal {
        number: FieldRef,
        code: FieldRef,
        to: FieldRef,
        result: Option<FieldRef>,
    },
    /// A signal's number.
    Delivered(FieldRef),
}

/// What touched the memory of a page fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FaultBy {
    User,
    Kernel,
    /// As the address of the instruction says.
    Instruction,
}

/// How to read an event of a request to a disk.
#[derive(Debug)]
pub(super) struct Block {
    step: BlockStep,
    device: FieldRef,
    sector: FieldRef,
    sectors: Option<FieldRef>,
    bytes: Option<FieldRef>,
    kind: Option<FieldRef>,
    tid: Option<FieldRef>,
    error: Option<FieldRef>,
}

/// How to read the addresses of a packet.
pub(super) struct Flows(Option<Box<dyn Extractor>>);

impl std::fmt::Debug for Flows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Flows").field(&self.0.is_some()).finish()
    }
}

/// Whether an event of this name is the start of a page fault.
///
/// ```
/// assert!(isochrone_kernel::is_page_fault("x86_exceptions_page_fault_user"));
/// ```
pub fn is_page_fault(name: &str) -> bool {
    fault_of(name).is_some()
}

/// The start of a page fault that an event of this name is, by what it is of.
fn fault_of(name: &str) -> Option<FaultBy> {
    // LTTng's name on x86 has its prefix since 2.5.
    Some(match name.strip_prefix("x86_").unwrap_or(name) {
        "exceptions_page_fault_user" | "page_fault_user" => FaultBy::User,
        "exceptions_page_fault_kernel" | "page_fault_kernel" => FaultBy::Kernel,
        "page_fault_entry" => FaultBy::Instruction,
        _ => return None,
    })
}

/// Whether an event of this name begins the run of a high-resolution timer.
pub(super) fn is_hrtimer_entry(name: &str) -> bool {
    timer_of(name) == Some((Context::HrTimer, true))
}

/// The timer whose run an event of this name begins or ends, and whether it begins.
fn timer_of(name: &str) -> Option<(Context, bool)> {
    // LTTng 2.8 added a prefix to the names.
    Some(match name.strip_prefix("timer_").filter(|rest| !rest.starts_with("expire")).unwrap_or(name) {
        "hrtimer_expire_entry" => (Context::HrTimer, true),
        "hrtimer_expire_exit" => (Context::HrTimer, false),
        "timer_expire_entry" => (Context::Timer, true),
        "timer_expire_exit" => (Context::Timer, false),
        _ => return None,
    })
}

/// The interrupt of the CPU's own controller that an event of this name begins or ends (`reschedule`), and
/// whether it begins.
pub(super) fn vector_of(name: &str) -> Option<(&str, bool)> {
    let rest = name.strip_prefix("x86_").unwrap_or(name).strip_prefix("irq_vectors_")?;
    match rest.strip_suffix("_entry") {
        Some(vector) => Some((vector, true)),
        None => rest.strip_suffix("_exit").map(|vector| (vector, false)),
    }
}

/// The context of such an interrupt, by the name of its vector.
fn context_of(vector: &str) -> fn(i32) -> Context {
    match vector {
        "local_timer" => |_| Context::LocalTimer,
        "reschedule" | "call_function" | "call_function_single" | "irq_work" | "ipi" | "x86_platform_ipi" => {
            Context::Ipi
        }
        _ => Context::Vector,
    }
}

impl Class {
    /// `has`: whether the trace has a class of that name. Ends whose begins have no class are ignored.
    pub(super) fn new(
        fields: &Fields<'_>,
        name: &str,
        facts: Tracer,
        has: impl Fn(&str) -> bool,
    ) -> Option<Self> {
        if let Some((context, begins)) = timer_of(name) {
            return Some(Self::Timer { context, begins });
        }
        if let Some((vector, begins)) = vector_of(name) {
            return Some(Self::Vector { vector: fields.get("vector")?, make: context_of(vector), begins });
        }
        let get = |name: &str| fields.get(name);
        if let Some(by) = fault_of(name) {
            return Some(Self::PageFault {
                address: get("address")?,
                ip: get("ip")?,
                code: get("error_code"),
                by,
            });
        }
        let packet = |is_sent| {
            Some(Self::Packet {
                device: get("name")?,
                bytes: get("len")?,
                is_sent,
                buffer: get("skbaddr"),
                flow: Flows(tracer::extractor(fields.stream, fields.class)),
                is_accounted: facts.records.has_all_that_runs(),
            })
        };
        let block = |step| {
            let is_whole = has("block_rq_issue") && has("block_rq_complete");
            Block::new(fields, step).filter(|_| is_whole).map(Self::Block)
        };
        Some(match name {
            "page_fault_exit" => Self::PageFaultEnd,
            "irq_handler_entry" => Self::IrqEntry { number: get("irq")?, name: get("name")? },
            "irq_handler_exit" => Self::IrqExit { number: get("irq")?, ret: get("ret") },
            "softirq_raise" | "irq_softirq_raise" => Self::SoftirqRaise(get("vec")?),
            "softirq_entry" | "irq_softirq_entry" => Self::SoftirqEntry(get("vec")?),
            "softirq_exit" | "irq_softirq_exit" => Self::SoftirqExit(get("vec")?),
            "block_rq_insert" => block(BlockStep::Insert)?,
            "block_rq_merge" => block(BlockStep::Merge)?,
            "block_rq_issue" => block(BlockStep::Issue)?,
            "block_rq_requeue" => block(BlockStep::Requeue)?,
            "block_rq_complete" => block(BlockStep::Complete(0))?,
            "net_dev_queue" => packet(true)?,
            "net_dev_xmit" if !has("net_dev_queue") => {
                Self::Transmission { device: get("name")?, bytes: get("len")?, result: get("rc") }
            }
            "net_dev_xmit" => Self::Taken { buffer: get("skbaddr")?, result: get("rc") },
            "lttng_statedump_block_device" => Self::Disk { device: get("dev")?, name: get("diskname")? },
            "netif_receive_skb" | "net_if_receive_skb" => packet(false)?,
            "signal_generate" => Self::Signal {
                number: get("sig")?,
                code: get("code")?,
                to: get("tid").or_else(|| get("pid"))?,
                result: get("result"),
            },
            "signal_deliver" => Self::Delivered(get("sig")?),
            "mm_page_alloc" | "kmem_mm_page_alloc" => {
                Self::PageAllocation { order: get("order"), is_free: false }
            }
            "mm_page_free" | "kmem_mm_page_free" => {
                Self::PageAllocation { order: get("order"), is_free: true }
            }
            // Single pages. The kernel reports each of them as freed, too.
            "mm_page_free_batched" | "kmem_mm_page_free_batched"
                if !has("mm_page_free") && !has("kmem_mm_page_free") =>
            {
                Self::PageAllocation { order: None, is_free: true }
            }
            _ => return None,
        })
    }

    #[inline]
    pub(super) fn decode<'e>(&self, event: &Event<'e>) -> Option<KernelEvent<'e>> {
        let vector = |field: &FieldRef| event.unsigned(field).map(|vector| vector as u32);
        Some(match self {
            Self::IrqEntry { number, name } => {
                KernelEvent::IrqEntry { number: int32(event, number)?, name: text(event, name) }
            }
            Self::IrqExit { number, ret } => KernelEvent::IrqExit {
                number: int32(event, number)?,
                ret: ret.as_ref().and_then(|field| event.signed(field)).unwrap_or(0),
            },
            Self::SoftirqRaise(field) => KernelEvent::SoftirqRaise(vector(field)?),
            Self::SoftirqEntry(field) => KernelEvent::SoftirqEntry(vector(field)?),
            Self::SoftirqExit(field) => KernelEvent::SoftirqExit(vector(field)?),
            Self::Timer { context, begins: true } => KernelEvent::Enter(*context),
            Self::Timer { context, begins: false } => KernelEvent::Leave(*context),
            Self::Vector { vector, make, begins } => {
                let context = make(int32(event, vector)?);
                if *begins { KernelEvent::Enter(context) } else { KernelEvent::Leave(context) }
            }
            Self::Block(block) => block.read(event)?,
            Self::Packet { device, bytes, is_sent, buffer, flow, is_accounted } => KernelEvent::Packet {
                device: text(event, device),
                bytes: event.unsigned(bytes)? as u32,
                is_sent: *is_sent,
                buffer: buffer.as_ref().and_then(|field| event.unsigned(field)),
                flow: flow.0.as_ref().and_then(|extractor| extractor.flow(event)),
                is_accounted: *is_accounted,
            },
            Self::Taken { buffer, result } => {
                if is_refused(event, result.as_ref()) {
                    return None;
                }
                KernelEvent::PacketTaken { buffer: event.unsigned(buffer)? }
            }
            Self::Transmission { device, bytes, result } => {
                if is_refused(event, result.as_ref()) {
                    return None;
                }
                KernelEvent::Packet {
                    device: text(event, device),
                    bytes: event.unsigned(bytes)? as u32,
                    is_sent: true,
                    buffer: None,
                    flow: None,
                    is_accounted: false,
                }
            }
            Self::Disk { device, name } => {
                KernelEvent::DumpDisk { device: event.unsigned(device)? as u32, name: text(event, name) }
            }
            Self::PageFault { address, ip, code, by } => {
                let number = |field: &FieldRef| {
                    event.unsigned(field).or_else(|| event.signed(field).map(|number| number as u64))
                };
                let ip = number(ip)?;
                let is_user = match by {
                    FaultBy::User => true,
                    FaultBy::Kernel => false,
                    FaultBy::Instruction => ip >> 63 == 0,
                };
                KernelEvent::PageFault(FaultEvent {
                    address: number(address)?,
                    ip,
                    code: code.as_ref().and_then(number),
                    is_user,
                })
            }
            Self::PageFaultEnd => KernelEvent::PageFaultEnd,
            Self::Signal { number, code, to, result } => {
                let (number, code) = (int32(event, number)?, int32(event, code)?);
                let result = result.as_ref().and_then(|field| event.signed(field)).unwrap_or_default();
                if !is_by_thread(number, code) || NOT_SENT.contains(&result) {
                    return None;
                }
                KernelEvent::Signal { number, to: int32(event, to)? }
            }
            Self::Delivered(number) => KernelEvent::SignalDelivered { number: int32(event, number)? },
            Self::PageAllocation { order, is_free } => {
                let order = order.as_ref().and_then(|field| event.unsigned(field)).unwrap_or(0);
                KernelEvent::PageAllocation { pages: 1 << order.min(62), is_free: *is_free }
            }
        })
    }
}

/// Whether the thread that runs sends a signal: by a call (codes of users), or because it ends or stops
/// (`SIGCHLD`). Others are the kernel's: it interrupted that
/// thread, or tells it of its own errors.
fn is_by_thread(number: i32, code: i32) -> bool {
    const SIGCHLD: i32 = 17;
    matches!(code, 0 | -1 | -6) || number == SIGCHLD && (1..=6).contains(&code)
}

/// Whether a driver has refused a packet.
fn is_refused(event: &Event<'_>, result: Option<&FieldRef>) -> bool {
    result.and_then(|field| event.signed(field)) == Some(BUSY)
}

/// The sector of requests that are of none, as of flushes. Kernels write that sector where they complete
/// them, and 0 where they issue them; older ones 0 in both, as of a request for the first sector.
const NO_SECTOR: u64 = u64::MAX;

impl Block {
    fn new(fields: &Fields<'_>, step: BlockStep) -> Option<Self> {
        Some(Self {
            step,
            device: fields.get("dev")?,
            sector: fields.get("sector")?,
            sectors: fields.get("nr_sector"),
            bytes: fields.get("bytes"),
            kind: fields.get("rwbs"),
            tid: fields.get("tid"),
            error: fields.get("error").or_else(|| fields.get("errors")),
        })
    }

    fn read<'e>(&self, event: &Event<'_>) -> Option<KernelEvent<'e>> {
        let number = |field: &Option<FieldRef>| field.as_ref().and_then(|field| event.unsigned(field));
        let sector =
            event.unsigned(&self.sector).or_else(|| event.signed(&self.sector).map(|sector| sector as u64));
        let sectors = number(&self.sectors).unwrap_or_default() as u32;
        let transfer = BlockTransfer {
            sectors,
            bytes: number(&self.bytes).map(|bytes| bytes as u32),
            is_write: number(&self.kind).unwrap_or_default() & WRITES != 0,
        };
        let step = match self.step {
            // Old tracers have their own error numbers that are not negative.
            BlockStep::Complete(_) => BlockStep::Complete(
                self.error.as_ref().and_then(|field| int32(event, field)).unwrap_or_default(),
            ),
            step => step,
        };
        Some(KernelEvent::Block {
            device: event.unsigned(&self.device)? as u32,
            sector: sector.map(|sector| if (sector, sectors) == (0, 0) { NO_SECTOR } else { sector })?,
            transfer,
            tid: self.tid.as_ref().and_then(|field| int32(event, field)),
            step,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_and_vectors_are_known_by_all_names() {
        let check = |name, timer, vector| {
            assert_eq!(timer_of(name), timer, "{name}");
            assert_eq!(
                vector_of(name).map(|(vector, begins)| (context_of(vector)(7), begins)),
                vector,
                "{name}"
            );
        };
        // LTTng up to 2.7; since 2.8; the kernel itself.
        check("hrtimer_expire_entry", Some((Context::HrTimer, true)), None);
        check("timer_hrtimer_expire_exit", Some((Context::HrTimer, false)), None);
        check("timer_expire_entry", Some((Context::Timer, true)), None);
        check("timer_timer_expire_exit", Some((Context::Timer, false)), None);
        check("timer_hrtimer_start", None, None);
        check("x86_irq_vectors_local_timer_entry", None, Some((Context::LocalTimer, true)));
        check("x86_irq_vectors_call_function_single_exit", None, Some((Context::Ipi(7), false)));
        check("irq_vectors_reschedule_entry", None, Some((Context::Ipi(7), true)));
        check("x86_irq_vectors_thermal_apic_entry", None, Some((Context::Vector(7), true)));
        check("x86_irq_vectors", None, None);
    }
}
